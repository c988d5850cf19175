package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// source is a table of FROM under its alias.
type source struct {
	alias   string
	columns []column
	table   *table // nil for a query
}

// scope holds the sources that an expression can name: those of its query, and those of the queries around it.
type scope struct {
	sources []source
	outer   *scope
}

// gen draws statements over tables.
type gen struct {
	*rand.Rand
	tables []*table
	views  []*view
	ctes   []source
	args   []value // by number
	pieces int
	// alias counts aliases.
	alias int
	// params reports whether some constants are arguments, risky whether expressions may fail, zoned whether the zone is
	// not UTC.
	params, risky bool
	// approx reports whether a DOUBLE of the statement depends on the order of additions or on a math library.
	approx bool
	// plain forbids sub-queries.
	plain bool
	// windows are the named windows of the query.
	windows []string
	// term draws an ORDER BY term for the last query other than its columns; nil for none.
	term func() string
}

func (g *gen) pick(xs ...string) string { return xs[g.IntN(len(xs))] }
func (g *gen) odds(n int) bool          { return g.IntN(n) == 0 }

// piece marks a text that the reducer may replace by less.
func (g *gen) piece(full, less string) string {
	g.pieces++
	return fmt.Sprintf("\x14%d\x12%s\x12%s\x13", g.pieces, full, less)
}

// constant is a literal or an argument.
func (g *gen) constant(k kind) string {
	if g.odds(20) { // one that has a type
		return "CAST(NULL AS " + dialect(hqlType[k], pgType[k]) + ")"
	}
	return g.given(someValue(g.Rand, k))
}

// beside draws a constant to compare with a value of kind k: usually of that kind, else of a kind that is converted to
// it.
func (g *gen) beside(k kind) string {
	v := someValue(g.Rand, k)
	if k == kText || k == kJSON || !g.odds(5) {
		return g.constant(k)
	}
	switch {
	case k == kInt && g.odds(2):
		return someValue(g.Rand, kDec).literal()
	case k == kDec && g.odds(2):
		return someValue(g.Rand, kInt).literal()
	case (k == kDate || k == kTs || k == kWall) && g.odds(2):
		return someValue(g.Rand, g.kindOf(kDate, kTs, kWall)).literal()
	}
	return quote(v.pg) // a text is read as the type beside it
}

// given returns v as a constant.
func (g *gen) given(v value) string {
	if g.params && g.odds(2) && v.kind != kJSON && !v.null() {
		g.args = append(g.args, v)
		return fmt.Sprintf("\x15%d\x13", len(g.args)-1)
	}
	return v.literal()
}

// like draws another value for the argument v.
func (g *gen) like(v value) value {
	if v.list == nil {
		return someValue(g.Rand, v.kind)
	}
	list := []value{}
	for range g.IntN(4) {
		list = append(list, someValue(g.Rand, v.kind))
	}
	return value{kind: v.kind, list: list}
}

// column names a column of that kind, usually of the query itself.
func (g *gen) column(s *scope, k kind) (string, bool) {
	for s != nil {
		var found []string
		for _, src := range s.sources {
			for _, c := range src.columns {
				if c.kind == k {
					found = append(found, src.alias+"."+c.name, src.alias+"."+c.name, src.alias+`."`+c.name+`"`)
				}
			}
		}
		if len(found) > 0 && (s.outer == nil || g.IntN(4) > 0) {
			return g.pick(found...), true
		}
		s = s.outer
	}
	return "", false
}

// anyColumn names a column and returns its kind.
func (g *gen) anyColumn(s *scope) (string, kind) {
	for range 20 {
		k := kinds[g.IntN(len(kinds))]
		if c, ok := g.column(s, k); ok {
			return c, k
		}
	}
	return g.constant(kInt), kInt
}

// leaf draws a column or a constant.
func (g *gen) leaf(s *scope, k kind) string {
	if g.IntN(4) > 0 {
		if c, ok := g.column(s, k); ok {
			return c
		}
	}
	return g.constant(k)
}

// expr draws an expression of a kind that can be an operand of any operator.
func (g *gen) expr(s *scope, k kind, depth int) string {
	if depth <= 0 || g.odds(3) {
		return g.leaf(s, k)
	}
	return g.piece("("+g.compound(s, k, depth-1)+")", g.leaf(s, k))
}

// condition draws an expression for places that accept NULL of any kind.
func (g *gen) condition(s *scope, depth int) string {
	return g.piece("("+g.compound(s, kBool, depth)+")", g.pick("TRUE", "FALSE"))
}

var zones = []string{"UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"}
var intervals = []string{"1 day", "2 hours", "1 month", "-5 minutes", "1 year 2 days", "90 seconds", "-1 month", "0 days"}
var units = []string{"hour", "day", "week", "month", "quarter", "year", "minute", "second", "decade"}
var fields = []string{"year", "month", "day", "hour", "minute", "quarter", "week", "dow", "isodow", "doy", "isoyear", "decade", "century"}

// bounded draws a number so small that a sum or product stays within its type.
func (g *gen) bounded(s *scope, depth int) string {
	x := g.expr(s, kInt, depth)
	if g.risky {
		return x
	}
	return "(" + x + " % 100000)"
}

// small draws a whole number from -3 to 9, for lengths and positions.
func (g *gen) small(s *scope) string {
	if g.odds(3) {
		return "(" + g.leaf(s, kInt) + " % 5)"
	}
	return fmt.Sprint(g.IntN(13) - 3)
}

// pgInt casts a small number to PostgreSQL's type for positions, lengths and days.
func pgInt(x string) string { return "CAST(" + x + " AS INT)" }

// tame draws a DOUBLE whose arithmetic stays in range: neither large nor so small that a product of two becomes 0.
func (g *gen) tame(s *scope, depth int) string {
	x := g.expr(s, kDbl, depth)
	if g.risky {
		return dialect(x, x+"::float8")
	}
	g.approx = true
	return dialect("(TRUNC(LEAST(GREATEST("+x+", CAST('-1e6' AS DOUBLE)), CAST('1e6' AS DOUBLE)) * CAST('1e6' AS DOUBLE)) / CAST('1e6' AS DOUBLE))",
		"(TRUNC(LEAST(GREATEST("+x+"::float8, -1e6::float8), 1e6::float8) * 1e6::float8) / 1e6::float8)")
}

// sized draws a DECIMAL of few digits.
func (g *gen) sized(s *scope, depth int) string {
	x := g.expr(s, kDec, depth)
	if g.risky {
		return x
	}
	return "(" + x + " % 100000)"
}

// interval draws an INTERVAL, which no column can hold. Months and their fractions are small, so that sums stay in
// range.
func (g *gen) interval(s *scope, depth int) string {
	some := "INTERVAL '" + g.pick(intervals...) + "'"
	if depth <= 0 {
		return some
	}
	i := func() string { return g.interval(s, depth-1) }
	switch g.IntN(12) {
	case 9:
		a, b := g.nearMoment(s, depth-1), g.nearMoment(s, depth-1)
		return "AGE(" + a + ", " + b + ")"
	case 10:
		return "MAKE_INTERVAL(" + pgInt(g.small(s)) + ", " + pgInt(g.small(s)) + ", 1, " + pgInt(g.small(s)) + ", 25, -61, 1.5)"
	case 0:
		return "(" + i() + g.pick(" + ", " - ") + i() + ")"
	case 1:
		return "(" + g.small(s) + " * " + some + ")"
	case 2:
		return "(" + some + " * " + g.pick("2", "0.5", "-1.5", "3") + ")"
	case 3:
		return "(" + some + " / " + g.pick("2", "0.5", "-4") + ")"
	case 4:
		return "(- " + i() + ")"
	case 5:
		return "(CASE WHEN " + g.condition(s, 0) + " THEN " + i() + " ELSE " + i() + " END)"
	case 6:
		return "COALESCE(CAST(" + g.pick("NULL", "'1 day'") + " AS INTERVAL), " + i() + ")"
	case 7:
		return g.pick("GREATEST", "LEAST") + "(" + i() + ", " + i() + ")"
	case 8:
		a, b := g.nearMoment(s, depth-1), g.nearMoment(s, depth-1)
		return "(" + a + " - " + b + ")"
	}
	return some
}

func (g *gen) compound(s *scope, k kind, depth int) string {
	e := func(k kind) string { return g.expr(s, k, depth) }
	// Forms of every kind.
	switch g.IntN(14) {
	case 0:
		return "CASE WHEN " + g.condition(s, depth) + " THEN " + e(k) + " ELSE " + e(k) + " END"
	case 1:
		if k == kDec && g.odds(3) {
			return "COALESCE(" + e(kInt) + ", " + e(k) + ")"
		}
		if k != kJSON {
			return "COALESCE(" + e(k) + ", " + e(k) + ")"
		}
	case 2:
		if k != kJSON && !g.plain {
			return g.scalar(s, k, depth)
		}
	case 3:
		if k != kJSON && k != kBool {
			return g.pick("GREATEST", "LEAST") + "(" + e(k) + ", " + e(k) + ")"
		}
	case 4:
		if k != kJSON {
			return "NULLIF(" + e(k) + ", " + e(k) + ")"
		}
	case 5:
		if k != kJSON && k != kBool {
			x := e(k)
			return "CASE " + x + " WHEN " + e(k) + " THEN " + e(k) + " WHEN " + e(k) + " THEN " + e(k) + " END"
		}
	}
	switch k {
	case kJSON:
		return g.json(s, textual, depth)
	case kBool:
		return g.boolean(s, depth)
	case kInt:
		return g.integer(s, depth)
	case kDec:
		switch g.IntN(8) {
		case 0, 1:
			other := g.sized(s, depth)
			if g.odds(4) {
				other = g.bounded(s, depth)
			}
			return g.sized(s, depth) + g.pick(" + ", " - ", " * ") + other
		case 2:
			return "ROUND(" + e(kDec) + ", " + fmt.Sprint(g.IntN(5)-2) + ")"
		case 3:
			return g.pick("ABS", "CEIL", "FLOOR", "TRUNC", "ROUND") + "(" + e(kDec) + ")"
		case 4:
			return g.pick("CAST("+e(kInt)+" AS DECIMAL)", "DIV("+e(kInt)+", 7)", "EXTRACT("+g.pick("second", "minute", "year", "epoch")+" FROM "+e(kWall)+")", "ROUND("+e(kInt)+", -1)")
		case 5:
			if g.risky {
				return e(kDec) + g.pick(" / ", " % ") + e(kDec)
			}
			return e(kDec) + g.pick(" / ", " % ") + g.pick("3.0", "7.5", "0.1", "-2.0")
		case 6:
			return g.pick("- (", "TRIM_SCALE(") + e(kDec) + ")"
		}
		return "CAST(" + g.sized(s, depth) + " AS DECIMAL(20, " + fmt.Sprint(g.IntN(4)) + "))"
	case kDbl:
		switch g.IntN(9) {
		case 7:
			g.approx = true
			x := g.tame(s, depth)
			return g.pick("EXP(0.00001 * "+x+")", "LN(1 + ABS("+x+"))", "LOG10(1 + ABS("+x+"))", "LOG(1 + ABS("+x+"))", "POWER(ABS("+x+"), 0.5)", "ATAN2("+x+", 2)", "TAN(0.000001 * "+x+")", "COT(1 + 0.0000001 * "+x+")",
				"ATANH(0.0000005 * "+x+")", "ASIN(0.0000005 * "+x+")", "ACOS(0.0000005 * "+x+")", "SIGN("+x+")", "PI() * "+x)
		case 8:
			return "CAST(FACTORIAL(" + g.pick("0", "5", "20") + ") AS DOUBLE PRECISION)"
		case 6:
			g.approx = true
			x := g.interval(s, 2)
			f := g.pick("epoch", "second", "minute", "month", "year")
			return "CAST(EXTRACT(" + f + " FROM " + x + ") AS DOUBLE PRECISION)"
		case 0, 1:
			return g.tame(s, depth) + g.pick(" + ", " - ", " * ") + g.tame(s, depth)
		case 2:
			return g.pick("ABS", "CEIL", "FLOOR", "TRUNC", "ROUND") + "(" + dialect(e2(g, s, depth)) + ")"
		case 3:
			return g.pick("CAST("+e(kInt)+" AS DOUBLE PRECISION)", g.pick("CEIL", "FLOOR", "TRUNC", "ROUND", "SIGN")+"("+e(kInt)+")")
		case 4:
			g.approx = true
			return g.pick("SQRT(ABS(", "CBRT((", "SIN((", "COS((", "ATAN((", "RADIANS((", "DEGREES((", "SINH((0.01 * ", "COSH((0.01 * ", "TANH((", "ASINH((", "ACOSH(1 + ABS(") + g.tame(s, depth) + "))"
		}
		return "- " + e(kDbl)
	case kText:
		return g.text(s, depth)
	case kBytes:
		switch g.IntN(6) {
		case 0:
			return e(kBytes) + " || " + e(kBytes)
		case 1:
			x := e(kText)
			return "CONVERT_TO(" + x + ", 'UTF8')"
		case 2:
			return "SUBSTRING(" + e(kBytes) + ", " + pgInt(fmt.Sprint(g.IntN(4))) + ", " + fmt.Sprint(g.IntN(4)) + ")"
		case 3:
			x := e(kText)
			return dialect("UNHEX(MD5("+x+"))", "DECODE(MD5("+x+"), 'hex')")
		case 4:
			return "DECODE(ENCODE(" + e(kBytes) + ", 'base64'), 'base64')"
		}
		return "DECODE('" + g.pick("00ff", "", "61", "6162") + "', 'hex')"
	case kWall:
		return g.wall(s, depth)
	case kDate:
		switch g.IntN(7) {
		case 6:
			return "CAST(" + g.nearWall(s, depth) + " AS DATE)"
		case 0:
			return g.nearDate(s, depth) + g.pick(" + ", " - ") + pgInt(g.small(s))
		case 1:
			return "CAST(" + g.nearMoment(s, depth) + " AS DATE)"
		case 2:
			return "DATE(" + g.nearMoment(s, depth) + ")"
		case 3:
			return "MAKE_DATE(" + pgInt("2000 + ABS("+g.leaf(s, kInt)+" % 50)") + ", " + fmt.Sprint(1+g.IntN(12)) + ", " + fmt.Sprint(1+g.IntN(28)) + ")"
		case 4:
			x := g.nearDate(s, depth)
			return "CAST(CAST(" + x + " AS " + dialect("STRING", "text") + ") AS DATE)"
		}
		return "TO_DATE('" + fmt.Sprintf("%d-%02d-%02d", 1990+g.IntN(40), 1+g.IntN(12), 1+g.IntN(28)) + "', 'YYYY-MM-DD')"
	case kTime:
		switch g.IntN(5) {
		case 4:
			return "CAST(" + g.nearWall(s, depth) + " AS " + dialect("TIME", "time(3)") + ")"
		case 3:
			return "CAST(MAKE_TIME(" + fmt.Sprint(g.IntN(24)) + ", " + fmt.Sprint(g.IntN(60)) + ", " + g.pick("0", "59.5", "1.125") + ") AS " + dialect("TIME", "time(3)") + ")"
		case 0:
			return "CAST(" + g.nearMoment(s, depth) + " AS " + dialect("TIME", "time(3)") + ")"
		case 1:
			return e(kTime) + g.pick(" + ", " - ") + "INTERVAL '" + g.pick("1 hour", "90 seconds", "25 hours") + "'"
		}
		x := e(kTime)
		return "CAST(CAST(" + x + " AS " + dialect("STRING", "text") + ") AS " + dialect("TIME", "time(3)") + ")"
	case kTs:
		x := g.nearMoment(s, depth)
		switch g.IntN(8) {
		case 7:
			return "CAST(" + g.nearWall(s, depth) + " AS TIMESTAMP" + dialect("", "TZ") + ")"
		case 0, 1:
			return x + g.pick(" + ", " - ") + g.interval(s, g.IntN(3))
		case 2:
			return "DATE_TRUNC('" + g.pick(units...) + "', " + x + ")"
		case 3:
			w := g.pick("5 minutes", "1 hour", "1 day", "7 days", "90 seconds")
			return dialect("DATE_BIN('"+w+"', "+x+")", "DATE_BIN('"+w+"', "+x+", '1970-01-01 00:00:00+00')")
		case 4:
			return g.nearWall(s, depth) + " AT TIME ZONE '" + g.pick(zones...) + "'"
		case 5:
			return "CAST(" + g.nearDate(s, depth) + " AS TIMESTAMP" + dialect("", "TZ") + ")"
		}
		return "TO_TIMESTAMP(" + pgInt("ABS("+g.leaf(s, kInt)+" % 2000000000)") + ")"
	}
	return e(k)
}

// wall draws a timestamp without time zone.
func (g *gen) wall(s *scope, depth int) string {
	x := g.nearWall(s, depth)
	switch g.IntN(9) {
	case 0:
		return x + g.pick(" + ", " - ") + g.interval(s, g.IntN(3))
	case 1:
		return g.nearDate(s, depth) + g.pick(" + ", " - ") + g.interval(s, 0)
	case 2:
		return "DATE_TRUNC('" + g.pick(units...) + "', " + x + ")"
	case 3:
		w := g.pick("5 minutes", "1 hour", "1 day", "7 days", "90 seconds")
		return dialect("DATE_BIN('"+w+"', "+x+")", "DATE_BIN('"+w+"', "+x+", '1970-01-01 00:00:00')")
	case 4:
		return fmt.Sprintf("MAKE_TIMESTAMP(%d, %d, %d, %d, 59, 7.25)", 1990+g.IntN(40), 1+g.IntN(12), 1+g.IntN(28), g.IntN(24))
	case 5:
		return "CAST(" + g.pick(g.nearMoment(s, depth), g.nearDate(s, depth)) + " AS TIMESTAMP WITHOUT TIME ZONE)"
	}
	return g.nearMoment(s, depth) + " AT TIME ZONE '" + g.pick(zones...) + "'"
}

// textual are kinds whose texts are the same in the JSON of both.
var textual = []kind{kBool, kInt, kText, kDate}

// json draws JSON of values of those kinds. It has no numbers with a point if it may be converted to text.
func (g *gen) json(s *scope, of []kind, depth int) string {
	e := func() string {
		if g.odds(6) {
			return g.expr(s, kJSON, depth)
		}
		return g.expr(s, g.kindOf(of...), depth)
	}
	switch g.IntN(7) {
	case 5:
		x := "CAST(" + g.expr(s, kJSON, depth) + " AS JSONB)"
		return "CAST(" + g.pick(x+" || CAST("+g.expr(s, kJSON, depth)+" AS JSONB)", x+" -> 'a'", x+" -> 0", x+" #> '{a,b}'", "JSONB_STRIP_NULLS("+x+")",
			"JSONB_BUILD_OBJECT('bb', "+x+", 'a', "+e()+")", "TO_JSONB("+x+" ->> 'a')", "TO_JSONB("+x+" @> '{\"a\": 1}')", "TO_JSONB(CAST("+x+" AS TEXT))") + " AS JSON)"
	case 0:
		return "JSON_BUILD_OBJECT('a', " + e() + ", " + quote(g.pick("b", "é", "a b", `"`)) + ", " + e() + ")"
	case 1:
		return "JSON_BUILD_ARRAY(" + e() + ", " + e() + ")"
	case 2:
		return "TO_JSON(" + e() + ")"
	case 3:
		return "JSON_EXTRACT_PATH(" + g.expr(s, kJSON, depth) + ", " + g.pick("'a'", "'a', 'b'", "'b', '1'", "'0'") + ")"
	case 4:
		return "(" + g.expr(s, kJSON, depth) + ")" + g.pick(" -> 'a'", " -> 0", " -> -1", " -> 'a' -> 'b'")
	}
	if g.plain {
		return g.leaf(s, kJSON)
	}
	rest, in := g.inner(s, min(depth, 1))
	return "(SELECT " + g.elements(&scope{sources: in.sources}, of) + rest + ")"
}

func e2(g *gen, s *scope, depth int) (string, string) {
	x := g.expr(s, kDbl, depth)
	return x, x + "::float8"
}

// nearMoment draws a moment to which something can be added, nearDate such a day.
func (g *gen) nearMoment(s *scope, depth int) string {
	x := g.expr(s, kTs, depth)
	if g.risky {
		return x
	}
	return dialect("LEAST(GREATEST("+x+", TIMESTAMP '1950-01-01 00:00:00Z'), TIMESTAMP '2100-01-01 00:00:00Z')", "LEAST(GREATEST("+x+", '1950-01-01 00:00:00Z'::timestamptz), '2100-01-01 00:00:00Z'::timestamptz)")
}

func (g *gen) nearWall(s *scope, depth int) string {
	x := g.expr(s, kWall, depth)
	if g.risky {
		return x
	}
	return "LEAST(GREATEST(" + x + ", " + wall(-20*365*dayMillis).literal() + "), " + wall(130*365*dayMillis).literal() + ")"
}

func (g *gen) nearDate(s *scope, depth int) string {
	x := g.expr(s, kDate, depth)
	if g.risky {
		return x
	}
	return "LEAST(GREATEST(" + x + ", DATE '1950-01-01'), DATE '2100-01-01')"
}

func (g *gen) integer(s *scope, depth int) string {
	e := func(k kind) string { return g.expr(s, k, depth) }
	switch g.IntN(30) {
	case 28:
		x, w := e(kTs), g.pick("5 minutes", "1 hour", "1 day", "7 days", "90 seconds")
		return dialect("BIN_OFFSET('"+w+"', "+x+")", "(EXTRACT(epoch FROM "+x+" - DATE_BIN('"+w+"', "+x+", '1970-01-01 00:00:00+00')) * 1000)::bigint")
	case 29:
		x := e(kTs)
		unit := g.pick("HOUR", "MINUTE", "SECOND", "MILLIS")
		part := map[string]string{"HOUR": "3600", "MINUTE": "60", "SECOND": "1", "MILLIS": "0.001"}[unit]
		return dialect(unit+"_OF_DAY("+x+")", "FLOOR(EXTRACT(epoch FROM ("+x+" AT TIME ZONE 'UTC')::time) / "+part+")::bigint")
	case 23:
		x := g.bounded(s, depth)
		return g.pick("GCD("+x+", "+g.bounded(s, 0)+")", "SIGN("+x+")::bigint", "DIV("+x+", 7)::bigint")
	case 24:
		return g.pick("BIT_LENGTH("+e(kText)+")", "BIT_LENGTH("+e(kBytes)+")", "GET_BYTE("+e(kBytes)+" || DECODE('61', 'hex'), 0)", "MIN_SCALE("+g.leaf(s, kDec)+")", "SCALE("+g.pick("1.50", "-0.0", "12.125", "7.")+")")
	case 25:
		p := quote(g.pick("a", "[0-9]+", "é|x", "[ab]", "b$"))
		return g.pick("REGEXP_COUNT("+e(kText)+", "+p+")", "REGEXP_COUNT("+e(kText)+", "+p+", 2)", "REGEXP_INSTR("+e(kText)+", "+p+")", "REGEXP_INSTR("+e(kText)+", "+p+", 1, 2, 1)", "REGEXP_INSTR("+e(kText)+", "+p+", 1, 1, 0, 'i')")
	case 26:
		return "POSITION(" + e(kText) + " IN " + e(kText) + ")"
	case 27:
		if c := e(kJSON); g.odds(2) {
			return "CASE WHEN JSON_TYPEOF(" + c + ") = 'array' THEN JSON_ARRAY_LENGTH(" + c + ") END"
		}
		x := e(kTs)
		return "EXTRACT(" + g.pick("millennium", "julian", "milliseconds", "microseconds") + " FROM DATE_TRUNC('day', " + x + "))::bigint"
	case 21:
		x := g.bounded(s, depth)
		return "LCM(" + x + ", " + g.pick("6", "-14", "0", g.bounded(s, 0)) + ")"
	case 22:
		if g.odds(2) {
			return g.pick("NUM_NULLS(", "NUM_NONNULLS(") + e(g.comparable()) + ", " + e(g.comparable()) + ")"
		}
		k := g.pick("0, 100", "-50, 50", "10, -10", "-1.5, 2.25")
		return "WIDTH_BUCKET(" + g.expr(s, g.kindOf(kInt, kDec), depth) + ", " + k + ", " + g.pick("1", "5", "7") + ")"
	case 18:
		return "(" + e(kInt) + g.pick(" & ", " | ", " # ") + e(kInt) + ")"
	case 19:
		x := e(kInt) // of 32 bits in PostgreSQL where it is a position or a length
		return "(" + dialect(x, "("+x+")::bigint") + g.pick(" << ", " >> ") + g.pick("0", "1", "7", "63") + ")"
	case 20:
		return "(~ " + e(kInt) + ")"
	case 0, 1, 2:
		return g.bounded(s, depth) + g.pick(" + ", " - ", " * ") + g.bounded(s, depth)
	case 3:
		if g.risky {
			return e(kInt) + g.pick(" / ", " % ") + e(kInt)
		}
		return e(kInt) + g.pick(" / ", " % ") + g.pick("3", "7", "-2", "100")
	case 4:
		return "- " + g.bounded(s, depth)
	case 5:
		return "ABS(" + g.bounded(s, depth) + ")"
	case 6:
		return "LENGTH(" + g.pick(e(kText), e(kBytes)) + ")"
	case 7:
		return "STRPOS(" + e(kText) + ", " + e(kText) + ")"
	case 8:
		return "ASCII(" + e(kText) + ")"
	case 9:
		return "CAST(" + g.sized(s, depth) + " AS BIGINT)"
	case 10:
		return "CAST(" + g.tame(s, depth) + " AS BIGINT)"
	case 11:
		return "CAST(" + e(kBool) + " AS " + dialect("INT", "INT") + ")"
	case 12:
		f := g.pick(fields...)
		if g.odds(2) {
			return "EXTRACT(" + f + " FROM " + e(kWall) + ")::bigint"
		}
		x := e(kTs)
		return "EXTRACT(" + f + " FROM " + x + ")::bigint"
	case 13:
		return g.nearDate(s, depth) + " - " + g.nearDate(s, depth)
	case 14:
		a, b := g.pick(g.nearMoment(s, depth), g.nearWall(s, depth)), g.pick(g.nearMoment(s, depth), g.nearWall(s, depth))
		return "(EXTRACT(epoch FROM " + a + " - " + b + ") * 1000)::bigint"
	case 15:
		x, n := e(kInt), g.pick("3", "7", "-4")
		return dialect("FLOORMOD("+x+", "+n+")", "MOD(MOD("+x+", "+n+") + "+n+", "+n+")")
	case 16:
		return g.pick("OCTET_LENGTH(", "LENGTH(") + e(kText) + ")"
	}
	if g.risky {
		return "CAST(" + e(kText) + " AS " + g.pick("BIGINT", "INT", "SMALLINT") + ")"
	}
	x := e(kTs)
	return dialect("EPOCH_MS("+x+")", "(EXTRACT(epoch FROM "+x+") * 1000)::bigint")
}

func (g *gen) text(s *scope, depth int) string {
	e := func(k kind) string { return g.expr(s, k, depth) }
	switch g.IntN(32) {
	case 28:
		f, x := g.pick("SHA224", "SHA256", "SHA384", "SHA512"), e(kText)
		return dialect(f+"("+x+")", "ENCODE("+f+"(CONVERT_TO("+x+", 'UTF8')), 'hex')")
	case 29:
		return "CONVERT_FROM(CONVERT_TO(" + e(kText) + ", 'UTF8'), 'UTF8')"
	case 30:
		return "TRIM(" + g.pick("BOTH ", "LEADING ", "TRAILING ") + quote(g.pick("a", " ", "ab")) + " FROM " + e(kText) + ")"
	case 31:
		if c := e(kJSON); g.odds(2) {
			return g.pick("JSON_TYPEOF("+c+")", "JSON_EXTRACT_PATH_TEXT("+c+", 'a')", "JSON_EXTRACT_PATH_TEXT("+c+", 'a', 'b')")
		}
		return "REGEXP_SUBSTR(" + e(kText) + ", '" + g.pick("a", "[a-b]", "(a)(b)") + "', 1, " + g.pick("1", "2") + g.pick("", ", 'i'") + ")"
	case 24:
		return "OVERLAY(" + e(kText) + " PLACING " + e(kText) + " FROM " + pgInt("1 + ABS("+g.small(s)+")") + g.pick("", " FOR "+pgInt(g.small(s))) + ")"
	case 25:
		k := g.kindOf(kInt, kText, kBool, kDate)
		return "FORMAT('" + g.pick("%s-%s", "%2$s %1$s%%", "[%-6s|%6s]", "%L, %L", "%1$s %1$L", "a%s") + "', " + e(k) + ", " + e(kText) + ")"
	case 26:
		x := e(kText)
		if g.odds(2) {
			return "QUOTE_IDENT(" + x + ")"
		}
		return g.pick("QUOTE_LITERAL(", "QUOTE_NULLABLE(") + g.pick(x, e(kInt), e(kText)) + ")"
	case 27:
		return "SUBSTRING(" + e(kText) + " FROM '" + g.pick("a+", "(a)(b)?", "[0-9]+", "é|x", "(b)?.", "^.*$") + "')"
	case 0, 1:
		return e(kText) + " || " + e(g.kindOf(kText, kText, kInt, kBool, kDate))
	case 2:
		return g.pick("UPPER", "LOWER", "INITCAP", "REVERSE", "MD5") + "(" + e(kText) + ")"
	case 3:
		return "SUBSTRING(" + e(kText) + ", " + pgInt(g.small(s)) + ")"
	case 4:
		return "SUBSTRING(" + e(kText) + ", " + pgInt(g.small(s)) + ", " + fmt.Sprint(g.IntN(5)) + ")"
	case 5:
		return g.pick("LEFT", "RIGHT") + "(" + e(kText) + ", " + pgInt(g.small(s)) + ")"
	case 6:
		return g.pick("LPAD", "RPAD") + "(" + e(kText) + ", " + pgInt(g.small(s)) + g.pick("", ", 'xy'", ", ''") + ")"
	case 7:
		return g.pick("TRIM", "LTRIM", "RTRIM", "BTRIM") + "(" + e(kText) + ")"
	case 8:
		return g.pick("LTRIM", "RTRIM", "BTRIM") + "(" + e(kText) + ", " + e(kText) + ")"
	case 9:
		return "REPLACE(" + e(kText) + ", " + e(kText) + ", " + e(kText) + ")"
	case 10:
		return "REPEAT(" + g.leaf(s, kText) + ", " + pgInt(g.small(s)) + ")"
	case 11:
		return "SPLIT_PART(" + e(kText) + ", '" + g.pick("|", "::", "a", ".") + "', " + g.pick("1", "2", "-1", "3") + ")"
	case 12:
		return "TRANSLATE(" + e(kText) + ", 'aBé', '" + g.pick("xyz", "x", "") + "')"
	case 13:
		return "CONCAT(" + e(kText) + ", " + e(kText) + ", " + e(kInt) + ")"
	case 14:
		return "CONCAT_WS('" + g.pick("-", "", ", ") + "', " + e(kText) + ", " + e(kText) + ")"
	case 15:
		return "CAST(" + e(g.kindOf(kInt, kBool, kDate, kTime, kWall)) + " AS " + dialect("STRING", "text") + ")"
	case 16:
		return "ENCODE(" + e(kBytes) + ", '" + g.pick("hex", "base64") + "')"
	case 17:
		x := e(kTs)
		f := g.pick("YYYY-MM-DD HH24:MI:SS.MS", "Dy DD Mon YYYY", "IYYY-IW-ID", "FMMonth FMDD", "DDD HH12:MI AM", "Q J")
		return "TO_CHAR(" + x + ", '" + f + "')"
	case 18:
		x := e(kTs)
		x = "GREATEST(" + x + ", " + moment(-62135424000000).literal() + ")" // 0001-01-03, in year 1 in all zones
		return dialect("CAST("+x+" AS STRING)", "("+x+")::timestamp::text")
	case 19:
		if c := e(kJSON); g.odds(2) {
			return "(" + c + ")" + g.pick(" ->> 'a'", " ->> 0", " -> 'a' ->> 'b'")
		}
		if g.odds(2) {
			x := e(kText)
			return dialect("REVERSE_DOMAIN("+x+")", "(SELECT COALESCE(STRING_AGG(p, '.' ORDER BY i DESC), "+x+") FROM UNNEST(STRING_TO_ARRAY("+x+", '.')) WITH ORDINALITY AS u (p, i))")
		}
		if x := g.pick(e(kBytes), "CONVERT_TO("+e(kText)+", 'UTF8')"); g.odds(2) {
			return dialect("HEX("+x+")", "ENCODE("+x+", 'hex')")
		}
		return "CHR(" + fmt.Sprint([]int{65, 97, 233, 26085}[g.IntN(4)]) + ")"
	case 20:
		return "REGEXP_REPLACE(" + e(kText) + ", '" + g.pick("a+", "(a)(b)?", "[[:digit:]]", "^.", "b|x") + "', '" + g.pick("", `<\1>`, "z") + "'" + g.pick("", ", 'g'", ", 'gi'") + ")"
	case 21:
		return "REGEXP_SUBSTR(" + e(kText) + ", '" + g.pick("a+", "[a-b]+", "é", "x.?") + "')"
	case 22:
		return "TO_HEX(CAST(" + g.leaf(s, kInt) + " AS BIGINT))"
	}
	x := g.constant(kDec)
	if g.odds(2) {
		x = "TRIM_SCALE(" + g.leaf(s, kDec) + ")" // which may be a quotient
	}
	return "CAST(" + x + " AS " + dialect("STRING", "text") + ")"
}

func (g *gen) kindOf(ks ...kind) kind { return ks[g.IntN(len(ks))] }

// comparable draws a kind with an order.
func (g *gen) comparable() kind { return kinds[g.IntN(len(kinds))] }

func (g *gen) boolean(s *scope, depth int) string {
	e := func(k kind) string { return g.expr(s, k, depth) }
	c := func() string { return g.condition(s, depth) }
	// A column is compared more often than an expression.
	x, k := g.anyColumn(s)
	if g.odds(3) {
		k = g.comparable()
		x = e(k)
	}
	switch g.IntN(27) {
	case 26:
		jsonb := func() string {
			return "CAST(" + g.pick(e(kJSON), someValue(g.Rand, kJSON).literal()) + " AS JSONB)"
		}
		if g.odds(3) {
			return jsonb() + g.pick(" IN (", " NOT IN (") + jsonb() + ", " + jsonb() + ")"
		}
		return jsonb() + g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM ") + jsonb()
	case 24:
		return "REGEXP_LIKE(" + e(kText) + ", " + quote(g.pick("a", "^a", "b$", "[ab]+", "é")) + g.pick("", ", 'i'") + ")"
	case 25: // what differs each time, and is known all the same
		return g.pick("RANDOM() < 2", "NOW() > "+moment(0).literal(), "CURRENT_DATE >= "+day(10957).literal())
	case 22:
		return g.interval(s, 2) + g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM ") + g.interval(s, 2)
	case 23:
		if g.odds(2) { // of two types
			return g.nearMoment(s, depth) + g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ") + g.pick(g.nearWall(s, depth), g.nearDate(s, depth))
		}
		return g.nearMoment(s, depth) + " - " + g.nearMoment(s, depth) + g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ") + g.interval(s, 1)
	case 0, 1, 2, 3:
		return x + g.pick(" = ", " = ", " = ", " <> ", " != ", " < ", " <= ", " > ", " >= ") + g.beside(k)
	case 4, 5:
		return x + g.pick(" = ", " = ", " <> ", " < ", " <= ", " > ", " >= ") + e(k)
	case 6:
		return x + g.pick(" IS NULL", " IS NOT NULL", " ISNULL", " NOTNULL")
	case 7:
		return c() + g.pick(" IS TRUE", " IS FALSE", " IS UNKNOWN", " IS NOT TRUE", " IS NOT FALSE", " IS NOT UNKNOWN", " IS NULL")
	case 8, 9:
		return c() + " AND " + c()
	case 10:
		return c() + " OR " + c()
	case 11:
		return "NOT " + c()
	case 12:
		return x + g.pick(" BETWEEN ", " NOT BETWEEN ", " BETWEEN SYMMETRIC ", " NOT BETWEEN SYMMETRIC ") + g.beside(k) + " AND " + g.beside(k)
	case 13, 14:
		var list []string
		for range 1 + g.IntN(5) {
			list = append(list, g.piece(g.constant(k), g.constant(k)))
		}
		if g.odds(8) {
			list = append(list, g.leaf(s, k))
		}
		if g.odds(3) {
			return x + g.quantified() + "(ARRAY[" + strings.Join(list, ", ") + "]" + dialect(g.pick("", "::"+hqlType[k]+"[]"), "::"+pgType[k]+"[]") + ")"
		}
		if g.odds(3) && k != kDbl { // whether a text is a REAL or a DOUBLE depends on the column here, on the list in PostgreSQL
			list = append(list, g.beside(k))
		}
		return x + g.pick(" IN (", " IN (", " NOT IN (") + strings.Join(list, ", ") + ")"
	case 15:
		p := g.pick("a%", "%a", "ab%", "a_", "%", "", "b%b", "%b", "aé%", "_", `a\%`, `%\_%`, "%a%", "A%", "|%", "a|%")
		x, _ := g.column(s, kText)
		if x == "" || g.odds(3) {
			x = e(kText)
		}
		if g.odds(5) {
			return x + g.pick(" SIMILAR TO ", " NOT SIMILAR TO ") + quote(g.pick("a%", "(a|b)+", "[ab]_?", "%(1|é)", "a|b%", "_", "a{1,2}%"))
		}
		if g.odds(6) {
			return x + g.pick(" LIKE ", " NOT LIKE ", " ILIKE ") + quote(g.pick("a!%%", "!!%", "%!_", "a%")) + " ESCAPE '!'"
		}
		return x + g.pick(" LIKE ", " LIKE ", " NOT LIKE ", " ILIKE ", " NOT ILIKE ") + quote(p)
	case 16:
		return e(kText) + g.pick(" ~ ", " ~* ", " !~ ", " !~* ") + quote(g.pick("a", "^a", "b$", "^$", "a.*b", "[ab]+", "(a|b)x?", "^.$", "é"))
	case 17:
		return x + g.pick(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM ") + e(k)
	case 18:
		y, l := g.anyColumn(s)
		return "(" + x + ", " + y + ")" + g.pick(" = ", " < ", " <= ", " > ", " >= ", " <> ") + "(" + g.beside(k) + ", " + g.beside(l) + ")"
	case 19, 20:
		if !g.plain {
			return g.existential(s, x, k, depth)
		}
		return "STARTS_WITH(" + e(kText) + ", " + e(kText) + ")"
	}
	if b, ok := g.column(s, kBool); ok {
		return b
	}
	return g.pick("TRUE", "FALSE", dialect("CAST(NULL AS BOOLEAN)", "NULL::boolean"))
}

func names(cs []column) (out []string) {
	for _, c := range cs {
		out = append(out, c.name)
	}
	return out
}
