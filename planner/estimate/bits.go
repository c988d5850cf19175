package estimate

import (
	"iter"
	"math/bits"
)

// bitset is a set of rows of a sample; nil if it is unknown.
type bitset []uint64

// allOf returns the set of the rows 0 to n-1.
func allOf(n int) bitset {
	b := make(bitset, (n+63)/64)
	for i := range b {
		b[i] = ^uint64(0) >> max(0, 64*(i+1)-n)
	}
	return b
}

func (b bitset) add(i int) { b[i/64] |= 1 << (i % 64) }

func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// each returns an iterator over the rows in ascending order.
func (b bitset) each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(64*i + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
