package planner

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

func benchmark(b *testing.B, query string, parse bool) {
	c := given.Layouts(b)
	st := given.Query(b, query)
	b.ReportAllocs()
	for b.Loop() {
		if parse {
			s, err := parser.ParseStatement(query)
			if err != nil {
				b.Fatal(err)
			}
			st = s.(*parser.Select)
		}
		if _, err := (&Env{Catalog: c}).Select(st); err != nil {
			b.Fatal(err)
		}
	}
}

const pointQuery = "SELECT level, msg, val, cnt FROM phoenix_events WHERE host = 'host0001' AND ts = 1700000000000"

func BenchmarkPlanPoint(b *testing.B)      { benchmark(b, pointQuery, false) }
func BenchmarkParsePlanPoint(b *testing.B) { benchmark(b, pointQuery, true) }

func BenchmarkPlanWindow(b *testing.B) {
	benchmark(b, "SELECT * FROM phoenix_events WHERE host = 'host0001' AND ts BETWEEN 1700000000000 AND 1700000100000", false)
}

// The year is sought among all moments: the difference to the same days, compared as they are, is what that takes.
func BenchmarkPlanYear(b *testing.B) {
	benchmark(b, "SELECT * FROM car_events WHERE car_id = 'a' AND EXTRACT(year FROM ts) = 2026", false)
}

func BenchmarkPlanYearWritten(b *testing.B) {
	benchmark(b, "SELECT * FROM car_events WHERE car_id = 'a' AND ts BETWEEN TIMESTAMP '2026-01-01' AND TIMESTAMP '2026-12-31 23:59:59.999'", false)
}

func BenchmarkPlanInList(b *testing.B) {
	items := make([]string, 10_000)
	for i := range items {
		items[i] = strconv.Itoa(7 * i)
	}
	benchmark(b, "SELECT * FROM files WHERE user_id IN ("+strings.Join(items, ", ")+")", false)
}

// Long conditions: planning must not grow faster than they do.
func BenchmarkPlanLong(b *testing.B) {
	list := func(n int, sep, format string, args func(i int) []any) string {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = fmt.Sprintf(format, args(i)...)
		}
		return strings.Join(terms, sep)
	}
	one := func(step int) func(int) []any { return func(i int) []any { return []any{step * i} } }
	for _, c := range []struct{ name, key, where string }{
		{"ors500", "k AS INT64, v AS INT32, w AS INT32", list(500, " OR ", "(k = %d AND v = %d AND w BETWEEN %d AND %d)", func(i int) []any { return []any{i % 50, i % 20, i, i + 9} })},
		{"ors500Computed", "k AS INT64, v AS INT32, w AS INT32", list(500, " OR ", "(k + 1 = %d AND v * 2 = %d AND -w < -%d)", func(i int) []any { return []any{i % 50, i % 20 * 2, i} })},
		{"rows500", "k AS INT64, v AS INT32, w AS INT32", "(k, v, w) IN (" + list(500, ", ", "(%d, %d, %d)", func(i int) []any { return []any{i % 50, i % 20, i} }) + ")"},
		{"in20000", "k AS INT64", "k IN (" + list(20_000, ", ", "%d", one(7)) + ")"},
		{"in20000Hashed", "MURMUR3(k) % 16 AS UINT8, k AS INT64", "k IN (" + list(20_000, ", ", "%d", one(7)) + ")"},
		{"in20000Computed", "k AS INT64", "k - 3 IN (" + list(20_000, ", ", "%d", one(7)) + ")"},
		{"inReversed", "9223372036854775807 - k AS INT64", "k IN (" + list(2000, ", ", "%d", one(7)) + ")"},
		{"pointReversed", "9223372036854775807 - k AS INT64", "k = 12345"},
		{"rangeReversed", "9223372036854775807 - k AS INT64", "k BETWEEN 12345 AND 23456"},
		{"inDivided", "k / 1000 AS INT32, k AS INT64", "k IN (" + list(2000, ", ", "%d", one(7000)) + ")"},
		{"inText", "k AS INT64", "k::text IN (" + list(10_000, ", ", "'%d'", one(7)) + ")"},
		{"cases", "k AS INT64", strings.Repeat("CASE WHEN k > 3 THEN v = 1 WHEN k < 9 THEN ", 60) + "k = 7" + strings.Repeat(" ELSE k = 5 END", 60)},
		{"deep", "k AS INT64", strings.Repeat("NOT (k = 1 OR (v = 2 AND ", 60) + "k = 7" + strings.Repeat("))", 60)},
		{"unequal", "k AS INT64", list(400, " AND ", "k <> %d", one(7))},
		{"unequal4000", "k AS INT64", list(4000, " AND ", "k <> %d", one(7))},
		{"unequalSalted", "SALT(0 TO 99) AS UINT8, k AS INT64", list(300, " AND ", "k <> %d", one(7))},
		{"notIn", "k AS INT64", "k NOT IN (" + list(8000, ", ", "%d", one(7)) + ")"},
		{"notInBuckets", "k % 260 AS UINT16, k AS INT64", "k NOT IN (" + list(1000, ", ", "%d", one(7)) + ")"},
		{"between", "k AS INT64", list(6_000, " OR ", "k BETWEEN %d AND %d", func(i int) []any { return []any{20 * i, 20*i + 9} })},
		{"ranges", "k AS INT64, v AS INT32", list(3_000, " OR ", "k BETWEEN %d AND %d AND v > 0", func(i int) []any { return []any{20 * i, 20*i + 9} })},
		{"salted", "SALT(0 TO 99) AS UINT8, k AS INT64", list(300, " OR ", "k = %d AND v = 1", one(7))},
		{"saltedIn", "SALT(0 TO 99) AS UINT8, k AS INT64", "k IN (" + list(300, ", ", "%d", one(7)) + ")"},
	} {
		b.Run(c.name, func(b *testing.B) {
			cat := given.Tables(b, "CREATE TABLE t (k BIGINT, v INT, w INT) ROW KEY ("+c.key+")")
			st := given.Query(b, "SELECT * FROM t WHERE "+c.where)
			for b.Loop() {
				if _, err := (&Env{Catalog: cat}).Select(st); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Planning with statistics whose sample is full: what they tell must not cost more than it saves.
func BenchmarkPlanStatistics(b *testing.B) {
	cat := given.Tables(b, `CREATE TABLE levels (site BIGINT, floor INT, seq INT, v BIGINT FROM d:v) ROW KEY (site AS INT64, floor AS INT32, seq AS INT32);
		CREATE TABLE parcels (id BIGINT, city STRING FROM d:city, zip BIGINT FROM d:zip) ROW KEY (id AS INT64) INDEX by_city (city AS TEXT, X'00', id AS INT64)`)
	known := map[string]*stats.Table{}
	for name, row := range map[string]func(i int64) []types.Value{
		"levels": func(i int64) []types.Value {
			return []types.Value{types.NewInt(i % 5), types.NewIntOf(types.Int, i%11), types.NewIntOf(types.Int, i), types.NewInt(i % 1000)}
		},
		"parcels": func(i int64) []types.Value {
			return []types.Value{types.NewInt(i), types.NewString(fmt.Sprintf("city%d", i%300)), types.NewInt(i % 3000)}
		},
	} {
		t, _ := cat.Table(name)
		known[name] = collected(b, t, 20_000, 1, row)
	}
	env := &Env{Catalog: cat, Statistics: func(t *catalog.Table) *stats.Table { return known[t.Name] }}
	for name, query := range map[string]string{
		"point":  "SELECT * FROM parcels WHERE id = 77",
		"range":  "SELECT * FROM levels WHERE site = 3 AND floor = 4 AND seq < 3600",
		"filter": "SELECT * FROM parcels WHERE city = 'city7' AND zip > 100",
		"join":   "SELECT l.seq, p.city FROM levels l JOIN parcels p ON p.id = l.seq WHERE l.site = 3 AND l.floor = 4 AND l.seq < 3600",
		"group":  "SELECT p.city, count(*) FROM levels l JOIN parcels p ON p.id = l.seq WHERE l.v = 77 GROUP BY p.city",
	} {
		b.Run(name, func(b *testing.B) {
			st := given.Query(b, query)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := env.Select(st); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// collected gives the statistics of a table of which n rows were read, each of which stands for some.
func collected(b testing.TB, t *catalog.Table, n int, stands float64, row func(i int64) []types.Value) *stats.Table {
	var shape stats.Shape
	for _, c := range t.Columns {
		shape.Columns = append(shape.Columns, c.Name)
	}
	for _, l := range t.Layouts {
		shape.Keys = append(shape.Keys, stats.KeyShape{Layout: l.Name, Parts: make([]string, len(l.Key.Parts))})
	}
	c := stats.NewCollector(shape)
	run := c.Begin(n)
	for i := range n {
		r := stats.Row{Values: row(int64(i)), CellBytes: make([]int, len(t.Columns)), Bytes: 100, Cells: 2}
		for _, l := range t.Layouts {
			name, key, err := l.Place(r.Values)
			if err != nil {
				b.Fatal(err)
			}
			r.Places = append(r.Places, stats.Place{Table: name, Key: key, Ends: l.Key.Ends(key, true)})
		}
		run.Add(r)
	}
	run.Stands *= stands
	return stats.Build(t.Name, time.Now(), stands == 1, c)
}
