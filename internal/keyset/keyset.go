// Package keyset has a set of byte strings that holds no pointers: the garbage collector does not look into it.
package keyset

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// Set numbers distinct keys from 0 in the order in which they are added, at most 2^32-2. The zero Set is empty. It is not
// safe for concurrent use.
type Set struct {
	keys  []byte // one after the other
	n     int    // number of keys
	width int    // of each key, while ends is nil
	ends  []int  // of each key in keys, if their lengths differ
	// slots is a hash table with open addressing: the hash of a key in the upper half, and below it its number plus one; 0
	// is a free slot. Its length is a power of two.
	slots []uint64
}

var seed = maphash.MakeSeed()

const least = 16 // slots

// Len returns the number of keys.
func (s *Set) Len() int { return s.n }

// Key returns the key with a number. It is valid until a key is added.
func (s *Set) Key(i int) []byte {
	if s.ends == nil {
		return s.keys[i*s.width : (i+1)*s.width]
	}
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.keys[start:s.ends[i]]
}

// Find returns the number of key, or -1 if s does not have it.
func (s *Set) Find(key []byte) int {
	if s.n == 0 {
		return -1
	}
	i, _ := s.find(hash(key), key)
	return i
}

// Add returns the number of key, and whether it is new in s. s copies key.
func (s *Set) Add(key []byte) (i int, fresh bool) {
	if 3*s.n >= 2*len(s.slots) {
		s.grow()
	}
	h := hash(key)
	i, at := s.find(h, key)
	if i >= 0 {
		return i, false
	}
	i = s.n
	switch {
	case i == 0:
		s.width = len(key)
	case s.ends == nil && len(key) != s.width:
		for k := range i {
			s.ends = append(s.ends, (k+1)*s.width)
		}
	}
	s.keys, s.n = append(Grown(s.keys, len(key)), key...), i+1
	if s.ends != nil {
		s.ends = append(Grown(s.ends, 1), len(s.keys))
	}
	s.slots[at] = uint64(h)<<32 | uint64(i+1)
	return i, true
}

func hash(key []byte) uint32 { return uint32(maphash.Bytes(seed, key)) }

// find returns the number of key, whose hash is h. If s does not have it, find returns -1 and a free slot for it.
func (s *Set) find(h uint32, key []byte) (i int, at uint32) {
	mask := uint32(len(s.slots) - 1)
	for at = h & mask; ; at = (at + 1) & mask {
		slot := s.slots[at]
		if slot == 0 {
			return -1, at
		}
		if i = int(uint32(slot)) - 1; uint32(slot>>32) == h && bytes.Equal(s.Key(i), key) {
			return i, at
		}
	}
}

// Grown returns s with room for n more elements. A slice that is full doubles: append copies a long one more often, and
// makes much more garbage.
func Grown[T any](s []T, n int) []T {
	if len(s)+n > cap(s) {
		return slices.Grow(s, max(len(s), n))
	}
	return s
}

func (s *Set) grow() {
	old := s.slots
	s.slots = make([]uint64, max(least, 2*len(old)))
	mask := uint32(len(s.slots) - 1)
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := uint32(slot>>32) & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = slot
	}
}
