package store

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"

	"github.com/hql-db/hql/internal/poison"
)

// storeScanner walks one family over the rows of a region.
type storeScanner struct {
	it      *pebble.Iterator // nil: cells are read
	cells   cachedReader
	family  *family
	meta    bool
	query   *query
	matcher matcher

	cur   cell // the current cell; its row is in its own memory
	valid bool
	// rowKey is the encoded start of all keys of the current row: family and row.
	rowKey  []byte
	qualBuf []byte
	seekBuf []byte
	inRow   int    // cells returned of the current row
	rows    uint64 // rows met; distinguishes one row from the next
	err     error
}

// rows returns the first and the last of the rows of a region that a query reads; empty: open.
func (q *query) rows(g *region) (low []byte, lowIncl bool, high []byte, highIncl bool) {
	low, lowIncl, high, highIncl = q.start, q.includeStart, q.stop, q.includeStop
	if q.reversed {
		low, lowIncl, high, highIncl = high, highIncl, low, lowIncl
	}
	if len(low) == 0 || bytes.Compare(low, g.start) < 0 {
		low, lowIncl = g.start, true
	}
	if len(high) == 0 || len(g.stop) > 0 && bytes.Compare(high, g.stop) >= 0 {
		high, highIncl = g.stop, false
	}
	return low, lowIncl, high, highIncl
}

// bounds returns the bounds of the keys of a family that a query reads of a region.
func (q *query) bounds(f *family, g *region) (lower, upper []byte) {
	low, lowIncl, high, highIncl := q.rows(g)
	lower = append([]byte{}, f.prefix...)
	if len(low) > 0 {
		lower = appendRow(lower, low, g.table.meta)
		if !lowIncl {
			lower[len(lower)-1] = pastEnd
		}
	}
	upper = append([]byte{}, f.prefix...)
	if len(high) > 0 {
		upper = appendRow(upper, high, g.table.meta)
		if highIncl {
			upper[len(upper)-1] = pastEnd
		}
	} else {
		upper[prefixLen-1]++ // family ids stay below 255
	}
	if bytes.Compare(lower, upper) > 0 {
		upper = lower
	}
	return lower, upper
}

// start positions the scanner on its first row.
func (s *storeScanner) start() {
	if s.it == nil {
		s.startCached()
		return
	}
	if s.query.reversed {
		s.land(s.it.Last())
		s.toRowStart()
		return
	}
	s.land(s.it.First())
}

// land reads the iterator's current cell.
func (s *storeScanner) land(ok bool) {
	s.valid = ok
	if !ok {
		if err := s.it.Error(); err != nil {
			s.err = err
		}
		return
	}
	key := s.it.Key()
	if len(s.rowKey) == 0 || !bytes.HasPrefix(key, s.rowKey) {
		poison.Bytes(s.cur.row)
		row, n := appendUnescaped(s.cur.row[:0], key[prefixLen:])
		if n == 0 {
			s.corrupt(key)
			return
		}
		s.cur.row = row
		s.rowKey = append(s.rowKey[:0], key[:prefixLen+n]...)
		s.rows++
	}
	rest := key[len(s.rowKey):]
	if len(rest) < 2+trailerLen {
		s.corrupt(key)
		return
	}
	column := rest[:len(rest)-trailerLen-2]
	if bytes.IndexByte(column, escape) >= 0 {
		poison.Bytes(s.qualBuf)
		s.qualBuf, _ = appendUnescaped(s.qualBuf[:0], rest)
		column = s.qualBuf
	}
	tail := rest[len(rest)-trailerLen:]
	value, err := s.it.ValueAndErr()
	if err != nil {
		s.valid, s.err = false, err
		return
	}
	s.cur.qualifier = column
	s.cur.ts = int64(^binary.BigEndian.Uint64(tail) ^ 1<<63)
	s.cur.typ = cellType(^tail[8])
	s.cur.value = storedValue(value)
	if len(value) > 0 && value[0] != valuePrefix || s.cur.typ != typePut && s.cur.typ != typeDeleteColumn && s.cur.typ != typeDeleteFamily {
		s.valid, s.err = false, throw(classIO, "another version wrote the cell with key %x", key)
	}
}

func (s *storeScanner) corrupt(key []byte) {
	s.valid = false
	s.err = throw(classIO, "malformed key %x", key)
}

// landAhead reads the cell that the iterator has moved forward to; ok is the iterator's result. In a reversed scan, if
// the move left the current row, landAhead goes to the row before it.
func (s *storeScanner) landAhead(ok bool) {
	if s.query.reversed && (!ok && s.it.Error() == nil || ok && !bytes.HasPrefix(s.it.Key(), s.rowKey)) {
		s.land(s.it.SeekLT(s.rowKey))
		s.toRowStart()
		return
	}
	s.land(ok)
}

// step goes to the next cell.
func (s *storeScanner) step() {
	if s.it == nil {
		s.goTo(s.cells.i + 1)
		return
	}
	s.landAhead(s.it.Next())
}

// stepsBeforeSeek is how many single steps a scanner tries before it seeks: a seek costs about as much as a few steps.
const stepsBeforeSeek = 6

// toNextRow leaves the current row.
func (s *storeScanner) toNextRow() {
	if s.it == nil {
		s.goTo(s.cells.rowEnd())
		return
	}
	if s.query.reversed {
		s.land(s.it.SeekLT(s.rowKey))
		s.toRowStart()
		return
	}
	s.seekBuf = append(s.seekBuf[:0], s.rowKey...)
	s.seekBuf[len(s.seekBuf)-1] = pastEnd
	s.forwardTo()
}

// toRowStart goes back to the first cell of the current row.
func (s *storeScanner) toRowStart() {
	if s.valid {
		s.land(s.it.SeekGE(s.rowKey))
	}
}

// toNextColumn leaves the current column for the next one that the matcher wants.
func (s *storeScanner) toNextColumn() {
	if len(s.cur.qualifier) == 0 {
		s.step() // markers of the family may be among the versions of the empty qualifier
		return
	}
	hint := s.matcher.columns.hint()
	if s.it == nil {
		for row, of := s.rows, s.cur.qualifier; ; {
			s.step()
			if !s.valid || s.rows != row || hint == nil && !bytes.Equal(s.cur.qualifier, of) ||
				hint != nil && bytes.Compare(s.cur.qualifier, hint) >= 0 {
				return
			}
		}
	}
	s.seekBuf = append(s.seekBuf[:0], s.rowKey...)
	if hint != nil {
		s.seekBuf = appendColumn(s.seekBuf, hint)
	} else {
		s.seekBuf = appendColumn(s.seekBuf, s.cur.qualifier)
		s.seekBuf[len(s.seekBuf)-1] = pastEnd
	}
	s.forwardTo()
}

// forwardTo goes to the first key at or behind seekBuf.
func (s *storeScanner) forwardTo() {
	for range stepsBeforeSeek {
		if !s.it.Next() {
			s.landAhead(false)
			return
		}
		if bytes.Compare(s.it.Key(), s.seekBuf) >= 0 {
			s.landAhead(true)
			return
		}
	}
	s.landAhead(s.it.SeekGE(s.seekBuf))
}

// toHint goes to the filter's hint h, or to the next cell if h is not ahead of the current cell. In a reversed scan
// only a hint to another row is ahead: hints to columns are for forward scans.
func (s *storeScanner) toHint(h *cell) {
	if h == nil {
		s.step()
		return
	}
	d := compareCells(h, &s.cur)
	if s.query.reversed {
		d = bytes.Compare(s.cur.row, h.row)
	}
	if d <= 0 {
		s.step()
		return
	}
	if s.it == nil {
		s.seekCached(h)
		return
	}
	key := appendRow(append(s.seekBuf[:0], s.family.prefix...), h.row, s.meta)
	switch c := bytes.Compare(h.family, s.family.name); {
	case c > 0:
		key[len(key)-1] = pastEnd
	case c == 0:
		key = appendVersion(appendColumn(key, h.qualifier), h.ts, h.typ)
	}
	s.seekBuf = key
	if !s.query.reversed {
		s.land(s.it.SeekGE(key))
		return
	}
	// A reversed scan goes on in the hinted row, from the hint on. If the row has no cell there, it goes on at the
	// start of the row before.
	_, n := appendUnescaped(nil, key[prefixLen:])
	hinted := key[:prefixLen+n]
	if s.land(s.it.SeekGE(key)); s.valid && bytes.Equal(s.rowKey, hinted) || s.err != nil {
		return
	}
	s.land(s.it.SeekLT(hinted))
	s.toRowStart()
}

// moreRows reports whether rows behind the current one can belong to the scan.
func (s *storeScanner) moreRows() bool { return !s.query.get }

// finish ends the scanner.
func (s *storeScanner) finish() bool {
	s.valid = false
	return false
}

// next adds the cells of the current row to b until the row ends or a limit is reached. It reports whether more cells
// follow. With a nil b it only skips.
func (s *storeScanner) next(ctx context.Context, b *block, lim *limits) (more bool, err error) {
	if !s.valid {
		return false, s.err
	}
	m := &s.matcher
	if !lim.betweenCells() || !m.inRow {
		m.startRow(s.rows)
		s.inRow = 0
	}
	count := 0
	for s.valid {
		if lim.poll(ctx) {
			return false, ctx.Err()
		}
		if m.filter != nil && m.filter.allRemaining() {
			return s.finish(), s.err
		}
		if !m.inRow || m.currentRow != s.rows {
			m.inRow = false
			if s.query.get {
				return s.finish(), s.err
			}
			return true, nil
		}
		code := m.match(&s.cur)
		switch code {
		case matchInclude, matchIncludeNextCol, matchIncludeNextRow:
			if m.filter != nil {
				m.filter.transform(&s.cur)
			}
			s.emit(b, lim)
			count++
			if s.inRow++; s.query.storeLimit > 0 && s.inRow >= s.query.storeLimit {
				code = matchIncludeNextRow
			}
			switch code {
			case matchIncludeNextRow:
				if !s.moreRows() {
					return s.finish(), s.err
				}
				m.inRow = false
				s.toNextRow()
			case matchIncludeNextCol:
				s.toNextColumn()
			default:
				s.step()
			}
			if lim.reached(betweenCells) {
				return s.valid || count > 0, s.err
			}
		case matchNextRow:
			if !s.moreRows() {
				return s.finish(), s.err
			}
			m.inRow = false
			s.toNextRow()
		case matchNextCol:
			s.toNextColumn()
		case matchHint:
			s.toHint(m.filter.nextHint(&s.cur))
		default:
			s.step()
		}
	}
	return count > 0, s.err
}

// emit adds the current cell to b and counts it.
func (s *storeScanner) emit(b *block, lim *limits) {
	size := cellSize(&s.cur)
	switch {
	case b == nil:
	case s.it == nil && len(s.cells.cell()) == size: // no filter took the value away
		b.buf = append(b.buf, s.cells.cell()...)
		b.cells++
	default:
		b.add(&s.cur)
	}
	lim.count(size)
}
