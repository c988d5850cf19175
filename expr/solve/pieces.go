package solve

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Preimages are found by bisection. On each piece of its argument's values, a monotone call has a single range of
// arguments for an interval of results. The ends of this range are found with about 64 evaluations each.

// valuesOf returns the arguments of p, of type t.
func valuesOf(p expr.Piece, t types.Type) types.Interval {
	for _, v := range []*types.Value{&p.In.Lo, &p.In.Hi} {
		if d, err := types.Cast(*v, t, nil); t.IsNumeric() && err == nil {
			*v = d
		}
	}
	return p.In
}

// AtZero returns the pieces up to 0 and from 0 on, for results that may be out of range far from 0. below and above
// report whether the results fall below and above 0.
func AtZero(below, above bool) []expr.Piece {
	zero := types.NewInt(0)
	return []expr.Piece{{In: types.Interval{Hi: zero}, Falls: below}, {In: types.Interval{Lo: zero}, Falls: above}}
}

// BesideZero returns the pieces below 0, at 0 and above 0.
func BesideZero(below, above bool) []expr.Piece {
	zero := types.NewInt(0)
	return []expr.Piece{{In: types.Interval{Hi: zero, HiOpen: true}, Falls: below}, {In: types.Point(zero)}, {In: types.Interval{Lo: zero, LoOpen: true}, Falls: above}}
}

// AroundZero returns pieces for results that may be out of range both far from 0 and near 0.
func AroundZero(below, above bool) []expr.Piece {
	return CutAt(types.NewInt(-1), types.NewInt(1), below, above)
}

// CutAt works like AroundZero, but cuts at lo and hi instead of -1 and 1.
func CutAt(lo, hi types.Value, below, above bool) []expr.Piece {
	zero := types.NewInt(0)
	return []expr.Piece{{In: types.Interval{Hi: lo}, Falls: below}, {In: types.Interval{Lo: lo, Hi: zero, HiOpen: true}, Falls: below}, {In: types.Point(zero)},
		{In: types.Interval{Lo: zero, LoOpen: true, Hi: hi}, Falls: above}, {In: types.Interval{Lo: hi}, Falls: above}}
}

// axis numbers the values of a type in ascending order.
type axis struct {
	typ    types.Type
	lo, hi int64   // the least and the greatest number, except for those in apart
	apart  []int64 // the numbers of the infinities and NaN
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
	n := v.Int()
	if a.typ != types.Double && a.typ != types.Float {
		return n
	}
	if n &= math.MaxInt64; math.IsNaN(v.Double()) { // cells of a FLOAT may hold doubles between 32-bit floats
		n = infinite + 1
	}
	if a.typ == types.Float && n >= infinite {
		n += beyondFloat - infinite
	}
	if v.Double() < 0 {
		n = -n
	}
	return n
}

// value returns the value with the number n.
func (a axis) value(n int64) types.Value {
	if a.typ != types.Double && a.typ != types.Float {
		return types.NewIntOf(a.typ, n)
	}
	bits := max(n, -n)
	if a.typ == types.Float && bits >= beyondFloat {
		bits += infinite - beyondFloat
	}
	f := math.Float64frombits(uint64(bits))
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

// CastPieces returns the pieces of a cast of values in in. A TIMESTAMP is cast in UTC: see inverse.
func CastPieces(from, to types.Type, in types.Interval) []expr.Piece {
	float := func(t types.Type) bool { return t == types.Double || t == types.Float }
	switch {
	case from == types.Boolean && to.IsInteger(), sameNumbers(from, to), from == types.Time && to == types.String, from.IsInteger() && to == types.Decimal:
		return []expr.Piece{{Strict: true, Even: true}}
	case from == types.Boolean && to == types.String, from.IsTimestamp() && to == types.Date:
		return []expr.Piece{{}}
	case from.IsInteger() && float(to), from == types.Float && to == types.Double, float(from) && to == types.Decimal:
		return []expr.Piece{{}}
	case from.IsNumeric() && to.IsInteger(), from.IsTimestamp() && to.IsInteger():
		return AtZero(false, false)
	case (from == types.Decimal || from == types.Double) && float(to):
		return AroundZero(false, false)
	case from.IsInteger() && to == types.Boolean:
		return BesideZero(false, false)
	case from.IsInteger() && to == types.String:
		return DigitPieces(10)
	case from.IsMoment() && to == types.String:
		return YearPieces(from, from == types.Date, from == types.Date)
	case from == types.String && to.IsInteger():
		return numeralPieces(in)
	case from == types.Timestamp && to == types.Time:
		return TimePieces(in, types.MillisPerDay, 0)
	case from == types.Date && to == types.Timestamp: // except at the ends, where local time exceeds the range of TIMESTAMP
		return []expr.Piece{{In: types.Interval{Lo: types.NewDate(2 - types.MaxDate), Hi: types.NewDate(types.MaxDate - 2)}}}
	}
	return nil
}

// DigitPieces returns the ranges of numbers with equally many digits in a base, whose texts are in order.
func DigitPieces(base int64) []expr.Piece {
	var below, above []expr.Piece
	for lo := int64(1); ; lo *= base {
		up, down := types.Interval{Lo: types.NewInt(lo)}, types.Interval{Hi: types.NewInt(-lo)} // all have the same length
		if lo == 1 {
			up.Lo = types.NewInt(0)
		}
		more := lo <= math.MaxInt64/base
		if more {
			up.Hi, down.Lo = types.NewInt(lo*base-1), types.NewInt(1-lo*base)
		}
		above, below = append(above, expr.Piece{In: up, Even: true, Strict: true}), append(below, expr.Piece{In: down, Falls: true, Even: true, Strict: true})
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
	for _, p := range DigitPieces(10) {
		if !yield(p.In.Ints()) {
			return
		}
	}
}

// NegativeYears holds the texts that begin with a year below 0. None of them is a text of the number 0.
var NegativeYears = types.Interval{Lo: types.NewString("-0001"), Hi: types.NewString("."), HiOpen: true}

// YearPieces divides the values of t, DATE or TIMESTAMP, by the number of digits in their years: within each piece their
// texts, which begin with the year, are in order. Years below 0 begin with a sign.
func YearPieces(t types.Type, even, strict bool) []expr.Piece {
	start := func(year int) types.Value {
		return MomentAs(t, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	}
	const most = 100_000_000
	out := []expr.Piece{{In: types.Interval{Hi: start(1 - most), HiOpen: true}, Mixed: &NegativeYears}}
	for year := most; year >= 10_000; year /= 10 {
		least := year / 10
		if year == 10_000 {
			least = 1
		}
		out = append(out, expr.Piece{In: types.Interval{Lo: start(1 - year), Hi: start(1 - least), HiOpen: true}, Mixed: &NegativeYears, Even: even})
	}
	for year := 0; year < most; year = max(10*year, 10_000) {
		out = append(out, expr.Piece{In: types.Interval{Lo: start(year), Hi: start(max(10*year, 10_000)), HiOpen: true}, Even: even, Strict: strict})
	}
	return append(out, expr.Piece{In: types.Interval{Lo: start(most)}, Even: even})
}

// numeralPieces returns the pieces of a cast of texts to integers: digits, with or without a sign.
func numeralPieces(in types.Interval) []expr.Piece {
	if in.Lo.IsNull() {
		return nil
	}
	digits, negative := strings.CutPrefix(in.Lo.Text(), "-")
	if strings.Trim(digits, decimalDigits) != "" {
		return nil
	}
	p := expr.Piece{Falls: negative, Strict: true, IfEven: true}
	if negative && strings.Trim(digits, "0") != "" && !in.Hi.IsNull() && in.Hi.Text() <= "." { // they begin with a sign, and are not 0
		p.Mixed = &types.Interval{Hi: types.NewInt(-1)}
	}
	return []expr.Piece{p}
}

const decimalDigits = "0123456789"
