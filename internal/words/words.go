// Package words formats numbers with nouns, and lists.
package words

import (
	"fmt"
	"strings"
)

// Join returns the texts that text gives for the items of a list, with sep between them.
func Join[T any](list []T, sep string, text func(T) string) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = text(x)
	}
	return strings.Join(out, sep)
}

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
