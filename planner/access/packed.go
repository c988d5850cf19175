package access

import (
	"bytes"

	"github.com/hql-db/hql/filter"
)

// qualifiers returns a filter for the range of qualifiers that rows of boxes can have, if a column's qualifier consists of
// a part: servers then seek within wide rows. It may keep cells that do not match. Nil keeps all cells.
func (c *candidate) qualifiers(boxes []box) filter.Filter {
	p := c.scan.Layout.Packed
	if p == nil || len(p.Parts) != 1 || p.Parts[0].Literal != nil || len(c.scan.Table.Families) != 1 {
		return nil
	}
	part := p.Parts[0]
	if part.ManyScales() { // equal numbers with different scales have different bytes
		return nil
	}
	var family string
	for _, col := range c.scan.Table.Columns {
		if col.Packed != nil {
			if family = col.Family; col.HoldsPoints() { // a cell may contain more points than the one in its qualifier
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
