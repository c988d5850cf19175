package planner

import (
	"bytes"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/types"
)

// byteRange holds the bytes that a part's encoding can start with, [lo, hi); a nil
// hi is open: up to the end of what goes before the part.
type byteRange struct {
	lo, hi []byte
	point  bool // lo is the whole encoding of the one value val
	val    types.Value
}

// above is types.PrefixEnd, but where there is none a bound that no string of the length of b reaches.
func above(b []byte) []byte {
	if n := types.PrefixEnd(b); n != nil {
		return n
	}
	return bytes.Repeat([]byte{0xff}, len(b)+1)
}

// allBegin tells that the keys below stop, of those from one on that begins with prefix, all begin with it.
func allBegin(stop, prefix []byte) bool {
	return bytes.HasPrefix(stop, prefix) || bytes.Equal(stop, types.PrefixEnd(prefix))
}

// follow tells what comes after a part: a delimiter, parts of fixed width, any bytes, or (empty) the
// end of the key. It matters for variable-width encodings only.
type follow struct {
	literal []byte
	any     bool
}

// followOf gives what comes after part i of l's key.
func followOf(l *catalog.Layout, i int) follow {
	if _, ok := l.Key.Parts[i].Encoding.(catalog.Delimited); ok || i+1 == len(l.Key.Parts) {
		return follow{}
	}
	return follow{l.Key.Parts[i+1].Literal, l.Key.Parts[i].Tail() > 0}
}

// holdsDelimiter tells that bytes of a part that f follows cannot be stored: they would end before their end.
func (f follow) holdsDelimiter(enc catalog.Encoding, b []byte) bool {
	return len(f.literal) > 0 && enc.Width() == catalog.Variable && catalog.EndsEarly(b, f.literal)
}

// end tells that the key ends there, zero that 0x00 follows.
func (f follow) end() bool  { return len(f.literal) == 0 && !f.any }
func (f follow) zero() bool { return len(f.literal) == 1 && f.literal[0] == 0 }

// ranges turns the interval iv of values into byte ranges under enc. exact tells
// that a stored value has its bytes in the ranges only if it lies in iv. ok is
// false when the encoding's order says nothing about iv.
func ranges(dst []byteRange, enc catalog.Encoding, iv types.Interval, f follow) (out []byteRange, exact, ok bool) {
	if iv.IsPoint() {
		b, err := enc.Append(nil, iv.Lo)
		if err != nil || f.holdsDelimiter(enc, b) {
			return dst, true, true // cannot be stored: no row
		}
		return append(dst, byteRange{lo: b, point: true, val: iv.Lo}), true, true
	}
	switch enc.Order() {
	case catalog.Terminated:
		r, exact := textRange(iv, f)
		return append(dst, r), exact, true
	case catalog.Ascending:
		if t := enc.Type(); t == types.String || t == types.Bytes || t == types.JSON {
			r, exact := paddedRange(enc, iv)
			return append(dst, r), exact, true
		}
		c, some := enc.Clip(iv)
		if !some {
			return dst, true, true
		}
		dst, ok = appendClipped(dst, enc, c)
		return dst, true, ok
	case catalog.Halves:
		c, some := enc.Clip(iv)
		if !some {
			return dst, true, true
		}
		// Values from 0 up have their top bit clear and so come first.
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
	}
	return dst, false, false
}

// appendClipped appends the range between two storable, inclusive bounds.
func appendClipped(dst []byteRange, enc catalog.Encoding, iv types.Interval) ([]byteRange, bool) {
	lo, err := enc.Append(nil, iv.Lo)
	if err != nil {
		return dst, false
	}
	hi, err := enc.Append(nil, iv.Hi)
	if err != nil {
		return dst, false
	}
	if bytes.Equal(lo, hi) {
		return append(dst, byteRange{lo: lo, point: true, val: iv.Lo}), true
	}
	return append(dst, byteRange{lo: lo, hi: types.PrefixEnd(hi)}), true
}

// textRange is the range of a variable-width text or bytes interval. At the end
// of the key and before the delimiter 0x00 byte order is value order; before
// another delimiter d, "a" sorts after "aX" for bytes X below d, so the range is widened; so it is
// where any bytes follow.
func textRange(iv types.Interval, f follow) (r byteRange, exact bool) {
	lo, hi := []byte(iv.Lo.Text()), []byte(iv.Hi.Text())
	noHi := iv.Hi.IsNull()
	ordered, least := f.end(), byte(0) // byte order is value order; the least byte that a longer value goes on with
	if f.zero() && bytes.IndexByte(lo, 0) < 0 && bytes.IndexByte(hi, 0) < 0 {
		ordered, least = true, 1
	}
	if ordered {
		if iv.LoOpen {
			lo = append(lo, least)
		}
		if noHi {
			return byteRange{lo: lo}, true
		}
		if !iv.HiOpen {
			hi = append(hi, least)
		}
		return byteRange{lo: lo, hi: hi}, true
	}
	if noHi {
		return byteRange{lo: lo}, false
	}
	// A prefix: every value that starts with lo, whatever the delimiter.
	if iv.HiOpen && !iv.LoOpen && bytes.Equal(types.PrefixEnd(lo), hi) {
		return byteRange{lo: lo, hi: hi}, len(f.literal) == 1 && !bytes.Contains(lo, f.literal)
	}
	stop := hi
	if !iv.HiOpen {
		stop = types.PrefixEnd(append(bytes.Clone(hi), f.literal...))
	}
	for n := range hi { // values that are proper prefixes of hi
		p := hi[:n]
		if bytes.Compare(p, lo) < 0 {
			continue
		}
		if s := types.PrefixEnd(append(bytes.Clone(p), f.literal...)); stop != nil && (s == nil || bytes.Compare(s, stop) > 0) {
			stop = s
		}
	}
	return byteRange{lo: lo, hi: stop}, false
}

// paddedRange is the range of an interval over fixed-width strings (padded with
// spaces, no byte below a space stored) or bytes.
func paddedRange(enc catalog.Encoding, iv types.Interval) (r byteRange, exact bool) {
	n := enc.Width()
	exact = true
	r.lo = []byte{}
	if !iv.Lo.IsNull() {
		lo := []byte(iv.Lo.Text())
		exact = exact && plain(enc, lo)
		padded, err := enc.Append(nil, iv.Lo)
		switch {
		case len(lo) > n: // a value greater than lo is greater than lo's first n bytes
			r.lo = above(lo[:n])
		case iv.LoOpen && err == nil:
			r.lo = above(padded)
		default:
			r.lo = lo
			exact = exact && !iv.LoOpen
		}
	}
	if !iv.Hi.IsNull() {
		hi := []byte(iv.Hi.Text())
		exact = exact && plain(enc, hi)
		padded, err := enc.Append(nil, iv.Hi)
		switch {
		case !iv.HiOpen && err == nil:
			r.hi = types.PrefixEnd(padded)
		case len(hi) > n && plain(enc, hi):
			r.hi = types.PrefixEnd(hi[:n])
		case iv.HiOpen && plain(enc, hi):
			r.hi = hi
		default: // a padded shorter value may sort after hi: stop after all that start like it
			r.hi, exact = types.PrefixEnd(upToBlank(hi, n)), false
		}
	}
	return r, exact
}

// plain tells that padding does not disturb the order around b: no byte up to a space in a text bound.
func plain(enc catalog.Encoding, b []byte) bool {
	return enc.Type() == types.Bytes || len(upToBlank(b, len(b))) == len(b)
}

// upToBlank cuts b at its first byte up to a space, and at n bytes.
func upToBlank(b []byte, n int) []byte {
	for i, c := range b {
		if c <= ' ' || i == n {
			return b[:i]
		}
	}
	return b
}
