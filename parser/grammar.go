package parser

import (
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// statementNode is the root of the grammar: one statement without its ';'.
type statementNode struct {
	explained
	Explain  *explainNode  `parser:"| @@"`
	Other    *otherNode    `parser:"| @@"`
	View     *viewNode     `parser:"| @@"`
	Sequence *sequenceNode `parser:"| @@"`
	Alter    *alterNode    `parser:"| @@"`
	Create   *createNode   `parser:"| @@"`
	Drop     *dropNode     `parser:"| @@"`
	Show     *showNode     `parser:"| @@"`
	Describe *describeNode `parser:"| @@"`
	Set      *setNode      `parser:"| @@"`
	Check    *checkNode    `parser:"| @@"`
	Analyze  *analyzeNode  `parser:"| @@"`

	Transaction *transactionNode `parser:"| @@"`
	Prepare     *prepareNode     `parser:"| @@"`
	Deallocate  *deallocateNode  `parser:"| @@"`
}

type selectNode struct {
	Pos   lexer.Position
	Rec   *recursiveWord `parser:"( 'WITH' @@?"`
	With  []*cteNode     `parser:"  @@ ( ',' @@ )* )?"`
	First *coreNode      `parser:"@@"`
	Sets  []*combineNode `parser:"@@*"`
	Order *orderList     `parser:"( 'ORDER' 'BY' @@ )?"`
	Tail  *tailList      `parser:"@@?"`
}

// recursiveWord is RECURSIVE after WITH, unless it is the name of a query.
type recursiveWord struct{}

func (*recursiveWord) Parse(lex *lexer.PeekingLexer) error {
	if isNext(lex, "RECURSIVE", "AS") || isNext(lex, "RECURSIVE", "(") || !accept(lex, "RECURSIVE") {
		return participle.NextMatch
	}
	return nil
}

// withList is a list of WITH queries.
type withList struct {
	Rec  *recursiveWord `parser:"'WITH' @@?"`
	List []*cteNode     `parser:"@@ ( ',' @@ )*"`
}

// writingNode is WITH before a statement that writes.
type writingNode struct {
	*withList
	*writer
}

type writer struct {
	Insert *insertNode `parser:"  @@"`
	Update *updateNode `parser:"| @@"`
	Delete *deleteNode `parser:"| @@"`
	Merge  *mergeNode  `parser:"| @@"`
}

func (n *writingNode) Parse(lex *lexer.PeekingLexer) (err error) {
	if lex.Peek().Value != "WITH" || !writes(lex) {
		return participle.NextMatch
	}
	if n.withList, err = read(withParser, lex, participle.AllowTrailing(true)); err == nil {
		n.writer, err = read(writerParser, lex, participle.AllowTrailing(true))
	}
	return err
}

// writes reports whether the statement after the WITH list writes.
func writes(lex *lexer.PeekingLexer) bool {
	at := lex.MakeCheckpoint()
	defer lex.LoadCheckpoint(at)
	depth, before := 0, ""
	for {
		t := lex.Next()
		switch {
		case t.EOF():
			return false
		case t.Value == "(":
			depth++
		case t.Value == ")":
			depth--
		case depth > 0 || before == "WITH" || before == "," || before == "RECURSIVE":
		case t.Value == "INSERT" || t.Value == "UPSERT" || t.Value == "UPDATE" || t.Value == "DELETE" || t.Value == "MERGE":
			return true
		case t.Value == "SELECT" || t.Value == "VALUES" || t.Value == "TABLE":
			return false
		}
		before = t.Value
	}
}

type cteNode struct {
	Name    ident          `parser:"@@"`
	Columns []*columnIdent `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	Writing *writingNode   `parser:"'AS' ( 'NOT'? 'MATERIALIZED' )? '(' ( @@"` // MATERIALIZED is without effect: a query is read once for each reference, in either case
	Writer  *writer        `parser:"  | @@"`
	Query   *selectNode    `parser:"  | @@ ) ')'"`
}

// writes reports whether n is an INSERT, UPDATE or DELETE.
func (n *cteNode) writes() bool { return n.Query == nil }

// intoName is INTO [TABLE] name. Messages do not list it: most statements with it are mistakes.
type intoName struct{ tableName }

func (n *intoName) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	if !accept(lex, "INTO") {
		return participle.NextMatch
	}
	accept(lex, "TABLE")
	follow(lex, &n.tableName)
	return nil
}

// combineNode is UNION [ALL] and the core after it.
type combineNode struct {
	Pos  lexer.Position
	Op   string    `parser:"@( 'UNION' | 'EXCEPT' | 'INTERSECT' )"`
	All  bool      `parser:"( @'ALL' | 'DISTINCT' )?"`
	Core *coreNode `parser:"@@"`
}

// coreNode is SELECT ..., VALUES ... or a query in parentheses.
type coreNode struct {
	Pos      lexer.Position
	Hints    []lexer.Token `parser:"  'SELECT' @( Hint* )"`
	Distinct bool          `parser:"  ( @'DISTINCT'"`
	On       *exprList     `parser:"    ( 'ON' '(' @@ ')' )? | 'ALL' )?"`
	Items    outputList    `parser:"  @@"`
	Into     *intoName     `parser:"  @@?"`
	From     []*fromNode   `parser:"  ( 'FROM' @@ ( ',' @@ )* )?"`
	Where    *exprNode     `parser:"  ( 'WHERE' @@ )?"`
	GroupBy  *groupList    `parser:"  ( 'GROUP' 'BY' @@ )?"`
	Having   *exprNode     `parser:"  ( 'HAVING' @@ )?"`
	Windows  []*windowDef  `parser:"  ( 'WINDOW' @@ ( ',' @@ )* )?"`
	Values   *rowList      `parser:"| 'VALUES' @@"`
	Table    *tableName    `parser:"| 'TABLE' @@"`
	Query    *selectNode   `parser:"| '(' @@ ')'"`
}

// derivedNode is a derived table or a join in parentheses.
type derivedNode struct {
	Pos     lexer.Position
	Query   *parenQuery   `parser:"'(' ( @@"`
	Nested  *fromNode     `parser:"      | @@ ) ')'"`
	Columns *derivedAlias `parser:"@@?"`
}

// derivedAlias is [AS] alias [(columns)].
type derivedAlias struct {
	Alias   alias          `parser:"@@"`
	Columns []*columnIdent `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
}

type systemTimeNode struct {
	Pos  lexer.Position
	All  bool      `parser:"'FOR' 'SYSTEM_TIME' ( @'ALL'"`
	AsOf *exprNode `parser:"  | 'AS' 'OF' @@"`
	From *lowBound `parser:"  | 'BETWEEN' @@"`
	To   *exprNode `parser:"    'AND' @@ )"`
}

type joinNode struct {
	Pos     lexer.Position
	Cross   bool           `parser:"( @'CROSS' 'JOIN'"`
	Natural bool           `parser:"| @'NATURAL'?"`
	Outer   string         `parser:"  ( 'INNER' | @( 'LEFT' | 'RIGHT' | 'FULL' ) 'OUTER'? )? 'JOIN' )"`
	Right   *factorNode    `parser:"@@"`
	On      *exprNode      `parser:"( 'ON' @@"`
	Using   []*columnIdent `parser:"| 'USING' '(' @@ ( ',' @@ )* ')' )?"`
}

type insertNode struct {
	Pos      lexer.Position
	Verb     string        `parser:"@( 'INSERT' | 'UPSERT' )"`
	IfBefore bool          `parser:"( @'IF' 'NOT' 'EXISTS' )?"`
	Table    tableName     `parser:"'INTO' @@"`
	Alias    *ident        `parser:"( 'AS' @@ )?"`
	Columns  []*columnName `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	Override *overriding   `parser:"@@?"`
	Defaults *defaultsNode `parser:"( @@"`
	Query    *selectNode   `parser:"| @@ )"`
	IfBehind bool          `parser:"( @'IF' 'NOT' 'EXISTS' )?"`
	Conflict *conflictNode `parser:"( 'ON' 'CONFLICT' @@ )?"`
	returningNode
}

// overriding is OVERRIDING SYSTEM or USER VALUE. Messages do not list it.
type overriding struct{ whose string }

func (n *overriding) Parse(lex *lexer.PeekingLexer) error {
	is := phrase(lex, "OVERRIDING SYSTEM|USER VALUE")
	if is == "" {
		return participle.NextMatch
	}
	n.whose = strings.Fields(is)[1]
	return nil
}

// defaultsNode is DEFAULT VALUES.
type defaultsNode struct {
	Pos lexer.Position `parser:"'DEFAULT' 'VALUES'"`
}

// conflictNode is the rest of ON CONFLICT.
type conflictNode struct {
	Pos     lexer.Position
	Columns []*columnName `parser:"( '(' @@ ( ',' @@ )* ')'"`
	Name    *ident        `parser:"| 'ON' 'CONSTRAINT' @@ )?"`
	Nothing bool          `parser:"'DO' ( @'NOTHING'"`
	Set     []*assignNode `parser:"  | 'UPDATE' 'SET' @@ ( ',' @@ )*"`
	Where   *exprNode     `parser:"    ( 'WHERE' @@ )? )"`
}

// returningNode is RETURNING and its list.
type returningNode struct {
	Returning *selectList `parser:"( 'RETURNING' @@ )?"`
}

type updateNode struct {
	Pos   lexer.Position
	Table targetName    `parser:"'UPDATE' @@"`
	Alias *alias        `parser:"@@?"`
	Set   []*assignNode `parser:"'SET' @@ ( ',' @@ )*"`
	From  []*fromNode   `parser:"( 'FROM' @@ ( ',' @@ )* )?"`
	Where *exprNode     `parser:"( 'WHERE' @@ )?"`
	Allow bool          `parser:"( @'ALLOW' 'FULL' 'SCAN' )?"`
	returningNode
	AllowBehind bool `parser:"( @'ALLOW' 'FULL' 'SCAN' )?"`
}

type assignNode struct {
	Column  *columnName   `parser:"( @@"`
	At      []*exprNode   `parser:"  ( '[' @@ ']' )*"`          // a[1] = 2
	Columns []*columnName `parser:"| '(' @@ ( ',' @@ )* ')' )"` // (a, b) = (1, 2)
	Expr    exprNode      `parser:"'=' @@"`
}

type deleteNode struct {
	Pos   lexer.Position
	Table targetName  `parser:"'DELETE' 'FROM' @@"`
	Alias *alias      `parser:"@@?"`
	Using []*fromNode `parser:"( 'USING' @@ ( ',' @@ )* )?"`
	Where *exprNode   `parser:"( 'WHERE' @@ )?"`
	Allow bool        `parser:"( @'ALLOW' 'FULL' 'SCAN' )?"`
	returningNode
	AllowBehind bool `parser:"( @'ALLOW' 'FULL' 'SCAN' )?"`
}

type mergeNode struct {
	Pos    lexer.Position
	Table  targetName    `parser:"'MERGE' 'INTO' @@"`
	Alias  *alias        `parser:"@@?"`
	Source *fromNode     `parser:"'USING' @@"`
	On     *exprNode     `parser:"'ON' @@"`
	When   []*actionNode `parser:"@@+"`
	Allow  bool          `parser:"( @'ALLOW' 'FULL' 'SCAN' )?"`
}

type actionNode struct {
	Pos      lexer.Position
	Not      bool          `parser:"'WHEN' @'NOT'? 'MATCHED'"`
	Cond     *exprNode     `parser:"( 'AND' @@ )? 'THEN'"`
	Nothing  bool          `parser:"( 'DO' @'NOTHING'"`
	Delete   bool          `parser:"| @'DELETE'"`
	Set      []*assignNode `parser:"| 'UPDATE' 'SET' @@ ( ',' @@ )*"`
	Columns  []*columnName `parser:"| 'INSERT' ( '(' @@ ( ',' @@ )* ')' )?"`
	Defaults *defaultsNode `parser:"  ( @@"`
	Values   *rowList      `parser:"  | 'VALUES' @@ ) )"`
}

type explainNode struct {
	Pos       lexer.Position
	Options   []*explainOption `parser:"'EXPLAIN' ( '(' @@ ( ',' @@ )* ')' )?"`
	Analyze   bool             `parser:"@'ANALYZE'? 'VERBOSE'?"` // VERBOSE says nothing: the plan is always complete
	Statement *explained       `parser:"@@"`
}

type explainOption struct {
	Analyze string `parser:"  @'ANALYZE'"`
	Off     bool   `parser:"  ( @( 'FALSE' | 'OFF' ) | 'TRUE' | 'ON' )?"`
	Format  string `parser:"| 'FORMAT' @( 'JSON' | 'TEXT' | 'HTML' )"`
	Other   *ident `parser:"| (?! 'FORMAT' ) @@ ( 'FALSE' | 'OFF' | 'TRUE' | 'ON' )?"` // an option of PostgreSQL's EXPLAIN
}

// explained is a statement that EXPLAIN can explain. That excludes EXPLAIN, which could nest without end.
type explained struct {
	writer
	Writing *writingNode `parser:"| @@"`
	Select  *selectNode  `parser:"| @@"`
	Copy    *copyNode    `parser:"| @@"`
	Execute *executeNode `parser:"| @@"`
}

type dropNode struct {
	Pos      lexer.Position
	View     bool         `parser:"'DROP' ( 'TABLE' | @'VIEW'"`
	Rows     bool         `parser:"| @'MATERIALIZED' 'VIEW'"`
	Sequence bool         `parser:"| @'SEQUENCE' )"`
	IfExists bool         `parser:"( @'IF' 'EXISTS' )?"`
	Table    tableName    `parser:"@@"`
	More     []*tableName `parser:"( ',' @@ )*"`
	Cascade  bool         `parser:"( @'CASCADE' | 'RESTRICT' )?"`
}

type showNode struct {
	Pos       lexer.Position
	Tables    bool       `parser:"'SHOW' ( @'TABLES'"`
	Create    *tableName `parser:"| 'CREATE' ( 'TABLE' | 'MATERIALIZED'? 'VIEW' ) @@"`
	Splits    *tableName `parser:"| 'SPLITS' @@"`
	Stats     *tableName `parser:"| 'STATISTICS' 'FOR'? @@"`
	Functions bool       `parser:"| @'FUNCTIONS'"`
	All       bool       `parser:"| @'ALL'"`
	Setting   *dotted    `parser:"| @@"`
	More      []*ident   `parser:"  @@* )"` // SHOW TIME ZONE
}

type describeNode struct {
	Pos   lexer.Position
	Table tableName `parser:"( 'DESCRIBE' | 'DESC' ) 'TABLE'? @@"`
}

// dotted is a setting's name: words separated by dots.
type dotted struct {
	First settingIdent `parser:"@@"`
	Rest  []*ident     `parser:"( '.' @@ )*"`
}

// setNode is SET, RESET or DISCARD.
type setNode struct {
	Pos    lexer.Position
	Verb   string       `parser:"( @( 'RESET' | 'DISCARD' )"`
	All    bool         `parser:"  ( @'ALL'"`
	ZoneOf bool         `parser:"  | @( 'TIME' 'ZONE' )"`
	Of     *dotted      `parser:"  | @@ )"`
	Local  bool         `parser:"| 'SET' ( 'SESSION' | @'LOCAL' )?"`
	Zone   bool         `parser:"  ( ( @( 'TIME' 'ZONE' )"`
	Names  bool         `parser:"    | @'NAMES'"`
	Schema bool         `parser:"    | @'SCHEMA' )"`
	Value  *valueNode   `parser:"    @@"`
	Name   *dotted      `parser:"  | @@ ( '=' | 'TO' )"`
	Values []*valueNode `parser:"    @@ ( ',' @@ )* ) )"`
}

type prepareNode struct {
	Pos       lexer.Position
	Name      ident       `parser:"'PREPARE' @@"`
	Types     []*typeName `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	Statement *explained  `parser:"'AS' @@"`
}

type executeNode struct {
	Pos  lexer.Position
	Name ident     `parser:"'EXECUTE' @@"`
	Args *exprList `parser:"( '(' @@ ')' )?"`
}

type deallocateNode struct {
	Pos  lexer.Position
	All  bool   `parser:"'DEALLOCATE' 'PREPARE'? ( @'ALL'"`
	Name *ident `parser:"| @@ )"`
}

type copyNode struct {
	Pos     lexer.Position
	Query   *selectNode   `parser:"'COPY' ( '(' @@ ')'"`
	Binary  *binaryWord   `parser:"| @@?"`
	Table   tableName     `parser:"  @@"`
	Columns []*columnName `parser:"  ( '(' @@ ( ',' @@ )* ')' )? )"`
	Dir     string        `parser:"@( 'FROM' | 'TO' )"`
	Program *programWord  `parser:"@@?"`
	File    *textNode     `parser:"( @@ | 'STDIN' | 'STDOUT' )"`
	Before  bool          `parser:"( @'ALLOW' 'FULL' 'SCAN' )?"`
	Options []*optionNode `parser:"( 'WITH'? ( '(' @@ ( ',' @@ )* ')'"`
	Words   *copyWords    `parser:"          | @@ )? )?"`
	Allow   bool          `parser:"( @'ALLOW' 'FULL' 'SCAN' )?"`
}

// binaryWord is BINARY before the table of COPY, as in PostgreSQL before version 9.
type binaryWord struct{}

func (*binaryWord) Parse(lex *lexer.PeekingLexer) error {
	if word := lex.Peek().Value; !strings.EqualFold(word, "BINARY") || isNext(lex, word, "FROM") || isNext(lex, word, "TO") || isNext(lex, word, "(") {
		return participle.NextMatch
	}
	lex.Next()
	return nil
}

// programWord refuses PROGRAM.
type programWord struct{}

func (*programWord) Parse(lex *lexer.PeekingLexer) error {
	if t := lex.Peek(); strings.EqualFold(t.Value, "PROGRAM") {
		lex.Next()
		lex.Next() // so that this error counts
		return Errorf(pos(t), "a statement cannot run a PROGRAM").WithHint(`\copy ... TO | FROM PROGRAM 'command' of the command line runs a program`)
	}
	return participle.NextMatch
}

// copyWords are options of COPY without parentheses, as in PostgreSQL before version 9: CSV HEADER, DELIMITER ';'.
type copyWords struct{ given map[string]Expr }

func (n *copyWords) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	first := lex.Peek()
	for {
		old := accept(lex, "USING") // DELIMITERS
		t := lex.Peek()
		word := strings.ToUpper(t.Value)
		key, value := word, Expr(&Literal{Pos: pos(t), Kind: StringLiteral, Text: strings.ToLower(word)})
		switch word {
		case "CSV", "BINARY":
			lex.Next()
			key = "FORMAT"
		case "HEADER":
			lex.Next()
			value = &Literal{Pos: pos(t), Kind: BoolLiteral, Text: "true"}
		case "DELIMITER", "DELIMITERS", "NULL", "QUOTE", "ESCAPE", "ENCODING":
			lex.Next()
			accept(lex, "AS")
			s := lex.Peek()
			if s.Type != tokString {
				missed(lex, "a text")
				return unexpected(lex)
			}
			key, value = strings.TrimSuffix(word, "S"), &Literal{Pos: pos(s), Kind: StringLiteral, Text: text(lex.Next())}
		case "FORCE":
			key, value = forced(lex)
		default:
			if n.given == nil || old {
				return participle.NextMatch
			}
			return nil
		}
		if n.given == nil { // the default of options without parentheses
			n.given = map[string]Expr{"HEADER": &Literal{Pos: pos(first), Kind: BoolLiteral, Text: "false"}}
		}
		n.given[key] = value
	}
}

// forced reads FORCE QUOTE, FORCE NOT NULL or FORCE NULL, and columns or *.
func forced(lex *lexer.PeekingLexer) (key string, columns Expr) {
	lex.Next()
	switch {
	case accept(lex, "NULL"):
		key = "FORCE_NULL"
	case accept(lex, "NOT", "NULL"):
		key = "FORCE_NOT_NULL"
	case strings.EqualFold(lex.Peek().Value, "QUOTE"):
		lex.Next()
		key = "FORCE_QUOTE"
	default:
		panic(fail.With(unexpected(lex)))
	}
	if star := lex.Peek(); accept(lex, "*") {
		return key, &Literal{Pos: pos(star), Kind: StringLiteral, Text: "*"}
	}
	return key, (&exprReader{lex: lex}).expr()
}

type checkNode struct {
	Pos    lexer.Position
	Table  tableName `parser:"'CHECK' 'TABLE' @@"`
	Repair bool      `parser:"@'REPAIR'?"`
}

// analyzeNode is ANALYZE or VACUUM.
type analyzeNode struct {
	Pos     lexer.Position
	Vacuum  bool       `parser:"( @'VACUUM' | 'ANALYZE' )"`
	Options []*ident   `parser:"( '(' @@ ( ',' @@ )* ')' )?"`
	Words   []string   `parser:"@( 'FULL' | 'FREEZE' | 'VERBOSE' | 'ANALYZE' )*"`
	Table   *tableName `parser:"'TABLE'? @@?"`
}

// analyzes reports whether the statement collects statistics: ANALYZE, VACUUM ANALYZE or VACUUM (ANALYZE).
func (n *analyzeNode) analyzes() bool {
	return !n.Vacuum || slices.Contains(n.Words, "ANALYZE") ||
		slices.ContainsFunc(n.Options, func(o *ident) bool { return strings.EqualFold(name(o.Tok), "ANALYZE") })
}

// transactionNode is a statement that begins or ends a transaction in other systems.
type transactionNode struct {
	Pos      lexer.Position
	Begin    bool `parser:"( ( @'BEGIN'"`
	Commit   bool `parser:"  | @( 'COMMIT' | 'END' )"`
	Rollback bool `parser:"  | @( 'ROLLBACK' | 'ABORT' ) ) ( 'WORK' | 'TRANSACTION' )?"`
	Start    bool `parser:"| @'START' 'TRANSACTION' )"`
}

// textNode is a string literal where the grammar allows nothing else.
type textNode struct {
	Pos  lexer.Position
	Text lexer.Token `parser:"@String"`
}

// The parsers are built when they are first used: building takes milliseconds, and most programs use few of them.
var (
	selectParser     = built[selectNode]()
	withParser       = built[withList]()
	writerParser     = built[writer]()
	createParser     = built[createNode]()
	statementParser  = built[statementNode]()
	derivedParser    = built[derivedNode]()
	joinParser       = built[joinNode]()
	systemTimeParser = built[systemTimeNode]()
)

func built[N any]() func() *participle.Parser[N] {
	return sync.OnceValue(func() *participle.Parser[N] {
		return participle.MustBuild[N](participle.Lexer(lexerDefinition{symbols}))
	})
}
