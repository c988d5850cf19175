package operator

import (
	"cmp"
	"context"
	"io"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// runSortOp sorts rows that are already sorted by the first terms of its order. It sorts one run of rows with equal values
// of these terms at a time. With a limit it stops reading when it has enough rows.
type runSortOp struct {
	runOp
	node  *plan.Sort
	build *build
	run   *sortOp // sorts the current run; nil before the next one is read
	given int64
}

func (s *runSortOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		left := s.node.Limit
		if left.Rows -= s.given; left.Set && left.Rows <= 0 || s.ended && len(s.rows) == 0 {
			return nil, io.EOF
		}
		if s.run == nil {
			n := *s.node
			n.Limit = left
			if !left.Set {
				n.Limit = plan.RowLimit{}
			}
			s.run, s.over = newSort(&s.runOp, &n, s.build.opt, &s.build.budget), false
		}
		rows, err := s.run.Next(ctx)
		if err != io.EOF {
			s.given += int64(len(rows))
			return rows, err
		}
		if err := s.run.Close(); err != nil {
			return nil, err
		}
		s.run = nil
	}
}

func (s *runSortOp) Close() error {
	var err error
	if s.run != nil {
		err = s.run.Close()
	}
	return cmp.Or(err, s.in.Close())
}

// runOp returns the rows of one run: consecutive rows with equal values of the terms by.
type runOp struct {
	in   Operator
	by   Order
	env  *expr.Env
	rows [][]types.Value // of in, not returned yet
	last []types.Value   // the terms' values of the previous row
	over bool            // the run has ended
	// unordered is build.unordered: all further rows are one run.
	unordered *bool
	ended     bool // in has ended
}

func (r *runOp) Next(ctx context.Context) ([][]types.Value, error) {
	if r.over {
		return nil, io.EOF
	}
	if len(r.rows) == 0 {
		rows, err := r.in.Next(ctx)
		if err != nil {
			r.ended = err == io.EOF
			return nil, err
		}
		r.rows = rows
	}
	for i, row := range r.rows {
		keys, err := r.by.Keys(nil, r.env, row)
		if err != nil {
			return nil, err
		}
		if r.last != nil && !*r.unordered && r.by.Compare(r.last, keys) != 0 {
			r.over, r.last = true, nil
			out := r.rows[:i]
			if r.rows = r.rows[i:]; i == 0 {
				return nil, io.EOF
			}
			return out, nil
		}
		if r.last == nil {
			for k := range keys {
				keys[k] = keys[k].Clone()
			}
			r.last = keys
		}
	}
	out := r.rows
	r.rows = nil
	return out, nil
}

// Close keeps in open for the later runs.
func (r *runOp) Close() error { return nil }
