package scan_test

import (
	"context"
	"fmt"
	"testing"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/types"
)

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
	t.Parallel()
	race.Skip(t)
	sizes := []int{10_000, 100_000}
	if Large() {
		sizes = append(sizes, 1_000_000)
	}
	_, w := newCluster(t, 1, Config{Alone: true}, events(8))
	want := map[string][3]int64{}
	stored := 0
	for _, size := range sizes {
		from := stored
		w.Fill("events", size-stored, func(i int) string { return event(from + i) })
		stored = size
		for _, q := range boundQueries {
			n, s := w.Read(q.sql)
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
		w.Fill("events", 2000, event)
		for i, most := range []int64{1, salts, salts + 10} {
			q := boundQueries[i]
			least := min(most, salts)
			n, s := w.Read(q.sql)
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
		w.Do("CREATE TABLE o (step INT, id BIGINT) ROW KEY (step AS INT32, id AS INT64)")
		w.Fill("m", n, func(i int) string { return fmt.Sprintf("(%d, %d), (%d, %d)", i+i/2, i, 2*n+7*i, i) })
		w.Fill("o", n, func(i int) string { return fmt.Sprintf("(1, %d), (7, %d)", i+i/2, 2*n+7*i) }) // pairs of neighbours, and none
		rpcs := map[int]int64{}
		for _, step := range []int{7, 1} {
			rows, s := w.Read(fmt.Sprintf("SELECT * FROM o JOIN m ON m.id = o.id WHERE o.step = %d", step))
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

// answered is a client that has the answer to each Get at hand.
type answered struct {
	hbase.Client
	rows []hbase.Row
}

func (c *answered) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) (_ []hbase.Row, err error) {
	if c.rows == nil {
		c.rows, err = c.Client.Get(ctx, table, keys, o)
	}
	return c.rows, err
}

// A prepared query of one row is planned once. The store's allocations are not counted.
func TestCostOfAPreparedPoint(t *testing.T) {
	race.Skip(t)
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{Alone: true})
	w.Do("CREATE TABLE t (a INT, v INT) ROW KEY (a AS INT32); INSERT INTO t VALUES (1, 1), (2, 2)")
	w = Of(t, New(&answered{Client: c}, w.Catalog(), Config{Alone: true}))
	stmt := MustParse(t, "SELECT v FROM t WHERE a = ?")
	allocs := func(plans *Plans) float64 {
		return testing.AllocsPerRun(100, func() {
			rows, err := w.Run(t.Context(), stmt, Args{Positional: []types.Value{types.NewInt(2)}, Plans: plans})
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			if batch, err := rows.Next(); err != nil || batch[0][0].Int() != 2 {
				t.Fatal(batch, err)
			}
		})
	}
	if once, each := allocs(&Plans{}), allocs(nil); once > each/2 {
		t.Errorf("%v allocations, %v where it is planned each time", once, each)
	}
}

// The calls that a statement reports are those that the client received.
func TestCallsAreCounted(t *testing.T) {
	_, c := NewStore(t)
	cc := &Counted{Client: c, Table: "m"}
	w := NewWorld(t, cc, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64) SPLIT AT ('h0004')")
	w.Fill("m", 2000, Hosts(8))
	keys := "(host, ts) IN (('h0000', 1000000)"
	for i := range 100 {
		keys += fmt.Sprintf(", ('h0001', %d)", 1_000_000+i)
	}
	queries := []string{
		"SELECT * FROM m", "SELECT * FROM m WHERE host = 'h0001'", "SELECT * FROM m WHERE host = 'h0001' AND ts = 1000001", "SELECT DISTINCT host FROM m",
		"SELECT * FROM m WHERE " + keys + ")", "SELECT host, max(ts) FROM m GROUP BY host", "SELECT * FROM m ORDER BY host DESC, ts DESC LIMIT 1500",
		"SELECT count(*) FROM m a JOIN m b ON a.host = b.host AND a.ts = b.ts WHERE a.ts < 1000003",
	}
	for _, q := range hopQueries {
		queries = append(queries, q.sql)
	}
	for _, sql := range queries {
		cc.Scans.Store(0)
		cc.Gets.Store(0)
		_, s := w.Read(sql)
		if s.Gets != cc.Gets.Load() || s.Scans != cc.Scans.Load() || s.Gets+s.Scans == 0 {
			t.Errorf("%s: the statement counts %d Gets and %d scans, the client %d and %d", sql, s.Gets, s.Scans, cc.Gets.Load(), cc.Scans.Load())
		}
	}
}

// For many keys under a LIMIT only as many as it wants are requested, and then more if some have no rows.
func TestCostOfKeysUnderALimit(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{Alone: true})
	w.Do("CREATE TABLE t (a INT, v INT) ROW KEY (a AS INT32)")
	w.Fill("t", 90, func(i int) string { return fmt.Sprintf("(%d, %d)", 20*(i+10), i) })
	keys := "0"
	for i := range 99 {
		keys += fmt.Sprint(", ", 20*(i+1))
	}
	for _, q := range []struct {
		where string
		rows  int
		most  int64
	}{{"", 90, 100}, {" AND a >= 200 LIMIT 3", 3, 3}, {" LIMIT 3", 3, 15}, {" LIMIT 60", 60, 100}} {
		if n, s := w.Read("SELECT * FROM t WHERE a IN (" + keys + ")" + q.where); n != q.rows || s.Gets > q.most {
			t.Errorf("%s: %d rows of %d keys, want %d of %d at most", q.where, n, s.Gets, q.rows, q.most)
		}
	}
}
