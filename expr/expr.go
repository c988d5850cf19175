package expr

import (
	"time"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Expr is a compiled expression. String returns it as SQL.
type Expr interface {
	Type() types.Type
	// Eval computes the value for env.Row. Errors are *parser.Error with the position in the statement (division by zero,
	// overflow, a failed cast).
	Eval(env *Env) (types.Value, error)
	String() string
	Position() parser.Pos
	children() []Expr
}

// Env is the environment in which an expression is evaluated. It may be reused for other rows, but is not safe for
// concurrent use.
type Env struct {
	Row []types.Value
	// Lookup resolves LOOKUP calls in keys; ok is false for unknown values. It may be nil.
	Lookup LookupFunc
	// Subquery runs the query of s for the given outer values, and returns what s.Bare().Answer returns for its rows.
	// If nil, sub-queries fail.
	Subquery func(s *Subquery, outer []types.Value) (Expr, error)
	Loc      *time.Location // nil: UTC
	Now      int64          // the statement's time in milliseconds since 1970-01-01, which NOW() returns
	Rand     func() uint64  // for RANDOM() and SALT on write; nil: math/rand/v2
	// Stop returns an error to end the evaluation, or nil to continue. Functions call it for long texts. It may be nil.
	Stop func() error
	// Sequence runs a function of sequences, such as NEXTVAL. If nil, they fail.
	Sequence func(name string, args []types.Value) (types.Value, error)
	// Memory bounds the bytes of the values that are held during an evaluation; 0: no limit. Held is the number of
	// bytes held now.
	Memory, Held int64
}

// LookupFunc returns the number in column of a look-up table for the row with the key args; ok is false if it is unknown.
type LookupFunc func(table, column string, args []types.Value) (v types.Value, ok bool)

// UIDTable is OpenTSDB's table of ids, which OPENTSDB_UID looks up; each of its columns is a kind of id.
const UIDTable = "tsdb-uid"

// longText is the length of a text in bytes from which on functions may take long.
const longText = 1 << 16

func (e *Env) Stopped() error {
	if e.Stop == nil {
		return nil
	}
	return e.Stop()
}

// Const is a constant.
type Const struct {
	parser.Pos
	Val   types.Value
	Typ   types.Type // the declared type of a NULL, otherwise Val's type
	Limit types.Limit
}

// Column reads Env.Row[Index].
type Column struct {
	parser.Pos
	Index int
	Name  string
	Typ   types.Type
	Text  string      // shown in plans instead of the name; "": the name
	Limit types.Limit // of the table's column
}

// And and Or have any number of terms: no term of an And is an And, and no term of an Or is an Or. Both follow
// three-valued logic.
type (
	And struct{ Terms []Expr }
	Or  struct{ Terms []Expr }
)

// Not is NOT X. Compile moves NOT into comparisons, LIKE, IN and IS.
type Not struct{ X Expr }

// CompareOp is a comparison operator.
type CompareOp uint8

// The comparison operators.
const (
	EQ CompareOp = iota
	NE
	LT
	LE
	GT
	GE
)

// Compare is X op Y for comparable types. Compile casts a constant to the other side's type if that loses nothing (a
// string literal to a DATE, 1 to BIGINT). BETWEEN and comparisons of row values become And and Or of Compare.
type Compare struct {
	parser.Pos
	Op   CompareOp
	X, Y Expr
}

// In is X IN (List) for constants of X's type. List is sorted, without duplicates and without NULL; HasNull reports
// whether the list had a NULL. An IN with other items becomes an Or of Compare. Not negates it.
type In struct {
	parser.Pos
	X       Expr
	Not     bool
	List    []types.Value
	HasNull bool
}

// Like is X [NOT] LIKE or ILIKE a pattern: see Pattern.
type Like struct {
	parser.Pos
	X       Expr
	Not     bool
	Lower   *Function // for ILIKE the function LOWER: the pattern is matched with LOWER(X); nil for LIKE
	Pattern Expr      // as written
	Escape  *string   // nil: the backslash
	Fixed   *Pattern  // the parsed pattern (in lower case for ILIKE), if Pattern is a constant
}

// IsNull is X IS [NOT] NULL; IS TRUE and the like become other expressions.
type IsNull struct {
	parser.Pos
	X   Expr
	Not bool
}

// Call is a call of a function or an operator ("+", "%", "||").
type Call struct {
	parser.Pos
	Func *Function
	Args []Expr
	Typ  types.Type
}

// Cast converts X to Typ.
type Cast struct {
	parser.Pos
	X    Expr
	Typ  types.Type
	Zone *time.Location // in which it is evaluated; nil: not known yet
	Key  bool           // in the definition of a key, so that Zone is UTC in every session
	// Written says that the statement has the cast, and not only the operation around it.
	Written bool
}

// Case is the searched CASE; the simple form is converted to it.
type Case struct {
	parser.Pos
	Whens []When
	Else  Expr // a NULL constant if there is no ELSE
	Typ   types.Type
}

// When is one branch of a Case.
type When struct{ Cond, Then Expr }

// Scope resolves names while an expression is compiled. If a function is nil, expressions that need it are refused.
type Scope struct {
	// Column resolves a column; its error suggests a similar name.
	Column func(ref *parser.ColumnRef) (Expr, error)
	// Row returns the columns of a table whose name ref is, if it is no column; otherwise nil. It may be nil.
	Row func(ref *parser.ColumnRef) *parser.Tuple
	// Param returns the value of a parameter.
	Param func(p *parser.Param) (types.Value, error)
	// Parameters, if not nil, records the types that the contexts of parameters expect, to describe a statement.
	Parameters *Parameters
	// Call may compile a call instead of looking up its function (aggregates); ok is false if it does not.
	Call func(c *parser.Call) (e Expr, ok bool, err error)
	// Subquery compiles (SELECT ...), EXISTS, IN (SELECT ...) and the like; use has the kind.
	Subquery func(q *parser.Select, use Subquery) (Expr, error)
	// Funcs has the functions and operators; nil: there are none.
	Funcs *Registry
	// Function returns functions that Funcs does not have, such as those of PostgreSQL's system catalog. It may be nil.
	Function func(name string) *Function
	// Sets is set if functions that return several rows are allowed.
	Sets bool
	// Key is set for expressions of a key part. In them, a TIMESTAMP is a number of milliseconds in arithmetic, and
	// functions for keys (SALT, RING, LOOKUP ...) are allowed.
	Key bool
	Loc *time.Location
	Now int64
	// Moment is called for each text constant that is read as a TIMESTAMP. It may be nil.
	Moment func(at parser.Pos, v types.Value)
	// Stop returns an error to end a long compilation, or nil to continue. It may be nil.
	Stop  func() error
	steps int // number of expressions compiled
}
