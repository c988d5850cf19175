package functions

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// The functions in this file make Result functions, which check the arguments and return the result's type.

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
	isOrdered  class = func(t types.Type) bool { return t != types.Boolean && !t.IsJSON() }
	isTruth    class = func(t types.Type) bool { return t == types.Boolean }
	hashable   class = func(t types.Type) bool { return isBytes(t) || t.IsNumeric() || t == types.Timestamp || t == types.Date }
	isMoment   class = types.Type.IsMoment
)

// returns returns a resultFunc that checks the arguments against classes and returns t. The last class applies to all
// further arguments.
func returns(t types.Type, classes ...class) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		for i, a := range args {
			if len(classes) == 0 {
				break
			}
			c := classes[min(i, len(classes)-1)]
			if at := a.Type(); at != types.Null && !c(at) {
				return 0, expr.ArgumentError{N: i + 1, At: at, Takes: c}
			}
		}
		return t, nil
	}
}

type resultFunc = func(args []expr.Expr) (types.Type, error)

// sameAs returns the type of argument i.
func sameAs(i int, classes ...class) resultFunc {
	check := returns(types.Null, classes...)
	return func(args []expr.Expr) (types.Type, error) {
		_, err := check(args)
		return args[i].Type(), err
	}
}

// momentLike returns the TIMESTAMP type of a function of argument i: without a time zone if the argument is a DATE or has
// none.
func momentLike(i int, classes ...class) resultFunc {
	return func(args []expr.Expr) (types.Type, error) {
		_, err := returns(types.Null, classes...)(args)
		return args[i].Type().Moment(), err
	}
}

func always(b bool) func(*expr.Call) bool { return func(*expr.Call) bool { return b } }

func fixed(n int) func(*expr.Call) int { return func(*expr.Call) int { return n } }
