package store

import "context"

// limits are the limits of one request and its progress towards them.
type limits struct {
	size int64 // bytes of all cells; 0: no limit
	// wholeRows forbids stopping within a row because of the size: the client cannot join parts, or a filter must see
	// the whole row.
	wholeRows bool
	off       bool // no limits at all, for skipping a refused row

	sizeDone int64
	// cut is the number of further cells after which the size limit counts as reached, for FaultPartialRow; 0: never.
	cut   int
	isCut bool

	rowsScanned, rowsFiltered int64 // HBase's scan metrics: rows looked at, and rows looked at but not returned

	midRow bool // the last result ended within its row
	steps  uint // cells looked at
}

// scope says whether a limit is checked between two rows or between two cells of a row.
type scope bool

const (
	betweenRows  scope = false
	betweenCells scope = true
)

// cellOverhead is added to each cell's length on the wire, in bytes, to check the size limit, because servers count the
// Java object of the cell too.
const cellOverhead = 36

// betweenCells reports whether the request can stop within a row, and the next request continue there.
func (l *limits) betweenCells() bool { return !l.off && !l.wholeRows }

func (l *limits) count(size int) {
	if l.off {
		return
	}
	l.sizeDone += int64(size) + cellOverhead
	if l.cut > 0 {
		l.cut--
		l.isCut = l.isCut || l.cut == 0
	}
}

// reached reports whether the size limit is reached.
func (l *limits) reached(at scope) bool {
	if l.off || at == betweenCells && l.wholeRows {
		return false
	}
	return l.size > 0 && l.sizeDone >= l.size || l.isCut
}

// pollEvery is how many cells are read between two checks of the context.
const pollEvery = 1 << 9

// poll reports whether the request was given up.
func (l *limits) poll(ctx context.Context) bool {
	l.steps++
	return l.steps%pollEvery == 0 && ctx.Err() != nil
}
