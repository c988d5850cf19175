package lineedit

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chzyer/readline"
	"github.com/mattn/go-runewidth"
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

// screen is a terminal of some width: rows of cells, a wide character in two of them.
type screen struct {
	width    int
	rows     [][]rune
	row, col int
	full     bool // the row is full; the next character begins another
}

var sequence = regexp.MustCompile("^\x1b\\[([0-9]*)([A-Za-z])")

func (s *screen) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if m := sequence.FindSubmatch(rest); m != nil {
			n, err := strconv.Atoi(string(m[1]))
			if err != nil {
				n = 1
			}
			switch m[2][0] {
			case 'A':
				s.row = max(s.row-n, 0)
			case 'C':
				s.col = min(s.col+n, s.width-1)
			case 'J':
				s.clear(s.col)
				s.rows = s.rows[:s.row+1]
			case 'K':
				s.clear(0)
			}
			s.full = s.full && m[2][0] == 'm'
			rest = rest[len(m[0]):]
			continue
		}
		r := []rune(string(rest))[0]
		s.print(r)
		rest = rest[len(string(r)):]
	}
	return len(p), nil
}

func (s *screen) clear(from int) {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, slices.Repeat([]rune{' '}, s.width))
	}
	for i := from; i < s.width; i++ {
		s.rows[s.row][i] = ' '
	}
}

func (s *screen) print(r rune) {
	switch r {
	case '\n':
		s.row, s.col, s.full = s.row+1, 0, false
	case '\r':
		s.col, s.full = 0, false
	case '\b':
		s.col, s.full = max(s.col-1, 0), false
	default:
		w := runewidth.RuneWidth(r)
		if s.full || s.col+w > s.width {
			s.row, s.col = s.row+1, 0
		}
		s.clear(s.width) // that there is a row
		s.rows[s.row][s.col] = r
		if w == 2 {
			s.rows[s.row][s.col+1] = 0
		}
		s.col += w
		s.full = s.col == s.width
		s.col = min(s.col, s.width-1)
	}
}

// text is what can be seen.
func (s *screen) text() string {
	var rows []string
	for _, r := range s.rows {
		rows = append(rows, strings.TrimRight(strings.ReplaceAll(string(r), "\x00", ""), " "))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// laidOut is how a statement is to be seen, and where the cursor is before the character at pos.
func laidOut(line []rune, pos, width int) (text string, row, col int) {
	rows, at := []string{""}, 0 // the column
	print := func(r rune) {
		w := runewidth.RuneWidth(r)
		if at+w > width {
			rows, at = append(rows, ""), 0
		}
		rows[len(rows)-1] += string(r)
		if at += w; at == width {
			rows, at = append(rows, ""), 0
		}
	}
	for _, r := range "hql> " {
		print(r)
	}
	for i, r := range append(line, 0) {
		if i == pos {
			row, col = len(rows)-1, at
		}
		switch {
		case r == lineBreak && at == 0: // a row has just begun
			rows[len(rows)-1], at = Continued, len(Continued)
		case r == lineBreak:
			rows, at = append(rows, Continued), len(Continued)
		case r != 0:
			print(r)
		}
	}
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n"), row, col
}

// What readline draws of statements of several lines, with wide characters, on a narrow screen is these statements, and the
// cursor is at its place.
func TestLines(t *testing.T) {
	const width = 20
	r := rand.New(rand.NewPCG(8, 9))
	s := &screen{width: width}
	o := &output{w: s, width: func() int { return width }}
	buf := readline.NewRuneBuffer(o, "hql> ", &readline.Config{ForceUseInteractive: true, Painter: painter{}}, width)
	buf.Refresh(nil)
	for range 1000 {
		line := make([]rune, r.IntN(60))
		for i := range line {
			line[i] = []rune("abcdefgh\t中\r\x1b")[r.IntN(12)]
		}
		pos := r.IntN(len(line) + 1)
		buf.SetWithIdx(pos, line)
		want, row, col := laidOut(painter{}.Paint(line, pos), pos, width)
		if got := s.text(); got != want || s.row != row || s.col != col {
			t.Fatalf("%q at %d:\n%s\nwant\n%s\ncursor at %d:%d, want %d:%d", string(line), pos, got, want, s.row, s.col, row, col)
		}
		// What readline writes where it thinks that the line ends a row or two below the cursor, and has no line breaks.
		under, below := "\n\n\x1b[Jone  two\nthree four\x1b[3A\r\x1b[5C", "one  two\nthree four"
		cut := len("\n\n\x1b[J") + r.IntN(len(under)-5) // long lists of words come in pieces
		if r.IntN(2) == 0 {
			under, below = "\n\x1b[Jbck-i-search: a\x1b[4m \x1b[0m\r\x1b[1A\x1b[7C", "bck-i-search: a"
			cut = len(under)
		}
		for _, piece := range []string{under[:cut], under[cut:]} {
			if _, err := o.Write([]byte(piece)); err != nil {
				t.Fatal(err)
			}
		}
		got, found := strings.CutPrefix(s.text(), want)
		if !found || strings.TrimLeft(got, "\n") != below || s.row != row || s.col != col {
			t.Fatalf("%q at %d: %q\n%s", string(line), pos, under, s.text())
		}
	}
}
