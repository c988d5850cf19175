package solve

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/hql-db/hql/types"
)

// The functions in this file find the texts that are read as a value in a set: as a day, a moment or a UUID. A value
// has many texts: 2026-01-05, 2026-1-5, 20260105. The search goes through texts character by character, and follows the
// usual text of a value further than its other texts.

// reading describes how texts are read.
type reading struct {
	// begun returns a set that contains the values of all texts that begin with p; it is empty if no such text can be
	// read. more reports whether the characters after p matter.
	begun func(p string) (values types.Set, more bool)
	whole func(s string) (types.Value, error) // the value of the text s
	usual func(v types.Value) []string        // the usual texts of v; the i-th one sorts before the i-th one of a greater value
	chars string                              // characters to try one by one, ascending; "!" stands for all others
	most  int                                 // number of characters to follow
	slack int64                               // milliseconds by which a value may differ from its usual texts, because of time zones
}

// fewTexts bounds the number of intervals of texts for one interval of values.
const fewTexts = 32

// texts returns a set that contains all texts that r reads as a value in out. It may contain other texts, too.
func (r *reading) texts(out types.Set) types.Set {
	if len(out) > fewTexts {
		out = types.SetOf(types.Interval{Lo: out[0].Lo, LoOpen: out[0].LoOpen, Hi: out[len(out)-1].Hi, HiOpen: out[len(out)-1].HiOpen})
	}
	var all types.Set
	for i := range out {
		s := textSearch{reading: r, out: out[i : i+1], lo: []string{""}, hi: []string{"\xff"}}
		if lo := out[i].Lo; !lo.IsNull() {
			s.lo = r.usual(r.moved(lo, -r.slack))
		}
		if hi := out[i].Hi; !hi.IsNull() {
			s.hi = r.usual(r.moved(hi, r.slack))
		}
		found := types.All()
		for s.unusual = 2; s.unusual >= 0 && (found.IsAll() || len(found) > fewTexts); s.unusual-- {
			s.found, s.steps = nil, 0
			s.from("", 0)
			found = types.SetOf(s.found...)
		}
		all = append(all, found...)
	}
	return types.SetOf(all...)
}

func (r *reading) moved(v types.Value, by int64) types.Value {
	if by == 0 {
		return v
	}
	return types.NewIntOf(v.Type(), types.AddClamp(v.Int(), by))
}

// textSearch searches the texts of one interval of values, whose usual texts are from lo to hi.
type textSearch struct {
	*reading
	out            types.Set
	lo, hi         []string
	unusual, steps int // the greatest number of characters to follow that are not in a usual text
	found          []types.Interval
}

// from adds texts that begin with p to found. unusual is the number of characters at the end of p that are in no usual
// text.
func (s *textSearch) from(p string, unusual int) {
	values, more := s.begun(p)
	if values.Intersect(s.out).IsEmpty() {
		return
	}
	n, usual := len(p), false
	for i := range max(len(s.lo), len(s.hi)) {
		lo, hi := s.lo[i%len(s.lo)], s.hi[i%len(s.hi)]
		lo, hi = lo[:min(n, len(lo))], hi[:min(n, len(hi))]
		usual = usual || lo <= p && p <= hi
		more = more && !(lo < p && p < hi) // they are usual texts of values in the interval
	}
	if !usual {
		unusual++
		more = more && n > 1 && p[n-1] != ' '
	}
	if s.steps++; !more || n >= s.most || unusual > s.unusual || s.steps > MaxListed || values.SubsetOf(s.out) {
		s.found = append(s.found, types.PrefixInterval(types.String, p))
		return
	}
	if _, err := s.whole(p); err == nil {
		s.found = append(s.found, types.Point(types.NewString(p)))
	}
	others, _ := s.begun(p + "!")
	gap := types.PrefixInterval(types.String, p)
	for i := range s.chars {
		next := types.PrefixInterval(types.String, p+s.chars[i:i+1])
		if !others.Intersect(s.out).IsEmpty() {
			s.found = append(s.found, types.Interval{Lo: gap.Lo, Hi: next.Lo, HiOpen: true})
		}
		gap.Lo = next.Hi
		s.from(p+s.chars[i:i+1], unusual)
	}
	if !others.Intersect(s.out).IsEmpty() {
		s.found = append(s.found, gap)
	}
}

// Digits is a number in a text that gives a moment.
type Digits struct {
	Unit        int    // 0 to 5: year, month, day, hour, minute, second
	Before      string // the characters before it; with Loose, as many characters except letters and digits, or none, and spaces
	Loose       bool
	Least, Most int // numbers of digits
}

const dayOfYear = 6

// dating describes texts that give a moment by numbers, from the year on. Units that a text does not give may have any
// value from low to high.
type dating struct {
	numbers   []Digits
	low, high [7]int // year, month, day, hour, minute, second, day of the year
}

// begun returns the moments that texts with the beginning p can give. more reports whether the characters after p
// matter.
func (d dating) begun(p string) (found []stretch, more bool) {
	add := func(unit, from, to int) {
		if from, to = max(from, d.low[unit]), min(to, d.high[unit]); from <= to {
			of := d
			of.low[unit], of.high[unit] = from, to
			found = append(found, of.moments())
		}
	}
	for _, n := range d.numbers {
		for i := range n.Before {
			switch {
			case p == "" && !n.Loose, p != "" && p[0] == n.Before[i], n.Loose && p != "" && isSeparator(p[0]):
				p = p[min(1, len(p)):]
			case !n.Loose:
				return nil, false
			}
		}
		if n.Loose {
			p = strings.TrimLeft(p, " ")
		}
		digits := 0
		for digits < min(len(p), n.Most) && p[digits] >= '0' && p[digits] <= '9' {
			digits++
		}
		value, _ := strconv.Atoi(p[:digits])
		if p = p[digits:]; p == "" && digits < n.Most {
			for more := max(n.Least-digits, 0); more <= n.Most-digits; more++ {
				scale := int(math.Pow10(more))
				add(n.Unit, value*scale, value*scale+scale-1)
			}
			return found, true
		}
		if digits < max(n.Least, 1) || value < d.low[n.Unit] || value > d.high[n.Unit] {
			return nil, false
		}
		d.low[n.Unit], d.high[n.Unit] = value, value
	}
	return []stretch{d.moments()}, false
}

func isSeparator(b byte) bool {
	return b >= 0x80 || !unicode.IsLetter(rune(b)) && !unicode.IsDigit(rune(b))
}

// moments returns the first and the last moment, in milliseconds since 1970, of the dates whose units lie between d.low
// and d.high.
func (d *dating) moments() stretch {
	at := func(of [7]int, last bool) int64 {
		day := of[2]
		if last {
			day = min(day, time.Date(of[0], time.Month(of[1])+1, 0, 0, 0, 0, 0, time.UTC).Day())
		}
		if t := time.Date(of[0], time.Month(of[1]), day+of[dayOfYear]-1, of[3], of[4], of[5], 0, time.UTC); t.Year() == of[0] || !last {
			return t.UnixMilli()
		}
		return time.Date(of[0], 12, 31, of[3], of[4], of[5], 0, time.UTC).UnixMilli()
	}
	return stretch{at(d.low, false), at(d.high, true) + 999}
}

// spaces has the bytes with which a white-space character can begin. TO_DATE skips fewer of them.
const spaces = "\t\n\v\f\r \xc2\xe1\xe2\xe3"

// datesAs returns reading.begun for texts that any of ds describes: their moments as values of type t, and always the
// values in also. Each moment may be wrong by slack milliseconds, because of time zones.
func datesAs(t types.Type, slack int64, also types.Set, ds ...dating) func(p string) (types.Set, bool) {
	return func(p string) (types.Set, bool) {
		values, more := slices.Clone(also), false
		if p != "" && strings.IndexByte(spaces, p[0]) >= 0 {
			return types.All(), false
		}
		for _, d := range ds {
			found, on := d.begun(p)
			more = more || on
			for _, s := range found {
				values = append(values, types.Interval{Lo: MomentAs(t, s.lo-slack), Hi: MomentAs(t, s.hi+slack)})
			}
		}
		return types.SetOf(values...), more
	}
}

// isoReading describes how a cast to t reads texts: 2026-01-05, 20260105, 9260105 or 2026-005, and a time of the day.
func isoReading(t types.Type) *reading {
	first := dating{low: [7]int{0, 1, 1, 0, 0, 0, 1}, high: [7]int{294276, 12, 31, 23, 59, 59, 1}}
	like := func(ns ...Digits) dating {
		d := first
		if d.numbers = ns; ns[1].Unit == dayOfYear {
			d.high[1], d.high[2], d.high[dayOfYear] = 1, 1, 366
		}
		return d
	}
	year := Digits{Least: 4, Most: 9}
	slack := int64(0)
	if t == types.Timestamp {
		slack = 16 * 3_600_000
	}
	ancient := types.SetOf(types.Interval{Hi: MomentAs(t, -719_000*types.MillisPerDay)}) // with a sign, or BC at the end
	begun := datesAs(t, slack, ancient,
		like(year, Digits{Unit: 1, Before: "-", Least: 1, Most: 2}, Digits{Unit: 2, Before: "-", Least: 1, Most: 2}),
		like(year, Digits{Unit: dayOfYear, Before: "-", Least: 3, Most: 3}),
		like(Digits{Least: 4, Most: 4}, Digits{Unit: 1, Least: 2, Most: 2}, Digits{Unit: 2, Least: 2, Most: 2}),
		like(Digits{Least: 3, Most: 3}, Digits{Unit: 1, Least: 2, Most: 2}, Digits{Unit: 2, Least: 2, Most: 2}))
	return &reading{begun, readAs(t), usualDays, spaces[:6] + "-0123456789" + spaces[6:], 40, slack}
}

func readAs(t types.Type) func(s string) (types.Value, error) {
	return func(s string) (types.Value, error) { return types.Cast(types.NewString(s), t, time.UTC) }
}

// uuidReading describes how a cast to UUID reads texts: 32 hexadecimal digits, also with hyphens and braces.
var uuidReading = &reading{func(p string) (types.Set, bool) {
	p = strings.TrimPrefix(p, "{")
	digits := ""
	for i := range len(p) {
		switch {
		case p[i] != '-':
			digits += p[i : i+1]
		case digits == "" || len(digits)%4 > 0 || p[i-1] == '-':
			return nil, false
		}
	}
	more := max(32-len(digits), 0)
	least, err := hex.DecodeString(digits + strings.Repeat("0", more))
	if err != nil {
		return nil, false
	}
	most, _ := hex.DecodeString(digits + strings.Repeat("f", more))
	return types.SetOf(types.Interval{Lo: types.NewUUID(string(least)), Hi: types.NewUUID(string(most))}), more > 0
}, readAs(types.UUID), func(v types.Value) []string {
	s := v.String()
	return []string{s, strings.ToUpper(s), strings.ReplaceAll(s, "-", "")}
}, "-0123456789ABCDEFabcdef{", 8, 0}

// usualDays returns the texts of the day of v, a DATE or TIMESTAMP, with and without hyphens.
func usualDays(v types.Value) []string {
	ms := v.Int()
	if v.Type() == types.Date {
		ms *= types.MillisPerDay
	}
	t := time.UnixMilli(ms).UTC()
	return []string{t.Format("2006-01-02"), t.Format("20060102")}
}

// ascending returns the characters of s in order, each once.
func ascending(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(slices.Compact(b))
}

// MomentFormat describes texts that give a moment by numbers, from the year on.
type MomentFormat struct {
	Numbers    []Digits
	Separators string                              // characters that may be between the numbers
	Read       func(s string) (types.Value, error) // its error says that a text is not of the format
	Usual      func(v types.Value) []string        // the usual texts of v: each sorts before those of greater values
}

// Texts returns texts, among which are those that f reads as a value of t, DATE or TIMESTAMP, in out.
func (f *MomentFormat) Texts(t types.Type, out types.Set) types.Set {
	d := dating{numbers: f.Numbers, low: [7]int{1, 1, 1, 0, 0, 0, 1}, high: [7]int{9999, 1, 1, 0, 0, 0, 1}}
	most := [...]int{9999, 12, 31, 23, 59, 59}
	for _, n := range f.Numbers {
		d.high[n.Unit] = most[n.Unit]
	}
	r := reading{datesAs(t, 0, nil, d), f.Read, f.Usual, ascending(" " + decimalDigits + f.Separators), 40, 0}
	return r.texts(out)
}
