package scan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/hql-db/hql/exec"
)

// A statement that reads more than it may ends with ErrScanLimit, at most a batch of each worker later; one that reads no more does not.
func TestScanLimit(t *testing.T) {
	t.Parallel()
	_, w := newCluster(t, 1, Config{Alone: true, Parallelism: 16}, `CREATE TABLE m (k STRING, v BIGINT FROM f:v, text STRING FROM f:t) ROW KEY (k AS TEXT) INDEX by_v (v AS INT64, k AS TEXT)`)
	w.Fill("m", 20_000, func(i int) string {
		return "('" + strings.Repeat("k", i%3) + pad(i) + "', " + pad(i%100) + ", '" + strings.Repeat("t", 100) + "')"
	})
	for _, q := range []struct {
		set, sql string
		ends     bool
	}{
		{"max_scan_rows = 20000", "SELECT * FROM m", false},
		{"max_scan_rows = 19999", "SELECT * FROM m", true},
		{"max_scan_rows = 100", "SELECT * FROM m LIMIT 100", false},
		{"max_scan_rows = 1", "SELECT * FROM m WHERE k IN ('000000', '000003')", true},
		{"max_scan_rows = 2", "SELECT * FROM m WHERE k IN ('000000', '000003')", false},
		{"max_scan_rows = 300", "SELECT /*+ LAYOUT(by_v) */ * FROM m WHERE v = 7", true}, // entries count as well as the rows that they lead to
		{"max_scan_rows = 400", "SELECT /*+ LAYOUT(by_v) */ * FROM m WHERE v = 7", false},
		{"max_scan_rows = 10", "SELECT count(*) FROM m WHERE v = 7 AND k > '0'", true},
		{"max_scan_rows = 10", "DELETE FROM m WHERE v >= 0", true},
		{"max_scan_rows = 10", "EXPLAIN SELECT * FROM m", false},
		{"max_scan_rows = 10", "EXPLAIN ANALYZE SELECT * FROM m", true},
		{"max_scan_rows = 10", "ANALYZE m", false}, // it has limits of its own
		{"max_scan_bytes = '1MB'", "SELECT * FROM m", true},
		{"max_scan_bytes = '1GB'", "SELECT * FROM m", false},
		{"max_scan_bytes = '1MB'", "SELECT k FROM m ORDER BY k LIMIT 1000", false},
		{"max_scan_bytes = 'none'", "SELECT * FROM m", false},
	} {
		w.Do("SET max_scan_rows = none; SET max_scan_bytes = none; SET " + q.set)
		_, _, err := w.Try(q.sql)
		if errors.Is(err, ErrScanLimit) != q.ends || !q.ends && err != nil {
			t.Errorf("%s, %s: %v", q.set, q.sql, err)
		}
		if q.ends && (err == nil || !strings.Contains(err.Error(), q.set[:strings.IndexByte(q.set, ' ')])) {
			t.Errorf("%s, %s: %v", q.set, q.sql, err)
		}
	}
	w.Do("SET max_scan_bytes = none; SET max_scan_rows = 3000")
	_, _, err := w.Try("SELECT max(text) FROM m")
	var e *ScanLimitError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	const workers, batch = 16, 10_000 // a response of 2 MiB holds fewer
	if e.Read <= 3000 || e.Read > 3000+workers*batch || e.Limit != 3000 {
		t.Errorf("%+v", e)
	}
	if want := "to read less, add k = ... (or a range of it) (layout primary), or add v = ... (or a range of it) (layout by_v); or allow more: SET max_scan_rows, or --max-scan-rows"; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"max_scan_rows = 0", "max_scan_rows = 'few'", "max_scan_rows = -1", "max_scan_bytes = '10 bananas'", "analyze_rows = 0", "analyze_time = '0s'", "analyze_time = soon"} {
		if _, _, err := w.Try("SET " + bad); err == nil {
			t.Errorf("SET %s is taken", bad)
		}
	}
	w.Do("SET analyze_time = '90s'; SET analyze_rows = 11")
	for setting, want := range map[string]string{"max_scan_rows": "3000", "analyze_time": "1m30s", "analyze_rows": "11"} {
		if got := w.Do("SHOW " + setting); !strings.Contains(got, want) {
			t.Errorf("%s is %s", setting, got)
		}
	}
}

// pad is i with six digits.
func pad(i int) string { return fmt.Sprintf("%06d", i) }
