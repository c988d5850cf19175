package functions

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// absAlgebra is the algebra of ABS.
var absAlgebra = &expr.Algebra{Pieces: allPieces(solve.AtZero(true, false)), Domain: func(c *expr.Call) (types.Set, bool) {
	return types.SetOf(types.Interval{Lo: zero}), c.Typ == types.BigInt
}}

// outside says why functions refuse an argument; others say that it is out of range.
var outside = map[string]string{"SQRT": "a negative number has no square root", "LN": noLogarithm, "LOG": noLogarithm, "LOG10": noLogarithm}

const noLogarithm = "only numbers above 0 have a logarithm"

// float1 returns an evaluator for the function with this name, of one DOUBLE; endless reports whether f may be infinite.
func float1(name string, f func(float64) float64, endless bool) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		x, err := types.Cast(a[0], types.Double, nil)
		if err != nil {
			return x, err
		}
		y := f(x.Double())
		if !endless && finite(x.Double()) && !finite(y) || math.IsNaN(y) && !math.IsNaN(x.Double()) {
			return types.Value{}, errors.New(cmp.Or(outside[name], "argument out of range"))
		}
		return types.NewDouble(y), nil
	}
}

const degree = math.Pi / 180 // in radians

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func numberFunction(name, doc string, f func(float64) float64, pieces ...expr.Piece) expr.Function {
	out := expr.Function{Name: name, Group: "number", Signature: strings.ToLower(name) + "(x) double", Doc: doc, MinArgs: 1, MaxArgs: 1, Result: returns(types.Double, isNumber), Eval: float1(name, f, false)}
	if pieces == nil {
		out.Unknown = "it goes up and down again and again"
		return out
	}
	out.Key = &expr.Algebra{Pieces: allPieces(pieces), Noise: func(*expr.Call) (float64, float64) { return 1e-13, 1e-14 }}
	return out
}

// endlessFunction is numberFunction for a function that returns infinity where others fail as out of range.
func endlessFunction(name, doc string, f func(float64) float64, pieces ...expr.Piece) expr.Function {
	out := numberFunction(name, doc, f, pieces...)
	out.Eval = float1(name, f, true)
	return out
}

// unit returns the pieces of a function on [-1, 1].
func unit(falls bool) []expr.Piece {
	return []expr.Piece{{In: types.Interval{Hi: minusOne, HiOpen: true}}, {In: types.Interval{Lo: minusOne, Hi: plusOne}, Falls: falls}, {In: types.Interval{Lo: plusOne, LoOpen: true}}}
}

// roundAlgebra is the algebra of FLOOR, CEIL, ROUND and TRUNC.
var roundAlgebra = &expr.Algebra{Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
	if len(c.Args) > 1 { // rounding integers to digits before the point may overflow
		return solve.AtZero(false, false)
	}
	return rises
}}

// powerAlgebra is the algebra of POWER(x, c) and POWER(c, x).
var powerAlgebra = &expr.Algebra{Arg: expr.AnyArg,
	Pieces: func(c *expr.Call, _ types.Interval) []expr.Piece {
		k, at, ok := constantOf(c)
		if !ok || !k.IsFinite() {
			return nil
		}
		f := number64(k)
		switch {
		case at == 0 && f > 0:
			return solve.AtZero(f < 1, f < 1)
		case at == 0:
			return nil
		case math.Mod(f, 2) == 0 && f != 0: // an even exponent: the value falls and rises, or rises and falls if f < 0
			return solve.AroundZero(f > 0, f < 0)
		}
		return solve.AroundZero(f < 0, f < 0)
	},
	Noise: func(c *expr.Call) (float64, float64) { // each repeated squaring doubles the error
		k, at, ok := constantOf(c)
		f := number64(k)
		switch {
		case !ok || !k.IsFinite():
			return 1, 0
		case at == 0:
			f = 800 / math.Log(f)
		}
		return 1e-13 + 1e-14*math.Abs(f), 0
	}}

// number64 returns a number as a DOUBLE.
func number64(v types.Value) float64 {
	f, err := types.Cast(v, types.Double, nil)
	if err != nil {
		return math.NaN()
	}
	return f.Double()
}

var numberFunctions = []expr.Function{
	{Name: "TO_NUMBER", Group: "number", Unknown: "several texts mean the same number", Signature: "to_number(text, format) decimal", Doc: "The number in a text that has a format of to_char.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Decimal, isText, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) { return parseNumber(a[0].Text(), a[1].Text()) }},
	{Name: "ABS", Group: "number", Same: true, Signature: "abs(x)", Doc: "The value without its sign.", MinArgs: 1, MaxArgs: 1, Result: absResult,
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			switch v := a[0]; {
			case v.Type().IsInteger():
				if v.Int() == math.MinInt64 {
					return v, errOverflow
				}
				return types.NewInt(max(v.Int(), -v.Int())), nil
			case v.Type() == types.Decimal:
				return types.NewDecimal(new(apd.Decimal).Abs(v.Decimal())), nil
			default:
				return types.NewFloatOf(v.Type(), math.Abs(v.Double())), nil
			}
		}, Key: absAlgebra},
	{Name: "SIGN", Group: "number", Signature: "sign(x)", Doc: "-1, 0 or 1, a DECIMAL of a DECIMAL and otherwise a DOUBLE; in keys a BIGINT.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, isNumber),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if t := a[0].Type(); (t == types.Double || t == types.Float) && math.IsNaN(a[0].Double()) {
				return types.NewInt(0), nil
			}
			c, err := types.Compare(a[0], types.NewInt(0))
			return types.NewInt(int64(c)), err
		}, Key: &expr.Algebra{Pieces: allPieces(rises)}},
	{Name: "CEIL", Group: "number", Signature: "ceil(x)", Doc: "The least whole number not below x; of an integer a DOUBLE, but in keys the integer.", MinArgs: 1, MaxArgs: 1, Result: numberResult, Eval: round(apd.RoundCeiling, math.Ceil), Key: roundAlgebra},
	{Name: "FLOOR", Group: "number", Signature: "floor(x)", Doc: "The greatest whole number not above x; of an integer a DOUBLE, but in keys the integer.", MinArgs: 1, MaxArgs: 1, Result: numberResult, Eval: round(apd.RoundFloor, math.Floor), Key: roundAlgebra},
	{Name: "ROUND", Group: "number", Signature: "round(x [, digits])", Doc: "Rounded, halves away from zero (a DOUBLE's to even); of an integer a DOUBLE, with digits a DECIMAL, but in keys an integer.", MinArgs: 1, MaxArgs: 2, Reads: []types.Type{types.Null, types.BigInt}, Result: roundResult, Eval: round(apd.RoundHalfUp, math.RoundToEven), Key: roundAlgebra},
	{Name: "TRUNC", Group: "number", Signature: "trunc(x [, digits])", Doc: "Cut towards zero; of an integer as round(x).", MinArgs: 1, MaxArgs: 2, Reads: []types.Type{types.Null, types.BigInt}, Result: roundResult, Eval: round(apd.RoundDown, math.Trunc), Key: roundAlgebra},
	numberFunction("CBRT", "The cube root.", math.Cbrt, expr.Piece{}),
	numberFunction("DEGREES", "Radians as degrees.", func(x float64) float64 { return x / degree }, solve.AtZero(false, false)...),
	numberFunction("RADIANS", "Degrees as radians.", func(x float64) float64 { return x * degree }, expr.Piece{}),
	numberFunction("SIN", "The sine of radians.", math.Sin),
	numberFunction("COS", "The cosine of radians.", math.Cos),
	numberFunction("TAN", "The tangent of radians.", math.Tan),
	endlessFunction("COT", "The cotangent of radians.", func(x float64) float64 { return 1 / math.Tan(x) }),
	endlessFunction("SINH", "The hyperbolic sine.", math.Sinh, expr.Piece{}),
	endlessFunction("COSH", "The hyperbolic cosine.", math.Cosh, solve.AtZero(true, false)...),
	numberFunction("TANH", "The hyperbolic tangent.", math.Tanh, expr.Piece{}),
	numberFunction("ASINH", "The inverse hyperbolic sine.", math.Asinh, expr.Piece{}),
	numberFunction("ACOSH", "The inverse hyperbolic cosine.", math.Acosh, expr.Piece{In: types.Interval{Hi: plusOne, HiOpen: true}}, expr.Piece{In: types.Interval{Lo: plusOne}}),
	endlessFunction("ATANH", "The inverse hyperbolic tangent.", math.Atanh, unit(false)...),
	numberFunction("ASIN", "The inverse sine, in radians.", math.Asin, unit(false)...),
	numberFunction("ACOS", "The inverse cosine, in radians.", math.Acos, unit(true)...),
	numberFunction("ATAN", "The inverse tangent, in radians.", math.Atan, expr.Piece{}),
	{Name: "ATAN2", Group: "number", Signature: "atan2(y, x) double", Doc: "The angle of the point (x, y), in radians.", MinArgs: 2, MaxArgs: 2, Result: returns(types.Double, isNumber),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			y, x, err := castBoth(a[0], a[1], types.Double)
			return types.NewDouble(math.Atan2(y.Double(), x.Double())), err
		}, Unknown: "an angle is about two numbers"},
	{Name: "DIV", Group: "number", Signature: "div(a, b)", Doc: "The whole quotient, cut towards zero; of integers a DECIMAL, but in keys an integer.", MinArgs: 2, MaxArgs: 2, Reads: []types.Type{types.Decimal, types.Decimal}, Result: arithmetic("/"),
		Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			q, err := evalArithmetic("/")(env, a)
			switch {
			case err != nil || q.Type().IsInteger():
				return q, err
			case q.Type() != types.Decimal:
				return types.NewFloatOf(q.Type(), math.Trunc(q.Double())), nil
			}
			var x [2]types.Value
			for i := range x {
				if x[i], err = types.Cast(a[i], types.Decimal, nil); err != nil {
					return x[i], err
				}
			}
			d := new(apd.Decimal) // q may have been rounded up
			_, err = types.Wide.QuoInteger(d, x[0].Decimal(), x[1].Decimal())
			return types.NewDecimal(d), err
		}, Key: &expr.Algebra{Arg: expr.AnyArg, Pieces: quotientPieces}},
	{Name: "GCD", Group: "number", Same: true, Signature: "gcd(a, b) bigint", Doc: "The greatest common divisor.", MinArgs: 2, MaxArgs: 2, Result: returns(types.BigInt, isInt),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			g := new(big.Int).GCD(nil, nil, new(big.Int).Abs(big.NewInt(a[0].Int())), new(big.Int).Abs(big.NewInt(a[1].Int())))
			if !g.IsInt64() {
				return types.Value{}, errOverflow
			}
			return types.NewInt(g.Int64()), nil
		}, Unknown: "neighbouring numbers have different divisors"},
	{Name: "LCM", Group: "number", Same: true, Signature: "lcm(a, b) bigint", Doc: "The least common multiple.", MinArgs: 2, MaxArgs: 2, Result: returns(types.BigInt, isInt),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			x, y := new(big.Int).Abs(big.NewInt(a[0].Int())), new(big.Int).Abs(big.NewInt(a[1].Int()))
			if x.Sign() == 0 || y.Sign() == 0 {
				return types.NewInt(0), nil
			}
			m := new(big.Int).Mul(new(big.Int).Div(x, new(big.Int).GCD(nil, nil, x, y)), y)
			if !m.IsInt64() {
				return types.Value{}, errOverflow
			}
			return types.NewInt(m.Int64()), nil
		}, Unknown: "neighbouring numbers have different divisors"},
	{Name: "FACTORIAL", Group: "number", Signature: "factorial(n) decimal", Doc: "The product of the numbers from 1 to n, which is 449 at most.", MinArgs: 1, MaxArgs: 1, Result: returns(types.Decimal, isInt),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			const most = 449 // its DECIMAL has almost 1,000 digits
			n := a[0].Int()
			if n < 0 || n > most {
				return types.Value{}, fmt.Errorf("FACTORIAL takes numbers from 0 to %d, not %d", most, n)
			}
			return types.ParseDecimal(new(big.Int).MulRange(1, n).String())
		}, Unknown: "few numbers are factorials"},
	{Name: "WIDTH_BUCKET", Group: "number", Small: true, Signature: "width_bucket(x, low, high, n) bigint", Doc: "The number of x's part, from 1, of n equal parts from low to high; 0 in front of them, n + 1 behind them. width_bucket(x, array): the number of sorted bounds that are not above x.", MinArgs: 2, MaxArgs: 4,
		Result: bucketResult, Eval: widthBucket, Unknown: "conditions on the number itself say it"},
	{Name: "FLOAT4SEND", Group: "number", Signature: "float4send(x) bytes", Doc: "The four bytes of a FLOAT, as IEEE 754 has them.", MinArgs: 1, MaxArgs: 1, Result: returns(types.Bytes, isNumber), Unknown: "bytes of floats do not follow their order",
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			v, err := types.Cast(a[0], types.Float, nil)
			return types.NewBytes(string(binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(v.Double()))))), err
		}},
	{Name: "FLOAT8SEND", Group: "number", Signature: "float8send(x) bytes", Doc: "The eight bytes of a DOUBLE, as IEEE 754 has them.", MinArgs: 1, MaxArgs: 1, Result: returns(types.Bytes, isNumber), Unknown: "bytes of floats do not follow their order",
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			v, err := types.Cast(a[0], types.Double, nil)
			return types.NewBytes(string(binary.BigEndian.AppendUint64(nil, math.Float64bits(v.Double())))), err
		}},
	{Name: "SCALE", Group: "number", Small: true, Signature: "scale(x) bigint", Doc: "The number of digits behind the point, zeros at the end too.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, isExact),
		Eval: decimal1(func(d *apd.Decimal) (types.Value, error) { return types.NewInt(max(0, -int64(d.Exponent))), nil }), Unknown: "equal numbers are written in several ways"},
	{Name: "MIN_SCALE", Group: "number", Small: true, Signature: "min_scale(x) bigint", Doc: "The number of digits behind the point, without zeros at the end.", MinArgs: 1, MaxArgs: 1, Result: returns(types.BigInt, isExact),
		Eval: decimal1(func(d *apd.Decimal) (types.Value, error) {
			d, _ = new(apd.Decimal).Reduce(d)
			return types.NewInt(max(0, -int64(d.Exponent))), nil
		}), Unknown: "numbers with as many digits lie between others"},
	{Name: "TRIM_SCALE", Group: "number", Signature: "trim_scale(x) decimal", Doc: "The number without zeros at the end of its digits behind the point.", MinArgs: 1, MaxArgs: 1, Result: returns(types.Decimal, isExact),
		Eval: decimal1(func(d *apd.Decimal) (types.Value, error) {
			d, _ = new(apd.Decimal).Reduce(d)
			if d.Exponent > 0 {
				return types.ParseDecimal(d.Text('f'))
			}
			return types.NewDecimal(d), nil
		}), Key: &expr.Algebra{Pieces: allPieces(rises)}},
	{Name: "POWER", Group: "number", Signature: "power(x, y) double", Doc: "x to the power y.", MinArgs: 2, MaxArgs: 2, Result: returns(types.Double, isNumber),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			x, y, err := castBoth(a[0], a[1], types.Double)
			if err != nil {
				return types.Value{}, err
			}
			p := math.Pow(x.Double(), y.Double())
			if x.Double() == 0 && y.Double() < 0 || math.IsNaN(p) && finite(x.Double()) && finite(y.Double()) {
				return types.Value{}, errors.New("0 has no power below 0, and a negative number only whole powers")
			}
			if finite(x.Double()) && finite(y.Double()) && (!finite(p) || p == 0 && x.Double() != 0) {
				return types.Value{}, errors.New("DOUBLE out of range")
			}
			return types.NewDouble(p), nil
		}, Key: powerAlgebra},
	numberFunction("SQRT", "The square root.", math.Sqrt, solve.BesideZero(false, false)...),
	numberFunction("EXP", "e to the power x.", func(x float64) float64 {
		y := math.Exp(x)
		if y == 0 && finite(x) {
			return math.NaN() // too small
		}
		return y
	}, solve.AtZero(false, false)...),
	numberFunction("LN", "The natural logarithm.", logarithm, solve.BesideZero(false, false)...),
	numberFunction("LOG10", "The logarithm to base 10.", log10, solve.BesideZero(false, false)...),
	logarithms(numberFunction("LOG", "The logarithm to base 10, or to a base that comes first.", log10, solve.BesideZero(false, false)...)),
	{Name: "PI", Group: "number", Signature: "pi() double", Doc: "π.", Result: returns(types.Double),
		Eval: func(*expr.Env, []types.Value) (types.Value, error) { return types.NewDouble(math.Pi), nil }, Unknown: "it is a constant"},
	{Name: "RANDOM", Group: "number", Signature: "random() double", Doc: "A random number from 0 up to 1.", Volatile: true, Result: returns(types.Double),
		Eval: func(env *expr.Env, _ []types.Value) (types.Value, error) {
			return types.NewDouble(float64(random(env)>>11) / (1 << 53)), nil
		}, Unknown: "it differs each time"},
	{Name: "TO_HEX", Group: "number", Signature: "to_hex(n) text", Doc: "Hexadecimal digits: of a negative number those of its 32 bits, of a BIGINT its 64.", MinArgs: 1, MaxArgs: 1, Result: returns(types.String, isInt),
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			bits := uint64(a[0].Int())
			if t := a[0].Type(); t != types.BigInt {
				bits = uint64(uint32(bits))
			}
			return types.NewString(strconv.FormatUint(bits, 16)), nil
		}, Key: &expr.Algebra{Pieces: func(*expr.Call, types.Interval) []expr.Piece { // negative numbers are written by their bits
			return append([]expr.Piece{{In: types.Interval{Hi: minusOne}}}, solve.DigitPieces(16)[16:]...)
		}}},
	{Name: "FLOORMOD", Group: "number", Same: true, Signature: "floormod(a, n) bigint", Doc: "Remainder, with the sign of n.", MinArgs: 2, MaxArgs: 2, Result: keyNumbers,
		Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			n := a[1].Int()
			if n == 0 {
				return types.Value{}, errDivZero
			}
			r := int64(0)
			if n != -1 {
				r = a[0].Int() % n
			}
			if r != 0 && (r < 0) != (n < 0) {
				r += n
			}
			return types.NewInt(r), nil
		}, Key: remainderAlgebra(true)},
	{Name: "NUM_NULLS", Group: "conditional", Small: true, Unknown: "IS NULL says it of each", Signature: "num_nulls(a, ...) bigint", Doc: "The number of arguments that are NULL.", MinArgs: 1, MaxArgs: -1, NullArgs: true, Result: returns(types.BigInt), Eval: countNulls(true)},
	{Name: "NUM_NONNULLS", Group: "conditional", Small: true, Unknown: "IS NULL says it of each", Signature: "num_nonnulls(a, ...) bigint", Doc: "The number of arguments that are not NULL.", MinArgs: 1, MaxArgs: -1, NullArgs: true, Result: returns(types.BigInt), Eval: countNulls(false)},
	{Name: "GREATEST", Group: "conditional", Same: true, Extreme: 1, Binds: "as its arguments do", Signature: "greatest(a, ...)", Doc: "The greatest argument that is not NULL.", MinArgs: 1, MaxArgs: -1, NullArgs: true, Result: sameAs(0), Eval: extreme(1)},
	{Name: "LEAST", Group: "conditional", Same: true, Extreme: -1, Binds: "as its arguments do", Signature: "least(a, ...)", Doc: "The least argument that is not NULL.", MinArgs: 1, MaxArgs: -1, NullArgs: true, Result: sameAs(0), Eval: extreme(-1)},
	{Name: "COALESCE", Group: "conditional", Same: true, Binds: "as its arguments do, each where those before it are NULL", Signature: "coalesce(a, ...)", Doc: "The first argument that is not NULL.", MinArgs: 1, MaxArgs: -1, NullArgs: true, First: true, Result: firstType,
		Eval: func(*expr.Env, []types.Value) (types.Value, error) { return types.Value{}, nil }}, // all arguments are NULL
}

// isExact reports whether a DECIMAL holds all numbers of type t exactly.
func isExact(t types.Type) bool { return t.IsInteger() || t == types.Decimal }

// decimal1 returns an evaluator for a function of one exact number.
func decimal1(f func(d *apd.Decimal) (types.Value, error)) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		d, err := types.Cast(a[0], types.Decimal, nil)
		if err != nil {
			return d, err
		}
		return f(d.Decimal())
	}
}

func bucketResult(args []expr.Expr) (types.Type, error) {
	switch len(args) {
	case 2:
		return returns(types.BigInt, isAny, isArray)(args)
	case 3:
		return 0, errors.New("WIDTH_BUCKET takes bounds as an array, or two bounds and a number of parts")
	}
	return returns(types.BigInt, isNumber, isNumber, isNumber, isInt)(args)
}

func widthBucket(_ *expr.Env, a []types.Value) (types.Value, error) {
	if len(a) == 2 {
		var err error
		bounds := a[1].Items()
		above := sort.Search(len(bounds), func(i int) bool {
			by, failed := types.Compare(bounds[i], a[0])
			if bounds[i].IsNull() {
				failed = errors.New("the bounds of WIDTH_BUCKET cannot be NULL")
			}
			err = cmp.Or(err, failed)
			return by > 0
		})
		return types.NewInt(int64(above)), err
	}
	n := a[3].Int()
	if n <= 0 || n > math.MaxInt32 {
		return types.Value{}, fmt.Errorf("the number of parts must be from 1 to %d, not %d", math.MaxInt32, n)
	}
	exact := true
	for i, v := range a[:3] {
		exact = exact && isExact(v.Type())
		if !isExact(v.Type()) && !finite(v.Double()) && (i > 0 || math.IsNaN(v.Double())) {
			return types.Value{}, errors.New("the bounds must be finite, and x a number")
		}
	}
	back, err := types.Compare(a[1], a[2])
	if err != nil || back == 0 {
		return types.Value{}, cmp.Or(err, errors.New("the bounds must differ"))
	}
	low, _ := types.Compare(a[0], a[1])
	high, _ := types.Compare(a[0], a[2])
	switch {
	case low*back > 0: // before the first part
		return types.NewInt(0), nil
	case high*back <= 0:
		return types.NewInt(n + 1), nil
	}
	if !exact {
		x, from, to := number64(a[0]), number64(a[1]), number64(a[2])
		part := (x/2 - from/2) / (to/2 - from/2)
		if finite(to - from) {
			part = (x - from) / (to - from)
		}
		return types.NewInt(min(int64(float64(n)*part), n-1) + 1), nil // the quotient may be rounded to 1
	}
	var r [3]*big.Rat
	for i := range r {
		var ok bool
		if r[i], ok = new(big.Rat).SetString(a[i].String()); !ok {
			return types.Value{}, errors.New("DECIMAL out of range")
		}
	}
	part := new(big.Rat).Quo(r[0].Sub(r[0], r[1]), r[2].Sub(r[2], r[1]))
	part.Mul(part, new(big.Rat).SetInt64(n))
	return types.NewInt(new(big.Int).Quo(part.Num(), part.Denom()).Int64() + 1), nil
}

// logarithm is math.Log, corrected for subnormal numbers, for which math.Log is wrong on amd64.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// logarithms extends f, the logarithm to base 10, by an argument for the base.
func logarithms(f expr.Function) expr.Function {
	ten, algebra := f.Eval, *f.Key
	f.Signature, f.MaxArgs = "log([base,] n) double", 2
	f.Eval = func(env *expr.Env, a []types.Value) (types.Value, error) {
		if len(a) == 1 {
			return ten(env, a)
		}
		base, x := number64(a[0]), number64(a[1])
		if base <= 0 || x <= 0 {
			return types.Value{}, errors.New(noLogarithm)
		}
		if base == 1 {
			return types.Value{}, errors.New("a logarithm to base 1 is a division by zero")
		}
		y := logarithm(x) / logarithm(base)
		if whole := math.Round(y); math.Pow(base, whole) == x {
			y = whole
		}
		return types.NewDouble(y), nil
	}
	pieces := algebra.Pieces
	algebra.Pieces = func(c *expr.Call, iv types.Interval) []expr.Piece {
		if len(c.Args) > 1 {
			return nil
		}
		return pieces(c, iv)
	}
	f.Key = &algebra
	return f
}

// log10 is math.Log10, but exact for powers of ten.
func log10(x float64) float64 {
	y := math.Log10(x)
	if x > 0 && x < 0x1p-1022 {
		y = logarithm(x) / math.Ln10
	}
	if whole := math.Round(y); math.Abs(whole) < 400 && math.Pow10(int(whole)) == x {
		return whole
	}
	return y
}

func random(env *expr.Env) uint64 {
	if env.Rand != nil {
		return env.Rand()
	}
	return rand.Uint64()
}

// keyNumbers returns the type of a function of integers, or of TIMESTAMPs as their milliseconds.
func keyNumbers(args []expr.Expr) (types.Type, error) {
	return returns(types.BigInt, func(t types.Type) bool { return t.IsInteger() || t == types.Timestamp }, isInt)(args)
}

func firstType(args []expr.Expr) (types.Type, error) {
	for _, a := range args {
		if a.Type() != types.Null {
			return a.Type(), nil
		}
	}
	return types.Null, nil
}

func numberResult(args []expr.Expr) (types.Type, error) {
	t, err := sameAs(0, isNumber)(args)
	if t.IsInteger() {
		t = types.BigInt
	} else if t == types.Float {
		t = types.Double
	}
	return t, err
}

func absResult(args []expr.Expr) (types.Type, error) {
	if t := args[0].Type(); t == types.Float {
		return t, nil
	}
	return numberResult(args)
}

func roundResult(args []expr.Expr) (types.Type, error) {
	if _, err := returns(types.Null, isNumber, isInt)(args); err != nil {
		return 0, err
	}
	t, err := numberResult(args)
	if len(args) == 2 && err == nil && t == types.Double {
		t = types.Decimal // a DOUBLE cannot represent decimal digits exactly
	}
	return t, err
}

func round(mode apd.Rounder, whole func(float64) float64) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		if a[0].Type().IsInteger() && len(a) == 1 {
			return types.NewInt(a[0].Int()), nil
		}
		if (a[0].Type() == types.Double || a[0].Type() == types.Float) && len(a) == 1 {
			return types.NewDouble(whole(a[0].Double())), nil
		}
		d, err := types.Cast(a[0], types.Decimal, nil)
		if err != nil {
			return d, err
		}
		digits := int64(0)
		if len(a) == 2 {
			digits = max(min(a[1].Int(), 1000), -1000)
		}
		ctx := types.Exact
		ctx.Rounding = mode
		ctx.Precision = 2000
		out, quantize := new(apd.Decimal), ctx.Quantize
		switch { // Quantize rounds values whose digits are all after the point to 0, whatever their sign
		case mode == apd.RoundCeiling:
			quantize = func(d, x *apd.Decimal, _ int32) (apd.Condition, error) { return ctx.Ceil(d, x) }
		case mode == apd.RoundFloor:
			quantize = func(d, x *apd.Decimal, _ int32) (apd.Condition, error) { return ctx.Floor(d, x) }
		}
		if _, err := quantize(out, d.Decimal(), int32(-digits)); err != nil {
			return types.Value{}, errors.New("DECIMAL out of range")
		}
		if digits < 0 {
			_, _ = ctx.Quantize(out, out, 0)
		}
		if a[0].Type().IsInteger() {
			return types.Cast(types.NewDecimal(out), types.BigInt, nil)
		}
		return types.NewDecimal(out), nil
	}
}

func countNulls(null bool) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		n := int64(0)
		for _, v := range a {
			if v.IsNull() == null {
				n++
			}
		}
		return types.NewInt(n), nil
	}
}

func extreme(sign int) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		var best types.Value
		for _, v := range a {
			if v.IsNull() {
				continue
			}
			if !best.IsNull() {
				c, err := types.Compare(v, best)
				if err != nil {
					return best, err
				}
				if c*sign <= 0 {
					continue
				}
			}
			best = v
		}
		return best, nil
	}
}
