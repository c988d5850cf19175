package planner

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// extremes plans SELECT MIN(a), MAX(b) ... without GROUP BY if each value is in the first row in the order of a key.
// The plan then reads one row for each aggregate. Otherwise it returns nil.
func (q *query) extremes(c *parser.SelectCore, f *from, groups []expr.Expr, aggs []plan.AggCall, conds []expr.Expr, used []bool, h hints) (plan.Node, error) {
	const most = 4 // for more, one scan of all rows costs less
	if q.pieces || len(groups) > 0 || len(c.GroupBy) > 0 || len(aggs) == 0 || len(aggs) > most || len(f.srcs) != 1 || f.srcs[0].table == nil && f.srcs[0].first == nil || q.env.Options.NoOrder {
		return nil, nil
	}
	t := f.srcs[0].table // nil: a query in FROM
	var out plan.Node
	for i := range aggs {
		a := &aggs[i]
		of := expr.Columns(a.Arg)
		if len(of) != 1 || !a.Func.OneRow() || a.Filter != nil || t != nil && (of[0] >= len(t.Columns) || !slices.ContainsFunc(t.Layouts, func(l *catalog.Layout) bool { return l.PartOf(of[0]) != nil })) {
			return nil, nil
		}
		conds := conds
		if _, column := a.Arg.(*expr.Column); !column || t == nil || !t.Columns[of[0]].NotNull { // MIN and MAX ignore NULL
			conds = append(slices.Clip(conds), &expr.IsNull{Pos: a.Arg.Position(), X: a.Arg, Not: true})
		}
		want := accessOrder{by: []plan.SortTerm{{Expr: a.Arg, Desc: a.Func == plan.Max}}, limit: plan.AtMost(1)}
		node, ordered, err := q.source(f.srcs[0], conds, used, want, h)
		if err != nil {
			return nil, err
		}
		if s, ok := node.(*plan.Scan); !ordered || ok && s.Access == plan.Empty || t == nil &&
			slices.ContainsFunc(plan.Scans(node), func(s *plan.Scan) bool { return s.Access.Wide() && !s.Limit.Set && s.Wanted == 0 }) {
			return nil, nil
		}
		var one plan.Node = &plan.Aggregate{Input: node, Aggs: aggs[i : i+1]}
		if out != nil {
			one = &plan.Join{Left: out, Right: one}
		}
		out = one
	}
	return out, nil
}
