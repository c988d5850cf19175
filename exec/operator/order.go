package operator

import (
	"cmp"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Order is the order defined by the terms of ORDER BY.
type Order []plan.SortTerm

// Keys appends the values by which row is sorted.
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

// Compare compares two rows by their keys. The values of one key column have one type, so they can be compared.
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

// keyed is a row with the values by which it is sorted.
type keyed struct {
	keys, row []types.Value
	seq       int // sequence number of the row: equal rows keep their order
}

func (o Order) less(a, b keyed) int { return cmp.Or(o.Compare(a.keys, b.keys), a.seq-b.seq) }

// Sort sorts rows in memory; equal rows keep their order.
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
