package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase"
)

// people is a world on a store of its own with n rows of a table.
func people(t *testing.T, cfg Config, n int) (*world, hbase.Client) {
	t.Helper()
	_, c := newStore(t)
	w := newWorld(t, c, cfg)
	w.run("CREATE TABLE people (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64) INDEX by_name (name AS TEXT, X'00', id AS INT64)")
	w.fill("people", n, func(i int) string { return fmt.Sprintf("(%d, 'name%d')", i, i%10) })
	return w, c
}

// silent is a store that does not tell statistics.
type silent struct {
	hbase.Client
	asked *atomic.Int64
}

func (s silent) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	if table != statisticsTable {
		return s.Client.Get(ctx, table, keys, o)
	}
	s.asked.Add(1)
	<-ctx.Done()
	return nil, ctx.Err()
}

// Statements are planned without statistics that do not come: all that wait do so together, and those that follow do not.
func TestSilentStatistics(t *testing.T) {
	w, c := people(t, Config{FullScan: AllowFullScan}, 20)
	w.run("ANALYZE people")
	asked := &atomic.Int64{}
	other := newWorld(t, silent{c, asked}, Config{FullScan: AllowFullScan})
	if _, err := other.LoadCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			rows, _, err := other.tryUnder(t.Context(), "SELECT id FROM people WHERE id = 7")
			if err != nil || rows != "7" {
				t.Errorf("%q %v", rows, err)
			}
		})
	}
	all.Wait()
	if n := asked.Load(); n < 1 || n > 4 {
		t.Errorf("asked %d times", n)
	}
	before := asked.Load()
	if got := other.run("EXPLAIN SELECT id FROM people WHERE id = 7"); strings.Contains(got, "by statistics") || asked.Load() != before {
		t.Errorf("asked again: %s", got)
	}
	// Who is cancelled while it waits is no reason for others to go without.
	asked.Store(0)
	third := newWorld(t, silent{c, asked}, Config{FullScan: AllowFullScan})
	if _, err := third.LoadCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for asked.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, _, err := third.tryUnder(ctx, "SELECT id FROM people WHERE id = 7"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if third.stats.later["people"] != (time.Time{}) {
		t.Error("a statement that was cancelled keeps others from statistics")
	}
}

// All plans of a statement are made from one set of statistics, whatever ANALYZE finds meanwhile.
func TestOneSetOfStatistics(t *testing.T) {
	w, _ := people(t, Config{FullScan: AllowFullScan, Alone: true}, 20)
	table, _ := w.Catalog().Table("people")
	without := w.statisticsUnder(t.Context())
	if s := without(table); s != nil {
		t.Errorf("%+v", s)
	}
	w.run("ANALYZE people")
	before := w.statisticsUnder(t.Context())
	s := before(table)
	if s == nil || s.Rows != 20 || without(table) != nil {
		t.Errorf("%+v", s)
	}
	w.run("DELETE FROM people WHERE id < 10; ANALYZE people")
	if before(table) != s {
		t.Error("a statement's statistics have changed")
	}
	if now := w.statisticsUnder(t.Context())(table); now == nil || now.Rows != 10 {
		t.Errorf("%+v", now)
	}
}

// A table that is small by its statistics may be read whole without permission, one that is not may not, whether or not that costs less.
func TestSmallTablesNeedNoPermission(t *testing.T) {
	w, _ := people(t, Config{FullScan: DenyFullScan, Alone: true}, 200)
	refused := func(sql string, want error) {
		t.Helper()
		if _, _, err := w.try(sql); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", sql, err, want)
		}
	}
	const whole, filtered = "SELECT * FROM people", "SELECT * FROM people WHERE name LIKE '%3'"
	const byName = "SELECT id, name, _ts FROM people WHERE name >= 'name1'"
	refused(whole, ErrFullScan)
	w.run("ANALYZE people")
	refused(whole, nil)
	refused(filtered, nil)
	if got := w.run("EXPLAIN " + byName); !strings.Contains(got, "full scan people") {
		t.Errorf("%s", got)
	}
	// What a statement may read stands in place of what is small.
	w.run("SET max_scan_rows = 100")
	refused(whole, ErrScanLimit)
	refused(filtered, ErrFullScan) // few rows are sent, but all are looked at
	if got := w.run("EXPLAIN " + byName); !strings.Contains(got, "by_name") || !strings.Contains(got, "nobody has allowed to read the whole table") {
		t.Errorf("%s", got)
	}
	refused(filtered+" ALLOW FULL SCAN", nil)
	w.run("SET max_scan_rows = 100000; SET max_scan_bytes = '1kB'")
	refused(filtered, ErrFullScan)
	w.run("SET max_scan_bytes = none")
	refused(filtered, nil)
	// Yesterday's statistics give no permission.
	s := statisticsFor(t, w, "people")
	s.At = s.At.Add(-25 * time.Hour)
	refused(whole, ErrFullScan)
	// Where full scans are only warned of, those that were chosen are as well.
	w.run("SET full_scan = 'warn'")
	if _, warnings, err := w.try(byName); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "costs less") {
		t.Errorf("%q %v", warnings, err)
	}
}
