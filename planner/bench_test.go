package planner

import (
	"strconv"
	"strings"
	"testing"

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

func BenchmarkPlanInList(b *testing.B) {
	items := make([]string, 10_000)
	for i := range items {
		items[i] = strconv.Itoa(7 * i)
	}
	benchmark(b, "SELECT * FROM files WHERE user_id IN ("+strings.Join(items, ", ")+")", false)
}
