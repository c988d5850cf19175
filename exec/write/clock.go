package write

import (
	"hash/maphash"
	"sync"
	"time"
)

// Clock gives the timestamps of writes in milliseconds since 1970, never going back and never before a removal:
// a row deleted and written again at the same time would stay deleted. It does not run ahead of the
// time by itself: another process would not see over writes from the future. What
// replaces cells of this very millisecond is written at the next one, and sent when that has come: await.
type Clock struct {
	now  func() time.Time
	mu   sync.Mutex
	last int64 // no later write is older
	// recent and before hold the times at which rows were written without being read, by the row's hash; since is the time
	// from which recent holds them.
	recent, before map[uint64]int64
	since          int64
	seed           maphash.Seed
}

// maxAhead bounds how far ahead, in milliseconds, a timestamp may be to be waited for. Cells with later ones were
// written by a machine whose clock is wrong: they hide later writes however long a statement waits.
const maxAhead = 10

// NewClock makes a clock over now.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

// Next returns the timestamp for a write that begins now.
func (c *Clock) Next() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last, c.now().UnixMilli())
	return c.last
}

// await waits until whoever begins from now on, on a machine whose clock agrees, writes at time from or later: that is
// when something that hides older writes may be sent.
func (c *Clock) await(from int64) {
	c.mu.Lock()
	if from <= max(c.last, c.now().UnixMilli())+maxAhead { // c.last alone, where the machine's clock was set back
		c.last = max(c.last, from)
	}
	ahead := time.UnixMilli(from).Sub(c.now())
	c.mu.Unlock()
	if ahead > 0 && ahead <= maxAhead*time.Millisecond {
		time.Sleep(ahead)
	}
}

// unlike returns a time from ts on that differs from those of earlier writes of the row, so that its versions stay
// separate.
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
