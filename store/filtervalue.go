package store

import (
	"bytes"

	"github.com/tsuna/gohbase/pb"
)

// singleColumnValueFilter keeps rows by the value of one column (SingleColumnValueFilter). It sees only columns that the
// scan reads. Without latestOnly it tries older versions until one matches.
type singleColumnValueFilter struct {
	filterBase
	family, qualifier           []byte
	test                        test
	filterIfMissing, latestOnly bool
	found, matched              bool
}

func newSingleColumnValue(m *pb.SingleColumnValueFilter) (filter, error) {
	t, err := newTest(&pb.CompareFilter{CompareOp: m.CompareOp, Comparator: m.Comparator})
	if err != nil {
		return nil, err
	}
	return &singleColumnValueFilter{family: m.GetColumnFamily(), qualifier: m.GetColumnQualifier(), test: t,
		filterIfMissing: m.GetFilterIfMissing(), latestOnly: m.GetLatestVersionOnly()}, nil
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

func (f *singleColumnValueFilter) essential(family []byte) bool {
	return !f.filterIfMissing || bytes.Equal(family, f.family)
}
