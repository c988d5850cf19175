package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/planner/plan"
)

// Ends describes the rows that are wanted of each group, the rows with equal values of some columns: the first ones in the
// order of another column, the last ones, or both.
type Ends struct {
	Groups      []expr.Expr
	By          expr.Expr // nil: any rows
	First, Last bool
	Rows        int  // number of rows; 0 means 1
	Nulls       bool // rows in which By is NULL count
	Told        bool // rows with equal By must be distinguished
	Ordered     bool // the order of s is needed
}

// OneOfSame lets s skip rows that repeat the values of the used columns (nil: repeated rows count), and rows of a group
// that e does not want (nil: all are wanted).
func (env *Env) OneOfSame(s *plan.Scan, used []bool, e *Ends) {
	if env.Options.NoSkip || s.Entries || packed(s.Table) || s.AllVersions || s.Table.MalformedKeyError || s.PrefixFix != nil || s.Access == plan.Get || s.Access == plan.Empty {
		return
	}
	if e != nil && e.By != nil {
		e.of(s)
	}
	if s.DistinctPrefix == 0 && used != nil {
		skip(s, used)
		if s.DistinctPrefix > 0 && e != nil {
			s.DistinctRows = e.Rows
		}
	}
	if s.DistinctPrefix > 0 {
		s.Cuts = nil // cutting the rows of one value would not help
	}
	if s.DistinctPrefix > 0 && s.Access == plan.FullScan && s.Filter == nil && s.Residual == nil { // otherwise the next matching row may be far
		if s.Access = hopsOver(s, s.DistinctPrefix); s.Access == plan.HopScan && env.knownFew(s, s.DistinctPrefix) {
			s.Access = plan.SkipScan
		}
		s.Candidates[0].Access = s.Access
		if s.Hop == nil {
			skipped(s.Key[:s.DistinctPrefix])
		}
	}
}

// skip lets s jump from value to value of the leading key parts that contain the used columns.
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
			return // keys with equal values are not adjacent
		}
		if col, ok := p.Column(); ok && used[col] {
			found[col] = true
		}
		if len(found) == wanted && wanted > 0 {
			n := i + 1
			for n < len(s.Layout.Key.Parts) && s.Layout.Key.Parts[n].Literal != nil {
				n++ // the delimiter separates the value from longer ones
			}
			if n < len(s.Layout.Key.Parts) {
				s.DistinctPrefix = n
			}
			return
		}
	}
}

// of lets s read only the rows of each group that e wants. The rows of a group have equal values of the key parts
// before the part of By.
func (e *Ends) of(s *plan.Scan) {
	n, rises := e.part(s)
	if n == 0 {
		return
	}
	backwards := e.Last == rises // the wanted rows are at the end
	switch both := s.Residual == nil && !seeksForward(s.Filter); {
	case e.First && e.Last && !both:
		return
	case e.First && e.Last:
		s.DistinctBoth = true
	case backwards == s.Reversed:
	case s.Order != plan.NoOrder && e.Ordered && !both, !s.Reversed && seeksForward(s.Filter):
		return
	case s.Order != plan.NoOrder && e.Ordered:
		s.DistinctBoth = true
	default:
		turn(s)
	}
	s.DistinctPrefix, s.DistinctFirst, s.DistinctRows = n, true, e.Rows
}

// turn reverses the direction in which s reads.
func turn(s *plan.Scan) {
	s.Reversed = !s.Reversed
	s.Turned = s.Reversed
	if s.Order == plan.NoOrder {
		return
	}
	if s.Order = plan.KeyOrder; s.Reversed {
		s.Order = plan.ReverseOrder
	}
	s.OrderBy = slices.Clone(s.OrderBy)
	for i := range s.OrderBy {
		s.OrderBy[i].Desc = !s.OrderBy[i].Desc
	}
}

// part returns the index of the key part by which s reads the rows of a group in the order of e, or in the opposite order;
// rises reports whether the part rises with By. It returns 0 if there is no such part.
func (e *Ends) part(s *plan.Scan) (n int, rises bool) {
	col, ok := e.By.(*expr.Column)
	if !ok || s.Order == plan.MergeOrder {
		return 0, false
	}
	parts := s.Layout.Key.Parts
	n = slices.IndexFunc(parts, func(p *catalog.Part) bool {
		return len(p.Columns) == 1 && p.Columns[0] == col.Index && p.Monotone() != 0
	})
	if n < 1 || !s.Layout.Tells(col.Index) {
		return 0, false
	}
	p := parts[n]
	if !p.Injective() && !s.Layout.ReadFrom(col.Index, n) || e.Told && slices.ContainsFunc(parts[n+1:], func(p *catalog.Part) bool { return p.Literal == nil }) {
		return 0, false
	}
	switch p.Order() {
	case catalog.Unordered:
		return 0, false
	case catalog.Terminated, catalog.Lexical:
		if !p.PrefixFirst() {
			return 0, false
		}
	case catalog.TwosComplement:
		if p.Rises() != p.Monotone() {
			return 0, false
		}
	}
	rises = p.Rises() > 0
	if p.Nullable() && (e.Nulls || e.First && e.Last || e.Last != rises) {
		return 0, false // NULLs sort first in the key, but e may not want them there
	}
	same := map[int]bool{} // columns that are equal in all rows with the same value
	for _, q := range parts[:n] {
		if q.FixedTail() > 0 {
			return 0, false
		}
		if c, ok := q.Column(); ok && !q.ManyScales() {
			same[c] = true
		}
	}
	for _, g := range e.Groups {
		if expr.SomeColumn(g, func(c int) bool { return !same[c] }) {
			return 0, false
		}
	}
	return n, rises
}

// seeksForward reports whether f contains a filter that can only seek forward.
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
