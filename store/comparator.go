package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tsuna/gohbase/pb"
)

// comparator compares a constant with stored bytes: negative if the constant is less. Comparators that test only
// equality return 0 and 1.
type comparator interface {
	compare(value []byte) int
}

// test is the comparison of a filter: stored value OP constant.
type test struct {
	op         pb.CompareType
	comparator comparator
}

func newTest(m *pb.CompareFilter) (test, error) {
	if m.GetComparator() == nil || m.CompareOp == nil {
		return test{}, errors.New("no comparison")
	}
	t := test{op: m.GetCompareOp()}
	if t.op < pb.CompareType_LESS || t.op > pb.CompareType_GREATER {
		return test{}, fmt.Errorf("unknown comparison %d", t.op)
	}
	var err error
	t.comparator, err = newComparator(m.Comparator)
	return t, err
}

// refuses reports whether a value fails the test.
func (t *test) refuses(value []byte) bool { return !conditionHolds(t.op, -t.comparator.compare(value)) }

func newComparator(m *pb.Comparator) (comparator, error) {
	name, _ := strings.CutPrefix(m.GetName(), filterPackage)
	b := m.GetSerializedComparator()
	switch name {
	case "BinaryComparator":
		return decode(b, &pb.BinaryComparator{}, func(m *pb.BinaryComparator) (comparator, error) {
			return binaryComparator(m.GetComparable().GetValue()), nil
		})
	case "BinaryPrefixComparator":
		return decode(b, &pb.BinaryPrefixComparator{}, func(m *pb.BinaryPrefixComparator) (comparator, error) {
			return binaryPrefixComparator(m.GetComparable().GetValue()), nil
		})
	case "NullComparator":
		return decode(b, &pb.NullComparator{}, func(*pb.NullComparator) (comparator, error) { return nullComparator{}, nil })
	case "RegexStringComparator":
		return decode(b, &pb.RegexStringComparator{}, newRegexComparator)
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

// nullComparator is equal to no stored value: it tests whether there is one.
type nullComparator struct{}

func (nullComparator) compare([]byte) int { return 1 }
