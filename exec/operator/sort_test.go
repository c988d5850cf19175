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

// A sort with a limit keeps and returns only as many rows as are wanted.
func TestSortLimit(t *testing.T) {
	for _, limit := range []int64{0, 1, 3, 4, 9} {
		rows := Literal([][]types.Value{{types.NewInt(3)}, {types.NewInt(1)}, {types.NewInt(4)}, {types.NewInt(2)}})
		n := &plan.Sort{By: []plan.SortTerm{{Expr: &expr.Column{Typ: types.BigInt}}}, Limit: plan.AtMost(limit)}
		got := int64(0)
		err := Drain(t.Context(), newSort(rows, n, Options{}, &Budget{Limit: 1 << 20}), func(rows [][]types.Value) error {
			for _, r := range rows {
				if got++; r[0].Int() != got {
					t.Errorf("the first %d: row %d is %v", limit, got, r)
				}
			}
			return nil
		})
		if err != nil || got != min(limit, 4) {
			t.Errorf("the first %d: %d rows, %v", limit, got, err)
		}
	}
}

// A sort under a small limit has the memory for runs of many rows, whatever the other operators hold.
func TestSortRuns(t *testing.T) {
	budget := &Budget{Limit: 8000}
	budget.used.Add(8000)
	rows := make([][]types.Value, 2000)
	for i := range rows {
		rows[i] = []types.Value{types.NewInt(int64(i))}
	}
	s := newSort(Literal(rows), &plan.Sort{By: []plan.SortTerm{{Expr: &expr.Column{Typ: types.BigInt}}}}, Options{SpillDir: t.TempDir()}, budget)
	defer s.Close()
	if err := s.fill(t.Context()); err != nil || len(s.runs) > 40 {
		t.Errorf("%d runs, %v", len(s.runs), err)
	}
}
