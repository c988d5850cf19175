package bench

import (
	"bufio"
	"encoding/json"
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

// measured reads the lines that the programs printed. A disturbed measurement counts only if its cell has no
// undisturbed one.
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

// least returns the cell with the lowest figure among the peers' measurements of c's workload. A peer may have measured
// several variants of the workload: W1a, W1b.
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
