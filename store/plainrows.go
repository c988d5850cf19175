package store

import "context"

// rowProgram is a filter for rows of plain cells: the conditions of rows that it keeps, and the columns that it keeps of
// them. It decides like the filter that it was made from, with less work for a cell.
type rowProgram struct {
	tests []columnTest
	keep  []bool // by number of a column; nil: all. A row's first cell is kept in any case
}

type columnTest struct {
	column int // number; -1: no row has the column
	filter *singleColumnValueFilter
}

// program returns the program for f and the cells c of a family; nil: f is too complicated.
func (c *cachedCells) program(f filter, of *family) *rowProgram {
	p := &rowProgram{}
	list := []filter{f}
	if f == nil {
		list = nil
	} else if and, ok := f.(*filterAnd); ok {
		list = and.in
	}
	for i, f := range list {
		switch f := f.(type) {
		case *singleColumnValueFilter:
			if !f.latestOnly {
				return nil
			}
			t := columnTest{column: -1, filter: f}
			if string(of.name) == string(f.family) {
				t.column = c.number(f.qualifier)
			}
			p.tests = append(p.tests, t)
		case *filterOr: // the last one: after a cell that a list refuses, it does not ask its other members
			if i < len(list)-1 || !p.columns(f, c) {
				return nil
			}
		default:
			return nil
		}
	}
	return p
}

// columns sets the columns that a list keeps, if it keeps columns by name and the first cell of a row. Behind this cell, a
// list without names would end the row, and conditions would not see the other cells.
func (p *rowProgram) columns(l *filterOr, c *cachedCells) bool {
	p.keep = make([]bool, len(c.names))
	first, named := false, false
	for _, f := range l.in {
		switch f := f.(type) {
		case *firstKeyOnlyFilter:
			first = true
		case *qualifierFilter:
			named = true
			for i, cell := range c.names {
				p.keep[i] = p.keep[i] || !f.test.refuses(c.name(cell))
			}
		default:
			return false
		}
	}
	return first && named
}

// refuses reports whether p refuses the row with the cells from first to end.
func (p *rowProgram) refuses(c *cachedCells, first, end int) bool {
	for i := range p.tests {
		t := &p.tests[i]
		at := first
		for at < end && int(c.columns[at]) != t.column {
			at++
		}
		if at == end && t.filter.filterIfMissing || at < end && t.filter.test.refuses(c.value(at)) {
			return true
		}
	}
	return false
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
		if r.plain.refuses(c.cachedCells, first, end) {
			lim.rowsScanned++
			lim.rowsFiltered++
			continue
		}
		if keep := r.plain.keep; keep == nil {
			b.buf, b.cells = append(b.buf, c.buf[c.at[first]:c.at[end]]...), end-first
		} else {
			for i := first; i < end; i++ {
				if i == first || keep[c.columns[i]] {
					b.buf = append(b.buf, c.buf[c.at[i]:c.at[i+1]]...)
					b.cells++
				}
			}
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
