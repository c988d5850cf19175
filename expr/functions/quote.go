package functions

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Functions that write texts as SQL, and FORMAT, which does so for %I and %L. Reserved words and quoting follow
// PostgreSQL.

// quotedWords are names that PostgreSQL reads as keywords.
var quotedWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
		boolean both case cast char character check coalesce collate collation column concurrently constraint create cross
		current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal default
		deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest
		group grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading
		least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric
		offset on only or order out outer overlaps overlay placing position precision primary real references returning right
		row select session_user setof similar smallint some substring symmetric table tablesample then time timestamp to
		trailing treat trim true union unique user using values varchar variadic verbose when where window with xmlattributes
		xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`) {
		out[w] = true
	}
	return out
}()

var plainIdent = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// QuoteIdent returns s as a name in SQL, in double quotes if PostgreSQL would read it differently without them.
func QuoteIdent(s string) string {
	if plainIdent.MatchString(s) && !quotedWords[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// ParseIdent parses names separated by dots. It converts names without double quotes to lower case. Unless strict, it
// ignores text after the names.
func ParseIdent(s string, strict bool) (out []string, err error) {
	bad := func(why string) ([]string, error) {
		return nil, fmt.Errorf("string is not a valid identifier: %q%s", s, why)
	}
	for rest := strings.TrimSpace(s); ; {
		switch m := identPart.FindStringSubmatch(rest); {
		case m == nil:
			return bad("")
		case m[1] == `""`:
			return bad(": quoted identifier must not be empty")
		case m[1] != "":
			out, rest = append(out, strings.ReplaceAll(m[1][1:len(m[1])-1], `""`, `"`)), rest[len(m[0]):]
		default:
			out, rest = append(out, strings.ToLower(m[2])), rest[len(m[0]):]
		}
		if !strings.HasPrefix(rest, ".") {
			if rest != "" && strict {
				return bad("")
			}
			return out, nil
		}
		rest = strings.TrimSpace(rest[1:])
	}
}

// identPart matches a name, with or without double quotes, and the spaces after it.
var identPart = regexp.MustCompile(`^(?:("(?:[^"]|"")*")|([\pL_][\pL\pN_$]*))\s*`)

// sizePretty implements PG_SIZE_PRETTY: it rounds to the largest unit of which the size has at least 10.
func sizePretty(n int64) string {
	const most = 10 * 1024
	units := []string{" bytes", " kB", " MB", " GB", " TB", " PB"}
	if n > -most && n < most {
		return strconv.FormatInt(n, 10) + units[0]
	}
	n /= 512 // keep one bit for rounding
	i := 1
	for ; (n >= 2*most-1 || n <= 1-2*most) && i < len(units)-1; i++ {
		n /= 1024
	}
	return strconv.FormatInt((n+int64(cmp.Compare(n, 0)))/2, 10) + units[i]
}

func quoteLiteral(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// placeholder matches a placeholder of a format after its %: [n$][-][width | * | *n$] and a type.
var placeholder = regexp.MustCompile(`^(?:(\d+)\$)?(-*)(?:(\d+)|(\*)(?:(\d+)\$)?)?(?s:(.?))`)

// formatText implements FORMAT.
func formatText(env *expr.Env, a []types.Value) (types.Value, error) {
	if a[0].IsNull() {
		return types.Value{}, nil
	}
	format, args := a[0].Text(), formatArgs{values: a[1:]}
	var out strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		out.WriteString(format[:i])
		format = format[i+1:]
		if strings.HasPrefix(format, "%") {
			out.WriteByte('%')
			format = format[1:]
			continue
		}
		m := placeholder.FindStringSubmatch(format)
		format = format[len(m[0]):]
		width, toLeft, err := args.width(m)
		if err != nil {
			return types.Value{}, err
		}
		if m[6] == "" {
			return types.Value{}, errors.New("the format ends within a %: %% is a %")
		}
		if !strings.Contains("sIL", m[6]) {
			return types.Value{}, fmt.Errorf("the format has %%%s: %%s, %%I and %%L are known, and %%%% is a %%", m[6])
		}
		v, err := args.value(m[1])
		if err != nil {
			return v, err
		}
		s, err := formatted(env, v, m[6])
		if err != nil {
			return v, err
		}
		fill := max(width-utf8.RuneCountInString(s), 0)
		if out.Len()+fill+len(s) > expr.MaxText {
			return types.Value{}, expr.ErrTooLong
		}
		if toLeft {
			out.WriteString(s)
		}
		out.WriteString(strings.Repeat(" ", fill))
		if !toLeft {
			out.WriteString(s)
		}
	}
	return types.NewString(out.String() + format), nil
}

// formatArgs are the arguments of a format.
type formatArgs struct {
	values []types.Value
	next   int
}

// value returns the argument with number n, or the next one if n is empty.
func (a *formatArgs) value(n string) (types.Value, error) {
	if n != "" {
		i, err := strconv.Atoi(n)
		if err != nil || i == 0 {
			return types.Value{}, fmt.Errorf("values of a format are numbered from 1, not %s", n)
		}
		a.next = i - 1
	}
	if a.next++; a.next > len(a.values) {
		return types.Value{}, fmt.Errorf("the format has no value number %d", a.next)
	}
	return a.values[a.next-1], nil
}

// width returns the width in a placeholder, and whether its value is left-aligned.
func (a *formatArgs) width(placeholder []string) (width int, toLeft bool, err error) {
	digits, star, number := placeholder[3], placeholder[4], placeholder[5]
	toLeft = placeholder[2] != ""
	switch {
	case star != "":
		v, err := a.value(number)
		if err != nil {
			return 0, false, err
		}
		if !v.IsNull() && !v.Type().IsInteger() {
			return 0, false, fmt.Errorf("the width of a format is a whole number, not %s", v.SQL())
		}
		if !v.IsNull() {
			width = int(max(min(v.Int(), expr.MaxText), -expr.MaxText))
		}
		if width < 0 {
			width, toLeft = -width, true
		}
	case digits != "":
		if width, err = strconv.Atoi(digits); err != nil {
			return expr.MaxText + 1, toLeft, nil
		}
	}
	return width, toLeft, nil
}

// formatted returns v formatted as %s, %I or %L.
func formatted(env *expr.Env, v types.Value, kind string) (s string, err error) {
	if !v.IsNull() {
		if s, err = plainText(env, v); err != nil {
			return "", err
		}
	}
	switch {
	case kind == "I" && v.IsNull():
		return "", errors.New("NULL is not a valid name for %I")
	case kind == "I":
		return QuoteIdent(s), nil
	case kind == "L" && v.IsNull():
		return "NULL", nil
	case kind == "L":
		return quoteLiteral(s), nil
	}
	return s, nil
}

func overlayResult(args []expr.Expr) (types.Type, error) {
	t, err := sameAs(0, isBytes, isBytes, isInt)(args)
	if u := args[1].Type(); err == nil && t != types.Null && u != types.Null && t != u {
		return t, fmt.Errorf("cannot put a %s into a %s", u, t)
	}
	if t == types.Null {
		t = args[1].Type()
	}
	return t, err
}

func overlay(env *expr.Env, a []types.Value) (types.Value, error) {
	from, n := a[2].Int(), int64(utf8.RuneCountInString(a[1].Text()))
	if a[0].Type() == types.Bytes {
		n = int64(len(a[1].Text()))
	}
	if len(a) == 4 {
		n = a[3].Int()
	}
	if from < 1 {
		return types.Value{}, fmt.Errorf("a start is counted from 1, not %d", from)
	}
	front, err := substring(env, []types.Value{a[0], types.NewInt(1), types.NewInt(from - 1)})
	if err != nil {
		return front, err
	}
	back, err := substring(env, []types.Value{a[0], types.NewInt(types.AddClamp(from, n))})
	if err != nil {
		return back, err
	}
	s := front.Text() + a[1].Text() + back.Text()
	if a[0].Type() == types.Bytes {
		return types.NewBytes(s), nil
	}
	return types.NewString(s), nil
}

func onlyUTF8(encoding types.Value) error {
	switch strings.ToUpper(strings.NewReplacer("-", "", "_", "").Replace(encoding.Text())) {
	case "UTF8", "UNICODE":
		return nil
	}
	return fmt.Errorf("unknown encoding %s: texts are UTF8", encoding.SQL())
}
