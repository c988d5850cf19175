package differential

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/types"
)

// kind is a type of expressions.
type kind int

const (
	kBool kind = iota
	kInt
	kDec
	kDbl
	kText
	kBytes
	kDate
	kTime
	kTs
	kJSON
	kWall // a timestamp without time zone, of no column
)

var kinds = []kind{kBool, kInt, kDec, kDbl, kText, kBytes, kDate, kTime, kTs, kWall}

// pgType is the type of a kind in PostgreSQL, hqlType its type in hql.
var (
	pgType  = [...]string{"boolean", "bigint", "numeric", "float8", "text", "bytea", "date", "time(3)", "timestamptz(3)", "json", "timestamp(3)"}
	hqlType = [...]string{"BOOLEAN", "BIGINT", "DECIMAL", "DOUBLE", "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP", "JSON", "TIMESTAMP WITHOUT TIME ZONE"}
)

// value is a constant: NULL, or v with the text pg for PostgreSQL, or a list of values as an argument.
type value struct {
	kind kind
	v    types.Value
	pg   string
	list []value
	word string // DEFAULT, in the place of a value
}

func (v value) null() bool { return v.v.IsNull() }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// literal returns the value in SQL.
func (v value) literal() string {
	if v.word != "" {
		return v.word
	}
	if v.null() {
		return dialect("NULL", "NULL::"+pgType[v.kind])
	}
	pg := quote(v.pg) + "::" + pgType[v.kind]
	switch v.kind {
	case kInt:
		return dialect(v.pg, pg)
	case kDec, kDbl, kJSON:
		if v.kind == kDec && strings.Contains(v.pg, ".") {
			return dialect(v.pg, pg)
		}
		return dialect("CAST("+quote(v.pg)+" AS "+hqlType[v.kind]+")", pg)
	case kBool:
		return v.pg
	case kTs: // without an offset it would be one of the session's zone
		return dialect("TIMESTAMP '"+v.pg+"'", pg)
	}
	return dialect(v.v.SQL(), pg)
}

// inDefinition returns the value in the form of hql's DEFAULT.
func (v value) inDefinition() string {
	switch v.kind {
	case kBytes:
		return v.v.SQL()
	case kBool:
		return v.pg
	case kInt:
		return v.pg
	}
	return quote(v.pg)
}

func null(k kind) value    { return value{kind: k} }
func boolean(b bool) value { return value{kind: kBool, v: types.NewBool(b), pg: strconv.FormatBool(b)} }
func integer(i int64) value {
	return value{kind: kInt, v: types.NewInt(i), pg: strconv.FormatInt(i, 10)}
}
func text(s string) value { return value{kind: kText, v: types.NewString(s), pg: s} }
func binary(s string) value {
	return value{kind: kBytes, v: types.NewBytes(s), pg: `\x` + hex.EncodeToString([]byte(s))}
}
func jsonOf(s string) value { return value{kind: kJSON, v: types.NewJSON(s), pg: s} }
func timeOfDay(ms int64) value {
	return value{kind: kTime, v: types.NewIntOf(types.Time, ms), pg: time.UnixMilli(ms).UTC().Format("15:04:05.000")}
}
func moment(ms int64) value {
	return value{kind: kTs, v: types.NewTimestamp(ms), pg: time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000+00")}
}

func wall(ms int64) value {
	return value{kind: kWall, v: types.NewIntOf(types.LocalTimestamp, ms), pg: time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000")}
}

// finer makes a moment of so many microseconds, which both round; it is never exactly between two milliseconds.
func finer(us int64) value {
	if us%500 == 0 {
		us++
	}
	return value{kind: kTs, v: types.NewTimestamp(time.UnixMicro(us).Round(time.Millisecond).UnixMilli()), pg: time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05.000000+00")}
}
func day(d int64) value {
	return value{kind: kDate, v: types.NewDate(d), pg: time.Unix(d*86400, 0).UTC().Format("2006-01-02")}
}
func double(f float64) value {
	return value{kind: kDbl, v: types.NewDouble(f), pg: strings.Replace(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"), "Inf", "Infinity", 1)}
}
func decimal(s string) value {
	v, err := types.ParseDecimal(s)
	if err != nil {
		panic(err)
	}
	return value{kind: kDec, v: v, pg: s}
}

// valueOf makes a value from v, a value of a column of kind k.
func valueOf(k kind, v types.Value) value {
	if v.IsNull() {
		return null(k)
	}
	switch k {
	case kBool:
		return boolean(v.Bool())
	case kInt:
		return integer(v.Int())
	case kDec:
		return decimal(v.Decimal().Text('f'))
	case kDbl:
		return double(v.Double())
	case kBytes:
		return binary(v.Text())
	case kDate:
		return day(v.Int())
	case kTime:
		return timeOfDay(v.Int())
	case kTs:
		return moment(v.Int())
	case kJSON:
		return jsonOf(v.Text())
	}
	return text(v.Text())
}

const (
	dayMillis = 86400 * 1000
	firstDay  = -719162 // of the year 1
)

// someDays are days around which calendars and numbers change.
var someDays = []int64{0, -1, 1, 10957, 11016, 18321, 18322, 19782, 19782 + 31, 19813, 20023, -25567, 15583, 15584, 15585}

// edges are values of each kind for which code often goes wrong. All days are in the years that dates without a sign
// can express.
var edges = [...][]value{
	kBool:  {boolean(true), boolean(false)},
	kInt:   {integer(0), integer(1), integer(-1), integer(127), integer(-128), integer(128), integer(255), integer(256), integer(32767), integer(-32768), integer(65535), integer(math.MaxInt32), integer(math.MinInt32), integer(1 << 31), integer(1<<53 + 1), integer(math.MaxInt64), integer(math.MinInt64)},
	kDec:   {decimal("0"), decimal("1.5"), decimal("1.50"), decimal("-1.5"), decimal("0.001"), decimal("100"), decimal("12345678901234567890.123"), decimal("-99999999999999999999"), decimal("1e10")},
	kDbl:   {double(0), double(1), double(-1.5), double(0.25), double(1e300), double(-1e300), double(5e-324), double(0.1), double(1 << 53), double(math.Copysign(0, -1)), double(math.NaN()), double(math.Inf(1)), double(math.Inf(-1))},
	kText:  {text(""), text(" "), text("a"), text("A"), text("ab"), text("abc"), text("a%"), text("a_b"), text(`a\`), text("é"), text("É"), text("日本"), text("1"), text("01"), text("-5"), text("1.5"), text("true"), text("2024-02-29"), text("'"), text(`"`), text("|"), text("a|b"), text("::"), text(":"), text("~"), text("\x01"), text("\x7f"), text("😀"), text("a b"), text("null")},
	kBytes: {binary(""), binary("a"), binary("ab"), binary("\x00"), binary("a\x00"), binary("\xff"), binary("\xff\xff"), binary("\x80")},
	kDate:  {day(0), day(-719162), day(2932896), day(-1), day(18321), day(19782)},
	kTime:  {timeOfDay(0), timeOfDay(dayMillis - 1), timeOfDay(1), timeOfDay(12 * 3600 * 1000), timeOfDay(36000500)},
	kTs:    {moment(0), moment(-1), moment(1), moment(999), moment(-719162 * dayMillis), moment(2932896 * dayMillis), moment(1709164800000), moment(1711846799999), moment(1711846800000), moment(1730000000000), finer(1709164800000499), finer(1709164800000501), finer(-1501), finer(946684799999501)},
	kJSON:  {jsonOf(`{"a":1,"b":"x"}`), jsonOf(`[]`), jsonOf(`{"a":null}`), jsonOf(`[1,"a",null]`), jsonOf(`"s"`), jsonOf(`{"a":{"b":[1,2]}}`), jsonOf(`12`)},
	kWall:  {wall(0), wall(-1), wall(-719162 * dayMillis), wall(1710037800000), wall(1711852200000), wall(1730597400000), wall(1709164800000)},
}

// someValue draws a value, usually one of few, so that rows share values and constants match.
func someValue(r *rand.Rand, k kind) value {
	if r.IntN(8) == 0 || k == kBool || k == kJSON {
		return edges[k][r.IntN(len(edges[k]))]
	}
	switch k {
	case kInt:
		return integer(int64(r.IntN(14) - 3))
	case kDec:
		return decimal([]string{"0", "1", "2.5", "-1", "1.5", "1.50", "3", "0.1", "10.25", "-0.5"}[r.IntN(10)])
	case kDbl:
		return double(float64(r.IntN(20)-6) / 4)
	case kBytes:
		return binary(someText(r, "a", "b", "\x00", "\xff"))
	case kDate:
		return day(someDays[r.IntN(len(someDays))])
	case kTime:
		return timeOfDay(int64(r.IntN(24)) * 3600 * 1000)
	case kWall: // at times that zones skip and repeat
		return wall([]int64{1710037800000, 1711852200000, 1730597400000, 1729994400000, 1704067200000, 0}[r.IntN(6)] + []int64{0, 0, 1, -1, 3600 * 1000, -3600 * 1000}[r.IntN(6)])
	case kTs:
		if r.IntN(12) == 0 {
			return finer(someDays[r.IntN(len(someDays))]*dayMillis*1000 + int64(r.IntN(3000)-1500))
		}
		return moment(someDays[r.IntN(len(someDays))]*dayMillis + []int64{0, 0, 1, -1, 3600 * 1000, 300_000, 12345678}[r.IntN(7)])
	}
	return text(someText(r, "a", "a", "b", "B", "x", "é", ".", "|", ":", "~", "1", "\x7f", " a"))
}

// someText draws a short text, so that some texts begin with others.
func someText(r *rand.Rand, letters ...string) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// normal returns a text of a value of hql, so that equal values have equal texts.
func normal(v types.Value) string {
	switch t := v.Type(); {
	case t == types.Null:
		return "NULL"
	case t == types.Boolean:
		return strconv.FormatBool(v.Bool())
	case t.IsInteger():
		return "n" + strconv.FormatInt(v.Int(), 10)
	case t == types.Decimal:
		return normalNumber(v.Decimal())
	case t == types.Float, t == types.Double:
		return normalFloat(v.Double())
	case t == types.UUID:
		return "u" + v.String()
	case t == types.Bytes:
		return "x" + hex.EncodeToString([]byte(v.Text()))
	case t == types.Date:
		return fmt.Sprint("d", v.Int())
	case t == types.Time:
		return fmt.Sprint("t", v.Int())
	case t == types.Timestamp:
		return fmt.Sprint("ts", v.Int())
	case t == types.LocalTimestamp:
		return fmt.Sprint("w", v.Int())
	case t.IsJSON():
		return normalJSON(v.Text())
	}
	return quote(v.Text())
}

func normalNumber(d *apd.Decimal) string {
	var out apd.Decimal
	out.Reduce(d)
	if out.IsZero() {
		return "n0"
	}
	return "n" + out.Text('f')
}

func normalFloat(f float64) string { return "f" + strconv.FormatFloat(f, 'g', -1, 64) }

// normalJSON keeps the order of members, and duplicate members.
func normalJSON(s string) string {
	if !json.Valid([]byte(s)) {
		return "invalid JSON " + s
	}
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	out := "j"
	for {
		switch token, err := d.Token(); v := token.(type) {
		case nil:
			if err != nil {
				return out
			}
			out += " null"
		case json.Number:
			n, _, _ := apd.NewFromString(v.String())
			out += " " + normalNumber(n)
		case string:
			out += " " + strconv.Quote(v)
		default:
			out += fmt.Sprint(" ", v)
		}
	}
}

// The types of PostgreSQL's answers, by their object ids.
var (
	pgText = regexp.MustCompile(`^(\d{4,})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?(?:([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?( BC)?$`)
)

// normalPG is normal for the text of a value of PostgreSQL.
func normalPG(oid uint32, text []byte) string {
	if text == nil {
		return "NULL"
	}
	s := string(text)
	switch oid {
	case 16:
		return strconv.FormatBool(s == "t")
	case 20, 21, 23, 1700:
		d, _, err := apd.NewFromString(s)
		if err != nil {
			return "number " + s
		}
		if d.Form != apd.Finite {
			return "f" + s
		}
		return normalNumber(d)
	case 700, 701:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return "float " + s
		}
		if oid == 700 {
			g, _ := strconv.ParseFloat(s, 32)
			f = float64(float32(g))
		}
		return normalFloat(f)
	case 2950:
		return "u" + s
	case 17:
		return "x" + strings.TrimPrefix(s, `\x`)
	case 1083:
		t, err := time.Parse("15:04:05.999999", s)
		if err != nil {
			return "time " + s
		}
		return fmt.Sprint("t", t.Sub(t.Truncate(24*time.Hour)).Milliseconds())
	case 1082, 1114, 1184:
		t, ok := pgTime(s)
		if !ok {
			return "time " + s
		}
		if oid == 1082 {
			return fmt.Sprint("d", t.Unix()/86400)
		}
		if oid == 1114 {
			return fmt.Sprint("w", t.UnixMilli())
		}
		return fmt.Sprint("ts", t.UnixMilli())
	case 114, 3802:
		return normalJSON(s)
	case 25, 1043, 1042, 705:
		return quote(s)
	}
	return fmt.Sprintf("type %d: %s", oid, s)
}

// pgTime reads a date or a moment as PostgreSQL writes it.
func pgTime(s string) (time.Time, bool) {
	m := pgText.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	n := make([]int, len(m))
	for i := range m {
		n[i], _ = strconv.Atoi(m[i])
	}
	if m[12] != "" {
		n[1] = 1 - n[1]
	}
	nanos, _ := strconv.Atoi((m[7] + "000000000")[:9])
	offset := n[9]*3600 + n[10]*60 + n[11]
	if m[8] == "-" {
		offset = -offset
	}
	return time.Date(n[1], time.Month(n[2]), n[3], n[4], n[5], n[6], nanos, time.UTC).Add(-time.Duration(offset) * time.Second), true
}

// nearly reports whether two normal values are equal except for the last digits of a DOUBLE.
func nearly(a, b string) bool {
	if equalOrRounded(a, b) {
		return true
	}
	if strings.HasPrefix(a, "j ") && strings.HasPrefix(b, "j ") { // JSON's numbers are written as decimals
		return slices.EqualFunc(strings.Fields(a), strings.Fields(b), func(a, b string) bool {
			return a == b || a[0] == 'n' && b[0] == 'n' && nearly("f"+a[1:], "f"+b[1:])
		})
	}
	if !strings.HasPrefix(a, "f") || !strings.HasPrefix(b, "f") {
		return false
	}
	x, err1 := strconv.ParseFloat(a[1:], 64)
	y, err2 := strconv.ParseFloat(b[1:], 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y), 1e-9)
}

// equalOrRounded reports whether two values are equal, or one is the other rounded to 16 decimals or more: hql's
// quotients have no trailing zeros, and further quotients depend on the number of digits.
func equalOrRounded(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	_, digits, _ := strings.Cut(a, ".")
	if len(digits) < 16 || a[0] != 'n' || b[0] != 'n' {
		return false
	}
	short, _, err1 := apd.NewFromString(a[1:])
	long, _, err2 := apd.NewFromString(b[1:])
	if err1 != nil || err2 != nil {
		return false
	}
	_, err := apd.BaseContext.WithPrecision(uint32(len(b))).Quantize(long, long, short.Exponent)
	return err == nil && short.Cmp(long) == 0
}
