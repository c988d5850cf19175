package store

import (
	"math/rand/v2"
)

// byKey is a filter that refuses rows by their keys.
type byKey struct {
	filterBase
	refused bool
}

func (f *byKey) reset()    { f.refused = false }
func (f *byKey) row() bool { return f.refused }

func (f *byKey) cell(*cell) returnCode {
	if f.refused {
		return nextRow
	}
	return include
}

// rowFilter compares the row's key (RowFilter).
type rowFilter struct {
	byKey
	test test
}

func (f *rowFilter) rowKey(row []byte) bool {
	if f.test.refuses(row) {
		f.refused = true
	}
	return f.refused
}

// randomRowFilter keeps each row with a probability (RandomRowFilter).
type randomRowFilter struct {
	byKey
	chance float32
}

func (f *randomRowFilter) hasRow() bool { return true }

func (f *randomRowFilter) rowKey([]byte) bool {
	switch {
	case f.chance < 0:
		f.refused = true
	case f.chance > 1:
		f.refused = false
	default:
		f.refused = rand.Float32() >= f.chance
	}
	return f.refused
}

// skipFilter drops the whole row when its member does not include one of its cells
// (SkipFilter). It does not pass on row keys, hints or the end of the scan.
type skipFilter struct {
	filterBase
	in      filter
	refused bool
}

func (f *skipFilter) reset() {
	f.in.reset()
	f.refused = false
}

func (f *skipFilter) cell(c *cell) returnCode {
	rc := f.in.cell(c)
	f.refused = f.refused || rc != include
	return rc
}

func (f *skipFilter) transform(c *cell)            { f.in.transform(c) }
func (f *skipFilter) hasRow() bool                 { return true }
func (f *skipFilter) row() bool                    { return f.refused }
func (f *skipFilter) essential(family []byte) bool { return f.in.essential(family) }
