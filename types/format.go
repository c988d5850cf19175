package types

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// String returns the value as text for users: text unchanged, BYTES escaped, TIMESTAMP in RFC 3339 UTC with milliseconds,
// NULL as "NULL".
func (v Value) String() string { return v.Format(time.UTC) }

// Format works like String, with timestamps in the zone loc.
func (v Value) Format(loc *time.Location) string {
	switch v.typ {
	case Null:
		return "NULL"
	case Boolean:
		return strconv.FormatBool(v.i != 0)
	case TinyInt, SmallInt, Int, BigInt:
		return strconv.FormatInt(v.i, 10)
	case Float, Double:
		if f := v.Double(); v.typ == Float && float64(float32(f)) == f {
			return formatFloat(f, 32)
		}
		return formatFloat(v.Double(), 64) // a cell of a FLOAT may hold another double
	case Decimal:
		return v.d.Text('f')
	case Bytes:
		return EscapeBytes(v.s)
	case Date:
		return FormatDate(v.i)
	case Time:
		return FormatTime(v.i)
	case Timestamp:
		return time.UnixMilli(v.i).In(loc).Format("2006-01-02T15:04:05.000Z07:00")
	case LocalTimestamp:
		return time.UnixMilli(v.i).UTC().Format("2006-01-02T15:04:05.000")
	case Duration:
		return formatInterval(v.Duration())
	case UUID:
		return formatUUID(v.s)
	case OID, RegClass, RegType, RegProc, RegNamespace:
		return v.formatOID()
	}
	if v.typ.IsArray() {
		return v.ArrayText(func(x Value) (string, error) { return x.elementText(loc), nil })
	}
	return v.Text()
}

// formatFloat returns the fewest digits that are closer to f than to any other number of its kind, as PostgreSQL does;
// digits halfway between two numbers do not count.
func formatFloat(f float64, bits int) string {
	least, most, whole := 1e-4, 1e15, float64(1<<53) // the range without an exponent; the limit above which there is no fraction
	if bits == 32 {
		least, most, whole = float64(float32(least)), 1e6, 1<<24
	}
	a := math.Abs(f)
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case a >= whole:
		s := strconv.FormatFloat(f, 'e', -1, bits)
		for digits := 0; digits < 17 && halfway(s, f, bits); digits++ {
			s = strconv.FormatFloat(f, 'e', digits, bits)
			if x, err := strconv.ParseFloat(s, bits); err != nil || x != f {
				s = strconv.FormatFloat(f, 'e', -1, bits)
			}
		}
		return s
	case f != 0 && (a < least || a >= most):
		return strconv.FormatFloat(f, 'e', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

// halfway reports whether the number s is halfway between f and the next float.
func halfway(s string, f float64, bits int) bool {
	exact := func(f float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(f) }
	x, ok := new(big.Float).SetPrec(2000).SetString(s)
	if !ok {
		return false
	}
	d := x.Sub(x, exact(f))
	next := math.Inf(d.Sign())
	if bits == 32 {
		next = float64(math.Nextafter32(float32(f), float32(next)))
	} else {
		next = math.Nextafter(f, next)
	}
	gap := exact(next)
	gap.Sub(gap, exact(f))
	return d.Mul(d, exact(2)).Cmp(gap) == 0
}

// FormatDate formats days since 1970-01-01 as 2006-01-02.
func FormatDate(days int64) string {
	return time.Unix(days*86400, 0).UTC().Format("2006-01-02")
}

// FormatTime formats milliseconds since midnight as 15:04:05, with milliseconds if they are not zero.
func FormatTime(ms int64) string {
	s := fmt.Sprintf("%02d:%02d:%02d", ms/3_600_000, ms/60_000%60, ms/1000%60)
	if ms%1000 != 0 {
		s += fmt.Sprintf(".%03d", ms%1000)
	}
	return s
}

// EscapeBytes prints bytes: printable ASCII unchanged, the backslash and all others as \xNN.
func EscapeBytes(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '\\' {
			fmt.Fprintf(&b, `\x%02X`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// UnescapeBytes reads the output of EscapeBytes; a character outside ASCII is read as its UTF-8 bytes. A backslash that
// does not begin \xNN is an error.
func UnescapeBytes(s string) (string, error) {
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s, nil
	}
	out := append([]byte(nil), s[:at]...)
	for i := at; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		if i+4 > len(s) || s[i+1] != 'x' {
			return "", fmt.Errorf(`a backslash in bytes must begin \xNN (write a backslash as \x5C)`)
		}
		c, err := strconv.ParseUint(s[i+2:i+4], 16, 8)
		if err != nil {
			return "", fmt.Errorf(`%s in bytes is not \xNN`, s[i:i+4])
		}
		out = append(out, byte(c))
		i += 3
	}
	return string(out), nil
}

// ReadEscaped reads PostgreSQL's text of bytes: \NNN is a byte in octal digits, \\ a backslash; all other characters
// are themselves.
func ReadEscaped(s string) (b string, ok bool) {
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s, true
	}
	out := []byte(s[:at])
	for i := at; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			out = append(out, s[i])
		case strings.HasPrefix(s[i+1:], `\`):
			out = append(out, '\\')
			i++
		case i+4 > len(s):
			return "", false
		default:
			c, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				return "", false
			}
			out = append(out, byte(c))
			i += 3
		}
	}
	return string(out), true
}

// SQL returns a literal with an equal value.
func (v Value) SQL() string {
	switch v.typ {
	case Null:
		return "NULL"
	case Boolean:
		return strings.ToUpper(strconv.FormatBool(v.i != 0))
	case Float, Double:
		if f := v.Double(); math.IsNaN(f) || math.IsInf(f, 0) {
			return "CAST('" + v.String() + "' AS " + v.typ.String() + ")"
		}
		return v.String()
	case TinyInt, SmallInt, Int, BigInt, Decimal:
		return v.String()
	case Bytes:
		return fmt.Sprintf("X'%X'", v.s)
	case Date:
		return "DATE '" + v.String() + "'"
	case Time:
		return "TIME '" + v.String() + "'"
	case Timestamp:
		t := time.UnixMilli(v.i).UTC()
		if v.i%1000 == 0 {
			return "TIMESTAMP '" + t.Format("2006-01-02 15:04:05") + "'"
		}
		return "TIMESTAMP '" + t.Format("2006-01-02 15:04:05.000") + "'"
	case LocalTimestamp:
		return "CAST('" + strings.Replace(v.String(), "T", " ", 1) + "' AS " + v.typ.String() + ")"
	case Duration:
		return "INTERVAL '" + v.String() + "'"
	case String:
		return quote(v.s)
	case UUID:
		return "UUID '" + v.String() + "'"
	}
	return "CAST(" + quote(v.String()) + " AS " + v.typ.String() + ")"
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// AppendJSON appends the value as JSON: numbers as numbers, JSON inline, the rest as strings.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.typ {
	case Null:
		return append(dst, "null"...)
	case Boolean, TinyInt, SmallInt, Int, BigInt, Decimal:
		return append(dst, v.String()...)
	case Float, Double:
		if f := v.Double(); math.IsNaN(f) || math.IsInf(f, 0) {
			return appendJSONString(dst, v.String())
		}
		return append(dst, v.String()...)
	case OID:
		return append(dst, v.String()...)
	case JSONB:
		if n, ok := ReadJSON(v.s); ok {
			return n.append(dst, false, "")
		}
	case JSON:
		var b bytes.Buffer
		if json.Compact(&b, []byte(v.s)) == nil {
			return append(dst, b.Bytes()...)
		}
	}
	if v.typ.IsArray() {
		return v.appendArrayJSON(dst)
	}
	return appendJSONString(dst, v.String())
}

// appendJSONString appends s quoted. A byte 0xNN that is not UTF-8 becomes \udcNN, as in Python's "surrogateescape":
// half of a surrogate pair, which no other text contains. UnquoteJSON reads it.
func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, '\\', 'n')
			case c == '\t':
				dst = append(dst, '\\', 't')
			case c == '\r':
				dst = append(dst, '\\', 'r')
			case c == '\b':
				dst = append(dst, '\\', 'b')
			case c == '\f':
				dst = append(dst, '\\', 'f')
			case c < 0x20:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			default:
				dst = append(dst, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, '\\', 'u', 'd', 'c', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

// jsonEscapes finds escaped characters; its group holds the last two digits of a byte that is not UTF-8.
var jsonEscapes = compiled(`(?i)\\u(?:d[89ab][0-9a-f]{2}\\u[0-9a-f]{4}|dc([89a-f][0-9a-f]))|\\.`)

// UnquoteJSON returns the text of a JSON string, with the bytes that AppendJSON escaped.
func UnquoteJSON(quoted string) (string, error) {
	var out strings.Builder
	at := 1
	for _, m := range jsonEscapes().FindAllStringSubmatchIndex(quoted, -1) {
		if m[2] < 0 {
			continue
		}
		if err := unquote(&out, quoted[:1]+quoted[at:m[0]]+quoted[:1]); err != nil {
			return "", err
		}
		c, err := strconv.ParseUint(quoted[m[2]:m[3]], 16, 8)
		if err != nil {
			return "", err
		}
		out.WriteByte(byte(c))
		at = m[1]
	}
	err := unquote(&out, quoted[:1]+quoted[at:])
	return out.String(), err
}

func unquote(out *strings.Builder, quoted string) error {
	var s string
	err := json.Unmarshal([]byte(quoted), &s)
	out.WriteString(s)
	return err
}
