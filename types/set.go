package types

import (
	"math"
	"slices"
	"sort"
	"strings"
)

// Interval is a range of values of one type that are not NULL. A NULL bound is unbounded. The bounds of integers, dates
// and times are normalised to inclusive ones, so that (1, 3) and [2, 2] are the same interval; -0 is 0.
type Interval struct {
	Lo, Hi         Value // NULL: unbounded
	LoOpen, HiOpen bool  // the bound itself is outside
}

// everything contains all values that are not NULL.
var everything = Interval{}

// Point returns [v, v].
func Point(v Value) Interval {
	v = v.OneZero()
	return Interval{Lo: v, Hi: v}
}

// IntInterval returns the values of t, an integer or temporal type, with the numbers lo to hi.
func IntInterval(t Type, lo, hi int64) Interval {
	return Interval{Lo: NewIntOf(t, lo), Hi: NewIntOf(t, hi)}
}

// Ints returns the numbers of the bounds of iv, whose values are integers, days or moments. In place of a missing bound it
// returns the end of the range of int64.
func (iv Interval) Ints() (lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	if !iv.Lo.IsNull() {
		lo = iv.Lo.Int()
	}
	if !iv.Hi.IsNull() {
		hi = iv.Hi.Int()
	}
	return lo, hi
}

// IsPoint reports whether iv contains exactly one value.
func (iv Interval) IsPoint() bool {
	return !iv.Lo.IsNull() && !iv.Hi.IsNull() && !iv.LoOpen && !iv.HiOpen && order(iv.Lo, iv.Hi) == 0
}

// Contains reports whether v, which is not NULL, is in iv.
func (iv Interval) Contains(v Value) bool { return iv.Side(v) == 0 }

// Side returns the side of iv on which v, which is not NULL, is: -1 before iv, 0 in it, 1 after it.
func (iv Interval) Side(v Value) int {
	if !iv.Lo.IsNull() {
		if c, _ := Compare(v, iv.Lo); c < 0 || c == 0 && iv.LoOpen {
			return -1
		}
	}
	if !iv.Hi.IsNull() {
		if c, _ := Compare(v, iv.Hi); c > 0 || c == 0 && iv.HiOpen {
			return 1
		}
	}
	return 0
}

// String formats iv as "[1 - 5)", with nothing for an unbounded end.
func (iv Interval) String() string {
	var b strings.Builder
	b.WriteByte("[("[Bit(iv.LoOpen || iv.Lo.IsNull())])
	if !iv.Lo.IsNull() {
		b.WriteString(iv.Lo.SQL())
	}
	b.WriteString(" - ")
	if !iv.Hi.IsNull() {
		b.WriteString(iv.Hi.SQL())
	}
	b.WriteByte("])"[Bit(iv.HiOpen || iv.Hi.IsNull())])
	return b.String()
}

// Bit returns 1 for true, 0 for false.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// order compares values that are known to be comparable.
func order(a, b Value) int {
	c, err := Compare(a, b)
	if err != nil {
		panic("types: " + err.Error()) // sets never mix types
	}
	return c
}

func isDiscrete(t Type) bool { return t.IsInteger() || t.IsTemporal() || t == Boolean }

// normalise makes bounds of discrete types inclusive; ok is false if iv is empty.
func (iv Interval) normalise() (Interval, bool) {
	iv.Lo, iv.Hi = iv.Lo.OneZero(), iv.Hi.OneZero()
	if iv.LoOpen && isDiscrete(iv.Lo.typ) {
		if iv.Lo.i == maxInt {
			return iv, false
		}
		iv.Lo.i++
		iv.LoOpen = false
	}
	if iv.HiOpen && isDiscrete(iv.Hi.typ) {
		if iv.Hi.i == minInt {
			return iv, false
		}
		iv.Hi.i--
		iv.HiOpen = false
	}
	if iv.Lo.IsNull() {
		iv.LoOpen = false
	}
	if iv.Hi.IsNull() {
		iv.HiOpen = false
	}
	if !iv.Lo.IsNull() && !iv.Hi.IsNull() {
		c := order(iv.Lo, iv.Hi)
		if c > 0 || c == 0 && (iv.LoOpen || iv.HiOpen) {
			return iv, false
		}
	}
	return iv, true
}

const (
	maxInt = 1<<63 - 1
	minInt = -1 << 63
)

// compareLo orders lower bounds: unbounded first, then by value, inclusive before exclusive.
func compareLo(a, b Interval) int {
	switch {
	case a.Lo.IsNull() || b.Lo.IsNull():
		return Bit(!a.Lo.IsNull()) - Bit(!b.Lo.IsNull())
	default:
		if c := order(a.Lo, b.Lo); c != 0 {
			return c
		}
		return Bit(a.LoOpen) - Bit(b.LoOpen)
	}
}

// compareHi orders upper bounds by value, exclusive before inclusive, unbounded last.
func compareHi(a, b Interval) int {
	switch {
	case a.Hi.IsNull() || b.Hi.IsNull():
		return Bit(a.Hi.IsNull()) - Bit(b.Hi.IsNull())
	default:
		if c := order(a.Hi, b.Hi); c != 0 {
			return c
		}
		return Bit(b.HiOpen) - Bit(a.HiOpen)
	}
}

// touches reports whether b, which starts no earlier than a, overlaps a or continues it without a gap.
func touches(a, b Interval) bool {
	if a.Hi.IsNull() || b.Lo.IsNull() {
		return true
	}
	c := order(b.Lo, a.Hi)
	switch {
	case c < 0:
		return true
	case c == 0:
		return !(a.HiOpen && b.LoOpen)
	default:
		return isDiscrete(a.Hi.typ) && a.Hi.i != maxInt && b.Lo.i == a.Hi.i+1 && a.Hi.typ == b.Lo.typ
	}
}

// Set is a sorted list of disjoint intervals that do not touch, such as the values that a column can have. The zero Set
// is empty. Sets are immutable.
type Set []Interval

// All returns the set of all values that are not NULL.
func All() Set { return Set{everything} }

// SetOf returns the set of the values in any of ivs.
func SetOf(ivs ...Interval) Set {
	if len(ivs) == 1 {
		if iv, ok := ivs[0].normalise(); ok {
			return Set{iv}
		}
		return Set{}
	}
	s := make(Set, 0, len(ivs))
	for _, iv := range ivs {
		if n, ok := iv.normalise(); ok {
			s = append(s, n)
		}
	}
	if !slices.IsSortedFunc(s, compareLo) {
		slices.SortFunc(s, compareLo)
	}
	out := s[:0]
	for _, iv := range s {
		if n := len(out); n > 0 && touches(out[n-1], iv) {
			if compareHi(out[n-1], iv) < 0 {
				out[n-1].Hi, out[n-1].HiOpen = iv.Hi, iv.HiOpen
			}
			continue
		}
		out = append(out, iv)
	}
	return out
}

func Points(vs ...Value) Set {
	if len(vs) == 1 {
		return Set{Point(vs[0])}
	}
	ivs := make([]Interval, len(vs))
	for i, v := range vs {
		ivs[i] = Point(v)
	}
	return SetOf(ivs...)
}

// IsAll reports whether s contains every value that is not NULL.
func (s Set) IsAll() bool { return len(s) == 1 && s[0].Lo.IsNull() && s[0].Hi.IsNull() }

func (s Set) IsEmpty() bool { return len(s) == 0 }

// Contains reports whether v, which is not NULL, is in s.
func (s Set) Contains(v Value) bool {
	_, found := slices.BinarySearchFunc(s, v, func(iv Interval, v Value) int { return -iv.Side(v) })
	return found
}

// Union returns the set of the values in s or o.
func (s Set) Union(o Set) Set {
	if len(s) == 0 {
		return o
	}
	if len(o) == 0 {
		return s
	}
	return SetOf(append(slices.Clone(s), o...)...)
}

// Intersect returns the set of the values in both s and o.
func (s Set) Intersect(o Set) Set {
	if s.IsAll() {
		return o
	}
	if o.IsAll() {
		return s
	}
	s, o = s.within(o), o.within(s)
	var out Set
	for i, j := 0, 0; i < len(s) && j < len(o); {
		iv := s[i]
		if compareLo(iv, o[j]) < 0 {
			iv.Lo, iv.LoOpen = o[j].Lo, o[j].LoOpen
		}
		if compareHi(iv, o[j]) > 0 {
			iv.Hi, iv.HiOpen = o[j].Hi, o[j].HiOpen
		}
		if n, ok := iv.normalise(); ok {
			out = append(out, n)
		}
		if compareHi(s[i], o[j]) < 0 {
			i++
		} else {
			j++
		}
	}
	return out
}

// within cuts off the intervals of a long s before and after o, by binary search.
func (s Set) within(o Set) Set {
	const few = 8
	if len(s) <= few || len(o) == 0 {
		return s
	}
	before := func(a, b Interval) bool { return !a.Hi.IsNull() && !b.Lo.IsNull() && order(a.Hi, b.Lo) < 0 }
	from := sort.Search(len(s), func(i int) bool { return !before(s[i], o[0]) })
	to := sort.Search(len(s), func(i int) bool { return before(o[len(o)-1], s[i]) })
	return s[from:to]
}

// IntersectAll returns the set of the values in all of sets. It intersects each half of sets, and then the two results:
// intersecting one set after the other would copy a long result at each step.
func IntersectAll(sets []Set) Set {
	switch n := len(sets); n {
	case 0:
		return All()
	case 1:
		return sets[0]
	default:
		return IntersectAll(sets[:n/2]).Intersect(IntersectAll(sets[n/2:]))
	}
}

// Complement returns the set of the values outside s that are not NULL.
func (s Set) Complement() Set {
	var out []Interval
	next := Interval{} // its lower bound is the end of the last interval
	for _, iv := range s {
		if !iv.Lo.IsNull() {
			gap := next
			gap.Hi, gap.HiOpen = iv.Lo, !iv.LoOpen
			out = append(out, gap)
		}
		if iv.Hi.IsNull() {
			return SetOf(out...)
		}
		next = Interval{Lo: iv.Hi, LoOpen: !iv.HiOpen}
	}
	return SetOf(append(out, next)...)
}

// SubsetOf reports whether every value of s is in o.
func (s Set) SubsetOf(o Set) bool {
	j := 0
	for _, iv := range s {
		if len(s) < len(o)/16 { // binary search is faster than a merge
			n, _ := slices.BinarySearchFunc(o[j:], iv, func(a, b Interval) int {
				if compareHi(a, b) < 0 {
					return -1
				}
				return 1
			})
			j += n
		}
		for j < len(o) && compareHi(o[j], iv) < 0 {
			j++
		}
		if j == len(o) || compareLo(o[j], iv) > 0 {
			return false
		}
	}
	return true
}

// IsList reports whether s consists of single values.
func (s Set) IsList() bool {
	return !slices.ContainsFunc(s, func(iv Interval) bool { return !iv.IsPoint() })
}

// Values lists the values of s if it consists of points and short integer intervals and has at most limit values; ok is
// false otherwise.
func (s Set) Values(limit int) (vs []Value, ok bool) {
	n := 0
	for _, iv := range s {
		switch {
		case iv.Lo.IsNull() || iv.Hi.IsNull():
			return nil, false
		case iv.IsPoint():
			n++
		case isDiscrete(iv.Lo.typ):
			d := uint64(iv.Hi.i) - uint64(iv.Lo.i)
			if d >= uint64(limit) {
				return nil, false
			}
			n += int(d) + 1
		default:
			return nil, false
		}
		if n > limit {
			return nil, false
		}
	}
	vs = make([]Value, 0, n)
	for _, iv := range s {
		if iv.IsPoint() {
			vs = append(vs, iv.Lo)
			continue
		}
		for i := iv.Lo.i; ; i++ {
			v := iv.Lo
			v.i = i
			vs = append(vs, v)
			if i == iv.Hi.i {
				break
			}
		}
	}
	return vs, true
}

// String returns the intervals with spaces between them; "(none)" if s is empty.
func (s Set) String() string {
	if len(s) == 0 {
		return "(none)"
	}
	parts := make([]string, len(s))
	for i, iv := range s {
		parts[i] = iv.String()
	}
	return strings.Join(parts, " ")
}
