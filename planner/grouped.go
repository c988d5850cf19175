package planner

import (
	"fmt"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// grouped lets one query answer sub for many rows at once. sub is the query s, planned for each row of srcs; outer are
// the columns of srcs to which s refers. grouped does nothing if s uses them other than in equalities.
//
//	(SELECT sum(qty) FROM item i WHERE i.prod = p.id)    SELECT i.prod, sum(qty) FROM item i GROUP BY i.prod
//	EXISTS (SELECT 1 FROM item i WHERE i.prod = p.id)    SELECT DISTINCT i.prod FROM item i
func (q *query) grouped(sub *plan.Subplan, srcs []*source, s *parser.Select, kind expr.SubqueryKind, outer []expr.Expr) {
	core := s.Cores[0]
	if sub.Closed || q.outer != nil || q.env.Options.NoRules || len(s.Cores) > 1 || len(s.With)+len(s.OrderBy) > 0 || s.Offset != nil || s.Limit != nil && kind != expr.ExistsSubquery ||
		core.Where == nil || core.Having != nil || len(core.GroupBy)+len(core.On)+len(core.Windows) > 0 || !q.rowwise(core.Where) {
		return
	}
	again := q.inside()
	again.outer = func(ref *parser.ColumnRef) (expr.Expr, error) { return nil, nil }
	again.level, again.pieces, again.layout = q.level+1, false, ""
	inner, err := again.apart().from(core.From, core.Items)
	if err != nil {
		return
	}
	all := *core
	sub.Keys = untie(&all, inner.srcs, srcs, outer)
	if !q.withItems(sub, &all, core.Items, kind) {
		return
	}
	text := &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{&all}}
	one := func([]types.Value) (*plan.Plan, error) {
		return again.apart().finish(text)
	}
	p, err := one(nil)
	if err != nil {
		return
	}
	for i, k := range sub.Keys {
		if a, b := p.Columns[i].Type, outer[k].Type(); a != b && !(a.IsInteger() && b.IsInteger()) {
			return
		}
	}
	if len(sub.Keys) > 0 {
		sub.Groups = &plan.Subplan{Select: text, Closed: true, Plan: one, Sample: p, Width: len(sub.Keys) + sub.Width, Text: text.String()}
	}
}

// latest replaces c, the equality of a column and a sub-query that returns a min or max for each row, by an IN whose
// query returns the values for all rows. It does so if the IN binds a key and conds do not. It returns the sub-query as
// of and the IN as in, or nil.
//
//	ts = (SELECT max(ts) FROM m y WHERE y.host = x.host)      (host, ts) IN (SELECT y.host, max(ts) FROM m y GROUP BY y.host)
func (q *query) latest(f *from, conds []expr.Expr, c expr.Expr) (of *expr.Subquery, in expr.Expr, err error) {
	e, ok := c.(*expr.Compare)
	if !ok || e.Op != expr.EQ {
		return nil, nil, nil
	}
	x, other := e.X, e.Y
	if _, column := x.(*expr.Column); !column {
		x, other = other, x
	}
	_, column := x.(*expr.Column)
	if of, ok = other.(*expr.Subquery); !ok || !column || of.Kind != expr.ScalarSubquery || of.Type() != x.Type() || !exact(x) {
		return nil, nil, nil
	}
	each := of.Query.(*plan.Subplan)
	all := &plan.Subplan{Select: each.Select, Closed: each.Closed, Width: each.Width}
	for _, it := range each.Select.Cores[0].Items {
		if call, ok := it.Expr.(*parser.Call); ok && (call.Name == "MIN" || call.Name == "MAX") { // these are NULL for no rows
			q.grouped(all, f.srcs, each.Select, of.Kind, of.Outer)
		}
	}
	if all.Groups == nil || !all.Aggregated {
		return nil, nil, nil
	}
	j := &plan.Join{}
	for _, k := range all.Keys {
		j.LeftKeys = append(j.LeftKeys, of.Outer[k])
	}
	j.LeftKeys = append(j.LeftKeys, x)
	for i, k := range j.LeftKeys {
		col := all.Groups.Sample.Columns[i]
		j.RightKeys = append(j.RightKeys, &expr.Column{Pos: k.Position(), Index: i, Name: col.Name, Typ: col.Type})
	}
	if !q.drives(f, conds, j, hints{}) {
		return nil, nil, nil
	}
	all.Groups.Select = q.env.Views.list(fmt.Sprint(all.Groups.Text, of.Pos))
	in, err = q.among(f, j, all.Groups, of, false)
	return of, in, err
}

// withItems adds items, the SELECT list of sub's query, to the SELECT list of all, which already has the values that
// tie sub to a row. If the items are aggregates, all is grouped by these values. It returns false if it cannot add an
// item.
func (q *query) withItems(sub *plan.Subplan, all *parser.SelectCore, items []parser.SelectItem, kind expr.SubqueryKind) bool {
	keys := all.Items
	plain := q.plainOf(items, sub) && !slices.ContainsFunc(items, func(it parser.SelectItem) bool { return it.Star })
	if !plain && kind != expr.ExistsSubquery {
		return false
	}
	if kind == expr.ExistsSubquery {
		all.Distinct, all.Items = true, append(keys, parser.SelectItem{Pos: all.Pos, Expr: &parser.Literal{Pos: all.Pos, Kind: parser.NumberLiteral, Text: "1"}})
		return !sub.Aggregated // a group without rows exists, too
	}
	for i := 0; i < len(keys) && sub.Aggregated; i++ {
		all.GroupBy = append(all.GroupBy, keys[i].Expr)
	}
	all.Items = append(slices.Clip(keys), items...)
	return true
}

// untie moves from the WHERE of core the equations of an expression over inner and a column of outer, the columns of srcs
// to which core refers. The expressions become the items of core. untie returns the indexes of the columns in outer.
func untie(core *parser.SelectCore, inner, srcs []*source, outer []expr.Expr) (of []int) {
	where := conjunctsOf(core.Where)
	core.Items, core.Where = nil, nil
	for _, c := range where {
		x, k := tie(c, inner, srcs, outer)
		switch {
		case k >= 0:
			of, core.Items = append(of, k), append(core.Items, parser.SelectItem{Pos: x.Position(), Expr: x})
		case core.Where == nil:
			core.Where = c
		default:
			core.Where = &parser.Binary{Pos: c.Position(), Op: "AND", X: core.Where, Y: c}
		}
	}
	return of
}

// conjunctsOf lists the terms of AND.
func conjunctsOf(e parser.Expr) []parser.Expr {
	if e == nil {
		return nil
	}
	if b, ok := e.(*parser.Binary); ok && b.Op == "AND" {
		return append(conjunctsOf(b.X), conjunctsOf(b.Y)...)
	}
	return []parser.Expr{e}
}

// tie recognizes an equation c of an expression over the inner sources and a column of outer. It returns the expression
// as x and the index of the column in outer as of, or -1 if c is no such equation.
func tie(c parser.Expr, inner, srcs []*source, outer []expr.Expr) (x parser.Expr, of int) {
	eq, ok := c.(*parser.Binary)
	if !ok || eq.Op != "=" {
		return nil, -1
	}
	for _, sides := range [][2]parser.Expr{{eq.X, eq.Y}, {eq.Y, eq.X}} {
		ref, ok := sides[1].(*parser.ColumnRef)
		if !ok {
			continue
		}
		if own, err := findColumn(ref, inner); own != nil || err != nil {
			continue
		}
		found, _ := findColumn(ref, srcs)
		col, ok := found.(*expr.Column)
		if !ok {
			continue
		}
		all, refs := true, 0
		parser.Walk(sides[0], func(x parser.Expr) bool {
			if r, column := x.(*parser.ColumnRef); column {
				refs++
				own, err := findColumn(r, inner)
				all = all && own != nil && err == nil
			}
			return true
		})
		if of := slices.IndexFunc(outer, func(o expr.Expr) bool { c, is := o.(*expr.Column); return is && c.Index == col.Index }); of >= 0 && all && refs > 0 {
			return sides[0], of
		}
	}
	return nil, -1
}
