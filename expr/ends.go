package expr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// ends returns the Constraint for a call whose value determines the end of a column's text, if parts of a key can express
// it.
func (f *finder) ends(e Expr, out among) (Constraint, bool) {
	c, ok := e.(*Call)
	if !ok || out.null || len(f.Parts) == 0 || c.Func.Key == nil || c.Func.Key.Ends == nil {
		return nowhere, false
	}
	x := c.Args[0]
	if _, constant := x.(*Const); constant || x.Type() != types.String || slices.ContainsFunc(c.Args[1:], func(x Expr) bool { k, ok := x.(*Const); return !ok || k.Val.IsNull() }) {
		return nowhere, false
	}
	found, exact, ok := c.Func.Key.Ends(c, out.set)
	if !ok || len(found) > maxHeads {
		return nowhere, false
	}
	cs := make([]Constraint, len(found))
	for i, end := range found {
		if end.Whole {
			cs[i] = f.where(x, among{set: types.Points(types.NewString(end.Text))})
			continue
		}
		some := f.ending(x, &Pattern{items: []patternItem{{n: anyText}, {lit: end.Text}}})
		if len(some) == 0 {
			return nowhere, false
		}
		cs[i] = either(some)
	}
	return anyOf(cs...).but(exact), true
}

// eachText returns Algebra.Ends, given a function that returns the ends for a single text.
func eachText(of func(c *Call, s string) ([]End, bool)) func(*Call, types.Set) ([]End, bool, bool) {
	return func(c *Call, out types.Set) (ends []End, exact, ok bool) {
		for _, iv := range out {
			if !iv.IsPoint() || !utf8.ValidString(iv.Lo.Text()) || len(ends) > maxHeads {
				return nil, false, false
			}
			some, ok := of(c, iv.Lo.Text())
			if !ok {
				return nil, false, false
			}
			ends = append(ends, some...)
		}
		return ends, true, true
	}
}

// endOfRight is Algebra.Ends of RIGHT(x, n).
var endOfRight = eachText(func(c *Call, s string) ([]End, bool) {
	n, ok := c.constInt(1)
	switch k := units(types.String, s); {
	case !ok || n < 0:
		return nil, false
	case k > n:
		return nil, true
	default:
		return []End{{s, k < n}}, true
	}
})

// endOfSplit is Algebra.Ends of SPLIT_PART(x, d, -1) for a d of one byte.
var endOfSplit = eachText(func(c *Call, s string) ([]End, bool) {
	n, ok := c.constInt(2)
	d := c.constText(1)
	if !ok || n != -1 || len(d) != 1 || strings.Contains(s, d) {
		return nil, false
	}
	return []End{{s, true}, {d + s, false}}, true
})

// endOfReversed is Algebra.Ends of REVERSE(x).
func endOfReversed(_ *Call, out types.Set) (ends []End, exact, ok bool) {
	for _, iv := range out {
		p, whole := commonPrefix(iv)
		if !whole || p == "" || strings.ContainsRune(p, utf8.RuneError) {
			return nil, false, false
		}
		ends = append(ends, End{Text: reverseString(p)})
	}
	return ends, true, true
}

// endOfMatch returns Algebra.Ends of matching a regular expression that determines the end of the text.
func endOfMatch(pattern func(c *Call) (string, bool)) func(*Call, types.Set) ([]End, bool, bool) {
	return func(c *Call, out types.Set) (ends []End, exact, ok bool) {
		p, ok := pattern(c)
		if !ok || out.Contains(falseValue) {
			return nil, false, false
		}
		heads, _ := headsOf(p, true)
		exact = true
		for _, h := range heads {
			if h.text == "" && h.state != ended {
				return nil, false, false
			}
			exact = exact && h.state != cut
			ends = append(ends, End{h.reversed(), h.state == ended})
		}
		return ends, exact, len(ends) > 0
	}
}
