// Package hot finds the regions with the most load. It repeatedly reads the requests of each region from the master, and
// reports them with the keys as values. It installs nothing and reads no rows.
package hot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
)

// Report is the load of regions over time.
type Report struct {
	Began    time.Time `json:"began"`
	Seconds  []float64 `json:"seconds"` // since Began, at the end of each interval
	Regions  []Region  `json:"regions"` // sorted by table, then key
	Findings []string  `json:"findings"`
}

// Region is a region and its requests in each interval.
type Region struct {
	Table  string `json:"table"`
	Stored string `json:"stored_in"` // the HBase table
	Begins string `json:"begins"`    // the start key as values
	Server string `json:"server"`
	Reads  Counts `json:"reads"`
	Writes Counts `json:"writes"`
	// Filtered counts rows that servers have read and a filter has dropped.
	Filtered Counts `json:"filtered"`

	layout      *catalog.Layout
	start, stop []byte
}

// Counts are numbers of requests by interval.
type Counts []int64

// Sum returns the sum over all intervals.
func (c Counts) Sum() (n int64) {
	for _, x := range c {
		n += x
	}
	return n
}

// Watch reads the counts once per interval every, for the time long or until ctx ends. It returns the intervals seen, or
// an error if there is none. It calls progress, if not nil, after each interval.
func Watch(ctx context.Context, c hbase.Client, tables []*catalog.Table, every, long time.Duration, progress func(done time.Duration)) (*Report, error) {
	r := &Report{Began: time.Now()}
	w := watcher{client: c, tables: tables, report: r, byName: map[string]int{}, last: map[string]hbase.RegionLoad{}}
	if err := w.ask(ctx, true); err != nil {
		return nil, err
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil && (len(r.Seconds) == 0 || time.Since(r.Began) < long) {
		select {
		case <-ctx.Done():
			continue
		case <-tick.C:
		}
		if err := w.ask(ctx, false); err != nil && ctx.Err() == nil {
			return nil, err
		}
		if progress != nil {
			progress(time.Since(r.Began))
		}
	}
	if len(r.Seconds) == 0 {
		return nil, ctx.Err()
	}
	slices.SortStableFunc(r.Regions, func(a, b Region) int {
		return cmp.Or(cmp.Compare(a.Stored, b.Stored), bytes.Compare(a.start, b.start))
	})
	r.Findings = r.find()
	return r, nil
}

type watcher struct {
	client hbase.Client
	tables []*catalog.Table
	report *Report
	byName map[string]int // index in report.Regions
	last   map[string]hbase.RegionLoad
}

// ask adds the requests since the last call. A region that was reopened counts from 0; a new one, as after a split, counts
// from the next call on.
func (w *watcher) ask(ctx context.Context, first bool) error {
	r := w.report
	var names []string
	for _, t := range w.tables {
		for _, l := range t.Layouts {
			stored, err := w.stored(ctx, l)
			if err != nil {
				return err
			}
			for _, name := range stored {
				if err := w.regions(ctx, t, l, name); err != nil {
					return err
				}
			}
			names = append(names, stored...)
		}
	}
	loads, err := w.client.RegionLoads(ctx, names...)
	switch {
	case errors.Is(err, hbase.ErrDenied):
		return fmt.Errorf("the requests of regions are in the cluster status, which this user may not read: on this cluster that needs the right ADMIN: %w", err)
	case err != nil:
		return err
	}
	if !first {
		r.Seconds = append(r.Seconds, time.Since(r.Began).Seconds())
	}
	for name, i := range w.byName {
		g := &r.Regions[i]
		now, known := loads[name]
		was, before := w.last[name]
		if now.Reads < was.Reads || now.Writes < was.Writes {
			was = hbase.RegionLoad{}
		}
		if !known || !before {
			was = now
		}
		if known {
			w.last[name] = now
		}
		g.Reads.add(len(r.Seconds), now.Reads-was.Reads)
		g.Writes.add(len(r.Seconds), now.Writes-was.Writes)
		g.Filtered.add(len(r.Seconds), now.Filtered-was.Filtered)
	}
	return nil
}

// add sets the count of the n-th interval.
func (c *Counts) add(n int, count int64) {
	for len(*c) < n {
		*c = append(*c, 0)
	}
	if n > 0 {
		(*c)[n-1] = count
	}
}

// stored returns the names of a layout's HBase tables.
func (w *watcher) stored(ctx context.Context, l *catalog.Layout) ([]string, error) {
	prefix, whole := l.Stored.Prefix()
	if whole {
		return []string{prefix}, nil
	}
	return w.client.Tables(ctx, prefix)
}

// regions adds the regions of an HBase table that are not in the report yet.
func (w *watcher) regions(ctx context.Context, t *catalog.Table, l *catalog.Layout, stored string) error {
	regions, err := w.client.Regions(ctx, stored)
	if errors.Is(err, hbase.ErrNoTable) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, g := range regions {
		if _, ok := w.byName[g.Name]; !ok {
			w.byName[g.Name] = len(w.report.Regions)
			w.report.Regions = append(w.report.Regions, Region{Table: t.Name, Stored: stored, Begins: border(l, g.Start), Server: g.Server, layout: l, start: g.Start, stop: g.Stop})
		}
	}
	return nil
}

// border returns the start key of a region as the values of its complete parts.
func border(l *catalog.Layout, start []byte) string {
	var out []string
	at := 0
	for i, end := range l.Key.Ends(start, false) {
		if p := l.Key.Parts[i]; p.Literal == nil && end <= len(start) {
			v, err := p.Decode(start[at:end])
			if err != nil {
				break
			}
			out = append(out, v.SQL())
		}
		at = end
	}
	if len(out) < 2 {
		return l.Begins(start)
	}
	return strings.Join(out, ", ")
}

// Thresholds for findings: the share of all requests that one region takes, its multiple of an even share, and the
// share of the read rows that filters drop.
const (
	muchOfAll   = 0.3
	overEven    = 2
	muchOfReads = 0.8
)

// find describes uneven load for each HBase table.
func (r *Report) find() (out []string) {
	for from := 0; from < len(r.Regions); {
		to := from
		for to < len(r.Regions) && r.Regions[to].Stored == r.Regions[from].Stored {
			to++
		}
		out = append(out, findings(r.Regions[from:to])...)
		from = to
	}
	return out
}

// findings describes uneven load in one HBase table.
func findings(regions []Region) (out []string) {
	of := regions[0].Stored
	all := int64(0)
	for _, kind := range []struct {
		name string
		n    func(*Region) int64
	}{{"writes", func(g *Region) int64 { return g.Writes.Sum() }}, {"reads", func(g *Region) int64 { return g.Reads.Sum() }}} {
		total, most, idle := int64(0), 0, 0
		for i := range regions {
			n := kind.n(&regions[i])
			total += n
			if n > kind.n(&regions[most]) {
				most = i
			}
			if n == 0 {
				idle++
			}
		}
		all += total
		if total == 0 || len(regions) == 1 {
			continue
		}
		if share := float64(kind.n(&regions[most])) / float64(total); share >= muchOfAll && share >= overEven/float64(len(regions)) {
			out = append(out, fmt.Sprintf("%s: %.0f %% of the %s go to %s", of, 100*share, kind.name, regions[most].why(most == len(regions)-1, kind.name)))
		}
		if idle > 0 && kind.name == "writes" {
			out = append(out, fmt.Sprintf("%s: %d of %s got no write", of, idle, words.Count(len(regions), "region")))
		}
	}
	reads, filtered := int64(0), int64(0)
	for _, g := range regions {
		reads, filtered = reads+g.Reads.Sum(), filtered+g.Filtered.Sum()
	}
	if rows := reads + filtered; rows > 0 && float64(filtered)/float64(rows) >= muchOfReads {
		out = append(out, fmt.Sprintf("%s: servers dropped %.0f %% of the rows that they looked at: a statement misses the prefix of the key, see EXPLAIN and hql design", of, 100*float64(filtered)/float64(rows)))
	}
	if all == 0 {
		out = append(out, of+": no request came in this time")
	}
	return out
}

// why returns the text of a finding: the hot region, the probable cause, and a remedy.
func (g *Region) why(last bool, kind string) string {
	first := g.layout.Key.Parts[0]
	place := "the region that begins with " + g.Begins
	if last {
		place = "the last region, which begins with " + g.Begins
	}
	switch value, alone := g.alone(); {
	case g.layout.OnlyGrows():
		return fmt.Sprintf("%s: the key begins with %s, which follows the time; hql design finds a part to put in front", place, first.Source)
	case alone:
		return fmt.Sprintf("%s: it holds %s = %s alone, so that no split helps; put a part into the key that this value does not determine", place, first.Source, value)
	case kind == "writes" && last:
		return fmt.Sprintf("%s: if the values of %s only grow, a hash or a bucket in front spreads them; hql design compares them", place, first.Source)
	}
	return fmt.Sprintf("%s: if it holds several values of %s, split it; if one value is hot, hql design finds a part to put in front", place, first.Source)
}

// alone reports whether all keys of the region have the same value of the first part.
func (g *Region) alone() (value string, ok bool) {
	ends := g.layout.Key.Ends(g.start, false)
	if len(ends) == 0 || ends[0] >= len(g.start) || len(g.stop) < ends[0] || !bytes.Equal(g.start[:ends[0]], g.stop[:ends[0]]) {
		return "", false
	}
	return g.layout.Begins(g.start[:ends[0]]), true
}
