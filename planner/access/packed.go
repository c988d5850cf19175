package access

import (
	"bytes"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
)

// qualifiers returns a candidate whose spans are qualifiers instead of keys: those that rows in c's boxes can have, if a
// column's qualifier consists of parts. It returns nil if there is no such column, or if its cells hold more rows than
// their qualifiers tell.
func (c *candidate) qualifiers() *candidate {
	of := c.scan.Layout.Packed
	if of == nil || c.packed != nil {
		return c.packed
	}
	for _, col := range c.scan.Table.Columns {
		if col.Packed != nil && col.HoldsPoints() {
			return nil
		}
	}
	l := &catalog.Layout{Kind: catalog.Copy, Stored: of, Key: of}
	w := newSpanBuilder(l, c.builder.env, &Request{Table: c.scan.Table, Conjuncts: c.builder.conjuncts, columns: *c.builder.columns})
	w.hopping = true // servers neither hop nor seek by patterns within a row
	for _, b := range c.boxes {
		w.key(path{sets: facts{base: b.cols}, nulls: b.nulls}, 0)
	}
	c.packed = &candidate{builder: w, spans: w.spans, scan: &plan.Scan{Table: c.scan.Table, Layout: l, CapHit: w.capped, AllVersions: c.scan.AllVersions}}
	return c.packed
}

// qualifierFilter returns a filter for the range of qualifiers that rows of c can have: servers then seek within wide
// rows. It may keep cells that do not match; nil keeps all cells. It records in the Fates which predicates the filter checks.
//
//	v INT FROM f:[kind AS TEXT(2), n AS UINT32], kind = 'k1' AND n < 7      f:[k1 - k1/7)
func (c *candidate) qualifierFilter() filter.Filter {
	q := c.qualifiers()
	if q == nil || len(q.spans) == 0 || len(c.scan.Table.Families) != 1 {
		return nil
	}
	f := filter.ColumnRange{Family: c.scan.Table.Families[0].Name}
	for i, s := range q.spans {
		stop := s.Stop
		if s.Key {
			stop = append(bytes.Clone(s.Start), 0)
		}
		if i == 0 || bytes.Compare(s.Start, f.Min) < 0 {
			f.Min = s.Start
		}
		if i == 0 || len(f.Max) > 0 && (len(stop) == 0 || bytes.Compare(stop, f.Max) > 0) {
			f.Max = stop
		}
	}
	if len(f.Min) == 0 && len(f.Max) == 0 {
		return nil
	}
	c.compared(only(boundBy(q.builder.uses)), "the servers seek to qualifiers that fit")
	return f
}

// boundBy returns the columns of the parts that uses binds or restricts.
func boundBy(uses []plan.PartUse) map[int]bool {
	of := map[int]bool{}
	for _, u := range uses {
		for _, col := range u.Part.Columns {
			of[col] = of[col] || u.Use == plan.Bound || u.Use == plan.Ranged
		}
	}
	return of
}

// byQualifier reports whether the cells of each row of HBase are in the order of terms.
func (c *candidate) byQualifier(terms []plan.SortTerm) bool {
	q := c.qualifiers()
	if q == nil || q.scan.CapHit || len(q.spans) == 0 {
		return false
	}
	if q.ordered != len(terms) { // all spans of c have the same terms
		q.ordered = len(terms)
		q.unordered()
		q.inOrder(&Request{OrderBy: terms}, false)
	}
	return q.scan.Order == plan.KeyOrder && !q.scan.SortWithin && q.scan.PrefixFix == nil
}
