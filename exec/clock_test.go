package exec

import (
	"testing"
	"time"
)

func TestWriteClock(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	c := writeClock{now: func() time.Time { return now }}
	if a, b := c.next(), c.next(); a != 1_000_000 || b != a+1 {
		t.Errorf("%d, then %d", a, b)
	}
	for range 2 * maxAhead {
		c.next()
	}
	ahead := c.next()
	if ahead != 1_000_000+maxAhead || c.next() != ahead {
		t.Errorf("the clock ran %d ms ahead", ahead-1_000_000)
	}
	c.remove(ahead)
	if got := c.next(); got != ahead+1 {
		t.Errorf("after a removal at %d comes %d", ahead, got)
	}
	now = now.Add(-time.Hour)
	if got := c.next(); got < ahead {
		t.Errorf("the clock went back to %d", got)
	}
	now = now.Add(2 * time.Hour)
	if got := c.next(); got != now.UnixMilli() {
		t.Errorf("the clock stays at %d", got)
	}
}
