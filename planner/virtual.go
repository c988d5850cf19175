package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
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

// word compiles ref as a call if it is the unquoted, unqualified name of a function without parentheses, such as
// CURRENT_USER. Otherwise it returns nil.
func (e *Env) word(ref *parser.ColumnRef) expr.Expr {
	name := strings.ToUpper(ref.Name)
	if ref.Quoted || ref.Table != "" || !slices.Contains(words, name) {
		return nil
	}
	x, err := expr.Compile(&parser.Call{Pos: ref.Pos, Name: name}, &expr.Scope{Funcs: e.funcs(), Function: e.Function})
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
	for i, c := range p.Columns {
		if i < len(v.Def.Columns) {
			c.Name = v.Def.Columns[i]
		}
		out = append(out, pgcatalog.Column{Name: c.Name, Type: c.Type, Limit: c.Limit})
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

// virtual returns the source for a relation of PostgreSQL's system catalog, or nil. If some is set, the source has only
// the columns that the statement may use, because each join and sort copies its rows.
func (q *query) virtual(name, alias string, some bool) *source {
	r := pgcatalog.Find(name)
	if r == nil {
		return nil
	}
	s := &source{name: cmp.Or(alias, strings.TrimSuffix(r.Name, "()"))}
	var used map[string]bool
	if some && len(q.reading) == 0 {
		used = q.views.columns()
	}
	all := used == nil || used[strings.ToUpper(s.name)]
	var from []int // the numbers of columns in r
	for i, c := range r.Columns {
		if !all && !used[strings.ToUpper(c.Name)] {
			s.unused = append(s.unused, c.Name)
			continue
		}
		from = append(from, i)
		s.cols = append(s.cols, plan.OutputColumn{Name: c.Name, Type: c.Type, Hidden: i >= len(r.Columns)-r.Hidden,
			Origin: plan.Origin{Relation: r.Schema + ":" + r.Name, Column: i + 1}})
	}
	session := q.env.postgres()
	read := func(conds []expr.Expr) *plan.Virtual {
		return &plan.Virtual{Name: r.Schema + "." + r.Name, N: len(s.cols), Rows: func(listed func(int) ([]types.Value, bool)) [][]types.Value {
			return chosen(from, r.Rows(session, func(column string) ([]types.Value, bool) {
				i := slices.IndexFunc(s.cols, func(c plan.OutputColumn) bool { return r.Columns[c.Origin.Column-1].Name == column })
				if values, ok := valuesOf(conds, i); ok || listed == nil {
					return values, ok
				}
				return listed(i)
			}))
		}}
	}
	s.node = read(nil)
	s.again = func(_ *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) { return read(conds), conds, nil }
	return s
}

// chosen returns rows with only the columns of these numbers.
func chosen(columns []int, rows [][]types.Value) [][]types.Value {
	if len(rows) == 0 || len(columns) == len(rows[0]) {
		return rows
	}
	out, values := make([][]types.Value, len(rows)), make([]types.Value, 0, len(rows)*len(columns))
	for i, r := range rows {
		from := len(values)
		for _, c := range columns {
			values = append(values, r[c])
		}
		out[i] = values[from:len(values):len(values)]
	}
	return out
}

// columns returns the names in the statement that may be those of columns, in upper case. It returns nil if the statement
// uses columns that it does not name, by * or NATURAL JOIN.
func (vs *views) columns() map[string]bool {
	vs.mu.Lock()
	defer vs.mu.Unlock()
	if vs.read {
		return vs.names
	}
	vs.read, vs.names = true, map[string]bool{}
	all := false
	for _, n := range vs.text {
		parser.Inspect(n, func(n parser.Node) bool {
			switch n := n.(type) {
			case *parser.ColumnRef:
				vs.names[strings.ToUpper(n.Name)] = true
				all = all || n.Star
			case *parser.Join:
				for _, name := range n.Using {
					vs.names[strings.ToUpper(name)] = true
				}
				all = all || n.Natural
			case *parser.Select:
				for _, c := range n.Cores {
					all = all || slices.ContainsFunc(c.Items, func(it parser.SelectItem) bool { return it.Star })
				}
			}
			return !all
		})
	}
	if all {
		vs.names = nil
	}
	return vs.names
}

// virtualOrder returns the order in which to join sources if all of them are relations of PostgreSQL's system catalog:
// it begins with a source that has a column compared with values, and continues with sources that are compared with the
// previous ones by equality. Sources from the first outer join on keep their places. Nil means as written.
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

// mostListed bounds the number of values to which conditions restrict a column: for more values, a relation computes
// all of its rows instead of only the matching ones.
const mostListed = 1000

// valuesOf returns the values that column col can have in rows where conds are true; ok is false if there are more than
// mostListed, or if conds do not restrict the column.
func valuesOf(conds []expr.Expr, col int) (values []types.Value, ok bool) {
	for _, c := range conds {
		if of, set, _, known := solve.Sarg(c); known && of == col {
			if values, ok = set.Values(mostListed); ok {
				return values, true
			}
		}
	}
	return nil, false
}
