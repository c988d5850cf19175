package functions

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

var (
	errOverflow = errors.New("BIGINT out of range")
	errDivZero  = errors.New("division by zero")
)

var operators = []expr.Function{
	{Name: "+", Group: "operator", Signature: "a + b", Doc: "Sum; a DATE plus days.", MinArgs: 2, MaxArgs: 2,
		Result: arithmetic("+"), Eval: evalArithmetic("+"), Key: addAlgebra(+1)},
	{Name: "-", Group: "operator", Signature: "a - b", Doc: "Difference; days between two DATEs, an INTERVAL between two TIMESTAMPs (milliseconds in key parts).", MinArgs: 2, MaxArgs: 2,
		Result: arithmetic("-"), Eval: evalArithmetic("-"), Key: addAlgebra(-1)},
	{Name: "*", Group: "operator", Signature: "a * b", Doc: "Product.", MinArgs: 2, MaxArgs: 2,
		Result: arithmetic("*"), Eval: evalArithmetic("*"), Key: multiplyAlgebra},
	{Name: "/", Group: "operator", Signature: "a / b", Doc: "Quotient; integers are divided towards zero.", MinArgs: 2, MaxArgs: 2,
		Result: arithmetic("/"), Eval: evalArithmetic("/"), Key: divideAlgebra},
	{Name: "%", Group: "operator", Signature: "a % b", Doc: "Remainder, with the sign of a.", MinArgs: 2, MaxArgs: 2,
		Result: arithmetic("%"), Eval: evalArithmetic("%"), Key: remainderAlgebra(false)},
	bitwise("&", "", "The bits that are set in both.", func(a, b int64) int64 { return a & b }, &expr.Algebra{Arg: expr.AnyArg, Pieces: maskPieces, Domain: func(c *expr.Call) (types.Set, bool) {
		k, _, ok := constantOf(c)
		if !ok || k.IsNull() || k.Int() < 0 {
			return nil, false
		}
		return types.SetOf(span{0, k.Int()}.interval(types.BigInt)), true
	}}),
	bitwise("|", "", "The bits that are set in one or both.", func(a, b int64) int64 { return a | b }, &expr.Algebra{Arg: expr.AnyArg, Pieces: setPieces}),
	bitwise("#", "bits keep no order", "The bits that are set in one of both.", func(a, b int64) int64 { return a ^ b }, nil),
	shifting("<<", "The bits of a moved b places up, b from 0 to 63; those that leave 64 bits are lost.", func(a, b int64) int64 { return a << b }, func(c *expr.Call, _ types.Interval) []expr.Piece {
		k, ok := c.ConstInt(1)
		if !ok || k < 0 || k > 62 {
			return nil
		}
		return []expr.Piece{{In: span{math.MinInt64 >> k, math.MaxInt64 >> k}.interval(types.BigInt), Strict: true}}
	}),
	shifting(">>", "The bits of a moved b places down, b from 0 to 63; the sign stays.", func(a, b int64) int64 { return a >> b }, func(c *expr.Call, _ types.Interval) []expr.Piece {
		if _, ok := c.ConstInt(1); !ok {
			return nil
		}
		return rises
	}),
	{Name: "BIT_NOT", Group: "number", Same: true, Signature: "~a", Doc: "All bits of an integer inverted.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return types.NewInt(^a[0].Int()), nil },
		Key: &expr.Algebra{Pieces: allPieces([]expr.Piece{{Falls: true, Strict: true}})}},
	{Name: "NEGATE", Group: "operator", Signature: "-a", Doc: "The negative number.", MinArgs: 1, MaxArgs: 1,
		Result: absResult, Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			switch v := a[0]; {
			case v.Type().IsInteger():
				if v.Int() == math.MinInt64 {
					return types.Value{}, errOverflow
				}
				return types.NewIntOf(types.BigInt, -v.Int()), nil
			case v.Type() == types.Decimal:
				return types.NewDecimal(new(apd.Decimal).Neg(v.Decimal())), nil
			default:
				return types.NewFloatOf(v.Type(), -v.Double()), nil
			}
		}, Key: &expr.Algebra{Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
			return []expr.Piece{{Falls: true, Strict: c.Typ.IsInteger() || c.Typ == types.Decimal}}
		}}},
	{Name: "DECIMAL", Group: "operator", Signature: "CAST(x AS DECIMAL(p, s))", Doc: "Rounded to s digits behind the point; an error if more than p - s digits are before it.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.Decimal, isNumber, isInt), Eval: precision, Key: &expr.Algebra{Pieces: allPieces(solve.AtZero(false, false))}},
	{Name: "||", Group: "operator", Joins: &expr.Join{}, Key: concatAlgebra, Signature: "a || b", Doc: "Texts, or BYTES, one after the other; of JSON the members of both objects, or the elements of both.", MinArgs: 2, MaxArgs: 2,
		Result: func(args []expr.Expr) (types.Type, error) {
			a, b := args[0].Type(), args[1].Type()
			if a.IsJSON() && b.IsJSON() {
				return types.JSONB, nil
			}
			if a != types.Bytes && b != types.Bytes {
				return types.String, nil
			}
			for _, t := range []types.Type{a, b} {
				if t != types.Bytes && t != types.Null {
					return 0, fmt.Errorf("%s || %s: both must be BYTES", a, b)
				}
			}
			return types.Bytes, nil
		},
		Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			if a[0].Type().IsJSON() && a[1].Type().IsJSON() {
				out, ok := types.ConcatJSON(a[0], a[1])
				if !ok {
					return out, errors.New("invalid JSON")
				}
				return out, nil
			}
			if a[0].Type() == types.Bytes {
				return types.NewBytes(a[0].Text() + a[1].Text()), nil
			}
			x, err := types.Cast(a[0], types.String, env.Loc)
			if err != nil {
				return x, err
			}
			y, err := types.Cast(a[1], types.String, env.Loc)
			return types.NewString(x.Text() + y.Text()), err
		}},
}

// bitwise returns an operator on the bits of integers.
func bitwise(op, unknown, doc string, of func(a, b int64) int64, key *expr.Algebra) expr.Function {
	return expr.Function{Name: op, Group: "operator", Unknown: unknown, Signature: "a " + op + " b", Doc: doc, MinArgs: 2, MaxArgs: 2, Key: key,
		Result: returns(types.BigInt, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewInt(of(a[0].Int(), a[1].Int())), nil
		}}
}

// maskPieces returns the pieces of x & k. If k has all bits from one bit on, the result is x with the lower bits cleared.
// If k has only lower bits, the result is periodic.
func maskPieces(c *expr.Call, in types.Interval) []expr.Piece {
	k, _, ok := constantOf(c)
	if !ok {
		return nil
	}
	n := k.Int()
	run := n >> bits.TrailingZeros64(uint64(n))
	switch {
	case -n&n == -n:
		return rises
	case n > 0 && run&(run+1) == 0:
		return solve.Periodic(in, 1<<bits.Len64(uint64(n)), 0)
	}
	return nil
}

// setPieces returns the pieces of x | k if k has all bits below one bit: the result is x with these bits set.
func setPieces(c *expr.Call, in types.Interval) []expr.Piece {
	k, _, ok := constantOf(c)
	if !ok {
		return nil
	}
	switch n := k.Int(); {
	case n >= 0 && n&(n+1) == 0:
		return rises
	case n < 0 && -n&n == -n && n != math.MinInt64:
		return solve.Periodic(in, -n, 0)
	}
	return nil
}

// shifting returns an operator that shifts bits; b is the number of places.
func shifting(op, doc string, of func(a, b int64) int64, pieces func(*expr.Call, types.Interval) []expr.Piece) expr.Function {
	f := bitwise(op, "", doc, of, &expr.Algebra{Pieces: pieces})
	move := f.Eval
	f.Eval = func(env *expr.Env, a []types.Value) (types.Value, error) {
		if n := a[1].Int(); n < 0 || n > 63 {
			return types.Value{}, fmt.Errorf("bits can be shifted by 0 to 63 places, not by %d", n)
		}
		return move(env, a)
	}
	return f
}

// precision rounds a[0] to a[2] digits after the point, and allows a[1] digits in all.
func precision(_ *expr.Env, a []types.Value) (types.Value, error) {
	p, s := a[1].Int(), int64(0)
	if len(a) == 3 {
		s = a[2].Int()
	}
	if p < 1 || s < 0 || s > p {
		return types.Value{}, fmt.Errorf("DECIMAL(%d,%d) is not a valid type", p, s)
	}
	return types.RoundDecimal(a[0], p, s)
}

func arithmetic(op string) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		a, b := args[0].Type(), args[1].Type()
		switch {
		case a == types.Null || b == types.Null:
			if a == types.Null {
				a = b
			}
			if a.IsInteger() {
				a = types.BigInt
			}
			return a, nil
		case a.IsInteger() && b.IsInteger():
			return types.BigInt, nil
		case a.IsNumeric() && b.IsNumeric():
			if t := expr.Wider(a, b); t != types.Float || a == b {
				return t, nil
			}
			return types.Double, nil // for a FLOAT and an exact number
		case a == types.Date && b.IsInteger() && (op == "+" || op == "-"), b == types.Date && a.IsInteger() && op == "+":
			return types.Date, nil
		case a == b && a.IsMoment() && op == "-":
			return types.BigInt, nil
		}
		return 0, fmt.Errorf("%s %s %s is not defined", a, op, b)
	}
}

func evalArithmetic(op string) func(*expr.Env, []types.Value) (types.Value, error) {
	return func(_ *expr.Env, args []types.Value) (types.Value, error) {
		a, b := args[0], args[1]
		switch {
		case a.Type() == types.Date && b.Type() == types.Date:
			return types.NewInt(a.Int() - b.Int()), nil
		case a.Type() == types.Date || b.Type() == types.Date:
			i, err := intOp(op, a.Int(), b.Int())
			if err != nil || i < -types.MaxDate || i > types.MaxDate {
				return types.Value{}, errors.New("DATE out of range")
			}
			return types.NewDate(i), nil
		case a.Type().IsInteger() && b.Type().IsInteger() || a.Type().IsTimestamp():
			i, err := intOp(op, a.Int(), b.Int())
			return types.NewInt(i), err
		case a.Type() == types.Double || a.Type() == types.Float || b.Type() == types.Double || b.Type() == types.Float:
			return floatOp(op, a, b)
		}
		return decimalOp(op, a, b)
	}
}

func intOp(op string, a, b int64) (int64, error) {
	switch op {
	case "+":
		if c := a + b; (c > a) == (b > 0) {
			return c, nil
		}
	case "-":
		if c := a - b; (c < a) == (b > 0) {
			return c, nil
		}
	case "*":
		hi, lo := bits.Mul64(magnitude(a), magnitude(b))
		neg := (a < 0) != (b < 0)
		switch {
		case hi == 0 && lo <= math.MaxInt64:
			return a * b, nil
		case hi == 0 && neg && lo == 1<<63:
			return math.MinInt64, nil
		}
	default:
		if b == 0 {
			return 0, errDivZero
		}
		if op == "%" {
			if b == -1 {
				return 0, nil
			}
			return a % b, nil
		}
		if a != math.MinInt64 || b != -1 {
			return a / b, nil
		}
	}
	return 0, errOverflow
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// castBoth casts the operands of an operator to t.
func castBoth(a, b types.Value, t types.Type) (x, y types.Value, err error) {
	if x, err = types.Cast(a, t, nil); err == nil {
		y, err = types.Cast(b, t, nil)
	}
	return x, y, err
}

func floatOp(op string, a, b types.Value) (types.Value, error) {
	x, y, err := castBoth(a, b, types.Double)
	if err != nil {
		return types.Value{}, err
	}
	f, g := x.Double(), y.Double()
	switch op {
	case "+":
		f += g
	case "-":
		f -= g
	case "*":
		f *= g
	default:
		if g == 0 && !math.IsNaN(f) {
			return types.Value{}, errDivZero
		}
		if op == "/" {
			f /= g
		} else {
			f = math.Mod(f, g)
		}
	}
	t := types.Double
	if a.Type() == types.Float && b.Type() == types.Float {
		t, f = types.Float, float64(float32(f))
	}
	over := math.IsInf(f, 0) && finite(x.Double()) && finite(g)
	under := f == 0 && x.Double() != 0 && (op == "*" && g != 0 || op == "/" && finite(g))
	if over || under {
		return types.Value{}, fmt.Errorf("%s out of range", t)
	}
	return types.NewFloatOf(t, f), nil
}

func decimalOp(op string, a, b types.Value) (types.Value, error) {
	x, y, err := castBoth(a, b, types.Decimal)
	if err != nil {
		return types.Value{}, err
	}
	d := new(apd.Decimal)
	switch op {
	case "+":
		_, err = types.Wide.Add(d, x.Decimal(), y.Decimal())
	case "-":
		_, err = types.Wide.Sub(d, x.Decimal(), y.Decimal())
	case "*":
		_, err = types.Wide.Mul(d, x.Decimal(), y.Decimal())
	default:
		if y.Decimal().IsZero() {
			return types.Value{}, errDivZero
		}
		if op == "/" {
			d, err = types.Quotient(x.Decimal(), y.Decimal()), nil
		} else {
			_, err = types.Wide.Rem(d, x.Decimal(), y.Decimal())
		}
	}
	if err != nil {
		return types.Value{}, errors.New("DECIMAL out of range")
	}
	return types.NewDecimal(d), nil
}
