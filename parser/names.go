package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Names and what is made of them read themselves (participle's Parseable): every statement
// is full of them, and whether a word is a name is a question of its class.

// ident is one name.
type ident struct {
	Tok *lexer.Token
}

// Parse implements participle.Parseable.
func (n *ident) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a name") }

func (n *ident) read(lex *lexer.PeekingLexer, what string) error {
	if !isName(lex.Peek()) {
		missed(lex, what)
		return participle.NextMatch
	}
	n.Tok = lex.Next()
	return nil
}

// columnIdent is a column's name.
type columnIdent struct{ ident }

// Parse implements participle.Parseable.
func (n *columnIdent) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a column name") }

// settingIdent is the first word of a setting's name.
type settingIdent struct{ ident }

// Parse implements participle.Parseable.
func (n *settingIdent) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a setting's name") }

// familyIdent is a family's name.
type familyIdent struct{ ident }

// Parse implements participle.Parseable.
func (n *familyIdent) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a family's name") }

// isName reports whether t can stand as a name.
func isName(t *lexer.Token) bool {
	return t.Type == tokWord || t.Type == tokGuarded || t.Type == tokQuoted
}

// isAlias reports whether t can stand as an alias without AS.
func isAlias(t *lexer.Token) bool { return t.Type == tokWord || t.Type == tokQuoted }

// isQualifier reports whether t can stand behind a family's colon: any word, quoted or
// not, or a number.
func isQualifier(t *lexer.Token) bool {
	return isName(t) || t.Type == tokReserved || t.Type == tokNumber
}

// unexpected is the error for a token that does not fit.
func unexpected(lex *lexer.PeekingLexer) error {
	return &participle.UnexpectedTokenError{Unexpected: *lex.Peek()}
}

// isNext reports whether the next tokens have these values, which are keywords or operators.
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

// accept takes the next tokens if they have these values.
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

// tableName is the name of a table: name, namespace:name or, as other systems have schemas, namespace.name.
type tableName struct {
	qname
	dotted bool
}

// Parse implements participle.Parseable.
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

// name is the table's name in the catalog. The schema that tables of PostgreSQL are in unless another is named, and HBase's namespace of that
// kind, are left away.
func (n *tableName) name() string {
	if n.inSchema() {
		return name(n.B)
	}
	return n.qname.name()
}

func (n *tableName) inSchema() bool {
	return n.dotted && (strings.EqualFold(name(n.A), "public") || strings.EqualFold(name(n.A), "default"))
}

// alias is what columns of the table are called by where it has no other alias; "" for its name.
func (n *tableName) alias(other *alias) string {
	if s := other.name(); s != "" || !n.dotted {
		return s
	}
	if s := name(n.B); s != n.name() {
		return s
	}
	return ""
}

// columnName is the name of a column that is written.
type columnName struct{ qname }

// Parse implements participle.Parseable.
func (n *columnName) Parse(lex *lexer.PeekingLexer) error { return n.read(lex, "a column name") }

// alias is [AS] name. Without AS, words that could start the next clause are left alone.
type alias struct {
	Tok *lexer.Token
}

// Parse implements participle.Parseable.
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

// qualifier is what stands behind a family's colon in a definition: bytes, too.
type qualifier struct {
	Tok *lexer.Token
}

// Parse implements participle.Parseable.
func (q *qualifier) Parse(lex *lexer.PeekingLexer) error {
	if t := lex.Peek(); !isQualifier(t) && t.Type != tokBytes {
		missed(lex, "a qualifier")
		return participle.NextMatch
	}
	q.Tok = lex.Next()
	return nil
}
