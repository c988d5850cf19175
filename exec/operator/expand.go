package operator

import (
	"context"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// expandOp gives a batch of rows for one grouping set after the other.
type expandOp struct {
	in   Operator
	node *plan.Expand
	env  *expr.Env
	rows [][]types.Value // of the input, for the sets from next on
	next int
	out  [][]types.Value
}

func (e *expandOp) Next(ctx context.Context) ([][]types.Value, error) {
	if e.next == 0 || e.next == len(e.node.Sets) {
		var err error
		if e.rows, err = e.in.Next(ctx); err != nil {
			return nil, err
		}
		e.next = 0
	}
	set := e.node.Sets[e.next]
	e.next++
	for len(e.out) < len(e.rows) {
		e.out = append(e.out, make([]types.Value, 0, e.node.Width()))
	}
	for i, row := range e.rows {
		e.env.Row = row
		out := append(e.out[i][:0], row...)
		for k, x := range e.node.GroupBy {
			var v types.Value
			if set.Has[k] {
				var err error
				if v, err = x.Eval(e.env); err != nil {
					return nil, err
				}
			}
			out = append(out, v)
		}
		e.out[i] = append(out, set.Marks...)
	}
	return e.out[:len(e.rows)], nil
}

func (e *expandOp) Close() error { return e.in.Close() }
