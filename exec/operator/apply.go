package operator

import (
	"cmp"
	"context"
	"io"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// applyOp joins each left row with the rows of a query that it opens for that row.
type applyOp struct {
	left  Operator
	node  *plan.Apply
	opt   Options
	env   *expr.Env
	nulls []types.Value // the right columns for a left row without a match

	wanted  int64           // length of the next batch, unless it is 0
	rows    [][]types.Value // rows of the left side; if right is open, it belongs to the first
	right   Operator        // the query for the first row; nil if it is not open
	matched bool
	out     [][]types.Value
	held    int64 // bytes of the right rows in out

	ahead  []Operator // the queries for the first left rows, without right
	depth  int        // the largest length of ahead; it grows by one a row, to atOnce
	atOnce int
}

func (a *applyOp) Next(ctx context.Context) ([][]types.Value, error) {
	a.out, a.held = a.out[:0], 0
	most := BatchRows
	if 0 < a.wanted && a.wanted < BatchRows {
		most, a.wanted = int(a.wanted), 4*a.wanted
	}
	for len(a.out) < most && a.held < batchBytes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(a.rows) == 0 {
			if len(a.out) > 0 {
				return a.out, nil // return what there is instead of waiting for more
			}
			rows, err := a.left.Next(ctx)
			if err != nil {
				return nil, err
			}
			a.rows = rows
			continue
		}
		if err := a.join(ctx); err != nil {
			return nil, err
		}
	}
	return a.out, nil
}

// join adds the next pairs of the first left row, and removes that row after its last pair.
func (a *applyOp) join(ctx context.Context) error {
	l := a.rows[0]
	if a.right == nil {
		for n := len(a.ahead); n < min(a.depth, len(a.rows)); n++ {
			ctx, stop := context.WithCancel(ctx)
			env := a.opt.Env()
			env.Row = a.rows[n]
			a.ahead = append(a.ahead, ReadAhead(ctx, stop, func() (Operator, error) {
				outer := make([]types.Value, len(a.node.Of))
				for i, e := range a.node.Of {
					v, err := e.Eval(env)
					if err != nil {
						return nil, err
					}
					outer[i] = v.Clone() // the query's plan may be kept longer than the row
				}
				return a.opt.Open(ctx, func() (*plan.Plan, error) { return a.node.Query.Plan(outer) })
			}))
		}
		a.depth = min(a.depth+1, a.atOnce)
		a.right, a.ahead, a.matched = a.ahead[0], a.ahead[1:], false
	}
	rows, err := a.right.Next(ctx)
	if err == io.EOF {
		if !a.matched && a.node.Outer {
			a.out = append(a.out, a.pair(l, a.nulls))
		}
		right := a.right
		a.right, a.rows = nil, a.rows[1:]
		return right.Close()
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		a.held += SizeOf(r)
		pair := a.pair(l, r)
		if a.node.On != nil {
			a.env.Row = pair
			ok, err := expr.IsTrue(a.node.On, a.env)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		a.matched = true
		a.out = append(a.out, pair)
	}
	return nil
}

func (a *applyOp) pair(l, r []types.Value) []types.Value {
	return append(append(make([]types.Value, 0, len(l)+len(r)), l...), r...)
}

func (a *applyOp) Close() error {
	if a.right != nil {
		a.ahead = append(a.ahead, a.right)
	}
	var err error
	for _, right := range a.ahead { // before the left side, whose rows they read
		err = cmp.Or(err, right.Close())
	}
	return cmp.Or(err, a.left.Close())
}
