package planner

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
)

func benchmark(b *testing.B, query string, parse bool) {
	c := layouts(b)
	st, err := parser.ParseStatement(query)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if parse {
			if st, err = parser.ParseStatement(query); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := (&Env{Catalog: c}).Select(st.(*parser.Select)); err != nil {
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
			cat := catalog.New()
			if err := cat.Load("CREATE TABLE t (k BIGINT, v INT, w INT) ROW KEY (" + c.key + ")"); err != nil {
				b.Fatal(err)
			}
			st, err := parser.ParseStatement("SELECT * FROM t WHERE " + c.where)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := (&Env{Catalog: cat}).Select(st.(*parser.Select)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
