package store

import (
	"bytes"
	"context"
	"slices"
)

// rowProgram is a filter for rows of plain cells of a family. It decides like the filter that it was made from, with less
// work for a cell.
type rowProgram struct {
	tests []*singleColumnValueFilter // of columns of the family: a row must pass all
	named []*qualifierFilter         // one of them must keep a cell that is not the first of its row; nil: all are kept
}

// newRowProgram returns the program for f; nil: f is too complicated.
func newRowProgram(f filter, of *family) *rowProgram {
	p, list := &rowProgram{}, []filter{f}
	if f == nil {
		list = nil
	} else if and, ok := f.(*filterAnd); ok {
		list = and.in
	}
	for i, f := range list {
		switch f := f.(type) {
		case *singleColumnValueFilter:
			if !f.latestOnly || !bytes.Equal(of.name, f.family) {
				return nil
			}
			p.tests = append(p.tests, f)
		case *filterOr: // the last one: after a cell that a list refuses, it does not ask its other members
			if i < len(list)-1 || !p.keeps(f) {
				return nil
			}
		default:
			return nil
		}
	}
	return p
}

// keeps sets named, if l keeps columns by name and the first cell of a row. Behind this cell, a list without names would
// end the row, and tests would not see the other cells.
func (p *rowProgram) keeps(l *filterOr) (first bool) {
	for _, f := range l.in {
		switch f := f.(type) {
		case *firstKeyOnlyFilter:
			first = true
		case *qualifierFilter:
			p.named = append(p.named, f)
		default:
			return false
		}
	}
	return first && len(p.named) > 0
}

// add adds the cells of a row that p keeps to b: none if it refuses the row.
func (p *rowProgram) add(c *cachedCells, first, end int, b *block) {
	var cur cell
	for _, t := range p.tests {
		found := false
		for i := first; i < end && !found; i++ {
			decodeCell(c.buf[c.at[i]:c.at[i+1]], &cur)
			found = bytes.Equal(cur.qualifier, t.qualifier)
		}
		if !found && t.filterIfMissing || found && t.test.refuses(cur.value) {
			return
		}
	}
	if p.named == nil {
		b.buf, b.cells = append(b.buf, c.buf[c.at[first]:c.at[end]]...), end-first
		return
	}
	for i := first; i < end; i++ {
		decodeCell(c.buf[c.at[i]:c.at[i+1]], &cur)
		if i == first || slices.ContainsFunc(p.named, func(f *qualifierFilter) bool { return !f.test.refuses(cur.qualifier) }) {
			b.buf = append(b.buf, c.buf[c.at[i]:c.at[i+1]]...)
			b.cells++
		}
	}
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
	if cap(b.buf) == 0 {
		rows, left := c.to-row, int(c.at[c.rows[c.to]]-c.at[c.i])
		b.buf = make([]byte, 0, min(left/rows*min(most, rows), int(lim.size), enoughBytes+enoughBytes/64))
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
