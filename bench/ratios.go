package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// line is one measurement, in the form that every program prints.
type line struct {
	Peer       string  `json:"peer"`
	Workload   string  `json:"w"`
	Clients    int     `json:"clients"`
	Ops        int64   `json:"ops"`
	Rows       int64   `json:"rows"`
	Secs       float64 `json:"secs"`
	OpsPerSec  float64 `json:"ops_s"`
	RowsPerSec float64 `json:"rows_s"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
	Server     float64 `json:"srv_cpu"`
	Client     float64 `json:"cli_cpu"`
	Others     float64 `json:"other_cores"`
	Steal      float64 `json:"steal"`
	Peak       float64 `json:"hwm_mb"`
	RSS        float64 `json:"rss_mb"`
	Disturbed  bool    `json:"disturbed"` // other programs took more than half a core: run.sh repeats it
}

type cell struct {
	workload string
	clients  int
	peer     string
}

// target is an upper bound for the ratio of hql's figure to a peer's.
type target struct {
	workload string
	clients  int
	peer     string
	what     string // "wall", "client" CPU, "total" CPU or "memory", per operation
	most     float64
}

// "wall" is the median time of an operation.
var targets = []target{
	{"W1", 1, "G", "wall", 1.10}, {"W1", 1, "P", "client", 1. / 5},
	{"W2", 1, "G", "wall", 1.10}, {"W2", 1, "P", "client", 1. / 2},
	{"W3", 1, "G", "wall", 0.85}, {"W3", 1, "P", "wall", 0.7},
	{"W4", 1, "G", "wall", 0.65}, {"W4", 1, "G", "client", 0.4}, {"W4", 1, "P", "wall", 0.5}, {"W4", 1, "P", "memory", 0.1},
	{"W5", 1, "G", "client", 0.4}, {"W5", 1, "G", "wall", 0.9}, {"W5", 1, "P", "total", 1.05},
	{"W6", 1, "G", "wall", 1.05}, {"W6", 1, "P", "wall", 0.85},
	{"W7", 1, "G", "wall", 0.75}, {"W7", 1, "P", "wall", 0.5},
	{"W8", 1, "G", "wall", 0.9}, {"W8", 1, "P", "client", 1. / 5},
	{"W9", 1, "G", "client", 0.4}, {"W9", 1, "G", "wall", 0.9}, {"W9", 1, "P", "total", 1.05},
	{"W10", 1, "G", "wall", 1.7}, {"W10", 1, "P", "wall", 1. / 50},
	{"W11", 1, "G", "wall", 0.8}, {"W11", 1, "P", "wall", 0.5},
}

// measured reads the lines that the programs printed. Disturbed ones count only if there is no other of their kind.
func measured(file string) (map[cell][]line, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	runs, disturbed := map[cell][]line{}, map[cell][]line{}
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var l line
		if json.Unmarshal(sc.Bytes(), &l) == nil && l.Ops > 0 {
			c := cell{l.Workload, l.Clients, l.Peer}
			of := runs
			if l.Disturbed {
				of = disturbed
			}
			of[c] = append(of[c], l)
		}
	}
	for c, ls := range disturbed {
		if len(runs[c]) == 0 {
			runs[c] = ls
		}
	}
	return runs, sc.Err()
}

// ratios prints the ratios of hql's medians to the peers': first compared with the targets, then with the fastest peer.
func ratios(w io.Writer, runs map[cell][]line) {
	fmt.Fprintf(w, "%-4s %-6s %-4s %10s %10s  %6s  %6s  %s\n", "", "", "", "hql", "peer", "ratio", "target", "")
	for _, t := range targets {
		ours, theirs := runs[cell{t.workload, t.clients, "H"}], runs[cell{t.workload, t.clients, t.peer}]
		if len(ours) == 0 || len(theirs) == 0 {
			continue
		}
		a, b := median(ours, t.what), median(theirs, t.what)
		verdict := "met"
		if a/b > t.most {
			verdict = fmt.Sprintf("missed by %.0f%%", 100*(a/b/t.most-1))
		}
		fmt.Fprintf(w, "%-4s %-6s %-4s %10.3f %10.3f  %6.3f  %6.3f  %s\n", t.workload, t.what, t.peer, a, b, a/b, t.most, verdict)
	}
	best(w, runs)
	others(w, runs)
}

// best prints hql's median together with that of the best way of any peer; W3m, for example, is another way to do W3.
// "wall" is the time, "cpu" the CPU time of client and server together, which is more reliable if other programs use the
// machine.
func best(w io.Writer, runs map[cell][]line) {
	fmt.Fprintf(w, "\n%-6s %10s %10s  %6s  %-7s %10s %10s  %6s  %-7s %10s %10s\n", "", "hql ms", "best ms", "ratio", "", "hql cpu", "best cpu", "ratio", "", "hql client", "its client")
	ours := slices.SortedFunc(maps.Keys(runs), func(a, b cell) int {
		return cmp.Or(cmp.Compare(len(a.workload), len(b.workload)), cmp.Compare(a.workload, b.workload), cmp.Compare(a.clients, b.clients))
	})
	for _, c := range ours {
		if c.peer != "H" {
			continue
		}
		quickest, ok := least(runs, c, anyPeer, "wall")
		if !ok {
			continue
		}
		thriftiest, _ := least(runs, c, anyPeer, "total")
		a, b := median(runs[c], "wall"), median(runs[quickest], "wall")
		cpu, its := median(runs[c], "total"), median(runs[thriftiest], "total")
		fmt.Fprintf(w, "%-6s %10.3f %10.3f  %6.3f  %-7s %10.3f %10.3f  %6.3f  %-7s %10.3f %10.3f\n", fmt.Sprintf("%s:%d", c.workload, c.clients), a, b, a/b,
			quickest.peer+" "+quickest.workload, cpu, its, cpu/its, thriftiest.peer+" "+thriftiest.workload, median(runs[c], "client"), median(runs[thriftiest], "client"))
	}
}

// anyPeer are the letters of hql's peers.
const anyPeer = "GJP"

// least returns the way of one of the peers that corresponds to hql's c and has the lowest figure.
func least(runs map[cell][]line, c cell, peers, what string) (out cell, ok bool) {
	for peer := range runs {
		same := peer.workload == c.workload || strings.TrimRight(peer.workload, "abcdefghijklmnopqrstuvwxyz") == c.workload
		if !same || peer.clients != c.clients || !strings.Contains(peers, peer.peer) {
			continue
		}
		if !ok || median(runs[peer], what) < median(runs[out], what) {
			out, ok = peer, true
		}
	}
	return out, ok
}

// others prints the measurements with several clients, and those that no peer has.
func others(w io.Writer, runs map[cell][]line) {
	fmt.Fprintf(w, "\n%-12s %-4s %10s %10s %10s %10s %10s\n", "", "", "ops/s", "rows/s", "p50 ms", "p99 ms", "client ms")
	for _, c := range slices.SortedFunc(maps.Keys(runs), func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(a.clients, b.clients), cmp.Compare(a.peer, b.peer))
	}) {
		if c.clients == 1 && strings.HasPrefix(c.workload, "W") {
			continue
		}
		l := runs[c]
		fmt.Fprintf(w, "%-12s %-4s %10.1f %10.0f %10.3f %10.3f %10.3f\n", fmt.Sprintf("%s:%d", c.workload, c.clients), c.peer, median(l, "ops"), median(l, "rows"),
			median(l, "wall"), median(l, "p99"), median(l, "client"))
	}
}

// median returns the median of a figure: per operation or row in milliseconds, microseconds or MB, or operations or rows
// per second.
func median(runs []line, what string) float64 {
	var vs []float64
	for _, l := range runs {
		switch what {
		case "wall":
			vs = append(vs, l.P50/1e3)
		case "client":
			vs = append(vs, l.Client/float64(l.Ops)*1e3)
		case "clientMicros":
			vs = append(vs, l.Client/float64(l.Ops)*1e6)
		case "rowMicros":
			vs = append(vs, l.Client/float64(max(l.Rows, 1))*1e6)
		case "total":
			vs = append(vs, (l.Client+l.Server)/float64(l.Ops)*1e3)
		case "memory":
			vs = append(vs, l.Peak)
		case "p99":
			vs = append(vs, l.P99/1e3)
		case "ops":
			vs = append(vs, l.OpsPerSec)
		case "rows":
			vs = append(vs, l.RowsPerSec)
		}
	}
	slices.Sort(vs)
	return vs[len(vs)/2]
}
