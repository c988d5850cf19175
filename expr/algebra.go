package expr

import "github.com/hql-db/hql/types"

// Function describes a function or operator: its calls, its evaluation and its key algebra. One entry makes it known
// everywhere: to queries, key parts, the planner, \df and the documentation.
type Function struct {
	Name      string // upper case, or an operator's symbol
	Group     string // "string", "number", "time", "hash", "json", "conditional", "aggregate", "key", "operator"
	Signature string // for help: "left(text, n) text"
	Doc       string // one sentence
	MinArgs   int
	MaxArgs   int // -1: any number
	// Result checks the argument types and gives the result's. An error is shown
	// with the call's position.
	Result func(args []Expr) (types.Type, error)
	// Eval computes the value; args hold no NULL unless NullArgs is set. It is nil for an aggregate, and for a function
	// that is compiled to another expression.
	Eval     func(env *Env, args []types.Value) (types.Value, error)
	NullArgs bool // called with NULLs too; otherwise any NULL argument gives NULL
	First    bool // gives its first argument that is not NULL; those after it are not evaluated
	Volatile bool // not a function of its arguments alone: RANDOM, SALT
	Within   bool // an aggregate of the values of WITHIN GROUP (ORDER BY value), its arguments say which: MODE, PERCENTILE_CONT
	Rows     bool // an aggregate that takes * too: of rows, not of values
	Distinct bool // an aggregate that takes DISTINCT although it has several arguments
	Set      bool // gives several rows: the elements of the array that Eval gives
	Grouping bool // computed of what the rows are grouped by, not of them
	// Percentile, if not 0, is set for an aggregate that is percentile_cont of this value.
	Percentile float64
	// HowMany is the argument of a window function that is a number of rows or parts. Otherwise is the argument that is
	// the result if there is no row; it also counts for the type. Both are numbered from 1; 0 means none.
	HowMany, Otherwise int
	strict             bool  // known to give NULL for NULL arguments alone
	Joins              *Join // puts the texts of its arguments one after the other
	Extreme            int   // 1: gives the greatest argument, -1: the least, of those that are not NULL
	Key                *Algebra
	// Binds says how conditions on a call bind a key, where that follows from the arguments and not from Key: "as its arguments do".
	Binds string
	// Unknown says why nothing is known of such conditions: "nothing is known, because ...".
	Unknown string
}

// Dictionary is a kind of dictionary, which gives numbers to names.
type Dictionary uint8

// The kinds.
const (
	NoDictionary    Dictionary = iota
	TableDictionary            // a table, of which the first argument names a column: LOOKUP
	UIDDictionary              // UIDTable, of which it names a kind of ids: OPENTSDB_UID
)

// Values of Algebra.Arg in addition to an argument's index.
const (
	NoArg  = -1
	AnyArg = -2
)

// Algebra answers the planner's questions about a call, all but one of whose
// arguments are constants. The remaining one is argument Arg, or with AnyArg
// whichever is not constant; a function without one (SALT) has NoArg. A nil function means "not known", which
// may cost time but never a row: Image and Inverse may give more than the truth, never less.
type Algebra struct {
	Arg int
	// As returns an equivalent call about which more is known, or nil.
	As func(c *Call) Expr
	// Image gives the values that the call has when the argument is in in, where that does not follow from Pieces.
	// Values that overflow or fail are left out: they cannot be stored.
	Image func(c *Call, in types.Set) (types.Set, bool)
	// Box gives the values that the call has when its arguments are in in, of a function of several columns; ok is false where these say nothing.
	Box func(c *Call, in []types.Set) (types.Set, bool)
	// Inverse returns the argument's values for which the call is in out; exact reports that there are no others. Values
	// that are not within do not matter. An invertible function maps points to points.
	Inverse func(c *Call, out types.Set, within Window) (pre types.Set, exact, ok bool)
	// Ends gives, where they are few, the ends of the texts of the first argument, a column, for which the call lies in out; exact: and for no
	// others. It is asked where Inverse knows nothing.
	Ends func(c *Call, out types.Set) (ends []End, exact, ok bool)
	// Pieces gives intervals of the argument's values in in, in ascending order, on which the call is monotone. Nothing is
	// known of values outside of them. If Inverse is nil, or does not know, bisection of the pieces inverts the call.
	Pieces func(c *Call, in types.Interval) []Piece
	// Noise is the error of a call that is not monotone to the last digit: the relative error of the value, and the
	// absolute error of any value; nil: it has none.
	Noise func(c *Call) (of, beside float64)
	// Domain gives all values that the call can have, whatever its argument.
	Domain func(c *Call) (types.Set, bool)
	// Injective reports whether different arguments give different results, where Pieces do not say so.
	Injective func(c *Call) bool
	// Like turns a LIKE pattern that the argument matches into one that the result matches.
	Like func(c *Call, p *Pattern) (*Pattern, bool)
	// WithoutEnd gives the same as a call of a text that does not end with a space; ok is false where nothing simpler is known.
	WithoutEnd func(c *Call) (e Expr, ok bool)
	// Width is the fixed number of bytes of the result's text; 0: not fixed.
	Width func(c *Call) int
	// Most is the greatest number of characters of the result's text; 0: any number.
	Most func(c *Call) int
	// HexDigits reports whether the result is lower-case hexadecimal digits, any of them.
	HexDigits bool
	// Lead is the Lead of the result if the first argument's is of; nil: unknown.
	Lead func(c *Call, of Leading) Leading
	// ManyForms reports whether one argument has several valid results: a stored one is not recomputed.
	ManyForms bool
	// FromRest computes the value from the key bytes that follow the part (PHOENIX_SALT).
	FromRest func(c *Call, rest []byte) (types.Value, error)
	// RestLength is the number of these bytes, counted from the part, that FromRest reads at most; nil: all of them.
	RestLength func(c *Call) int
	// Draw makes a value for a new row where the function has no argument (SALT).
	Draw func(c *Call, env *Env) (types.Value, error)
	// Phoenix is set when Phoenix alone writes keys so: rows get the cell that marks them for it.
	Phoenix bool
	// Lookup is the kind of dictionary that the value is a number of: the planner asks for it before it plans.
	Lookup Dictionary
	// OpenTSDB is set for the qualifier that OpenTSDB gives a value, or the values of an hour in one cell.
	OpenTSDB bool
}

// A Window tells which values an argument can have: those of In, and texts of at most Width characters (0: of any length).
type Window struct {
	In    func() types.Set
	Width int
}

// An End is the end of a text or, with Whole, the whole text.
type End struct {
	Text  string
	Whole bool
}
