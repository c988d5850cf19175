package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// term is a predicate, and the set of one column that says the same: see expr.Truth.
type term struct {
	expr.Expr
	means     expr.Expr // the same, as what it says of each column
	col       int
	set       types.Set
	exact, ok bool
	null      bool // it may be true where col is NULL, too, which it may be
}

// columns are those of a table, and behind them what its key parts are computed to, of those that conditions name.
type columns struct {
	table *catalog.Table
	parts []expr.Expr
}

// first is the column of parts[0]: behind the table's and its two pseudo-columns.
func (c columns) first() int { return len(c.table.Columns) + 2 }
func (c columns) width() int { return c.first() + len(c.parts) }

// notNull reports whether no row of the table has NULL in col.
func (c columns) notNull(col int) bool {
	switch t := c.table; {
	case col < len(t.Columns):
		return t.Columns[col].KeyPart && !t.Columns[col].NullKey
	case col >= c.first(): // a part of a key that was stored is not NULL
		return !slices.ContainsFunc(expr.Columns(c.parts[col-c.first()]), func(col int) bool { return !c.notNull(col) })
	}
	return false
}

// partsNamed gives the parts of t's keys, beside columns, that stand in es.
func partsNamed(t *catalog.Table, es []expr.Expr) (parts []expr.Expr) {
	for _, l := range t.Layouts {
		for _, p := range l.Key.Parts {
			if len(p.Columns) == 0 || !fixed(p.Expr) || p.ManyScales() || slices.ContainsFunc(parts, func(e expr.Expr) bool { return expr.Same(e, p.Expr) }) {
				continue
			}
			if _, column := p.Column(); !column && slices.ContainsFunc(es, func(e expr.Expr) bool { return holds(e, p.Expr) }) {
				parts = append(parts, p.Expr)
			}
		}
	}
	return parts
}

// fixed reports whether e has one value for a row, whatever the zone and what was looked up.
func fixed(e expr.Expr) bool {
	if c, ok := e.(*expr.Call); ok && (c.Func.Volatile || c.Func.Key != nil && (c.Func.Key.ManyForms || c.Func.Key.Lookup != expr.NoDictionary)) {
		return false
	}
	return !e.Type().IsTemporal() && !slices.ContainsFunc(expr.Children(e), func(x expr.Expr) bool { return !fixed(x) })
}

// untrimmed gives e without what cuts spaces off the ends of columns whose texts have none there.
func (c columns) untrimmed(e expr.Expr) expr.Expr {
	return expr.Map(e, func(e expr.Expr) expr.Expr {
		call, ok := e.(*expr.Call)
		if !ok || call.Func.Key == nil || !call.Func.Key.TrimsEnd {
			return e
		}
		col, ok := call.Args[0].(*expr.Column)
		if !ok || !c.noBlankEnd(col.Index) {
			return e
		}
		if len(call.Args) == 2 {
			if k, ok := call.Args[1].(*expr.Const); !ok || k.Val.IsNull() || k.Val.Text() != " " {
				return e
			}
		}
		if !call.Func.Key.TrimsStart {
			return col
		}
		start := *call
		start.Func = expr.Builtins().Lookup("LTRIM")
		return &start
	})
}

// noBlankEnd reports whether no text in col ends with a space: a row's key would not hold it.
func (c columns) noBlankEnd(col int) bool {
	return slices.ContainsFunc(c.table.Layouts[0].Key.Parts, func(p *catalog.Part) bool {
		of, ok := p.Column()
		return p.Literal == nil && ok && of == col && p.NoBlankEnd()
	})
}

// holds reports whether part stands in e.
func holds(e, part expr.Expr) bool {
	switch e.(type) {
	case *expr.Column, *expr.Const:
		return false
	}
	return expr.Same(e, part) || slices.ContainsFunc(expr.Children(e), func(x expr.Expr) bool { return holds(x, part) })
}

// both is a condition, and one on key parts that is true for the same rows.
type both struct {
	expr.Expr
	ofParts expr.Expr
}

// ofParts gives e with conditions on key parts put beside those in it that they are the same as.
func (c columns) ofParts(e expr.Expr) expr.Expr {
	each := func(terms []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(terms))
		for i, t := range terms {
			out[i] = c.ofParts(t)
		}
		return out
	}
	switch e := e.(type) {
	case *expr.And:
		return &expr.And{Terms: each(e.Terms)}
	case *expr.Or:
		return &expr.Or{Terms: each(e.Terms)}
	}
	of := expr.Map(e, func(x expr.Expr) expr.Expr {
		for i, p := range c.parts {
			if expr.Same(x, p) {
				return &expr.Column{Pos: x.Position(), Index: c.first() + i, Typ: x.Type()}
			}
		}
		return x
	})
	if t := termOf(of, c); of == e || !t.ok || t.set.IsAll() || t.col < c.first() {
		return e
	}
	return both{e, of}
}

func termOf(e expr.Expr, c columns) term {
	of := term{Expr: e, means: e}
	of.col, of.set, of.null, of.exact, of.ok = expr.Truth(e)
	of.null = of.null && !c.notNull(of.col)
	of.ok = of.ok && !of.null
	return of
}

// meanings gives the terms of a WHERE, with what those mean that are about several columns or the end of a text.
func meanings(es []expr.Expr, c columns) []term {
	out := termsOf(es, c)
	for i, of := range out {
		if len(c.parts) == 0 && of.exact && plain(of.Expr) {
			continue // that is most of them
		}
		m := c.untrimmed(of.Expr)
		if m != of.Expr {
			out[i] = termOf(m, c)
			out[i].Expr = of.Expr
		}
		if len(c.parts) > 0 {
			m = c.ofParts(m)
		} else if out[i].ok && !out[i].set.IsAll() {
			continue
		}
		if m = expr.Restate(m); m != of.Expr {
			out[i] = termOf(m, c)
			out[i].Expr = of.Expr
		}
	}
	narrowed(out, c)
	return out
}

// plain reports whether e compares a column with a constant.
func plain(e expr.Expr) bool {
	cmp, ok := e.(*expr.Compare)
	if !ok {
		return false
	}
	_, column := cmp.X.(*expr.Column)
	_, constant := cmp.Y.(*expr.Const)
	return column && constant
}

// held are the values of col that the table's keys can hold, where they are not all.
func (c columns) held(col int) (sets []types.Set) {
	for _, p := range c.table.Layouts[0].Key.Parts {
		if of, ok := p.Column(); p.Literal == nil && ok && of == col {
			if s, ok := p.Storable(types.All()); ok {
				sets = append(sets, s)
			}
		}
	}
	return sets
}

// narrowed finds what terms of which nothing is known by themselves say beside the others, and within what a key holds: of a month within a
// year, of bits of a number of 32 bits.
func narrowed(terms []term, c columns) {
	for i := range terms {
		t := &terms[i]
		if t.set == nil || t.ok && !t.set.IsAll() {
			continue
		}
		others := c.held(t.col)
		for _, o := range terms {
			if o.ok && o.col == t.col && !o.set.IsAll() {
				others = append(others, o.set)
			}
		}
		if len(others) == 0 {
			continue
		}
		window := types.IntersectAll(others)
		if set, exact, ok := expr.TruthWithin(t.Expr, window); ok && !window.SubsetOf(set) {
			t.set, t.exact, t.ok, t.null = set, exact, true, false
		}
	}
}

// termsOf gives the terms of a conjunction.
func termsOf(es []expr.Expr, c columns) []term {
	out := make([]term, len(es))
	for i, e := range es {
		out[i] = termOf(e, c)
	}
	bare := map[int]bool{} // columns that another term says are not NULL
	for i := range out {
		of := &out[i]
		if !of.null {
			continue
		}
		rejects, known := bare[of.col]
		if !known {
			rejects = slices.ContainsFunc(es, func(e expr.Expr) bool { return expr.RejectsNull(e, of.col) })
			bare[of.col] = rejects
		}
		if rejects {
			of.ok, of.null = of.exact || !of.set.IsAll(), false
		}
	}
	return out
}
