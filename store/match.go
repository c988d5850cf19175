package store

import (
	"bytes"
	"math"
)

// matchCode says how a family's scanner treats a cell.
type matchCode uint8

const (
	matchInclude matchCode = iota
	matchIncludeNextCol
	matchIncludeNextRow
	matchSkip
	matchNextCol
	matchNextRow
	matchHint
)

// matcher decides on the cells of one family: expiry, delete markers, time range,
// columns, versions, filter, in this order.
type matcher struct {
	times      timeRange
	filter     filter
	oldest     int64 // cells before it have expired
	keepDelete bool  // KEEP_DELETED_CELLS: only markers within the time range count
	columns    columnTracker
	deletes    deleteTracker
	// versions is the number of versions of a column that are returned. The filter sees more: all that the family keeps.
	versions   int
	plain      bool // every cell is a put and is read, unless the filter refuses it
	inRow      bool
	currentRow uint64

	count     int // versions returned of the column in counted
	counted   []byte
	isCounted bool
}

func newMatcher(q *query, fq *familyQuery, now int64) matcher {
	f := fq.family
	m := matcher{times: q.times, filter: q.filter, oldest: math.MinInt64, keepDelete: f.keepDeleted,
		versions: min(q.maxVersions, f.maxVersions)}
	if f.ttl != math.MaxInt64 {
		m.oldest = now - f.ttl
	}
	m.columns = columnTracker{explicit: fq.qualifiers, max: m.versions, min: f.minVersions, oldest: m.oldest}
	if q.filter != nil {
		m.columns.max = f.maxVersions
	}
	return m
}

// startRow prepares for the cells of a row.
func (m *matcher) startRow(row uint64) {
	m.inRow, m.currentRow = true, row
	m.isCounted = false
	m.columns.reset()
	m.deletes.reset()
}

// match decides about a cell of the current row.
func (m *matcher) match(c *cell) matchCode {
	if m.plain {
		if m.filter == nil {
			return matchInclude
		}
		return m.ask(c, matchInclude)
	}
	if m.columns.done() {
		return matchNextRow
	}
	if m.columns.min == 0 && c.ts < m.oldest {
		return m.columns.finish(c)
	}
	if c.typ != typePut {
		if in := m.times.compare(c.ts); in == 0 || in > 0 && !m.keepDelete {
			m.deletes.add(c)
		}
		return matchSkip
	}
	if m.deletes.cover(c) {
		return m.columns.finish(c)
	}
	switch m.times.compare(c.ts) {
	case 1:
		return matchSkip
	case -1:
		return m.columns.finish(c)
	}
	code := m.columns.check(c)
	if m.filter == nil || code > matchIncludeNextRow {
		return code
	}
	return m.ask(c, code)
}

// ask merges the column tracker's code for an included cell with the filter's.
func (m *matcher) ask(c *cell, code matchCode) matchCode {
	switch m.filter.cell(c) {
	case skip:
		return code - matchInclude + matchSkip
	case nextCol:
		if code == matchIncludeNextRow {
			return matchNextRow
		}
		return m.columns.finish(c)
	case nextRow:
		return matchNextRow
	case seekUsingHint:
		return matchHint
	case includeAndNextCol:
		code = max(code, matchIncludeNextCol)
	case includeAndNextRow:
		code = matchIncludeNextRow
	}
	if m.versions < m.columns.max && m.enough(c) {
		if code == matchIncludeNextRow {
			code = matchNextRow
		} else {
			code = matchNextCol
		}
	}
	if code == matchIncludeNextCol || code == matchNextCol {
		m.columns.leave(c)
	}
	return code
}

// enough counts an included version of c's column, and reports whether the query's number of versions was already
// included before it.
func (m *matcher) enough(c *cell) bool {
	if !m.isCounted || !bytes.Equal(m.counted, c.qualifier) {
		m.count, m.isCounted = 0, true
		m.counted = append(m.counted[:0], c.qualifier...)
	}
	m.count++
	return m.count > m.versions
}

// columnTracker counts versions of the columns that are read: of all columns if explicit is nil, else of those listed.
type columnTracker struct {
	explicit [][]byte
	max, min int
	oldest   int64

	index   int // of the explicit column being read
	count   int
	current []byte
	started bool
}

func (t *columnTracker) reset() { t.index, t.count, t.started = 0, 0, false }

// done reports whether all explicit columns have been read.
func (t *columnTracker) done() bool { return t.explicit != nil && t.index >= len(t.explicit) }

// hint returns the qualifier of the next column to read; nil if it is whichever column comes next.
func (t *columnTracker) hint() []byte {
	if t.explicit == nil || t.done() {
		return nil
	}
	return t.explicit[t.index]
}

// check includes a cell if its column is read and the versions to be returned are not complete; otherwise its code says
// where to go.
func (t *columnTracker) check(c *cell) matchCode {
	if t.explicit == nil {
		return t.checkAny(c)
	}
	for {
		if t.done() {
			return matchNextRow
		}
		cmp := bytes.Compare(c.qualifier, t.explicit[t.index])
		if cmp < 0 {
			return matchNextCol
		}
		if cmp == 0 {
			break
		}
		t.next()
	}
	t.count++
	if t.count >= t.max || t.count >= t.min && c.ts < t.oldest {
		t.next()
		if t.done() {
			return matchIncludeNextRow
		}
		return matchIncludeNextCol
	}
	return matchInclude
}

func (t *columnTracker) next() {
	t.index++
	t.count = 0
}

func (t *columnTracker) checkAny(c *cell) matchCode {
	if !t.started || !bytes.Equal(t.current, c.qualifier) {
		t.started, t.count = true, 0
		t.current = append(t.current[:0], c.qualifier...)
	}
	t.count++
	if t.count > t.max || t.count > t.min && c.ts < t.oldest {
		return matchNextCol
	}
	return matchInclude
}

// leave goes past the column of c.
func (t *columnTracker) leave(c *cell) {
	for t.explicit != nil && !t.done() {
		cmp := bytes.Compare(c.qualifier, t.explicit[t.index])
		if cmp >= 0 {
			t.next()
		}
		if cmp <= 0 {
			return
		}
	}
}

// finish leaves the column of c, and returns matchNextRow if all columns have been read, else matchNextCol.
func (t *columnTracker) finish(c *cell) matchCode {
	t.leave(c)
	if t.done() {
		return matchNextRow
	}
	return matchNextCol
}

// deleteTracker collects the delete markers of a row and family. Markers come before the cells that they delete: the
// family's marker first, a column's markers before or among its versions.
type deleteTracker struct {
	hasFamily bool
	familyTS  int64
	hasColumn bool
	qualifier []byte
}

func (d *deleteTracker) reset() { d.hasFamily, d.hasColumn = false, false }

func (d *deleteTracker) add(c *cell) {
	switch {
	case d.hasFamily && c.ts <= d.familyTS:
	case c.typ == typeDeleteFamily:
		d.hasFamily, d.familyTS = true, c.ts
	default:
		d.hasColumn = true
		d.qualifier = append(d.qualifier[:0], c.qualifier...)
	}
}

// cover reports whether a marker deletes c, and with it all older versions of its column.
func (d *deleteTracker) cover(c *cell) bool {
	if d.hasFamily && c.ts <= d.familyTS {
		return true
	}
	d.hasColumn = d.hasColumn && bytes.Equal(c.qualifier, d.qualifier)
	return d.hasColumn
}
