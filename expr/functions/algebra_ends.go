package functions

import (
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// eachText returns Algebra.Ends, given a function of: for a single result s, it returns the ends of the argument.
func eachText(of func(c *expr.Call, s string) ([]expr.End, bool)) func(*expr.Call, types.Set) ([]expr.End, bool, bool) {
	return func(c *expr.Call, out types.Set) (ends []expr.End, exact, ok bool) {
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
var endOfRight = eachText(func(c *expr.Call, s string) ([]expr.End, bool) {
	n, ok := c.ConstInt(1)
	switch k := units(types.String, s); {
	case !ok || n < 0:
		return nil, false
	case k > n:
		return nil, true
	default:
		return []expr.End{{Text: s, Whole: k < n}}, true
	}
})

// endOfSplit is Algebra.Ends of SPLIT_PART(x, d, -1) for a d of one byte.
var endOfSplit = eachText(func(c *expr.Call, s string) ([]expr.End, bool) {
	n, ok := c.ConstInt(2)
	d := c.ConstText(1)
	if !ok || n != -1 || len(d) != 1 || strings.Contains(s, d) {
		return nil, false
	}
	return []expr.End{{Text: s, Whole: true}, {Text: d + s}}, true
})

// endOfReversed is Algebra.Ends of REVERSE(x).
func endOfReversed(_ *expr.Call, out types.Set) (ends []expr.End, exact, ok bool) {
	for _, iv := range out {
		p, whole := solve.CommonPrefix(iv)
		if !whole || p == "" || strings.ContainsRune(p, utf8.RuneError) {
			return nil, false, false
		}
		ends = append(ends, expr.End{Text: expr.ReverseString(p)})
	}
	return ends, true, true
}

// endOfMatch returns Algebra.Ends of matching a regular expression that determines the end of the text.
func endOfMatch(pattern func(c *expr.Call) (string, bool)) func(*expr.Call, types.Set) ([]expr.End, bool, bool) {
	return func(c *expr.Call, out types.Set) (ends []expr.End, exact, ok bool) {
		p, ok := pattern(c)
		if !ok || out.Contains(types.NewBool(false)) {
			return nil, false, false
		}
		heads, _ := headsOf(p, true)
		exact = true
		for _, h := range heads {
			if h.text == "" && h.state != ended {
				return nil, false, false
			}
			exact = exact && h.state != cut
			ends = append(ends, expr.End{Text: h.reversed(), Whole: h.state == ended})
		}
		return ends, exact, len(ends) > 0
	}
}
