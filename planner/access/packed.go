package access

import (
	"bytes"

	"github.com/hql-db/hql/filter"
)

// qualifiers is the range of qualifiers that the rows of boxes can have where a column's qualifier is made of a
// part: the servers seek in wide rows. It may keep more cells than the predicates do; nil keeps all.
func (c *candidate) qualifiers(boxes []box) filter.Filter {
	p := c.scan.Layout.Packed
	if p == nil || len(p.Parts) != 1 || p.Parts[0].Literal != nil || len(c.scan.Table.Families) != 1 {
		return nil
	}
	part := p.Parts[0]
	if part.ManyScales() { // equal numbers of other scales have other bytes
		return nil
	}
	var family string
	for _, col := range c.scan.Table.Columns {
		if col.Packed != nil {
			if family = col.Family; col.HoldsPoints() { // a cell may hold more than its qualifier begins with
				return nil
			}
		}
	}
	var least, end []byte
	found := false
	for _, b := range boxes {
		set, ok := c.builder.image(&path{sets: facts{base: b.cols}}, part)
		if !ok {
			return nil
		}
		if dom, ok := part.Domain(); ok && dom.SubsetOf(set) {
			return nil
		}
		for _, iv := range set {
			rs, _, ok := part.Ranges(nil, iv)
			if !ok {
				return nil
			}
			for _, r := range rs {
				hi := r.Hi
				if r.Point {
					hi = append(bytes.Clone(r.Lo), 0)
				}
				if !found || bytes.Compare(r.Lo, least) < 0 {
					least = r.Lo
				}
				if !found || len(end) > 0 && (len(hi) == 0 || bytes.Compare(hi, end) > 0) {
					end = hi
				}
				found = true
			}
		}
	}
	if !found || len(least) == 0 && len(end) == 0 {
		return nil
	}
	return filter.ColumnRange{Family: family, Min: least, Max: end}
}
