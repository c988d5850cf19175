package exec

import (
	"sync"
	"time"
)

// writeClock gives the timestamps of writes in milliseconds since 1970, never
// going back. Statements get different ones as long as that does not run far ahead of
// the time; what follows a removal always does: a row deleted and written
// again at the same time would stay deleted.
type writeClock struct {
	now     func() time.Time
	mu      sync.Mutex
	last    int64
	removed int64 // the time of the last removal
}

// maxAhead bounds how far, in milliseconds, the clock runs ahead so that
// statements differ. Another process would not see over writes from the future.
const maxAhead = 1000

func (c *writeClock) next() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now().UnixMilli()
	if now <= c.last && c.last-now >= maxAhead && c.removed >= c.last {
		time.Sleep(time.Millisecond) // many removals a millisecond: let the time catch up
		now = c.now().UnixMilli()
	}
	switch {
	case now > c.last:
		c.last = now
	case c.last-now < maxAhead || c.removed >= c.last:
		c.last++
	}
	return c.last
}

// remove notes that something is deleted at ts.
func (c *writeClock) remove(ts int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed = max(c.removed, ts)
}
