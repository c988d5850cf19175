package solve

import (
	"math"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// DECIMALs cannot be numbered. They are searched between neighbouring DOUBLEs, from -farDecimal to farDecimal.

const farDecimal = 1e15

var doubles, _ = axisOf(types.Double)

// decimalSearch searches arguments of a link, DECIMALs in a piece, by the numbers of DOUBLEs.
type decimalSearch struct {
	link
	falls          bool
	lo, hi         int64
	before, behind bool // the piece extends below lo, and above hi
	piece          types.Interval
	failed         bool // a value could not be evaluated
}

func (s *decimalSearch) value(n int64) types.Value {
	v, err := types.Cast(doubles.value(n), types.Decimal, nil)
	s.failed = s.failed || err != nil
	return v
}

func (s *decimalSearch) can(n int64) bool {
	_, ok := s.apply(s.value(n))
	return ok
}

// side returns -1, 0 or 1 if the result for n is before, in or after iv in the order of n.
func (s *decimalSearch) side(n int64, iv types.Interval) int {
	v, ok := s.apply(s.value(n))
	if !ok {
		s.failed = true
		return 0
	}
	if s.falls {
		return -iv.Side(v)
	}
	return iv.Side(v)
}

// begin restricts the search to the values of p for which the link can be evaluated; ok is false if these are unknown.
func (s *decimalSearch) begin(p expr.Piece) (ok bool) {
	if s.falls, s.piece = p.Falls, valuesOf(p, types.Decimal); p.Mixed != nil || p.IfEven {
		return false
	}
	end := func(v types.Value, open bool, far float64, inward int64) (n int64, more, ok bool) {
		if v.IsNull() {
			return doubles.rank(types.NewDouble(far)), true, true
		}
		d, err := types.Cast(v, types.Double, nil)
		if err != nil || math.Abs(d.Double()) > farDecimal {
			return 0, false, false
		}
		n = doubles.rank(d)
		same, err := types.Compare(s.value(n), v)
		if open {
			n += inward
		}
		return n, open, err == nil && same == 0
	}
	var ok1, ok2 bool
	s.lo, s.before, ok1 = end(p.In.Lo, p.In.LoOpen, -farDecimal, 1)
	s.hi, s.behind, ok2 = end(p.In.Hi, p.In.HiOpen, farDecimal, -1)
	if !ok1 || !ok2 {
		return false
	}
	switch can1, can2 := s.can(s.lo), s.can(s.hi); {
	case !can1 && !can2:
		return false
	case !can1:
		s.lo = first(s.lo, s.hi, s.can)
		s.piece.Lo, s.before = s.value(s.lo-1), false
	case !can2:
		s.hi = last(s.lo, s.hi, s.can)
		s.piece.Hi, s.behind = s.value(s.hi+1), false
	}
	return true
}

// find returns an interval that contains all arguments whose results are in iv; ok is false if there are none.
func (s *decimalSearch) find(iv types.Interval) (found types.Interval, ok bool) {
	found = s.piece
	at := func(n int64) int { return s.side(n, iv) }
	switch from, to := at(s.lo), at(s.hi); {
	case from > 0 && !s.before, to < 0 && !s.behind:
		return found, false
	case from > 0:
		found.Hi, found.HiOpen = s.value(s.lo), true
	case to < 0:
		found.Lo, found.LoOpen = s.value(s.hi), true
	default:
		if from < 0 {
			found.Lo, found.LoOpen = s.value(first(s.lo, s.hi, func(n int64) bool { return at(n) >= 0 })-1), true
		}
		if to > 0 {
			found.Hi, found.HiOpen = s.value(last(s.lo, s.hi, func(n int64) bool { return at(n) <= 0 })+1), true
		}
	}
	return found, true
}

// ofDecimals returns DECIMALs that include all those for which e, a call or cast that is monotone on pieces, is in out.
func ofDecimals(e expr.Expr, out types.Set) (x expr.Expr, pre types.Set, ok bool) {
	x, ok = piecewise(e)
	if !ok || x.Type() != types.Decimal || len(out) > 64 {
		return nil, nil, false
	}
	s := decimalSearch{link: newLink(e)}
	if s.noisy() {
		return nil, nil, false
	}
	var ivs []types.Interval
	pieces := s.pieces(types.Interval{})
	for _, p := range pieces {
		if !s.begin(p) {
			return nil, nil, false
		}
		for _, iv := range out {
			if found, ok := s.find(iv); ok {
				ivs = append(ivs, found)
			}
		}
	}
	return x, types.SetOf(ivs...), len(pieces) > 0 && !s.failed
}

// ScaleFree reports whether e is not a DECIMAL and does not depend on the scale of a DECIMAL, 1.5 or 1.50. That is so
// if its functions rise or fall with their arguments.
func ScaleFree(e expr.Expr) bool {
	if e.Type() == types.Decimal {
		return false
	}
	for {
		arg, ok := piecewise(e)
		if !ok {
			return false
		}
		if l := newLink(e); l.noisy() || len(l.pieces(types.Interval{})) == 0 {
			return false
		}
		e = arg
		if _, ok := e.(*expr.Column); ok {
			return true
		}
	}
}
