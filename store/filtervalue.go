package store

import (
	"bytes"
	"errors"

	"github.com/tsuna/gohbase/pb"
)

// singleColumnValueFilter keeps rows by the value of one column (SingleColumnValueFilter); exclude also removes that
// column from the row (SingleColumnValueExcludeFilter). It sees only columns that the scan reads. Without latestOnly it
// tries older versions until one matches.
type singleColumnValueFilter struct {
	filterBase
	family, qualifier                   []byte
	test                                test
	filterIfMissing, latestOnly, remove bool
	found, matched                      bool
}

func newSingleColumnValue(m *pb.SingleColumnValueFilter, exclude bool) (filter, error) {
	t, err := newTest(&pb.CompareFilter{CompareOp: m.CompareOp, Comparator: m.Comparator})
	if err != nil {
		return nil, err
	}
	if t.op == pb.CompareType_NO_OP || t.comparator == nil {
		return nil, errors.New("unknown compare op NO_OP")
	}
	return &singleColumnValueFilter{family: m.GetColumnFamily(), qualifier: m.GetColumnQualifier(), test: t,
		filterIfMissing: m.GetFilterIfMissing(), latestOnly: m.GetLatestVersionOnly(), remove: exclude}, nil
}

func (f *singleColumnValueFilter) reset() { f.found, f.matched = false, false }

func (f *singleColumnValueFilter) isColumn(c *cell) bool {
	return bytes.Equal(c.qualifier, f.qualifier) && bytes.Equal(c.family, f.family)
}

func (f *singleColumnValueFilter) cell(c *cell) returnCode {
	if f.matched {
		return include
	}
	if f.latestOnly && f.found {
		return nextRow
	}
	if !f.isColumn(c) {
		return include
	}
	f.found = true
	if f.test.refuses(c.value) {
		if f.latestOnly {
			return nextRow
		}
		return include
	}
	f.matched = true
	return include
}

func (f *singleColumnValueFilter) hasRow() bool { return true }

func (f *singleColumnValueFilter) row() bool {
	if f.found {
		return !f.matched
	}
	return f.filterIfMissing
}

func (f *singleColumnValueFilter) rowCells(r *rowCells) {
	if f.remove {
		r.removeIf(f.isColumn)
	}
}

func (f *singleColumnValueFilter) essential(family []byte) bool {
	return !f.filterIfMissing || bytes.Equal(family, f.family)
}

// dependentColumnFilter keeps the cells whose timestamp equals that of a version of
// the reference column that passes the test (DependentColumnFilter).
type dependentColumnFilter struct {
	filterBase
	family, qualifier []byte
	test              test
	drop              bool // the reference column itself
	stamps            map[int64]bool
}

func newDependentColumn(m *pb.DependentColumnFilter) (filter, error) {
	t, err := newTest(m.GetCompareFilter())
	if err != nil {
		return nil, err
	}
	return &dependentColumnFilter{family: m.GetColumnFamily(), qualifier: m.GetColumnQualifier(), test: t,
		drop: m.GetDropDependentColumn(), stamps: map[int64]bool{}}, nil
}

func (f *dependentColumnFilter) reset() { clear(f.stamps) }

func (f *dependentColumnFilter) cell(c *cell) returnCode {
	if !bytes.Equal(c.qualifier, f.qualifier) || !bytes.Equal(c.family, f.family) {
		return include
	}
	if f.test.comparator != nil && f.test.refuses(c.value) {
		return skip
	}
	f.stamps[c.ts] = true
	if f.drop {
		return skip
	}
	return include
}

func (f *dependentColumnFilter) hasRow() bool { return true }

func (f *dependentColumnFilter) rowCells(r *rowCells) {
	r.removeIf(func(c *cell) bool { return !f.stamps[c.ts] })
}
