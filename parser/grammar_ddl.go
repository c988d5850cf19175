package parser

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

type createNode struct {
	Pos         lexer.Position
	Replace     bool          `parser:"'CREATE' ( @'OR' 'REPLACE' )?"`
	Unlogged    *unlogged     `parser:"( @@"`
	External    bool          `parser:"| @'EXTERNAL' )? 'TABLE'"`
	IfNotExists bool          `parser:"( @'IF' 'NOT' 'EXISTS' )?"`
	Table       tableName     `parser:"@@"`
	Items       []*tableItem  `parser:"( '(' @@ ( ',' @@ )* ')'"`
	Clauses     []*clauseNode `parser:"  @@* ( 'AS'"`
	Query       *selectNode   `parser:"  @@ )?"`
	KeyOf       []*clauseNode `parser:"| @@* 'AS'"` // clauses that precede AS if the query determines the columns
	QueryOf     *selectNode   `parser:"  @@ )"`
	NoData      bool          `parser:"( 'WITH' @'NO'? 'DATA' )?"`
}

// unlogged is UNLOGGED, which has no effect: HBase logs the writes. Messages do not list it.
type unlogged struct{}

func (*unlogged) Parse(lex *lexer.PeekingLexer) error {
	if !accept(lex, "UNLOGGED") {
		return participle.NextMatch
	}
	return nil
}

// tableItem is one entry in the parentheses of CREATE TABLE.
type tableItem struct {
	PrimaryKey []*columnIdent `parser:"  (?= 'CONSTRAINT' ( Word | Quoted ) 'PRIMARY' | 'PRIMARY' 'KEY' ) ( 'CONSTRAINT' ( Word | Quoted ) )? 'PRIMARY' 'KEY' '(' @@ ( ',' @@ )* ')'"`
	Check      *checkItem     `parser:"| (?= 'CONSTRAINT' ( Word | Quoted ) 'CHECK' | 'CHECK' '(' ) @@"`
	Column     *columnItem    `parser:"| @@"`
}

// checkItem is CHECK among the columns of a table, or in ALTER TABLE.
type checkItem struct {
	Pos      lexer.Position
	Name     *ident   `parser:"( 'CONSTRAINT' @@ )?"`
	Expr     exprNode `parser:"'CHECK' '(' @@ ')'"`
	NotValid bool     `parser:"( @'NOT' 'VALID' )?"`
}

type columnItem struct {
	Name  columnIdent    `parser:"@@"`
	Type  typeName       `parser:"@@"`
	Parts []*columnPhase `parser:"@@*"`
}

// columnPhase is one of the clauses after a column's type, in any order.
type columnPhase struct {
	From       *sourceNode   `parser:"  'FROM' @@"`
	Encoding   *encodingNode `parser:"| 'AS' @@"`
	NotNull    bool          `parser:"| @'NOT' 'NULL'"`
	Null       bool          `parser:"| @'NULL'"`
	PrimaryKey bool          `parser:"| @'PRIMARY' 'KEY'"`
	Default    *defaultNode  `parser:"| 'DEFAULT' @@"`
	Comment    *textNode     `parser:"| 'COMMENT' @@"`
	Constraint *ident        `parser:"| 'CONSTRAINT' @@"` // the name of the clause behind it; only that of a CHECK is kept
	Check      *checkItem    `parser:"| (?= 'CHECK' '(' ) @@"`
}

// sourceNode is family:qualifier, family:[parts] or "family:qualifier".
type sourceNode struct {
	Family    familyIdent `parser:"@@"`
	Parts     []*partDef  `parser:"( ':' ( '[' @@ ( ',' @@ )* ']'"`
	Qualifier *qualifier  `parser:"      | @@ ) )?"`
}

// clauseNode is one of the clauses after the list of columns, in any order.
type clauseNode struct {
	Pos       lexer.Position
	StoredIn  *storageNode  `parser:"  'STORED' 'IN' @@"`
	Layout    *layoutNode   `parser:"| @@"`
	Family    *familyNode   `parser:"| 'FAMILY' @@"`
	Split     *splitNode    `parser:"| 'SPLIT' @@"`
	Malformed string        `parser:"| 'ON' 'MALFORMED' 'KEY' @( 'ERROR' | 'SKIP' )"`
	With      []*optionNode `parser:"| 'WITH' '(' @@ ( ',' @@ )* ')'"`
}

// storageNode is 'name' or (parts).
type storageNode struct {
	Pos   lexer.Position
	Name  *textNode  `parser:"  @@"`
	Parts []*partDef `parser:"| '(' @@ ( ',' @@ )* ')'"`
}

type layoutNode struct {
	Pos   lexer.Position
	Index bool   `parser:"( 'ROW' 'KEY' | @'INDEX' )"`
	Name  *ident `parser:"@@?"`
	layoutBody
}

// layoutBody is the part of a layout after its name.
type layoutBody struct {
	Parts    []*partDef   `parser:"'(' @@ ( ',' @@ )* ')'"`
	StoredIn *storageNode `parser:"( 'STORED' 'IN' @@ )?"`
}

type partDef struct {
	Pos      lexer.Position
	Expr     keyPart       `parser:"@@"`
	Encoding *encodingNode `parser:"( 'AS' @@ )?"`
	Order    *direction    `parser:"@@?"`
}

// direction is ASC or DESC, and NULLS FIRST or LAST, which has no effect on an index. Messages do not list it: few parts have it.
type direction struct{ desc bool }

func (n *direction) Parse(lex *lexer.PeekingLexer) error {
	n.desc = accept(lex, "DESC")
	ordered := n.desc || accept(lex, "ASC")
	if !accept(lex, "NULLS", "FIRST") && !accept(lex, "NULLS", "LAST") && !ordered {
		return participle.NextMatch
	}
	return nil
}

type familyNode struct {
	Name    familyIdent   `parser:"@@"`
	Options []*optionNode `parser:"( '(' ( @@ ( ',' @@ )* )? ')' )?"`
}

// optionNode is KEY, KEY = value or KEY value.
type optionNode struct {
	Pos   lexer.Position
	Name  *optionIdent `parser:"( @@"`
	Text  *textNode    `parser:"| @@ )"`
	Value *valueNode   `parser:"( '='? @@ )?"`
}

// optionIdent is the name of an option: NULL of COPY is one.
type optionIdent struct{ ident }

func (n *optionIdent) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Value == "NULL" {
		n.Tok = lex.Next()
		return nil
	}
	return n.ident.Parse(lex)
}

type splitNode struct {
	Index      *ident    `parser:"( 'INDEX' @@ )?"`
	Keys       *exprList `parser:"( 'AT' '(' @@ ')'"`
	File       *textNode `parser:"| 'FROM' 'FILE' @@"`
	N          string    `parser:"| 'INTO' @Number 'BY'"`
	By         string    `parser:"  ( @( 'HEX' | 'UNIFORM' | 'KEY' )"`
	SampleFile *textNode `parser:"  | 'SAMPLE' 'OF' 'FILE' @@ ) )"`
}
