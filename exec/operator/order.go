package operator

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Order is the order that the terms of ORDER BY make.
type Order []plan.SortTerm

// Keys appends the values that row is sorted by.
func (o Order) Keys(dst []types.Value, env *expr.Env, row []types.Value) ([]types.Value, error) {
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

// Compare orders two rows by their keys. One column has values of one type, which compare.
func (o Order) Compare(a, b []types.Value) int {
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

// keyed is a row with the values it is sorted by.
type keyed struct {
	keys, row []types.Value
	seq       int // arrival: equal rows keep their order
}

func (o Order) less(a, b keyed) int {
	if c := o.Compare(a.keys, b.keys); c != 0 {
		return c
	}
	return a.seq - b.seq
}

// Sort puts rows in order, in memory; equal ones keep theirs.
func (o Order) Sort(rows [][]types.Value, env *expr.Env) error {
	ks := make([]keyed, len(rows))
	for i, row := range rows {
		k, err := o.Keys(nil, env, row)
		if err != nil {
			return err
		}
		ks[i] = keyed{keys: k, row: row, seq: i}
	}
	slices.SortFunc(ks, o.less)
	for i := range ks {
		rows[i] = ks[i].row
	}
	return nil
}
