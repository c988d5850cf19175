package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/types"
)

// phoenixDecimal is PHOENIX DECIMAL: a byte for sign and exponent, then the digits in base 100. Each is stored as digit
// + 1; in a negative number as 101 - digit, with 0x66 at the end. Zero is 0x80. The bytes sort like the numbers, and
// equal numbers of different scales have the same bytes. 0x00 and 0xff never occur, so each of them can end a number.
type phoenixDecimal struct{ *traits }

const (
	phoenixDigits    = 38 // at most
	phoenixPairs     = 20 // bytes of digits at most; a number of that length has no 0x66
	leastPhoenixPair = -64
	mostPhoenixPair  = 61 // the greatest exponent to base 100; greater ones would need a byte 0x00 or 0xff
	phoenixZero      = 0x80
	phoenixEnd       = 0x66
)

// phoenixBytes are the bytes that can occur in a number.
var phoenixBytes = func() string {
	var b []byte
	for c := byte(1); c < 0xff; c++ {
		b = append(b, c)
	}
	return string(b)
}()

func (phoenixDecimal) OneScale() bool   { return true }
func (phoenixDecimal) Alphabet() string { return phoenixBytes }

// base100 returns the digits of d in base 100 as pairs of decimal digits, without trailing zeros, and the base-100
// exponent of the first pair.
func base100(d *apd.Decimal) (pairs string, exponent int) {
	pairs = d.Coeff.String()
	point := len(pairs) + int(d.Exponent) // digits before the point
	if pairs = strings.TrimRight(pairs, "0"); point&1 != 0 {
		pairs = "0" + pairs
		point++
	}
	if len(pairs)&1 != 0 {
		pairs += "0"
	}
	return pairs, point/2 - 1
}

func (phoenixDecimal) Append(dst []byte, v types.Value) ([]byte, error) {
	d := v.Decimal()
	if d.Form != apd.Finite {
		return dst, errors.New("it is not a number")
	}
	if d.IsZero() {
		return append(dst, phoenixZero), nil
	}
	pairs, exponent := base100(d)
	if n := len(strings.Trim(pairs, "0")); n > phoenixDigits {
		return dst, fmt.Errorf("it has %d digits, more than Phoenix's %d", n, phoenixDigits)
	}
	if exponent < leastPhoenixPair || exponent > mostPhoenixPair {
		return dst, errors.New("its exponent is out of Phoenix's range")
	}
	if d.Negative {
		dst = append(dst, byte(62-exponent))
	} else {
		dst = append(dst, byte(exponent+65)|0x80)
	}
	for i := 0; i < len(pairs); i += 2 {
		n := 10*(pairs[i]-'0') + pairs[i+1] - '0'
		if d.Negative {
			dst = append(dst, 101-n)
		} else {
			dst = append(dst, n+1)
		}
	}
	if d.Negative && len(pairs)/2 < phoenixPairs {
		dst = append(dst, phoenixEnd)
	}
	return dst, nil
}

func (e phoenixDecimal) Decode(src []byte) (types.Value, error) {
	if len(src) == 1 && src[0] == phoenixZero {
		return types.NewDecimal(new(apd.Decimal)), nil
	}
	if len(src) < 2 || len(src) > phoenixPairs+1 {
		return types.Value{}, errWidth
	}
	negative, exponent, digits := src[0] < phoenixZero, int(src[0]&0x7f)-65, src[1:]
	if negative {
		exponent = 62 - int(src[0])
		if n := len(digits) - 1; digits[n] == phoenixEnd {
			digits = digits[:n]
		} else if len(digits) < phoenixPairs {
			return types.Value{}, errors.New("the byte 0x66 after a negative number is missing")
		}
	}
	text := make([]byte, 0, 2*phoenixPairs+8)
	if negative {
		text = append(text, '-')
	}
	for _, b := range digits {
		n := b - 1
		if negative {
			n = 101 - b
		}
		if n > 99 {
			return types.Value{}, errors.New("a byte is not a digit")
		}
		text = append(text, '0'+n/10, '0'+n%10)
	}
	pairs := len(digits)
	scale := 2 * (exponent - pairs + 1)
	if n := len(text) - 1; pairs > 0 && text[n] == '0' {
		text, scale = text[:n], scale+1
	}
	text = strconv.AppendInt(append(text, 'E'), int64(scale), 10)
	v, err := types.ParseDecimal(string(text))
	if err != nil {
		return v, err
	}
	var room [phoenixPairs + 2]byte
	if again, err := e.Append(room[:0], v); err != nil || string(again) != string(src) {
		return types.Value{}, errors.New("the bytes of the number are not those that Phoenix writes")
	}
	return v, nil
}

// Clip makes the bounds storable. A bound is NULL if all storable values are beyond it; open bounds stay open.
func (e phoenixDecimal) Clip(iv types.Interval) (types.Interval, bool) {
	var some bool
	if iv.Lo, iv.LoOpen, some = e.bound(iv.Lo, iv.LoOpen, +1); !some {
		return iv, false
	}
	if iv.Hi, iv.HiOpen, some = e.bound(iv.Hi, iv.HiOpen, -1); !some {
		return iv, false
	}
	if iv.Lo.IsNull() || iv.Hi.IsNull() {
		return iv, true
	}
	c, err := types.Compare(iv.Lo, iv.Hi)
	return iv, err == nil && (c < 0 || c == 0 && !iv.LoOpen && !iv.HiOpen)
}

// bound moves v, a bound of an interval, to a number that can be stored. The interval extends from v upwards if dir is
// 1, downwards if it is -1. open and stays say whether the bound is open before and after; some is false if no number
// beyond v can be stored.
func (e phoenixDecimal) bound(v types.Value, open bool, dir int) (to types.Value, stays, some bool) {
	if v.IsNull() || v.Decimal().IsZero() {
		return v, open, true
	}
	d := v.Decimal()
	_, exponent := base100(d)
	switch up := d.Negative == (dir < 0); { // the interval extends away from zero
	case exponent > mostPhoenixPair && up:
		return v, open, false
	case exponent > mostPhoenixPair:
		return types.Value{}, false, true
	case exponent < leastPhoenixPair:
		return types.NewDecimal(new(apd.Decimal)), up, true
	}
	if d.NumDigits() <= phoenixDigits {
		return v, open, true
	}
	c := apd.BaseContext.WithPrecision(phoenixDigits)
	c.Rounding = apd.RoundCeiling
	if dir < 0 {
		c.Rounding = apd.RoundFloor
	}
	var out apd.Decimal
	cond, _ := c.Round(&out, d)
	if _, exponent := base100(&out); exponent > mostPhoenixPair {
		return v, open, false
	}
	return types.NewDecimal(&out), open && !cond.Inexact(), true
}

// moment96 is PHOENIX TIMESTAMP and PHOENIX UNSIGNED TIMESTAMP: milliseconds since 1970 in 8 bytes, then the
// nanoseconds within the millisecond in 4. A DECIMAL holds it exactly, as seconds since 1970 with nine decimals; a
// TIMESTAMP holds only whole milliseconds.
type moment96 struct {
	*traits
	millis *integer
}

const (
	nanosPerMilli  = 1_000_000
	nanosPerSecond = 1_000_000_000
	nanoDigits     = 9
)

func (e moment96) OneScale() bool { return e.t == types.Decimal }

func (e moment96) Append(dst []byte, v types.Value) ([]byte, error) {
	if e.t != types.Decimal {
		dst, err := e.millis.Append(dst, v)
		return append(dst, 0, 0, 0, 0), err
	}
	n, exact := nanosOf(v.Decimal())
	if !exact {
		return dst, errors.New("it is not a whole number of nanoseconds")
	}
	ms, rest := new(big.Int).DivMod(n, big.NewInt(nanosPerMilli), new(big.Int))
	if !ms.IsInt64() {
		return dst, errors.New("its milliseconds need more than 64 bits")
	}
	dst, err := e.millis.Append(dst, types.NewInt(ms.Int64()))
	return binary.BigEndian.AppendUint32(dst, uint32(rest.Int64())), err
}

// nanosOf converts d from seconds to nanoseconds, rounded down.
func nanosOf(d *apd.Decimal) (n *big.Int, exact bool) {
	n = new(big.Int).Set(d.Coeff.MathBigInt())
	if d.Negative {
		n.Neg(n)
	}
	scale := int64(d.Exponent) + nanoDigits
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil)
	if scale >= 0 {
		return n.Mul(n, ten), true
	}
	_, rest := n.DivMod(n, ten, new(big.Int))
	return n, rest.Sign() == 0
}

func nanosValue(n *big.Int) types.Value {
	return types.WithoutScale(types.NewDecimal(apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(n), -nanoDigits)))
}

func (e moment96) Decode(src []byte) (types.Value, error) {
	if len(src) != e.Width() {
		return types.Value{}, errWidth
	}
	v, err := e.millis.Decode(src[:8])
	if err != nil {
		return v, err
	}
	rest := int64(binary.BigEndian.Uint32(src[8:]))
	switch {
	case rest >= nanosPerMilli:
		return types.Value{}, fmt.Errorf("%d nanoseconds are out of range: a millisecond has 1000000", rest)
	case e.t == types.Decimal:
		n := big.NewInt(v.Int())
		return nanosValue(n.Add(n.Mul(n, big.NewInt(nanosPerMilli)), big.NewInt(rest))), nil
	case rest > 0:
		return types.Value{}, errors.New("it has nanoseconds, which only a DECIMAL can hold, not a TIMESTAMP")
	}
	return v, nil
}

func (e moment96) Clip(iv types.Interval) (types.Interval, bool) {
	if e.t != types.Decimal {
		return e.millis.Clip(iv)
	}
	least, _ := e.millis.limits()
	million, one := big.NewInt(nanosPerMilli), big.NewInt(1)
	lo := new(big.Int).Mul(big.NewInt(least), million)
	hi := new(big.Int).Add(new(big.Int).Mul(big.NewInt(math.MaxInt64), million), big.NewInt(nanosPerMilli-1))
	if !iv.Lo.IsNull() {
		if n, exact := nanosOf(iv.Lo.Decimal()); !exact || iv.LoOpen {
			lo = greater(lo, n.Add(n, one))
		} else {
			lo = greater(lo, n)
		}
	}
	if !iv.Hi.IsNull() {
		n, exact := nanosOf(iv.Hi.Decimal())
		if exact && iv.HiOpen {
			n.Sub(n, one)
		}
		if n.Cmp(hi) < 0 {
			hi = n
		}
	}
	if lo.Cmp(hi) > 0 {
		return iv, false
	}
	return types.Interval{Lo: nanosValue(lo), Hi: nanosValue(hi)}, true
}

func greater(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}
