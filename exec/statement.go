package exec

import (
	"context"
	"sync/atomic"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// statement holds the state that the reads of one statement share, and makes the checks before each read.
type statement struct {
	scan.Reads
	rec     *recorder
	watched *atomic.Pointer[recorder] // rec, for other goroutines that watch the statement
	budget  *scanBudget
	// allowFull is set if the statement allows full scans.
	allowFull bool
	policy    FullScanPolicy
	// fullScanRows is the number of rows that a LIMIT may read in the order of a key without permission for full scans.
	// knownSmall is set if statistics showed small reads when the statement was cut into pieces. looked counts the rows of
	// full scans that LIMIT or statistics permit; it is nil before the first such scan.
	fullScanRows int64
	knownSmall   bool
	looked       *lookedBudget
	full         *filledLayouts
	// statistics returns the statistics of a table, or nil.
	statistics func(*catalog.Table) *stats.Table
}

// record makes rec count the reads from now on.
func (st *statement) record(rec *recorder) {
	st.rec, st.Recorder = rec, &rec.Recorder
	st.watched.Store(rec)
}

// scan opens one table access; it is the operator.Source of the statement.
func (st *statement) scan(ctx context.Context, s *plan.Scan) (operator.Operator, error) {
	if err := st.guard(s); err != nil {
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
