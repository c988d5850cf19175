package functions

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

type evalFunc = func(env *expr.Env, a []types.Value) (types.Value, error)

// text1 returns an evaluator for a function of one text.
func text1(f func(string) string) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) { return types.NewString(f(a[0].Text())), nil }
}

var stringFunctions = []expr.Function{
	{Name: "LENGTH", Group: "string", Small: true, Signature: "length(text) bigint", Doc: "Number of characters; of bytes for BYTES.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isBytes), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if a[0].Type() == types.Bytes {
				return types.NewInt(int64(len(a[0].Text()))), nil
			}
			return types.NewInt(int64(utf8.RuneCountInString(a[0].Text()))), nil
		}, Key: lengthAlgebra},
	{Name: "OCTET_LENGTH", Group: "string", Small: true, Signature: "octet_length(text) bigint", Doc: "Number of bytes.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isBytes), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewInt(int64(len(a[0].Text()))), nil
		}, Key: lengthAlgebra},
	{Name: "LOWER", Group: "string", Signature: "lower(text) text", Doc: "Lower case.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: text1(strings.ToLower), Key: caseAlgebra(lowerForms, strings.ToLower)},
	{Name: "UPPER", Group: "string", Signature: "upper(text) text", Doc: "Upper case.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: text1(strings.ToUpper), Key: caseAlgebra(upperForms, strings.ToUpper)},
	{Name: "INITCAP", Group: "string", Unknown: "many texts give the same", Key: &expr.Algebra{Begun: begun(nil)}, Signature: "initcap(text) text", Doc: "First letter of each word in upper case, the rest in lower case.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: text1(initCap)},
	{Name: "REVERSE", Group: "string", Signature: "reverse(text) text", Doc: "The characters in reverse order.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: text1(expr.ReverseString), Key: reverseAlgebra},
	{Name: "REVERSE_DOMAIN", Group: "string", Signature: "reverse_domain(text) text", Doc: "The labels between dots in reverse order: www.example.com is com.example.www.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: text1(reverseDomain), Key: reverseDomainAlgebra},
	{Name: "LEFT", Group: "string", Signature: "left(text, n) text", Doc: "The first n characters; all but the last -n when n is negative.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isText, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewString(left(a[0].Text(), a[1].Int())), nil
		}, Key: leftAlgebra},
	{Name: "RIGHT", Group: "string", Signature: "right(text, n) text", Doc: "The last n characters; all but the first -n when n is negative.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isText, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewString(right(a[0].Text(), a[1].Int())), nil
		}, Key: &expr.Algebra{Inverse: invertRight, Matches: matchRight, Most: mostOf(1), Lead: func(c *expr.Call, of expr.Leading) expr.Leading { return of.Cut(0, int64(expr.Width(c))) }, Width: func(c *expr.Call) int {
			if n, ok := c.ConstInt(1); ok && n >= 0 && n <= int64(hexWidth(c.Args[0])) {
				return int(n)
			}
			return 0
		}}},
	{Name: "SUBSTRING", Group: "string", Signature: "substring(text, from [, n]) text", Doc: "n characters from the given one on, counted from 1.", MinArgs: 2, MaxArgs: 3,
		Reads: []types.Type{types.Null, types.Int, types.Int}, Result: sameAs(0, isBytes, isInt), Eval: substring, Key: &expr.Algebra{Inverse: invertSubstring, Begun: begun(decidesSubstring), Matches: matchSubstring, Most: mostOf(2), Lead: func(c *expr.Call, of expr.Leading) expr.Leading {
			from, _ := c.ConstInt(1)
			return of.Cut(from-1, int64(expr.Width(c)))
		}, Width: func(c *expr.Call) int {
			w := int64(hexWidth(c.Args[0]))
			from, ok := c.ConstInt(1)
			if w == 0 || !ok || from < 1 || from > w {
				return 0
			}
			w -= from - 1
			if len(c.Args) == 3 {
				if n, ok := c.ConstInt(2); ok && n >= 0 {
					return int(min(w, n))
				}
				return 0
			}
			return int(w)
		}}},
	{Name: "BTRIM", Group: "string", Signature: "trim(text [, characters]) text", Doc: "Without the characters (spaces) at both ends.", MinArgs: 1, MaxArgs: 2,
		Result: returns(types.String, isText), Eval: trim(strings.Trim), Key: trimAlgebra(true, true)},
	{Name: "LTRIM", Group: "string", Signature: "ltrim(text [, characters]) text", Doc: "Without the characters (spaces) at the start.", MinArgs: 1, MaxArgs: 2,
		Result: returns(types.String, isText), Eval: trim(strings.TrimLeft), Key: trimAlgebra(true, false)},
	{Name: "RTRIM", Group: "string", Signature: "rtrim(text [, characters]) text", Doc: "Without the characters (spaces) at the end.", MinArgs: 1, MaxArgs: 2,
		Result: returns(types.String, isText), Eval: trim(strings.TrimRight), Key: trimAlgebra(false, true)},
	{Name: "LPAD", Group: "string", Signature: "lpad(text, n [, fill]) text", Doc: "Filled at the start, or cut at the end, to n characters.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.String, isText, isInt, isText), Eval: pad(true), Key: padAlgebra},
	{Name: "RPAD", Group: "string", Signature: "rpad(text, n [, fill]) text", Doc: "Filled or cut at the end to n characters.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.String, isText, isInt, isText), Eval: pad(false), Key: padAlgebra},
	{Name: "REPLACE", Group: "string", Key: mapped(decidesReplaced), Signature: "replace(text, from, to) text", Doc: "Every occurrence of from replaced.", MinArgs: 3, MaxArgs: 3,
		Result: returns(types.String, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			s, from, to := a[0].Text(), a[1].Text(), a[2].Text()
			if from == "" {
				return a[0], nil
			}
			if n := strings.Count(s, from); n*len(to) > expr.MaxText {
				return types.Value{}, expr.ErrTooLong
			}
			return types.NewString(strings.ReplaceAll(s, from, to)), nil
		}},
	{Name: "TRANSLATE", Group: "string", Key: mapped(nil), Signature: "translate(text, from, to) text", Doc: "Each character in from replaced by the one at its place in to, or dropped.", MinArgs: 3, MaxArgs: 3,
		Result: returns(types.String, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			from, to := []rune(a[1].Text()), []rune(a[2].Text())
			return types.NewString(strings.Map(func(r rune) rune {
				for i, f := range from {
					if f == r {
						if i < len(to) {
							return to[i]
						}
						return -1
					}
				}
				return r
			}, a[0].Text())), nil
		}},
	{Name: "POSITION", Group: "string", Small: true, Signature: "strpos(text, part) bigint", Doc: "The position where part first occurs, from 1; 0 if it does not occur.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.BigInt, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			i := strings.Index(a[0].Text(), a[1].Text())
			if i < 0 {
				return types.NewInt(0), nil
			}
			return types.NewInt(int64(utf8.RuneCountInString(a[0].Text()[:i])) + 1), nil
		}, Key: &expr.Algebra{Inverse: invertPosition, Matches: matchPosition}},
	{Name: "SPLIT_PART", Group: "string", Signature: "split_part(text, delimiter, n) text", Doc: "The n-th field, counted from 1, or from the end when negative.", MinArgs: 3, MaxArgs: 3,
		Result: returns(types.String, isText, isText, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			fields, n := strings.Split(a[0].Text(), a[1].Text()), a[2].Int()
			if a[1].Text() == "" {
				fields = []string{a[0].Text()}
			}
			switch {
			case n == 0:
				return types.Value{}, errors.New("field position must not be zero")
			case n < 0:
				n = int64(len(fields)) + n + 1
			}
			if n < 1 || n > int64(len(fields)) {
				return types.NewString(""), nil
			}
			return types.NewString(fields[n-1]), nil
		}, Key: &expr.Algebra{Inverse: invertSplit, Begun: begun(decidesField), Matches: matchSplit}},
	{Name: "CONCAT", Group: "string", Joins: &expr.Join{SkipsNull: true}, Binds: "compared with a text, by all ways to cut that text", Signature: "concat(a, ...) text", Doc: "The texts of all arguments that are not NULL.", MinArgs: 1, MaxArgs: -1, NullArgs: true,
		Result: returns(types.String), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) { return concat(env, "", a) }},
	{Name: "CONCAT_WS", Group: "string", Joins: &expr.Join{Separated: true, SkipsNull: true}, Binds: "compared with a text, by all ways to cut that text", Signature: "concat_ws(separator, a, ...) text", Doc: "The texts of all arguments that are not NULL, separated.", MinArgs: 2, MaxArgs: -1, NullArgs: true,
		Result: returns(types.String, isText, isAny), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			if a[0].IsNull() {
				return types.Value{}, nil
			}
			return concat(env, a[0].Text(), a[1:])
		}},
	{Name: "ROW", Group: "string", Unknown: "a row is compared value by value", Signature: "row(a, ...) text", Doc: "The text of a row value: (1,x,\"a b\").", MaxArgs: -1, NullArgs: true,
		Result: returns(types.String), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			parts, size := make([]string, len(a)), 2
			for i, v := range a {
				if v.IsNull() {
					continue
				}
				s, err := plainText(env, v)
				if err != nil {
					return types.Value{}, err
				}
				if s == "" || strings.ContainsAny(s, "\"\\(), \t\n\r\v\f") {
					s = `"` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(s) + `"`
				}
				if parts[i], size = s, size+len(s)+1; size > expr.MaxText {
					return types.Value{}, expr.ErrTooLong
				}
			}
			return types.NewString("(" + strings.Join(parts, ",") + ")"), nil
		}},
	{Name: "REPEAT", Group: "string", Unknown: "few conditions ask for a repetition", Signature: "repeat(text, n) text", Doc: "The text n times.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isText, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			n := max(a[1].Int(), 0)
			if s := a[0].Text(); len(s) > 0 && n > int64(expr.MaxText/len(s)) {
				return types.Value{}, expr.ErrTooLong
			}
			return types.NewString(strings.Repeat(a[0].Text(), int(n))), nil
		}},
	{Name: "STARTS_WITH", Group: "string", Signature: "starts_with(text, prefix) boolean", Doc: "Whether the text starts with the prefix.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewBool(strings.HasPrefix(a[0].Text(), a[1].Text())), nil
		}, Key: conditionAlgebra(false, func(c *expr.Call) (types.Set, bool, bool) {
			return types.SetOf(types.PrefixInterval(types.String, c.ConstText(1))), true, true
		})},
	{Name: "ASCII", Group: "string", Small: true, Signature: "ascii(text) bigint", Doc: "The code point of the first character; 0 for an empty text.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if a[0].Text() == "" {
				return types.NewInt(0), nil
			}
			r, _ := utf8.DecodeRuneInString(a[0].Text())
			return types.NewInt(int64(r)), nil
		}, Key: &expr.Algebra{Inverse: invertASCII}},
	{Name: "CHR", Group: "string", Unknown: "characters of one code point are not sought", Signature: "chr(n) text", Doc: "The character with that code point.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if n := a[0].Int(); n > 0 && n <= unicode.MaxRune && !utf16.IsSurrogate(rune(n)) {
				return types.NewString(string(rune(n))), nil
			}
			return types.Value{}, fmt.Errorf("%d is not a valid character code", a[0].Int())
		}},
	{Name: "UNISTR", Group: "string", Unknown: "several texts give the same", Signature: "unistr(text) text", Doc: `With the characters for \0061, \+000061, \u0061 and \U00000061.`, MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			s, err := parser.UnicodeText(a[0].Text(), `\`, true)
			return types.NewString(s), err
		}},
	{Name: "HEX", Group: "string", Signature: "hex(bytes) text", Doc: "The bytes, or a text's UTF-8, in lower-case hexadecimal digits.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isBytes), Eval: text1(func(s string) string { return hex.EncodeToString([]byte(s)) }),
		Key: &expr.Algebra{Inverse: invertHex}},
	{Name: "UNHEX", Group: "string", Unknown: "several texts mean the same bytes", Signature: "unhex(text) bytes", Doc: "The bytes that hexadecimal digits represent.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.Bytes, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			b, err := hex.DecodeString(a[0].Text())
			if err != nil {
				return types.Value{}, fmt.Errorf("%s is not hexadecimal", a[0].SQL())
			}
			return types.NewBytes(string(b)), nil
		}, Key: &expr.Algebra{Lead: leadOfHex, Width: func(c *expr.Call) int { return expr.Width(c.Args[0]) / 2 }}},
	{Name: "ENCODE", Group: "string", Signature: "encode(bytes, format) text", Doc: "Bytes as 'hex', 'base64' or 'escape' text.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, isBytes, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			switch strings.ToLower(a[1].Text()) {
			case "hex":
				return types.NewString(hex.EncodeToString([]byte(a[0].Text()))), nil
			case "base64":
				s := base64.StdEncoding.EncodeToString([]byte(a[0].Text()))
				lines := slices.Collect(slices.Chunk([]byte(s), 76)) // the line length of MIME
				return types.NewString(string(bytes.Join(lines, []byte("\n")))), nil
			case "escape":
				var b strings.Builder
				for _, c := range []byte(a[0].Text()) {
					switch {
					case c == 0 || c > 127:
						fmt.Fprintf(&b, `\%03o`, c)
					case c == '\\':
						b.WriteString(`\\`)
					default:
						b.WriteByte(c)
					}
				}
				return types.NewString(b.String()), nil
			}
			return types.Value{}, fmt.Errorf("unknown format %s (hex, base64 or escape)", a[1].SQL())
		}, Key: &expr.Algebra{Inverse: func(c *expr.Call, out types.Set, within expr.Window) (types.Set, bool, bool) {
			if !strings.EqualFold(c.ConstText(1), "hex") {
				return nil, false, false
			}
			return invertHex(c, out, within)
		}}},
	{Name: "DECODE", Group: "string", Unknown: "several texts mean the same bytes", Signature: "decode(text, format) bytes", Doc: "The bytes of 'hex', 'base64' or 'escape' text.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Bytes, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			var b []byte
			var err error
			switch strings.ToLower(a[1].Text()) {
			case "hex":
				b, err = hex.DecodeString(withoutSpace.Replace(a[0].Text()))
			case "base64":
				b, err = base64.StdEncoding.DecodeString(withoutSpace.Replace(a[0].Text()))
			case "escape":
				if s, ok := types.ReadEscaped(a[0].Text()); ok {
					b = []byte(s)
				} else {
					err = errors.New(`a backslash must be followed by another one or by three octal digits`)
				}
			default:
				return types.Value{}, fmt.Errorf("unknown format %s (hex, base64 or escape)", a[1].SQL())
			}
			if err != nil {
				return types.Value{}, fmt.Errorf("%s is not %s", a[0].SQL(), a[1].Text())
			}
			return types.NewBytes(string(b)), nil
		}},
	{Name: "BIT_LENGTH", Group: "string", Small: true, Unknown: "OCTET_LENGTH says it as well", Signature: "bit_length(text) bigint", Doc: "Number of bits: eight times that of bytes.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.BigInt, isBytes), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewInt(8 * int64(len(a[0].Text()))), nil
		}},
	{Name: "GET_BYTE", Group: "string", Small: true, Signature: "get_byte(bytes, n) bigint", Doc: "The byte at n, counted from 0.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.BigInt, func(t types.Type) bool { return t == types.Bytes }, isInt), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			s, n := a[0].Text(), a[1].Int()
			if n < 0 || n >= int64(len(s)) {
				return types.Value{}, fmt.Errorf("there is no byte %d in %d bytes", n, len(s))
			}
			return types.NewInt(int64(s[n])), nil
		}, Key: byteAlgebra},
	{Name: "BYTE_POSITION", Group: "string", Small: true, Unknown: "bytes in the middle bind no key", Signature: "position(part IN bytes) bigint", Doc: "The position where part first occurs in BYTES, from 1; 0 if it does not occur.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.BigInt, func(t types.Type) bool { return t == types.Bytes }), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewInt(int64(strings.Index(a[0].Text(), a[1].Text())) + 1), nil
		}},
	{Name: "OVERLAY", Group: "string", Unknown: "many texts give the same", Key: &expr.Algebra{Begun: begun(decidesOverlaid)}, Signature: "overlay(text PLACING part FROM start [FOR n]) text", Doc: "The text with part in the place of n characters (as many as part has) from start on.", MinArgs: 3, MaxArgs: 4,
		Result: overlayResult, Eval: overlay},
	{Name: "QUOTE_IDENT", Group: "string", Unknown: "a text may be quoted in several ways", Signature: "quote_ident(text) text", Doc: "The text as a name in SQL: in double quotes where PostgreSQL needs them.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, isText), Eval: text1(QuoteIdent)},
	{Name: "QUOTE_LITERAL", Group: "string", Unknown: "a text may be quoted in several ways", Signature: "quote_literal(value) text", Doc: "The value's text as a constant in SQL, in single quotes.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			s, err := plainText(env, a[0])
			return types.NewString(quoteLiteral(s)), err
		}},
	{Name: "QUOTE_NULLABLE", Group: "string", Unknown: "a text may be quoted in several ways", Signature: "quote_nullable(value) text", Doc: "As quote_literal; of NULL the text NULL.", MinArgs: 1, MaxArgs: 1, NullArgs: true,
		Result: returns(types.String), Eval: func(env *expr.Env, a []types.Value) (types.Value, error) {
			if a[0].IsNull() {
				return types.NewString("NULL"), nil
			}
			s, err := plainText(env, a[0])
			return types.NewString(quoteLiteral(s)), err
		}},
	{Name: "PARSE_IDENT", Group: "string", Unknown: "a name may be quoted in several ways", Signature: "parse_ident(name [, strict]) text[]", Doc: "The parts of a name with schemas, read as SQL; unless strict, only as far as it is one.", MinArgs: 1, MaxArgs: 2,
		Result: returns(types.ArrayOf(types.String), isText, isTruth), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			parts, err := ParseIdent(a[0].Text(), len(a) == 1 || a[1].Bool())
			items := make([]types.Value, len(parts))
			for i, p := range parts {
				items[i] = types.NewString(p)
			}
			return types.NewArray(types.String, items), err
		}},
	{Name: "PG_SIZE_PRETTY", Group: "string", Unknown: "several sizes have one text", Signature: "pg_size_pretty(bytes) text", Doc: "A number of bytes as a text with its unit: bytes, kB, MB, GB, TB, PB.", MinArgs: 1, MaxArgs: 1,
		Result: returns(types.String, types.Type.IsNumeric), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			n, err := types.Cast(a[0], types.BigInt, nil)
			return types.NewString(sizePretty(n.Int())), err
		}},
	{Name: "FORMAT", Group: "string", Binds: "as concat does, where the format has nothing but %s and text", Signature: "format(format, value, ...) text", Doc: "The format with a value for each %s (its text, nothing for NULL), %I (a name) and %L (a constant); %2$s is the second value, %-10s fills up with spaces to 10 characters, %% is a %.", MinArgs: 1, MaxArgs: -1, NullArgs: true,
		Result: returns(types.String, isText, isAny), Eval: formatText},
	{Name: "CONVERT_TO", Group: "string", Unknown: "a cast says it as well", Signature: "convert_to(text, 'UTF8') bytes", Doc: "The text's bytes.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Bytes, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			return types.NewBytes(a[0].Text()), onlyUTF8(a[1])
		}},
	{Name: "CONVERT_FROM", Group: "string", Unknown: "a cast says it as well", Signature: "convert_from(bytes, 'UTF8') text", Doc: "The text that bytes are.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.String, func(t types.Type) bool { return t == types.Bytes }, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			if s := a[0].Text(); !utf8.ValidString(s) || strings.Contains(s, "\x00") {
				return types.Value{}, errors.New("the bytes are not valid UTF-8")
			}
			return types.NewString(a[0].Text()), onlyUTF8(a[1])
		}},
	{Name: "~", Group: "operator", Signature: "text ~ pattern", Doc: "Whether the text has a match of the regular expression (RE2).", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isText), Eval: matches("", false), Key: patternAlgebra(false, flaggedPattern(""))},
	{Name: "~*", Group: "operator", Signature: "text ~* pattern", Doc: "As ~, case ignored.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isText), Eval: matches("(?i)", false), Key: patternAlgebra(false, flaggedPattern("(?i)"))},
	{Name: "!~", Group: "operator", Signature: "text !~ pattern", Doc: "Not ~.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isText), Eval: matches("", true), Key: patternAlgebra(true, flaggedPattern(""))},
	{Name: "!~*", Group: "operator", Signature: "text !~* pattern", Doc: "Not ~*.", MinArgs: 2, MaxArgs: 2,
		Result: returns(types.Boolean, isText), Eval: matches("(?i)", true), Key: patternAlgebra(true, flaggedPattern("(?i)"))},
	{Name: "SIMILAR_TO", Group: "string", Signature: "text SIMILAR TO pattern", Doc: "Whether the whole text matches an SQL regular expression.", MinArgs: 2, MaxArgs: 3,
		Result: returns(types.Boolean, isText), Eval: func(_ *expr.Env, a []types.Value) (types.Value, error) {
			pattern, err := similarPattern(a)
			if err != nil {
				return types.Value{}, err
			}
			re, err := compileRegexp(pattern)
			if err != nil {
				_, bad := parseRegexp(pattern)
				if bad, ok := errors.AsType[*syntax.Error](bad); ok { // its text contains RE2's form of the pattern
					err = fmt.Errorf("invalid pattern %s of SIMILAR TO: %s", a[1].SQL(), bad.Code)
				}
				return types.Value{}, err
			}
			return types.NewBool(re.MatchString(a[0].Text())), nil
		}, Key: patternAlgebra(false, func(c *expr.Call) (string, bool) {
			pattern, err := similarPattern(append([]types.Value{{}}, constants(c.Args[1:])...))
			return pattern, err == nil
		})},
}

// similarPattern returns the regular expression for a SIMILAR TO with arguments a.
func similarPattern(a []types.Value) (string, error) {
	escape := `\`
	if len(a) == 3 {
		if escape = a[2].Text(); utf8.RuneCountInString(escape) > 1 {
			return "", fmt.Errorf("ESCAPE takes one character, not %q", escape)
		}
	}
	return similar(a[1].Text(), escape), nil
}

// reverseDomain reverses the order of the labels, which dots separate.
func reverseDomain(s string) string {
	labels := strings.Split(s, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}

func left(s string, n int64) string {
	if n < 0 {
		n += int64(utf8.RuneCountInString(s))
	}
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	if n < 0 {
		return ""
	}
	return s
}

func right(s string, n int64) string {
	if n > 0 {
		n = max(int64(utf8.RuneCountInString(s))-n, 0)
	} else {
		n = -n
		if n == 0 || n < 0 {
			return ""
		}
	}
	return s[len(left(s, n)):]
}

func initCap(s string) string {
	start := true
	return strings.Map(func(r rune) rune {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		defer func() { start = !word }()
		if start {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func substring(_ *expr.Env, a []types.Value) (types.Value, error) {
	from, n := a[1].Int(), int64(1)<<40
	if len(a) == 3 {
		if n = a[2].Int(); n < 0 {
			return types.Value{}, errors.New("negative substring length")
		}
	}
	end := max(types.AddClamp(from, n), 1)
	from = max(from, 1)
	if a[0].Type() == types.Bytes {
		s := a[0].Text()
		lo := min(from-1, int64(len(s)))
		hi := max(min(end-1, int64(len(s))), lo)
		return types.NewBytes(s[lo:hi]), nil
	}
	s := a[0].Text()
	lo, hi, pos := len(s), len(s), int64(1)
	for i := range s {
		if pos == from {
			lo = i
		}
		if pos == end {
			hi = i
			break
		}
		pos++
	}
	return types.NewString(s[min(lo, hi):hi]), nil
}

func trim(f func(s, cut string) string) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		cut := " "
		if len(a) == 2 {
			cut = a[1].Text()
		}
		return types.NewString(f(a[0].Text(), cut)), nil
	}
}

func pad(atStart bool) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		s, n, fill := a[0].Text(), max(a[1].Int(), 0), " "
		if len(a) == 3 {
			fill = a[2].Text()
		}
		have := int64(utf8.RuneCountInString(s))
		if have >= n || fill == "" {
			return types.NewString(left(s, n)), nil
		}
		if n > expr.MaxText/4 {
			return types.Value{}, expr.ErrTooLong
		}
		k := n - have
		p := left(strings.Repeat(fill, int(k)/utf8.RuneCountInString(fill)+1), k)
		if atStart {
			return types.NewString(p + s), nil
		}
		return types.NewString(s + p), nil
	}
}

var withoutSpace = strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "")

// plainText returns v as text for functions that concatenate: unlike in ||, a BOOLEAN is t or f.
func plainText(env *expr.Env, v types.Value) (string, error) {
	s, err := types.Cast(v, types.String, env.Loc)
	if err == nil && v.Type() == types.Boolean {
		return s.Text()[:1], nil
	}
	return s.Text(), err
}

func concat(env *expr.Env, sep string, a []types.Value) (types.Value, error) {
	var parts []string
	size := 0
	for _, v := range a {
		if v.IsNull() {
			continue
		}
		s, err := plainText(env, v)
		if err != nil {
			return types.Value{}, err
		}
		if size += len(sep) + len(s); size-len(sep) > expr.MaxText {
			return types.Value{}, expr.ErrTooLong
		}
		parts = append(parts, s)
	}
	return types.NewString(strings.Join(parts, sep)), nil
}

var regexps kept[*regexp.Regexp]

func compileRegexp(pattern string) (*regexp.Regexp, error) {
	return regexps.get(pattern, func() (*regexp.Regexp, error) {
		if _, err := parseRegexp(pattern); err != nil {
			return nil, fmt.Errorf("invalid regular expression: %s", strings.Replace(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "(?s)", "", 1))
		}
		return regexp.Compile(dotAll + pattern)
	})
}

// dotAll lets a dot also match a line end, as in PostgreSQL.
const dotAll = "(?s)"

// maxRegexp is the number of steps that a compiled regular expression may have. A step takes some 170 bytes.
const maxRegexp = 100_000

// parseRegexp parses pattern as compileRegexp compiles it.
func parseRegexp(pattern string) (*syntax.Regexp, error) {
	re, err := syntax.Parse(dotAll+pattern, syntax.Perl)
	if err == nil && regexpSteps(re) > maxRegexp {
		return nil, fmt.Errorf("it has more than %d characters and classes when its repetitions are written out: shorten it or lower its counts", maxRegexp)
	}
	return re, err
}

func regexpSteps(re *syntax.Regexp) int {
	n := len(re.Rune)
	for _, sub := range re.Sub {
		n += regexpSteps(sub)
	}
	n = max(n, 1)
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

func matches(flags string, negate bool) evalFunc {
	return func(_ *expr.Env, a []types.Value) (types.Value, error) {
		re, err := compileRegexp(flags + a[1].Text())
		if err != nil {
			return types.Value{}, err
		}
		return types.NewBool(re.MatchString(a[0].Text()) != negate), nil
	}
}

// similar converts an SQL regular expression to RE2: % and _ are wildcards, a character after escape is literal, the
// rest is unchanged.
func similar(p, escape string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	class := false // inside [...]
	for p != "" {
		c, size := utf8.DecodeRuneInString(p)
		if escape != "" && strings.HasPrefix(p, escape) && len(p) > len(escape) {
			p = p[len(escape):]
			_, size = utf8.DecodeRuneInString(p)
			b.WriteString(regexp.QuoteMeta(p[:size]))
			p = p[size:]
			continue
		}
		text := p[:size]
		p = p[size:]
		switch {
		case c == '[' && !class:
			class = true
			b.WriteByte('[')
			for _, first := range []string{"^", "]"} { // a ] at the beginning is a member
				if rest, ok := strings.CutPrefix(p, first); ok {
					b.WriteString(strings.Replace(first, "]", `\]`, 1))
					p = rest
				}
			}
		case class:
			class = c != ']'
			if c == '\\' {
				text = `\\`
			}
			b.WriteString(text)
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteByte('.')
		case c == '.' || c == '^' || c == '$' || c == '\\':
			b.WriteString(`\` + text)
		default:
			b.WriteString(text)
		}
	}
	return b.String() + `)\z`
}
