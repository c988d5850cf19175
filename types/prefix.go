package types

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// PrefixEnd returns the smallest byte string greater than every string that starts with b, or nil if there is none (b
// is empty or all 0xff).
func PrefixEnd(b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0xff {
			n := bytes.Clone(b[:i+1])
			n[i]++
			return n
		}
	}
	return nil
}

// PrefixInterval returns the values of t, STRING or BYTES, that begin with p.
func PrefixInterval(t Type, p string) Interval {
	if end := PrefixEnd([]byte(p)); end != nil {
		return Interval{Lo: NewTextOf(t, p), Hi: NewTextOf(t, string(end)), HiOpen: true}
	}
	if p == "" {
		return Interval{}
	}
	return Interval{Lo: NewTextOf(t, p)}
}

// CommonPrefix returns the number of bytes with which both a and b begin.
func CommonPrefix(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.BigEndian.Uint64(a[i:]) ^ binary.BigEndian.Uint64(b[i:]); x != 0 {
			return i + bits.LeadingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
