package estimate

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// Limits for cutting a long read. perPiece is the least work of a piece, in microseconds, compared with which one more
// call is negligible; mostPieces is the number of pieces that one statement reads concurrently.
const (
	perPiece   = 100_000
	mostPieces = 16
)

// Cuts returns the keys at which to cut the ranges of s, which has this cost, so that several parts of a large region
// are read concurrently, each with about the same number of rows. Nil: cutting is not worth it, or s reads no more than
// it must.
func Cuts(s *plan.Scan, t *stats.Table, cost float64) []plan.Cut {
	n := int(math.Min(mostPieces, cost/perPiece))
	if k := t.Key(s.Layout.Name); k != nil && n > 1 && !s.Limit.Set && !s.ListTables && s.Hop == nil && s.Order != plan.MergeOrder {
		return evenly(within(s.Spans, k), n)
	}
	return nil
}

// within gives the keys, in order, that cut k's tables into pieces of equally many rows and that lie in spans.
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

// evenly chooses the keys that divide the pieces between them into n groups.
func evenly(at []plan.Cut, n int) []plan.Cut {
	n = min(n, len(at)+1)
	var out []plan.Cut
	for i := 1; i < n; i++ {
		out = append(out, at[i*(len(at)+1)/n-1])
	}
	return out
}
