package store

import (
	"bytes"
	"math"
	"slices"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hql-db/hql/internal/wire"
)

// query is a Get or Scan as a region reads it.
type query struct {
	start, stop               []byte // empty: open
	includeStart, includeStop bool
	reversed                  bool
	get                       bool // one row, start
	families                  []familyQuery
	times                     timeRange
	maxVersions               int
	storeLimit                int // cells of each row and family; 0: all
	maxResultSize             int64
	filter                    filter
	// onDemand means that families which the filter does not need are read only for rows that the filter keeps.
	onDemand bool
}

// familyQuery is the part of a query that concerns one family.
type familyQuery struct {
	family     *family
	qualifiers [][]byte // sorted, distinct; nil: all
}

// timeRange is [from, to) in milliseconds.
type timeRange struct {
	from, to int64
	all      bool
}

func newTimeRange(m *pb.TimeRange) (timeRange, error) {
	t := timeRange{to: math.MaxInt64}
	if m != nil && m.From != nil {
		t.from = int64(m.GetFrom())
	}
	if m != nil && m.To != nil {
		t.to = int64(m.GetTo())
	}
	if t.from < 0 || t.to < 0 {
		return t, illegalArgument("Timestamp cannot be negative. minStamp:%d, maxStamp:%d", t.from, t.to)
	}
	if t.to < t.from {
		return t, illegalArgument("maxStamp is smaller than minStamp")
	}
	t.all = t.from == 0 && t.to == math.MaxInt64
	return t, nil
}

// compare places a timestamp: -1 before the range, 0 in it, 1 after it.
func (t *timeRange) compare(ts int64) int {
	switch {
	case t.all:
		return 0
	case ts < t.from:
		return -1
	case ts >= t.to:
		return 1
	}
	return 0
}

// Fields of the protocol that gohbase's messages do not know.
const (
	fieldScanIncludeStart protowire.Number = 21
	fieldScanIncludeStop  protowire.Number = 22
	fieldLimitOfRows      protowire.Number = 11
	fieldScanMetrics      protowire.Number = 10 // of ScanResponse
)

// columnsQuery reads the parts that Gets and Scans have in common.
type columnsQuery struct {
	columns     []*pb.Column
	times       *pb.TimeRange
	filter      *pb.Filter
	maxVersions *uint32
	storeLimit  *uint32
	last        *lastFilter // of the Get before; may be nil
}

func (q *query) readColumns(t *table, g *region, c columnsQuery) (err error) {
	if q.times, err = newTimeRange(c.times); err != nil {
		return err
	}
	if len(c.columns) == 0 {
		for _, f := range t.families {
			q.families = append(q.families, familyQuery{f, nil})
		}
	}
	for _, col := range c.columns {
		f := t.family(col.GetFamily())
		if f == nil {
			return noSuchFamily(col.GetFamily(), t, g)
		}
		var qualifiers [][]byte
		if len(col.GetQualifier()) > 0 {
			qualifiers = slices.SortedFunc(slices.Values(col.GetQualifier()), bytes.Compare)
			qualifiers = slices.CompactFunc(qualifiers, bytes.Equal)
		}
		q.families = append(q.families, familyQuery{f, qualifiers})
	}
	slices.SortFunc(q.families, func(a, b familyQuery) int { return bytes.Compare(a.family.name, b.family.name) })
	q.maxVersions = 1
	if c.maxVersions != nil {
		q.maxVersions = int(max(1, min(*c.maxVersions, math.MaxInt32)))
	}
	if c.storeLimit != nil {
		q.storeLimit = int(*c.storeLimit)
	}
	if c.last != nil && c.last.filter != nil && c.last.of == c.filter {
		q.filter = c.last.filter
		q.filter.reset()
		return nil
	}
	if q.filter, err = newFilter(c.filter, q.reversed); c.last != nil && restarts(q.filter) {
		*c.last = lastFilter{c.filter, q.filter}
	}
	return err
}

func noSuchFamily(name []byte, t *table, g *region) error {
	return throw(classNoFamily, "Column family %s does not exist in region %s in table '%s'", name, g.name, t.name)
}

func outOfRange(class, doing string, g *region, row []byte) error {
	return throw(class, "Requested row out of range for %s on HRegion %s, startKey='%s', getEndKey()='%s', row='%s'", doing, g.name, g.start, g.stop, row)
}

// checkRow refuses row keys that no request may contain.
func checkRow(row []byte) error {
	if len(row) == 0 {
		return illegalArgument("Row length is 0")
	}
	if len(row) > math.MaxInt16 {
		return illegalArgument("Row length %d is > %d", len(row), math.MaxInt16)
	}
	return nil
}

// newGet makes the query of a Get.
func newGet(t *table, g *region, m *pb.Get, last *lastFilter) (*query, error) {
	if err := checkRow(m.GetRow()); err != nil {
		return nil, err
	}
	if !g.contains(m.GetRow()) {
		return nil, outOfRange(classWrongRegion, "Get", g, m.GetRow())
	}
	q := &query{start: m.GetRow(), stop: m.GetRow(), includeStart: true, includeStop: true, get: true, onDemand: true}
	return q, q.readColumns(t, g, columnsQuery{m.Column, m.TimeRange, m.Filter, m.MaxVersions, m.StoreLimit, last})
}

// newScan makes the query of a Scan. A scan whose start is its stop reads that row, unless it excludes the stop row.
func newScan(t *table, g *region, m *pb.Scan) (*query, error) {
	q := &query{start: m.GetStartRow(), stop: m.GetStopRow(), includeStart: true, reversed: m.GetReversed(),
		maxResultSize: int64(min(m.GetMaxResultSize(), math.MaxInt64)), onDemand: true}
	for name, row := range map[string][]byte{"startRow": q.start, "stopRow": q.stop} {
		if len(row) > math.MaxInt16 {
			return nil, illegalArgument("%s's length must be less than or equal to %d to meet the criteria for a row key.", name, math.MaxInt16)
		}
	}
	same := len(q.start) > 0 && bytes.Equal(q.start, q.stop)
	if f, ok := wire.Unknown(m, fieldScanIncludeStart); ok {
		q.includeStart = f.Varint != 0
	}
	q.includeStop = same
	if f, ok := wire.Unknown(m, fieldScanIncludeStop); ok {
		q.includeStop = f.Varint != 0
	}
	q.get = same && q.includeStart && q.includeStop
	if m.LoadColumnFamiliesOnDemand != nil {
		q.onDemand = m.GetLoadColumnFamiliesOnDemand()
	}
	return q, q.readColumns(t, g, columnsQuery{m.Column, m.TimeRange, m.Filter, m.MaxVersions, m.StoreLimit, nil})
}
