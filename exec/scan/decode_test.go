package scan

import (
	"bytes"
	"strings"
	"testing"
)

// Of a long key the first 64 bytes are printed.
func TestHexBytes(t *testing.T) {
	for n, want := range map[int]string{
		0:   "x''",
		64:  "x'" + strings.Repeat("6b", 64) + "'",
		65:  "x'" + strings.Repeat("6b", 64) + "...'",
		200: "x'" + strings.Repeat("6b", 64) + "...'",
	} {
		if got := HexBytes(bytes.Repeat([]byte("k"), n)); got != want {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
}
