package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// need is what a statement asks of one table's columns, by name.
type need struct {
	table  *catalog.Table
	equal  []*catalog.Column
	ranges []*catalog.Column // compared, BETWEEN, or LIKE 'p%'
	suffix []*catalog.Column // LIKE '%s'
	order  []*catalog.Column // ORDER BY with LIMIT
}

// scope are the tables that a SELECT's columns are of, by alias in lower case.
type scope struct {
	names  []string
	tables []*catalog.Table
}

// column finds what ref is of; nil where it is no table's column or of several.
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

// needs lists what a statement asks of each table that it reads.
func (a *adviser) needs(ast parser.Statement) []need {
	var out []need
	switch s := ast.(type) {
	case *parser.Select:
		a.visit(s, func(sc *scope, core *parser.SelectCore, conds []parser.Expr) {
			out = append(out, sc.needs(conds, orderOf(s, core))...)
		})
	case *parser.Insert:
		if s.Query != nil {
			return a.needs(s.Query)
		}
	case *parser.CreateTable:
		if s.Query != nil {
			return a.needs(s.Query)
		}
	case *parser.Update:
		if s.From != nil {
			return a.needs(s.Joined())
		}
		out = a.needsOf(s.Table, s.Where)
	case *parser.Delete:
		if s.Using != nil {
			return a.needs(s.Joined())
		}
		out = a.needsOf(s.Table, s.Where)
	}
	return out
}

func (a *adviser) needsOf(table string, where parser.Expr) []need {
	t, ok := a.catalog.Table(table)
	if !ok || where == nil {
		return nil
	}
	sc := &scope{[]string{table}, []*catalog.Table{t}}
	return sc.needs([]parser.Expr{where}, nil)
}

// orderOf is the order that a LIMIT makes worth having from the key.
func orderOf(s *parser.Select, core *parser.SelectCore) []parser.OrderTerm {
	if s.Limit == nil || len(s.Cores) != 1 || s.Cores[0] != core || core.GroupBy != nil || core.Distinct || core.On != nil {
		return nil
	}
	return s.OrderBy
}

// visit calls f for each SELECT within s, with its tables and conditions.
func (a *adviser) visit(s parser.Node, f func(*scope, *parser.SelectCore, []parser.Expr)) {
	parser.Inspect(s, func(n parser.Node) bool {
		if q, ok := n.(*parser.Select); ok {
			for _, core := range q.Cores {
				sc, conds := a.scope(core)
				f(sc, core, conds)
			}
		}
		return true
	})
}

// scope gives the tables and the conditions of one SELECT.
func (a *adviser) scope(core *parser.SelectCore) (*scope, []parser.Expr) {
	sc := &scope{}
	var conds []parser.Expr
	for _, t := range core.From {
		parser.Inspect(t, func(n parser.Node) bool {
			switch n := n.(type) {
			case *parser.TableName:
				if table, ok := a.catalog.Table(n.Name); ok {
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

// needs sorts the conjuncts of conds and the terms of order by table and kind.
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

// needsByTable is what the conditions read so far ask of each table.
type needsByTable map[*catalog.Table]*need

func (b needsByTable) of(t *catalog.Table) *need {
	if b[t] == nil {
		b[t] = &need{table: t}
	}
	return b[t]
}

// condition adds what each conjunct of e asks of the column that it is about.
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

// comparison adds what the comparison of column and other by op, from the left or from the right, asks of the column.
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

// like adds what a LIKE of a column asks. A pattern that is not known yet counts as one with a prefix.
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
	ok := true
	parser.Walk(e, func(e parser.Expr) bool {
		switch e.(type) {
		case *parser.ColumnRef, *parser.SubqueryExpr:
			ok = false
		}
		return ok
	})
	return ok
}

// candidates are the key orders that could serve n: what is equal first, then one
// range or the order wanted; the columns of the primary key after these.
func (a *adviser) candidates(n need) []*candidate {
	if n.table.HiddenKey || n.table.Layouts[0].Packed != nil {
		return nil
	}
	type lead struct {
		cols    []*catalog.Column
		reverse *catalog.Column // written backwards, last of the lead
	}
	var leads []lead
	equal := n.equal
	for _, r := range n.ranges {
		if !slices.Contains(equal, r) {
			leads = append(leads, lead{cols: append(slices.Clone(equal), r)})
		}
	}
	for _, s := range n.suffix {
		leads = append(leads, lead{slices.DeleteFunc(slices.Clone(equal), func(c *catalog.Column) bool { return c == s }), s})
	}
	if len(n.order) > 0 {
		leads = append(leads, lead{cols: append(slices.Clone(equal), n.order...)})
	}
	if len(equal) > 0 {
		leads = append(leads, lead{cols: equal})
	}
	var out []*candidate
	for _, l := range leads {
		k := &candidate{table: n.table}
		cols := slices.Clone(l.cols)
		var name []string
		for _, c := range cols {
			if !slices.Contains(name, c.Name) {
				name = append(name, c.Name)
			}
		}
		if l.reverse != nil {
			name = append(name, "reversed_"+l.reverse.Name)
		}
		k.name = a.layoutName(n.table, "by_"+strings.ToLower(strings.Join(name, "_")))
		for _, i := range n.table.Layouts[0].PlaceColumns() {
			if c := n.table.Columns[i]; c != l.reverse {
				cols = append(cols, c)
			}
		}
		if k.parts = a.parts(n.table, cols, l.reverse, len(l.cols)); k.parts != nil {
			out = append(out, k)
		}
	}
	return out
}

// layoutName is a name that no layout of t has.
func (a *adviser) layoutName(t *catalog.Table, name string) string {
	out := name
	for n := 2; slices.ContainsFunc(t.Layouts, func(l *catalog.Layout) bool { return l.Name == out }); n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	return out
}

// parts writes a key of the columns, reverse at place at; nil when some column cannot stand in a key.
func (a *adviser) parts(t *catalog.Table, cols []*catalog.Column, reverse *catalog.Column, at int) []string {
	var out []string
	done := map[*catalog.Column]bool{}
	type written struct {
		text     string
		variable bool
	}
	var ws []written
	put := func(i int) {
		c := cols[i]
		if done[c] {
			return
		}
		done[c] = true
		text, variable := partOf(t, c)
		ws = append(ws, written{text, variable})
	}
	for i := range cols {
		if i == at && reverse != nil {
			ws = append(ws, written{"REVERSE(" + parser.QuoteName(reverse.Name) + ") AS TEXT", true})
		}
		put(i)
	}
	if reverse != nil && at >= len(cols) {
		ws = append(ws, written{"REVERSE(" + parser.QuoteName(reverse.Name) + ") AS TEXT", true})
	}
	for i, w := range ws {
		if w.text == "" {
			return nil
		}
		out = append(out, w.text)
		if w.variable && i+1 < len(ws) {
			out = append(out, "X'00'")
		}
	}
	return out
}

// partOf writes a column as a key part: as the primary key writes it where it does so in
// one part of fixed width, else in an encoding that keeps the order. "" where there is none.
func partOf(t *catalog.Table, c *catalog.Column) (part string, variable bool) {
	var own *catalog.Part
	users := 0
	for _, p := range t.Layouts[0].Key.Parts {
		if slices.Contains(p.Columns, c.Index) {
			users++
			if len(p.Columns) == 1 && p.Width() != catalog.Variable {
				own = p
			}
		}
	}
	if users == 1 && own != nil && c.KeyPart && t.Layouts[0].Stored.IsLiteral() {
		return own.Source, false
	}
	name := parser.QuoteName(c.Name)
	switch {
	case c.Type == types.String:
		return name + " AS TEXT", true
	case c.Type == types.Bytes:
		return name + " AS BYTES", true
	case c.Type.IsInteger():
		return fmt.Sprintf("%s AS ORDERED INT%d", name, map[types.Type]int{types.TinyInt: 8, types.SmallInt: 16, types.Int: 32, types.BigInt: 64}[c.Type]), false
	case c.Type == types.Timestamp:
		return name + " AS ORDERED INT64", false
	case c.Type == types.Date:
		return name + " AS TEXT('yyyyMMdd')", false
	case c.Type == types.Time:
		return name + " AS UINT32", false
	case c.Type == types.Double:
		return name + " AS ORDERED FLOAT64", false
	case c.Type == types.Float:
		return name + " AS ORDERED FLOAT32", false
	case c.Type == types.Boolean:
		return name + " AS BOOLEAN", false
	}
	return "", false
}

// samples are values for the parameters of a statement, of the types of the columns
// that they are compared with: which values does not matter to a plan's shape.
func (a *adviser) samples(ast parser.Statement) ([]types.Value, map[string]types.Value) {
	var args []types.Value
	named := map[string]types.Value{}
	set := func(p *parser.Param, v types.Value) {
		if p.Name != "" {
			named[p.Name] = v
			return
		}
		for len(args) < p.Index {
			args = append(args, types.NewInt(1))
		}
		args[p.Index-1] = v
	}
	expr := func(sc *scope, e parser.Expr) {
		parser.Walk(e, func(e parser.Expr) bool {
			typ := types.Null
			for _, c := range parser.Children(e) {
				if _, col := sc.column(c); col != nil {
					typ = col.Type
				}
			}
			if typ == types.Null {
				return true
			}
			for _, c := range parser.Children(e) {
				if p, ok := c.(*parser.Param); ok {
					set(p, sample(typ))
				}
			}
			return true
		})
	}
	a.visit(ast, func(sc *scope, core *parser.SelectCore, conds []parser.Expr) {
		for _, e := range append(conds, core.Having) {
			expr(sc, e)
		}
		for _, item := range core.Items {
			expr(sc, item.Expr)
		}
	})
	switch s := ast.(type) {
	case *parser.Update:
		if t, ok := a.catalog.Table(s.Table); ok {
			expr(&scope{[]string{s.Table}, []*catalog.Table{t}}, s.Where)
		}
	case *parser.Delete:
		if t, ok := a.catalog.Table(s.Table); ok {
			expr(&scope{[]string{s.Table}, []*catalog.Table{t}}, s.Where)
		}
	}
	parser.Inspect(ast, func(n parser.Node) bool {
		p, ok := n.(*parser.Param)
		if !ok {
			return true
		}
		if _, known := named[p.Name]; p.Index > len(args) || p.Name != "" && !known {
			set(p, types.NewInt(1))
		}
		return true
	})
	return args, named
}

// sample is some value of a type.
func sample(t types.Type) types.Value {
	switch {
	case t.IsText():
		return types.NewString("a")
	case t == types.Bytes:
		return types.NewBytes("a")
	case t == types.Timestamp:
		return types.NewTimestamp(1_767_225_600_000)
	case t == types.Date:
		return types.NewDate(20_454)
	case t == types.Double || t == types.Float:
		return types.NewFloatOf(t, 1)
	case t == types.Decimal:
		v, _ := types.Cast(types.NewInt(1), types.Decimal, nil)
		return v
	}
	return types.NewIntOf(t, 1)
}
