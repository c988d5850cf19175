package catalog

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// ByteRange is a range [Lo, Hi) of the first bytes of the encoded values of a key part. A nil Hi is no upper bound.
type ByteRange struct {
	Lo, Hi []byte
	Point  bool // Lo is the whole encoding of the one value Value
	Value  types.Value
}

// follow describes the bytes after a value of varying width: a delimiter (literal), or parts of fixed width, which may
// hold any bytes (any). The zero follow means that the value reaches the end of the key.
type follow struct {
	literal []byte
	any     bool
}

func (f follow) end() bool  { return len(f.literal) == 0 && !f.any }
func (f follow) zero() bool { return len(f.literal) == 1 && f.literal[0] == 0 }

// inverted returns f for a value whose bits are inverted. The end of the key sorts before any further byte, but
// inverted it would have to sort after it: so inverted returns "any bytes" for the end of the key.
func (f follow) inverted() follow {
	if f.end() {
		return follow{any: true}
	}
	f.literal = bytes.Clone(f.literal)
	invertBytes(f.literal)
	return f
}

// KeyRange is the range of the keys in iv, an interval of KeyColumn.
//
//	['a', 'b']     ['a', 'b\x00')
func KeyRange(iv types.Interval) ByteRange {
	r, _, _ := textRange(iv, follow{})
	return r
}

// appendPoint appends the range that holds only v, or nothing if v cannot be stored.
func appendPoint(dst []ByteRange, encode func(dst []byte, v types.Value) ([]byte, error), v types.Value) []ByteRange {
	b, err := encode(nil, v)
	if err != nil {
		return dst
	}
	return append(dst, ByteRange{Lo: b, Point: true, Value: v})
}

// appendRanges appends the byte ranges of the values in iv, which is not a point. exact reports whether the bytes of a
// stored value are in the ranges only if the value is in iv. ok is false if the order of enc does not help to find iv.
func appendRanges(dst []ByteRange, enc Encoding, iv types.Interval, f follow) (out []ByteRange, exact, ok bool) {
	if enc.Order()&Inverted != 0 {
		return appendInverted(dst, enc, iv, f.inverted())
	}
	switch enc.Order() {
	case Lexical:
		c, some := enc.Clip(iv)
		if !some {
			return dst, true, true
		}
		r, exact, ok := lexicalRange(enc, c, f)
		return append(dst, r), exact, ok
	case Terminated:
		r, before, exact := textRange(iv, f)
		for _, b := range before {
			v := types.NewString(b)
			if enc.Type() == types.Bytes {
				v = types.NewBytes(b)
			}
			dst = append(dst, ByteRange{Lo: []byte(b), Point: true, Value: v})
		}
		if lo := append(bytes.Clone(r.Lo), f.literal...); iv.LoOpen && len(f.literal) > 0 && bytes.Equal(r.Lo, []byte(iv.Lo.Text())) {
			// Keys that begin with the lower bound and the delimiter have that bound as their value. It is excluded from
			// iv, so the range is split around them.
			if r.Hi == nil || bytes.Compare(lo, r.Hi) < 0 {
				dst = append(dst, ByteRange{Lo: r.Lo, Hi: lo})
				if r.Lo = types.PrefixEnd(lo); r.Lo == nil || r.Hi != nil && bytes.Compare(r.Lo, r.Hi) >= 0 {
					return dst, exact, true
				}
			}
		}
		return append(dst, r), exact, true
	case Padded:
		c, some := enc.Clip(iv)
		if !some {
			return dst, true, true
		}
		r, exact := paddedRange(enc, c)
		return append(dst, r), exact, true
	case Ascending:
		c, some := enc.Clip(iv)
		if !some {
			return dst, true, true
		}
		dst, ok = appendClipped(dst, enc, c)
		return dst, true, ok
	case TwosComplement:
		c, some := enc.Clip(iv)
		if !some {
			return dst, true, true
		}
		// Values from 0 up have a clear top bit and so come first.
		up, down := c, c
		ok = true
		if c.Hi.Int() >= 0 {
			if c.Lo.Int() < 0 {
				up.Lo = types.NewIntOf(c.Lo.Type(), 0)
			}
			dst, ok = appendClipped(dst, enc, up)
		}
		if c.Lo.Int() < 0 && ok {
			if c.Hi.Int() >= 0 {
				down.Hi = types.NewIntOf(c.Hi.Type(), -1)
			}
			dst, ok = appendClipped(dst, enc, down)
		}
		return dst, true, ok
	case Unordered:
		if e, is := enc.(text); is && e.t.IsInteger() {
			dst, ok = appendNumerals(dst, e.t, iv)
		}
	}
	return dst, false, ok
}

// appendNumerals appends the ranges of the texts of the numbers in iv, one for each number of digits. ok is false if iv
// holds all numbers of some length: their texts begin with any digit, so a range would hold nearly all other texts too.
//
//	n in [900, 1100]     ['900', ':') and ['1000', '1101')
func appendNumerals(dst []ByteRange, t types.Type, iv types.Interval) (out []ByteRange, ok bool) {
	lo, hi := types.IntRange(t)
	if !iv.Lo.IsNull() {
		lo = iv.Lo.Int()
	}
	if !iv.Hi.IsNull() {
		hi = iv.Hi.Int()
	}
	at := len(dst)
	for least, most := range solve.SameDigits {
		from, to := max(lo, least), min(hi, most)
		switch {
		case from > to:
			continue
		case from == least && to == most:
			return dst[:at], false
		case from < 0:
			from, to = to, from
		}
		dst = append(dst, ByteRange{Lo: strconv.AppendInt(nil, from, 10), Hi: types.PrefixEnd(strconv.AppendInt(nil, to, 10))})
	}
	slices.SortFunc(dst[at:], func(a, b ByteRange) int { return bytes.Compare(a.Lo, b.Lo) })
	out = dst[:at]
	for _, r := range dst[at:] {
		if n := len(out); n > at && bytes.Compare(r.Lo, out[n-1].Hi) <= 0 {
			if bytes.Compare(out[n-1].Hi, r.Hi) < 0 {
				out[n-1].Hi = r.Hi
			}
			continue
		}
		out = append(out, r)
	}
	return out, true
}

// appendClipped appends the range between two storable, inclusive bounds.
func appendClipped(dst []ByteRange, enc Encoding, iv types.Interval) ([]ByteRange, bool) {
	lo, err := enc.Append(nil, iv.Lo)
	if err != nil {
		return dst, false
	}
	hi, err := enc.Append(nil, iv.Hi)
	if err != nil {
		return dst, false
	}
	if bytes.Equal(lo, hi) {
		return append(dst, ByteRange{Lo: lo, Point: true, Value: iv.Lo}), true
	}
	return append(dst, ByteRange{Lo: lo, Hi: types.PrefixEnd(hi)}), true
}

func lexicalRange(enc Encoding, iv types.Interval, f follow) (r ByteRange, exact, ok bool) {
	bound := func(v types.Value) types.Value {
		if v.IsNull() {
			return v
		}
		b, err := enc.Append(nil, v)
		ok = ok && err == nil
		return types.NewBytes(string(b))
	}
	ok = true
	of := types.Interval{Lo: bound(iv.Lo), LoOpen: iv.LoOpen, Hi: bound(iv.Hi), HiOpen: iv.HiOpen}
	if !ok {
		return r, false, false
	}
	if f.end() || f.zero() {
		r, _, exact = textRange(of, f)
		return r, exact, true
	}
	// The following bytes may sort a value after a longer one that begins with it, so the range includes everything that
	// begins like the upper bound.
	r.Lo = []byte(of.Lo.Text())
	if hi := of.Hi.Text(); hi != "" {
		r.Hi = types.PrefixEnd([]byte(hi[:1]))
	}
	return r, false, true
}

// textRange returns the range of an interval of texts or bytes of variable width. At the end of the key and before the
// delimiter 0x00, byte order is value order. Before another delimiter d, "a" sorts after "aX" for bytes X below d. Then
// textRange widens the range or, if it would become much wider, lists "a" in before, the values of iv that are outside
// the range. It also widens the range if any bytes may follow.
func textRange(iv types.Interval, f follow) (r ByteRange, before []string, exact bool) {
	lo, hi := []byte(iv.Lo.Text()), []byte(iv.Hi.Text())
	noHi := iv.Hi.IsNull()
	ordered, least := f.end(), byte(0) // byte order is value order; the least byte by which a longer value continues
	if f.zero() && bytes.IndexByte(lo, 0) < 0 && bytes.IndexByte(hi, 0) < 0 {
		ordered, least = true, 1
	}
	if ordered {
		if iv.LoOpen {
			lo = append(lo, least)
		}
		if noHi {
			return ByteRange{Lo: lo}, nil, true
		}
		if !iv.HiOpen {
			hi = append(hi, least)
		}
		return ByteRange{Lo: lo, Hi: hi}, nil, true
	}
	if noHi {
		return ByteRange{Lo: lo}, nil, len(f.literal) > 0 && !beginningsAbove(lo, f.literal)
	}
	// iv is a prefix: every value that starts with lo, whatever the delimiter.
	if iv.HiOpen && !iv.LoOpen && bytes.Equal(types.PrefixEnd(lo), hi) {
		return ByteRange{Lo: lo, Hi: hi}, nil, len(f.literal) == 1 && !bytes.Contains(lo, f.literal)
	}
	stop := hi
	if !iv.HiOpen {
		stop = types.PrefixEnd(append(bytes.Clone(hi), f.literal...))
	}
	const apart = 8 // list only values of up to 8 bytes; longer ones widen the range little
	exact = iv.HiOpen && len(f.literal) > 0
	for n := range hi { // values that are proper prefixes of hi
		p := hi[:n]
		if c := bytes.Compare(p, lo); c < 0 || c == 0 && iv.LoOpen {
			continue
		}
		s := types.PrefixEnd(append(bytes.Clone(p), f.literal...))
		if stop == nil || s != nil && bytes.Compare(s, stop) <= 0 {
			continue
		}
		if n < apart && len(f.literal) > 0 {
			before = append(before, string(p))
		} else {
			stop, exact = s, false
		}
	}
	exact = exact && !beginningsAbove(lo, f.literal)
	return ByteRange{Lo: lo, Hi: stop}, before, exact
}

// beginningsAbove reports whether some proper prefix of lo, followed by the delimiter, may sort after lo although it is
// a smaller value.
func beginningsAbove(lo, delimiter []byte) bool {
	const most = 256
	for n := range lo {
		if p := append(bytes.Clone(lo[:n]), delimiter...); n > most || bytes.Compare(p, lo) >= 0 || bytes.HasPrefix(lo, p) {
			return true
		}
	}
	return false
}

// paddedRange returns the range of an interval of fixed-width strings (padded with spaces, no byte below a space
// stored) or bytes.
func paddedRange(enc Encoding, iv types.Interval) (r ByteRange, exact bool) {
	n := enc.Width()
	exact = true
	r.Lo = []byte{}
	if !iv.Lo.IsNull() {
		lo := []byte(iv.Lo.Text())
		exact = exact && plain(enc, lo)
		padded, err := enc.Append(nil, iv.Lo)
		switch {
		case len(lo) > n: // a value greater than lo is greater than lo's first n bytes
			r.Lo = above(lo[:n])
		case iv.LoOpen && err == nil:
			r.Lo = above(padded)
		default:
			r.Lo = lo
			exact = exact && !iv.LoOpen
		}
	}
	if !iv.Hi.IsNull() {
		hi := []byte(iv.Hi.Text())
		exact = exact && plain(enc, hi)
		padded, err := enc.Append(nil, iv.Hi)
		switch {
		case !iv.HiOpen && err == nil:
			r.Hi = types.PrefixEnd(padded)
		case len(hi) > n && plain(enc, hi):
			r.Hi = types.PrefixEnd(hi[:n])
		case iv.HiOpen && plain(enc, hi):
			r.Hi = hi
		default: // a padded shorter value may sort after hi, so the range includes everything with the same beginning
			r.Hi, exact = types.PrefixEnd(upToBlank(hi, n)), false
		}
	}
	return r, exact
}

// plain reports whether padded values sort around b as the values do: b is BYTES, or a text without a byte up to the
// space (0x00 to 0x20).
func plain(enc Encoding, b []byte) bool {
	return enc.Type() == types.Bytes || len(upToBlank(b, len(b))) == len(b)
}

// above returns a bound that is greater than b and than all strings of b's length with the same beginning:
// types.PrefixEnd, or b with one more 0xff if all bytes of b are 0xff.
func above(b []byte) []byte {
	if n := types.PrefixEnd(b); n != nil {
		return n
	}
	return bytes.Repeat([]byte{0xff}, len(b)+1)
}

// upToBlank cuts b before its first byte from 0x00 to 0x20 (the space), or after n bytes.
func upToBlank(b []byte, n int) []byte {
	for i, c := range b {
		if c <= ' ' || i == n {
			return b[:i]
		}
	}
	return b
}
