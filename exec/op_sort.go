package exec

import (
	"container/heap"
	"context"
	"io"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// sorter orders rows by terms.
type sorter struct {
	by  []planner.SortTerm
	env *expr.Env
}

// keyed is a row with the values it is sorted by.
type keyed struct {
	keys, row []types.Value
	seq       int // arrival: equal rows keep their order
}

func (s *sorter) keys(row []types.Value) ([]types.Value, error) {
	s.env.Row = row
	out := make([]types.Value, len(s.by))
	for i, t := range s.by {
		v, err := t.Expr.Eval(s.env)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// compareKeys orders the values of ORDER BY terms.
func compareKeys(by []planner.SortTerm, a, b []types.Value) int {
	for i, t := range by {
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
			continue // one column has values of one type: err cannot be
		}
		if t.Desc {
			return -c
		}
		return c
	}
	return 0
}

func (s *sorter) less(a, b keyed) int {
	if c := compareKeys(s.by, a.keys, b.keys); c != 0 {
		return c
	}
	return a.seq - b.seq
}

// sortOp orders its input: all of it, or with a limit the first rows only, in a heap.
type sortOp struct {
	in     Operator
	s      sorter
	limit  int64
	budget *budget
	rows   []keyed // a heap with the last row on top while a limit holds
	done   bool
	at     int
	out    [][]types.Value
}

func newSort(in Operator, n *planner.Sort, o Options, b *budget) *sortOp {
	return &sortOp{in: in, s: sorter{by: n.By, env: o.env()}, limit: n.Limit, budget: b}
}

func (s *sortOp) Len() int           { return len(s.rows) }
func (s *sortOp) Less(i, j int) bool { return s.s.less(s.rows[i], s.rows[j]) > 0 }
func (s *sortOp) Swap(i, j int)      { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] }
func (s *sortOp) Push(x any)         { s.rows = append(s.rows, x.(keyed)) }
func (s *sortOp) Pop() any {
	x := s.rows[len(s.rows)-1]
	s.rows = s.rows[:len(s.rows)-1]
	return x
}

func (s *sortOp) Next(ctx context.Context) ([][]types.Value, error) {
	if !s.done {
		if err := s.fill(ctx); err != nil {
			return nil, err
		}
		s.done = true
		if err := s.sort(ctx); err != nil {
			return nil, err
		}
	}
	if s.at == len(s.rows) {
		return nil, io.EOF
	}
	n := min(256, len(s.rows)-s.at)
	s.out = s.out[:0]
	for _, k := range s.rows[s.at : s.at+n] {
		s.out = append(s.out, k.row)
	}
	s.at += n
	return s.out, nil
}

// sort orders the rows. Soon after the end of ctx all rows count as equal, which ends the sorting.
func (s *sortOp) sort(ctx context.Context) error {
	n, ended := 0, false
	slices.SortFunc(s.rows, func(a, b keyed) int {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			ended = true
		}
		if ended {
			return 0
		}
		return s.s.less(a, b)
	})
	return ctx.Err()
}

func (s *sortOp) fill(ctx context.Context) error {
	seq := 0
	for {
		rows, err := s.in.Next(ctx)
		if err == io.EOF {
			return s.in.Close()
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			keys, err := s.s.keys(r)
			if err != nil {
				return err
			}
			k := keyed{keys: keys, seq: seq}
			seq++
			full := s.limit >= 0 && int64(len(s.rows)) >= s.limit
			if full && (s.limit == 0 || s.s.less(k, s.rows[0]) >= 0) {
				continue
			}
			k.row = slices.Clone(r) // the input's rows do not last
			if full {
				s.rows[0] = k
				heap.Fix(s, 0)
				continue
			}
			if err := s.budget.take(sizeOf(r)+sizeOf(keys), "ORDER BY"); err != nil {
				return err
			}
			if s.limit >= 0 {
				heap.Push(s, k)
			} else {
				s.rows = append(s.rows, k)
			}
		}
	}
}

func (s *sortOp) Close() error {
	s.rows, s.done = nil, true
	s.at = 0
	return s.in.Close()
}
