package store

import (
	"slices"

	"github.com/tsuna/gohbase/pb"
)

// returnCode is a filter's verdict on a cell. The order has no meaning.
type returnCode uint8

const (
	include           returnCode = iota
	includeAndNextCol            // this cell, no other version of its column
	includeAndNextRow            // this cell, nothing more of the row in this family
	skip
	nextCol
	nextRow
	seekUsingHint // go to nextHint
)

func (c returnCode) includes() bool { return c <= includeAndNextRow }

// filter is one of HBase's filters with its state. The region scanner calls it in this order:
//
//	for each row: rowKey; when it says true the row is passed over, else
//	    for each version of each cell, family by family: cell, then transform when included
//	    row; when hasRow only if cells are left
//	    reset
//
// allRemaining ends the scan of the region as soon as it is true. A filter may look
// at cells of a row that rowKey refused: passing over a row walks its cells.
type filter interface {
	reset()
	// rowKey reports whether the row is refused by its key.
	rowKey(row []byte) bool
	allRemaining() bool
	cell(c *cell) returnCode
	// transform changes an included cell before it is returned, for example by dropping its value.
	transform(c *cell)
	// hasRow reports whether the filter needs all cells of a row before it decides:
	// such scans never return parts of rows.
	hasRow() bool
	// row reports whether the row is refused.
	row() bool
	// nextHint returns the first position after c that the filter may keep; nil if the filter does not know it, so that
	// the scan goes on with the next cell.
	nextHint(c *cell) *cell
	// essential reports whether the filter needs a family's cells for its decision.
	essential(family []byte) bool
	// hinting reports whether a filterAnd asks this filter for a hint even if another member refuses the cell.
	hinting() bool
}

// filterBase is a filter that lets everything pass, to be embedded.
type filterBase struct{}

func (filterBase) reset()                {}
func (filterBase) rowKey([]byte) bool    { return false }
func (filterBase) allRemaining() bool    { return false }
func (filterBase) cell(*cell) returnCode { return include }
func (filterBase) transform(*cell)       {}
func (filterBase) hasRow() bool          { return false }
func (filterBase) row() bool             { return false }
func (filterBase) nextHint(*cell) *cell  { return nil }
func (filterBase) essential([]byte) bool { return true }
func (filterBase) hinting() bool         { return false }

// newFilter makes the filter of a request for a scan in the given direction. A message that the server could not parse
// is a DoNotRetryIOException.
func newFilter(f *pb.Filter, reversed bool) (filter, error) {
	if f == nil {
		return nil, nil
	}
	p := filterParser{reversed: reversed}
	out, err := p.parse(f, 0)
	if err != nil {
		return nil, throw(classDoNotRetry, "%v", err)
	}
	return out, nil
}

// lastFilter is a filter that is used again if the next Get of a request has the same message: parsing takes longer than
// reading the row.
type lastFilter struct {
	of     *pb.Filter
	filter filter
}

// restarts reports whether f is as good as new after a reset.
func restarts(f filter) bool {
	switch f := f.(type) {
	case *filterAnd:
		return !slices.ContainsFunc(f.in, func(f filter) bool { return !restarts(f) })
	case *filterOr:
		return !slices.ContainsFunc(f.in, func(f filter) bool { return !restarts(f) })
	case *singleColumnValueFilter, *qualifierFilter, *familyFilter, *firstKeyOnlyFilter, keyOnlyFilter:
		return true
	}
	return false
}

// firstOnRow is the position before all cells of a row.
func firstOnRow(row []byte) *cell {
	return &cell{row: row, ts: latestTimestamp, typ: typeMaximum}
}

// firstOnColumn is the position before all versions of a column in the row and family of c.
func firstOnColumn(c *cell, qualifier []byte) *cell {
	return &cell{row: c.row, family: c.family, qualifier: qualifier, ts: latestTimestamp, typ: typeMaximum}
}
