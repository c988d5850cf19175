package exec

import (
	"cmp"
	"context"
	"errors"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// plan plans the reading part of stmt.
func (r *run) plan(ctx context.Context, stmt parser.Statement) (*plan.Plan, error) {
	stmt, err := r.throughView(stmt)
	if err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *parser.Select:
		return r.planSelect(ctx, s)
	case *parser.Writing:
		if s.Returned && len(s.With) == 1 { // its query is planned when the rows are written
			return r.plan(ctx, s.With[0].Write)
		}
		return nil, parser.Errorf(s.Position(), "WITH has queries that write: each is planned when those before it have run").
			WithHint("EXPLAIN each of them as a statement of its own")
	case *parser.Insert:
		if s.Query != nil {
			_, _, in, err := r.insertTarget(s)
			if err != nil {
				return nil, err
			}
			return r.planSelect(ctx, in.Query)
		}
		return nil, parser.Errorf(s.Position(), "INSERT ... VALUES reads nothing: there is no plan to explain")
	case *parser.Delete:
		t, err := r.tableNamed(s.Table, s.TablePos)
		if err != nil {
			return nil, err
		}
		of, err := r.returnedOf(ctx, t, cmp.Or(s.Alias, t.Name), s.Joined(), s.Returning)
		if err != nil {
			return nil, err
		}
		p, err := r.planDelete(ctx, t, s, of.reads)
		if err == nil {
			p.Deletes = write.Deletes(t)
		}
		return p, err
	case *parser.Update:
		t, err := r.tableNamed(s.Table, s.TablePos)
		if err != nil {
			return nil, err
		}
		_, values, err := assignments(t, s)
		if err != nil {
			return nil, err
		}
		of, err := r.returnedOf(ctx, t, cmp.Or(s.Alias, t.Name), s.Joined(), s.Returning)
		if err != nil {
			return nil, err
		}
		p, _, err := r.planUpdate(ctx, t, s, values, of.reads)
		return p, err
	case *parser.Merge:
		_, p, err := r.newMerger(ctx, s)
		return p, err
	}
	return nil, parser.Errorf(stmt.Position(), "EXPLAIN needs SELECT, INSERT ... SELECT, UPDATE, DELETE or MERGE")
}

func (r *run) planSelect(ctx context.Context, s *parser.Select) (*plan.Plan, error) {
	r.allowFull = r.allowFull || s.AllowFullScan
	return r.resolved(ctx, func() (*plan.Plan, error) { return r.env.Select(s) })
}

// resolved plans until the plan needs no further LOOKUP values or rows of sub-queries. After each plan, it reads the
// values that this plan asked for. Known values stay known, so that the number of plans is bounded.
func (r *run) resolved(ctx context.Context, ask func() (*plan.Plan, error)) (*plan.Plan, error) {
	for {
		p, err := ask()
		if stop := ctx.Err(); stop != nil {
			return nil, stop
		}
		if err != nil {
			return nil, err
		}
		var keys []plan.LookupKey
		for _, s := range p.Reads() {
			keys = append(keys, s.Lookups...)
		}
		asked := len(keys) > 0
		if r.subqueries != nil && len(p.Subplans) > 0 {
			for _, s := range p.Asked(map[*plan.Subplan]bool{}) {
				if !s.Closed {
					continue
				}
				if err := r.subqueries.close(ctx, s); err != nil {
					return nil, err
				}
				asked = true
			}
		}
		if r.Client == nil {
			return p, nil
		}
		if denied, err := r.deny(ctx, p); err != nil || !asked && !denied {
			return p, err
		}
		for _, k := range keys {
			if err := r.Numbers.Resolve(ctx, k); err != nil {
				return nil, err
			}
		}
	}
}

// deny makes the planner avoid the layouts in p that the user may not read. It reports whether p has such a layout.
func (r *run) deny(ctx context.Context, p *plan.Plan) (found bool, err error) {
	for _, s := range p.Reads() {
		l, known := s.Layout, r.env.Denied
		name, whole := l.Stored.Prefix()
		if l.Kind == catalog.Primary || !whole || known != nil && known(l) {
			continue
		}
		if err := r.Client.MayRead(ctx, name, s.Families); errors.Is(err, hbase.ErrDenied) {
			found = true
			r.env.Denied = func(o *catalog.Layout) bool { return o == l || known != nil && known(o) }
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return found, nil
}

// resolvedBatch works like resolved for one of many plans, each of which is made for a batch of rows.
func (r *run) resolvedBatch(ctx context.Context, ask func() (*plan.Plan, error)) (*plan.Plan, error) {
	r.Numbers.Trim()
	return r.resolved(ctx, ask)
}

// checkPlan applies the full-scan policy to all tables of p before it reads, and the scan limit if there are statistics.
func (r *run) checkPlan(p *plan.Plan) error {
	r.allowFull = r.allowFull || p.FullScanAllowed
	for _, s := range p.Scans() {
		if err := populated(s.Table); err != nil {
			return err
		}
	}
	if r.budget.limit != (ScanLimit{}) && !r.repeated {
		r.budget.plan.Store(p)
		if err := r.budget.refuse(estimate.Of(p, r.env.Statistics)); err != nil {
			return err
		}
	}
	return r.subqueries.failure(r.guardAll(p.Scans()))
}

// open returns the operator that runs p, for a caller that reads its rows.
func (r *run) open(ctx context.Context, p *plan.Plan) (operator.Operator, error) {
	return r.openFor(ctx, p, asRead)
}

// openFor works like open for a caller that handles the rows at a given time.
func (r *run) openFor(ctx context.Context, p *plan.Plan, when reading) (operator.Operator, error) {
	if err := r.checkPlan(p); err != nil {
		return nil, err
	}
	if !r.inside {
		r.rec.work.reads(p, r.env.Statistics, r.rec.RowsRead(), when != asRead)
	}
	src := operator.Source(r.scan)
	if r.repeated && r.subqueries != nil {
		src = r.scanRepeated
	}
	return operator.New(ctx, p.Root, src, r.Opt)
}

// reading is the time at which eachRow passes on rows.
type reading uint8

const (
	asRead   reading = iota // batch by batch; a row is valid until f returns
	allFirst                // batch by batch, after the last read; rows that do not fit in memory wait in a file
	atOnce                  // all in one batch, after the last read; they must fit in memory
)

// eachRow runs p and calls f with its rows; it does not call f without rows. With allFirst and atOnce, rows stay valid
// after f.
func (r *run) eachRow(ctx context.Context, p *plan.Plan, when reading, f func(rows [][]types.Value) error) error {
	op, err := r.openFor(ctx, p, when)
	if err != nil {
		return err
	}
	if when == asRead {
		if err := operator.Drain(ctx, op, f); err != nil {
			return err
		}
		return r.checkUnchanged(ctx, p.Tables()...)
	}
	kept := operator.NewKept(r.Opt, "the rows to be changed", when == atOnce)
	defer kept.Close()
	n := int64(0)
	err = operator.Drain(ctx, op, func(rows [][]types.Value) error {
		n += int64(len(rows))
		return kept.Add(rows)
	})
	if err != nil {
		return err
	}
	if err := r.checkUnchanged(ctx, p.Tables()...); err != nil {
		return err
	}
	r.rec.work.writes(n)
	return kept.Each(ctx, f)
}

// plan returns the kept plan with the arguments in env, or nil if no plan is kept.
func (k *Plans) plan(env *planner.Env) *plan.Plan {
	if k == nil {
		return nil
	}
	point := k.point.Load()
	if point == nil {
		return nil
	}
	return point.Plan(env)
}

func (r *run) query(ctx context.Context, s *parser.Select, kept *Plans) (*Rows, error) {
	p, err := r.planSelect(ctx, s)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		if point := r.env.PointOf(s, p); point != nil {
			kept.point.Store(point)
		}
	}
	return r.planned(ctx, p)
}

// planned runs the plan of a query.
func (r *run) planned(ctx context.Context, p *plan.Plan) (*Rows, error) {
	op, err := r.open(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Rows{Columns: p.Columns, Affected: -1, Plan: p, run: r, op: op}, nil
}
