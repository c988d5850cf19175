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

// fewLeft is the greatest number of left rows for which the right side returns only the matching rows, if it can. Their
// memory is limited to aheadBytes.
const fewLeft, aheadBytes = 1000, 1 << 20

// maxListed is the greatest number of different keys of one side by which the read of the other side is narrowed.
const maxListed = 400

// narrow opens the right side. If there are few left rows, the right side returns only the rows with the keys of these
// left rows.
func (j *joinOp) narrow(ctx context.Context) error {
	if !j.late {
		return nil
	}
	var rows [][]types.Value
	var size int64
	ended := false
	for len(rows) < fewLeft && size < aheadBytes && !ended {
		next, err := j.left.Next(ctx)
		if ended = err == io.EOF; err != nil && !ended {
			return err
		}
		for _, r := range next {
			rows = append(rows, slices.Clone(r))
			size += SizeOf(r)
		}
	}
	j.left = &aheadOp{Operator: j.left, rows: rows, ended: ended}
	if ended && j.node.Narrow != nil {
		batch, err := lookupKeys(j.node, j.env, rows)
		if err != nil {
			return err
		}
		if len(batch) <= maxListed {
			return j.open(j.narrowed(ctx, j.node.Right, j.node.Narrow, batch))
		}
	} else if ended {
		columns, err := j.listed(rows)
		if err != nil {
			return err
		}
		ctx = context.WithValue(ctx, listedKey{}, func(i int) ([]types.Value, bool) { values, ok := columns[i]; return values, ok })
	}
	return j.open(j.build.node(ctx, j.node.Right))
}

// open makes right the right side, unless it failed to open: Close closes the one before it then.
func (j *joinOp) open(right Operator, err error) error {
	if err == nil {
		j.right = right
	}
	return err
}

// narrowed opens one side of the join, whole, for the keys in batch, the values of the other side.
func (j *joinOp) narrowed(ctx context.Context, whole plan.Node, with func([][]types.Value) (*plan.Plan, error), batch [][]types.Value) (Operator, error) {
	if len(batch) == 0 {
		return None{}, nil
	}
	p, err := j.build.lookup(ctx, &plan.Lookup{Plan: with}, batch)
	if err != nil {
		return nil, err
	}
	s, of := p.Root.(*plan.Scan), whole.(*plan.Scan)
	s.For, s.Wanted = of, of.Wanted
	j.build.unordered = j.build.unordered || s.Order == plan.NoOrder && of.Order != plan.NoOrder
	op, err := New(ctx, p.Root, j.build.src, j.build.opt)
	if err == nil && j.build.opt.Wrap != nil {
		op = j.build.opt.Wrap(whole, op)
	}
	return op, err
}

// narrowLeft opens the left side, with the keys of the right rows if these are few. It does nothing if narrow has read all
// left rows.
func (j *joinOp) narrowLeft(ctx context.Context) (err error) {
	if ahead, ok := j.left.(*aheadOp); j.node.NarrowLeft == nil || j.table == nil || ok && ahead.ended {
		return nil
	}
	var rows [][]types.Value // one for each key
	size := 0
	for k, at := range j.table.first {
		if size += len(j.table.keys.Key(k)); k == maxListed || size > aheadBytes {
			return j.openLeft(ctx)
		}
		rows = append(rows, j.pair(nil, at))
	}
	batch, err := lookupKeys(&plan.Join{LeftKeys: j.node.RightKeys, RightKeys: j.node.LeftKeys}, j.env, rows)
	if err != nil {
		return err
	}
	if err := j.left.Close(); err != nil {
		return err
	}
	j.left, j.unopened = None{}, false
	left, err := j.narrowed(ctx, j.node.Left, j.node.NarrowLeft, batch)
	if err == nil {
		j.left = left
	}
	return err
}

// openLeft opens the left side as it was planned, unless it is open.
func (j *joinOp) openLeft(ctx context.Context) error {
	if !j.unopened {
		return nil
	}
	j.unopened = false
	left, err := j.build.node(ctx, j.node.Left)
	if err == nil {
		j.left = left
	}
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
