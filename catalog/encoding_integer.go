package catalog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/hql-db/hql/types"
)

type integerKind uint8

const (
	signed   integerKind = iota // two's complement, as Bytes.toBytes writes it: negative numbers sort last
	unsigned                    // from 0 up
	little                      // two's complement, the least byte first: no order
	ordered                     // two's complement with the sign bit flipped, as Phoenix writes it
)

// integer is a number of 1 to 8 bytes, big-endian except for little. The number is the value divided by scale: 1000 for
// EPOCH32, whole seconds of a TIMESTAMP.
type integer struct {
	traits
	kind  integerKind
	scale int64
}

func newInteger(name string, t types.Type, bytes int, kind integerKind) *integer {
	order := [...]Order{signed: TwosComplement, unsigned: Ascending, little: Unordered, ordered: Ascending}[kind]
	return &integer{traits: traits{t, name, bytes, order}, kind: kind, scale: 1}
}

// Unit returns the unit of time that the number counts in, if it is coarser than the type's.
func (e *integer) Unit() string {
	if e.scale == 1000 {
		return "second"
	}
	return ""
}

// limits returns the least and the greatest number, before scaling. UINT64 stops at the greatest BIGINT.
func (e *integer) limits() (lo, hi int64) {
	bits := 8 * e.width
	switch {
	case e.kind == unsigned && bits == 64:
		hi = math.MaxInt64
	case e.kind == unsigned:
		hi = 1<<bits - 1
	default:
		lo, hi = -1<<(bits-1), 1<<(bits-1)-1
	}
	if e.t == types.Date {
		lo, hi = max(lo, -types.MaxDate), min(hi, types.MaxDate)
	}
	return lo, hi
}

func (e *integer) Append(dst []byte, v types.Value) ([]byte, error) {
	n := v.Int()
	if e.scale != 1 {
		if n%e.scale != 0 {
			return dst, errors.New("it is not a whole number of seconds")
		}
		n /= e.scale
	}
	lo, hi := e.limits()
	if n < lo || n > hi {
		return dst, fmt.Errorf("%s does not fit %s (%d to %d)", v, e, lo, hi)
	}
	u := uint64(n)
	if e.kind == ordered {
		u ^= 1 << (8*e.width - 1)
	}
	dst = appendUint(dst, u, e.width)
	if e.kind == little {
		slices.Reverse(dst[len(dst)-e.width:])
	}
	return dst, nil
}

func (e *integer) Decode(src []byte) (types.Value, error) {
	if len(src) != e.width {
		return types.Value{}, errWidth
	}
	u := readUint(src)
	if e.kind == little {
		u = bits.ReverseBytes64(u) >> (64 - 8*e.width)
	}
	if e.kind == ordered {
		u ^= 1 << (8*e.width - 1)
	}
	n := int64(u)
	if e.kind != unsigned {
		unused := 64 - 8*e.width
		n = int64(u<<unused) >> unused
	} else if n < 0 {
		return types.Value{}, errors.New("the number is above the greatest BIGINT")
	}
	if err := checkInt(e.t, n); err != nil {
		return types.Value{}, err
	}
	if e.t == types.Time && (n < 0 || n >= types.MillisPerDay) {
		return types.Value{}, fmt.Errorf("%d is not a time of day", n)
	}
	if e.t == types.Date && (n < -types.MaxDate || n > types.MaxDate) {
		return types.Value{}, fmt.Errorf("%d is not a day", n)
	}
	return types.NewIntOf(e.t, n*e.scale), nil
}

// set sets v, which is NULL, to the number in src, if that is a BIGINT or INT of 8 or 4 bytes; otherwise it returns false.
func (e *integer) set(v *types.Value, src []byte) bool {
	flip := uint64(0)
	if e.kind == ordered {
		flip = 1 << 63
	} else if e.kind != signed {
		return false
	}
	switch {
	case len(src) != e.width || e.scale != 1:
	case e.width == 4 && (e.t == types.Int || e.t == types.BigInt):
		v.SetInt(e.t, int64(uint64(binary.BigEndian.Uint32(src))<<32^flip)>>32)
		return true
	case e.width == 8 && e.t == types.BigInt:
		v.SetInt(e.t, int64(binary.BigEndian.Uint64(src)^flip))
		return true
	}
	return false
}

func (e *integer) Clip(iv types.Interval) (types.Interval, bool) {
	lo, hi := e.limits()
	return clipInts(iv, e.t, lo*e.scale, hi*e.scale, e.scale)
}

// appendUint appends the low n bytes of u, big-endian; readUint reads at most 8 of them.
func appendUint(dst []byte, u uint64, n int) []byte {
	for shift := 8 * (n - 1); shift >= 0; shift -= 8 {
		dst = append(dst, byte(u>>shift))
	}
	return dst
}

func readUint(src []byte) (u uint64) {
	for _, b := range src {
		u = u<<8 | uint64(b)
	}
	return u
}

// checkInt returns an error if n is not a value of t.
func checkInt(t types.Type, n int64) error {
	if lo, hi := types.IntRange(t); n < lo || n > hi {
		return fmt.Errorf("%d is not a valid %s", n, t)
	}
	return nil
}

// clipInts narrows iv to the multiples of step between lo and hi.
func clipInts(iv types.Interval, t types.Type, lo, hi, step int64) (types.Interval, bool) {
	if !iv.Lo.IsNull() && iv.Lo.Int() > lo {
		lo = iv.Lo.Int()
	}
	if !iv.Hi.IsNull() && iv.Hi.Int() < hi {
		hi = iv.Hi.Int()
	}
	if t.IsInteger() {
		least, most := types.IntRange(t)
		lo, hi = max(lo, least), min(hi, most)
	}
	if step > 1 {
		if r := types.FloorMod(lo, step); r != 0 {
			lo += step - r
		}
		hi -= types.FloorMod(hi, step)
	}
	return types.Interval{Lo: types.NewIntOf(t, lo), Hi: types.NewIntOf(t, hi)}, lo <= hi
}

// digits is TEXT(n) for integers and timestamps, and HEX(n), UPPER HEX(n), BASE36(n) and CROCKFORD(n): the digits of
// the number, padded with zeros to n.
type digits struct {
	*traits
	alphabet string // in ascending order
	reversed bool   // the least digit first: REVERSED TEXT(n)
}

const decimalDigits = "0123456789"

// most returns the greatest number of n digits.
func (e digits) most() int64 {
	m, base := int64(0), int64(len(e.alphabet))
	for range e.width {
		if m > (math.MaxInt64-(base-1))/base {
			return math.MaxInt64
		}
		m = m*base + base - 1
	}
	return m
}

func (e digits) Append(dst []byte, v types.Value) ([]byte, error) {
	n := v.Int()
	if n < 0 || n > e.most() {
		return dst, fmt.Errorf("%s does not fit %d digits", v, e.width)
	}
	start, base := len(dst), int64(len(e.alphabet))
	for range e.width {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; i >= start && n > 0; i-- {
		dst[i] = e.alphabet[n%base]
		n /= base
	}
	if e.reversed {
		slices.Reverse(dst[start:])
	}
	return dst, nil
}

func (e digits) Decode(src []byte) (types.Value, error) {
	if len(src) != e.width {
		return types.Value{}, errWidth
	}
	n, base := int64(0), int64(len(e.alphabet))
	for i, b := range src {
		if e.reversed {
			b = src[len(src)-1-i]
		}
		d := int64(strings.IndexByte(e.alphabet, b))
		if d < 0 {
			return types.Value{}, errors.New("a character is not a digit")
		}
		if n > (math.MaxInt64-d)/base {
			return types.Value{}, errors.New("the number is too large")
		}
		n = n*base + d
	}
	if err := checkInt(e.t, n); err != nil {
		return types.Value{}, err
	}
	return types.NewIntOf(e.t, n), nil
}

func (e digits) Clip(iv types.Interval) (types.Interval, bool) {
	return clipInts(iv, e.t, 0, e.most(), 1)
}
