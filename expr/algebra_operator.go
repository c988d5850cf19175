package expr

import (
	"math"
	"slices"
	"strings"
	"time"

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

// mapSpans maps the intervals of in by f, and returns the set of the results as values of type t.
func mapSpans(in types.Set, t types.Type, f func(span) (span, bool)) types.Set {
	out := make([]types.Interval, 0, len(in))
	for _, iv := range in {
		if s, ok := f(spanOf(iv)); ok {
			out = append(out, s.interval(t))
		}
	}
	return types.SetOf(out...)
}

// sumPieces returns the pieces of x + c, c + x (sign +1), x - c, c - x (sign -1), x + x and x - x.
func sumPieces(sign int) func(*Call, types.Interval) []Piece {
	return func(c *Call, _ types.Interval) []Piece {
		k, at, ok := c.constant()
		switch {
		case ok && k.Type().IsNumeric() && !isFinite(k):
			return nil
		case !ok || c.Args[1-at].Type() == types.Decimal && c.Typ != types.Decimal: // x + x, or values that are not a DOUBLE near 0
			return aroundZero(false, false)
		case c.Typ == types.Date && c.Args[1-at].Type().IsInteger(): // days whose distance from the constant overflows are excluded
			return atZero(sign < 0 && at == 0, sign < 0 && at == 0)
		}
		return []Piece{{Falls: sign < 0 && at == 0, Strict: c.Typ != types.Double && c.Typ != types.Float}} // floats are rounded: x - 5.0 may be equal for neighbours
	}
}

// addAlgebra returns the algebra of x + c, c + x (sign +1), x - c and c - x (sign -1).
func addAlgebra(sign int64) *Algebra {
	return &Algebra{Arg: AnyArg, Pieces: sumPieces(int(sign)), Side: func(c *Call, i int, out, other types.Set) (types.Set, bool) {
		if !onIntegers(c) || len(out) == 0 || len(other) == 0 {
			return nil, false
		}
		sum, y := spanOf(types.Interval{Lo: out[0].Lo, Hi: out[len(out)-1].Hi}), spanOf(types.Interval{Lo: other[0].Lo, Hi: other[len(other)-1].Hi})
		if uint64(y.hi)-uint64(y.lo) >= math.MaxInt32 { // it says nothing of use
			return nil, false
		}
		switch {
		case sign > 0:
			y = span{subClamp(sum.lo, y.hi), subClamp(sum.hi, y.lo)}
		case i == 0:
			y = span{addClamp(sum.lo, y.lo), addClamp(sum.hi, y.hi)}
		default:
			y = span{subClamp(y.lo, sum.hi), subClamp(y.hi, sum.lo)}
		}
		least, most := types.IntRange(c.Args[i].Type())
		if y = (span{max(y.lo, least), min(y.hi, most)}); y.lo > y.hi {
			return nil, true
		}
		return types.SetOf(y.interval(c.Args[i].Type())), true
	}}
}

// onIntegers reports whether c computes an integer of two integers.
func onIntegers(c *Call) bool {
	return c.Typ == types.BigInt && c.Args[0].Type().IsInteger() && c.Args[1].Type().IsInteger()
}

func init() { // in init, because they look up functions
	Builtins().Lookup("-").Key.As = withoutRest
	Builtins().Lookup("+").Key.As = digits
	Builtins().Lookup("SUBSCRIPT").Key = &Algebra{Arg: NoArg, As: fieldOfText}
	Builtins().Lookup("OVERLAPS").Key = &Algebra{Arg: NoArg, As: overlapping}
	Builtins().Lookup("ARRAY_TO_STRING").Key = &Algebra{Arg: NoArg, As: joinedArray}
	for _, name := range []string{"BTRIM", "LTRIM", "RTRIM"} {
		Builtins().Lookup(name).Key.As = trimmedFirst
	}
	intervalAlgebra.As = inMilliseconds
	Builtins().Lookup("FORMAT").Key = &Algebra{Arg: NoArg, As: joinedByFormat}
	Builtins().Lookup("RTRIM").Key.WithoutEnd = withoutEnd(false)
	Builtins().Lookup("BTRIM").Key.WithoutEnd = withoutEnd(true)
}

// withoutEnd returns Algebra.WithoutEnd of functions that cut spaces off the end of a text, or off both ends.
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

// withoutRest returns x / k * k for x - x % k.
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

// coarser is the field of a moment in which a field begins again.
var coarser = map[string]string{"month": "year", "doy": "year", "day": "month", "hour": "day", "minute": "hour"}

// digits returns a call of ts alone for a sum in which fields of ts, from the year on, have digits of their own: it rises.
//
//	EXTRACT(year FROM ts) * 100 + EXTRACT(month FROM ts)
func digits(c *Call) Expr {
	var x Expr
	finer, below := "", int64(0) // the field after this one, and the greatest difference of all fields after it
	for rest := Expr(c); rest != nil; {
		term := rest
		rest = nil
		if sum, ok := term.(*Call); ok && sum.Func == c.Func {
			rest, term = sum.Args[0], sum.Args[1]
		}
		weight := int64(1)
		if product, ok := integral(term).(*Call); ok && product.Func.Name == "*" {
			if weight, ok = product.constInt(1); !ok {
				return nil
			}
			term = product.Args[0]
		}
		part, ok := integral(term).(*Call)
		if !ok || part.Func.Name != "EXTRACT" || x != nil && !Same(x, part.Args[1]) || weight <= below {
			return nil
		}
		k, ok := part.Args[0].(*Const)
		if !ok || finer != "" && field(k.Val) != coarser[finer] {
			return nil
		}
		finer, x = field(k.Val), part.Args[1]
		of := fieldDomain[finer]
		below += weight * (of.hi - of.lo)
	}
	if finer != "year" {
		return nil
	}
	of := Map(c, func(e Expr) Expr {
		if Same(e, x) {
			return &Column{Typ: x.Type()}
		}
		return e
	})
	eval := func(env *Env, args []types.Value) (types.Value, error) { return of.Eval(&Env{Row: args}) }
	return &Call{Pos: c.Pos, Typ: c.Typ, Args: []Expr{x}, Func: &Function{Name: c.Func.Name, strict: true, Eval: eval, Key: &Algebra{Pieces: allPieces(rises)}}}
}

// integral returns e without casts between types of integers.
func integral(e Expr) Expr {
	if c, ok := e.(*Cast); ok && c.Typ.IsInteger() && c.X.Type().IsInteger() {
		return integral(c.X)
	}
	return e
}

// trimmedFirst returns UPPER(TRIM(x)) for TRIM(UPPER(x)), and so on: spaces have no case.
func trimmedFirst(c *Call) Expr {
	of, ok := c.Args[0].(*Call)
	if !ok || of.Func.Name != "UPPER" && of.Func.Name != "LOWER" || len(c.Args) == 2 && c.constText(1) != " " {
		return nil
	}
	trim := *c
	trim.Args = append([]Expr{of.Args[0]}, c.Args[1:]...)
	return &Call{Pos: c.Pos, Func: of.Func, Args: []Expr{&trim}, Typ: of.Typ}
}

// joinedArray returns CONCAT_WS(s, a, b) for ARRAY_TO_STRING(ARRAY[a, b], s).
func joinedArray(c *Call) Expr {
	of, ok := c.Args[0].(*Call)
	if !ok || of.Func.Name != "ARRAY" || len(c.Args) > 2 || slices.ContainsFunc(of.Args, func(x Expr) bool { return x.Type() != types.String && !x.Type().IsInteger() }) {
		return nil
	}
	return &Call{Pos: c.Pos, Func: Builtins().Lookup("CONCAT_WS"), Args: append([]Expr{c.Args[1]}, of.Args...), Typ: types.String}
}

// fieldOfText returns a call of x alone for (STRING_TO_ARRAY(x, d))[n], which is SPLIT_PART(x, d, n) or NULL.
func fieldOfText(c *Call) Expr {
	of, ok := c.Args[0].(*Call)
	if !ok || of.Func.Name != "STRING_TO_ARRAY" || len(of.Args) != 2 || len(c.Args) != 2 || of.Args[0].Type() != types.String {
		return nil
	}
	if d, ok := of.Args[1].(*Const); !ok || d.Val.IsNull() || d.Val.Text() == "" {
		return nil
	}
	eval := func(env *Env, a []types.Value) (types.Value, error) {
		array, err := of.Func.Eval(env, a[:2])
		if err != nil || array.IsNull() {
			return array, err
		}
		return c.Func.Eval(env, []types.Value{array, a[2]})
	}
	inverse := func(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool) {
		if out.Contains(types.NewString("")) { // a part that is not there is another text for SPLIT_PART
			return nil, false, false
		}
		return invertSplit(c, out, within)
	}
	return &Call{Pos: c.Pos, Typ: c.Typ, Args: []Expr{of.Args[0], of.Args[1], c.Args[1]}, Func: &Function{Name: c.Func.Name, Eval: eval, Key: &Algebra{Inverse: inverse}}}
}

// overlapping returns comparisons of the starts and ends that are equivalent to an OVERLAPS: each period is from its lesser
// moment to the greater one.
func overlapping(c *Call) Expr {
	end := func(name string, i int) Expr {
		return fold(&Call{Pos: c.Pos, Func: Builtins().Lookup(name), Args: c.Args[i : i+2 : i+2], Typ: c.Args[i].Type()}, nil)
	}
	if slices.ContainsFunc(c.Args, func(x Expr) bool { return x.Type() != c.Args[0].Type() }) {
		return nil
	}
	start, finish, from, to := end("LEAST", 0), end("GREATEST", 0), end("LEAST", 2), end("GREATEST", 2)
	is := func(op CompareOp, x, y Expr) Expr {
		if _, constant := x.(*Const); constant {
			x, y, op = y, x, op.flip()
		}
		return &Compare{Pos: c.Pos, Op: op, X: x, Y: y}
	}
	out := &Case{Pos: c.Pos, Typ: types.Boolean, Else: &Or{Terms: []Expr{is(EQ, start, from), &And{Terms: []Expr{is(LT, start, to), is(LT, from, finish)}}}}}
	for _, x := range c.Args {
		if _, constant := x.(*Const); !constant { // LEAST and GREATEST leave NULL out
			out.Whens = append(out.Whens, When{&IsNull{Pos: c.Pos, X: x}, &Const{Pos: c.Pos, Typ: types.Boolean}})
		}
	}
	return out
}

// inMilliseconds is for a constant moment and a multiple of an interval: TIMESTAMP 'epoch' + n * INTERVAL '1 second'.
func inMilliseconds(c *Call) Expr {
	start, constant := c.Args[0].(*Const)
	times, ok := c.Args[1].(*Call)
	if !constant || !ok || times.Func.Name != "INTERVAL_MULTIPLY" || !start.Typ.IsTimestamp() || start.Val.IsNull() {
		return nil
	}
	unit, ok := times.Args[0].(*Const)
	if !ok || unit.Val.IsNull() || !times.Args[1].Type().IsInteger() {
		return nil
	}
	months, ms := unit.Val.Duration()
	if months != 0 {
		return nil
	}
	number := func(n int64) Expr { return &Const{Pos: c.Pos, Val: types.NewInt(n), Typ: types.BigInt} }
	n := &Call{Pos: c.Pos, Func: Builtins().Lookup("*"), Args: []Expr{times.Args[1], number(ms)}, Typ: types.BigInt}
	return &Cast{Pos: c.Pos, X: &Call{Pos: c.Pos, Func: Builtins().Lookup("+"), Args: []Expr{number(start.Val.Int()), n}, Typ: types.BigInt}, Typ: c.Typ, Zone: time.UTC}
}

// joinedByFormat is the CONCAT that says the same as FORMAT, where its format has nothing but %s and text.
func joinedByFormat(c *Call) Expr {
	k, ok := c.Args[0].(*Const)
	if !ok || k.Val.IsNull() {
		return nil
	}
	texts := strings.Split(k.Val.Text(), "%s")
	if strings.Contains(strings.Join(texts, ""), "%") || len(texts) != len(c.Args) {
		return nil
	}
	out := &Call{Pos: c.Pos, Func: Builtins().Lookup("CONCAT"), Typ: types.String}
	for i, s := range texts {
		out.Args = append(out.Args, &Const{Pos: c.Pos, Val: types.NewString(s), Typ: types.String})
		if i+1 < len(texts) {
			out.Args = append(out.Args, c.Args[i+1])
		}
	}
	return out
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

// multiplyAlgebra is the algebra of x * c, c * x and x * x.
var multiplyAlgebra = &Algebra{Arg: AnyArg, Pieces: func(c *Call, _ types.Interval) []Piece {
	k, _, ok := c.constant()
	switch {
	case !ok: // x * x
		return aroundZero(true, false)
	case !isFinite(k):
		return nil
	}
	falls := sign(k) < 0
	return aroundZero(falls, falls)
}}

// constant returns the only constant of a call with two arguments, and its index.
func (c *Call) constant() (k types.Value, at int, ok bool) {
	for at, x := range c.Args {
		if k, ok := x.(*Const); ok {
			return k.Val, at, true
		}
	}
	return k, 0, false
}

// isFinite reports whether v is a number that is not infinite or NaN.
func isFinite(v types.Value) bool {
	return v.Type().IsNumeric() && (v.Type() != types.Double && v.Type() != types.Float || finite(v.Double()))
}

// sign is -1, 0 or +1 for a number.
func sign(v types.Value) int {
	c, _ := types.Compare(v, zero)
	return c
}

// quotientPieces returns the pieces of x / c, c / x and x / x.
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
	case c.Typ == types.Float: // a FLOAT may hold a double, whose quotient may be out of range at both ends
		size := math.Abs(k.Double())
		p := cutAt(types.NewFloatOf(types.Float, -size), types.NewFloatOf(types.Float, size), down != (at == 0), down != (at == 0))
		if at == 0 {
			p = slices.Delete(p, 2, 3)
		}
		return p
	case at == 0: // 0 is not excluded: dividing by it is an error
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

// scalePieces returns the pieces of x / k for an integer and a DECIMAL. The number of the quotient's decimals changes at
// each number where the leading digit of x in base 10,000 passes that of k, or its exponent changes.
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

// divideAlgebra is the algebra of x / c, c / x and x / x.
var divideAlgebra = &Algebra{Arg: AnyArg, Pieces: quotientPieces, Noise: func(c *Call) (float64, float64) {
	if k, at, _ := c.constant(); c.Typ == types.Decimal && (at == 0 || k.IsNull() || !c.Args[0].Type().IsInteger()) { // it is rounded depending on its size
		return 1e-12, 0
	}
	return 0, 0
}}

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

// remainderAlgebra returns the algebra of x % n, which has the sign of x, or of FLOORMOD, which is not negative for n > 0.
func remainderAlgebra(floor bool) *Algebra {
	return &Algebra{Pieces: remainderPieces(floor), Image: func(c *Call, in types.Set) (types.Set, bool) {
		n, ok := c.constInt(1)
		if !ok || n <= 0 || c.Typ != types.BigInt || len(in) == 0 {
			return nil, false
		}
		var rest span
		if all := (span{spanOf(in[0]).lo, spanOf(in[len(in)-1]).hi}); all.lo < 0 && !floor {
			rest = span{1 - n, min(max(all.hi, 0), n-1)}
		} else {
			rest.hi = n - 1
		}
		return types.SetOf(rest.interval(types.BigInt)), true
	}}
}

// mostPeriods bounds the number of pieces of a periodic function.
const mostPeriods = 400

// periodic divides in, an interval of numbers, into pieces that begin at start plus multiples of n. It returns nil if they
// would be too many.
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

// remainderPieces returns the pieces of x % n and FLOORMOD(x, n) if in contains few multiples of n.
func remainderPieces(floor bool) func(*Call, types.Interval) []Piece {
	return func(c *Call, in types.Interval) []Piece {
		n, ok := c.constInt(1)
		if !ok || c.Typ != types.BigInt || n == 0 || n == math.MinInt64 || in.Lo.IsNull() || in.Hi.IsNull() {
			return nil
		}
		up, down := int64(0), 1-max(n, -n) // the ranges after a multiple and before one
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

func floorMod(a, n int64) int64 {
	r := a % n
	if r < 0 {
		r += n
	}
	return r
}
