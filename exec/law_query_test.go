package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
)

// The law for queries over several tables: joins, sub-queries, groups and sets give the same rows
// whether keys are looked up or everything is scanned, in little memory or much; and a
// condition, its negation and its being unknown divide the rows between them.
func TestLawQueries(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(4), func(t *testing.T, seed uint64, fig seeds.Figures) {
		g := newQueryWorld(t, seed)
		figures := rand.New(rand.NewPCG(seed, 11))
		for i := range 25 {
			if seed%2 == 0 && i%5 == 0 {
				g.misjudge(figures)
			}
			g.check()
			g.outer()
			g.distinct()
			g.never()
			fig["queries"] += 4
		}
	})
}

// queryWorld is a few related tables, read by three engines.
type queryWorld struct {
	t                     *testing.T
	r                     *rand.Rand
	planned, naive, tight *world
	next                  int // alias
}

var queryTables = []string{
	"CREATE TABLE p (a BIGINT, b INT, c STRING, v INT, PRIMARY KEY (a, b))",
	"CREATE TABLE q (k STRING, a INT, v INT) ROW KEY (MD5(k) AS TEXT(32), k AS TEXT) INDEX by_a (a AS ORDERED INT32, k AS TEXT)",
	"CREATE TABLE s (b INT, a BIGINT, c STRING, v INT) ROW KEY (b % 4 AS UINT8, b AS ORDERED INT32, '|', c AS TEXT, '|', a AS ORDERED INT64)",
	"CREATE TABLE d (c STRING PRIMARY KEY, a DECIMAL, v BIGINT)",
	"CREATE TABLE w (c STRING, k STRING, a INT, v INT FROM d:v, n INT FROM d:v, u STRING FROM d:u, x STRING FROM d:u) ROW KEY (c AS TEXT, '|', k AS TEXT, '!', a AS ORDERED INT32)",
}

// prefixes are texts that go on after one another, often the shorter ones.
var prefixes = []string{"", "", "", "x", "x", "x", "x", "xx", "xxy", "xy", "~", "~~"}

func newQueryWorld(t *testing.T, seed uint64) *queryWorld {
	g := &queryWorld{t: t, r: rand.New(rand.NewPCG(seed, 7))}
	_, c := NewStore(t)
	tuning := scan.DefaultTuning()
	tuning.FirstRows = 1 + g.r.IntN(6)
	g.planned = newWorld(t, c, Config{FullScan: AllowFullScan, Tuning: tuning})
	for _, ddl := range queryTables {
		g.planned.Do(ddl)
	}
	cat := g.planned.catalog
	g.naive = worldOf(t, New(c, cat, Config{FullScan: AllowFullScan, Tuning: tuning, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true}}))
	g.tight = worldOf(t, New(c, cat, Config{FullScan: AllowFullScan, Tuning: tuning, MemoryLimit: 2000, SpillDir: t.TempDir()}))
	for range 25 {
		g.planned.Do(fmt.Sprintf("INSERT INTO p VALUES (%d, %d, %s, %s)", g.r.IntN(7), g.r.IntN(4), g.word(), g.number()))
		g.planned.Do(fmt.Sprintf("INSERT INTO q VALUES ('k%d', %d, %s)", g.r.IntN(12), g.r.IntN(7), g.number()))
		g.planned.Do(fmt.Sprintf("INSERT INTO s VALUES (%d, %d, '%s', %s)", g.r.IntN(6), g.r.IntN(5), g.pick("x", "y", "zz", "", "xx"), g.number()))
		for range 2 {
			g.planned.Do(fmt.Sprintf("INSERT INTO w (c, k, a, v, u) VALUES ('%s', '%s', %d, %s, %s)", g.pick(prefixes...), g.pick(prefixes...), g.r.IntN(6), g.number(), g.word()))
		}
		g.planned.Do(fmt.Sprintf("INSERT INTO d VALUES ('%s', %s, %s)", g.pick("x", "y", "zz", "w"), g.number(), g.number()))
	}
	return g
}

// misjudge gives the planned engine statistics of which nothing is true but the values.
func (g *queryWorld) misjudge(r *rand.Rand) {
	far := func(f *float64) { *f *= math.Pow(10, float64(r.IntN(14)-4)) }
	for name := range queryColumns {
		g.planned.Do("ANALYZE " + name)
		s := g.planned.stats.stored[name]
		far(&s.Rows)
		far(&s.Bytes)
		for i := range s.Columns {
			far(&s.Columns[i].Distinct)
			s.Columns[i].Nulls = r.Float64()
		}
		for i := range s.Keys {
			far(&s.Keys[i].Rows)
			for j := range s.Keys[i].Prefixes {
				far(&s.Keys[i].Prefixes[j].Distinct)
			}
			for j := range s.Keys[i].Stored {
				far(&s.Keys[i].Stored[j].Rows)
			}
		}
		if r.IntN(2) == 0 {
			s.Sample = nil
		}
	}
}

func (g *queryWorld) pick(xs ...string) string { return xs[g.r.IntN(len(xs))] }
func (g *queryWorld) number() string           { return g.pick("NULL", "0", "1", "2", "3", "5") }
func (g *queryWorld) word() string             { return g.pick("NULL", "'x'", "'y'", "'zz'", "'w'", "''", "'xx'") }

var queryColumns = map[string][]string{"p": {"a", "b", "c", "v"}, "q": {"k", "a", "v"}, "s": {"b", "a", "c", "v"}, "d": {"c", "a", "v"},
	"w": {"c", "k", "a", "v", "n", "u", "x"}}

// table is a table of a query under an alias.
type queryTable struct{ name, alias string }

func (g *queryWorld) table() queryTable {
	g.next++
	return queryTable{g.pick("p", "q", "s", "d", "w"), fmt.Sprintf("t%d", g.next)}
}

// column gives a column of one of the tables: a number or a text.
func (g *queryWorld) column(ts []queryTable, text bool) string {
	for range 100 {
		t := ts[g.r.IntN(len(ts))]
		c := queryColumns[t.name][g.r.IntN(len(queryColumns[t.name]))]
		if isTextColumn(c) == text {
			return t.alias + "." + c
		}
	}
	return "NULL"
}

func isTextColumn(c string) bool { return strings.Contains("ckux", c) }

// value gives a column, or what a sub-query makes of one and the tables around it.
func (g *queryWorld) value(ts []queryTable, text bool) string {
	x := g.column(ts, text)
	if g.r.IntN(3) > 0 {
		return x
	}
	in := g.table()
	y := g.column([]queryTable{in}, text)
	op := " + "
	if text {
		op = " || "
	}
	switch g.r.IntN(4) {
	case 0:
		return "(SELECT " + x + " FROM " + in.name + " " + in.alias + " LIMIT 1)"
	case 1:
		return "coalesce((SELECT " + g.pick("max", "min") + "(" + y + ")" + g.subFrom(in, ts) + "), " + x + ")"
	case 2:
		return "(SELECT " + g.pick("max", "min") + "(" + y + op + x + ")" + g.subFrom(in, ts) + ")"
	}
	return "(SELECT " + g.pick("max", "min") + "(" + y + ")" + g.subFrom(in, ts) + ")" + op + x
}

func (g *queryWorld) condition(ts []queryTable, depth int) string {
	text := g.r.IntN(3) == 0
	x := g.column(ts, text)
	constant := g.number
	if text {
		constant = g.word
	}
	n := 8
	if depth > 0 {
		n = 14
	}
	switch g.r.IntN(n) {
	case 0, 1:
		return x + g.pick(" = ", " = ", " < ", " >= ", " <> ") + constant()
	case 2:
		return x + " IN (" + constant() + ", " + constant() + ")"
	case 3:
		return x + " = " + g.column(ts, text)
	case 4:
		return x + g.pick(" < ", " <= ", " <> ") + g.column(ts, text)
	case 5:
		return x + " IS " + g.pick("", "NOT ") + "NULL"
	case 6:
		return x + " BETWEEN " + constant() + " AND " + constant()
	case 7:
		return x + " = " + constant()
	case 8:
		return "(" + g.condition(ts, depth-1) + g.pick(" AND ", " OR ") + g.condition(ts, depth-1) + ")"
	case 9:
		return "NOT (" + g.condition(ts, depth-1) + ")"
	case 10:
		in := g.table()
		return x + g.pick(" IN ", " NOT IN ") + "(SELECT " + g.column([]queryTable{in}, text) + g.subFrom(in, ts) + ")"
	case 11:
		in := g.table()
		return g.pick("", "NOT ") + "EXISTS (SELECT 1" + g.subFrom(in, ts) + ")"
	}
	if g.r.IntN(2) == 0 {
		return "(" + g.condition(ts, depth-1) + ") IS " + g.pick("", "NOT ") + g.pick("TRUE", "FALSE", "UNKNOWN")
	}
	if g.r.IntN(2) == 0 {
		return g.value(ts, text) + g.pick(" = ", " <> ", " < ") + g.value(ts, text)
	}
	in := g.table()
	return x + g.pick(" = ", " < ") + "(SELECT " + g.pick("max", "min") + "(" + g.column([]queryTable{in}, text) + ")" + g.subFrom(in, ts) + ")"
}

// subFrom is the rest of a sub-query over in; it may be about the tables around it.
func (g *queryWorld) subFrom(in queryTable, around []queryTable) string {
	s := " FROM " + in.name + " " + in.alias
	switch g.r.IntN(3) {
	case 0:
		s += " WHERE " + g.condition([]queryTable{in}, 0)
	case 1:
		s += " WHERE " + g.column([]queryTable{in}, false) + " = " + g.column(around, false)
		if g.r.IntN(2) == 0 {
			s += " AND " + g.condition(append([]queryTable{in}, around...), 0)
		}
	}
	return s
}

// from writes FROM with joins.
func (g *queryWorld) from() (string, []queryTable) {
	ts := []queryTable{g.table()}
	s := ts[0].name + " " + ts[0].alias
	for range g.r.IntN(3) {
		t := g.table()
		with := append(slices.Clone(ts), t)
		text := g.r.IntN(4) == 0
		on := g.column([]queryTable{t}, text) + " = " + g.column(ts, text)
		for g.r.IntN(3) == 0 {
			on += " AND " + g.condition(with, g.r.IntN(4)/3)
		}
		ts = with
		table := t.name + " " + t.alias
		switch kind := g.pick("JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"); {
		case kind == "CROSS JOIN":
			s += " CROSS JOIN " + table
		case g.r.IntN(4) == 0:
			s = table + " " + kind + " (" + s + ") ON " + on
		default:
			s += " " + kind + " " + table + " ON " + on
		}
	}
	return s, ts
}

// outer checks RIGHT and FULL joins against what they are by definition.
func (g *queryWorld) outer() {
	a, b := g.table(), g.table()
	left, right := a.name+" "+a.alias, b.name+" "+b.alias
	on := g.condition([]queryTable{a, b}, 0)
	if g.r.IntN(4) > 0 {
		on = g.column([]queryTable{a}, false) + " = " + g.column([]queryTable{b}, false) + g.pick("", " AND "+on)
	}
	nulls := strings.Repeat("NULL, ", len(queryColumns[a.name]))
	missing := " UNION ALL SELECT " + nulls + b.alias + ".* FROM " + right + " WHERE NOT EXISTS (SELECT 1 FROM " + left + " WHERE " + on + ")"
	for _, w := range []*world{g.planned, g.tight} {
		for kind, is := range map[string]string{"RIGHT": "JOIN", "FULL": "LEFT JOIN"} {
			q := "SELECT * FROM " + left + " " + kind + " JOIN " + right + " ON " + on
			if got, ok := g.try(w, q); ok {
				g.same(q, got, g.rows(g.naive, "SELECT * FROM "+left+" "+is+" "+right+" ON "+on+missing))
			}
		}
	}
}

func (g *queryWorld) check() {
	from, ts := g.from()
	where := ""
	if g.r.IntN(4) > 0 {
		where = " WHERE " + g.condition(ts, 2)
		if g.r.IntN(3) == 0 {
			where += " AND " + g.column(ts, false) + " = " + g.number()
		}
	}
	var q string
	x, y := g.value(ts, false), g.value(ts, true)
	switch g.r.IntN(6) {
	case 0:
		q = "SELECT " + x + ", count(*), sum(" + g.column(ts, false) + "), count(DISTINCT " + y + ") FROM " + from + where + " GROUP BY " + x
		if g.r.IntN(2) == 0 {
			q += " HAVING count(*) > 1"
		}
	case 1:
		q = "SELECT DISTINCT " + x + ", " + y + " FROM " + from + where
	case 2:
		other, us := g.from()
		q = "SELECT " + x + ", " + y + " FROM " + from + where + g.pick(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ", " EXCEPT ALL ", " INTERSECT ALL ") +
			"SELECT " + g.column(us, false) + ", " + g.column(us, true) + " FROM " + other
	case 3:
		q = "SELECT min(" + x + "), max(" + x + "), count(*), avg(" + g.column(ts, false) + ") FROM " + from + where
	default:
		q = "SELECT * FROM " + from + where
	}
	want := g.rows(g.naive, q)
	g.same(q, g.rows(g.planned, q), want)
	if got, ok := g.try(g.tight, q); ok {
		g.same("in little memory: "+q, got, want)
	}
	if g.r.IntN(3) == 0 {
		p := g.condition(ts, 2)
		all := g.rows(g.planned, "SELECT * FROM "+from)
		var parts []string
		three := []string{p, "NOT (" + p + ")", "(" + p + ") IS NULL"}
		if g.r.IntN(2) == 0 {
			three = []string{"(" + p + ") IS TRUE", "(" + p + ") IS FALSE", "(" + p + ") IS UNKNOWN"}
		}
		for _, cond := range three {
			parts = append(parts, g.rows(g.planned, "SELECT * FROM "+from+" WHERE "+cond)...)
		}
		g.same("divided by "+p+": "+from, parts, all)
	}
	if order := " ORDER BY " + x + g.pick("", " DESC") + ", " + y; strings.HasPrefix(q, "SELECT * ") {
		sorted := strings.Replace(q, "*", x+", "+y, 1) + order
		for _, w := range []*world{g.planned, g.tight} {
			if got, ok := g.try(w, sorted); ok {
				if want := g.rows(g.naive, sorted); !slices.Equal(got, want) {
					g.t.Fatalf("%s\ngot  %q\nwant %q", sorted, got, want)
				}
			}
		}
	}
}

// distinct checks what jumps from value to value of a key against what, to count, reads all rows.
func (g *queryWorld) distinct() {
	t := g.table()
	var cols []string
	for _, c := range queryColumns[t.name] {
		if len(cols) == 0 || g.r.IntN(2) == 0 {
			cols = append(cols, t.alias+"."+c)
		}
	}
	list, from := strings.Join(cols, ", "), " FROM "+t.name+" "+t.alias
	if g.r.IntN(3) == 0 {
		from += " WHERE " + g.condition([]queryTable{t}, 0)
	}
	grouped := "SELECT " + list + from + " GROUP BY " + list
	want := g.rows(g.naive, grouped+" HAVING count(*) > 0")
	extremes := "SELECT count(DISTINCT " + cols[0] + "), min(" + cols[0] + "), max(" + cols[0] + ")" + from
	for _, w := range []*world{g.planned, g.naive} {
		g.same("SELECT DISTINCT "+list+from, g.rows(w, "SELECT DISTINCT "+list+from), want)
		g.same(grouped, g.rows(w, grouped), want)
		g.same(extremes, g.rows(w, extremes), g.rows(g.naive, extremes+" HAVING count(*) >= 0"))
	}
}

// never checks conditions that are never true, whatever was kept of other rows: a sub-query that gives a column back, a text
// that is not like itself, two columns of one cell that differ.
func (g *queryWorld) never() {
	from, ts := g.from()
	in := g.table()
	text := g.r.IntN(4) > 0
	x := g.column(ts, text)
	some := " FROM " + in.name + " " + in.alias
	conds := []string{
		"(SELECT " + x + some + " LIMIT 1) <> " + x,
		x + " NOT IN (SELECT " + x + some + ")",
		"(" + x + " IN (SELECT " + x + some + ")) IS FALSE",
		"(SELECT min(" + x + " || CASE WHEN " + g.column([]queryTable{in}, false) + " IS NULL THEN '' ELSE '' END)" + some + ") <> " + x + " || ''",
		"NOT EXISTS (SELECT 1" + some + " WHERE (SELECT " + x + ") = " + x + ") AND " + x + " IS NOT NULL",
	}
	if x := g.column(ts, true); x != "NULL" {
		conds = append(conds, "NOT ("+x+" ~ ("+x+" || '$'))", x+" NOT LIKE "+x, x+" NOT SIMILAR TO "+x)
	}
	for _, t := range ts {
		if t.name == "w" {
			a := t.alias
			conds = append(conds, a+".v <> "+a+".n", a+".u IS NULL AND "+a+".x IS NOT NULL", "("+a+".x = "+a+".u) IS FALSE")
		}
	}
	where := " WHERE " + conds[g.r.IntN(len(conds))]
	if g.r.IntN(3) == 0 {
		where += " AND " + g.condition(ts, 0)
	}
	q := "SELECT *" + " FROM " + from + where
	for _, w := range []*world{g.planned, g.naive} {
		g.same(q, g.rows(w, q), nil)
	}
}

func (g *queryWorld) same(q string, got, want []string) {
	g.t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		plan := ""
		if strings.HasPrefix(q, "SELECT") {
			plan = g.planned.Do("EXPLAIN " + q)
		}
		g.t.Fatalf("%s\n%s\ngot  %q\nwant %q", q, plan, got, want)
	}
}

func (g *queryWorld) rows(w *world, q string) []string {
	g.t.Helper()
	out, ok := g.try(w, q)
	if !ok {
		g.t.Fatalf("%s: %v", q, ErrMemoryLimit)
	}
	return out
}

// try gives the rows of q; ok is false when they need more memory than allowed.
func (g *queryWorld) try(w *world, q string) (out []string, ok bool) {
	g.t.Helper()
	s, err := parser.ParseStatement(q)
	if err != nil {
		g.t.Fatalf("%s: %v", q, err)
	}
	ctx := context.Background()
	rows, err := w.Run(ctx, s, Args{})
	for err == nil {
		got, e := rows.Next()
		for _, row := range got {
			var b strings.Builder
			for _, v := range row {
				b.WriteString(v.String() + "|")
			}
			out = append(out, b.String())
		}
		err = e
	}
	if rows != nil {
		rows.Close()
	}
	if err != io.EOF && !errors.Is(err, ErrMemoryLimit) {
		g.t.Fatalf("%s: %v", q, err)
	}
	return out, err == io.EOF
}
