package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern is a parsed LIKE pattern: literals, _ (one character) and % (any text). A byte that is not UTF-8 counts as one
// character.
type Pattern struct{ items []patternItem }

// patternItem is a literal or, if lit is empty, n characters (n > 0) or any text (n < 0).
type patternItem struct {
	lit string
	n   int
}

const anyText = -1

// ParsePattern parses a pattern; escape is one character, or empty for none.
func ParsePattern(s, escape string) (*Pattern, error) {
	esc := rune(-1)
	if escape != "" {
		r, n := utf8.DecodeRuneInString(escape)
		if n != len(escape) {
			return nil, fmt.Errorf("ESCAPE takes one character, not %q", escape)
		}
		esc = r
	}
	p := &Pattern{}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			p.items = append(p.items, patternItem{lit: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == esc && n > 0:
			i += n
			if i == len(s) {
				return nil, fmt.Errorf("LIKE pattern ends with its escape character")
			}
			_, n = utf8.DecodeRuneInString(s[i:])
			lit.WriteString(s[i : i+n])
		case r == '%':
			flush()
			if k := len(p.items); k == 0 || p.items[k-1].n != anyText {
				p.items = append(p.items, patternItem{n: anyText})
			}
		case r == '_':
			flush()
			p.items = append(p.items, patternItem{n: 1})
		default:
			lit.WriteString(s[i : i+n])
		}
		i += n
	}
	flush()
	return p, nil
}

// Match reports whether s matches the whole pattern.
func (p *Pattern) Match(s string) bool {
	items := p.items
	i := 0
	back, backTo := -1, 0 // where to continue after the last %, one character later
	pos := 0
	for {
		switch {
		case i == len(items):
			if pos == len(s) {
				return true
			}
		case items[i].n == anyText:
			if i == len(items)-1 {
				return true
			}
			back, backTo = i+1, pos
			i++
			continue
		case items[i].n > 0:
			if pos < len(s) {
				_, n := utf8.DecodeRuneInString(s[pos:])
				pos += n
				i++
				continue
			}
		case strings.HasPrefix(s[pos:], items[i].lit):
			pos += len(items[i].lit)
			i++
			continue
		}
		if back < 0 || backTo >= len(s) {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[backTo:])
		backTo += n
		i, pos = back, backTo
	}
}

// Prefix returns the literal with which every match begins. exact reports that the pattern is that literal; tail reports
// that only a % follows it.
func (p *Pattern) Prefix() (literal string, exact, tail bool) {
	rest := p.items
	if len(rest) > 0 && rest[0].n == 0 {
		literal, rest = rest[0].lit, rest[1:]
	}
	return literal, len(rest) == 0, len(rest) == 1 && rest[0].n == anyText
}

// Characters returns the number of characters of every match, or 0 if the pattern has a %; blank reports that only a literal
// stands before _s.
func (p *Pattern) Characters() (n int, blank bool) {
	for i, it := range p.items {
		if it.n == anyText {
			return 0, false
		}
		n += it.n + utf8.RuneCountInString(it.lit)
		blank = i == 0 || blank && it.n > 0
	}
	return n, blank
}

// Literals returns the literals between the pattern's %s: a and b for "a%b", "" and b for "%b". ok is false if the pattern
// has a _.
func (p *Pattern) Literals() (pieces []string, ok bool) {
	pieces = []string{""}
	for _, it := range p.items {
		switch {
		case it.n > 0:
			return nil, false
		case it.n == anyText:
			pieces = append(pieces, "")
		default:
			pieces[len(pieces)-1] = it.lit
		}
	}
	return pieces, true
}

// Regex returns a regular expression of single bytes that finds the matches of p, and perhaps more texts. It has no nested
// repetition, with which a server could take exponential time, and ends at the second %: a server tries all places for each
// literal behind it. Unless forms is nil, a character stands for all those that forms returns for it.
func (p *Pattern) Regex(forms func(rune) []rune) string {
	var b strings.Builder
	n := 0 // characters of the _s before
	free := false
	for i, it := range p.items {
		if n += max(it.n, 0); it.n > 0 && i+1 < len(p.items) && p.items[i+1].n > 0 {
			continue
		}
		switch {
		case it.n < 0 || n > 200: // Go's regexp refuses to repeat more than 1000 times
			b.WriteString(".*")
			if free {
				return b.String()
			}
			free = true
		case n > 0: // all of them ASCII or not
			fmt.Fprintf(&b, `(?:[\x00-\x7f]{%d}|[\x00-\x7f]{0,%d}[\x80-\xff].{0,%d})`, n, n-1, utf8.UTFMax*n-1)
		default:
			literal(&b, it.lit, forms)
		}
		n = 0
	}
	return b.String()
}

// literal writes the part of Pattern.Regex for a literal.
func literal(b *strings.Builder, lit string, forms func(rune) []rune) {
	for len(lit) > 0 {
		r, n := utf8.DecodeRuneInString(lit)
		of := lit[:n]
		lit = lit[n:]
		switch {
		case forms == nil:
			escaped(b, of)
		case r == utf8.RuneError: // an invalid byte may have become it
			b.WriteString(".{1,3}")
		default:
			b.WriteString("(?:")
			for i, f := range forms(r) {
				if i > 0 {
					b.WriteByte('|')
				}
				escaped(b, string(f))
			}
			b.WriteByte(')')
		}
	}
}

func escaped(b *strings.Builder, s string) {
	for _, c := range []byte(s) {
		fmt.Fprintf(b, `\x%02x`, c)
	}
}

// After returns a pattern that has n characters before p.
func (p *Pattern) After(n int) *Pattern {
	return &Pattern{slices.Concat(slices.Repeat([]patternItem{{n: 1}}, n), p.items)}
}

// PatternOf returns the pattern that has these literals between its %s; see Literals.
func PatternOf(literals ...string) *Pattern {
	p := new(Pattern)
	for i, lit := range literals {
		if i > 0 {
			p.items = append(p.items, patternItem{n: anyText})
		}
		if lit != "" {
			p.items = append(p.items, patternItem{lit: lit})
		}
	}
	return p
}

// Reverse returns the pattern that reversed texts match. It returns nil for a pattern with invalid UTF-8, which may be
// part of a character.
func (p *Pattern) Reverse() *Pattern {
	for _, it := range p.items {
		if !utf8.ValidString(it.lit) {
			return nil
		}
	}
	r := &Pattern{items: slices.Clone(p.items)}
	slices.Reverse(r.items)
	for i := range r.items {
		r.items[i].lit = ReverseString(r.items[i].lit)
	}
	return r
}

// ReverseString reverses the characters of s. Invalid bytes stay together in their order: so they do not become a
// character, and a second reversal restores s.
func ReverseString(s string) string {
	b := make([]byte, len(s))
	at := len(s)
	for i := 0; i < len(s); {
		from := i
		for i < len(s) {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				i++
				continue
			}
			if i == from {
				i += n
			}
			break
		}
		at -= i - from
		copy(b[at:], s[from:i])
	}
	return string(b)
}
