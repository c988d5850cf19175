package exec

import (
	"sync"
	"time"
)

// writeClock gives the timestamps of writes: milliseconds since 1970, each
// greater than the one before in this process. A row deleted and written again
// within a millisecond would otherwise stay deleted.
type writeClock struct {
	now  func() time.Time
	mu   sync.Mutex
	last int64
}

func (c *writeClock) next() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last+1, c.now().UnixMilli())
	return c.last
}
