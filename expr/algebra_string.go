package expr

import (
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// caseAlgebra returns the algebra of LOWER and UPPER. It uses that ASCII text keeps its width.
func caseAlgebra(of func() forms, convert func(string) string) *Algebra {
	return &Algebra{
		Lead:  leadMapped(convert),
		Width: func(c *Call) int { return Width(c.Args[0]) },
		Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
			if c.Args[0].Type() != types.String {
				return nil, false, false
			}
			pre, exact = c.unfold(out, of())
			return pre, exact, true
		},
		Begun: begun(nil),
	}
}

// begun is Algebra.Begun of a call that makes of the beginning of a text the beginning of its result. whole reports whether p decides all of
// the result; ok is false where not even its beginning is decided. A nil function stands for calls that change one character after the other.
func begun(decides func(c *Call, p string) (whole, ok bool)) func(*Call, string) (types.Set, bool) {
	return func(c *Call, p string) (types.Set, bool) {
		whole, ok := false, true
		if decides != nil {
			whole, ok = decides(c, p)
		}
		v, err := c.with(types.NewString(p))
		switch {
		case err != nil || v.IsNull() || !ok:
			return nil, false
		case whole:
			return types.Points(v), true
		}
		return types.SetOf(PrefixInterval(v.Text())), true
	}
}

// image is Image, by Begun where that is what a knows.
func (a *Algebra) image(c *Call, in types.Set) (types.Set, bool) {
	if a.Image != nil {
		return a.Image(c, in)
	}
	if c.moment() != types.String || len(in) > maxListed {
		return nil, false
	}
	var all types.Set
	for _, iv := range in {
		if iv.IsPoint() { // values that fail are not stored
			if v, err := c.with(iv.Lo); err == nil && !v.IsNull() {
				all = append(all, types.Point(v))
			}
			continue
		}
		if a.Begun == nil {
			return nil, false
		}
		p, _ := commonPrefix(iv)
		s, ok := a.Begun(c, p)
		if !ok {
			return nil, false
		}
		all = append(all, s...)
	}
	return types.SetOf(all...), true
}

// mapped is the algebra of a call that replaces characters by others or drops them, one by one: TRANSLATE, or REPLACE of a
// character.
func mapped(decides func(c *Call, p string) (whole, ok bool)) *Algebra {
	return &Algebra{Begun: begun(decides), Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
		from, to := []rune(c.constText(1)), []rune(c.constText(2))
		if len(from) > maxForms || decides != nil && (len(from) != 1 || len(to) > 1) || c.moment() != types.String {
			return nil, false, false
		}
		of := forms{}
		for _, r := range slices.Concat(from, to) {
			of[r] = nil
		}
		for _, r := range slices.Collect(maps.Keys(of)) {
			v, err := c.with(types.NewString(string(r)))
			if err != nil || r == utf8.RuneError {
				return nil, false, false
			}
			became, size := utf8.DecodeRuneInString(v.Text())
			if size == 0 {
				became = dropped
			}
			of[became] = append(of[became], r)
		}
		pre, exact = c.unfold(out, of)
		return pre, exact, true
	}}
}

// The functions below say how much of their results the beginning of a text decides.
func decidesField(c *Call, p string) (whole, ok bool) {
	n, ok := c.constInt(2)
	d := c.constText(1)
	return int64(strings.Count(p, d)) >= n, ok && n > 0 && len(d) == 1
}

func decidesSubstring(c *Call, p string) (whole, ok bool) {
	from, ok := c.constInt(1)
	if len(c.Args) == 3 {
		n, _ := c.constInt(2)
		whole = units(types.String, p) >= addClamp(from, n)-1
	}
	return whole, ok
}

func decidesReplaced(c *Call, p string) (whole, ok bool) {
	return false, utf8.RuneCountInString(c.constText(1)) == 1
}

func decidesOverlaid(c *Call, p string) (whole, ok bool) {
	from, ok := c.constInt(2)
	n := units(types.String, c.constText(1))
	if len(c.Args) == 4 {
		n, _ = c.constInt(3)
	}
	return false, ok && n >= 0 && units(types.String, p) >= addClamp(from, n)-1
}

// lengthAlgebra is the algebra of LENGTH. It inverts only 0 and the other lengths together.
var lengthAlgebra = &Algebra{Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
	t := c.Args[0].Type()
	if t != types.String && t != types.Bytes {
		return nil, false, false
	}
	empty, longer := out.Contains(types.NewInt(0)), out.Intersect(types.SetOf(types.Interval{Lo: types.NewInt(1)}))
	none := types.Points(textOf(t, ""))
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
		p, _ := commonPrefix(iv)
		ivs[i] = PrefixInterval(p)
		ivs[i].Lo = iv.Lo
	}
	return types.SetOf(ivs...), false, true
}

// invertLeft inverts functions that return the first n characters of their argument.
func invertLeft(c *Call, n int64, out types.Set) (pre types.Set, exact, ok bool) {
	t := c.Args[0].Type()
	if t != types.String && t != types.Bytes {
		return nil, false, false
	}
	pre, exact = firstOf(t, n).inverse(out)
	return pre, exact, true
}

func invertSubstring(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool) {
	from, ok := c.constInt(1)
	if !ok {
		return nil, false, false
	}
	pre, exact = out, true
	if len(c.Args) == 3 {
		n, ok := c.constInt(2)
		if !ok || n < 0 {
			return nil, false, false
		}
		if pre, exact, ok = invertLeft(c, max(addClamp(min(from, 1), n)-1, 0), out); !ok {
			return nil, false, false
		}
	}
	if from <= 1 {
		return pre, exact, true
	}
	t := c.Args[0].Type()
	return c.behindKnown(out, pre, exact, within.In(), func(p string) (head string, ok bool) {
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
func trimAlgebra(start, end bool) *Algebra {
	return &Algebra{Begun: begun(nil), Inverse: func(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool) {
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
			return types.SetOf(behindMany(ivs, cut[0], within.Width, 0)...), false, true
		}
		for _, c := range cut {
			ivs = append(ivs, PrefixInterval(c))
		}
		return types.SetOf(ivs...), exact, true
	}}
}

// padAlgebra is the algebra of LPAD and RPAD: they return the first n characters of a long text; a shorter text is the
// start or the end of the result.
var padAlgebra = &Algebra{Pieces: func(c *Call, in types.Interval) []Piece {
	n, ok := c.constInt(1)
	return []Piece{{IfEven: true, Even: true, Strict: ok && !in.Lo.IsNull() && units(types.String, in.Lo.Text()) <= n}}
}, Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
	n, ok := c.constInt(1)
	if !ok || n > maxCuts || c.Args[0].Type() != types.String {
		return nil, false, false
	}
	var ivs []types.Interval
	exact = true
	for _, iv := range out {
		s := iv.Lo.Text()
		if !iv.IsPoint() || len(s) > maxCuts {
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
				if v, err := c.with(types.NewString(x)); err == nil && v.Text() == s {
					ivs = append(ivs, types.Point(types.NewString(x)))
				}
			}
		}
	}
	return types.SetOf(ivs...), exact, true
}}

// byteAlgebra is the algebra of GET_BYTE.
var byteAlgebra = &Algebra{Domain: func(*Call) (types.Set, bool) { return types.SetOf(span{0, 255}.interval(types.BigInt)), true },
	Inverse: func(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool) {
		n, ok := c.constInt(1)
		if !ok || n < 0 {
			return nil, false, false
		}
		all, _ := c.Func.Key.Domain(c)
		for _, iv := range out.Intersect(all) {
			s := spanOf(iv)
			pre = append(pre, types.Interval{Lo: textOf(types.Bytes, string([]byte{byte(s.lo)})), Hi: begins(types.Bytes, string([]byte{byte(s.hi)})).Hi, HiOpen: true})
		}
		if n == 0 {
			return pre, true, true
		}
		return c.behindKnown(out, pre, true, within.In(), func(p string) (string, bool) { return p[:min(n, int64(len(p)))], int64(len(p)) >= n })
	}}

func invertPosition(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
	if c.Args[0].Type() != types.String {
		return nil, false, false
	}
	first := types.Points(types.NewInt(1))
	begin := types.SetOf(PrefixInterval(c.constText(1)))
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

func invertSplit(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool) {
	n, ok := c.constInt(2)
	if !ok || n < 1 || n > maxHeads || c.Args[0].Type() != types.String {
		return nil, false, false
	}
	d := c.constText(1)
	if d == "" {
		return out, true, n == 1
	}
	pre, exact = fieldBefore(d).inverse(out)
	if n == 1 {
		return pre, exact, true
	}
	return c.behindKnown(out, pre, exact, within.In(), func(p string) (head string, ok bool) {
		fields := strings.SplitAfterN(p, d, int(n))
		return strings.Join(fields[:len(fields)-1], ""), len(fields) == int(n)
	})
}

// invertHex inverts functions that return the hexadecimal digits of bytes, which sort like the bytes.
func invertHex(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
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
			of.Lo, of.LoOpen = textOf(t, b), iv.LoOpen && hex.EncodeToString([]byte(b)) == iv.Lo.Text()
		}
		if !iv.Hi.IsNull() {
			if b, some := hexFrom(iv.Hi.Text()); some {
				of.Hi, of.HiOpen = textOf(t, b), iv.HiOpen || hex.EncodeToString([]byte(b)) != iv.Hi.Text()
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
var concatAlgebra = &Algebra{Arg: AnyArg, Begun: begun(func(c *Call, _ string) (whole, ok bool) {
	ways, ok := joined(c)
	if !ok {
		return false, false
	}
	_, behind := ways[0].parts[len(ways[0].parts)-1].(*Const)
	return false, !behind
}), Pieces: func(c *Call, in types.Interval) []Piece {
	t := c.Args[c.argument()].Type()
	ways, ok := joined(c)
	switch {
	case !ok || t != types.String && !t.IsInteger():
		return nil
	case t != types.String:
		return castPieces(t, types.String, in)
	}
	_, behind := ways[0].parts[len(ways[0].parts)-1].(*Const)
	return []Piece{{IfEven: behind, Even: true, Strict: true}}
}}

// invertASCII inverts ASCII: texts are ordered by their first characters.
func invertASCII(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
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
		ivs = append(ivs, types.Interval{Lo: types.NewString(string(rune(s.lo))), Hi: PrefixInterval(string(rune(s.hi))).Hi, HiOpen: true})
		exact = exact && (s.lo == s.hi || s.hi < utf8.RuneSelf)
	}
	return types.SetOf(ivs...), exact, true
}

// conditionAlgebra returns the algebra of a condition on a text, or of its negation. of returns the texts for which the
// condition is true; exact reports that it is true for no others.
func conditionAlgebra(negated bool, of func(c *Call) (set types.Set, exact, ok bool)) *Algebra {
	return &Algebra{Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
		if c.Args[0].Type() != types.String {
			return nil, false, false
		}
		set, exact, ok := of(c)
		a, exact := of3(set, exact, out.Contains(types.NewBool(!negated)), out.Contains(types.NewBool(negated)), false)
		return a.set, exact, ok
	}}
}

// patternAlgebra returns the algebra of matching a text with a regular expression, or of its negation.
func patternAlgebra(negated bool, pattern func(c *Call) (string, bool)) *Algebra {
	a := conditionAlgebra(negated, func(c *Call) (set types.Set, exact, ok bool) {
		p, ok := pattern(c)
		if !ok {
			return nil, false, false
		}
		return matched(p)
	})
	if !negated {
		a.Ends = endOfMatch(pattern)
	}
	return a
}

// flaggedPattern returns a function that returns the pattern of ~ and similar operators.
func flaggedPattern(flags string) func(c *Call) (string, bool) {
	return func(c *Call) (string, bool) { return flags + c.constText(1), true }
}

// constText returns the text of argument i, a constant.
func (c *Call) constText(i int) string { return c.Args[i].(*Const).Val.Text() }

var reverseAlgebra = func() *Algebra {
	a := involution(reverseString, (*Pattern).Reverse)
	a.Lead, a.Ends = leadReversed, endOfReversed
	return a
}()

var reverseDomainAlgebra = involution(reverseDomain, (*Pattern).reverseDomain)

// involution returns the algebra of a function of texts that is its own inverse and keeps the length.
func involution(f func(string) string, like func(*Pattern) *Pattern) *Algebra {
	return &Algebra{
		Injective: always(true),
		Inverse: func(_ *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
			var vs []types.Value
			for _, iv := range out {
				if !iv.IsPoint() {
					return nil, false, false
				}
				vs = append(vs, types.NewString(f(iv.Lo.Text())))
			}
			return types.Points(vs...), true, true
		},
		Like: func(_ *Call, p *Pattern) (*Pattern, bool) {
			p = like(p)
			return p, p != nil
		},
		Width: func(c *Call) int { return Width(c.Args[0]) },
	}
}

// hexWidth returns the Width of hexadecimal digits, each of which is one byte; 0 for other expressions.
func hexWidth(e Expr) int {
	c, ok := e.(*Call)
	if !ok || c.Func.Key == nil {
		return 0
	}
	if !c.Func.Key.HexDigits {
		if len(c.Args) == 0 || hexWidth(c.Args[0]) == 0 {
			return 0
		}
	}
	return Width(c)
}

// mostOf returns Algebra.Most of functions whose result has at most as many characters as argument i says.
func mostOf(i int) func(*Call) int {
	return func(c *Call) int {
		if i < len(c.Args) {
			if n, ok := c.constInt(i); ok && n > 0 {
				return int(min(n, math.MaxInt32))
			}
		}
		return 0
	}
}

// leftAlgebra is the algebra of LEFT(x, n): a prefix of x, which grows with x if n >= 0.
var leftAlgebra = &Algebra{
	Lead: func(c *Call, of Leading) Leading {
		n, ok := c.constInt(1)
		if !ok || n < 0 {
			return Leading{}
		}
		return of.cut(0, n)
	},
	Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
		n, ok := c.constInt(1)
		if !ok {
			return nil, false, false
		}
		if n < 0 { // some more characters follow
			return invertHead(out)
		}
		return invertLeft(c, n, out)
	},
	Pieces: func(c *Call, _ types.Interval) []Piece {
		if n, ok := c.constInt(1); ok && n >= 0 {
			return []Piece{{Even: true}}
		}
		return nil
	},
	Image: func(c *Call, in types.Set) (types.Set, bool) {
		n, ok := c.constInt(1)
		if !ok || n < 0 {
			return nil, false
		}
		var out []types.Interval
		for _, iv := range in {
			var to types.Interval
			p := iv.Lo.Text()
			if !iv.IsPoint() {
				p, _ = commonPrefix(iv)
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
	Width: func(c *Call) int {
		n, ok := c.constInt(1)
		if w := Width(c.Args[0]); ok && n >= 0 && int64(w) >= n {
			return int(n)
		}
		return 0
	},
}
