package operator

import (
	"context"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// distinctOnOp keeps the first row of each run of consecutive rows with equal values of by.
type distinctOnOp struct {
	in        Operator
	by        []expr.Expr
	env       *expr.Env
	any       bool   // there was a row before
	last, key []byte // the values of by in the previous row, and in this one
	out       [][]types.Value
}

func (d *distinctOnOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		rows, err := d.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		d.out = d.out[:0]
		for _, r := range rows {
			if d.key, err = valuesKey(d.key[:0], d.by, d.env, r); err != nil {
				return nil, err
			}
			if !d.any || string(d.key) != string(d.last) {
				d.any, d.last, d.key = true, d.key, d.last
				d.out = append(d.out, r)
			}
		}
		if len(d.out) > 0 {
			return d.out, nil
		}
	}
}

func (d *distinctOnOp) Close() error { return d.in.Close() }

// valuesKey appends bytes that are equal for rows with equal values of es.
func valuesKey(dst []byte, es []expr.Expr, env *expr.Env, row []types.Value) ([]byte, error) {
	env.Row = row
	for _, e := range es {
		v, err := e.Eval(env)
		if err != nil {
			return dst, err
		}
		dst = v.AppendKey(dst)
	}
	return dst, nil
}
