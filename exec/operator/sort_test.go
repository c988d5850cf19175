package operator

import (
	"context"
	"errors"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// A sort that ^C meets after its input was read ends too.
func TestSortEnds(t *testing.T) {
	rows := make([][]types.Value, 50_000)
	for i := range rows {
		rows[i] = []types.Value{types.NewInt(int64(i * 7919 % len(rows)))}
	}
	n := &plan.Sort{By: []plan.SortTerm{{Expr: &expr.Column{Typ: types.BigInt}}}}
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		if cancelled {
			cancel()
		}
		s := newSort(Literal(rows), n, Options{}, &Budget{Limit: 1 << 30})
		out, err := s.Next(ctx)
		if cancelled != errors.Is(err, context.Canceled) || !cancelled && out[1][0].Int() != 1 {
			t.Errorf("cancelled %v: %v %v", cancelled, out, err)
		}
		cancel()
	}
}
