package parser

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is a mistake in a statement: its text cannot be parsed, resolved or run. The packages that use parser return it for
// users' mistakes, so that each mistake has a position in the text.
type Error struct {
	Pos  Pos    // byte offset in Source; NoPos if unknown
	Msg  string // lower case, without a final full stop
	Hint string // "" if there is none
	// Source is the statement's text; empty until In attaches it.
	Source string
	// Kind is the error that errors.Is finds in e, such as ErrUnknownTable; nil for most mistakes.
	Kind error
}

// ErrUnsupported is in the error about a feature of another database.
var ErrUnsupported = errors.New("the feature is not supported")

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Of sets the kind and returns e.
func (e *Error) Of(kind error) *Error {
	e.Kind = kind
	return e
}

// Errorf returns an Error at pos.
func Errorf(pos Pos, format string, args ...any) *Error {
	return &Error{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// WithHint adds a hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// In returns a copy of e with its source text, or e if it has one.
func (e *Error) In(source string) *Error {
	if e.Source != "" {
		return e
	}
	c := *e
	c.Source = source
	return &c
}

// LineCol returns the line and the column, counted in characters; both start at 1.
func (e *Error) LineCol() (line, col int) {
	if e.Pos < 0 || int(e.Pos) > len(e.Source) {
		return 1, 1
	}
	before := e.Source[:e.Pos]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// Error returns "LINE:COL: message", or only the message if the position is unknown.
func (e *Error) Error() string {
	s := e.Msg
	if e.Pos >= 0 && e.Source != "" {
		line, col := e.LineCol()
		s = fmt.Sprintf("%d:%d: %s", line, col, e.Msg)
	}
	return s
}

// Format returns the error for a terminal: the message, the line with a caret below the position, and the hint.
//
//	error: 1:15: expected a table name after FROM, found "WHERE"
//	  SELECT * FROM WHERE x = 1
//	                ^
//	hint: ...
func (e *Error) Format() string {
	var b strings.Builder
	b.WriteString("error: " + e.Error())
	if e.Pos >= 0 && e.Source != "" && int(e.Pos) <= len(e.Source) {
		line, indent := e.excerpt()
		b.WriteString("\n  " + line + "\n  " + indent + "^")
	}
	if e.Hint != "" {
		b.WriteString("\nhint: " + e.Hint)
	}
	return b.String()
}

// excerptWidth is the number of bytes of a long line that are shown on each side of the caret.
const excerptWidth = 60

// excerpt returns the line of the error, shortened to fit in a terminal, and the white space before the caret.
func (e *Error) excerpt() (line, indent string) {
	before, after := e.Source[:e.Pos], e.Source[e.Pos:]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if i := strings.IndexAny(after, "\r\n"); i >= 0 {
		after = after[:i]
	}
	if len(before) > excerptWidth {
		cut := len(before) - excerptWidth
		for cut < len(before) && !utf8.RuneStart(before[cut]) {
			cut++
		}
		before = "..." + before[cut:]
	}
	if len(after) > excerptWidth {
		cut := excerptWidth
		for cut > 0 && !utf8.RuneStart(after[cut]) {
			cut--
		}
		after = after[:cut] + "..."
	}
	return printable(before) + printable(after), blanks(printable(before))
}

// printable replaces control characters of the source, which could act on the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			return '\uFFFD'
		}
		return r
	}, s)
}

// blanks returns white space as wide as s: East Asian characters take two columns.
func blanks(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteByte('\t')
		case isWide(r):
			b.WriteString("  ")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func isWide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6
}
