package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
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

// skip lets a scan jump from value to value of the leading key parts that hold the used columns.
func skip(n Node, used []bool) {
	s, ok := n.(*Scan)
	if !ok || s.Entries || s.Whole || s.AllVersions || s.Table.MalformedKeyError || s.Reversed || s.Hold >= 0 || s.Access == Get || s.Access == Empty {
		return
	}
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
