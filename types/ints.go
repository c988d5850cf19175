package types

import "math"

// FloorDiv returns a / b, rounded towards negative infinity.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// FloorMod returns the remainder of a / n, from 0 to n-1; n is positive.
func FloorMod(a, n int64) int64 {
	r := a % n
	if r < 0 {
		r += n
	}
	return r
}

// AddClamp returns a + b, or the int64 that is nearest to it.
func AddClamp(a, b int64) int64 {
	switch c := a + b; {
	case (c > a) == (b > 0):
		return c
	case b > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

// SubClamp returns a - b, or the int64 that is nearest to it.
func SubClamp(a, b int64) int64 {
	switch c := a - b; {
	case (c < a) == (b > 0):
		return c
	case b > 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
