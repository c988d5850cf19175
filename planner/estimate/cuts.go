package estimate

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// Limits for cutting a long read. perPiece is the least work of a piece in microseconds: the cost of one more call is
// negligible in comparison. mostPieces is the number of pieces that one statement reads concurrently.
const (
	perPiece   = 100_000
	mostPieces = 16
)

// Cuts returns the keys at which to cut the ranges of s, so that several parts of a large region are read concurrently,
// each with about the same number of rows. cost is the estimated cost of s in microseconds. Nil: s is too short to be cut,
// or must stop early.
func Cuts(s *plan.Scan, t *stats.Table, cost float64) []plan.Cut {
	n := int(math.Min(mostPieces, cost/perPiece))
	if k := t.Key(s.Layout.Name); k != nil && n > 1 && !s.Limit.Set && !s.ListTables && s.Hop == nil && s.Order != plan.MergeOrder {
		return evenly(within(s.Spans, k), n)
	}
	return nil
}

// within returns the bounds of k's histogram that lie inside spans, in ascending order. They divide k's tables into pieces
// with equal numbers of rows.
func within(spans []plan.Span, k *stats.Key) (at []plan.Cut) {
	for _, s := range k.Stored {
		for _, b := range s.Bounds {
			if slices.ContainsFunc(spans, func(sp plan.Span) bool { return sp.Table == s.Table && sp.Holds(b) }) {
				at = append(at, plan.Cut{Table: s.Table, Key: b})
			}
		}
	}
	slices.SortFunc(at, func(a, b plan.Cut) int { return cmp.Or(cmp.Compare(a.Table, b.Table), bytes.Compare(a.Key, b.Key)) })
	return slices.CompactFunc(at, func(a, b plan.Cut) bool { return a.Table == b.Table && bytes.Equal(a.Key, b.Key) })
}

// evenly chooses keys of at that divide its pieces into n groups of about equal size.
func evenly(at []plan.Cut, n int) []plan.Cut {
	n = min(n, len(at)+1)
	var out []plan.Cut
	for i := 1; i < n; i++ {
		out = append(out, at[i*(len(at)+1)/n-1])
	}
	return out
}
