package planner

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// oneOfSame lets n, the only source of b, read only the first or last rows of each group, if the result needs no others:
//
//	SELECT DISTINCT a, max(DISTINCT a) GROUP BY b        one row for each a and b
//	min(ts), max(ts), max_by(v, ts) GROUP BY a           the first and the last row of each a
//	DISTINCT ON (a) ... ORDER BY a, ts DESC              the last row of each a
//	row_number() OVER (PARTITION BY a ORDER BY ts) <= 3  the first three rows of each a, as the condition on row_number requires
//	max(ts) OVER (PARTITION BY a) = ts                   the last row of each a, as this condition requires
//
// ordered and inOrder are the results of read.
func (b *block) oneOfSame(n plan.Node, ordered, inOrder bool) plan.Node {
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
		if b.firstValues() {
			b.first = 1
		}
		if b.first == 0 {
			return n
		}
		w := &b.wins.calls[0]
		order := w.order
		if w.Func.OneRow() {
			order = []plan.SortTerm{{Expr: w.Arg, Desc: w.Func.Greatest()}}
		}
		told := slices.ContainsFunc(b.wins.calls, func(c windowCall) bool { return c.Func != plan.RowNumber }) // equal rows are not alike
		if e = endsOf(w.partition, order, ordered && !told); e == nil {
			return n
		}
		e.Told = e.Told || told
		if e.Rows = b.first; ordered && !told {
			used = b.only(w.partition)
		}
	case b.core.Distinct:
		used = b.used
	case b.on != nil && !b.several(): // a function may return no rows for the first row
		if e = endsOf(b.on, b.terms[len(b.on):], ordered); ordered { // the first row of each group
			used = b.only(b.on)
		} else if e != nil {
			e.Ordered = b.sorted > 0
		}
	}
	if s, scan := n.(*plan.Scan); scan && (used != nil || e != nil) {
		b.q.env.accessEnv().OneOfSame(s, used, e)
	} else if !ordered && !b.q.env.Options.NoRules && (used != nil || e != nil && e.By != nil) {
		return b.q.oneOfEach(n, used, e)
	}
	return n
}

// oneOfEach returns n with reads of only those rows of each table that suffice if rows with equal used columns count once
// (nil: each counts), or if e describes the rows that are wanted of all tables together. n combines its tables with UNION ALL.
func (q *query) oneOfEach(n plan.Node, used []bool, e *access.Ends) plan.Node {
	switch n := n.(type) {
	case *plan.Scan:
		if n.Lazy() {
			return n
		}
		s := *n // other plans may read n
		s.Key, s.Candidates = slices.Clone(s.Key), slices.Clone(s.Candidates)
		q.env.accessEnv().OneOfSame(&s, used, e)
		return &s
	case *plan.Union:
		u := &plan.Union{}
		for _, p := range n.Parts {
			u.Parts = append(u.Parts, q.oneOfEach(p, used, e))
		}
		return u
	case *plan.Project:
		if slices.ContainsFunc(n.Exprs, func(x expr.Expr) bool { return !rowwise(x) }) {
			return n
		}
		if used != nil {
			of := make([]bool, n.Input.Width())
			for i, x := range n.Exprs {
				if used[i] {
					mark(of, x)
				}
			}
			used = of
		}
		if e != nil && e.By != nil {
			of := *e
			of.By, of.Groups = over(e.By, n.Exprs), slices.Clone(e.Groups)
			for i, g := range of.Groups {
				of.Groups[i] = over(g, n.Exprs)
			}
			e = &of
		}
		return &plan.Project{Input: q.oneOfEach(n.Input, used, e), Exprs: n.Exprs}
	}
	return n
}

// over replaces the columns in e, the columns of a Project, by the expressions that it computes.
func over(e expr.Expr, exprs []expr.Expr) expr.Expr {
	return expr.MapColumns(e, func(c *expr.Column) expr.Expr {
		return exprs[c.Index]
	})
}

// keepsAll removes DISTINCT, or DISTINCT ON, from b if it would drop no row, because no two rows of the only table are
// equal in all columns that make its key.
//
//	SELECT DISTINCT id, v FROM t       ROW KEY (id AS INT32)
func (b *block) keepsAll() {
	if !b.core.Distinct && b.on == nil || b.grouped || len(b.wins.calls) > 0 || b.several() || len(b.from.srcs) != 1 {
		return
	}
	c := *b.core
	switch {
	case c.Distinct && b.termsOfDistinct() != nil:
		c.Distinct = !b.from.srcs[0].differsIn(b.results())
	case b.on != nil && b.from.srcs[0].differsIn(b.on):
		b.on, c.On = nil, nil
	}
	b.core = &c
}

// differsIn reports whether no two rows of s, a table, have equal values of es.
func (s *source) differsIn(es []expr.Expr) bool {
	if s.table == nil || s.system != nil || s.table.Layouts[0].Packed != nil {
		return false
	}
	given := func(col int) bool {
		return slices.ContainsFunc(es, func(e expr.Expr) bool {
			c, ok := e.(*expr.Column)
			return ok && c.Index == col && exact(c)
		})
	}
	if given(len(s.table.Columns)) && s.table.Layouts[0].Stored.IsLiteral() { // _key
		return true
	}
	return !slices.ContainsFunc(s.table.Layouts[0].AllParts(), func(p *catalog.Part) bool {
		return p.Literal == nil && (len(p.Columns) == 0 || slices.ContainsFunc(p.Columns, func(c int) bool { return !given(c) }))
	})
}

// only returns the columns of es as marks.
func (b *block) only(es []expr.Expr) []bool {
	of := make([]bool, len(b.used))
	mark(of, es...)
	return of
}

// endsOf describes the first rows of each group in the order of terms. It returns nil if they cannot be found without
// reading all rows. ordered reports that the rows are sorted by groups and terms.
func endsOf(groups []expr.Expr, terms []plan.SortTerm, ordered bool) *access.Ends {
	if ordered {
		return &access.Ends{}
	}
	if len(terms) == 0 {
		return nil
	}
	return &access.Ends{Groups: groups, By: terms[0].Expr, First: !terms[0].Desc, Last: terms[0].Desc, Nulls: true, Told: len(terms) > 1}
}

// endsOfGroups describes the rows of each group that the aggregates of b need, if these are the least or greatest by a
// single column. It returns nil if they need others.
func (b *block) endsOfGroups() *access.Ends {
	e := &access.Ends{Groups: b.groups.by}
	for i := range b.aggs.calls {
		a := &b.aggs.calls[i]
		by, last := a.Arg, a.Func.Greatest()
		switch {
		case a.Filter != nil:
			return nil
		case a.Func.OneRow():
		case a.Func.By():
			by = a.Args[0]
		case a.Func == plan.ArrayAgg && len(a.OrderBy) == 1 && !a.Distinct && !by.Type().IsArray() && b.onlyFirst(i):
			by, last, e.Nulls, e.Told = a.OrderBy[0].Expr, a.OrderBy[0].Desc, true, true
		default:
			return nil
		}
		if e.By != nil && !expr.Same(e.By, by) {
			return nil
		}
		e.By, e.First, e.Last = by, e.First || !last, e.Last || last
	}
	if e.By == nil {
		return nil
	}
	return e
}

// onlyFirst reports whether the result has nothing of aggregate i, an array, but its first element: (array_agg(v ORDER BY ts))[1].
func (b *block) onlyFirst(i int) bool {
	others := 0
	b.aboveGroups(func(e *expr.Expr) {
		expr.Map(*e, func(x expr.Expr) expr.Expr {
			switch x := x.(type) {
			case *expr.Column:
				if x.Index == aggMark+i {
					others++
				}
			case *expr.Call:
				if x.Func.Name != "SUBSCRIPT" || len(x.Args) != 2 {
					break
				}
				if c, ok := x.Args[0].(*expr.Column); ok && c.Index == aggMark+i && expr.Same(x.Args[1], &expr.Const{Val: types.NewInt(1), Typ: types.BigInt}) {
					others--
				}
			}
			return x
		})
	})
	return others == 0
}

// firstValues reports whether the result is one row for each partition of a window, with values of its first row.
//
//	SELECT DISTINCT host, first_value(v) OVER (PARTITION BY host ORDER BY ts DESC)
func (b *block) firstValues() bool {
	w := &b.wins.calls[0]
	return b.core.Distinct && !b.grouped && !slices.ContainsFunc(b.wins.calls, func(c windowCall) bool {
		return c.Func != "FIRST_VALUE" || c.Frame.Start.Kind != plan.UnboundedPreceding || !sameAll(c.partition, w.partition) || !sameTerms(c.order, w.order)
	}) && !slices.ContainsFunc(b.outs, func(o output) bool {
		c, column := o.expr.(*expr.Column)
		return !has(w.partition, o.expr) && (!column || c.Index < windowMark)
	})
}

// maxFirst bounds the number of rows of a partition that are read because of a condition on row_number.
const maxFirst = 1000

// numbered sets b.first from c, a condition on b's columns, if c bounds the row number or rank, or keeps the rows with the
// least or greatest value of a partition.
func (b *block) numbered(c expr.Expr) bool {
	if b.extreme(c) {
		b.first = 1
		return true
	}
	col, set, _, ok := solve.Sarg(c)
	if !ok || len(set) == 0 || set[len(set)-1].Hi.IsNull() || set[len(set)-1].Hi.Type() != types.BigInt || b.grouped || b.on != nil || b.core.Distinct || col >= len(b.outs) {
		return false
	}
	out, is := b.outs[col].expr.(*expr.Column)
	calls := b.wins.calls
	if !is || out.Index < windowMark || !calls[out.Index-windowMark].Func.Numbers() {
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

// extreme reports whether c, a condition on b's columns, is the equality of an expression and its only window: its min or max.
func (b *block) extreme(c expr.Expr) bool {
	x, y := equalColumns(c)
	if x == nil || len(b.wins.calls) != 1 || b.grouped || b.on != nil || b.core.Distinct || max(x.Index, y.Index) >= len(b.outs) {
		return false
	}
	w := &b.wins.calls[0]
	is := func(x, y *expr.Column) bool {
		of, column := b.outs[x.Index].expr.(*expr.Column)
		return column && of.Index == windowMark && expr.Same(b.outs[y.Index].expr, w.Arg)
	}
	return w.Func.OneRow() && w.Filter == nil && len(w.order) == 0 && w.Frame.Mode == plan.RangeFrame && w.Frame.Exclude == "" && (is(x, y) || is(y, x))
}
