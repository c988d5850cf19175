package parser

import "fmt"

// Children gives the expressions directly below e, in the order of the text. Queries
// (IN (SELECT ...), EXISTS) are not entered.
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
	case *Like:
		return appendSet([]Expr{e.X, e.Pattern}, e.Escape)
	case *Is:
		return []Expr{e.X}
	case *Call:
		out := append([]Expr(nil), e.Args...)
		for _, o := range e.OrderBy {
			out = append(out, o.Expr)
		}
		return appendSet(out, e.Filter)
	case *RangeArg:
		return []Expr{e.Lo, e.Hi}
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
	}
	panic(fmt.Sprintf("parser: unknown expression %T", e))
}

func appendSet(list []Expr, e Expr) []Expr {
	if e == nil {
		return list
	}
	return append(list, e)
}

// Walk calls visit for e and, where it returns true, for what is below it, in the order
// of the text. It does nothing for nil.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, visit)
	}
}
