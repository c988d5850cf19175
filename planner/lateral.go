package planner

import (
	"cmp"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// visible returns the sources that a LATERAL item after those of f may refer to.
func (f *from) visible() []*source {
	return append(slices.Clip(f.srcs[:f.hidden[0]]), f.srcs[f.hidden[1]:]...)
}

// mayRefer reports whether a LATERAL item behind the sources of f has something to refer to, or must not.
func (q *query) mayRefer(f *from) bool {
	return len(f.visible()) > 0 || q.beside != nil || q.barred != nil
}

// addBarred adds t, the right side of a RIGHT or a FULL JOIN, whose LATERAL items may not refer to the left one.
func (q *query) addBarred(f *from, t parser.TableExpr, left []*source) ([]*expr.Column, error) {
	defer func(barred []*source) { q.barred = barred }(q.barred)
	q.barred = append(slices.Clip(q.barred), left...)
	return q.addFrom(f, t)
}

// addFirst adds the side of the join t whose rows are all there.
func (q *query) addFirst(f *from, t *parser.Join, first parser.TableExpr) ([]*expr.Column, error) {
	if t.Kind != parser.RightJoin || !holdsLateral(first) {
		return q.addFrom(f, first)
	}
	left := &from{srcs: slices.Clone(f.visible())}
	n := len(left.srcs)
	if _, err := q.addFrom(left, t.Left); err != nil {
		return nil, err
	}
	return q.addBarred(f, first, left.srcs[n:])
}

// holdsLateral reports whether t has an item that may refer to the items before it.
func holdsLateral(t parser.TableExpr) bool {
	switch t := t.(type) {
	case *parser.Join:
		return holdsLateral(t.Left) || holdsLateral(t.Right)
	case *parser.Subquery:
		return t.Lateral
	case *parser.TableFunction:
		return refers(t)
	}
	return false
}

// refers reports whether an argument of t names a column.
func refers(t *parser.TableFunction) bool {
	found := false
	for _, x := range t.Args {
		parser.Walk(x, func(x parser.Expr) bool {
			_, column := x.(*parser.ColumnRef)
			found = found || column
			return true
		})
	}
	return found
}

// addWhole adds the join t as one source. If its LATERAL items refer to the sources of f, it is read for each row of these.
func (q *query) addWhole(f *from, t *parser.Join) ([]*expr.Column, error) {
	in, err := q.appliedJoin(f, t)
	if in == nil && err == nil {
		in, err = q.wholeJoin(t)
	}
	if err != nil {
		return nil, err
	}
	f.names = append(f.names, in.names...)
	s := *in.srcs[0]
	f.add(&s)
	star := make([]*expr.Column, len(in.star))
	for i, c := range in.star {
		star[i] = &expr.Column{Index: c.Index + s.offset, Name: c.Name, Typ: c.Typ}
	}
	return star, nil
}

// appliedJoin reads the join t as one source for each row of f's sources; nil: it does not refer to them.
func (q *query) appliedJoin(f *from, t *parser.Join) (*from, error) {
	if len(f.visible()) == 0 || !holdsLateral(t) {
		return nil, nil
	}
	var first *from
	text := &parser.Select{Pos: t.Pos, Cores: []*parser.SelectCore{{Pos: t.Pos, Items: []parser.SelectItem{{Pos: t.Pos, Star: true}}, From: []parser.TableExpr{t}}}}
	sub, of, err := q.correlated(f.visible(), q.around(), text, func(in *query) (*plan.Plan, error) {
		in.beside, in.outer, in.barred = in.outer, q.outer, q.barred // conditions of the join do not see the rows, LATERAL items do
		in.top = in.plan
		g, err := in.wholeJoin(t)
		if err != nil {
			return nil, err
		}
		if first == nil { // later plans may be made by several at once
			first = g
		}
		in.plan.Root, in.plan.Columns = g.srcs[0].node, g.srcs[0].cols
		return in.plan, nil
	})
	if err != nil || sub.Closed {
		return nil, err
	}
	q.plan.Subplans = append(q.plan.Subplans, sub)
	s := first.srcs[0]
	s.node, s.lateral, s.of = nil, sub, of
	return first, nil
}

// around resolves columns for a LATERAL item of q beyond the sources before it.
func (q *query) around() func(ref *parser.ColumnRef) (expr.Expr, error) {
	beside, barred := q.beside, q.barred
	if beside == nil {
		beside = q.outer
	}
	if barred == nil {
		return beside
	}
	return func(ref *parser.ColumnRef) (expr.Expr, error) {
		if x, err := findColumn(ref, barred); err != nil || x != nil {
			return nil, cmp.Or(err, error(parser.Errorf(ref.Pos, "invalid reference to FROM-clause entry: %s stands on the other side of a RIGHT or FULL JOIN", ref).
				WithHint("LATERAL refers to the left side of an INNER or a LEFT JOIN")))
		}
		if beside == nil {
			return nil, nil
		}
		return beside(ref)
	}
}

// subquerySource is a query in FROM behind the sources of f. One that is LATERAL and refers to these is planned for each of their rows.
func (q *query) subquerySource(f *from, t *parser.Subquery) (*source, error) {
	if !t.Lateral || !q.mayRefer(f) {
		return q.derived(t.Query, t.Alias, t.Columns, t.Alias, t.Pos)
	}
	around := q.around()
	sub, of, err := q.correlated(f.visible(), around, t.Query, func(in *query) (*plan.Plan, error) { return in.finish(t.Query) })
	if err != nil {
		return nil, err
	}
	if !sub.Closed && len(f.visible()) > 0 {
		q.plan.Subplans = append(q.plan.Subplans, sub)
		cols, err := renamed(sub.Sample.Columns, t.Columns, t.Alias, t.Pos)
		return &source{name: t.Alias, cols: cols, lateral: sub, of: of}, err
	}
	defer func(outer func(ref *parser.ColumnRef) (expr.Expr, error)) { q.outer = outer }(q.outer)
	q.outer = around
	return q.derived(t.Query, t.Alias, t.Columns, t.Alias, t.Pos)
}

// isQuery reports whether rowsOf makes the rows of t by a query: one row for a function that returns one value.
func (q *query) isQuery(t *parser.TableFunction) bool {
	f := q.function(t.Name)
	switch {
	case slices.Contains([]string{"_PG_EXPANDARRAY", "JSON_EACH", "JSONB_EACH", "JSON_EACH_TEXT", "JSONB_EACH_TEXT"}, t.Name):
		return true
	case f == nil, f.Group == "aggregate", f.Group == "window":
		return false
	}
	return f.Name != "GENERATE_SERIES" || t.Ordinality
}

// functionSource is a function in FROM behind the sources of f, to which its arguments may refer.
func (q *query) functionSource(from *from, t *parser.TableFunction) (*source, error) {
	if s, err := q.listed(t); s != nil || err != nil {
		return s, err
	}
	if q.isQuery(t) {
		return q.subquerySource(from, &parser.Subquery{Pos: t.Pos, Lateral: true, Query: rowsOf(t), Alias: functionAlias(t), Columns: t.Columns})
	}
	if !refers(t) || !q.mayRefer(from) {
		return q.tableFunction(t)
	}
	rows := &parser.Select{Pos: t.Pos, Cores: []*parser.SelectCore{{Pos: t.Pos, Items: []parser.SelectItem{{Pos: t.Pos, Star: true}}, From: []parser.TableExpr{t}}}}
	return q.subquerySource(from, &parser.Subquery{Pos: t.Pos, Lateral: true, Query: rows, Alias: functionAlias(t)})
}

// apply adds s, a query that runs for each row of n, with the conditions that can be checked then: those of its LEFT
// JOIN, or those of conds. rest are the other conditions.
func (f *from) apply(n plan.Node, i int, conds []expr.Expr) (out *plan.Apply, rest []expr.Expr) {
	s := f.srcs[i]
	out = &plan.Apply{Left: n, Query: s.lateral, Of: s.of, Outer: f.outer[i]}
	if out.Outer {
		if !isAlways(f.on[i]) {
			out.On = f.on[i]
		}
		return out, conds
	}
	on, rest := termsUpTo(conds, s)
	if len(on) > 0 {
		out.On = expr.Conjunction(on)
	}
	return out, rest
}

// lateral reports whether a source of f depends on those before it, so that they stay in the order that they are written in.
func (f *from) lateral() bool {
	return slices.ContainsFunc(f.srcs, func(s *source) bool { return s.lateral != nil })
}
