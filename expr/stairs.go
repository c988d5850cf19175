package expr

import (
	"math"

	"github.com/hql-db/hql/types"
)

// stairs is a function y = rise * floor((add + x) / run) or, with falls, rise * floor((add - x) / run). With cut the
// quotient is truncated towards zero. With a period the dividend is the remainder of x. The function is undefined where a
// number overflows.
//
//	DATE(ts)                      days of 86,400,000 milliseconds: run 86400000
//	9223372036854775807 - ts      falls, add 9223372036854775807
//	HOUR_OF_DAY(ts)               run 3600000, period 86400000
type stairs struct {
	falls, cut             bool
	add, run, rise, period int64
	in                     types.Set // the possible values of y; nil: any number
}

// stairsAlgebra returns the algebra of calls that are stairs; of returns the stairs, or false for other calls.
func stairsAlgebra(arg int, pieces func(*Call, types.Interval) []Piece, of func(*Call) (stairs, bool)) *Algebra {
	return &Algebra{Arg: arg, Pieces: pieces, Inverse: func(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool) {
		s, ok := of(c)
		if !ok {
			return nil, false, false
		}
		if s.in != nil {
			out = out.Intersect(s.in)
		}
		s.run, s.rise = max(s.run, 1), max(s.rise, 1)
		if s.period > 0 {
			return s.periods(out, within.In(), c.moment())
		}
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

// periods returns the values of type t in within whose quotient is in out. ok is false if there are too many periods.
func (s stairs) periods(out, within types.Set, t types.Type) (pre types.Set, exact, ok bool) {
	const most = 512
	var ivs []types.Interval
	for _, iv := range within {
		w := spanOf(iv)
		first, last := floorDiv(w.lo, s.period), floorDiv(w.hi, s.period)
		if iv.Lo.IsNull() || iv.Hi.IsNull() || last-first > most || last-first < 0 || first <= math.MinInt64/s.period || last >= math.MaxInt64/s.period-1 {
			return nil, false, false
		}
		for n := first * s.period; n <= w.hi; n += s.period {
			for _, o := range out {
				y := spanOf(o)
				if lo, hi := max(y.lo, 0), min(y.hi, (s.period-1)/s.run); lo <= hi {
					ivs = append(ivs, span{n + lo*s.run, n + min(hi*s.run+s.run, s.period) - 1}.interval(t))
				}
			}
		}
	}
	return types.SetOf(ivs...).Intersect(within), true, true
}

// periodAlgebra returns the algebra of periodic calls; of returns the stairs.
func periodAlgebra(of func(*Call) (stairs, bool)) *Algebra {
	a := stairsAlgebra(AnyArg, func(c *Call, in types.Interval) []Piece {
		if s, ok := of(c); ok {
			return timePieces(in, s.period, 0)
		}
		return nil
	}, of)
	a.Domain = func(c *Call) (types.Set, bool) {
		s, ok := of(c)
		return types.SetOf(span{0, (s.period - 1) / max(s.run, 1)}.interval(types.BigInt)), ok
	}
	return a
}

// ofDayAlgebra returns the algebra of the units of a day.
func ofDayAlgebra(unit int64) *Algebra {
	return periodAlgebra(func(c *Call) (stairs, bool) { return stairs{run: unit, period: types.MillisPerDay}, timestampArg(c) })
}
