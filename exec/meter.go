package exec

import (
	"context"
	"sync"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// meter measures the steps of a plan while it runs.
type meter struct {
	mu    sync.Mutex
	steps map[plan.Node]*meteredOp
}

// wrap returns op with measurements for the step n.
func (m *meter) wrap(n plan.Node, op operator.Operator) operator.Operator {
	x := &meteredOp{in: op}
	m.mu.Lock()
	m.steps[n] = x
	m.mu.Unlock()
	return x
}

// of returns the measurements of n, or zeros if n has not begun: a LIMIT may end a union before its later parts.
func (m *meter) of(n plan.Node) (rows int64, took time.Duration) {
	if x := m.steps[n]; x != nil {
		return x.rows, x.took
	}
	return 0, 0
}

// meteredOp counts the rows and the time of an operator.
type meteredOp struct {
	in   operator.Operator
	rows int64
	took time.Duration
}

func (x *meteredOp) Next(ctx context.Context) ([][]types.Value, error) {
	begin := time.Now()
	rows, err := x.in.Next(ctx)
	x.took += time.Since(begin)
	x.rows += int64(len(rows))
	return rows, err
}

func (x *meteredOp) Close() error { return x.in.Close() }
