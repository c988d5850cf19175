package hql_test

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/store"
)

// Many queries at once, some given up half way, on one DB: no goroutine and no scanner stays.
func TestNothingLeaks(t *testing.T) {
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := hql.New(s, s.Admin(), nil, hql.WithWrites(true), hql.WithFullScan(hql.Allow))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec(t, db, "CREATE TABLE t (id BIGINT, n BIGINT) ROW KEY (id % 8 AS UINT8, id AS INT64) SPLIT AT (X'02', X'04', X'06')")
	const stored = 300
	for id := range stored {
		exec(t, db, "INSERT INTO t VALUES (?, ?)", id, id%10)
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
	}
	each := 10
	if large() {
		each = 100
	}
	before := goleak.IgnoreCurrent()
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range each {
				q := queries[(i+j)%len(queries)]
				rows, err := db.Query(t.Context(), q.sql)
				if err != nil {
					t.Errorf("%s: %v", q.sql, err)
					return
				}
				n := 0
				for n < q.rows && rows.Next() {
					n++
				}
				if err := rows.Close(); err != nil || rows.Err() != nil || n != q.want {
					t.Errorf("%s: %d rows, want %d; %v, %v", q.sql, n, q.want, rows.Err(), err)
				}
			}
		}()
	}
	wg.Wait()
	for end := time.Now().Add(10 * time.Second); s.OpenScanners() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d scanners stay", s.OpenScanners())
		}
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}
