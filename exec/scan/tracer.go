package scan

import (
	"context"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// Tracer observes each access to a table.
type Tracer interface {
	// TraceScanStart is called before anything is read. The table is read with the context it returns.
	TraceScanStart(ctx context.Context, d Start) context.Context
	// TraceScanEnd is called after the last read of the table, with the context of TraceScanStart.
	TraceScanEnd(ctx context.Context, d End)
}

// Start describes how a table is going to be read.
type Start struct {
	Table, Layout string
	Access        plan.Access
	Ranges        int // disjoint key ranges, a key counting as one
}

// End describes the result of reading a table.
type End struct {
	TableStats
	Err error // what ended it; nil for the end and when enough rows had come
}

// traceScan announces an access to a table, whose end stats reports. The context it returns is nil when nobody
// wants to know more.
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

// valuesOf ends with the context of a call of Next and carries the values of the table access.
type valuesOf struct {
	context.Context
	values context.Context
}

// Value looks in the access' context, which descends from the statement's.
func (c valuesOf) Value(key any) any { return c.values.Value(key) }
