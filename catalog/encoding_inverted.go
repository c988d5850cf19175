package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/hql-db/hql/types"
)

// inverted is INVERTED in front of another encoding: each of its bytes with all bits inverted, so that greater values
// stand first, as Phoenix writes a column that is DESC. What ends it is not inverted: 0xff where 0x00 would end it otherwise.
type inverted struct{ Encoding }

// invertedDelimited is inverted of an encoding that tells where it ends.
type invertedDelimited struct{ inverted }

const invertedName = "INVERTED"

func invert(e Encoding) (Encoding, error) {
	if isInverted(e) {
		return nil, errors.New("what is INVERTED twice is as it was")
	}
	if err := takes(e, invertedName); err != nil {
		return nil, err
	}
	if _, ok := e.(Delimited); ok {
		return invertedDelimited{inverted{e}}, nil
	}
	return inverted{e}, nil
}

// A takesWord is an encoding in front of which not every word may stand: INVERTED, NULLABLE.
type takesWord interface{ takes(word string) bool }

func takes(e Encoding, word string) error {
	if p, ok := e.(takesWord); ok && !p.takes(word) {
		return fmt.Errorf("%s cannot be %s", e, word)
	}
	return nil
}

// upright is what an inverted encoding inverts, and any other encoding itself.
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

// Unit is that of the encoding it inverts.
func (e inverted) Unit() string {
	if c, ok := e.Encoding.(Coarse); ok {
		return c.Unit()
	}
	return ""
}

// OneFalse is that of the encoding it inverts.
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

// appendInverted is appendRanges for an encoding whose Order is Inverted: the ranges of what it inverts, upside down. f is what follows
// its bytes, upside down as well.
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
			continue // no value is in it
		}
		turned := ByteRange{Lo: []byte{}, Hi: types.PrefixEnd(lo)}
		if r.Hi != nil {
			hi := bytes.Clone(r.Hi)
			invertBytes(hi)
			if turned.Lo = types.PrefixEnd(hi); turned.Lo == nil {
				continue // Hi is all 0x00: nothing is below it
			}
		}
		dst = append(dst, turned)
	}
	return dst, exact, ok
}
