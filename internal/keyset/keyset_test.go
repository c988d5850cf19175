package keyset

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSet compares a Set with a map.
func TestSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var s Set
	want := map[string]int{}
	for range 20_000 {
		key := make([]byte, rng.IntN(4))
		for i := range key {
			key[i] = byte(rng.IntN(20))
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
