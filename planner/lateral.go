package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// subquerySource is a query in FROM behind the sources of f. One that is LATERAL and refers to these is planned for each of their rows.
func (q *query) subquerySource(f *from, t *parser.Subquery) (*source, error) {
	if t.Lateral && len(f.srcs) > 0 {
		sub, of, err := q.correlated(f.srcs, t.Query, t.Query)
		if err != nil {
			return nil, err
		}
		if !sub.Closed {
			q.plan.Subplans = append(q.plan.Subplans, sub)
			cols, err := renamed(sub.Sample.Columns, t.Columns, t.Alias, t.Pos)
			return &source{name: t.Alias, cols: cols, lateral: sub, of: of}, err
		}
	}
	return q.derived(t.Query, t.Alias, t.Columns, t.Alias, t.Pos)
}

// functionSource is a function in FROM behind the sources of f, to which its arguments may refer.
func (q *query) functionSource(f *from, t *parser.TableFunction) (*source, error) {
	if t.Name == "UNNEST" {
		rows, err := elements(t)
		if err != nil {
			return nil, err
		}
		name, columns := functionAlias(t), t.Columns
		if columns == nil {
			columns = []string{name}
		}
		return q.subquerySource(f, &parser.Subquery{Pos: t.Pos, Lateral: true, Query: rows, Alias: name, Columns: columns})
	}
	refers := false
	for _, x := range t.Args {
		parser.Walk(x, func(x parser.Expr) bool {
			_, column := x.(*parser.ColumnRef)
			refers = refers || column
			return true
		})
	}
	if !refers || len(f.srcs) == 0 {
		return q.tableFunction(t)
	}
	rows := &parser.Select{Pos: t.Pos, Cores: []*parser.SelectCore{{Pos: t.Pos, Items: []parser.SelectItem{{Pos: t.Pos, Star: true}}, From: []parser.TableExpr{t}}}}
	return q.subquerySource(f, &parser.Subquery{Pos: t.Pos, Lateral: true, Query: rows, Alias: functionAlias(t)})
}

// apply adds s, whose rows are those of a query for each row of n, with the conditions that can be checked then: those of its LEFT JOIN, or
// the ones of conds. rest are the others.
func (f *from) apply(n plan.Node, i int, conds []expr.Expr) (out *plan.Apply, rest []expr.Expr) {
	s := f.srcs[i]
	out = &plan.Apply{Left: n, Query: s.lateral, Of: s.of, Outer: f.outer[i]}
	if out.Outer {
		if !isAlways(f.on[i]) {
			out.On = f.on[i]
		}
		return out, conds
	}
	on, rest := termsUpTo(conds, s)
	if len(on) > 0 {
		out.On = expr.Conjunction(on)
	}
	return out, rest
}

// lateral reports whether a source of f depends on those before it, so that they stay in the order that they are written in.
func (f *from) lateral() bool {
	return slices.ContainsFunc(f.srcs, func(s *source) bool { return s.lateral != nil })
}
