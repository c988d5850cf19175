package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tsuna/gohbase/pb"
)

// qualifierFilter and familyFilter compare names. valueFilter compares the value of each version, since an older
// version than the newest may be the result.
type (
	qualifierFilter struct {
		filterBase
		test test
	}
	familyFilter struct {
		filterBase
		test test
	}
	valueFilter struct {
		filterBase
		test test
	}
)

func (f *qualifierFilter) cell(c *cell) returnCode {
	if f.test.refuses(c.qualifier) {
		return skip
	}
	return include
}

func (f *familyFilter) cell(c *cell) returnCode {
	if len(c.family) > 0 && f.test.refuses(c.family) {
		return nextRow
	}
	return include
}

func (f *valueFilter) cell(c *cell) returnCode {
	if f.test.refuses(c.value) {
		return skip
	}
	return include
}

// columnPrefixFilter keeps columns whose qualifier has a prefix, seeking to them (ColumnPrefixFilter).
type columnPrefixFilter struct {
	filterBase
	prefix []byte
}

func (f *columnPrefixFilter) hinting() bool { return true }

func (f *columnPrefixFilter) cell(c *cell) returnCode {
	n := min(len(c.qualifier), len(f.prefix))
	cmp := bytes.Compare(c.qualifier[:n], f.prefix[:n])
	switch {
	case cmp > 0:
		return nextRow
	case cmp < 0 || len(c.qualifier) < len(f.prefix):
		return seekUsingHint
	}
	return include
}

func (f *columnPrefixFilter) nextHint(c *cell) *cell { return firstOnColumn(c, f.prefix) }

// multipleColumnPrefixFilter keeps columns with one of several prefixes (MultipleColumnPrefixFilter).
type multipleColumnPrefixFilter struct {
	filterBase
	prefixes [][]byte // sorted
	hint     []byte
}

func newMultipleColumnPrefix(m *pb.MultipleColumnPrefixFilter) (filter, error) {
	f := &multipleColumnPrefixFilter{prefixes: slices.SortedFunc(slices.Values(m.GetSortedPrefixes()), bytes.Compare)}
	if len(slices.CompactFunc(slices.Clone(f.prefixes), bytes.Equal)) != len(f.prefixes) {
		return nil, errors.New("prefixes must be distinct")
	}
	return f, nil
}

func (f *multipleColumnPrefixFilter) hinting() bool { return true }

func (f *multipleColumnPrefixFilter) cell(c *cell) returnCode {
	if len(f.prefixes) == 0 {
		return include
	}
	i, found := slices.BinarySearchFunc(f.prefixes, c.qualifier, bytes.Compare)
	if found {
		return include
	}
	if i > 0 && bytes.HasPrefix(c.qualifier, f.prefixes[i-1]) {
		return include
	}
	if i == len(f.prefixes) {
		return nextRow
	}
	f.hint = f.prefixes[i]
	return seekUsingHint
}

func (f *multipleColumnPrefixFilter) nextHint(c *cell) *cell { return firstOnColumn(c, f.hint) }

// columnRangeFilter keeps columns whose qualifier lies in a range; nil is open (ColumnRangeFilter).
type columnRangeFilter struct {
	filterBase
	min, max                   []byte
	minInclusive, maxInclusive bool
}

func (f *columnRangeFilter) hinting() bool { return true }

func (f *columnRangeFilter) cell(c *cell) returnCode {
	if f.min != nil {
		cmp := bytes.Compare(c.qualifier, f.min)
		if cmp < 0 {
			return seekUsingHint
		}
		if cmp == 0 && !f.minInclusive {
			return nextCol
		}
	}
	if f.max == nil {
		return include
	}
	if cmp := bytes.Compare(c.qualifier, f.max); cmp < 0 || cmp == 0 && f.maxInclusive {
		return include
	}
	return nextRow
}

func (f *columnRangeFilter) nextHint(c *cell) *cell { return firstOnColumn(c, f.min) }

// columnPaginationFilter keeps a page of a row's columns, counted over all families
// (ColumnPaginationFilter). The page starts at a number of columns or at a qualifier.
type columnPaginationFilter struct {
	filterBase
	limit, offset, count int
	from                 []byte // nil: by offset
}

func newColumnPagination(m *pb.ColumnPaginationFilter) (filter, error) {
	if m.GetLimit() < 0 || m.GetOffset() < 0 {
		return nil, fmt.Errorf("limit and offset must be positive: %d, %d", m.GetLimit(), m.GetOffset())
	}
	return &columnPaginationFilter{limit: int(m.GetLimit()), offset: int(m.GetOffset()), from: m.ColumnOffset}, nil
}

func (f *columnPaginationFilter) reset() { f.count = 0 }

func (f *columnPaginationFilter) cell(c *cell) returnCode {
	if f.from != nil {
		if f.count >= f.limit {
			return nextRow
		}
		if f.count == 0 && bytes.Compare(c.qualifier, f.from) < 0 {
			return seekUsingHint
		}
		f.count++
		return includeAndNextCol
	}
	if f.count >= f.offset+f.limit {
		return nextRow
	}
	f.count++
	if f.count <= f.offset {
		return nextCol
	}
	return includeAndNextCol
}

func (f *columnPaginationFilter) nextHint(c *cell) *cell { return firstOnColumn(c, f.from) }

// columnCountFilter keeps the first columns of a row and then ends: it is meant for Gets (ColumnCountGetFilter).
type columnCountFilter struct {
	filterBase
	limit, count int
}

func (f *columnCountFilter) reset()             { f.count = 0 }
func (f *columnCountFilter) allRemaining() bool { return f.count > f.limit }
func (f *columnCountFilter) rowKey([]byte) bool { return f.allRemaining() }

func (f *columnCountFilter) cell(*cell) returnCode {
	f.count++
	if f.allRemaining() {
		return nextCol
	}
	return includeAndNextCol
}

// timestampsFilter keeps versions with one of several timestamps (TimestampsFilter).
type timestampsFilter struct {
	filterBase
	stamps  []int64 // sorted, distinct
	canHint bool
}

func newTimestamps(m *pb.TimestampsFilter) (filter, error) {
	stamps := slices.Compact(slices.Sorted(slices.Values(m.GetTimestamps())))
	if len(stamps) > 0 && stamps[0] < 0 {
		return nil, fmt.Errorf("must be positive %d", stamps[0])
	}
	return &timestampsFilter{stamps: stamps, canHint: m.GetCanHint()}, nil
}

func (f *timestampsFilter) hinting() bool { return true }

func (f *timestampsFilter) cell(c *cell) returnCode {
	i, found := slices.BinarySearch(f.stamps, c.ts)
	switch {
	case found:
		return include
	case i == 0:
		return nextCol
	case f.canHint:
		return seekUsingHint
	}
	return skip
}

func (f *timestampsFilter) nextHint(c *cell) *cell {
	i, _ := slices.BinarySearch(f.stamps, c.ts)
	h := firstOnColumn(c, c.qualifier)
	h.ts = f.stamps[i-1] // there is one, or cell would have had no hint
	return h
}

// keyOnlyFilter empties values, or replaces them by their length in 4 bytes (KeyOnlyFilter).
type keyOnlyFilter struct {
	filterBase
	lenAsValue bool
}

func (f *keyOnlyFilter) transform(c *cell) {
	if f.lenAsValue {
		c.value = binary.BigEndian.AppendUint32(nil, uint32(len(c.value)))
	} else {
		c.value = nil
	}
}

// firstKeyOnlyFilter keeps the first cell of a row (FirstKeyOnlyFilter).
type firstKeyOnlyFilter struct {
	filterBase
	found bool
}

func (f *firstKeyOnlyFilter) reset() { f.found = false }

func (f *firstKeyOnlyFilter) cell(*cell) returnCode {
	if f.found {
		return nextRow
	}
	f.found = true
	return include
}

// firstMatchingFilter keeps a row's cells up to the first with one of the qualifiers
// (FirstKeyValueMatchingQualifiersFilter).
type firstMatchingFilter struct {
	filterBase
	qualifiers [][]byte
	found      bool
}

func (f *firstMatchingFilter) reset() { f.found = false }

func (f *firstMatchingFilter) cell(c *cell) returnCode {
	if f.found {
		return nextRow
	}
	f.found = slices.ContainsFunc(f.qualifiers, func(q []byte) bool { return bytes.Equal(q, c.qualifier) })
	return include
}
