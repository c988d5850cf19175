package functions

import (
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// caseAlgebra returns the algebra of LOWER and UPPER. It uses that ASCII text keeps its width.
func caseAlgebra(of func() forms, convert func(string) string) *expr.Algebra {
	return &expr.Algebra{
		Lead:  leadMapped(convert),
		Width: func(c *expr.Call) int { return expr.Width(c.Args[0]) },
		Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
			if c.Args[0].Type() != types.String {
				return nil, false, false
			}
			pre, exact = unfold(c, out, of())
			return pre, exact, true
		},
		Begun: begun(nil),
		Forms: func(r rune) []rune { return of().of(r) },
	}
}

// begun returns Algebra.Begun of calls in which the beginning p of a text determines the beginning of the result.
// decides reports whether p determines the whole result; ok is false if p does not determine even its beginning. A nil
// decides stands for calls that change one character after the other.
func begun(decides func(c *expr.Call, p string) (whole, ok bool)) func(*expr.Call, string) (types.Set, bool) {
	return func(c *expr.Call, p string) (types.Set, bool) {
		whole, ok := false, true
		if decides != nil {
			whole, ok = decides(c, p)
		}
		v, err := c.EvalWith(types.NewString(p))
		switch {
		case err != nil || v.IsNull() || !ok:
			return nil, false
		case whole:
			return types.Points(v), true
		}
		return types.SetOf(types.PrefixInterval(types.String, v.Text())), true
	}
}

// mapped is the algebra of a call that replaces characters by others or drops them, one by one: TRANSLATE, or REPLACE of a
// character.
func mapped(decides func(c *expr.Call, p string) (whole, ok bool)) *expr.Algebra {
	return &expr.Algebra{Begun: begun(decides), Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
		from, to := []rune(c.ConstText(1)), []rune(c.ConstText(2))
		if len(from) > maxForms || decides != nil && (len(from) != 1 || len(to) > 1) || momentType(c) != types.String {
			return nil, false, false
		}
		of := forms{}
		for _, r := range slices.Concat(from, to) {
			of[r] = nil
		}
		for _, r := range slices.Collect(maps.Keys(of)) {
			v, err := c.EvalWith(types.NewString(string(r)))
			if err != nil || r == utf8.RuneError {
				return nil, false, false
			}
			became, size := utf8.DecodeRuneInString(v.Text())
			if size == 0 {
				became = dropped
			}
			of[became] = append(of[became], r)
		}
		pre, exact = unfold(c, out, of)
		return pre, exact, true
	}}
}

// The following functions are passed to begun as decides: they report how much of the result the beginning p of a text
// determines.
func decidesField(c *expr.Call, p string) (whole, ok bool) {
	n, ok := c.ConstInt(2)
	d := c.ConstText(1)
	return int64(strings.Count(p, d)) >= n, ok && n > 0 && len(d) == 1
}

func decidesSubstring(c *expr.Call, p string) (whole, ok bool) {
	from, ok := c.ConstInt(1)
	if len(c.Args) == 3 {
		n, _ := c.ConstInt(2)
		whole = units(types.String, p) >= types.AddClamp(from, n)-1
	}
	return whole, ok
}

func decidesReplaced(c *expr.Call, p string) (whole, ok bool) {
	return false, utf8.RuneCountInString(c.ConstText(1)) == 1
}

func decidesOverlaid(c *expr.Call, p string) (whole, ok bool) {
	from, ok := c.ConstInt(2)
	n := units(types.String, c.ConstText(1))
	if len(c.Args) == 4 {
		n, _ = c.ConstInt(3)
	}
	return false, ok && n >= 0 && units(types.String, p) >= types.AddClamp(from, n)-1
}

// lengthAlgebra is the algebra of LENGTH. Its inverse distinguishes only the length 0 from all other lengths.
var lengthAlgebra = &expr.Algebra{Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	t := c.Args[0].Type()
	if t != types.String && t != types.Bytes {
		return nil, false, false
	}
	empty, longer := out.Contains(types.NewInt(0)), out.Intersect(types.SetOf(types.Interval{Lo: types.NewInt(1)}))
	none := types.Points(types.NewTextOf(t, ""))
	switch {
	case longer.IsEmpty() && empty:
		return none, true, true
	case longer.IsEmpty():
		return nil, true, true
	case !empty:
		pre = none.Complement()
	default:
		pre = types.All()
	}
	return pre, types.SetOf(types.Interval{Lo: types.NewInt(1)}).SubsetOf(longer), true
}}

// invertHead inverts functions whose result is a beginning of their argument.
func invertHead(out types.Set) (pre types.Set, exact, ok bool) {
	ivs := make([]types.Interval, len(out))
	for i, iv := range out {
		p, _ := solve.CommonPrefix(iv)
		ivs[i] = types.PrefixInterval(types.String, p)
		ivs[i].Lo = iv.Lo
	}
	return types.SetOf(ivs...), false, true
}

// invertLeft inverts functions that return the first n characters of their argument.
func invertLeft(c *expr.Call, n int64, out types.Set) (pre types.Set, exact, ok bool) {
	t := c.Args[0].Type()
	if t != types.String && t != types.Bytes {
		return nil, false, false
	}
	pre, exact = firstOf(t, n).inverse(out)
	return pre, exact, true
}

func invertSubstring(c *expr.Call, out types.Set, within expr.Window) (pre types.Set, exact, ok bool) {
	from, ok := c.ConstInt(1)
	if !ok {
		return nil, false, false
	}
	pre, exact = out, true
	if len(c.Args) == 3 {
		n, ok := c.ConstInt(2)
		if !ok || n < 0 {
			return nil, false, false
		}
		if pre, exact, ok = invertLeft(c, max(types.AddClamp(min(from, 1), n)-1, 0), out); !ok {
			return nil, false, false
		}
	}
	if from <= 1 {
		return pre, exact, true
	}
	t := c.Args[0].Type()
	return behindKnown(c, out, pre, exact, within.In(), func(p string) (head string, ok bool) {
		if units(t, p) < from-1 {
			return "", false
		}
		if t == types.Bytes {
			return p[:from-1], true
		}
		return left(p, from-1), true
	})
}

// trimAlgebra returns the algebra of functions that cut characters off the start or the end of a text, or both.
func trimAlgebra(start, end bool) *expr.Algebra {
	return &expr.Algebra{Begun: begun(nil), Inverse: func(c *expr.Call, out types.Set, within expr.Window) (pre types.Set, exact, ok bool) {
		cut, ok := trims(c)
		if !ok || c.Args[0].Type() != types.String {
			return nil, false, false
		}
		pre, exact = out, len(cut) == 0
		if end {
			pre, _ = trimmedEnd(cut).inverse(out)
		}
		if !start {
			return pre, exact, true
		}
		var ivs []types.Interval
		for _, iv := range pre {
			begin := func(c string) bool { return strings.HasPrefix(iv.Lo.Text(), c) }
			if !iv.IsPoint() || !slices.ContainsFunc(cut, begin) {
				ivs = append(ivs, iv)
			}
		}
		if len(cut) == 1 && len(c.Args) == 2 {
			return types.SetOf(solve.BehindMany(ivs, cut[0], within.Width, 0)...), false, true
		}
		for _, c := range cut {
			ivs = append(ivs, types.PrefixInterval(types.String, c))
		}
		return types.SetOf(ivs...), exact, true
	}}
}

// padAlgebra is the algebra of LPAD and RPAD: they return the first n characters of a long text; a shorter text is the
// start or the end of the result.
var padAlgebra = &expr.Algebra{Pieces: func(c *expr.Call, in types.Interval) []expr.Piece {
	n, ok := c.ConstInt(1)
	return []expr.Piece{{IfEven: true, Even: true, Strict: ok && !in.Lo.IsNull() && units(types.String, in.Lo.Text()) <= n}}
}, Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	n, ok := c.ConstInt(1)
	if !ok || n > solve.MaxCuts || c.Args[0].Type() != types.String {
		return nil, false, false
	}
	var ivs []types.Interval
	exact = true
	for _, iv := range out {
		s := iv.Lo.Text()
		if !iv.IsPoint() || len(s) > solve.MaxCuts {
			return nil, false, false
		}
		some, ex := firstOf(types.String, max(n, 0)).at(s)
		for _, x := range some {
			if !x.IsPoint() {
				ivs, exact = append(ivs, x), exact && ex
			}
		}
		for i := range len(s) + 1 {
			for _, x := range []string{s[:i], s[i:]} {
				if v, err := c.EvalWith(types.NewString(x)); err == nil && v.Text() == s {
					ivs = append(ivs, types.Point(types.NewString(x)))
				}
			}
		}
	}
	return types.SetOf(ivs...), exact, true
}}

// byteAlgebra is the algebra of GET_BYTE.
var byteAlgebra = &expr.Algebra{Domain: func(*expr.Call) (types.Set, bool) { return types.SetOf(span{0, 255}.interval(types.BigInt)), true },
	Inverse: func(c *expr.Call, out types.Set, within expr.Window) (pre types.Set, exact, ok bool) {
		n, ok := c.ConstInt(1)
		if !ok || n < 0 {
			return nil, false, false
		}
		all, _ := c.Func.Key.Domain(c)
		for _, iv := range out.Intersect(all) {
			s := spanOf(iv)
			pre = append(pre, types.Interval{Lo: types.NewTextOf(types.Bytes, string([]byte{byte(s.lo)})), Hi: types.PrefixInterval(types.Bytes, string([]byte{byte(s.hi)})).Hi, HiOpen: true})
		}
		if n == 0 {
			return pre, true, true
		}
		return behindKnown(c, out, pre, true, within.In(), func(p string) (string, bool) { return p[:min(n, int64(len(p)))], int64(len(p)) >= n })
	}}

// matchAlgebra is the algebra of functions that return a match of a regular expression. If the match is at the start of
// the text, the text begins with it.
var matchAlgebra = &expr.Algebra{Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	if start, _ := anchors(c.ConstText(1)); !start || len(c.Args) > 2 {
		return nil, false, false
	}
	return invertHead(out)
}}

func invertPosition(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	if c.Args[0].Type() != types.String {
		return nil, false, false
	}
	first := types.Points(types.NewInt(1))
	begin := types.SetOf(types.PrefixInterval(types.String, c.ConstText(1)))
	others := out.Intersect(types.SetOf(types.Interval{Lo: types.NewInt(0)})).Intersect(first.Complement())
	exact = true
	if out.Contains(types.NewInt(1)) {
		pre = begin
	}
	if !others.IsEmpty() {
		pre = pre.Union(begin.Complement())
		exact = types.SetOf(types.Interval{Lo: types.NewInt(0)}).Intersect(first.Complement()).SubsetOf(others)
	}
	return pre, exact || pre.IsEmpty(), true
}

func invertSplit(c *expr.Call, out types.Set, within expr.Window) (pre types.Set, exact, ok bool) {
	n, ok := c.ConstInt(2)
	if !ok || n < 1 || n > maxHeads || c.Args[0].Type() != types.String {
		return nil, false, false
	}
	d := c.ConstText(1)
	if d == "" {
		return out, true, n == 1
	}
	pre, exact = fieldBefore(d).inverse(out)
	if n == 1 {
		return pre, exact, true
	}
	return behindKnown(c, out, pre, exact, within.In(), func(p string) (head string, ok bool) {
		fields := strings.SplitAfterN(p, d, int(n))
		return strings.Join(fields[:len(fields)-1], ""), len(fields) == int(n)
	})
}

// invertHex inverts functions that return the hexadecimal digits of bytes, which sort like the bytes.
func invertHex(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	t := c.Args[0].Type()
	if t != types.String && t != types.Bytes {
		return nil, false, false
	}
	var ivs []types.Interval
	for _, iv := range out {
		var of types.Interval
		if !iv.Lo.IsNull() {
			b, some := hexFrom(iv.Lo.Text())
			if !some {
				continue
			}
			of.Lo, of.LoOpen = types.NewTextOf(t, b), iv.LoOpen && hex.EncodeToString([]byte(b)) == iv.Lo.Text()
		}
		if !iv.Hi.IsNull() {
			if b, some := hexFrom(iv.Hi.Text()); some {
				of.Hi, of.HiOpen = types.NewTextOf(t, b), iv.HiOpen || hex.EncodeToString([]byte(b)) != iv.Hi.Text()
			}
		}
		ivs = append(ivs, of)
	}
	return types.SetOf(ivs...), true, true
}

// hexFrom returns the least bytes whose lower-case hexadecimal digits do not sort before s; some is false if there are
// none.
func hexFrom(s string) (b string, some bool) {
	const digits = "0123456789abcdef"
	n := 0
	for n < len(s) && strings.IndexByte(digits, s[n]) >= 0 {
		n++
	}
	p := s[:n]
	if n < len(s) { // the digits after p sort after the rest of s
		next := strings.IndexFunc(digits, func(r rune) bool { return r > rune(s[n]) })
		if next >= 0 {
			p += digits[next : next+1]
		} else {
			if p = strings.TrimRight(p, "f"); p == "" {
				return "", false
			}
			last := strings.IndexByte(digits, p[len(p)-1])
			p = p[:len(p)-1] + digits[last+1:last+2]
		}
	}
	raw, err := hex.DecodeString(p + "0"[:len(p)%2])
	return string(raw), err == nil
}

// concatAlgebra is the algebra of functions that put a constant before or after a text.
var concatAlgebra = &expr.Algebra{Arg: expr.AnyArg, Begun: begun(func(c *expr.Call, _ string) (whole, ok bool) {
	constant, ok := solve.EndsConstant(c)
	return false, ok && !constant
}), Pieces: func(c *expr.Call, in types.Interval) []expr.Piece {
	t := c.Args[c.Argument()].Type()
	behind, ok := solve.EndsConstant(c)
	switch {
	case !ok || t != types.String && !t.IsInteger():
		return nil
	case t != types.String:
		return solve.CastPieces(t, types.String, in)
	}
	return []expr.Piece{{IfEven: behind, Even: true, Strict: true}}
}}

// invertASCII inverts ASCII: texts are ordered by their first characters.
func invertASCII(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
	if c.Args[0].Type() != types.String || out.Contains(types.NewInt(utf8.RuneError)) {
		return nil, false, false // invalid characters also have this number
	}
	codes := out.Intersect(types.SetOf(types.Interval{Lo: types.NewInt(0), Hi: types.NewInt(unicode.MaxRune)}))
	var ivs []types.Interval
	exact = true
	for _, iv := range codes {
		s := spanOf(iv)
		if s.lo == 0 {
			ivs = append(ivs, types.Point(types.NewString("")))
		}
		if utf16.IsSurrogate(rune(s.lo)) || utf16.IsSurrogate(rune(s.hi)) {
			return nil, false, false
		}
		ivs = append(ivs, types.Interval{Lo: types.NewString(string(rune(s.lo))), Hi: types.PrefixInterval(types.String, string(rune(s.hi))).Hi, HiOpen: true})
		exact = exact && (s.lo == s.hi || s.hi < utf8.RuneSelf)
	}
	return types.SetOf(ivs...), exact, true
}

// conditionAlgebra returns the algebra of a condition on a text, or of its negation. of returns a set that contains all
// texts for which the condition is true; exact reports that the set contains no other texts.
func conditionAlgebra(negated bool, of func(c *expr.Call) (set types.Set, exact, ok bool)) *expr.Algebra {
	return &expr.Algebra{Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
		if c.Args[0].Type() != types.String {
			return nil, false, false
		}
		set, exact, ok := of(c)
		set, exact = solve.WhereTrue(set, exact, out.Contains(types.NewBool(!negated)), out.Contains(types.NewBool(negated)))
		return set, exact, ok
	}}
}

// patternAlgebra returns the algebra of matching a text with a regular expression, or of its negation.
func patternAlgebra(negated bool, pattern func(c *expr.Call) (string, bool)) *expr.Algebra {
	a := conditionAlgebra(negated, func(c *expr.Call) (set types.Set, exact, ok bool) {
		p, ok := pattern(c)
		if !ok {
			return nil, false, false
		}
		return matched(p)
	})
	if !negated {
		a.Matches = matchRegexp(pattern)
	}
	return a
}

// flaggedPattern returns a function that returns the pattern of ~ and similar operators.
func flaggedPattern(flags string) func(c *expr.Call) (string, bool) {
	return func(c *expr.Call) (string, bool) { return flags + c.ConstText(1), true }
}

var reverseAlgebra = func() *expr.Algebra {
	a := involution(expr.ReverseString, (*expr.Pattern).Reverse)
	a.Lead, a.Matches = leadReversed, matchReversed
	return a
}()

var reverseDomainAlgebra = involution(reverseDomain, likeDomain)

// likeDomain converts a pattern for domains to one for domains with reversed labels: "%.example.com" to
// "com.example.%", "%ample.com" to "com.%ample%". It returns nil for patterns that are not a % and a literal with a
// dot.
func likeDomain(p *expr.Pattern) *expr.Pattern {
	literals, ok := p.Literals()
	if !ok || len(literals) != 2 || literals[0] != "" {
		return nil
	}
	part, labels, ok := strings.Cut(literals[1], ".")
	switch {
	case !ok:
		return nil
	case part == "":
		return expr.PatternOf(reverseDomain(labels)+".", "")
	}
	return expr.PatternOf(reverseDomain(labels)+".", part, "")
}

// involution returns the algebra of a function of texts that is its own inverse and keeps the length.
func involution(f func(string) string, like func(*expr.Pattern) *expr.Pattern) *expr.Algebra {
	return &expr.Algebra{
		Injective: always(true),
		Inverse: func(_ *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
			var vs []types.Value
			for _, iv := range out {
				vs = append(vs, types.NewString(f(iv.Lo.Text())))
			}
			return types.Points(vs...), true, out.IsList()
		},
		Like: func(_ *expr.Call, p *expr.Pattern) (*expr.Pattern, bool) {
			p = like(p)
			return p, p != nil
		},
		Width: func(c *expr.Call) int { return expr.Width(c.Args[0]) },
	}
}

// hexWidth returns the Width of hexadecimal digits, each of which is one byte; 0 for other expressions.
func hexWidth(e expr.Expr) int {
	c, ok := e.(*expr.Call)
	if !ok || c.Func.Key == nil {
		return 0
	}
	if !c.Func.Key.HexDigits {
		if len(c.Args) == 0 || hexWidth(c.Args[0]) == 0 {
			return 0
		}
	}
	return expr.Width(c)
}

// mostOf returns Algebra.Most of functions whose argument i is the greatest number of characters of the result.
func mostOf(i int) func(*expr.Call) int {
	return func(c *expr.Call) int {
		if i < len(c.Args) {
			if n, ok := c.ConstInt(i); ok && n > 0 {
				return int(min(n, math.MaxInt32))
			}
		}
		return 0
	}
}

// leftAlgebra is the algebra of LEFT(x, n): a prefix of x, which grows with x if n >= 0.
var leftAlgebra = &expr.Algebra{
	Lead: func(c *expr.Call, of expr.Leading) expr.Leading {
		n, ok := c.ConstInt(1)
		if !ok || n < 0 {
			return expr.Leading{}
		}
		return of.Cut(0, n)
	},
	Inverse: func(c *expr.Call, out types.Set, _ expr.Window) (pre types.Set, exact, ok bool) {
		n, ok := c.ConstInt(1)
		if !ok {
			return nil, false, false
		}
		if n < 0 { // some more characters follow
			return invertHead(out)
		}
		return invertLeft(c, n, out)
	},
	Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
		if n, ok := c.ConstInt(1); ok && n >= 0 {
			return []expr.Piece{{Even: true}}
		}
		return nil
	},
	Image: func(c *expr.Call, in types.Set) (types.Set, bool) {
		n, ok := c.ConstInt(1)
		if !ok || n < 0 {
			return nil, false
		}
		var out []types.Interval
		for _, iv := range in {
			var to types.Interval
			p := iv.Lo.Text()
			if !iv.IsPoint() {
				p, _ = solve.CommonPrefix(iv)
			}
			if iv.IsPoint() || units(types.String, p) >= n {
				out = append(out, types.Point(types.NewString(left(p, n))))
				continue
			}
			if !iv.Lo.IsNull() { // of an incomplete character, each byte counts as one: at least n bytes are left
				lo := left(iv.Lo.Text(), n)
				to.Lo = types.NewString(lo[:min(int64(len(lo)), n)])
			}
			if !iv.Hi.IsNull() {
				hi := left(iv.Hi.Text(), n)
				if !utf8.ValidString(hi) { // more bytes may complete the character
					hi = iv.Hi.Text()
				}
				to.Hi = types.NewString(hi)
				to.HiOpen = iv.HiOpen && hi == iv.Hi.Text()
			}
			out = append(out, to)
		}
		return types.SetOf(out...), true
	},
	Most: mostOf(1),
	Width: func(c *expr.Call) int {
		n, ok := c.ConstInt(1)
		if w := expr.Width(c.Args[0]); ok && n >= 0 && int64(w) >= n {
			return int(n)
		}
		return 0
	},
}
