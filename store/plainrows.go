package store

import (
	"bytes"
	"context"
	"slices"
)

// rowProgram is a filter for rows of plain cells of a family. It decides like the filter that it was made from, with less
// work for a cell.
type rowProgram struct {
	tests []columnTest // a row must pass all
	keep  []bool       // by the name of a cell: it is kept even if it is not the first of its row; nil: all are kept
}

// columnTest is a test of a column.
type columnTest struct {
	*singleColumnValueFilter
	name int // of the column's cells; -1: there are none
}

// newRowProgram returns the program for f; nil: f is too complicated.
func newRowProgram(f filter, of *family, c *cachedCells) *rowProgram {
	p, list := &rowProgram{}, []filter{f}
	if f == nil {
		return p
	}
	if c.name == nil {
		return nil
	}
	if and, ok := f.(*filterAnd); ok {
		list = and.in
	}
	for i, f := range list {
		switch f := f.(type) {
		case *singleColumnValueFilter:
			if !f.latestOnly || !bytes.Equal(of.name, f.family) {
				return nil
			}
			name := slices.IndexFunc(c.names, func(name []byte) bool { return bytes.Equal(name, f.qualifier) })
			p.tests = append(p.tests, columnTest{f, name})
		case *filterOr: // the last one: after a cell that a list refuses, it does not ask its other members
			if i < len(list)-1 || !p.keeps(f, c) {
				return nil
			}
		default:
			return nil
		}
	}
	return p
}

// keeps sets keep, if l keeps columns by name and the first cell of a row. Behind this cell, a list without names would
// end the row, and tests would not see the other cells.
func (p *rowProgram) keeps(l *filterOr, c *cachedCells) (first bool) {
	p.keep = make([]bool, len(c.names))
	named := false
	for _, f := range l.in {
		switch f := f.(type) {
		case *firstKeyOnlyFilter:
			first = true
		case *qualifierFilter:
			named = true
			for i, name := range c.names {
				p.keep[i] = p.keep[i] || !f.test.refuses(name)
			}
		default:
			return false
		}
	}
	return first && named
}

// add adds the cells of a row that p keeps to b: none if it refuses the row.
func (p *rowProgram) add(c *cachedCells, first, end int, b *block) {
	for k := range p.tests {
		t, at := &p.tests[k], first
		for at < end && int(c.name[at]) != t.name {
			at++
		}
		if at == end && t.filterIfMissing || at < end && t.test.refuses(c.value(at)) {
			return
		}
	}
	from, to := first, first+1 // cells to copy together
	for ; to < end; to++ {
		if p.keep != nil && !p.keep[c.name[to]] {
			b.buf = append(b.buf, c.buf[c.at[from]:c.at[to]]...)
			b.cells, from = b.cells+to-from, to+1
		}
	}
	b.buf = append(b.buf, c.buf[c.at[from]:c.at[end]]...)
	b.cells += end - from
}

// plainRows adds up to most rows to b and returns their number. It stops before a row for which a limit may matter, and
// before the last one of the region: next reads these.
func (r *regionScanner) plainRows(ctx context.Context, b *block, lim *limits, most int) (n int, err error) {
	if r.plain == nil || lim.cut > 0 || lim.isCut {
		return 0, nil
	}
	s := r.stores[0]
	c, row := &s.cells, s.cells.row
	if !s.valid || s.matcher.inRow || c.i != int(c.rows[row]) {
		return 0, nil
	}
	if len(b.buf) == 0 {
		rows, left := c.to-row, int(c.at[c.rows[c.to]]-c.at[c.i])
		b.buf = slices.Grow(b.buf, min((left/rows+1)*min(most, rows), int(lim.size), enoughBytes+enoughBytes/64))
	}
	for ; n < most && row+1 < c.to && len(b.buf) < enoughBytes; row++ {
		if lim.poll(ctx) {
			return n, ctx.Err()
		}
		first, end := int(c.rows[row]), int(c.rows[row+1])
		if r.plain.add(c.cachedCells, first, end, b); b.cells == 0 {
			lim.rowsScanned++
			lim.rowsFiltered++
			continue
		}
		size := b.size()
		if lim.size > 0 && lim.sizeDone+size >= lim.size {
			b.drop()
			break
		}
		lim.sizeDone += size
		lim.rowsScanned++
		b.close(false)
		n++
	}
	if row > c.row {
		s.toRow(row)
	}
	return n, nil
}
