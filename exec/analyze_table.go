package exec

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// analyzeWorkers is the number of scans that ANALYZE has open: few, to leave the servers capacity.
const analyzeWorkers = 2

// runShares are the shares of rows that ANALYZE requests after the first run through a region of unknown size: in the
// second run, in the third, and so on. Later shares are smaller, so that few runs suffice for a region of any size.
var runShares = []float64{1. / 4, 1. / 16, 1. / 256, 1. / 4096, 1. / 65536}

// keptRows is the number of rows kept as a sample while a table is read, over all regions.
const keptRows = 60_000

// analyzeTables runs ANALYZE of one table, or of all.
func (r *run) analyzeTables(ctx context.Context, s *parser.Analyze) (*Rows, error) {
	if s.Name != "" {
		return r.analyzeTable(ctx, s)
	}
	for _, t := range r.engine.catalog.Tables() {
		if _, err := r.analyzeTable(ctx, &parser.Analyze{Pos: s.Pos, Name: t.Name, NamePos: s.Pos}); err != nil {
			return nil, fmt.Errorf("ANALYZE %s: %w", parser.QuoteName(t.Name), err)
		}
	}
	return r.done(-1), nil
}

// analyzeTable runs ANALYZE of a table: it reads rows of all regions of a table, within the limits of rows and time, and stores
// statistics of them.
func (r *run) analyzeTable(ctx context.Context, s *parser.Analyze) (*Rows, error) {
	t, err := r.tableNamed(s.Name, s.NamePos)
	if err != nil {
		return nil, err
	}
	r.Client = r.engine.client // the limits of reads do not apply: ANALYZE has its own
	a := &analysis{run: r, table: t, layout: t.Layouts[0], left: r.settings.analyzeRows, end: time.Now().Add(r.settings.analyzeTime)}
	found, err := a.read(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.saveStatistics(ctx, t, found); err != nil {
		return nil, err
	}
	return r.statisticsRows(t, found, ""), nil
}

// analysis reads a table for ANALYZE.
//
// The first run through each region reads a limited number of rows from its start: it covers small regions completely.
// The second run reads a random sample of the other rows. Each row has the same chance, computed from the sizes of the
// regions that the master reports and the limit of rows. The server also reports how many rows it has looked at, so that
// the weight of each sampled row is known. If the size of a region is unknown, or was far too small, further runs sample
// one row in 4, one in 16 and so on, each about as many rows as the first run. If these leave many rows unread, one more
// run samples all rows after the first run, each with the same chance.
type analysis struct {
	*run
	table  *catalog.Table
	layout *catalog.Layout
	rows   int       // the most that one run requests
	kept   int       // the size of the sample that one run keeps
	end    time.Time // when the time is up

	mu      sync.Mutex
	regions []*analyzedRegion
	left    int64   // rows that may still be requested
	begun   int     // number of regions that workers have begun
	share   float64 // of the rows after the first run in regions of known size: the share that the second run samples
	even    float64 // of all rows after the first run: the share that the last run samples
	cs      []*stats.Collector
	failed  error
}

// analyzedRegion is a region and the counts of its rows that were read.
type analyzedRegion struct {
	table       string
	start, stop []byte
	size        int64 // in bytes, in whole megabytes, as its server reports
	told        bool  // whether its server has reported the size
	bytes, rows int64 // received
	runs        []*stats.Run
	whole       bool   // all rows were looked at
	sampled     bool   // not all rows were requested
	second      []byte // where the second run begins; nil: there is none
	reached     []byte // no row after this key was looked at, unless whole is set
}

// behind estimates the number of rows of g that come after its first run. It returns 0 if the number is unknown.
func (g *analyzedRegion) behind() float64 {
	if g.whole || g.rows == 0 {
		return 0
	}
	return max(0, float64(g.size)*float64(g.rows)/float64(max(g.bytes, 1))-float64(g.rows))
}

// read returns the statistics of the table.
func (a *analysis) read(ctx context.Context) (*stats.Table, error) {
	at := time.UnixMilli(a.Opt.Now)
	names, err := a.physical(ctx, a.layout)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	loads, _ := a.Client.RegionLoads(ctx, names...) // not every user may ask for them; without them ANALYZE reads by other shares
	for _, name := range names {
		regions, err := a.Client.Regions(ctx, name)
		if err != nil {
			return nil, scan.ReadError(name, err)
		}
		for _, g := range regions {
			load, told := loads[g.Name]
			told = told && load.Bytes >= 0
			a.regions = append(a.regions, &analyzedRegion{table: name, start: g.Start, stop: g.Stop, reached: g.Start, size: max(0, load.Bytes), told: told})
			total += max(0, load.Bytes)
		}
	}
	n := max(1, len(a.regions))
	a.rows = int(min(max(a.left/int64((1+len(runShares))*n), 1), 1<<30))
	a.kept = max(20, keptRows/n)
	a.rec.work.counts(2 * int64(n)) // the start and the rest of each region; further runs are rare

	rand.Shuffle(len(a.regions), func(i, j int) { a.regions[i], a.regions[j] = a.regions[j], a.regions[i] }) // time may end before the regions do
	whole := scan.Whole(a.table, a.layout)
	tally := a.rec.Open(whole)
	var workers []*analyzer
	for range min(analyzeWorkers, n) {
		col := stats.NewCollector(shapeOf(a.table))
		a.cs = append(a.cs, col)
		workers = append(workers, &analyzer{analysis: a, scan: whole, tally: tally, collector: col, dec: scan.NewDecoder(&a.Reads, whole, a.layout),
			cells: columnsByCell(a.table), sizes: make([]int, len(a.table.Columns))})
	}
	a.each(ctx, workers, (*analyzer).readStart)
	rest := 0.0
	for _, g := range a.regions {
		rest += g.behind()
	}
	a.share = min(1, spared*float64(a.left)/max(rest, 1))
	a.each(ctx, workers, (*analyzer).readRest)
	if a.even = a.evenShare(); a.even > 0 {
		a.each(ctx, workers, (*analyzer).evenOut)
	}
	tally.End(a.failed)
	if err := cmp.Or(ctx.Err(), a.failed); err != nil {
		return nil, err
	}
	complete, unread, scaled := a.fillIn()
	out := stats.Build(a.table.Name, at, complete, a.cs...)
	out.Size, out.Unread, out.Unscaled = total, unread, !scaled
	for _, g := range a.regions {
		if s := out.Keys[0].StoredIn(g.table); s != nil && !g.whole {
			s.Unread = append(s.Unread, stats.Gap{Start: g.reached, Stop: g.stop})
		}
	}
	for _, k := range out.Keys {
		for i := range k.Stored {
			if regions, err := a.Client.Regions(ctx, k.Stored[i].Table); err == nil {
				k.Stored[i].Regions = len(regions)
			}
		}
	}
	return out, nil
}

// each lets the workers read all regions and waits for them.
func (a *analysis) each(ctx context.Context, workers []*analyzer, read func(*analyzer, context.Context, *analyzedRegion) error) {
	a.begun = 0
	var running sync.WaitGroup
	for _, w := range workers {
		running.Go(func() { w.work(ctx, read) })
	}
	running.Wait()
}

// spared is the share of the remaining row limit that a sampling run requests: chance may select more rows than
// expected, and the sizes of regions are inexact.
const spared = 0.75

// evenShare returns which share of the rows the row limit allows ANALYZE to read, not counting the first run of each region.
// It returns 0 if the runs so far have read that many rows.
func (a *analysis) evenShare() float64 {
	rows, came := 0.0, 0.0
	for _, g := range a.regions {
		if !g.whole || a.failed != nil {
			return 0
		}
		for _, r := range g.runs[1:] {
			rows, came = rows+r.Stands, came+float64(r.Rows)
		}
	}
	if left := spared * float64(a.left); rows > 0 && left > came {
		return min(1, left/rows)
	}
	return 0
}

// fillIn raises the weights of the rows that were read, so that they stand for the unread rows, too. It estimates the
// number of unread rows by the sizes of the regions. It reports whether all rows were read, the share of unread rows,
// and whether the sizes were known.
func (a *analysis) fillIn() (complete bool, unread float64, scaled bool) {
	complete, scaled = true, true
	bytes, rows, begun := 0.0, 0.0, 0
	for _, g := range a.regions {
		bytes += float64(g.bytes)
		for _, r := range g.runs { // a stored row may hold several rows of the table, or none
			rows += float64(r.Rows)
		}
		if g.whole || g.rows > 0 {
			begun++
		}
		complete = complete && g.whole && !g.sampled
	}
	if rows == 0 {
		return complete, 0, complete
	}
	looked, behind, apart := 0.0, 0.0, 0.0 // numbers of rows: covered by runs; not covered, in regions with runs; in regions without runs
	for _, g := range a.regions {
		here := 0.0
		for _, r := range g.runs {
			here += r.Stands
		}
		looked += here
		if g.whole {
			continue
		}
		const unit = 1 << 20 // the unit of reported sizes
		scaled = scaled && g.told && float64(g.size+unit) > here*bytes/rows
		more := max(0, float64(g.size)*rows/bytes-here)
		if here == 0 {
			apart += more
			continue
		}
		behind += more
		g.runs[len(g.runs)-1].Stands += more
	}
	for _, g := range a.regions {
		for i := len(g.runs) - 1; i > 0; i-- {
			if g.runs[i].Rows == 0 { // the sample of a few rows may be empty
				g.runs[i-1].Stands += g.runs[i].Stands
			}
		}
	}
	by := 1 + apart/(looked+behind) // regions of which nothing was read are assumed to be like the others
	if !scaled {
		by = float64(len(a.regions)) / float64(begun)
	}
	for _, g := range a.regions {
		for _, r := range g.runs {
			r.Stands *= by
		}
	}
	return complete, (behind + apart) / (looked + behind + apart), scaled
}

// shapeOf describes the columns and keys of t for statistics.
func shapeOf(t *catalog.Table) stats.Shape {
	s := stats.Shape{Columns: t.ColumnNames()}
	for _, l := range t.Layouts {
		s.Keys = append(s.Keys, stats.KeyShape{Layout: l.Name, Parts: l.Key.Sources()})
	}
	return s
}

// columnsByCell maps each cell, family:qualifier, to the columns that it holds.
func columnsByCell(t *catalog.Table) map[string][]int {
	out := map[string][]int{}
	for _, c := range t.Columns {
		if !c.KeyPart && c.Packed == nil {
			out[c.Family+":"+c.Qualifier] = append(out[c.Family+":"+c.Qualifier], c.Index)
		}
	}
	return out
}

// analyzer is a worker of an analysis.
type analyzer struct {
	*analysis
	scan      *plan.Scan
	tally     *scan.Counts
	dec       *scan.Decoder
	collector *stats.Collector
	cells     map[string][]int
	sizes     []int
	name      []byte
	places    []stats.Place
}

// work reads regions until there are none.
func (w *analyzer) work(ctx context.Context, read func(*analyzer, context.Context, *analyzedRegion) error) {
	for {
		w.mu.Lock()
		if w.begun == len(w.regions) || w.failed != nil || ctx.Err() != nil || !time.Now().Before(w.end) || w.left <= 0 {
			w.mu.Unlock()
			return
		}
		g := w.regions[w.begun]
		w.begun++
		w.mu.Unlock()
		if err := operator.Safely(func() error { return read(w, ctx, g) }); err != nil {
			w.mu.Lock()
			w.failed = cmp.Or(w.failed, err) // workers mostly fail for the same reason
			w.mu.Unlock()
		}
		w.rec.work.at.Add(1)
	}
}

// readStart reads the first run of a region.
func (w *analyzer) readStart(ctx context.Context, g *analyzedRegion) (err error) {
	g.second, err = w.readSome(ctx, g, g.start, 1, w.rows)
	return err
}

// readRest reads the rows after the first run of a region.
func (w *analyzer) readRest(ctx context.Context, g *analyzedRegion) (err error) {
	next := g.second
	if rows := g.behind(); rows > 0 && next != nil {
		next, err = w.readSome(ctx, g, next, w.share, int(math.Ceil(w.share*rows*1.2))+w.rows)
	}
	for i := 0; next != nil && err == nil; i++ {
		next, err = w.readSome(ctx, g, next, runShares[min(i, len(runShares)-1)], w.rows)
	}
	return err
}

// readSome works like readRun with a limit of rows, which it takes from the limit that all workers share.
func (w *analyzer) readSome(ctx context.Context, g *analyzedRegion, start []byte, share float64, most int) (next []byte, err error) {
	w.mu.Lock()
	most = int(min(int64(most), w.left))
	w.left -= int64(most)
	w.mu.Unlock()
	if most == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	read, next, err := w.readRun(ctx, g, start, share, most)
	w.mu.Lock()
	w.left += int64(most - read)
	w.mu.Unlock()
	return next, err
}

// evenOut replaces the sampling runs of a region by a single one, if there is time for it.
func (w *analyzer) evenOut(ctx context.Context, g *analyzedRegion) error {
	if len(g.runs) < 2 {
		return nil
	}
	was := g.runs
	w.mu.Lock()
	most := int(w.left)
	w.mu.Unlock()
	sampled := g.sampled
	g.sampled = false
	read, _, err := w.readRun(ctx, g, g.second, w.even, most)
	w.mu.Lock()
	w.left -= int64(read)
	w.mu.Unlock()
	drop := was[1:]
	if !g.whole {
		drop, g.whole, g.sampled = g.runs[len(was):], true, sampled
	}
	for _, r := range drop {
		r.Forget()
	}
	g.runs = slices.DeleteFunc(g.runs, func(r *stats.Run) bool { return slices.Contains(drop, r) })
	return err
}

// readRun samples a share of the rows of g from start on, at most a number of rows. It returns the number of rows read
// and the start of the next run, or nil if there is none.
func (w *analyzer) readRun(ctx context.Context, g *analyzedRegion, start []byte, share float64, most int) (read int, next []byte, err error) {
	run := w.collector.Begin(max(20, int(float64(w.kept)*max(share, 0.25))))
	g.runs = append(g.runs, run)
	looked := &lookedAt{}
	timed, cancel := context.WithDeadline(hbase.WithRPCTracer(ctx, looked), w.end)
	defer cancel()
	opts := scan.ReadOptions(w.scan, w.layout)
	opts.Region, opts.Slots, opts.NoCacheBlocks, opts.Metrics = w.tally, w.Slots, true, true
	if share < 1 {
		opts.Filter, g.sampled = filter.Sample{Share: share}, true
	}
	w.tally.Add(1, 0)
	sc, err := w.Client.Scan(timed, hbase.ScanRange{Table: g.table, Start: start, Stop: g.stop, Limit: most}, &opts)
	if g.whole = false; err != nil && ctx.Err() == nil && timed.Err() != nil {
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, scan.ReadError(g.table, err)
	}
	defer sc.Close()
	g.reached = start
	ended, late := false, false
	for !ended && !late {
		rows, err := sc.Next(timed)
		switch {
		case err == io.EOF:
			ended = true
		case err != nil && ctx.Err() == nil && timed.Err() != nil:
			late = true
		case err != nil:
			return read, nil, scan.ReadError(g.table, err)
		}
		read += len(rows)
		w.tally.Add(0, int64(len(rows)))
		for i := range rows {
			if err := w.add(timed, g, run, &rows[i]); err != nil {
				return read, nil, err
			}
		}
		if n := len(rows); n > 0 {
			next = append(append(next[:0], rows[n-1].Key...), 0)
		}
	}
	if share < 1 { // of stored rows, each of which may hold several rows of the table or none
		rows := float64(looked.rows.Load())
		if rows == 0 {
			rows = float64(read) / share // for a server that does not report how many rows it looked at
		}
		if run.Stands = rows; read > 0 {
			run.Stands *= float64(run.Rows) / float64(read)
		}
	}
	if next != nil {
		g.reached = next
	}
	if g.whole = ended && read < most; g.whole || late {
		next = nil
	}
	return read, next, nil
}

// lookedAt adds up the rows that servers looked at.
type lookedAt struct{ rows atomic.Int64 }

func (l *lookedAt) TraceRPCStart(ctx context.Context, _ hbase.RPCStart) context.Context { return ctx }

func (l *lookedAt) TraceRPCEnd(_ context.Context, d hbase.RPCEnd) {
	if d.Scanned != nil {
		l.rows.Add(d.Scanned.Rows)
	}
}

// add adds a stored row, which may hold several rows of the table or none.
func (w *analyzer) add(ctx context.Context, g *analyzedRegion, run *stats.Run, row *hbase.Row) error {
	rows, err := w.dec.Decode(ctx, g.table, row)
	if err == nil {
		err = w.Numbers.ResolveNames(ctx, w.table, rows)
	}
	if err != nil {
		return err
	}
	clear(w.sizes)
	total := 0
	for i := range row.Cells {
		c := &row.Cells[i]
		n := hbase.CellSize(row.Key, c)
		total += n
		w.name = append(append(append(w.name[:0], c.Family...), ':'), c.Qualifier...)
		for _, col := range w.cells[string(w.name)] {
			w.sizes[col] = n
		}
	}
	g.bytes, g.rows = g.bytes+int64(total), g.rows+1
	n := len(rows)
	for i, values := range rows {
		out := stats.Row{Values: values, CellBytes: w.sizes, Places: w.placesOf(g.table, row.Key, values)}
		if i == 0 {
			out.Bytes, out.Cells = total, len(row.Cells)
		}
		for _, c := range w.table.Columns {
			if c.Packed != nil {
				w.sizes[c.Index] = total / n
			}
		}
		run.Add(out)
	}
	return nil
}

// placesOf returns, for each layout, the HBase table and the key of a row.
func (w *analyzer) placesOf(table string, key []byte, row []types.Value) []stats.Place {
	w.places = w.places[:0]
	for i, l := range w.table.Layouts {
		p := stats.Place{Table: table, Key: key}
		if i > 0 {
			p.Table, p.Key, p.Ends = l.Entry(row)
		} else if p.Ends = l.Key.Ends(p.Key, true); len(p.Ends) < len(l.Key.Parts) {
			p.Key = nil
		}
		w.places = append(w.places, p)
	}
	return w.places
}
