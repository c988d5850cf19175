package planner

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// A box is a conjunction of constraints, each on one column: the rows in which
// every column lies in its set and matches its patterns. A WHERE is a union of boxes:
//
//	a = 1 AND b IN (2, 3)              {a: [1 - 1], b: [2 - 3]}
//	(a = 1 AND b = 2) OR (a = 3)       {a: [1 - 1], b: [2 - 2]} {a: [3 - 3]}
//	(a, b) > (1, 2)                    {a: [2 - )} {a: [1 - 1], b: [3 - )}
//
// Boxes may hold more rows than the predicate is true for, never fewer.
type box struct {
	cols []types.Set // by column index; nil: unconstrained
	// likes are patterns that a column matches and that its set does not express.
	likes []*expr.Like
}

// facts are sets by column: those of base, but for what was learnt later. They are shared and never changed.
type facts struct {
	base []types.Set // nil: nothing is known
	last *fact
}

type fact struct {
	col    int
	set    types.Set
	before *fact
}

// of gives the set of column col, nil when nothing is known of it.
func (f facts) of(col int) types.Set {
	for x := f.last; x != nil; x = x.before {
		if x.col == col {
			return x.set
		}
	}
	if f.base == nil {
		return nil
	}
	return f.base[col]
}

// single gives the only value that column col can have.
func (f facts) single(col int) (types.Value, bool) {
	if s := f.of(col); len(s) == 1 && s[0].IsPoint() {
		return s[0].Lo, true
	}
	return types.Value{}, false
}

// setOf is of, with All for nothing.
func (f facts) setOf(col int) types.Set {
	if s := f.of(col); s != nil {
		return s
	}
	return types.All()
}

// with is f, with column col in s.
func (f facts) with(col int, s types.Set) facts {
	f.last = &fact{col, s, f.last}
	return f
}

// maxBoxes bounds the union. A conjunct that would exceed it is left to the residual.
const maxBoxes = 1 << 15

func (b box) clone() box {
	return box{cols: slices.Clone(b.cols), likes: slices.Clone(b.likes)}
}

// narrow intersects column col with s and tells whether anything is left.
func (b *box) narrow(col int, s types.Set) bool {
	if b.cols[col] != nil {
		s = b.cols[col].Intersect(s)
	}
	if s.IsEmpty() {
		return false
	}
	b.cols[col] = s
	return true
}

// intersect adds o's constraints to b and tells whether anything is left.
func (b *box) intersect(o box) bool {
	for col, s := range o.cols {
		if s != nil && !b.narrow(col, s) {
			return false
		}
	}
	b.likes = append(b.likes, o.likes...)
	return true
}

// term is a predicate, and the set of one column that says the same: see expr.Truth.
type term struct {
	expr.Expr
	means     expr.Expr // the same, as what it says of each column
	col       int
	set       types.Set
	exact, ok bool
	null      bool // it may be true where col is NULL, too, which it may be
}

func termOf(e expr.Expr, t *catalog.Table) term {
	of := term{Expr: e, means: e}
	of.col, of.set, of.null, of.exact, of.ok = expr.Truth(e)
	of.null = of.null && (of.col >= len(t.Columns) || !t.Columns[of.col].KeyPart)
	of.ok = of.ok && !of.null
	return of
}

// meanings gives the terms of a WHERE, with what those mean that are about several columns or the end of a text.
func meanings(es []expr.Expr, t *catalog.Table) []term {
	out := termsOf(es, t)
	for i, of := range out {
		if of.ok && !of.set.IsAll() {
			continue
		}
		if m := expr.Restate(of.Expr); m != of.Expr {
			out[i] = termOf(m, t)
			out[i].Expr = of.Expr
		}
	}
	return out
}

// termsOf gives the terms of a conjunction.
func termsOf(es []expr.Expr, t *catalog.Table) []term {
	out := make([]term, len(es))
	for i, e := range es {
		out[i] = termOf(e, t)
	}
	bare := map[int]bool{} // columns that another term says are not NULL
	for i := range out {
		of := &out[i]
		if !of.null {
			continue
		}
		rejects, known := bare[of.col]
		if !known {
			rejects = slices.ContainsFunc(es, func(e expr.Expr) bool { return expr.RejectsNull(e, of.col) })
			bare[of.col] = rejects
		}
		if rejects {
			of.ok, of.null = of.exact || !of.set.IsAll(), false
		}
	}
	return out
}

// boxer makes boxes over rows of width columns.
type boxer struct {
	env   *Env
	table *catalog.Table
	width int
}

func (x boxer) all() box { return box{cols: make([]types.Set, x.width)} }

// conjunction gives the boxes of the rows for which all terms can be true. capped
// tells that a term was left out to bound their number.
func (x boxer) conjunction(terms []term) (boxes []box, capped bool) {
	base := x.all()
	more := map[int][]types.Set{} // of columns with several terms
	var unions [][]box
	for _, t := range terms {
		x.env.tick()
		if x.narrows(t) {
			base.liked(t)
			if base.cols[t.col] != nil {
				more[t.col] = append(more[t.col], t.set)
			} else if !base.narrow(t.col, t.set) {
				return nil, capped
			}
			continue
		}
		bs, c := x.boxes(t)
		capped = capped || c
		if len(bs) == 1 {
			if !base.intersect(bs[0]) {
				return nil, capped
			}
			continue
		}
		unions = append(unions, bs)
	}
	for col, s := range more {
		if !base.narrow(col, types.IntersectAll(s)) {
			return nil, capped
		}
	}
	slices.SortStableFunc(unions, func(a, b []box) int { return len(a) - len(b) })
	boxes = []box{base}
	for _, u := range unions {
		if len(boxes)*len(u) > maxBoxes {
			capped = true
			continue
		}
		var next []box
		for _, b := range boxes {
			x.env.tick()
			for _, o := range u {
				if c := b.clone(); c.intersect(o) {
					next = append(next, c)
				}
			}
		}
		boxes = next
	}
	return boxes, capped
}

// narrows tells that t is about one column.
func (x boxer) narrows(t term) bool { return t.ok && t.col < x.width }

// liked adds t if it is a pattern that its set does not express.
func (b *box) liked(t term) {
	if l, ok := t.means.(*expr.Like); ok && !t.exact && !l.Not && !l.Fold && l.Fixed != nil {
		b.likes = append(b.likes, l)
	}
}

// boxes gives the boxes of one predicate.
func (x boxer) boxes(t term) (boxes []box, capped bool) {
	b := x.all()
	if x.narrows(t) {
		b.liked(t)
		if !b.narrow(t.col, t.set) {
			return nil, false
		}
		return []box{b}, false
	}
	switch e := t.means.(type) {
	case *expr.Const:
		if !e.Val.IsNull() && e.Val.Type() == types.Boolean && e.Val.Bool() {
			return []box{x.all()}, false
		}
		return nil, false
	case *expr.And:
		return x.conjunction(termsOf(e.Terms, x.table))
	case *expr.Or:
		var union []box
		for _, t := range e.Terms {
			x.env.tick()
			bs, c := x.boxes(termOf(t, x.table))
			capped = capped || c
			union = append(union, bs...)
			if len(union) > maxBoxes {
				return []box{x.all()}, true
			}
		}
		return union, capped
	case *expr.Like:
		if _, ok := e.X.(*expr.Column); ok && !e.Not && !e.Fold && e.Fixed != nil {
			b.likes = append(b.likes, e)
		}
		return []box{b}, false
	}
	return []box{x.all()}, false
}
