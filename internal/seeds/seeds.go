// Package seeds drives tests of random worlds: each seed is a world, the same one
// whenever it is given again. HQL_SEED names the first seed, and HQL_CHECKS how many follow one another. Without HQL_SEED
// a test draws the same worlds each time, so that its result depends on the code alone; .ci/nightly draws others.
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

// usual is the first seed where none is given.
const usual = 475200805200451001

// Range gives the first seed of a test and how many it checks, n unless HQL_CHECKS says otherwise.
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
			t.Fatalf("%s: %q is no positive number", checksEnv, s)
		}
		count = v
	}
	return first, count
}

// mostWrong is how many seeds may fail before a test ends.
const mostWrong = 20

// Each runs f for n consecutive seeds and logs what f counted. It tells how to replay those that fail.
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

// Figures count things by kind.
type Figures map[string]int

// String lists the kinds by name.
func (f Figures) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(f)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, f[k]))
	}
	return strings.Join(parts, ", ")
}
