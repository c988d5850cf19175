package parser

import (
	"cmp"
	"strings"
)

// LiteralKind is the notation of a Literal.
type LiteralKind uint8

// The literals.
const (
	NullLiteral LiteralKind = iota
	BoolLiteral
	NumberLiteral    // digits as written: 12, 1.5, 1e3; with a sign only in the arguments of an encoding
	StringLiteral    // Text is the unquoted string
	BytesLiteral     // X'..'; Text holds the bytes
	DateLiteral      // DATE '..'; Text is the text in the quotes
	TimeLiteral      // TIME '..'
	TimestampLiteral // TIMESTAMP '..'
	IntervalLiteral  // INTERVAL '..'
)

// Literal is a constant. Its value depends on the type that its context expects.
type Literal struct {
	Pos
	Kind LiteralKind
	Text string // for BoolLiteral "true" or "false"
}

// Param is ?, $n or @name. Index is 1-based and set for ? and $n.
type Param struct {
	Pos
	Index int
	Name  string
}

// ColumnRef is name, table.name or "family:qualifier"; Name keeps its case.
type ColumnRef struct {
	Pos
	Table  string
	Name   string
	Quoted bool
	Row    bool // if no column has this name, it is the whole row of a table, which a function converts to JSON
	Star   bool // it was written t.*
}

// Unary is -x, +x or NOT x. Op is "-", "+" or "NOT".
type Unary struct {
	Pos
	Op string
	X  Expr
}

// Binary is x op y. Op is one of
// OR AND = <> < <= > >= + - * / % || -> ->> ~ ~* !~ !~* and "IS DISTINCT FROM".
type Binary struct {
	Pos  // of the operator
	Op   string
	X, Y Expr
}

// Between is X [NOT] BETWEEN [SYMMETRIC] Lo AND Hi.
type Between struct {
	Pos
	Not       bool
	Symmetric bool
	X, Lo, Hi Expr
}

// In is X [NOT] IN (list) or X [NOT] IN (SELECT ...).
type In struct {
	Pos
	Not   bool
	X     Expr
	List  []Expr
	Query *Select
}

// Quantified is X Op ANY (Y), or X Op ALL (Y) if All is set. Y is a SubqueryExpr or an array.
type Quantified struct {
	Pos         // of the operator
	Op   string // = <> < <= > >=
	All  bool
	X, Y Expr
}

// Array is ARRAY[items]. An item in brackets is an Array, too.
type Array struct {
	Pos
	Items []Expr
}

// Subscript is X[1], X[1][2] or, if one of At is a slice, X[1:2].
type Subscript struct {
	Pos // of the first bracket
	X   Expr
	At  []SubscriptItem
}

// SubscriptItem is the content of one pair of brackets: Lo, or Lo:Hi, in which either may be missing.
type SubscriptItem struct {
	Slice  bool
	Lo, Hi Expr
}

// Like is X [NOT] LIKE|ILIKE|SIMILAR TO Pattern [ESCAPE e].
type Like struct {
	Pos
	Not     bool
	Op      string // "LIKE", "ILIKE" or "SIMILAR TO"
	X       Expr
	Pattern Expr
	Escape  Expr // nil: backslash
}

// Is is X IS [NOT] NULL, TRUE, FALSE or UNKNOWN. The field What has the last word in upper case.
type Is struct {
	Pos
	Not  bool
	X    Expr
	What string
}

// Call is a function or aggregate call.
type Call struct {
	Pos
	Name     string // upper case
	Star     bool   // COUNT(*)
	Distinct bool
	Args     []Expr
	OrderBy  []OrderTerm // STRING_AGG(x, ',' ORDER BY y)
	Within   bool        // WITHIN GROUP: OrderBy follows the arguments, as in MODE() WITHIN GROUP (ORDER BY y)
	Filter   Expr        // FILTER (WHERE ...)
	Over     *Window     // nil if it is not a window function
}

// Window is the window of a window function: OVER name, or OVER (PARTITION BY ... ORDER BY ... frame).
type Window struct {
	Pos         Pos
	Name        string // the name of a WINDOW clause's window; unless Copies is set, all other fields are empty then
	Copies      bool   // (name ...): the window of that name, with what the other fields add to it
	PartitionBy []Expr
	OrderBy     []OrderTerm
	Frame       *Frame // nil: PostgreSQL's default, RANGE from the first row to the peers of the current row
}

// Frame selects rows of a partition relative to the current row: ROWS | RANGE | GROUPS BETWEEN Start AND End.
type Frame struct {
	Pos        Pos
	Mode       string
	Start, End FrameBound
	Exclude    string // CURRENT ROW, GROUP, TIES or ""
}

// FrameBound is one end of a Frame.
type FrameBound struct {
	Pos    Pos
	Kind   string // UNBOUNDED PRECEDING, PRECEDING, CURRENT ROW, FOLLOWING, UNBOUNDED FOLLOWING
	Offset Expr   // for PRECEDING and FOLLOWING
}

// NamedWindow is name AS (...) of a WINDOW clause.
type NamedWindow struct {
	Pos    Pos
	Name   string
	Window *Window
}

// RangeArg is 'a' TO 'b' as an argument of SALT or RING; "SALT HEX(8)" is parsed as the call SALT_HEX(8).
type RangeArg struct {
	Pos
	Lo, Hi Expr
}

// EncodedArg is X AS encoding as an argument of a function: the bytes that the encoding writes for X.
type EncodedArg struct {
	Pos
	X        Expr
	Encoding *EncodingDef
}

// Case is CASE [X] WHEN .. THEN .. ELSE .. END.
type Case struct {
	Pos
	X     Expr // nil for CASE WHEN
	Whens []When
	Else  Expr
}

// When is one branch of a Case.
type When struct{ Cond, Then Expr }

// Cast is CAST(X AS type [AS encoding]) or X::type.
type Cast struct {
	Pos
	X    Expr
	Type string // in upper case
	// Encoding is the encoding of a column that is not in the catalog: CAST("f:q" AS BIGINT AS ORDERED INT64). Nil: the type's
	// default.
	Encoding *EncodingDef
}

// AtTimeZone is X AT TIME ZONE Zone.
type AtTimeZone struct {
	Pos
	X, Zone Expr
}

// Tuple is a row value (a, b).
type Tuple struct {
	Pos
	Items []Expr
}

// GroupingSets is a term of GROUP BY that means several sets of expressions; rows are grouped by each set. Items are
// expressions and Tuples; the Tuple of () has no items. GROUPING SETS may also contain GroupingSets.
type GroupingSets struct {
	Pos
	Kind  string // "ROLLUP", "CUBE", "GROUPING SETS"
	Items []Expr
}

// SubqueryExpr is a scalar (SELECT ...), EXISTS (SELECT ...), or ARRAY(SELECT ...).
type SubqueryExpr struct {
	Pos
	Exists bool
	Array  bool
	// Columns is the number of columns of Query in SET (a, b) = (SELECT ...), otherwise 0. The SubqueryExpr of each
	// assignment has the same Query, and is the value of the column with the index Column.
	Columns, Column int
	Query           *Select
}

func (s *Writing) Position() Pos { return s.Statement.Position() }

func (*Select) Command() string    { return "SELECT" }
func (s *Writing) Command() string { return s.written().Command() }
func (*Insert) Command() string    { return "INSERT" }
func (*Update) Command() string    { return "UPDATE" }
func (*Merge) Command() string     { return "MERGE" }

func (s *Delete) Command() string {
	if s.Truncate {
		return "TRUNCATE TABLE"
	}
	return "DELETE"
}

func (s *CreateTable) Command() string { return "CREATE " + s.Kind() }
func (s *Drop) Command() string {
	if s.Sequence {
		return "DROP SEQUENCE"
	}
	return "DROP " + when(s.Materialized, "MATERIALIZED ") + when(s.Materialized || s.View, "VIEW") + when(!s.Materialized && !s.View, "TABLE")
}

// Kind returns TABLE or MATERIALIZED VIEW.
func (s *CreateTable) Kind() string {
	return when(s.Materialized, "MATERIALIZED VIEW") + when(!s.Materialized, "TABLE")
}

func (*Show) Command() string        { return "SHOW" }
func (*Explain) Command() string     { return "EXPLAIN" }
func (s *Set) Command() string       { return s.Verb }
func (*Copy) Command() string        { return "COPY" }
func (*CheckTable) Command() string  { return "CHECK TABLE" }
func (*Analyze) Command() string     { return "ANALYZE" }
func (*Transaction) Command() string { return "TRANSACTION" }
func (*Prepare) Command() string     { return "PREPARE" }
func (*Execute) Command() string     { return "EXECUTE" }
func (*Deallocate) Command() string  { return "DEALLOCATE" }

func (t *TableName) Called() string     { return cmp.Or(t.Alias, t.Name) }
func (t *TableFunction) Called() string { return cmp.Or(t.Alias, strings.ToLower(t.Name)) }
func (t *Subquery) Called() string      { return t.Alias }
func (*Join) Called() string            { return "" }

func (*Literal) binding() int      { return bindOperand }
func (*Param) binding() int        { return bindOperand }
func (*ColumnRef) binding() int    { return bindOperand }
func (*Between) binding() int      { return bindRange }
func (*In) binding() int           { return bindRange }
func (*Quantified) binding() int   { return bindCompare }
func (*Array) binding() int        { return bindOperand }
func (*Subscript) binding() int    { return bindOperand }
func (*Like) binding() int         { return bindRange }
func (*Is) binding() int           { return bindIs }
func (*Call) binding() int         { return bindOperand }
func (*RangeArg) binding() int     { return bindNone }
func (*EncodedArg) binding() int   { return bindNone }
func (*Case) binding() int         { return bindOperand }
func (*Cast) binding() int         { return bindOperand }
func (*AtTimeZone) binding() int   { return bindZone }
func (*Tuple) binding() int        { return bindOperand }
func (*GroupingSets) binding() int { return bindOperand }
func (*SubqueryExpr) binding() int { return bindOperand }
