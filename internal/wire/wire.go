// Package wire reads protocol buffer messages for which there are no generated types.
package wire

import (
	"errors"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ErrMalformed ends a message that cannot be read further.
var ErrMalformed = errors.New("a malformed message")

// Field is a field of a message: a number, or else bytes, a text or a message.
type Field struct {
	Number protowire.Number
	Bytes  []byte // nil: it is a number
	Varint uint64
}

// Fields returns the fields of a message in order, without those of fixed width and groups. If the message is
// malformed, ErrMalformed comes last, with a Field that has no number, so that a caller looking for certain numbers may
// ignore it.
func Fields(message []byte) iter.Seq2[Field, error] {
	return func(yield func(Field, error) bool) {
		for rest := message; len(rest) > 0; {
			number, typ, n := protowire.ConsumeTag(rest)
			if n < 0 {
				yield(Field{}, ErrMalformed)
				return
			}
			rest = rest[n:]
			f, size := Field{Number: number}, 0
			switch typ {
			case protowire.BytesType:
				f.Bytes, size = protowire.ConsumeBytes(rest)
			case protowire.VarintType:
				f.Varint, size = protowire.ConsumeVarint(rest)
			default:
				size = protowire.ConsumeFieldValue(number, typ, rest)
			}
			if size < 0 {
				yield(Field{}, ErrMalformed)
				return
			}
			if (typ == protowire.BytesType || typ == protowire.VarintType) && !yield(f, nil) {
				return
			}
			rest = rest[size:]
		}
	}
}

// Unknown returns the last field with a number among those of m that its type does not know; ok is false if there is none.
func Unknown(m protoreflect.ProtoMessage, number protowire.Number) (last Field, ok bool) {
	for f := range Fields(m.ProtoReflect().GetUnknown()) {
		if f.Number == number {
			last, ok = f, true
		}
	}
	return last, ok
}
