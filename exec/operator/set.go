package operator

import (
	"cmp"
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

// setOp implements EXCEPT and INTERSECT: it counts the rows of the right side, and filters the rows of the left side by
// these counts.
type setOp struct {
	left, right Operator
	node        *plan.SetOp
	budget      *Budget
	counts      map[string]int
	key         []byte
	out         [][]types.Value
}

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
	return &setOp{left: left, right: right, node: n, budget: &b.budget}, nil
}

func (s *setOp) load(ctx context.Context) error {
	s.counts = map[string]int{}
	what := "INTERSECT"
	if s.node.Except {
		what = "EXCEPT"
	}
	return Drain(ctx, s.right, func(rows [][]types.Value) error {
		for _, r := range rows {
			s.key = RowKey(s.key[:0], r)
			if _, ok := s.counts[string(s.key)]; !ok {
				if err := s.budget.Take(int64(len(s.key))+64, what); err != nil {
					return err
				}
			}
			s.counts[string(s.key)]++
		}
		return nil
	})
}

func (s *setOp) Next(ctx context.Context) ([][]types.Value, error) {
	if s.counts == nil {
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	for {
		rows, err := s.left.Next(ctx)
		if err != nil {
			return nil, err
		}
		s.out = s.out[:0]
		for _, r := range rows {
			s.key = RowKey(s.key[:0], r)
			n := s.counts[string(s.key)]
			if s.node.All && n > 0 {
				s.counts[string(s.key)] = n - 1
			}
			if (n > 0) != s.node.Except {
				s.out = append(s.out, r)
			}
		}
		if len(s.out) > 0 {
			return s.out, nil
		}
	}
}

func (s *setOp) Close() error {
	return cmp.Or(s.left.Close(), s.right.Close())
}
