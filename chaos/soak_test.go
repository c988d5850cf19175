package chaos

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// soakEnv sets the duration of the soak.
const soakEnv = "HQL_SOAK"

// The number of measurements of memory in a soak, and the growth of the heap allowed after the first lap, when
// connections, regions and pools have reached their size.
const (
	soakLaps   = 10
	heapGrowth = 4 << 20
)

// The soak injects all faults at random for a long time: rows stay correct, memory stays flat, and nothing is left.
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

// heap returns the number of bytes in use.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
