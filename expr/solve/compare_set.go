package solve

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// This file computes the values for which a comparison with a constant is true, also for constants of other types and
// outside the type's range.

// mixed reports whether the conversion of v for a comparison with values of type t loses information. No set is
// computed for such comparisons. JSON is mixed, too, because equal JSON values have many texts.
func mixed(t types.Type, v types.Value) bool {
	return t.IsJSON() || v.Type() != t && !((t.IsInteger() || t == types.Float || t == types.Double) && v.Type().IsNumeric())
}

// compareSet returns the values of type t for which "value op v" is true.
func compareSet(op expr.CompareOp, v types.Value, t types.Type) types.Set {
	if t.IsInteger() {
		lo, hi := types.IntRange(t)
		if !v.Type().IsInteger() || v.Int() <= lo || v.Int() >= hi {
			return comparedSet(op, v, t)
		}
		v = types.NewIntOf(t, v.Int())
	} else if v.Type() != t {
		return comparedSet(op, v, t)
	}
	switch op {
	case expr.EQ:
		return types.Points(v)
	case expr.NE:
		return types.Points(v).Complement()
	case expr.LT, expr.LE:
		return types.SetOf(types.Interval{Hi: v, HiOpen: op == expr.LT})
	}
	return types.SetOf(types.Interval{Lo: v, LoOpen: op == expr.GT})
}

// comparedSet works like compareSet, for a v of another numeric type, which may be between two values of t or outside
// its range. It finds the bounds by comparisons.
func comparedSet(op expr.CompareOp, v types.Value, t types.Type) types.Set {
	a, _ := axisOf(t)
	lo, hi := a.ends()
	from := func(least int) (n int64, some bool) { // the first value for which the comparison with v is at least least
		less := func(n int64) bool { c, _ := types.Compare(a.value(n), v); return c < least }
		switch {
		case less(hi):
			return hi, false
		case !less(lo):
			return lo, true
		}
		return last(lo, hi, less) + 1, true
	}
	between := func(lo, hi int64, some bool) types.Set {
		if !some || lo > hi {
			return nil
		}
		return types.SetOf(a.interval(lo, hi))
	}
	switch n, some := from(0); op {
	case expr.GE:
		return between(n, hi, some)
	case expr.LT:
		return between(n, hi, some).Complement()
	case expr.EQ, expr.NE:
		equal := between(n, hi, some)
		if m, more := from(1); more {
			equal = between(n, m-1, some && m > lo)
		}
		if op == expr.NE {
			return equal.Complement()
		}
		return equal
	}
	n, some := from(1)
	if op == expr.LE {
		return between(n, hi, some).Complement()
	}
	return between(n, hi, some)
}
