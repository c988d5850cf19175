package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// term is a predicate with its Constraint.
type term struct {
	expr.Expr
	is solve.Constraint
}

// exact reports whether t is true if one column has a value of a set without NULL, and not true for all other values.
func (t *term) exact() bool { return t.is.Kind == solve.One && t.is.Exact && !t.is.Null }

// columns are the columns of a table, followed by pseudo-columns for the key parts that occur in conditions.
type columns struct {
	table *catalog.Table
	parts []expr.Expr
	tick  func() // nil: planning is not interrupted
}

// first returns the index of the column of parts[0], after the table's columns and its two pseudo-columns.
func (c *columns) first() int { return len(c.table.Columns) + 2 }
func (c *columns) width() int { return c.first() + len(c.parts) }

// NotNull reports whether no row of the table has NULL in column col.
func (c *columns) NotNull(col int) bool {
	switch t := c.table; {
	case col < len(t.Columns):
		return t.Columns[col].KeyPart && !t.Columns[col].NullKey
	case col >= c.first(): // a stored part of a key is not NULL
		return !expr.SomeColumn(c.parts[col-c.first()], func(col int) bool { return !c.NotNull(col) })
	}
	return false
}

// partsNamed returns the parts of t's keys, other than plain columns, that occur in es, and those that es restrict by a
// pattern on their column.
func partsNamed(t *catalog.Table, es []expr.Expr) (parts []expr.Expr) {
	for _, l := range t.Layouts {
		for _, p := range l.Key.Parts {
			if len(p.Columns) == 0 || !fixed(p.Expr) || p.ManyScales() || slices.ContainsFunc(parts, func(e expr.Expr) bool { return expr.Same(e, p.Expr) }) {
				continue
			}
			if _, column := p.Column(); !column && (p.KnowsEnds() || slices.ContainsFunc(es, func(e expr.Expr) bool { return solve.Concerns(e, p.Expr) })) {
				parts = append(parts, p.Expr)
			}
		}
	}
	return parts
}

// fixed reports whether e depends only on the row, not on the time zone or on look-ups.
func fixed(e expr.Expr) bool {
	if c, ok := e.(*expr.Call); ok && (c.Func.Volatile || c.Func.Key != nil && (c.Func.Key.ManyForms || c.Func.Key.Lookup != expr.NoDictionary)) {
		return false
	}
	return !e.Type().IsTemporal() && !slices.ContainsFunc(expr.Children(e), func(x expr.Expr) bool { return !fixed(x) })
}

// keyed returns the parts of the primary key that are column col.
func (c *columns) keyed(col int) (parts []*catalog.Part) {
	for _, p := range c.table.Layouts[0].Key.Parts {
		if of, ok := p.Column(); p.Literal == nil && ok && of == col {
			parts = append(parts, p)
		}
	}
	return parts
}

// NoBlankEnd reports whether no text in col ends with a space, because the key cannot hold it.
func (c *columns) NoBlankEnd(col int) bool {
	return slices.ContainsFunc(c.keyed(col), (*catalog.Part).NoBlankEnd)
}

// Width returns the greatest number of bytes that the key holds of a text in col; 0: any number.
func (c *columns) Width(col int) (width int) {
	for _, p := range c.keyed(col) {
		if p.Order() == catalog.Padded {
			width = p.Width()
		}
	}
	return width
}

// solver returns the Solver for conditions on rows with the columns c.
func (c *columns) solver() *solve.Solver {
	return &solve.Solver{Parts: c.parts, First: c.first(), Columns: c, Tick: c.tick}
}

// Held returns sets that contain the values of col that the table's keys can hold.
func (c *columns) Held(col int) (sets []types.Set) {
	for _, p := range c.keyed(col) {
		if s, ok := p.Storable(types.All()); ok {
			sets = append(sets, s)
		}
	}
	return sets
}

// termsOf returns the terms of a WHERE.
func termsOf(es []expr.Expr, c *columns) []term {
	out := make([]term, len(es))
	for i, is := range c.solver().SolveAll(es) {
		out[i] = term{es[i], is}
	}
	return out
}
