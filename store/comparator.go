package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// comparator compares a constant with stored bytes: negative if the constant is less. Comparators that test only
// equality return 0 and 1.
type comparator interface {
	compare(value []byte) int
}

// test is a comparison as filters carry it: stored value OP constant.
type test struct {
	op         pb.CompareType
	comparator comparator // nil: none given
}

func newTest(m *pb.CompareFilter) (test, error) {
	if m == nil || m.CompareOp == nil {
		return test{}, errors.New("no comparison")
	}
	t := test{op: m.GetCompareOp()}
	if _, ok := pb.CompareType_name[int32(t.op)]; !ok {
		return test{}, fmt.Errorf("unknown comparison %d", t.op)
	}
	if m.Comparator == nil {
		if t.op != pb.CompareType_NO_OP {
			return test{}, errors.New("no comparator")
		}
		return t, nil
	}
	c, err := newComparator(m.Comparator)
	t.comparator = c
	return t, err
}

// refuses reports whether a value fails the test. NO_OP refuses everything, as on the server.
func (t *test) refuses(value []byte) bool {
	if t.op == pb.CompareType_NO_OP {
		return true
	}
	c := t.comparator.compare(value)
	switch t.op {
	case pb.CompareType_LESS:
		return c <= 0
	case pb.CompareType_LESS_OR_EQUAL:
		return c < 0
	case pb.CompareType_EQUAL:
		return c != 0
	case pb.CompareType_NOT_EQUAL:
		return c == 0
	case pb.CompareType_GREATER_OR_EQUAL:
		return c > 0
	}
	return c >= 0 // GREATER
}

func newComparator(m *pb.Comparator) (comparator, error) {
	name, _ := strings.CutPrefix(m.GetName(), filterPackage)
	b := m.GetSerializedComparator()
	switch name {
	case "BinaryComparator":
		c := &pb.BinaryComparator{}
		err := proto.Unmarshal(b, c)
		return binaryComparator(c.GetComparable().GetValue()), err
	case "BinaryPrefixComparator":
		c := &pb.BinaryPrefixComparator{}
		err := proto.Unmarshal(b, c)
		return binaryPrefixComparator(c.GetComparable().GetValue()), err
	case "LongComparator":
		c := &pb.LongComparator{}
		if err := proto.Unmarshal(b, c); err != nil {
			return nil, err
		}
		v := c.GetComparable().GetValue()
		if len(v) != 8 {
			return nil, fmt.Errorf("LongComparator with %d bytes", len(v))
		}
		return longComparator(binary.BigEndian.Uint64(v)), nil
	case "BitComparator":
		c := &pb.BitComparator{}
		err := proto.Unmarshal(b, c)
		return &bitComparator{c.GetComparable().GetValue(), c.GetBitwiseOp()}, err
	case "NullComparator":
		return nullComparator{}, proto.Unmarshal(b, &pb.NullComparator{})
	case "SubstringComparator":
		c := &pb.SubstringComparator{}
		err := proto.Unmarshal(b, c)
		return substringComparator(strings.ToLower(c.GetSubstr())), err
	case "RegexStringComparator":
		c := &pb.RegexStringComparator{}
		if err := proto.Unmarshal(b, c); err != nil {
			return nil, err
		}
		return newRegexComparator(c)
	}
	return nil, fmt.Errorf("java.lang.ClassNotFoundException: %s", m.GetName())
}

// binaryComparator compares bytes, unsigned.
type binaryComparator []byte

func (c binaryComparator) compare(v []byte) int { return bytes.Compare(c, v) }

// binaryPrefixComparator compares its bytes with as many leading bytes of the value.
type binaryPrefixComparator []byte

func (c binaryPrefixComparator) compare(v []byte) int {
	return bytes.Compare(c, v[:min(len(v), len(c))])
}

// longComparator compares 8 bytes big-endian, signed. For a shorter value a server reads the bytes after it; here the
// missing bytes count as zero.
type longComparator int64

func (c longComparator) compare(v []byte) int {
	var b [8]byte
	copy(b[:], v)
	switch n := int64(binary.BigEndian.Uint64(b[:])); {
	case int64(c) < n:
		return -1
	case int64(c) > n:
		return 1
	}
	return 0
}

// bitComparator is equal when a bitwise operation on values of the same length leaves a bit.
type bitComparator struct {
	value []byte
	op    pb.BitComparator_BitwiseOp
}

func (c *bitComparator) compare(v []byte) int {
	if len(v) != len(c.value) {
		return 1
	}
	for i, b := range c.value {
		switch c.op {
		case pb.BitComparator_AND:
			b &= v[i]
		case pb.BitComparator_OR:
			b |= v[i]
		default:
			b ^= v[i]
		}
		if b != 0 {
			return 0
		}
	}
	return 1
}

// nullComparator is equal to no stored value: it tests whether there is one.
type nullComparator struct{}

func (nullComparator) compare([]byte) int { return 1 }

// substringComparator is equal to values that contain it in any case; it is lower case.
type substringComparator string

func (c substringComparator) compare(v []byte) int {
	if strings.Contains(strings.ToLower(string(v)), string(c)) {
		return 0
	}
	return 1
}
