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
	if !ok || out.null || len(f.Parts) == 0 || c.Func.Key == nil || c.Func.Key.Matches == nil {
		return nowhere, false
	}
	x := c.Args[0]
	found, exact, ok := matches(c, out.set)
	if !ok {
		return nowhere, false
	}
	cs := make([]Constraint, len(found))
	for i, p := range found {
		if text, whole, _ := p.Prefix(); whole {
			cs[i] = f.where(x, among{set: types.Points(types.NewString(text))})
			continue
		}
		some := f.ending(x, p)
		if len(some) == 0 {
			return nowhere, false
		}
		cs[i] = either(some)
	}
	return anyOf(cs...).but(exact), true
}

// matches returns the patterns of Algebra.Matches, if they are known and few.
func matches(c *expr.Call, out types.Set) (found []*expr.Pattern, exact, ok bool) {
	x := c.Args[0]
	if _, constant := x.(*expr.Const); constant || x.Type() != types.String || slices.ContainsFunc(c.Args[1:], func(x expr.Expr) bool { k, ok := x.(*expr.Const); return !ok || k.Val.IsNull() }) {
		return nil, false, false
	}
	found, exact, ok = c.Func.Key.Matches(c, out)
	return found, exact, ok && len(found) <= maxEnds
}

// Matched returns LIKE patterns of which the text x matches one in each row in which e is true; none if they are not known.
// Unless forms is nil, a character of a pattern stands for all characters that forms returns for it.
//
//	name ILIKE '%ab%'            name and %ab%, where a stands for a and A
//	split_part(id, '-', 2) = 'b' id and %-b%
func Matched(e expr.Expr) (x expr.Expr, patterns []*expr.Pattern, forms func(rune) []rune) {
	var out types.Set
	switch e := e.(type) {
	case *expr.Like:
		if e.Not || e.Fixed == nil {
			return nil, nil, nil
		}
		x, patterns = e.X, []*expr.Pattern{e.Fixed}
		if e.Lower != nil {
			x = lowered(e)
		}
	case *expr.Compare:
		k, ok := e.Y.(*expr.Const)
		if !ok || k.Val.IsNull() || mixed(e.X.Type(), k.Val) {
			return nil, nil, nil
		}
		x, out = e.X, compareSet(e.Op, k.Val, e.X.Type())
	case *expr.In:
		if e.Not {
			return nil, nil, nil
		}
		x, out = e.X, types.Points(e.List...)
	}
	for c, call := x.(*expr.Call); call && forms == nil && c.Func.Key != nil; c, call = x.(*expr.Call) {
		a := c.Func.Key
		switch {
		case patterns == nil && a.Matches != nil && c.Typ != types.Boolean: // solving a regular expression once more takes time
			if patterns, _, call = matches(c, out); !call || patterns == nil {
				return nil, nil, nil
			}
		case a.Forms != nil && c.Args[0].Type() == types.String:
			if forms = a.Forms; patterns == nil {
				for _, iv := range out {
					if !iv.IsPoint() || len(out) > maxEnds {
						return nil, nil, nil
					}
					patterns = append(patterns, expr.PatternOf(iv.Lo.Text()))
				}
			}
		default:
			return x, patterns, nil
		}
		x = c.Args[0]
	}
	return x, patterns, forms
}
