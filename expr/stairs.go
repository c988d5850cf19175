package expr

import (
	"math"

	"github.com/hql-db/hql/types"
)

// stairs is a function y = rise * floor((add + x) / run) or, with falls, rise * floor((add - x) / run). With cut the
// quotient is truncated towards zero. The function is undefined where a number overflows.
//
//	DATE(ts)                      days of 86,400,000 milliseconds: run 86400000
//	9223372036854775807 - ts      falls, add 9223372036854775807
type stairs struct {
	falls, cut     bool
	add, run, rise int64
	in             types.Set // the possible values of y; nil: any number
}

// stairsAlgebra returns the algebra of calls that are stairs; of returns the stairs, or false for other calls.
func stairsAlgebra(arg int, pieces func(*Call, types.Interval) []Piece, of func(*Call) (stairs, bool)) *Algebra {
	return &Algebra{Arg: arg, Pieces: pieces, Inverse: func(c *Call, out types.Set, _ Window) (pre types.Set, exact, ok bool) {
		s, ok := of(c)
		if !ok {
			return nil, false, false
		}
		if s.in != nil {
			out = out.Intersect(s.in)
		}
		s.run, s.rise = max(s.run, 1), max(s.rise, 1)
		ivs := make([]types.Interval, 0, len(out))
		for _, iv := range out {
			if x, ok := s.summed(spanOf(iv)); ok {
				if x, ok = s.apart(x); ok {
					ivs = append(ivs, x.interval(c.moment()))
				}
			}
		}
		pre = types.SetOf(ivs...)
		if c.moment() == types.Date {
			pre = pre.Intersect(allDates)
		}
		return pre, true, true
	}}
}

// summed returns the dividends whose quotients are in y.
func (s stairs) summed(y span) (z span, ok bool) {
	if s.rise > 1 {
		y = span{-floorDiv(-max(y.lo, -math.MaxInt64), s.rise), floorDiv(y.hi, s.rise)}
	}
	least, most := floorDiv(math.MinInt64, s.run), floorDiv(math.MaxInt64, s.run)
	if s.cut {
		least = math.MinInt64 / s.run
	}
	if y.lo > y.hi || y.lo > most || y.hi < least {
		return z, false
	}
	z = span{math.MinInt64, math.MaxInt64}
	if y.lo > least {
		if z.lo = y.lo * s.run; s.cut && y.lo <= 0 {
			z.lo -= s.run - 1
		}
	}
	if y.hi < most {
		if z.hi = y.hi*s.run + s.run - 1; s.cut && y.hi < 0 {
			z.hi -= s.run - 1
		}
	}
	return z, true
}

// apart returns the x for which the sum is in z.
func (s stairs) apart(z span) (x span, ok bool) {
	k := s.add
	if s.falls {
		none := z.hi < 0 && k > math.MaxInt64+z.hi || z.lo > 0 && k < math.MinInt64+z.lo
		return span{subClamp(k, z.hi), subClamp(k, z.lo)}, !none
	}
	none := k > 0 && z.hi < math.MinInt64+k || k < 0 && z.lo > math.MaxInt64+k
	return span{subClamp(z.lo, k), subClamp(z.hi, k)}, !none
}

// periodAlgebra returns the algebra of functions that rise from 0 in each period; of returns the period, and how many
// milliseconds count as one.
func periodAlgebra(of func(*Call) (period, unit int64, ok bool)) *Algebra {
	return &Algebra{Arg: AnyArg, Pieces: func(c *Call, in types.Interval) []Piece {
		if n, _, ok := of(c); ok {
			return timePieces(in, n, 0)
		}
		return nil
	}, Domain: func(c *Call) (types.Set, bool) {
		n, unit, ok := of(c)
		return types.SetOf(span{0, (n - 1) / max(unit, 1)}.interval(types.BigInt)), ok
	}}
}

// ofDayAlgebra returns the algebra of the units of a day.
func ofDayAlgebra(unit int64) *Algebra {
	return periodAlgebra(func(c *Call) (int64, int64, bool) { return types.MillisPerDay, unit, timestampArg(c) })
}
