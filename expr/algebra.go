package expr

import "github.com/hql-db/hql/types"

// Function describes a function or operator: its calls, its evaluation and its key algebra. One entry suffices for
// queries, key parts, the planner, \df and the documentation.
type Function struct {
	Name      string // upper case, or the operator's symbol
	Group     string // "string", "number", "time", "hash", "sequence", "json", "conditional", "aggregate", "key", "operator"
	Signature string // for help: "left(text, n) text"
	Doc       string // one sentence
	MinArgs   int
	MaxArgs   int // -1: any number
	// Result checks the argument types and returns the result's type. Its error is reported at the call's position.
	Result func(args []Expr) (types.Type, error)
	// Reads has the types of arguments that are parameters of unknown type; Null or none: the type of a text constant there.
	Reads []types.Type
	// Eval computes the value; args contain no NULL unless NullArgs is set. Eval is nil for an aggregate, and for a
	// function that is compiled to another expression.
	Eval     func(env *Env, args []types.Value) (types.Value, error)
	NullArgs bool // it is also called with NULLs; otherwise any NULL argument makes the result NULL
	First    bool // the result is the first argument that is not NULL; later ones are not evaluated
	Volatile bool // its value does not depend only on its arguments: RANDOM, SALT
	Within   bool // an aggregate over WITHIN GROUP (ORDER BY value), whose argument selects a result: MODE, PERCENTILE_CONT
	Rows     bool // an aggregate that also accepts *, to count rows
	Distinct bool // an aggregate that accepts DISTINCT although it has several arguments
	Set      bool // it returns several rows: those of Generate or, if that is nil, the elements of the array that Eval returns
	Generate func(env *Env, args []types.Value) (RowsOf, error)
	Grouping bool // it depends on the grouping, not on the rows: GROUPING
	// Percentile, if not 0, makes an aggregate equal to PERCENTILE_CONT of this fraction (0 to 1).
	Percentile float64
	// Otherwise is the argument that a window function returns if there is no such row (LAG, LEAD), numbered from 1; 0 means
	// that there is none. It must fit the result's type.
	Otherwise int
	Strict    bool // its result is NULL only if an argument is NULL
	// Small and Same say that PostgreSQL's result of a function of BIGINT is an INT, or the widest of the integer arguments.
	Small, Same bool
	Joins       *Join // it concatenates the texts of its arguments
	Extreme     int   // 1: it returns the greatest argument that is not NULL, -1: the least
	Key         *Algebra
	// Binds says, for the documentation, how a condition on a call restricts a key, if that follows from the arguments
	// and not from Key: "as its arguments do".
	Binds string
	// Unknown says, for the documentation, why a condition on a call restricts no key: it is the text after "nothing is
	// known, because".
	Unknown string
}

// Dictionary is a kind of dictionary, which maps names to numbers.
type Dictionary uint8

// The kinds.
const (
	NoDictionary    Dictionary = iota
	TableDictionary            // a table with a column named by the first argument: LOOKUP
	UIDDictionary              // UIDTable; the first argument is the kind of id: OPENTSDB_UID
)

// Values of Algebra.Arg in addition to an argument's index.
const (
	NoArg  = -1
	AnyArg = -2
)

// Algebra answers the planner's questions about a call with one argument that is not constant: argument Arg or, with
// AnyArg, any of the arguments. A function without such an argument (SALT) has NoArg. If a function in Algebra is nil,
// its answer is unknown, which may cost time but never a row. Image and Inverse may return more values than the truth,
// never fewer.
type Algebra struct {
	Arg int
	// As returns an equivalent call about which more is known, or nil.
	As func(c *Call) Expr
	// Image returns the values that the call has for arguments in in, if that does not follow from Pieces. It omits
	// arguments for which the call overflows or fails, since those cannot be stored.
	Image func(c *Call, in types.Set) (types.Set, bool)
	// Box works like Image for a function of several columns: argument i has a value in in[i]. It returns false if
	// these sets do not limit the call's values.
	Box func(c *Call, in []types.Set) (types.Set, bool)
	// Side returns the values that argument i of a call with two arguments can have, if the call's value is in out and
	// the other argument is in other.
	Side func(c *Call, i int, out, other types.Set) (types.Set, bool)
	// Begun returns a set that contains the call's values for all texts that begin with p. It is used if Image is nil.
	Begun func(c *Call, p string) (types.Set, bool)
	// Inverse returns a set that contains all values of the argument for which the call's value is in out; exact
	// reports that the set contains no other values. Only arguments in within matter. An invertible function maps
	// points to points.
	Inverse func(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool)
	// Matches returns LIKE patterns, a few, of which the first argument, a text, matches one if the call's value is in
	// out. exact reports that the call's value is in out for all texts that match one of them. Matches is used if Inverse
	// returns nothing, and for filters.
	Matches func(c *Call, out types.Set) (patterns []*Pattern, exact, ok bool)
	// Forms returns the characters that become r, for calls that change one character after the other.
	Forms func(r rune) []rune
	// Pieces returns intervals of the argument's values in in, in ascending order, on which the call is monotone. Nothing
	// is known about values outside of them. If Inverse is nil or returns nothing, the call is inverted by bisection of
	// the pieces.
	Pieces func(c *Call, in types.Interval) []Piece
	// Noise returns by how much rounding may change the call's value, so that the call is monotone only approximately:
	// a relative and an absolute error. nil: there is no error.
	Noise func(c *Call) (relative, absolute float64)
	// Domain returns all values that the call can have for any argument.
	Domain func(c *Call) (types.Set, bool)
	// Injective reports whether different arguments have different results, if Pieces do not show it.
	Injective func(c *Call) bool
	// Like converts a LIKE pattern that the argument matches to one that the result matches.
	Like func(c *Call, p *Pattern) (*Pattern, bool)
	// Present returns a condition that is true if the call is not NULL, and false if the call is NULL although no
	// argument is.
	Present func(c *Call) Expr
	// WithoutEnd returns a simpler expression with the same value for texts that do not end with a space; ok is false if
	// there is none.
	WithoutEnd func(c *Call) (e Expr, ok bool)
	// Width returns the fixed number of bytes of the result's text; 0: it is not fixed.
	Width func(c *Call) int
	// Most returns the greatest number of characters of the result's text; 0: any number.
	Most func(c *Call) int
	// HexDigits reports whether the result consists of arbitrary lower-case hexadecimal digits.
	HexDigits bool
	// Lead returns the Leading of the result, given the Leading of the first argument; nil: unknown.
	Lead func(c *Call, of Leading) Leading
	// ManyForms reports whether several results may be valid for the same argument. A stored result is not recomputed
	// then.
	ManyForms bool
	// FromRest computes the value of a key part from the key bytes that follow the part (PHOENIX_SALT).
	FromRest func(c *Call, rest []byte) (types.Value, error)
	// RestLength returns the greatest number of bytes after the part that FromRest reads; nil: it reads all of them.
	RestLength func(c *Call) int
	// Draw returns a value for a new row, for functions without an argument (SALT).
	Draw func(c *Call, env *Env) (types.Value, error)
	// Phoenix is set if only Apache Phoenix writes keys with this function: new rows get the cell with which Phoenix
	// marks its rows.
	Phoenix bool
	// Lookup is the kind of dictionary that the call reads: the planner requests the value before it plans.
	Lookup Dictionary
	// OpenTSDB is set for the function of the qualifiers of OpenTSDB's cells. A cell holds one value or the values of
	// an hour.
	OpenTSDB bool
}

// Window restricts the values of an argument: to those in In, and to texts of at most Width characters (0: any length).
type Window struct {
	In    func() types.Set
	Width int
}

// Join describes how a function concatenates the texts of its arguments.
type Join struct {
	Separated bool // the first argument is a separator; if it is NULL, so is the result
	SkipsNull bool // NULL arguments are omitted; otherwise they make the result NULL
}

// Leading describes a text or BYTES: each of its first N bytes is one of Chars, which are in ascending order and equally
// frequent. N is 0 if that is unknown.
type Leading struct {
	Chars string
	N     int
}

// Cut returns the Leading of the n bytes that follow the first from bytes of a text with the Leading of.
func (of Leading) Cut(from, n int64) Leading {
	of.N = int(max(0, min(int64(of.N)-from, n)))
	return of
}

// Piece is an interval of an argument's values on which a call never falls or never rises. The arguments in it for
// which the call does not fail form one interval without gaps, which reaches an end of the piece.
type Piece struct {
	In    types.Interval // a NULL bound means the end of the type
	Falls bool
	// Mixed is set if the call may both rise and fall in the piece. It is an interval that contains the call's values.
	Mixed *types.Interval
	// Strict reports that different arguments have different values.
	Strict bool
	// Even reports that the call's values in the piece are texts that differ only in digits: they have the same length,
	// digits at the same positions, and otherwise equal characters. IfEven: the piece is valid only if the arguments
	// are such texts, too; otherwise the call's values are in Mixed, if it is set.
	Even, IfEven bool
}
