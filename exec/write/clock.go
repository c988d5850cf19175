package write

import (
	"hash/maphash"
	"sync"
	"time"
)

// Clock returns timestamps for writes, in milliseconds since 1970. They never decrease, and they are later than those of
// removals: a row that is deleted and written again with the same timestamp would stay deleted. They do not run ahead of
// the machine's clock, since other processes could not overwrite cells from the future. A write that replaces cells of the
// current millisecond gets the next one, and is sent when that has come (await).
type Clock struct {
	now  func() time.Time
	mu   sync.Mutex
	last int64 // the latest timestamp returned
	// recent and before map the hash of a row to the timestamp of its last write that did not read the row. unlike
	// replaces before by recent after maxAhead milliseconds; since is the time at which recent began.
	recent, before map[uint64]int64
	since          int64
	seed           maphash.Seed
}

// maxAhead bounds, in milliseconds, how far a timestamp may be in the future for await to wait. Cells with later ones come
// from a machine whose clock is wrong: they hide later writes, however long a statement waits.
const maxAhead = 10

// NewClock returns a clock that reads the time with now.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

// Next returns the timestamp for a write that begins now.
func (c *Clock) Next() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, c.now().UnixMilli())
	return c.last
}

// await waits until writes that begin later get timestamps not before from, on every machine with a correct clock. Then a
// deletion that hides older cells may be sent.
func (c *Clock) await(from int64) {
	c.mu.Lock()
	if from <= max(c.last, c.now().UnixMilli())+maxAhead { // otherwise the machine's clock was set back, and c.last alone decides
		c.last = max(c.last, from)
	}
	ahead := time.UnixMilli(from).Sub(c.now())
	c.mu.Unlock()
	if ahead > 0 && ahead <= maxAhead*time.Millisecond {
		time.Sleep(ahead)
	}
}

// unlike returns the first time from ts on that no earlier write of the row used, so that its versions stay separate.
func (c *Clock) unlike(row rowID, ts int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now().UnixMilli(); now > c.since+maxAhead || now < c.since || c.recent == nil {
		if c.recent == nil {
			c.seed = maphash.MakeSeed()
		}
		c.recent, c.before, c.since = map[uint64]int64{}, c.recent, now
	}
	h := maphash.Comparable(c.seed, row)
	if was := max(c.recent[h], c.before[h]); ts <= was && was < ts+maxAhead {
		ts = was + 1
	}
	c.recent[h] = ts
	return ts
}
