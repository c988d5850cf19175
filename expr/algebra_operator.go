package expr

import (
	"math"
	"math/big"
	"slices"

	"github.com/hql-db/hql/types"
)

// span is an interval of int64, both ends included.
type span struct{ lo, hi int64 }

func spanOf(iv types.Interval) span {
	s := span{math.MinInt64, math.MaxInt64}
	if !iv.Lo.IsNull() {
		s.lo = iv.Lo.Int()
	}
	if !iv.Hi.IsNull() {
		s.hi = iv.Hi.Int()
	}
	return s
}

func (s span) interval(t types.Type) types.Interval {
	return types.Interval{Lo: types.NewIntOf(t, s.lo), Hi: types.NewIntOf(t, s.hi)}
}

// mapSpans gives the set of f's intervals over those of in, as values of type t.
func mapSpans(in types.Set, t types.Type, f func(span) (span, bool)) types.Set {
	out := make([]types.Interval, 0, len(in))
	for _, iv := range in {
		if s, ok := f(spanOf(iv)); ok {
			out = append(out, s.interval(t))
		}
	}
	return types.SetOf(out...)
}

// sumPieces are those of x + c, c + x (sign +1), x - c, c - x (sign -1), x + x and x - x.
func sumPieces(sign int) func(*Call, types.Interval) []Piece {
	return func(c *Call, _ types.Interval) []Piece {
		k, at, ok := c.constant()
		switch {
		case ok && k.Type().IsNumeric() && !isFinite(k):
			return nil
		case !ok || c.Args[1-at].Type() == types.Decimal && c.Typ != types.Decimal: // x + x, or what is no DOUBLE near 0
			return aroundZero(false, false)
		case c.Typ == types.Date && c.Args[1-at].Type().IsInteger(): // days far before and far behind the constant are none
			return atZero(sign < 0 && at == 0, sign < 0 && at == 0)
		}
		return []Piece{{Falls: sign < 0 && at == 0, Strict: c.Typ != types.Double && c.Typ != types.Float}} // floats are rounded: x - 5.0 of neighbours may be one number
	}
}

// addAlgebra is for x + c, c + x (sign +1), x - c and c - x (sign -1).
func addAlgebra(sign int) *Algebra {
	op := "+"
	if sign < 0 {
		op = "-"
	}
	a := &Algebra{Arg: AnyArg, Pieces: sumPieces(sign)}
	side := func(c *Call) (k int64, first, ok bool) {
		if k, ok := c.constInt(1); ok {
			return k, true, true
		}
		k, ok = c.constInt(0)
		return k, false, ok
	}
	integers := func(c *Call) bool {
		return c.Typ == types.BigInt && c.Args[0].Type().IsInteger() && c.Args[1].Type().IsInteger() || c.Typ == types.Date && c.Args[0].Type() == types.Date
	}
	a.Inverse = func(c *Call, out types.Set, _ func() types.Set) (pre types.Set, exact, ok bool) {
		k, first, ok := side(c)
		if !ok || !integers(c) {
			return nil, false, false
		}
		t := c.Args[c.argument()].Type()
		if c.Typ == types.Date {
			out = out.Intersect(allDates)
		}
		pre = mapSpans(out, t, func(s span) (span, bool) { return unshift(op, s, k, first) })
		if t == types.Date {
			pre = pre.Intersect(allDates)
		}
		return pre, true, true
	}
	return a
}

func init() { // they look functions up
	Builtins().Lookup("-").Key.As = withoutRest
	Builtins().Lookup("RTRIM").Key.WithoutEnd = withoutEnd(false)
	Builtins().Lookup("BTRIM").Key.WithoutEnd = withoutEnd(true)
}

// withoutEnd is Algebra.WithoutEnd of a call that cuts spaces off the end of a text, or off both ends.
func withoutEnd(both bool) func(c *Call) (Expr, bool) {
	return func(c *Call) (Expr, bool) {
		if len(c.Args) == 2 && c.constText(1) != " " {
			return nil, false
		}
		if !both {
			return c.Args[0], true
		}
		start := *c
		start.Func = Builtins().Lookup("LTRIM")
		return &start, true
	}
}

// withoutRest is x / k * k for x - x % k.
func withoutRest(c *Call) Expr {
	rest, ok := c.Args[1].(*Call)
	if !ok || rest.Func.Name != "%" || rest.Typ != types.BigInt || !Same(rest.Args[0], c.Args[0]) {
		return nil
	}
	if k, ok := rest.constInt(1); !ok || k <= 0 {
		return nil
	}
	whole := &Call{Pos: c.Pos, Func: Builtins().Lookup("/"), Args: rest.Args, Typ: c.Typ}
	return &Call{Pos: c.Pos, Func: Builtins().Lookup("*"), Args: []Expr{whole, rest.Args[1]}, Typ: c.Typ}
}

// allDates are the days that a DATE can be.
var allDates = types.SetOf(types.Interval{Lo: types.NewDate(-types.MaxDate), Hi: types.NewDate(types.MaxDate)})

// shift moves s by the operation; what overflows is cut off.
func shift(op string, s span, k int64, first bool) (span, bool) {
	lo, hi := big.NewInt(s.lo), big.NewInt(s.hi)
	c := big.NewInt(k)
	switch {
	case op == "-" && !first:
		lo, hi = new(big.Int).Sub(c, hi), new(big.Int).Sub(c, lo)
	case op == "-":
		lo.Sub(lo, c)
		hi.Sub(hi, c)
	default:
		lo.Add(lo, c)
		hi.Add(hi, c)
	}
	least, most := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	if hi.Cmp(least) < 0 || lo.Cmp(most) > 0 {
		return span{}, false
	}
	out := span{math.MinInt64, math.MaxInt64}
	if lo.Cmp(least) > 0 {
		out.lo = lo.Int64()
	}
	if hi.Cmp(most) < 0 {
		out.hi = hi.Int64()
	}
	return out, true
}

// unshift undoes shift.
func unshift(op string, s span, k int64, first bool) (span, bool) {
	if op == "-" && !first { // x = k - y
		return shift("-", s, k, false)
	}
	if op == "-" {
		return shift("+", s, k, true)
	}
	return shift("-", s, k, true)
}

func addClamp(a, b int64) int64 {
	c, err := intOp("+", a, b)
	if err == nil {
		return c
	}
	if b > 0 {
		return math.MaxInt64
	}
	return math.MinInt64
}

func subClamp(a, b int64) int64 {
	c, err := intOp("-", a, b)
	if err == nil {
		return c
	}
	if b > 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// multiplyAlgebra is for x * c, c * x and x * x.
var multiplyAlgebra = &Algebra{Arg: AnyArg, Pieces: func(c *Call, _ types.Interval) []Piece {
	k, _, ok := c.constant()
	switch {
	case !ok: // a square
		return aroundZero(true, false)
	case !isFinite(k):
		return nil
	}
	falls := sign(k) < 0
	return aroundZero(falls, falls)
}}

// constant gives the only constant of a call of two arguments, and which it is.
func (c *Call) constant() (k types.Value, at int, ok bool) {
	for at, x := range c.Args {
		if k, ok := x.(*Const); ok {
			return k.Val, at, true
		}
	}
	return k, 0, false
}

// isFinite reports whether v is a number, and none that only a DOUBLE has.
func isFinite(v types.Value) bool {
	return v.Type().IsNumeric() && (v.Type() != types.Double && v.Type() != types.Float || finite(v.Double()))
}

// sign is -1, 0 or +1 for a number.
func sign(v types.Value) int {
	c, _ := types.Compare(v, zero)
	return c
}

// quotientPieces are those of x / c, c / x and x / x.
func quotientPieces(c *Call, _ types.Interval) []Piece {
	k, at, ok := c.constant()
	if !ok {
		return slices.Delete(besideZero(false, false), 1, 2)
	}
	if !isFinite(k) || sign(k) == 0 {
		return nil
	}
	down := sign(k) < 0
	switch {
	case c.Typ == types.Float: // a FLOAT may be a double, of which the quotient can be too great and too small
		size := math.Abs(k.Double())
		p := cutAt(types.NewFloatOf(types.Float, -size), types.NewFloatOf(types.Float, size), down != (at == 0), down != (at == 0))
		if at == 0 {
			p = slices.Delete(p, 2, 3)
		}
		return p
	case at == 0: // 0 is left in: who divides by it is told
		return slices.Delete(besideZero(!down, !down), 1, 2)
	case c.Typ == types.BigInt && down:
		return falls
	case c.Typ == types.BigInt:
		return rises
	case c.Typ == types.Decimal && c.Args[0].Type().IsInteger():
		return scalePieces(k, down)
	}
	return aroundZero(down, down)
}

// scalePieces are those of x / k, of an integer and a DECIMAL: the quotient has other digits behind the point from each
// number on at which the leading digit of x in base 10,000 passes that of k, or has a new place.
func scalePieces(k types.Value, falls bool) []Piece {
	d, err := types.Cast(k, types.Decimal, nil)
	if err != nil {
		return nil
	}
	digit, _ := types.Leading(d.Decimal())
	var below, above []Piece
	add := func(lo, hi int64) {
		above = append(above, Piece{In: span{lo, hi}.interval(types.BigInt), Falls: falls})
		below = append(below, Piece{In: span{-hi, -lo}.interval(types.BigInt), Falls: falls})
	}
	add(0, 0)
	for place := int64(1); ; place *= 10_000 {
		if place > math.MaxInt64/(digit+1) {
			add(place, math.MaxInt64)
			break
		}
		add(place, (digit+1)*place-1)
		if place > math.MaxInt64/10_000 {
			add((digit+1)*place, math.MaxInt64)
			break
		}
		add((digit+1)*place, 10_000*place-1)
	}
	slices.Reverse(below)
	below[0].In.Lo = types.NewInt(math.MinInt64)
	return append(below, above...)
}

// divideAlgebra is for x / c, c / x and x / x.
var divideAlgebra = &Algebra{
	Arg: AnyArg, Pieces: quotientPieces,
	Noise: func(c *Call) (float64, float64) {
		if k, at, _ := c.constant(); c.Typ == types.Decimal && (at == 0 || k.IsNull() || !c.Args[0].Type().IsInteger()) { // rounded where its size says
			return 1e-12, 0
		}
		return 0, 0
	},
	Inverse: func(c *Call, out types.Set, _ func() types.Set) (pre types.Set, exact, ok bool) {
		k, ok := c.constInt(1)
		if !ok || k <= 0 || c.Typ != types.BigInt {
			return nil, false, false
		}
		return mapSpans(out, c.Args[0].Type(), func(s span) (span, bool) {
			lo, hi := mulClamp(s.lo, k), mulClamp(s.hi, k)
			if s.lo <= 0 {
				lo = subClamp(lo, k-1)
			}
			if s.hi >= 0 {
				hi = addClamp(hi, k-1)
			}
			return span{lo, hi}, s.lo <= math.MaxInt64/k && s.hi >= math.MinInt64/k
		}), true, true
	},
}

func mulClamp(a, b int64) int64 {
	c, err := intOp("*", a, b)
	if err == nil {
		return c
	}
	if (a < 0) == (b < 0) {
		return math.MaxInt64
	}
	return math.MinInt64
}

// remainderAlgebra is for x % n (sign of x), and FLOORMOD (never negative for n > 0).
func remainderAlgebra(floor bool) *Algebra {
	return &Algebra{Pieces: remainderPieces(floor), Image: func(c *Call, in types.Set) (types.Set, bool) {
		n, ok := c.constInt(1)
		if !ok || n <= 0 || c.Typ != types.BigInt {
			return nil, false
		}
		var out []types.Interval
		for _, iv := range in {
			s := spanOf(iv)
			if floor {
				out = append(out, residues(s, n)...)
				continue
			}
			if s.hi >= 0 {
				out = append(out, residues(span{max(s.lo, 0), s.hi}, n)...)
			}
			if s.lo < 0 {
				lo := s.lo
				if lo == math.MinInt64 {
					lo++ // its remainder is among the others' unless the span is that value alone
					if s.hi == math.MinInt64 {
						out = append(out, types.Point(types.NewInt(s.hi%n)))
						continue
					}
				}
				for _, r := range residues(span{-min(s.hi, -1), -lo}, n) {
					q := spanOf(r)
					out = append(out, span{-q.hi, -q.lo}.interval(types.BigInt))
				}
				if s.lo == math.MinInt64 {
					out = append(out, types.Point(types.NewInt(s.lo%n)))
				}
			}
		}
		return types.SetOf(out...), true
	}}
}

// mostPeriods bounds the pieces of what begins again and again.
const mostPeriods = 400

// periodic are the pieces of in, between two numbers, that begin at start and the multiples of n from there; nil where they are many.
func periodic(in types.Interval, n, start int64) []Piece {
	if in.Lo.IsNull() || in.Hi.IsNull() || n <= 0 {
		return nil
	}
	s := spanOf(in)
	if s.lo < -maxCivil || s.hi > maxCivil || n > maxCivil || (s.hi-s.lo)/n > mostPeriods {
		return nil
	}
	var out []Piece
	for lo := floorDiv(s.lo-start, n)*n + start; lo <= s.hi; lo += n {
		out = append(out, Piece{In: span{lo, lo + n - 1}.interval(in.Lo.Type())})
	}
	return out
}

// remainderPieces are those of x % n and FLOORMOD(x, n), in a range of few multiples of n.
func remainderPieces(floor bool) func(*Call, types.Interval) []Piece {
	return func(c *Call, in types.Interval) []Piece {
		n, ok := c.constInt(1)
		if !ok || c.Typ != types.BigInt || n == 0 || n == math.MinInt64 || in.Lo.IsNull() || in.Hi.IsNull() {
			return nil
		}
		up, down := int64(0), 1-max(n, -n) // from a multiple on, and up to one
		if floor && n > 0 || !floor && in.Lo.Int() >= 0 {
			return periodic(in, max(n, -n), up)
		}
		if floor || in.Hi.Int() <= 0 {
			return periodic(in, max(n, -n), down)
		}
		below, above := periodic(types.Interval{Lo: in.Lo, Hi: types.NewIntOf(in.Lo.Type(), 0)}, max(n, -n), down), periodic(types.Interval{Lo: types.NewIntOf(in.Lo.Type(), 0), Hi: in.Hi}, max(n, -n), up)
		if below == nil || above == nil {
			return nil
		}
		below[len(below)-1].In.Hi = types.NewIntOf(in.Lo.Type(), 0)
		return append(below, above...)
	}
}

// residues gives the values x mod n for x in s, where the remainder is never negative.
func residues(s span, n int64) []types.Interval {
	if uint64(s.hi)-uint64(s.lo) >= uint64(n)-1 {
		return []types.Interval{span{0, n - 1}.interval(types.BigInt)}
	}
	lo, hi := floorMod(s.lo, n), floorMod(s.hi, n)
	if lo <= hi {
		return []types.Interval{span{lo, hi}.interval(types.BigInt)}
	}
	return []types.Interval{span{0, hi}.interval(types.BigInt), span{lo, n - 1}.interval(types.BigInt)}
}

func floorMod(a, n int64) int64 {
	r := a % n
	if r < 0 {
		r += n
	}
	return r
}
