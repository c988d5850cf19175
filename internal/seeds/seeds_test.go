package seeds

import (
	"slices"
	"testing"
)

func TestEachReplays(t *testing.T) {
	t.Setenv(seedEnv, "18446744073709551614")
	t.Setenv(checksEnv, "3")
	var got []uint64
	Each(t, 100, func(t *testing.T, seed uint64, fig Figures) {
		got = append(got, seed)
		fig["b"]++
		if fig["a"]++; seed == 0 && fig.String() != "a 3, b 3, seeds 3" {
			t.Error(fig)
		}
	})
	if want := []uint64{18446744073709551614, 18446744073709551615, 0}; !slices.Equal(got, want) {
		t.Errorf("seeds %d, want %d", got, want)
	}
}
