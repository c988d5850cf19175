package infer

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/types"
)

// inSeconds reports whether f is a number of seconds in 8 bytes, of which the first four are all zeros or all ones.
func inSeconds(f *form) bool { return f.width == 8 && f.seconds }

func (s *search) integers(at []int) []option {
	var out []option
	for _, f := range numbers() {
		if s.printable(at, f.width) || f.width == 8 && s.printable(at, 4) || f.width == 4 && s.printable(at, 2) {
			continue
		}
		sane := func(n int64) bool { return f.width < 8 || n > -1<<40 }
		if strings.HasPrefix(f.part, "c AS UINT") || f.part == "c AS INT32" || f.part == "c AS ORDERED INT32" {
			sane = func(n int64) bool { return n > -1<<24 }
		} else if f.width == 8 && f.part != "c AS INT64" {
			sane = func(n int64) bool { return n > -1<<40 && n < 1<<40 }
		}
		if o, _, ok := s.form(f, at, sane); ok {
			least := o.most - o.spread
			switch f.part {
			case "c AS UINT8":
				if o.spread == 0 {
					continue // a literal reads the same
				}
			case "c AS UINT24":
				o.segs[0].bits += 0.9 // less common than one or two bytes
			case "c AS UINT32":
				if o.most < 1<<31 || o.spread >= 1<<31 {
					continue // INT32 reads the same and is what programs use; or all bytes are random
				}
			case "c AS INT32":
				if least < 0 && o.most >= 1<<24 || o.spread >= 1<<30 && least < 1<<24 && s.random(at, 4) {
					continue
				}
			case "c AS ORDERED INT32":
				if o.spread >= 1<<31 {
					continue
				}
				o.segs[0].bits -= 0.8 // as unsigned numbers all would be in the upper half, or near its beginning
			}
			if f.width == 8 && o.most >= 1<<40 && o.spread >= 1<<56 {
				continue // the first byte of growing ids stays the same
			}
			if t, ok := timeOfDay(f, o); ok && s.daily {
				out = append(out, t)
			}
			switch {
			case o.step > 1 && o.step%256 == 0:
				o.segs[0].bits += 2 // more likely a constant byte of the next part
			case o.step > 1:
				o.segs[0].bits += 0.5
			}
			out = append(out, o)
		}
	}
	return out
}

// timeOfDay reads numbers that cover a day as milliseconds or minutes of the day; the table's name holds the day.
func timeOfDay(f *form, o option) (option, bool) {
	function, most := "", int64(0)
	switch f.part {
	case "c AS UINT32", "c AS INT32":
		function, most = "MILLIS_OF_DAY", types.MillisPerDay
	case "c AS UINT16":
		function, most = "MINUTE_OF_DAY", 24*60
	default:
		return o, false
	}
	if o.most >= most || 2*o.most < most {
		return o, false
	}
	g := o.segs[0]
	g.part, g.base, g.typ = strings.Replace(g.part, "{}", function+"({})", 1), "ts", "TIMESTAMP"
	g.why = fmt.Sprintf("%s: %s, in the table of a day", g.why, strings.ToLower(strings.ReplaceAll(function, "_", " ")))
	g.bits -= 5 // only one number in fifty is that small
	return option{segs: []segment{g}, next: o.next}, true
}

// literals returns the literals that begin at the place at: bytes that are equal in all keys.
func (s *search) literals(at []int, least int) []option {
	if alive(at) < 2 {
		return nil
	}
	bs, _, _ := s.slice(at, -1)
	common := 0
	for common < least && !slices.ContainsFunc(bs, func(b []byte) bool { return b[common] != bs[0][common] }) {
		common++
	}
	if common == 0 {
		return nil
	}
	lit := bs[0][:common]
	widths := map[int]bool{}
	if !isAlnum(lit[0]) {
		widths[1] = true
		for n := 1; n < common && lit[n] == lit[0]; n++ {
			widths[n+1] = true
		}
	}
	if alive(at) >= 8 {
		for i := common - 1; i >= 0; i-- {
			if !isAlnum(lit[i]) && lit[i] >= ' ' {
				widths[i+1] = true
				break
			}
		}
		word := 0
		for word < common && isLetter(lit[word]) {
			word++
		}
		if word > 0 && !slices.ContainsFunc(bs, func(b []byte) bool { return len(b) > word && isLetter(b[word]) }) {
			widths[word] = true
		}
	}
	var out []option
	for w := range widths {
		_, next, _ := s.slice(at, w)
		out = append(out, option{segs: []segment{literal(lit[:w], "in every key")}, next: next})
	}
	slices.SortFunc(out, func(a, b option) int { return len(a.segs[0].part) - len(b.segs[0].part) })
	return out
}

func literal(b []byte, why string) segment {
	if isText(b) {
		return segment{part: types.NewString(string(b)).SQL(), why: why, bits: partBits}
	}
	return segment{part: types.NewBytes(string(b)).SQL(), why: why, bits: 3 * partBits}
}

// hiveDelimiter separates the fields of a struct that is a key of Hive's storage handler, unless its table sets another
// byte.
const hiveDelimiter = 2

// delimiters are the bytes that may end texts of any width. A delimiter that is also common inside texts must occur
// equally often in each key.
const delimiters = "\x00|:_-#/,;~\t\x01\x02\x1f\xff@$+= ."

// delimited returns texts that end at a delimiter which every key has.
func (s *search) delimited(at []int) []option {
	var out []option
	for d := range len(delimiters) {
		if o, ok := s.upTo(at, delimiters[d]); ok {
			out = append(out, o)
		}
	}
	return out
}

func (s *search) upTo(at []int, d byte) (option, bool) {
	next := make([]int, len(at))
	var texts, rests [][]byte
	counts := map[int]int{}
	lost, total := 0, alive(at)
	double := true
	for i, p := range at {
		next[i] = -1
		if p < 0 {
			continue
		}
		rest := s.keys[i][p:]
		n := bytes.IndexByte(rest, d)
		if n < 1 || !isText(rest[:n]) {
			if lost++; 20*lost > total {
				return option{}, false
			}
			continue
		}
		texts, rests = append(texts, rest[:n]), append(rests, rest)
		counts[bytes.Count(rest, []byte{d})]++
		next[i] = p + n + 1
		double = double && n+1 < len(rest) && rest[n+1] == d
	}
	even := false
	for _, n := range counts {
		even = even || 20*n >= 19*total
	}
	if !even && strings.IndexByte("_-#/,@$+= .", d) >= 0 && !(d == '/' && domains(texts)) {
		return option{}, false
	}
	if least, most := s.left(next); d == 0 && least == most && (least == 3 || least == 7) {
		return option{}, false // the first byte of a number
	}
	if len(texts) >= 8 && distinctOf(texts) == 1 || d == '.' && (reversedDomains(rests) || domains(rests)) {
		return option{}, false // the function literals finds literals; a name keeps its dots
	}
	end := []byte{d}
	if double && d > ' ' {
		end = append(end, d)
		for i, p := range next {
			if p >= 0 {
				next[i]++
			}
		}
	}
	g := variable(texts, d)
	if even && total > 2 && d != '.' {
		g.bits -= 3
	}
	why := "ends the text before it"
	if d == hiveDelimiter {
		why += ", as in a struct of Hive's"
	}
	delimiter := literal(end, why)
	delimiter.bits = partBits
	return option{segs: []segment{g, delimiter}, next: next}, true
}

// variable returns the segment of texts of any width that end before the byte d, or at the end of the key if d is 0.
func variable(texts [][]byte, d byte) segment {
	g := segment{part: "{} AS TEXT", base: "id", typ: "STRING", bits: textBits(texts, false) + partBits}
	if slices.ContainsFunc(texts, func(b []byte) bool { return len(b) > 0 && b[len(b)-1] == ' ' }) {
		g.bits += 6 // padding ends a text of fixed width
	}
	integers, dashed := d != '-' && !(d >= '0' && d <= '9'), true // dashed: all of them contain a dash
	widths := map[int]bool{}
	for _, b := range texts {
		integers = integers && canonical(string(b))
		dashed = dashed && len(b) > 0 && b[0] == '-'
		widths[len(b)] = true
	}
	g.bits += math.Log2(float64(len(widths))) + 0.5
	what := "text"
	switch {
	case integers && !dashed && len(widths) > 1:
		g.typ, g.base, what = "BIGINT", "n", "decimal numbers of several lengths"
		g.small = !slices.ContainsFunc(texts, func(b []byte) bool { return len(b) > 3 })
	case d != '.' && reversedDomains(texts):
		g.part, g.base, what = "REVERSE({}) AS TEXT", "domain", "domain names written backwards"
	case d != '.' && domains(texts):
		g.part, g.base, what = "REVERSE_DOMAIN({}) AS TEXT", "host", "domain names, their labels from the right"
	case !slices.ContainsFunc(texts, func(b []byte) bool { return !isText(b) }):
		g.small = !slices.ContainsFunc(texts, func(b []byte) bool { return len(b) > 4 || !isHex(b) })
	default:
		g.typ, g.part, what = "BYTES", "{} AS BYTES", "bytes"
		g.bits += 4
	}
	g.why = describe(what, texts)
	return g
}

// maxFixed is the greatest width of a part of fixed width.
const maxFixed = 64

// fixed returns parts of fixed width, up to the beginning of something recognisable.
func (s *search) fixed(at []int, least, most int) []option {
	var out []option
	for w := 1; w <= min(least, maxFixed); w++ {
		bs, next, ok := s.slice(at, w)
		if !ok {
			break
		}
		digest, random := digestOf(bs)
		uuid := w == 16 && !slices.ContainsFunc(bs, func(b []byte) bool { return !versionedUUID(b) })
		end := least == most && w == most
		if !end && !(random && w >= 16) && !uuid && !s.digitsEnd(bs, next) && !s.begins(next) {
			continue
		}
		g := segment{part: fmt.Sprintf("{} AS TEXT(%d)", w), base: "id", typ: "STRING", bits: textBits(bs, true) + partBits}
		allText, allDigits, padded := true, true, false
		for _, b := range bs {
			allText = allText && isText(b) && b[0] != ' '
			allDigits = allDigits && isDigits(b)
			padded = padded || b[len(b)-1] == ' '
		}
		what := "text"
		switch {
		case uuid:
			g.part, g.typ, g.base, what = "{} AS UUID", "UUID", "uuid", "UUIDs in 16 bytes"
			g.bits = min(122-24, dictionary(distinctOf(bs), len(bs), 122-24)) // the version and the variant are correct in each key
		case random:
			g.base, what = "h", digest
			g.lead, g.values = textLead, valuesOf(at, next, s.keys)
			if !allText {
				g.part, g.typ, g.lead = fmt.Sprintf("{} AS BYTES(%d)", w), "BYTES", binaryLead
			}
			if w < 16 {
				g.bits += 6
			}
		case allDigits && !slices.ContainsFunc(bs, func(b []byte) bool { return len(bytes.TrimLeft(b, "0")) > 18 }):
			g.typ, g.base, what = "BIGINT", "n", "digits"
			g.bits = numberBits(bs) + partBits
			if (w > 1 && w <= 12 || w > 18) && !s.digitBefore(at) && !s.digitNext(next) && slices.ContainsFunc(bs, func(b []byte) bool { return b[0] == '0' }) {
				g.bits -= 2.75
				what = "digits, zeros before them"
			}
		case allText && padded:
			what = "text padded with spaces"
			g.bits += 3 * float64(punctuation(bs))
		case allText && w == 36 && isUUID(bs[0]):
			what = "UUIDs"
		case !allText:
			g.part, g.typ, what = fmt.Sprintf("{} AS BYTES(%d)", w), "BYTES", "bytes"
			g.bits += 4 + float64(w)/2
		case end:
			continue // a text up to the end needs no width
		default:
			g.bits += 3 * float64(punctuation(bs))
		}
		g.why = describe(what, bs)
		out = append(out, option{segs: []segment{g}, next: next})
	}
	return out
}

// digitsEnd reports whether all texts are digits, with letters after them in all keys.
func (s *search) digitsEnd(bs [][]byte, next []int) bool {
	after, _, ok := s.slice(next, 1)
	return ok && !slices.ContainsFunc(bs, func(b []byte) bool { return !isDigits(b) }) && !slices.ContainsFunc(after, func(b []byte) bool { return !isLetter(b[0]) })
}

// begins reports whether a recognisable part, such as a time, begins at next.
func (s *search) begins(next []int) bool {
	if len(s.times(next)) > 0 {
		return true
	}
	spaces, ends, zeros, textBefore, total := 0, 0, 0, 0, 0
	for i, p := range next {
		if p < 0 {
			continue
		}
		total++
		key := s.keys[i]
		before := key[p-1]
		if before >= ' ' && before < 0x7f {
			textBefore++
		}
		if before == ' ' {
			spaces++
		}
		if p < len(key) && key[p] == ' ' {
			ends++
		}
		if p < len(key) && (key[p] < ' ' || key[p] >= 0x80) {
			zeros++
		}
	}
	if d, _, ok := s.slice(next, 1); ok && !isAlnum(d[0][0]) && d[0][0] > ' ' && d[0][0] != '.' && distinctOf(d) == 1 {
		return true // a delimiter
	}
	if spaces > 0 && ends == 0 {
		return true // padding ends
	}
	if least, most := s.left(next); least == most && (least == 4 || least == 8) && textBefore == total && !s.printable(next, least) {
		return true // the last bytes are a number or a hash
	}
	if textBefore == total && zeros == total {
		return true // bytes begin after text
	}
	for _, n := range []int{16, 20, 32, 40, 64} {
		if bs, _, ok := s.slice(next, n); ok {
			if _, random := digestOf(bs); random {
				return true
			}
		}
	}
	return false
}

// rest returns one part that holds all remaining bytes.
func (s *search) rest(at []int) []option {
	bs, next, _ := s.slice(at, -1)
	return []option{{segs: []segment{variable(bs, 0)}, next: next}}
}
