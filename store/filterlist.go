package store

import (
	"bytes"
	"slices"
)

// filterList is the common part of filterAnd and filterOr.
type filterList struct {
	in       []filter
	hasRows  bool
	reversed bool
}

func newFilterList(in []filter, reversed bool) filterList {
	return filterList{in: in, reversed: reversed, hasRows: slices.ContainsFunc(in, filter.hasRow)}
}

func (l *filterList) hasRow() bool  { return l.hasRows }
func (l *filterList) hinting() bool { return false }

func (l *filterList) essential(family []byte) bool {
	return len(l.in) == 0 || slices.ContainsFunc(l.in, func(f filter) bool { return f.essential(family) })
}

// compare orders hints in the direction of the scan.
func (l *filterList) compare(a, b *cell) int {
	if l.reversed {
		return compareCells(b, a)
	}
	return compareCells(a, b)
}

// filterAnd requires all members (MUST_PASS_ALL). It asks the members in order and stops at the first that refuses a
// cell: later members do not see the cell. So a member that counts cells, or that must see its column, gives other
// results after a member that refuses cells.
type filterAnd struct {
	filterList
	hints []filter // members that want to seek
}

func newFilterAnd(in []filter, reversed bool) *filterAnd {
	return &filterAnd{filterList: newFilterList(in, reversed)}
}

func (l *filterAnd) reset() {
	for _, f := range l.in {
		f.reset()
	}
	l.hints = l.hints[:0]
}

func (l *filterAnd) rowKey(row []byte) bool {
	refused, hinted := false, false
	for _, f := range l.in {
		switch {
		case f.allRemaining():
			return true
		case f.rowKey(row):
			refused = true // the others still have to see the row
		case f.hinting():
			hinted = true // it may know where to seek, so it is asked about the cell
		}
	}
	return refused && !hinted
}

func (l *filterAnd) allRemaining() bool {
	return slices.ContainsFunc(l.in, filter.allRemaining)
}

func (l *filterAnd) cell(c *cell) returnCode {
	rc := include
	l.hints = l.hints[:0]
	i := 0
	for ; i < len(l.in); i++ {
		f := l.in[i]
		if f.allRemaining() {
			rc = nextRow
			break
		}
		local := f.cell(c)
		if local == seekUsingHint {
			l.hints = append(l.hints, f)
		}
		if rc = mergeAnd(rc, local); !rc.includes() {
			break
		}
	}
	for i++; i < len(l.in); i++ {
		if f := l.in[i]; f.hinting() && f.cell(c) == seekUsingHint {
			l.hints = append(l.hints, f)
		}
	}
	if len(l.hints) > 0 {
		return seekUsingHint
	}
	return rc
}

// mergeAnd returns the longer of two steps.
func mergeAnd(rc, local returnCode) returnCode {
	if rc == seekUsingHint || local == seekUsingHint {
		return seekUsingHint
	}
	return codeOf(rc.includes() && local.includes(), max(stepOf(rc), stepOf(local)))
}

func codeOf(includes bool, step int) returnCode {
	if includes {
		return [...]returnCode{include, includeAndNextCol, includeAndNextRow}[step]
	}
	return [...]returnCode{skip, nextCol, nextRow}[step]
}

// stepOf returns how far a code goes: 0 to the next cell, 1 to the next column, 2 to the next row. codeOf is the code for a step.
func stepOf(rc returnCode) int {
	switch rc {
	case includeAndNextCol, nextCol:
		return 1
	case includeAndNextRow, nextRow:
		return 2
	}
	return 0
}

func (l *filterAnd) transform(c *cell) {
	for _, f := range l.in {
		f.transform(c)
	}
}

func (l *filterAnd) row() bool {
	return slices.ContainsFunc(l.in, filter.row) // the rest is not asked
}

func (l *filterAnd) nextHint(c *cell) *cell {
	var farthest *cell
	for _, f := range l.hints {
		if f.allRemaining() {
			continue
		}
		h := f.nextHint(c)
		if h == nil && farthest != nil {
			panic(errNoHint)
		}
		if farthest == nil || l.compare(farthest, h) < 0 {
			farthest = h
		}
	}
	return farthest
}

// errNoHint is the exception that a server throws if it compares a hint with a missing hint.
var errNoHint = illegalArgument("NullPointerException: a filter under MUST_PASS_ALL gave no hint after another one had")

// filterOr requires one member (MUST_PASS_ONE). It takes the shortest step, so it remembers how far each member wanted
// to go and does not ask the member before that point.
type filterOr struct {
	filterList
	prev     []returnCode
	prevCell []cell
	waits    []bool // from prevCell on; otherwise the member wants every cell
	included []bool
}

func newFilterOr(in []filter, reversed bool) *filterOr {
	return &filterOr{filterList: newFilterList(in, reversed),
		prev: make([]returnCode, len(in)), prevCell: make([]cell, len(in)), waits: make([]bool, len(in)), included: make([]bool, len(in))}
}

func (l *filterOr) reset() {
	for i, f := range l.in {
		f.reset()
		l.waits[i], l.included[i] = false, false
	}
}

func (l *filterOr) rowKey(row []byte) bool {
	refused := len(l.in) > 0
	for _, f := range l.in {
		if !f.allRemaining() && !f.rowKey(row) {
			refused = false // the others still have to see the row
		}
	}
	return refused
}

func (l *filterOr) allRemaining() bool {
	return len(l.in) > 0 && !slices.ContainsFunc(l.in, func(f filter) bool { return !f.allRemaining() })
}

func (l *filterOr) cell(c *cell) returnCode {
	if len(l.in) == 0 {
		return include
	}
	rc, asked := skip, false
	for i, f := range l.in {
		l.included[i] = false
		if f.allRemaining() {
			continue
		}
		local, known := l.stillPassing(i, c)
		if !known {
			local = f.cell(c)
		}
		l.prev[i] = local
		if local == include || local == skip {
			l.waits[i] = false
		} else if !known || !l.waits[i] || local == seekUsingHint {
			l.waits[i] = true
			l.prevCell[i].setKey(c)
		}
		if asked {
			rc = mergeOr(rc, local)
		} else {
			rc, asked = local, true
		}
		l.included[i] = local.includes()
	}
	return rc
}

// stillPassing returns member i's code for the cell c without asking the member, if c lies within the step that the
// member last asked for; otherwise it returns false.
func (l *filterOr) stillPassing(i int, c *cell) (returnCode, bool) {
	if !l.waits[i] {
		return 0, false
	}
	prev := &l.prevCell[i]
	switch l.prev[i] {
	case seekUsingHint:
		h := l.in[i].nextHint(prev)
		return seekUsingHint, h != nil && l.compare(c, h) < 0
	case nextCol, includeAndNextCol:
		return nextCol, bytes.Equal(prev.qualifier, c.qualifier) && bytes.Equal(prev.family, c.family)
	case nextRow, includeAndNextRow:
		return nextRow, bytes.Equal(prev.family, c.family)
	}
	return 0, false
}

// mergeOr returns the shorter of two steps; a cell is included if either code includes it.
func mergeOr(rc, local returnCode) returnCode {
	if rc == seekUsingHint && local == seekUsingHint {
		return seekUsingHint
	}
	return codeOf(rc.includes() || local.includes(), min(stepOf(rc), stepOf(local))) // a seek has step 0: how far it goes is unknown
}

func (l *filterOr) transform(c *cell) {
	for i, f := range l.in {
		if l.included[i] {
			f.transform(c)
		}
	}
}

func (l *filterOr) row() bool {
	return len(l.in) > 0 && !slices.ContainsFunc(l.in, func(f filter) bool { return !f.row() }) // the rest is not asked
}

func (l *filterOr) nextHint(c *cell) *cell {
	var nearest *cell
	for _, f := range l.in {
		if f.allRemaining() {
			continue
		}
		h := f.nextHint(c)
		if h == nil {
			return nil
		}
		if nearest == nil || l.compare(nearest, h) > 0 {
			nearest = h
		}
	}
	return nearest
}
