package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
)

// full is a FULL JOIN, which is planned again for conditions on its rows. Its rows have the columns of the left side,
// then the columns of the right side, then the columns that USING or NATURAL merges.
type full struct {
	sides  [2]*from
	nodes  [2]plan.Node // plans of the sides
	on     []expr.Expr
	shared [][2]*expr.Column // the merged columns
	merged []expr.Expr       // their values
	cols   []plan.OutputColumn
}

// side returns side i as one source. If the side is a join, the source cannot be planned again for conditions.
func (f *full) side(i int) *source {
	s := &source{node: f.nodes[i], cols: f.sides[i].cols()}
	if of := f.sides[i]; len(of.srcs) == 1 {
		*s = *of.srcs[0]
	}
	s.offset = 0
	return s
}

func (f *full) width() int { return f.sides[0].width() + len(f.sides[1].cols()) }

// onSide rewrites e, an expression over merged columns only, to an expression over the columns of side i. ok is false
// if the value of the new expression may differ from e's.
func (f *full) onSide(i int, e expr.Expr) (out expr.Expr, ok bool) {
	ok = exact(e) && rowwise(e) && len(expr.Columns(e)) > 0
	out = expr.MapColumns(e, func(c *expr.Column) expr.Expr {
		k := c.Index - f.width()
		if ok = ok && k >= 0 && f.shared[k][0].Typ == c.Typ && f.shared[k][1].Typ == c.Typ; !ok {
			return c
		}
		return f.shared[k][i]
	})
	return out, ok
}

// again is source.again.
func (f *full) again(q *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) {
	if n, err := f.reduced(q, conds); n != nil || err != nil {
		return n, nil, err
	}
	return f.first(q, conds, accessOrder{})
}

// first implements source.first. Without an order in want, it reads all rows that match conds.
func (f *full) first(q *query, conds []expr.Expr, want accessOrder) (plan.Node, []expr.Expr, error) {
	var own [2][]expr.Expr
	var rest []expr.Expr
	for _, c := range conds {
		l, ok := f.onSide(0, c)
		if r, _ := f.onSide(1, c); ok {
			own[0], own[1] = append(own[0], l), append(own[1], shifted(r, f.sides[0].width()))
		} else {
			rest = append(rest, c)
		}
	}
	if len(own[0]) == 0 && len(want.by) == 0 || len(rest) > 0 && len(want.by) > 0 {
		return nil, conds, nil
	}
	nodes := f.nodes
	for i := range nodes {
		s := f.side(i)
		of := want
		of.by = nil
		for _, t := range want.by {
			e, ok := f.onSide(i, t.Expr)
			if _, column := e.(*expr.Column); !ok || !column {
				return nil, conds, nil
			}
			t.Expr = shifted(e, i*f.sides[0].width())
			of.by = append(of.by, t)
		}
		for _, c := range f.shared { // rows with an equal order must be those that match
			if !slices.ContainsFunc(of.by, func(t plan.SortTerm) bool { return expr.Same(t.Expr, shifted(c[i], i*f.sides[0].width())) }) && len(want.by) > 0 {
				return nil, conds, nil
			}
		}
		n, ordered, err := q.source(s, append(own[i], f.sides[i].own()...), slices.Repeat([]bool{true}, s.width()), of, hints{})
		if err != nil || len(want.by) > 0 && !ordered {
			return nil, conds, err
		}
		if nodes[i] = n; want.limit.Set {
			nodes[i] = bounds{limit: want.limit}.of(n, nil)
		}
	}
	out := f.join(nodes)
	if len(want.by) > 0 {
		out = &plan.Sort{Input: out, By: want.by, Limit: want.limit}
	}
	return out, rest, nil
}

// join joins the sides; nodes are their plans.
func (f *full) join(nodes [2]plan.Node) plan.Node {
	j := newJoin(nodes[0], nodes[1], true, f.on, f.sides[0].width())
	j.Full = true
	return f.row(j, func(i int) int { return i })
}

// row returns the rows of f from those of n, which has the column i of the sides at to(i).
func (f *full) row(n plan.Node, to func(i int) int) plan.Node {
	p := &plan.Project{Input: n}
	turned := false
	for i, c := range f.cols[:f.width()] {
		turned = turned || to(i) != i
		p.Exprs = append(p.Exprs, &expr.Column{Index: to(i), Name: c.Name, Typ: c.Type})
	}
	for _, e := range f.merged {
		p.Exprs = append(p.Exprs, moved(e, to))
	}
	if !turned && len(f.merged) == 0 {
		return n
	}
	return p
}

// reduced plans f as a LEFT JOIN if conds drop the rows that lack one side; nil: they do not.
func (f *full) reduced(q *query, conds []expr.Expr) (plan.Node, error) {
	g, width, all := &from{}, f.sides[0].width(), f.width()
	over := make([]expr.Expr, len(conds))
	for i, c := range conds {
		over[i] = expr.MapColumns(c, func(c *expr.Column) expr.Expr {
			if c.Index >= all {
				return f.merged[c.Index-all]
			}
			return c
		})
	}
	turn := 0 // offset by which the columns move
	sides := [2]*source{f.side(0), f.side(1)}
	sides[1].offset = width
	keeps := func(s *source) bool {
		return slices.ContainsFunc(over, func(c expr.Expr) bool { return q.dropsMissing(c, s) })
	}
	first, second := 0, 1
	if !keeps(sides[0]) {
		if !keeps(sides[1]) {
			return nil, nil
		}
		first, second, turn = 1, 0, width
	}
	to := func(i int) int { return (i - turn + all) % all }
	g.add(sides[first])
	g.add(sides[second])
	var terms []expr.Expr
	for _, c := range f.sides[second].own() {
		terms = append(terms, moved(c, func(i int) int { return i + sides[first].width() }))
	}
	for _, c := range f.on {
		terms = append(terms, moved(c, to))
	}
	g.outer[1], g.on[1] = true, expr.Conjunction(terms)
	for i, c := range conds {
		if e, ok := f.onSide(first, c); ok { // a merged value is that of the side that has all of its rows
			over[i] = e
		}
		over[i] = moved(over[i], to)
	}
	n, _, err := q.joined(g, append(over, f.sides[first].own()...), slices.Repeat([]bool{true}, all), accessOrder{}, hints{})
	if err != nil {
		return nil, err
	}
	return f.row(n, to), nil
}

// cols returns the columns of f's sources.
func (f *from) cols() (out []plan.OutputColumn) {
	for _, s := range f.srcs {
		out = append(out, s.cols...)
	}
	return out
}

// own returns the conditions on f's only source; nil if there are several.
func (f *from) own() []expr.Expr {
	if len(f.srcs) > 1 {
		return nil // the plan of the join has checked them
	}
	return f.conds
}
