package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// typeName is a type as people write it: INT, VARCHAR(20), DOUBLE PRECISION, TIMESTAMP WITH TIME ZONE.
type typeName struct {
	Start *lexer.Token
	Text  string // upper case
}

// Parse implements participle.Parseable.
func (n *typeName) Parse(lex *lexer.PeekingLexer) error {
	n.Start = lex.Peek()
	if n.Start.Type != tokWord {
		missed(lex, "a type")
		return participle.NextMatch
	}
	text := strings.ToUpper(lex.Next().Value)
	switch {
	case text == "DOUBLE" && accept(lex, "PRECISION"):
		text += " PRECISION"
	case (text == "CHARACTER" || text == "CHAR") && accept(lex, "VARYING"):
		text += " VARYING"
	}
	if accept(lex, "(") {
		args := make([]string, 0, 2)
		for len(args) == 0 || wanted(lex, ",") {
			if lex.Peek().Type != tokNumber {
				missed(lex, "a number")
				return unexpected(lex)
			}
			args = append(args, lex.Next().Value)
		}
		if !wanted(lex, ")") {
			return unexpected(lex)
		}
		text += "(" + strings.Join(args, ",") + ")"
	}
	switch {
	case accept(lex, "WITH", "TIME", "ZONE"):
		text += " WITH TIME ZONE"
	case accept(lex, "WITHOUT", "TIME", "ZONE"):
		text += " WITHOUT TIME ZONE"
	}
	n.Text = text
	return nil
}

// encodingNode is the encoding behind AS: words and, in parentheses, arguments.
type encodingNode struct {
	def *EncodingDef
}

// Parse implements participle.Parseable.
func (n *encodingNode) Parse(lex *lexer.PeekingLexer) error {
	n.def = &EncodingDef{Pos: pos(lex.Peek())}
	for isEncodingWord(lex) {
		word := strings.ToUpper(lex.Next().Value)
		if n.def.Name != "" {
			word = n.def.Name + " " + word
		}
		n.def.Name = word
	}
	if n.def.Name == "" {
		missed(lex, "an encoding")
		return participle.NextMatch
	}
	if !accept(lex, "(") {
		return nil
	}
	r := exprReader{lex: lex}
	var err error
	if n.def.Args, err = r.list(0); err != nil {
		return err
	}
	if !wanted(lex, ")") {
		return unexpected(lex)
	}
	return onlyLiterals(n.def.Args, "an encoding's argument")
}

// isEncodingWord keeps PRIMARY KEY behind a column's encoding out of the encoding.
func isEncodingWord(lex *lexer.PeekingLexer) bool {
	t := lex.Peek()
	return t.Type == tokWord && !(t.Value == "PRIMARY" && isNext(lex, "PRIMARY", "KEY"))
}
