package infer

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// leadKind is the kind of a part whose bytes may follow from other columns.
type leadKind uint8

const (
	noLead     leadKind = iota
	textLead            // characters: hex digits, digits, one of a few
	binaryLead          // a number in bytes, or a digest
)

// segment is one part of a key.
type segment struct {
	part   string // with {} for its column
	base   string // what the column is called; "" for none
	column string // its final name
	typ    string
	why    string
	bits   float64 // left to say of it, a key
	lead   leadKind
	// computed reports whether the part follows from others in the sampled keys.
	computed bool
	values   []string // of a lead: its bytes in each key of the search; "" where a key does not fit
}

func (g segment) sql() string {
	if g.column == "" {
		return g.part
	}
	return strings.ReplaceAll(g.part, "{}", parser.QuoteName(g.column))
}

// parse is a way to cut the keys.
type parse struct {
	segs  []segment
	bits  float64
	cells bool            // some part is computed from cells
	same  map[string]bool // cells that hold what a column of the key holds
	day   string          // the column whose day is in the table's name; "" for none
}

func (p parse) compare(o parse) int { return compareFloat(p.bits, o.bits) }
func (p parse) hasCells() bool      { return p.cells }

// opaque reports whether a part has no definition yet.
func (p parse) opaque() bool {
	return slices.ContainsFunc(p.segs, func(g segment) bool { return g.part == "" })
}

// after puts an option's parts before those of p.
func (p parse) after(o option) parse {
	out := parse{segs: append(slices.Clone(o.segs), p.segs...), bits: p.bits}
	for _, g := range o.segs {
		out.bits += g.bits
	}
	return out
}

// with replaces part i by a function of another column.
func (p parse) with(i int, h hypothesis) parse {
	out := parse{segs: slices.Clone(p.segs), bits: p.bits - p.segs[i].bits - h.bonus, cells: p.cells || h.cell, same: p.same, day: p.day}
	out.segs[i] = segment{part: h.part, why: h.why, computed: true}
	return out
}

// named gives the columns their names, none of them taken.
func (p parse) named(taken map[string]bool) parse {
	used := map[string]bool{}
	for i := range p.segs {
		g := &p.segs[i]
		if g.base == "" {
			continue
		}
		g.column = g.base
		for n := 2; used[g.column] || taken[g.column]; n++ {
			g.column = fmt.Sprintf("%s%d", strings.TrimRight(g.base, "0123456789"), n)
		}
		used[g.column] = true
		if strings.Contains(g.part, "_OF_DAY(") {
			p.day = g.column
		}
	}
	return p
}

// option is a way to read the next part or two: next is where each key stands then, -1 for one that does not fit.
type option struct {
	segs []segment
	next []int
	// Of numbers and points in time: from the first to the last in the form's unit, the
	// last itself, on how many days, in how many hours of the day.
	spread, most int64
	step         int64 // what all differences are multiples of
	days, hours  int
}

// search finds the best ways to cut keys; where all keys stand decides the rest.
type search struct {
	keys    [][]byte
	daily   bool // the table holds one day: keys may hold times of the day
	tails   map[string][]parse
	moments map[string][]option
}

func newSearch(rows []hbase.Row) *search {
	s := &search{tails: map[string][]parse{}, moments: map[string][]option{}}
	step := max(1, (len(rows)+searchKeys-1)/searchKeys)
	for i := 0; i < len(rows); i += step {
		s.keys = append(s.keys, rows[i].Key)
	}
	return s
}

// place is a map key for where the keys stand.
func place(at []int) string {
	b := make([]byte, 0, 2*len(at))
	for _, n := range at {
		b = append(b, byte(n>>8), byte(n))
	}
	return string(b)
}

// maxPlaces bounds the search on keys made to explode it.
const maxPlaces = 300

// parse gives the best ways to cut what is left of the keys.
func (s *search) parse(at []int) []parse {
	id := place(at)
	if known, ok := s.tails[id]; ok {
		return known
	}
	if _, most := s.left(at); most == 0 {
		return []parse{{}}
	}
	s.tails[id] = nil
	var out, others []parse // the best with each next part, and the rest
	for _, o := range s.options(at, len(s.tails) > maxPlaces) {
		for i, tail := range s.parse(o.next) {
			if i == 0 {
				out = append(out, tail.after(o))
			} else {
				others = append(others, tail.after(o))
			}
		}
	}
	slices.SortStableFunc(out, parse.compare)
	slices.SortStableFunc(others, parse.compare)
	out = append(out[:min(len(out), keepTails)], others[:min(len(others), keepTails/2)]...)
	slices.SortStableFunc(out, parse.compare)
	s.tails[id] = out
	return out
}

// left gives the least and the most bytes left in a key.
func (s *search) left(at []int) (least, most int) {
	least = math.MaxInt
	for i, n := range at {
		if n >= 0 {
			least, most = min(least, len(s.keys[i])-n), max(most, len(s.keys[i])-n)
		}
	}
	return least, most
}

// alive counts the keys that fit so far.
func alive(at []int) int {
	n := 0
	for _, p := range at {
		if p >= 0 {
			n++
		}
	}
	return n
}

// slice gives the next w bytes of each key that fits, w < 0 all that is left, and where the keys stand
// then. Keys too short are given up; ok is false when these are more than one in twenty.
func (s *search) slice(at []int, w int) (bs [][]byte, next []int, ok bool) {
	next = make([]int, len(at))
	lost := 0
	for i, p := range at {
		next[i] = -1
		if p < 0 {
			continue
		}
		rest := s.keys[i][p:]
		if len(rest) < w {
			lost++
			continue
		}
		if w >= 0 {
			rest = rest[:w]
		}
		bs = append(bs, rest)
		next[i] = p + len(rest)
	}
	return bs, next, len(bs) > 0 && 20*lost <= len(at)
}

// form reads the next bytes as f does, where accept takes the value. Keys that do not fit are given
// up; ok is false when these are more than one in twenty.
func (s *search) form(f *form, at []int, accept func(n int64) bool) (o option, distinct int, ok bool) {
	o.next = make([]int, len(at))
	var ns []int64
	lost, total := 0, alive(at)
	for i, p := range at {
		o.next[i] = -1
		if p < 0 {
			continue
		}
		n, good := f.decode(s.keys[i][p:])
		if !good || !accept(n) {
			if lost++; 20*lost > total {
				return o, 0, false
			}
			continue
		}
		ns = append(ns, n)
		o.next[i] = p + f.width
	}
	lo, hi := slices.Min(ns), slices.Max(ns)
	var g int64
	for _, n := range ns {
		g = gcd(g, n-lo)
	}
	set, days, hours := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	for _, n := range ns {
		set[n] = true
		days[n/types.MillisPerDay] = true
		hours[n%types.MillisPerDay/3_600_000] = true
	}
	o.spread, o.most, o.step, o.days, o.hours = hi-lo, hi, g, len(days), len(hours)
	bits := rangeBits(0, (hi-lo)/max(g, 1))
	bits = min(bits, dictionary(len(set), len(ns), bits))
	why := fmt.Sprintf("%s: %s to %s", f.what, f.value(lo), f.value(hi))
	if lo == hi {
		why = fmt.Sprintf("%s: always %s", f.what, f.value(lo))
	}
	o.segs = []segment{{part: f.over("{}"), base: f.base, typ: f.typ, why: why, bits: bits + partBits}}
	return o, len(set), true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// partBits is what one more part costs a key.
const partBits = 1

// dictionary is what a value costs that is one of few, each said once.
func dictionary(distinct, n int, each float64) float64 {
	return math.Log2(float64(distinct)) + float64(distinct)*(each+4)/float64(n)
}

// times are the points in time that can stand next.
func (s *search) times(at []int) []option {
	id := place(at)
	if known, ok := s.moments[id]; ok {
		return known
	}
	var out []option
	for _, f := range moments() {
		o, distinct, ok := s.form(f, at, f.moment)
		if !ok || f.width == 4 && (s.looksText(at, 0) || o.spread < 86_400_000) || inSeconds(f) && s.looksText(at, 4) {
			continue
		}
		if (o.days > 2 && o.hours == 1 || o.days > 10 && o.hours < 10) && strings.Contains(f.part, "HH") {
			continue // always the same hours of the day: digits of something else
		}
		if isEpoch := f.text && !strings.Contains(f.part, "'"); isEpoch && s.digitNext(o.next) {
			o.segs[0].bits += 6 // the beginning of a longer number, rather
		}
		if distinct == 1 {
			o.segs[0].bits -= f.prior / 4
		} else {
			o.segs[0].bits -= f.prior
		}
		out = append(out, o)
	}
	s.moments[id] = out
	return out
}

// digitNext reports whether a digit stands at nearly every place.
func (s *search) digitNext(at []int) bool {
	n := 0
	for i, p := range at {
		if p >= 0 && p < len(s.keys[i]) && isDigits(s.keys[i][p:p+1]) {
			n++
		}
	}
	return 20*n >= 19*alive(at)
}

// digitBefore reports whether a digit stands before some place.
func (s *search) digitBefore(at []int) bool {
	for i, p := range at {
		if p > 0 && isDigits(s.keys[i][p-1:p]) {
			return true
		}
	}
	return false
}

// printable reports whether the next w bytes are characters in more than one key of four.
func (s *search) printable(at []int, w int) bool {
	n, total := 0, 0
	for i, p := range at {
		if p < 0 {
			continue
		}
		total++
		if isText(s.keys[i][p:min(len(s.keys[i]), p+w)]) {
			n++
		}
	}
	return 4*n > total
}

// inSeconds reports whether f is a number of seconds in 8 bytes: the first four are always zero, or all ones.
func inSeconds(f *form) bool { return f.width == 8 && strings.Contains(f.part, "/ 1000") }

// looksText reports whether the 4 bytes after skip others are rather characters: of a number of seconds the last
// two are anything, and the first two are letters in our time.
func (s *search) looksText(at []int, skip int) bool {
	n, total := 0, 0
	for i, p := range at {
		if p += skip; p < skip || p+4 > len(s.keys[i]) {
			continue
		}
		for _, c := range s.keys[i][p+2 : p+4] {
			total++
			if c >= ' ' && c < 0x7f {
				n++
			}
		}
	}
	return 4*n > 3*total
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

// options are the parts that can stand next; with last, only one that takes all.
func (s *search) options(at []int, last bool) []option {
	least, most := s.left(at)
	var out []option
	if !last {
		out = append(out, s.times(at)...)
		out = append(out, s.integers(at)...)
		out = append(out, s.literals(at, least, most)...)
		out = append(out, s.delimited(at)...)
		out = append(out, s.counted(at)...)
		out = append(out, s.fixed(at, least, most)...)
	}
	return append(out, s.rest(at)...)
}

// integers are numbers in bytes.
func (s *search) integers(at []int) []option {
	var out []option
	for _, f := range numbers() {
		if s.printable(at, f.width) {
			continue
		}
		sane := func(n int64) bool { return f.width < 8 || n > -1<<40 && n < 1<<40 }
		if strings.HasPrefix(f.part, "c AS UINT") {
			sane = func(int64) bool { return true }
		} else if f.width == 4 {
			sane = func(n int64) bool { return n > -1<<24 && (n < 1<<24 || f.part == "c AS ORDERED INT32") }
		}
		if o, _, ok := s.form(f, at, sane); ok {
			switch f.part {
			case "c AS UINT24":
				o.segs[0].bits += 0.9 // less common than one byte and two
			case "c AS INT32":
				if o.most-o.spread >= 0 {
					continue // UINT32 says the same
				}
			case "c AS ORDERED INT32":
				o.segs[0].bits -= 0.8 // as unsigned numbers they would all lie in the upper half, or about its beginning
			}
			if t, ok := timeOfDay(f, o); ok && s.daily {
				out = append(out, t)
			}
			switch {
			case o.step > 1 && o.step%256 == 0:
				o.segs[0].bits += 2 // a constant byte of the next part, rather
			case o.step > 1:
				o.segs[0].bits += 0.5
			}
			out = append(out, o)
		}
	}
	return out
}

// timeOfDay reads numbers that fill a day as milliseconds or minutes of the day that
// the table's name has.
func timeOfDay(f *form, o option) (option, bool) {
	function, most := "", int64(0)
	switch f.part {
	case "c AS UINT32":
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
	g.bits -= 5 // one number in fifty is that small
	return option{segs: []segment{g}, next: o.next}, true
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// literals are bytes that all keys have here.
func (s *search) literals(at []int, least, most int) []option {
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

// delimiters end texts of any width; those in common use inside texts must be equally many in each key.
const delimiters = "\x00|:_-#/,;~\t\x01\x02\x1f@$+= ."

// delimited are texts up to a byte that stands in every key.
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
	if !even && strings.IndexByte("_-#/,@$+= .", d) >= 0 {
		return option{}, false
	}
	if len(texts) >= 8 && distinctOf(texts) == 1 || d == '.' && reversedDomains(rests) {
		return option{}, false // literals are looked for elsewhere; a name keeps its dots
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
	delimiter := literal(end, "ends the text before it")
	delimiter.bits = partBits
	return option{segs: []segment{g, delimiter}, next: next}, true
}

// variable is a text of any width, d being the byte after it (0 for none).
func variable(texts [][]byte, d byte) segment {
	g := segment{part: "{} AS TEXT", base: "id", typ: "STRING", bits: textBits(texts, false) + partBits}
	if slices.ContainsFunc(texts, func(b []byte) bool { return len(b) > 0 && b[len(b)-1] == ' ' }) {
		g.bits += 6 // padding ends a text of fixed width
	}
	integers := d != '-' && !(d >= '0' && d <= '9')
	widths := map[int]bool{}
	for _, b := range texts {
		integers = integers && canonical(b)
		widths[len(b)] = true
	}
	g.bits += math.Log2(float64(len(widths))) + 0.5
	what := "text"
	switch {
	case integers && len(widths) > 1:
		g.typ, g.base, what = "BIGINT", "n", "decimal numbers of several lengths"
	case d != '.' && reversedDomains(texts):
		g.part, g.base, what = "REVERSE({}) AS TEXT", "domain", "domain names written backwards"
	case !slices.ContainsFunc(texts, func(b []byte) bool { return !isText(b) }):
	default:
		g.typ, g.part, what = "BYTES", "{} AS BYTES", "bytes"
	}
	g.why = describe(what, texts)
	return g
}

// canonical reports whether b is a decimal number without leading zeros that a BIGINT holds.
func canonical(b []byte) bool {
	if len(b) == 0 || len(b) > 18 || b[0] == '0' && len(b) > 1 {
		return false
	}
	return isDigits(b)
}

func isDigits(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < '0' || c > '9' })
}

// reversedDomains reports whether most texts begin as a domain name written backwards does.
func reversedDomains(texts [][]byte) bool {
	n := 0
	for _, b := range texts {
		if reversedDomain(b) {
			n++
		}
	}
	return 2*n > len(texts)
}

func reversedDomain(b []byte) bool {
	for _, tld := range []string{"moc.", "gro.", "ten.", "ude.", "vog.", "oi.", "nc.", "ed.", "ku.", "pj.", "rf.", "vt.", "ppa.", "ved."} {
		if bytes.HasPrefix(b, []byte(tld)) {
			return true
		}
	}
	return false
}

// describe says what values a part has.
func describe(what string, bs [][]byte) string {
	widths, values := map[int]bool{}, map[string]bool{}
	lo, hi := math.MaxInt, 0
	first, last := bs[0], bs[0]
	for _, b := range bs {
		widths[len(b)], values[string(b)] = true, true
		lo, hi = min(lo, len(b)), max(hi, len(b))
		if bytes.Compare(b, first) < 0 {
			first = b
		}
		if bytes.Compare(b, last) > 0 {
			last = b
		}
	}
	size := fmt.Sprintf("%d to %d bytes", lo, hi)
	if lo == hi {
		size = fmt.Sprintf("%d bytes", lo)
	}
	show := func(b []byte) string {
		if len(b) > 40 {
			b = b[:40]
		}
		if isText(b) {
			return types.NewString(string(b)).SQL()
		}
		return types.NewBytes(string(b)).SQL()
	}
	if len(values) == 1 {
		return fmt.Sprintf("%s, %s, always %s", what, size, show(first))
	}
	return fmt.Sprintf("%s, %s, %d values in %d keys: %s to %s", what, size, len(values), len(bs), show(first), show(last))
}

// textBits is the entropy of a text's bytes, a text; by position for texts of one width.
func textBits(texts [][]byte, byPosition bool) float64 {
	var all [256]int
	total := 0
	values := map[string]bool{}
	for _, b := range texts {
		values[string(b)] = true
		total += len(b)
		for _, c := range b {
			all[c]++
		}
	}
	bits := entropy(all[:], total) * float64(total) / float64(len(texts))
	if byPosition {
		sum := 0.0
		for i := range texts[0] {
			var here [256]int
			for _, b := range texts {
				here[b[i]]++
			}
			sum += entropy(here[:], len(texts))
		}
		bits = min(bits, sum)
	}
	return min(bits, dictionary(len(values), len(texts), bits))
}

// numberBits is what numbers written in digits cost, as for numbers in bytes.
func numberBits(bs [][]byte) float64 {
	lo, hi := int64(math.MaxInt64), int64(0)
	values := map[int64]bool{}
	for _, b := range bs {
		n, _ := strconv.ParseInt(string(b), 10, 64)
		lo, hi, values[n] = min(lo, n), max(hi, n), true
	}
	bits := rangeBits(lo, hi)
	return min(bits, dictionary(len(values), len(bs), bits))
}

func entropy(counts []int, total int) float64 {
	h := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(total)
			h -= p * math.Log2(p)
		}
	}
	return h
}

// maxFixed is the widest part of fixed width that is looked for.
const maxFixed = 64

// fixed are parts of fixed width, up to where something recognisable begins.
func (s *search) fixed(at []int, least, most int) []option {
	var out []option
	for w := 1; w <= min(least, maxFixed); w++ {
		bs, next, ok := s.slice(at, w)
		if !ok {
			break
		}
		digest, random := digestOf(bs)
		end := least == most && w == most
		if !end && !random && !s.begins(at, next, w) {
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
		case random:
			g.base, what = "h", digest
			g.lead, g.values = textLead, valuesOf(at, next, s.keys)
			if !allText {
				g.part, g.typ, g.lead = fmt.Sprintf("{} AS BYTES(%d)", w), "BYTES", binaryLead
			}
		case allDigits && w <= 18:
			g.typ, g.base, what = "BIGINT", "n", "digits"
			g.bits = numberBits(bs) + partBits
			if w > 1 && w <= 12 && !s.digitBefore(at) && !s.digitNext(next) && slices.ContainsFunc(bs, func(b []byte) bool { return b[0] == '0' }) {
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
			continue // text to the end needs no width
		default:
			g.bits += 3 * float64(punctuation(bs))
		}
		g.why = describe(what, bs)
		out = append(out, option{segs: []segment{g}, next: next})
	}
	return out
}

// punctuation counts the places that always hold the same character, no letter or digit: a delimiter.
func punctuation(bs [][]byte) int {
	n := 0
	for i, c := range bs[0] {
		if !isAlnum(c) && c != ' ' && !slices.ContainsFunc(bs, func(b []byte) bool { return b[i] != c }) {
			n++
		}
	}
	return n
}

func isUUID(b []byte) bool {
	return len(b) == 36 && b[8] == '-' && b[13] == '-' && b[18] == '-' && b[23] == '-'
}

// valuesOf gives the bytes between two places in each key, "" where a key does not fit.
func valuesOf(at, next []int, keys [][]byte) []string {
	out := make([]string, len(at))
	for i := range at {
		if next[i] >= 0 {
			out[i] = string(keys[i][at[i]:next[i]])
		}
	}
	return out
}

var digests = map[int]string{16: "MD5", 20: "SHA-1", 32: "SHA-256"}

// digestOf names the digest that bs look like: they have its width, and no byte or digit is rare.
func digestOf(bs [][]byte) (string, bool) {
	w := len(bs[0])
	values := map[string]bool{}
	for _, b := range bs {
		values[string(b)] = true
	}
	if name := digests[w/2]; w%2 == 0 && name != "" && !slices.ContainsFunc(bs, func(b []byte) bool { return !isHex(b) }) {
		if textBits(bs, false) > 0 && letters(bs) {
			return fmt.Sprintf("%d hex digits, as an %s has", w, name), true
		}
	}
	if name := digests[w]; name != "" {
		high, total := 0, 0
		for v := range values {
			for i := range len(v) {
				total++
				if v[i] >= 0x80 {
					high++
				}
			}
		}
		if 10*high > 3*total && 10*high < 7*total && !mostlyText(bs) {
			return fmt.Sprintf("%d bytes that look random, as an %s has", w, name), true
		}
	}
	return "", false
}

// mostlyText reports whether bs are mostly UTF-8 text, which has high bytes too.
func mostlyText(bs [][]byte) bool {
	n := 0
	for _, b := range bs {
		if isText(b) {
			n++
		}
	}
	return 2*n > len(bs)
}

// letters reports whether hex digits hold letters and digits: numbers alone would not be hex.
func letters(bs [][]byte) bool {
	n := 0
	for _, b := range bs {
		if !isDigits(b) && bytes.ContainsAny(b, "0123456789") {
			n++
		}
	}
	if len(bs) >= 16 { // each digit is a letter in some key, but for a version in it
		never := 0
		for i := range bs[0] {
			if !slices.ContainsFunc(bs, func(b []byte) bool { return b[i] > '9' }) {
				never++
			}
		}
		if never > 2 {
			return false
		}
	}
	return 10*n >= 9*len(bs)
}

// isHex reports whether b is hex digits of one case.
func isHex(b []byte) bool { return isHexCase(b, 'a') || isHexCase(b, 'A') }

func isHexCase(b []byte, a byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return !(c >= '0' && c <= '9' || c >= a && c <= a+5) })
}

// begins reports whether something recognisable begins at next, w bytes after at.
func (s *search) begins(at, next []int, w int) bool {
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

// rest is one part with all that is left.
func (s *search) rest(at []int) []option {
	bs, next, _ := s.slice(at, -1)
	return []option{{segs: []segment{variable(bs, 0)}, next: next}}
}
