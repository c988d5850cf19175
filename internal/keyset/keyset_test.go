package keyset

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestSet compares a Set with a map: of keys of any length, of keys of numbers, and of these followed by others.
func TestSet(t *testing.T) {
	for _, numbers := range []int{0, 20_000, 10_000, 1} {
		testSet(t, numbers)
	}
}

func testSet(t *testing.T, numbers int) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := Set{}
	s.Reuse()
	defer s.Release()
	want := map[string]int{}
	for n := range 20_000 {
		key := make([]byte, rng.IntN(4))
		for i := range key {
			key[i] = byte(rng.IntN(20))
		}
		if n < numbers || rng.IntN(2) == 0 {
			key = binary.BigEndian.AppendUint64([]byte{1}, uint64(rng.IntN(3000))<<rng.IntN(50))
		}
		n, there := want[string(key)]
		if !there {
			n = -1
		}
		if got := s.Find(key); got != n {
			t.Fatalf("Find(%x) = %d, want %d", key, got, n)
		}
		if rng.IntN(2) == 0 {
			continue
		}
		if !there {
			n = len(want)
			want[string(key)] = n
		}
		if i, fresh := s.Add(key); i != n || fresh == there || !bytes.Equal(s.Key(i), key) {
			t.Fatalf("Add(%x) = %d, %v; want %d, %v", key, i, fresh, n, !there)
		}
	}
	if s.Len() != len(want) {
		t.Errorf("Len() = %d, want %d", s.Len(), len(want))
	}
}
