package operator

import (
	"context"
	"io"
	"slices"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// recursiveOp returns the rows of in, then the rows of the query that is planned for these, and so on. It keeps the rows
// of a step until the next step has read them.
type recursiveOp struct {
	sieve // of the current step's rows
	node  *plan.Recursive
	open  func(ctx context.Context, ask func() (*plan.Plan, error)) (Operator, error)
	rows  [][]types.Value // rows of the current step

	work, before share // memory of this step's rows, and of the previous step's
	seen         map[string]struct{}
	all          share // memory of seen
}

func (b *build) recursive(in Operator, n *plan.Recursive) *recursiveOp {
	of := share{Budget: &b.budget}
	r := &recursiveOp{node: n, open: b.opt.Open, work: of, before: of, seen: map[string]struct{}{}, all: of}
	r.sieve = sieve{in: in, keep: r.goesOn, more: r.step}
	return r
}

// goesOn reports whether the next step continues with row: for UNION, if it is new.
func (r *recursiveOp) goesOn(row []types.Value) (bool, error) {
	const what = "WITH RECURSIVE"
	if r.node.Distinct {
		key := string(RowKey(nil, row))
		if _, ok := r.seen[key]; ok {
			return false, nil
		}
		if err := r.all.take(int64(len(key))+64, what); err != nil {
			return false, err
		}
		r.seen[key] = struct{}{}
	}
	r.rows = append(r.rows, slices.Clone(row))
	return true, r.work.take(SizeOf(row), what)
}

// step begins the next step; io.EOF if the current one had no rows.
func (r *recursiveOp) step(ctx context.Context) error {
	if err := r.in.Close(); err != nil {
		return err
	}
	r.in = None{}
	if len(r.rows) == 0 {
		return io.EOF
	}
	rows := r.rows
	r.before.release()
	r.work, r.before, r.rows = r.before, r.work, nil
	in, err := r.open(ctx, func() (*plan.Plan, error) { return r.node.Step(rows) })
	if err == nil {
		r.in = in
	}
	return err
}
