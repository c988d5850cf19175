package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// The law: whatever the layout, the rows and the query, the planned result is that
// of a full scan that evaluates the WHERE on each row, each row exactly once,
// and in the order asked for. HQL_SEED replays, HQL_CHECKS sets how many worlds.
func TestLaw(t *testing.T) {
	seeds.Each(t, 100, func(t *testing.T, seed uint64, fig seeds.Figures) {
		newLawWorld(t, seed, newFakeClient(), planner.Options{NoPushdown: true}).check(12)
		fig["queries"] += 12
	})
}

// lawWorld is a random table with random rows, read by two engines: one plans, the other scans.
type lawWorld struct {
	t       testing.TB
	r       *rand.Rand
	ddl     string
	name    string // of the table
	table   *catalog.Table
	planned *world
	naive   *world
	copies  bool
	// stored are the rows that the table holds, by where they stand, as they were written; nil: parts are drawn.
	stored map[string][]types.Value
	loc    *time.Location // of the queries
}

// lawZones are behind and before UTC, with summer time, half hours, and midnights that do not exist.
var lawZones = []string{"UTC", "UTC", "Asia/Tokyo", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia"}

func (g *lawWorld) zone() *time.Location {
	loc, err := types.Zone(g.pick(lawZones...))
	if err != nil {
		g.t.Fatal(err)
	}
	return loc
}

func (g *lawWorld) pick(xs ...string) string { return xs[g.r.IntN(len(xs))] }

func newLawWorld(t testing.TB, seed uint64, client hbase.Client, opt planner.Options) *lawWorld {
	g := &lawWorld{t: t, name: "t", r: rand.New(rand.NewPCG(seed, 1))}
	g.ddl = g.randomTable()
	if g.r.IntN(8) == 0 {
		opt.MaxSpans = 1 + g.r.IntN(3)
	}
	switch g.r.IntN(12) {
	case 0:
		opt.NoPushdown = true
	case 1:
		opt.NoOrder = true
	}
	g.planned = newWorld(t, client, Config{Planner: opt, FullScan: AllowFullScan, Parallelism: 1 + g.r.IntN(6)})
	g.planned.run(g.ddl)
	g.naive = &world{t, New(client, g.planned.catalog, Config{FullScan: AllowFullScan, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true}})}
	g.table, _ = g.planned.catalog.Table("t")
	g.load(70)
	if g.r.IntN(2) == 0 {
		g.respell()
	}
	return g
}

// load inserts random rows; some do not fit the layout and are refused.
func (g *lawWorld) load(n int) {
	g.t.Helper()
	cols := make([]string, len(g.table.Columns))
	marks := make([]string, len(cols))
	for i, c := range g.table.Columns {
		cols[i], marks[i] = c.Name, "?"
	}
	s, err := parser.ParseStatement("INSERT INTO " + g.name + " (" + strings.Join(cols, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")")
	if err != nil {
		g.t.Fatal(err)
	}
	stored := 0
	primary := g.table.Layouts[0]
	if primary.Key.Drawn() == nil && !g.table.HiddenKey {
		g.stored = map[string][]types.Value{}
	}
	for range n {
		args := make([]types.Value, len(cols))
		for i, c := range g.table.Columns {
			args[i] = g.value(c)
		}
		rows, err := g.planned.Run(context.Background(), s, Args{Positional: args, Options: RunOptions{Location: g.zone()}})
		if err == nil {
			stored++
			rows.Close()
			if g.stored == nil {
				continue
			}
			table, key, qualifier, err := primary.EncodeRow(args, &expr.Env{Lookup: g.planned.newRun(Args{}).knownNumber})
			if err != nil {
				g.t.Fatalf("%s\ninsert %v: %v", g.ddl, args, err)
			}
			for i, c := range g.table.Columns {
				if primary.PartOf(i) != nil || g.inAnyKey(c) {
					args[i] = args[i].OneZero()
				}
			}
			g.stored[table+"\x00"+string(key)+"\x00"+string(qualifier)] = args
			continue
		}
		if _, ok := err.(*parser.Error); !ok {
			g.t.Fatalf("%s\ninsert %v: %v", g.ddl, args, err)
		}
	}
	if stored == 0 {
		g.t.Skipf("no row fits %s", g.ddl)
	}
}

// respell writes cells as others write them: other spellings of values, and bytes that are none. With several layouts
// the others would not know.
func (g *lawWorld) respell() {
	if g.r.IntN(2) == 0 || g.copies || strings.Contains(g.ddl, "SALT") || strings.Contains(g.ddl, "f:[") {
		return
	}
	g.stored = nil // no longer what the table holds
	l := g.table.Layouts[0]
	ctx := context.Background()
	for range g.r.IntN(20) {
		row := make([]types.Value, len(g.table.Columns))
		for i, c := range g.table.Columns {
			row[i] = g.value(c)
		}
		table, key, _, err := l.EncodeRow(row, &expr.Env{})
		if err != nil {
			continue
		}
		value := g.pick("", "1", "1.50", "-0", "a", "2019-4-14", "20190414", "2019-04-14 23:30:00-05:00", " 1970-01-01", "1e2", "TRUE", "\x00", "\x01", "\xff",
			"\x80\x00\x00\x00\x00\x00\x00\x00", "\x7f\xf8\x00\x00\x00\x00\x00\x01")
		c, ok := g.table.Column(g.pick("x", "y"))
		if !ok {
			return
		}
		cell := hbase.Cell{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier), Value: []byte(value)}
		err = g.planned.client.Mutate(ctx, table, []hbase.Mutation{{Key: key, Timestamp: 1 << 45, Cells: []hbase.Cell{cell}}})
		if err != nil && !errors.Is(err, hbase.ErrNoTable) {
			g.t.Fatal(err)
		}
	}
}

// randomTable writes a CREATE TABLE over the columns a, b, e, s, u, ts, d (key) and v, w, x, y (cells).
func (g *lawWorld) randomTable() string {
	r := g.r
	fields := []string{"a", "b", "e", "s", "u", "ts", "d"}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	fields = fields[:1+r.IntN(4)]
	types := map[string]string{"a": "INT", "b": "BIGINT", "e": "DOUBLE", "s": "STRING", "u": "STRING", "ts": "TIMESTAMP", "d": "DATE"}
	var cols []string
	for _, f := range fields {
		cols = append(cols, f+" "+types[f])
	}
	if r.IntN(10) == 0 {
		return "CREATE TABLE t (" + strings.Join(append(cols, g.cellColumns()...), ", ") + ", PRIMARY KEY (" + strings.Join(fields, ", ") + "))"
	}
	key, stored, packed := g.keyParts(fields, true)
	cells := g.cellColumns()
	if packed != "" {
		cells = []string{"v INT FROM f:[" + packed + "]"}
	}
	for i, f := range fields { // a key may hold the beginning of a text alone, which its cell holds then
		for k, p := range key {
			if !strings.HasPrefix(p, "LEFT("+f+",") && !strings.HasPrefix(p, "SUBSTRING("+f+",") {
				continue
			}
			if cols[i] = f + " STRING FROM f:" + f; packed != "" {
				cols[i], key[k] = f+" STRING", f+" AS TEXT"
			}
		}
	}
	ddl := "CREATE TABLE t (" + strings.Join(append(cols, cells...), ", ") + ") ROW KEY (" + strings.Join(key, ", ") + ")" + stored
	salted := strings.Contains(ddl, "SALT")
	if packed == "" && stored == "" && !salted && r.IntN(4) == 0 {
		g.copies = true
		all := slices.Clone(fields)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		parts, _, _ := g.keyParts(all, false)
		ddl = strings.Replace(ddl, "ROW KEY (", "ROW KEY main (", 1) + " STORED IN 't'"
		if r.IntN(2) == 0 {
			ddl += " ROW KEY other (" + strings.Join(parts, ", ") + ") STORED IN 't_other'"
		} else {
			lead := g.pick("v AS INT32", "LEFT(MD5(w), 2)", "v AS ORDERED INT32", "w AS TEXT, X'00'", "w AS TEXT, X'00', v AS ORDERED INT32", "v AS INT32, w AS TEXT, X'00'")
			if r.IntN(3) == 0 {
				ddl = strings.Replace(ddl, " w STRING", " w STRING NOT NULL", 1)
			}
			if r.IntN(3) == 0 {
				ddl = strings.Replace(ddl, " v INT", " v INT NOT NULL", 1)
			}
			ddl += " INDEX by_cell (" + lead + ", " + strings.Join(parts, ", ") + ") STORED IN 't_index'"
		}
	}
	if stored == "" && r.IntN(3) == 0 {
		ddl += " SPLIT AT ('1', 'a', X'80')"
	}
	return ddl
}

func (g *lawWorld) cellColumns() []string {
	return []string{"v INT" + g.pick("", " FROM g:v", " FROM g:v AS TEXT", " AS TEXT"), "w STRING", "x " + g.pick("DOUBLE", "BIGINT", "TIMESTAMP", "BOOLEAN", "BOOLEAN AS TEXT", "TIMESTAMP AS TEXT"), "y " + g.pick("DATE", "STRING", "DECIMAL", "TIME")}
}

// keyParts writes the parts of a key over fields. full allows tables by day and packed columns.
func (g *lawWorld) keyParts(fields []string, full bool) (parts []string, stored, packed string) {
	r := g.r
	for i, f := range fields {
		last := i == len(fields)-1
		switch f {
		case "a":
			parts = append(parts, g.pick("a AS TEXT(4)", "a AS INT32", "a AS UINT8", "a AS ORDERED INT32", "a AS INT16", "a AS INT24", "a AS LITTLE INT16", "a AS REVERSED TEXT(3)", "a AS HEX(3)"))
		case "b":
			parts = append(parts, g.pick("b AS INT64", "b AS ORDERED INT64", "b AS UINT32", "b AS TEXT(6)", "b AS BASE36(4)", "b AS ORDERED INT40", "b AS VINT", "100 - b AS INT64", "b + 3 AS INT32"))
		case "e":
			parts = append(parts, g.pick("e AS ORDERED FLOAT64", "e AS FLOAT64", "e AS PHOENIX DOUBLE", "e AS ORDERED FLOAT32"))
		case "d":
			parts = append(parts, g.pick("d AS TEXT('yyyyMMdd')", "d AS TEXT('yyyy-MM-dd')", "d AS TEXT('ddMMyyyy')"))
		case "s", "u":
			p := g.pick(f+" AS TEXT(4)", f+" AS NUL TEXT(4)", "REVERSE("+f+") AS TEXT", "REVERSE_DOMAIN("+f+") AS TEXT", f+" AS COUNT8 TEXT", f+" AS VINT TEXT", f+" AS TEXT", f+" AS TEXT", "LEFT("+f+", 3) AS TEXT", "SUBSTRING("+f+", 1, 2) AS TEXT", "UPPER("+f+") || '-' || "+f+" AS TEXT")
			if !full && (strings.HasPrefix(p, "LEFT") || strings.HasPrefix(p, "SUBSTRING")) { // rows of the primary key must differ
				p = f + " AS TEXT"
			}
			if strings.HasPrefix(p, "UPPER") {
				p = f + " AS TEXT"
			}
			parts = append(parts, p)
			fixedTail := !slices.ContainsFunc(fields[i+1:], func(f string) bool { return f == "s" || f == "u" || f == "b" })
			if !last && !strings.HasSuffix(p, "(4)") && (!strings.HasSuffix(p, "T8 TEXT") && !strings.HasSuffix(p, "VINT TEXT") || r.IntN(3) == 0) && !(fixedTail && r.IntN(3) == 0) {
				parts = append(parts, g.pick("X'00'", "'|'", "X'00'", "'aa'", "'aba'"))
			}
		case "ts":
			switch n := r.IntN(8); {
			case n == 0:
				parts = append(parts, g.pick("9223372036854775807 - ts AS INT64", "2147483647 - ts / 1000 AS INT32", "ts + INTERVAL '8 hours' AS TEXT('yyyyMMddHHmmssSSS')"))
			case n == 1:
				parts = append(parts, "ts AS TEXT(13)")
			case n == 2:
				parts = append(parts, "DATE(ts) AS TEXT('yyyyMMdd')", "MILLIS_OF_DAY(ts) AS UINT32")
			case n == 3 && full:
				if r.IntN(3) == 0 {
					parts = append(parts, "ts AS INT64")
					stored = " STORED IN ('t_', " + g.pick("DATE_TRUNC('month', ts) AS TEXT('yyyyMM')", "DATE_TRUNC('year', ts) AS TEXT('yyyy')", "DATE_BIN('1 hour', ts) AS TEXT('yyyyMMddHH')", "CAST(ts AS DATE) AS TEXT('yyyyMMdd')") + ")"
					break
				}
				parts = append(parts, "MILLIS_OF_DAY(ts) AS UINT32")
				stored = " STORED IN ('t_', DATE(ts) AS TEXT('yyyyMMdd'))"
			case n == 4 && full:
				parts = append(parts, "DATE_BIN('5 minutes', ts) AS INT64")
				packed = "ts - DATE_BIN('5 minutes', ts) AS UINT32"
			default:
				parts = append(parts, "ts AS INT64")
			}
		}
	}
	if r.IntN(3) > 0 {
		f := fields[r.IntN(len(fields))]
		pre := g.pick(map[string][]string{
			"a": {"FLOORMOD(a, 3) AS UINT8", "CRC32(a) % 5 AS UINT8", "LEFT(MD5(a), 1)", "ABS(a % 3) AS UINT8"}, "e": {"LEFT(MD5(e), 1)", "e - 5.0 AS ORDERED FLOAT64", "0.5 + e AS ORDERED FLOAT64", "1 - e AS ORDERED FLOAT64"}, "b": {"FLOORMOD(b, 4) AS UINT8", "LEFT(MD5(b), 2)"},
			"s": {"LEFT(MD5(s), 2)", "CRC32(s) % 3 AS TEXT(1)", "LEFT(SHA1(s), 1)", "ABS(JAVA_HASH(s)) % 4 AS UINT8"}, "u": {"LEFT(MD5(u), 1)", "SUBSTRING(MD5(u), 9, 2)"},
			"ts": {"FLOORMOD(ts, 7) AS UINT8", "ts % 10 AS UINT8", "DATE(ts) AS TEXT('yyyyMMdd')", "CAST(ts AS DATE) AS TEXT('yyyyMMdd')", "LEFT(MD5(CONCAT(ts)), 2)"}, "d": {"LEFT(MD5(d), 1)", "LEFT(MD5(d::TIMESTAMP), 1)", "d AS TEXT('yyyy')"},
		}[f]...)
		if strings.HasSuffix(pre, "'yyyy')") {
			pre = "LEFT(MD5(d), 1)"
		}
		if slices.Contains(fields, "a") && slices.Contains(fields, "b") && r.IntN(3) == 0 {
			pre = g.pick("FLOORMOD(a + b, 3) AS UINT8", "LEFT(MD5(CONCAT(a, '-', b)), 1)")
		}
		if full && r.IntN(3) == 0 {
			pre = g.pick("SALT('a','b','c')", "SALT(0 TO 2) AS UINT8", "PHOENIX_SALT(4) AS UINT8", "PINPOINT_SALT(4, 1, 3) AS UINT8", "SALT HEX(4)", "SALT HEX(4)")
		}
		parts = append([]string{pre}, parts...)
		if r.IntN(4) == 0 {
			parts = slices.Insert(parts, 1, "'-'")
		}
	}
	return parts, stored, packed
}

func (g *lawWorld) value(col *catalog.Column) types.Value {
	r := g.r
	if g.name != "t" {
		return g.layoutValue(col)
	}
	cell := strings.Contains("vwxy", col.Name)
	if cell && r.IntN(4) == 0 && col.Packed == nil && !col.NotNull {
		return types.Value{}
	}
	switch {
	case col.Name == "a" && r.IntN(20) == 0:
		return types.NewIntOf(types.Int, []int64{math.MaxInt32, math.MinInt32}[r.IntN(2)])
	case col.Name == "a":
		return types.NewIntOf(types.Int, int64(r.IntN(14)-3))
	case col.Type == types.Int:
		return types.NewIntOf(types.Int, int64(r.IntN(5)-2))
	case col.Type == types.BigInt && r.IntN(20) == 0:
		return types.NewInt([]int64{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64 + 1}[r.IntN(3)])
	case col.Type == types.BigInt:
		return types.NewInt([]int64{-2, -1, 0, 1, 2, 3, 4, 5, 99, 100, 101}[r.IntN(11)])
	case col.Type == types.Date:
		return types.NewDate([]int64{0, 18000, 18001, 18030, 18031, 19000}[r.IntN(6)])
	case col.Type == types.Time:
		return types.NewIntOf(types.Time, []int64{0, 36_000_000, 36_000_500}[r.IntN(3)])
	case col.Type == types.Timestamp:
		base := []int64{0, 1_600_000_000_000, 1_600_041_600_000, 1_600_041_600_000 + types.MillisPerDay}[r.IntN(4)]
		return types.NewTimestamp(base + int64(r.IntN(9)-4))
	case col.Type == types.Double:
		return types.NewDouble([]float64{-1.5, 0, math.Copysign(0, -1), 0.25, 1, 100, 1e16, 1e16 + 2, 0.1, math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64}[r.IntN(13)])
	case col.Type == types.Boolean:
		return types.NewBool(r.IntN(2) == 0)
	case col.Type == types.Decimal:
		v, _ := types.ParseDecimal(g.pick("0", "1.5", "-3", "100"))
		return v
	case cell:
		return types.NewString(g.pick("", "a", "ab", "b", "é"))
	}
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(g.pick("a", "a", "b", "B", ".", "é", "}", "\x7f", "\x01"))
	}
	return types.NewString(b.String())
}

// constant is a literal for col, now and then outside what the column can hold.
func (g *lawWorld) constant(col *catalog.Column) string {
	if g.r.IntN(25) == 0 && col.Type.IsInteger() {
		return g.pick("1.5", "9000000000", "-9000000000")
	}
	v := g.value(col)
	switch {
	case v.IsNull():
		return "NULL"
	case v.Type() == types.Timestamp && g.r.IntN(10) == 0: // finer than it can be
		return "TIMESTAMP '" + time.UnixMilli(v.Int()).UTC().Format("2006-01-02 15:04:05.000") + g.pick("4", "9996") + "'"
	case v.Type().IsInteger() && v.Int() < 0:
		return fmt.Sprint(v.Int())
	}
	return v.SQL()
}

func (g *lawWorld) predicate(depth int) string {
	r := g.r
	if depth > 0 && r.IntN(2) == 0 {
		switch r.IntN(5) {
		case 0:
			return "NOT (" + g.predicate(depth-1) + ")"
		case 1, 2:
			return "(" + g.predicate(depth-1) + " OR " + g.predicate(depth-1) + ")"
		default:
			return "(" + g.predicate(depth-1) + " AND " + g.predicate(depth-1) + ")"
		}
	}
	cols := g.table.Columns
	col := cols[r.IntN(len(cols))]
	if col.Type == types.JSON || col.Type == types.Bytes {
		return col.Name + g.pick(" IS NULL", " IS NOT NULL")
	}
	if t := col.Type; (t == types.Timestamp || t == types.Date) && r.IntN(3) == 0 {
		return g.moment(col)
	}
	switch r.IntN(9) {
	case 0:
		return fmt.Sprintf("%s %sBETWEEN %s AND %s", col.Name, g.pick("", "", "NOT "), g.constant(col), g.constant(col))
	case 1:
		if lo := r.IntN(8) - 2; col.Type.IsInteger() && r.IntN(2) == 0 { // neighbours, and one apart
			return fmt.Sprintf("%s %sIN (%d, %d, %d, %s)", col.Name, g.pick("", "", "NOT "), lo, lo+1, lo+2, g.constant(col))
		}
		return fmt.Sprintf("%s %sIN (%s, %s, %s)", col.Name, g.pick("", "", "NOT "), g.constant(col), g.constant(col), g.constant(col))
	case 2:
		if col.Type == types.String {
			return fmt.Sprintf("%s %sLIKE '%s'", col.Name, g.pick("", "", "NOT "), g.pick("a%", "%a", "ab%", "a_", "%", "", "b%b", "%b", "aé%", "_"))
		}
		return fmt.Sprintf("%s <> %s", col.Name, g.constant(col))
	case 3:
		o := cols[r.IntN(len(cols))]
		if o.Type == types.JSON || o.Type == types.Bytes {
			o = col
		}
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", col.Name, o.Name, g.pick("<", "<=", ">", ">=", "="), g.constant(col), g.constant(o))
	case 4:
		return fmt.Sprintf("%s IS %sNULL", col.Name, g.pick("", "NOT "))
	default:
		return fmt.Sprintf("%s %s %s", col.Name, g.pick("=", "=", "=", "<", "<=", ">", ">="), g.constant(col))
	}
}

// moment is a predicate on a day or a moment whose meaning depends on the zone.
func (g *lawWorld) moment(col *catalog.Column) string {
	other := types.Timestamp
	if col.Type == other {
		other = types.Date
	}
	op := g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ")
	k := types.NewDate([]int64{0, 18000, 18001, 18517, 18518, 18519}[g.r.IntN(6)])
	moment := func() string { // sometimes the midnight of a zone
		ms := k.Int()*types.MillisPerDay + int64(g.r.IntN(3)-1)
		if z, err := types.Cast(k, types.Timestamp, g.zone()); err == nil && g.r.IntN(2) == 0 {
			ms = z.Int()
		}
		return types.NewTimestamp(ms).SQL()
	}
	for _, c := range g.table.Columns {
		if c.Type == other && g.r.IntN(2) == 0 {
			return col.Name + op + c.Name
		}
	}
	switch n := g.r.IntN(5); {
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

// check compares n random queries.
func (g *lawWorld) check(n int) {
	g.t.Helper()
	for range n {
		sel := "SELECT *"
		if g.r.IntN(3) == 0 {
			c := g.table.Columns[g.r.IntN(len(g.table.Columns))]
			sel = "SELECT " + c.Name + ", _key"
			if g.copies {
				sel = "SELECT " + c.Name
			}
		}
		g.loc = g.zone()
		q := sel + " FROM " + g.name
		if g.r.IntN(8) > 0 {
			where := g.predicate(2)
			q += " WHERE " + where
			g.recall(where)
		}
		g.prepared()
		var order []string
		for range g.r.IntN(3) {
			c := g.table.Columns[g.r.IntN(len(g.table.Columns))]
			if c.Type == types.JSON {
				continue
			}
			order = append(order, c.Name+g.pick("", "", " DESC", " ASC", " DESC NULLS LAST", " NULLS FIRST"))
		}
		limit := -1
		if g.r.IntN(2) == 0 {
			limit = g.r.IntN(12)
		}
		g.compare(q, order, limit)
	}
}

// recall compares the rows for which where is true with those that were written: nothing of them is read from the store, and
// where is compiled for each over its constants.
func (g *lawWorld) recall(where string) {
	g.t.Helper()
	if g.stored == nil {
		return
	}
	tree, err := parser.ParseExpr(where)
	if err != nil {
		g.t.Fatal(err)
	}
	g.expectStored("SELECT * FROM "+g.name+" WHERE "+where, nil, func(row []types.Value) bool {
		cond, err := expr.CompileCondition(tree, &expr.Scope{Loc: g.loc, Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
			c, _ := g.table.Column(ref.Name)
			return &expr.Const{Val: row[c.Index], Typ: c.Type}, nil
		}})
		if err != nil {
			g.t.Fatalf("%s: %v", where, err)
		}
		ok, err := expr.IsTrue(cond, &expr.Env{Loc: g.loc})
		if err != nil {
			g.t.Fatalf("%s: %v", where, err)
		}
		return ok
	})
}

// expectStored expects of q, run as args say, the rows that were written and for which match is true.
func (g *lawWorld) expectStored(q string, args *Args, match func(row []types.Value) bool) {
	g.t.Helper()
	var want []string
	for _, row := range g.stored {
		if match(row) {
			want = append(want, rowText(row))
		}
	}
	slices.Sort(want)
	run := Args{}
	if args != nil {
		run = *args
	}
	got := g.rowsOf(g.planned, q, run)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		g.t.Fatalf("%s\n%s %v in %v\nplan\n%s\ngot  %q\nwant %q, as written", g.ddl, q, run.Positional, g.loc, g.planned.run("EXPLAIN "+q, run.Positional...), got, want)
	}
}

// prepared runs one statement again and again, by all key columns, with other arguments in other zones.
func (g *lawWorld) prepared() {
	g.t.Helper()
	if g.stored == nil || g.r.IntN(3) > 0 {
		return
	}
	var rows [][]types.Value
	for _, k := range slices.Sorted(maps.Keys(g.stored)) {
		rows = append(rows, g.stored[k])
	}
	var terms []string
	var binds []*catalog.Column
	text := map[int]string{} // constants that the zone gives a meaning
	for _, c := range g.table.Columns {
		switch {
		case g.table.Layouts[0].PartOf(c.Index) == nil:
		case c.Type == types.Timestamp && g.r.IntN(2) == 0:
			v := rows[g.r.IntN(len(rows))][c.Index]
			at, err := types.Cast(v, types.String, g.zone())
			if err != nil {
				g.t.Fatal(err)
			}
			text[c.Index] = at.Text()
			terms = append(terms, c.Name+" = '"+at.Text()+"'")
		default:
			terms, binds = append(terms, c.Name+" = ?"), append(binds, c)
		}
	}
	q, plans := "SELECT * FROM "+g.name+" WHERE "+strings.Join(terms, " AND "), &Plans{}
	was := g.loc
	defer func() { g.loc = was }()
	for range 6 {
		g.loc = g.zone()
		row := rows[g.r.IntN(len(rows))]
		args := Args{Plans: plans}
		want := map[int]types.Value{}
		for _, c := range binds {
			v := row[c.Index]
			if g.r.IntN(4) == 0 {
				v = g.value(c)
			}
			args.Positional, want[c.Index] = append(args.Positional, v), v.OneZero()
		}
		for i, s := range text {
			ms, err := types.ParseTimestamp(s, g.loc)
			if err != nil {
				g.t.Fatal(err)
			}
			want[i] = types.NewTimestamp(ms)
		}
		g.expectStored(q, &args, func(row []types.Value) bool {
			for i, v := range want {
				if v.IsNull() || row[i].IsNull() || rowText([]types.Value{v}) != rowText(row[i:i+1]) {
					return false
				}
			}
			return true
		})
	}
}

func rowText(row []types.Value) string {
	var b strings.Builder
	for _, v := range row {
		b.WriteString(v.String() + "|")
	}
	return b.String()
}

// compare runs q with both engines.
func (g *lawWorld) compare(q string, order []string, limit int) {
	g.t.Helper()
	full := q
	if len(order) > 0 {
		full += " ORDER BY " + strings.Join(order, ", ")
	}
	limited := full
	if limit >= 0 {
		limited += fmt.Sprintf(" LIMIT %d", limit)
	}
	want := g.rows(g.naive, full)
	got := g.rows(g.planned, limited)
	fail := func(format string, args ...any) {
		g.t.Helper()
		g.t.Fatalf("%s\n%s\n%s\n%s\ngot  %q\nwant %q", fmt.Sprintf(format, args...), g.ddl, limited, g.planned.run("EXPLAIN "+limited), got[:min(20, len(got))], want[:min(20, len(want))])
	}
	if limit < 0 && len(got) != len(want) || limit >= 0 && len(got) != min(limit, len(want)) {
		fail("%d rows, want %d", len(got), len(want))
	}
	left := map[string]int{}
	for _, r := range want {
		left[r]++
	}
	for _, r := range got {
		if left[r]--; left[r] < 0 {
			fail("row %q is wrong or repeated", r)
		}
	}
	if len(order) == 0 {
		return
	}
	var terms []string
	for _, o := range order {
		terms = append(terms, strings.Fields(o)[0])
	}
	keys := "SELECT " + strings.Join(terms, ", ") + q[strings.Index(q, " FROM "+g.name):]
	a, b := g.rows(g.planned, keys+limited[len(q):]), g.rows(g.naive, keys+full[len(q):])
	if limit >= 0 {
		b = b[:min(limit, len(b))]
	}
	oneZero := strings.NewReplacer("-0|", "0|") // which are equal, in any order
	if !slices.EqualFunc(a, b, func(x, y string) bool { return oneZero.Replace(x) == oneZero.Replace(y) }) {
		fail("order: got %q want %q", a, b)
	}
}

func (g *lawWorld) rows(w *world, q string) []string {
	g.t.Helper()
	return g.rowsOf(w, q, Args{})
}

func (g *lawWorld) rowsOf(w *world, q string, args Args) []string {
	g.t.Helper()
	args.Options.Location = g.loc
	s, err := parser.ParseStatement(q)
	if err != nil {
		g.t.Fatalf("%s: %v", q, err)
	}
	ctx := context.Background()
	rows, err := w.Run(ctx, s, args)
	if err != nil {
		g.t.Fatalf("%s\n%s: %v", g.ddl, q, err)
	}
	defer rows.Close()
	var out []string
	for {
		batch, err := rows.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			g.t.Fatalf("%s\n%s: %v", g.ddl, q, err)
		}
		for _, row := range batch {
			out = append(out, rowText(row))
		}
	}
}
