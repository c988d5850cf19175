package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/stats"
)

// people makes an engine on a store of its own, with n rows of a table.
func people(t *testing.T, cfg Config, n int) (*world, hbase.Client) {
	t.Helper()
	_, c := NewStore(t)
	w := newWorld(t, c, cfg)
	w.Do("CREATE TABLE people (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64) INDEX by_name (name AS TEXT, X'00', id AS INT64)")
	w.Fill("people", n, func(i int) string { return fmt.Sprintf("(%d, 'name%d')", i, i%10) })
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
	w.Do("ANALYZE people")
	asked := &atomic.Int64{}
	other := newWorld(t, silent{c, asked}, Config{FullScan: AllowFullScan})
	if _, err := other.LoadCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			rows, _, err := other.TryUnder(t.Context(), "SELECT id FROM people WHERE id = 7")
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
	if got := other.Do("EXPLAIN SELECT id FROM people WHERE id = 7"); strings.Contains(got, "by statistics") || asked.Load() != before {
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
	if _, _, err := third.TryUnder(ctx, "SELECT id FROM people WHERE id = 7"); !errors.Is(err, context.Canceled) {
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
	without := (&seenStatistics{engine: w.Engine, ctx: t.Context(), left: statisticsWait, by: map[*catalog.Table]*stats.Table{}}).of
	if s := without(table); s != nil {
		t.Errorf("%+v", s)
	}
	w.Do("ANALYZE people")
	before := (&seenStatistics{engine: w.Engine, ctx: t.Context(), left: statisticsWait, by: map[*catalog.Table]*stats.Table{}}).of
	s := before(table)
	if s == nil || s.Rows != 20 || without(table) != nil {
		t.Errorf("%+v", s)
	}
	w.Do("DELETE FROM people WHERE id < 10; ANALYZE people")
	if before(table) != s {
		t.Error("a statement's statistics have changed")
	}
	if now := (&seenStatistics{engine: w.Engine, ctx: t.Context(), left: statisticsWait, by: map[*catalog.Table]*stats.Table{}}).of(table); now == nil || now.Rows != 10 {
		t.Errorf("%+v", now)
	}
}

// Statistics that are damaged, of another version or of another table change no answer, and SHOW STATISTICS reports the
// problem. The readable part of damaged ones gives plans that can be shown: all figures are valid JSON.
func TestDamagedStatistics(t *testing.T) {
	t.Parallel()
	writer, c := people(t, Config{FullScan: AllowFullScan}, 40)
	writer.Do("CREATE TABLE none (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64); CREATE TABLE one (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64); INSERT INTO one VALUES (1, 'a'); CREATE TABLE lone (id BIGINT) ROW KEY (id AS INT64) FAMILY d")
	with := func(b []byte) *world {
		w := newWorld(t, ReadOnly(c), Config{FullScan: AllowFullScan, Statistics: files{"people": b}})
		if _, err := w.LoadCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w
	}
	queries := []string{"SELECT * FROM people WHERE name > 'name7' AND id < 30", "SELECT name, count(*) FROM people GROUP BY name ORDER BY name",
		"SELECT p.id, q.name FROM people p JOIN people q ON q.id = p.id + 1 WHERE p.name = 'name3'", "SELECT * FROM people WHERE id IN (1, 2, 3) LIMIT 2",
		"SELECT p.id FROM people p JOIN one ON one.id = p.id JOIN none ON none.id = p.id"}
	asked := func(w *world) {
		t.Helper()
		for _, q := range queries {
			if got, want := w.Sorted(q), writer.Sorted(q); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", q, got, want)
			}
			for _, how := range []string{"(FORMAT JSON)", "(ANALYZE, FORMAT JSON)"} {
				if text := w.Do("EXPLAIN " + how + " " + q); !json.Valid([]byte(text)) || strings.Contains(text, ":-") {
					t.Errorf("%s %s: %s", how, q, text)
				}
			}
			w.Do("EXPLAIN ANALYZE " + q)
		}
	}
	kept := files{}
	maker := newWorld(t, ReadOnly(c), Config{FullScan: AllowFullScan, Statistics: kept})
	if _, err := maker.LoadCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	maker.Do("ANALYZE people; ANALYZE one; ANALYZE none; ANALYZE lone")
	asked(maker)
	good := string(kept["people"])
	swap := func(old, by string) string {
		out := strings.Replace(good, old, by, 1)
		if out == good {
			t.Fatalf("%q is not in %s", old, good)
		}
		return out
	}
	for _, x := range []struct{ text, want string }{
		{good, ""},
		{"", "they are damaged: unexpected end of JSON input"},
		{good[:len(good)/2], "they are damaged: unexpected end"},
		{"[1, 2]", "they are damaged"},
		{swap(`"rows":40`, `"rows":1e999`), "they are damaged"},
		{swap(`"type":"STRING"`, `"type":"SONG"`), `they are damaged: statistics: unknown type "SONG"`},
		{swap(`"version":1`, `"version":2`), "they are of version 2, and this hql reads version 1; ANALYZE people writes them again"},
		{swap(`"version":1,`, ``), "they are of version 0"},
	} {
		w := with([]byte(x.text))
		_, _, err := w.Try("SHOW STATISTICS people")
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), "statistics of people: "+x.want)) {
			t.Errorf("%.60s: %v, want %q", x.text, err, x.want)
		}
		asked(w)
	}
	for _, other := range []string{string(kept["one"]), strings.Replace(string(kept["lone"]), `"table":"lone"`, `"table":"people"`, 1), swap(`"table":"people"`, `"table":"others"`), swap(`"name":"id"`, `"name":"ident"`)} {
		if got := with([]byte(other)).Do("SHOW STATISTICS people"); got != "" {
			t.Errorf("statistics of another table are shown: %s", got)
		}
	}
	// Figures that no table has.
	for _, figure := range []string{"1e300", "-1e300", "1.7e308", "0"} {
		huge := regexp.MustCompile(`"(rows|bytes_a_row|distinct|bytes|rare|share)":[0-9.e+]+`).ReplaceAllString(good, `"$1":`+figure)
		w := with([]byte(huge))
		asked(w)
		w.Do("SHOW STATISTICS people; SET max_scan_rows = 1000; SELECT * FROM people")
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		b := []byte(good)
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = "0123456789e-[]{}\",x"[r.IntN(19)]
		}
		asked(with(b))
	}
}

// A table that is small by its statistics may be read whole without permission, one that is not may not, whether or not that costs less.
func TestSmallTablesNeedNoPermission(t *testing.T) {
	w, _ := people(t, Config{FullScan: DenyFullScan, Alone: true}, 200)
	refused := func(sql string, want error) {
		t.Helper()
		if _, _, err := w.Try(sql); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", sql, err, want)
		}
	}
	const whole, filtered = "SELECT * FROM people", "SELECT * FROM people WHERE name LIKE '%3'"
	const byName = "SELECT id, name, _ts FROM people WHERE name >= 'name1'"
	refused(whole, ErrFullScan)
	w.Do("ANALYZE people")
	refused(whole, nil)
	refused(filtered, nil)
	if got := w.Do("EXPLAIN " + byName); !strings.Contains(got, "full scan people") {
		t.Errorf("%s", got)
	}
	w.Do("CREATE TABLE nobody (id INT PRIMARY KEY); ANALYZE nobody")
	refused("SELECT * FROM nobody", nil)
	// What a statement may read stands in place of what is small.
	w.Do("SET max_scan_rows = 200")
	refused(filtered, nil)
	w.Do("SET max_scan_rows = 199")
	refused(filtered, ErrFullScan)
	w.Do("SET max_scan_rows = 100")
	refused(whole, ErrScanLimit)
	refused(filtered, ErrFullScan) // few rows are sent, but all are looked at
	if got := w.Do("EXPLAIN " + byName); !strings.Contains(got, "by_name") || !strings.Contains(got, "nobody has allowed to read the whole table") {
		t.Errorf("%s", got)
	}
	refused(filtered+" ALLOW FULL SCAN", nil)
	w.Do("SET max_scan_rows = 100000; SET max_scan_bytes = '1kB'")
	refused(filtered, ErrFullScan)
	w.Do("SET max_scan_bytes = none")
	refused(filtered, nil)
	// Yesterday's statistics give no permission.
	s := statisticsFor(t, w, "people")
	at := s.At
	s.At = at.Add(-25 * time.Hour)
	refused(whole, ErrFullScan)
	s.At = at.Add(25 * time.Hour) // by a clock that is wrong
	refused(whole, ErrFullScan)
	// Nor do those that do not know how many rows there are.
	s.At, s.Unscaled = at, true
	refused(whole, ErrFullScan)
	s.Unscaled = false
	refused(whole, nil)
	s.At = at.Add(-25 * time.Hour)
	// Where full scans are only warned of, those that were chosen are as well.
	w.Do("SET full_scan = 'warn'")
	if _, warnings, err := w.Try(byName); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "costs less") {
		t.Errorf("%q %v", warnings, err)
	}
}
