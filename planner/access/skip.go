package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
)

// OneOfSame lets s skip rows that repeat the used columns. The used columns, the groups and the aggregates determine
// which columns of a row matter.
func (e *Env) OneOfSame(s *plan.Scan, used []bool, groups []expr.Expr, aggs []plan.AggCall) {
	if s.Entries || packed(s.Table) || s.AllVersions || s.Table.MalformedKeyError || s.Reversed || s.PrefixFix != nil || s.Access == plan.Get || s.Access == plan.Empty {
		return
	}
	if len(aggs) == 1 {
		ends(s, groups, &aggs[0])
	}
	if s.DistinctPrefix == 0 {
		skip(s, used)
	}
	if s.DistinctPrefix > 0 {
		s.Cuts = nil // rows of one value are worth no more in two parts
	}
	if s.DistinctPrefix > 0 && s.Access == plan.FullScan && s.Filter == nil && s.Residual == nil { // else a row that passes may be far
		if s.Access = hopsOver(s, s.DistinctPrefix); s.Access == plan.HopScan && e.knownFew(s, s.DistinctPrefix) {
			s.Access = plan.SkipScan
		}
		s.Candidates[0].Access = s.Access
		if s.Hop == nil {
			skipped(s.Key[:s.DistinctPrefix])
		}
	}
}

// skip lets s jump from value to value of the leading key parts that hold the used columns.
func skip(s *plan.Scan, used []bool) {
	wanted := 0
	for _, u := range used {
		if u {
			wanted++
		}
	}
	found := map[int]bool{}
	for i, p := range s.Layout.Key.Parts {
		if p.FixedTail() > 0 {
			return // keys with other values lie between those with the same
		}
		if col, ok := p.Column(); ok && used[col] {
			found[col] = true
		}
		if len(found) == wanted && wanted > 0 {
			n := i + 1
			for n < len(s.Layout.Key.Parts) && s.Layout.Key.Parts[n].Literal != nil {
				n++ // a delimiter tells the value from those that go on
			}
			if n < len(s.Layout.Key.Parts) {
				s.DistinctPrefix = n
			}
			return
		}
	}
}

// ends lets s, whose rows are grouped by groups for the MIN or MAX a, read the first or the last row alone of those with the same values of
// the key parts before the one that a is about.
func ends(s *plan.Scan, groups []expr.Expr, a *plan.AggCall) {
	col, ok := a.Arg.(*expr.Column)
	if !ok || !a.Func.OneRow() || a.Filter != nil || s.Order == plan.MergeOrder {
		return
	}
	parts := s.Layout.Key.Parts
	n := slices.IndexFunc(parts, func(p *catalog.Part) bool {
		return len(p.Columns) == 1 && p.Columns[0] == col.Index && p.Monotone() != 0
	})
	if n < 1 || !s.Layout.Tells(col.Index) {
		return
	}
	p := parts[n]
	if !p.Injective() && !s.Layout.ReadFrom(col.Index, n) {
		return
	}
	switch p.Order() {
	case catalog.Unordered:
		return
	case catalog.Terminated, catalog.Lexical:
		if !p.PrefixFirst() {
			return
		}
	case catalog.TwosComplement:
		if p.Rises() != p.Monotone() {
			return
		}
	}
	last := (a.Func == plan.Max) == (p.Rises() > 0)
	if p.Nullable() && !last {
		return // NULL stands first, which is neither
	}
	same := map[int]bool{} // columns that are the same in all rows of a value
	for _, q := range parts[:n] {
		if q.FixedTail() > 0 {
			return
		}
		if c, ok := q.Column(); ok && !q.ManyScales() {
			same[c] = true
		}
	}
	for _, g := range groups {
		if slices.ContainsFunc(expr.Columns(g), func(c int) bool { return !same[c] }) {
			return
		}
	}
	if last {
		if seeksForward(s.Filter) {
			return
		}
		s.Reversed = true
		if s.Order == plan.KeyOrder {
			s.Order = plan.ReverseOrder
			s.OrderBy = slices.Clone(s.OrderBy)
			for i := range s.OrderBy {
				s.OrderBy[i].Desc = !s.OrderBy[i].Desc
			}
		}
	}
	s.DistinctPrefix, s.DistinctFirst = n, true
}

// seeksForward reports whether the servers' filter cannot go from the end to the start.
func seeksForward(f filter.Filter) bool {
	fs, ok := f.(filter.And)
	if !ok {
		fs = filter.And{f}
	}
	return slices.ContainsFunc(fs, func(f filter.Filter) bool {
		switch f.(type) {
		case filter.Fuzzy, filter.ColumnRange:
			return true
		}
		return false
	})
}
