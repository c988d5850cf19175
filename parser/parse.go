package parser

import (
	"errors"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// Parse parses the statements of a script, separated by semicolons. Positions are offsets in src. An error is always an
// *Error with Source set; Parse then also returns the statements before it.
func Parse(src string) ([]Statement, error) {
	var out []Statement
	r := &tokenReader{src: src}
	for r.more() {
		s, err := r.statement()
		if err != nil {
			return out, attach(err, src)
		}
		out = append(out, s)
	}
	return out, nil
}

// ParseStatement parses exactly one statement, which may end with a semicolon.
func ParseStatement(src string) (Statement, error) {
	r := &tokenReader{src: src}
	if !r.more() {
		return nil, attach(Errorf(0, "there is no statement"), src)
	}
	s, err := r.statement()
	if err != nil {
		return nil, attach(err, src)
	}
	if r.more() {
		return nil, attach(Errorf(Pos(r.start), "expected one statement, found another after the ;"), src)
	}
	return s, nil
}

// ParseExpr parses one expression.
func ParseExpr(src string) (Expr, error) {
	r := &tokenReader{src: src}
	lex, tokens, err := r.tokens()
	if err != nil {
		return nil, attach(err, src)
	}
	var n exprNode
	if err = readExpr(lex, &n); err != nil {
		err = r.explain(err, tokens, func(lex *lexer.PeekingLexer) error { return readExpr(lex, new(exprNode)) })
	} else if r.more() {
		err = Errorf(Pos(r.start), "expected one expression, found more after the ;")
	}
	if err != nil {
		return nil, attach(err, src)
	}
	return n.X, nil
}

// readExpr reads an expression and the end of the text.
func readExpr(lex *lexer.PeekingLexer, n *exprNode) error {
	err := n.Parse(lex)
	if err == participle.NextMatch || err == nil && !lex.Peek().EOF() {
		err = unexpected(lex)
	}
	return err
}

// tokens reads the statement's tokens, the last one of type lexer.EOF.
func (r *tokenReader) tokens() (*lexer.PeekingLexer, []lexer.Token, error) {
	lex, err := lexer.Upgrade(r)
	if err != nil {
		return nil, nil, err
	}
	return lex, lex.Range(0, lexer.RawCursor(r.count)), nil
}

func (r *tokenReader) statement() (Statement, error) {
	lex, tokens, err := r.tokens()
	if err != nil {
		return nil, err
	}
	n, err := readStatement(lex)
	if err != nil {
		return nil, r.explain(err, tokens, func(lex *lexer.PeekingLexer) error {
			_, err := readStatement(lex)
			return err
		})
	}
	return fail.Try(func() Statement { return new(lowerer).statement(n) })
}

// readStatement reads one statement and the end of its text.
func readStatement(lex *lexer.PeekingLexer) (*statementNode, error) {
	switch lex.Peek().Value {
	case "SELECT", "WITH", "VALUES", "(": // most statements: go directly to their parser
		if lex.Peek().Value == "WITH" && writes(lex) {
			break
		}
		n, err := read(selectParser, lex)
		return &statementNode{explained: explained{Select: n}}, err
	case "CREATE":
		at := lex.RawCursor()
		// A catalog file has only CREATE TABLE statements, so a program that reads one need not build the other parsers.
		if next := lex.Range(at, at+2)[1].Value; next == "TABLE" || next == "EXTERNAL" {
			n, err := read(createParser, lex)
			return &statementNode{Create: n}, err
		}
	}
	return read(statementParser, lex)
}

// explain turns an error of the grammar into an error for users. again parses the statement's tokens once more.
func (r *tokenReader) explain(err error, tokens []lexer.Token, again func(*lexer.PeekingLexer) error) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var placed participle.Error
	if !errors.As(err, &placed) {
		return Errorf(Pos(r.start), "%v", err)
	}
	offset := placed.Position().Offset
	for i := range tokens {
		if tokens[i].Pos.Offset >= offset {
			return diagnose(reading{tokens, again}, r.src, i)
		}
	}
	return diagnose(reading{tokens, again}, r.src, len(tokens)-1)
}

// attach returns err as an *Error with its source.
func attach(err error, src string) error {
	var own *Error
	if errors.As(err, &own) {
		return own.In(src)
	}
	return Errorf(NoPos, "%v", err)
}
