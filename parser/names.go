package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// Names, and nodes made of them, parse themselves (participle.Parseable), for speed and because the class of a word
// decides whether it can be a name.

type ident struct {
	Tok *lexer.Token
}

func (n *ident) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a name") }

func (n *ident) read(lex *lexer.PeekingLexer, what string) error {
	if !isName(lex.Peek()) {
		missed(lex, what)
		return participle.NextMatch
	}
	n.Tok = lex.Next()
	return nil
}

type columnIdent struct{ ident }

func (n *columnIdent) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a column name") }

// settingIdent is the first word of a setting's name.
type settingIdent struct{ ident }

func (n *settingIdent) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a setting's name") }

type familyIdent struct{ ident }

func (n *familyIdent) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a family's name") }

// isName reports whether t can be a name.
func isName(t *lexer.Token) bool {
	return t.Type == tokWord || t.Type == tokGuarded || t.Type == tokQuoted
}

// isAlias reports whether t can be an alias without AS.
func isAlias(t *lexer.Token) bool { return t.Type == tokWord || t.Type == tokQuoted }

// isQualifier reports whether t can be the qualifier after a family's colon: any word, with or without quotes, or a
// number.
func isQualifier(t *lexer.Token) bool {
	return isName(t) || t.Type == tokReserved || t.Type == tokNumber
}

// unexpected returns the error for the next token, which does not fit.
func unexpected(lex *lexer.PeekingLexer) error {
	return &participle.UnexpectedTokenError{Unexpected: *lex.Peek()}
}

// absent ends the reading of what does not come next.
func absent(lex *lexer.PeekingLexer, what string) any {
	missed(lex, what)
	return fail.With(unexpected(lex))
}

// need reads the words, which must come next.
func need(lex *lexer.PeekingLexer, words ...string) {
	if !wanted(lex, words...) {
		panic(fail.With(unexpected(lex)))
	}
}

// follow reads n, which must come next.
func follow(lex *lexer.PeekingLexer, n participle.Parseable) {
	err := n.Parse(lex)
	if err == participle.NextMatch {
		err = unexpected(lex)
	}
	fail.On(err)
}

// isNext reports whether the next tokens are these keywords or operators. It does not move lex.
func isNext(lex *lexer.PeekingLexer, values ...string) bool {
	at := lex.MakeCheckpoint()
	defer lex.LoadCheckpoint(at)
	for _, v := range values {
		if lex.Next().Value != v {
			return false
		}
	}
	return true
}

// accept consumes the next tokens if they are these keywords or operators, and reports whether it did.
func accept(lex *lexer.PeekingLexer, values ...string) bool {
	if lex.Peek().Value != values[0] || len(values) > 1 && !isNext(lex, values...) {
		return false
	}
	for range values {
		lex.Next()
	}
	return true
}

// qname is name or name:name: a table with its namespace, or a column by family and qualifier.
type qname struct {
	A, B *lexer.Token
}

func (n *qname) read(lex *lexer.PeekingLexer, what string) error {
	var first ident
	if err := first.read(lex, what); err != nil {
		return err
	}
	if n.A = first.Tok; !accept(lex, ":") {
		return nil
	}
	if !isQualifier(lex.Peek()) {
		missed(lex, "a qualifier")
		return unexpected(lex)
	}
	n.B = lex.Next()
	return nil
}

// tableName is the name of a table: name, namespace:name or, like a schema in other systems, namespace.name.
type tableName struct {
	qname
	dotted bool
}

func (n *tableName) Parse(lex *lexer.PeekingLexer) error {
	if err := n.read(lex, "a table name"); err != nil || n.B != nil || !accept(lex, ".") {
		return err
	}
	if t := lex.Peek(); !isName(t) && t.Type != tokReserved {
		missed(lex, "a table name")
		return unexpected(lex)
	}
	n.B, n.dotted = lex.Next(), true
	return nil
}

// name returns the table's name in the catalog. It omits PostgreSQL's default schema and HBase's default namespace.
func (n *tableName) name() string {
	if n.inSchema() {
		return name(n.B)
	}
	return n.qname.name()
}

func (n *tableName) inSchema() bool {
	return n.dotted && (strings.EqualFold(name(n.A), "public") || strings.EqualFold(name(n.A), "default"))
}

// alias returns the name that qualifies the table's columns: other if there is one, or the table's name without its namespace.
// It returns "" if the table's name has no namespace.
func (n *tableName) alias(other *alias) string {
	if s := other.name(); s != "" || !n.dotted {
		return s
	}
	if s := name(n.B); s != n.name() {
		return s
	}
	return ""
}

// columnName is the name of a column that a statement writes.
type columnName struct{ qname }

func (n *columnName) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a column name") }

// alias is [AS] name. Without AS, words that could begin the next clause are not taken as an alias.
type alias struct {
	Tok *lexer.Token
}

func (a *alias) Parse(lex *lexer.PeekingLexer) error {
	switch {
	case accept(lex, "AS"):
		if !isName(lex.Peek()) {
			missed(lex, "a name")
			return unexpected(lex)
		}
	case !isAlias(lex.Peek()):
		missed(lex, "an alias")
		return participle.NextMatch
	}
	a.Tok = lex.Next()
	return nil
}

// qualifier is the text after a family's colon in a definition: a name, a number or bytes.
type qualifier struct {
	Tok *lexer.Token
}

func (q *qualifier) Parse(lex *lexer.PeekingLexer) error {
	if t := lex.Peek(); !isQualifier(t) && t.Type != tokBytes {
		missed(lex, "a qualifier")
		return participle.NextMatch
	}
	q.Tok = lex.Next()
	return nil
}
