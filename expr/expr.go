package expr

import (
	"time"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Expr is a compiled expression. String is SQL again.
type Expr interface {
	Type() types.Type
	// Eval computes the value for env.Row. Errors are *parser.Error with the
	// place in the statement (division by zero, overflow, a cast that fails).
	Eval(env *Env) (types.Value, error)
	String() string
	Position() parser.Pos
	expr()
}

// Env is the environment in which an expression is evaluated. It may be reused from row to row but not shared by
// goroutines.
type Env struct {
	Row []types.Value
	// Lookup answers LOOKUP calls in keys; nil, or ok false: not known.
	Lookup LookupFunc
	// Subquery runs s for the given outer values, and returns the Answer of s.Bare for its rows; nil: sub-queries fail.
	Subquery func(s *Subquery, outer []types.Value) (Expr, error)
	Loc      *time.Location // nil: UTC
	Now      int64          // the statement's time in ms since 1970: NOW() is fixed once a statement
	Rand     func() uint64  // for RANDOM() and SALT on write; nil: math/rand/v2
	// Stop says why evaluation is to end, nil to go on. Functions ask it where texts are long; nil: they never do.
	Stop func() error
	// Memory bounds the bytes of the values that are held while an expression is evaluated, and Held is how many there are; 0: it does not.
	Memory, Held int64
}

// LookupFunc gives the number that column of a look-up table has in the row of args; ok is false when it is not known.
type LookupFunc func(table, column string, args []types.Value) (v types.Value, ok bool)

// UIDTable is the look-up table that OPENTSDB_UID asks: OpenTSDB's table of ids. A column is a kind of them.
const UIDTable = "tsdb-uid"

// longText is the length in bytes from which functions of a text take long.
const longText = 1 << 16

func (e *Env) stopped() error {
	if e.Stop == nil {
		return nil
	}
	return e.Stop()
}

// Const is a constant.
type Const struct {
	Pos     parser.Pos
	Val     types.Value
	Typ     types.Type // the declared type of a NULL, else Val's
	between bool       // Val is the milliseconds between two moments
}

// Column reads Env.Row[Index].
type Column struct {
	Pos   parser.Pos
	Index int
	Name  string
	Typ   types.Type
	Text  string // what a plan shows in place of the name; "" for the name
}

// And, Or are n-ary and flattened; both follow three-valued logic.
type (
	And struct{ Terms []Expr }
	Or  struct{ Terms []Expr }
)

// Not is NOT X. Compile pushes NOT down to comparisons, LIKE, IN and IS.
type Not struct{ X Expr }

// CompareOp is a comparison.
type CompareOp uint8

// The comparisons.
const (
	EQ CompareOp = iota
	NE
	LT
	LE
	GT
	GE
)

// Compare is X op Y over comparable types. Compile casts a constant side to the
// other side's type where that loses nothing (a string literal to a DATE, 1 to BIGINT).
// BETWEEN and row-value comparisons are lowered to And/Or of Compare.
type Compare struct {
	Pos  parser.Pos
	Op   CompareOp
	X, Y Expr
}

// In is X IN (List) where every item is a constant of X's type: List is sorted
// without duplicates and without NULL; HasNull reports whether the list had one. An
// IN with other items is lowered to Or of Compare. Not negates it.
type In struct {
	Pos     parser.Pos
	X       Expr
	Not     bool
	List    []types.Value
	HasNull bool
}

// Like is X [NOT] LIKE or ILIKE a pattern; see Pattern.
type Like struct {
	Pos     parser.Pos
	X       Expr
	Not     bool
	Fold    bool     // ILIKE
	Pattern Expr     // as given
	Escape  *string  // nil: a backslash
	Fixed   *Pattern // parsed (and folded), when Pattern is a constant
}

// IsNull is X IS [NOT] NULL; IS TRUE and the like are lowered to others.
type IsNull struct {
	Pos parser.Pos
	X   Expr
	Not bool
}

// Call applies a function (an operator is one too: "+", "%", "||").
type Call struct {
	Pos  parser.Pos
	Func *Function
	Args []Expr
	Typ  types.Type
}

// Cast converts X to Typ.
type Cast struct {
	Pos  parser.Pos
	X    Expr
	Typ  types.Type
	Zone *time.Location // in which it is evaluated; nil: not known before
}

// Case is the searched CASE; the simple form is lowered to it.
type Case struct {
	Pos   parser.Pos
	Whens []When
	Else  Expr // never nil: a NULL constant where there is none
	Typ   types.Type
}

// When is one branch.
type When struct{ Cond, Then Expr }

// Scope resolves names while an expression is compiled. Nil functions refuse.
type Scope struct {
	// Column resolves a column; its error suggests a similar name.
	Column func(ref *parser.ColumnRef) (Expr, error)
	// Param gives the value of a parameter.
	Param func(p *parser.Param) (types.Value, error)
	// Parameters, if not nil, records the types that the places of parameters require, for a statement that is described.
	Parameters *Parameters
	// Call may take a call over before functions are looked up (aggregates); ok false leaves it.
	Call func(c *parser.Call) (e Expr, ok bool, err error)
	// Subquery compiles (SELECT ...), EXISTS, IN (SELECT ...) and the like: use says which it is.
	Subquery func(q *parser.Select, use Subquery) (Expr, error)
	// Funcs is the registry of functions; nil: the built-in ones.
	Funcs *Registry
	// Function finds functions that Funcs does not have, such as those of PostgreSQL's catalog; nil: there are none.
	Function func(name string) *Function
	// Sets is set where functions that return several rows are allowed.
	Sets bool
	// Key is set for expressions of a key part: a TIMESTAMP is then its epoch milliseconds in arithmetic, and functions
	// that are allowed only in keys (SALT, RING, LOOKUP ...) are known.
	Key bool
	Loc *time.Location
	Now int64
	// Moment hears of each text constant that is a TIMESTAMP, and which one; nil: nobody does.
	Moment func(at parser.Pos, v types.Value)
}
