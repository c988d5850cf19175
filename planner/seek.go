package planner

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/parser"
)

// extremes plans SELECT MIN(a), MAX(b) ... without GROUP BY where each is the first row of an order
// that the key has: one row is read for each. Nil: they are not such.
func (q *query) extremes(c *parser.SelectCore, f *from, groups []expr.Expr, aggs []AggCall, conds []expr.Expr, used []bool, h hints) (Node, error) {
	const most = 4 // beyond it one scan of all costs less
	if len(groups) > 0 || len(c.GroupBy) > 0 || len(aggs) == 0 || len(aggs) > most || len(f.srcs) != 1 || f.srcs[0].table == nil || q.env.Options.NoOrder {
		return nil, nil
	}
	t := f.srcs[0].table
	var out Node
	for i := range aggs {
		a := &aggs[i]
		col, ok := a.Arg.(*expr.Column)
		if !ok || a.Func != "MIN" && a.Func != "MAX" || a.Filter != nil || col.Index >= len(t.Columns) || !t.Columns[col.Index].KeyPart {
			return nil, nil // a column outside the key may be NULL, which neither counts
		}
		want := accessOrder{by: []SortTerm{{Expr: a.Arg, Desc: a.Func == "MAX"}}, limit: 1}
		node, ordered, err := q.source(f.srcs[0], conds, used, want, h)
		if err != nil {
			return nil, err
		}
		if s := node.(*Scan); !ordered || s.Access == Empty {
			return nil, nil
		}
		var one Node = &Aggregate{Input: node, Aggs: aggs[i : i+1]}
		if out != nil {
			one = &Join{Left: out, Right: one}
		}
		out = one
	}
	q.fewRows = q.depth == 1 && len(conds) == 0
	return out, nil
}

// anyOfSame tells that of rows that are the same in all that the query takes from them one is enough.
func anyOfSame(c *parser.SelectCore, grouped bool, aggs []AggCall) bool {
	if !grouped {
		return c.Distinct
	}
	return !slices.ContainsFunc(aggs, func(a AggCall) bool { return !a.Distinct && a.Func != "MIN" && a.Func != "MAX" })
}

// skips tells that s gives each row of its keys as it stands, so that some may be left out.
func (s *Scan) skips() bool {
	return !s.Entries && !packed(s.Table) && !s.AllVersions && !s.Table.MalformedKeyError && !s.Reversed && s.Hold < 0 && s.Access != Get && s.Access != Empty
}

// skip lets s jump from value to value of the leading key parts that hold the used columns.
func skip(s *Scan, used []bool) {
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
				s.Skip = n
			}
			return
		}
	}
}

// ends lets s, whose rows are grouped by groups for the MIN or MAX a, read the first or the last row alone of those with the same values of
// the key parts before the one that a is about.
func ends(s *Scan, groups []expr.Expr, a *AggCall) {
	col, ok := a.Arg.(*expr.Column)
	if !ok || a.Func != "MIN" && a.Func != "MAX" || a.Filter != nil || s.Order == MergeOrder {
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
	case catalog.Halves:
		if p.Rises() != p.Monotone() {
			return
		}
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
	if (a.Func == "MAX") == (p.Rises() > 0) {
		if s.seeksForward() {
			return
		}
		s.Reversed = true
		if s.Order == KeyOrder {
			s.Order = ReverseOrder
			s.OrderBy = slices.Clone(s.OrderBy)
			for i := range s.OrderBy {
				s.OrderBy[i].Desc = !s.OrderBy[i].Desc
			}
		}
	}
	s.Skip, s.SkipEnds, s.SkipHalves = n, true, p.Order() == catalog.Halves
}

// seeksForward tells that the servers' filter of s cannot go from the end to the start.
func (s *Scan) seeksForward() bool {
	fs, ok := s.Filter.(filter.And)
	if !ok {
		fs = filter.And{s.Filter}
	}
	return slices.ContainsFunc(fs, func(f filter.Filter) bool {
		switch f.(type) {
		case filter.Fuzzy, filter.ColumnRange:
			return true
		}
		return false
	})
}
