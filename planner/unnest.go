package planner

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
)

// isSet reports whether e is a call of a set-returning function.
func isSet(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	return ok && c.Func.Set
}

// several reports whether one row of b's tables may become any number of result rows.
func (b *block) several() bool {
	return slices.ContainsFunc(b.outs, func(o output) bool { return expr.Some(o.expr, isSet) })
}

// unnest adds to the rows of node the values of the set-returning functions in the result, after the row's own values.
func (b *block) unnest(node plan.Node) plan.Node {
	if !b.several() {
		return node
	}
	out := &plan.Unnest{Input: node}
	width := node.Width()
	taken := func(e expr.Expr) expr.Expr {
		return expr.Map(e, func(x expr.Expr) expr.Expr {
			if !isSet(x) {
				return x
			}
			at := slices.IndexFunc(out.Sets, func(y expr.Expr) bool { return expr.Same(x, y) })
			if at < 0 {
				at = len(out.Sets)
				out.Sets = append(out.Sets, x)
			}
			return &expr.Column{Pos: x.Position(), Index: width + at, Name: x.String(), Text: x.String(), Typ: x.Type(), Limit: expr.DeclaredLimit(x.Type(), x)}
		})
	}
	for i := range b.outs {
		b.outs[i].expr = taken(b.outs[i].expr)
	}
	for i := range b.terms {
		b.terms[i].Expr = taken(b.terms[i].Expr)
	}
	for i := range b.on {
		b.on[i] = taken(b.on[i])
	}
	return out
}
