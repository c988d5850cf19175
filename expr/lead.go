package expr

import (
	"slices"

	"github.com/hql-db/hql/types"
)

// Leading describes a text or BYTES: each of its first N bytes is one of Chars, which are in ascending order and equally
// frequent. N is 0 if that is unknown.
type Leading struct {
	Chars string
	N     int
}

// Lead describes the beginning of e's values, for arbitrary values of its columns. It is used to distribute keys over
// regions.
//
//	MD5(uid)                    0123456789abcdef, 32
//	UPPER(LEFT(MD5(uid), 2))    0123456789ABCDEF, 2
//	UNHEX(MD5(uid))             all bytes, 16
//	REVERSE(id::text)           0123456789, 4: the last digits of numbers, of which there may be fewer
//	uid                         not known
func Lead(e Expr) Leading {
	c, ok := e.(*Call)
	switch {
	case !ok || c.Func.Key == nil:
	case c.Func.Key.HexDigits:
		return Leading{"0123456789abcdef", Width(c)}
	case c.Func.Key.Lead != nil:
		return c.Func.Key.Lead(c, Lead(c.Args[0]))
	}
	return Leading{}
}

// cut returns of without its first from bytes, limited to n bytes.
func (of Leading) cut(from, n int64) Leading {
	of.N = int(max(0, min(int64(of.N)-from, n)))
	return of
}

// leadReversed is Algebra.Lead of REVERSE.
func leadReversed(c *Call, of Leading) Leading {
	switch {
	case isNumeral(c.Args[0]):
		return Leading{"0123456789", numeralDigits}
	case of.N == Width(c.Args[0]):
		return of
	}
	return Leading{}
}

// numeralDigits is the number of last digits of a number that are assumed to be equally frequent.
const numeralDigits = 4

// isNumeral reports whether e is the text of an integer, perhaps with leading zeros.
func isNumeral(e Expr) bool {
	switch e := e.(type) {
	case *Cast:
		return e.Typ == types.String && e.X.Type().IsInteger()
	case *Call:
		if e.Func.Name != "LPAD" || len(e.Args) != 3 {
			return false
		}
		fill, ok := e.Args[2].(*Const)
		n, fixed := e.constInt(1)
		return ok && fill.Val.Text() == "0" && fixed && n >= numeralDigits && isNumeral(e.Args[0])
	}
	return false
}

// leadOfHex returns the Lead of the bytes that hexadecimal digits encode.
func leadOfHex(_ *Call, of Leading) Leading {
	if len(of.Chars) != 16 {
		return Leading{}
	}
	return Leading{AllBytes, of.N / 2}
}

// AllBytes are the bytes 0x00 to 0xff.
var AllBytes = func() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}()

// leadMapped returns Algebra.Lead for a function that maps the ASCII characters of a text by f.
func leadMapped(f func(string) string) func(*Call, Leading) Leading {
	return func(_ *Call, of Leading) Leading {
		b := []byte(f(of.Chars))
		slices.Sort(b)
		return Leading{string(b), of.N}
	}
}
