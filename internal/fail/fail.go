// Package fail ends a recursion at its first error: the functions of a compiler return values alone, and its entry points
// return the error.
//
//	func Compile(e Node) (out Expr, err error) {
//		defer fail.Catch(&err)
//		return compile(e), nil
//	}
package fail

// failure is the panic of an error; other panics are not caught.
type failure struct{ error }

// With returns the value for panic that ends the recursion with err.
func With(err error) any { return failure{err} }

// On ends the recursion if err is not nil.
func On(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must returns v; if err is not nil, it ends the recursion.
func Must[T any](v T, err error) T {
	On(err)
	return v
}

// Must2 is Must for two values.
func Must2[T, U any](v T, w U, err error) (T, U) {
	On(err)
	return v, w
}

// Catch sets err to the error that ended the recursion. It is deferred.
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.error
	default:
		panic(p)
	}
}

// Try returns what f returns, or the error that ended it.
func Try[T any](f func() T) (v T, err error) {
	defer Catch(&err)
	return f(), nil
}
