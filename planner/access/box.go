package access

import (
	"cmp"
	"slices"

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
	// nulls are columns that are NULL; a set in cols holds no NULL.
	nulls []int
	// likes are patterns that a column matches and that its set does not express.
	likes []*expr.Like
}

// maxBoxes bounds the union, and maxMultiplied those that a further conjunct of several boxes multiplies: n pairs that are
// ruled out, (a <> 1 OR b <> 'x') AND ..., would be 2^n boxes. A conjunct that would exceed them is left to the residual.
const (
	maxBoxes      = 1 << 15
	maxMultiplied = 1 << 8
	maxRuledOut   = 1 << 3 // boxes, where the conjunct binds nothing
)

func (b box) clone() box {
	return box{cols: slices.Clone(b.cols), nulls: slices.Clone(b.nulls), likes: slices.Clone(b.likes)}
}

// narrow intersects column col with s and reports whether anything is left.
func (b *box) narrow(col int, s types.Set) bool {
	if b.cols[col] != nil {
		s = b.cols[col].Intersect(s)
	}
	if s.IsEmpty() || slices.Contains(b.nulls, col) {
		return false
	}
	b.cols[col] = s
	return true
}

// null makes column col NULL and reports whether anything is left.
func (b *box) null(col int) bool {
	if !slices.Contains(b.nulls, col) {
		b.nulls = append(b.nulls, col)
	}
	return b.cols[col] == nil
}

// intersect adds o's constraints to b and reports whether anything is left.
func (b *box) intersect(o box) bool {
	for col, s := range o.cols {
		if s != nil && !b.narrow(col, s) {
			return false
		}
	}
	for _, col := range o.nulls {
		if !b.null(col) {
			return false
		}
	}
	b.likes = append(b.likes, o.likes...)
	return true
}

// boxMaker makes boxes over rows of columns.
type boxMaker struct {
	env *Env
	columns
}

func (x boxMaker) all() box { return box{cols: make([]types.Set, x.width())} }

// conjunction gives the boxes of the rows for which all terms can be true. capped
// reports whether a term was left out to bound their number.
func (x boxMaker) conjunction(terms []term) (boxes []box, capped bool) {
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
	slices.SortStableFunc(unions, func(a, b []box) int {
		return cmp.Or(btoi(rulesOut(a))-btoi(rulesOut(b)), len(a)-len(b))
	})
	boxes = []box{base}
	for _, u := range unions {
		if len(boxes) > maxMultiplied || len(boxes) > maxRuledOut && rulesOut(u) || len(boxes)*len(u) > maxBoxes {
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

// rulesOut reports whether the boxes of u leave values out and bind none: a <> 1 OR b <> 'x'.
func rulesOut(u []box) bool {
	return len(u) > 1 && !slices.ContainsFunc(u, func(b box) bool {
		return len(b.likes) > 0 || len(b.nulls) > 0 || slices.ContainsFunc(b.cols, func(s types.Set) bool {
			return len(s) > 0 && (!s[0].Lo.IsNull() || !s[len(s)-1].Hi.IsNull())
		})
	})
}

// narrows reports whether t is about one column.
func (x boxMaker) narrows(t term) bool { return t.ok && t.col < x.width() }

// liked adds t if it is a pattern that its set does not express.
func (b *box) liked(t term) {
	if l, ok := t.means.(*expr.Like); ok && !t.exact && !l.Not && !l.Fold && l.Fixed != nil {
		b.likes = append(b.likes, l)
	}
}

// boxes gives the boxes of one predicate.
func (x boxMaker) boxes(t term) (boxes []box, capped bool) {
	b := x.all()
	if x.narrows(t) {
		b.liked(t)
		if !b.narrow(t.col, t.set) {
			return nil, false
		}
		return []box{b}, false
	}
	if t.null && t.set.IsEmpty() && t.col < len(x.table.Columns) {
		b.null(t.col)
		return []box{b}, false
	}
	switch e := t.means.(type) {
	case *expr.Const:
		if !e.Val.IsNull() && e.Val.Type() == types.Boolean && e.Val.Bool() {
			return []box{x.all()}, false
		}
		return nil, false
	case *expr.And:
		return x.conjunction(termsOf(e.Terms, x.columns))
	case both:
		return x.conjunction(termsOf([]expr.Expr{e.Expr, e.ofParts}, x.columns))
	case *expr.Or:
		var union []box
		for _, t := range e.Terms {
			x.env.tick()
			bs, c := x.boxes(termOf(t, x.columns))
			capped = capped || c
			union = append(union, bs...)
			if len(union) > maxBoxes {
				return []box{x.all()}, true
			}
		}
		return union, capped
	}
	return []box{x.all()}, false
}
