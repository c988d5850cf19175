package worlds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// The least and greatest values of types, and the numbers at which encodings need one more byte.
var (
	intEnds   = []int64{127, 128, -128, -129, 255, 256, 999, 1000, 9999, 10000, 32767, -32768, 65535, 65536, 1<<24 - 1, math.MaxInt32, math.MinInt32, math.MaxUint32, 1 << 32, 1<<53 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	floatEnds = []float64{math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32, 1e16, 1e16 + 2, 0.1, 1 << 24, 1<<24 + 1}
	dayEnds   = []int64{-719528, 2932896, -1, 0, 1, 24837, 24855, -719162}
	timeEnds  = []int64{0, 1, 999, types.MillisPerDay - 1, 36_000_500}
	msEnds    = []int64{-719528 * types.MillisPerDay, 2932897*types.MillisPerDay - 1, -1, 0, 1, 999, math.MaxUint32 * 1000, math.MaxUint32*1000 + 999, math.MaxInt32 * 1000, 1<<47 - 1, 9_999_999_999_999, -62135596800000}
	decimals  = []string{"0", "1.5", "1.50", "-3", "100", "1e2", "-0.0", "0.001", "12345678901234567890.123", "-99999999999999999999", "1e-30", "1.51", "-1.5", "-1", "10", "99", "-100", "-0.01",
		"1700000000.123456789", "-0.000000001", "12345678901234567890123456789012345678", "-1.2345678901234567890123456789012345678", "1e124", "-1e130"}
	jsons = []string{`{"n":1}`, `{"n":2}`, `[]`, `"s"`, `null`, ` 12`}
	uuids = []string{"00000000-0000-0000-0000-000000000000", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c073990", "ffffffff-ffff-ffff-ffff-ffffffffffff"}
)

// Value draws a value for a column of t. There are few values of each type, so that rows share them and predicates
// match some; a few are the ends of the type. A column that may be NULL sometimes is.
func (t *Table) Value(r *rand.Rand, col *catalog.Column) types.Value {
	if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == col.Name }); i >= 0 && !t.Columns[i].NotNull && r.IntN(4) == 0 {
		return types.Value{}
	}
	end := r.IntN(15) == 0
	switch typ := col.Type; {
	case typ.IsInteger():
		bits := map[types.Type]int{types.TinyInt: 7, types.SmallInt: 15, types.Int: 31}[typ]
		for end {
			if n := pick(r, intEnds); bits == 0 || n < 1<<bits && n >= -1<<bits {
				return types.NewIntOf(typ, n)
			}
		}
		return types.NewIntOf(typ, int64(r.IntN(14)-3))
	case typ == types.Double || typ == types.Float:
		f := float64(r.IntN(20)-6) / 4
		if end || r.IntN(15) == 0 {
			f = pick(r, floatEnds)
		}
		switch {
		case typ == types.Float && r.IntN(8) == 0: // a double that another program wrote
			f = []float64{0.1, 0.3, -0.7}[r.IntN(3)]
		case typ == types.Float:
			f = float64(float32(f))
		}
		return types.NewFloatOf(typ, f)
	case typ == types.Boolean:
		return types.NewBool(r.IntN(2) == 0)
	case typ == types.Decimal:
		v, err := types.ParseDecimal(pick(r, decimals))
		if err != nil {
			panic(err)
		}
		return v
	case typ == types.Date:
		if end {
			return types.NewDate(pick(r, dayEnds))
		}
		return types.NewDate([]int64{0, 18000, 18001, 18030, 18031, 18517, 18518, 19000}[r.IntN(8)])
	case typ == types.Time:
		if end {
			return types.NewIntOf(types.Time, pick(r, timeEnds))
		}
		return types.NewIntOf(types.Time, []int64{0, 36_000_000, 36_001_000}[r.IntN(3)])
	case typ == types.Timestamp:
		if end {
			return types.NewTimestamp(pick(r, msEnds))
		}
		base := []int64{0, 1_600_000_000_000, 1_600_041_600_000, 1_600_041_600_000 + types.MillisPerDay}[r.IntN(4)]
		return types.NewTimestamp(base + int64(r.IntN(9)-4)*[]int64{1, 1000, 1000, 60_000, 3_600_000}[r.IntN(5)])
	case typ == types.JSON:
		return types.NewJSON(pick(r, jsons))
	case typ == types.Bytes:
		var b strings.Builder
		for range r.IntN(4) {
			b.WriteString(pick(r, []string{"a", "b", "\x00", "\xff", "ab"}))
		}
		return types.NewBytes(b.String() + t.piece(r))
	}
	if t.IsUUID(col) {
		return types.NewString(pick(r, uuids))
	}
	if end {
		return types.NewString(pick(r, []string{"", " ", "😀", "\U0010ffff", strings.Repeat("a", 300), "null", `\`, "'", "%", "_", "a_b", "2020-09-14", "1.50"}))
	}
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(pick(r, []string{"a", "a", "b", "B", ".", "é", "}", "\x7f", "\x01"}))
	}
	return types.NewString(b.String() + t.piece(r))
}

// piece sometimes returns the beginning of a delimiter of t, otherwise "".
func (t *Table) piece(r *rand.Rand) string {
	if len(t.pieces) == 0 || r.IntN(5) > 0 {
		return ""
	}
	return pick(r, t.pieces)
}

// IsUUID reports whether col is stored as a UUID, which other texts do not fit.
func (t *Table) IsUUID(col *catalog.Column) bool {
	return strings.Contains(t.DDL(), col.Name+" AS UUID") || strings.Contains(t.DDL(), col.Name+" AS INVERTED UUID")
}

func pick[T any](r *rand.Rand, xs []T) T { return xs[r.IntN(len(xs))] }

// zones are west and east of UTC, with summer time, half hours, and midnights that do not exist.
var zones = []string{"UTC", "UTC", "Asia/Tokyo", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia"}

// Zone draws a time zone.
func Zone(r *rand.Rand) *time.Location {
	loc, err := types.Zone(pick(r, zones))
	if err != nil {
		panic(err)
	}
	return loc
}

// Predicates draws conditions on the rows of Table, with constants from Value.
type Predicates struct {
	*rand.Rand
	Table *catalog.Table
	Value func(*catalog.Column) types.Value
}

func (g *Predicates) pick(xs ...string) string { return xs[g.IntN(len(xs))] }

// constant draws a literal for col, sometimes outside the column's range.
func (g *Predicates) constant(col *catalog.Column) string {
	if g.IntN(25) == 0 && col.Type.IsInteger() {
		return g.pick("1.5", "9000000000", "-9000000000", "9223372036854775808", "-1e30", "CAST('NaN' AS DOUBLE)", "CAST(0.5 AS DOUBLE)")
	}
	v := g.Value(col)
	switch {
	case v.IsNull():
		return "NULL"
	case v.Type() == types.Timestamp && g.IntN(10) == 0 && !strings.HasPrefix(v.String(), "-"): // finer than a TIMESTAMP can be
		return "TIMESTAMP '" + time.UnixMilli(v.Int()).UTC().Format("2006-01-02 15:04:05.000") + g.pick("4", "9996") + "'"
	case v.Type().IsInteger() && v.Int() < 0 && v.Int() > math.MinInt64:
		return fmt.Sprint(v.Int())
	}
	return v.SQL()
}

// Draw draws a condition of at most that depth. It is one switch over the forms: their order must stay, so that a seed
// draws the same condition again.
func (g *Predicates) Draw(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		switch g.IntN(6) {
		case 0:
			return "NOT (" + g.Draw(depth-1) + ")"
		case 1, 2:
			return "(" + g.Draw(depth-1) + " OR " + g.Draw(depth-1) + ")"
		case 3:
			return "(" + g.Draw(depth-1) + ") IS " + g.pick("", "NOT ") + g.pick("TRUE", "FALSE", "UNKNOWN", "NULL")
		default:
			return "(" + g.Draw(depth-1) + " AND " + g.Draw(depth-1) + ")"
		}
	}
	cols := g.Table.Columns
	col := cols[g.IntN(len(cols))]
	c, t := col.Name, col.Type
	if t == types.JSON {
		return c + g.pick(" IS NULL", " IS NOT NULL")
	}
	if (t == types.Timestamp || t == types.Date) && g.IntN(3) == 0 {
		return g.moment(col)
	}
	k := func() string { return g.constant(col) }
	op := func() string { return g.pick(" = ", " = ", " = ", " < ", " <= ", " > ", " >= ", " <> ") }
	switch g.IntN(12) {
	case 0:
		return c + g.pick("", "", " NOT") + " BETWEEN " + k() + " AND " + k()
	case 1:
		if lo := g.IntN(8) - 2; t.IsInteger() && g.IntN(2) == 0 { // neighbours, and a distant one
			return fmt.Sprintf("%s %sIN (%d, %d, %d, %s)", c, g.pick("", "", "NOT "), lo, lo+1, lo+2, k())
		}
		return c + g.pick("", "", " NOT") + " IN (" + k() + ", " + k() + ", " + k() + ")"
	case 2:
		if t == types.String {
			return c + g.pick("", "", " NOT") + g.pick(" LIKE ", " LIKE ", " LIKE ", " ILIKE ") + "'" + g.pick("a%", "%a", "ab%", "a_", "%", "", "b%b", "%b", "aé%", "_", `\%`, `a\_%`, "}%") + "'"
		}
		if g.IntN(3) == 0 { // the planner proves many terms about one column together
			terms := make([]string, 10)
			for i := range terms {
				terms[i] = c + g.pick(" <> ", " <> ", " <> ", " >= ") + k()
			}
			return strings.Join(terms, " AND ")
		}
		return c + " <> " + k()
	case 3:
		o := cols[g.IntN(len(cols))]
		if o.Type == types.JSON {
			o = col
		}
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", c, o.Name, g.pick("<", "<=", ">", ">=", "=", "<>"), k(), g.constant(o))
	case 4:
		return c + " IS " + g.pick("", "NOT ") + "NULL"
	case 5, 6:
		return g.computed(col, op())
	case 8:
		if t == types.String {
			return g.turned(c, g.Draw(0))
		}
		return g.chosen(col)
	case 9:
		if g.IntN(2) == 0 {
			return g.joined()
		}
		return g.part()
	case 7:
		for _, o := range cols[g.IntN(len(cols)):] {
			if o.Type == t && o != col {
				return c + op() + o.Name
			}
		}
		return c + g.pick(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + k()
	}
	return c + op() + k()
}

// computed draws a condition on an expression over col.
func (g *Predicates) computed(col *catalog.Column, op string) string {
	c, k := col.Name, g.constant(col)
	switch g.IntN(6) {
	case 0:
		return "COALESCE(" + c + ", " + k + ")" + op + g.constant(col)
	case 1:
		return "CASE WHEN " + c + op + k + " THEN 'a' WHEN " + c + " IS NULL THEN 'b' ELSE 'c' END" + g.pick(" = ", " <> ") + g.pick("'a'", "'b'", "'c'")
	case 2:
		return g.pick("GREATEST(", "LEAST(") + c + ", " + k + ")" + op + g.constant(col)
	case 3:
		return "NULLIF(" + c + ", " + k + ")" + g.pick(" IS NULL", " IS NOT NULL", op+g.constant(col))
	}
	switch t := col.Type; {
	case t.IsInteger():
		n := fmt.Sprint(g.IntN(9) - 2)
		return g.pick(c+" % 3", c+" / 2", "FLOORMOD("+c+", 3)", "LENGTH(CONCAT("+c+"))", "SIGN("+c+")", "CRC32("+c+") % 5", c+" * 0.5", "CAST("+c+" AS DECIMAL) + 1", "CAST("+c+" AS DOUBLE) - 1") + op + n
	case t == types.String:
		n := g.pick("'a'", "'b'", "'ab'", "''", "'A'")
		return g.pick("LEFT("+c+", 1)"+op+n, "SUBSTRING("+c+", 2, 1)"+op+n, "UPPER("+c+") = 'A'", "LOWER("+c+")"+op+n, "REVERSE("+c+") LIKE '"+g.pick("a%", "ab%", "%a")+"'", "STARTS_WITH("+c+", "+n+")", c+" || 'x'"+op+"'ax'",
			"LENGTH("+c+")"+op+fmt.Sprint(g.IntN(4)), c+g.pick(" ~ ", " !~ ", " ~* ")+g.pick("'^a'", "'b$'", "'^ab?$'", "'a|b'"), c+g.pick("", " NOT")+" SIMILAR TO 'a(a|b)*'", "MD5("+c+") = MD5("+n+")", "REVERSE_DOMAIN("+c+")"+op+"'a.b'", "RIGHT("+c+", 1)"+op+n)
	case t == types.Timestamp || t == types.Date:
		return g.pick("DATE_TRUNC('"+g.pick("month", "year", "day")+"', "+c+")"+op+g.pick("TIMESTAMP '2020-09-01 00:00:00Z'", "TIMESTAMP '2019-01-01 00:00:00Z'"), "EXTRACT("+g.pick("year", "month", "dow", "day")+" FROM "+c+")"+op+g.pick("2019", "2020", "9", "4", "1"),
			"TO_CHAR("+c+", 'YYYY-MM')"+op+"'2020-09'", "EXTRACT(hour FROM CAST("+c+" AS TIMESTAMP) AT TIME ZONE 'Asia/Kolkata')"+op+g.pick("5", "12"), "DATE(CAST("+c+" AS TIMESTAMP))"+op+"DATE '2020-09-13'", "HOUR_OF_DAY(CAST("+c+" AS TIMESTAMP))"+op+"12")
	case t == types.Double || t == types.Float || t == types.Decimal:
		return g.pick("ABS("+c+")", "CAST("+c+" AS STRING) = '1.5' OR "+c, "SIGN("+c+")") + op + g.pick("1", "0.25", "1.5")
	case t == types.Boolean:
		return g.pick("NOT "+c, c, c+" IS TRUE", c+" IS NOT FALSE", c+" IS UNKNOWN", "CAST("+c+" AS INT) = 1")
	case t == types.Bytes:
		return g.pick("LENGTH("+c+")"+op+"1", "HEX("+c+")"+op+"'61'", "LEFT(HEX("+c+"), 2) = '00'", c+" || X'00'"+op+"X'6100'")
	}
	return "CAST(" + c + " AS STRING)" + op + "'10:00:00'"
}

// text draws a text from a column's values or their pieces, or from their beginnings and ends.
func (g *Predicates) text() string {
	texts := []string{"a", "b", "ab", "", "A", "aé", "K", "ſ", "a.b", "|", "a|b", "\xc3", "\x01"}
	for _, c := range g.Table.Columns {
		if c.Type == types.String {
			if v := g.Value(c); !v.IsNull() {
				texts = append(texts, v.Text(), v.Text(), v.Text()[:g.IntN(len(v.Text())+1)], v.Text()[g.IntN(len(v.Text())+1):])
			}
		}
	}
	return texts[g.IntN(len(texts))]
}

func (g *Predicates) quoted() string { return types.NewString(g.text()).SQL() }

// turned draws a condition on column c after string functions; other is a condition that CASE may use.
func (g *Predicates) turned(c, other string) string {
	for range 1 + g.IntN(2) {
		n := fmt.Sprint(g.IntN(4))
		c = g.pick("LEFT("+c+", "+n+")", "SUBSTRING("+c+", 1, "+n+")", "SUBSTRING("+c+", 2)", "RIGHT("+c+", "+n+")", "LOWER("+c+")", "UPPER("+c+")", "REVERSE("+c+")", "TRIM("+c+")", "RTRIM("+c+", 'b ')", "LTRIM("+c+")",
			"SPLIT_PART("+c+", '"+g.pick(".", "b", "|")+"', "+g.pick("1", "1", "-1")+")", "RPAD("+c+", "+n+", 'b')", "LPAD("+c+", "+n+", 'a')", c+" || ''", c+" || 'b'", "'a' || "+c, "CONCAT("+c+", 'a')", "REVERSE_DOMAIN("+c+")",
			"COALESCE("+c+", "+g.quoted()+")", "NULLIF("+c+", "+g.quoted()+")", "GREATEST("+c+", "+g.quoted()+")", "CASE WHEN "+other+" THEN "+c+" ELSE "+g.quoted()+" END", c, c)
		c = "(" + c + ")"
	}
	switch g.IntN(8) {
	case 0:
		return c + g.pick("", " NOT") + " BETWEEN " + g.quoted() + " AND " + g.quoted()
	case 1:
		return c + g.pick("", " NOT") + " IN (" + g.quoted() + ", " + g.quoted() + ", " + g.quoted() + ")"
	case 2:
		return c + g.pick("", "", " NOT") + g.pick(" LIKE '", " ILIKE '") + g.pick("a%", "%b", "ab%", "A%b", "a.b", "_", "12%") + "'"
	case 3:
		return c + g.pick(" ~ ", " ~ ", " !~ ", " ~* ") + g.pick("'^a'", "'b$'", "'^(a|b)$'", "'^(a.|b[ab])'", "'[.](b|é)$'", "'^a.*b$'", "'^$'", "'k|a$'", "'^a+b?'")
	case 4:
		return c + g.pick("", " NOT") + " SIMILAR TO " + g.pick("'a%'", "'(a|b)_'", "'%b'", "'a[ab]'")
	case 5:
		return "((" + g.pick("STARTS_WITH("+c+", "+g.quoted()+")", "POSITION("+g.quoted()+" IN "+c+") = 1", "LENGTH("+c+") > 0", "ASCII("+c+") = 97") + ")" + g.pick(" IS TRUE", " IS NOT FALSE", " = TRUE", " <> FALSE", " IS NOT TRUE") + ")"
	}
	return c + g.pick(" = ", " = ", " <> ", " < ", " <= ", " > ", " >= ") + g.quoted()
}

// chosen draws a condition on a conditional expression over col.
func (g *Predicates) chosen(col *catalog.Column) string {
	c, k := col.Name, func() string { return g.constant(col) }
	op := g.pick(" = ", " = ", " <> ", " < ", " >= ")
	if col.Type == types.JSON {
		return c + " IS NULL"
	}
	switch g.IntN(5) {
	case 0:
		return "CASE WHEN " + c + op + k() + " THEN " + c + " WHEN " + c + " > " + k() + " THEN NULL ELSE " + k() + " END" + op + k()
	case 1:
		return "(" + c + op + k() + ") " + g.pick("= TRUE", "<> TRUE", "= FALSE", "IS NOT TRUE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN")
	case 2:
		return "COALESCE(" + c + op + k() + ", " + c + op + k() + ", " + g.pick("TRUE", "FALSE") + ")"
	case 3:
		return "CASE WHEN " + g.Draw(0) + " THEN " + g.Draw(0) + " ELSE " + g.Draw(0) + " END"
	}
	return g.pick("GREATEST(", "LEAST(") + "NULLIF(" + c + ", " + k() + "), " + k() + ")" + op + k()
}

// part draws a condition on the expression of a key part.
func (g *Predicates) part() string {
	l := g.Table.Layouts[g.IntN(len(g.Table.Layouts))]
	p := l.Key.Parts[g.IntN(len(l.Key.Parts))]
	all := g.Table.Columns // the predicates may use only some of the columns
	other := func(col int) bool { return col >= len(all) || all[col].Index != col }
	value := func() types.Value {
		if len(p.Columns) == 0 || onlyInKeys(p.Expr) || slices.ContainsFunc(p.Columns, other) {
			return types.Value{}
		}
		v, _ := p.Compute(func(col int) (types.Value, bool) { return g.Value(all[col]), true }, nil)
		return v
	}
	x, y := value(), value()
	if x.IsNull() || y.IsNull() || l.Kind == catalog.Index && g.overflows(p) || beyondLiterals(x) || beyondLiterals(y) {
		return g.Draw(0)
	}
	e := "(" + p.Expr.String() + ")"
	if x.Type() == types.String && g.IntN(3) == 0 {
		return e + " LIKE " + types.NewString(x.Text()[:g.IntN(len(x.Text())+1)]+"%").SQL()
	}
	return e + g.pick(" = ", " = ", " <> ", " < ", " >= ", " NOT IN ("+x.SQL()+") AND "+e+" <> ", " BETWEEN "+x.SQL()+" AND ", " IN ("+x.SQL()+", NULL) OR "+e+" = ") + y.SQL()
}

// beyondLiterals reports whether v is a moment after the year 9999, which a literal cannot express.
func beyondLiterals(v types.Value) bool {
	return v.Type() == types.Timestamp && time.UnixMilli(v.Int()).UTC().Year() > 9999
}

// overflows reports whether p cannot be computed from every value of its columns. An INDEX has no entry for a row with
// NULL in the part, so rows may hold values that overflow.
func (g *Predicates) overflows(p *catalog.Part) bool {
	row := make([]types.Value, len(g.Table.Columns))
	return slices.ContainsFunc(intEnds, func(n int64) bool {
		for _, i := range p.Columns {
			switch c := g.Table.Columns[i]; c.Type {
			case types.BigInt:
				row[i] = types.NewIntOf(c.Type, n)
			case types.Timestamp:
				row[i] = types.NewTimestamp(max(n, -1))
			default:
				row[i] = g.Value(c)
			}
		}
		_, err := p.Expr.Eval(&expr.Env{Row: row})
		return err != nil
	})
}

func onlyInKeys(e expr.Expr) bool {
	c, ok := e.(*expr.Call)
	return ok && c.Func.Group == "key" || slices.ContainsFunc(expr.Children(e), onlyInKeys)
}

// joined draws a condition on a concatenation of columns.
func (g *Predicates) joined() string {
	var names, texts []string
	for _, i := range g.Perm(len(g.Table.Columns)) {
		c := g.Table.Columns[i]
		v := g.Value(c)
		if c.Type != types.String && !c.Type.IsInteger() || v.IsNull() || len(v.Text()) > 20 {
			continue
		}
		names, texts = append(names, c.Name), append(texts, v.String())
	}
	if len(names) < 2 {
		return g.Draw(0)
	}
	n, sep := 2+g.IntN(min(len(names), 3)-1), g.pick("|", "", "a", ".")
	quoted := types.NewString(sep).SQL()
	x := strings.Join(names[:n], " || "+quoted+" || ")
	switch g.IntN(3) {
	case 0:
		x = "CONCAT(" + strings.Join(names[:n], ", "+quoted+", ") + ")"
	case 1:
		x = "CONCAT_WS(" + quoted + ", " + strings.Join(names[:n], ", ") + ")"
	}
	whole := strings.Join(texts[:n], sep)
	k := types.NewString(whole).SQL()
	switch part := whole[:g.IntN(len(whole)+1)]; g.IntN(4) {
	case 0:
		return "STARTS_WITH(" + x + ", " + types.NewString(part).SQL() + ")"
	case 1:
		return x + g.pick(" < ", " <= ", " > ", " >= ") + g.pick(k, types.NewString(part).SQL())
	case 2:
		return x + " IN (" + k + ", " + types.NewString(part).SQL() + ")"
	}
	return x + " = " + k
}

// moment draws a predicate on a day or a moment whose meaning depends on the zone.
func (g *Predicates) moment(col *catalog.Column) string {
	other := types.Timestamp
	if col.Type == other {
		other = types.Date
	}
	op := g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ")
	k := types.NewDate([]int64{0, 18000, 18001, 18517, 18518, 18519}[g.IntN(6)])
	moment := func() string { // sometimes the midnight of a zone
		ms := k.Int()*types.MillisPerDay + int64(g.IntN(3)-1)
		if z, err := types.Cast(k, types.Timestamp, Zone(g.Rand)); err == nil && g.IntN(2) == 0 {
			ms = z.Int()
		}
		return types.NewTimestamp(ms).SQL()
	}
	for _, c := range g.Table.Columns {
		if c.Type == other && g.IntN(2) == 0 {
			return col.Name + op + c.Name
		}
	}
	wall := func(x string) string { return x + " AT TIME ZONE '" + Zone(g.Rand).String() + "'" }
	local := "CAST('" + k.String() + g.pick("", " 01:30", " 02:30:00", " 12:00") + "' AS TIMESTAMP WITHOUT TIME ZONE)"
	switch n := g.IntN(8); {
	case n == 5 && col.Type == types.Timestamp:
		return g.pick(wall(col.Name), "CAST("+col.Name+" AS TIMESTAMP WITHOUT TIME ZONE)", wall(wall(col.Name))) + op + g.pick(local, k.SQL(), moment())
	case n == 6 && col.Type == types.Timestamp:
		return "CAST(" + wall(col.Name) + " AS DATE)" + op + k.SQL()
	case n == 7:
		return col.Name + op + g.pick(local, k.SQL()+" + INTERVAL '12 hours'")
	case n == 4:
		return "CONCAT(" + col.Name + ")" + op + "'" + k.String() + g.pick("", " 01:30:00", " 14") + "'"
	case n == 0:
		return "CAST(" + col.Name + " AS " + other.String() + ")" + op + map[bool]string{true: k.SQL(), false: moment()}[other == types.Date]
	case n == 1 && col.Type == types.Timestamp:
		return col.Name + op + "'" + k.String() + g.pick("", " 12:00", " 23:30:00") + "'"
	case n == 2:
		return col.Name + g.pick(" IN (", " NOT IN (") + k.SQL() + ", " + moment() + ")"
	}
	if col.Type == types.Timestamp {
		return col.Name + op + k.SQL()
	}
	return col.Name + op + moment()
}
