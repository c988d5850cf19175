package types

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// Compare orders two values that are not NULL: numbers by value across numeric types (NaN greatest, as in PostgreSQL),
// intervals with months of 30 days, JSON as JSONB, arrays by their elements, text and bytes bytewise, false before
// true. Other pairs are an error: a DATE and a TIMESTAMP, for example, can be compared only in a zone; see Cast.
func Compare(a, b Value) (int, error) {
	if a.typ == b.typ {
		switch {
		case a.typ.IsInteger() || a.typ.IsTemporal() || a.typ == Boolean:
			return cmp.Compare(a.i, b.i), nil
		case a.typ == String || a.typ == Bytes || a.typ == UUID:
			return strings.Compare(a.s, b.s), nil
		case a.typ == Float || a.typ == Double:
			return compareFloats(a.Double(), b.Double()), nil
		case a.typ == Decimal:
			return a.d.Cmp(b.d), nil
		case a.typ == Duration:
			return cmp.Compare(a.Millis(), b.Millis()), nil
		}
	}
	switch {
	case a.typ.isCount() && b.typ.isCount():
		return cmp.Compare(a.i, b.i), nil
	case a.typ.IsJSON() && b.typ.IsJSON():
		return compareJSON(a.s, b.s), nil
	case a.typ.IsArray() && b.typ.IsArray():
		return compareArrays(a, b)
	case a.typ.IsNumeric() && b.typ.IsNumeric():
		return compareNumbers(a, b), nil
	case a.typ.IsText() && b.typ.IsText():
		return strings.Compare(a.Text(), b.Text()), nil
	}
	return 0, fmt.Errorf("%s and %s cannot be compared", a.typ, b.typ)
}

// isCount reports whether t is an integer type or one of the OID types.
func (t Type) isCount() bool { return t.IsInteger() || t.IsOID() }

// MillisPerDay is the length of a day of the proleptic calendar in milliseconds, the unit of TIMESTAMP.
const MillisPerDay = 86_400_000

// MaxDate is the last day that is in the range of TIMESTAMP; -MaxDate is the first.
const MaxDate = math.MaxInt64 / MillisPerDay

func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return Bit(math.IsNaN(a)) - Bit(math.IsNaN(b))
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareNumbers compares exactly: a float is the binary fraction that it represents.
func compareNumbers(a, b Value) int {
	fa, oka := special(a)
	fb, okb := special(b)
	if oka || okb {
		if !oka {
			fa = 0
		}
		if !okb {
			fb = 0
		}
		return compareFloats(fa, fb)
	}
	if c, ok := compareAbout(a, b); ok {
		return c
	}
	return a.exact().Cmp(b.exact())
}

// compareAbout compares finite numbers as floats; ok is false if they are too close for the rounding errors. The
// planner compares many floats, and their exact form can have hundreds of digits.
func compareAbout(a, b Value) (c int, ok bool) {
	x, offX, okX := a.about()
	y, offY, okY := b.about()
	if !okX || !okY || math.Abs(x-y) <= offX+offY && offX+offY > 0 {
		return 0, false
	}
	return compareFloats(x, y), true
}

// about returns a float that differs from a finite number by at most off.
func (v Value) about() (f, off float64, ok bool) {
	switch {
	case v.typ == Float || v.typ == Double:
		return v.Double(), 0, true
	case v.typ.IsInteger():
		if f = float64(v.i); v.i < -1<<53 || v.i > 1<<53 {
			off = math.Abs(f) * 0x1p-50
		}
		return f, off, true
	}
	if !v.d.Coeff.IsInt64() || v.d.Exponent < -280 || v.d.Exponent > 280 {
		return 0, 0, false
	}
	f = float64(v.d.Coeff.Int64()) * math.Pow10(int(v.d.Exponent))
	if v.d.Negative {
		f = -f
	}
	return f, math.Abs(f) * 0x1p-50, true
}

// special returns the value of an infinite float or NaN.
func special(v Value) (float64, bool) {
	if v.typ != Float && v.typ != Double {
		return 0, false
	}
	f := v.Double()
	return f, math.IsNaN(f) || math.IsInf(f, 0)
}

// exact returns a finite number as a decimal without rounding.
func (v Value) exact() *apd.Decimal {
	switch {
	case v.typ == Decimal:
		return v.d
	case v.typ.IsInteger():
		return apd.New(v.i, 0)
	}
	d := new(apd.Decimal)
	f := v.Double()
	frac, exp := math.Frexp(f)
	d.SetInt64(int64(frac * (1 << 53)))
	exp -= 53
	ctx := apd.Context{Precision: 2000, MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent}
	two := apd.New(2, 0)
	p := new(apd.Decimal)
	if exp >= 0 {
		_, _ = ctx.Pow(p, two, apd.New(int64(exp), 0))
		_, _ = ctx.Mul(d, d, p)
	} else {
		_, _ = ctx.Pow(p, apd.New(5, -1), apd.New(int64(-exp), 0)) // 0.5^n has n digits
		_, _ = ctx.Mul(d, d, p)
	}
	return d
}

// AppendKey appends bytes that are equal exactly if the values compare equal, among values of one declared type. NULL
// has its own bytes. The bytes are for grouping, not for ordering.
func (v Value) AppendKey(dst []byte) []byte {
	if first, number, ok := v.NumberKey(); ok {
		return appendUint64(append(dst, first), number)
	}
	switch {
	case v.IsNull():
		return append(dst, 0)
	case v.typ.IsArray():
		return v.appendArrayKey(append(dst, 5))
	case v.typ == Duration:
		return appendUint64(append(dst, 1), uint64(v.Millis()))
	case v.typ == Float || v.typ == Double:
		f := v.OneZero().Double()
		if math.IsNaN(f) {
			f = math.NaN()
		}
		return appendUint64(append(dst, 2), math.Float64bits(f))
	case v.typ == Decimal:
		var r apd.Decimal
		r.Reduce(v.d)
		s := r.Text('E')
		return append(appendUint64(append(dst, 3), uint64(len(s))), s...)
	case v.typ.IsJSON():
		v.s = jsonKey(v.s)
	}
	return append(appendUint64(append(dst, 4), uint64(len(v.s))), v.s...)
}

// NumberKey returns the bytes of AppendKey, the first one and a number of eight bytes, if v is an integer, a date, a time, a
// BOOLEAN or an OID.
func (v *Value) NumberKey() (first byte, number uint64, ok bool) {
	return 1, uint64(v.i), v.typ.isCount() || v.typ.IsTemporal() || v.typ == Boolean
}

func appendUint64(dst []byte, u uint64) []byte {
	return append(dst, byte(u>>56), byte(u>>48), byte(u>>40), byte(u>>32), byte(u>>24), byte(u>>16), byte(u>>8), byte(u))
}
