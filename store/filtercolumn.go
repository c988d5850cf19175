package store

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tsuna/gohbase/pb"
)

// qualifierFilter and familyFilter compare names.
type (
	qualifierFilter struct {
		filterBase
		test test
	}
	familyFilter struct {
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

// timestampsFilter keeps versions with one of several timestamps (TimestampsFilter).
type timestampsFilter struct {
	filterBase
	stamps []int64 // sorted, distinct
}

func newTimestamps(m *pb.TimestampsFilter) (filter, error) {
	stamps := slices.Compact(slices.Sorted(slices.Values(m.GetTimestamps())))
	if len(stamps) > 0 && stamps[0] < 0 {
		return nil, fmt.Errorf("must be positive %d", stamps[0])
	}
	return &timestampsFilter{stamps: stamps}, nil
}

func (f *timestampsFilter) hinting() bool { return true }

func (f *timestampsFilter) cell(c *cell) returnCode {
	i, found := slices.BinarySearch(f.stamps, c.ts)
	switch {
	case found:
		return include
	case i == 0:
		return nextCol
	}
	return skip
}

// keyOnlyFilter empties values (KeyOnlyFilter).
type keyOnlyFilter struct{ filterBase }

func (keyOnlyFilter) transform(c *cell) { c.value = nil }

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
