package planner

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// A query in FROM that only selects, renames, computes and filters columns of one table is replaced by that table. Then
// conditions, orders, limits and joins around the query bind the key as if they had been written for the table.

// viewColumn is a column of such a query.
type viewColumn struct {
	name string
	of   expr.Expr // over the table's row
}

// pulling says which queries in FROM may be replaced by their tables.
type pulling uint8

const (
	pullAny   pulling = iota
	pullPlain         // those without computed columns: in a missing row of an outer join these would have values,
	// and GROUPING SETS could not distinguish two columns with the same expression
	pullNone
)

// viewMark is the index from which on a column of * represents a computed one: see from.computed.
const viewMark = 1 << 27

// maxPulled bounds the size of the expressions of a query that is replaced by its table: each occurs wherever its column
// is used.
const maxPulled = 1000

// picks reports whether s, nested in depth other queries of the text, is a query that may be replaced by its table.
func (q *query) picks(s *parser.Select, depth int) bool {
	if depth > maxNesting || len(s.With)+len(s.Cores)-1+len(s.OrderBy) > 0 || s.Limit != nil || s.Offset != nil {
		return false
	}
	c := s.Cores[0]
	if c.Values != nil || c.Query != nil || c.Distinct || c.Having != nil || len(c.On)+len(c.GroupBy)+len(c.Windows)+len(c.Hints) > 0 || len(c.From) != 1 {
		return false
	}
	plain := func(e parser.Expr) bool { return q.rowwise(e) && !parser.Some(e, parser.IsQuery) }
	if !plain(c.Where) || slices.ContainsFunc(c.Items, func(it parser.SelectItem) bool { return !plain(it.Expr) }) {
		return false
	}
	switch t := c.From[0].(type) {
	case *parser.Subquery:
		return q.picks(t.Query, depth+1)
	case *parser.TableName:
		if w := q.cteOf(t); w != nil {
			return w.picked()
		}
		_, v, err := q.env.Catalog.TableOrView(t.Name, t.Pos)
		if v != nil {
			return t.SystemTime == nil && !slices.Contains(q.reading, strings.ToLower(v.Name)) && q.views.view(q, v, t).picked()
		}
		return err == nil
	}
	return false
}

// volatile reports whether the function with this name may return different values for equal arguments.
func (q *query) volatile(name string) bool {
	f := q.function(name)
	return f == nil || f.Volatile
}

// pulled replaces s, a query in FROM with this alias and these columns, by its table; nil if that is not possible.
func (q *query) pulled(s *parser.Select, alias string, columns []string, pos parser.Pos) (_ *source, err error) {
	defer fail.Catch(&err)
	mode := q.pull
	if mode == pullNone || !q.picks(s, q.depth) {
		return nil, nil
	}
	defer func() { q.pull = mode; q.depth-- }()
	q.pull = pullAny
	q.depth++
	c, f := s.Cores[0], &from{}
	f.star = q.addFrom(f, c.From[0])
	scope := q.scope(f.srcs)
	outs := q.items(c, f, scope)
	out := *f.srcs[0]
	out.name, out.view = alias, make([]viewColumn, len(outs))
	names := make([]plan.OutputColumn, len(outs))
	seen, computed := map[int]bool{}, 0
	for i, o := range outs {
		names[i], computed = o.column(), computed+size(expr.Children(o.expr))
		out.view[i].of = o.expr
		col, ok := o.expr.(*expr.Column)
		if mode == pullPlain && (!ok || seen[col.Index]) {
			return nil, nil
		}
		if ok {
			seen[col.Index] = true
		}
	}
	names = renamed(names, columns, alias, pos)
	for i, n := range names {
		out.view[i].name = n.Name
	}
	if c.Where != nil {
		w := fail.Must(expr.CompileCondition(c.Where, scope))
		out.conds = append(slices.Clip(out.conds), expr.Conjuncts(expr.Fold(w, q.env.Loc))...)
	}
	if size(out.conds)+computed > maxPulled || out.table == nil {
		return q.computed(f, out.conds, outs, &source{name: alias, cols: names})
	}
	return &out, nil
}

// computed sets the node of out: it reads the rows of f that match conds, and computes outs from them. The source of f
// no longer has conds of its own.
func (q *query) computed(f *from, conds []expr.Expr, outs []output, out *source) (*source, error) {
	f.srcs[0].conds = nil
	used := make([]bool, f.width())
	mark(used, conds...)
	exprs := make([]expr.Expr, len(outs))
	for i, o := range outs {
		exprs[i] = o.expr
	}
	mark(used, exprs...)
	node, _, err := q.joined(f, conds, used, accessOrder{}, hints{})
	out.node = &plan.Project{Input: node, Exprs: exprs}
	return out, err
}

// size returns the number of nodes in expressions.
func size(es []expr.Expr) int {
	n := len(es)
	for _, e := range es {
		n += size(expr.Children(e))
	}
	return n
}

// column returns v over the joined row.
func (s *source) column(v viewColumn, pos parser.Pos) expr.Expr {
	x := moved(v.of, func(i int) int { return i + s.offset })
	if c, ok := x.(*expr.Column); ok {
		d := *c
		d.Pos, d.Name = pos, v.name
		return &d
	}
	return x
}
