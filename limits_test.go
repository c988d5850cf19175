package hql_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hql-db/hql"
)

// large reports whether the limits are to be tested at their full size.
func large() bool { return os.Getenv("HQL_LARGE") == "1" }

// size is n, or a tenth of it where the limits are only to be tried.
func size(n int) int {
	if large() {
		return n
	}
	return n / 10
}

func count(t *testing.T, db *hql.DB, sql string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%.100s: %v", sql, err)
	}
	return n
}

func expect(t *testing.T, db *hql.DB, want int, sql string, args ...any) {
	t.Helper()
	if n := count(t, db, sql, args...); n != want {
		t.Errorf("%.100s: %d, want %d", sql, n, want)
	}
}

// fill inserts n rows whose values value makes, a thousand a statement.
func fill(t *testing.T, db *hql.DB, table string, n int, value func(i int) string) {
	t.Helper()
	for from := 0; from < n; from += 1000 {
		var vs []string
		for i := from; i < min(n, from+1000); i++ {
			vs = append(vs, value(i))
		}
		exec(t, db, "INSERT INTO "+table+" VALUES "+strings.Join(vs, ","))
	}
}

func TestRowOfManyColumns(t *testing.T) {
	n := size(100_000)
	db := open(t, "mem:", hql.WithFullScan(hql.FullScanAllow))
	exec(t, db, "CREATE TABLE wide (user STRING, id BIGINT, v STRING FROM f:[id AS UINT64]) ROW KEY (user AS TEXT(8))")
	fill(t, db, "wide", n, func(i int) string { return fmt.Sprintf("('u', %d, 'v%d')", i, i) })
	expect(t, db, n, "SELECT count(*) FROM wide WHERE user = 'u'")
	expect(t, db, n, "SELECT count(DISTINCT v) FROM wide")
	expect(t, db, n-1, "SELECT max(id) FROM wide WHERE user = 'u' AND v LIKE 'v%'")
}

func TestLargeCell(t *testing.T) {
	db := open(t, "mem:")
	exec(t, db, "CREATE TABLE blobs (id STRING, v STRING) ROW KEY (id AS TEXT)")
	const most = 10<<20 - len("k") - len("f") - len("v") - 24 // a cell is at most 10 MiB with its names, timestamp and lengths
	exec(t, db, "INSERT INTO blobs VALUES ('k', ?)", strings.Repeat("x", most))
	expect(t, db, most, "SELECT length(v) FROM blobs WHERE id = 'k'")
	expect(t, db, 1, "SELECT count(*) FROM blobs WHERE id >= 'a' AND v LIKE 'xx%'")
	_, err := db.Exec(t.Context(), "INSERT INTO blobs VALUES ('k', ?)", strings.Repeat("x", most+1))
	if err == nil || !strings.Contains(err.Error(), "cell f:v is larger than 10 MiB") {
		t.Errorf("a cell above the limit: %.200v", err)
	}
	_, err = db.Exec(t.Context(), "INSERT INTO blobs VALUES (?, 'v')", strings.Repeat("k", 32768))
	if err == nil || !strings.Contains(err.Error(), "32767") {
		t.Errorf("a key above the limit: %.200v", err)
	}
}

func TestManyRegions(t *testing.T) {
	n := size(1000)
	db := open(t, "mem:", hql.WithFullScan(hql.FullScanAllow))
	exec(t, db, fmt.Sprintf("CREATE TABLE spread (id BIGINT, v STRING) ROW KEY (LEFT(MD5(id), 8), id AS TEXT) SPLIT INTO %d BY HEX", n))
	regions, err := db.Client().Regions(t.Context(), "spread")
	if err != nil || len(regions) != n {
		t.Fatalf("%d regions, %v", len(regions), err)
	}
	rows := 5 * n
	fill(t, db, "spread", rows, func(i int) string { return fmt.Sprintf("(%d, 'v%d')", i, i) })
	expect(t, db, rows, "SELECT count(*) FROM spread")
	expect(t, db, rows-1, "SELECT id FROM spread ORDER BY id DESC LIMIT 1")
	expect(t, db, 3, fmt.Sprintf("SELECT count(*) FROM spread WHERE id IN (0, 7, %d)", rows-1))
}

func TestManySalts(t *testing.T) {
	db := open(t, "mem:", hql.WithFullScan(hql.FullScanAllow))
	exec(t, db, "CREATE TABLE salted (id BIGINT, v STRING) ROW KEY (SALT(0 TO 255) AS UINT8, id AS INT64)")
	rows := size(50_000)
	fill(t, db, "salted", rows, func(i int) string { return fmt.Sprintf("(%d, 'v%d')", i, i) })
	expect(t, db, rows, "SELECT count(*) FROM salted")
	expect(t, db, 1, "SELECT count(*) FROM salted WHERE id = 77")
	got, err := db.Query(t.Context(), "SELECT id FROM salted WHERE id >= 100 AND id < 3100 ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	want := int64(100)
	for r, err := range got.All() {
		if err != nil {
			t.Fatal(err)
		}
		if id := r.Values()[0]; id != want {
			t.Fatalf("id %v, want %d", id, want)
		}
		want++
	}
	if want != 3100 {
		t.Errorf("ended before id %d", want)
	}
}

func TestLongInList(t *testing.T) {
	n := size(100_000)
	db := open(t, "mem:")
	exec(t, db, "CREATE TABLE listed (id BIGINT, v STRING) ROW KEY (id AS TEXT(8))")
	rows := n / 10
	fill(t, db, "listed", rows, func(i int) string { return fmt.Sprintf("(%d, 'v%d')", i*20, i) })
	ids := make([]string, n) // every second number: half of the rows' ids lie among them
	for i := range ids {
		ids[i] = fmt.Sprint(2 * i)
	}
	in := "(" + strings.Join(ids, ",") + ")"
	expect(t, db, rows, "SELECT count(*) FROM listed WHERE id IN "+in)
	expect(t, db, rows-1, "SELECT count(*) FROM listed WHERE id IN "+in+" AND v <> 'v3'")
}
