// Package active is what mutated code asks whether one of its mutants is switched on. Only code that
// package mutants has rewritten imports it.
package active

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// The environment variables: the number of the mutant that is on, and a file to which each mutant
// that the code comes past is added, a number a line.
const (
	MutantEnv  = "HQL_MUTANT"
	ReachedEnv = "HQL_MUTANTS_REACHED"
)

var on, record = func() (int, *os.File) {
	n, err := strconv.Atoi(os.Getenv(MutantEnv))
	if err != nil {
		n = -1
	}
	name := os.Getenv(ReachedEnv)
	if name == "" {
		return n, nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	return n, f
}()

var reached sync.Map

// Is reports whether mutant n is on.
func Is(n int) bool {
	if record != nil {
		if _, old := reached.LoadOrStore(n, true); !old {
			fmt.Fprintln(record, n)
		}
	}
	return n == on
}

// If gives mutant where mutant n is on, else plain.
func If[T any](n int, mutant, plain T) T {
	if Is(n) {
		return mutant
	}
	return plain
}
