package expr

import (
	"fmt"

	"github.com/hql-db/hql/types"
)

// The functions in this file make Result functions, which check the arguments and return the result's type.

type resultFunc = func(args []Expr) (types.Type, error)

// class is a set of types that an argument may have.
type class func(types.Type) bool

var (
	isText     class = func(t types.Type) bool { return t.IsText() }
	isInt      class = types.Type.IsInteger
	isNumber   class = types.Type.IsNumeric
	isBytes    class = func(t types.Type) bool { return t == types.Bytes || t.IsText() }
	isTime     class = types.Type.IsTemporal
	isInterval class = func(t types.Type) bool { return t == types.Duration }
	isAny      class = func(types.Type) bool { return true }
	isTruth    class = func(t types.Type) bool { return t == types.Boolean }
	hashable   class = func(t types.Type) bool { return isBytes(t) || t.IsNumeric() || t == types.Timestamp || t == types.Date }
	isMoment   class = func(t types.Type) bool { return t.IsTimestamp() || t == types.Date }
)

// returns returns a resultFunc that checks the arguments against classes and returns t. The last class applies to all
// further arguments.
func returns(t types.Type, classes ...class) resultFunc {
	return func(args []Expr) (types.Type, error) {
		for i, a := range args {
			if len(classes) == 0 {
				break
			}
			c := classes[min(i, len(classes)-1)]
			if at := a.Type(); at != types.Null && !c(at) {
				return 0, argumentError{i + 1, at, c}
			}
		}
		return t, nil
	}
}

// argumentError reports an argument of a type that a function does not accept.
type argumentError struct {
	n     int // from 1
	at    types.Type
	takes class // nil: several classes are accepted
}

// read returns the type as which a text constant is read in place of the argument: PostgreSQL's preferred one among the
// types that the function accepts, or NULL if it accepts none.
func (e argumentError) read() types.Type {
	for _, t := range []types.Type{types.Timestamp, types.Duration, types.Double, types.BigInt, types.Boolean} {
		if e.takes != nil && e.takes(t) {
			return t
		}
	}
	return types.Null
}

func (e argumentError) Error() string { return fmt.Sprintf("argument %d cannot be %s", e.n, e.at) }

// sameAs returns the type of argument i.
func sameAs(i int, classes ...class) resultFunc {
	check := returns(types.Null, classes...)
	return func(args []Expr) (types.Type, error) {
		_, err := check(args)
		return args[i].Type(), err
	}
}

// momentLike returns the TIMESTAMP type of a function of argument i: without a time zone if the argument is a DATE or has
// none.
func momentLike(i int, classes ...class) resultFunc {
	return func(args []Expr) (types.Type, error) {
		_, err := returns(types.Null, classes...)(args)
		return momentOf(args[i].Type()), err
	}
}

func momentOf(t types.Type) types.Type {
	if t == types.Date || t == types.LocalTimestamp {
		return types.LocalTimestamp
	}
	return types.Timestamp
}

// constInt returns the value of argument i if it is an integer constant.
func (c *Call) constInt(i int) (int64, bool) {
	if i >= len(c.Args) {
		return 0, false
	}
	k, ok := c.Args[i].(*Const)
	if !ok || !k.Val.Type().IsInteger() {
		return 0, false
	}
	return k.Val.Int(), true
}

func always(b bool) func(*Call) bool { return func(*Call) bool { return b } }
func fixed(n int) func(*Call) int    { return func(*Call) int { return n } }
