package store

import "context"

// limits are those of one request, and how far it is towards them.
type limits struct {
	size  int64 // bytes of all cells; 0: none
	batch int   // cells of one result; 0: none
	// wholeRows forbids to stop within a row for the size: the client cannot join
	// parts, or a filter has to see the whole row.
	wholeRows bool
	off       bool // no limits at all: the walk over a refused row

	sizeDone  int64
	batchDone int
	// cut makes the size reached after so many more cells (a fault); 0: never.
	cut   int
	isCut bool

	rowsScanned, rowsFiltered int64 // looked at, and of them not given: HBase's scan metrics

	midRow bool // the last result ended within its row
	steps  uint // cells looked at
}

// scope is where a limit is asked about.
type scope bool

const (
	betweenRows  scope = false
	betweenCells scope = true
)

// cellOverhead is what a cell counts towards the size limit above its length on the
// wire: servers count the cell's object.
const cellOverhead = 36

// betweenCells reports whether the request can stop within a row, and so go on there.
func (l *limits) betweenCells() bool { return !l.off && (l.batch > 0 || !l.wholeRows) }

func (l *limits) count(size int) {
	if l.off {
		return
	}
	l.sizeDone += int64(size) + cellOverhead
	l.batchDone++
	if l.cut > 0 {
		l.cut--
		l.isCut = l.isCut || l.cut == 0
	}
}

func (l *limits) batchReached() bool { return !l.off && l.batch > 0 && l.batchDone >= l.batch }

func (l *limits) sizeReached(at scope) bool {
	if l.off || at == betweenCells && l.wholeRows {
		return false
	}
	return l.size > 0 && l.sizeDone >= l.size || l.isCut
}

// reached reports whether any limit is.
func (l *limits) reached(at scope) bool {
	return at == betweenCells && l.batchReached() || l.sizeReached(at)
}

// pollEvery is how many cells are looked at between two looks at the context.
const pollEvery = 1 << 9

// poll reports whether the request has been given up.
func (l *limits) poll(ctx context.Context) bool {
	l.steps++
	return l.steps%pollEvery == 0 && ctx.Err() != nil
}
