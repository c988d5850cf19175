package exec

import (
	"context"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// ScanTracer is told of each access to a table.
type ScanTracer interface {
	// TraceScanStart is called before anything is read. The table is read with the context it returns.
	TraceScanStart(ctx context.Context, d ScanStart) context.Context
	// TraceScanEnd is called once the table is no longer read, with the context of TraceScanStart.
	TraceScanEnd(ctx context.Context, d ScanEnd)
}

// ScanStart says how a table is going to be read.
type ScanStart struct {
	Table, Layout string
	Access        plan.Access
	Ranges        int // disjoint key ranges, a key counting as one
}

// ScanEnd says what reading a table came to.
type ScanEnd struct {
	TableStats
	Err error // what ended it; nil for the end and when enough rows had come
}

// traceScan announces an access to a table, whose end stats reports. The context it returns is nil when nobody
// wants to know more.
func (st *statement) traceScan(ctx context.Context, s *plan.Scan, stats *scanStats) context.Context {
	if st.tracer == nil && stats.trace == nil {
		return nil
	}
	if st.tracer != nil {
		ctx = st.tracer.TraceScanStart(ctx, ScanStart{Table: s.Table.Name, Layout: s.Layout.Name, Access: s.Access, Ranges: len(s.Spans)})
		stats.ended = func(err error) { st.tracer.TraceScanEnd(ctx, ScanEnd{TableStats: stats.table(), Err: err}) }
	}
	if stats.trace != nil {
		ctx = hbase.WithRPCTracer(ctx, stats.trace)
	}
	return ctx
}

// scanContext ends with the context of a call of Next and carries the values of the table access.
type scanContext struct {
	context.Context
	values context.Context
}

// Value looks in the access' context, which descends from the statement's.
func (c scanContext) Value(key any) any { return c.values.Value(key) }
