package planner

import (
	"math"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// joined reads the sources and joins them one after the other. ordered reports whether the rows are in the wanted order.
//
//	a condition on a column is added for the columns that are equal to it (spread)
//	inner joins begin with a source whose key is bound, and continue with those whose keys
//	  the previous rows bind (arrange)
//	each further source is looked up by key if the previous rows bind it, otherwise hashed
func (q *query) joined(f *from, conds []expr.Expr, used []bool, want accessOrder, h hints) (n plan.Node, ordered bool, err error) {
	switch len(f.srcs) {
	case 0:
		n = &plan.Values{Rows: [][]expr.Expr{{}}}
		if c := expr.Conjunction(conds); len(conds) > 0 {
			n = &plan.Filter{Input: n, Cond: c}
		}
		return n, false, nil
	case 1:
		if len(conds) > 1 && !q.env.Options.NoRules {
			conds = f.spread(conds)
		}
		own, _ := ownTerms(conds, f.srcs[0])
		return q.source(f.srcs[0], own, used, want, h)
	}
	f, conds = q.reduceOuter(f, conds)
	conds = f.spread(conds)
	if f.lateral() {
		return q.chain(f, conds, used, want, h)
	}
	if !want.limit.Set {
		var lists []expr.Expr
		if f, lists, err = q.lists(f, conds, h); err != nil {
			return nil, false, err
		}
		conds = append(slices.Clip(conds), lists...)
	}
	order := q.arrange(f, conds, h)
	if len(want.by) > 0 || want.limit.Set {
		orders := [][]int{order}
		if o := q.sortedFirst(f, conds, want, h); o != nil {
			orders = append(orders, o)
		}
		for _, o := range orders {
			if n, ordered, err = q.inOrder(f, o, conds, used, want, h); ordered || err != nil {
				return n, ordered, err
			}
		}
	}
	n, _, err = q.inOrder(f, order, conds, used, accessOrder{}, h)
	if err == nil && q.figured(f) {
		n, err = q.cheapest(n, f, conds, used, h)
	}
	return n, false, err
}

// sortedFirst returns the join order that begins with the source by whose columns the result is sorted, and looks up
// the others. It does so if only the first rows are wanted and the conditions on the other sources drop few rows: no
// condition binds a key, or restricts a source that binds the key of the first one to a few values of a column.
// Otherwise it returns nil.
func (q *query) sortedFirst(f *from, conds []expr.Expr, want accessOrder, h hints) []int {
	if want.few == 0 || len(want.by) == 0 || q.env.Options.NoRules || slices.Contains(f.outer, true) {
		return nil
	}
	first := slices.IndexFunc(f.srcs, func(s *source) bool { return within(want.by[0].Expr, s.offset, s.offset+s.width()) })
	reach := q.reach(f, conds, h)
	for i, s := range f.srcs {
		own, _ := ownTerms(conds, s)
		if own = append(own, s.conds...); first < 0 || s.table == nil || i != first && len(own) > 0 &&
			(!reach(i, nil).Wide() || slices.ContainsFunc(own, isFew) && !reach(first, []int{i}).Wide()) {
			return nil
		}
	}
	return orderFrom(first, len(f.srcs), func(i int, given []int) bool { return !reach(i, given).Wide() })
}

// isFew reports whether e restricts a column to a few values.
func isFew(e expr.Expr) bool {
	_, set, _, ok := solve.Sarg(e)
	return ok && set.IsList()
}

// inOrder joins the sources in an order; nil means as written. ordered reports whether their rows are in the order want.
func (q *query) inOrder(f *from, order []int, conds []expr.Expr, used []bool, want accessOrder, h hints) (n plan.Node, ordered bool, err error) {
	if order == nil {
		return q.chain(f, conds, used, want, h)
	}
	return q.rearranged(f, order, conds, used, want, h)
}

// ofFirst translates want, an order of the joined rows, to an order of the first source's rows. It keeps the limit if
// each row of the first source is in the result. ok is false if want contains other sources' columns.
func (f *from) ofFirst(want accessOrder, conds []expr.Expr) (of accessOrder, ok bool) {
	width := f.srcs[0].width()
	for _, t := range want.by {
		if !within(t.Expr, 0, width) {
			return of, false
		}
	}
	if slices.Contains(f.outer[1:], false) || slices.ContainsFunc(conds, func(c expr.Expr) bool { return !within(c, 0, width) }) {
		want.limit = plan.RowLimit{}
	}
	return want, len(want.by) > 0 || want.limit.Set
}

// chain joins the sources in their order. A join keeps the order of its left side.
func (q *query) chain(f *from, conds []expr.Expr, used []bool, want accessOrder, h hints) (n plan.Node, ordered bool, err error) {
	defer fail.Catch(&err)
	rest := conds
	if want, ordered = f.ofFirst(want, conds); !ordered {
		want = accessOrder{}
	}
	top, sorted, lost := want, len(want.by) > 0, false
	for i, s := range f.srcs {
		if s.lateral != nil {
			n, rest = fail.Must2(q.apply(f, n, i, rest))
			continue
		}
		var own, on []expr.Expr
		if !f.outer[i] {
			own, rest = ownTerms(rest, s)
		}
		if f.on[i] != nil {
			of, others := ownTerms(expr.Conjuncts(f.on[i]), s)
			own, on = append(own, of...), others
		}
		if i > 0 && !f.outer[i] {
			var more []expr.Expr
			more, rest = termsUpTo(rest, s)
			on = append(on, more...)
		}
		right, provided := fail.Must2(q.source(s, own, used[s.offset:s.offset+s.width()], want, h))
		if want = (accessOrder{}); i == 0 {
			n, ordered = right, ordered && (provided || !sorted)
			continue
		}
		j := newJoin(n, right, f.outer[i], on, s.offset)
		j.Swapped = f.swapped[i]
		fail.On(q.lookup(j, s, own, used[s.offset:s.offset+s.width()], h))
		if first := f.srcs[0]; i == 1 && j.Lookup == nil && !j.Outer && !f.outer[0] {
			own, _ := ownTerms(conds, first)
			l := &looking{q: q, env: q.env, j: &plan.Join{Left: right, Right: n, LeftKeys: j.RightKeys, RightKeys: j.LeftKeys}, s: first, own: own, used: slices.Clone(used[:first.width()]), h: h}
			if ordered {
				l.want = accessOrder{by: top.by, few: top.few}
			}
			mark(l.used, j.LeftKeys...)
			j.NarrowLeft = fail.Must(l.narrow())
		}
		n, lost = j, lost || j.Lookup == nil && sorted
	}
	if ordered && lost { // a hash join keeps the order unless it writes to files
		n = &plan.Sort{Input: n, By: top.by, Limit: top.limit, Sorted: len(top.by)}
	}
	if len(rest) > 0 {
		n = &plan.Filter{Input: n, Cond: expr.Conjunction(rest)}
	}
	return n, ordered, nil
}

func ownTerms(conds []expr.Expr, s *source) (own, rest []expr.Expr) {
	own, rest = divided(conds, s.offset, s.offset+s.width())
	for i, c := range own {
		own[i] = shifted(c, s.offset)
	}
	return own, rest
}

// divided divides conds into those with columns from one index up to another alone, and the others.
func divided(conds []expr.Expr, from, to int) (own, rest []expr.Expr) {
	for _, c := range conds {
		if within(c, from, to) {
			own = append(own, c)
		} else {
			rest = append(rest, c)
		}
	}
	return own, rest
}

// termsUpTo divides conds into those that can be checked when s is joined to the previous sources, and the others.
func termsUpTo(conds []expr.Expr, s *source) (now, later []expr.Expr) {
	return divided(conds, 0, s.offset+s.width())
}

func within(e expr.Expr, from, to int) bool {
	return !expr.SomeColumn(e, func(c int) bool { return c < from || c >= to })
}

// shifted rewrites e, over the joined row, to an expression over a source's own row.
func shifted(e expr.Expr, by int) expr.Expr {
	if by == 0 {
		return e
	}
	return moved(e, func(i int) int { return i - by })
}

// moved replaces the index of each column in e.
func moved(e expr.Expr, to func(index int) int) expr.Expr {
	return expr.MapColumns(e, func(c *expr.Column) expr.Expr {
		d := *c
		d.Index = to(c.Index)
		return &d
	})
}

// newJoin returns a join by the equalities between the sides. It checks other conditions for each pair.
func newJoin(left, right plan.Node, outer bool, on []expr.Expr, offset int) *plan.Join {
	j := &plan.Join{Left: left, Right: right, Outer: outer}
	var rest []expr.Expr
	for _, t := range on {
		if x, y, ok := equality(t); ok && expr.Volatile(t) == "" { // keys are evaluated several times
			if within(y, 0, offset) {
				x, y = y, x
			}
			if within(x, 0, offset) && within(y, offset, math.MaxInt) && len(expr.Columns(x)) > 0 && len(expr.Columns(y)) > 0 {
				j.LeftKeys, j.RightKeys = append(j.LeftKeys, x), append(j.RightKeys, shifted(y, offset))
				continue
			}
		}
		rest = append(rest, t)
	}
	if len(rest) > 0 {
		j.On = expr.Conjunction(rest)
	}
	return j
}

// equality returns the sides of x = y, converted so that equal values have equal keys in a hash table: two values of the
// same type, two integers, or two numbers in the type that holds both.
func equality(e expr.Expr) (x, y expr.Expr, ok bool) {
	c, ok := e.(*expr.Compare)
	if !ok || c.Op != expr.EQ {
		return nil, nil, false
	}
	a, b := c.X.Type(), c.Y.Type()
	switch {
	case a == b, a.IsInteger() && b.IsInteger():
		return c.X, c.Y, true
	case a.IsInteger() && b == types.Decimal:
		return &expr.Cast{Pos: c.Pos, X: c.X, Typ: b}, c.Y, true
	case b.IsInteger() && a == types.Decimal:
		return c.X, &expr.Cast{Pos: c.Pos, X: c.Y, Typ: a}, true
	}
	return nil, nil, false
}

// equalColumns returns the columns of e if e is an equality of two columns; otherwise nil.
func equalColumns(e expr.Expr) (x, y *expr.Column) {
	if a, b, ok := equality(e); ok {
		x, _ = a.(*expr.Column)
		if y, ok = b.(*expr.Column); x != nil && ok {
			return x, y
		}
	}
	return nil, nil
}

// spread adds to conds the conditions on a column for all columns that are equal to it. For a LEFT JOIN, it adds the
// conditions that follow for the right side to the condition of the join.
func (f *from) spread(conds []expr.Expr) []expr.Expr {
	var pairs [][2]*expr.Column
	for _, c := range conds {
		if x, y := equalColumns(c); x != nil {
			pairs = append(pairs, [2]*expr.Column{x, y}, [2]*expr.Column{y, x})
		}
	}
	out := slices.Clip(conds)
	for i, s := range f.srcs {
		if len(f.srcs) == 1 || f.outer[i] {
			continue
		}
		own := func(e expr.Expr) bool { return len(expr.Columns(e)) > 0 && within(e, s.offset, s.offset+s.width()) }
		for _, c := range conds {
			if own(c) {
				continue
			}
			if e := implied(c, own); e != nil && rowwise(e) {
				out = append(out, e)
			}
		}
	}
	for i := 0; i < len(out) && len(out) < len(conds)+64; i++ { // added conditions may lead to more
		for _, p := range pairs {
			if e, ok := restated(out[i], p[0], p[1]); ok && !slices.ContainsFunc(out, func(o expr.Expr) bool { return expr.Same(o, e) }) {
				out = append(out, e)
			}
		}
	}
	for i := range f.srcs {
		if !f.outer[i] || f.on[i] == nil {
			continue
		}
		on := slices.Clip(expr.Conjuncts(f.on[i]))
		for _, t := range on {
			x, y := equalColumns(t)
			if x == nil {
				continue
			}
			if x.Index >= f.srcs[i].offset {
				x, y = y, x
			}
			for _, c := range out {
				if e, ok := restated(c, x, y); ok && y.Index >= f.srcs[i].offset {
					on = append(on, e)
				}
			}
		}
		f.on[i] = expr.Conjunction(on)
	}
	return out
}

// restated returns e, a condition on column x alone, as a condition on y.
func restated(e expr.Expr, x, y *expr.Column) (expr.Expr, bool) {
	col, _, _, ok := solve.Sarg(e)
	if !ok || col != x.Index {
		return nil, false
	}
	return expr.MapColumns(e, func(c *expr.Column) expr.Expr {
		if c.Index == x.Index {
			return y
		}
		return c
	}), true
}

// rearranged joins the sources in another order, and puts the columns of the rows back in the written order.
func (q *query) rearranged(f *from, order []int, conds []expr.Expr, used []bool, want accessOrder, h hints) (plan.Node, bool, error) {
	g := &from{}
	at := make([]int, len(used)) // by column of the written row: its index in the joined row
	for _, i := range order {
		s := *f.srcs[i]
		s.offset = 0
		g.add(&s)
		g.outer[len(g.outer)-1] = f.outer[i]
		for k := range s.width() {
			at[f.srcs[i].offset+k] = s.offset + k
		}
	}
	conds = slices.Clone(conds)
	for i, c := range conds {
		conds[i] = moved(c, func(x int) int { return at[x] })
	}
	for k, i := range order {
		if f.on[i] != nil {
			g.on[k] = moved(f.on[i], func(x int) int { return at[x] })
		}
	}
	gused := make([]bool, len(used))
	exprs := make([]expr.Expr, len(used))
	for _, s := range f.srcs {
		for k, c := range s.cols {
			i := s.offset + k
			gused[at[i]] = used[i]
			exprs[i] = &expr.Column{Index: at[i], Name: c.Name, Typ: c.Type}
		}
	}
	want.by = slices.Clone(want.by)
	for i, t := range want.by {
		want.by[i].Expr = moved(t.Expr, func(x int) int { return at[x] })
	}
	n, ordered, err := q.chain(g, conds, gused, want, h)
	if err != nil {
		return nil, false, err
	}
	return &plan.Project{Input: n, Exprs: exprs}, ordered, nil
}
