package solve

import (
	"github.com/hql-db/hql/expr"
)

// Lead describes the beginning of e's values, for arbitrary values of its columns. It is used to distribute keys over
// regions.
//
//	MD5(uid)                    0123456789abcdef, 32
//	UPPER(LEFT(MD5(uid), 2))    0123456789ABCDEF, 2
//	UNHEX(MD5(uid))             all bytes, 16
//	REVERSE(id::text)           0123456789, 4: the last digits of numbers, of which there may be fewer
//	uid                         not known
func Lead(e expr.Expr) expr.Leading {
	c, ok := e.(*expr.Call)
	switch {
	case !ok || c.Func.Key == nil:
	case c.Func.Key.HexDigits:
		return expr.Leading{Chars: "0123456789abcdef", N: expr.Width(c)}
	case c.Func.Key.Lead != nil:
		return c.Func.Key.Lead(c, Lead(c.Args[0]))
	}
	return expr.Leading{}
}

// AllBytes are the bytes 0x00 to 0xff.
var AllBytes = func() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}()
