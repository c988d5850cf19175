package exec

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// lookedBudget counts the rows that servers look at and the bytes that they send, for the full scans of a statement that
// LIMIT or statistics permit.
type lookedBudget struct{ rows, bytes atomic.Int64 }

// openBudgeted opens a full scan that is allowed because of its limit or statistics. The scan fails with a
// *ScanLimitError if servers look at more rows than allowed: the table has grown, or rows are malformed.
func (st *statement) openBudgeted(ctx context.Context, s *plan.Scan) (operator.Operator, error) {
	b := &budgetedScan{budget: st.looked, scan: s, most: st.readable()}
	if limit := s.Reads(); limit.Set && limit.Rows <= st.fullScanRows && !st.small(s) {
		b.most = ScanLimit{Rows: max(smallTable.Rows, st.fullScanRows)} // many rows if these are large, too
	}
	b.over, b.end = context.WithCancel(context.Background())
	reads := st.Reads
	reads.Metrics = true
	in, err := reads.Open(hbase.WithRPCTracer(ctx, b), s)
	if err != nil {
		b.end()
		return nil, b.why(err)
	}
	b.in = in
	return b, nil
}

// budgetedScan is a scan that fails when it exceeds its budget.
type budgetedScan struct {
	in     operator.Operator
	scan   *plan.Scan
	budget *lookedBudget
	most   ScanLimit
	over   context.Context // ends when the scan has exceeded most
	end    context.CancelFunc
}

func (b *budgetedScan) TraceRPCStart(ctx context.Context, _ hbase.RPCStart) context.Context {
	return ctx
}

func (b *budgetedScan) TraceRPCEnd(_ context.Context, d hbase.RPCEnd) {
	looked := d.Rows
	if d.Scanned != nil {
		looked = max(looked, d.Scanned.Rows)
	}
	rows, bytes := b.budget.rows.Add(looked), b.budget.bytes.Add(d.Bytes)
	if rows > b.most.Rows || b.most.Bytes > 0 && bytes > b.most.Bytes {
		b.end()
	}
}

// Next returns rows until the budget is spent.
func (b *budgetedScan) Next(ctx context.Context) ([][]types.Value, error) {
	ctx, cancel := context.WithCancel(hbase.WithRPCTracer(ctx, b))
	defer cancel()
	defer context.AfterFunc(b.over, cancel)()
	rows, err := b.in.Next(ctx)
	return rows, b.why(err)
}

// why returns err, or a *ScanLimitError if the budget is spent.
func (b *budgetedScan) why(err error) error {
	if b.over.Err() == nil {
		return err
	}
	read := b.budget.rows.Load()
	return &ScanLimitError{Setting: fullScan, Read: read, Limit: b.most.Rows, Table: b.scan.Table.Name,
		Grown: fmt.Sprintf("the servers have looked at %d rows of %s, more than its statistics or the LIMIT let this read without permission, %d rows and %s",
			read, b.scan.Table.Name, b.most.Rows, expr.FormatSize(max(b.most.Bytes, smallTable.Bytes)))}
}

func (b *budgetedScan) Close() error {
	err := b.in.Close()
	b.end()
	return err
}
