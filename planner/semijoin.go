package planner

import (
	"errors"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// A conjunct of the WHERE that runs a query for each row, such as EXISTS, IN and their negations, becomes a join with the
// rows of the query, if equalities connect these with the row:
//
//	EXISTS      a semi-join: a row stays if it has a match
//	NOT EXISTS  an anti-join: a row stays if it has none
//	IN          EXISTS, with x = y among the conditions
//	NOT IN      NOT EXISTS; if a side may be NULL, with (x = y) IS NOT FALSE, so that rows with an unknown result are dropped
//
// If the rows of the query bind the key of the row's table, and the row does not bind the query's, the query runs once, and
// EXISTS becomes an IN of its values. More than maxListed values become rows of FROM, which are joined: a join may read a
// table whole where look-ups would cost more.

// errNotTied is the reason why a query does not become a join.
var errNotTied = errors.New("not a join")

// outerMark is the index from which on a column represents a column of the outer row, while the query is compiled.
const outerMark = 1 << 28

// unmarked returns e with the columns of the outer row in their places, and those of the query by width behind.
func unmarked(e expr.Expr, width int) expr.Expr {
	return moved(e, func(i int) int {
		if i >= outerMark {
			return i - outerMark
		}
		return i + width
	})
}

// semi is a semi-join or anti-join of the rows of a block with the rows of a query.
type semi struct {
	of    *expr.Subquery // the expression that it replaces
	in    *query         // plans the query
	from  *from
	own   []expr.Expr // conditions on the query's rows
	on    []expr.Expr // conditions on a row of the block, followed by one of the query
	used  []bool      // by column of the query's rows: it is read above the tables
	semis []*semi     // those in the query's own conditions
	hints hints
}

// semis returns the semi-joins and anti-joins that replace conjuncts in conds, conditions on the rows of f, and the other
// conjuncts. whole reports that all rows for which the conjuncts are true will be read.
func (q *query) semis(f *from, conds []expr.Expr, whole bool) (out []*semi, rest []expr.Expr, err error) {
	if q.outer != nil && !q.joins || q.env.Options.NoRules {
		return nil, conds, nil // the query runs for each row of another one, and reads few rows
	}
	width, moved := f.width(), false
	for i, c := range conds {
		of, _ := c.(*expr.Subquery)
		var m *semi
		var in expr.Expr
		if of != nil && of.Kind != expr.ScalarSubquery && of.Op == expr.EQ {
			if !of.Query.(*plan.Subplan).Closed {
				m = q.semi(f, of)
			} else if whole && of.Kind == expr.InSubquery && !of.Not && !q.pieces {
				in, err = q.amongRows(f, conds, of)
			}
		}
		if m != nil {
			in, err = q.driven(f, conds, m)
		} else if in == nil && err == nil {
			of, in, err = q.latest(f, conds, c)
		}
		if err != nil {
			return nil, nil, err
		}
		if m == nil && in == nil {
			if moved {
				rest = append(rest, c)
			}
			continue
		}
		if !moved {
			rest, moved = slices.Clone(conds[:i]), true
		}
		q.plan.Subplans = slices.DeleteFunc(q.plan.Subplans, func(sub *plan.Subplan) bool { return sub == of.Query })
		if in != nil {
			rest = append(rest, expr.Conjuncts(in)...)
			continue
		}
		q.needs(m.in.plan.Subplans...)
		out = append(out, m)
	}
	if !moved {
		rest = conds
	}
	for i := 0; i < len(out) && width < f.width(); i++ { // the rows of f are wider now
		out[i] = q.semi(f, out[i].of)
	}
	return out, rest, nil
}

// tied returns the core of s if the distinct rows of s are those of its FROM and WHERE, or for EXISTS if it has rows when
// these have; otherwise nil.
func (q *query) tied(s *parser.Select, kind expr.SubqueryKind) *parser.SelectCore {
	c := s.Cores[0]
	if len(s.Cores) > 1 || len(s.With) > 0 || s.Offset != nil || c.Values != nil || c.Query != nil || c.Having != nil || len(c.On)+len(c.Windows) > 0 || slices.ContainsFunc(c.GroupBy, isSets) {
		return nil
	}
	if n, err := q.count(s.Limit, "LIMIT"); err != nil || n.Set && (kind != expr.ExistsSubquery || n.Rows == 0) {
		return nil
	}
	of := &plan.Subplan{}
	if !q.plainOf(c.Items, of) || of.Aggregated && (kind != expr.ExistsSubquery || len(c.GroupBy) == 0) || !q.rowwise(c.Where) {
		return nil
	}
	return c
}

// rowwise reports whether e depends only on the row.
func (q *query) rowwise(e parser.Expr) bool {
	return !parser.Some(e, func(x parser.Expr) bool {
		c, call := x.(*parser.Call)
		return call && (c.Over != nil || aggregate(c.Name) != nil || q.volatile(c.Name))
	})
}

// semi returns a join of the rows of f with the rows of s's query; nil if that is not possible.
func (q *query) semi(f *from, s *expr.Subquery) *semi {
	core := q.tied(s.Query.(*plan.Subplan).Select, s.Kind)
	if core == nil {
		return nil
	}
	srcs, asked, beyond := frozen(f.srcs), false, false
	in := q.inside()
	in.level, in.plan, in.layout, in.joins = in.level+1, &plan.Plan{}, "", true
	in.outer = func(ref *parser.ColumnRef) (expr.Expr, error) {
		asked = true
		x, err := findColumn(ref, srcs)
		if x == nil && err == nil && q.outer != nil {
			x, err = q.outer(ref)
			beyond = beyond || x != nil && len(expr.Columns(x)) > 0
			return x, err
		}
		if err != nil || x == nil {
			return nil, err
		}
		return moved(x, func(i int) int { return i + outerMark }), nil
	}
	inner, err := in.from(core.From, core.Items)
	if err != nil || asked || len(inner.srcs) == 0 || inner.lateral() || slices.ContainsFunc(inner.srcs, func(s *source) bool { return s.step }) {
		return nil
	}
	m := &semi{of: s, in: in, from: inner}
	if m.hints, err = readHints(core.Hints); err != nil {
		return nil
	}
	conds, err := m.conditions(f, core)
	if err != nil || beyond {
		return nil
	}
	width := f.width()
	m.own, conds = divided(conds, 0, outerMark)
	for _, c := range conds {
		m.on = append(m.on, unmarked(c, width))
	}
	if len(newJoin(nil, nil, false, m.on, width).LeftKeys) == 0 {
		return nil
	}
	if m.semis, m.own, err = in.semis(inner, m.own, false); err != nil || beyond {
		return nil
	}
	m.usage(width)
	return m
}

// conditions compiles the conditions on a row of the block, whose FROM is f, followed by a row of the query.
func (m *semi) conditions(f *from, core *parser.SelectCore) (_ []expr.Expr, err error) {
	defer fail.Catch(&err)
	s, scope, conds := m.of, m.in.scope(m.from.srcs), slices.Clone(m.from.conds)
	for _, c := range conjunctsOf(core.Where) { // one by one: FALSE must not hide the equalities, as the query may be planned for them
		w := fail.Must(expr.CompileCondition(c, scope))
		conds = append(conds, expr.Conjuncts(expr.Fold(w, m.in.env.Loc))...)
	}
	if s.Kind != expr.InSubquery {
		return conds, nil
	}
	outs := m.in.items(core, m.from, scope)
	var same []expr.Expr
	null := false
	for i, x := range s.X {
		if _, column := x.(*expr.Column); !column { // it may fail, and must not be computed if the query has no row
			return nil, errNotTied
		}
		e := fail.Must(expr.Equal(moved(x, func(i int) int { return i + outerMark }), outs[i].expr, scope, s.Pos))
		same = append(same, e)
		null = null || !f.neverNull(x) || !m.from.neverNull(outs[i].expr)
	}
	if !s.Not || !null {
		return append(conds, same...), nil
	}
	all := expr.Conjunction(same)
	return append(conds, &expr.Or{Terms: []expr.Expr{all, &expr.IsNull{Pos: s.Pos, X: all}}}), nil
}

// neverNull reports whether e is a key column that is not NULL in any row of f.
func (f *from) neverNull(e expr.Expr) bool {
	c, ok := e.(*expr.Column)
	if !ok {
		return false
	}
	of := f.sourceOf(c)
	if of < 0 || f.outer[of] || f.srcs[of].table == nil {
		return false
	}
	cols, i := f.srcs[of].table.Columns, c.Index-f.srcs[of].offset
	return i < len(cols) && cols[i].KeyPart && !cols[i].NullKey
}

// usage marks the columns of the query's rows that are read above its tables. In the rows of the join they follow width
// other columns.
func (m *semi) usage(width int) {
	m.used = make([]bool, m.from.width())
	for _, c := range m.on {
		for _, i := range expr.Columns(c) {
			if i >= width {
				m.used[i-width] = true
			}
		}
	}
	for _, n := range m.semis {
		n.markLeft(m.used)
	}
	if len(m.from.srcs) > 1 {
		mark(m.used, m.own...)
		for _, x := range m.from.on {
			if x != nil {
				mark(m.used, x)
			}
		}
	}
}

// markLeft marks the columns of the block's rows that m reads.
func (m *semi) markLeft(used []bool) {
	mark(used, m.on...)
	mark(used, m.of)
}

// node plans the reading of the query's rows.
func (m *semi) node() (plan.Node, error) {
	n, _, err := m.in.joined(m.from, m.own, m.used, accessOrder{}, m.hints)
	if err != nil {
		return nil, err
	}
	n, _, err = semiJoined(n, m.semis)
	return n, err
}

// join returns a node that keeps the rows of left with a match, or those without one.
func (m *semi) join(left plan.Node) (*plan.Join, error) {
	right, err := m.node()
	if err != nil {
		return nil, err
	}
	j := newJoin(left, right, false, m.on, left.Width())
	j.Semi, j.Anti, j.Each = true, m.of.Not, m.of
	if len(m.from.srcs) == 1 && len(m.semis) == 0 {
		err = m.in.lookup(j, m.from.srcs[0], m.own, m.used, m.hints)
	}
	return j, err
}

// semiJoined applies the semi-joins of list to n. ordered reports whether the rows stay in order: a hash join may change
// it.
func semiJoined(n plan.Node, list []*semi) (out plan.Node, ordered bool, err error) {
	ordered = true
	for _, m := range list {
		j, err := m.join(n)
		if err != nil {
			return nil, false, err
		}
		n, ordered = j, ordered && j.Lookup != nil
	}
	return n, ordered, nil
}

// driven returns a condition that replaces the semi-join m: the row is IN the query, which then runs only once. It does
// so if the condition binds the key of the row's table. If a table of the query could be read by key only with the
// row's values, the query must have few rows. driven returns nil if m should stay.
func (q *query) driven(f *from, conds []expr.Expr, m *semi) (expr.Expr, error) {
	j, err := m.join(&plan.Values{Rows: [][]expr.Expr{{}}, N: f.width()})
	if err != nil || m.of.Not || j.On != nil || q.pieces {
		return nil, err
	}
	few := j.Lookup != nil && reads(j.Lookup.Whole).Wide()
	reach := q.reach(f, conds, m.hints)
	for i := range f.srcs {
		if few && !mayList(reads(j.Lookup.Whole), reach(i, nil)) {
			return nil, nil
		}
	}
	if !q.drives(f, conds, j, m.hints) {
		return nil, nil
	}
	keys := j.RightKeys
	sub := &plan.Subplan{Select: m.of.Query.(*plan.Subplan).Select, Closed: true, Among: true, Cut: few, Width: len(keys), Text: expr.Texts(keys) + " of " + m.of.Text}
	around := q.inside() // the same names are visible
	sub.Plan = func([]types.Value) (*plan.Plan, error) {
		again := around.semi(f, m.of)
		if again == nil {
			return nil, parser.Errorf(m.of.Pos, "internal error: the query cannot be planned again")
		}
		return again.alone(keys, few)
	}
	if sub.Sample, err = m.alone(keys, few); err != nil {
		return nil, err
	}
	return q.among(f, j, sub, m.of, few)
}

// amongRows returns a condition that replaces s, an IN of a query that does not depend on the row, if the rows of the query
// bind the key of the row's table; otherwise nil.
func (q *query) amongRows(f *from, conds []expr.Expr, s *expr.Subquery) (expr.Expr, error) {
	j, sub := &plan.Join{LeftKeys: s.X}, *s.Query.(*plan.Subplan)
	for i, t := range s.Types {
		if x := s.X[i].Type(); x != t && !(x.IsInteger() && t.IsInteger()) {
			return nil, nil
		}
		j.RightKeys = append(j.RightKeys, &expr.Column{Index: i, Name: sub.Sample.Columns[i].Name, Typ: t})
	}
	if !q.drives(f, conds, j, hints{}) {
		return nil, nil
	}
	sub.Among = true
	return q.among(f, j, &sub, s, false)
}

// among returns the condition that the left keys of j are in the rows of sub, which runs once and replaces the
// sub-query (of). The columns of sub are the right keys of j. If few is set, among returns nil if sub has more rows
// than a list may have.
func (q *query) among(f *from, j *plan.Join, sub *plan.Subplan, of *expr.Subquery, few bool) (expr.Expr, error) {
	node := expr.Subquery{Pos: of.Pos, Kind: expr.InSubquery, X: j.LeftKeys, Text: of.Text}
	for _, k := range j.RightKeys {
		node.Types = append(node.Types, k.Type())
	}
	if few {
		return q.limited(sub, node)
	}
	if q.env.Subqueries != nil && q.outer == nil && q.top != nil { // the reads of UPDATE and DELETE are no joins
		if rows, ok := q.env.Subqueries(sub); ok && rows.Len() > maxListed {
			return f.addRows(j, rows), nil
		}
	}
	return q.answered(sub, node)
}

// addRows adds the distinct rows as a source, and returns the condition that the left keys of j are equal to them.
func (f *from) addRows(j *plan.Join, rows *plan.Set) expr.Expr {
	var on []expr.Expr
	s := &source{node: &plan.Values{N: len(j.LeftKeys), Set: rows}}
	for i, k := range j.RightKeys {
		s.cols = append(s.cols, plan.OutputColumn{Name: "(" + k.String() + ")", Type: k.Type()})
		on = append(on, &expr.Compare{Pos: k.Position(), Op: expr.EQ, X: j.LeftKeys[i], Y: &expr.Column{Index: f.width() + i, Name: s.cols[i].Name, Typ: k.Type()}})
	}
	f.add(s)
	return expr.Conjunction(on)
}

// alone plans the query of m, without the rows that it is joined with, to return the values of keys. If few is set,
// atMostListed limits it.
func (m *semi) alone(keys []expr.Expr, few bool) (*plan.Plan, error) {
	n, err := m.node()
	if err != nil {
		return nil, err
	}
	p := &plan.Plan{Root: &plan.Project{Input: n, Exprs: keys}, Subplans: m.in.plan.Subplans}
	if few {
		p.Root = atMostListed(p.Root)
	}
	for _, k := range keys {
		p.Columns = append(p.Columns, plan.OutputColumn{Type: k.Type()})
	}
	return p, nil
}

// drives reports whether values for the left keys of j bind the key of a table of f that conds do not bind.
func (q *query) drives(f *from, conds []expr.Expr, j *plan.Join, h hints) bool {
	i := slices.IndexFunc(f.srcs, func(s *source) bool {
		return !slices.ContainsFunc(j.LeftKeys, func(k expr.Expr) bool { return !within(k, s.offset, s.offset+s.width()) })
	})
	if i < 0 || f.outer[i] {
		return false
	}
	s := f.srcs[i]
	if s.table == nil {
		return len(j.LeftKeys) == 1 && q.takes(s, j.LeftKeys[0])
	}
	if !q.reach(f, conds, h)(i, nil).Wide() {
		return false
	}
	for n := range sampleValues {
		given := slices.Clip(conds)
		for _, k := range j.LeftKeys {
			given = append(given, &expr.Compare{Op: expr.EQ, X: k, Y: &expr.Const{Val: sampleValue(k.Type(), n), Typ: k.Type()}})
		}
		if !q.reach(f, given, h)(i, nil).Wide() {
			return true
		}
	}
	return false
}
