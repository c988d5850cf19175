package chaos

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// soakEnv says how long the soak takes.
const soakEnv = "HQL_SOAK"

// Of a soak: how often memory is measured, and how much more the heap may hold in the end
// than after the first lap, by when connections, regions and pools are what they are going to be.
const (
	soakLaps   = 10
	heapGrowth = 4 << 20
)

// Everything at random for long: rows as they should be, memory flat, nothing left.
func TestSoak(t *testing.T) {
	s := os.Getenv(soakEnv)
	if s == "" {
		t.Skipf("%s says for how long", soakEnv)
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.Fatalf("%s: %q is no duration", soakEnv, s)
	}
	began := time.Now()
	w := newWorld(t, 3)
	idle := runtime.NumGoroutine()
	var first, last uint64
	for lap := range soakLaps {
		stop := w.readers(8)
		monkey(t, w, d/soakLaps)
		stop()
		w.recovered(t)
		w.settled(t, idle)
		last = heap()
		if lap == 0 {
			first = last
		}
		t.Logf("lap %d: heap %.1f MiB, goroutines %d, connections %d", lap+1, float64(last)/(1<<20), runtime.NumGoroutine(), len(w.c.connections()))
	}
	if last > first+heapGrowth {
		t.Errorf("the heap grew from %d to %d bytes", first, last)
	}
	w.report(t, began)
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
