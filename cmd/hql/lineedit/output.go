package lineedit

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/mattn/go-runewidth"
)

// output rewrites how readline moves the cursor, by where it really stands: a wide character that does not fit
// at the end of a row leaves a column empty, and a line break begins a row, which readline does not know. Back to its
// place behind what was printed, a run of backspaces, one a character; up to the first row before the line is printed
// anew; and from what is shown below the line, words to choose from or what is searched for.
type output struct {
	w     io.Writer
	width func() int

	row, col int    // where the cursor is: rows below the prompt's
	end      int    // the line's last row
	of       int    // the width of the screen that these are of
	cleared  bool   // the line is to be printed next
	below    []byte // what is to be shown below the line, so far
}

var (
	moveBack = regexp.MustCompile("(?:\x08|\x1b\\[A\r\x1b\\[[0-9]+C)+$")
	moveUp   = regexp.MustCompile("\x1b\\[A\r\x1b\\[[0-9]+C")
	clear    = regexp.MustCompile("^\x1b\\[J(?:\x1b\\[2K\r\x1b\\[A)*\x1b\\[2K\r$")
	belowIt  = regexp.MustCompile("^\n*\x1b\\[J")
	backUp   = regexp.MustCompile("(?:\r\x1b\\[[0-9]+A(?:\x1b\\[[0-9]+C)?|\x1b\\[[0-9]+A\r\x1b\\[[0-9]+C)$")
	colour   = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

func (o *output) Close() error { return nil }

func (o *output) Write(p []byte) (int, error) {
	width := o.width()
	if clear.Match(p) {
		o.cleared = true
		if o.of != width { // nothing was printed yet, or the screen was resized
			return o.w.Write(p)
		}
		if _, err := io.WriteString(o.w, "\x1b[J"+strings.Repeat("\x1b[2K\r\x1b[A", o.row)+"\x1b[2K\r"); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	if o.cleared && width > 0 {
		o.cleared, o.of = false, width
		return o.line(p, width)
	}
	if o.of == width && (o.below != nil || belowIt.Match(p)) {
		return o.under(p)
	}
	return o.w.Write(p)
}

// under shows what is below the line, when all of it came, and goes back to the cursor's place.
func (o *output) under(p []byte) (int, error) {
	o.below = append(o.below, p...)
	at := backUp.FindIndex(o.below)
	if at == nil {
		return len(p), nil
	}
	body := o.below[len(belowIt.Find(o.below)):at[0]]
	o.below = nil
	down := o.end - o.row + 1
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\x1b[J%s\r\x1b[%dA", strings.Repeat("\n", down), body, down+bytes.Count(body, []byte("\n")))
	if o.col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", o.col)
	}
	if _, err := o.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// line prints the prompt and the line.
func (o *output) line(p []byte, width int) (int, error) {
	at := moveBack.FindIndex(p)
	if at == nil {
		at = []int{len(p), len(p)}
	}
	head := p[:at[0]]
	n := len(moveUp.ReplaceAll(p[at[0]:], nil)) // characters to go back
	plain := []rune(string(colour.ReplaceAll(head, nil)))
	if k := len(plain); n > 0 && k > 0 && plain[k-1] == ' ' { // readline's marker of a full line
		if _, col, wrapped := position(plain[:k-1], width); wrapped && col == 0 {
			plain, head = plain[:k-1], head[:len(head)-1]
			n--
		}
	}
	if n > len(plain) {
		o.of = 0
		return o.w.Write(p)
	}
	endRow, _, wrapped := position(plain, width)
	row, col, _ := position(plain[:len(plain)-n], width)
	o.row, o.col, o.end = row, col, endRow
	if bytes.HasSuffix(head, []byte("\n")) { // it was entered
		o.row, o.end = 0, 0
	}
	var b bytes.Buffer
	b.Write(bytes.ReplaceAll(head, []byte(string(lineBreak)), []byte("\n"+Continued)))
	if wrapped {
		b.WriteByte(' ') // makes the terminal go to the next line, as position says it did
	}
	if n > 0 || wrapped {
		b.WriteByte('\r')
	}
	if endRow > row {
		fmt.Fprintf(&b, "\x1b[%dA", endRow-row)
	}
	if col > 0 && n > 0 {
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
		switch r {
		case '\n':
			row, col, wrapped = row+1, 0, false
			continue
		case lineBreak:
			if !wrapped { // else the row is left already
				row++
			}
			col, wrapped = len(Continued), false
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
