package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// try is an order in which the rows of a block's table may be read.
type try struct {
	accessOrder
	sorted  int  // number of leading terms of ORDER BY that it covers; 0: all or none
	inOrder bool // groups are in the order of ORDER BY
}

// tries returns the orders of b's table that help the following steps, the best one first:
//
//	groups in the order of ORDER BY, or of its first terms if few are wanted, or one group after the other; of a join if few
//	rows of the same partition of a window together
//	equal rows of SELECT DISTINCT together
//	rows of a join in the order of its first source, or of the first terms, if few are wanted
//	rows in the order of ORDER BY, or of its first terms if few are wanted: then rows with equal terms are sorted
func (b *block) tries(limit plan.RowLimit) (out []try) {
	add := func(by []plan.SortTerm) *try {
		out = append(out, try{accessOrder: accessOrder{by: slices.Clone(by)}}) // output changes b.terms
		return &out[len(out)-1]
	}
	plain := b.q.env.Options.NoRules || b.from.srcs[0].table == nil
	windowed := len(b.wins.calls) > 0
	if len(b.from.srcs) > 1 { // the order of the first source
		if limit.Set && (!plain || b.from.srcs[0].first != nil) && !b.grouped && !windowed && !b.core.Distinct && b.on == nil {
			t := add(b.terms)
			if len(b.semis) == 0 {
				t.limit = limit
			}
			for k := len(b.terms) - 1; k > 0; k-- {
				add(b.terms[:k]).sorted = k
			}
		}
		if by := covering(b.terms, b.groups.by); b.grouped && limit.Set && !plain && !windowed && b.groups.sets == nil && len(b.terms) > 0 && by != nil {
			add(by).inOrder = true
		}
		return out
	}
	switch {
	case b.grouped && (b.groups.sets != nil || len(b.groups.by) == 0):
	case b.grouped:
		for k := len(b.terms); k > 0 && !windowed && !plain && (k == len(b.terms) || limit.Set); k-- {
			if by := covering(b.terms[:k], b.groups.by); by != nil {
				t := add(by)
				t.inOrder, t.unmerged, t.sorted = true, !limit.Set, k%len(b.terms)
			}
		}
		add(groupOrder(b.groups.by)).unmerged = true
	case windowed:
		if t := add(b.wins.calls[0].terms()); limit.Set && !plain && b.backward() {
			t.limit = limit
		}
	case b.core.Distinct:
		if by := b.termsOfDistinct(); by != nil && limit.Set && !plain {
			add(by).unmerged = len(b.terms) == 0
		}
	default:
		t := add(b.terms)
		if b.on == nil && len(b.semis) == 0 {
			t.limit = limit
		}
		for k := len(b.terms) - 1; k > 0 && k >= len(b.on) && limit.Set && !plain; k-- {
			add(b.terms[:k]).sorted = k
		}
	}
	return out
}

// backward reports whether the windows of the first rows need no later rows. The order of the windows is that of ORDER
// BY.
//
//	SELECT k, row_number() OVER (ORDER BY k), v - lag(v) OVER (ORDER BY k) FROM t ORDER BY k
func (b *block) backward() bool {
	w, s := &b.wins.calls[0], b.from.srcs[0]
	terms := slices.DeleteFunc(w.terms(), func(t plan.SortTerm) bool {
		return slices.ContainsFunc(b.conds, func(e expr.Expr) bool { return bindsTo(e, t.Expr) })
	})
	if b.grouped || b.core.Distinct || b.on != nil || len(b.semis) > 0 || len(b.terms) > len(terms) || !sameTerms(b.terms, terms[:len(b.terms)]) {
		return false
	}
	var by []expr.Expr
	for _, t := range w.terms() {
		by = append(by, t.Expr)
	}
	for i, c := range s.cols {
		if x := (&expr.Column{Index: i, Name: c.Name, Typ: c.Type}); slices.ContainsFunc(b.conds, func(e expr.Expr) bool { return bindsTo(e, x) }) {
			by = append(by, x)
		}
	}
	alone := s.differsIn(by) // a row has no peers
	return !slices.ContainsFunc(b.wins.calls, func(c windowCall) bool {
		if !sameAll(c.partition, w.partition) || !sameTerms(c.order, w.order) || slices.Contains([]plan.Func{"LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST"}, c.Func) {
			return true
		}
		if c.Func.Numbers() || c.Func == "LAG" {
			return len(c.Args) > 0
		}
		return c.Frame.End.Kind > plan.CurrentRow || c.Frame.Mode != plan.RowsFrame && !alone
	})
}

// termsOfDistinct returns the terms of ORDER BY followed by the other columns of the result: in this order equal rows are
// consecutive.
func (b *block) termsOfDistinct() []plan.SortTerm {
	return covering(b.terms, b.results())
}

// results returns the expressions of the result's columns.
func (b *block) results() []expr.Expr {
	out := make([]expr.Expr, len(b.outs))
	for i, o := range b.outs {
		out[i] = o.expr
	}
	return out
}

// covering returns terms followed by the other expressions of es, if all terms are among es.
func covering(terms []plan.SortTerm, es []expr.Expr) []plan.SortTerm {
	var seen []expr.Expr
	for _, t := range terms {
		if !has(es, t.Expr) {
			return nil
		}
		seen = append(seen, t.Expr)
	}
	out := slices.Clip(terms)
	rest := plan.SortTerm{}
	if len(terms) > 0 { // a key is read in one direction
		rest = terms[len(terms)-1]
	}
	for _, e := range es {
		if !has(seen, e) {
			rest.Expr = e
			out, seen = append(out, rest), append(seen, e)
		}
	}
	return out
}

// read reads the tables; it reads a single table in a suitable order. limit applies to the result. ordered reports
// whether the rows are in the order of ORDER BY; inOrder reports whether their groups are in this order.
func (b *block) read(limit plan.RowLimit) (node plan.Node, ordered, inOrder bool) {
	var of try
	var others []try
	switch {
	case len(b.from.srcs) == 0:
	case len(b.from.srcs) == 1 && len(b.terms) == 0 && !b.grouped && !b.core.Distinct && len(b.wins.calls) == 0: // most queries
		if len(b.semis) == 0 {
			of.limit = limit
		}
	default:
		others = b.tries(limit)
		for i := range others {
			if o := &others[i]; limit.Set && len(b.wins.calls) == 0 && (o.inOrder || !b.grouped) {
				o.few = max(1, limit.Rows)
			}
		}
		if len(others) > 0 {
			of, others = others[0], others[1:]
		}
	}
	node, ordered = fail.Must2(b.q.joined(b.from, b.conds, b.used, of.accessOrder, b.hints))
	for i := 0; i < len(others) && !ordered; i++ {
		n, ok := fail.Must2(b.q.joined(b.from, b.conds, b.used, others[i].accessOrder, b.hints))
		if ok {
			node, ordered, of = n, true, others[i]
		}
	}
	if len(b.semis) > 0 {
		n, kept := fail.Must2(semiJoined(node, b.semis))
		node, ordered = n, ordered && kept
	}
	s, scan := node.(*plan.Scan)
	_, union := node.(*plan.Union) // of besideNulls
	inOrder = (scan || union || len(b.from.srcs) > 1) && ordered && of.inOrder && len(b.semis) == 0
	if of.sorted > 0 && (inOrder || ordered && !of.inOrder) {
		b.sorted, ordered, inOrder = of.sorted, inOrder, false
	}
	if len(b.from.srcs) == 1 && len(b.semis) == 0 {
		node = b.oneOfSame(node, ordered, (inOrder || b.sorted > 0) && limit.Set)
	}
	if scan && len(b.semis) == 0 {
		inOrder = inOrder && s.Order != plan.NoOrder && slices.EqualFunc(s.OrderBy, of.by, func(x, y plan.SortTerm) bool { return x.Desc == y.Desc })
	}
	return node, ordered, inOrder
}

// output computes the result columns of node's rows. ordered reports that the rows are in the order of terms, sorts that
// there is an ORDER BY.
func (b *block) output(node plan.Node, ordered bool, cut bounds, sorts bool) (plan.Node, []plan.OutputColumn) {
	// As in PostgreSQL, the rows that DISTINCT ON keeps are unnested if ORDER BY does not read what is unnested.
	sets := slices.ContainsFunc(b.terms, func(t plan.SortTerm) bool { return expr.Some(t.Expr, isSet) })
	kept := b.on != nil && sorts && !sets
	if !sets && !b.core.Distinct {
		node = b.drawn(node)
	}
	if !kept {
		node = b.unnest(node)
	}
	if sets && !b.core.Distinct {
		node = b.drawn(node)
	}
	cols := make([]plan.OutputColumn, len(b.outs))
	for i, o := range b.outs {
		cols[i] = o.column()
	}
	terms := b.terms
	if b.core.Distinct {
		exprs := b.results()
		node = &plan.Project{Input: node, Exprs: exprs}
		if ordered = ordered && !b.grouped && len(b.wins.calls) == 0; ordered { // equal rows are consecutive
			on := &plan.DistinctOn{Input: node}
			for i, c := range cols {
				on.By = append(on.By, &expr.Column{Index: i, Name: c.Name, Typ: c.Type})
			}
			node = on
		} else {
			node = &plan.Distinct{Input: node}
		}
		for i, t := range terms {
			at := slices.IndexFunc(exprs, func(x expr.Expr) bool { return expr.Same(x, t.Expr) })
			if at < 0 {
				panic(fail.With(parser.Errorf(t.Expr.Position(), "ORDER BY of SELECT DISTINCT takes columns of the result")))
			}
			terms[i].Expr = &expr.Column{Index: at, Name: cols[at].Name, Typ: cols[at].Type}
		}
		if len(terms) > 0 && !ordered {
			node = &plan.Sort{Input: node, By: terms, Limit: cut.enough()}
		}
		return cut.of(node, terms), cols
	}
	if b.on != nil {
		if !ordered {
			node = &plan.Sort{Input: node, By: terms, Sorted: b.sorted}
		}
		for i := range b.on {
			b.on[i] = terms[i].Expr // the same expressions over the output rows
		}
		node, ordered = &plan.DistinctOn{Input: node, By: b.on}, true
		if kept {
			node = b.unnest(node)
		}
	}
	if len(terms) > 0 && !ordered {
		node = &plan.Sort{Input: node, By: terms, Limit: cut.enough(), Sorted: b.sorted}
	}
	return &plan.Project{Input: cut.of(node, terms), Exprs: b.results()}, cols
}

// drawn computes below the sort the columns of the result by which it sorts and which are other values each time: a row
// shows the value by which it was sorted.
func (b *block) drawn(node plan.Node) plan.Node {
	width := node.Width()
	var draws []expr.Expr
	for i, t := range b.terms {
		if expr.Volatile(t.Expr) == "" {
			continue
		}
		at := slices.IndexFunc(b.outs, func(o output) bool { return o.expr == t.Expr })
		if at < 0 {
			at = slices.IndexFunc(b.outs, func(o output) bool { return expr.Same(o.expr, t.Expr) })
		}
		if at >= 0 {
			x := b.outs[at].expr
			b.outs[at].expr = &expr.Column{Pos: x.Position(), Index: width + len(draws), Name: x.String(), Text: x.String(), Typ: x.Type(), Limit: expr.DeclaredLimit(x.Type(), x)}
			b.terms[i].Expr, draws = b.outs[at].expr, append(draws, x)
		}
	}
	if draws == nil {
		return node
	}
	below, placed := &plan.Project{Input: node}, map[int]int{} // by column of node, or of draws after these
	place := func(c *expr.Column) expr.Expr {
		to, ok := placed[c.Index]
		if !ok {
			to = len(below.Exprs)
			placed[c.Index] = to
			if c.Index < width {
				below.Exprs = append(below.Exprs, c)
			} else {
				below.Exprs = append(below.Exprs, draws[c.Index-width])
			}
		}
		d := *c
		d.Index = to
		return &d
	}
	for i := range b.outs {
		b.outs[i].expr = expr.MapColumns(b.outs[i].expr, place)
	}
	for i := range b.terms {
		b.terms[i].Expr = expr.MapColumns(b.terms[i].Expr, place)
	}
	return below
}

// bounds are the LIMIT and OFFSET of a query. ties is set by WITH TIES.
type bounds struct {
	limit  plan.RowLimit
	offset int64
	ties   bool
}

func (c bounds) any() bool { return c.limit.Set || c.offset > 0 }

// enough returns how many rows in the query's order suffice. WITH TIES may want all.
func (c bounds) enough() plan.RowLimit {
	if c.ties {
		return plan.RowLimit{}
	}
	return c.limit.Behind(c.offset)
}

// of cuts n, whose rows are in the order by.
func (c bounds) of(n plan.Node, by []plan.SortTerm) plan.Node {
	if !c.any() {
		return n
	}
	if c.limit.Set {
		wanted(n, c.limit.Behind(c.offset).Rows, !c.ties)
	}
	return &plan.Limit{Input: n, Offset: c.offset, Count: c.limit, Ties: c.ties, By: by}
}

// wanted sets Wanted in the scans under n, because only the given number of n's rows are wanted. each reports that
// every row of a scan becomes a row of n.
func wanted(n plan.Node, rows int64, each bool) {
	switch n := n.(type) {
	case *plan.Scan:
		switch {
		case n.Limit.Set:
		case each && n.DistinctPrefix == 0 && n.Access != plan.Get && n.Access != plan.Empty:
			n.Limit = plan.AtMost(rows)
		default:
			n.Wanted = max(1, rows)
		}
	case *plan.Project:
		wanted(n.Input, rows, each)
	case *plan.Union:
		for _, p := range n.Parts {
			wanted(p, rows, each)
		}
	case *plan.DistinctOn:
		wanted(n.Input, rows, false)
	case *plan.Aggregate:
		if n.Ordered {
			wanted(n.Input, rows, false)
		}
	case *plan.Sort:
		if n.Sorted > 0 {
			wanted(n.Input, rows, false)
		}
	case *plan.Filter:
		wanted(n.Input, rows, false)
	case *plan.Join:
		if !n.Full {
			n.Wanted = max(1, rows)
			wanted(n.Left, rows, n.Outer && each)
		}
	case *plan.Apply:
		n.Wanted = max(1, rows)
		wanted(n.Left, rows, n.Outer && each)
	}
}
