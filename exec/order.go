package exec

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// order is the order that the terms of ORDER BY make.
type order []planner.SortTerm

// keys appends the values that row is sorted by.
func (o order) keys(dst []types.Value, env *expr.Env, row []types.Value) ([]types.Value, error) {
	env.Row = row
	for _, t := range o {
		v, err := t.Expr.Eval(env)
		if err != nil {
			return nil, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// compare orders two rows by their keys. One column has values of one type, which compare.
func (o order) compare(a, b []types.Value) int {
	for i, t := range o {
		x, y := a[i], b[i]
		if x.IsNull() || y.IsNull() {
			if x.IsNull() == y.IsNull() {
				continue
			}
			if x.IsNull() == t.NullsFirst {
				return -1
			}
			return 1
		}
		c, err := types.Compare(x, y)
		if err != nil || c == 0 {
			continue
		}
		if t.Desc {
			return -c
		}
		return c
	}
	return 0
}
