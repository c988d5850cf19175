package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hql-db/hql/internal/proc"
)

func envFloat(name string, d float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return d
}

func envInt(name string, d int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return d
}

// serverCPU returns the CPU time in seconds of the processes that the environment variable SPID lists; 0 if it lists
// none.
func serverCPU() (sum float64) {
	for _, s := range strings.Fields(os.Getenv("SPID")) {
		pid, _ := strconv.Atoi(s)
		p, _ := proc.Read(pid)
		sum += p.CPU
	}
	return sum
}

// ticks converts a text of clock ticks, 100 per second, to seconds.
func ticks(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v / 100
}

// machineCPU returns the seconds that all processors were busy, and those that the host took away.
func machineCPU() (busy, steal float64) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	f := strings.Fields(line)
	for _, i := range []int{1, 2, 3, 6, 7} {
		busy += ticks(f[i])
	}
	return busy, ticks(f[8])
}

func ownCPU() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
}

// memory returns a value of /proc/self/status, such as VmRSS, in MB.
func memory(line string) float64 {
	b, _ := os.ReadFile("/proc/self/status")
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(l, line+":") {
			v, _ := strconv.ParseFloat(strings.Fields(l)[1], 64)
			return v / 1024
		}
	}
	return 0
}

// peer is the letter of the program whose measurements are printed.
var peer = "H"

var busyBefore, stealBefore float64

// report prints a line of results. CPU times are in seconds.
func report(w string, clients int, ops, rows int64, secs float64, took []time.Duration, server, client float64) {
	busy, steal := machineCPU()
	others, stolen := max(0, busy-busyBefore-server-client)/secs, (steal-stealBefore)/secs
	if busyBefore == 0 {
		others, stolen = -1, -1
	}
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[min(len(took)-1, len(took)*99/100)]
	b, err := json.Marshal(line{Peer: peer, Workload: w, Clients: clients, Ops: ops, Rows: rows, Secs: secs, OpsPerSec: float64(ops) / secs, RowsPerSec: float64(rows) / secs,
		P50: float64(p50) / 1e3, P99: float64(p99) / 1e3, Server: server, Client: client, Others: others, Steal: stolen, Peak: memory("VmHWM"), RSS: memory("VmRSS")})
	fmt.Println(string(must(b, err)))
}

type op func() int64

// loop runs an operation per client for WARM seconds, then measures it for DUR seconds.
func loop(w string, clients int, make func(client int) op) {
	var ops []op
	for c := range clients {
		ops = append(ops, make(c))
	}
	phase(ops, envFloat("WARM", 2))
	busyBefore, stealBefore = machineCPU()
	server, own, began := serverCPU(), ownCPU(), time.Now()
	took, rows := phase(ops, envFloat("DUR", 3))
	report(w, clients, int64(len(took)), rows, time.Since(began).Seconds(), took, serverCPU()-server, ownCPU()-own)
}

func phase(ops []op, secs float64) ([]time.Duration, int64) {
	end := time.Now().Add(time.Duration(secs * float64(time.Second)))
	var mu sync.Mutex
	var all []time.Duration
	var rows int64
	var wg sync.WaitGroup
	for _, f := range ops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var took []time.Duration
			var n int64
			for len(took) == 0 || time.Now().Before(end) {
				t := time.Now()
				n += f()
				took = append(took, time.Since(t))
			}
			mu.Lock()
			defer mu.Unlock()
			all, rows = append(all, took...), rows+n
		}()
	}
	wg.Wait()
	return all, rows
}

// seldom measures an operation that runs after a pause each time.
func seldom(w string, pause time.Duration, f op) {
	f()
	var took []time.Duration
	var rows int64
	busyBefore, stealBefore = machineCPU()
	server, own, began := serverCPU(), ownCPU(), time.Now()
	for end := began.Add(time.Duration(envFloat("DUR", 3) * float64(time.Second))); len(took) == 0 || time.Now().Before(end); {
		time.Sleep(pause)
		t := time.Now()
		rows += f()
		took = append(took, time.Since(t))
	}
	report(w, 1, int64(len(took)), rows, time.Since(began).Seconds(), took, serverCPU()-server, ownCPU()-own)
}

// once measures a single run, after warm unmeasured runs.
func once(w string, warm int, f op) {
	for range warm {
		f()
	}
	busyBefore, stealBefore = machineCPU()
	server, own, began := serverCPU(), ownCPU(), time.Now()
	rows := f()
	d := time.Since(began)
	report(w, 1, 1, rows, d.Seconds(), []time.Duration{d}, serverCPU()-server, ownCPU()-own)
}
