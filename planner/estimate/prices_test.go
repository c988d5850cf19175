package estimate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/planner"
)

// What reads cost on an HBase: the prices of planner/estimate are from what this prints. Times are no test: it runs with HQL_LARGE=1. They are
// CPU times of the client and of the server, of rows that were just written and of the same in files.
func TestPrices(t *testing.T) {
	if !Large() {
		t.Skip("HQL_LARGE=1 runs it")
	}
	const n = 100_000
	c := DialHBase(t)
	w := NewWorld(t, unanalyzed{c}, Config{FullScan: AllowFullScan, Alone: true, Planner: planner.Options{NoSkip: true}})
	tables := []string{"priced_narrow", "priced_many", "priced_fat"}
	var many, values []string
	for i := range 20 {
		many, values = append(many, fmt.Sprintf("c%02d BIGINT FROM d:c%02d", i, i)), append(values, "%[1]d")
	}
	definitions := []string{"a BIGINT FROM d:a, b BIGINT FROM d:b, c STRING FROM d:c", strings.Join(many, ", "), "a BIGINT FROM d:a, text STRING FROM d:text"}
	rows := []string{"(%[1]d, %[1]d, %[1]d, 'text%[1]d')", "(%[1]d, " + strings.Join(values, ", ") + ")", "(%[1]d, %[1]d, '" + strings.Repeat("text ", 200) + "')"}
	counts := []int{n, n / 5, n / 10}
	for i, name := range tables {
		defer w.Do("DROP TABLE IF EXISTS " + name)
		w.Do("DROP TABLE IF EXISTS " + name)
		w.Do("CREATE TABLE " + name + " (id BIGINT, " + definitions[i] + ") ROW KEY (id AS INT64)")
		load(w, name, counts[i], func(k int) string { return fmt.Sprintf(rows[i], k) })
	}
	// Keys over which the servers' filter seeks: a thousand at a time, and each by itself; and a table of which each region holds one row.
	w.Do("DROP TABLE IF EXISTS priced_sought; DROP TABLE IF EXISTS priced_regions")
	defer w.Do("DROP TABLE IF EXISTS priced_sought; DROP TABLE IF EXISTS priced_regions")
	w.Do("CREATE TABLE priced_sought (g INT, a INT, b INT, v BIGINT FROM d:v) ROW KEY (g AS INT32, a AS INT32, b AS INT32)")
	load(w, "priced_sought", n, func(k int) string {
		if k < n/2 {
			return fmt.Sprintf("(1, %d, %d, %[1]d)", k/1000, k%1000)
		}
		return fmt.Sprintf("(2, %d, 0, %[1]d)", k)
	})
	const regions = 50
	var splits []string
	for k := 1; k < regions; k++ {
		splits = append(splits, fmt.Sprintf("X'%016x'", k))
	}
	w.Do("CREATE TABLE priced_regions (id BIGINT, v BIGINT FROM d:v) ROW KEY (id AS INT64) SPLIT AT (" + strings.Join(splits, ", ") + ")")
	load(w, "priced_regions", regions, func(k int) string { return fmt.Sprintf("(%d, %[1]d)", k) })
	tables = append(tables, "priced_sought", "priced_regions")
	keys := func(n, step int) string { return strings.ReplaceAll(Multiples(n, step), ",", ", ") }
	for _, state := range []string{"just written", "in files"} {
		for _, q := range []struct {
			name, sql string
			rows      int
		}{
			{"a row of 3 cells that a filter drops", "SELECT count(*) FROM priced_narrow WHERE a = -1", counts[0]},
			{"a row of 20 cells that a filter drops", "SELECT count(*) FROM priced_many WHERE c07 = -1", counts[1]},
			{"a row of 1 KB that a filter drops", "SELECT count(*) FROM priced_fat WHERE a = -1", counts[2]},
			{"a row of 3 cells that is read backwards", "SELECT count(*) FROM (SELECT id FROM priced_narrow WHERE id BETWEEN 1 AND 2000 AND a = -1 ORDER BY id DESC LIMIT 1) AS x", 2000},
			{"a row of 20 cells that is read backwards", "SELECT count(*) FROM (SELECT id FROM priced_many WHERE id BETWEEN 1 AND 2000 AND c07 = -1 ORDER BY id DESC LIMIT 1) AS x", 2000},
			{"a row of 1 KB that is read backwards", "SELECT count(*) FROM (SELECT id FROM priced_fat WHERE id BETWEEN 1 AND 2000 AND a = -1 ORDER BY id DESC LIMIT 1) AS x", 2000},
			{"a key that is sent", "SELECT count(*) FROM priced_narrow", counts[0]},
			{"a row of 3 cells that is sent", "SELECT count(a), count(b), count(c) FROM priced_narrow", counts[0]},
			{"a row of 20 cells that is sent", "SELECT * FROM priced_many", counts[1]},
			{"a row of 1 KB that is sent", "SELECT count(a), count(text) FROM priced_fat", counts[2]},
			{"one of 3 cells by a filter", "SELECT count(a) FROM priced_narrow", counts[0]},
			{"one of 20 cells by a filter", "SELECT count(c07) FROM priced_many", counts[1]},
			{"a Get of 3 cells", "SELECT * FROM priced_narrow WHERE id IN (" + keys(5000, 17) + ")", 5000},
			{"a Get of 20 cells", "SELECT * FROM priced_many WHERE id IN (" + keys(5000, 3) + ")", 5000},
			{"a Get of a row that is not there", "SELECT * FROM priced_narrow WHERE id IN (" + keys(5000, -17) + ")", 5000},
			{"a row that a filter seeks over, a thousand at a time", "SELECT count(*) FROM priced_sought WHERE g = 1 AND a >= 0 AND b = 2000", n / 2},
			{"a row that a filter seeks over, each by itself", "SELECT count(*) FROM priced_sought WHERE g = 2 AND a >= 0 AND b = 2000", n / 2},
			{"a call for one row", "SELECT count(*) FROM priced_regions WHERE v >= 0", regions},
			{"a statement of one row by its key", "SELECT * FROM priced_narrow WHERE id = 7", 1},
			{"a statement of a range of one row", "SELECT * FROM priced_narrow WHERE id BETWEEN 7 AND 8 AND a = 7", 1},
		} {
			times := 1
			if q.rows < 1000 {
				times = 1000
			}
			best := time.Duration(0)
			for i := range 4 {
				took := spent(t, func() {
					for range times {
						w.Read(q.sql)
					}
				})
				if i == 1 || i > 1 && took < best {
					best = took
				}
			}
			t.Logf("%s: %s: %.2f us", state, q.name, float64(best.Nanoseconds())/1e3/float64(q.rows*times))
		}
		if state == "in files" {
			break
		}
		toFiles(t, c, tables)
	}
}

// toFiles has the rows of tables, of their indexes too, written to files: that is done where regions are closed.
func toFiles(t *testing.T, c hbase.Client, tables []string) {
	t.Helper()
	admin := gohbase.NewAdminClient(hbasetest.Quorum(t))
	names, err := c.Tables(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(tables, func(table string) bool { return strings.HasPrefix(name, table) }) {
			continue
		}
		if err := admin.DisableTable(hrpc.NewDisableTable(t.Context(), []byte(name))); err != nil {
			t.Fatal(err)
		}
		if err := admin.EnableTable(hrpc.NewEnableTable(t.Context(), []byte(name))); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(10 * time.Second) // servers tell the master every few seconds how large regions are
}
