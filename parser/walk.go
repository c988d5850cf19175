package parser

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Node is a Statement, an Expr or a TableExpr.
type Node interface {
	String() string
	Position() Pos
}

// Inspect calls visit for n and, if it returns true, for the nodes below n in the order of the text, which is the order of the
// fields: sub-queries (as *Select), items of FROM, and expressions. It does nothing for nil. It does not enter definitions,
// whose expressions belong to no query, nor the statement of PREPARE.
func Inspect(n Node, visit func(Node) bool) {
	if n != nil && visit(n) {
		inspectBelow(reflect.ValueOf(n).Elem(), visit)
	}
}

func inspectBelow(v reflect.Value, visit func(Node) bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if n, ok := v.Interface().(Node); ok {
			Inspect(n, visit)
		} else {
			inspectBelow(v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			inspectBelow(v.Index(i), visit)
		}
	case reflect.Struct:
		for _, i := range nodeFields(v.Type()) {
			inspectBelow(v.Field(i), visit)
		}
	}
}

// closed are the types that Inspect does not enter.
var closed = []reflect.Type{reflect.TypeFor[Change](), reflect.TypeFor[ColumnDef](), reflect.TypeFor[EncodingDef](), reflect.TypeFor[LayoutDef](), reflect.TypeFor[Option](),
	reflect.TypeFor[PartList](), reflect.TypeFor[SplitDef](), reflect.TypeFor[Prepare]()}

// fieldsOf caches the results of nodeFields.
var fieldsOf sync.Map

// nodeFields returns the fields of t, a struct, that can hold nodes.
func nodeFields(t reflect.Type) []int {
	if known, ok := fieldsOf.Load(t); ok {
		return known.([]int)
	}
	var out []int
	for i := range t.NumField() {
		if !slices.Contains(closed, t) && holdsNodes(t.Field(i).Type) {
			out = append(out, i)
		}
	}
	fieldsOf.Store(t, out)
	return out
}

func holdsNodes(t reflect.Type) bool {
	switch {
	case t.Implements(reflect.TypeFor[Node]()):
		return true
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice:
		return holdsNodes(t.Elem())
	}
	return t.Kind() == reflect.Struct && nodeFields(t) != nil
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
	case *Merge:
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
	if e != nil {
		Inspect(e, func(n Node) bool {
			x, ok := n.(Expr)
			return ok && visit(x)
		})
	}
}
