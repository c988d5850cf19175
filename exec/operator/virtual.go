package operator

import (
	"context"
	"io"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// virtualSide returns the right side of a join if it is a virtual relation that can return only the rows with given
// values.
func virtualSide(n *plan.Join) *plan.Virtual {
	right := n.Right
	if f, ok := right.(*plan.Filter); ok {
		right = f.Input
	}
	v, ok := right.(*plan.Virtual)
	if !ok || n.Full || !slices.ContainsFunc(n.RightKeys, func(e expr.Expr) bool { _, ok := e.(*expr.Column); return ok }) {
		return nil
	}
	return v
}

// fewLeft is the greatest number of left rows for which a virtual relation computes only the matching rows.
const fewLeft = 1000

// narrow opens the right side. If there are few left rows, the right side computes only the rows with the keys of these
// left rows.
func (j *joinOp) narrow(ctx context.Context) error {
	if !j.late {
		return nil
	}
	var rows [][]types.Value
	ended := false
	for len(rows) < fewLeft && !ended {
		next, err := j.left.Next(ctx)
		if ended = err == io.EOF; err != nil && !ended {
			return err
		}
		for _, r := range next {
			rows = append(rows, slices.Clone(r))
		}
	}
	j.left = &aheadOp{Operator: j.left, rows: rows, ended: ended}
	if ended {
		columns, err := j.listed(rows)
		if err != nil {
			return err
		}
		ctx = context.WithValue(ctx, listedKey{}, func(i int) ([]types.Value, bool) { values, ok := columns[i]; return values, ok })
	}
	var err error
	j.right, err = j.build.node(ctx, j.node.Right)
	return err
}

// listedKey is the context key of the values that narrow passes to virtual.
type listedKey struct{}

// virtual opens a virtual relation, with only the rows for the values that narrow listed, if any.
func virtual(ctx context.Context, v *plan.Virtual) Operator {
	listed, _ := ctx.Value(listedKey{}).(func(int) ([]types.Value, bool))
	return Literal(v.Rows(listed))
}

// listed returns, by right column, the values that matching right rows must have.
func (j *joinOp) listed(left [][]types.Value) (map[int][]types.Value, error) {
	out := map[int][]types.Value{}
	for k, e := range j.node.RightKeys {
		column, ok := e.(*expr.Column)
		if !ok || e.Type() != j.node.LeftKeys[k].Type() {
			continue
		}
		values, seen := []types.Value{}, map[string]bool{}
		for _, l := range left {
			j.env.Row = l
			v, err := j.node.LeftKeys[k].Eval(j.env)
			if err != nil {
				return nil, err
			}
			if key := string(v.AppendKey(nil)); !v.IsNull() && !seen[key] {
				seen[key] = true
				values = append(values, v)
			}
		}
		out[column.Index] = values
	}
	return out, nil
}

// aheadOp returns rows that were read before, then the other rows of an operator.
type aheadOp struct {
	Operator
	rows  [][]types.Value
	ended bool // the operator has no other rows
}

func (a *aheadOp) Next(ctx context.Context) ([][]types.Value, error) {
	if rows := a.rows; len(rows) > 0 {
		a.rows = nil
		return rows, nil
	}
	if a.ended {
		return nil, io.EOF
	}
	return a.Operator.Next(ctx)
}
