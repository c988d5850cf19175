package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
)

// arrange returns the order in which to join sources of inner joins; nil means as written. Except for pieces, it keeps
// the written order if that begins with a table whose key is bound. Otherwise it begins with the first of these that
// exists:
//
//	for pieces, a table from which all others are looked up
//	rows in memory that bind the key of a table
//	a table whose key is bound
//	a source that probably has few rows (few) and binds the key of a table
//	a source that binds the key of a table
func (q *query) arrange(f *from, conds []expr.Expr, h hints) []int {
	if order := q.virtualOrder(f, conds); order != nil {
		return order
	}
	reach := q.reach(f, conds, h)
	bound := func(i int, given []int) bool { return !reach(i, given).Wide() }
	if slices.Contains(f.outer, true) {
		return nil
	}
	if q.pieces {
		for first := range f.srcs {
			order := orderFrom(first, len(f.srcs), bound)
			if !slices.ContainsFunc(order[1:], func(i int) bool { return !bound(i, order[:slices.Index(order, i)]) }) {
				return order
			}
		}
	}
	if bound(0, nil) {
		return nil
	}
	binding := func(i int) (k int) {
		return slices.IndexFunc(f.srcs, func(s *source) bool {
			return s != f.srcs[i] && bound(slices.Index(f.srcs, s), []int{i})
		})
	}
	for _, with := range []func(i int, s *source) bool{
		func(i int, s *source) bool {
			_, atHand := s.node.(*plan.Values)
			return atHand && binding(i) >= 0
		},
		func(i int, _ *source) bool { return bound(i, nil) },
		func(i int, s *source) bool {
			if q.env.Options.NoRules || s.table != nil && !s.narrowed(conds) || s.table == nil && (s.each || all(s.node)) {
				return false
			}
			k := binding(i)
			return k >= 0 && (i == 0 || s.table == nil || reach(i, []int{k}).Wide() || reach(i, []int{k}) == plan.Get)
		},
		func(i int, _ *source) bool { return !q.env.Options.NoRules && binding(i) >= 0 },
	} {
		for i, s := range f.srcs {
			switch {
			case !with(i, s):
				continue
			case i == 0:
				return nil
			}
			return orderFrom(i, len(f.srcs), bound)
		}
	}
	return nil
}

// narrowed reports whether a condition that uses no key column probably leaves few rows of s, a table.
func (s *source) narrowed(conds []expr.Expr) bool {
	own, _ := ownTerms(conds, s)
	return slices.ContainsFunc(append(own, s.conds...), func(e expr.Expr) bool {
		return !expr.SomeColumn(e, func(c int) bool { return c < len(s.table.Columns) && s.table.Columns[c].KeyPart })
	})
}

// all reports whether n, the query of a source, returns all rows of a table.
func all(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		return n.Access.Wide() && n.Filter == nil && n.Residual == nil && !n.Limit.Set
	case *plan.Project:
		return all(n.Input)
	case *plan.Union:
		return slices.ContainsFunc(n.Parts, all)
	}
	return false
}

// reach returns a function that returns the access to source i by key for rows of the given sources. It is a full scan if
// these do not bind the start of the key.
func (q *query) reach(f *from, conds []expr.Expr, h hints) func(i int, given []int) plan.Access {
	return func(i int, given []int) plan.Access {
		s := f.srcs[i]
		if s.table == nil && (s.again == nil || len(given) == 0) {
			return plan.FullScan
		}
		own, rest := ownTerms(conds, s)
		for _, e := range rest {
			if t := q.sampled(e, s, given, f); t != nil {
				own = append(own, t)
			}
		}
		if s.table == nil {
			if n, _, err := s.again(q.apart(), own); n != nil && err == nil {
				return reads(n)
			}
			return plan.FullScan
		}
		req, err := q.request(s, own, make([]bool, s.width()), accessOrder{}, h)
		if err != nil {
			return plan.FullScan
		}
		scan, err := q.env.access(req)
		if err != nil {
			return plan.FullScan
		}
		return scan.Access
	}
}

// sampled returns the part of e, a condition on s and the given sources, that restricts s, for made-up values of the given
// sources. It returns nil if e refers to other sources.
func (q *query) sampled(e expr.Expr, s *source, given []int, f *from) expr.Expr {
	of, around := false, false
	for _, c := range expr.Columns(e) {
		switch {
		case c >= s.offset && c < s.offset+s.width():
			of = true
		case slices.ContainsFunc(given, func(i int) bool { return c >= f.srcs[i].offset && c < f.srcs[i].offset+f.srcs[i].width() }):
			around = true
		default:
			return nil
		}
	}
	if !of || !around || !rowwise(e) {
		return nil
	}
	if x, y, ok := equality(e); ok {
		if !within(y, s.offset, s.offset+s.width()) {
			x, y = y, x
		}
		if !within(y, s.offset, s.offset+s.width()) || expr.SomeColumn(x, func(c int) bool { return c >= s.offset && c < s.offset+s.width() }) {
			return nil
		}
		return &expr.Compare{Op: expr.EQ, X: shifted(y, s.offset), Y: &expr.Const{Val: sampleValue(y.Type(), 0), Typ: y.Type()}}
	}
	k := -1
	return expr.Fold(expr.MapColumns(e, func(c *expr.Column) expr.Expr {
		if c.Index >= s.offset && c.Index < s.offset+s.width() {
			return shifted(c, s.offset)
		}
		k++ // the first value of a range may be its excluded start
		return &expr.Const{Pos: c.Pos, Val: sampleValue(c.Typ, k), Typ: c.Typ}
	}), q.env.Loc)
}

// orderFrom returns an order of n sources that begins with first and continues with sources whose keys are bound by the
// previous ones.
func orderFrom(first, n int, bound func(i int, given []int) bool) []int {
	order := []int{first}
	for len(order) < n {
		next := -1
		for i := range n {
			if slices.Contains(order, i) {
				continue
			}
			if next < 0 {
				next = i
			}
			if bound(i, order) {
				next = i
				break
			}
		}
		order = append(order, next)
	}
	return order
}
