package planner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// output is a result column during the planning of a core.
type output struct {
	name    string
	expr    expr.Expr
	written parser.Expr // nil for a column of *
	origin  plan.Origin
}

// column describes the column of the result.
func (o *output) column() plan.OutputColumn {
	return plan.OutputColumn{Name: o.name, Type: o.expr.Type(), Limit: expr.DeclaredLimit(o.expr.Type(), o.expr), Origin: o.origin}
}

// origin returns the origin of x if it is a column of f.
func (f *from) origin(x expr.Expr) plan.Origin {
	if c, ok := x.(*expr.Column); ok {
		if i := f.sourceOf(c); i >= 0 {
			return f.srcs[i].cols[c.Index-f.srcs[i].offset].Origin
		}
	}
	return plan.Origin{}
}

// maxColumns bounds the number of columns of a query: with nested SELECT a.*, b.* it doubles at each level.
const maxColumns = 16_384

// items compiles the SELECT list.
func (q *query) items(c *parser.SelectCore, f *from, scope *expr.Scope) []output {
	outs := make([]output, 0, len(c.Items))
	for _, it := range c.Items {
		if !it.Star {
			x := fail.Must(expr.Compile(it.Expr, scope))
			outs = append(outs, output{itemName(it), x, it.Expr, f.origin(x)})
			continue
		}
		n := len(outs)
		shown := f.star
		if it.Table != "" {
			shown = f.shown(it.Table)
		}
		if len(outs)+len(shown) > maxColumns {
			panic(fail.With(parser.Errorf(it.Pos, "%d columns are more than the %d that a query may have", len(outs)+len(shown), maxColumns)))
		}
		outs = slices.Grow(outs, len(shown))
		columns := make([]expr.Column, len(shown))
		for i, c := range shown {
			if c.Index >= viewMark {
				outs = append(outs, output{name: c.Name, expr: f.computed[c.Index-viewMark]})
				continue
			}
			columns[i] = expr.Column{Pos: it.Pos, Index: c.Index, Name: c.Name, Typ: c.Typ, Limit: c.Limit}
			outs = append(outs, output{name: c.Name, expr: &columns[i], origin: f.origin(&columns[i])})
		}
		if len(outs) == n {
			if it.Table != "" {
				panic(fail.With(parser.Errorf(it.Pos, "unknown table %q", it.Table).Of(catalog.ErrUnknownTable)))
			}
			if len(c.From) == 0 {
				panic(fail.With(parser.Errorf(it.Pos, "SELECT * needs a table")))
			}
		}
	}
	return outs
}

// itemName returns the result column's name: the alias, the column's name, or the function's.
func itemName(it parser.SelectItem) string {
	if it.Alias != "" {
		return it.Alias
	}
	if name, _ := nameOf(it.Expr); name != "" {
		return name
	}
	return "?column?"
}

// nameOf returns the name that PostgreSQL gives the value of e; "" if none. A cast replaces a weak name.
func nameOf(e parser.Expr) (name string, weak bool) {
	switch e := e.(type) {
	case *parser.ColumnRef:
		return e.Name, false
	case *parser.Call:
		if e.Name == "_PG_FIELD" {
			return e.Args[1].(*parser.Literal).Text, false
		}
		return strings.ToLower(cmp.Or(callNames[e.Name], e.Name)), false
	case *parser.Subscript:
		return nameOf(e.X)
	case *parser.AtTimeZone:
		return "timezone", false
	case *parser.Tuple:
		return "row", false
	case *parser.Array:
		return "array", false
	case *parser.SubqueryExpr:
		switch {
		case e.Exists:
			return "exists", false
		case e.Array:
			return "array", false
		}
		if items := e.Query.Cores[0].Items; len(items) > 0 && !items[0].Star {
			return itemName(items[0]), false
		}
	case *parser.Case:
		if name, weak := nameOf(e.Else); name != "" && !weak {
			return name, false
		}
		return "case", true
	case *parser.Literal:
		return typedLiterals[e.Kind], true
	case *parser.Cast:
		if name, weak := nameOf(e.X); name != "" && !weak {
			return name, false
		}
		word, _, _ := strings.Cut(strings.TrimSuffix(strings.ToLower(types.WrittenType(e.Type)), "[]"), "(")
		return cmp.Or(castNames[word], word), true
	}
	return "", true
}

// typedLiterals are the names of columns with DATE '..' and similar literals. castNames and callNames are the types
// and functions that have another name in PostgreSQL.
var (
	callNames     = map[string]string{"TRIM": "btrim"}
	typedLiterals = map[parser.LiteralKind]string{parser.DateLiteral: "date", parser.TimeLiteral: "time", parser.TimestampLiteral: "timestamp", parser.IntervalLiteral: "interval"}
	castNames     = map[string]string{"tinyint": "int2", "smallint": "int2", "int": "int4", "integer": "int4", "bigint": "int8", "long": "int8", "real": "float4", "float": "float4",
		"double": "float8", "double precision": "float8", "decimal": "numeric", "boolean": "bool", "string": "text", "character varying": "varchar", "char": "bpchar", "character": "bpchar",
		"bytes": "bytea", "timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz", "datetime": "timestamp"}
)

// outputIndex returns the index of the result column to which a term of ORDER BY or GROUP BY refers by name or number.
func outputIndex(e parser.Expr, cols []plan.OutputColumn) (int, bool) {
	switch e := e.(type) {
	case *parser.Literal:
		if n, err := strconv.Atoi(e.Text); err == nil && e.Kind == parser.NumberLiteral && n >= 1 && n <= len(cols) {
			return n - 1, true
		}
	case *parser.ColumnRef:
		for i, c := range cols {
			if e.Table == "" && strings.EqualFold(c.Name, e.Name) {
				return i, true
			}
		}
	}
	return 0, false
}

// sortTerms returns the order by x, a term of ORDER BY: a row value orders by its values.
func sortTerms(t parser.OrderTerm, x expr.Expr) (out []plan.SortTerm) {
	if c, ok := x.(*expr.Call); ok && c.Func.Name == "ROW" {
		for _, a := range c.Args {
			out = append(out, sortTerms(t, a)...)
		}
		return out
	}
	st := plan.SortTerm{Expr: x, Desc: t.Desc, NullsFirst: t.Desc}
	if t.NullsFirst != nil {
		st.NullsFirst = *t.NullsFirst
	}
	return append(out, st)
}

// orderTerms compiles ORDER BY. A term is a result column by name or number, or else an expression over the tables.
func (q *query) orderTerms(clause string, orderBy []parser.OrderTerm, outs []output, scope *expr.Scope) []plan.SortTerm {
	if len(orderBy) == 0 {
		return nil
	}
	cols := make([]plan.OutputColumn, len(outs))
	for i, o := range outs {
		cols[i] = o.column()
	}
	var terms []plan.SortTerm
	for _, t := range orderBy {
		if i, ok := outputIndex(t.Expr, cols); ok {
			terms = append(terms, sortTerms(t, outs[i].expr)...)
			continue
		}
		if l, ok := t.Expr.(*parser.Literal); ok && l.Kind == parser.NumberLiteral {
			panic(fail.With(parser.Errorf(l.Pos, "%s %s: the result has no column of that number, the last is %d", clause, l.Text, len(outs))))
		}
		x := fail.Must(expr.Compile(t.Expr, scope))
		if _, constant := x.(*expr.Const); !constant {
			terms = append(terms, sortTerms(t, x)...)
		}
	}
	return terms
}

// group compiles a term of GROUP BY. A name is a column of the tables or else a result column. If the term is a result
// column, by name or number, group returns this output, too.
func (q *query) group(g parser.Expr, outs []output, srcs []*source) (expr.Expr, *output) {
	x, err := expr.Compile(g, q.scope(srcs))
	if _, literal := g.(*parser.Literal); err == nil && !literal {
		return x, nil
	}
	cols := make([]plan.OutputColumn, len(outs))
	for i, o := range outs {
		cols[i] = o.column()
	}
	i, ok := outputIndex(g, cols)
	if !ok { // the scope of GROUP BY takes no function that returns rows
		i = slices.IndexFunc(outs, func(o output) bool { return isSet(o.expr) && sameText(o.written, g) })
		ok = i >= 0
	}
	if !ok {
		fail.On(err)
		panic(fail.With(parser.Errorf(g.Position(), "GROUP BY takes expressions, or numbers of result columns")))
	}
	if x = outs[i].expr; expr.SomeColumn(x, func(c int) bool { return c >= groupingMark }) {
		panic(fail.With(parser.Errorf(g.Position(), "GROUP BY %s: result column %d is an aggregate, which is computed of the groups", g, i+1)))
	}
	if expr.Some(x, isSet) {
		err := parser.Errorf(g.Position(), "GROUP BY takes no function that returns rows: %s", x).WithHint("put it into a query in FROM and group by its column")
		panic(fail.With(groupedSet{err, outs[i].written}))
	}
	return x, &outs[i]
}

// groupedSet reports that GROUP BY names a result column that is computed by a function that returns rows.
type groupedSet struct {
	error
	written parser.Expr
}

func (e groupedSet) Unwrap() error { return e.error }

// inFrom returns c with the function that GROUP BY names in FROM; nil if it would return other rows there.
func (e groupedSet) inFrom(c *parser.SelectCore, outs []output) *parser.SelectCore {
	const name = "?set?" // no name that a statement is likely to have
	call, ok := e.written.(*parser.Call)
	if !ok || len(outs) != len(c.Items) || slices.ContainsFunc(outs, func(o output) bool { return o.written != e.written && expr.Some(o.expr, isSet) }) ||
		slices.ContainsFunc(c.Items, func(it parser.SelectItem) bool { return it.Star }) {
		return nil
	}
	out := *c
	out.From = append(slices.Clip(c.From), &parser.TableFunction{Pos: call.Pos, Name: call.Name, Args: call.Args, Alias: name, Columns: []string{name}})
	out.Items = slices.Clone(c.Items)
	out.GroupBy = slices.Clone(c.GroupBy)
	column := &parser.ColumnRef{Pos: call.Pos, Table: name, Name: name}
	for i, it := range out.Items {
		if it.Expr == e.written {
			out.Items[i].Alias, out.Items[i].Expr = itemName(it), column
		}
	}
	for i, g := range out.GroupBy {
		if sameText(g, e.written) {
			out.GroupBy[i] = column
		}
	}
	return &out
}
