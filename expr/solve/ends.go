package solve

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// maxEnds bounds the number of ends of a text for which a condition is solved.
const maxEnds = 32

// ends returns the Constraint for a call whose value determines the end of a column's text, if parts of a key can express
// it.
func (f *finder) ends(e expr.Expr, out among) (Constraint, bool) {
	c, ok := e.(*expr.Call)
	if !ok || out.null || len(f.Parts) == 0 || c.Func.Key == nil || c.Func.Key.Ends == nil {
		return nowhere, false
	}
	x := c.Args[0]
	if _, constant := x.(*expr.Const); constant || x.Type() != types.String || slices.ContainsFunc(c.Args[1:], func(x expr.Expr) bool { k, ok := x.(*expr.Const); return !ok || k.Val.IsNull() }) {
		return nowhere, false
	}
	found, exact, ok := c.Func.Key.Ends(c, out.set)
	if !ok || len(found) > maxEnds {
		return nowhere, false
	}
	cs := make([]Constraint, len(found))
	for i, end := range found {
		if end.Whole {
			cs[i] = f.where(x, among{set: types.Points(types.NewString(end.Text))})
			continue
		}
		some := f.ending(x, expr.PatternOf("", end.Text))
		if len(some) == 0 {
			return nowhere, false
		}
		cs[i] = either(some)
	}
	return anyOf(cs...).but(exact), true
}
