package parser

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// unquote removes the quotes of a token, and replaces doubled quotes inside by one: 'it”s', "a""b".
func unquote(quoted string) string {
	q := quoted[:1]
	return strings.ReplaceAll(quoted[1:len(quoted)-1], q+q, q)
}

// text returns the value of a string or bytes token, which the lexer has checked.
func text(t *lexer.Token) string {
	s, _ := decode(t)
	return s
}

// decode returns the value of a string token, '..', E'..', U&'..' or $$..$$, or of a bytes token, X'00ff' or b'\x00a'.
func decode(t *lexer.Token) (string, error) {
	switch t.Value[0] {
	case '\'':
		return unquote(t.Value), nil
	case '$':
		tag := strings.IndexByte(t.Value[1:], '$') + 2
		return t.Value[tag : len(t.Value)-tag], nil
	case 'x', 'X':
	case 'u', 'U':
		var q scanned
		q.quoted(t.Value, 2, StringToken, false)
		escape := `\`
		if q.end < len(t.Value) { // UESCAPE '!'
			escape = unquote(t.Value[strings.IndexByte(t.Value[q.end:], '\'')+q.end:])
		}
		s, err := UnicodeText(unquote(t.Value[2:q.end]), escape, false)
		if err != nil {
			err = Errorf(Pos(t.Pos.Offset), "%v", err)
		}
		return s, err
	default:
		return unescape(t, 2)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(t.Value[2:len(t.Value)-1], " ", ""))
	if err != nil {
		return "", Errorf(Pos(t.Pos.Offset), "%s is not an even number of hexadecimal digits", clip(t.Value))
	}
	return string(b), nil
}

var simpleEscapes = map[byte]byte{
	'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '\\': '\\', '\'': '\'', '"': '"', '%': '%', '_': '_',
}

// unescape replaces the backslash escapes in the token's text, which begins at from after the opening quote: \xNN,
// \n, \t, \r, \b, \f, \ooo in octal digits, \\, \', \", \u0061, \U00000061.
func unescape(t *lexer.Token, from int) (string, error) {
	s := t.Value[from : len(t.Value)-1]
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			i++ // a doubled quote; the scanner has checked that
			out.WriteByte('\'')
		case s[i] != '\\':
			out.WriteByte(s[i])
		case i+3 < len(s) && (s[i+1] == 'x' || s[i+1] == 'X'):
			b, err := hex.DecodeString(s[i+2 : i+4])
			if err != nil {
				return "", badEscape(t, from+i, s[i:i+4])
			}
			out.WriteByte(b[0])
			i += 3
		case octal.MatchString(s[i:]):
			digits := octal.FindString(s[i:])[1:]
			b, _ := strconv.ParseUint(digits, 8, 16)
			out.WriteByte(byte(b))
			i += len(digits)
		case unicodeRun.MatchString(s[i:]):
			run := unicodeRun.FindString(s[i:])
			text, err := UnicodeText(run, `\`, true)
			if err != nil {
				return "", Errorf(Pos(t.Pos.Offset+from+i), "%v", err)
			}
			out.WriteString(text)
			i += len(run) - 1
		default:
			c, ok := simpleEscapes[s[i+1]]
			if !ok {
				return "", badEscape(t, from+i, s[i:i+2])
			}
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), nil
}

var (
	codePoint  = regexp.MustCompile(`^(?:u?[0-9a-fA-F]{4}|\+[0-9a-fA-F]{6}|U[0-9a-fA-F]{8})`)
	octal      = regexp.MustCompile(`^\\[0-7]{1,3}`)
	unicodeRun = regexp.MustCompile(`^(?:\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8})+`)
)

// UnicodeText replaces the escapes in s by the characters of these code points: \0061 and \+000061, with letters also
// \u0061 and \U00000061; two following ones may be a surrogate pair. escape stands for the backslash, and twice for itself.
func UnicodeText(s, escape string, letters bool) (string, error) {
	var out strings.Builder
	high := rune(0) // the first one of a surrogate pair
	for s != "" {
		before, rest, found := strings.Cut(s, escape)
		if out.WriteString(before); !found {
			break
		}
		if high == 0 && strings.HasPrefix(rest, escape) {
			out.WriteString(escape)
			s = rest[len(escape):]
			continue
		}
		digits := codePoint.FindString(rest)
		n, _ := strconv.ParseUint(strings.TrimLeft(digits, "+uU"), 16, 32)
		r := rune(min(n, unicode.MaxRune+1))
		if high != 0 {
			if r, high = utf16.DecodeRune(high, r), 0; before != "" || r == utf8.RuneError {
				r = 0
			}
		}
		if r == 0 || r > unicode.MaxRune || r >= 0xDC00 && utf16.IsSurrogate(r) || !letters && rest[0]|' ' == 'u' {
			form := "0061 or " + escape + "+000061"
			if letters {
				form = "u0061 or " + escape + "U00000061"
			}
			return "", fmt.Errorf("%s does not begin with the Unicode escape of a character: write %[2]s%s, and %[2]s%[2]s for %[2]s itself", clip(escape+rest), escape, form)
		}
		if s = rest[len(digits):]; utf16.IsSurrogate(r) {
			high = r
		} else {
			out.WriteRune(r)
		}
	}
	if high != 0 {
		return "", errors.New("a Unicode escape of half a surrogate pair must stand in front of one of the other half")
	}
	return out.String(), nil
}

func badEscape(t *lexer.Token, at int, escape string) error {
	return Errorf(Pos(t.Pos.Offset+at), "unknown escape %s", escape).
		WithHint(`escapes are \xNN, \uNNNN, \NNN, \n, \t, \r, \b, \f, \\ and \'`)
}

// quoteText returns a string literal with the text s.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
