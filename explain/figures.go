package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// Figures are EXPLAIN ANALYZE's measurements of a plan.
type Figures struct {
	RowsReturned, RowsRead int64
	Gets, Scans            int64
	RPCs, Bytes, Retries   int64
	Planning, Elapsed      time.Duration
	Steps                  []Step // see Steps
	Tables                 []Table
	Runs                   map[*parser.Select]Runs // of the sub-queries that run for each row
}

// Runs counts the runs of a sub-query. It does not run again for a row with the values of an earlier one.
type Runs struct{ Times, Rows int64 }

// inside returns a line for each table that sub-queries read.
func (f *Figures) inside() (lines []string) {
	var sums []Table
	for _, t := range f.Tables {
		if t.Scan == nil || slices.ContainsFunc(f.Steps, func(s Step) bool { return s.Node == plan.Node(t.Scan) }) {
			continue
		}
		i := slices.IndexFunc(sums, func(o Table) bool { return o.Scan.Table == t.Scan.Table })
		if i < 0 {
			i, sums = len(sums), append(sums, Table{Scan: t.Scan})
		}
		s := &sums[i]
		s.Gets, s.Scans, s.RowsRead, s.RPCs = s.Gets+t.Gets, s.Scans+t.Scans, s.RowsRead+t.RowsRead, s.RPCs+t.RPCs
	}
	for _, s := range sums {
		lines = append(lines, fmt.Sprintf("sub-queries and look-ups read of %s: %s, %s, %s, %s", s.Scan.Table.Name, words.Count(s.RowsRead, "row"),
			words.Count(s.Gets, "get"), words.Count(s.Scans, "scan"), words.Count(s.RPCs, "RPC")))
	}
	return lines
}

// Step is the measurements of one step of a plan.
type Step struct {
	Node  plan.Node
	Depth int   // of the step in the plan's tree, the last step having 0
	Rows  int64 // rows that the step returned
	// Total is the time until the step had returned its rows, including the time of its inputs. Self is Total without the time
	// of the inputs.
	Total, Self time.Duration
}

// Title names the step in one line.
func (s Step) Title() string { return titleOf(s.Node) }

// Steps lists the steps of the tree under n, each step before its inputs. measured returns a step's rows and its time including
// its inputs; nil: nothing was measured.
func Steps(n plan.Node, measured func(plan.Node) (rows int64, took time.Duration)) []Step {
	return steps(n, 0, measured)
}

func steps(n plan.Node, depth int, measured func(plan.Node) (rows int64, took time.Duration)) []Step {
	s := Step{Node: n, Depth: depth}
	if measured != nil {
		s.Rows, s.Total = measured(n)
	}
	out := []Step{s}
	inputs := time.Duration(0)
	for _, in := range n.Inputs() {
		below := steps(in, depth+1, measured)
		inputs += below[0].Total
		out = append(out, below...)
	}
	out[0].Self = max(0, s.Total-inputs)
	return out
}

// Table is the measurements of one table access.
type Table struct {
	Scan           *plan.Scan
	Gets, Scans    int64
	RowsRead, Rows int64 // before the client's filter, and after it
	RPCs, Bytes    int64
	Scanned        *hbase.Scanned // by the servers, for scans; nil: they reported nothing
	Elapsed        time.Duration
	Regions        []Region
}

// Region is the measurements of one table access in one region.
type Region struct {
	Table string
	// Region is the zero Region for RPCs that failed and were repeated.
	Region      hbase.Region
	RPCs        int64
	Rows, Bytes int64         // received; a row that came in n parts counts n times
	Time        time.Duration // of its RPCs, added up: several may have run at once
}

// summary is the last line of EXPLAIN ANALYZE.
func (f *Figures) summary() string {
	return fmt.Sprintf("returned %s in %s after %s of planning: %s read, %s, %s, %s", words.Count(f.RowsReturned, "row"), ms(f.Elapsed), ms(f.Planning),
		words.Count(f.RowsRead, "row"), words.Count(f.RPCs, "RPC"), words.Count(f.Bytes, "byte"), tries(f.Retries))
}

func tries(n int64) string { return fmt.Sprintf("%d %s", n, words.Plural(n, "retry", "retries")) }

// notes returns the measurements of a step.
func (f *Figures) notes(n plan.Node) []string {
	var out []string
	for _, s := range f.Steps {
		if s.Node != n {
			continue
		}
		if _, ok := n.(*plan.Scan); !ok {
			return []string{fmt.Sprintf("%s, %s, of it here %s", words.Count(s.Rows, "row"), ms(s.Total), ms(s.Self))}
		}
		for _, t := range f.Tables {
			if t.Scan == n {
				out = append(out, f.took(&t))
				out = append(out, regionLines(t.Regions)...)
			}
		}
	}
	return out
}

// took returns a line with the measurements of a table access.
func (f *Figures) took(t *Table) string {
	var total time.Duration
	for _, s := range f.Steps {
		if s.Node == plan.Node(t.Scan) {
			total = s.Total
		}
	}
	out := fmt.Sprintf("%s: %s read, %s kept; %s, %s, %s, %s", ms(total), words.Count(t.RowsRead, "row"), words.Count(t.Rows, "row"),
		words.Count(t.Gets, "get"), words.Count(t.Scans, "scan"), words.Count(t.RPCs, "RPC"), words.Count(t.Bytes, "byte"))
	if t.Scanned != nil {
		out += fmt.Sprintf("; servers scanned %s, filtered %d", words.Count(t.Scanned.Rows, "row"), t.Scanned.Filtered)
	}
	return out
}

// scanned adds up the servers' counts of scanned rows for all tables; nil if no server reported any.
func (f *Figures) scanned() *hbase.Scanned {
	var sum *hbase.Scanned
	for _, t := range f.Tables {
		if t.Scanned == nil {
			continue
		}
		if sum == nil {
			sum = &hbase.Scanned{}
		}
		sum.Rows += t.Scanned.Rows
		sum.Filtered += t.Scanned.Filtered
	}
	return sum
}

// maxRegions is the greatest number of regions that are listed for one table access.
const maxRegions = 20

// regionLines returns a table of regions as text, with a bar for each region's time.
func regionLines(regions []Region) []string {
	cells := [][]string{{"region", "RPCs", "rows", "bytes", "time", ""}}
	longest := time.Duration(1)
	for _, r := range regions {
		longest = max(longest, r.Time)
	}
	for _, r := range regions[:min(len(regions), maxRegions)] {
		bar := strings.Repeat("#", int((10*r.Time+longest-1)/longest))
		cells = append(cells, []string{r.name(), fmt.Sprint(r.RPCs), fmt.Sprint(r.Rows), fmt.Sprint(r.Bytes), ms(r.Time), bar})
	}
	width := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			width[i] = max(width[i], runewidth.StringWidth(c))
		}
	}
	var out []string
	for _, row := range cells {
		line := runewidth.FillRight(row[0], width[0])
		for i, c := range row[1:5] {
			line += fmt.Sprintf("  %*s", width[i+1], c)
		}
		out = append(out, strings.TrimRight(line+"  "+row[5], " "))
	}
	if n := len(regions) - maxRegions; n > 0 {
		out = append(out, fmt.Sprintf("... and %d more regions", n))
	}
	if len(regions) == 0 {
		return nil
	}
	return out
}

// name identifies a region by its table and keys.
func (r Region) name() string {
	if r.Region.Name == "" {
		return r.Table + " (failed and repeated)"
	}
	return fmt.Sprintf("%s [%s, %s)", r.Table, openKey(r.Region.Start), openKey(r.Region.Stop))
}

func openKey(b []byte) string {
	if len(b) == 0 {
		return "open"
	}
	return plan.Escape(b)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ms prints d in milliseconds, to three figures or so.
func ms(d time.Duration) string {
	digits := 0
	switch {
	case d < time.Millisecond:
		digits = 3
	case d < 100*time.Millisecond:
		digits = 1
	}
	return fmt.Sprintf("%.*f ms", digits, float64(d)/float64(time.Millisecond))
}
