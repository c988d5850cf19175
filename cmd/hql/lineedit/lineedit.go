package lineedit

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/chzyer/readline"
)

// ErrInterrupt is returned by Line after ^C. After ^D on an empty line, Line returns io.EOF.
var ErrInterrupt = errors.New("interrupted")

// Continued is the prompt of a statement's lines after the first.
const Continued = "  -> "

// lineBreak separates the lines of a statement in readline's buffer, where \n would end the input. A \r in a statement is
// \n in the buffer.
const lineBreak = '\r'

var swapped = strings.NewReplacer("\n", string(lineBreak), string(lineBreak), "\n")

// Completer returns the words that could be completed at byte pos of line, and the number of characters before pos that
// each replaces.
type Completer func(line string, pos int) (words []string, replace int)

// Editor is a line editor.
type Editor struct {
	rl *readline.Instance
}

// New starts an editor on the terminal: stdin and stdout must be terminals.
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
	in.searching, in.search = rl.Operation.IsSearchMode, rl.Operation.SearchChar
	_ = rl.SaveHistory("")                          // searching a history of length 0 would end readline
	_, _ = io.WriteString(os.Stdout, "\x1b[?2004h") // bracketed paste
	return &Editor{rl: rl}, nil
}

// Line reads a line, or several lines if they come from the history. With ErrInterrupt it returns the text typed before
// ^C.
func (e *Editor) Line(prompt string) (string, error) {
	e.toLast()
	e.rl.SetPrompt(prompt)
	line, err := e.rl.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		err = ErrInterrupt
	}
	return swapped.Replace(line), err
}

// Remember adds a statement to the history, including its line breaks.
func (e *Editor) Remember(statement string) {
	e.toLast()
	_ = e.rl.SaveHistory(swapped.Replace(statement))
}

// toLast moves to the end of the history. Otherwise readline would store the edited line in an older entry.
func (e *Editor) toLast() {
	_ = e.rl.SaveHistory("")
}

// Close restores the terminal's settings.
func (e *Editor) Close() error {
	_, _ = io.WriteString(os.Stdout, "\x1b[?2004l")
	return e.rl.Close()
}

// completer offers only words that fit on the screen: readline divides by zero for longer ones.
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
		out[0] = append(out[0], ' ') // a space after the completed word
	}
	return out, replace
}

// painter replaces control characters by symbols one column wide. readline counts columns, and some control characters
// would act on the terminal.
type painter struct{}

func (painter) Paint(line []rune, _ int) []rune {
	line = slices.Clone(line)
	for i, r := range line {
		switch {
		case r == lineBreak, r == '\n' && i == len(line)-1: // output handles line breaks
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
