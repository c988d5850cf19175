package exec

import (
	"fmt"
	"os"
	"testing"

	"github.com/hql-db/hql/internal/race"
)

// large reports whether sizes are to be tested up to their largest.
func large() bool { return os.Getenv("HQL_LARGE") == "1" }

// The queries whose cost is that of the rows they give. Rows of a host are newest first by j.
var boundQueries = []struct{ name, sql string }{
	{"one row by its key", "SELECT * FROM events WHERE host = 'h3' AND ts = 999999958"},
	{"a window of 100 rows", "SELECT * FROM events WHERE host = 'h3' AND ts > 999999858 AND ts <= 999999958"},
	{"the newest 10 of a host", "SELECT * FROM events WHERE host = 'h3' ORDER BY ts DESC LIMIT 10"},
}

// events has rows of ten hosts under salts, in a region a salt, from one time backwards.
func events(salts int) string {
	split := ""
	if salts > 1 {
		split = fmt.Sprintf(" SPLIT INTO %d BY KEY", salts)
	}
	return fmt.Sprintf("CREATE TABLE events (host STRING, ts BIGINT, v BIGINT) ROW KEY (PHOENIX_SALT(%d) AS UINT8, host AS TEXT, X'00', ts AS ORDERED INT64)", salts) + split
}

func event(i int) string { return fmt.Sprintf("('h%d', %d, %d)", i%10, 1_000_000_000-i/10, i) }

// A table that grows tenfold, and tenfold again, makes no query read more or send more.
func TestCostGrowsWithMatches(t *testing.T) {
	race.Skip(t)
	sizes := []int{10_000, 100_000}
	if large() {
		sizes = append(sizes, 1_000_000)
	}
	_, w := newCluster(t, 1, Config{Alone: true}, events(8))
	want := map[string][3]int64{}
	stored := 0
	for _, size := range sizes {
		from := stored
		w.fill("events", size-stored, func(i int) string { return event(from + i) })
		stored = size
		for _, q := range boundQueries {
			n, s := w.read(q.sql)
			got := [3]int64{int64(n), s.RowsRead, s.RPCs}
			if size == sizes[0] {
				want[q.name] = got
				t.Logf("%s: %d rows, %d read, %d RPCs", q.name, got[0], got[1], got[2])
				continue
			}
			if got != want[q.name] {
				t.Errorf("%s of %d rows: %d rows, %d read, %d RPCs; of %d rows: %v", q.name, size, got[0], got[1], got[2], sizes[0], want[q.name])
			}
		}
	}
	for name, rows := range map[string]int64{"one row by its key": 1, "a window of 100 rows": 100} {
		if g := want[name]; g[0] != rows || g[1] != rows {
			t.Errorf("%s: %d rows, %d read; want %d", name, g[0], g[1], rows)
		}
	}
	if g := want["the newest 10 of a host"]; g[0] != 10 || g[1] > 50 {
		t.Errorf("the newest 10 of a host: %d rows, %d read", g[0], g[1])
	}
}

// A key that is bound costs one RPC under any number of salts, a range one for each salt, an order a few more.
func TestCostOfSalts(t *testing.T) {
	race.Skip(t)
	for _, salts := range []int64{1, 2, 4, 8, 16, 32, 64, 128, 256} {
		_, w := newCluster(t, 1, Config{Alone: true}, events(int(salts)))
		w.fill("events", 2000, event)
		for i, most := range []int64{1, salts, salts + 10} {
			q := boundQueries[i]
			least := min(most, salts)
			n, s := w.read(q.sql)
			if want := []int{1, 100, 10}[i]; n != want {
				t.Errorf("%d salts, %s: %d rows, want %d", salts, q.name, n, want)
			}
			if s.RPCs < least || s.RPCs > most {
				t.Errorf("%d salts, %s: %d RPCs, want %d to %d", salts, q.name, s.RPCs, least, most)
			}
			t.Logf("%d salts, %s: %d read, %d RPCs", salts, q.name, s.RowsRead, s.RPCs)
		}
	}
}

// A join on ids costs the same whether they follow one another or not, under a bucket and under a hash.
func TestCostOfNeighbours(t *testing.T) {
	const n = 600
	for _, key := range []string{"id % 260 AS UINT16", "LEFT(MD5(CONCAT(id)), 4)"} {
		_, w := newCluster(t, 1, Config{Alone: true}, "CREATE TABLE m (id BIGINT, v INT) ROW KEY ("+key+", id AS INT64)")
		w.run("CREATE TABLE o (step INT, id BIGINT) ROW KEY (step AS INT32, id AS INT64)")
		w.fill("m", n, func(i int) string { return fmt.Sprintf("(%d, %d), (%d, %d)", i+i/2, i, 2*n+7*i, i) })
		w.fill("o", n, func(i int) string { return fmt.Sprintf("(1, %d), (7, %d)", i+i/2, 2*n+7*i) }) // pairs of neighbours, and none
		rpcs := map[int]int64{}
		for _, step := range []int{7, 1} {
			rows, s := w.read(fmt.Sprintf("SELECT * FROM o JOIN m ON m.id = o.id WHERE o.step = %d", step))
			if rows != n {
				t.Errorf("%s, step %d: %d rows, want %d", key, step, rows, n)
			}
			rpcs[step] = s.RPCs
		}
		if rpcs[1] > rpcs[7]+2 {
			t.Errorf("%s: %d RPCs for ids that follow one another, %d with gaps", key, rpcs[1], rpcs[7])
		}
	}
}
