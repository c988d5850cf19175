package operator

import (
	"context"
	"errors"
	"io"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// seriesOp returns the values from one value to another in steps.
type seriesOp struct {
	node  *plan.Series
	env   *expr.Env
	begun bool
	done  bool
	sign  int // sign of the step
	next  types.Value
	to    types.Value
}

func (s *seriesOp) Next(ctx context.Context) ([][]types.Value, error) {
	if !s.begun {
		s.begun = true
		if err := s.begin(); err != nil {
			return nil, err
		}
	}
	var out [][]types.Value
	for !s.done && len(out) < BatchRows {
		c, err := types.Compare(s.next, s.to)
		if err != nil {
			return nil, err
		}
		if s.done = c*s.sign > 0; s.done {
			break
		}
		out = append(out, []types.Value{s.next})
		if s.next, err = s.after(s.next); err != nil { // the next value is outside the type's range, so it is beyond to
			s.done = true
		}
	}
	if len(out) == 0 {
		return nil, io.EOF
	}
	return out, ctx.Err()
}

// begin computes the two ends and the sign of the step. It finds the sign by adding the step to a value in the middle of
// the type's range.
func (s *seriesOp) begin() error {
	var ends []types.Value
	for _, e := range []expr.Expr{s.node.From, s.node.To} {
		v, err := e.Eval(s.env)
		if err != nil {
			return err
		}
		s.done = s.done || v.IsNull()
		ends = append(ends, v)
	}
	if s.done {
		return nil
	}
	s.next, s.to = ends[0], ends[1]
	zero, err := types.Cast(types.NewInt(0), s.node.Typ, nil)
	if err != nil {
		return err
	}
	moved, err := s.after(zero)
	if s.done = moved.IsNull(); s.done || err != nil {
		return err
	}
	if s.sign, err = types.Compare(moved, zero); err == nil && s.sign == 0 {
		err = errors.New("the step of GENERATE_SERIES cannot be 0")
	}
	return err
}

func (s *seriesOp) after(v types.Value) (types.Value, error) {
	s.env.Row = []types.Value{v}
	return s.node.Next.Eval(s.env)
}

func (s *seriesOp) Close() error { s.done, s.begun = true, true; return nil }
