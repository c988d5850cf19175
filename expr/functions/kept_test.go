package functions

import (
	"strconv"
	"strings"
	"testing"
)

// A cache holds the values of few texts, and of no long one.
func TestKeptSize(t *testing.T) {
	var k kept[int]
	for i := range 10_000 {
		text := strings.Repeat("x", i) + strconv.Itoa(i)
		if v, err := k.get(text, func() (int, error) { return i, nil }); v != i || err != nil {
			t.Fatal(v, err)
		}
		if v, err := k.get(text, func() (int, error) { return i, nil }); v != i || err != nil {
			t.Fatal(v, err)
		}
		size := 0
		for text := range k.byText {
			size += len(text)
		}
		if size > maxKept {
			t.Fatalf("texts of %d bytes are kept", size)
		}
	}
	if _, err := k.get(strings.Repeat("x", maxKept+1), func() (int, error) { return 1, nil }); err != nil || k.byText[strings.Repeat("x", maxKept+1)] != 0 {
		t.Error("a long text is kept")
	}
}
