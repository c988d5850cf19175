package parser

import (
	"fmt"
	"slices"
	"strings"
)

// Children returns the expressions directly below e, in the order of the text. It leaves out sub-queries, as in IN (SELECT
// ...).
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Literal, *Param, *ColumnRef, *SubqueryExpr:
		return nil
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Between:
		return []Expr{e.X, e.Lo, e.Hi}
	case *In:
		return append([]Expr{e.X}, e.List...)
	case *Quantified:
		return []Expr{e.X, e.Y}
	case *Array:
		return e.Items
	case *Subscript:
		out := []Expr{e.X}
		for _, at := range e.At {
			out = appendSet(appendSet(out, at.Lo), at.Hi)
		}
		return out
	case *Like:
		return appendSet([]Expr{e.X, e.Pattern}, e.Escape)
	case *Is:
		return []Expr{e.X}
	case *Call:
		out := append([]Expr(nil), e.Args...)
		for _, o := range e.OrderBy {
			out = append(out, o.Expr)
		}
		if out = appendSet(out, e.Filter); e.Over != nil {
			out = append(out, e.Over.exprs()...)
		}
		return out
	case *RangeArg:
		return []Expr{e.Lo, e.Hi}
	case *EncodedArg:
		return []Expr{e.X}
	case *Case:
		out := appendSet(nil, e.X)
		for _, w := range e.Whens {
			out = append(out, w.Cond, w.Then)
		}
		return appendSet(out, e.Else)
	case *Cast:
		return []Expr{e.X}
	case *AtTimeZone:
		return []Expr{e.X, e.Zone}
	case *Tuple:
		return e.Items
	case *GroupingSets:
		return e.Items
	}
	panic(fmt.Sprintf("parser: unknown expression %T", e))
}

func appendSet(list []Expr, e Expr) []Expr {
	if e == nil {
		return list
	}
	return append(list, e)
}

// Node is a Statement, an Expr or a TableExpr.
type Node interface {
	String() string
	Position() Pos
}

// Inspect calls visit for n and, if it returns true, for the nodes below n in the order of the text: sub-queries (as
// *Select), items of FROM, and expressions. It does nothing for nil. It does not enter the definitions of CREATE TABLE,
// whose expressions belong to no query.
func Inspect(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	w := inspector(visit)
	switch n := n.(type) {
	case *Select:
		w.query(n)
	case *Writing:
		w.with(n.With)
		Inspect(n.Statement, visit)
	case *Insert:
		w.rows(n.Rows)
		w.sub(n.Query)
		w.set(n.Set)
		w.exprs(n.Where)
		w.items(n.Returning)
	case *Update:
		w.with(n.With)
		w.set(n.Set)
		w.tables(n.From)
		Inspect(n.Where, visit)
		w.items(n.Returning)
	case *Delete:
		w.with(n.With)
		w.tables(n.Using)
		Inspect(n.Where, visit)
		w.items(n.Returning)
	case *Explain:
		Inspect(n.Statement, visit)
	case *Set:
		Inspect(n.Value, visit)
	case *Copy:
		w.sub(n.Query)
	case *CreateView:
		w.sub(n.Query)
	case *CreateTable:
		w.sub(n.Query)
	case *Execute:
		w.exprs(n.Args...)
	case *Alter, *Prepare, *Deallocate, *DropTable, *DropView, *Show, *CheckTable, *Analyze, *Transaction:
	case *TableName:
		if n.SystemTime != nil {
			w.exprs(n.SystemTime.From, n.SystemTime.To)
		}
	case *TableFunction:
		w.exprs(n.Args...)
	case *Subquery:
		w.sub(n.Query)
	case *Join:
		Inspect(n.Left, visit)
		Inspect(n.Right, visit)
		Inspect(n.On, visit)
	case Expr:
		w.exprs(Children(n)...)
		switch n := n.(type) {
		case *In:
			w.sub(n.Query)
		case *SubqueryExpr:
			w.sub(n.Query)
		}
	default:
		panic(fmt.Sprintf("parser: unknown node %T", n))
	}
}

// FirstParam returns the first parameter in n, or nil if there is none.
func FirstParam(n Node) (found *Param) {
	Inspect(n, func(n Node) bool {
		if p, ok := n.(*Param); ok && found == nil {
			found = p
		}
		return found == nil
	})
	return found
}

// Tables returns the tables and views that n reads, in the order of the text, once for each mention. It leaves out the queries
// of n's WITH, and the table that a statement writes.
func Tables(n Node) []*TableName { return appendTables(nil, n, nil) }

// appendTables appends the tables that a node reads, like Tables. hidden are the names of WITH queries, in upper case, that are
// no tables inside the node.
func appendTables(dst []*TableName, of Node, hidden []string) []*TableName {
	var with []CTE
	switch n := of.(type) {
	case *Select:
		rest := *n
		with, rest.With, of = n.With, nil, &rest
	case *Writing:
		with, of = n.With, n.Statement
	case *Update:
		rest := *n
		with, rest.With, of = n.With, nil, &rest
	case *Delete:
		rest := *n
		with, rest.With, of = n.With, nil, &rest
	}
	hidden = slices.Clip(hidden)
	for _, c := range with {
		own := append(hidden, strings.ToUpper(c.Name))
		within := hidden
		if c.Recursive {
			within = own
		}
		if c.Write != nil {
			dst = appendTables(dst, c.Write, within)
		} else {
			dst = appendTables(dst, c.Query, within)
		}
		hidden = slices.Clip(own)
	}
	Inspect(of, func(n Node) bool {
		switch x := n.(type) {
		case *TableName:
			if !slices.Contains(hidden, strings.ToUpper(x.Name)) {
				dst = append(dst, x)
			}
		case *Select:
			if n != of {
				dst = appendTables(dst, x, hidden)
				return false
			}
		}
		return true
	})
	return dst
}

// inspector is the function visit of Inspect.
type inspector func(Node) bool

func (w inspector) query(s *Select) {
	w.with(s.With)
	for _, c := range s.Cores {
		w.sub(c.Query)
		w.exprs(c.On...)
		w.items(c.Items)
		w.tables(c.From)
		w.exprs(c.Where)
		w.exprs(c.GroupBy...)
		w.exprs(c.Having)
		for _, n := range c.Windows {
			w.exprs(n.Window.exprs()...)
		}
		w.rows(c.Values)
	}
	for _, o := range s.OrderBy {
		w.exprs(o.Expr)
	}
	w.exprs(s.Limit, s.Offset)
}

func (w inspector) with(list []CTE) {
	for _, c := range list {
		if w.sub(c.Query); c.Write != nil {
			Inspect(c.Write, w)
		}
	}
}

func (w inspector) set(list []Assignment) {
	for _, a := range list {
		w.exprs(a.Expr)
	}
}

func (w inspector) tables(list []TableExpr) {
	for _, t := range list {
		Inspect(t, w)
	}
}

// sub inspects s unless it is nil.
func (w inspector) sub(s *Select) {
	if s != nil {
		Inspect(s, w)
	}
}

func (w inspector) exprs(list ...Expr) {
	for _, x := range list {
		Inspect(x, w)
	}
}

func (w inspector) items(items []SelectItem) {
	for _, it := range items {
		w.exprs(it.Expr)
	}
}

func (w inspector) rows(rows [][]Expr) {
	for _, row := range rows {
		w.exprs(row...)
	}
}

// Some reports whether is holds for e or an expression below it. It does not enter queries.
func Some(e Expr, is func(Expr) bool) bool {
	found := false
	Walk(e, func(x Expr) bool {
		found = found || is(x)
		return !found
	})
	return found
}

// IsQuery reports whether e is a sub-query, or IN with a query.
func IsQuery(e Expr) bool {
	in, ok := e.(*In)
	_, sub := e.(*SubqueryExpr)
	return sub || ok && in.Query != nil
}

// Walk calls visit for e and, if it returns true, for the expressions below it, in the order of the text. It does not
// enter queries. It does nothing for nil.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, visit)
	}
}
