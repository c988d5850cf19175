package scan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
)

// The queries that hop over the hosts.
var hopQueries = []struct {
	name, sql string
	rows      int
	access    plan.Access
}{
	{"a range", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020", 80, plan.HopScan},
	{"a point", "SELECT * FROM m WHERE ts = 1000017", 8, plan.FullScan},
	{"ordered", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020 ORDER BY host, ts", 80, plan.HopScan},
	{"reversed", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020 ORDER BY host DESC, ts DESC", 80, plan.HopScan},
	{"limited", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020 ORDER BY host DESC, ts DESC LIMIT 25", 25, plan.HopScan},
	{"counted", "SELECT count(*) FROM m WHERE ts IN (1000010, 1000012, 1000014) AND v >= 0", 1, plan.FullScan},
}

// A skip scan costs what the values hopped over cost, whatever the table's size.
func TestCostOfHops(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	sizes := []int{10_000, 100_000}
	if Large() {
		sizes = append(sizes, 1_000_000)
	}
	for i, key := range []string{"host AS TEXT, X'00', ts AS INT64", "host AS TEXT(8), ts AS ORDERED INT64", "CRC32(host) % 4 AS UINT8, host AS TEXT, '|', ts AS INT64"} {
		_, w := newCluster(t, 1, Config{Alone: true}, "CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY ("+key+")")
		want := map[string]int64{}
		stored := 0
		for _, size := range sizes[:max(1, len(sizes)*(1-i))] {
			from := stored
			w.Fill("m", size-stored, func(i int) string { return Hosts(8)(from + i) })
			stored = size
			for _, q := range hopQueries {
				n, s := w.Read(q.sql)
				t.Logf("%s, %d rows stored, %s: %d rows, %d read, %d RPCs", key, size, q.name, n, s.RowsRead, s.RPCs)
				if n != q.rows || s.Tables[0].Access != q.access {
					t.Errorf("%s, %s: %d rows by %s, want %d by %s", key, q.name, n, s.Tables[0].Access, q.rows, q.access)
				}
				if size == sizes[0] {
					want[q.name] = s.RPCs
				} else if s.RPCs != want[q.name] && q.name != "limited" || s.RPCs > 17 { // under a LIMIT more is read ahead or less
					t.Errorf("%s, %s of %d rows: %d RPCs; of %d rows: %d", key, q.name, size, s.RPCs, sizes[0], want[q.name])
				}
			}
		}
	}
}

// It does so on a real HBase.
func testCostOfHopsHBase(t *testing.T) {
	race.Skip(t)
	w := NewWorld(t, DialHBase(t), Config{FullScan: AllowFullScan, Alone: true})
	w.Do("DROP TABLE IF EXISTS hops")
	w.Do("CREATE TABLE hops (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	defer w.Do("DROP TABLE hops")
	want := map[string]int64{}
	stored := 0
	sizes := []int{10_000, 40_000}
	if Large() {
		sizes = []int{10_000, 100_000, 1_000_000}
	}
	for _, size := range sizes {
		from := stored
		w.Fill("hops", size-stored, func(i int) string { return Hosts(8)(from + i) })
		stored = size
		for _, q := range hopQueries {
			n, s := w.Read(strings.Replace(q.sql, "FROM m", "FROM hops", 1))
			t.Logf("%d rows stored, %s: %d rows, %d read, %d RPCs", size, q.name, n, s.RowsRead, s.RPCs)
			before, again := want[q.name]
			again = again && q.name != "limited" // under a LIMIT more is read ahead or less
			if want[q.name] = s.RPCs; n != q.rows || again && s.RPCs > before || s.RPCs > 40 {
				t.Errorf("%s of %d rows: %d rows, want %d; %d RPCs, before %d", q.name, size, n, q.rows, s.RPCs, before)
			}
		}
	}
}

// Within a range of texts what is behind them is hopped to as well, whatever the number of rows.
func TestCostOfHopsInRanges(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, w := newCluster(t, 1, Config{Alone: true}, "CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	stored := 0
	for _, size := range []int{10_000, 40_000} {
		from := stored
		w.Fill("m", size-stored, func(i int) string { return Hosts(8)(from + i) })
		stored = size
		for where, rows := range map[string]int{
			"host LIKE 'h%' AND ts >= 1000010 AND ts < 1000020":                                      80,
			"host > 'h0003' AND ts BETWEEN 1000010 AND 1000019 ORDER BY host DESC, ts DESC":          40,
			"host <> 'h0003' AND ts = 1000010":                                                       7,
			"(host LIKE 'h0001%' OR host >= 'h0005') AND ts IN (1000010, 1000012) ORDER BY host, ts": 8,
		} {
			n, s := w.Read("SELECT * FROM m WHERE " + where)
			t.Logf("%d rows stored, %s: %d read, %d RPCs", size, where, s.RowsRead, s.RPCs)
			if n != rows || s.RPCs > 17 || s.RowsRead > 1500 {
				t.Errorf("%d rows stored, %s: %d rows, want %d; %d read, %d RPCs", size, where, n, rows, s.RowsRead, s.RPCs)
			}
		}
	}
}

// The least and the greatest of each group are read at its ends, whatever the table's size.
func TestCostOfEnds(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, w := newCluster(t, 1, Config{Alone: true}, "CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	stored := 0
	want := map[string]int64{}
	for _, size := range []int{10_000, 40_000} {
		from := stored
		w.Fill("m", size-stored, func(i int) string { return Hosts(8)(from + i) })
		stored = size
		for q, access := range map[string]plan.Access{
			"SELECT host, max(ts) FROM m GROUP BY host":              plan.HopScan,
			"SELECT host, min(ts) FROM m WHERE v > 20 GROUP BY host": plan.FullScan, // what v says of the rows is not known
			"SELECT max(ts) FROM m":                                  plan.HopScan,
		} {
			n, s := w.Read(q)
			t.Logf("%d rows stored, %s: %d read, %d RPCs", size, q, s.RowsRead, s.RPCs)
			if before, ok := want[q]; s.Tables[0].Access != access || n != 8 && n != 1 || s.RPCs > 10 || ok && s.RPCs != before {
				t.Errorf("%d rows stored, %s: %d rows, %d read, %d RPCs", size, q, n, s.RowsRead, s.RPCs)
			}
			want[q] = s.RPCs
		}
	}
}

// A table of many values costs little more than without hops: looks are given up.
func TestCostOfHopsGivenUp(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const rows = 40_000
	for _, n := range []int{20_000, 2_000, 395, 60} { // values
		_, w := newCluster(t, 1, Config{Alone: true}, "CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
		w.Fill("m", rows, Hosts(n))
		plain := New(w.Client(), w.Catalog(), Config{Planner: planner.Options{NoSkip: true}})
		for _, q := range []string{"SELECT * FROM m WHERE ts >= 1000000 AND ts < 1000001", "SELECT * FROM m WHERE ts >= 1000000 AND v >= 0"} {
			got, s := w.Read(q)
			want, p := (Of(t, plain)).Read(q)
			t.Logf("%d values, %s: %d rows; %d read, %d RPCs in %s; without hops %d read, %d RPCs in %s", n, q, got, s.RowsRead, s.RPCs, s.Elapsed, p.RowsRead, p.RPCs, p.Elapsed)
			if got != want {
				t.Errorf("%d values, %s: %d rows, want %d", n, q, got, want)
			}
			if s.RPCs > p.RPCs+rows/int64(scan.DefaultTuning().HopPays)+10 || s.RowsRead > 2*p.RowsRead+rows/2 {
				t.Errorf("%d values, %s: %d read, %d RPCs; without hops %d read, %d RPCs", n, q, s.RowsRead, s.RPCs, p.RowsRead, p.RPCs)
			}
		}
	}
}

// If seeking within a look costs more, its rows are read, but only up to its last value, which may have any number of
// rows. If rows fail the client's filter, looks become longer.
func TestCostOfHopsMixed(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const rows = 20_000
	var ranges []string // more than a short look pays
	for i := range 20 {
		ranges = append(ranges, fmt.Sprintf("ts BETWEEN %d AND %d", 1_000_000+100*i, 1_000_003+100*i))
	}
	short := func(i int) string { // 20 values of one row, then one of many
		if i < 20 {
			return fmt.Sprintf("('a%04d', 1000000, %d)", i, i)
		}
		return fmt.Sprintf("('h', %d, %d)", 1_000_000+i, i)
	}
	for _, c := range []struct {
		sql         string
		row         func(i int) string
		rows, calls int64
	}{
		{"SELECT * FROM m WHERE " + strings.Join(ranges, " OR "), Hosts(2), 600, 10},
		{"SELECT * FROM m WHERE ts < 1000050", short, 200, 10},
		{"SELECT * FROM m WHERE ts < 1000050 ORDER BY host DESC, ts DESC", short, 200, 10},
		{"SELECT host, max(ts) FROM m WHERE LEFT(MD5(host || CAST(v AS STRING)), 8) = 'z' GROUP BY host", Hosts(2), rows, 10},
	} {
		_, w := newCluster(t, 1, Config{Alone: true}, "CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
		w.Fill("m", rows, c.row)
		if _, s := w.Read(c.sql); s.RowsRead > c.rows || s.RPCs > c.calls {
			t.Errorf("%s: %d read, %d RPCs, want %d and %d at most", c.sql, s.RowsRead, s.RPCs, c.rows, c.calls)
		}
	}
}

// If full scans are refused, so is a skip scan over too many values, after it has read little.
func TestHopsRefused(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	for n, refused := range map[int]bool{8: false, 20_000: true} {
		_, w := newCluster(t, 1, Config{Alone: true}, "CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
		w.Fill("m", 20_000, Hosts(n))
		w.Do("SET full_scan = 'deny'")
		for _, q := range []string{"SELECT * FROM m WHERE ts < 1000001", "SELECT * FROM m WHERE ts < 1000001 ORDER BY host LIMIT 19000", "SELECT DISTINCT host FROM m", "SELECT host, max(ts) FROM m GROUP BY host", "DELETE FROM m WHERE ts < 1000001 AND v < 0"} {
			if _, _, err := w.Try(q); refused != errors.Is(err, ErrFullScan) || !refused && err != nil {
				t.Errorf("%d values, %s: %v", n, q, err)
			}
		}
	}
}

// A statement that may not read the rest of a table whole goes on hopping over values that have many rows each, up to a bound.
func TestHopsOnly(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	w.Fill("m", 3000, Hosts(60))
	for most, refused := range map[int64]bool{1000: false, 15: true, 10: true} {
		tuning := scan.DefaultTuning()
		tuning.FirstRows, tuning.HopRows, tuning.SeekRows, tuning.HopPays, tuning.MaxHops, tuning.MaxHopsOnly = 4, 4, 1, 8, 10, most
		guarded := Of(t, New(c, w.Catalog(), Config{FullScan: DenyFullScan, Tuning: tuning}))
		for _, q := range []string{"SELECT DISTINCT host FROM m", "SELECT host, max(ts) FROM m GROUP BY host", "SELECT v FROM m WHERE ts < 1000001"} {
			rows, _, err := guarded.Try(q)
			if refused != errors.Is(err, ErrFullScan) || !refused && (err != nil || strings.Count(rows, "\n") != 59) {
				t.Errorf("at most %d hops, %s: %v\n%s", most, q, err, rows)
			}
		}
	}
}

// Keys that are no rows are gone past, however many there are where a look begins, and with or without an end behind them.
func TestHopsPastForeignKeys(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) FAMILY f () ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	w.Fill("m", 2000, Hosts(2)) // h0000 and h0001
	w.Do("INSERT INTO m VALUES ('a', 1000000, -1), ('z', 1000000, -2)")
	var foreign []hbase.Mutation
	for _, before := range []string{"b", "h0000-", "h0002-"} {
		for i := range 300 {
			foreign = append(foreign, hbase.Mutation{Kind: hbase.Put, Timestamp: 1, Key: fmt.Appendf(nil, "%s%03d", before, i), Cells: []hbase.Cell{{Family: []byte("f"), Qualifier: []byte("v")}}})
		}
	}
	if err := c.Mutate(t.Context(), "m", foreign); err != nil {
		t.Fatal(err)
	}
	short := scan.DefaultTuning()
	short.HopRows, short.HopPays, short.HopLongest = 10, 10, 40 // to go past them takes several of the longest looks, which is no reason to give up
	guarded := Of(t, New(c, w.Catalog(), Config{FullScan: DenyFullScan, Tuning: short}))
	for where, want := range map[string]string{
		"ts < 1000002":                                                "-1|-2|0|1|2|3",
		"ts < 1000002 AND host < 'h0002'":                             "-1|0|1|2|3",
		"ts < 1000002 AND host > 'a'":                                 "-2|0|1|2|3",
		"ts < 1000002 AND host < 'h0000-200'":                         "-1|0|2",
		"ts < 1000002 AND host > 'h0000-200'":                         "-2|1|3",
		"ts < 1000002 AND host BETWEEN 'h0002-' AND 'h0002-1'":        "",
		"ts < 1000002 AND host > 'h0000-200' AND host < 'h0002-2'":    "1|3",
		"ts IN (1000000, 1000001) AND host NOT IN ('h0000', 'h0001')": "-1|-2",
	} {
		for _, order := range []string{"", " ORDER BY host, ts", " ORDER BY host DESC, ts DESC"} {
			sql := "SELECT v FROM m WHERE " + where + order
			for _, w := range []*World{w, guarded} {
				rows := strings.Split(w.Do(sql), "\n")
				slices.Sort(rows)
				if got := strings.Join(rows, "|"); got != want {
					t.Errorf("%s: %s, want %s\n%s", sql, got, want, w.Do("EXPLAIN "+sql))
				}
			}
		}
	}
}

// Hops over a table that is gone are an error, as other reads of it are, and not the end of the rows.
func TestHopsOverNoTable(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE m (host STRING, ts BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64); INSERT INTO m VALUES ('h', 5)")
	queries := []string{"SELECT ts FROM m WHERE ts >= 5 AND ts < 7", "SELECT max(ts) FROM m GROUP BY host"}
	for _, sql := range queries {
		w.Expect("5", sql)
	}
	if err := c.DropTable(t.Context(), "m", nil); err != nil {
		t.Fatal(err)
	}
	for _, sql := range queries {
		w.Refused("no such HBase table", sql)
	}
}

// keyFilterQueries bind a part of the key behind one that is hopped over in vain, or cannot be: the servers compare it, and send what fits besides
// the keys of a few looks.
var keyFilterQueries = []struct {
	sql  string
	rows int
}{
	{"SELECT * FROM m WHERE ts BETWEEN 1000100 AND 1000119", 20},
	{"SELECT * FROM m WHERE ts BETWEEN 1000100 AND 1000119 ORDER BY host DESC, ts DESC", 20},
	{"SELECT * FROM m WHERE ts = 1000100", 1},
	{"SELECT * FROM fixed WHERE ts BETWEEN 1000100 AND 1000119", 20},
	{"SELECT * FROM fixed WHERE ts > 1019980", 19},
	{"SELECT * FROM hashed WHERE ts BETWEEN 1000100 AND 1000119", 20},
	{"SELECT * FROM hashed WHERE ts >= 1019980 OR ts < 1000010", 30},
	{"SELECT * FROM hashed WHERE host LIKE 'h1234%'", 10},
}

func fillKeyFilters(w *World) {
	w.Do("DROP TABLE IF EXISTS m; DROP TABLE IF EXISTS fixed; DROP TABLE IF EXISTS hashed")
	w.Do("CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) STORED IN 'kf_m' ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	w.Do("CREATE TABLE fixed (host STRING, ts BIGINT, v BIGINT) STORED IN 'kf_fixed' ROW KEY (host AS TEXT(8), ts AS INT64)")
	w.Do("CREATE TABLE hashed (host STRING, ts BIGINT, v BIGINT) STORED IN 'kf_hashed' ROW KEY (LEFT(MD5(host), 8), host AS TEXT(6), ts AS INT64)")
	for _, table := range []string{"m", "fixed", "hashed"} {
		w.Fill(table, 20_000, func(i int) string { return fmt.Sprintf("('h%05d', %d, %d)", i, 1_000_000+i, i) })
	}
}

func checkKeyFilters(t *testing.T, w *World) {
	for _, q := range keyFilterQueries {
		if n, s := w.Read(q.sql); n != q.rows || s.RowsRead > 9000 {
			t.Errorf("%s: %d rows of %d read\n%s", q.sql, n, s.RowsRead, w.Do("EXPLAIN "+q.sql))
		}
	}
	w.Do("ANALYZE m; ANALYZE fixed; ANALYZE hashed; SET max_scan_rows = 9000")
	for _, q := range keyFilterQueries {
		if n, s := w.Read(q.sql); n != q.rows || s.RowsRead > 9000 {
			t.Errorf("with statistics, %s: %d rows of %d read\n%s", q.sql, n, s.RowsRead, w.Do("EXPLAIN "+q.sql))
		}
	}
}

func TestKeyFilters(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	fillKeyFilters(w)
	checkKeyFilters(t, w)
}

func testKeyFiltersHBase(t *testing.T) {
	race.Skip(t)
	w := NewWorld(t, DialHBase(t), Config{FullScan: AllowFullScan, Alone: true})
	fillKeyFilters(w)
	defer w.Do("DROP TABLE m; DROP TABLE fixed; DROP TABLE hashed")
	checkKeyFilters(t, w)
}
