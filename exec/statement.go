package exec

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// statement is the state that the reads of one statement share, and the checks before each read.
type statement struct {
	scan.Reads
	rec     *recorder
	watched *atomic.Pointer[recorder] // rec, for who watches the statement from another goroutine
	budget  *scanBudget
	// allowFull reports whether a full scan was allowed by the statement.
	allowFull bool
	policy    FullScanPolicy
	// fullScanRows is the number of rows in the order of a key that may be read without permission. knownSmall is set if
	// statistics showed that the reads are small when the statement was cut into pieces. looked, nil at first, counts the
	// rows read because of either.
	fullScanRows int64
	knownSmall   bool
	looked       *lookedBudget
	full         *filledLayouts
	// follow is Engine.followForeign where there is another catalog, asked are the tables that it was asked of.
	follow func(ctx context.Context, t *catalog.Table, written bool) error
	asked  *sync.Map
	// statistics returns the statistics of a table, or nil.
	statistics func(*catalog.Table) *stats.Table
}

// record counts the reads from now on in rec.
func (st *statement) record(rec *recorder) {
	st.rec, st.Recorder = rec, &rec.Recorder
	st.watched.Store(rec)
}

// scan opens one table access: it is the statement's operator.Source.
func (st *statement) scan(ctx context.Context, s *plan.Scan) (operator.Operator, error) {
	if err := st.guard(s); err != nil {
		return nil, err
	}
	if err := st.current(ctx, s.Table); err != nil {
		return nil, err
	}
	if err := st.filled(ctx, s.Table, s.Layout); err != nil {
		return nil, err
	}
	if st.judge(s) == budgeted {
		return st.openBudgeted(ctx, s)
	}
	return st.Open(ctx, s)
}
