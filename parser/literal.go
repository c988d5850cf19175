package parser

import (
	"encoding/hex"
	"strings"

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

// decode returns the value of a string token, '..', E'..' or $$..$$, or of a bytes token, X'00ff' or b'\x00a'.
func decode(t *lexer.Token) (string, error) {
	switch t.Value[0] {
	case '\'':
		return unquote(t.Value), nil
	case '$':
		tag := strings.IndexByte(t.Value[1:], '$') + 2
		return t.Value[tag : len(t.Value)-tag], nil
	case 'x', 'X':
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
	'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '0': 0, '\\': '\\', '\'': '\'', '"': '"', '%': '%', '_': '_',
}

// unescape replaces the backslash escapes in the token's text, which begins at from after the opening quote: \xNN,
// \n, \t, \r, \b, \f, \0, \\, \', \".
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

func badEscape(t *lexer.Token, at int, escape string) error {
	return Errorf(Pos(t.Pos.Offset+at), "unknown escape %s", escape).
		WithHint(`escapes are \xNN, \n, \t, \r, \b, \f, \0, \\ and \'`)
}

// quoteText returns a string literal with the text s.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
