package scan

import (
	"context"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// Tracer observes each access to a table.
type Tracer interface {
	// TraceScanStart is called before anything is read. The table is read with the returned context.
	TraceScanStart(ctx context.Context, d Start) context.Context
	// TraceScanEnd is called after the last read of the table, with the context of TraceScanStart.
	TraceScanEnd(ctx context.Context, d End)
}

// Start describes how a table is going to be read.
type Start struct {
	Table, Layout string
	Access        plan.Access
	Ranges        int // number of disjoint key ranges; a single key counts as one
}

// End describes the result of reading a table.
type End struct {
	TableStats
	Err error // the error that ended it; nil at the end, or when enough rows were read
}

// traceScan reports the beginning of a table access to the tracer; stats reports the end. The returned context is nil if
// nothing is traced.
func (st *Reads) traceScan(ctx context.Context, s *plan.Scan, stats *Counts) context.Context {
	if st.Tracer == nil && stats.trace == nil {
		return nil
	}
	if st.Tracer != nil {
		traced := st.Tracer.TraceScanStart(ctx, Start{Table: s.Table.Name, Layout: s.Layout.Name, Access: s.Access, Ranges: len(s.Spans)})
		stats.ended = func(err error) { st.Tracer.TraceScanEnd(traced, End{TableStats: stats.table(), Err: err}) }
		ctx = traced
	}
	if stats.trace != nil {
		ctx = hbase.WithRPCTracer(ctx, stats.trace)
	}
	return ctx
}

// valuesOf ends with the context of a Next call, and has the values of the table access's context.
type valuesOf struct {
	context.Context
	values context.Context
}

// Value looks up key in the access's context, which descends from the statement's.
func (c valuesOf) Value(key any) any { return c.values.Value(key) }
