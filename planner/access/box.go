package access

import (
	"cmp"
	"slices"

	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// box is a conjunction of conditions on single columns: the rows in which every column's value is in its set. A WHERE is a
// union of boxes:
//
//	a = 1 AND b IN (2, 3)              {a: [1 - 1], b: [2 - 3]}
//	(a = 1 AND b = 2) OR (a = 3)       {a: [1 - 1], b: [2 - 2]} {a: [3 - 3]}
//	(a, b) > (1, 2)                    {a: [2 - )} {a: [1 - 1], b: [3 - )}
//
// A box may contain rows for which the predicate is false, but contains all rows for which it is true.
type box struct {
	cols []types.Set // by column index; nil: any value
	// nulls are the columns that must be NULL; the sets in cols contain no NULL.
	nulls []int
}

// maxBoxes bounds the number of boxes in a union. maxMultiplied bounds it after an intersection with a conjunct that
// has several boxes: n conjuncts like (a <> 1 OR b <> 'x') would make 2^n boxes. A conjunct that would exceed a limit
// is left to the residual.
const (
	maxBoxes      = 1 << 15
	maxMultiplied = 1 << 8
	maxRuledOut   = 1 << 3 // limit for conjuncts that bind no column
)

func (b box) clone() box {
	return box{cols: slices.Clone(b.cols), nulls: slices.Clone(b.nulls)}
}

// narrow intersects column col with s, and reports whether the box can still contain rows.
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

// null requires column col to be NULL, and reports whether the box can still contain rows.
func (b *box) null(col int) bool {
	if !slices.Contains(b.nulls, col) {
		b.nulls = append(b.nulls, col)
	}
	return b.cols[col] == nil
}

// intersect adds o's conditions to b, and reports whether the box can still contain rows.
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
	return true
}

// hull returns the smallest box that contains boxes.
func hull(boxes []box) box {
	out := boxes[0].clone()
	for _, b := range boxes[1:] {
		for col, s := range b.cols {
			if s == nil || out.cols[col] == nil {
				out.cols[col] = nil
			} else {
				out.cols[col] = out.cols[col].Union(s)
			}
		}
		out.nulls = slices.DeleteFunc(out.nulls, func(col int) bool { return !slices.Contains(b.nulls, col) })
	}
	return out
}

// boxMaker makes boxes for rows with the given columns.
type boxMaker struct {
	env *Env
	*columns
}

func (x boxMaker) all() box { return box{cols: make([]types.Set, x.width())} }

// conjunction returns the boxes of the rows for which all terms can be true. capped reports whether it ignored a term to
// limit the number of boxes.
func (x boxMaker) conjunction(terms []term) (boxes []box, capped bool) {
	m := meet{boxMaker: x, base: x.all()}
	for i := range terms {
		if x.env.tick(); !m.add(&terms[i].is) {
			return nil, m.capped
		}
	}
	return m.boxes()
}

// boxes returns the boxes of the rows for which c can be true.
func (x boxMaker) boxes(c *solve.Constraint) (boxes []box, capped bool) {
	m := meet{boxMaker: x, base: x.all()}
	if !m.add(c) {
		return nil, m.capped
	}
	return m.boxes()
}

// meet is the intersection of a box with unions of boxes.
type meet struct {
	boxMaker
	base     box
	more     map[int][]types.Set // by column: sets that must be intersected, too
	unions   [][]box
	bare     []int // columns that must not be NULL
	nullable []*solve.Constraint
	capped   bool
}

// add intersects m with c, and reports whether it can still contain rows.
func (m *meet) add(c *solve.Constraint) bool {
	switch c.Kind {
	case solve.All, solve.Either:
		for i := range c.Of {
			if m.env.tick(); !m.add(&c.Of[i]) {
				return false
			}
		}
	case solve.Any:
		bs, capped := m.union(c)
		if m.capped = m.capped || capped; len(bs) == 1 {
			return m.base.intersect(bs[0])
		}
		m.unions = append(m.unions, bs)
	case solve.One:
		switch known := c.Col < m.width(); {
		case !known:
		case c.Null:
			m.nullable = append(m.nullable, c)
		case !c.Exact && c.Set.IsAll():
			m.bare = append(m.bare, c.Col)
		default:
			if m.base.cols[c.Col] == nil {
				return m.base.narrow(c.Col, c.Set)
			}
			if m.more == nil {
				m.more = map[int][]types.Set{}
			}
			m.more[c.Col] = append(m.more[c.Col], c.Set)
		}
	}
	return true
}

// addNullable adds Constraints that also allow NULL, and reports whether m can still contain rows.
func (m *meet) addNullable() bool {
	for _, c := range m.nullable {
		switch set := c.Set; {
		case m.base.cols[c.Col] != nil || slices.Contains(m.bare, c.Col):
			if !m.base.narrow(c.Col, set) {
				return false
			}
		case set.IsEmpty():
			if !m.base.null(c.Col) {
				return false
			}
		case !set.IsAll():
			null, value := m.all(), m.all()
			null.null(c.Col)
			value.narrow(c.Col, set)
			m.unions = append(m.unions, []box{value, null})
		}
	}
	return true
}

// boxes returns the boxes of the intersection.
func (m *meet) boxes() (boxes []box, capped bool) {
	for col, s := range m.more {
		if !m.base.narrow(col, types.IntersectAll(s)) {
			return nil, m.capped
		}
	}
	if !m.addNullable() {
		return nil, m.capped
	}
	slices.SortStableFunc(m.unions, func(a, b []box) int {
		return cmp.Or(types.Bit(rulesOut(a))-types.Bit(rulesOut(b)), len(a)-len(b))
	})
	boxes = []box{m.base}
	for _, u := range m.unions {
		if len(boxes) > maxMultiplied || len(boxes) > maxRuledOut && rulesOut(u) || len(boxes)*len(u) > maxBoxes {
			m.capped = true
			continue
		}
		var next []box
		for _, b := range boxes {
			m.env.tick()
			for _, o := range u {
				if c := b.clone(); c.intersect(o) {
					next = append(next, c)
				}
			}
		}
		boxes = next
	}
	return boxes, m.capped
}

// rulesOut reports whether the boxes of u only exclude values and bind no column: a <> 1 OR b <> 'x'.
func rulesOut(u []box) bool {
	return len(u) > 1 && !slices.ContainsFunc(u, func(b box) bool {
		return len(b.nulls) > 0 || slices.ContainsFunc(b.cols, func(s types.Set) bool {
			return len(s) > 0 && (!s[0].Lo.IsNull() || !s[len(s)-1].Hi.IsNull())
		})
	})
}

// union returns the boxes of the rows for which a Constraint of kind Any can be true.
func (x boxMaker) union(c *solve.Constraint) (union []box, capped bool) {
	at := map[int]int{} // index in union of the box for a column, if that is its only condition
	for i := range c.Of {
		x.env.tick()
		o := &c.Of[i]
		alone := o.Kind == solve.One && !o.Null && o.Col < x.width()
		if n, known := at[o.Col]; known && alone {
			union[n].cols[o.Col] = union[n].cols[o.Col].Union(o.Set)
			continue
		}
		bs, c := x.boxes(o)
		if capped = capped || c; alone && len(bs) == 1 && bs[0].cols[o.Col] != nil {
			at[o.Col] = len(union)
		}
		if union = append(union, bs...); len(union) > maxBoxes {
			return []box{x.all()}, true
		}
	}
	return union, capped
}
