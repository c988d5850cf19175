package pgwire

import (
	"context"
	"strings"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
)

// command is a statement about the session that this package runs: the DB has no such statement.
type command interface {
	run(c *conn, ctx context.Context, args []any) (*answer, error)
	// columns returns the columns of the command's rows; nil if it returns no rows.
	columns(c *conn) ([]hql.ColumnType, error)
}

// commands maps the first word of a command to its parser. The parser returns nil if the statement is not a command but one for
// the DB.
var commands map[string]func(w *words) (command, error)

func init() {
	commands = map[string]func(w *words) (command, error){
		"BEGIN": parseBegin, "START": parseBegin, "COMMIT": parseEnd, "END": parseEnd, "ROLLBACK": parseEnd, "ABORT": parseEnd,
		"SAVEPOINT": parseSavepoint, "RELEASE": parseSavepoint,
		"SET": parseSet, "RESET": parseReset,
		"DECLARE": parseDeclare, "FETCH": parseFetch, "MOVE": parseFetch, "CLOSE": parseClose,
	}
}

// noRows is embedded in commands that return no rows.
type noRows struct{}

func (noRows) columns(*conn) ([]hql.ColumnType, error) { return nil, nil }

// words reads a command token by token.
type words struct {
	sql  string
	toks []parser.Token
	at   int
}

func newWords(sql string) *words {
	w := &words{sql: sql}
	for _, t := range parser.Tokens(sql) {
		if t.Kind != parser.CommentToken && t.Kind != parser.HintToken {
			w.toks = append(w.toks, t)
		}
	}
	return w
}

// peek is the next token, "" at the end.
func (w *words) peek() string {
	if w.at >= len(w.toks) {
		return ""
	}
	return w.toks[w.at].Text
}

// pos returns the position of the next token.
func (w *words) pos() parser.Pos {
	if w.at >= len(w.toks) {
		return parser.Pos(len(w.sql))
	}
	return w.toks[w.at].Pos
}

// take passes over the words, if they come next.
func (w *words) take(words ...string) bool {
	for i, word := range words {
		if w.at+i >= len(w.toks) || !strings.EqualFold(w.toks[w.at+i].Text, word) {
			return false
		}
	}
	w.at += len(words)
	return true
}

// end returns an error unless all tokens were read.
func (w *words) end() error {
	if w.at == len(w.toks) {
		return nil
	}
	return w.unexpected()
}

func (w *words) unexpected() error {
	if w.at >= len(w.toks) {
		return parser.Errorf(w.pos(), "syntax error at end of input")
	}
	return parser.Errorf(w.pos(), "syntax error at or near %q", w.peek())
}

// name reads a name. It returns the name in lower case unless it is in double quotes.
func (w *words) name() (string, error) {
	if w.at >= len(w.toks) {
		return "", w.unexpected()
	}
	t := w.toks[w.at]
	if t.Kind != parser.NameToken && t.Kind != parser.KeywordToken {
		return "", w.unexpected()
	}
	w.at++
	if strings.HasPrefix(t.Text, `"`) {
		return strings.ReplaceAll(t.Text[1:len(t.Text)-1], `""`, `"`), nil
	}
	return strings.ToLower(t.Text), nil
}

// rest is the text from the next token on.
func (w *words) rest() (string, int) {
	return w.sql[w.pos():], int(w.pos())
}

// value reads one value: a text, a number or a word.
func (w *words) value() (string, error) {
	if w.at >= len(w.toks) {
		return "", w.unexpected()
	}
	t := w.toks[w.at]
	switch t.Kind {
	case parser.StringToken:
		w.at++
		x, err := parser.ParseExpr(t.Text)
		if l, ok := x.(*parser.Literal); err == nil && ok {
			return l.Text, nil
		}
		return "", parser.Errorf(t.Pos, "syntax error at or near %s", t.Text)
	case parser.NumberToken:
		w.at++
		return t.Text, nil
	case parser.OperatorToken:
		if (t.Text == "-" || t.Text == "+") && w.at+1 < len(w.toks) && w.toks[w.at+1].Kind == parser.NumberToken {
			w.at += 2
			return strings.TrimPrefix(t.Text, "+") + w.toks[w.at-1].Text, nil
		}
		return "", w.unexpected()
	}
	return w.name()
}
