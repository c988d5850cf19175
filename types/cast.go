package types

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
)

// Exact is the context for DECIMAL arithmetic: quotients are rounded half up to 38 digits.
var Exact = apd.Context{Precision: 38, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Traps: apd.DefaultTraps, Rounding: apd.RoundHalfUp}

// Wide is the context for sums, differences and products of DECIMALs, which are not rounded.
var Wide = apd.Context{Precision: 20000, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Traps: apd.DefaultTraps | apd.Inexact, Rounding: apd.RoundHalfUp}

// IntRange returns the least and the greatest number of an integer type.
func IntRange(t Type) (lo, hi int64) {
	switch t {
	case TinyInt:
		return math.MinInt8, math.MaxInt8
	case SmallInt:
		return math.MinInt16, math.MaxInt16
	case Int:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// Cast converts v to type to, as CAST does: numbers are rounded half away from zero, text is parsed, a TIMESTAMP
// becomes its epoch milliseconds as a number and back. loc (nil: UTC) is the zone of timestamps in text and of the day
// of a TIMESTAMP. A value that does not fit is an error.
func Cast(v Value, to Type, loc *time.Location) (Value, error) {
	if v.IsNull() || v.typ == to && (to != JSONB || v.i == 0) {
		return v, nil
	}
	if loc == nil {
		loc = time.UTC
	}
	switch to {
	case String:
		if v.typ == Bytes {
			return NewString(v.s), nil
		}
		if v.typ.IsTimestamp() {
			wall, err := clock(v.WithoutClock(), loc)
			return NewString(time.UnixMilli(wall).UTC().Format("2006-01-02 15:04:05.999")), err
		}
		if v.typ.IsArray() {
			return NewString(v.ArrayText(func(x Value) (string, error) { return castElement(x, loc) })), nil
		}
		if s := v.Format(loc); v.typ == Time && strings.Contains(s, ".") {
			return NewString(strings.TrimRight(s, "0")), nil
		}
		return NewString(v.Format(loc)), nil
	case Bytes:
		if digits, ok := strings.CutPrefix(v.s, `\x`); ok && v.typ == String {
			b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
			if err != nil {
				err = fmt.Errorf(`invalid bytes %s (use \x and pairs of hexadecimal digits)`, Short(v.s))
			}
			return NewBytes(string(b)), err
		}
		if v.typ == UUID {
			return NewBytes(v.s), nil
		}
		if v.typ.IsText() {
			b, ok := ReadEscaped(v.s)
			if !ok {
				return Value{}, fmt.Errorf(`invalid bytes %s (a backslash begins \x, \NNN in octal digits or \\)`, Short(v.s))
			}
			return NewBytes(b), nil
		}
	case JSON:
		if v.typ == JSONB || v.typ.IsText() && json.Valid([]byte(v.s)) {
			return NewJSON(v.Text()), nil
		} else if v.typ.IsText() {
			return Value{}, fmt.Errorf("invalid JSON %s", Short(v.s))
		}
		return NewJSON(string(v.AppendJSON(nil))), nil
	case JSONB:
		j, err := v, error(nil)
		if v.typ != JSONB {
			j, err = Cast(v, JSON, loc)
		}
		n, ok := ReadJSON(j.s)
		if !ok || err != nil {
			return j, err
		}
		if v = n.Value(); strings.Contains(strings.ReplaceAll(v.s, `\\`, ""), `\u0000`) {
			return v, errors.New(`unsupported Unicode escape sequence: \u0000 is no character of a JSONB`)
		}
		return v, nil
	case Boolean:
		return toBool(v)
	case TinyInt, SmallInt, Int, BigInt:
		return toInt(v, to)
	case Float, Double:
		return toFloat(v, to)
	case Decimal:
		return toDecimal(v)
	case Date, Time, Timestamp, LocalTimestamp:
		return toTime(v, to, loc)
	case Duration:
		if v.typ.IsText() {
			return ParseInterval(v.s)
		}
		if v.typ == Time {
			d, _ := NewDuration(0, 0, v.i)
			return d, nil
		}
	case UUID:
		return toUUID(v)
	case Name, Char:
		return toName(v, to, loc)
	case OID, RegClass, RegType, RegProc, RegNamespace:
		return toOID(v, to)
	}
	if to.IsArray() {
		return toArray(v, to, loc)
	}
	return Value{}, fmt.Errorf("%s cannot be cast to %s", v.typ, to)
}

// Short quotes s for an error, cut to a readable length.
func Short(s string) string {
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return strconv.Quote(s)
}

// trimmed returns s without the spaces around it that PostgreSQL ignores.
func trimmed(s string) string { return strings.Trim(s, " \t\n\v\f\r") }

func toBool(v Value) (Value, error) {
	switch {
	case v.typ.IsInteger():
		return NewBool(v.i != 0), nil
	case v.typ.IsText():
		switch s := strings.ToLower(trimmed(v.s)); { // words may be abbreviated
		case s == "" || s == "o":
		case strings.HasPrefix("true", s), strings.HasPrefix("yes", s), s == "on", s == "1":
			return NewBool(true), nil
		case strings.HasPrefix("false", s), strings.HasPrefix("no", s), strings.HasPrefix("off", s), s == "0":
			return NewBool(false), nil
		}
		return Value{}, fmt.Errorf("invalid boolean %s", Short(v.s))
	}
	return Value{}, fmt.Errorf("%s cannot be cast to BOOLEAN", v.typ)
}

func toInt(v Value, to Type) (Value, error) {
	var i int64
	switch {
	case v.typ.isCount() || v.typ.IsTimestamp() || v.typ == Boolean:
		i = v.i
	case v.typ == Float || v.typ == Double:
		f := math.RoundToEven(v.Double())
		if math.IsNaN(f) || f < -(1<<63) || f >= 1<<63 {
			return Value{}, fmt.Errorf("%s out of range: %s", to, v)
		}
		i = int64(f)
	case v.typ == Decimal:
		var r apd.Decimal
		ctx := Exact
		ctx.Precision = uint32(max(38, v.d.NumDigits()))
		if _, err := ctx.Quantize(&r, v.d, 0); err != nil {
			return Value{}, fmt.Errorf("%s out of range: %s", to, v)
		}
		n, err := r.Int64()
		if err != nil {
			return Value{}, fmt.Errorf("%s out of range: %s", to, v)
		}
		i = n
	case v.typ.IsText():
		n, err := strconv.ParseInt(trimmed(v.s), 10, 64)
		if errors.Is(err, strconv.ErrRange) {
			return Value{}, fmt.Errorf("%s out of range: %s", to, Short(v.s))
		}
		if err != nil {
			return Value{}, fmt.Errorf("invalid number %s", Short(v.s))
		}
		i = n
	default:
		return Value{}, fmt.Errorf("%s cannot be cast to %s", v.typ, to)
	}
	if lo, hi := IntRange(to); i < lo || i > hi {
		return Value{}, fmt.Errorf("%s out of range: %d", to, i)
	}
	return NewIntOf(to, i), nil
}

func toFloat(v Value, to Type) (Value, error) {
	var f float64
	switch {
	case v.typ.IsInteger():
		f = float64(v.i)
	case v.typ == Float || v.typ == Double:
		f = v.Double()
	case v.typ == Decimal:
		f, _ = v.d.Float64()
		if math.IsInf(f, 0) || f == 0 && !v.d.IsZero() {
			return Value{}, fmt.Errorf("%s out of range: %s", to, Short(v.d.Text('G')))
		}
	case v.typ.IsText():
		x, err := strconv.ParseFloat(trimmed(v.s), 64)
		if errors.Is(err, strconv.ErrRange) {
			return Value{}, fmt.Errorf("%s out of range: %s", to, Short(v.s))
		}
		if err != nil || strings.ContainsAny(v.s, "_xX") {
			return Value{}, fmt.Errorf("invalid number %s", Short(v.s))
		}
		digits, _, _ := strings.Cut(strings.ToLower(v.s), "e")
		if x == 0 && strings.ContainsAny(digits, "123456789") {
			return Value{}, fmt.Errorf("%s out of range: %s", to, Short(v.s))
		}
		f = x
	default:
		return Value{}, fmt.Errorf("%s cannot be cast to %s", v.typ, to)
	}
	if to == Float {
		g := float64(float32(f))
		if math.IsInf(g, 0) && !math.IsInf(f, 0) || g == 0 && f != 0 {
			return Value{}, fmt.Errorf("FLOAT out of range: %s", v)
		}
		f = g
	}
	return NewFloatOf(to, f), nil
}

func toDecimal(v Value) (Value, error) {
	switch {
	case v.typ.IsInteger():
		return NewDecimal(apd.New(v.i, 0)), nil
	case v.typ == Float || v.typ == Double:
		digits := 15 // a float64 keeps this many digits exactly
		if v.typ == Float {
			digits = 6
		}
		d, err := ParseDecimal(strconv.FormatFloat(v.Double(), 'g', digits, 64))
		if err != nil {
			return Value{}, fmt.Errorf("DECIMAL out of range: %s", v)
		}
		return d, nil
	case v.typ.IsText():
		return ParseDecimal(v.s)
	}
	return Value{}, fmt.Errorf("%s cannot be cast to DECIMAL", v.typ)
}

// ParseDecimal reads a finite decimal number of at most 1000 digits and exponents up to ±6144.
func ParseDecimal(s string) (Value, error) {
	d, _, err := apd.NewFromString(trimmed(s))
	if err != nil || d.Form != apd.Finite {
		return Value{}, fmt.Errorf("invalid number %s", Short(s))
	}
	if d.NumDigits() > 1000 || d.Exponent > 6144 || d.Exponent < -6144 {
		return Value{}, fmt.Errorf("DECIMAL out of range: %s", Short(s))
	}
	if d.Exponent > 0 && d.NumDigits()+int64(d.Exponent) <= 1000 { // 1e3 is 1000
		if _, err := Wide.Quantize(d, d, 0); err != nil {
			return Value{}, fmt.Errorf("DECIMAL out of range: %s", Short(s))
		}
	}
	return NewDecimal(d), nil
}

// Quotient returns x / y for a y that is not zero: exactly, or rounded (halves away from zero) to as many decimals as
// PostgreSQL does, at least 16 significant digits and no fewer decimals than x and y have. Trailing zeros are cut off.
func Quotient(x, y *apd.Decimal) *apd.Decimal {
	scale := QuotientScale(x, y)
	// x / y is n / d, scaled by 10^scale.
	n, d := new(big.Int).Set(x.Coeff.MathBigInt()), new(big.Int).Set(y.Coeff.MathBigInt())
	shift := scale + int64(x.Exponent) - int64(y.Exponent)
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(shift, -shift)), nil)
	if shift >= 0 {
		n.Mul(n, ten)
	} else {
		d.Mul(d, ten)
	}
	q, rest := n.QuoRem(n, d, new(big.Int))
	if rest.Lsh(rest, 1).Cmp(d) >= 0 {
		q.Add(q, big.NewInt(1))
	}
	out := apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(q), int32(-scale))
	out.Negative = x.Negative != y.Negative
	if out.Reduce(out); out.Exponent > 0 {
		_, _ = Wide.Quantize(out, out, 0) // it has at most 2,000 digits
	}
	return out
}

// QuotientScale returns the number of decimals to which Quotient rounds.
func QuotientScale(x, y *apd.Decimal) int64 {
	first, at := Leading(x)
	second, below := Leading(y)
	weight := at - below
	if first <= second {
		weight--
	}
	return min(max(16-4*weight, -int64(x.Exponent), -int64(y.Exponent), 0), 1000)
}

// Leading returns d's leading digit in base 10,000, PostgreSQL's base, and that digit's exponent.
func Leading(d *apd.Decimal) (digit, place int64) {
	digits := d.Coeff.String()
	if d.IsZero() {
		return 0, 0
	}
	top := int64(len(digits)) + int64(d.Exponent) - 1 // the exponent of the first digit
	place = FloorDiv(top, 4)
	n := min(int(top-4*place)+1, len(digits))
	digit, _ = strconv.ParseInt(digits[:n], 10, 64)
	for i := int64(n); i < top-4*place+1; i++ {
		digit *= 10
	}
	return digit, place
}
