package lineedit

import (
	"bytes"
	"fmt"
	"io"
	"regexp"

	"github.com/mattn/go-runewidth"
)

// output rewrites how readline puts the cursor back: a run of backspaces, one a
// character, becomes moves that know how wide characters are.
type output struct {
	w     io.Writer
	width func() int
}

var (
	moveBack = regexp.MustCompile("(?:\x08|\x1b\\[A\r\x1b\\[[0-9]+C)+$")
	moveUp   = regexp.MustCompile("\x1b\\[A\r\x1b\\[[0-9]+C")
	colour   = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

func (o *output) Close() error { return nil }

func (o *output) Write(p []byte) (int, error) {
	width := o.width()
	at := moveBack.FindIndex(p)
	if bytes.IndexByte(p, 8) < 0 || at == nil || width <= 0 {
		return o.w.Write(p)
	}
	head := p[:at[0]]
	n := len(moveUp.ReplaceAll(p[at[0]:], nil)) // characters to go back
	plain := []rune(string(colour.ReplaceAll(head, nil)))
	if k := len(plain); k > 0 && plain[k-1] == ' ' { // readline's marker of a full line
		if _, col, wrapped := position(plain[:k-1], width); wrapped && col == 0 {
			plain, head = plain[:k-1], head[:len(head)-1]
			n--
		}
	}
	if n < 0 || n > len(plain) {
		return o.w.Write(p)
	}
	endRow, _, wrapped := position(plain, width)
	row, col, _ := position(plain[:len(plain)-n], width)
	var b bytes.Buffer
	b.Write(head)
	if wrapped {
		b.WriteByte(' ') // makes the terminal go to the next line, as position says it did
	}
	b.WriteByte('\r')
	if endRow > row {
		fmt.Fprintf(&b, "\x1b[%dA", endRow-row)
	}
	if col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", col)
	}
	if _, err := o.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// position is where the cursor stands after rs on a screen of that width.
func position(rs []rune, width int) (row, col int, wrapped bool) {
	for _, r := range rs {
		if r == '\n' {
			row, col, wrapped = row+1, 0, false
			continue
		}
		w := runewidth.RuneWidth(r)
		if col+w > width {
			row, col = row+1, 0
		}
		col += w
		wrapped = col == width
		if wrapped {
			row, col = row+1, 0
		}
	}
	return row, col, wrapped
}
