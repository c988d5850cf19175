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
		where string
		seen  int
	}{
		{"", 4},
		{"WHERE k >= 'b' AND k < 'd'", 2},
		{"WHERE k IN ('a1', 'a2', 'd1')", 2},
		{"WHERE k = 'b1'", 1},
		{"WHERE k LIKE 'a%' OR k LIKE 'b%' OR k = 'd7'", 3},
		{"WHERE k > 'c' AND v = 'x'", 2},
	} {
		rows, err := db.Query(ctx, "SELECT k FROM t "+c.where)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		if n := rows.Stats().Regions; rows.Err() != nil || n != int64(c.seen) {
			t.Errorf("%s: %d regions answered, want %d; %v", c.where, n, c.seen, rows.Err())
		}
	}
}
