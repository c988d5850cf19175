package planner

import (
	"fmt"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// maxListed bounds the number of values in a list that a query computes before the statement is planned. A list with more
// values is not used.
const maxListed = 400

// lists returns conditions of the form: a column is IN the values of the equal column of another table. These values
// are read first. lists makes them for tables, and for queries with groups, that full scans would read even if values
// of the other tables were known. The planner uses the list like a list that the user wrote: for an INDEX, for later
// key parts, for the servers' filters, and below groups. The lists for the right side of a LEFT JOIN become conditions
// of the join in g. Without such lists, g is f.
//
//	fact f JOIN d ON f.x = d.id WHERE d.name = 'n'             f.x IN (the ids of d where the name is 'n')
//	d LEFT JOIN counts c ON c.host = d.host WHERE d.id = 3     c.host IN (the hosts of d where the id is 3)
func (q *query) lists(f *from, conds []expr.Expr, h hints) (g *from, more []expr.Expr, err error) {
	if q.env.Options.NoRules || q.pieces || q.outer != nil || q.narrowed > 0 {
		return f, nil, nil
	}
	reach := q.reach(f, conds, h)
	g = f
	for of := -1; of < len(f.srcs); of++ { // -1: the WHERE; or else the condition of an outer join
		on := conds
		if of >= 0 {
			if !f.outer[of] || f.on[of] == nil || f.srcs[of].again == nil {
				continue
			}
			on = expr.Conjuncts(f.on[of])
		}
		var lists []expr.Expr
		for _, c := range on {
			x, y := equalColumns(c)
			if x == nil || x.Typ != y.Typ && !(x.Typ.IsInteger() && y.Typ.IsInteger()) {
				continue
			}
			for _, pair := range [][2]*expr.Column{{x, y}, {y, x}} {
				to, by := f.sourceOf(pair[0]), f.sourceOf(pair[1])
				if to == by || f.srcs[to].each || f.outer[by] || f.srcs[by].table == nil || f.outer[to] && to != of || of >= 0 && to != of {
					continue
				}
				s, few := f.srcs[to], f.reduces(by, conds)
				if s.table == nil && !((few || !reach(by, nil).Wide()) && q.takes(s, pair[0])) || s.table != nil &&
					(!few || s.narrowed(conds) || !reach(to, []int{by}).Wide() || !mayList(reach(by, nil), reach(to, nil))) {
					continue
				}
				in, err := q.listOf(f.srcs[by], conds, pair[0], pair[1], h)
				if err != nil {
					return nil, nil, err
				}
				if in != nil {
					lists = append(lists, in)
				}
			}
		}
		if of < 0 {
			more = lists
		} else if len(lists) > 0 {
			copied := *g
			g, copied.on = &copied, slices.Clone(g.on)
			g.on[of] = expr.Conjunction(append(lists, on...))
		}
	}
	return g, more, nil
}

// takes reports whether a value for the column x of s, a query in FROM, keeps it from reading whole tables.
func (q *query) takes(s *source, x expr.Expr) bool {
	wide := func(s *plan.Scan) bool { return s.Access.Wide() }
	if s.again == nil || s.node == nil || !slices.ContainsFunc(plan.Scans(s.node), wide) {
		return false
	}
	n, rest, err := s.again(q.apart(), []expr.Expr{&expr.Compare{Op: expr.EQ, X: shifted(x, s.offset), Y: &expr.Const{Val: sampleValue(x.Type(), 0), Typ: x.Type()}}})
	return err == nil && n != nil && len(rest) == 0 && !slices.ContainsFunc(plan.Scans(n), wide)
}

// mayList reports whether a table may be read with the access in by, to make a list for a table that would be read with
// the access in of. A full scan for a list is made only if it replaces a full scan.
func mayList(by, of plan.Access) bool { return of.Wide() && (by.HitsPrefix() || !of.HitsPrefix()) }

// sourceOf returns the index of the source to which a column of the joined row belongs.
func (f *from) sourceOf(c *expr.Column) int {
	return slices.IndexFunc(f.srcs, func(s *source) bool { return c.Index >= s.offset && c.Index < s.offset+s.width() })
}

// reduces reports whether conditions leave few rows of source i, a table that is not in an outer join.
func (f *from) reduces(i int, conds []expr.Expr) bool {
	s := f.srcs[i]
	if f.outer[i] || s.table == nil {
		return false
	}
	own, _ := ownTerms(conds, s)
	return s.narrowed(conds) && !slices.ContainsFunc(own, func(e expr.Expr) bool { return !rowwise(e) })
}

// listOf returns the condition that x is IN the values of y, a column of s, in the rows where conds are true; nil if there
// are too many values.
func (q *query) listOf(s *source, conds []expr.Expr, x, y *expr.Column, h hints) (expr.Expr, error) {
	own, _ := ownTerms(conds, s)
	col := *y
	col.Index -= s.offset
	one := func() (*plan.Plan, error) {
		in, src, f, used := q.inside(), *s, &from{}, make([]bool, s.width())
		in.plan, used[col.Index] = &plan.Plan{}, true
		f.add(&src)
		n, _, err := in.joined(f, own, used, accessOrder{}, h)
		if err != nil {
			return nil, err
		}
		return &plan.Plan{Root: atMostListed(&plan.Distinct{Input: &plan.Project{Input: n, Exprs: []expr.Expr{&col}}}), Columns: []plan.OutputColumn{{Name: col.Name, Type: col.Typ}}}, nil
	}
	text := fmt.Sprintf("%s of %s WHERE %s", y, s.table.Name, expr.Conjunction(own))
	sub := &plan.Subplan{Select: q.env.Views.list(fmt.Sprint(text, y.Pos, s.offset)), Closed: true, Width: 1, Text: text}
	sub.Plan = func([]types.Value) (*plan.Plan, error) { return one() }
	var err error
	if sub.Sample, err = one(); err != nil {
		return nil, err
	}
	return q.limited(sub, expr.Subquery{Pos: y.Pos, Kind: expr.InSubquery, X: []expr.Expr{x}, Text: text, Types: []types.Type{col.Typ}})
}

// atMostListed limits n to one row more than a list may have.
func atMostListed(n plan.Node) plan.Node { return bounds{limit: plan.AtMost(maxListed + 1)}.of(n, nil) }

// limited works like answered, for a query that atMostListed has cut. It returns nil if the query has too many rows.
func (q *query) limited(sub *plan.Subplan, node expr.Subquery) (expr.Expr, error) {
	if q.env.Subqueries != nil {
		if rows, ok := q.env.Subqueries(sub); ok && rows.Len() > maxListed {
			return nil, nil
		}
	}
	return q.answered(sub, node)
}
