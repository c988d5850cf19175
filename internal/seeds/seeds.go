// Package seeds runs random tests: a seed determines the random schema, rows and statements of a test. HQL_SEED is the
// first seed, and HQL_CHECKS the number of seeds. Without HQL_SEED a test always uses the same seeds, so that its
// result depends on the code alone; .ci/nightly uses others.
package seeds

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The environment variables.
const (
	seedEnv   = "HQL_SEED"
	checksEnv = "HQL_CHECKS"
)

// usual is the first seed without HQL_SEED.
const usual = 475200805200451001

// Range returns the first seed of a test and the number of seeds, n unless HQL_CHECKS is set.
func Range(t testing.TB, n int) (first uint64, count int) {
	t.Helper()
	first, count = usual, n
	if s := os.Getenv(seedEnv); s != "" {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
		first = v
	}
	if s := os.Getenv(checksEnv); s != "" {
		v, err := strconv.Atoi(s)
		if err != nil || v < 1 {
			t.Fatalf("%s: %q is not a positive number", checksEnv, s)
		}
		count = v
	}
	return first, count
}

// mostWrong is the number of failed seeds after which a test ends.
const mostWrong = 20

// Each runs f for n consecutive seeds and logs the counts of f. For each failed seed it prints how to replay it.
func Each(t *testing.T, n int, f func(t *testing.T, seed uint64, fig Figures)) {
	t.Helper()
	first, n := Range(t, n)
	fig := Figures{}
	wrong := 0
	defer func() { t.Logf("figures: %s, wrong %d, seeds from %d", fig, wrong, first) }()
	for i := range n {
		seed := first + uint64(i)
		fig["seeds"]++
		if !t.Run("", func(t *testing.T) { f(t, seed, fig) }) {
			t.Errorf("replay with %s=%d %s=1 go test -run '^%s$'", seedEnv, seed, checksEnv, t.Name())
			if wrong++; wrong == mostWrong {
				t.FailNow()
			}
		}
	}
}

// Figures are counts by kind.
type Figures map[string]int

// String lists the counts by the names of their kinds.
func (f Figures) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(f)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, f[k]))
	}
	return strings.Join(parts, ", ")
}
