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
	in   Operator // the current step's input
	node *plan.Recursive
	open func(ctx context.Context, ask func() (*plan.Plan, error)) (Operator, error)
	rows [][]types.Value // rows of the current step

	work, before share // memory of this step's rows, and of the previous step's
	seen         map[string]struct{}
	all          share // memory of seen
	out          [][]types.Value
}

func (r *recursiveOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		rows, err := r.in.Next(ctx)
		if err == io.EOF {
			if err = r.step(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if rows, err = r.keep(rows); err != nil || len(rows) > 0 {
			return rows, err
		}
	}
}

// keep returns those of rows with which the next step continues: for UNION, those that are new.
func (r *recursiveOp) keep(rows [][]types.Value) ([][]types.Value, error) {
	const what = "WITH RECURSIVE"
	r.out = r.out[:0]
	for _, row := range rows {
		if r.node.Distinct {
			key := string(RowKey(nil, row))
			if _, ok := r.seen[key]; ok {
				continue
			}
			if err := r.all.take(int64(len(key))+64, what); err != nil {
				return nil, err
			}
			r.seen[key] = struct{}{}
		}
		if err := r.work.take(SizeOf(row), what); err != nil {
			return nil, err
		}
		r.rows, r.out = append(r.rows, slices.Clone(row)), append(r.out, row)
	}
	return r.out, nil
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

func (r *recursiveOp) Close() error { return r.in.Close() }
