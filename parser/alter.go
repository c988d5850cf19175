package parser

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// Alter changes the definition of a table or view: ALTER TABLE, VIEW or INDEX, COMMENT ON, CREATE INDEX or DROP INDEX.
type Alter struct {
	Pos
	Verb     string // the statement's first words, for messages
	IfExists bool   // ALTER ... IF EXISTS
	Name     string // "" for ALTER INDEX and DROP INDEX, which name no table
	NamePos  Pos
	Changes  []Change
}

// ChangeKind is a kind of change.
type ChangeKind uint8

// The changes.
const (
	AddColumn        ChangeKind = iota // ADD COLUMN [IF NOT EXISTS] Column
	DropColumn                         // DROP COLUMN [IF EXISTS] Name
	RenameColumn                       // RENAME COLUMN Name TO To
	SetOptions                         // SET (Options)
	ResetOptions                       // RESET (Options)
	AddIndex                           // ADD INDEX Index
	DropIndex                          // DROP INDEX [IF EXISTS] Name
	AlterDefault                       // ALTER COLUMN Name SET DEFAULT Column.Default, or DROP DEFAULT
	AlterNotNull                       // ALTER COLUMN Name SET NOT NULL, or DROP NOT NULL: Column.NotNull
	AlterType                          // ALTER COLUMN Name [SET DATA] TYPE Column.Type
	AddCheck                           // ADD Checks
	DropConstraint                     // DROP CONSTRAINT [IF EXISTS] Name
	ValidateCheck                      // VALIDATE CONSTRAINT Name
	RenameTable                        // RENAME TO To, or SET SCHEMA Name, of a table or view
	RenameConstraint                   // RENAME CONSTRAINT Name TO To
	NoEffect                           // OWNER TO, and what says how a table lies on PostgreSQL's disks
	RenameIndex                        // ALTER INDEX Name RENAME TO To
	CommentTable                       // COMMENT ON TABLE t IS To
	CommentColumn                      // COMMENT ON COLUMN t.Name IS To
	Refresh                            // REFRESH MATERIALIZED VIEW t, If: WITH NO DATA
	AlterSequence                      // of ALTER SEQUENCE, or ALTER COLUMN Name RESTART, SET INCREMENT BY ...: Options
	AlterIdentity                      // ALTER COLUMN Name ADD GENERATED, SET GENERATED, or DROP IDENTITY: Column.Identity
)

// String returns the words of a change, as PostgreSQL's messages have them.
func (k ChangeKind) String() string {
	words := map[ChangeKind]string{AlterDefault: "ALTER COLUMN ... SET DEFAULT", AlterNotNull: "ALTER COLUMN ... SET NOT NULL", AlterType: "ALTER COLUMN ... SET DATA TYPE", AddCheck: "ADD CONSTRAINT"}
	return cmp.Or(words[k], strings.TrimSpace(changeWords[k]))
}

// Change is one change of a table's definition.
type Change struct {
	Pos     Pos
	Kind    ChangeKind
	If      bool // IF EXISTS or IF NOT EXISTS
	Cascade bool // of DropColumn: drop the views that read the column
	Name    string
	To      string
	Column  ColumnDef
	Options []Option
	Index   LayoutDef
	Checks  []CheckDef // of AddCheck, one; of AddColumn, those behind the column
	Unnamed bool       // CREATE INDEX without a name: Index.Name is the usual one, and a number follows it if it is taken
}

func (s *Alter) Command() string { return s.Verb }

func (s *Alter) String() string {
	c := s.Changes[0]
	switch s.Verb {
	case "COMMENT":
		if c.Kind == CommentColumn {
			return sql("COMMENT ON COLUMN ", QuoteName(s.Name), ".", QuoteName(c.Name), " IS ", quoteText(c.To))
		}
		return sql("COMMENT ON TABLE ", QuoteName(s.Name), " IS ", quoteText(c.To))
	case "CREATE INDEX":
		index := QuoteName(c.Index.Name) + " "
		return sql("CREATE INDEX ", when(c.If, "IF NOT EXISTS "), when(!c.Unnamed, index), "ON ", QuoteName(s.Name), " ", c.Index)
	case "DROP INDEX":
		text := sql(c)
		for _, more := range s.Changes[1:] {
			text += ", " + QuoteName(more.Name)
		}
		return text + when(s.Name != "", " ON "+QuoteName(s.Name))
	}
	return sql(s.Verb, " ", when(s.IfExists, "IF EXISTS "), QuoteName(cmp.Or(s.Name, c.Name)), " ", commas(s.Changes))
}

// changeWords begin the changes.
var changeWords = map[ChangeKind]string{AddColumn: "ADD COLUMN ", DropColumn: "DROP COLUMN ", RenameColumn: "RENAME COLUMN ", SetOptions: "SET (",
	AlterDefault: "ALTER COLUMN ", AlterNotNull: "ALTER COLUMN ", AlterType: "ALTER COLUMN ", ResetOptions: "RESET (", AddIndex: "ADD INDEX ", DropIndex: "DROP INDEX ",
	RenameConstraint: "RENAME CONSTRAINT ", NoEffect: "OWNER TO CURRENT_USER", RenameTable: "RENAME TO ", Refresh: "WITH ", RenameIndex: "RENAME TO ", AddCheck: "ADD ", DropConstraint: "DROP CONSTRAINT ", ValidateCheck: "VALIDATE CONSTRAINT "}

func (c Change) print(p *printer) {
	if c.Kind == RenameTable && c.To == "" {
		p.put("SET SCHEMA ")
	} else {
		p.put(changeWords[c.Kind])
	}
	switch {
	case c.If && c.Kind == AddColumn:
		p.put("IF NOT EXISTS ")
	case c.If && c.Kind != RenameIndex && c.Kind != Refresh && c.Kind != AlterIdentity:
		p.put("IF EXISTS ")
	}
	switch c.Kind {
	case AddColumn:
		p.put(c.Column)
		for _, k := range c.Checks {
			p.put(" ", k)
		}
	case NoEffect:
	case Refresh:
		p.put(when(c.If, "NO "), "DATA")
	case AlterSequence, AlterIdentity:
		c.printNumbers(p)
	case RenameColumn, RenameConstraint:
		p.put(QuoteName(c.Name), " TO ", QuoteName(c.To))
	case AlterType:
		p.put(QuoteName(c.Name), " TYPE ", c.Column.Type)
	case AlterDefault, AlterNotNull:
		p.put(QuoteName(c.Name))
		switch {
		case c.Column.NotNull:
			p.put(" SET NOT NULL")
		case c.Kind == AlterNotNull:
			p.put(" DROP NOT NULL")
		case c.Column.Default == nil:
			p.put(" DROP DEFAULT")
		default:
			p.put(" SET DEFAULT ", bounded(c.Column.Default))
		}
	case SetOptions, ResetOptions:
		p.put(commas(c.Options), ")")
	case RenameTable, RenameIndex:
		p.put(QuoteName(cmp.Or(c.To, c.Name)))
	case AddCheck:
		p.put(c.Checks[0])
	case AddIndex:
		p.put(QuoteName(c.Index.Name), " ", c.Index)
	default:
		p.put(QuoteName(c.Name), when(c.Cascade, " CASCADE"))
	}
}

// At returns a copy of the definition in which all positions are pos.
func (s *CreateTable) At(pos Pos) *CreateTable {
	return copyAt(reflect.ValueOf(s), pos, nil).Interface().(*CreateTable)
}

// alterNode is ALTER TABLE, VIEW or INDEX, COMMENT ON, CREATE INDEX, DROP INDEX or TRUNCATE.
type alterNode struct {
	Pos      lexer.Position
	Other    *renameNode    `parser:"  (?= 'ALTER' ( 'MATERIALIZED'? 'VIEW' | 'INDEX' ) ) 'ALTER' @@"`
	IfExists bool           `parser:"| 'ALTER' 'EXTERNAL'? 'TABLE' ( @'IF' 'EXISTS' )?"`
	Table    *tableName     `parser:"  ( (?= 'ONLY' ( Word | Quoted ) ) 'ONLY' )? @@"`
	Changes  []*changeNode  `parser:"  @@ ( ',' @@ )*"`
	Comment  *commentNode   `parser:"| 'COMMENT' 'ON' @@"`
	Create   *indexNode     `parser:"| 'CREATE' @@"`
	Refresh  *refreshNode   `parser:"| 'REFRESH' 'MATERIALIZED' 'VIEW' 'CONCURRENTLY'? @@"`
	Drop     *changeName    `parser:"| 'DROP' 'INDEX' 'CONCURRENTLY'? @@"`
	DropMore []*columnIdent `parser:"  ( ',' @@ )*"`
	DropOn   *tableName     `parser:"  ( 'ON' @@ )?"`
	Readers  *readers       `parser:"  @@?"`
	Truncate []*tableName   `parser:"| 'TRUNCATE' 'TABLE'? ( (?= 'ONLY' ( Word | Quoted ) ) 'ONLY' )? @@ ( ',' @@ )* "`
	Restart  bool           `parser:"  ( ( @'RESTART' | 'CONTINUE' ) 'IDENTITY' )? ( 'CASCADE' | 'RESTRICT' )?"` // no table depends on another
}

// readers is CASCADE or RESTRICT, for the views that read what is dropped. Messages do not list it.
type readers struct{ cascade bool }

func (n *readers) Parse(lex *lexer.PeekingLexer) error {
	if n.cascade = phrase(lex, "CASCADE") != ""; n.cascade {
		return nil
	}
	return skip(lex, "RESTRICT")
}

// renameNode is VIEW or INDEX name RENAME TO name, or OWNER TO name.
type renameNode struct {
	Rows     bool         `parser:"@'MATERIALIZED'?"`
	Kind     string       `parser:"@( 'VIEW' | 'INDEX' )"`
	IfExists bool         `parser:"( @'IF' 'EXISTS' )?"`
	Name     tableName    `parser:"@@"`
	Schema   *columnIdent `parser:"( 'SET' 'SCHEMA' @@"`
	Owner    bool         `parser:"| ( @'OWNER'"`
	Column   *columnIdent `parser:"| 'RENAME' ( (?! 'TO' ) 'COLUMN'? @@ )? ) 'TO'"`
	To       *columnIdent `parser:"  @@ )"`
}

// refreshNode is the view, and WITH NO DATA.
type refreshNode struct {
	View   tableName `parser:"@@"`
	NoData bool      `parser:"( 'WITH' @'NO'? 'DATA' )?"`
}

type commentNode struct {
	Table  *tableName  `parser:"( ( 'TABLE' | 'MATERIALIZED' 'VIEW' ) @@"`
	Column *columnPath `parser:"| 'COLUMN' @@ )"`
	Text   *textNode   `parser:"'IS' ( @@ | 'NULL' )"`
}

// columnPath is table.column.
type columnPath struct {
	table  tableName
	column *lexer.Token
}

func (n *columnPath) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	if err := n.table.Parse(lex); err != nil {
		return err
	}
	if accept(lex, ".") {
		column := columnIdent{}
		follow(lex, &column)
		n.column = column.Tok
		return nil
	}
	if !n.table.dotted {
		missed(lex, "a dot and a column name")
		return unexpected(lex)
	}
	n.column, n.table.B, n.table.dotted = n.table.B, nil, false
	return nil
}

// indexNode is INDEX name ON table (parts).
type indexNode struct {
	Pos   lexer.Position
	If    bool      `parser:"'INDEX' 'CONCURRENTLY'? ( @'IF' 'NOT' 'EXISTS' )?"`
	Name  *ident    `parser:"@@?"`
	Table tableName `parser:"'ON' ( (?= 'ONLY' ( Word | Quoted ) ) 'ONLY' )? @@ ( 'USING' ( 'BTREE' | 'HASH' ) )?"`
	layoutBody
	Include []*columnIdent `parser:"( 'INCLUDE' '(' @@ ( ',' @@ )* ')' )?"` // an entry leads to the row, which has them
	With    []*optionNode  `parser:"( 'WITH' '(' @@ ( ',' @@ )* ')' )?"`
	Disk    *diskClause    `parser:"@@?"`
	Where   *exprNode      `parser:"( 'WHERE' @@ )?"`
}

// partial returns x, the WHERE of an INDEX, without the conditions that a column of it IS NOT NULL: a row with NULL there has no
// entry anyway.
func partial(x Expr, parts []PartDef) Expr {
	switch e := x.(type) {
	case *Binary:
		if e.Op != "AND" {
			break
		}
		a, b := partial(e.X, parts), partial(e.Y, parts)
		if a == nil || b == nil {
			return cmp.Or(a, b)
		}
		return &Binary{Pos: e.Pos, Op: "AND", X: a, Y: b}
	case *Is:
		same := func(p PartDef) bool { return strings.EqualFold(p.Expr.String(), e.X.String()) }
		if _, column := e.X.(*ColumnRef); column && e.Not && e.What == "NULL" && slices.ContainsFunc(parts, same) {
			return nil
		}
	}
	return x
}

// membersOf returns where, and that each member of a JSON value in parts IS NOT NULL: many rows lack such a member, and get no entry.
func membersOf(where Expr, parts []PartDef) Expr {
	for _, p := range parts {
		if b, ok := p.Expr.(*Binary); !ok || b.Op != "->>" && b.Op != "#>>" {
			continue
		}
		is := &Is{Pos: p.Expr.Position(), Not: true, X: p.Expr, What: "NULL"}
		switch {
		case where == nil:
			where = is
		case !strings.Contains(where.String(), is.String()):
			where = &Binary{Pos: is.Pos, Op: "AND", X: where, Y: is}
		}
	}
	return where
}

// usualName returns PostgreSQL's name for an index without one: of the table, its columns, and idx.
func (n *indexNode) usualName() *ident {
	of := n.Table.name()
	if _, table, spaced := strings.Cut(of, ":"); spaced {
		of = table
	}
	for _, p := range n.Parts {
		switch x := p.Expr.X.(type) {
		case *ColumnRef:
			of += "_" + x.Name
		case *Call:
			of += "_" + strings.ToLower(x.Name)
		default:
			of += "_expr"
		}
	}
	return &ident{Tok: &lexer.Token{Value: of + "_idx"}}
}

// changeName is [IF EXISTS] name.
type changeName struct {
	If   bool        `parser:"( @'IF' 'EXISTS' )?"`
	Name columnIdent `parser:"@@"`
}

type changeNode struct {
	Pos       lexer.Position
	Disk      *diskChange    `parser:"  @@"`
	Index     *layoutNode    `parser:"| 'ADD' ( (?= 'INDEX' Word '(' ) @@"`
	Check     *checkItem     `parser:"  | (?= 'CONSTRAINT' ( Word | Quoted ) 'CHECK' | 'CHECK' '(' ) @@"`
	AddIf     bool           `parser:"  | 'COLUMN'? ( @'IF' 'NOT' 'EXISTS' )?"`
	Add       *columnItem    `parser:"    @@ )"`
	DropIndex *changeName    `parser:"| 'DROP' ( (?= 'INDEX' ( 'IF' | Word ) ) 'INDEX' @@"`
	DropCheck *changeName    `parser:"  | (?= 'CONSTRAINT' ( 'IF' | Word | Quoted ) ) 'CONSTRAINT' @@ ( 'CASCADE' | 'RESTRICT' )?"`
	Drop      *changeName    `parser:"  | 'COLUMN'? @@"`
	Readers   *readers       `parser:"    @@? )"`
	Validate  *changeName    `parser:"| 'VALIDATE' 'CONSTRAINT' @@"`
	Table     *columnIdent   `parser:"| 'RENAME' ( 'TO' @@"`
	OfCheck   *columnIdent   `parser:"| (?= 'CONSTRAINT' ( Word | Quoted ) 'TO' ) 'CONSTRAINT' @@ 'TO'"`
	CheckTo   *columnIdent   `parser:"    @@"`
	From      *columnIdent   `parser:"| 'COLUMN'? @@"`
	To        *columnIdent   `parser:"    'TO' @@ )"`
	Column    *columnIdent   `parser:"| 'ALTER' 'COLUMN'? @@"`
	Identity  *alterIdentity `parser:"  ( @@"`
	Type      *typeName      `parser:"  | (?= 'TYPE' | 'SET' 'DATA' ) ( 'SET' 'DATA' )? 'TYPE' @@"`
	Collate   *noEffect      `parser:"    @@?"`
	Default   *defaultNode   `parser:"  | 'SET' ( 'DEFAULT' @@"`
	NotNull   bool           `parser:"          | @'NOT' 'NULL' )"`
	Nullable  bool           `parser:"  | 'DROP' ( 'DEFAULT' | @'NOT' 'NULL' ) )"`
	Owner     *columnIdent   `parser:"| 'OWNER' 'TO' @@"`
	Schema    *columnIdent   `parser:"| 'SET' 'SCHEMA' @@"`
	Set       []*optionNode  `parser:"| 'SET' '(' @@ ( ',' @@ )* ')'"`
	Reset     []*optionNode  `parser:"| 'RESET' '(' @@ ( ',' @@ )* ')'"`
}

func (l *lowerer) alter(n *alterNode) Statement {
	out := &Alter{Pos: at(n.Pos), Verb: "ALTER TABLE", IfExists: n.IfExists, NamePos: NoPos}
	table := n.Table
	switch {
	case n.Truncate != nil:
		var first *Delete
		for _, t := range slices.Backward(n.Truncate) {
			first = &Delete{Pos: out.Pos, Truncate: true, Restart: n.Restart, Table: t.name(), TablePos: pos(t.A), AllowFullScan: true, Next: first}
		}
		return first
	case n.Other != nil:
		o := n.Other
		out.Verb, out.IfExists = "ALTER "+when(o.Rows, "MATERIALIZED ")+o.Kind, o.IfExists
		to := cmp.Or(o.To, o.Schema)
		c := Change{Pos: pos(to.Tok), Kind: RenameTable, To: name(to.Tok)}
		switch table = &o.Name; {
		case o.Owner:
			c = Change{Pos: c.Pos, Kind: NoEffect}
		case o.Kind == "INDEX":
			c.Kind, c.Name, c.If, table = RenameIndex, o.Name.name(), o.IfExists, nil
		case o.Schema != nil:
			c.Name, c.To = c.To, ""
		case o.Column != nil:
			c = Change{Pos: pos(o.Column.Tok), Kind: RenameColumn, Name: name(o.Column.Tok), To: c.To}
		}
		out.Changes = []Change{c}
	case n.Comment != nil:
		out.Verb = "COMMENT"
		table = comment(out, n.Comment)
	case n.Create != nil:
		out.Verb, table = "CREATE INDEX", &n.Create.Table
		c := Change{Pos: at(n.Create.Pos), Kind: AddIndex, If: n.Create.If, Unnamed: n.Create.Name == nil}
		c.Index = l.layout(&layoutNode{Pos: n.Create.Pos, Index: true, Name: cmp.Or(n.Create.Name, n.Create.usualName()), layoutBody: n.Create.layoutBody, Where: n.Create.Where})
		c.Index.Where = membersOf(c.Index.Where, c.Index.Parts)
		out.Changes = []Change{c}
	case n.Refresh != nil:
		out.Verb, table = "REFRESH MATERIALIZED VIEW", &n.Refresh.View
		out.Changes = []Change{{Pos: out.Pos, Kind: Refresh, If: n.Refresh.NoData}}
	case n.Drop != nil:
		out.Verb, table = "DROP INDEX", n.DropOn
		out.Changes = []Change{n.Drop.change(DropIndex)}
		for _, m := range n.DropMore {
			more := changeName{If: n.Drop.If, Name: *m}
			out.Changes = append(out.Changes, more.change(DropIndex))
		}
	}
	if table != nil {
		out.Name, out.NamePos = table.name(), pos(table.A)
	}
	for _, c := range n.Changes {
		change := l.change(c)
		out.Changes = append(out.Changes, change)
	}
	for _, c := range out.Changes {
		ownColumns(out.Name, c.Checks, c.Index)
	}
	return out
}

func comment(out *Alter, n *commentNode) *tableName {
	c, table := Change{Pos: out.Pos, Kind: CommentTable}, n.Table
	if n.Text != nil {
		c.To = n.Text.value()
	}
	if n.Column != nil {
		c.Kind, c.Pos, c.Name, table = CommentColumn, pos(n.Column.column), name(n.Column.column), &n.Column.table
	}
	out.Changes = []Change{c}
	return table
}

func (n *changeName) change(kind ChangeKind) Change {
	return Change{Pos: pos(n.Name.Tok), Kind: kind, If: n.If, Name: name(n.Name.Tok)}
}

func (l *lowerer) change(n *changeNode) (out Change) {
	out.Pos = at(n.Pos)
	switch {
	case n.Index != nil:
		out.Kind = AddIndex
		out.Index = l.layout(n.Index)
	case n.Check != nil:
		out.Kind, out.Checks = AddCheck, []CheckDef{l.check(n.Check)}
	case n.DropCheck != nil:
		return n.DropCheck.change(DropConstraint)
	case n.Validate != nil:
		return n.Validate.change(ValidateCheck)
	case n.Add != nil:
		out.Kind, out.If, out.Checks = AddColumn, n.AddIf, l.checks(n.Add)
		out.Column = l.column(n.Add)
	case n.DropIndex != nil:
		return n.DropIndex.change(DropIndex)
	case n.Drop != nil:
		c := n.Drop.change(DropColumn)
		c.Cascade = n.Readers != nil && n.Readers.cascade
		return c
	case n.Table != nil:
		return Change{Pos: pos(n.Table.Tok), Kind: RenameTable, To: name(n.Table.Tok)}
	case n.Schema != nil:
		return Change{Pos: pos(n.Schema.Tok), Kind: RenameTable, Name: name(n.Schema.Tok)}
	case n.Owner != nil:
		return Change{Pos: pos(n.Owner.Tok), Kind: NoEffect}
	case n.Disk != nil:
		out.Kind = NoEffect
	case n.From != nil:
		return Change{Pos: pos(n.From.Tok), Kind: RenameColumn, Name: name(n.From.Tok), To: name(n.To.Tok)}
	case n.OfCheck != nil:
		return Change{Pos: pos(n.OfCheck.Tok), Kind: RenameConstraint, Name: name(n.OfCheck.Tok), To: name(n.CheckTo.Tok)}
	case n.Identity != nil:
		out = n.Identity.change
		out.Pos, out.Name = pos(n.Column.Tok), name(n.Column.Tok)
	case n.Type != nil:
		out = Change{Pos: pos(n.Column.Tok), Kind: AlterType, Name: name(n.Column.Tok), Column: ColumnDef{Pos: pos(n.Type.Start), Type: n.Type.Text}}
	case n.Column != nil:
		out = Change{Pos: pos(n.Column.Tok), Kind: AlterDefault, Name: name(n.Column.Tok), Column: ColumnDef{NotNull: n.NotNull}}
		if n.NotNull || n.Nullable {
			out.Kind = AlterNotNull
		}
		if n.Default != nil {
			if l, ok := n.Default.value.(*Literal); !ok || l.Kind != NullLiteral {
				out.Column.Default = n.Default.value
			}
		}
	case n.Set != nil:
		out.Kind = SetOptions
		out.Options = l.options(n.Set)
	default:
		out.Kind = ResetOptions
		out.Options = l.options(n.Reset)
	}
	return out
}
