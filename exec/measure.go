package exec

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// StepStats is what one step of a plan did under EXPLAIN ANALYZE.
type StepStats struct {
	Title string
	Depth int   // of the step in the plan's tree, the last step having 0
	Rows  int64 // that it gave
	// Total is the time until it had given them, what it waited for its inputs included; Self is without that.
	Total, Self time.Duration

	node planner.Node
}

// RegionStats is what one table access did in one region under EXPLAIN ANALYZE.
type RegionStats struct {
	Table string
	// Region is zero for the RPCs that failed and were repeated.
	Region      hbase.Region
	RPCs        int64
	Rows, Bytes int64         // received; a row that came in parts counts as often
	Time        time.Duration // of its RPCs, added up: several may have run at once
}

// meter measures the steps of a plan while it runs.
type meter struct {
	mu    sync.Mutex
	steps map[planner.Node]*meteredOp
}

// wrap makes op, which runs n, measured.
func (m *meter) wrap(n planner.Node, op operator.Operator) operator.Operator {
	x := &meteredOp{in: op}
	m.mu.Lock()
	m.steps[n] = x
	m.mu.Unlock()
	return x
}

// stats gives the steps of the tree under n, a step before its inputs.
func (m *meter) stats(n planner.Node, depth int) []StepStats {
	s := StepStats{Title: planner.Title(n), Depth: depth, node: n}
	if x := m.steps[n]; x != nil { // a later part of a union may never have begun
		s.Rows, s.Total = x.rows, x.took
	}
	out := []StepStats{s}
	inputs := time.Duration(0)
	for _, in := range n.Inputs() {
		below := m.stats(in, depth+1)
		inputs += below[0].Total
		out = append(out, below...)
	}
	out[0].Self = max(0, s.Total-inputs)
	return out
}

// meteredOp counts the rows and the time of an operator.
type meteredOp struct {
	in   operator.Operator
	rows int64
	took time.Duration
}

// Next passes rows through.
func (x *meteredOp) Next(ctx context.Context) ([][]types.Value, error) {
	begin := time.Now()
	rows, err := x.in.Next(ctx)
	x.took += time.Since(begin)
	x.rows += int64(len(rows))
	return rows, err
}

// Close ends the input.
func (x *meteredOp) Close() error { return x.in.Close() }

// maxCalls bounds the RPCs that are kept one by one, for drawing; the sums are of all.
const maxCalls = 500

// trace collects the RPCs of one table access.
type trace struct {
	mu      sync.Mutex
	calls   []hbase.RPCEnd
	regions map[string]*RegionStats
}

// TraceRPCStart implements hbase.RPCTracer.
func (t *trace) TraceRPCStart(ctx context.Context, _ hbase.RPCStart) context.Context { return ctx }

// TraceRPCEnd implements hbase.RPCTracer.
func (t *trace) TraceRPCEnd(_ context.Context, c hbase.RPCEnd) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.calls) < maxCalls {
		t.calls = append(t.calls, c)
	}
	id := c.Table + "\x00" + c.Region.Name
	r := t.regions[id]
	if r == nil {
		r = &RegionStats{Table: c.Table, Region: c.Region}
		if t.regions == nil {
			t.regions = map[string]*RegionStats{}
		}
		t.regions[id] = r
	}
	r.RPCs++
	r.Rows += c.Rows
	r.Bytes += c.Bytes
	r.Time += c.Took
}

// stats gives the calls, and the regions in the order of tables and keys; those of
// failed calls come first of their table.
func (t *trace) stats() ([]hbase.RPCEnd, []RegionStats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]RegionStats, 0, len(t.regions))
	for _, r := range t.regions {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b RegionStats) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), bytes.Compare(a.Region.Start, b.Region.Start), cmp.Compare(a.Region.Name, b.Region.Name))
	})
	return slices.Clone(t.calls), out
}
