package parser

import (
	"errors"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parse reads the statements of a script, separated by semicolons. Positions are offsets
// in src. An error is always an *Error with Source set; the statements before it are
// returned with it.
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

// ParseStatement reads exactly one statement; a semicolon may close it.
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

// ParseExpr reads one expression.
func ParseExpr(src string) (Expr, error) {
	r := &tokenReader{src: src}
	lex, tokens, err := r.tokens()
	if err != nil {
		return nil, attach(err, src)
	}
	var n exprNode
	switch err = n.Parse(lex); {
	case err == participle.NextMatch:
		err = diagnose(tokens, src, 0)
	case err != nil:
		err = r.explain(err, tokens)
	case !lex.Peek().EOF():
		err = diagnose(tokens, src, int(lex.RawCursor()))
	case r.more():
		err = Errorf(Pos(r.start), "expected one expression, found more after the ;")
	}
	if err != nil {
		return nil, attach(err, src)
	}
	return n.X, nil
}

// tokens reads the statement's tokens, the last one of type lexer.EOF.
func (r *tokenReader) tokens() (*lexer.PeekingLexer, []lexer.Token, error) {
	lex, err := lexer.Upgrade(r)
	if err != nil {
		return nil, nil, err
	}
	return lex, lex.Range(0, lexer.RawCursor(r.count)), nil
}

// statement reads the statement at which r stands.
func (r *tokenReader) statement() (Statement, error) {
	lex, tokens, err := r.tokens()
	if err != nil {
		return nil, err
	}
	n := &statementNode{}
	switch tokens[0].Value {
	case "SELECT", "WITH", "VALUES", "(": // most statements: spare them the choice
		n.Select, err = selectParser.ParseFromLexer(lex)
	default:
		n, err = statementParser.ParseFromLexer(lex)
	}
	if err != nil {
		return nil, r.explain(err, tokens)
	}
	var l lowerer
	return l.statement(n)
}

// explain puts a grammar error into the user's words. What the grammar itself would say
// names its own rules, so that only the place is taken from it.
func (r *tokenReader) explain(err error, tokens []lexer.Token) error {
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
			return diagnose(tokens, r.src, i)
		}
	}
	return diagnose(tokens, r.src, len(tokens)-1)
}

// attach makes err an *Error that knows its source.
func attach(err error, src string) error {
	var own *Error
	if errors.As(err, &own) {
		return own.In(src)
	}
	return Errorf(NoPos, "%v", err)
}
