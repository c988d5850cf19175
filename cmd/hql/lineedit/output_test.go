package lineedit

import (
	"bytes"
	"strings"
	"testing"
)

// On a screen of ten columns 中 does not fit into the last one of the prompt's row. readline, which
// thinks it does, counts a row less than there are and would leave the first one standing.
func TestClearRows(t *testing.T) {
	const clear0, clear1 = "\x1b[J\x1b[2K\r", "\x1b[J\x1b[2K\r\x1b[A\x1b[2K\r"
	for _, c := range []struct {
		line, clear string
		ups         int
	}{
		{"hql> ab", clear0, 0},
		{"hql> 中中", clear0, 0},
		{"hql> 中中中", clear1, 1},
		{"hql> 中中中中中中中", clear1, 2},       // the second row is full: the cursor stands on the third
		{"hql> 中中中中中中中\b\b\b", clear1, 1}, // back into the second
		{"hql> 中中中中中中中中中\b\b", clear1, 2}, // to its end, which is the third row's start
		{"hql> SELECT;\n", clear0, 0},     // entered: the next prompt has a row of its own
	} {
		var b bytes.Buffer
		o := &output{w: &b, width: func() int { return 10 }}
		for _, p := range []string{clear0, c.line, c.clear} {
			b.Reset()
			if n, err := o.Write([]byte(p)); err != nil || n != len(p) {
				t.Fatal(n, err)
			}
		}
		if ups := strings.Count(b.String(), "\x1b[A"); ups != c.ups {
			t.Errorf("%q: %d rows up, want %d", c.line, ups, c.ups)
		}
	}
}
