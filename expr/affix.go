package expr

import (
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/hql-db/hql/types"
)

// The functions here turn sets of texts about: which texts x are there such that what is made of x lies in a set. Texts are
// any bytes: what a table holds need not be UTF-8.

// textOf makes a value of t, STRING or BYTES.
func textOf(t types.Type, s string) types.Value {
	if t == types.Bytes {
		return types.NewBytes(s)
	}
	return types.NewString(s)
}

// begins is the interval of the values of t that begin with p.
func begins(t types.Type, p string) types.Interval {
	iv := PrefixInterval(p)
	for _, v := range []*types.Value{&iv.Lo, &iv.Hi} {
		if !v.IsNull() {
			*v = textOf(t, v.Text())
		}
	}
	return iv
}

// A cutter describes a function f that cuts texts: f(x) is a prefix of x, or x itself.
type cutter struct {
	// at gives the x for which f(x) is s.
	at func(s string) (ivs []types.Interval, exact bool)
	// upTo gives the x for which f(x) is at most s, or with open less.
	upTo func(s string, open bool) (s2 types.Set, exact bool)
}

// inverse gives the x for which f(x) lies in out.
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
			} else { // x is not less than f(x)
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
	return types.Interval{Hi: textOf(t, s), HiOpen: open}
}

// firstOf is the cutter of LEFT(x, n), x of type t, n >= 0.
func firstOf(t types.Type, n int64) cutter {
	return cutter{
		at: func(s string) ([]types.Interval, bool) {
			switch k := units(t, s); {
			case k < n:
				return []types.Interval{types.Point(textOf(t, s))}, true
			case k > n:
				return nil, true
			}
			// Of a text that ends within a character, more of it is not the same first n.
			return []types.Interval{begins(t, s)}, t == types.Bytes || utf8.ValidString(s)
		},
		upTo: func(s string, open bool) (types.Set, bool) {
			p, ok := firstBytes(t, s, n)
			if !ok || open && p == s {
				return types.SetOf(atMost(t, s, open)), true
			}
			end := begins(t, p).Hi // nil: nothing is behind them
			return types.SetOf(types.Interval{Hi: end, HiOpen: true}), t == types.Bytes || utf8.ValidString(p)
		},
	}
}

// units counts the characters of s, or the bytes of BYTES.
func units(t types.Type, s string) int64 {
	if t == types.Bytes {
		return int64(len(s))
	}
	return int64(utf8.RuneCountInString(s))
}

// firstBytes gives the least number of bytes that s begins with and that are n characters, each byte of a part of a character
// counting as one.
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

// fieldBefore is the cutter of SPLIT_PART(x, d, 1), d not empty.
func fieldBefore(d string) cutter {
	is := func(p string) bool { return strings.Index(p+d, d) == len(p) } // p can be a field, or a last one
	return cutter{
		at: func(s string) ([]types.Interval, bool) {
			var ivs []types.Interval
			if !strings.Contains(s, d) {
				ivs = append(ivs, types.Point(types.NewString(s)))
			}
			if is(s) {
				ivs = append(ivs, PrefixInterval(s+d))
			}
			return ivs, true
		},
		upTo: func(s string, open bool) (types.Set, bool) {
			if len(s) > maxCuts {
				return types.All(), false
			}
			ivs := []types.Interval{atMost(types.String, s, open)}
			for i := range len(s) + 1 {
				if p := s[:i]; is(p) && !(open && i == len(s)) {
					ivs = append(ivs, PrefixInterval(p+d))
				}
			}
			return types.SetOf(ivs...), true
		},
	}
}

// trimmedEnd is the cutter of RTRIM(x, cut).
func trimmedEnd(cut []string) cutter {
	more := func(ivs []types.Interval, p string) []types.Interval {
		for _, c := range cut {
			ivs = append(ivs, PrefixInterval(p+c))
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
			if len(s) > maxCuts {
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

// trims gives the characters that a call of TRIM, LTRIM or RTRIM cuts off, when they are a few.
func trims(c *Call) ([]string, bool) {
	if len(c.Args) == 1 {
		return []string{" "}, true
	}
	k, ok := c.Args[1].(*Const)
	if !ok || len(k.Val.Text()) > 16 || !utf8.ValidString(k.Val.Text()) {
		return nil, false
	}
	var out []string
	for _, r := range k.Val.Text() {
		if r == utf8.RuneError { // stands for bytes that are no character
			return nil, false
		}
		out = append(out, string(r))
	}
	return out, true
}

// forms are, by a character that a mapping gives, those that it gives it for. Characters that it leaves alone and gives for no
// other are not among them.
type forms map[rune][]rune

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
			if mapping(r) == r && !slices.Contains(from, r) { // ß is in no range, and is what a capital one becomes
				f[r] = append(from, r)
			}
		}
		return f
	})
}

var lowerForms, upperForms = formsOf(unicode.ToLower), formsOf(unicode.ToUpper)

// maxForms bounds the number of texts that map to one text.
const maxForms = 32

// unfold gives the texts x such that f's mapping of x lies in out. exact: no others.
func unfold(out types.Set, f forms) (pre types.Set, exact bool) {
	var ivs []types.Interval
	exact = true
	for _, iv := range out {
		if iv.IsPoint() {
			texts, full := variants(iv.Lo.Text(), f)
			for _, s := range texts {
				if full {
					ivs = append(ivs, types.Point(types.NewString(s)))
				} else {
					ivs = append(ivs, PrefixInterval(s))
				}
			}
			exact = exact && full
			continue
		}
		p, whole := commonPrefix(iv)
		texts, full := variants(p, f)
		for _, s := range texts {
			ivs = append(ivs, PrefixInterval(s))
		}
		exact = exact && full && whole
	}
	return types.SetOf(ivs...), exact
}

// variants lists the texts that f's mapping converts to s; with full false, the beginnings of such texts.
func variants(s string, f forms) (texts []string, full bool) {
	texts = []string{""}
	for i, r := range s {
		if r == utf8.RuneError || i > maxCuts { // a mapping makes it of bytes that are no character
			return texts, false
		}
		rs := f.of(r)
		if len(texts)*len(rs) > maxForms {
			return texts, false
		}
		if len(rs) == 1 && rs[0] == r { // the rest of the text need not be copied for each
			for j := range texts {
				texts[j] += s[i : i+utf8.RuneLen(r)]
			}
			continue
		}
		next := make([]string, 0, len(texts)*len(rs))
		for _, t := range texts {
			for _, v := range rs {
				next = append(next, t+string(v))
			}
		}
		texts = next
	}
	return texts, true
}

// commonPrefix gives characters that all texts in iv begin with; whole: iv holds all texts that begin with them.
func commonPrefix(iv types.Interval) (p string, whole bool) {
	if iv.Lo.IsNull() || iv.Hi.IsNull() {
		return "", iv.Lo.IsNull() && iv.Hi.IsNull()
	}
	lo, hi := iv.Lo.Text(), iv.Hi.Text()
	n := sort.Search(len(lo), func(n int) bool { // what begins with one character more ends before hi
		end := string(types.PrefixEnd([]byte(lo[:n+1])))
		return end != "" && (end < hi || end == hi && !iv.HiOpen)
	})
	p = lo[:n]
	whole = n == len(lo) && !iv.LoOpen && iv.HiOpen && string(types.PrefixEnd([]byte(lo))) == hi
	if len(p) > maxCuts {
		p, whole = p[:maxCuts], false
	}
	for !utf8.ValidString(p) {
		p, whole = p[:len(p)-1], false
	}
	return p, whole
}

// behindKnown returns the texts in within for which c, a function of the end of a text, lies in out. If all texts of an interval have
// the same beginning, head returns the beginning that c leaves out, and the rest of the text lies in tails.
// ok is false if nothing is known of any interval.
func (c *Call) behindKnown(out, tails types.Set, exact bool, within types.Set, head func(string) (string, bool)) (types.Set, bool, bool) {
	t := c.Args[0].Type()
	if t != types.String && t != types.Bytes || len(within) > maxCuts {
		return nil, false, false
	}
	var ivs []types.Interval
	known := false
	for _, iv := range within {
		if iv.IsPoint() {
			known = true
			if v, err := c.with(iv.Lo); err != nil || out.Contains(v) {
				ivs = append(ivs, iv)
			}
			continue
		}
		p, _ := commonPrefix(iv)
		before, ok := head(p)
		if !ok {
			ivs, exact = append(ivs, iv), false
			continue
		}
		known = true
		for _, tail := range tails {
			ivs = append(ivs, behindText(t, tail, before))
		}
	}
	return types.SetOf(ivs...).Intersect(within), exact, known
}

// invertRight inverts RIGHT(x, n). The result gives the end of a long text alone: see endOfRight. A window may give the
// beginning of all texts and the number of characters behind it.
func invertRight(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool) {
	n, ok := c.constInt(1)
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
		head, _ := commonPrefix(iv)
		have := units(types.String, head)
		more := int64(within.Width) - have
		if more > n || len(ivs) > maxListed {
			return nil, false, false
		}
		if out.Contains(types.NewString(right(head, n))) {
			ivs = append(ivs, types.Point(types.NewString(head)))
		}
		for r := int64(1); r <= more; r++ { // so many behind the head
			for _, tail := range behindAll(out, types.String, right(head, max(n-r, 0))) {
				ivs, exact = append(ivs, behindText(types.String, tail, head)), exact && tail.IsPoint()
			}
		}
	}
	var sure []types.Interval
	for _, iv := range ivs {
		if v, err := c.with(iv.Lo); !iv.IsPoint() || err == nil && out.Contains(v) {
			sure = append(sure, iv)
		}
	}
	return types.SetOf(sure...), exact, true
}
