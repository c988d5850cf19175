package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/pgcatalog"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// postgres returns PostgreSQL's system catalog for e's statement.
func (e *Env) postgres() *pgcatalog.Session {
	if e.Postgres == nil {
		e.Postgres = &pgcatalog.Session{Catalog: e.Catalog, Funcs: e.Funcs, Planner: e}
	}
	return e.Postgres
}

// Function returns a function of PostgreSQL's system catalog, or nil.
func (e *Env) Function(name string) *expr.Function { return e.postgres().Function(name) }

// words are functions that SQL calls without parentheses.
var words = []string{"CURRENT_USER", "CURRENT_ROLE", "SESSION_USER", "USER", "CURRENT_CATALOG", "CURRENT_SCHEMA"}

// word returns the value of ref if it is one of words and not a column; otherwise nil.
func (e *Env) word(ref *parser.ColumnRef) expr.Expr {
	name := strings.ToUpper(ref.Name)
	if ref.Quoted || ref.Table != "" || !slices.Contains(words, name) {
		return nil
	}
	x, err := expr.Compile(&parser.Call{Pos: ref.Pos, Name: name}, &expr.Scope{Function: e.Function})
	if err != nil {
		return nil
	}
	return x
}

// ViewColumns returns the columns of a view, or none if its query cannot be planned.
func (e *Env) ViewColumns(v *catalog.View) (out []pgcatalog.Column) {
	in := &Env{Catalog: e.Catalog, Loc: e.Loc, Now: e.Now, Funcs: e.Funcs, Postgres: e.Postgres, Stop: e.Stop}
	p, err := in.Select(v.Def.Query)
	if err != nil {
		return nil
	}
	for _, c := range p.Columns {
		out = append(out, pgcatalog.Column{Name: c.Name, Type: c.Type})
	}
	return out
}

// TableStatistics returns the results of ANALYZE for t, or nil.
func (e *Env) TableStatistics(t *catalog.Table) *stats.Table {
	if e.Statistics == nil {
		return nil
	}
	return e.Statistics(t)
}

// virtual returns the source for a relation of PostgreSQL's system catalog, or nil.
func (q *query) virtual(name, alias string) *source {
	r := pgcatalog.Find(name)
	if r == nil {
		return nil
	}
	s := &source{name: cmp.Or(alias, strings.TrimSuffix(r.Name, "()"))}
	for i, c := range r.Columns {
		s.cols = append(s.cols, plan.OutputColumn{Name: c.Name, Type: c.Type, Hidden: i >= len(r.Columns)-r.Hidden,
			Origin: plan.Origin{Relation: r.Schema + ":" + r.Name, Column: i + 1}})
	}
	session := q.env.postgres()
	read := func(conds []expr.Expr) *plan.Virtual {
		return &plan.Virtual{Name: r.Schema + "." + r.Name, N: len(s.cols), Rows: func(listed func(int) ([]types.Value, bool)) [][]types.Value {
			return r.Rows(session, func(column string) ([]types.Value, bool) {
				i := slices.IndexFunc(r.Columns, func(c pgcatalog.Column) bool { return c.Name == column })
				if values, ok := valuesOf(conds, i); ok || listed == nil {
					return values, ok
				}
				return listed(i)
			})
		}}
	}
	s.node = read(nil)
	s.again = func(_ *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) { return read(conds), conds, nil }
	return s
}

// virtualOrder returns the order in which to join sources if all of them are relations of PostgreSQL's system catalog:
// first one that is compared with values, then those that it determines. Sources from the first outer join on keep their
// places. Nil means as written.
func (q *query) virtualOrder(f *from, conds []expr.Expr) []int {
	inner := len(f.srcs)
	for i, s := range f.srcs {
		if _, ok := s.node.(*plan.Virtual); !ok || f.swapped[i] {
			return nil
		}
		if f.outer[i] && i < inner {
			inner = i
		}
	}
	leads := func(i int, given []int) bool {
		own, rest := ownTerms(conds, f.srcs[i])
		for c := range f.srcs[i].cols {
			if _, ok := valuesOf(own, c); ok {
				return true
			}
		}
		return slices.ContainsFunc(rest, func(e expr.Expr) bool {
			_, _, equal := equality(e)
			return equal && q.sampled(e, f.srcs[i], given, f) != nil
		})
	}
	if inner < 2 || leads(0, nil) && leads(1, []int{0}) {
		return nil
	}
	for first := range inner {
		if leads(first, nil) {
			order := orderFrom(first, inner, leads)
			for i := inner; i < len(f.srcs); i++ {
				order = append(order, i)
			}
			return order
		}
	}
	return nil
}

// mostListed is the greatest number of values of a column for which a relation computes only the matching rows.
const mostListed = 1000

// valuesOf returns the values that column col can have in rows where conds are true; ok is false if there are many.
func valuesOf(conds []expr.Expr, col int) (values []types.Value, ok bool) {
	for _, c := range conds {
		if of, set, _, known := expr.Sarg(c); known && of == col {
			if values, ok = set.Values(mostListed); ok {
				return values, true
			}
		}
	}
	return nil, false
}
