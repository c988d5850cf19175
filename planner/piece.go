package planner

import (
	"errors"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// ErrUncut marks, for errors.Is, a statement that cannot be cut into pieces.
var ErrUncut = errors.New("the statement cannot be cut into pieces")

// uncut returns the error for s, which cannot be cut because of the clause at pos, with a hint.
func uncut(pos parser.Pos, what, hint string) error {
	return parser.Errorf(pos, "%s cannot be cut into pieces", what).Of(ErrUncut).WithHint("%s", hint)
}

const mergeElsewhere = "leave it out, and do it where the pieces' rows are put together"

// Piece plans s for being read in pieces: the scan of CutScan may be restricted to a part of its spans, and the rows of
// all parts together are those of s. If s groups, each piece returns groups of its own, and the columns say how to merge
// them. layout, if not "", is the layout that the scan must read: the one in another plan of s.
func (e *Env) Piece(s *parser.Select, layout string) (_ *plan.Plan, err error) {
	defer fail.Catch(&err)
	fail.On(uncutClause(s))
	q := &query{env: e, plan: &plan.Plan{}, views: &views{text: []parser.Node{s}}, pieces: true, layout: layout}
	p := fail.Must(q.finish(s))
	if len(p.Asked(map[*plan.Subplan]bool{})) > 0 {
		return nil, uncut(s.Pos, "a query inside an expression", "its rows might not be the same for all pieces: run it first")
	}
	top, ok := p.Root.(*plan.Project)
	if !ok {
		return nil, uncutNode(s.Pos, p.Root)
	}
	if a, ok := top.Input.(*plan.Aggregate); ok {
		top, p.Columns = fail.Must2(partial(a, top, p.Columns))
		p.Root = top
		return p, uncutNode(s.Pos, a.Input)
	}
	return p, uncutNode(s.Pos, top.Input)
}

// CutScan returns the scan of a piece's plan that is cut. The plan's other scans look up rows as needed.
func CutScan(p *plan.Plan) *plan.Scan { return p.Reads()[0] }

// uncutClause returns the error for the first clause of s that depends on all of its rows.
func uncutClause(s *parser.Select) error {
	switch {
	case len(s.Sets) > 0:
		return uncut(s.Sets[0].Pos, string(s.Sets[0].Op), "cut its queries one by one")
	case len(s.OrderBy) > 0:
		return uncut(s.OrderBy[0].Expr.Position(), "ORDER BY", mergeElsewhere)
	case s.Limit != nil:
		return uncut(s.Limit.Position(), "LIMIT", mergeElsewhere)
	case s.Offset != nil:
		return uncut(s.Offset.Position(), "OFFSET", mergeElsewhere)
	}
	c := s.Cores[0]
	switch {
	case c.Query != nil:
		return uncutClause(c.Query)
	case c.Distinct:
		return uncut(c.Pos, "DISTINCT", "GROUP BY its columns can be cut")
	case c.On != nil:
		return uncut(c.Pos, "DISTINCT ON", mergeElsewhere)
	case c.Having != nil:
		return uncut(c.Having.Position(), "HAVING", mergeElsewhere)
	}
	return nil
}

// uncutNode returns the error for a node under n that depends on several rows together.
func uncutNode(pos parser.Pos, n plan.Node) error {
	what := ""
	switch n := n.(type) {
	case *plan.Scan:
		if !n.Limit.Set {
			return nil
		}
		what = "LIMIT"
	case *plan.Project:
		return uncutNode(pos, n.Input)
	case *plan.Filter:
		return uncutNode(pos, n.Input)
	case *plan.Join:
		if !n.Full && (n.Lookup != nil || narrow(n.Right)) {
			return uncutNode(pos, n.Left)
		}
		what = "a join whose rows are not looked up by key"
	case *plan.Aggregate:
		what = "a query over groups"
	case *plan.Unnest:
		return uncutNode(pos, n.Input)
	case *plan.Expand:
		return uncut(pos, "GROUPING SETS", "cut a query with a GROUP BY for each set")
	case *plan.Window:
		what = "a window function"
	case *plan.Sort:
		what = "ORDER BY"
	case *plan.Limit:
		what = "LIMIT"
	case *plan.Distinct, *plan.DistinctOn:
		what = "DISTINCT"
	case *plan.Union, *plan.SetOp:
		what = "a set operation"
	case *plan.Reuse:
		what = "a query that is named more than once"
	default:
		return uncut(pos, "a statement that reads no table", "run it as it is")
	}
	return uncut(pos, what, mergeElsewhere)
}

// narrow reports whether every piece may read n by itself, because n reads few rows by bound keys.
func narrow(n plan.Node) bool {
	switch n := n.(type) {
	case *plan.Scan:
		return !n.Access.Wide() && !n.Limit.Set
	case *plan.Project:
		return narrow(n.Input)
	case *plan.Filter:
		return narrow(n.Input)
	}
	return false
}

// partial computes the groups of one piece: the values that top takes from a, in a form that can be merged.
func partial(a *plan.Aggregate, top *plan.Project, cols []plan.OutputColumn) (*plan.Project, []plan.OutputColumn, error) {
	calls := a.Aggs
	a.Aggs = nil
	out := &plan.Project{Input: a}
	var names []plan.OutputColumn
	add := func(at int, name string, typ types.Type, p plan.Partial) {
		out.Exprs = append(out.Exprs, &expr.Column{Index: at, Name: name, Typ: typ})
		names = append(names, plan.OutputColumn{Name: name, Type: typ, Partial: &p})
	}
	call := func(c plan.AggCall) int {
		a.Aggs = append(a.Aggs, c)
		return len(a.GroupBy) + len(a.Aggs) - 1
	}
	given := make([]bool, len(a.GroupBy))
	for i, x := range top.Exprs {
		c, ok := x.(*expr.Column)
		if !ok {
			return nil, nil, uncut(x.Position(), "an expression over groups", "select the groups and aggregates, and compute it where they are merged")
		}
		of := plan.Partial{Merge: plan.Group, Result: i, Name: cols[i].Name, Type: cols[i].Type}
		if c.Index < len(a.GroupBy) {
			given[c.Index] = true
			add(c.Index, of.Name, of.Type, of)
			continue
		}
		agg := calls[c.Index-len(a.GroupBy)]
		if of.Merge, ok = merges[agg.Func]; !ok || agg.Distinct && of.Merge == plan.MergeSum {
			what := string(agg.Func)
			if agg.Distinct {
				what += "(DISTINCT)"
			}
			return nil, nil, uncut(x.Position(), what, "select the rows, and compute it where they are put together")
		}
		if agg.Func == plan.Avg {
			count := agg
			count.Func, count.Typ = plan.Count, types.BigInt
			if agg.Func = plan.Sum; agg.Typ != types.Double {
				agg.Typ = types.Decimal
			}
			add(call(agg), of.Name+"_sum", agg.Typ, of)
			of.Count = true
			add(call(count), of.Name+"_count", types.BigInt, of)
			continue
		}
		if agg.Func == plan.Sum && agg.Typ == types.BigInt {
			agg.Typ = types.Decimal // a piece's sum may exceed the range even if the total does not
		} else if agg.Func == plan.Sum && agg.Typ == types.Float {
			agg.Typ = types.Double
		}
		add(call(agg), of.Name, agg.Typ, of)
	}
	for i, g := range a.GroupBy {
		if !given[i] {
			name := "group"
			if c, ok := g.(*expr.Column); ok {
				name = c.Name
			}
			add(i, name, g.Type(), plan.Partial{Merge: plan.Group, Result: -1})
		}
	}
	return out, names, nil
}

// merges are the aggregates that can be computed from those of the pieces.
var merges = map[plan.Func]plan.Merge{plan.Count: plan.MergeSum, plan.Sum: plan.MergeSum, plan.Avg: plan.MergeSum, plan.Min: plan.MergeMin, plan.Max: plan.MergeMax,
	plan.BoolAnd: plan.MergeAnd, plan.BoolOr: plan.MergeOr}
