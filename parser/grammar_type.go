package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// typeName is the name of a type: INT, VARCHAR(20), DOUBLE PRECISION, TIMESTAMP WITH TIME ZONE.
type typeName struct {
	Start *lexer.Token
	Text  string // upper case
}

func (n *typeName) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	n.Start = lex.Peek()
	if n.Start.Type != tokWord && n.Start.Type != tokQuoted {
		missed(lex, "a type")
		return participle.NextMatch
	}
	t := lex.Next()
	if catalogSchema(t) && accept(lex, ".") {
		if t = lex.Next(); t.Type != tokWord && t.Type != tokQuoted {
			missed(lex, "a type")
			return unexpected(lex)
		}
	}
	text := strings.ToUpper(t.Value)
	if text != `"CHAR"` {
		text = strings.ToUpper(name(t))
	}
	n.rest(lex, text)
	return nil
}

// rest reads the rest of a type whose first word is text.
func (n *typeName) rest(lex *lexer.PeekingLexer, text string) {
	switch {
	case text == "NATIONAL" && (isNext(lex, "CHAR") || isNext(lex, "CHARACTER") || strings.HasPrefix(strings.ToUpper(lex.Peek().Value), "CHAR")):
		text += " " + strings.ToUpper(name(lex.Next()))
		if accept(lex, "VARYING") {
			text += " VARYING"
		}
	case text == "DOUBLE" && accept(lex, "PRECISION"):
		text += " PRECISION"
	case (text == "CHARACTER" || text == "CHAR" || text == "NCHAR" || text == "BINARY") && accept(lex, "VARYING"):
		text += " VARYING"
	}
	if accept(lex, "(") {
		args := make([]string, 0, 2)
		for len(args) == 0 || wanted(lex, ",") {
			if lex.Peek().Type != tokNumber {
				panic(absent(lex, "a number"))
			}
			args = append(args, lex.Next().Value)
		}
		need(lex, ")")
		text += "(" + strings.Join(args, ",") + ")"
	}
	switch {
	case accept(lex, "WITH", "TIME", "ZONE"):
		text += " WITH TIME ZONE"
	case accept(lex, "WITHOUT", "TIME", "ZONE"):
		text += " WITHOUT TIME ZONE"
	}
	n.Text = text
	n.dimensions(lex)
}

// dimensions reads [], [3] or ARRAY after a type. As in PostgreSQL, the number of dimensions and their lengths have no
// effect.
func (n *typeName) dimensions(lex *lexer.PeekingLexer) {
	array := false
	for accept(lex, "[") {
		if lex.Peek().Type == tokNumber {
			lex.Next()
		}
		array = true
		need(lex, "]")
	}
	if t := lex.Peek(); !array && t.Type == tokWord && strings.EqualFold(t.Value, "ARRAY") {
		lex.Next()
		if array = true; accept(lex, "[") {
			if lex.Peek().Type == tokNumber {
				lex.Next()
			}
			need(lex, "]")
		}
	}
	if array {
		n.Text += "[]"
	}
}

// encodingNode is the encoding after AS: words and, in parentheses, arguments.
type encodingNode struct {
	def *EncodingDef
}

func (n *encodingNode) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
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
	n.def.Args = r.list(0)
	for i, x := range n.def.Args {
		n.def.Args[i] = signed(x)
	}
	need(lex, ")")
	return onlyLiterals(n.def.Args, "an encoding's argument")
}

// isEncodingWord reports whether the next word belongs to the encoding. PRIMARY KEY and DEFAULT value after a column's
// encoding do not.
func isEncodingWord(lex *lexer.PeekingLexer) bool {
	t := lex.Peek()
	return t.Type == tokWord && !isNext(lex, "PRIMARY", "KEY") && (t.Value != "DEFAULT" || isNext(lex, "DEFAULT", "("))
}

// defaultNode is the expression after DEFAULT. NOT NULL may follow it.
type defaultNode struct{ value Expr }

func (n *defaultNode) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	r := exprReader{lex: lex}
	if !r.startsOperand() {
		missed(lex, "a constant")
		return participle.NextMatch
	}
	n.value = r.binary(bindRange + 1)
	if c, ok := n.value.(*Cast); ok { // DATE '2024-02-29', 'x'::TEXT: the column determines the type
		if l, ok := signed(c.X).(*Literal); ok {
			n.value = l
		}
	}
	n.value = signed(n.value)
	var reads Expr
	Walk(n.value, func(e Expr) bool {
		switch e.(type) {
		case *ColumnRef, *Param:
			reads = e
		}
		if IsQuery(e) {
			reads = e
		}
		return reads == nil
	})
	if reads != nil {
		return Errorf(reads.Position(), "a DEFAULT cannot read columns, parameters or queries").WithHint("name the column in INSERT, with a value for each row")
	}
	return nil
}

// signed returns a number with a minus sign as a single literal; it returns other expressions unchanged.
func signed(x Expr) Expr {
	if u, ok := x.(*Unary); ok && u.Op == "-" {
		if l, ok := u.X.(*Literal); ok && l.Kind == NumberLiteral {
			return &Literal{Pos: u.Pos, Kind: NumberLiteral, Text: "-" + l.Text}
		}
	}
	return x
}
