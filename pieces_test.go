package hql_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
)

// inPieces gives the rows of all pieces of a query, sorted, and their columns.
func inPieces(t *testing.T, cutter, worker *hql.DB, sql string, args ...any) ([]string, *hql.Pieces) {
	t.Helper()
	ctx := context.Background()
	cut, err := cutter.Pieces(ctx, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var out []string
	for _, p := range cut.Pieces {
		rows, err := worker.Piece(ctx, p.Text)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		out = append(out, textOf(t, rows)...)
	}
	slices.Sort(out)
	return out, cut
}

func textOf(t *testing.T, rows *hql.Rows) (out []string) {
	t.Helper()
	for row, err := range rows.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(row.Values()))
	}
	return out
}

func spread(t *testing.T) *hql.DB {
	db := open(t, "mem:", hql.WithFullScan(hql.FullScanAllow))
	exec(t, db, "CREATE TABLE m (host STRING, ts TIMESTAMP, v INT, x DECIMAL) ROW KEY (host AS TEXT, '|', ts AS INT64) SPLIT AT ('b', 'c', 'm')")
	for i := range 200 {
		exec(t, db, "INSERT INTO m VALUES (?, ?, ?, ?)", fmt.Sprintf("%c%d", 'a'+i%20, i%3), time.UnixMilli(int64(i)*3_600_000), i%7, fmt.Sprint(float64(i)/4))
	}
	return db
}

// The pieces of a query hold all that it needs: its arguments, its zone, its NOW().
func TestPieces(t *testing.T) {
	db := spread(t)
	for _, q := range []struct {
		sql    string
		args   []any
		pieces int
	}{
		{"SELECT * FROM m", nil, 4},
		{"SELECT host, v FROM m WHERE host IN (?) AND v > ?", []any{[]string{"a0", "c1", "z9"}, 2}, 3},
		{"SELECT host, v FROM m WHERE host IN (@hosts) AND v > @v", []any{hql.NamedArgs{"hosts": []string{"a0", "n1"}, "v": 1}}, 2},
		{"SELECT host, ts::date, v FROM m WHERE ts >= '1970-01-02' AND ts < NOW()", []any{hql.QueryOptions{Location: zone(t, "Asia/Tokyo")}}, 4},
		{"SELECT host, x FROM m WHERE x > ?", []any{"20.5"}, 4},
		{"SELECT host FROM m WHERE host LIKE 'b%'", nil, 1},
		{"SELECT host, 'no UTF-8: \xa9' FROM m", nil, 4},
		{"SELECT host FROM m WHERE host = 'a' AND host = 'b'", nil, 1},
	} {
		rows, err := db.Query(context.Background(), q.sql, q.args...)
		if err != nil {
			t.Fatal(err)
		}
		want := textOf(t, rows)
		slices.Sort(want)
		got, cut := inPieces(t, db, db, q.sql, q.args...)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", q.sql, got, want)
		}
		if len(cut.Pieces) != q.pieces {
			t.Errorf("%s: %d pieces, want %d", q.sql, len(cut.Pieces), q.pieces)
		}
	}
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	clock := open(t, "mem:", hql.WithClock(func() time.Time { return now }))
	exec(t, clock, "CREATE TABLE k (a INT PRIMARY KEY); INSERT INTO k VALUES (1)")
	cut, err := clock.Pieces(context.Background(), "SELECT NOW() FROM k", hql.QueryOptions{AllowFullScan: true})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	rows, err := clock.Piece(context.Background(), cut.Pieces[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, rows); fmt.Sprint(got) != "[[2026-03-04 05:06:07 +0000 UTC]]" {
		t.Errorf("NOW() of a piece is %s", got)
	}
}

func zone(t *testing.T, name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// The columns of the pieces of a query that groups say how they merge.
func TestPiecesOfGroups(t *testing.T) {
	db := spread(t)
	rows, cut := inPieces(t, db, db, "SELECT ts, avg(x) AS mean, count(*), max(v) FROM m WHERE host < 'e' GROUP BY v % 2, host, ts")
	var cols []string
	for _, c := range cut.Columns {
		cols = append(cols, fmt.Sprintf("%s %s %s of %d %s %s %v", c.Name, c.Type, c.Partial.Merge, c.Partial.Result, c.Partial.Name, c.Partial.Type, c.Partial.Count))
	}
	want := []string{"ts TIMESTAMP group of 0 ts TIMESTAMP false", "mean_sum DECIMAL sum of 1 mean DECIMAL false", "mean_count BIGINT sum of 1 mean DECIMAL true",
		"count BIGINT sum of 2 count BIGINT false", "max INT max of 3 max INT false", "group BIGINT group of -1  NULL false", "host STRING group of -1  NULL false"}
	if !slices.Equal(cols, want) {
		t.Errorf("columns\n%s\nwant\n%s", strings.Join(cols, "\n"), strings.Join(want, "\n"))
	}
	if len(rows) == 0 {
		t.Error("no groups")
	}
	none, cut := inPieces(t, db, db, "SELECT count(*) FROM m WHERE host = 'zz'")
	if len(cut.Pieces) != 1 || !slices.Equal(none, []string{"[0]"}) {
		t.Errorf("the count of no rows is %s in %d pieces", none, len(cut.Pieces))
	}
}

// Regions that split between the cut and the run lose and double nothing; definitions that change make a piece fail.
func TestPiecesLater(t *testing.T) {
	ctx := context.Background()
	db := spread(t)
	cut, err := db.Pieces(ctx, "SELECT host FROM m WHERE v = 3")
	if err != nil {
		t.Fatal(err)
	}
	piece := cut.Pieces[1].Text
	for name, text := range map[string]string{"": "", "half": piece[:len(piece)/2], "short": piece[:len(piece)-1], "longer": piece + "A",
		"changed": strings.Replace(piece, piece[40:44], "AbCd", 1), "no piece": "SELECT 1", "two": piece + "\n" + piece} {
		if _, err := db.Piece(ctx, text); err == nil || err.Error() != "this is not a piece of a statement, or the piece is cut short: pass on its text unchanged" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := db.Piece(ctx, "hql9"+piece[4:]); err == nil || !strings.Contains(err.Error(), "of version 9") {
		t.Errorf("another version: %v", err)
	}
	rows, err := db.Piece(ctx, piece+"\n")
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	other := open(t, "mem:")
	if _, err := other.Piece(ctx, piece); !errors.Is(err, hql.ErrPieceChanged) || !errors.Is(err, hql.ErrUnknownTable) {
		t.Errorf("on another store: %v", err)
	}
	exec(t, db, "CREATE VIEW threes AS SELECT host, v FROM m WHERE v = 3; CREATE VIEW of_threes AS SELECT host FROM threes")
	cut, err = db.Pieces(ctx, "SELECT host FROM of_threes")
	if err != nil {
		t.Fatal(err)
	}
	viewed := cut.Pieces[0].Text
	if rows, err = db.Piece(ctx, viewed); err != nil {
		t.Fatal(err)
	}
	rows.Close()
	exec(t, db, "CREATE OR REPLACE VIEW threes AS SELECT host, v FROM m WHERE v < 3")
	if _, err := db.Piece(ctx, viewed); !errors.Is(err, hql.ErrPieceChanged) {
		t.Errorf("with another view: %v", err)
	}
	exec(t, db, "DROP VIEW of_threes; DROP VIEW threes; DROP TABLE m; CREATE TABLE m (host STRING, v INT) ROW KEY (host AS TEXT)")
	if _, err := db.Piece(ctx, piece); !errors.Is(err, hql.ErrPieceChanged) {
		t.Errorf("with another definition: %v", err)
	}
}

// What a query may do is asked of all of it when it is cut.
func TestPiecesGuard(t *testing.T) {
	ctx := context.Background()
	db := spread(t)
	deny := db.Session()
	exec(t, deny, "SET full_scan = 'deny'")
	if _, err := deny.Pieces(ctx, "SELECT host FROM m"); !errors.Is(err, hql.ErrFullScan) {
		t.Errorf("full scan: %v", err)
	}
	exec(t, deny, "SET full_scan = 'warn'")
	cut, err := deny.Pieces(ctx, "SELECT host FROM m")
	if err != nil || len(cut.Warnings) != 1 {
		t.Fatalf("full scan: %v, %v", cut, err)
	}
	exec(t, db, "ANALYZE m; SET max_scan_rows = 50")
	var over *hql.ScanLimitError
	if _, err := db.Pieces(ctx, "SELECT * FROM m"); !errors.As(err, &over) || !over.Before {
		t.Errorf("scan limit: %v", err)
	}
	exec(t, db, "SET max_scan_rows = 'none'")
	if cut, err = db.Pieces(ctx, "SELECT * FROM m"); err != nil {
		t.Fatal(err)
	}
	all := int64(0)
	for _, p := range cut.Pieces {
		all += p.Rows
	}
	if all < 190 || all > 200 {
		t.Errorf("the pieces are estimated at %d rows, want 200", all)
	}
	rows, err := db.Piece(ctx, cut.Pieces[0].Text, hql.QueryOptions{ScanLimit: hql.ScanLimit{Rows: 3}})
	if err == nil {
		_, err = hql.CollectRows(rows, hql.RowToMap)
	}
	if !errors.As(err, &over) {
		t.Errorf("scan limit of a piece: %v", err)
	}
	for _, sql := range []string{"INSERT INTO m SELECT * FROM m", "SHOW TABLES", "EXPLAIN SELECT 1"} {
		if _, err := db.Pieces(ctx, sql); !errors.Is(err, hql.ErrUncut) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// The zone of a cut is told by its name: one that others would take for another zone is refused.
func TestPiecesInAZoneOfOnesOwn(t *testing.T) {
	db := spread(t)
	for _, c := range []struct {
		loc *time.Location
		ok  bool
	}{{time.UTC, true}, {time.FixedZone("UTC", 0), true}, {zone(t, "Europe/Berlin"), true}, {time.FixedZone("UTC", 3600), false}, {time.FixedZone("Europe/Berlin", 7200), false}, {time.FixedZone("", 0), false}, {time.FixedZone("Here", 0), false}} {
		_, err := db.Pieces(context.Background(), "SELECT host FROM m", hql.QueryOptions{Location: c.loc})
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "that has a name on other machines") {
			t.Errorf("%s: %v", c.loc, err)
		}
	}
}
