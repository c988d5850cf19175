package functions

import (
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// eachText returns Algebra.Matches, given a function of: for a single result s, it returns the patterns of the argument.
func eachText(of func(c *expr.Call, s string) (patterns []*expr.Pattern, exact, ok bool)) func(*expr.Call, types.Set) ([]*expr.Pattern, bool, bool) {
	return func(c *expr.Call, out types.Set) (all []*expr.Pattern, exact, ok bool) {
		exact = true
		for _, iv := range out {
			if !iv.IsPoint() || !utf8.ValidString(iv.Lo.Text()) || len(all) > maxHeads {
				return nil, false, false
			}
			some, only, ok := of(c, iv.Lo.Text())
			if !ok {
				return nil, false, false
			}
			all, exact = append(all, some...), exact && only
		}
		return all, exact, true
	}
}

// matchRight is Algebra.Matches of RIGHT(x, n).
var matchRight = eachText(func(c *expr.Call, s string) (patterns []*expr.Pattern, exact, ok bool) {
	n, ok := c.ConstInt(1)
	switch k := units(types.String, s); {
	case !ok || n < 0:
		return nil, false, false
	case k > n:
		return nil, true, true
	case k < n:
		return []*expr.Pattern{expr.PatternOf(s)}, true, true
	}
	return []*expr.Pattern{expr.PatternOf("", s)}, true, true
})

// matchSubstring is Algebra.Matches of SUBSTRING(x, from, n).
var matchSubstring = eachText(func(c *expr.Call, s string) (patterns []*expr.Pattern, exact, ok bool) {
	from, ok := c.ConstInt(1)
	if !ok || from < 1 || from > 1000 || s == "" {
		return nil, false, false
	}
	return []*expr.Pattern{expr.PatternOf(s, "").After(int(from) - 1)}, false, true
})

// matchPosition is Algebra.Matches of STRPOS(x, part).
func matchPosition(c *expr.Call, out types.Set) (patterns []*expr.Pattern, exact, ok bool) {
	return []*expr.Pattern{expr.PatternOf("", c.ConstText(1), "")}, false, !out.Contains(types.NewInt(0))
}

// matchSplit is Algebra.Matches of SPLIT_PART(x, d, n). The patterns are exact for a last field and a d of one byte.
var matchSplit = eachText(func(c *expr.Call, s string) (patterns []*expr.Pattern, exact, ok bool) {
	n, ok := c.ConstInt(2)
	d := c.ConstText(1)
	switch {
	case !ok || d == "" || n == 0 || strings.Contains(s, d) || s == "" && (n != -1 || len(d) != 1):
		return nil, false, false
	case n == -1:
		return []*expr.Pattern{expr.PatternOf(s), expr.PatternOf("", d+s)}, len(d) == 1, true
	case n < 0:
		return []*expr.Pattern{expr.PatternOf("", s+d, "")}, false, true
	case n == 1:
		return []*expr.Pattern{expr.PatternOf(s, "")}, false, true
	}
	return []*expr.Pattern{expr.PatternOf("", d+s, "")}, false, true
})

// matchReversed is Algebra.Matches of REVERSE(x).
func matchReversed(_ *expr.Call, out types.Set) (patterns []*expr.Pattern, exact, ok bool) {
	for _, iv := range out {
		p, whole := solve.CommonPrefix(iv)
		if !whole || p == "" || strings.ContainsRune(p, utf8.RuneError) {
			return nil, false, false
		}
		patterns = append(patterns, expr.PatternOf("", expr.ReverseString(p)))
	}
	return patterns, true, true
}

// matchRegexp returns Algebra.Matches of matching a regular expression that determines the end of the text.
func matchRegexp(pattern func(c *expr.Call) (string, bool)) func(*expr.Call, types.Set) ([]*expr.Pattern, bool, bool) {
	return func(c *expr.Call, out types.Set) (patterns []*expr.Pattern, exact, ok bool) {
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
			of := expr.PatternOf("", h.reversed())
			if h.state == ended {
				of = expr.PatternOf(h.reversed())
			}
			patterns, exact = append(patterns, of), exact && h.state != cut
		}
		return patterns, exact, len(patterns) > 0
	}
}
