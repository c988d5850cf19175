package pgwire_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/pgwire"
)

// On a real HBase: a table is made, filled by COPY, read by cursor and COPY; what is cancelled leaves no scanner open.
func TestHBase(t *testing.T) {
	ctx := context.Background()
	db, err := hql.Open(ctx, "hbase://"+hbasetest.Quorum(t)+"/hbase", hql.WithWrites(true), hql.WithoutFiles())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	srv, addr := serve(t, db, pgwire.Options{Write: true})
	c := connect(t, addr, "")
	run := func(sql string) {
		t.Helper()
		if _, err := c.Exec(ctx, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run("CREATE TABLE IF NOT EXISTS served (id BIGINT, pad STRING) ROW KEY (id % 4 AS UINT8, id AS INT64) SPLIT AT (X'01', X'02', X'03')")
	defer run("DROP TABLE served")
	var rows bytes.Buffer
	const n = 3000
	for id := range n {
		fmt.Fprintf(&rows, "%d\t%01000d\n", id, id)
	}
	if tag, err := c.PgConn().CopyFrom(ctx, bytes.NewReader(rows.Bytes()), "COPY served FROM STDIN"); err != nil || tag.RowsAffected() != n {
		t.Fatalf("%v %v", tag, err)
	}
	var out bytes.Buffer
	if tag, err := c.PgConn().CopyTo(ctx, &out, "COPY (SELECT * FROM served ORDER BY id ALLOW FULL SCAN) TO STDOUT"); err != nil || tag.RowsAffected() != n {
		t.Fatalf("%v %v", tag, err)
	}
	if out.String() != rows.String() {
		t.Error("COPY gave other rows than it took")
	}
	if _, err := c.Exec(ctx, "SELECT * FROM served"); stateOf(err) != "54000" {
		t.Errorf("a full scan: %v", err)
	}
	var pad string
	if err := c.QueryRow(ctx, "SELECT pad FROM served WHERE id = $1", 77).Scan(&pad); err != nil || len(pad) != 1000 {
		t.Errorf("%q %v", pad, err)
	}
	run("ANALYZE TABLE served")
	var tuples float32
	var live, size int64
	var comment string
	if err := c.QueryRow(ctx, `SELECT c.reltuples, s.n_live_tup, pg_total_relation_size(c.oid), obj_description(c.oid) FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid
		WHERE c.relname = 'served'`).Scan(&tuples, &live, &size, &comment); err != nil || tuples != n || live != n || size < 1 {
		t.Errorf("the catalog says %v tuples, %d live, %d bytes, %q: %v", tuples, live, size, comment, err)
	}
	run("BEGIN")
	run("DECLARE c CURSOR FOR SELECT * FROM served ALLOW FULL SCAN")
	run("FETCH 10 FROM c")
	other := connect(t, addr, "")
	gone, cancel := context.WithCancel(ctx)
	read, err := other.Query(gone, "SELECT a.id FROM served a CROSS JOIN served b CROSS JOIN served d ALLOW FULL SCAN")
	if err != nil || !read.Next() {
		t.Fatal(err)
	}
	cancel()
	read.Close()
	run("ROLLBACK")
	await(t, "the end of all statements and scanners", func() bool {
		open, _ := hbasetest.Scanners(t)
		return open == 0 && !running(srv)
	})
}
