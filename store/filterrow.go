package store

import (
	"bytes"
	"math/rand/v2"
)

// rowFilter compares the row's key (RowFilter).
type rowFilter struct {
	filterBase
	test    test
	refused bool
}

func (f *rowFilter) reset() { f.refused = false }

func (f *rowFilter) rowKey(row []byte) bool {
	if f.test.refuses(row) {
		f.refused = true
	}
	return f.refused
}

func (f *rowFilter) cell(*cell) returnCode {
	if f.refused {
		return nextRow
	}
	return include
}

func (f *rowFilter) row() bool { return f.refused }

// prefixFilter keeps rows whose key has a prefix and ends the region behind them
// (PrefixFilter). A nil prefix refuses every row.
type prefixFilter struct {
	filterBase
	prefix                    []byte
	passed, refused, reversed bool
}

func (f *prefixFilter) reset() { f.refused = true }

func (f *prefixFilter) rowKey(row []byte) bool {
	if f.prefix == nil || f.passed || len(row) < len(f.prefix) {
		return true
	}
	c := bytes.Compare(row[:len(f.prefix)], f.prefix)
	if f.reversed && c < 0 || !f.reversed && c > 0 {
		f.passed = true
	}
	f.refused = c != 0
	return f.refused
}

func (f *prefixFilter) cell(*cell) returnCode {
	if f.refused {
		return nextRow
	}
	return include
}

func (f *prefixFilter) row() bool          { return f.refused }
func (f *prefixFilter) allRemaining() bool { return f.passed }

// inclusiveStopFilter ends the region behind a row (InclusiveStopFilter).
type inclusiveStopFilter struct {
	filterBase
	stop           []byte
	done, reversed bool
}

func (f *inclusiveStopFilter) rowKey(row []byte) bool {
	if f.done {
		return true
	}
	c := bytes.Compare(row, f.stop)
	f.done = f.reversed && c < 0 || !f.reversed && c > 0
	return f.done
}

func (f *inclusiveStopFilter) cell(*cell) returnCode {
	if f.done {
		return nextRow
	}
	return include
}

func (f *inclusiveStopFilter) allRemaining() bool { return f.done }

// pageFilter keeps the first rows that reach it, in each region anew (PageFilter). It counts every row that it is asked
// about: after a member of a list that refuses rows, only the remaining ones.
type pageFilter struct {
	filterBase
	size, accepted int64
}

func (f *pageFilter) rowKey([]byte) bool { return f.allRemaining() }
func (f *pageFilter) allRemaining() bool { return f.accepted >= f.size }
func (f *pageFilter) hasRow() bool       { return true }

func (f *pageFilter) row() bool {
	f.accepted++
	return f.accepted > f.size
}

// randomRowFilter keeps each row with a probability (RandomRowFilter).
type randomRowFilter struct {
	filterBase
	chance  float32
	refused bool
}

func (f *randomRowFilter) reset()       { f.refused = false }
func (f *randomRowFilter) hasRow() bool { return true }
func (f *randomRowFilter) row() bool    { return f.refused }

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

func (f *randomRowFilter) cell(*cell) returnCode {
	if f.refused {
		return nextRow
	}
	return include
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

// whileMatchFilter ends the region as soon as its member refuses a row or does not
// include a cell (WhileMatchFilter).
type whileMatchFilter struct {
	filterBase
	in   filter
	done bool
}

func (f *whileMatchFilter) reset()             { f.in.reset() }
func (f *whileMatchFilter) allRemaining() bool { return f.done || f.in.allRemaining() }

func (f *whileMatchFilter) rowKey(row []byte) bool {
	if f.allRemaining() {
		return true
	}
	refused := f.in.rowKey(row)
	f.done = f.done || refused
	return refused
}

func (f *whileMatchFilter) cell(c *cell) returnCode {
	rc := f.in.cell(c)
	f.done = f.done || rc != include
	return rc
}

func (f *whileMatchFilter) transform(c *cell) { f.in.transform(c) }
func (f *whileMatchFilter) hasRow() bool      { return true }

func (f *whileMatchFilter) row() bool {
	refused := f.in.row()
	f.done = f.done || refused
	return refused
}

func (f *whileMatchFilter) essential(family []byte) bool { return f.in.essential(family) }
