package exec

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
)

// repeat is the read of a table by a query that runs for many outer rows. If no condition with a value of the outer row
// narrows the range of keys, the rows are read once, without these conditions, and each outer row filters them.
type repeat struct {
	mu    sync.Mutex
	asked int
	conds []expr.Expr   // the conditions that were the same each time
	once  *plan.Subplan // reads the rows that match conds; nil: not planned, or not possible
	many  atomic.Bool   // a read that hops over values found too many of them
}

// repeatGuard is the guard of a read that belongs to of.
type repeatGuard struct {
	scan.Guard
	of *repeat
}

// TooMany implements scan.Guard.
func (g repeatGuard) TooMany(s *plan.Scan) error {
	g.of.many.Store(true)
	return g.Guard.TooMany(s)
}

// scanRepeated is the operator.Source of a query that runs for many outer rows.
func (r *run) scanRepeated(ctx context.Context, s *plan.Scan) (operator.Operator, error) {
	q := r.subqueries
	if s.Repeated == nil || s.Access <= plan.Get {
		return r.scan(ctx, s)
	}
	q.mu.Lock()
	x := q.repeats[s.Repeated.Key]
	if x == nil {
		x = &repeat{}
		q.repeats[s.Repeated.Key] = x
	}
	q.mu.Unlock()
	once, rest, err := x.plan(ctx, r, s)
	if err != nil || once == nil {
		st := *r.statement
		st.Guard = repeatGuard{st.Guard, x}
		return st.scan(ctx, s)
	}
	var node plan.Node = &plan.Reuse{Query: once}
	if len(rest) > 0 {
		node = &plan.Filter{Input: node, Cond: expr.Conjunction(rest)}
	}
	if s.Limit.Set {
		node = &plan.Limit{Input: node, Count: s.Limit}
	}
	return operator.New(ctx, node, r.scan, r.Opt)
}

// plan returns the query that reads the rows of s, and more, once for all outer rows, and the conditions that these rows must
// still meet. It returns no query if s should be read for its own outer row.
func (x *repeat) plan(ctx context.Context, r *run, s *plan.Scan) (once *plan.Subplan, rest []expr.Expr, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.asked++; x.asked == 1 {
		x.conds = slices.DeleteFunc(slices.Clone(s.Repeated.Conds), func(c expr.Expr) bool {
			return expr.Some(c, expr.IsSubquery) || expr.Volatile(c) != ""
		})
		return nil, nil, nil
	}
	same := func(list []expr.Expr) func(c expr.Expr) bool {
		return func(c expr.Expr) bool {
			return slices.ContainsFunc(list, func(o expr.Expr) bool { return expr.Same(o, c) })
		}
	}
	kept := slices.DeleteFunc(slices.Clone(x.conds), func(c expr.Expr) bool { return !same(s.Repeated.Conds)(c) })
	if len(kept) < len(x.conds) {
		x.conds, x.once = kept, nil
	}
	rest = slices.DeleteFunc(slices.Clone(s.Repeated.Conds), same(x.conds))
	few := func(c expr.Expr) bool { e, ok := c.(*expr.Compare); return ok && e.Op == expr.EQ }
	if len(x.conds) == 0 && s.Access.HitsPrefix() || x.asked <= fewAsked && slices.ContainsFunc(rest, few) {
		return nil, nil, nil
	}
	if x.once == nil {
		p, err := r.resolvedBatch(ctx, func() (*plan.Plan, error) {
			all, err := s.Repeated.Plan(x.conds)
			if err == nil && s.Lazy() {
				all.Wanted = max(1, s.Wanted, s.Limit.Rows)
			}
			return &plan.Plan{Root: all}, err
		})
		if err != nil {
			return nil, nil, err
		}
		x.once = &plan.Subplan{Sample: p, Text: s.Repeated.Key}
	}
	all := x.once.Sample.Root.(*plan.Scan)
	sameReads := !s.Access.HitsPrefix() && (s.Hop == nil || x.many.Load()) || reflect.DeepEqual(s.Spans, all.Spans) && reflect.DeepEqual(s.Hop, all.Hop)
	columns := !slices.ContainsFunc(rest, func(c expr.Expr) bool {
		return expr.SomeColumn(c, func(i int) bool { return !all.Needed[i] })
	})
	ordered := s.Order == plan.NoOrder || all.Order != plan.NoOrder && reflect.DeepEqual(s.OrderBy, all.OrderBy)
	if !sameReads || !columns || !ordered || !all.Access.HitsPrefix() && !r.mayReadAll(all) {
		return nil, nil, nil
	}
	return x.once, rest, nil
}
