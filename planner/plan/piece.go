package plan

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hql-db/hql/types"
)

// Merge is the way in which the values of a column from several pieces are merged into the statement's value.
type Merge uint8

// The ways to merge. Rows with equal values in the Group columns become one row.
const (
	NoMerge  Merge = iota // rows are not merged: each is a row of the result
	Group                 // rows are merged if they have equal values of this column
	MergeSum              // these and the following ignore NULLs
	MergeMin
	MergeMax
	MergeAnd
	MergeOr
)

// String returns the name of m in schemas.
func (m Merge) String() string {
	return [...]string{"", "group", "sum", "min", "max", "and", "or"}[m]
}

// Partial describes how a column of a piece contributes to the statement's result.
type Partial struct {
	Merge Merge
	// Result is the index of the result's column to which the column contributes; -1 for a group that the statement does
	// not return. Name and Type are those of the result's column; the merged value is cast to Type.
	Result int
	Name   string
	Type   types.Type
	// Count is set for the divisor of an AVG: after both columns are merged, the previous column is divided by this one.
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
