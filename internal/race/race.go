// Package race says whether tests run under the race detector, which makes them some ten times as slow. What tests check is checked
// without it; beside it they draw fewer worlds, and those are skipped that only count or compute, or that start a cluster of their own to
// ask it something that runs little of hql.
package race

import "testing"

// Fewer gives how many of n random worlds a test draws: all, and one in six under the race detector.
func Fewer(n int) int {
	if Enabled {
		return (n + 5) / 6
	}
	return n
}

// Skip skips a test that counts what is read of large tables, computes, or asks a cluster of its own, under the race detector: other tests
// run the same code in as many goroutines.
func Skip(t testing.TB) {
	if Enabled {
		t.Helper()
		t.Skip("checked without the race detector")
	}
}
