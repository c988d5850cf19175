package catalog

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/hql-db/hql/types"
)

// Delimited is an Encoding of varying width whose bytes show their own end, so that any part may follow.
type Delimited interface {
	Encoding
	delimited
}

type delimited interface {
	// Length returns the number of bytes of the value at the start of src; an error means that src does not start with
	// a value.
	Length(src []byte) (int, error)
}

var errCut = errors.New("it is cut off")

// counted is a text or BYTES after its length. COUNT8 TEXT, COUNT16 TEXT and COUNT32 TEXT have an unsigned big-endian
// number of bytes; VINT TEXT has a vint, as Hadoop's Text and HBase's Bytes.writeByteArray write it.
type counted struct {
	*traits
	bytes int // of the length; 0: a vint
}

func (e counted) Append(dst []byte, v types.Value) ([]byte, error) {
	s := v.Text()
	if e.bytes == 0 {
		return append(appendVint(dst, int64(len(s))), s...), nil
	}
	if uint64(len(s)) > 1<<(8*e.bytes)-1 {
		return dst, fmt.Errorf("%s is too long for %s", types.Short(s), e)
	}
	return append(appendUint(dst, uint64(len(s)), e.bytes), s...), nil
}

// head returns the number of bytes of the length, and the length.
func (e counted) head(src []byte) (head int, n int64, err error) {
	if e.bytes == 0 {
		return readVint(src)
	}
	if len(src) < e.bytes {
		return 0, 0, errCut
	}
	return e.bytes, int64(readUint(src[:e.bytes])), nil
}

func (e counted) Length(src []byte) (int, error) {
	head, n, err := e.head(src)
	switch {
	case err != nil:
		return 0, err
	case n < 0:
		return 0, errors.New("its length is negative")
	case n > int64(len(src)-head):
		return 0, errCut
	}
	return head + int(n), nil
}

func (e counted) Decode(src []byte) (types.Value, error) {
	n, err := e.Length(src)
	if err != nil {
		return types.Value{}, err
	}
	if n != len(src) {
		return types.Value{}, errWidth
	}
	head, _, _ := e.head(src)
	if e.t == types.Bytes {
		return types.NewBytes(string(src[head:])), nil
	}
	return types.NewString(string(src[head:])), nil
}

// vint is a number of 1 to 9 bytes in the format of Hadoop's WritableUtils.writeVLong: -112 to 127 in one byte; other
// numbers after a byte with sign and length, negative ones as their complement. The bytes do not sort like the numbers.
type vint struct{ *traits }

func (vint) Append(dst []byte, v types.Value) ([]byte, error) { return appendVint(dst, v.Int()), nil }

func (vint) Length(src []byte) (int, error) {
	n, _, err := readVint(src)
	return n, err
}

func (e vint) Decode(src []byte) (types.Value, error) {
	n, v, err := readVint(src)
	if err != nil {
		return types.Value{}, err
	}
	if n != len(src) {
		return types.Value{}, errWidth
	}
	if err := checkInt(e.t, v); err != nil {
		return types.Value{}, err
	}
	return types.NewIntOf(e.t, v), nil
}

func (e vint) Clip(iv types.Interval) (types.Interval, bool) {
	return clipInts(iv, e.t, math.MinInt64, math.MaxInt64, 1)
}

const leastVint, mostVint = -112, 127 // of one byte

func appendVint(dst []byte, n int64) []byte {
	if n >= leastVint && n <= mostVint {
		return append(dst, byte(n))
	}
	sign := leastVint
	if n < 0 {
		n, sign = ^n, sign-8
	}
	width := max(1, (bits.Len64(uint64(n))+7)/8)
	dst = append(dst, byte(sign-width))
	return appendUint(dst, uint64(n), width)
}

// readVint reads the vint at the start of src, and its length in bytes. It refuses a longer form than appendVint's.
func readVint(src []byte) (length int, n int64, err error) {
	if len(src) == 0 {
		return 0, 0, errCut
	}
	first := int(int8(src[0]))
	if first >= leastVint {
		return 1, int64(first), nil
	}
	width, negative := leastVint-first, false
	if width > 8 {
		width, negative = width-8, true
	}
	if len(src) < 1+width {
		return 0, 0, errCut
	}
	n = int64(readUint(src[1 : 1+width]))
	if n < 0 {
		return 0, 0, errors.New("the number is out of the range of BIGINT")
	}
	if negative {
		n = ^n
	}
	if n >= leastVint && n <= mostVint || src[1] == 0 {
		return 0, 0, errors.New("the number is not in its shortest form")
	}
	return 1 + width, n, nil
}
