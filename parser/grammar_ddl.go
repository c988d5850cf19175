package parser

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

type createNode struct {
	Pos         lexer.Position
	Replace     bool           `parser:"'CREATE' ( @'OR' 'REPLACE' )?"`
	Kind        *tableKind     `parser:"( ( @@"`
	External    bool           `parser:"| @'EXTERNAL' )? 'TABLE'"`
	View        bool           `parser:"| @'MATERIALIZED' 'VIEW' )"`
	IfNotExists bool           `parser:"( @'IF' 'NOT' 'EXISTS' )?"`
	Table       tableName      `parser:"@@"`
	Items       []*tableItem   `parser:"( '(' @@ ( ',' @@ )* ')'"`
	Clauses     []*clauseNode  `parser:"  @@* ( 'AS'"`
	Query       *selectNode    `parser:"  @@ )?"`
	Names       []*columnIdent `parser:"| '(' @@ ( ',' @@ )* ')' 'AS'"` // of the columns of the query
	Named       *selectNode    `parser:"  @@"`
	KeyOf       []*clauseNode  `parser:"| @@* 'AS'"` // clauses that precede AS if the query determines the columns
	QueryOf     *selectNode    `parser:"  @@ )"`
	NoData      bool           `parser:"( 'WITH' @'NO'? 'DATA' )?"`
}

// tableKind is TEMPORARY, or UNLOGGED, which has no effect: HBase logs the writes. Messages do not list it.
type tableKind struct{ temporary bool }

func (n *tableKind) Parse(lex *lexer.PeekingLexer) error {
	n.temporary = phrase(lex, "TEMP|TEMPORARY", "LOCAL|GLOBAL TEMP|TEMPORARY") != ""
	if n.temporary {
		return nil
	}
	return skip(lex, "UNLOGGED")
}

// phrase consumes the words of one of list, if they come next, and returns them in upper case. A|B stands for one of two words, *
// for any token.
func phrase(lex *lexer.PeekingLexer, list ...string) string {
	at := lex.MakeCheckpoint()
	for _, p := range list {
		var words []string
		for w := range strings.FieldsSeq(p) {
			t := lex.Next()
			if words = append(words, strings.ToUpper(t.Value)); t.EOF() || w != "*" && !slices.Contains(strings.Split(w, "|"), words[len(words)-1]) {
				words = nil
				break
			}
		}
		if words != nil {
			return strings.Join(words, " ")
		}
		lex.LoadCheckpoint(at)
	}
	return ""
}

// skip consumes the words of one of list, which have no effect.
func skip(lex *lexer.PeekingLexer, list ...string) error {
	if phrase(lex, list...) == "" {
		return participle.NextMatch
	}
	return nil
}

// diskClause is a clause of PostgreSQL that says how a table lies on its disks. It has no effect, and messages do not list it.
type diskClause struct{}

func (*diskClause) Parse(lex *lexer.PeekingLexer) error {
	return skip(lex, "TABLESPACE *", "USING HEAP", "WITHOUT OIDS", "ON COMMIT PRESERVE ROWS")
}

// diskChange is a change of what PostgreSQL alone has, such as TOAST and triggers. It has no effect, as there is none.
type diskChange struct{}

func (*diskChange) Parse(lex *lexer.PeekingLexer) error {
	return skip(lex, "SET TABLESPACE *", "SET WITHOUT CLUSTER|OIDS", "SET LOGGED|UNLOGGED", "CLUSTER ON *", "REPLICA IDENTITY USING INDEX *",
		"REPLICA IDENTITY *", "DISABLE ROW LEVEL SECURITY", "NO FORCE ROW LEVEL SECURITY", "DISABLE|ENABLE TRIGGER *", "ALTER COLUMN * SET STATISTICS - *",
		"ALTER * SET STATISTICS - *", "ALTER COLUMN * SET STATISTICS|STORAGE|COMPRESSION *", "ALTER * SET STATISTICS|STORAGE|COMPRESSION *",
		"ALTER COLUMN * DROP EXPRESSION IF EXISTS", "ALTER * DROP EXPRESSION IF EXISTS")
}

// tableItem is one entry in the parentheses of CREATE TABLE.
type tableItem struct {
	PrimaryKey []*columnIdent `parser:"  (?= 'CONSTRAINT' ( Word | Quoted ) 'PRIMARY' | 'PRIMARY' 'KEY' ) ( 'CONSTRAINT' ( Word | Quoted ) )? 'PRIMARY' 'KEY' '(' @@ ( ',' @@ )* ')'"`
	Time       []*checkTime   `parser:"  @@*"`
	Check      *checkItem     `parser:"| (?= 'CONSTRAINT' ( Word | Quoted ) 'CHECK' | 'CHECK' '(' ) @@"`
	Like       *likeItem      `parser:"| 'LIKE' @@"`
	Column     *columnItem    `parser:"| @@"`
}

// likeItem is a table whose columns another one gets, and what else.
type likeItem struct {
	Table tableName   `parser:"@@"`
	Parts []*likePart `parser:"@@*"`
}

// likePart is INCLUDING or EXCLUDING and a word.
type likePart struct{ text string }

func (n *likePart) Parse(lex *lexer.PeekingLexer) error {
	if n.text = phrase(lex, "INCLUDING|EXCLUDING ALL|COMMENTS|COMPRESSION|CONSTRAINTS|DEFAULTS|GENERATED|IDENTITY|INDEXES|STATISTICS|STORAGE"); n.text == "" {
		return participle.NextMatch
	}
	return nil
}

// checkItem is CHECK among the columns of a table, or in ALTER TABLE.
type checkItem struct {
	Pos      lexer.Position
	Name     *ident       `parser:"( 'CONSTRAINT' @@ )?"`
	Expr     exprNode     `parser:"'CHECK' '(' @@ ')' ( 'NO' 'INHERIT' )?"` // no table inherits
	NotValid bool         `parser:"( (?= 'NOT' 'VALID' ) @'NOT' 'VALID' )?"`
	Time     []*checkTime `parser:"@@*"`
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
	Identity   *identityNode `parser:"| @@"`
	Default    *defaultNode  `parser:"| 'DEFAULT' @@"`
	Comment    *textNode     `parser:"| 'COMMENT' @@"`
	Constraint *ident        `parser:"| 'CONSTRAINT' @@"` // the name of the clause behind it; only that of a CHECK is kept
	Check      *checkItem    `parser:"| (?= 'CHECK' '(' ) @@"`
	NoEffect   *noEffect     `parser:"| @@"`
}

// noEffect is COLLATE and a collation that compares bytes, or when a constraint is checked. Messages do not list it.
type noEffect struct{}

func (*noEffect) Parse(lex *lexer.PeekingLexer) error {
	if t := lex.Peek(); accept(lex, "COLLATE") {
		return (&exprReader{lex: lex}).collation(t)
	}
	return (*checkTime)(nil).Parse(lex)
}

// checkTime is when a constraint is checked: at once.
type checkTime struct{}

func (*checkTime) Parse(lex *lexer.PeekingLexer) error {
	return skip(lex, "NOT DEFERRABLE", "INITIALLY IMMEDIATE")
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
	Disk      *diskClause   `parser:"| @@"`
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
	Where *exprNode `parser:"( 'WHERE' @@ )?"`
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

// direction is ASC or DESC. NULLS FIRST or LAST, and an operator class in front, have no effect on an index. Messages do
// not list it: few parts have it.
type direction struct{ desc bool }

func (n *direction) Parse(lex *lexer.PeekingLexer) error {
	class := isName(lex.Peek()) && strings.HasSuffix(strings.ToLower(lex.Peek().Value), "_ops")
	if class {
		lex.Next()
	}
	n.desc = accept(lex, "DESC")
	ordered := n.desc || accept(lex, "ASC") || class
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
