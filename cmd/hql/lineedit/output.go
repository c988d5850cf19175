package lineedit

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/mattn/go-runewidth"
)

// output corrects readline's cursor movements. readline ignores that a wide character leaves a column empty if it does not
// fit at the end of a row, and that a line break begins a new row. output replaces three movements: the run of backspaces,
// one per character, that returns to the cursor after printing; the movement up to the first row before the line is
// printed again; and the movement back from choices or a search shown below the line.
type output struct {
	w     io.Writer
	width func() int

	row, col int    // position of the cursor; row 0 has the prompt
	end      int    // last row of the line
	of       int    // width of the screen for which row, col and end were computed
	cleared  bool   // readline prints the line next
	below    []byte // the part received so far of the text to show below the line
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
		if o.of != width { // first output, or the screen was resized
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

// under prints the text below the line when it is complete, and returns to the cursor.
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
	n := len(moveUp.ReplaceAll(p[at[0]:], nil)) // number of characters to go back
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
	if bytes.HasSuffix(head, []byte("\n")) { // the line was entered
		o.row, o.end = 0, 0
	}
	var b bytes.Buffer
	b.Write(bytes.ReplaceAll(head, []byte(string(lineBreak)), []byte("\n"+Continued)))
	if wrapped {
		b.WriteByte(' ') // the terminal wraps, as position assumes
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

// position returns the cursor's position after rs on a screen with this width.
func position(rs []rune, width int) (row, col int, wrapped bool) {
	for _, r := range rs {
		switch r {
		case '\n':
			row, col, wrapped = row+1, 0, false
			continue
		case lineBreak:
			if !wrapped { // otherwise the cursor is already in the next row
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
