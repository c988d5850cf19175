package lineedit

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/chzyer/readline"
)

// ErrInterrupt is what Line gives when ^C is typed; io.EOF comes at ^D on an empty line.
var ErrInterrupt = errors.New("interrupted")

// Continued is what a line of a statement begins with on the screen, but for its first one.
const Continued = "  -> "

// lineBreak stands between the lines of a statement in readline's buffer, where \n ends what was entered; a \r of the
// statement's own is \n there.
const lineBreak = '\r'

var swapped = strings.NewReplacer("\n", string(lineBreak), string(lineBreak), "\n")

// Completer lists what may stand before the cursor, which is at byte pos of line:
// whole words, and how many characters they replace.
type Completer func(line string, pos int) (words []string, replace int)

// Editor is a line editor.
type Editor struct {
	rl *readline.Instance
}

// New takes the terminal over: stdin and stdout must be one.
func New(complete Completer) (*Editor, error) {
	in := &input{r: os.Stdin}
	out := &output{w: os.Stdout, width: readline.GetScreenWidth}
	rl, err := readline.NewEx(&readline.Config{
		Stdin: readline.NewCancelableStdin(in), Stdout: out, Stderr: os.Stderr,
		AutoComplete: completer{complete}, Listener: in, Painter: painter{}, FuncFilterInputRune: in.filter,
		DisableAutoSaveHistory: true, HistoryLimit: 2000,
	})
	if err != nil {
		return nil, err
	}
	in.choosing = func() bool { return rl.Operation.IsSearchMode() || rl.Operation.IsInCompleteSelectMode() }
	in.searching, in.search = rl.Operation.IsSearchMode, rl.Operation.SearchChar
	_ = rl.SaveHistory("")                          // an empty history that is searched ends readline
	_, _ = io.WriteString(os.Stdout, "\x1b[?2004h") // bracketed paste
	return &Editor{rl: rl}, nil
}

// Line reads a line, or several at once where they come from the history; with ErrInterrupt it gives what was typed
// before ^C.
func (e *Editor) Line(prompt string) (string, error) {
	e.toLast()
	e.rl.SetPrompt(prompt)
	line, err := e.rl.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		err = ErrInterrupt
	}
	return swapped.Replace(line), err
}

// Remember puts a statement, with its lines as they are, into the history that the arrow keys go through.
func (e *Editor) Remember(statement string) {
	e.toLast()
	_ = e.rl.SaveHistory(swapped.Replace(statement))
}

// toLast goes to the end of the history. From elsewhere readline would remember what was last edited there.
func (e *Editor) toLast() {
	_ = e.rl.SaveHistory("")
}

// Close gives the terminal back.
func (e *Editor) Close() error {
	_, _ = io.WriteString(os.Stdout, "\x1b[?2004l")
	return e.rl.Close()
}

// completer offers words that fit the screen: readline divides by zero on others.
type completer struct{ f Completer }

func (c completer) Do(line []rune, pos int) ([][]rune, int) {
	if c.f == nil {
		return nil, 0
	}
	words, replace := c.f(swapped.Replace(string(line)), len(string(line[:pos])))
	width := readline.GetScreenWidth()
	var out [][]rune
	for _, w := range words {
		r := []rune(w)
		if replace <= len(r) && len(r)+2 < width {
			out = append(out, r[replace:])
		}
	}
	if len(out) == 1 && (pos == len(line) || line[pos] != ' ') && !strings.HasSuffix(words[0], "/") {
		out[0] = append(out[0], ' ') // the word is complete
	}
	return out, replace
}

// painter shows control characters as signs of one column, for readline counts columns and some would drive the terminal.
type painter struct{}

func (painter) Paint(line []rune, _ int) []rune {
	line = slices.Clone(line)
	for i, r := range line {
		switch {
		case r == lineBreak, r == '\n' && i == len(line)-1: // output knows what they are
		case r == '\t':
			line[i] = ' '
		case r < ' ':
			line[i] = '\u2400' + r
		case r == 0x7f:
			line[i] = '\u2421'
		case r > 0x7f && r < 0xa0:
			line[i] = '\ufffd'
		}
	}
	return line
}
