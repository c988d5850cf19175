package main

import (
	"testing"
	"time"
)

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		done float64
		took time.Duration
		want string
	}{
		{0.25, 2 * time.Second, ", 25%, about 6s left"},
		{0.999, 10 * time.Second, ", 99%, about 1s left"},
		{1. / 3600, time.Second, ", 0%, about 59m59s left"},
		{0, time.Second, ""}, // nothing is known
	} {
		if got := left(c.done, c.took); got != c.want {
			t.Errorf("%v in %v: %q, want %q", c.done, c.took, got, c.want)
		}
	}
}
