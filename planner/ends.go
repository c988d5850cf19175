package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// oneOfSame lets s, the only source of b, read those rows alone that the result is made of, where these are an end of each group:
//
//	SELECT DISTINCT a, max(DISTINCT a) GROUP BY b        one of those that are the same in a and b
//	min(ts), max(ts), max_by(v, ts) GROUP BY a           the first and the last row of each a
//	DISTINCT ON (a) ... ORDER BY a, ts DESC              the last row of each a
//	row_number() OVER (PARTITION BY a ORDER BY ts) <= 3  the first three rows of each a, if that is asked of the row_number
//
// ordered and inOrder are as in read.
func (b *block) oneOfSame(s *plan.Scan, ordered, inOrder bool) {
	var used []bool
	var e *access.Ends
	switch {
	case b.grouped:
		if e = b.endsOfGroups(); e != nil {
			e.Ordered = inOrder
		}
		if !slices.ContainsFunc(b.aggs.calls, func(a plan.AggCall) bool { return !a.Distinct && !a.Func.OneRow() }) {
			used = b.used
		}
	case len(b.wins.calls) > 0:
		if b.first == 0 {
			return
		}
		w := &b.wins.calls[0]
		if e = endsOf(w.partition, w.order, ordered); e == nil {
			return
		}
		e.Told = e.Told || slices.ContainsFunc(b.wins.calls, func(c windowCall) bool { return c.Func != plan.RowNumber })
		if e.Rows = b.first; ordered && !e.Told {
			used = b.only(w.partition)
		}
	case b.core.Distinct:
		used = b.used
	case b.on != nil:
		if e = endsOf(b.on, b.terms[len(b.on):], ordered); ordered { // the first row of each
			used = b.only(b.on)
		} else if e != nil {
			e.Ordered = b.sorted > 0
		}
	}
	if used != nil || e != nil {
		b.q.env.accessEnv().OneOfSame(s, used, e)
	}
}

// only marks the columns in es.
func (b *block) only(es []expr.Expr) []bool {
	of := make([]bool, len(b.used))
	mark(of, es...)
	return of
}

// endsOf describes the first rows of each group in the order of terms. It returns nil if they cannot be found without
// reading all rows. ordered says that the rows come in the order of groups and terms.
func endsOf(groups []expr.Expr, terms []plan.SortTerm, ordered bool) *access.Ends {
	if ordered {
		return &access.Ends{}
	}
	if len(terms) == 0 {
		return nil
	}
	return &access.Ends{Groups: groups, By: terms[0].Expr, First: !terms[0].Desc, Last: terms[0].Desc, Nulls: true, Told: len(terms) > 1}
}

// endsOfGroups are the rows of which all aggregates of b are, if that is by one column; nil: they are of others, too.
func (b *block) endsOfGroups() *access.Ends {
	e := &access.Ends{Groups: b.groups.by}
	for i := range b.aggs.calls {
		a := &b.aggs.calls[i]
		by := a.Arg
		switch {
		case a.Filter != nil:
			return nil
		case a.Func.OneRow():
		case a.Func.By():
			by = a.Args[0]
		default:
			return nil
		}
		if e.By != nil && !expr.Same(e.By, by) {
			return nil
		}
		last := a.Func.Greatest()
		e.By, e.First, e.Last = by, e.First || !last, e.Last || last
	}
	if e.By == nil {
		return nil
	}
	return e
}

// maxFirst bounds how many rows of a partition are read for the sake of their numbers.
const maxFirst = 1000

// numbered takes from c, a condition over b's columns, how many rows of each partition can pass it.
func (b *block) numbered(c expr.Expr) bool {
	col, set, _, ok := expr.Sarg(c)
	if !ok || len(set) == 0 || set[len(set)-1].Hi.IsNull() || set[len(set)-1].Hi.Type() != types.BigInt || b.grouped || b.on != nil || b.core.Distinct || col >= len(b.outs) {
		return false
	}
	out, is := b.outs[col].expr.(*expr.Column)
	calls := b.wins.calls
	if !is || out.Index < windowMark || calls[out.Index-windowMark].Func != plan.RowNumber {
		return false
	}
	if slices.ContainsFunc(calls, func(o windowCall) bool {
		return !o.Func.Numbers() || !sameAll(o.partition, calls[0].partition) || !sameTerms(o.order, calls[0].order)
	}) {
		return false
	}
	n := set[len(set)-1].Hi.Int()
	if n < 1 || n > maxFirst || b.first > 0 && int64(b.first) <= n {
		return b.first > 0
	}
	b.first = int(n)
	return true
}
