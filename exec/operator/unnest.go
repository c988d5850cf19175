package operator

import (
	"context"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// unnestOp returns a row for each value of set-returning functions, with the columns of its input row.
type unnestOp struct {
	in   Operator
	node *plan.Unnest
	env  *expr.Env
	rows [][]types.Value                     // rows of the input that are left
	sets []func() (types.Value, bool, error) // the values that are left for env.Row; nil after the last
	out  [][]types.Value
}

func (u *unnestOp) Next(ctx context.Context) ([][]types.Value, error) {
	n := 0
	for n < BatchRows {
		if n == len(u.out) {
			u.out = append(u.out, make([]types.Value, 0, u.node.Width()))
		}
		row, more := append(u.out[n][:0], u.env.Row...), false
		for i, next := range u.sets {
			var v types.Value
			if next != nil {
				var ok bool
				var err error
				if v, ok, err = next(); err != nil {
					return nil, err
				}
				if !ok {
					u.sets[i] = nil
				}
				more = more || ok
			}
			row = append(row, v)
		}
		if more {
			u.out[n] = row
			n++
			continue
		}
		if len(u.rows) == 0 && n > 0 {
			break
		}
		if err := u.advance(ctx); err != nil {
			return nil, err
		}
	}
	return u.out[:n], ctx.Err()
}

// advance calls the functions for the next row.
func (u *unnestOp) advance(ctx context.Context) (err error) {
	u.sets = u.sets[:0]
	for len(u.rows) == 0 {
		if u.rows, err = u.in.Next(ctx); err != nil {
			return err
		}
	}
	u.env.Row, u.rows = u.rows[0], u.rows[1:]
	for _, x := range u.node.Sets {
		next, err := x.(*expr.Call).Rows(u.env)
		if err != nil {
			return err
		}
		u.sets = append(u.sets, next)
	}
	return ctx.Err()
}

func (u *unnestOp) Close() error { u.rows, u.sets = nil, nil; return u.in.Close() }
