package exec

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
)

// What spans several batches of rows: what is skipped, and answers to sub-queries that are kept from one to the next.
func TestSeveralBatches(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id BIGINT, s STRING) ROW KEY (id AS INT64); CREATE TABLE one (id INT PRIMARY KEY); INSERT INTO one VALUES (1)")
	w.Fill("t", 4000, func(i int) string { return fmt.Sprintf("(%d, 'text of %d')", i, i%3) })
	w.Expect("3500\n3501", "SELECT id FROM t LIMIT 2 OFFSET 3500")
	w.Expect("399\n398", "SELECT id FROM t WHERE s LIKE 'text%' ORDER BY id DESC LIMIT 2 OFFSET 3600")
	w.Expect("3500\n3501", "SELECT q.id FROM (SELECT id, s FROM t ORDER BY id LIMIT 3900) q JOIN one ON q.id > one.id - 2 LIMIT 2 OFFSET 3500")
	w.Expect("0", "SELECT count(*) FROM t WHERE s <> (SELECT t.s FROM one WHERE one.id = 1)")
	w.Expect("3|text of 0|text of 2", "SELECT count(DISTINCT q), min(q), max(q) FROM (SELECT (SELECT CONCAT(t.s, '') FROM one) AS q FROM t) z")
}

// What needs few rows reads few.
func TestFewRowsRead(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: DenyFullScan})
	w.Do("CREATE TABLE m (host STRING, ts BIGINT, v INT) ROW KEY (ts % 4 AS UINT8, host AS TEXT, X'00', ts AS ORDERED INT64)")
	w.Do("CREATE TABLE h (host STRING, ts BIGINT, v INT, PRIMARY KEY (host, ts))")
	var b strings.Builder
	for i := range 8000 {
		sep := ", "
		if i%1000 == 0 {
			b.Reset()
			sep = "VALUES "
		}
		fmt.Fprintf(&b, "%s('h%d', %d, %d)", sep, i%8, i, i)
		if i%1000 == 999 {
			w.Do("INSERT INTO m " + b.String())
			w.Do("INSERT INTO h " + b.String())
		}
	}
	for _, q := range []struct {
		sql, want string
		most      int64
	}{
		{"SELECT min(host), max(host) FROM h", "h0 h7", 200},
		{"SELECT max(ts) FROM h WHERE host = 'h3'", "7995", 1},
		{"SELECT max(ts), min(ts) FROM m WHERE host = 'h3'", "7995 3", 2 * 4},
		{"SELECT DISTINCT host FROM h ORDER BY host ALLOW FULL SCAN", "h0\nh1\nh2\nh3\nh4\nh5\nh6\nh7", 8 * 100},
		{"SELECT host FROM h GROUP BY host ORDER BY host ALLOW FULL SCAN", "h0\nh1\nh2\nh3\nh4\nh5\nh6\nh7", 8 * 100},
		{"SELECT count(DISTINCT host) FROM h ALLOW FULL SCAN", "8", 8 * 100},
		{"SELECT host, ts FROM m ORDER BY host DESC, ts DESC LIMIT 2 ALLOW FULL SCAN", "h7 7999\nh7 7991", 4 * 4},
		{"SELECT count(*) FROM h ALLOW FULL SCAN", "8000", 8000},
	} {
		rows, stats := w.counted(q.sql)
		if rows != q.want || stats.RowsRead > q.most {
			t.Errorf("%s: %q, %d rows read; want %q and %d\n%s", q.sql, rows, stats.RowsRead, q.want, q.most, w.Do("EXPLAIN "+q.sql))
		}
	}
}

// counted runs a query and tells what it read.
func (w *world) counted(sql string) (string, Stats) {
	w.T.Helper()
	s, err := parser.ParseStatement(sql)
	if err != nil {
		w.T.Fatal(err)
	}
	rows, err := w.Run(w.T.Context(), s, Args{})
	if err != nil {
		w.T.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	var lines []string
	for {
		batch, err := rows.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			w.T.Fatalf("%s: %v", sql, err)
		}
		for _, r := range batch {
			var words []string
			for _, v := range r {
				words = append(words, v.String())
			}
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "\n"), rows.Stats()
}

// What a statement reads of the table it writes is kept within the limit, too, and goes to files.
func TestSpillOfChanges(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, MemoryLimit: 20_000, SpillDir: t.TempDir()})
	const n = 3000
	w.Do("CREATE TABLE t (id BIGINT, a BIGINT, v STRING) ROW KEY main (id AS INT64) STORED IN 't' ROW KEY by_a (a AS INT64, id AS INT64) STORED IN 't_by_a'")
	w.Do("CREATE TABLE other (id BIGINT PRIMARY KEY)")
	w.Do("INSERT INTO other VALUES (1), (2)")
	w.Fill("t", n, func(i int) string { return fmt.Sprintf("(%d, %d, 'value')", i, i) })
	w.Do(fmt.Sprintf("INSERT INTO t SELECT id + %d, a + %d, v FROM t", n, n))
	w.Expect(fmt.Sprintf("%d|%d", 2*n, 2*n-1), "SELECT count(*), max(a) FROM t")
	w.Do("UPDATE t SET a = a + 100000")
	w.Expect(fmt.Sprintf("%d|%d|100000", 2*n, 100000+2*n-1), "SELECT count(*), max(a), min(a) FROM t WHERE a >= 100000")
	w.Do("DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM other WHERE other.id = t.id)")
	w.Expect("1|100001\n2|100002", "SELECT id, a FROM t ORDER BY id")
	w.Fill("t", n, func(i int) string { return fmt.Sprintf("(%d, %d, 'value')", i, i) })
	if _, _, err := w.Try("UPDATE t SET v = (SELECT max(o.v) FROM t o WHERE o.id = t.id)"); !errors.Is(err, ErrMemoryLimit) {
		t.Errorf("rows that must be read together: %v, want the limit", err)
	}
}

// A hash join whose rows go to files loses the order of its left side.
func TestSpillOfOrderedJoin(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, MemoryLimit: 20_000, SpillDir: t.TempDir()})
	w.Do("CREATE TABLE a (k INT PRIMARY KEY, v INT); CREATE TABLE b (id INT PRIMARY KEY, w INT)")
	for _, table := range []string{"a", "b"} {
		w.Fill(table, 3000, func(i int) string { return fmt.Sprintf("(%d, %d)", i, 2999-i) })
	}
	w.Expect("3|2996\n4|2995", "SELECT a.k, b.id FROM a LEFT JOIN b ON b.w = a.k ORDER BY a.k LIMIT 2 OFFSET 3")
	w.Expect("2999|0\n2998|1", "SELECT a.k, b.id FROM a JOIN b ON b.w = a.k ORDER BY a.k DESC, b.id LIMIT 2")
	w.Expect("0|1\n1|1", "SELECT a.k, count(*) FROM a JOIN b ON b.w = a.k GROUP BY a.k ORDER BY a.k LIMIT 2")
}

// What RETURNING gives is kept in files, too, until it is read.
func TestSpillOfReturning(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, MemoryLimit: 20_000, SpillDir: t.TempDir()})
	w.Do("CREATE TABLE t (id BIGINT PRIMARY KEY, v STRING)")
	lines := strings.Split(w.Do("INSERT INTO t SELECT n, repeat('v', 50) FROM generate_series(1, 3000) AS s (n) RETURNING id, v"), "\n")
	if want := "3000|" + strings.Repeat("v", 50); len(lines) != 3000 || lines[2999] != want {
		t.Errorf("%d rows are given, the last is %s", len(lines), lines[len(lines)-1])
	}
}

// WITH RECURSIVE holds the rows of two steps, not those of all, and with UNION the keys of all.
func TestMemoryOfSteps(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{MemoryLimit: 20_000})
	w.Expect("1000", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 1000) SELECT count(*) FROM r")
	for _, sql := range []string{
		"WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r WHERE n < 1000) SELECT count(*) FROM r",
		"WITH RECURSIVE r AS (SELECT n FROM generate_series(1, 1000) AS n UNION ALL SELECT n FROM r WHERE n < 0) SELECT count(*) FROM r",
	} {
		if _, _, err := w.Try(sql); !errors.Is(err, ErrMemoryLimit) {
			t.Errorf("%s: %v, want the limit", sql, err)
		}
	}
}
