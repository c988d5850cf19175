// Package words formats numbers with nouns.
package words

import "fmt"

// Count returns n with a noun: "1 row", "2 rows".
func Count[N int | int64](n N, what string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, what, what+"s"))
}

// Plural returns one if n is 1, otherwise many.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
