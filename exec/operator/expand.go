package operator

import (
	"context"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// expandOp returns each batch of rows once for each grouping set.
type expandOp struct {
	in   Operator
	node *plan.Expand
	env  *expr.Env
	rows [][]types.Value // the current batch of the input
	next int             // the grouping set for which rows are returned now
	at   int             // the first of rows that was not returned for that set
	out  [][]types.Value
}

func (e *expandOp) Next(ctx context.Context) ([][]types.Value, error) {
	if e.at == len(e.rows) {
		e.at = 0
		if e.next++; e.rows == nil || e.next == len(e.node.Sets) {
			var err error
			if e.rows, err = e.in.Next(ctx); err != nil {
				return nil, err
			}
			e.next = 0
		}
	}
	set := e.node.Sets[e.next]
	for len(e.out) < len(e.rows) {
		e.out = append(e.out, make([]types.Value, 0, e.node.Width()))
	}
	n := 0
	for held := int64(0); e.at < len(e.rows) && held < batchBytes; e.at++ {
		e.env.Row = e.rows[e.at]
		out := append(e.out[n][:0], e.env.Row...)
		for k, x := range e.node.GroupBy {
			var v types.Value
			if set.Has[k] {
				var err error
				if v, err = x.Eval(e.env); err != nil {
					return nil, err
				}
				held += int64(len(v.Text()))
			}
			out = append(out, v)
		}
		e.out[n] = append(out, set.Marks...)
		n++
	}
	return e.out[:n], nil
}

func (e *expandOp) Close() error { return e.in.Close() }
