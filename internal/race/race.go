// Package race adapts tests to the race detector, which makes them some ten times as slow. Every check also runs
// without it. With it, random tests draw fewer schemas. Tests are skipped that only count or compute, or that start a
// cluster but run little of hql.
package race

import "testing"

// Fewer returns the number of random schemas that a test draws instead of n: all, or one in six under the race
// detector.
func Fewer(n int) int {
	if Enabled {
		return (n + 5) / 6
	}
	return n
}

// Skip skips a test under the race detector because it counts reads of large tables, computes, or starts a cluster:
// other tests run the same code in as many goroutines.
func Skip(t testing.TB) {
	if Enabled {
		t.Helper()
		t.Skip("checked without the race detector")
	}
}
