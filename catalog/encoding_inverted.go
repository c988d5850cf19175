package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hql-db/hql/types"
)

// inverted is INVERTED before another encoding: all bits of its bytes are inverted, so that greater values sort first,
// as in a DESC column of Phoenix. It ends with 0xff where the other encoding ends with 0x00.
type inverted struct{ Encoding }

// invertedDelimited works like inverted for an encoding whose bytes show their own end.
type invertedDelimited struct{ inverted }

const invertedName = "INVERTED"

func invert(e Encoding) (Encoding, error) {
	if isInverted(e) {
		return nil, errors.New("INVERTED twice has no effect: leave both out")
	}
	if err := takes(e, invertedName); err != nil {
		return nil, err
	}
	if _, ok := e.(Delimited); ok {
		return invertedDelimited{inverted{e}}, nil
	}
	return inverted{e}, nil
}

// takesWord is an encoding that cannot have every word before its name: takes reports whether it can have word,
// INVERTED or NULLABLE.
type takesWord interface{ takes(word string) bool }

func takes(e Encoding, word string) error {
	if p, ok := e.(takesWord); ok && !p.takes(word) {
		return fmt.Errorf("%s cannot be %s", e, word)
	}
	return nil
}

// upright returns the encoding inside an inverted encoding, and any other encoding unchanged.
func upright(e Encoding) Encoding {
	if i, ok := e.(turned); ok {
		return i.upright()
	}
	return e
}

func isInverted(e Encoding) bool {
	_, ok := e.(turned)
	return ok
}

type turned interface{ upright() Encoding }

func (e inverted) upright() Encoding { return e.Encoding }

func (e inverted) String() string { return invertedName + " " + e.Encoding.String() }
func (e inverted) Respells() bool { return respells(e.Encoding) }
func (e inverted) OneScale() bool { return oneScale(e.Encoding) }

// Unit returns the unit of the inverted encoding.
func (e inverted) Unit() string {
	if c, ok := e.Encoding.(Coarse); ok {
		return c.Unit()
	}
	return ""
}

func (e inverted) OneFalse() bool {
	f, ok := e.Encoding.(OneFalse)
	return ok && f.OneFalse()
}

func (e inverted) Order() Order {
	if o := e.Encoding.Order(); o != Unordered {
		return o | Inverted
	}
	return Unordered
}

func (e inverted) Append(dst []byte, v types.Value) ([]byte, error) {
	at := len(dst)
	dst, err := e.Encoding.Append(dst, v)
	invertBytes(dst[at:])
	return dst, err
}

func (e inverted) Decode(src []byte) (types.Value, error) {
	var room [64]byte
	b := append(room[:0], src...)
	invertBytes(b)
	return e.Encoding.Decode(b)
}

func (e invertedDelimited) Length(src []byte) (int, error) {
	b := slices.Clone(src)
	invertBytes(b)
	return e.Encoding.(Delimited).Length(b)
}

func invertBytes(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// appendInverted works like appendRanges for an encoding whose Order is Inverted: it inverts the bounds of the other encoding's
// ranges, and f, the description of the bytes after the value.
func appendInverted(dst []ByteRange, enc Encoding, iv types.Interval, f follow) (out []ByteRange, exact, ok bool) {
	of := upright(enc)
	rs, exact, ok := appendRanges(nil, of, iv, f)
	for _, r := range rs {
		lo := bytes.Clone(r.Lo)
		invertBytes(lo)
		if r.Point {
			dst = append(dst, ByteRange{Lo: lo, Point: true, Value: r.Value})
			continue
		}
		if w := of.Width(); w != Variable && len(lo) > w || r.Hi != nil && len(r.Hi) == 0 {
			continue // the range is empty
		}
		turned := ByteRange{Lo: []byte{}, Hi: types.PrefixEnd(lo)}
		if r.Hi != nil {
			hi := bytes.Clone(r.Hi)
			invertBytes(hi)
			if turned.Lo = types.PrefixEnd(hi); turned.Lo == nil {
				continue // Hi is all 0x00: the range is empty
			}
		}
		dst = append(dst, turned)
	}
	return dst, exact, ok
}
