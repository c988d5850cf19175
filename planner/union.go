package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
)

// maxAlternatives bounds the number of terms of an OR that are read separately; maxDivided bounds the number of ORs in a
// WHERE that are tried.
const maxAlternatives, maxDivided = 64, 4

// united returns a union, in place of whole, that reads the rows for each term of an OR separately, if each term binds a
// key of the same or of another layout. Each part excludes the rows of the previous terms, so that each row is returned
// once:
//
//	y = 5 OR z = 7      an INDEX of y where y = 5, then an INDEX of z where z = 7 and y is not 5
//
// It returns nil if a term binds no key.
func (e *Env) united(req *access.Request, whole *plan.Scan) (_ *plan.Union, err error) {
	defer fail.Catch(&err)
	if len(req.Table.Layouts) < 2 || !whole.Access.Wide() || e.Options.NoRules || e.Options.NoKey || req.Layout != "" || req.AllVersions {
		return nil, nil
	}
	tried := 0
	for i, c := range req.Conjuncts {
		or, ok := c.(*expr.Or)
		if !ok || len(or.Terms) > maxAlternatives || !rowwise(or) {
			continue
		}
		if tried++; tried > maxDivided {
			break
		}
		rest := slices.Delete(slices.Clone(req.Conjuncts), i, i+1)
		read := func(more ...expr.Expr) (*plan.Scan, error) {
			one := *req
			one.Conjuncts, one.OrderBy, one.Limit.Set = append(slices.Clip(rest), more...), nil, false
			return e.access(&one)
		}
		groups := fail.Must(e.byLayout(or, read))
		u := &plan.Union{}
		var before []expr.Expr
		for _, g := range groups {
			s := fail.Must(read(append(slices.Clip(before), g)...))
			u.Parts = append(u.Parts, s)
			before = append(before, &expr.Or{Terms: []expr.Expr{&expr.Not{X: g}, &expr.IsNull{Pos: g.Position(), X: g}}})
		}
		if len(u.Parts) > 1 && e.cheaper(u, whole) {
			return u, nil
		}
	}
	return nil, nil
}

// byLayout groups the terms of or by the layout whose key they bind. It returns none if a term binds no key.
func (e *Env) byLayout(or *expr.Or, read func(more ...expr.Expr) (*plan.Scan, error)) (groups []expr.Expr, err error) {
	var layouts []string
	for _, t := range or.Terms {
		s, err := read(t)
		if err != nil || s.Access.Wide() {
			return nil, err
		}
		at := slices.Index(layouts, s.Layout.Name)
		if at < 0 {
			layouts, groups = append(layouts, s.Layout.Name), append(groups, t)
			continue
		}
		both := &expr.Or{Terms: []expr.Expr{groups[at], t}}
		if o, ok := groups[at].(*expr.Or); ok {
			both.Terms = append(slices.Clip(o.Terms), t)
		}
		groups[at] = both
	}
	return groups, nil
}

// cheaper reports whether u costs less than whole by statistics. Without statistics it returns true.
func (e *Env) cheaper(u *plan.Union, whole *plan.Scan) bool {
	if e.Statistics == nil || e.Statistics(whole.Table) == nil || e.MayReadAll != nil && !e.MayReadAll(whole) {
		return true
	}
	by := estimate.New(e.Statistics)
	parts, all := by.Node(u), by.Node(whole)
	return parts == nil || all == nil || parts.Cost < all.Cost
}
