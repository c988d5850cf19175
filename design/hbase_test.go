package design_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/design"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/stats"
)

func TestMain(m *testing.M) { os.Exit(hbasetest.Tests(m).Run()) }

// What is predicted of the first proposal is measured on a real HBase: the share of the busiest region while the later half
// of the rows is written in time order, and the rows and calls of a statement. It runs with HQL_TEST_DESIGN=1.
func TestMeasured(t *testing.T) {
	if os.Getenv("HQL_TEST_DESIGN") == "" {
		t.Skip("HQL_TEST_DESIGN is not set: some minutes on a real HBase")
	}
	ctx := context.Background()
	db, err := hql.Open(ctx, "hbase://"+hbasetest.Quorum(t), hql.WithWrites(true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const rows, regions = 3000, 6
	for _, shape := range []struct{ name, create, row, query string }{
		{"monotonic", "(device STRING, ts TIMESTAMP, v INT) ROW KEY (ts AS INT64, device AS TEXT)",
			"'d' || CAST(n * 7919 % 90 AS STRING), TIMESTAMP '2026-01-01' + n * INTERVAL '1 minute', n", "SELECT ts, v FROM %s WHERE device = 'd7'"},
		{"few_hot", "(device STRING, ts TIMESTAMP, v INT) ROW KEY (ts AS INT64, device AS TEXT)",
			"CASE WHEN n % 2 = 0 THEN 'pump' ELSE 'd' || CAST(n * 7919 % 90 AS STRING) END, TIMESTAMP '2026-01-01' + n * INTERVAL '1 minute', n", "SELECT ts, v FROM %s WHERE device = 'd7'"},
		{"counted", "(id BIGINT, ts TIMESTAMP, v INT) ROW KEY (id AS INT64)",
			"n, TIMESTAMP '2026-01-01' + n * INTERVAL '1 second', n", "SELECT ts, v FROM %s WHERE id = 77"},
		{"salted", "(id STRING, ts TIMESTAMP, v INT) ROW KEY (SALT(0 TO 5) AS UINT8, id AS TEXT)",
			"SUBSTRING(MD5(CAST(n AS STRING)), 1, 12), TIMESTAMP '2026-01-01' + n * INTERVAL '1 second', n", "SELECT ts, v FROM %s WHERE id = '28dd2c7955ce'"},
	} {
		t.Run(shape.name, func(t *testing.T) {
			table := fmt.Sprintf("design_%s_%d", shape.name, time.Now().UnixNano())
			exec := func(sql string) {
				t.Helper()
				if _, err := db.Exec(ctx, sql); err != nil {
					t.Fatalf("%v: %s", err, sql)
				}
			}
			fill := func(into string, from, to int) {
				exec(fmt.Sprintf("INSERT INTO %s SELECT %s FROM generate_series(%d, %d) AS g(n)", into, shape.row, from, to))
			}
			exec("CREATE TABLE " + table + " " + shape.create)
			defer exec("DROP TABLE " + table)
			fill(table, 1, rows)
			exec("ANALYZE " + table)
			r, err := design.Workload(db.Catalog(), fmt.Sprintf(shape.query, table), design.Options{Now: time.Now(), Regions: regions,
				Statistics: func(t *catalog.Table) *stats.Table { return db.Statistics(ctx, t) }})
			if err != nil {
				t.Fatal(err)
			}
			p := r.Tables[0].Proposals[0]
			if p.Create == "" {
				t.Fatalf("nothing is proposed: %s", r)
			}
			exec(strings.TrimSuffix(p.Create, ";"))
			designed := table + "_designed"
			defer exec("DROP TABLE " + designed)
			fill(designed, 1, rows/2)
			share, windows := 0.0, 3
			for w := range windows {
				was := writes(t, db, designed, int64(rows/2+w*rows/2/windows))
				fill(designed, rows/2+w*rows/2/windows+1, rows/2+(w+1)*rows/2/windows)
				share += busiest(was, writes(t, db, designed, int64(rows/2+(w+1)*rows/2/windows))) / float64(windows)
			}
			read, calls := measured(t, db, fmt.Sprintf(shape.query, designed))
			before, beforeCalls := measured(t, db, fmt.Sprintf(shape.query, table)+" ALLOW FULL SCAN")
			t.Logf("%s: share predicted %.3f measured %.3f; rows %.1f, %d; calls %.1f, %d; today's key: rows %d, calls %d", p.Key, p.Share, share, p.Rows, read, p.Calls, calls, before, beforeCalls)
			if math.Abs(share-p.Share) > 0.1 {
				t.Errorf("the busiest region took %.3f of the writes, predicted was %.3f: %s", share, p.Share, r)
			}
			if q := float64(read+1) / (p.Rows + 1); q > 2 || q < 0.5 {
				t.Errorf("%d rows were read, predicted were %.1f: %s", read, p.Rows, r)
			}
			if float64(calls) > 2*p.Calls+1 {
				t.Errorf("%d calls were sent, predicted were %.1f: %s", calls, p.Calls, r)
			}
			if read > before {
				t.Errorf("the proposal reads %d rows, today's key %d: %s", read, before, r)
			}
		})
	}
}

// writes waits until the servers have reported as many writes of a table, and gives them by region.
func writes(t *testing.T, db *hql.DB, table string, wanted int64) map[string]int64 {
	t.Helper()
	for range 60 {
		loads, err := db.Client().RegionLoads(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		out, sum := map[string]int64{}, int64(0)
		for name, of := range loads {
			out[name] = of.Writes
			sum += of.Writes
		}
		if sum >= wanted {
			return out
		}
		time.Sleep(time.Second)
	}
	t.Fatalf("the servers have not reported %d writes of %s in a minute", wanted, table)
	return nil
}

// busiest is the share of the region with the most writes between two reports.
func busiest(was, now map[string]int64) float64 {
	most, all := int64(0), int64(0)
	for name, n := range now {
		most, all = max(most, n-was[name]), all+n-was[name]
	}
	return float64(most) / float64(all)
}

// measured runs a query and gives the rows that servers sent and the calls.
func measured(t *testing.T, db *hql.DB, sql string) (rows, calls int64) {
	t.Helper()
	rs, err := db.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range rs.All() {
		if err != nil {
			t.Fatal(err)
		}
	}
	st := rs.Stats()
	return st.RowsRead, st.RPCs
}
