// Package keyset has a set of byte strings that holds no pointers: the garbage collector does not look into it.
package keyset

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"sync"
)

// Set numbers distinct keys from 0 in the order in which they are added, at most 2^31-2. The zero Set is empty. It is not
// safe for concurrent use, but several goroutines may call Find while none adds.
type Set struct {
	n int // number of keys
	// While all keys have numberLen bytes and the same first one, numbers has the other bytes of each, and keys, ends and
	// hashes are empty.
	first   byte
	mixed   bool // keys, ends and hashes have the keys
	numbers []uint64
	keys    []byte // one after the other
	width   int    // of each key, while ends is nil
	ends    []int  // of each key in keys, if their lengths differ
	hashes  []uint32
	// slots is a hash table with open addressing: the number of a key plus one; 0 is a free slot. Its length is a power of
	// two.
	slots []uint32
}

// numberLen is the length of the key of a number: see types.Value.AppendKey.
const numberLen = 9

var (
	seed   = maphash.MakeSeed()
	secret = rand.Uint64() // nobody can choose numbers with the same hash
)

const least = 16 // slots

// Len returns the number of keys.
func (s *Set) Len() int { return s.n }

// Key returns the key with a number. It is valid until a key is added.
func (s *Set) Key(i int) []byte {
	if !s.mixed {
		return binary.BigEndian.AppendUint64([]byte{s.first}, s.numbers[i])
	}
	return s.key(i)
}

func (s *Set) key(i int) []byte {
	if s.ends == nil {
		return s.keys[i*s.width : (i+1)*s.width]
	}
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.keys[start:s.ends[i]]
}

// Number returns the last eight bytes of the key with a number; ok is false if not all keys are of numbers.
func (s *Set) Number(i int) (number uint64, ok bool) {
	if s.mixed {
		return 0, false
	}
	return s.numbers[i], true
}

// Find returns the number of key, or -1 if s does not have it.
func (s *Set) Find(key []byte) (i int) {
	switch {
	case s.n == 0:
		return -1
	case s.mixed:
		i, _ = s.find(hash(key), key)
		return i
	case len(key) != numberLen:
		return -1
	}
	return s.FindNumber(key[0], binary.BigEndian.Uint64(key[1:]))
}

// FindNumber works like Find for a key of a number, whose first byte is first.
func (s *Set) FindNumber(first byte, number uint64) (i int) {
	if s.mixed {
		return s.Find(binary.BigEndian.AppendUint64([]byte{first}, number))
	}
	if s.n == 0 || s.first != first {
		return -1
	}
	i, _ = s.findNumber(number)
	return i
}

// Add returns the number of key, and whether it is new in s. s copies key.
func (s *Set) Add(key []byte) (i int, fresh bool) {
	if !s.mixed {
		if len(key) == numberLen && (s.n == 0 || key[0] == s.first) {
			return s.AddNumber(key[0], binary.BigEndian.Uint64(key[1:]))
		}
		s.mix()
	}
	s.grow()
	h := hash(key)
	i, at := s.find(h, key)
	if i >= 0 {
		return i, false
	}
	s.append(h, key)
	return s.added(at), true
}

// AddNumber works like Add for a key of a number, whose first byte is first.
func (s *Set) AddNumber(first byte, number uint64) (i int, fresh bool) {
	if s.mixed || s.n > 0 && s.first != first {
		return s.Add(binary.BigEndian.AppendUint64([]byte{first}, number))
	}
	s.grow()
	s.first = first
	i, at := s.findNumber(number)
	if i >= 0 {
		return i, false
	}
	s.numbers = append(Grown(s.numbers, 1), number)
	return s.added(at), true
}

// grow makes room for one more key.
func (s *Set) grow() {
	if 3*s.n >= 2*len(s.slots) {
		s.place(make([]uint32, max(least, 2*len(s.slots))))
	}
}

// added puts the newest key at a free slot.
func (s *Set) added(at uint32) int {
	s.n++
	s.slots[at] = uint32(s.n)
	return s.n - 1
}

// append copies key, the one with number n.
func (s *Set) append(h uint32, key []byte) {
	i := len(s.hashes)
	switch {
	case i == 0:
		s.width = len(key)
	case s.ends == nil && len(key) != s.width:
		for k := range i {
			s.ends = append(s.ends, (k+1)*s.width)
		}
	}
	s.keys, s.hashes = append(Grown(s.keys, len(key)), key...), append(Grown(s.hashes, 1), h)
	if s.ends != nil {
		s.ends = append(Grown(s.ends, 1), len(s.keys))
	}
}

// mix holds the keys as bytes, because one comes that is not of a number.
func (s *Set) mix() {
	for i := range s.numbers {
		key := s.Key(i)
		s.append(hash(key), key)
	}
	s.mixed, s.numbers = true, nil
	clear(s.slots)
	s.place(s.slots)
}

// memory has sets without keys.
var memory = sync.Pool{New: func() any { return &Set{} }}

const mostSlots = 1 << 17 // of a set in memory

// Reuse gives s, which is empty, the memory of a set that was released.
func (s *Set) Reuse() {
	m := memory.Get().(*Set)
	s.numbers, s.slots = m.numbers, m.slots
}

// Release empties s and lets later sets use its memory.
func (s *Set) Release() {
	m := &Set{numbers: s.numbers[:0], slots: s.slots}
	if n := len(s.slots); s.mixed || n == 0 || n > mostSlots {
		m = nil
	} else if 16*s.n > n {
		clear(s.slots)
	} else {
		for i, number := range s.numbers {
			at := spread(number) & uint32(n-1)
			for s.slots[at] != uint32(i+1) {
				at = (at + 1) & uint32(n-1)
			}
			s.slots[at] = 0
		}
	}
	if *s = (Set{}); m != nil {
		memory.Put(m)
	}
}

func hash(key []byte) uint32 { return uint32(maphash.Bytes(seed, key)) }

// spread returns a hash of a number.
func spread(number uint64) uint32 {
	number = (number ^ secret) * 0x9e3779b97f4a7c15
	return uint32((number ^ number>>32) * 0xd6e8feb86659fd93 >> 32)
}

// find returns the number of key, whose hash is h. If s does not have it, find returns -1 and a free slot for it.
func (s *Set) find(h uint32, key []byte) (i int, at uint32) {
	mask := uint32(len(s.slots) - 1)
	for at = h & mask; ; at = (at + 1) & mask {
		if i = int(s.slots[at]) - 1; i < 0 || s.hashes[i] == h && bytes.Equal(s.key(i), key) {
			return i, at
		}
	}
}

// findNumber works like find for the key of a number.
func (s *Set) findNumber(number uint64) (i int, at uint32) {
	mask := uint32(len(s.slots) - 1)
	for at = spread(number) & mask; ; at = (at + 1) & mask {
		if i = int(s.slots[at]) - 1; i < 0 || s.numbers[i] == number {
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

// place puts all keys into slots, which are free, and makes them those of s.
func (s *Set) place(slots []uint32) {
	mask := uint32(len(slots) - 1)
	for i := range s.n {
		h := uint32(0)
		if s.mixed {
			h = s.hashes[i]
		} else {
			h = spread(s.numbers[i])
		}
		at := h & mask
		for slots[at] != 0 {
			at = (at + 1) & mask
		}
		slots[at] = uint32(i + 1)
	}
	s.slots = slots
}
