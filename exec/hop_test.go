package exec

import (
	"fmt"
	"testing"

	"github.com/hql-db/hql/planner"
)

// Rows of a few hosts, or of many, in a table of any size.
func hosts(n int) func(i int) string {
	return func(i int) string { return fmt.Sprintf("('h%04d', %d, %d)", i%n, 1_000_000+i/n, i) }
}

// The queries that hop over the hosts.
var hopQueries = []struct {
	name, sql string
	rows      int
	access    planner.Access
}{
	{"a range", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020", 80, planner.SkipScan},
	{"a point", "SELECT * FROM m WHERE ts = 1000017", 8, planner.FullScan},
	{"ordered", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020 ORDER BY host, ts", 80, planner.SkipScan},
	{"reversed", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020 ORDER BY host DESC, ts DESC", 80, planner.SkipScan},
	{"limited", "SELECT * FROM m WHERE ts >= 1000010 AND ts < 1000020 ORDER BY host DESC, ts DESC LIMIT 25", 25, planner.SkipScan},
	{"counted", "SELECT count(*) FROM m WHERE ts IN (1000010, 1000012, 1000014) AND v >= 0", 1, planner.FullScan},
}

// A skip scan costs what the values hopped over cost, whatever the table's size.
func TestCostOfHops(t *testing.T) {
	sizes := []int{10_000, 100_000}
	if large() {
		sizes = append(sizes, 1_000_000)
	}
	for i, key := range []string{"host AS TEXT, X'00', ts AS INT64", "host AS TEXT(8), ts AS ORDERED INT64", "CRC32(host) % 4 AS UINT8, host AS TEXT, '|', ts AS INT64"} {
		_, w := newCluster(t, 1, Config{Alone: true, FullScan: AllowFullScan}, "CREATE TABLE m (host STRING, ts BIGINT, v BIGINT) ROW KEY ("+key+")")
		want := map[string]int64{}
		stored := 0
		for _, size := range sizes[:max(1, len(sizes)*(1-i))] {
			from := stored
			w.fill("m", size-stored, func(i int) string { return hosts(8)(from + i) })
			stored = size
			for _, q := range hopQueries {
				n, s := w.read(q.sql)
				t.Logf("%s, %d rows stored, %s: %d rows, %d read, %d RPCs", key, size, q.name, n, s.RowsRead, s.RPCs)
				if n != q.rows || s.Tables[0].Access != q.access {
					t.Errorf("%s, %s: %d rows by %s, want %d by %s", key, q.name, n, s.Tables[0].Access, q.rows, q.access)
				}
				if size == sizes[0] {
					want[q.name] = s.RPCs
				} else if s.RPCs != want[q.name] && q.name != "limited" || s.RPCs > 17 { // under a LIMIT more is read ahead or less
					t.Errorf("%s, %s of %d rows: %d RPCs; of %d rows: %d", key, q.name, size, s.RPCs, sizes[0], want[q.name])
				}
			}
		}
	}
}
