package expr

import (
	"math"

	"github.com/hql-db/hql/types"
)

// The sets of values for which a comparison with a constant is true, over the ends of types and from one type to another.

// mixed reports whether v is compared with a value of type t whose conversion does not work both ways: such
// comparisons are left to evaluation. So are those of JSON, equal values of which have many texts.
func mixed(t types.Type, v types.Value) bool {
	return t == types.JSON || v.Type() != t && !((t.IsInteger() || t == types.Float || t == types.Double) && v.Type().IsNumeric())
}

// compareSet gives the values of type t for which "value op v" is true.
func compareSet(op CompareOp, v types.Value, t types.Type) types.Set {
	var iv types.Interval
	switch {
	case t.IsInteger() && !v.Type().IsInteger() && v.Type().IsNumeric():
		return compareInt(op, v, t)
	case t.IsInteger():
		v = types.NewIntOf(t, v.Int())
	case v.Type() != t && (t == types.Float || t == types.Double):
		return compareFloat(op, v, t)
	}
	switch op {
	case EQ:
		iv = types.Point(v)
	case NE:
		return typed(types.Points(v).Complement(), t)
	case LT:
		iv = types.Interval{Hi: v, HiOpen: true}
	case LE:
		iv = types.Interval{Hi: v}
	case GT:
		iv = types.Interval{Lo: v, LoOpen: true}
	case GE:
		iv = types.Interval{Lo: v}
	}
	return typed(types.SetOf(iv), t)
}

// compareInt compares a column of integers with a number that may lie between two of them.
func compareInt(op CompareOp, v types.Value, t types.Type) types.Set {
	for _, inf := range []float64{math.Inf(1), math.Inf(-1)} {
		if c, _ := types.Compare(v, types.NewDouble(inf)); c == 0 || inf > 0 && c > 0 {
			return beyond(op, inf > 0)
		}
	}
	lo, hi := types.IntRange(t)
	if c, _ := types.Compare(v, types.NewInt(hi)); c > 0 {
		return beyond(op, true)
	}
	if c, _ := types.Compare(v, types.NewInt(lo)); c < 0 {
		return beyond(op, false)
	}
	n, err := types.Cast(v, types.BigInt, nil) // rounded to a neighbour
	if err != nil {
		return types.All()
	}
	i := n.Int()
	c, _ := types.Compare(types.NewInt(i), v)
	if c > 0 {
		i-- // floor
	}
	return typed(roundedSet(op, types.NewIntOf(t, i), c == 0), t)
}

// compareFloat compares a column of floats with a number that may lie between two of them.
func compareFloat(op CompareOp, v types.Value, t types.Type) types.Set {
	sign, _ := types.Compare(v, types.NewInt(0))
	f := math.Inf(sign) // the neighbour of what is beyond all floats but these
	if d, err := types.Cast(v, types.Double, nil); err == nil {
		f = d.Double() // rounded to a neighbour
	}
	x := types.NewFloatOf(t, f)
	switch c, _ := types.Compare(x, v); {
	case c == 0:
		return compareSet(op, x, t)
	case op == EQ:
		return nil
	case op == NE:
		return types.All()
	case op == LT || op == LE:
		return types.SetOf(types.Interval{Hi: x, HiOpen: c > 0})
	default:
		return types.SetOf(types.Interval{Lo: x, LoOpen: c < 0})
	}
}

// beyond gives the set for a constant above (or below) every value.
func beyond(op CompareOp, above bool) types.Set {
	if op == NE || above && (op == LT || op == LE) || !above && (op == GT || op == GE) {
		return types.All()
	}
	return nil
}

// roundedSet compares with a constant whose floor is v; whole reports whether it is v itself.
func roundedSet(op CompareOp, v types.Value, whole bool) types.Set {
	switch op {
	case EQ, NE:
		var s types.Set
		if whole {
			s = types.Points(v)
		}
		if op == NE {
			return s.Complement()
		}
		return s
	case LT:
		return types.SetOf(types.Interval{Hi: v, HiOpen: whole})
	case LE:
		return types.SetOf(types.Interval{Hi: v})
	case GE:
		return types.SetOf(types.Interval{Lo: v, LoOpen: !whole})
	}
	return types.SetOf(types.Interval{Lo: v, LoOpen: true})
}

// typed drops what an integer type cannot hold, and bounds that say no more than the type does.
func typed(s types.Set, t types.Type) types.Set {
	if !t.IsInteger() {
		return s
	}
	lo, hi := types.IntRange(t)
	if len(s) == 1 && s[0].IsPoint() && s[0].Lo.Int() >= lo && s[0].Lo.Int() <= hi {
		return s
	}
	out := make(types.Set, 0, len(s))
	for _, iv := range s {
		if !iv.Lo.IsNull() && iv.Lo.Int() > hi || !iv.Hi.IsNull() && iv.Hi.Int() < lo {
			continue
		}
		if !iv.Lo.IsNull() && iv.Lo.Int() <= lo && !iv.IsPoint() {
			iv.Lo = types.Value{}
		}
		if !iv.Hi.IsNull() && iv.Hi.Int() >= hi && !iv.IsPoint() {
			iv.Hi = types.Value{}
		}
		out = append(out, iv)
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
