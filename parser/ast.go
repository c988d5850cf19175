package parser

import "slices"

// Pos is a byte offset into the source text; NoPos marks a node that was not
// read from text. Line and column are computed only when an error is printed.
type Pos int

// Position returns p. Nodes embed a Pos and have this method from it.
func (p Pos) Position() Pos { return p }

// NoPos is the position of a node made by hql itself.
const NoPos Pos = -1

// Statement is one SQL statement. String returns text that parses to an equal statement.
type Statement interface {
	String() string
	Position() Pos
	// Command returns the first words of the statement: SELECT, CREATE TABLE.
	Command() string
}

// Expr is a scalar expression. String returns text that parses to an equal expression.
type Expr interface {
	String() string
	Position() Pos
	binding() int // the precedence of its outermost operator
}

// Select is a query: WITH; SELECTs (Cores) joined by UNION, EXCEPT or INTERSECT; and ORDER BY, LIMIT and OFFSET of the whole.
type Select struct {
	Pos
	With    []CTE
	Cores   []*SelectCore
	Sets    []SetOp // one between every two cores; INTERSECT binds tighter than the others
	OrderBy []OrderTerm
	Limit   Expr // nil: none
	Offset  Expr // nil: none
	Ties    bool // FETCH FIRST Limit ROWS WITH TIES
	// AllowFullScan is set by ALLOW FULL SCAN at the end.
	AllowFullScan bool
}

// SetOpKind is the keyword of a set operation.
type SetOpKind string

// The set operations.
const (
	Union     SetOpKind = "UNION"
	Except    SetOpKind = "EXCEPT"
	Intersect SetOpKind = "INTERSECT"
)

// SetOp is a set operation, with ALL or without.
type SetOp struct {
	Pos Pos
	Op  SetOpKind
	All bool
}

// CTE is name AS (query) of a WITH [RECURSIVE] list.
type CTE struct {
	Pos       Pos
	Name      string
	Columns   []string
	Query     *Select
	Write     Statement // an Insert, Update or Delete in place of Query, in the list of a Writing
	Recursive bool      // the list has RECURSIVE, so that the query may refer to itself
}

// Writing is a statement behind a WITH list of which a query writes. Statement is a Select, Insert, Update or Delete
// without the list.
type Writing struct {
	With      []CTE
	Statement Statement
	Returned  bool // the last query of With is written as the statement, and Statement is its RETURNING, which has sub-queries
}

// written returns the statement whose command tag s has.
func (s *Writing) written() Statement {
	if s.Returned {
		return s.With[len(s.With)-1].Write
	}
	return s.Statement
}

// Behind returns a copy of s, a Select, Insert, Update, Delete or Merge, with list before its own WITH.
func Behind(list []CTE, s Statement) Statement {
	if len(list) == 0 {
		return s
	}
	list = slices.Clip(list)
	switch s := s.(type) {
	case *Select:
		out := *s
		out.With = append(list, s.With...)
		return &out
	case *Insert:
		out := *s
		query := s.Query
		if query == nil {
			query = &Select{Pos: s.Pos, Cores: []*SelectCore{{Pos: s.Pos, Values: s.Rows}}}
		}
		out.Query, out.Rows = Behind(list, query).(*Select), nil
		return &out
	case *Update:
		out := *s
		out.With = append(list, s.With...)
		return &out
	case *Delete:
		out := *s
		out.With = append(list, s.With...)
		return &out
	case *Merge:
		out := *s
		out.With = append(list, s.With...)
		return &out
	}
	return s
}

// SelectCore is SELECT ... FROM ... WHERE ... GROUP BY ... HAVING.
type SelectCore struct {
	Pos      Pos
	Hints    []Hint // /*+ NAME(args) */ after SELECT
	Distinct bool
	On       []Expr // DISTINCT ON (...): of the rows with equal values only the first remains; Distinct is false then
	Items    []SelectItem
	From     []TableExpr // comma list; usually one
	Where    Expr        // nil: none
	GroupBy  []Expr      // each is an expression, a Tuple of several, or a GroupingSets
	// GroupOnce is set by GROUP BY DISTINCT: equal grouping sets count once.
	GroupOnce bool
	Having    Expr // nil: none
	Windows   []NamedWindow
	// Values is set for a VALUES list used as a query, and Query for a query in parentheses. If either is set, all other fields
	// are empty.
	Values [][]Expr
	Query  *Select
}

// Hint is one optimizer hint: LAYOUT(by_seller), NO_PUSHDOWN, ...
type Hint struct {
	Pos  Pos
	Name string // upper case
	Args []string
}

// SelectItem is *, table.* or an expression with an alias.
type SelectItem struct {
	Pos   Pos
	Star  bool
	Table string // t in t.*; "" for *
	Expr  Expr
	Alias string
}

// OrderTerm is one ORDER BY term.
type OrderTerm struct {
	Expr       Expr
	Desc       bool
	NullsFirst *bool // nil: the default (last when ascending, first when descending)
}

// TableExpr is an item of FROM.
type TableExpr interface {
	String() string
	Position() Pos
	// Called returns the name in front of its columns; "" if it has none.
	Called() string
}

// TableName is a table with an alias and a system-time clause.
type TableName struct {
	Pos
	Name       string
	InSchema   bool // public.t: a table of the catalog, even if WITH has a query of the same name
	Alias      string
	SystemTime *SystemTime
}

// SystemTime is FOR SYSTEM_TIME ALL | AS OF From | BETWEEN From AND To (both inclusive).
type SystemTime struct {
	Pos      Pos
	All      bool
	From, To Expr // AS OF: From only
}

// Subquery is [LATERAL] (SELECT ...) AS alias (columns) in FROM.
type Subquery struct {
	Pos
	Lateral bool // it may refer to earlier items of FROM
	Query   *Select
	Alias   string
	Columns []string
}

// TableFunction is a function in FROM that returns rows: generate_series(1, 10) AS alias (columns).
type TableFunction struct {
	Pos
	Name    string // upper case
	Args    []Expr
	Alias   string
	Columns []string

	Ordinality bool // WITH ORDINALITY: a last column numbers the rows
}

// JoinKind is the kind of a Join.
type JoinKind uint8

// The joins.
const (
	InnerJoin JoinKind = iota
	LeftJoin
	CrossJoin
	RightJoin
	FullJoin
)

// Join is Left JOIN Right with ON, USING or NATURAL.
type Join struct {
	Pos
	Kind        JoinKind
	Natural     bool
	Left, Right TableExpr
	On          Expr
	Using       []string
}

// Insert is INSERT or UPSERT INTO t (columns) VALUES ... | SELECT ...
type Insert struct {
	Pos
	Upsert      bool // spelled UPSERT
	IfNotExists bool
	Table       string
	TablePos    Pos
	Alias       string
	Columns     []Name
	Overriding  string // SYSTEM or USER, of OVERRIDING ... VALUE; "": none
	Rows        [][]Expr
	Query       *Select
	Conflict    []Name       // the columns of ON CONFLICT; nil if it names none
	Constraint  Name         // of ON CONFLICT ON CONSTRAINT
	Set         []Assignment // of DO UPDATE
	Where       Expr         // of DO UPDATE
	Returning   []SelectItem
}

// Name is an identifier with its position.
type Name struct {
	Pos  Pos
	Name string
}

// Update is UPDATE t [AS alias] SET c = e, ... WHERE ...
type Update struct {
	Pos
	With          []CTE
	Table         string
	TablePos      Pos
	Alias         string
	Set           []Assignment
	From          []TableExpr
	Where         Expr
	AllowFullScan bool
	Returning     []SelectItem
}

// Joins reports whether s reads other tables or queries than its own table: it has FROM or WITH.
func (s *Update) Joins() bool { return s.From != nil || s.With != nil }

// Joins reports whether s reads other tables or queries than its own table: it has USING or WITH.
func (s *Delete) Joins() bool { return s.Using != nil || s.With != nil }

// Joined returns the query of an UPDATE with FROM: SELECT * over its own table joined with the items of FROM. It returns nil
// if the UPDATE reads no other table.
func (s *Update) Joined() *Select {
	if !s.Joins() {
		return nil
	}
	return joined(s.With, &TableName{Pos: s.TablePos, Name: s.Table, Alias: s.Alias}, s.From, s.Where, s.AllowFullScan)
}

// Joined returns the query of a DELETE with USING: SELECT * over its own table joined with the items of USING. It returns nil
// if the DELETE reads no other table.
func (s *Delete) Joined() *Select {
	if !s.Joins() {
		return nil
	}
	return joined(s.With, &TableName{Pos: s.TablePos, Name: s.Table, Alias: s.Alias}, s.Using, s.Where, s.AllowFullScan)
}

// AllOf returns SELECT * FROM t.
func AllOf(t TableExpr) *Select {
	at := t.Position()
	return &Select{Pos: at, Cores: []*SelectCore{{Pos: at, Items: []SelectItem{{Pos: at, Star: true}}, From: []TableExpr{t}}}}
}

func joined(with []CTE, t *TableName, others []TableExpr, where Expr, allow bool) *Select {
	out := AllOf(t)
	out.With, out.AllowFullScan, out.Cores[0].Where = with, allow, where
	out.Cores[0].From = append(slices.Clone(others), t) // last, so that its rows are looked up by key
	return out
}

// Assignment is column = expression.
type Assignment struct {
	Column Name
	Expr   Expr
}

// Delete is DELETE FROM t [AS alias] USING ... WHERE ...
type Delete struct {
	Pos
	Truncate      bool // spelled TRUNCATE
	Restart       bool // RESTART IDENTITY
	With          []CTE
	Table         string
	TablePos      Pos
	Alias         string
	Using         []TableExpr
	Where         Expr
	AllowFullScan bool
	Returning     []SelectItem
	Next          *Delete // the next table of TRUNCATE
}

// Merge is MERGE INTO t [AS alias] USING source ON condition WHEN [NOT] MATCHED [AND condition] THEN ...
type Merge struct {
	Pos
	With          []CTE
	Table         string
	TablePos      Pos
	Alias         string
	Source        TableExpr
	On            Expr
	Actions       []MergeAction
	AllowFullScan bool
}

// MergeAction is what a Merge does with a row of its source for which Cond is true: with its row of the table, if Matched
// is set, or if there is none. If Set, Delete and Insert are not set, it does nothing.
type MergeAction struct {
	Pos     Pos
	Matched bool
	Cond    Expr // nil: true
	Set     []Assignment
	Delete  bool
	Insert  *Insert // with one row of VALUES
}

// CreateTable is CREATE [EXTERNAL] TABLE.
type CreateTable struct {
	Pos
	Replace   bool // OR REPLACE
	External  bool
	Temporary bool // a table of the session alone, which drops it at its end
	// Materialized is set for a MATERIALIZED VIEW: its definition keeps Query, and NoData if the view has no rows yet.
	Materialized bool
	IfNotExists  bool
	Name         string
	NamePos      Pos
	Columns      []ColumnDef
	PrimaryKey   []Name // of a PRIMARY KEY (a, b) clause, or a column's PRIMARY KEY
	Checks       []CheckDef
	Families     []FamilyDef
	// StoredIn is the STORED IN before the layouts. It applies to each layout without its own STORED IN.
	StoredIn *PartList
	Layouts  []LayoutDef
	Split    *SplitDef
	Splits   []*SplitDef // of INDEXes
	Options  []Option    // ON MALFORMED KEY ERROR, WITH (k = v)
	// Query is the query of CREATE TABLE ... AS. The table gets the query's rows, and also the query's columns that are not in
	// Columns.
	Query  *Select
	NoData bool // WITH NO DATA: only the columns of Query
}

// ColumnDef is name TYPE [FROM family:qualifier] [AS encoding] [NOT NULL] [PRIMARY KEY] [COMMENT 'text'].
type ColumnDef struct {
	Pos        Pos
	Name       string
	Type       string   // as written, upper case: INT, VARCHAR(20) ...
	Like       []string // INCLUDING ALL, EXCLUDING INDEXES ...: LIKE Name stands for the columns of table Name; nil: a column
	From       *ColumnSource
	Encoding   *EncodingDef
	NotNull    bool
	PrimaryKey bool
	Default    Expr     // the value that INSERT writes if it does not name the column; nil: none
	Identity   string   // Always, ByDefault or Serial: Default draws a number; "": it does not
	Sequence   []Option // of the sequence that Identity makes
	Comment    string
}

// CheckDef is CONSTRAINT Name CHECK (Expr) [NOT VALID].
type CheckDef struct {
	Pos      Pos
	Name     string // "": NameCheck gives it one
	Expr     Expr
	NotValid bool // rows that exist were not checked
}

// ColumnSource is family:qualifier, or family:[part, part] if the qualifier consists of parts.
type ColumnSource struct {
	Pos       Pos
	Family    string
	Qualifier string
	Parts     []PartDef // non-nil for family:[...]
}

// EncodingDef is an encoding with arguments: TEXT(6), TEXT('yyyyMMdd'), ORDERED INT64, PHOENIX DOUBLE.
type EncodingDef struct {
	Pos  Pos
	Name string // upper case, words joined by one space
	Args []Expr // literals
}

// FamilyDef is FAMILY name (KEY = value, ...).
type FamilyDef struct {
	Pos     Pos
	Name    string
	Options []Option
}

// Option is KEY = literal. Value is nil for a KEY without a value; for a word without quotes it is a string Literal.
type Option struct {
	Pos   Pos
	Key   string // upper case; unchanged if it was in quotes
	Value Expr
}

// MalformedKey is the Option.Key of ON MALFORMED KEY; its value is the string ERROR or SKIP.
const MalformedKey = "ON MALFORMED KEY"

// LayoutDef is ROW KEY [name] (parts) [STORED IN ...] or INDEX name (parts) [STORED IN ...] [WHERE ...].
type LayoutDef struct {
	Pos      Pos
	Index    bool
	Name     string
	Parts    []PartDef
	StoredIn *PartList
	Where    Expr // of an INDEX: it has entries for the rows for which this is true; nil: for all
}

// PartList is STORED IN 'name' or STORED IN (part, part).
type PartList struct {
	Pos   Pos
	Parts []PartDef
}

// StoredIn returns the STORED IN of one HBase table.
func StoredIn(table string) *PartList {
	return &PartList{Parts: []PartDef{{Expr: &Literal{Kind: StringLiteral, Text: table}}}}
}

// PartDef is one part: an expression and its encoding. A part whose Expr is a
// string or bytes Literal without an encoding is a literal part.
type PartDef struct {
	Pos      Pos
	Expr     Expr
	Encoding *EncodingDef // nil: the default of the expression
}

// SplitKind is the way in which SPLIT chooses the start keys of regions.
type SplitKind uint8

// The ways to pre-split.
const (
	SplitAt         SplitKind = iota // SPLIT AT (literal, ...)
	SplitFile                        // SPLIT FROM FILE 'f'
	SplitHex                         // SPLIT INTO n BY HEX (HexStringSplit)
	SplitUniform                     // SPLIT INTO n BY UNIFORM (UniformSplit)
	SplitKey                         // SPLIT INTO n BY KEY: evenly over the values of the leading part
	SplitSampleFile                  // SPLIT INTO n BY SAMPLE OF FILE 'f'
)

// SplitDef is a SPLIT clause of a new table.
type SplitDef struct {
	Pos   Pos
	Index string // whose HBase table is split; "": that of the rows
	Kind  SplitKind
	Keys  []Expr // SplitAt
	N     int
	File  string
}

// Drop is DROP TABLE, [MATERIALIZED] VIEW or SEQUENCE [IF EXISTS] t, ... [CASCADE]. For an EXTERNAL table it drops only the definition.
type Drop struct {
	Pos
	View         bool // of a sequence, too
	Sequence     bool
	Materialized bool // View is not set
	IfExists     bool
	Cascade      bool // drop the views that read it, too
	Name         string
	NamePos      Pos
	More         []*Drop // the others of the statement
}

// ShowKind is the kind of a Show.
type ShowKind uint8

// The SHOW statements.
const (
	ShowTables      ShowKind = iota // SHOW TABLES
	ShowCreateTable                 // SHOW CREATE TABLE t
	ShowSplits                      // SHOW SPLITS t
	ShowStatistics                  // SHOW STATISTICS [FOR] t
	ShowFunctions                   // SHOW FUNCTIONS
	ShowSettings                    // SHOW ALL | SHOW name
	ShowColumns                     // DESCRIBE t
)

// Show is a SHOW or DESCRIBE statement.
type Show struct {
	Pos
	Kind    ShowKind
	Name    string
	NamePos Pos
}

// Explain is EXPLAIN [ANALYZE] [(FORMAT TEXT | JSON | HTML)] statement.
type Explain struct {
	Pos
	Analyze   bool
	Format    string // "TEXT", "JSON", "HTML"
	Statement Statement
}

// Set is SET name = value, RESET name or DISCARD.
type Set struct {
	Pos
	Verb  string // SET, RESET, DISCARD
	Local bool   // SET LOCAL
	Name  string // for RESET and DISCARD also ALL
	Value Expr   // for SET; a list of values becomes one text with commas
}

// Prepare is PREPARE name (types) AS statement.
type Prepare struct {
	Pos
	Name      string
	Types     []string // of the first parameters, upper case
	Statement Statement
}

// Execute is EXECUTE name (arguments).
type Execute struct {
	Pos
	Name string
	Args []Expr
}

// Deallocate is DEALLOCATE name, or DEALLOCATE ALL with an empty Name.
type Deallocate struct {
	Pos
	Name string
}

// Copy is COPY t [(columns)] FROM 'file' or COPY t | (query) TO 'file'. The value of an option that lists columns is a Tuple or
// the string *.
type Copy struct {
	Pos
	Table         string
	TablePos      Pos
	Columns       []Name
	Query         *Select
	To            bool
	File          string // "" for STDIN and STDOUT
	Options       []Option
	AllowFullScan bool // for a table that is copied TO a file; a query has its own
}

// CheckTable is CHECK TABLE t [REPAIR].
type CheckTable struct {
	Pos
	Name    string
	NamePos Pos
	Repair  bool
}

// Transaction is a statement that has no effect: BEGIN, COMMIT, ROLLBACK, VACUUM, or one about a kind of object that hql does
// not have, such as DROP SEQUENCE IF EXISTS.
type Transaction struct {
	Pos
	Verb string
	Name string // of an object of another kind
	Text string // of the statement about it; "": the verb
	Note string // that it gives the user; "": that there are no transactions
}

// Analyze is ANALYZE [TABLE] [t].
type Analyze struct {
	Pos
	Name    string // "": all tables
	NamePos Pos
}
