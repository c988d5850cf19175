package infer

import (
	"fmt"
	"slices"
)

// counted returns texts after their length in 1, 2 or 4 bytes.
func (s *search) counted(at []int) []option {
	var out []option
	for _, width := range []int{1, 2, 4} {
		next := make([]int, len(at))
		var texts [][]byte
		widths := map[int]bool{}
		lost, total := 0, alive(at)
		for i, p := range at {
			next[i] = -1
			if p < 0 {
				continue
			}
			text, ok := countedText(s.keys[i][p:], width)
			if !ok {
				if lost++; 20*lost > total {
					break
				}
				continue
			}
			texts = append(texts, text)
			widths[len(text)] = true
			next[i] = p + width + len(text)
		}
		if 20*lost > total || len(widths) < 2 { // all of one width: more likely a constant
			continue
		}
		g := variable(texts, 0)
		g.part, g.typ, g.base = fmt.Sprintf("{} AS COUNT%d TEXT", 8*width), "STRING", "id"
		g.bits -= 16 // the length is correct in each key; but parts within the text remain undivided
		g.why = fmt.Sprintf("after its length in %d bytes: %s", width, describe("text", texts))
		out = append(out, option{segs: []segment{g}, next: next})
	}
	return out
}

// countedText returns the text at the start of b, after its length. It is empty if more text follows.
func countedText(b []byte, width int) ([]byte, bool) {
	if len(b) < width {
		return nil, false
	}
	n := bigEndian(string(b[:width]))
	b = b[width:]
	if n < 1 || n > int64(len(b)) || !isText(b[:n]) || n < int64(len(b)) && b[n] < 0x80 && isAlnum(b[n]) {
		return nil, false
	}
	return b[:n], true
}

// beforeTail returns texts of any length before a part of fixed width that ends the key: a time, a number, digits.
func (s *search) beforeTail(at []int, least, most int) []option {
	if least == most || alive(at) < 8 {
		return nil // the function fixed returns those
	}
	var out []option
	for _, f := range moments() {
		next := s.fromEnd(at, f.width)
		for _, o := range s.times(next) {
			if o.form == f {
				out = append(out, s.before(at, next, o, f.text)...)
			}
		}
	}
	for _, w := range []int{4, 8} {
		next := s.fromEnd(at, w)
		for _, o := range s.integers(next) {
			if o.form.width == w {
				out = append(out, s.before(at, next, o, false)...)
			}
		}
	}
	for w := 3; w <= min(12, least-1); w++ { // digits with zeros before them
		next := s.fromEnd(at, w)
		if bs, end, ok := s.slice(next, w); ok && !slices.ContainsFunc(bs, func(b []byte) bool { return !isDigits(b) }) && slices.ContainsFunc(bs, func(b []byte) bool { return b[0] == '0' }) {
			g := segment{part: fmt.Sprintf("{} AS TEXT(%d)", w), base: "n", typ: "BIGINT", bits: numberBits(bs) + partBits - 2.75, why: describe("digits, zeros before them", bs)}
			out = append(out, s.before(at, next, option{segs: []segment{g}, next: end}, true)...)
		}
	}
	return out
}

// fromEnd returns the place w bytes before the end of each key; -1 for a key that has no byte between at and this
// place.
func (s *search) fromEnd(at []int, w int) []int {
	next := make([]int, len(at))
	for i, p := range at {
		if next[i] = -1; p >= 0 && p+w < len(s.keys[i]) {
			next[i] = len(s.keys[i]) - w
		}
	}
	return next
}

// before returns two parts: the text of any length from at to next, and the last part after it. It returns nothing if
// the last part may be the end of a longer number.
func (s *search) before(at, next []int, last option, digits bool) []option {
	var texts [][]byte
	total, continued := alive(at), 0
	for i, p := range next {
		if p < 0 || !isText(s.keys[i][at[i]:p]) {
			last.next[i] = -1
			continue
		}
		if texts = append(texts, s.keys[i][at[i]:p]); isDigits(s.keys[i][p-1 : p]) {
			continued++
		}
	}
	if 20*(total-len(texts)) > total || digits && 10*continued > 9*total || len(texts) == 0 {
		return nil
	}
	g := variable(texts, 0)
	g.bits += 2
	last.segs = append([]segment{g}, last.segs...)
	return []option{last}
}
