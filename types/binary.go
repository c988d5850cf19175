package types

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/apd/v3"
)

// AppendBinary appends v in the form that DecodeBinary reads: the type in one byte, then a varint, or the length of a
// text and the text. It is for files that one process writes and reads.
func (v Value) AppendBinary(dst []byte) []byte {
	if v.HasClock() {
		return binary.AppendVarint(binary.AppendVarint(append(dst, argument), int64(v.months)), v.i)
	}
	dst = append(dst, byte(v.typ))
	switch {
	case v.IsNull():
		return dst
	case v.typ == Decimal:
		text := v.d.Text('E')
		return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	case v.typ.holdsText():
		return append(binary.AppendUvarint(dst, uint64(len(v.s))), v.s...)
	case v.typ.IsNamedOID():
		dst = append(binary.AppendUvarint(dst, uint64(len(v.s))), v.s...)
	}
	if v.typ == Duration {
		months, days, ms := v.Duration()
		return binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(dst, months), days), ms)
	}
	return binary.AppendVarint(dst, v.i)
}

// argument is the byte that stands for the type of a TIMESTAMP that NewArgument made.
const argument = 0xff

// holdsText reports whether a value of the type is stored in its text alone.
func (t Type) holdsText() bool { return t.IsText() || t == Bytes || t == UUID || t.IsArray() }

var errBinary = errors.New("types: broken binary value")

// DecodeBinary reads a value that AppendBinary wrote, and returns the bytes after it.
func DecodeBinary(b []byte) (Value, []byte, error) {
	if len(b) == 0 || int(b[0]&^byte(array)) >= len(typeNames) && b[0] != argument {
		return Value{}, nil, errBinary
	}
	v, clock := Value{typ: Type(b[0])}, b[0] == argument
	if clock {
		v.typ = Timestamp
	}
	b = b[1:]
	switch {
	case v.IsNull():
		return v, b, nil
	case v.typ == Decimal, v.typ.holdsText(), v.typ.IsNamedOID():
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			return Value{}, nil, errBinary
		}
		text := string(b[k : k+int(n)])
		if v.typ == JSONB {
			v = NewJSONOf(JSONB, text)
		} else if v.typ != Decimal {
			v.s = text
		} else if d, _, err := apd.NewFromString(text); err != nil {
			return Value{}, nil, err
		} else {
			v.d = d
		}
		if b = b[k+int(n):]; !v.typ.IsNamedOID() {
			return v, b, nil
		}
	}
	var numbers [3]int64 // the last is the value's, or its milliseconds
	for i := len(numbers) - 1 - Bit(clock) - 2*Bit(v.typ == Duration); i < len(numbers); i++ {
		n, k := binary.Varint(b)
		if k <= 0 {
			return Value{}, nil, errBinary
		}
		numbers[i], b = n, b[k:]
	}
	switch v.i = numbers[2]; {
	case v.typ == Duration:
		v, _ = NewDuration(numbers[0], numbers[1], numbers[2])
	case clock:
		v.months = int32(numbers[1])
	}
	return v, b, nil
}
