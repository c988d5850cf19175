package exec

import (
	"context"
	"io"

	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// setOp is EXCEPT and INTERSECT: it counts the rows of the right side and lets
// those of the left side pass or not.
type setOp struct {
	left, right operator
	node        *planner.SetOp
	budget      *budget
	counts      map[string]int
	key         []byte
	out         [][]types.Value
}

func (b *build) setOp(ctx context.Context, n *planner.SetOp) (operator, error) {
	left, err := b.node(ctx, n.Left)
	if err != nil {
		return nil, err
	}
	right, err := b.node(ctx, n.Right)
	if err != nil {
		left.Close()
		return nil, err
	}
	return &setOp{left: left, right: right, node: n, budget: b.budget}, nil
}

func (s *setOp) load(ctx context.Context) error {
	s.counts = map[string]int{}
	what := "INTERSECT"
	if s.node.Except {
		what = "EXCEPT"
	}
	for {
		rows, err := s.right.Next(ctx)
		if err == io.EOF {
			return s.right.Close()
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			s.key = rowKey(s.key[:0], r)
			if _, ok := s.counts[string(s.key)]; !ok {
				if err := s.budget.take(int64(len(s.key))+64, what); err != nil {
					return err
				}
			}
			s.counts[string(s.key)]++
		}
	}
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
			s.key = rowKey(s.key[:0], r)
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
	err := s.left.Close()
	if e := s.right.Close(); err == nil {
		err = e
	}
	return err
}
