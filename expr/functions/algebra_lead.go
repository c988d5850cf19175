package functions

import (
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/types"
)

// leadReversed is Algebra.Lead of REVERSE.
func leadReversed(c *expr.Call, of expr.Leading) expr.Leading {
	switch {
	case isNumeral(c.Args[0]):
		return expr.Leading{Chars: "0123456789", N: numeralDigits}
	case of.N == expr.Width(c.Args[0]):
		return of
	}
	return expr.Leading{}
}

// numeralDigits is the number of last digits of a number that are assumed to be equally frequent.
const numeralDigits = 4

// isNumeral reports whether e is the text of an integer, perhaps with leading zeros.
func isNumeral(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Cast:
		return e.Typ == types.String && e.X.Type().IsInteger()
	case *expr.Call:
		if e.Func.Name != "LPAD" || len(e.Args) != 3 {
			return false
		}
		fill, ok := e.Args[2].(*expr.Const)
		n, fixed := e.ConstInt(1)
		return ok && fill.Val.Text() == "0" && fixed && n >= numeralDigits && isNumeral(e.Args[0])
	}
	return false
}

// leadOfHex returns the Lead of the bytes that hexadecimal digits encode.
func leadOfHex(_ *expr.Call, of expr.Leading) expr.Leading {
	if len(of.Chars) != 16 {
		return expr.Leading{}
	}
	return expr.Leading{Chars: solve.AllBytes, N: of.N / 2}
}

// leadMapped returns Algebra.Lead for a function that maps the ASCII characters of a text by f.
func leadMapped(f func(string) string) func(*expr.Call, expr.Leading) expr.Leading {
	return func(_ *expr.Call, of expr.Leading) expr.Leading {
		b := []byte(f(of.Chars))
		slices.Sort(b)
		return expr.Leading{Chars: string(b), N: of.N}
	}
}
