package solve_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

var sargCases = flag.Int("sargs", 4000, "random predicates of TestSargLaw")
var sargSeed = flag.Uint64("sargseed", 0, "seed of TestSargLaw; 0: a random one")

// steps make an expression of %s, by the type of that. {k} is a small number, {m} a moment, {d} a day, {i} an interval, {z} a zone.
var steps = map[types.Type][]string{
	types.BigInt: {"-%s", "+%s", "ABS(%s)", "SIGN(%s)", "%s + {k}", "{k} + %s", "%s - {k}", "{k} - %s", "%s * {k}", "{k} * %s", "%s / {k}", "{k} / %s", "DIV(%s, {k})", "%s %% {k}", "FLOORMOD(%s, {k})", "%[1]s * %[1]s", "%[1]s + %[1]s",
		"%[1]s - %[1]s", "%[1]s / %[1]s", "ROUND(%s, {n})", "TRUNC(%s, {n})", "FLOOR(%s)", "CEIL(%s)", "%s * {q}", "{q} * %s", "%s + {q}", "{q} - %s", "%s / {q}", "{q} / %s", "%s * {f}", "%s + {f}", "%s / {f}", "{f} / %s", "{f} - %s", "CAST(%s AS DOUBLE)", "CAST(%s AS FLOAT)",
		"CAST(%s AS DECIMAL)", "CAST(%s AS DECIMAL(6,2))", "CAST(%s AS STRING)", "CAST(%s AS INT)", "CAST(%s AS SMALLINT)", "CAST(%s AS TINYINT)", "CAST(%s AS BIGINT)", "CAST(%s AS BOOLEAN)", "CAST(%s AS TIMESTAMP)", "POWER(%s, {p})", "POWER({b}, %s)", "SQRT(%s)", "CBRT(%s)", "EXP(%s)", "LN(%s)",
		"LOG10(%s)", "TO_HEX(%s)", "TO_TIMESTAMP(%s)", "DEGREES(%s)", "RADIANS(%s)", "ATAN(%s)", "ASIN(%s)", "ACOS(%s)", "DATE '2020-02-20' + %s"},
	types.Double: {"-%s", "ABS(%s)", "SIGN(%s)", "%s + {k}", "{k} - %s", "%s * {k}", "%s / {k}", "{k} / %s", "%s * {f}", "%s + {f}", "{f} - %s", "%s / {f}", "{f} / %s", "DIV(%s, {f})", "%[1]s * %[1]s", "%[1]s + %[1]s", "%[1]s / %[1]s", "%[1]s - %[1]s", "%s - {q}", "FLOOR(%s)", "CEIL(%s)", "ROUND(%s)", "TRUNC(%s)", "ROUND(%s, {n})", "TRUNC(%s, {n})",
		"CAST(%s AS BIGINT)", "CAST(%s AS INT)", "CAST(%s AS FLOAT)", "CAST(%s AS DECIMAL)", "CAST(%s AS DECIMAL(6,2))", "CAST(%s AS STRING)", "POWER(%s, {p})", "POWER({b}, %s)", "SQRT(%s)", "CBRT(%s)", "EXP(%s)", "LN(%s)", "LOG(%s)", "DEGREES(%s)", "RADIANS(%s)", "ATAN(%s)", "ASIN(%s)", "ACOS(%s)",
		"TO_TIMESTAMP(%s)"},
	types.Decimal: {"-%s", "ABS(%s)", "SIGN(%s)", "%s + {q}", "{q} - %s", "%s * {q}", "%s / {q}", "{q} / %s", "DIV(%s, {q})", "%[1]s * %[1]s", "%s * {f}", "%s + {f}", "FLOOR(%s)", "CEIL(%s)", "ROUND(%s)", "ROUND(%s, {n})", "TRUNC(%s, {n})", "CAST(%s AS BIGINT)", "CAST(%s AS DOUBLE)", "CAST(%s AS FLOAT)", "CAST(%s AS STRING)", "CAST(%s AS DECIMAL(8,1))",
		"SQRT(%s)", "POWER(%s, {p})", "LN(%s)", "EXP(%s)"},
	types.Timestamp: {"%s + INTERVAL {i}", "%s - INTERVAL {i}", "%s - {m}", "{m} - %s", "CAST(%s AS DATE)", "CAST(%s AS STRING)", "CAST(%s AS TIME)", "CAST(%s AS BIGINT)", "DATE(%s)", "DATE_TRUNC({u}, %s)", "DATE_BIN({w}, %s)", "DATE_BIN({w}, %s, {m})", "BIN_OFFSET({w}, %s)", "EXTRACT({e} FROM %s)", "EPOCH_MS(%s)", "TO_CHAR(%s, {c})",
		"%s AT TIME ZONE {z}", "MILLIS_OF_DAY(%s)", "SECOND_OF_DAY(%s)", "MINUTE_OF_DAY(%s)", "HOUR_OF_DAY(%s)", "%[1]s - %[1]s", "YEAR(%s)"},
	types.Date:    {"%s + {k}", "%s - {k}", "%s - {d}", "{d} - %s", "CAST(%s AS TIMESTAMP)", "CAST(%s AS STRING)", "DATE(%s)", "DATE_TRUNC({u}, %s)", "DATE_BIN({w}, %s)", "EXTRACT({e} FROM %s)", "EPOCH_MS(%s)", "TO_CHAR(%s, {c})", "%s AT TIME ZONE {z}", "%s + INTERVAL {i}", "HOUR_OF_DAY(%s)", "BIN_OFFSET({w}, %s)", "%[1]s - %[1]s"},
	types.Time:    {"CAST(%s AS STRING)", "%s + INTERVAL {i}"},
	types.Boolean: {"CAST(%s AS INT)", "CAST(%s AS STRING)"},
}

var holes = map[string][]string{
	"k": {"1", "2", "3", "-1", "-2", "7", "10", "-10", "100", "86400000", "0", "9223372036854775807", "-9223372036854775808", "4611686018427387904", "1000000007"},
	"n": {"0", "1", "2", "-1", "-2", "-18", "-19", "5", "20"},
	"q": {"0.5", "10.0", "1.5", "-2.5", "3.0", "0.001", "-0.1", "1e10", "123456789.5", "1e-20"},
	"f": {"0.5::DOUBLE", "-2::DOUBLE", "3::DOUBLE", "1e300::DOUBLE", "1e-300::DOUBLE", "-0.1::DOUBLE", "'NaN'::DOUBLE", "'Infinity'::DOUBLE", "0::DOUBLE", "1.5::FLOAT", "1e-30::FLOAT"},
	"p": {"2", "3", "0.5", "-1", "-2", "-0.5", "1", "0", "20", "1.5", "1e6"}, "b": {"2", "10", "0.5", "1", "1.0001", "-2", "0"},
	"m": {"TIMESTAMP '2026-01-01 00:00Z'", "TIMESTAMP '1970-01-01 00:30Z'", "TIMESTAMP '2000-02-29 12:34:56.789Z'"}, "d": {"DATE '2026-03-01'", "DATE '1969-12-31'"},
	"i": {"'1 day'", "'8 hours'", "'1 month'", "'-1 month'", "'13 months 5 hours'", "'1 year'", "'-90 minutes'"}, "w": {"'5 minutes'", "'1 day'", "'7 hours'"},
	"u": {"'year'", "'month'", "'week'", "'day'", "'hour'", "'quarter'", "'decade'", "'century'", "'millennium'", "'second'"},
	"e": {"year", "month", "day", "hour", "minute", "second", "epoch", "dow", "isodow", "doy", "week", "quarter", "isoyear", "decade", "century", "millennium", "julian", "milliseconds"},
	"c": {"'YYYY-MM-DD'", "'YYYYMMDD'", "'YYYY-MM-DD HH24:MI:SS.MS'", "'YYYY'", "'YYYY-MM'", "'YYYY-DDD'", "'IYYY-IW'", "'IYYY-IW-ID HH24'", "'YYYY-Q'", "'YYYYMMDD\"T\"HH24MISS'", "'YYYY-MM-DD Day'", "'DD.MM.YYYY'", "'HH24:MI'", "'YYYY-DD'", "'FMYYYY-MM'", "'MM-DD'", "'YY'", "'YYYY-MM-DD HH12 AM'", "'Y,YYY'", "'J'", "'YYYY WW'",
		"'FF3'", "'YYYY-MM FMDD'", "'YYYY Month'", "'CC'"},
	"z": {"'UTC'", "'Asia/Shanghai'", "'Europe/Berlin'", "'America/Havana'", "'Pacific/Apia'", "'Australia/Lord_Howe'", "'America/Juneau'"},
}

func draw(r *rand.Rand, form, x string) string {
	out := fmt.Sprintf(form, x)
	for {
		a := strings.IndexByte(out, '{')
		if a < 0 {
			return out
		}
		b := a + strings.IndexByte(out[a:], '}')
		of := holes[out[a+1:b]]
		out = out[:a] + of[r.IntN(len(of))] + out[b+1:]
	}
}

var sargZones = []string{"UTC", "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia", "America/Juneau", "Asia/Manila", "Africa/Monrovia", "Asia/Kolkata"}

// anyValue draws a value of t: among the ends of types, usual ones and any.
func anyValue(r *rand.Rand, t types.Type) types.Value {
	ax, ok := solve.AxisOf(t)
	switch {
	case !ok:
		return randomValue(r, t)
	case t == types.Timestamp && r.IntN(3) > 0: // in times that zones know of
		return types.NewTimestamp(r.Int64N(250*365*types.MillisPerDay) - 150*365*types.MillisPerDay)
	case t == types.Date && r.IntN(2) > 0:
		return types.NewDate(r.Int64N(60000) - 30000)
	case t == types.Double || t == types.Float || r.IntN(3) > 0:
		if v := randomValue(r, t); !v.IsNull() && (ax.Apart != nil || v.Int() >= ax.Lo && v.Int() <= ax.Hi) {
			return v
		}
	case r.IntN(3) == 0:
		return types.NewIntOf(t, []int64{ax.Lo, ax.Hi, ax.Lo + 1, ax.Hi - 1}[r.IntN(4)])
	}
	if w := uint64(ax.Hi) - uint64(ax.Lo) + 1; w != 0 {
		return ax.Value(ax.Lo + int64(r.Uint64N(w)))
	}
	return ax.Value(int64(r.Uint64()))
}

// The set that Sarg gives of a random predicate over one column holds the values for which it is true when it is simply
// evaluated, and where it is said to be exact no others.
func TestSargLaw(t *testing.T) {
	seed := *sargSeed
	if seed == 0 {
		seed, _ = seeds.Range(t, 1)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	type figure struct{ drawn, known, exact int }
	figures := map[string]*figure{}
	checked := 0
	for n := range race.Fewer(*sargCases) {
		col := keyColumns[[]int{0, 0, 1, 3, 3, 3, 4, 5, 6, 6, 7, 8, 9, 11, 12}[r.IntN(15)]]
		zone, err := types.Zone(sargZones[r.IntN(len(sargZones))])
		if err != nil {
			t.Fatal(err)
		}
		scope := testScope(false)
		scope.Loc = zone
		compile := func(text string) (expr.Expr, bool) {
			tree, err := parser.ParseExpr(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			e, err := expr.Compile(tree, scope)
			return e, err == nil
		}
		row := make([]types.Value, len(keyColumns))
		eval := func(e expr.Expr, v types.Value) (types.Value, error) {
			row[col.Index] = v
			return e.Eval(&expr.Env{Row: row, Loc: zone})
		}
		text, typ, form := col.Name, col.Typ, ""
		for depth := 1 + r.IntN(3); depth > 0; depth-- {
			if typ.IsInteger() {
				typ = types.BigInt
			} else if typ == types.Float {
				typ = types.Double
			}
			forms := steps[typ]
			if len(forms) == 0 {
				break
			}
			f := forms[r.IntN(len(forms))]
			next := draw(r, f, text)
			if e, ok := compile(next); ok && len(expr.Columns(e)) == 1 && len(next) < 400 {
				text, typ = "("+next+")", e.Type()
				form += " " + f
			}
		}
		x, _ := compile(text)
		if x == nil || form == "" {
			continue
		}
		// Constants are results, and what is near them.
		constant := func() string {
			for range 10 {
				v, err := eval(x, anyValue(r, col.Typ))
				if err != nil || v.IsNull() {
					continue
				}
				if ax, ok := solve.AxisOf(v.Type()); ok && r.IntN(3) == 0 {
					if m := ax.Rank(v) + r.Int64N(5) - 2; m >= ax.Lo && m <= ax.Hi {
						v = ax.Value(m)
					}
				}
				if v.Type() == types.Timestamp && (v.Int() < -62e12 || v.Int() > 253e12) { // no literal has it
					continue
				}
				if v.Type() == types.Date && (v.Int() < -700_000 || v.Int() > 2_900_000) {
					continue
				}
				if v.Type() == types.Timestamp {
					return v.SQL()[:len(v.SQL())-1] + "Z'"
				}
				return v.SQL()
			}
			return "NULL"
		}
		var where string
		switch r.IntN(8) {
		case 0:
			where = text + " IN (" + constant() + ", " + constant() + ", " + constant() + ")"
		case 1:
			where = text + " NOT IN (" + constant() + ", " + constant() + ")"
		case 2:
			where = text + " BETWEEN " + constant() + " AND " + constant()
		case 3:
			where = constant() + []string{" = ", " < ", " >= "}[r.IntN(3)] + text
		default:
			where = text + []string{" = ", " = ", " < ", " <= ", " > ", " >= ", " <> "}[r.IntN(7)] + constant()
		}
		e, ok := compile(where)
		if !ok || len(expr.Columns(e)) != 1 {
			continue
		}
		c, set, exact, known := solve.Sarg(e)
		ax, onAxis := solve.AxisOf(col.Typ)
		var window types.Set
		if v := anyValue(r, col.Typ); onAxis && r.IntN(3) == 0 && !v.IsNull() { // beside another condition
			lo := ax.Rank(v)
			if hi := lo + r.Int64N(1<<r.IntN(45)); hi >= lo && hi <= ax.Hi {
				window = types.SetOf(types.Interval{Lo: v, Hi: ax.Value(hi)})
				c = col.Index
				set, exact = solve.TruthIn(e, window)
				set, known = set.Intersect(window), true
			}
		}
		fig := figures[form]
		if fig == nil {
			fig = &figure{}
			figures[form] = fig
		}
		fig.drawn++
		if !known {
			continue
		}
		fig.known++
		if exact {
			fig.exact++
		}
		if c != col.Index {
			t.Fatalf("column %d", c)
		}
		// Values: any, and those beside the bounds.
		var vs []types.Value
		for range 40 {
			vs = append(vs, anyValue(r, col.Typ))
		}
		if onAxis {
			for _, n := range append([]int64{ax.Lo, ax.Hi, 0}, ax.Apart...) {
				vs = append(vs, ax.Value(n))
			}
		}
		for i, iv := range set {
			if i > 20 {
				break
			}
			for _, b := range []types.Value{iv.Lo, iv.Hi} {
				if b.IsNull() || onAxis && b.Type() != types.Double && b.Type() != types.Float && (b.Int() < ax.Lo || b.Int() > ax.Hi) {
					continue
				}
				vs = append(vs, b)
				if onAxis && b.Type() == col.Typ {
					for _, d := range []int64{-1, 1, -2, 2, -1000, 1000, -3_600_000, 3_600_000, int64(r.IntN(1 << 20))} {
						if m := ax.Rank(b) + d; m >= ax.Lo && m <= ax.Hi {
							vs = append(vs, ax.Value(m))
						}
					}
				}
			}
		}
		for _, iv := range window {
			for range 40 {
				vs = append(vs, ax.Value(ax.Rank(iv.Lo)+r.Int64N(ax.Rank(iv.Hi)-ax.Rank(iv.Lo)+1)))
			}
		}
		for _, v := range vs {
			if window != nil && !window.Contains(v) {
				continue
			}
			checked++
			got, err := eval(e, v)
			is := err == nil && !got.IsNull() && got.Bool()
			in := set.Contains(v)
			if is && !in || exact && in && !is && err == nil { // where it fails a full scan fails
				y, _ := eval(x, v)
				t.Fatalf("-sargseed %d: case %d, zone %s, %s: %s gives %s (%v), %s is %s; the set within %s is %s, exact %v", seed, n, zone, where, v.SQL(), y.SQL(), err, where, got.SQL(), window, set, exact)
			}
		}
	}
	drawn, known, exact := 0, 0, 0
	for _, f := range figures {
		drawn, known, exact = drawn+f.drawn, known+f.known, exact+f.exact
	}
	t.Logf("seed %d: %d predicates, a set of %d, exact %d; %d values", seed, drawn, known, exact, checked)
	if testing.Verbose() {
		for form, f := range figures {
			if strings.Count(form, "%s")+strings.Count(form, "%[1]s")/2 == 1 && f.known < f.drawn {
				t.Logf("%s: %d drawn, %d known, %d exact", form, f.drawn, f.known, f.exact)
			}
		}
	}
}
