package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// named is a workload with its name in docs/speed.md.
type named struct{ workload, name string }

var (
	withPeers = []named{
		{"W1", "one row by its key"}, {"W2", "100 rows of one host"}, {"W3", "500 keys"}, {"W4", "all rows, all columns"}, {"W5", "`COUNT(*)`"},
		{"W6", "one row in a thousand, filtered"}, {"W7", "newest 10 of one host"}, {"W8", "20 hosts, a narrow window"},
		{"W9", "`GROUP BY host`, an average of a NOT NULL column"}, {"W10", "start of the process to the first row"}, {"W11", "200,000 rows written"},
	}
	withClients = []named{{"W1", "one row"}, {"W2", "100 rows"}}
	withGohbase = []named{{"cols", "rows of 100 columns"}, {"large", "rows of 10 kB"}, {"regions", "100,000 rows in 200 regions"}, {"servers", "the same on three servers"}}
	alone       = []named{
		{"idle", "one row, asked every 300 ms"}, {"sql", "one row through database/sql"}, {"join", "a join by key, 1,000 outer rows"},
		{"spill", "all rows sorted by another column in 16 MB, on disk"}, {"copyout", "COPY out, 100,000 rows"}, {"copyin", "COPY in, 100,000 rows"},
		{"memread", "the embedded store, read"}, {"memwrite", "the embedded store, written by `INSERT ... SELECT`"},
	}
)

// document prints the tables of docs/speed.md; "-" means not measured.
func document(w io.Writer, runs map[cell][]line) {
	var load []float64
	for _, ls := range runs {
		for _, l := range ls {
			if l.Others >= 0 {
				load = append(load, l.Others)
			}
		}
	}
	if slices.Sort(load); len(load) > 0 {
		fmt.Fprintf(w, "Other programs took %.1f cores (median; %.1f to %.1f).\n\n", load[len(load)/2], load[0], load[len(load)-1])
	}
	// part returns hql's figure divided by the lowest figure of the given peers; "-" if one of the two is missing.
	part := func(c cell, peer, what string) string {
		best, ok := least(runs, c, peer, what)
		if !ok || len(runs[c]) == 0 || median(runs[best], what) == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", median(runs[c], what)/median(runs[best], what))
	}
	figure := func(c cell, format, what string) string {
		if len(runs[c]) == 0 {
			return "-"
		}
		return fmt.Sprintf(format, median(runs[c], what))
	}
	head := func(columns ...string) {
		fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	}
	row := func(columns ...string) { fmt.Fprintf(w, "| %s |\n", strings.Join(columns, " | ")) }

	head("hql's part of a peer's", "time: gohbase", "Java", "Phoenix", "CPU: gohbase", "Java", "Phoenix", "client: gohbase", "ms", "MB")
	for _, n := range withPeers {
		c := cell{n.workload, 1, "H"}
		row(n.name, part(c, "G", "wall"), part(c, "J", "wall"), part(c, "P", "wall"), part(c, "G", "total"), part(c, "J", "total"), part(c, "P", "total"),
			part(c, "G", "client"), figure(c, "%.2f", "wall"), figure(c, "%.0f", "memory"))
	}
	for _, n := range withClients {
		fmt.Fprintln(w)
		head(n.name+": clients", "a second: gohbase", "hql", "slowest of 100, ms: gohbase", "hql", "client's CPU, µs: gohbase", "hql")
		for _, clients := range []int{1, 8, 16, 32, 128} {
			g, h := cell{n.workload, clients, "G"}, cell{n.workload, clients, "H"}
			if len(runs[h]) > 0 {
				row(fmt.Sprint(clients), figure(g, "%.0f", "ops"), figure(h, "%.0f", "ops"), figure(g, "%.1f", "p99"), figure(h, "%.1f", "p99"),
					figure(g, "%.0f", "clientMicros"), figure(h, "%.0f", "clientMicros"))
			}
		}
	}
	fmt.Fprintln(w)
	head("all rows read", "rows a second: gohbase", "hql", "client's CPU, µs a row: gohbase", "hql")
	for _, n := range withGohbase {
		g, h := cell{n.workload, 1, "G"}, cell{n.workload, 1, "H"}
		row(n.name, figure(g, "%.0f", "rows"), figure(h, "%.0f", "rows"), figure(g, "%.1f", "rowMicros"), figure(h, "%.1f", "rowMicros"))
	}
	fmt.Fprintln(w)
	head("hql alone", "p50, ms", "rows a second", "client's CPU, µs a row")
	for _, n := range alone {
		c := cell{n.workload, 1, "H"}
		row(n.name, figure(c, "%.2f", "wall"), figure(c, "%.0f", "rows"), figure(c, "%.1f", "rowMicros"))
	}
}
