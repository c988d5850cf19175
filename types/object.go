package types

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// NewUUID makes a UUID of 16 bytes.
func NewUUID(b string) Value { return Value{typ: UUID, s: b} }

// NewName makes a NAME.
func NewName(s string) Value { return Value{typ: Name, s: s} }

// NewChar makes a "char" of at most one byte.
func NewChar(s string) Value { return Value{typ: Char, s: s} }

// NewOID makes an OID.
func NewOID(n uint32) Value { return Value{typ: OID, i: int64(n)} }

// NewNamedOID makes a value of REGCLASS and similar types: an OID with the name of its object, "" if there is none.
func NewNamedOID(t Type, n uint32, name string) Value { return Value{typ: t, i: int64(n), s: name} }

func toUUID(v Value) (Value, error) {
	switch {
	case v.typ == Bytes && len(v.s) == 16:
		return NewUUID(v.s), nil
	case v.typ == Bytes:
		return Value{}, fmt.Errorf("a UUID has 16 bytes, not %d", len(v.s))
	case v.typ.IsText():
		if b, ok := parseUUID(v.s); ok {
			return NewUUID(b), nil
		}
		return Value{}, fmt.Errorf("invalid UUID %s", Short(v.s))
	}
	return Value{}, fmt.Errorf("%s cannot be cast to UUID", v.typ)
}

// parseUUID parses 32 hexadecimal digits in upper or lower case. Braces around them, and hyphens after any group of four,
// are optional.
func parseUUID(s string) (string, bool) {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		if s, ok = strings.CutSuffix(inner, "}"); !ok {
			return "", false
		}
	}
	digits := make([]byte, 0, 32)
	for i := range len(s) {
		if s[i] != '-' {
			digits = append(digits, s[i])
		} else if len(digits) == 0 || len(digits)%4 != 0 || len(digits) == 32 || s[i-1] == '-' {
			return "", false
		}
	}
	b, err := hex.DecodeString(string(digits))
	return string(b), err == nil && len(b) == 16
}

func formatUUID(s string) string {
	if len(s) != 16 {
		return EscapeBytes(s)
	}
	h := hex.EncodeToString([]byte(s))
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// maxName is the greatest number of bytes of a NAME.
const maxName = 63

// Kept is the type of a column that is declared with t: a NAME is kept as STRING, an OID as BIGINT.
func (t Type) Kept() Type {
	switch {
	case t.IsArray():
		return ArrayOf(t.Elem().Kept())
	case t == Name:
		return String
	case t == OID:
		return BigInt
	}
	return t
}

func toName(v Value, to Type, loc *time.Location) (Value, error) {
	if v.typ == Char && to == Name {
		return NewName(v.s), nil
	}
	s, err := Cast(v, String, loc)
	if err != nil {
		return s, err
	}
	if to == Char {
		return NewChar(s.s[:min(len(s.s), 1)]), nil
	}
	return NewName(strings.ToValidUTF8(s.s[:min(len(s.s), maxName)], "")), nil
}

// toOID converts numbers and their texts. The system catalog converts the names of objects.
func toOID(v Value, to Type) (Value, error) {
	n := v.i
	switch {
	case v.typ.isCount():
	case v.typ.IsText() && v.s == "-" && to != OID:
		n = 0
	case v.typ.IsText():
		i, err := strconv.ParseInt(trimmed(v.s), 10, 64)
		if err != nil && to != OID {
			return Value{}, fmt.Errorf("%s: there is no %s of that name", Short(v.s), to.object())
		}
		if err != nil {
			return Value{}, fmt.Errorf("invalid number %s", Short(v.s))
		}
		n = i
	default:
		return Value{}, fmt.Errorf("%s cannot be cast to %s", v.typ, to)
	}
	if n < 0 && n >= -1<<31 {
		n += 1 << 32
	}
	if n < 0 || n >= 1<<32 {
		return Value{}, fmt.Errorf("%s out of range: %d", to, v.i)
	}
	return Value{typ: to, i: n}, nil
}

// object returns the kind of object to which values of t refer.
func (t Type) object() string {
	switch t {
	case RegClass:
		return "table, index or view"
	case RegProc:
		return "function"
	case RegNamespace:
		return "schema"
	}
	return "type"
}

func (v Value) formatOID() string {
	switch {
	case v.s != "":
		return v.s
	case v.i == 0 && v.typ != OID:
		return "-"
	}
	return strconv.FormatInt(v.i, 10)
}
