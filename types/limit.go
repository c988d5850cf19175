package types

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
)

// Limit is the limit in parentheses after a type: VARCHAR(20), DECIMAL(10,2). The zero Limit is unlimited.
type Limit struct{ *limit }

type limit struct {
	name   string // the type as written
	length int64  // characters of a text, digits of a DECIMAL
	scale  int64  // decimals of a DECIMAL
	blank  bool   // of CHAR: spaces at the end are ignored
}

const mostChars = 10_485_760 // as in PostgreSQL

// ParseLimit reads the limit of a type that ParseType knows. Only STRING and DECIMAL can have one.
func ParseLimit(name string) (l Limit, err error) {
	name = strings.ToUpper(name)
	word, list, ok := strings.Cut(strings.TrimSuffix(name, ")"), "(")
	t, known := ParseType(name)
	if !ok || !known || t != String && t != Decimal {
		return l, nil
	}
	l = Limit{&limit{name: name, blank: word == "CHAR" || word == "CHARACTER"}}
	bad := fmt.Errorf("%s is not a valid type", name)
	parts := strings.Split(list, ",")
	for i, to := range []*int64{&l.length, &l.scale}[:min(len(parts), 2)] {
		n, err := Cast(NewString(parts[i]), BigInt, nil)
		if err != nil {
			return l, bad
		}
		*to = n.Int()
	}
	switch {
	case t == String && (len(parts) > 1 || l.length < 1 || l.length > mostChars),
		t == Decimal && (len(parts) > 2 || l.length < 1 || l.length > 1000 || l.scale > 1000):
		return l, bad
	}
	return l, nil
}

// Store returns v in the form in which a column with the limit stores it: it rounds a DECIMAL, and refuses a text that is
// too long. It cuts off spaces at the end of a text.
func (l Limit) Store(v Value) (Value, error) {
	switch {
	case l.limit == nil || v.IsNull():
		return v, nil
	case v.typ == Decimal:
		return RoundDecimal(v, l.length, l.scale)
	}
	out := l.cut(v.s)
	if strings.TrimRight(v.s[len(out):], " ") != "" {
		return v, fmt.Errorf("%s is too long for %s", Short(v.s), l.name)
	}
	return l.Compared(NewString(out)), nil
}

// Blank reports whether l is the limit of a CHAR. Values of a CHAR have no spaces at their end.
func (l Limit) Blank() bool { return l.limit != nil && l.blank }

// Untyped is the Limit of literals and arguments, texts that take the type of the other side of a comparison. It is also
// that of BIGINTs that PostgreSQL computes as INTs.
var Untyped = Limit{&limit{name: "unknown"}}

// Loose reports whether spaces at the end of a text with the limit l mean nothing in a comparison with a CHAR(n): l is
// Untyped or that of a VARCHAR(n).
func (l Limit) Loose() bool { return l.limit != nil && !l.blank }

// Compared returns v without the spaces at its end, if l says that these mean nothing.
func (l Limit) Compared(v Value) Value {
	if l.Blank() && v.typ == String {
		return NewString(strings.TrimRight(v.s, " "))
	}
	return v
}

// Size returns the characters of a text or the digits of a DECIMAL, and its scale; ok is false without a limit.
func (l Limit) Size() (length, scale int64, ok bool) {
	if l.limit == nil || l.length == 0 {
		return 0, 0, false
	}
	return l.length, l.scale, true
}

// Includes reports whether each value of type t that a column with the limit o stores also fits l, and is shown alike.
func (l Limit) Includes(o Limit, t Type) bool {
	switch {
	case l.limit == nil:
		return o.limit == nil || t == String || t == Decimal
	case o.limit == nil:
		return false
	}
	return l.length >= o.length && l.scale == o.scale && l.blank == o.blank
}

// cut returns the first characters of s.
func (l Limit) cut(s string) string {
	if int64(len(s)) <= l.length {
		return s
	}
	at := 0
	for n := int64(0); n < l.length && at < len(s); n++ {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at]
}

// RoundDecimal rounds v to scale decimals. It fails if the result has more than digits digits.
func RoundDecimal(v Value, digits, scale int64) (Value, error) {
	ctx := Wide
	ctx.Traps &^= apd.Inexact
	d := new(apd.Decimal)
	if _, err := ctx.Quantize(d, v.d, int32(-scale)); err != nil || !d.IsZero() && d.NumDigits() > digits {
		return v, fmt.Errorf("%s does not fit DECIMAL(%d,%d)", v, digits, scale)
	}
	return NewDecimal(d), nil
}

// Modifier returns the limit as PostgreSQL's catalog encodes it, or -1 for none.
func (l Limit) Modifier() int {
	switch {
	case l.limit == nil || l.length == 0:
		return -1
	case strings.HasPrefix(l.name, "DEC"), strings.HasPrefix(l.name, "NUM"):
		return int(l.length<<16|l.scale&0x7ff) + 4
	}
	return int(l.length) + 4
}
