package scan_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
)

// cellCount counts the cells that Gets and scans of wide return.
type cellCount struct {
	hbase.Client
	cells atomic.Int64
}

func (c *cellCount) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	rows, err := c.Client.Get(ctx, table, keys, o)
	c.count(table, rows)
	return rows, err
}

func (c *cellCount) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	sc, err := c.Client.Scan(ctx, r, o)
	return countedCells{sc, c, r.Table}, err
}

func (c *cellCount) count(table string, rows []hbase.Row) {
	for i := range rows {
		if table == "wide" {
			c.cells.Add(int64(len(rows[i].Cells)))
		}
	}
}

type countedCells struct {
	hbase.Scanner
	of    *cellCount
	table string
}

func (s countedCells) Next(ctx context.Context) ([]hbase.Row, error) {
	rows, err := s.Scanner.Next(ctx)
	s.of.count(s.table, rows)
	return rows, err
}

func TestLimitInWideRows(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	checkWideRows(t, c)
}

func testWideRowsHBase(t *testing.T) { checkWideRows(t, DialHBase(t)) }

// A LIMIT that the first cells of a wide row satisfy reads few cells of it. Cells that are no rows do not count.
func checkWideRows(t *testing.T, client hbase.Client) {
	c := &cellCount{Client: client}
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE wide (u STRING, n BIGINT, v INT FROM f:[n AS UINT64]) FAMILY f (VERSIONS = 3) STORED IN 'wide' ROW KEY (u AS TEXT)")
	defer w.Do("DROP TABLE wide")
	w.Do("INSERT INTO wide SELECT u, n, n % 7 FROM unnest(ARRAY['a', 'b', 'c']) u, generate_series(0, 2999) n")
	w.Do("UPDATE wide SET v = v + 1 WHERE n < 7") // two versions
	w.Do("DELETE FROM wide WHERE n BETWEEN 10 AND 19 AND u = 'b'")
	foreign := hbase.Mutation{Kind: hbase.Put, Timestamp: 1, Key: []byte("b")}
	for i := range 200 { // between 1 and 2
		foreign.Cells = append(foreign.Cells, hbase.Cell{Family: []byte("f"), Qualifier: fmt.Appendf([]byte("\x00\x00\x00\x00\x00\x00\x00\x01"), "%03d", i)})
	}
	if err := client.Mutate(t.Context(), "wide", []hbase.Mutation{foreign}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		sql  string
		most int64
		want string
	}{
		{"SELECT n, v FROM wide WHERE u = 'a' ORDER BY n LIMIT 3", 3, "0|1 1|2 2|3"},
		{"SELECT n FROM wide WHERE u = 'a' ORDER BY n LIMIT 2 OFFSET 48", 50, "48 49"},
		{"SELECT count(*) FROM (SELECT v FROM wide WHERE u = 'a' LIMIT 30) x", 30, "30"},
		{"SELECT n FROM wide WHERE u = 'b' ORDER BY n LIMIT 12", 1200, "0 1 2 3 4 5 6 7 8 9 20 21"},
		{"SELECT n FROM wide WHERE u = 'b' AND n BETWEEN 5 AND 900 ORDER BY n LIMIT 6", 100, "5 6 7 8 9 20"},
		{"SELECT n FROM wide WHERE u = 'b' AND v = 6 AND n > 2000 ORDER BY n LIMIT 3", 500, "2001 2008 2015"},
		{"SELECT count(*) FROM (SELECT n FROM wide WHERE u = 'b' AND v = 6 LIMIT 10000) x", 10000, "427"},
		{"SELECT u, n FROM wide WHERE u IN ('a', 'b') ORDER BY u DESC, n LIMIT 2", 10, "b|0 b|1"},
		{"SELECT u, n FROM wide WHERE u >= 'b' ORDER BY u, n LIMIT 2 OFFSET 2989", 10000, "b|2999 c|0"},
		{"SELECT u, n FROM wide WHERE u >= 'a' ORDER BY n, u LIMIT 4", 10000, "a|0 b|0 c|0 a|1"},
		{"SELECT n FROM wide WHERE u = 'c' ORDER BY n DESC LIMIT 2", 10000, "2999 2998"},
	} {
		c.cells.Store(0)
		got := strings.ReplaceAll(w.Do(q.sql), "\n", " ")
		if got != q.want || c.cells.Load() > q.most {
			t.Errorf("%s: %d cells, and may be %d\n got %s\nwant %s", q.sql, c.cells.Load(), q.most, got, q.want)
		}
	}
}
