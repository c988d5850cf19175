package plan

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hql-db/hql/types"
)

// Merge says how the values that several pieces of a statement have for a column become the one of all of it.
type Merge uint8

// The ways. Rows of equal values in the Group columns become one.
const (
	NoMerge  Merge = iota // the rows are the statement's own: they are put together
	Group                 // by the values of this column
	MergeSum              // NULLs aside, as with those that follow
	MergeMin
	MergeMax
	MergeAnd
	MergeOr
)

// String is the way as schemas name it.
func (m Merge) String() string {
	return [...]string{"", "group", "sum", "min", "max", "and", "or"}[m]
}

// Partial describes how a column of a piece contributes to the statement's result.
type Partial struct {
	Merge Merge
	// Result is the index of the column of the statement's result that it is for, -1 for a group that the statement does not give;
	// Name and Type are that column's. What was merged is cast to Type.
	Result int
	Name   string
	Type   types.Type
	// Count is set on the divisor of the column before it, after both are merged: the two are an AVG.
	Count bool
}

// Within intersects spans with ranges, which are sorted by table, then start, and disjoint. A span without a table,
// from a Scan with ListTables, is intersected with the ranges of every table.
func Within(spans, ranges []Span) []Span {
	var out []Span
	for _, r := range ranges {
		for _, s := range spans {
			if s.Table != "" && s.Table != r.Table {
				continue
			}
			if s.Table = r.Table; s.cut(r) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), bytes.Compare(a.Start, b.Start))
	})
	return out
}

// cut intersects s with r. It returns false if nothing remains.
func (s *Span) cut(r Span) bool {
	if s.Key {
		return bytes.Compare(s.Start, r.Start) >= 0 && (len(r.Stop) == 0 || bytes.Compare(s.Start, r.Stop) < 0)
	}
	if bytes.Compare(r.Start, s.Start) > 0 {
		s.Start = r.Start
	}
	if len(r.Stop) > 0 && (len(s.Stop) == 0 || bytes.Compare(r.Stop, s.Stop) < 0) {
		s.Stop = r.Stop
	}
	if len(s.SignSplit) > 0 && (bytes.Compare(s.SignSplit, s.Start) <= 0 || len(s.Stop) > 0 && bytes.Compare(s.SignSplit, s.Stop) >= 0) {
		s.SignSplit = nil // all of it is on one side
	}
	return len(s.Stop) == 0 || bytes.Compare(s.Start, s.Stop) < 0
}
