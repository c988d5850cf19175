package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/planner/plan"
)

// visible returns the sources to which a LATERAL item after those of f may refer.
func (f *from) visible() []*source {
	return append(slices.Clip(f.srcs[:f.hidden[0]]), f.srcs[f.hidden[1]:]...)
}

// mayRefer reports whether a LATERAL item after the sources of f can refer to other items, or must be checked for
// forbidden references.
func (q *query) mayRefer(f *from) bool {
	return len(f.visible()) > 0 || q.enclosing != nil || q.barred != nil
}

// addBarred adds t, the right side of a RIGHT or FULL JOIN, whose LATERAL items may not refer to the left side.
func (q *query) addBarred(f *from, t parser.TableExpr, left []*source) []*expr.Column {
	defer func(barred []*source) { q.barred = barred }(q.barred)
	q.barred = append(slices.Clip(q.barred), left...)
	return q.addFrom(f, t)
}

// addFirst adds first, the side of the join t that keeps all of its rows.
func (q *query) addFirst(f *from, t *parser.Join, first parser.TableExpr) []*expr.Column {
	if t.Kind != parser.RightJoin || !holdsLateral(first) {
		return q.addFrom(f, first)
	}
	left := &from{srcs: slices.Clone(f.visible())}
	n := len(left.srcs)
	q.addFrom(left, t.Left)
	return q.addBarred(f, first, left.srcs[n:])
}

// holdsLateral reports whether t contains an item that may refer to earlier items.
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

// refers reports whether an argument of t contains a column.
func refers(t *parser.TableFunction) bool {
	return slices.ContainsFunc(t.Args, func(arg parser.Expr) bool {
		return parser.Some(arg, func(x parser.Expr) bool { _, column := x.(*parser.ColumnRef); return column })
	})
}

// addWhole adds the join t as one source. If its LATERAL items refer to sources of f, it is read for each of their rows.
func (q *query) addWhole(f *from, t *parser.Join) []*expr.Column {
	in := fail.Must(q.appliedJoin(f, t))
	if in == nil {
		in = q.wholeJoin(t)
	}
	f.names = append(f.names, in.names...)
	s := *in.srcs[0]
	f.add(&s)
	star := make([]*expr.Column, len(in.star))
	for i, c := range in.star {
		star[i] = &expr.Column{Index: c.Index + s.offset, Name: c.Name, Typ: c.Typ, Limit: c.Limit}
	}
	return star
}

// appliedJoin plans the join t as a source that is read for each row of f's sources. It returns nil if t does not refer to
// them.
func (q *query) appliedJoin(f *from, t *parser.Join) (*from, error) {
	if len(f.visible()) == 0 || !holdsLateral(t) {
		return nil, nil
	}
	var first *from
	sub, of, err := q.correlated(f.visible(), nil, q.around(), parser.AllOf(t), func(in *query) (_ *plan.Plan, err error) {
		defer fail.Catch(&err)
		in.enclosing, in.outer, in.barred = in.outer, q.outer, q.barred // the LATERAL items see the earlier items' rows, the join's conditions do not
		in.top = in.plan
		g := in.wholeJoin(t)
		if first == nil { // later plans may be made by several goroutines
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

// around returns a function that resolves names for a LATERAL item of q that the previous sources do not have.
func (q *query) around() func(ref *parser.ColumnRef) (expr.Expr, error) {
	enclosing, barred := q.enclosing, q.barred
	if enclosing == nil {
		enclosing = q.outer
	}
	if barred == nil {
		return enclosing
	}
	return func(ref *parser.ColumnRef) (expr.Expr, error) {
		if x, err := findColumn(ref, barred); err != nil || x != nil {
			return nil, cmp.Or(err, error(parser.Errorf(ref.Pos, "invalid reference to FROM-clause entry: %s is on the other side of a RIGHT or FULL JOIN", ref).
				WithHint("LATERAL refers to the left side of an INNER or a LEFT JOIN")))
		}
		if enclosing == nil {
			return nil, nil
		}
		return enclosing(ref)
	}
}

// subquerySource returns the source for a query in FROM after the sources of f. If it is LATERAL and refers to them, it is
// planned for each of their rows.
func (q *query) subquerySource(f *from, t *parser.Subquery) *source {
	if !t.Lateral || !q.mayRefer(f) {
		return fail.Must(q.derived(t.Query, t.Alias, t.Columns, t.Alias, t.Pos))
	}
	if s := q.tiedSource(f, t); s != nil {
		return s
	}
	around := q.around()
	visible := frozen(f.visible())
	plans := func(conds []expr.Expr) (*plan.Subplan, []expr.Expr, error) {
		return q.correlated(visible, nil, around, t.Query, func(in *query) (*plan.Plan, error) {
			if len(conds) > 0 {
				in.narrow = &narrowing{conds: conds, done: make([]bool, len(conds))}
			}
			return in.finish(t.Query)
		})
	}
	sub, of := fail.Must2(plans(nil))
	if !sub.Closed && len(f.visible()) > 0 {
		if f.hidden[0] == f.hidden[1] {
			if s := q.batched(visible, t.Query, sub, of, t.Alias, t.Columns); s != nil && (!s.one || q.certain) {
				return s
			}
		}
		q.plan.Subplans = append(q.plan.Subplans, sub)
		cols := renamed(sub.Sample.Columns, t.Columns, t.Alias, t.Pos)
		return &source{name: t.Alias, cols: cols, lateral: sub, of: of, under: plans}
	}
	defer func(outer func(ref *parser.ColumnRef) (expr.Expr, error)) { q.outer = outer }(q.outer)
	q.outer = around
	return fail.Must(q.derived(t.Query, t.Alias, t.Columns, t.Alias, t.Pos))
}

// tiedSource returns the table of t, a LATERAL query that only selects, renames and filters columns of a table: then the rows of f's
// sources are joined with it. It returns nil if t is another query.
//
//	h, LATERAL (SELECT v FROM m WHERE m.host = h.host)      h, m WHERE m.host = h.host
func (q *query) tiedSource(f *from, t *parser.Subquery) *source {
	if q.joins || q.env.Options.NoRules || f.hidden[0] < f.hidden[1] || len(f.visible()) == 0 {
		return nil
	}
	srcs, around := frozen(f.visible()), q.around()
	in, asked := q.inside(), false
	in.plan, in.pull, in.ctes = &plan.Plan{}, q.pull, q.ctes
	in.outer = func(ref *parser.ColumnRef) (expr.Expr, error) {
		x, err := findColumn(ref, srcs)
		if x == nil && err == nil && around != nil {
			return around(ref)
		}
		if err != nil || x == nil {
			return nil, err
		}
		asked = true
		return moved(x, func(i int) int { return i + outerMark }), nil
	}
	s, err := in.pulled(t.Query, t.Alias, t.Columns, t.Pos)
	if err != nil || s == nil || !asked || s.table == nil || slices.ContainsFunc(s.view, func(v viewColumn) bool { return !within(v.of, 0, outerMark) }) {
		return nil
	}
	s.conds, s.ties = divided(s.conds, 0, outerMark)
	return s
}

// isQuery reports whether rowsOf makes the rows of t by a query. A function that returns one value makes one row.
func (q *query) isQuery(t *parser.TableFunction) bool {
	f := q.function(t.Name)
	if f == nil && memberValues[t.Name] == "" && pgcatalog.Find(t.Name+"()") == nil {
		f = q.env.Function(t.Name) // current_schema() and others of the catalog
	}
	return t.Name == "_PG_EXPANDARRAY" || memberValues[t.Name] != "" || f != nil && f.Group != "aggregate" && f.Group != "window"
}

// functionSource returns the source for a function in FROM; its arguments may refer to the previous sources.
func (q *query) functionSource(from *from, t *parser.TableFunction) *source {
	if s := q.listed(t); s != nil {
		return s
	}
	if record := q.populated(t); record != nil {
		return q.subquerySource(from, record)
	}
	if q.isQuery(t) {
		return q.subquerySource(from, &parser.Subquery{Pos: t.Pos, Lateral: true, Query: rowsOf(t), Alias: t.Called(), Columns: t.Columns})
	}
	s := q.virtual(t.Name+"()", t.Alias, false)
	if s == nil {
		err := parser.Errorf(t.Pos, "%s gives no rows: FROM takes tables, queries and functions, such as generate_series(from, to [, step])", t.Name)
		if hint := expr.Elsewhere(t.Name); hint != "" {
			err = err.WithHint("%s", hint)
		}
		panic(fail.With(err))
	}
	s.cols = renamed(s.cols, t.Columns, s.name, t.Pos)
	return s
}

// populated returns the query for json_populate_record(NULL::table, json) or json_populate_recordset: its columns are those of the
// table. It returns nil for other functions.
func (q *query) populated(t *parser.TableFunction) *parser.Subquery {
	if !strings.HasSuffix(strings.TrimSuffix(t.Name, "SET"), "_POPULATE_RECORD") || len(t.Args) != 2 || t.Ordinality {
		return nil
	}
	null, ok := t.Args[0].(*parser.Cast)
	if !ok || null.X.String() != "NULL" {
		return nil
	}
	of, ok := q.env.Catalog.Table(null.Type)
	if !ok {
		return nil
	}
	record := &parser.TableFunction{Pos: t.Pos, Name: strings.Replace(t.Name, "POPULATE", "TO", 1), Args: t.Args[1:], Alias: t.Called()}
	var list []string
	for i, c := range of.Columns {
		if !of.HiddenKey || i < len(of.Columns)-1 {
			record.Columns, list = append(record.Columns, c.Name), append(list, c.Type.String())
		}
	}
	out := fail.Must(record.Record(list))
	out.Columns = t.Columns
	return out
}

// apply joins n with source i of f, a query that runs for each row of n. It adds the conditions that can be checked on
// the joined rows: for a LEFT JOIN the join's, otherwise those in conds. rest are the remaining conditions of conds.
func (q *query) apply(f *from, n plan.Node, i int, conds []expr.Expr) (out *plan.Apply, rest []expr.Expr, err error) {
	s := f.srcs[i]
	on, rest := termsUpTo(conds, s)
	if f.outer[i] {
		on, rest = expr.Conjuncts(f.on[i]), conds
	}
	if own, _ := ownTerms(on, s); len(own) > 0 && s.under != nil && !q.env.Options.NoRules {
		was := s.lateral
		if s.lateral, s.of, err = s.under(own); err != nil {
			return nil, nil, err
		}
		s.under = nil // an attempt in another order has the same conditions
		q.plan.Subplans = append(slices.DeleteFunc(slices.Clone(q.plan.Subplans), func(sub *plan.Subplan) bool { return sub == was }), s.lateral)
	}
	out = &plan.Apply{Left: n, Query: s.lateral, Of: s.of, Outer: f.outer[i]}
	if c := expr.Conjunction(on); len(on) > 0 && !isAlways(c) {
		out.On = c
	}
	return out, rest, nil
}

// lateral reports whether a source of f depends on previous ones: then the sources stay in the order written.
func (f *from) lateral() bool {
	return slices.ContainsFunc(f.srcs, func(s *source) bool { return s.lateral != nil })
}
