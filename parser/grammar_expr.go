package parser

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// operand is the grammar of the operands that are more than a token or two. readOperand
// goes to the alternatives directly.
type operand struct {
	Paren     *parenNode     `parser:"  @@"`
	Case      *caseNode      `parser:"| @@"`
	Cast      *castNode      `parser:"| @@"`
	Exists    *existsNode    `parser:"| @@"`
	Extract   *extractNode   `parser:"| @@"`
	Position  *positionNode  `parser:"| @@"`
	Substring *substringNode `parser:"| @@"`
	Trim      *trimNode      `parser:"| @@"`
	Row       *rowNode       `parser:"| @@"`
	Call      *callNode      `parser:"| @@"`
}

// parenNode is (SELECT ...), (a) or the row value (a, b).
type parenNode struct {
	Pos   lexer.Position
	Query *parenQuery `parser:"'(' ( @@"`
	List  exprList    `parser:"    | @@ ) ')'"`
}

type caseNode struct {
	Pos   lexer.Position
	X     *exprNode   `parser:"'CASE' @@?"`
	Whens []*whenNode `parser:"@@+"`
	Else  *exprNode   `parser:"( 'ELSE' @@ )? 'END'"`
}

type whenNode struct {
	Cond exprNode `parser:"'WHEN' @@"`
	Then exprNode `parser:"'THEN' @@"`
}

type castNode struct {
	Pos      lexer.Position
	X        exprNode      `parser:"'CAST' '(' @@"`
	Type     typeName      `parser:"'AS' @@"`
	Encoding *encodingNode `parser:"( 'AS' @@ )? ')'"`
}

type existsNode struct {
	Pos   lexer.Position
	Query *selectNode `parser:"'EXISTS' '(' @@ ')'"`
}

type extractNode struct {
	Pos   lexer.Position
	Field exprNode `parser:"'EXTRACT' '(' @@"`
	X     exprNode `parser:"( 'FROM' | ',' ) @@ ')'"`
}

type positionNode struct {
	Pos    lexer.Position
	Needle needle   `parser:"'POSITION' '(' @@"`
	In     bool     `parser:"( @'IN' | ',' )"`
	X      exprNode `parser:"@@ ')'"`
}

// substringNode is SUBSTRING(x FROM a FOR b), either word alone, or plain arguments.
type substringNode struct {
	Pos  lexer.Position
	Name string    `parser:"@( 'SUBSTRING' | 'SUBSTR' )"`
	Args exprList  `parser:"'(' @@"`
	From *exprNode `parser:"( 'FROM' @@ )?"`
	For  *exprNode `parser:"( 'FOR' @@ )? ')'"`
}

// trimNode is TRIM([LEADING | TRAILING | BOTH] [characters] FROM x) or plain arguments.
type trimNode struct {
	Pos  lexer.Position
	Side string    `parser:"'TRIM' '(' @( 'LEADING' | 'TRAILING' | 'BOTH' )?"`
	Args exprList  `parser:"@@?"`
	From *exprNode `parser:"( 'FROM' @@ )? ')'"`
}

type rowNode struct {
	Pos  lexer.Position
	List exprList `parser:"'ROW' '(' @@? ')'"`
}

// callNode is a call of any other function or aggregate.
type callNode struct {
	Name     funcName   `parser:"@@"`
	Star     bool       `parser:"'(' @'*'?"` // alone; an alternative may not match nothing, so lowering checks it
	Distinct bool       `parser:"( @'DISTINCT' | 'ALL' )?"`
	Args     argList    `parser:"@@?"`
	OrderBy  *orderList `parser:"( 'ORDER' 'BY' @@ )? ')'"`
	Filter   *exprNode  `parser:"( 'FILTER' '(' 'WHERE' @@ ')' )?"`
}

// funcName is a function's name, or SALT HEX.
type funcName struct {
	Tok     *lexer.Token
	SaltHex bool
}

// Parse implements participle.Parseable.
func (n *funcName) Parse(lex *lexer.PeekingLexer) error {
	if !isName(lex.Peek()) {
		return participle.NextMatch
	}
	n.Tok = lex.Peek()
	if n.SaltHex = accept(lex, "SALT", "HEX"); !n.SaltHex {
		lex.Next()
	}
	return nil
}

// argList is arguments between commas, each an expression or a range lo TO hi.
type argList struct {
	args []argNode
}

type argNode struct {
	lo, hi exprNode
	to     *lexer.Token // nil: not a range
}

// Parse implements participle.Parseable.
func (l *argList) Parse(lex *lexer.PeekingLexer) error {
	for {
		var a argNode
		if err := a.lo.Parse(lex); err != nil {
			if err == participle.NextMatch && len(l.args) > 0 {
				err = unexpected(lex)
			}
			return err
		}
		if t := lex.Peek(); accept(lex, "TO") {
			a.to = t
			if err := a.hi.Parse(lex); err != nil {
				if err == participle.NextMatch {
					err = unexpected(lex)
				}
				return err
			}
		}
		l.args = append(l.args, a)
		if !accept(lex, ",") {
			return nil
		}
	}
}

var operandParser = participle.MustBuild[operand](participle.Lexer(lexerDefinition{symbols}))

var (
	parenParser     = production[parenNode]()
	caseParser      = production[caseNode]()
	castParser      = production[castNode]()
	existsParser    = production[existsNode]()
	extractParser   = production[extractNode]()
	positionParser  = production[positionNode]()
	substringParser = production[substringNode]()
	trimParser      = production[trimNode]()
	rowParser       = production[rowNode]()
	callParser      = production[callNode]()
)

func production[N any]() *participle.Parser[N] {
	p, err := participle.ParserForProduction[N](operandParser)
	if err != nil {
		panic(err) // the grammar has no such alternative: a bug, seen by the first test
	}
	return p
}
