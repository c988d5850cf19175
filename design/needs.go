package design

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
)

// need describes the conditions and the order that a statement needs on the columns of one table, by name.
type need struct {
	table  *catalog.Table
	equal  []*catalog.Column
	ranges []*catalog.Column // compared, BETWEEN, or LIKE 'p%'
	suffix []*catalog.Column // LIKE '%s'
	order  []*catalog.Column // ORDER BY with LIMIT
	newest bool              // the order falls
}

// scope holds the tables in the FROM of a SELECT, by alias in lower case.
type scope struct {
	names  []string
	tables []*catalog.Table
}

// column returns the table and column to which ref refers; nil if there is none or several.
func (sc *scope) column(e parser.Expr) (*catalog.Table, *catalog.Column) {
	ref, ok := e.(*parser.ColumnRef)
	if !ok {
		return nil, nil
	}
	var table *catalog.Table
	var col *catalog.Column
	for i, t := range sc.tables {
		if ref.Table != "" && !strings.EqualFold(ref.Table, sc.names[i]) {
			continue
		}
		if c, ok := t.Column(ref.Name); ok {
			if col != nil {
				return nil, nil
			}
			table, col = t, c
		}
	}
	return table, col
}

// needs returns the needs of a statement for each table that it reads.
func (d *designer) needs(ast parser.Statement) []need {
	var out []need
	switch s := ast.(type) {
	case *parser.Select:
		d.visit(s, func(sc *scope, core *parser.SelectCore, conds []parser.Expr) {
			out = append(out, sc.needs(conds, orderOf(s, core))...)
		})
	case *parser.Insert:
		if s.Query != nil {
			return d.needs(s.Query)
		}
	case *parser.CreateTable:
		if s.Query != nil {
			return d.needs(s.Query)
		}
	case *parser.Update:
		if s.Joins() {
			return d.needs(s.Joined())
		}
	case *parser.Delete:
		if s.Joins() {
			return d.needs(s.Joined())
		}
	}
	if table, where := written(ast); where != nil {
		if t, ok := d.catalog.Table(table); ok {
			return (&scope{[]string{table}, []*catalog.Table{t}}).needs([]parser.Expr{where}, nil)
		}
	}
	return out
}

// orderOf returns the ORDER BY of a SELECT with LIMIT, for which a key in this order saves reads; nil for another
// SELECT.
func orderOf(s *parser.Select, core *parser.SelectCore) []parser.OrderTerm {
	if s.Limit == nil || len(s.Cores) != 1 || s.Cores[0] != core || core.GroupBy != nil || core.Distinct || core.On != nil {
		return nil
	}
	return s.OrderBy
}

// visit calls f for each SELECT within s, with its tables and conditions.
func (d *designer) visit(s parser.Node, f func(*scope, *parser.SelectCore, []parser.Expr)) {
	parser.Inspect(s, func(n parser.Node) bool {
		if q, ok := n.(*parser.Select); ok {
			for _, core := range q.Cores {
				sc, conds := d.scope(core)
				f(sc, core, conds)
			}
		}
		return true
	})
}

// scope returns the tables and the conditions of one SELECT.
func (d *designer) scope(core *parser.SelectCore) (*scope, []parser.Expr) {
	sc := &scope{}
	var conds []parser.Expr
	for _, t := range core.From {
		parser.Inspect(t, func(n parser.Node) bool {
			switch n := n.(type) {
			case *parser.TableName:
				if table, ok := d.catalog.Table(n.Name); ok {
					name := n.Alias
					if name == "" {
						name = n.Name
					}
					sc.names, sc.tables = append(sc.names, name), append(sc.tables, table)
				}
			case *parser.Subquery, *parser.TableFunction:
				return false
			case parser.Expr: // ON
				conds = append(conds, n)
				return false
			}
			return true
		})
	}
	if core.Where != nil {
		conds = append(conds, core.Where)
	}
	return sc, conds
}

// needs returns the needs of the conditions and of the ORDER BY terms, one for each table.
func (sc *scope) needs(conds []parser.Expr, order []parser.OrderTerm) []need {
	byTable := needsByTable{}
	for _, c := range conds {
		byTable.condition(sc, c)
	}
	for _, o := range order {
		t, c := sc.column(o.Expr)
		if c == nil {
			break
		}
		addColumn(&byTable.of(t).order, c)
		byTable.of(t).newest = o.Desc
	}
	var out []need
	for _, t := range sc.tables {
		if n := byTable[t]; n != nil {
			out = append(out, *n)
			delete(byTable, t)
		}
	}
	return out
}

// needsByTable collects the needs of the conditions read so far, by table.
type needsByTable map[*catalog.Table]*need

func (b needsByTable) of(t *catalog.Table) *need {
	if b[t] == nil {
		b[t] = &need{table: t}
	}
	return b[t]
}

// condition adds the need of each conjunct of e to its column's table.
func (b needsByTable) condition(sc *scope, e parser.Expr) {
	switch e := e.(type) {
	case *parser.Binary:
		if e.Op == "AND" {
			b.condition(sc, e.X)
			b.condition(sc, e.Y)
			return
		}
		b.comparison(sc, e.Op, e.X, e.Y)
		b.comparison(sc, e.Op, e.Y, e.X)
	case *parser.Between:
		if t, c := sc.column(e.X); c != nil && !e.Not && sc.constant(e.Lo) && sc.constant(e.Hi) {
			addColumn(&b.of(t).ranges, c)
		}
	case *parser.In:
		if t, c := sc.column(e.X); c != nil && !e.Not && e.Query == nil {
			addColumn(&b.of(t).equal, c)
		}
	case *parser.Like:
		if t, c := sc.column(e.X); c != nil && !e.Not && e.Op == "LIKE" {
			b.like(t, c, e.Pattern)
		}
	}
}

// comparison adds the need of a comparison of column with other by op; the column is on the left or on the right.
func (b needsByTable) comparison(sc *scope, op string, column, other parser.Expr) {
	t, c := sc.column(column)
	if c == nil || !sc.constant(other) {
		return
	}
	switch op {
	case "=":
		addColumn(&b.of(t).equal, c)
	case "<", "<=", ">", ">=":
		addColumn(&b.of(t).ranges, c)
	}
}

// like adds the need of a LIKE on a column. An unknown pattern is assumed to have a prefix.
func (b needsByTable) like(t *catalog.Table, c *catalog.Column, pattern parser.Expr) {
	switch p, ok := pattern.(*parser.Literal); {
	case !ok:
		addColumn(&b.of(t).ranges, c)
	case strings.HasPrefix(p.Text, "%") && len(p.Text) > 1 && !strings.ContainsAny(p.Text[1:], "%_"):
		addColumn(&b.of(t).suffix, c)
	case p.Text != "" && p.Text[0] != '%' && p.Text[0] != '_':
		addColumn(&b.of(t).ranges, c)
	}
}

func addColumn(list *[]*catalog.Column, c *catalog.Column) {
	if !slices.Contains(*list, c) {
		*list = append(*list, c)
	}
}

// constant reports whether e reads no column.
func (sc *scope) constant(e parser.Expr) bool {
	return !parser.Some(e, func(e parser.Expr) bool {
		switch e.(type) {
		case *parser.ColumnRef, *parser.SubqueryExpr:
			return true
		}
		return false
	})
}
