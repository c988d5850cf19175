package operator

import (
	"context"
	"io"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// unionOp returns the rows of its parts one part after the other. It opens each part when the previous one has ended.
type unionOp struct {
	b     *build
	parts []plan.Node
	cur   Operator
}

func (u *unionOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		if u.cur == nil {
			if len(u.parts) == 0 {
				return nil, io.EOF
			}
			op, err := u.b.node(ctx, u.parts[0])
			if err != nil {
				return nil, err
			}
			u.cur, u.parts = op, u.parts[1:]
		}
		rows, err := u.cur.Next(ctx)
		if err != io.EOF {
			return rows, err
		}
		if err := u.cur.Close(); err != nil {
			return nil, err
		}
		u.cur = nil
	}
}

func (u *unionOp) Close() error {
	u.parts = nil
	if u.cur == nil {
		return nil
	}
	return u.cur.Close()
}

// setOp returns EXCEPT or INTERSECT: a join on all columns, in which NULLs are equal.
func (b *build) setOp(ctx context.Context, n *plan.SetOp) (Operator, error) {
	left, err := b.node(ctx, n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.node(ctx, n.Right)
	if err != nil {
		left.Close()
		return nil, err
	}
	return &joinOp{left: left, right: right, node: &plan.Join{Left: n.Left, Right: n.Right, Semi: true, Anti: n.Except}, set: n,
		build: b, env: b.opt.Env(), share: share{Budget: &b.budget}, width: n.Right.Width()}, nil
}

// operation returns the name of the operation in errors.
func (j *joinOp) operation() string {
	switch {
	case j.set == nil:
		return "JOIN"
	case j.set.Except:
		return "EXCEPT"
	}
	return "INTERSECT"
}
