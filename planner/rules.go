package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// The rules by which conditions move to where they bind a key:
//
//	havingToWhere   a condition of HAVING on what is grouped by holds for all rows of a group or for none: it goes to the WHERE
//	narrowQuery     a condition above a query in FROM goes into it: below DISTINCT, GROUP BY and windows if it is on what these keep together,
//	                into each part of a set operation; not below LIMIT
//	reduceOuter     a LEFT or RIGHT JOIN whose missing rows the WHERE drops is an inner one
//	reduceFull      a FULL JOIN with rows missing on one side, which the WHERE drops, is a LEFT JOIN of that side with the other
//	spread          what a condition says of a column holds for the columns that are equal to it (join.go)
//	arrange         inner joins begin with what is bound, or likely gives few rows, and binds the key of another source (arrange.go)
//	lists           values of one table are a list for the column of another that is equal to them (listed.go)
//	lookup          a join's right side is looked up by what the values of a left row bind of its key (lookup.go)
//	tries, wanted   LIMIT ends groups, DISTINCT, joins and sorts whose rows come in the key's order, or in that of the first terms (ordering.go)
//	oneOfSame       an end of each group is read alone where the result is made of no more (ends.go)
//	united          an OR whose terms bind different layouts is read from each of them (union.go)
//	limitUnion      parts of a UNION ALL give no more rows than LIMIT wants (setop.go)
//
// Whoever adds a rule adds a case to exec/testdata/shapes.

// maxNarrowed bounds how often a query is planned again inside one that is planned again.
const maxNarrowed = 4

// narrowing are conditions over the columns of a query that is planned, and which of them the query has made its own.
type narrowing struct {
	conds []expr.Expr
	done  []bool
	first bool // a condition on row_number tells how many rows of each partition are wanted
}

// exact reports whether e is the same for equal values: 1.0 and 1.00 are equal, and their texts are not.
func exact(e expr.Expr) bool {
	if e.Type() == types.Boolean { // a condition
		if _, _, _, ok := expr.Sarg(e); ok {
			return true
		}
	}
	ok := true
	expr.Map(e, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Column:
			switch x.Typ {
			case types.Decimal, types.Float, types.Double, types.JSON:
				ok = false
			}
		case *expr.Subquery:
			ok = false
		}
		return x
	})
	return ok
}

// havingToWhere moves to WHERE the conditions of HAVING on grouped expressions.
func (b *block) havingToWhere() {
	if b.having == nil || b.groups.sets != nil || len(b.groups.by) == 0 || b.q.env.Options.NoRules {
		return
	}
	var stays []expr.Expr
	for _, c := range expr.Conjuncts(b.having) {
		after, err := b.groups.after(c)
		if err != nil || !exact(c) || len(expr.Columns(c)) == 0 || !within(c, 0, groupingMark) || !within(after, 0, len(b.groups.by)) {
			stays = append(stays, c)
			continue
		}
		b.conds = append(b.conds, expr.Conjuncts(expr.Fold(c, b.q.env.Loc))...)
	}
	b.having = nil
	if len(stays) > 0 {
		b.having = expr.Conjunction(stays)
	}
}

// narrowQuery takes over those conditions that can be checked on the rows of b's tables.
func (b *block) narrowQuery(n *narrowing) {
	if n == nil || b.grouped && b.groups.sets != nil {
		return
	}
	for i, c := range n.conds {
		ok := exact(c) && len(expr.Columns(c)) > 0
		over := expr.Map(c, func(x expr.Expr) expr.Expr {
			col, is := x.(*expr.Column)
			if !is {
				return x
			}
			if col.Index >= len(b.outs) || !b.keeps(&b.outs[col.Index]) {
				ok = false
				return x
			}
			out := b.outs[col.Index].expr
			if out.Type() != col.Typ {
				out = &expr.Cast{Pos: col.Pos, X: out, Typ: col.Typ}
			}
			return out
		})
		if n.first = b.numbered(c) || n.first; ok {
			b.conds, n.done[i] = append(b.conds, expr.Conjuncts(expr.Fold(over, b.q.env.Loc))...), true
		}
	}
}

// keeps reports whether all rows that b's groups, windows and DISTINCT ON combine have one value of o, computed from a
// row.
func (b *block) keeps(o *output) bool {
	if o.written != nil && !b.q.rowwise(o.written) || !within(o.expr, 0, groupingMark) || !exact(o.expr) {
		return false
	}
	same := func(list []expr.Expr) bool {
		return slices.ContainsFunc(list, func(x expr.Expr) bool { return expr.Same(x, o.expr) })
	}
	if b.grouped && !same(b.groups.by) || b.on != nil && !same(b.on) {
		return false
	}
	return !slices.ContainsFunc(b.wins.calls, func(c windowCall) bool { return !same(c.partition) })
}

// narrower gives what plans the query of a source again with conditions over its columns. subs are those that the first plan has asked for.
func (q *query) narrower(subs []*plan.Subplan, planAgain func(in *query) (plan.Node, error)) func(q *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) {
	around := q.inside()
	around.few, around.joins = q.few, q.joins
	if q.env.Options.NoRules || len(q.steps) > 0 || q.narrowed >= maxNarrowed {
		return nil
	}
	return func(q *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) {
		in := *around
		in.plan, in.narrowed = &plan.Plan{}, around.narrowed+1
		n := &narrowing{conds: conds, done: make([]bool, len(conds))}
		in.narrow = n
		node, err := planAgain(&in)
		if err != nil || !slices.Contains(n.done, true) && !n.first {
			return nil, conds, err
		}
		q.plan.Subplans = slices.DeleteFunc(slices.Clone(q.plan.Subplans), func(s *plan.Subplan) bool { return slices.Contains(subs, s) })
		q.needs(in.plan.Subplans...)
		var rest []expr.Expr
		for i, c := range conds {
			if !n.done[i] {
				rest = append(rest, c)
			}
		}
		return node, rest, nil
	}
}

// reduceOuter makes outer joins inner ones where conds drop their missing rows, and adds their conditions to conds.
func (q *query) reduceOuter(f *from, conds []expr.Expr) (*from, []expr.Expr) {
	if !slices.Contains(f.outer, true) || q.env.Options.NoRules {
		return f, conds
	}
	g := *f
	g.outer, g.on, g.swapped = slices.Clone(f.outer), slices.Clone(f.on), slices.Clone(f.swapped)
	conds = slices.Clip(conds)
	for again := true; again; {
		again = false
		for i, s := range g.srcs {
			if !g.outer[i] || !slices.ContainsFunc(conds, func(c expr.Expr) bool { return q.dropsMissing(c, s) }) {
				continue
			}
			if !isAlways(g.on[i]) {
				conds = append(conds, expr.Conjuncts(g.on[i])...)
			}
			g.outer[i], g.on[i], g.swapped[i], again = false, nil, false, true
		}
	}
	return &g, conds
}

// reduceFull gives what plans the FULL JOIN on terms of l and r, whose columns stand behind those of l, again as a LEFT JOIN, where conditions
// drop the rows that lack one side.
func (q *query) reduceFull(l, r *from, on []expr.Expr, left, right plan.Node) func(q *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) {
	if q.env.Options.NoRules {
		return nil
	}
	one := func(f *from, n plan.Node) *source { // of a side that is a join itself nothing is narrowed
		if len(f.srcs) == 1 {
			s := *f.srcs[0]
			return &s
		}
		return &source{node: n, cols: f.cols()}
	}
	return func(q *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) {
		g, first, second, firstOf, secondOf := &from{}, one(l, left), one(r, right), l, r
		width, all := first.width(), first.width()+second.width()
		keeps := func(s *source) bool {
			return slices.ContainsFunc(conds, func(c expr.Expr) bool { return q.dropsMissing(c, s) })
		}
		turn := 0 // by how much the columns stand elsewhere
		if first.offset, second.offset = 0, width; !keeps(first) {
			if !keeps(second) {
				return nil, conds, nil
			}
			first, second, firstOf, secondOf, turn = second, first, r, l, width
		}
		to := func(i int) int { return (i - turn + all) % all }
		g.add(first)
		g.add(second)
		var terms, over []expr.Expr
		for _, c := range secondOf.own() {
			terms = append(terms, moved(c, func(i int) int { return i + first.width() }))
		}
		for _, c := range on {
			terms = append(terms, moved(c, to))
		}
		g.outer[1], g.on[1] = true, expr.Conjunction(terms)
		for _, c := range conds {
			over = append(over, moved(c, to))
		}
		p, used := &plan.Project{}, make([]bool, all)
		for i, c := range append(l.cols(), r.cols()...) {
			p.Exprs, used[i] = append(p.Exprs, &expr.Column{Index: to(i), Name: c.Name, Typ: c.Type}), true
		}
		var err error
		p.Input, _, err = q.joined(g, append(over, firstOf.own()...), used, accessOrder{}, hints{})
		if turn == 0 {
			return p.Input, nil, err
		}
		return p, nil, err
	}
}

// cols lists the columns of f's sources.
func (f *from) cols() (out []plan.OutputColumn) {
	for _, s := range f.srcs {
		out = append(out, s.cols...)
	}
	return out
}

// own are the conditions of f where it has one source.
func (f *from) own() []expr.Expr {
	if len(f.srcs) > 1 {
		return nil // its plan has checked them
	}
	return f.conds
}

// dropsMissing reports whether c is not true where all columns of s are NULL.
func (q *query) dropsMissing(c expr.Expr, s *source) bool {
	found, ok := false, true
	missing := expr.Map(c, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Subquery:
			ok = false
		case *expr.Column:
			if x.Index >= s.offset && x.Index < s.offset+s.width() {
				found = true
				return &expr.Const{Pos: x.Pos, Typ: x.Typ}
			}
		}
		return x
	})
	if !found || !ok {
		return false
	}
	k, is := expr.Fold(missing, q.env.Loc).(*expr.Const)
	return is && (k.Val.IsNull() || !k.Val.Bool())
}
