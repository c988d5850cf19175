package hql_test

import (
	"context"
	"testing"

	"github.com/hql-db/hql"
)

func TestRegions(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `CREATE TABLE t (k STRING, v STRING) ROW KEY (k AS TEXT) SPLIT AT ('b', 'c', 'd');
		INSERT INTO t VALUES ('a1', 'x'), ('a2', 'x'), ('b1', 'x'), ('d1', 'x')`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		where       string
		seen, total int
	}{
		{"", 4, 4},
		{"WHERE k >= 'b' AND k < 'd'", 2, 2},
		{"WHERE k IN ('a1', 'a2', 'd1')", 2, 2},
		{"WHERE k = 'b1'", 1, 1},
		{"WHERE k LIKE 'a%' OR k LIKE 'b%' OR k = 'd7'", 3, 3},
		{"WHERE k > 'c' AND v = 'x'", 2, 2},
	} {
		rows, err := db.Query(ctx, "SELECT k FROM t "+c.where)
		if err != nil {
			t.Fatal(err)
		}
		if done, total, err := rows.Regions(ctx); err != nil || done != 0 || total != c.total {
			t.Errorf("%s: before the first row %d/%d, want 0/%d, %v", c.where, done, total, c.total, err)
		}
		for rows.Next() {
		}
		if done, total, err := rows.Regions(ctx); err != nil || done != c.total || total != c.total || rows.Stats().Regions != int64(c.seen) {
			t.Errorf("%s: at the end %d/%d, want %d; %d answered, want %d; %v", c.where, done, total, c.total, rows.Stats().Regions, c.seen, err)
		}
	}
	// A table that is read several times is asked for once.
	var calls []int64
	for _, q := range []string{"SELECT k FROM t", "SELECT x.k FROM t x JOIN t y ON x.v = y.v"} {
		rows, err := db.Query(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		before := db.Client().Stats().RPCs
		if done, total, err := rows.Regions(ctx); err != nil || done != total || total < 4 {
			t.Errorf("%s: %d/%d, %v", q, done, total, err)
		}
		calls = append(calls, db.Client().Stats().RPCs-before)
	}
	if calls[0] == 0 || calls[1] != calls[0] {
		t.Errorf("the regions of one read take %d calls, of two %d", calls[0], calls[1])
	}
}
