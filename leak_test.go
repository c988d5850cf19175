package hql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"go.uber.org/goleak"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/store"
)

// gohbaseClient and gohbaseAdmin make clients for hql.New, which calls only SendRPC, of the store.
type (
	gohbaseClient struct {
		gohbase.Client
		gohbase.RPCClient
	}
	gohbaseAdmin struct {
		gohbase.AdminClient
		gohbase.RPCClient
	}
)

// Many queries at once, some given up half way and some cancelled, on one DB: no goroutine and no scanner stays.
func TestNothingLeaks(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		s, err := store.Open(store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		db, err := hql.New(gohbaseClient{RPCClient: s}, gohbaseAdmin{RPCClient: s}, nil, hql.WithWrites(true), hql.WithFullScan(hql.FullScanAllow))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		checkNothingLeaks(t, db, func() (open, expired int) { return s.OpenScanners(), 0 })
	})
	t.Run("hbase", func(t *testing.T) {
		db, err := hql.Open(t.Context(), "hbase://"+hbasetest.Quorum(t)+"/hbase", hql.WithWrites(true), hql.WithFullScan(hql.FullScanAllow))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		checkNothingLeaks(t, db, func() (open, expired int) { return hbasetest.Scanners(t) })
	})
}

// checkNothingLeaks runs queries on db, whose servers count their scanners.
func checkNothingLeaks(t *testing.T, db *hql.DB, scanners func() (open, expired int)) {
	exec(t, db, "CREATE TABLE t (id BIGINT, n BIGINT) ROW KEY (id % 8 AS UINT8, id AS INT64) SPLIT AT (X'02', X'04', X'06')")
	const stored = 300
	for id := range stored {
		exec(t, db, "INSERT INTO t VALUES (?, ?)", id, id%10)
	}
	exec(t, db, "CREATE TABLE big (id INT, pad STRING) ROW KEY (id AS INT32)")
	for id := range 80 {
		exec(t, db, "INSERT INTO big VALUES (?, ?)", id, strings.Repeat("x", 100_000)) // many answers of 2 MiB
	}
	queries := []struct {
		sql  string
		rows int // read before the query is closed
		want int
	}{
		{"SELECT n FROM t WHERE id = 77", 9, 1},
		{"SELECT n FROM t WHERE id IN (1, 2, 3, 4000)", 9, 3},
		{"SELECT id FROM t ORDER BY id LIMIT 50", 99, 50},
		{"SELECT id FROM t WHERE id >= 100 ORDER BY id DESC", 3, 3},
		{"SELECT id FROM t", 1, 1},
		{"SELECT n, count(*) FROM t GROUP BY n", 99, 10},
		{"SELECT a.id FROM t a JOIN t b ON a.id = b.n WHERE b.id < 20", 99, 20},
		{"SELECT id FROM t ORDER BY n, id", 5, 5},
		{"SELECT pad FROM big", 1, 1},
	}
	each := 10
	if large() {
		each = 100
	}
	none := func() bool { open, _ := scanners(); return open == 0 }
	await(t, "the end of the server's own scanners", none)
	_, known := scanners() // the leases that ended in the tests of other packages, on the same HBase
	half, err := db.Query(t.Context(), "SELECT pad FROM big")
	if err != nil || !half.Next() {
		t.Fatal(err)
	}
	await(t, "the scanner of an open query", func() bool { open, _ := scanners(); return open > 0 })
	if err := half.Close(); err != nil {
		t.Fatal(err)
	}
	before := goleak.IgnoreCurrent()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range each {
				q := queries[(i+j)%len(queries)]
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				rows, err := db.Query(ctx, q.sql)
				if err != nil {
					t.Errorf("%s: %v", q.sql, err)
					return
				}
				cancelled := j%3 == 2
				n := 0
				for n < q.rows && rows.Next() {
					n++
					if cancelled {
						cancel()
					}
				}
				err = errors.Join(rows.Close(), rows.Err())
				if cancelled && n <= q.want && (err == nil || errors.Is(err, context.Canceled)) {
					continue
				}
				if err != nil || n != q.want {
					t.Errorf("%s: %d rows, want %d; %v", q.sql, n, q.want, err)
				}
			}
		}()
	}
	wg.Wait()
	await(t, "the end of all scanners", none)
	if _, expired := scanners(); expired > known {
		t.Errorf("%d scanners were left open", expired-known)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

// After Close nothing of a DB runs, though Rows were left open and others are being read: their readers are told.
func TestCloseEndsAll(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		checkClose(t, func() *hql.DB {
			db, err := hql.Open(t.Context(), "mem:", hql.WithFullScan(hql.FullScanAllow))
			if err != nil {
				t.Fatal(err)
			}
			return db
		})
	})
	t.Run("hbase", func(t *testing.T) {
		address := "hbase://" + hbasetest.Quorum(t) + "/hbase"
		checkClose(t, func() *hql.DB {
			db, err := hql.Open(t.Context(), address, hql.WithWrites(true), hql.WithFullScan(hql.FullScanAllow))
			if err != nil {
				t.Fatal(err)
			}
			return db
		})
	})
}

func checkClose(t *testing.T, open func() *hql.DB) {
	before := goleak.IgnoreCurrent()
	db := open()
	exec(t, db, "CREATE TABLE open_rows (id INT, pad STRING) ROW KEY (id % 4 AS UINT8, id AS INT32) SPLIT AT (X'01', X'02', X'03')")
	drop := open() // the table goes when db is closed
	defer func() {
		exec(t, drop, "DROP TABLE IF EXISTS open_rows")
		drop.Close()
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	}()
	for i := range 20 {
		var values []string
		for id := range 20 {
			values = append(values, fmt.Sprintf("(%d, repeat('x', 20000))", 20*i+id))
		}
		exec(t, db, "INSERT INTO open_rows VALUES "+strings.Join(values, ", "))
	}
	queries := []string{"SELECT id, pad FROM open_rows", "SELECT id, pad FROM open_rows ORDER BY id", "SELECT id, pad FROM open_rows ORDER BY id LIMIT 399",
		"SELECT a.id, b.pad FROM open_rows a JOIN open_rows b ON a.id = b.id", "SELECT id FROM open_rows WHERE id = 7", "SHOW TABLES"}
	var left []*hql.Rows
	for i := range 48 {
		rows, err := db.Query(t.Context(), queries[i%len(queries)])
		if err != nil {
			t.Fatal(err)
		}
		if i%4 > 0 && !rows.Next() {
			t.Fatalf("%s: %v", queries[i%len(queries)], rows.Err())
		}
		left = append(left, rows)
	}
	var busy sync.WaitGroup
	reading := make(chan struct{}, 8)
	for i := range cap(reading) {
		busy.Go(func() {
			for n := 0; ; n++ {
				rows, err := db.Query(t.Context(), queries[i%len(queries)])
				if err != nil {
					if !errors.Is(err, hql.ErrClosed) {
						t.Errorf("a query while the DB is closed: %v", err)
					}
					return
				}
				if n == 0 {
					reading <- struct{}{}
				}
				for rows.Next() {
				}
				if err := rows.Err(); err != nil && !errors.Is(err, hql.ErrClosed) {
					t.Errorf("%s, read while the DB is closed: %v", queries[i%len(queries)], err)
					return
				}
			}
		})
	}
	for range cap(reading) {
		<-reading
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	busy.Wait()
	for i, rows := range left {
		for rows.Next() {
		}
		if err := rows.Err(); !errors.Is(err, hql.ErrClosed) {
			t.Errorf("%s, left open: %v", queries[i%len(queries)], err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := db.Query(t.Context(), queries[0]); !errors.Is(err, hql.ErrClosed) {
		t.Errorf("a query after Close: %v", err)
	}
}

// await waits for what is to become true. It is more than the lease of a scanner, which the server counts when it runs out.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(75 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no sign of %s", what)
		}
	}
}
