package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Open returns an operator for one table access. Nothing is sent before the first Next.
//
//	spans -> tasks -> readers (get or scan, decode, residual) -> one of
//	    getScan        the keys of one Get
//	    parallelScan   any order
//	    orderedScan    KeyOrder, ReverseOrder, and any order under a limit
//	    mergeScan      MergeOrder
//	-> prefixOrderScan -> indexScan -> operator.Limit
func (st *Reads) Open(ctx context.Context, s *plan.Scan) (op operator.Operator, err error) {
	stats := st.Recorder.Open(s)
	traced := st.traceScan(ctx, s, stats)
	if traced != nil {
		ctx = traced
	}
	defer func() {
		if err != nil {
			stats.done(err)
		}
	}()
	spans := s.Spans
	if s.ListTables {
		spans, err = st.ListTables(ctx, s)
	} else {
		spans, err = st.existing(ctx, s, spans)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range s.Warnings {
		st.Warn.Add(warning.Ranges, w)
	}
	op = st.Read(ctx, s, spans, stats)
	if s.PrefixFix != nil {
		op = &prefixOrderScan{in: op, col: s.PrefixFix.Index, limit: s.Limit}
	}
	if s.Entries {
		op = newIndexScan(st, s, stats, op)
	}
	op = &countedScan{in: op, stats: stats, scan: s, ctx: traced}
	if s.Limit.Set {
		op = operator.Limit(op, 0, s.Limit)
	}
	return op, nil
}

// access is the state that the readers of one table access share.
type access struct {
	st       *Reads
	scan     *plan.Scan
	stats    *Counts
	opts     hbase.ReadOptions
	find     hbase.ReadOptions // with Scan.ByTime: to find the keys of its rows
	decoder  Decoder           // readers copy it
	looks    atomic.Int64      // number of times that ranges were opened to look for values
	filtered bool              // the client drops rows
}

// Read returns the operator that reads spans.
func (st *Reads) Read(ctx context.Context, s *plan.Scan, spans []plan.Span, stats *Counts) operator.Operator {
	if len(spans) == 0 || s.Limit == plan.AtMost(0) {
		return operator.None{}
	}
	s = st.withMob(ctx, s, spans)
	a := &access{st: st, scan: s, stats: stats, opts: ReadOptions(s, s.Layout), filtered: s.Residual != nil || s.PrefixFix != nil || s.Entries}
	a.opts.Region, a.opts.Slots, a.opts.Metrics = stats.regions, st.Slots, st.Metrics || stats.trace != nil
	a.decoder.of(st, s, s.Layout)
	a.opts.Encoded = !s.AllVersions && a.decoder.packed == nil && !a.decoder.ts // each cell is decoded once, for its column
	if p := a.decoder.packed; p != nil && s.Limit.Set && s.Limit.Rows <= maxChunkRows && !s.SortWithin && !s.AllVersions && !p.HoldsPoints() && len(s.Families) == 1 {
		if a.opts.Cells = int(s.Limit.Rows); a.filtered {
			a.opts.Cells = max(st.Tuning.FirstRows, 2*a.opts.Cells)
		}
	}
	a.find = keysByTime(s, a.opts)
	if s.Order == plan.MergeOrder {
		if streams := cutStreams(s, spans); len(streams) > 1 || len(streams) == 1 && streams[0][0].keys != nil {
			for i := range streams {
				streams[i] = a.hops(streams[i])
			}
			return a.merge(ctx, streams, !a.filtered || s.First > 0)
		}
	}
	chunk := GetChunk
	if s.Limit.Set && s.Limit.Rows < GetChunk {
		chunk = int(max(16, 2*s.Limit.Rows))
	}
	tasks := a.hops(cutTasks(s, spans, chunk))
	if oneGet(s, tasks) {
		return newGetScan(a, tasks)
	}
	g := newGroup(ctx)
	if s.Hop != nil && !s.Lazy() {
		return &hopScan{group: g, tasks: tasks, read: func(ctx context.Context, tasks []task) operator.Operator { return a.readTasks(ctx, tasks, g) }}
	}
	return a.readTasks(ctx, tasks, g)
}

// reader returns a reader of tasks with its own decoder.
func (a *access) reader(tasks []task) *reader {
	r := &reader{}
	r.begin(a, a.decoder.another(), tasks)
	s, first := a.scan, a.scan.First
	switch { // the row of each entry is looked up, and few entries are stale
	case !s.Entries || first > 0:
	case s.Limit.Set && s.Residual == nil:
		first = s.Limit.Rows + s.Limit.Rows/4 + 1
	default:
		first = 4*max(s.Limit.Rows, s.Wanted) + 16
	}
	switch {
	case s.Limit.Set:
		r.limitTo(s.Limit.Rows, first, a.filtered)
	case s.Wanted > 0 && r.skip == 0:
		r.limitTo(s.Wanted, first, true)
	}
	return r
}

// hops sets the ranges of tasks to be read by hops, if the plan asks for it.
func (a *access) hops(tasks []task) []task {
	for i := range tasks {
		if a.scan.Hop != nil && tasks[i].keys == nil {
			a.st.hop(&tasks[i], a.scan, a.stats, &a.looks)
		}
	}
	return tasks
}

// merge returns the operator that reads and merges streams. Each stream is sorted, except a stream of Gets. With share,
// each stream first reads its share of the limit's rows.
func (a *access) merge(ctx context.Context, streams [][]task, share bool) *mergeScan {
	st, s := a.st, a.scan
	m := &mergeScan{group: newGroup(ctx), by: s.OrderBy, env: st.ExprEnv(), width: s.Width(), workers: min(cap(st.Slots), len(streams)), lazy: s.Lazy()}
	for i, tasks := range streams {
		r := a.reader(tasks)
		r.bytes, r.brief = st.Tuning.responseBytes(len(streams)), len(streams) > st.Tuning.OpenScanners
		if m.lazy && r.chunk > 0 && share {
			r.chunk = min(r.chunk, plan.FirstShare(r.chunk, len(streams)))
		}
		sorted := tasks[0].keys == nil
		if !sorted {
			r.chunk, r.quota = 0, 0 // they are sorted after all were read
		}
		m.streams = append(m.streams, &mergeStream{index: i, reader: r, sorted: sorted})
	}
	return m
}

// readTasks returns the operator that reads tasks.
func (a *access) readTasks(ctx context.Context, tasks []task, g *group) operator.Operator {
	st, s := a.st, a.scan
	if !s.Lazy() || s.Access == plan.FullScan && (s.Filter != nil || s.Residual != nil) { // a search may have to read many regions
		tasks = st.byRegion(ctx, tasks, s.Cuts, !s.Lazy() && !s.Reversed && !s.DistinctBoth)
	}
	if len(tasks) == 0 {
		g.cancel()
		return operator.None{}
	}
	if oneGet(s, tasks) {
		g.cancel()
		return newGetScan(a, tasks)
	}
	if s.Entries && s.Lazy() { // reading entries ahead, while rows are looked up, would read many for nothing
		g.cancel()
		return &getScan{reader: *a.reader(tasks), batch: *newRowBatch(s.Width())}
	}
	workers := min(cap(st.Slots), len(tasks))
	var queue *taskQueue // nil: the rows have an order
	if s.Order == plan.NoOrder && !s.Lazy() {
		queue = newTaskQueue(tasks, min(scannersOnServer(), (cap(st.Slots)+1)/2))
		workers = min(workers, queue.atOnce())
	}
	bytes := st.Tuning.responseBytes(workers)
	sharing := func(tasks []task) *reader {
		r := a.reader(tasks)
		r.bytes, r.ahead = bytes, workers == 1 && (!s.Lazy() || r.chunk == 0)
		return r
	}
	if queue != nil {
		return &parallelScan{group: g, queue: queue, workers: workers, deep: aheadBytes / bytes, width: s.Width(), reader: sharing}
	}
	o := &orderedScan{group: g, tasks: tasks, ahead: workers, window: min(2, workers), deep: aheadBytes / bytes, width: s.Width(), reader: sharing}
	if s.Lazy() {
		o.window = 1
	}
	return o
}

// oneGet reports whether tasks is a single multi-get, all of whose rows are wanted.
func oneGet(s *plan.Scan, tasks []task) bool {
	return len(tasks) == 1 && tasks[0].keys != nil && !s.Lazy()
}

// scannersOnServer bounds the number of scanners that a parallel scan has open on one server. With a single server,
// decoding takes most of the time; a few scanners per processor keep all processors busy.
func scannersOnServer() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// countedScan counts the rows of a table access, and adds the table to its errors.
type countedScan struct {
	in    operator.Operator
	stats *Counts
	scan  *plan.Scan
	ctx   context.Context // of the table access; nil if it is not traced
}

// Next passes rows through.
func (c *countedScan) Next(ctx context.Context) ([][]types.Value, error) {
	if c.ctx != nil {
		ctx = valuesOf{ctx, c.ctx}
	}
	rows, err := c.in.Next(ctx)
	c.stats.returned.Add(int64(len(rows)))
	if err == io.EOF {
		c.stats.done(nil)
	} else if err != nil {
		c.stats.done(err)
	}
	if errors.Is(err, hbase.ErrNoTable) {
		err = fmt.Errorf("the HBase table of %s does not exist: %w", c.scan.Table.Name, err)
	}
	return rows, err
}

func (c *countedScan) Close() error {
	defer c.stats.done(nil)
	return c.in.Close()
}
