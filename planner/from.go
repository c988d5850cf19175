package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// from holds the sources of FROM and their join conditions.
type from struct {
	srcs    []*source
	outer   []bool         // by source: it is joined by an outer join, so that its columns may be NULL
	swapped []bool         // by source: the join was written as a RIGHT JOIN
	on      []expr.Expr    // by source: the condition of its outer join
	conds   []expr.Expr    // the conditions of inner joins
	star    []*expr.Column // the columns of *, in the order written; incomplete with starless
	// starless is set while only joins with ON are added to a FROM whose * is not used.
	starless bool
	names    []string // the names of tables in all joins
	// computed are the columns of star with an index from viewMark on: they are expressions over the joined row instead of
	// columns of a table.
	computed []expr.Expr
	// hidden is the range of srcs to which LATERAL items may not refer: the right side of a RIGHT JOIN while its left side
	// is added.
	hidden [2]int
}

// from compiles FROM for a SELECT list.
func (q *query) from(list []parser.TableExpr, items []parser.SelectItem) (_ *from, err error) {
	defer fail.Catch(&err)
	f := &from{starless: !slices.ContainsFunc(items, func(it parser.SelectItem) bool { return it.Star })}
	for _, t := range list {
		f.star = append(f.star, q.addFrom(f, t)...)
	}
	for i, name := range f.names {
		if slices.ContainsFunc(f.names[:i], func(o string) bool { return strings.EqualFold(o, name) }) {
			if name == "" {
				return nil, parser.Errorf(list[0].Position(), "two queries in FROM have no names: give them aliases")
			}
			return nil, parser.Errorf(list[0].Position(), "two tables are called %q: give one an alias", name)
		}
	}
	return f, nil
}

func (f *from) width() int {
	if len(f.srcs) == 0 {
		return 0
	}
	last := f.srcs[len(f.srcs)-1]
	return last.offset + last.width()
}

// add appends a source, and returns the columns of it that * includes.
func (f *from) add(s *source) []*expr.Column {
	s.offset = f.width()
	f.srcs = append(f.srcs, s)
	f.outer = append(f.outer, false)
	f.swapped = append(f.swapped, false)
	f.on = append(f.on, nil)
	return f.seen(s)
}

// seen returns the columns of s, a source of f, that * includes.
func (f *from) seen(s *source) []*expr.Column {
	if f.starless {
		return nil
	}
	if s.view == nil {
		return s.shown()
	}
	var out []*expr.Column
	for _, v := range s.view {
		x := s.column(v, parser.NoPos)
		c, ok := x.(*expr.Column)
		if !ok {
			c = &expr.Column{Index: viewMark + len(f.computed), Name: v.name, Typ: x.Type()}
			f.computed = append(f.computed, x)
		}
		out = append(out, c)
	}
	return out
}

// shown returns the columns of s that * includes.
func (s *source) shown() []*expr.Column {
	all, out := make([]expr.Column, len(s.cols)), make([]*expr.Column, 0, len(s.cols))
	for i, c := range s.cols {
		if !c.Hidden {
			all[i] = expr.Column{Index: s.offset + i, Name: c.Name, Typ: c.Type, Limit: c.Limit}
			out = append(out, &all[i])
		}
	}
	return out
}

// shown returns the columns that table.* includes.
func (f *from) shown(table string) []*expr.Column {
	var out []*expr.Column
	for _, s := range f.srcs {
		for _, c := range f.seen(s) {
			at := c.Index - s.offset
			if c.Index >= viewMark {
				at = len(s.cols)
			}
			if s.has(at, table) {
				out = append(out, c)
			}
		}
	}
	return out
}

// addFrom adds t's sources and conditions, and returns the columns of t that * includes.
func (q *query) addFrom(f *from, t parser.TableExpr) []*expr.Column {
	switch t := t.(type) {
	case *parser.TableName:
		s := q.named(t)
		f.names = append(f.names, s.name)
		return f.add(s)
	case *parser.Subquery:
		s := q.subquerySource(f, t)
		f.names = append(f.names, t.Alias)
		star := f.add(s)
		var ties []expr.Expr
		for _, c := range s.ties {
			ties = append(ties, unmarked(c, s.offset))
		}
		if last := len(f.srcs) - 1; s.one {
			f.outer[last], f.on[last] = true, expr.Conjunction(ties)
		} else {
			f.conds = append(f.conds, ties...)
		}
		return star
	case *parser.TableFunction:
		s := q.functionSource(f, t)
		f.names = append(f.names, s.name)
		return f.add(s)
	case *parser.Join:
		if t.Kind == parser.FullJoin {
			return q.addWhole(f, t)
		}
		return q.join(f, t)
	}
	panic(fmt.Sprintf("planner: unknown table expression %T", t))
}

// join adds the sides of a join that is not FULL. A RIGHT JOIN becomes a LEFT JOIN with exchanged sides.
func (q *query) join(f *from, t *parser.Join) []*expr.Column {
	first, second := t.Left, t.Right
	if t.Kind == parser.RightJoin {
		first, second = second, first
	}
	defer func(pull pulling) { q.pull = pull }(q.pull)
	if t.Using != nil || t.Natural {
		q.pull = max(q.pull, pullPlain)
		defer func(starless bool) { f.starless = starless }(f.starless)
		f.starless = false
	}
	before := len(f.srcs)
	stars := q.addFirst(f, t, first)
	middle := len(f.srcs)
	add := q.addFrom
	if t.Kind == parser.RightJoin {
		defer func(hidden [2]int) { f.hidden = hidden }(f.hidden)
		f.hidden = [2]int{before, middle}
	}
	defer func(certain bool) { q.certain = certain }(q.certain)
	if q.certain = q.pull == pullAny; t.Kind != parser.InnerJoin && t.Kind != parser.CrossJoin {
		l, ok := t.On.(*parser.Literal)
		q.certain = q.certain && ok && l.Text == "true"
		add, q.pull = q.addOne, max(q.pull, pullPlain)
	}
	untied := len(f.conds)
	more := add(f, second)
	a, b := side{f.srcs[before:middle], stars}, side{f.srcs[middle:], more}
	if t.Kind == parser.RightJoin {
		a, b = b, a
	}
	on, shared := q.condition(t, a, b)
	var kept []*expr.Column
	for _, p := range shared { // the merged column is that of the side that has all of its rows
		keep, drop := p[0], p[1]
		if t.Kind == parser.RightJoin {
			keep, drop = drop, keep
		}
		kept = append(kept, keep)
		merge(f.srcs, drop.Index)
	}
	switch {
	case f.srcs[middle].one && t.Kind == parser.LeftJoin: // it has a row for each
	case t.Kind == parser.LeftJoin || t.Kind == parser.RightJoin:
		f.srcs[middle].missing = !isAlways(on) || !q.hasRow(second)
		on = expr.Conjunction(append(slices.Clone(f.conds[untied:]), expr.Conjuncts(on)...))
		f.outer[middle], f.swapped[middle], f.on[middle], f.conds = true, t.Kind == parser.RightJoin, on, f.conds[:untied]
	case !isAlways(on):
		f.conds = append(f.conds, expr.Conjuncts(on)...)
	}
	return append(kept, unshared(append(slices.Clone(a.star), b.star...), shared)...)
}

// hasRow reports whether t is a query of aggregates without groups, which always has a row.
func (q *query) hasRow(t parser.TableExpr) bool {
	s, ok := t.(*parser.Subquery)
	if !ok || len(s.Query.Cores) > 1 || s.Query.Limit != nil || s.Query.Offset != nil {
		return false
	}
	c, of := s.Query.Cores[0], &plan.Subplan{}
	return q.plainOf(c.Items, of) && of.Aggregated && c.Having == nil && len(c.GroupBy) == 0
}

// merge makes the column at index of the joined row accessible only with its table's name.
func merge(srcs []*source, index int) {
	for _, s := range srcs {
		if i := index - s.offset; i >= 0 && i < s.width() {
			if s.merged == nil {
				s.merged = make([]bool, s.width())
			}
			s.merged[i] = true
		}
	}
}

// side is one side of a join, with the columns that * includes.
type side struct {
	srcs []*source
	star []*expr.Column
}

// condition compiles the condition of a join of a and b, and returns the pairs of columns that USING or NATURAL merges.
func (q *query) condition(t *parser.Join, a, b side) (on expr.Expr, shared [][2]*expr.Column) {
	names := t.Using
	if t.Natural {
		for _, c := range a.star {
			if slices.ContainsFunc(b.star, func(d *expr.Column) bool { return strings.EqualFold(c.Name, d.Name) }) {
				names = append(names, c.Name)
			}
		}
	}
	var terms []expr.Expr
	if t.On != nil {
		return fail.Must(expr.CompileCondition(t.On, q.scope(append(slices.Clone(a.srcs), b.srcs...)))), nil
	}
	for _, name := range names {
		var p [2]*expr.Column
		for i, s := range []side{a, b} {
			ref := &parser.ColumnRef{Pos: t.Pos, Name: name}
			x := fail.Must(findColumn(ref, s.srcs))
			if x == nil {
				panic(fail.With(unknownColumn(ref, s.srcs)))
			}
			p[i] = x.(*expr.Column) // see pullPlain
		}
		eq := fail.Must(expr.Equal(p[0], p[1], q.scope(nil), t.Pos))
		terms, shared = append(terms, eq), append(shared, p)
	}
	return expr.Conjunction(terms), shared
}

// isAlways reports whether e is the constant TRUE.
func isAlways(e expr.Expr) bool {
	k, ok := e.(*expr.Const)
	return ok && !k.Val.IsNull() && k.Val.Bool()
}

// unshared removes the merged columns from star.
func unshared(star []*expr.Column, shared [][2]*expr.Column) []*expr.Column {
	return slices.DeleteFunc(star, func(c *expr.Column) bool {
		return slices.ContainsFunc(shared, func(p [2]*expr.Column) bool { return c.Index == p[0].Index || c.Index == p[1].Index })
	})
}

// addOne adds t as one source: a join is read completely.
func (q *query) addOne(f *from, t parser.TableExpr) []*expr.Column {
	if j, ok := t.(*parser.Join); ok {
		return q.addWhole(f, j)
	}
	return q.addFrom(f, t)
}

// wholeJoin plans the join t as one source, which returns all columns of its tables.
func (q *query) wholeJoin(t *parser.Join) *from {
	out := &from{}
	defer func(pull pulling) { q.pull = pull }(q.pull)
	q.pull = pullNone
	if t.Kind == parser.FullJoin {
		q.fullJoin(out, t)
		return out
	}
	in := &from{}
	star := q.addFrom(in, t)
	node := q.whole(in)
	out.names = in.names
	out.addJoined(in.srcs, node, star)
	return out
}

// whole plans the reading of all columns of f.
func (q *query) whole(f *from) plan.Node {
	node, _ := fail.Must2(q.joined(f, f.conds, slices.Repeat([]bool{true}, f.width()), accessOrder{}, hints{}))
	return node
}

// addJoined makes node, which reads the join of srcs, the only source of f. The columns in more belong to no table.
func (f *from) addJoined(srcs []*source, node plan.Node, star []*expr.Column, more ...plan.OutputColumn) {
	out := &source{node: node}
	for _, s := range srcs {
		for i, c := range s.cols {
			out.cols = append(out.cols, c)
			name := s.name
			if s.names != nil {
				name = s.names[i]
			}
			out.names = append(out.names, name)
			out.merged = append(out.merged, s.merged != nil && s.merged[i])
		}
	}
	for _, c := range more {
		out.cols, out.names, out.merged = append(out.cols, c), append(out.names, ""), append(out.merged, false)
	}
	f.add(out)
	f.star = star
}

// fullJoin makes a FULL JOIN the only source of f: the rows of neither side depend on those of the other.
func (q *query) fullJoin(f *from, t *parser.Join) {
	l, r := &from{}, &from{}
	ls := q.addFrom(l, t.Left)
	rs := q.addBarred(r, t.Right, l.srcs)
	of := &full{sides: [2]*from{l, r}}
	for i, side := range of.sides {
		of.nodes[i] = q.whole(side)
	}
	offset := l.width()
	for i, c := range rs {
		rs[i] = &expr.Column{Index: c.Index + offset, Name: c.Name, Typ: c.Typ}
	}
	for _, s := range r.srcs {
		s.offset += offset
	}
	srcs := append(slices.Clone(l.srcs), r.srcs...)
	on, shared := q.condition(t, side{l.srcs, ls}, side{r.srcs, rs})
	of.on, of.shared, of.cols = expr.Conjuncts(on), shared, append(l.cols(), r.cols()...)
	var star []*expr.Column
	for _, c := range shared {
		merge(srcs, c[0].Index)
		merge(srcs, c[1].Index)
		either := fail.Must(expr.Coalesce(c[0], c[1], q.scope(nil), t.Pos))
		star = append(star, &expr.Column{Index: len(of.cols), Name: c[0].Name, Typ: either.Type()})
		of.merged, of.cols = append(of.merged, either), append(of.cols, plan.OutputColumn{Name: c[0].Name, Type: either.Type()})
	}
	star = append(star, unshared(append(slices.Clone(ls), rs...), shared)...)
	f.names = append(l.names, r.names...)
	f.addJoined(srcs, of.join(of.nodes), star, of.cols[of.width():]...)
	if !l.lateral() && !r.lateral() && !q.env.Options.NoRules {
		s := f.srcs[len(f.srcs)-1]
		s.again, s.first = of.again, of.first
	}
}
