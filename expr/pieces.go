package expr

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/types"
)

// Preimages are found by bisection. On each piece of its argument's values, a monotone call has a single range of
// arguments for an interval of results. The ends of this range are found with about 64 evaluations each.

// Piece is an interval of an argument's values on which a call never falls or never rises. The arguments for which the
// call can be evaluated have no gap in it, and reach one of its ends.
type Piece struct {
	In    types.Interval // a NULL bound means the end of the type
	Falls bool
	// Mixed is set if the call may rise and fall in the piece: it contains the call's values.
	Mixed *types.Interval
	// Strict reports that different arguments have different values.
	Strict bool
	// Even reports that all texts of the piece differ only in digits: they have the same length, digits at the same
	// positions, and otherwise equal characters. IfEven: the piece is valid only for arguments that are even themselves;
	// if Mixed is set, the others have values in Mixed.
	Even, IfEven bool
}

// in returns the arguments of p, of type t.
func (p Piece) in(t types.Type) types.Interval {
	for _, v := range []*types.Value{&p.In.Lo, &p.In.Hi} {
		if d, err := types.Cast(*v, t, nil); t.IsNumeric() && err == nil {
			*v = d
		}
	}
	return p.In
}

var (
	rises    = []Piece{{}}
	falls    = []Piece{{Falls: true}}
	follows  = []Piece{{Strict: true, Even: true}}
	zero     = types.NewInt(0)
	plusOne  = types.NewInt(1)
	minusOne = types.NewInt(-1)
)

// atZero returns the pieces up to 0 and from 0 on, for results that may be out of range far from 0.
func atZero(below, above bool) []Piece {
	return []Piece{{In: types.Interval{Hi: zero}, Falls: below}, {In: types.Interval{Lo: zero}, Falls: above}}
}

// besideZero returns the pieces below 0, at 0 and above 0.
func besideZero(below, above bool) []Piece {
	return []Piece{{In: types.Interval{Hi: zero, HiOpen: true}, Falls: below}, {In: types.Point(zero)}, {In: types.Interval{Lo: zero, LoOpen: true}, Falls: above}}
}

// aroundZero returns pieces for results that may be out of range both far from 0 and near 0.
func aroundZero(below, above bool) []Piece { return cutAt(minusOne, plusOne, below, above) }

// cutAt returns the pieces of aroundZero; lo and hi bound the values whose results are in range.
func cutAt(lo, hi types.Value, below, above bool) []Piece {
	return []Piece{{In: types.Interval{Hi: lo}, Falls: below}, {In: types.Interval{Lo: lo, Hi: zero, HiOpen: true}, Falls: below}, {In: types.Point(zero)},
		{In: types.Interval{Lo: zero, LoOpen: true, Hi: hi}, Falls: above}, {In: types.Interval{Lo: hi}, Falls: above}}
}

// allPieces returns Algebra.Pieces for pieces that are the same for all calls.
func allPieces(p []Piece) func(*Call, types.Interval) []Piece {
	return func(*Call, types.Interval) []Piece { return p }
}

// axis numbers the values of a type in ascending order.
type axis struct {
	typ    types.Type
	lo, hi int64 // without the numbers in apart
	apart  []int64
}

// axisOf returns the axis of t; ok is false for types whose values cannot be numbered.
func axisOf(t types.Type) (a axis, ok bool) {
	a.typ = t
	switch {
	case t.IsInteger():
		a.lo, a.hi = types.IntRange(t)
	case t.IsTimestamp():
		a.lo, a.hi = math.MinInt64, math.MaxInt64
	case t == types.Date:
		a.lo, a.hi = -types.MaxDate, types.MaxDate
	case t == types.Time:
		a.hi = types.MillisPerDay - 1
	case t == types.Boolean:
		a.hi = 1
	case t == types.Double || t == types.Float: // infinities and NaN are in apart
		most := math.MaxFloat64
		if t == types.Float {
			most = math.MaxFloat32
		}
		a.lo, a.hi = a.rank(types.NewFloatOf(t, -most)), a.rank(types.NewFloatOf(t, most))
		a.apart = []int64{a.lo - 1, a.hi + 1, a.hi + 2}
	default:
		return a, false
	}
	return a, true
}

// The bits of the infinite DOUBLE, and of the DOUBLE after the greatest FLOAT.
var (
	infinite    = int64(math.Float64bits(math.Inf(1)))
	beyondFloat = int64(math.Float64bits(math.MaxFloat32)) + 1
)

// rank returns the number of v, which has the axis's type.
func (a axis) rank(v types.Value) int64 {
	var n int64
	switch a.typ {
	case types.Double, types.Float: // cells of a FLOAT may hold doubles between 32-bit floats
		if n = v.Int() & math.MaxInt64; math.IsNaN(v.Double()) {
			n = infinite + 1
		}
		if a.typ == types.Float && n >= infinite {
			n += beyondFloat - infinite
		}
	default:
		return v.Int()
	}
	if v.Double() < 0 {
		n = -n
	}
	return n
}

// value returns the value with the number n.
func (a axis) value(n int64) types.Value {
	var f float64
	switch a.typ {
	case types.Double, types.Float:
		bits := max(n, -n)
		if a.typ == types.Float && bits >= beyondFloat {
			bits += infinite - beyondFloat
		}
		f = math.Float64frombits(uint64(bits))
	default:
		return types.NewIntOf(a.typ, n)
	}
	if n < 0 {
		f = -f
	}
	return types.NewFloatOf(a.typ, f)
}

// ends returns the least and the greatest number.
func (a axis) ends() (first, last int64) {
	if len(a.apart) > 0 {
		return a.apart[0], a.apart[len(a.apart)-1]
	}
	return a.lo, a.hi
}

// interval returns the values with the numbers lo to hi. It has no bound where it reaches an end of the axis.
func (a axis) interval(lo, hi int64) types.Interval {
	var iv types.Interval
	first, last := a.ends()
	if lo > first || lo == hi { // a single least value is a point
		iv.Lo = a.value(lo)
	}
	if hi < last || lo == hi {
		iv.Hi = a.value(hi)
	}
	return iv
}

// castPieces returns the pieces of a cast of values in in. A TIMESTAMP is cast in UTC: see inverse.
func castPieces(from, to types.Type, in types.Interval) []Piece {
	float := func(t types.Type) bool { return t == types.Double || t == types.Float }
	switch {
	case from == types.Boolean && to.IsInteger(), sameNumbers(from, to), from == types.Time && to == types.String, from.IsInteger() && to == types.Decimal:
		return follows
	case from == types.Boolean && to == types.String, from.IsTimestamp() && to == types.Date:
		return rises
	case from.IsInteger() && float(to), from == types.Float && to == types.Double, float(from) && to == types.Decimal:
		return rises
	case from.IsNumeric() && to.IsInteger(), from.IsTimestamp() && to.IsInteger():
		return atZero(false, false)
	case (from == types.Decimal || from == types.Double) && float(to):
		return aroundZero(false, false)
	case from.IsInteger() && to == types.Boolean:
		return besideZero(false, false)
	case from.IsInteger() && to == types.String:
		return digitPieces(10)
	case isMoment(from) && to == types.String:
		return yearPieces(from, from == types.Date, from == types.Date)
	case from == types.String && to.IsInteger():
		return numeralPieces(in)
	case from == types.Timestamp && to == types.Time:
		return timePieces(in, types.MillisPerDay, 0)
	case from == types.Date && to == types.Timestamp: // except at the ends, where local time exceeds the range of TIMESTAMP
		return []Piece{{In: types.Interval{Lo: types.NewDate(2 - types.MaxDate), Hi: types.NewDate(types.MaxDate - 2)}}}
	}
	return nil
}

// digitPieces returns the ranges of numbers with equally many digits in a base, whose texts are in order.
func digitPieces(base int64) []Piece {
	var below, above []Piece
	for lo := int64(1); ; lo *= base {
		up, down := types.Interval{Lo: types.NewInt(lo)}, types.Interval{Hi: types.NewInt(-lo)} // all have the same length
		if lo == 1 {
			up.Lo = zero
		}
		more := lo <= math.MaxInt64/base
		if more {
			up.Hi, down.Lo = types.NewInt(lo*base-1), types.NewInt(1-lo*base)
		}
		above, below = append(above, Piece{In: up, Even: true, Strict: true}), append(below, Piece{In: down, Falls: true, Even: true, Strict: true})
		if !more {
			slices.Reverse(below)
			return append(below, above...)
		}
	}
}

// SameDigits yields the ranges of integers with the same sign and number of decimal digits, in ascending order.
//
//	... [-99, -10] [-9, -1] [0, 9] [10, 99] ...
func SameDigits(yield func(least, most int64) bool) {
	for _, p := range digitPieces(10) {
		if of := spanOf(p.In); !yield(of.lo, of.hi) {
			return
		}
	}
}

// negativeYears holds the texts that begin with a year below 0. None of them is a text of the number 0.
var negativeYears = types.Interval{Lo: types.NewString("-0001"), Hi: types.NewString("."), HiOpen: true}

// yearPieces divides the values of t, DATE or TIMESTAMP, by the number of digits in their years: within each piece their
// texts, which begin with the year, are in order. Years below 0 begin with a sign.
func yearPieces(t types.Type, even, strict bool) []Piece {
	start := func(year int) types.Value {
		return momentAs(t, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	}
	const most = 100_000_000
	out := []Piece{{In: types.Interval{Hi: start(1 - most), HiOpen: true}, Mixed: &negativeYears}}
	for year := most; year >= 10_000; year /= 10 {
		least := year / 10
		if year == 10_000 {
			least = 1
		}
		out = append(out, Piece{In: types.Interval{Lo: start(1 - year), Hi: start(1 - least), HiOpen: true}, Mixed: &negativeYears, Even: even})
	}
	for year := 0; year < most; year = max(10*year, 10_000) {
		out = append(out, Piece{In: types.Interval{Lo: start(year), Hi: start(max(10*year, 10_000)), HiOpen: true}, Even: even, Strict: strict})
	}
	return append(out, Piece{In: types.Interval{Lo: start(most)}, Even: even})
}

// numeralPieces returns the pieces of a cast of texts to integers: digits, with or without a sign.
func numeralPieces(in types.Interval) []Piece {
	if in.Lo.IsNull() {
		return nil
	}
	digits, negative := strings.CutPrefix(in.Lo.Text(), "-")
	if strings.Trim(digits, decimalDigits) != "" {
		return nil
	}
	p := Piece{Falls: negative, Strict: true, IfEven: true}
	if negative && strings.Trim(digits, "0") != "" && !in.Hi.IsNull() && in.Hi.Text() <= "." { // they begin with a sign, and are not 0
		p.Mixed = &types.Interval{Hi: minusOne}
	}
	return []Piece{p}
}

const decimalDigits = "0123456789"
