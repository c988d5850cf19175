package infer

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	base   string // the column's preferred name; "" for no column
	column string // its final name
	typ    string
	why    string
	bits   float64 // the cost of the part for each key
	lead   leadKind
	// delimited reports whether a literal ends the lead.
	delimited bool
	small     bool // numbers of few digits, without zeros before them
	// computed is set if the part follows from other parts in the sampled keys.
	computed bool
	values   []string // of a lead: its bytes in each key of the search; "" where a key does not fit
}

func (g segment) sql() string {
	if g.column == "" {
		return g.part
	}
	return strings.ReplaceAll(g.part, "{}", parser.QuoteName(g.column))
}

// parse is a way to divide the keys.
type parse struct {
	segs  []segment
	bits  float64
	cells bool            // a part is computed from cells
	same  map[string]bool // cells with the same values as a column of the key
	day   string          // the column whose day is in the table's name; "" for none
}

func (p parse) compare(o parse) int { return compareFloat(p.bits, o.bits) }
func (p parse) hasCells() bool      { return p.cells }

// opaque reports whether a part has no definition yet.
func (p parse) opaque() bool {
	return slices.ContainsFunc(p.segs, func(g segment) bool { return g.part == "" })
}

// after returns p with the parts of o in front of its own parts.
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

// named gives the columns names that are not taken.
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

// option is a way to read the next part or two. next is the place after these parts.
type option struct {
	segs []segment
	next []int
	// For numbers and points in time, in the form's unit: spread is the greatest value less the smallest, most the greatest.
	// days and hours count the different days, and the different hours of the day.
	spread, most int64
	step         int64 // the common divisor of all differences
	days, hours  int
	form         *form // of a number or a point in time
}

// search finds the best ways to divide keys. A place is an offset in each key, at which a part begins or ends; -1 marks
// a key that does not fit. search caches the ways to divide the rest of the keys by the place at which it begins.
type search struct {
	keys    [][]byte
	daily   bool // the table holds one day: keys may hold times of the day
	tails   map[string][]parse
	moments map[string][]option
	believed
}

func newSearch(rows []hbase.Row) *search {
	s := &search{tails: map[string][]parse{}, moments: map[string][]option{}, believed: believedOf(rows)}
	step := max(1, (len(rows)+searchKeys-1)/searchKeys)
	for i := 0; i < len(rows); i += step {
		s.keys = append(s.keys, rows[i].Key)
	}
	return s
}

// place returns the offsets of a place as a map key.
func place(at []int) string {
	b := make([]byte, 0, 2*len(at))
	for _, n := range at {
		b = append(b, byte(n>>8), byte(n))
	}
	return string(b)
}

// maxPlaces bounds the number of places that the search looks at; some keys would give it far too many.
const maxPlaces = 300

// parse returns the best ways to divide the rest of the keys.
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

// left returns the least and the greatest number of bytes that are left to read in the keys that still fit. at[i] is the
// place in key i, or negative if the key no longer fits.
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

// slice returns the next w bytes of each key that fits, or all remaining bytes if w < 0, and the places after them.
// Keys that are too short no longer fit; ok is false if they are more than one in twenty.
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

// form reads the next bytes with f; accept decides about each value. Keys with other values no longer fit; ok is false
// if they are more than one in twenty.
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
	if len(ns) == 0 {
		return o, 0, false
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
	o.form = f
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

// partBits is the cost in bits of each further part of a key.
const partBits = 1

// dictionary returns the cost in bits of a value that is one of few distinct values. Each distinct value is written
// once, for each bits; n is the number of values.
func dictionary(distinct, n int, each float64) float64 {
	return math.Log2(float64(distinct)) + float64(distinct)*(each+4)/float64(n)
}

// times returns the points in time that may come next.
func (s *search) times(at []int) []option {
	id := place(at)
	if known, ok := s.moments[id]; ok {
		return known
	}
	var out []option
	for _, f := range moments() {
		o, distinct, ok := s.form(f, at, func(n int64) bool { return f.moment(s.believed, n) })
		if !ok || f.width == 4 && (s.looksText(at, 0) || o.spread < types.MillisPerDay && (distinct < 30 || !strings.HasPrefix(f.part, "c "))) || inSeconds(f) && s.looksText(at, 4) {
			continue
		}
		if (o.days > 2 && o.hours == 1 || o.days > 10 && o.hours < 10) && strings.Contains(f.pattern, "HH") {
			continue // always the same hours of the day: digits of something else
		}
		unit, round := int64(1), int64(1000)
		if f.seconds {
			unit, round = 1000, types.MillisPerDay
		}
		if distinct > 3 && !f.text && o.step/unit%256 == 0 && o.step%round != 0 {
			continue // the last byte is constant, but not because of even times: it begins the next part
		}
		if isEpoch := f.text && f.pattern == ""; isEpoch && s.digitNext(o.next) {
			o.segs[0].bits += 6 // more likely the beginning of a longer number
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

// digitNext reports whether a digit is next in nearly every key.
func (s *search) digitNext(at []int) bool {
	n := 0
	for i, p := range at {
		if p >= 0 && p < len(s.keys[i]) && isDigits(s.keys[i][p:p+1]) {
			n++
		}
	}
	return 20*n >= 19*alive(at)
}

// digitBefore reports whether a digit precedes the place in some key.
func (s *search) digitBefore(at []int) bool {
	for i, p := range at {
		if p > 0 && isDigits(s.keys[i][p-1:p]) {
			return true
		}
	}
	return false
}

// options returns the parts that may come next; with last, only those that take the rest of the key.
func (s *search) options(at []int, last bool) []option {
	least, most := s.left(at)
	var out []option
	if !last {
		out = append(out, s.times(at)...)
		out = append(out, s.integers(at)...)
		out = append(out, s.literals(at, least)...)
		out = append(out, s.delimited(at)...)
		out = append(out, s.counted(at)...)
		out = append(out, s.beforeTail(at, least, most)...)
		out = append(out, s.fixed(at, least, most)...)
	}
	return append(out, s.rest(at)...)
}
