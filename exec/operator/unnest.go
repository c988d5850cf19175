package operator

import (
	"context"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// unnestOp returns a row for each element of arrays, with the columns of its input row.
type unnestOp struct {
	in   Operator
	node *plan.Unnest
	env  *expr.Env
	rows [][]types.Value // rows of the input that are left
	sets [][]types.Value // elements for the first of rows; those from at on are left
	at   int
	out  [][]types.Value
}

func (u *unnestOp) Next(ctx context.Context) ([][]types.Value, error) {
	n := 0
	for n < BatchRows {
		for u.at >= u.longest() {
			if len(u.rows) == 0 && n > 0 {
				return u.out[:n], nil
			}
			if err := u.advance(ctx); err != nil {
				return nil, err
			}
		}
		if n == len(u.out) {
			u.out = append(u.out, make([]types.Value, 0, u.node.Width()))
		}
		row := append(u.out[n][:0], u.env.Row...)
		for _, items := range u.sets {
			var v types.Value
			if u.at < len(items) {
				v = items[u.at]
			}
			row = append(row, v)
		}
		u.out[n] = row
		u.at++
		n++
	}
	return u.out[:n], nil
}

func (u *unnestOp) longest() (n int) {
	for _, items := range u.sets {
		n = max(n, len(items))
	}
	return n
}

// advance computes the arrays' elements for the next row.
func (u *unnestOp) advance(ctx context.Context) (err error) {
	for len(u.rows) == 0 {
		if u.rows, err = u.in.Next(ctx); err != nil {
			u.sets = nil
			return err
		}
	}
	u.env.Row, u.rows, u.at = u.rows[0], u.rows[1:], 0
	u.sets = u.sets[:0]
	for _, x := range u.node.Sets {
		v, err := x.Eval(u.env)
		if err != nil {
			return err
		}
		var items []types.Value
		if !v.IsNull() {
			if err := u.env.RoomForItems(v.Len()); err != nil {
				return parser.Errorf(x.Position(), "%s", err).Of(err)
			}
			items = v.Items()
		}
		if t := x.Type(); t.IsArray() && len(items) > 0 { // the rows are arrays
			var rows []types.Value
			for row := range slices.Chunk(items, v.Dims()[1].Len) {
				rows = append(rows, types.NewArray(t.Elem(), row))
			}
			items = rows
		}
		u.sets = append(u.sets, items)
	}
	return ctx.Err()
}

func (u *unnestOp) Close() error { u.rows, u.sets = nil, nil; return u.in.Close() }
