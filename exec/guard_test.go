package exec

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
)

func TestFullScanGuard(t *testing.T) {
	cfg := noPushdown()
	cfg.FullScan = DenyFullScan
	_, c := NewStore(t)
	w := newWorld(t, c, cfg)
	w.Do("CREATE TABLE t (a INT, v INT) ROW KEY (a AS INT32); INSERT INTO t VALUES (1, 1), (2, 2)")
	for _, sql := range []string{"SELECT * FROM t", "SELECT * FROM t WHERE v = 1", "DELETE FROM t", "UPDATE t SET v = 1", "INSERT INTO t SELECT a + 10, v FROM t", "EXPLAIN ANALYZE SELECT * FROM t",
		"SELECT a, (SELECT max(v) FROM t s WHERE s.v > t.v) FROM t LIMIT 1",       // few rows of t, and for each of them all of it
		"SELECT a, (SELECT max(v) FROM t s WHERE s.v > t.v) FROM t WHERE a = 5"} { // even if there are none

		_, _, err := w.Try(sql)
		var full *FullScanError
		if !errors.Is(err, ErrFullScan) || !errors.As(err, &full) || full.Table != "t" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	w.Expect("2", "SELECT COUNT(*) FROM t ALLOW FULL SCAN")
	w.Do("CREATE TABLE x (a INT, v INT) ROW KEY (a AS INT32) INDEX by_v (v AS INT32, a AS INT32); INSERT INTO x VALUES (1, 1)")
	for _, sql := range []string{"CHECK TABLE x", "CHECK TABLE x REPAIR", "ANALYZE TABLE x"} { // they say that they read all
		w.Do(sql)
	}
	w.Expect("1|1", "SELECT * FROM t LIMIT 1")
	w.Expect("1", "SELECT (SELECT v FROM t s WHERE s.a = t.a) FROM t LIMIT 1")
	w.Do("SET full_scan = 'warn'")
	_, warnings, err := w.Try("SELECT * FROM t")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "full scan of t") {
		t.Errorf("warn: %v %q", err, warnings)
	}
	w.Expect("warn", "SHOW full_scan")
}

// boundedReads are statements over 20,000 rows of g, and as many of salted s, with how many rows each reads at most where full scans are
// refused; -1: it is refused.
var boundedReads = []struct {
	sql  string
	most int64
}{
	{"SELECT * FROM g LIMIT 10", 10},
	{"SELECT * FROM g LIMIT 5 OFFSET 7", 12},
	{"SELECT * FROM g LIMIT 10000", 10_000},
	{"SELECT * FROM g LIMIT 10001", -1},
	{"SELECT * FROM g LIMIT 1000000000", -1},
	{"SELECT * FROM g LIMIT 1 OFFSET 19999", -1},
	{"SELECT * FROM g OFFSET 5", -1},
	{"SELECT * FROM g LIMIT ALL", -1},
	{"SELECT * FROM g ORDER BY k LIMIT 2", 2},
	{"SELECT * FROM g ORDER BY k DESC LIMIT 1", 1},
	{"SELECT * FROM g ORDER BY k DESC FETCH FIRST 3 ROWS ONLY", 3},
	{"SELECT * FROM g ORDER BY v LIMIT 2", -1},
	{"SELECT * FROM g WHERE 1 = 1 LIMIT 1", 1},
	{"SELECT * FROM g WHERE TRUE LIMIT 1", 1},
	{"SELECT * FROM g WHERE 1 = 0", 0},
	{"SELECT * FROM g WHERE v = 3 LIMIT 1", -1},
	{"SELECT * FROM g WHERE v + 0 >= 0 LIMIT 1", -1},
	{"SELECT v + 1 AS w FROM g LIMIT 3", 3},
	{"SELECT * FROM (SELECT * FROM g) q LIMIT 4", 4},
	{"SELECT * FROM (SELECT * FROM g LIMIT 4) q WHERE v = -1", 4},
	{"WITH q AS (SELECT k FROM g) SELECT * FROM q LIMIT 4", 4},
	{"SELECT * FROM gv LIMIT 4", 4},
	{"SELECT * FROM gv ORDER BY k LIMIT 4", 4},
	{"(SELECT k FROM g LIMIT 4) UNION ALL (SELECT k FROM g ORDER BY k DESC LIMIT 4)", 8},
	{"(SELECT k FROM g LIMIT 6000) UNION ALL (SELECT k FROM g LIMIT 6000)", -1},
	{"SELECT k FROM g INTERSECT SELECT k FROM g LIMIT 1", -1},
	{"SELECT DISTINCT v FROM g LIMIT 1", -1},
	{"SELECT DISTINCT v, k FROM g LIMIT 3", 3},
	{"SELECT DISTINCT k FROM g ORDER BY k DESC LIMIT 3", 3},
	{"SELECT DISTINCT _key, v + 1 FROM g LIMIT 3", 3},
	{"SELECT DISTINCT ON (k) k, v FROM g ORDER BY k LIMIT 3", 3},
	{"SELECT DISTINCT k + 1 FROM g LIMIT 3", -1},
	{"SELECT DISTINCT k FROM s LIMIT 3", 3},
	{"SELECT * FROM g ORDER BY _key LIMIT 2", 2},
	{"SELECT * FROM s ORDER BY _key DESC, v LIMIT 2", 2},
	{"SELECT * FROM g WHERE k = 17 OR _key = X'0000000000000005'", 2},
	{"SELECT * FROM g WHERE _key IN (X'0000000000000005', X'0000000000000006') AND v = 5 OR k = 17 AND v = 17", 3},
	{"SELECT * FROM g WHERE _key >= X'0000000000004E1E' OR k < 2 AND k >= 0", 4},
	{"SELECT * FROM g WHERE _key = X'0000000000000005' OR v = 17", -1},
	{"DELETE FROM g WHERE k = -1 OR _key = X'FFFFFFFFFFFFFFFE'", 0},
	{"SELECT count(*) FROM g LIMIT 1", -1},
	{"SELECT count(*) FROM (SELECT * FROM g LIMIT 100) q", 100},
	{"SELECT min(k) FROM g", 1},
	{"SELECT min(k), max(k) FROM g", 2},
	{"SELECT max(k) FROM g WHERE v = 3", -1},
	{"SELECT max(v) FROM g", -1},
	{"SELECT * FROM g WHERE k = (SELECT max(k) FROM g)", 2},
	{"SELECT * FROM g WHERE k = 17 AND EXISTS (SELECT 1 FROM g)", 2},
	{"SELECT * FROM g WHERE k = 17 AND v > (SELECT avg(v) FROM g)", -1},
	{"SELECT * FROM g a JOIN g b ON a.v = b.v LIMIT 1", -1},
	{"SELECT * FROM (SELECT k FROM g LIMIT 3) a JOIN g b ON a.k = b.k", 6},
	{"SELECT a.k FROM (SELECT k FROM g LIMIT 3) a JOIN g b ON a.k = b.v", -1},
	{"SELECT * FROM s ORDER BY k LIMIT 2", 2 + 4*2},
	{"SELECT * FROM s ORDER BY k DESC LIMIT 1", 1 + 4},
	{"SELECT max(k) FROM s", 1 + 4},
	{"INSERT INTO copied SELECT * FROM g LIMIT 10", 10},
	{"INSERT INTO copied SELECT * FROM g", -1},
	{"CREATE TABLE made AS SELECT * FROM g", -1},
	{"UPDATE g SET v = 1", -1},
	{"UPDATE g SET v = 1 WHERE 1 = 1", -1},
	{"UPDATE g SET v = q.v FROM (SELECT * FROM g) q WHERE q.v = g.k", -1},
	{"DELETE FROM g WHERE v = -1", -1},
	{"COPY g TO 'FILE'", -1},
	{"COPY g (k) TO 'FILE'", -1},
	{"COPY (SELECT * FROM g) TO 'FILE'", -1},
	{"COPY (SELECT * FROM g LIMIT 10) TO 'FILE'", 10},
	{"COPY g TO 'FILE' WITH (FORMAT = 'csv') ALLOW FULL SCAN", 20_000},
	{"COPY (SELECT * FROM g) TO 'FILE' ALLOW FULL SCAN", 20_000},
	{"COPY (SELECT * FROM g ALLOW FULL SCAN) TO 'FILE'", 20_000},
	{"EXPLAIN ANALYZE SELECT * FROM g LIMIT 10", 10},
	{"EXPLAIN ANALYZE SELECT * FROM g LIMIT 10 OFFSET 10000", -1},
}

// fillBounded makes the tables of boundedReads.
func fillBounded(w *world, hbase string) {
	w.Do("DROP TABLE IF EXISTS g; DROP TABLE IF EXISTS s; DROP TABLE IF EXISTS copied")
	w.Do("CREATE TABLE g (k BIGINT, v BIGINT) STORED IN '" + hbase + "g' ROW KEY (k AS INT64); CREATE OR REPLACE VIEW gv AS SELECT * FROM g")
	w.Do("CREATE TABLE s (k BIGINT, v BIGINT) STORED IN '" + hbase + "s' ROW KEY (k % 4 AS UINT8, k AS INT64); CREATE TABLE copied (k BIGINT, v BIGINT) STORED IN '" + hbase + "copied' ROW KEY (k AS INT64)")
	w.Fill("g", 20_000, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i%100) })
	w.Fill("s", 20_000, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i%100) })
}

// checkBounded runs boundedReads.
func checkBounded(t *testing.T, w *world) {
	for i, q := range boundedReads {
		sql := strings.Replace(q.sql, "FILE", filepath.Join(t.TempDir(), fmt.Sprintf("%d.csv", i)), 1)
		rows, err := w.Run(t.Context(), MustParse(t, sql), Args{})
		for err == nil && rows != nil {
			if _, end := rows.Next(); end != nil {
				break
			}
		}
		if q.most < 0 {
			if !errors.Is(err, ErrFullScan) {
				t.Errorf("%s: %v, want a refusal", q.sql, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", q.sql, err)
			continue
		}
		if read := rows.Stats().RowsRead; read > q.most {
			t.Errorf("%s: %d rows read, want %d at most", q.sql, read, q.most)
		}
		rows.Close()
	}
}

// If full scans are refused, a statement passes if its reads are bounded by its keys or by a small limit in their
// order, in whatever form it is written.
func TestGuardOfBoundedReads(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	fillBounded(w, "")
	w.Do("SET full_scan = 'deny'")
	checkBounded(t, w)
	w.Do("SET full_scan_rows = 1000000")
	w.Do("SELECT * FROM g LIMIT 20001")
	w.Do("SET full_scan_rows = 0")
	w.Refused("this would read 1 row of g without its rowkey, and full_scan_rows allows 0", "SELECT * FROM g LIMIT 1")
	w.Refused("full_scan_rows is a number of rows", "SET full_scan_rows = 'many'")
}

// It is the same on a real HBase.
func testGuardOfBoundedReadsHBase(t *testing.T) {
	race.Skip(t)
	w := newWorld(t, DialHBase(t), Config{FullScan: AllowFullScan, Alone: true})
	fillBounded(w, "guard_")
	defer w.Do("DROP VIEW gv; DROP TABLE g; DROP TABLE s; DROP TABLE copied")
	w.Do("SET full_scan = 'deny'")
	checkBounded(t, w)
}

// A plan that hits the rowkey prefix is never refused as a full scan, and its reads do not grow with the table. Hops
// over values hit it only if the definition or statistics say that the values are few.
func TestHitsPrefix(t *testing.T) {
	race.Skip(t)
	defer func(l ScanLimit) { smallTable = l }(smallTable)
	smallTable = ScanLimit{Rows: 1000, Bytes: 1 << 20}
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: DenyFullScan, Alone: true})
	w.Do("CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY (host AS TEXT, X'00', ts AS INT64)")
	w.Do("CREATE TABLE d (kind TINYINT, ts BIGINT, v BIGINT) ROW KEY (kind AS ORDERED INT8, ts AS INT64)")
	hits := func(sql string) bool {
		t.Helper()
		p, err := w.Plan(t.Context(), MustParse(t, sql), Args{})
		if err != nil {
			t.Fatal(err)
		}
		return p.HitsPrefix()
	}
	queries := []string{"SELECT * FROM m WHERE ts BETWEEN 1000000 AND 1000002", "SELECT DISTINCT host FROM m", "SELECT host, max(ts) FROM m GROUP BY host", "SELECT max(ts) FROM m"}
	fill := func(of func(i int) string, from, to int) {
		w.Fill("m", to-from, func(i int) string { return of(from + i) })
	}
	fill(Hosts(8), 0, 8000)
	for _, sql := range queries {
		if hits(sql) {
			t.Errorf("%s: nothing tells how many hosts there are", sql)
		}
		w.Do(sql) // they turn out to be few
	}
	w.Do("ANALYZE m")
	read := map[string]int64{}
	for i, of := range []func(i int) string{Hosts(8), Hosts(8), Hosts(20_000)} {
		to := []int{16_000, 24_000, 64_000}[i]
		fill(of, 8000*(i+1), to)
		for _, sql := range queries {
			if !hits(sql) {
				t.Errorf("%s: statistics say that there are few hosts", sql)
			}
			rows, err := w.Run(t.Context(), MustParse(t, sql), Args{})
			for err == nil {
				if _, err = rows.Next(); err == io.EOF {
					err = nil
					break
				}
			}
			switch n := rows.Stats().RowsRead; {
			case i < 2 && err != nil, i == 2 && !errors.Is(err, ErrScanLimit), errors.Is(err, ErrFullScan):
				t.Errorf("%d rows, %s: %v", to, sql, err)
			case i > 0 && n > 2*read[sql]+6400:
				t.Errorf("%d rows, %s: %d read, before %d", to, sql, n, read[sql])
			default:
				read[sql] = n
			}
		}
	}
	w.Refused("this hops over more values of host AS TEXT than the statistics of m say there are; ANALYZE m counts them again; or allow a full scan: ALLOW FULL SCAN", queries[1])
	w.Do("ANALYZE m")
	for _, sql := range queries {
		if hits(sql) {
			t.Errorf("%s: there are many hosts", sql)
		}
		if _, _, err := w.Try(sql); !errors.Is(err, ErrFullScan) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	w.Fill("d", 20_000, func(i int) string { return fmt.Sprintf("(%d, %d, 1)", i%100, 1_000_000+i) })
	for sql, want := range map[string]string{"SELECT count(*) FROM (SELECT DISTINCT kind FROM d) q": "100", "SELECT sum(m) FROM (SELECT kind, max(ts) AS m FROM d GROUP BY kind) q": "101994950"} {
		if w.Expect(want, sql); !hits(sql) {
			t.Errorf("%s: a byte has few values", sql)
		}
	}
}

// The statistics that let a scan pass are a budget: if the table has grown since, the read ends with an error that says
// so.
func TestStatisticsAreABudget(t *testing.T) {
	defer func(l ScanLimit) { smallTable = l }(smallTable)
	smallTable = ScanLimit{Rows: 1000, Bytes: 1 << 20}
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: DenyFullScan, Alone: true})
	w.Do("CREATE TABLE m (k BIGINT, v BIGINT) ROW KEY (k AS INT64); CREATE TABLE large (k BIGINT, v STRING) ROW KEY (k AS INT64)")
	w.Fill("m", 10, func(i int) string { return fmt.Sprintf("(%d, 1)", i) })
	w.Fill("large", 10, func(i int) string { return fmt.Sprintf("(%d, 'x')", i) })
	queries := []string{"SELECT count(*) FROM m", "SELECT * FROM m WHERE v = 7", "SELECT max(v) FROM m WHERE v + 0 > 5", "SELECT a.k FROM m a JOIN m b ON a.k = b.v", "DELETE FROM m WHERE v = 7",
		"SELECT sum(length(v)) FROM large", "SELECT (SELECT max(v) FROM m) || 'x'"}
	for _, sql := range queries {
		w.Refused("full_scan = 'allow'", sql)
	}
	w.Do("ANALYZE m; ANALYZE large")
	for _, sql := range queries {
		w.Do(sql)
	}
	cut, err := w.Cut(t.Context(), MustParse(t, "SELECT * FROM m WHERE v = 7").(*parser.Select), Args{})
	if err != nil {
		t.Fatal(err)
	}
	w.Fill("m", 20_000, func(i int) string { return fmt.Sprintf("(%d, 1)", i) })
	w.Fill("large", 100, func(i int) string { return fmt.Sprintf("(%d, '%s')", i, strings.Repeat("x", 50_000)) })
	for _, sql := range queries {
		if _, _, err := w.Try(sql); !errors.Is(err, ErrScanLimit) || errors.Is(err, ErrFullScan) || !strings.Contains(err.Error(), "more than its statistics") {
			t.Errorf("%s: %v", sql, err)
		}
		if _, _, err := w.Try(strings.Replace(sql, ") || 'x'", " ALLOW FULL SCAN) || 'x'", 1) + " ALLOW FULL SCAN"); err != nil && !strings.HasPrefix(sql, "SELECT (") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, p := range cut.Pieces {
		rows, err := w.Run(t.Context(), MustParse(t, "SELECT * FROM m WHERE v = 7"), Args{Piece: &p.Piece})
		for err == nil {
			_, err = rows.Next()
		}
		if !errors.Is(err, ErrScanLimit) {
			t.Errorf("a piece: %v", err)
		}
	}
	w.Do("SET full_scan = 'warn'")
	w.Expect("20000", "SELECT count(*) FROM m")
}
