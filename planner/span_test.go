package planner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/planner/plan"
)

// numbers lists n numbers from lo on.
func numbers(lo, n, step int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d", [...]string{"", ", "}[min(i, 1)], lo+i*step)
	}
	return b.String()
}

// What is read of a table where part of the key is computed from id: no more Gets and scans than ids or buckets.
func TestNeighbours(t *testing.T) {
	const bucket, hash, step, both = "id % 260 AS UINT16, id AS INT64", "LEFT(MD5(CONCAT(id)), 4), id AS INT64", "id / 10 AS INT32, id AS INT64", "CRC32(CONCAT(id, v)) % 2000 AS UINT16, id AS INT64, v AS INT64"
	const pair, day = "id AS INT64, v AS INT64", "d AS TEXT('yyyyMMdd'), id AS ORDERED INT64"
	for _, c := range []struct {
		key, where  string
		gets, scans int
	}{
		{bucket, "id IN (1, 2, 3)", 3, 0},
		{bucket, "id BETWEEN 10 AND 20", 11, 0},
		{bucket, "id IN (" + numbers(0, 300, 7) + ", 1)", 301, 0},
		{bucket, "id IN (" + numbers(0, 3000, 1) + ")", 0, 260},
		{bucket, "id BETWEEN 1000 AND 2000 OR id = 1", 1, 260},
		{bucket, "id > 5000 OR id IN (1, 2)", 2, 260},
		{hash, "id IN (1, 2, 3)", 3, 0},
		{hash, "id BETWEEN 10 AND 20", 11, 0},
		{hash, "id IN (" + numbers(0, 1100, 2) + ", 1)", 1101, 0},
		{hash, "id IN (" + numbers(0, 3000, 1) + ")", 3000, 0},
		{hash, "id BETWEEN 0 AND 1023", 1024, 0},
		{hash, "id BETWEEN 0 AND 3000", 0, 1},
		{step, "id IN (1, 2, 3)", 0, 1},
		{step, "id IN (" + numbers(0, 300, 20) + ", 1)", 299, 1},
		{both, "v = 1 AND id IN (" + numbers(0, 3000, 1) + ")", 3000, 0},
		{both, "(id, v) IN ((1, 2), (2, 3), (3, 4)) AND id < 3", 2, 0}, // a list of tuples, not all ids with all values
		{pair, "(id, v) IN ((1, 2), (2, 3), (9, 4)) AND v > 2 AND id > 0", 2, 0},
		{day, "d = DATE '2026-01-31' AND id > 5 OR d = DATE '2026-02-01' OR d = DATE '2026-02-02' AND id < 7", 0, 2},
		{day, "d = DATE '2026-01-31' AND id > 5 OR d BETWEEN DATE '2026-02-01' AND DATE '2026-02-27' OR d = DATE '2026-03-01'", 0, 2},
		{day, "d = DATE '2026-01-31' AND id > 5 OR d = DATE '2026-02-02'", 0, 2},
	} {
		cat := given.Tables(t, "CREATE TABLE t (id BIGINT, v BIGINT, d DATE) ROW KEY ("+c.key+")")
		p, err := (&Env{Catalog: cat}).Select(given.Query(t, "SELECT * FROM t WHERE "+c.where))
		if err != nil {
			t.Fatal(err)
		}
		gets, scans := 0, 0
		for _, s := range plan.Scans(p.Root)[0].Spans {
			if s.Key {
				gets++
			} else {
				scans++
			}
		}
		if gets != c.gets || scans != c.scans {
			t.Errorf("%s, %.60s: %d gets and %d scans, want %d and %d", c.key, c.where, gets, scans, c.gets, c.scans)
		}
	}
}
