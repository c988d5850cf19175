package write

import (
	"testing"
	"time"
)

func TestWriteClock(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	c := Clock{now: func() time.Time { return now }}
	if a, b := c.Next(), c.Next(); a != 1_000_000 || b != a {
		t.Errorf("%d, then %d", a, b)
	}
	began := time.Now()
	if c.await(1_000_002); time.Since(began) < 2*time.Millisecond {
		t.Error("nobody waited")
	}
	if got := c.Next(); got != 1_000_002 {
		t.Errorf("what follows is written at %d", got)
	}
	began = time.Now()
	if c.await(2_000_000); time.Since(began) > time.Minute || c.Next() != 1_000_002 {
		t.Errorf("cells of a clock that is ahead moved this one to %d", c.Next())
	}
	now = now.Add(-time.Hour)
	if got := c.Next(); got != 1_000_002 {
		t.Errorf("the clock went back to %d", got)
	}
	c.await(1_000_003) // a removal at the last time that was given out
	if got := c.Next(); got != 1_000_003 {
		t.Errorf("behind a removal, after the clock went back, is written at %d", got)
	}
	now = now.Add(2 * time.Hour)
	if got := c.Next(); got != now.UnixMilli() {
		t.Errorf("the clock stays at %d", got)
	}
}

// A row that is written twice within a millisecond has two versions; others wait for nobody.
func TestWriteClockVersions(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	c := Clock{now: func() time.Time { return now }}
	a, b := rowID{key: "a"}, rowID{key: "b"}
	for i, want := range []int64{0, 1, 2} {
		if got := c.unlike(a, c.Next()) - 1_000_000; got != want {
			t.Errorf("write %d of a at %d", i, got)
		}
	}
	if got := c.unlike(b, c.Next()); got != 1_000_000 {
		t.Errorf("b at %d", got)
	}
	now = now.Add(time.Second)
	if got := c.unlike(a, c.Next()); got != now.UnixMilli() {
		t.Errorf("a at %d", got)
	}
}
