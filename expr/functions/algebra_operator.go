package functions

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// span is an interval of int64, both ends included.
type span struct{ lo, hi int64 }

func spanOf(iv types.Interval) span {
	lo, hi := iv.Ints()
	return span{lo, hi}
}

func (s span) interval(t types.Type) types.Interval {
	return types.IntInterval(t, s.lo, s.hi)
}

// sumPieces returns the pieces of x + c, c + x (sign +1), x - c, c - x (sign -1), x + x and x - x.
func sumPieces(sign int) func(*expr.Call, types.Interval) []expr.Piece {
	return func(c *expr.Call, _ types.Interval) []expr.Piece {
		k, at, ok := constantOf(c)
		switch {
		case ok && k.Type().IsNumeric() && !k.IsFinite():
			return nil
		case !ok || c.Args[1-at].Type() == types.Decimal && c.Typ != types.Decimal: // x + x, or values that are not a DOUBLE near 0
			return solve.AroundZero(false, false)
		case c.Typ == types.Date && c.Args[1-at].Type().IsInteger(): // days whose distance from the constant overflows are excluded
			return solve.AtZero(sign < 0 && at == 0, sign < 0 && at == 0)
		}
		return []expr.Piece{{Falls: sign < 0 && at == 0, Strict: c.Typ != types.Double && c.Typ != types.Float}} // floats are rounded: x - 5.0 may be equal for neighbours
	}
}

// addAlgebra returns the algebra of x + c, c + x (sign +1), x - c and c - x (sign -1).
func addAlgebra(sign int64) *expr.Algebra {
	return &expr.Algebra{Arg: expr.AnyArg, Pieces: sumPieces(int(sign)), Side: func(c *expr.Call, i int, out, other types.Set) (types.Set, bool) {
		if !onIntegers(c) || len(out) == 0 || len(other) == 0 {
			return nil, false
		}
		sum, y := spanOf(types.Interval{Lo: out[0].Lo, Hi: out[len(out)-1].Hi}), spanOf(types.Interval{Lo: other[0].Lo, Hi: other[len(other)-1].Hi})
		if uint64(y.hi)-uint64(y.lo) >= math.MaxInt32 { // so wide a range restricts nothing
			return nil, false
		}
		switch {
		case sign > 0:
			y = span{types.SubClamp(sum.lo, y.hi), types.SubClamp(sum.hi, y.lo)}
		case i == 0:
			y = span{types.AddClamp(sum.lo, y.lo), types.AddClamp(sum.hi, y.hi)}
		default:
			y = span{types.SubClamp(y.lo, sum.hi), types.SubClamp(y.hi, sum.lo)}
		}
		least, most := types.IntRange(c.Args[i].Type())
		if y = (span{max(y.lo, least), min(y.hi, most)}); y.lo > y.hi {
			return nil, true
		}
		return types.SetOf(y.interval(c.Args[i].Type())), true
	}}
}

// onIntegers reports whether c computes an integer of two integers.
func onIntegers(c *expr.Call) bool {
	return c.Typ == types.BigInt && c.Args[0].Type().IsInteger() && c.Args[1].Type().IsInteger()
}

func init() { // in init, because they look up functions
	Builtins().Lookup("-").Key.As = withoutRest
	Builtins().Lookup("+").Key.As = digits
	Builtins().Lookup("SUBSCRIPT").Key = &expr.Algebra{Arg: expr.NoArg, As: fieldOfText}
	Builtins().Lookup("OVERLAPS").Key = &expr.Algebra{Arg: expr.NoArg, As: overlapping}
	Builtins().Lookup("ARRAY_TO_STRING").Key = &expr.Algebra{Arg: expr.NoArg, As: joinedArray}
	Builtins().Lookup("REGEXP_MATCH").Key = &expr.Algebra{Arg: expr.NoArg, Present: func(c *expr.Call) expr.Expr {
		return &expr.Call{Pos: c.Pos, Func: Builtins().Lookup("REGEXP_LIKE"), Args: c.Args, Typ: types.Boolean}
	}}
	for _, name := range []string{"BTRIM", "LTRIM", "RTRIM"} {
		Builtins().Lookup(name).Key.As = trimmedFirst
	}
	intervalAlgebra.As = inMilliseconds
	Builtins().Lookup("FORMAT").Key = &expr.Algebra{Arg: expr.NoArg, As: joinedByFormat}
	Builtins().Lookup("RTRIM").Key.WithoutEnd = withoutEnd(false)
	Builtins().Lookup("BTRIM").Key.WithoutEnd = withoutEnd(true)
}

// withoutEnd returns Algebra.WithoutEnd of functions that cut spaces off the end of a text, or off both ends.
func withoutEnd(both bool) func(c *expr.Call) (expr.Expr, bool) {
	return func(c *expr.Call) (expr.Expr, bool) {
		if len(c.Args) == 2 && c.ConstText(1) != " " {
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
func withoutRest(c *expr.Call) expr.Expr {
	rest, ok := c.Args[1].(*expr.Call)
	if !ok || rest.Func.Name != "%" || rest.Typ != types.BigInt || !expr.Same(rest.Args[0], c.Args[0]) {
		return nil
	}
	if k, ok := rest.ConstInt(1); !ok || k <= 0 {
		return nil
	}
	whole := &expr.Call{Pos: c.Pos, Func: Builtins().Lookup("/"), Args: rest.Args, Typ: c.Typ}
	return &expr.Call{Pos: c.Pos, Func: Builtins().Lookup("*"), Args: []expr.Expr{whole, rest.Args[1]}, Typ: c.Typ}
}

// coarser maps a field of a moment to the larger field in which it starts anew.
var coarser = map[string]string{"month": "year", "doy": "year", "day": "month", "hour": "day", "minute": "hour"}

// digits recognizes a sum in which each field of ts, from the year on, has decimal digits of its own. It returns an
// equivalent call of ts alone, which rises with ts.
//
//	EXTRACT(year FROM ts) * 100 + EXTRACT(month FROM ts)
func digits(c *expr.Call) expr.Expr {
	var x expr.Expr
	finer, below := "", int64(0) // the field after this one, and the greatest difference of all fields after it
	for rest := expr.Expr(c); rest != nil; {
		term := rest
		rest = nil
		if sum, ok := term.(*expr.Call); ok && sum.Func == c.Func {
			rest, term = sum.Args[0], sum.Args[1]
		}
		weight := int64(1)
		if product, ok := integral(term).(*expr.Call); ok && product.Func.Name == "*" {
			if weight, ok = product.ConstInt(1); !ok {
				return nil
			}
			term = product.Args[0]
		}
		part, ok := integral(term).(*expr.Call)
		if !ok || part.Func.Name != "EXTRACT" || x != nil && !expr.Same(x, part.Args[1]) || weight <= below {
			return nil
		}
		k, ok := part.Args[0].(*expr.Const)
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
	of := expr.Map(c, func(e expr.Expr) expr.Expr {
		if expr.Same(e, x) {
			return &expr.Column{Typ: x.Type()}
		}
		return e
	})
	eval := func(env *expr.Env, args []types.Value) (types.Value, error) { return of.Eval(&expr.Env{Row: args}) }
	return &expr.Call{Pos: c.Pos, Typ: c.Typ, Args: []expr.Expr{x}, Func: &expr.Function{Name: c.Func.Name, Strict: true, Eval: eval, Key: &expr.Algebra{Pieces: allPieces(rises)}}}
}

// integral returns e, an integer, without casts to other types of numbers.
func integral(e expr.Expr) expr.Expr {
	if c, ok := e.(*expr.Cast); ok && c.Typ.IsNumeric() && c.X.Type().IsInteger() {
		return integral(c.X)
	}
	return e
}

// trimmedFirst returns UPPER(TRIM(x)) for TRIM(UPPER(x)), and so on: spaces have no case.
func trimmedFirst(c *expr.Call) expr.Expr {
	of, ok := c.Args[0].(*expr.Call)
	if !ok || of.Func.Name != "UPPER" && of.Func.Name != "LOWER" || len(c.Args) == 2 && c.ConstText(1) != " " {
		return nil
	}
	trim := *c
	trim.Args = append([]expr.Expr{of.Args[0]}, c.Args[1:]...)
	return &expr.Call{Pos: c.Pos, Func: of.Func, Args: []expr.Expr{&trim}, Typ: of.Typ}
}

// joinedArray returns CONCAT_WS(s, a, b) for ARRAY_TO_STRING(ARRAY[a, b], s).
func joinedArray(c *expr.Call) expr.Expr {
	of, ok := c.Args[0].(*expr.Call)
	if !ok || of.Func.Name != "ARRAY" || len(c.Args) > 2 || slices.ContainsFunc(of.Args, func(x expr.Expr) bool { return x.Type() != types.String && !x.Type().IsInteger() }) {
		return nil
	}
	return &expr.Call{Pos: c.Pos, Func: Builtins().Lookup("CONCAT_WS"), Args: append([]expr.Expr{c.Args[1]}, of.Args...), Typ: types.String}
}

// fieldOfText rewrites (STRING_TO_ARRAY(x, d))[n] to a single call with the arguments x, d and n. The call returns
// SPLIT_PART(x, d, n), or NULL if there is no such part.
func fieldOfText(c *expr.Call) expr.Expr {
	of, ok := c.Args[0].(*expr.Call)
	if !ok || of.Func.Name != "STRING_TO_ARRAY" || len(of.Args) != 2 || len(c.Args) != 2 || of.Args[0].Type() != types.String {
		return nil
	}
	if d, ok := of.Args[1].(*expr.Const); !ok || d.Val.IsNull() || d.Val.Text() == "" {
		return nil
	}
	eval := func(env *expr.Env, a []types.Value) (types.Value, error) {
		array, err := of.Func.Eval(env, a[:2])
		if err != nil || array.IsNull() {
			return array, err
		}
		return c.Func.Eval(env, []types.Value{array, a[2]})
	}
	inverse := func(c *expr.Call, out types.Set, within expr.Window) (pre types.Set, exact, ok bool) {
		if out.Contains(types.NewString("")) { // for a part that does not exist, SPLIT_PART returns the empty text, not NULL
			return nil, false, false
		}
		return invertSplit(c, out, within)
	}
	return &expr.Call{Pos: c.Pos, Typ: c.Typ, Args: []expr.Expr{of.Args[0], of.Args[1], c.Args[1]}, Func: &expr.Function{Name: c.Func.Name, Eval: eval, Key: &expr.Algebra{Inverse: inverse}}}
}

// overlapping returns comparisons of the starts and ends that are equivalent to an OVERLAPS: each period is from its lesser
// moment to the greater one.
func overlapping(c *expr.Call) expr.Expr {
	end := func(name string, i int) expr.Expr {
		return expr.FoldNode(&expr.Call{Pos: c.Pos, Func: Builtins().Lookup(name), Args: c.Args[i : i+2 : i+2], Typ: c.Args[i].Type()}, nil)
	}
	if slices.ContainsFunc(c.Args, func(x expr.Expr) bool { return x.Type() != c.Args[0].Type() }) {
		return nil
	}
	start, finish, from, to := end("LEAST", 0), end("GREATEST", 0), end("LEAST", 2), end("GREATEST", 2)
	is := func(op expr.CompareOp, x, y expr.Expr) expr.Expr {
		if _, constant := x.(*expr.Const); constant {
			x, y, op = y, x, op.Flip()
		}
		return &expr.Compare{Pos: c.Pos, Op: op, X: x, Y: y}
	}
	out := &expr.Case{Pos: c.Pos, Typ: types.Boolean, Else: &expr.Or{Terms: []expr.Expr{is(expr.EQ, start, from), &expr.And{Terms: []expr.Expr{is(expr.LT, start, to), is(expr.LT, from, finish)}}}}}
	for _, x := range c.Args {
		if _, constant := x.(*expr.Const); !constant { // LEAST and GREATEST leave NULL out
			out.Whens = append(out.Whens, expr.When{Cond: &expr.IsNull{Pos: c.Pos, X: x}, Then: &expr.Const{Pos: c.Pos, Typ: types.Boolean}})
		}
	}
	return out
}

// inMilliseconds rewrites the sum of a constant moment and a multiple of an interval to a sum of milliseconds:
// TIMESTAMP 'epoch' + n * INTERVAL '1 second'.
func inMilliseconds(c *expr.Call) expr.Expr {
	start, constant := c.Args[0].(*expr.Const)
	times, ok := c.Args[1].(*expr.Call)
	if !constant || !ok || len(c.Args) != 2 || times.Func.Name != "INTERVAL_MULTIPLY" || !start.Typ.IsTimestamp() || start.Val.IsNull() {
		return nil
	}
	unit, ok := times.Args[0].(*expr.Const)
	if !ok || unit.Val.IsNull() || !times.Args[1].Type().IsInteger() {
		return nil
	}
	months, ms := unit.Val.Months()
	if months != 0 {
		return nil
	}
	number := func(n int64) expr.Expr { return &expr.Const{Pos: c.Pos, Val: types.NewInt(n), Typ: types.BigInt} }
	n := &expr.Call{Pos: c.Pos, Func: Builtins().Lookup("*"), Args: []expr.Expr{times.Args[1], number(ms)}, Typ: types.BigInt}
	return &expr.Cast{Pos: c.Pos, X: &expr.Call{Pos: c.Pos, Func: Builtins().Lookup("+"), Args: []expr.Expr{number(start.Val.Int()), n}, Typ: types.BigInt}, Typ: c.Typ, Zone: time.UTC}
}

// joinedByFormat returns the CONCAT that is equal to a FORMAT, if its format contains only %s and other text.
func joinedByFormat(c *expr.Call) expr.Expr {
	k, ok := c.Args[0].(*expr.Const)
	if !ok || k.Val.IsNull() {
		return nil
	}
	texts := strings.Split(k.Val.Text(), "%s")
	if strings.Contains(strings.Join(texts, ""), "%") || len(texts) != len(c.Args) {
		return nil
	}
	out := &expr.Call{Pos: c.Pos, Func: Builtins().Lookup("CONCAT"), Typ: types.String}
	for i, s := range texts {
		out.Args = append(out.Args, &expr.Const{Pos: c.Pos, Val: types.NewString(s), Typ: types.String})
		if i+1 < len(texts) {
			out.Args = append(out.Args, c.Args[i+1])
		}
	}
	return out
}

// multiplyAlgebra is the algebra of x * c, c * x and x * x.
var multiplyAlgebra = &expr.Algebra{Arg: expr.AnyArg, Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
	k, _, ok := constantOf(c)
	switch {
	case !ok: // x * x
		return solve.AroundZero(true, false)
	case !k.IsFinite():
		return nil
	}
	falls := sign(k) < 0
	return solve.AroundZero(falls, falls)
}}

// constantOf returns the only constant of a call with two arguments, and its index.
func constantOf(c *expr.Call) (k types.Value, at int, ok bool) {
	for at, x := range c.Args {
		if k, ok := x.(*expr.Const); ok {
			return k.Val, at, true
		}
	}
	return k, 0, false
}

// sign is -1, 0 or +1 for a number.
func sign(v types.Value) int {
	c, _ := types.Compare(v, zero)
	return c
}

// quotientPieces returns the pieces of x / c, c / x and x / x.
func quotientPieces(c *expr.Call, _ types.Interval) []expr.Piece {
	k, at, ok := constantOf(c)
	if !ok {
		return slices.Delete(solve.BesideZero(false, false), 1, 2)
	}
	if !k.IsFinite() || sign(k) == 0 {
		return nil
	}
	down := sign(k) < 0
	switch {
	case c.Typ == types.Float: // a FLOAT may hold a double, whose quotient may be out of range at both ends
		size := math.Abs(k.Double())
		p := solve.CutAt(types.NewFloatOf(types.Float, -size), types.NewFloatOf(types.Float, size), down != (at == 0), down != (at == 0))
		if at == 0 {
			p = slices.Delete(p, 2, 3)
		}
		return p
	case at == 0: // 0 is not excluded: dividing by it is an error
		return slices.Delete(solve.BesideZero(!down, !down), 1, 2)
	case c.Typ == types.BigInt && down:
		return falls
	case c.Typ == types.BigInt:
		return rises
	case c.Typ == types.Decimal && c.Args[0].Type().IsInteger():
		return scalePieces(k, down)
	}
	return solve.AroundZero(down, down)
}

// scalePieces returns the pieces of x / k for an integer and a DECIMAL. The number of the quotient's decimals changes at
// each number where the leading digit of x in base 10,000 passes that of k, or its exponent changes.
func scalePieces(k types.Value, falls bool) []expr.Piece {
	d, err := types.Cast(k, types.Decimal, nil)
	if err != nil {
		return nil
	}
	digit, _ := types.Leading(d.Decimal())
	var below, above []expr.Piece
	add := func(lo, hi int64) {
		above = append(above, expr.Piece{In: span{lo, hi}.interval(types.BigInt), Falls: falls})
		below = append(below, expr.Piece{In: span{-hi, -lo}.interval(types.BigInt), Falls: falls})
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
var divideAlgebra = &expr.Algebra{Arg: expr.AnyArg, Pieces: quotientPieces, Noise: func(c *expr.Call) (float64, float64) {
	if k, at, _ := constantOf(c); c.Typ == types.Decimal && (at == 0 || k.IsNull() || !c.Args[0].Type().IsInteger()) { // it is rounded depending on its size
		return 1e-12, 0
	}
	return 0, 0
}}

// remainderAlgebra returns the algebra of x % n, which has the sign of x, or of FLOORMOD, which is not negative for n > 0.
func remainderAlgebra(floor bool) *expr.Algebra {
	return &expr.Algebra{Pieces: remainderPieces(floor), Image: func(c *expr.Call, in types.Set) (types.Set, bool) {
		n, ok := c.ConstInt(1)
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

// remainderPieces returns the pieces of x % n and FLOORMOD(x, n) if in contains few multiples of n.
func remainderPieces(floor bool) func(*expr.Call, types.Interval) []expr.Piece {
	return func(c *expr.Call, in types.Interval) []expr.Piece {
		n, ok := c.ConstInt(1)
		if !ok || c.Typ != types.BigInt || n == 0 || n == math.MinInt64 || in.Lo.IsNull() || in.Hi.IsNull() {
			return nil
		}
		up, down := int64(0), 1-max(n, -n) // the ranges after a multiple and before one
		if floor && n > 0 || !floor && in.Lo.Int() >= 0 {
			return solve.Periodic(in, max(n, -n), up)
		}
		if floor || in.Hi.Int() <= 0 {
			return solve.Periodic(in, max(n, -n), down)
		}
		below, above := solve.Periodic(types.Interval{Lo: in.Lo, Hi: types.NewIntOf(in.Lo.Type(), 0)}, max(n, -n), down), solve.Periodic(types.Interval{Lo: types.NewIntOf(in.Lo.Type(), 0), Hi: in.Hi}, max(n, -n), up)
		if below == nil || above == nil {
			return nil
		}
		below[len(below)-1].In.Hi = types.NewIntOf(in.Lo.Type(), 0)
		return append(below, above...)
	}
}
