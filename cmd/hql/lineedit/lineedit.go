package lineedit

import (
	"errors"
	"io"
	"os"

	"github.com/chzyer/readline"
)

// ErrInterrupt is what Line gives when ^C is typed; io.EOF comes at ^D on an empty line.
var ErrInterrupt = errors.New("interrupted")

// Completer lists what may stand before the cursor, which is at byte pos of line:
// whole words, and how many characters they replace.
type Completer func(line string, pos int) (words []string, replace int)

// Editor is a line editor.
type Editor struct {
	rl  *readline.Instance
	out io.Writer
}

// New takes the terminal over: stdin and stdout must be one.
func New(complete Completer) (*Editor, error) {
	in := &input{r: os.Stdin}
	out := &output{w: os.Stdout, width: readline.GetScreenWidth}
	rl, err := readline.NewEx(&readline.Config{
		Stdin: readline.NewCancelableStdin(in), Stdout: out, Stderr: os.Stderr,
		AutoComplete: completer{complete}, Listener: in, DisableAutoSaveHistory: true, HistoryLimit: 2000,
	})
	if err != nil {
		return nil, err
	}
	_, _ = io.WriteString(os.Stdout, "\x1b[?2004h") // bracketed paste
	return &Editor{rl: rl, out: out}, nil
}

// Line reads a line; with ErrInterrupt it gives what was typed before ^C.
func (e *Editor) Line(prompt string) (string, error) {
	e.rl.SetPrompt(prompt)
	line, err := e.rl.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return line, ErrInterrupt
	}
	return line, err
}

// Remember puts a line into the history that the arrow keys go through.
func (e *Editor) Remember(line string) { _ = e.rl.SaveHistory(line) }

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
	words, replace := c.f(string(line), len(string(line[:pos])))
	width := readline.GetScreenWidth()
	var out [][]rune
	for _, w := range words {
		r := []rune(w)
		if replace <= len(r) && len(r)+2 < width {
			out = append(out, r[replace:])
		}
	}
	return out, replace
}
