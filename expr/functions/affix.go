package functions

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// The functions in this file invert functions of texts: they find the texts x for which the function's result is in a set.
// Texts are any bytes: what a table stores need not be UTF-8.

// cutter describes a function f that shortens texts: f(x) is a prefix of x, or x itself.
type cutter struct {
	// at returns the x for which f(x) is s.
	at func(s string) (ivs []types.Interval, exact bool)
	// upTo returns the x for which f(x) is at most s or, if open, less than s.
	upTo func(s string, open bool) (s2 types.Set, exact bool)
}

// inverse returns the x for which f(x) is in out.
func (f cutter) inverse(out types.Set) (pre types.Set, exact bool) {
	var ivs []types.Interval
	exact = true
	for _, iv := range out {
		if iv.IsPoint() {
			some, ex := f.at(iv.Lo.Text())
			ivs, exact = append(ivs, some...), exact && ex
			continue
		}
		s := types.All()
		if !iv.Lo.IsNull() {
			less, ex := f.upTo(iv.Lo.Text(), !iv.LoOpen)
			if ex {
				s = less.Complement()
			} else { // f(x) is not greater than x
				s = types.SetOf(types.Interval{Lo: iv.Lo, LoOpen: iv.LoOpen})
			}
			exact = exact && ex
		}
		if !iv.Hi.IsNull() {
			most, ex := f.upTo(iv.Hi.Text(), iv.HiOpen)
			s, exact = s.Intersect(most), exact && ex
		}
		ivs = append(ivs, s...)
	}
	return types.SetOf(ivs...), exact
}

func atMost(t types.Type, s string, open bool) types.Interval {
	return types.Interval{Hi: types.NewTextOf(t, s), HiOpen: open}
}

// firstOf returns the cutter of LEFT(x, n), n >= 0, for x of type t.
func firstOf(t types.Type, n int64) cutter {
	return cutter{
		at: func(s string) ([]types.Interval, bool) {
			switch k := units(t, s); {
			case k < n:
				return []types.Interval{types.Point(types.NewTextOf(t, s))}, true
			case k > n:
				return nil, true
			}
			// If s ends within a character, further bytes may complete the character and so change the first n
			// characters.
			return []types.Interval{types.PrefixInterval(t, s)}, t == types.Bytes || utf8.ValidString(s)
		},
		upTo: func(s string, open bool) (types.Set, bool) {
			p, ok := firstBytes(t, s, n)
			if !ok || open && p == s {
				return types.SetOf(atMost(t, s, open)), true
			}
			end := types.PrefixInterval(t, p).Hi // nil: no text sorts after them
			return types.SetOf(types.Interval{Hi: end, HiOpen: true}), t == types.Bytes || utf8.ValidString(p)
		},
	}
}

// units returns the number of characters of s, or of bytes for BYTES.
func units(t types.Type, s string) int64 {
	if t == types.Bytes {
		return int64(len(s))
	}
	return int64(utf8.RuneCountInString(s))
}

// firstBytes returns the shortest prefix of s that has n characters; each byte of an incomplete character counts as one.
func firstBytes(t types.Type, s string, n int64) (p string, ok bool) {
	if t == types.Bytes {
		return s[:min(n, int64(len(s)))], n <= int64(len(s))
	}
	have := int64(0)
	for at := 0; ; {
		if have == n {
			return s[:at], true
		}
		if at == len(s) {
			return "", false
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		if need := n - have; need < int64(size) {
			return s[:at+int(need)], true
		}
		at += size
		have++
	}
}

// fieldBefore returns the cutter of SPLIT_PART(x, d, 1); d is not empty.
func fieldBefore(d string) cutter {
	is := func(p string) bool { return strings.Index(p+d, d) == len(p) } // p can be a field before d, or the last field
	return cutter{
		at: func(s string) ([]types.Interval, bool) {
			var ivs []types.Interval
			if !strings.Contains(s, d) {
				ivs = append(ivs, types.Point(types.NewString(s)))
			}
			if is(s) {
				ivs = append(ivs, types.PrefixInterval(types.String, s+d))
			}
			return ivs, true
		},
		upTo: func(s string, open bool) (types.Set, bool) {
			if len(s) > solve.MaxCuts {
				return types.All(), false
			}
			ivs := []types.Interval{atMost(types.String, s, open)}
			for i := range len(s) + 1 {
				if p := s[:i]; is(p) && !(open && i == len(s)) {
					ivs = append(ivs, types.PrefixInterval(types.String, p+d))
				}
			}
			return types.SetOf(ivs...), true
		},
	}
}

// trimmedEnd returns the cutter of RTRIM(x, cut).
func trimmedEnd(cut []string) cutter {
	more := func(ivs []types.Interval, p string) []types.Interval {
		for _, c := range cut {
			ivs = append(ivs, types.PrefixInterval(types.String, p+c))
		}
		return ivs
	}
	return cutter{
		at: func(s string) ([]types.Interval, bool) {
			if slices.ContainsFunc(cut, func(c string) bool { return strings.HasSuffix(s, c) }) {
				return nil, true
			}
			return more([]types.Interval{types.Point(types.NewString(s))}, s), len(cut) == 0
		},
		upTo: func(s string, open bool) (types.Set, bool) {
			if len(s) > solve.MaxCuts {
				return types.All(), false
			}
			ivs := []types.Interval{atMost(types.String, s, open)}
			for i := range len(s) + 1 {
				ivs = more(ivs, s[:i])
			}
			return types.SetOf(ivs...), len(cut) == 0
		},
	}
}

// trims returns the characters that a call of TRIM, LTRIM or RTRIM cuts off, if they are few.
func trims(c *expr.Call) ([]string, bool) {
	if len(c.Args) == 1 {
		return []string{" "}, true
	}
	k, ok := c.Args[1].(*expr.Const)
	if !ok || len(k.Val.Text()) > 16 || !utf8.ValidString(k.Val.Text()) {
		return nil, false
	}
	var out []string
	for _, r := range k.Val.Text() {
		if r == utf8.RuneError { // it may mean bytes that are not a character
			return nil, false
		}
		out = append(out, string(r))
	}
	return out, true
}

// forms describes a mapping of characters: it maps each resulting character to the characters that become it, and
// dropped to the characters that the mapping leaves out. It lacks characters that become themselves and that no other
// character becomes.
type forms map[rune][]rune

const dropped = -1

func (f forms) of(r rune) []rune {
	if rs, ok := f[r]; ok {
		return rs
	}
	return []rune{r}
}

func formsOf(mapping func(rune) rune) func() forms {
	return sync.OnceValue(func() forms {
		f := forms{}
		for _, cr := range unicode.CaseRanges {
			for r := rune(cr.Lo); r <= rune(cr.Hi); r++ {
				if _, ok := f[r]; !ok {
					f[r] = nil
				}
				f[mapping(r)] = append(f[mapping(r)], r)
			}
		}
		for r, from := range f {
			if mapping(r) == r && !slices.Contains(from, r) { // such as ß, which is not in the range of the capital letters that are mapped to it
				f[r] = append(from, r)
			}
		}
		return f
	})
}

var lowerForms, upperForms = formsOf(unicode.ToLower), formsOf(unicode.ToUpper)

// maxForms bounds the number of texts that are mapped to the same text; maxDropping bounds it if the mapping drops
// characters. With more texts, a query would read hardly less.
const (
	maxForms    = 32
	maxDropping = 8
)

// unfold returns a set that contains all texts that f's mapping, which c applies to its argument, maps into out; exact
// reports that the set contains no other texts.
func unfold(c *expr.Call, out types.Set, f forms) (pre types.Set, exact bool) {
	var ivs []types.Interval
	exact = true
	for _, iv := range out {
		p, whole := iv.Lo.Text(), true
		if !iv.IsPoint() {
			p, whole = solve.CommonPrefix(iv)
		}
		texts, full := variants(c, p, f)
		for _, s := range texts {
			if full && iv.IsPoint() {
				ivs = append(ivs, types.Point(types.NewString(s)))
			} else {
				ivs = append(ivs, types.PrefixInterval(types.String, s))
			}
		}
		exact = exact && full && whole
	}
	return types.SetOf(ivs...), exact
}

// variants returns the texts that f's mapping maps to s, as far as c's argument can have them. If there are too many, or if
// f drops characters, full is false, and it returns the beginnings of such texts.
func variants(c *expr.Call, s string, f forms) (texts []string, full bool) {
	type way struct {
		text string
		rest string // the rest of s
	}
	begun := func(ways []way) (texts []string) {
		for _, w := range ways {
			texts = append(texts, w.text)
		}
		return texts
	}
	ways, open := []way{{"", s}}, true
	for n := 0; open; n++ {
		open = false
		var next []way
		for _, w := range ways {
			r, size := utf8.DecodeRuneInString(w.rest)
			if size == 0 {
				next = append(next, w)
				continue
			}
			if r == utf8.RuneError || n > solve.MaxCuts { // the mapping makes U+FFFD of bytes that are not a character
				return begun(ways), false
			}
			open = true
			for _, v := range f.of(r) {
				next = append(next, way{w.text + string(v), w.rest[size:]})
			}
			for _, v := range f[dropped] {
				next = append(next, way{w.text + string(v), w.rest})
			}
		}
		if len(next) > len(ways) {
			next = slices.DeleteFunc(next, func(w way) bool { return !solve.CanBegin(c.Args[0], w.text) })
		}
		if len(next) > maxForms || len(next) > maxDropping && len(f[dropped]) > 0 {
			break
		}
		ways = next
	}
	return begun(ways), !open && len(f[dropped]) == 0
}

// behindKnown inverts c, a function such as SUBSTR(x, 4) that ignores the beginning of its text: it returns the texts in
// within for which the value of c is in out. head returns the ignored beginning of the texts that have a given prefix, or
// false if the prefix does not determine it. tails are the texts that may follow it; exact reports that each of them gives
// a value in out. ok is false if head fails for all intervals.
func behindKnown(c *expr.Call, out, tails types.Set, exact bool, within types.Set, head func(string) (string, bool)) (types.Set, bool, bool) {
	t := c.Args[0].Type()
	if t != types.String && t != types.Bytes || len(within) > solve.MaxCuts {
		return nil, false, false
	}
	var ivs []types.Interval
	known := false
	for _, iv := range within {
		if iv.IsPoint() {
			known = true
			if v, err := c.EvalWith(iv.Lo); err != nil || out.Contains(v) {
				ivs = append(ivs, iv)
			}
			continue
		}
		p, _ := solve.CommonPrefix(iv)
		before, ok := head(p)
		if !ok {
			ivs, exact = append(ivs, iv), false
			continue
		}
		known = true
		for _, tail := range tails {
			ivs = append(ivs, solve.BehindText(t, tail, before))
		}
	}
	return types.SetOf(ivs...).Intersect(within), exact, known
}

// invertRight inverts RIGHT(x, n). The result determines only the end of a long text: see endOfRight. A window may
// determine the beginning of all texts and the number of characters after it.
func invertRight(c *expr.Call, out types.Set, within expr.Window) (pre types.Set, exact, ok bool) {
	n, ok := c.ConstInt(1)
	if !ok || n < 0 || c.Args[0].Type() != types.String {
		return nil, false, false
	}
	short := !slices.ContainsFunc(out, func(iv types.Interval) bool { return !iv.IsPoint() || units(types.String, iv.Lo.Text()) >= n })
	if short {
		return out, true, true
	}
	if within.Width == 0 {
		return nil, false, false
	}
	var ivs []types.Interval
	exact = true
	for _, iv := range within.In() {
		head, _ := solve.CommonPrefix(iv)
		have := units(types.String, head)
		more := int64(within.Width) - have
		if more > n || len(ivs) > solve.MaxListed {
			return nil, false, false
		}
		if out.Contains(types.NewString(right(head, n))) {
			ivs = append(ivs, types.Point(types.NewString(head)))
		}
		for r := int64(1); r <= more; r++ { // number of characters after the beginning
			for _, tail := range solve.BehindAll(out, types.String, right(head, max(n-r, 0))) {
				ivs, exact = append(ivs, solve.BehindText(types.String, tail, head)), exact && tail.IsPoint()
			}
		}
	}
	var sure []types.Interval
	for _, iv := range ivs {
		if v, err := c.EvalWith(iv.Lo); !iv.IsPoint() || err == nil && out.Contains(v) {
			sure = append(sure, iv)
		}
	}
	return types.SetOf(sure...), exact, true
}
