package functions

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// head is one way in which texts that match a regular expression can begin, as far as walk has read the expression:
// text is the beginning, and state says what may follow.
type head struct {
	text string
	state
}

type state uint8

const (
	free  state = iota // the match has not begun, and may begin anywhere
	bound              // the matched text begins with head.text, after which the match continues
	loose              // like bound, but any characters may come before the match continues
	ended              // the matched text is head.text
	rest               // the matched text begins with head.text; anything may follow
	cut                // the matched text begins with head.text; what may follow is unknown
)

// maxHeads bounds the number of heads, except for those of one list, ^(ab|cd|...), of which there may be solve.MaxListed.
const maxHeads = 32

// matched returns a set that contains all texts that match pattern; exact reports that it contains no other texts. ok
// is false for an invalid pattern.
func matched(pattern string) (set types.Set, exact, ok bool) {
	heads, ok := headsOf(pattern, false)
	ivs := make([]types.Interval, len(heads))
	exact = true
	for i, h := range heads {
		ivs[i] = types.PrefixInterval(types.String, h.text)
		if h.state == ended {
			ivs[i] = types.Point(types.NewString(h.text))
		}
		exact = exact && h.state != cut
	}
	return types.SetOf(ivs...), exact, ok
}

// headsOf returns the beginnings of the texts that match pattern or, with fromEnd, their ends, each written backwards.
// Each head has the state ended, rest or cut. headsOf returns false if pattern is invalid.
func headsOf(pattern string, fromEnd bool) ([]head, bool) {
	re, err := parseRegexp(pattern)
	if err != nil {
		return nil, false
	}
	if re = re.Simplify(); fromEnd {
		re = mirrored(re)
	}
	heads := walk(re, []head{{}})
	for i := range heads {
		switch h := &heads[i]; h.state {
		case free, bound, loose:
			h.state = rest // a match may end anywhere
		}
	}
	return heads, true
}

// mirrored returns the expression that matches the reversed texts.
func mirrored(re *syntax.Regexp) *syntax.Regexp {
	m := *re
	switch re.Op {
	case syntax.OpBeginText:
		m.Op = syntax.OpEndText
	case syntax.OpEndText:
		m.Op = syntax.OpBeginText
	case syntax.OpLiteral:
		m.Rune = slices.Clone(re.Rune)
		slices.Reverse(m.Rune)
	}
	m.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		m.Sub[i] = mirrored(sub)
	}
	if re.Op == syntax.OpConcat {
		slices.Reverse(m.Sub)
	}
	return &m
}

// walk extends heads by re.
func walk(re *syntax.Regexp, heads []head) []head {
	switch re.Op {
	case syntax.OpNoMatch:
		return nil
	case syntax.OpEmptyMatch:
		return heads
	case syntax.OpCapture:
		return walk(re.Sub[0], heads)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			heads = walk(sub, heads)
		}
		return heads
	case syntax.OpAlternate, syntax.OpQuest:
		var out []head
		if re.Op == syntax.OpQuest {
			out = slices.Clone(heads)
		}
		for _, sub := range re.Sub {
			if out = append(out, walk(sub, heads)...); len(out) > maxHeads && (len(heads) > 1 || len(out) > solve.MaxListed) {
				return lost(heads, nil)
			}
		}
		return out
	case syntax.OpBeginText, syntax.OpEndText:
		return anchored(heads, re.Op == syntax.OpBeginText)
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			rs := []rune{r}
			if re.Flags&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					rs = append(rs, f)
				}
			}
			heads = one(heads, rs)
		}
		return heads
	case syntax.OpCharClass:
		var rs []rune
		for i := 0; i < len(re.Rune); i += 2 {
			if lo, hi := re.Rune[i], re.Rune[i+1]; hi-lo < maxHeads {
				for r := lo; r <= hi; r++ {
					rs = append(rs, r)
				}
			} else {
				return one(heads, nil)
			}
		}
		if len(rs) == 0 {
			return nil
		}
		return one(heads, rs)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return one(heads, nil)
	case syntax.OpPlus:
		return lost(walk(re.Sub[0], heads), nil)
	case syntax.OpStar:
		if re.Sub[0].Op == syntax.OpAnyChar {
			out := slices.Clone(heads)
			for i := range out {
				if out[i].state == bound {
					out[i].state = loose
				}
			}
			return out
		}
		return lost(heads, []state{ended, rest})
	}
	return lost(heads, nil) // line ends and word boundaries
}

// lost returns heads with the state cut, because what follows them is unknown. Heads with a state in stay keep it.
func lost(heads []head, stay []state) []head {
	var out []head
	for _, h := range heads {
		if !slices.Contains(stay, h.state) {
			h.state = cut
		}
		if !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// one extends heads by one character, any of rs; a nil rs means too many characters to list.
func one(heads []head, rs []rune) []head {
	var out []head
	many := rs == nil || slices.Contains(rs, utf8.RuneError) // U+FFFD also means bytes that are not a character
	n := 0
	for _, h := range heads {
		if h.state == bound {
			n += len(rs)
		}
	}
	for _, h := range heads {
		switch {
		case h.state == ended || h.state == rest:
			continue // nothing may follow
		case h.state == bound && !many && (n <= maxHeads || len(rs) == 1) && len(h.text) < solve.MaxCuts:
			for _, r := range rs {
				out = append(out, head{h.text + string(r), bound})
			}
			continue
		}
		if h.state = cut; !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// anchored extends heads by an anchor at the beginning of the text, or at its end.
func anchored(heads []head, begin bool) []head {
	var out []head
	for _, h := range heads {
		switch h.state {
		case free:
			if h.state = cut; begin {
				h.state = bound
			}
		case bound, loose, ended, rest:
			switch {
			case begin && h.text != "":
				continue
			case begin && h.state == loose:
				h.state = bound
			case begin && h.state == rest:
				h.state = ended
			case begin || h.state == ended || h.state == rest:
			case h.state == bound:
				h.state = ended
			default:
				h.state = rest
			}
		}
		out = append(out, h)
	}
	return out
}

// reversed returns the text of h, which was read from the end, in normal order.
func (h head) reversed() string {
	rs := []rune(h.text)
	slices.Reverse(rs)
	return string(rs)
}

// anchors reports whether all matches of a pattern begin at the start of a text, and whether all matches end at its
// end. If start is true and the pattern has groups, the first group begins at the start as well.
func anchors(pattern string) (start, end bool) {
	re, err := parseRegexp(pattern)
	if err != nil || re.Op != syntax.OpConcat {
		return false, false
	}
	return re.Sub[0].Op == syntax.OpBeginText && (re.MaxCap() == 0 || re.Sub[1].Op == syntax.OpCapture), re.Sub[len(re.Sub)-1].Op == syntax.OpEndText
}
