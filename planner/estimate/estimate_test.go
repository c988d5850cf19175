// Package estimate_test asks engines on the embedded store for estimates, and compares these with what is read.
package estimate_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/store"
)

// world is an engine on a store of its own.
type world struct {
	t *testing.T
	*exec.Engine
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &world{t, exec.New(hbase.New(s, s), catalog.New(), exec.Config{FullScan: exec.AllowFullScan, Alone: true})}
}

// run runs a statement and returns the first columns of its rows, one on each line.
func (w *world) run(sql string) string {
	w.t.Helper()
	s, err := parser.ParseStatement(sql)
	if err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
	rows, err := w.Run(w.t.Context(), s, exec.Args{})
	if err != nil {
		w.t.Fatalf("%.200s: %v", sql, err)
	}
	defer rows.Close()
	var b strings.Builder
	for {
		batch, err := rows.Next()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			w.t.Fatalf("%.200s: %v", sql, err)
		}
		for _, row := range batch {
			fmt.Fprintln(&b, row[0])
		}
	}
}

// fill inserts n rows.
func (w *world) fill(table string, n int, row func(i int) string) {
	w.t.Helper()
	for from := 0; from < n; from += 200 {
		var rows []string
		for i := from; i < min(n, from+200); i++ {
			rows = append(rows, row(i))
		}
		w.run("INSERT INTO " + table + " VALUES " + strings.Join(rows, ","))
	}
}

// estimated holds what the tests look at of EXPLAIN (FORMAT JSON).
type estimated struct {
	Estimate struct{ Rows *float64 }
	Analyze  struct {
		QError *float64 `json:"q_error"`
	}
}

func (w *world) estimated(explain string) (out estimated) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.run(explain)), &out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// A value that few rows have is in its bucket alone. It is not under each of many salts, nor in each of the tables that the name tells apart; a merge reads of each of its
// streams; and what the client compares of what a join looks up is sent.
func TestEstimatesOfSeveralRanges(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	w := newWorld(t)
	const columns = " (id BIGINT, host STRING, ts TIMESTAMP, b INT FROM d:b) ROW KEY "
	w.run("CREATE TABLE salted" + columns + "(SALT HEX(2), host AS TEXT, X'00', ts AS INT64, id AS INT64)")
	w.run("CREATE TABLE daily" + columns + "(host AS TEXT, X'00', ts AS INT64, id AS INT64) STORED IN ('daily_', DATE(ts) AS TEXT('yyyyMMdd'))")
	w.run("CREATE TABLE bucketed" + columns + "(CRC32(host) % 16 AS UINT8, 9223372036854775807 - ts AS INT64, id AS INT64, host AS TEXT)")
	for _, name := range []string{"salted", "daily", "bucketed"} {
		w.fill(name, 4000, func(i int) string {
			host := i * i % 97
			if i%500 == 0 {
				host = 1000 + i
			}
			return fmt.Sprintf("(%d, 'host%d', TIMESTAMP '2026-01-01 00:00:00' + INTERVAL '%d seconds', %d)", i, host, i*173, i%1000)
		})
		w.run("ANALYZE " + name)
	}
	for _, sql := range []string{
		"SELECT * FROM salted WHERE host = 'host1500'",
		"SELECT * FROM salted WHERE host = 'nowhere'",
		"SELECT * FROM salted WHERE host = 'host3' AND ts >= TIMESTAMP '2026-01-05 00:00:00'",
		"SELECT * FROM salted WHERE host = 'host4' ORDER BY ts LIMIT 5",
		"SELECT max(ts) FROM salted WHERE host = 'host4'",
		"SELECT x.id, y.b FROM salted x LEFT JOIN salted y ON y.id = x.id + 1 AND y.host = x.host WHERE x.b = 7",
		"SELECT * FROM bucketed WHERE host = 'host4'",
		"SELECT * FROM bucketed WHERE host = 'host4' ORDER BY ts",
		"SELECT * FROM bucketed WHERE host IN ('host4', 'host5', 'host9')",
		"SELECT * FROM bucketed WHERE host = 'host4' AND b < 500",
		"SELECT * FROM bucketed WHERE host LIKE 'host4%'",
		"SELECT * FROM daily WHERE host = 'host1500'",
		"SELECT * FROM daily WHERE host = 'nowhere'",
		"SELECT * FROM daily WHERE host = 'host4' AND ts::date = DATE '2026-01-05'",
		"SELECT * FROM daily WHERE ts::date = DATE '2026-01-05'",
		"SELECT * FROM daily WHERE host = 'host4'",
		"SELECT * FROM daily WHERE b = 1001",
	} {
		e := w.estimated("EXPLAIN (ANALYZE, FORMAT JSON) " + sql)
		if e.Estimate.Rows == nil || e.Analyze.QError == nil || *e.Analyze.QError > 3 {
			t.Errorf("%s\n%s", sql, w.run("EXPLAIN ANALYZE "+sql))
		}
	}
}

// A condition more, or a narrower one, never has more rows estimated, and a value that is counted is estimated as it was counted.
func TestNarrowerEstimates(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	w := newWorld(t)
	w.run("CREATE TABLE p (k BIGINT, tenth INT, half INT, n INT, s STRING) ROW KEY (k AS INT64)")
	w.fill("p", 20_000, func(i int) string { return fmt.Sprintf("(%d, %d, %d, %d, 's%d')", i, i%10, i%2, i*7919%20_000, i%300) })
	w.run("ANALYZE p")
	unknown := 0
	rows := func(where string) float64 {
		n := w.estimated("EXPLAIN (FORMAT JSON) SELECT * FROM p WHERE " + where).Estimate.Rows
		if n == nil {
			unknown++
			return 0
		}
		return *n
	}
	for _, v := range []int{0, 3, 9} {
		if got := rows(fmt.Sprintf("tenth = %d", v)); got != 2000 {
			t.Errorf("tenth = %d: %.0f rows, want 2000", v, got)
		}
	}
	r := rand.New(rand.NewPCG(4, 4))
	cond := func() string {
		a := r.IntN(20_000)
		return []string{fmt.Sprintf("tenth = %d", a%10), fmt.Sprintf("half = %d", a%2), fmt.Sprintf("n < %d", a), fmt.Sprintf("n = %d", a), fmt.Sprintf("s = 's%d'", a%300),
			fmt.Sprintf("s LIKE 's%d%%'", a%30), fmt.Sprintf("tenth IN (%d, %d)", a%10, a/10%10), fmt.Sprintf("k %% 7 = %d", a%7), fmt.Sprintf("half + tenth = %d", a%10)}[r.IntN(9)]
	}
	for range 400 {
		a, b := cond(), cond()
		wide := rows(a)
		if wide == 0 {
			continue
		}
		for _, narrow := range []string{a + " AND " + b, b + " AND " + a} {
			if n := rows(narrow); n > wide {
				t.Errorf("%s: %.0f rows, %s: %.0f", a, wide, narrow, n)
			}
		}
		lo, hi := r.IntN(20_000), r.IntN(20_000)
		lo, hi = min(lo, hi), max(lo, hi)
		mid := lo + r.IntN(hi-lo+1)
		for _, pair := range [][2]string{{"n BETWEEN %d AND %d", "n BETWEEN %d AND %d"}, {"k BETWEEN %d AND %d", "k BETWEEN %d AND %d"}} {
			wide, narrow := fmt.Sprintf(pair[0], lo, hi), fmt.Sprintf(pair[1], lo, mid)
			if a, b := rows(wide), rows(narrow); b > a {
				t.Errorf("%s: %.0f rows, %s: %.0f", wide, a, narrow, b)
			}
		}
	}
	if unknown > 200 {
		t.Errorf("%d conditions without an estimate", unknown)
	}
}
