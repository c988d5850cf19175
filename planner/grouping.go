package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// grouping is a GROUP BY.
type grouping struct {
	by []expr.Expr
	// sets are the grouping sets as lists of indexes in by; nil: rows are grouped by all expressions.
	sets    [][]int
	written []parser.Expr // of sets: the expressions as written; nil for columns of *
	outs    []expr.Expr   // of sets: for each of by, the result column that it is, by name, by number or by equal text; nil if none
	aggs    *aggregates
}

// PostgreSQL's limits.
const (
	maxGroupingSets = 4096
	maxCube         = 12
	maxGroupingArgs = 31
)

// grouping compiles GROUP BY.
func (q *query) grouping(c *parser.SelectCore, outs []output, aggs *aggregates) *grouping {
	g := &grouping{aggs: aggs}
	if !slices.ContainsFunc(c.GroupBy, isSets) {
		for _, e := range c.GroupBy {
			x, _ := q.group(e, outs, aggs.srcs)
			g.by = append(g.by, x)
		}
		g.marked()
		return g
	}
	g.sets = [][]int{{}}
	for _, term := range c.GroupBy {
		sets := g.setsOf(term, outs)
		if len(g.sets)*len(sets) > maxGroupingSets {
			panic(fail.With(tooManySets(term.Position())))
		}
		var product [][]int
		for _, a := range g.sets {
			for _, b := range sets {
				product = append(product, union(a, b))
			}
		}
		g.sets = product
	}
	if c.GroupOnce {
		slices.SortFunc(g.sets, slices.Compare)
		g.sets = slices.CompactFunc(g.sets, slices.Equal)
	}
	if len(g.sets) == 1 {
		g.sets = nil // every set contains all expressions
		g.marked()
		return g
	}
	for _, x := range g.by {
		if _, constant := x.(*expr.Const); constant { // a constant would have to be NULL in some rows, but SELECT replaces it by its value
			panic(fail.With(parser.Errorf(x.Position(), "GROUPING SETS, ROLLUP and CUBE take no constants")))
		}
	}
	g.marked()
	return g
}

// isSets reports whether a term of GROUP BY contains several expressions.
func isSets(e parser.Expr) bool {
	_, sets := e.(*parser.GroupingSets)
	_, tuple := e.(*parser.Tuple)
	return sets || tuple
}

func tooManySets(pos parser.Pos) error {
	return parser.Errorf(pos, "more than %d grouping sets", maxGroupingSets)
}

// union returns the union of two lists of indexes, sorted.
func union(a, b []int) []int {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// setsOf returns the grouping sets of one term of GROUP BY.
func (g *grouping) setsOf(e parser.Expr, outs []output) [][]int {
	s, ok := e.(*parser.GroupingSets)
	if !ok {
		return [][]int{g.set(e, outs)}
	}
	var out [][]int
	if s.Kind == "GROUPING SETS" {
		for _, item := range s.Items {
			sets := g.setsOf(item, outs)
			if out = append(out, sets...); len(out) > maxGroupingSets {
				panic(fail.With(tooManySets(s.Pos)))
			}
		}
		return out
	}
	if s.Kind == "CUBE" && len(s.Items) > maxCube || len(s.Items) >= maxGroupingSets {
		panic(fail.With(tooManySets(s.Pos)))
	}
	out = [][]int{{}}
	for _, item := range s.Items {
		set := g.set(item, outs)
		longer := out[len(out)-1:] // ROLLUP extends only the longest set, CUBE extends every set
		if s.Kind == "CUBE" {
			longer = out
		}
		for _, o := range longer {
			out = append(out, union(o, set))
		}
	}
	slices.Reverse(out)
	return out
}

// set returns the expressions of one item as indexes.
func (g *grouping) set(e parser.Expr, outs []output) (set []int) {
	if t, ok := e.(*parser.Tuple); ok {
		for _, x := range t.Items {
			set = union(set, g.set(x, outs))
		}
		return set
	}
	x, out := g.aggs.q.group(e, outs, g.aggs.srcs)
	written := e
	if out == nil {
		out = resultOf(x, e, outs)
	}
	var of expr.Expr
	if out != nil {
		of, written = out.expr, out.written
	}
	for i, by := range g.by {
		switch {
		case !expr.Same(by, x):
		case of != nil && g.outs[i] != nil && of != g.outs[i]: // two result columns, which are NULL in the rows of other sets
			continue
		case sameText(written, g.written[i]):
			return []int{i}
		}
		// An expression in SELECT that equals both by and x could get the value of the wrong one, which may be NULL.
		if expr.Same(by, x) || by.Type() == types.Boolean && x.Type() == types.Boolean && expr.Same(expr.Negate(x), by) {
			panic(fail.With(parser.Errorf(e.Position(), "%s is equivalent to another expression of GROUP BY: GROUPING SETS, ROLLUP and CUBE do not support this", e)))
		}
	}
	g.by, g.written, g.outs = append(g.by, x), append(g.written, written), append(g.outs, of)
	return []int{len(g.by) - 1}
}

// resultOf returns the first result column that equals x, which is written as e, or nil.
func resultOf(x expr.Expr, e parser.Expr, outs []output) *output {
	i := slices.IndexFunc(outs, func(o output) bool { return expr.Same(o.expr, x) && sameText(o.written, e) })
	if i < 0 {
		return nil
	}
	return &outs[i]
}

// sameText reports whether two equal expressions are also written alike.
func sameText(a, b parser.Expr) bool {
	_, plainA := a.(*parser.ColumnRef)
	_, plainB := b.(*parser.ColumnRef)
	return (plainA || a == nil) && (plainB || b == nil) || a != nil && b != nil && a.String() == b.String()
}

// determined replaces in e the columns that the groups determine, by ANY_VALUE: those of a table all of whose key is in
// GROUP BY. As in PostgreSQL, these need not be in GROUP BY themselves.
func (g *grouping) determined(e expr.Expr) expr.Expr {
	return expr.MapColumns(e, func(c *expr.Column) expr.Expr {
		if c.Index >= groupingMark || g.index(c) >= 0 {
			return c
		}
		i := slices.IndexFunc(g.aggs.srcs, func(s *source) bool { return c.Index >= s.offset && c.Index < s.offset+len(s.cols) })
		if i < 0 || !g.hasKey(g.aggs.srcs[i]) {
			return c
		}
		text := "ANY_VALUE(" + (&parser.ColumnRef{Table: g.aggs.srcs[i].name, Name: c.Name}).String() + ")"
		at := slices.Index(g.aggs.texts, text)
		if at < 0 {
			at = len(g.aggs.calls)
			g.aggs.calls, g.aggs.texts = append(g.aggs.calls, plan.AggCall{Func: "ANY_VALUE", Arg: c, Typ: c.Typ}), append(g.aggs.texts, text)
		}
		return g.aggs.ref(at, c.Pos)
	})
}

// hasKey reports whether the expressions of GROUP BY determine a row of s: they have all columns from which the place of
// the row is computed.
func (g *grouping) hasKey(s *source) bool {
	if s.table == nil || s.system != nil || s.table.Layouts[0].Key.Drawn() != nil {
		return false
	}
	for _, at := range s.table.Layouts[0].PlaceColumns() {
		if !slices.ContainsFunc(g.by, func(by expr.Expr) bool { c, ok := by.(*expr.Column); return ok && c.Index == s.offset+at }) {
			return false
		}
	}
	return true
}

func (g *grouping) index(x expr.Expr) int {
	return slices.IndexFunc(g.by, func(by expr.Expr) bool { return expr.Same(by, x) })
}

// grouping compiles a call of GROUPING to a column with an index from groupingMark on.
func (a *aggregates) grouping(c *parser.Call) expr.Expr {
	switch {
	case a.inside:
		panic(fail.With(parser.Errorf(c.Pos, "GROUPING cannot be used inside an aggregate")))
	case c.Star || c.Distinct || c.Within || c.OrderBy != nil || c.Filter != nil || c.Over != nil:
		panic(fail.With(parser.Errorf(c.Pos, "GROUPING takes expressions of GROUP BY alone")))
	case len(c.Args) == 0 || len(c.Args) > maxGroupingArgs:
		panic(fail.With(parser.Errorf(c.Pos, "GROUPING takes 1 to %d arguments, not %d", maxGroupingArgs, len(c.Args))))
	}
	args := fail.Must(expr.CompileAll(c.Args, a.rows))
	at := slices.IndexFunc(a.marks, func(o []expr.Expr) bool { return sameAll(o, args) })
	if at < 0 {
		at = len(a.marks)
		a.groupings, a.marks = append(a.groupings, c), append(a.marks, args)
	}
	return &expr.Column{Pos: c.Pos, Index: groupingMark + at, Name: c.String(), Typ: types.Int}
}

// marked returns an error if an argument of GROUPING is not in GROUP BY.
func (g *grouping) marked() {
	for i, args := range g.aggs.marks {
		for k, x := range args {
			if g.index(x) < 0 {
				panic(fail.With(parser.Errorf(g.aggs.groupings[i].Args[k].Position(), "GROUPING takes expressions of GROUP BY, which %s is not", g.aggs.groupings[i].Args[k])))
			}
		}
	}
}

// width returns the number of values before the aggregates in the Aggregate's rows.
func (g *grouping) width() int {
	if g.sets == nil {
		return len(g.by)
	}
	return len(g.by) + 1 + len(g.aggs.marks)
}

// over returns a node that groups n's rows.
func (g *grouping) over(n plan.Node, ordered bool) *plan.Aggregate {
	if g.sets == nil {
		return &plan.Aggregate{Input: n, GroupBy: g.by, Aggs: g.aggs.calls, Ordered: ordered}
	}
	e := &plan.Expand{Input: n, GroupBy: g.by}
	out := &plan.Aggregate{Input: e, Aggs: g.aggs.calls}
	for number, set := range g.sets {
		s := plan.GroupingSet{Has: make([]bool, len(g.by)), Marks: []types.Value{types.NewInt(int64(number))}}
		for _, i := range set {
			s.Has[i] = true
		}
		for _, args := range g.aggs.marks {
			mask := int64(0)
			for _, x := range args {
				if mask <<= 1; !s.Has[g.index(x)] {
					mask |= 1
				}
			}
			s.Marks = append(s.Marks, types.NewInt(mask))
		}
		if len(set) == 0 {
			out.Totals = append(out.Totals, append(make([]types.Value, len(g.by)), s.Marks...))
		}
		e.Sets = append(e.Sets, s)
	}
	for i, x := range g.by {
		out.GroupBy = append(out.GroupBy, &expr.Column{Pos: x.Position(), Index: n.Width() + i, Name: groupName(x), Typ: x.Type()})
	}
	names := []string{"the set"}
	for _, c := range g.aggs.groupings {
		names = append(names, c.String())
	}
	for i, name := range names {
		out.GroupBy = append(out.GroupBy, &expr.Column{Index: n.Width() + len(g.by) + i, Name: name, Text: name, Typ: types.Int})
	}
	return out
}

// groupName returns the name of a group by x for plans.
func groupName(x expr.Expr) string {
	if c, ok := x.(*expr.Column); ok {
		return c.Name
	}
	return x.String()
}

// after rewrites e, over the tables' rows, to an expression over the Aggregate's rows.
func (g *grouping) after(e expr.Expr) (expr.Expr, error) {
	if i := slices.Index(g.outs, e); i >= 0 { // the same result column, not another one with an equal value
		return &expr.Column{Pos: e.Position(), Index: i, Name: groupName(g.by[i]), Typ: e.Type(), Limit: expr.DeclaredLimit(e.Type(), e)}, nil
	}
	written := func(x expr.Expr) expr.Expr { // x with its groups as they were before the rewriting
		return expr.MapColumns(x, func(c *expr.Column) expr.Expr {
			if c.Index >= groupMark && c.Index < windowMark {
				return g.by[c.Index-groupMark]
			}
			return c
		})
	}
	out := expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Column); ok && c.Index >= groupMark {
			return x
		}
		if _, ok := x.(*expr.Const); ok {
			return x
		}
		was := written(x)
		for i, by := range g.by {
			group := &expr.Column{Pos: x.Position(), Index: groupMark + i, Name: groupName(by), Typ: x.Type(), Limit: expr.DeclaredLimit(x.Type(), x)}
			switch {
			case expr.Same(was, by):
				return group
			case by.Type() == types.Boolean && was.Type() == types.Boolean && expr.Same(expr.Negate(was), by):
				return expr.Negate(group) // compilation moved NOT into x
			}
		}
		return x
	})
	var err error
	out = expr.MapColumns(out, func(c *expr.Column) expr.Expr {
		d := *c
		switch {
		case c.Index >= windowMark:
		case c.Index >= groupMark:
			d.Index -= groupMark
		case c.Index >= aggMark:
			d.Index = g.width() + c.Index - aggMark
		case c.Index >= groupingMark && g.sets == nil:
			return &expr.Const{Pos: c.Pos, Val: types.NewInt(0), Typ: c.Typ}
		case c.Index >= groupingMark:
			d.Index = len(g.by) + 1 + c.Index - groupingMark
		default:
			err = parser.Errorf(c.Pos, "column %q must be in GROUP BY or inside an aggregate", c.Name)
		}
		return &d
	})
	return out, err
}
