package exec

import (
	"context"
	"io"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// joinOp holds the right side in memory, by the values of its keys, and reads
// the left side past it. Without keys every pair is looked at.
type joinOp struct {
	left, right Operator
	node        *planner.Join
	env         *expr.Env
	budget      *budget
	table       map[string][][]types.Value
	width       int
	nulls       []types.Value   // what an unmatched left row is joined with
	rows        [][]types.Value // of the left side, still to be matched
	out         [][]types.Value
}

func (b *build) join(ctx context.Context, n *planner.Join) (Operator, error) {
	left, err := b.node(ctx, n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.node(ctx, n.Right)
	if err != nil {
		left.Close()
		return nil, err
	}
	return &joinOp{left: left, right: right, node: n, env: b.opt.env(), budget: b.budget,
		width: n.Left.Width() + n.Right.Width(), nulls: make([]types.Value, n.Right.Width())}, nil
}

// keyOf gives the bytes that equal keys share; ok is false when one is NULL.
func (j *joinOp) keyOf(exprs []expr.Expr, row []types.Value) (key string, ok bool, err error) {
	j.env.Row = row
	var b []byte
	for _, e := range exprs {
		v, err := e.Eval(j.env)
		if err != nil || v.IsNull() {
			return "", false, err
		}
		b = v.AppendKey(b)
	}
	return string(b), true, nil
}

func (j *joinOp) load(ctx context.Context) error {
	j.table = map[string][][]types.Value{}
	for {
		rows, err := j.right.Next(ctx)
		if err == io.EOF {
			return j.right.Close()
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			key, ok, err := j.keyOf(j.node.RightKeys, r)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := j.budget.take(sizeOf(r)+int64(len(key)), "JOIN"); err != nil {
				return err
			}
			j.table[key] = append(j.table[key], slices.Clone(r))
		}
	}
}

func (j *joinOp) Next(ctx context.Context) ([][]types.Value, error) {
	if j.table == nil {
		if err := j.load(ctx); err != nil {
			return nil, err
		}
	}
	for j.out = j.out[:0]; len(j.out) < batchRows; {
		if len(j.rows) == 0 {
			if len(j.out) > 0 {
				return j.out, nil // rather than wait for more
			}
			var err error
			if j.rows, err = j.left.Next(ctx); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l := j.rows[0]
		j.rows = j.rows[1:]
		if err := j.match(ctx, l); err != nil {
			return nil, err
		}
	}
	return j.out, nil
}

func (j *joinOp) match(ctx context.Context, l []types.Value) error {
	key, ok, err := j.keyOf(j.node.LeftKeys, l)
	if err != nil {
		return err
	}
	matched := false
	if ok {
		for i, r := range j.table[key] {
			if i%1024 == 1023 && ctx.Err() != nil {
				return ctx.Err()
			}
			pair := append(append(make([]types.Value, 0, j.width), l...), r...)
			if j.node.On != nil {
				j.env.Row = pair
				t, err := expr.IsTrue(j.node.On, j.env)
				if err != nil {
					return err
				}
				if !t {
					continue
				}
			}
			matched = true
			j.out = append(j.out, pair)
		}
	}
	if !matched && j.node.Outer {
		j.out = append(j.out, append(append(make([]types.Value, 0, j.width), l...), j.nulls...))
	}
	return nil
}

func (j *joinOp) Close() error {
	err := j.left.Close()
	if e := j.right.Close(); err == nil {
		err = e
	}
	return err
}
