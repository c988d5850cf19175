package main

import (
	"testing"
	"time"
)

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		read, all int64
		took      time.Duration
		want      string
	}{
		{250, 1000, 2 * time.Second, ", 25%, about 6s left"},
		{999, 1000, 10 * time.Second, ", 99%, about 1s left"},
		{1, 3600, time.Second, ", 0%, about 59m59s left"},
		{0, 1000, time.Second, ""},    // nothing to go by
		{1000, 1000, time.Second, ""}, // it is all but done, or the estimate was too small
		{2000, 1000, time.Second, ""},
		{10, 0, time.Second, ""}, // nothing is known
	} {
		if got := left(c.read, c.all, c.took); got != c.want {
			t.Errorf("%d of %d in %v: %q, want %q", c.read, c.all, c.took, got, c.want)
		}
	}
}
