package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// skewed makes an engine on a store of its own, with n rows of the table.
func skewed(t testing.TB, n int) (*world, hbase.Client) {
	t.Helper()
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	FillSkewed(&w.Script, n)
	return w, c
}

// number runs a query for one number.
func number(t testing.TB, w *world, sql string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSpace(w.Do(sql)), 64)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return f
}

// statisticsFor gives what the engine knows of a table.
func statisticsFor(t testing.TB, w *world, name string) *stats.Table {
	t.Helper()
	table, ok := w.Catalog().Table(name)
	if !ok {
		t.Fatal(name)
	}
	s := w.Statistics(t.Context(), table)
	if s == nil {
		t.Fatalf("no statistics of %s", name)
	}
	return s
}

// qError is how many times too large or too small a figure is.
func qError(got, want float64) float64 {
	got, want = max(got, 1), max(want, 1)
	return max(got/want, want/got)
}

// ANALYZE of a whole table finds the same figures as exact queries, with distinct values to a few per cent.
func TestAnalyzeAgainstExactCounts(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const rows = 30_000
	w, c := skewed(t, rows)
	w.Do("ANALYZE skewed")
	s := statisticsFor(t, w, "skewed")
	if s.Rows != rows || s.Read != rows || !s.Complete {
		t.Errorf("%v rows, %d read, complete %v", s.Rows, s.Read, s.Complete)
	}
	near := func(what string, got, want, factor float64) {
		t.Helper()
		if !(qError(got*rows, want*rows) <= factor) {
			t.Errorf("%s: %v, is %v", what, got, want)
		}
	}
	for i, name := range []string{"customer", "ts", "seq", "kind", "uid", "note"} {
		col := s.Column(i)
		near(name+" NULLs", col.Nulls, number(t, w, "SELECT count(*) - count("+name+") FROM skewed")/rows, 1)
		near(name+" distinct", col.Distinct, number(t, w, "SELECT count(DISTINCT "+name+") FROM skewed"), 1.03)
		for _, f := range col.Frequent[:min(5, len(col.Frequent))] {
			if i == 1 {
				break // moments are too rare for a share to be known well
			}
			near(name+" = "+f.Value.SQL(), f.Share, number(t, w, "SELECT count(*) FROM skewed WHERE "+name+" = "+f.Value.SQL())/rows, 1.25)
		}
	}
	near("bytes", s.Bytes, float64(analyzed(t, w, "SELECT * FROM skewed").Analyze.Bytes)/rows, 1.001)
	key := s.Key("primary")
	if key == nil {
		key = &s.Keys[0]
	}
	near("customers", key.Prefixes[0].Distinct, number(t, w, "SELECT count(DISTINCT customer) FROM skewed"), 1.03)
	near("customers and moments", key.Prefixes[2].Distinct, number(t, w, "SELECT count(*) FROM (SELECT DISTINCT customer, ts FROM skewed) AS d"), 1.03)
	near("uids of the index", s.Key("by_uid").Prefixes[0].Distinct, number(t, w, "SELECT count(DISTINCT uid) FROM skewed"), 1.03)
	// SHOW STATISTICS shows them, and they are there for who opens the store anew.
	shown := w.Do("SHOW STATISTICS skewed")
	other := newWorld(t, c, Config{FullScan: AllowFullScan})
	if _, err := other.LoadCatalog(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := other.Do("SHOW STATISTICS FOR skewed"); got != shown || !strings.Contains(got, "all of them read") {
		t.Errorf("%s\nis to others\n%s", shown, got)
	}
	// Those of another time, and of a table that was much larger then, are shown as such.
	s.At = s.At.Add(-100 * 24 * time.Hour)
	if got := w.Do("SHOW STATISTICS skewed"); !strings.Contains(got, "; OLD") {
		t.Errorf("%s", got)
	}
	s.Size = 1 << 40
	if got := w.Do("SHOW STATISTICS skewed"); !strings.Contains(got, "; OUTDATED: the table has become much smaller") {
		t.Errorf("%s", got)
	}
	w.Do("DROP TABLE skewed")
	w.Do(SkewedTable)
	if got := w.Do("SHOW STATISTICS skewed"); got != "" {
		t.Errorf("statistics of a table that was dropped: %s", got)
	}
}

// A bounded ANALYZE reads no more than it may, of regions of unlike sizes and keys of unlike widths, and still tells how large things are.
func TestAnalyzeBounded(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const rows = 60_000
	w, _ := skewed(t, rows)
	w.Do("SET analyze_rows = 6000; ANALYZE skewed")
	s := statisticsFor(t, w, "skewed")
	if s.Read > 6000 || s.Read < 1000 || s.Complete {
		t.Errorf("%d rows read, complete %v", s.Read, s.Complete)
	}
	check := func(what string, got, want, most float64) {
		t.Helper()
		t.Logf("%s: %.0f, is %.0f: q-error %.2f", what, got, want, qError(got, want))
		if q := qError(got, want); !(q <= most) {
			t.Errorf("%s: %v, is %v", what, got, want)
		}
	}
	check("rows", s.Rows, rows, 2)
	check("customers", s.Keys[0].Prefixes[0].Distinct, number(t, w, "SELECT count(DISTINCT customer) FROM skewed"), 3)
	check("kinds", s.Column(3).Distinct, number(t, w, "SELECT count(DISTINCT kind) FROM skewed"), 1)
	check("NULLs", s.Column(5).Nulls*rows, number(t, w, "SELECT count(*) - count(note) FROM skewed"), 1.2)
	for _, kind := range []string{"view", "buy"} {
		got, ok := s.Column(3).Share(types.Points(types.NewString(kind)))
		if !ok {
			t.Errorf("nothing is known of %s", kind)
		}
		check(kind, got*rows, number(t, w, "SELECT count(*) FROM skewed WHERE kind = '"+kind+"'"), 2)
	}
}

// sized is a store whose master tells how large regions are, times a factor.
type sized struct {
	hbase.Client
	sizes  map[string]int64
	factor float64
}

func (s sized) RegionLoads(context.Context, ...string) (map[string]hbase.RegionLoad, error) {
	out := map[string]hbase.RegionLoad{}
	for name, n := range s.sizes {
		out[name] = hbase.RegionLoad{Bytes: int64(float64(n) * s.factor)}
	}
	return out, nil
}

// If sizes are known each row is looked at once. Wrong sizes cost another look, but do not change the result.
func TestAnalyzeBySizes(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	const rows, most = 10_000, 2000
	w, c := skewed(t, rows)
	sizes := map[string]int64{}
	regions, err := c.Regions(t.Context(), "skewed")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range regions {
		sc, err := c.Scan(t.Context(), hbase.ScanRange{Table: "skewed", Start: g.Start, Stop: g.Stop}, &hbase.ReadOptions{})
		for err == nil {
			var batch []hbase.Row
			batch, err = sc.Next(t.Context())
			for _, row := range batch {
				for i := range row.Cells {
					sizes[g.Name] += int64(hbase.CellSize(row.Key, &row.Cells[i]))
				}
			}
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	}
	customers := number(t, w, "SELECT count(DISTINCT customer) FROM skewed")
	for _, factor := range []float64{1, 0.01, 100, 1e12} {
		w := newWorld(t, sized{c, sizes, factor}, Config{FullScan: AllowFullScan, Alone: true})
		if _, err := w.LoadCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		looked := &lookedAt{}
		if _, _, err := w.TryUnder(hbase.WithRPCTracer(t.Context(), looked), fmt.Sprintf("SET analyze_rows = %d; ANALYZE skewed", most)); err != nil {
			t.Fatal(err)
		}
		s := statisticsFor(t, w, "skewed")
		if s.Read > most || s.Read < most/3 || !(qError(s.Rows, rows) <= 1.2) || !(qError(s.Keys[0].Prefixes[0].Distinct, customers) <= 2) {
			t.Errorf("sizes times %v: %d rows read; %v rows, %v customers, are %v, %v", factor, s.Read, s.Rows, s.Keys[0].Prefixes[0].Distinct, rows, customers)
		}
		if n := looked.rows.Load(); n < rows || factor == 1 && n > rows*11/10 {
			t.Errorf("sizes times %v: %d rows looked at", factor, n)
		}
	}
}

// An ANALYZE that is stopped keeps nothing.
func TestAnalyzeStopped(t *testing.T) {
	w, _ := skewed(t, 2000)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := w.TryUnder(ctx, "ANALYZE skewed"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := w.Do("SHOW STATISTICS skewed"); got != "" {
		t.Errorf("%s", got)
	}
}

// files keeps statistics in memory, as if it were a directory.
type files map[string][]byte

func (f files) Load(name string) ([]byte, error) { return f[name], nil }
func (f files) Save(name string, b []byte) error { f[name] = b; return nil }
func (f files) Remove(name string) error         { delete(f, name); return nil }

// A user without write permission keeps statistics in files, or without files as long as the connection lasts.
func TestAnalyzeReadOnly(t *testing.T) {
	w, c := skewed(t, 100)
	reader := func(cfg Config) *world {
		cfg.FullScan = AllowFullScan
		out := newWorld(t, ReadOnly(c), cfg)
		if _, err := out.LoadCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		return out
	}
	kept := files{}
	shown := reader(Config{Statistics: kept}).Do("ANALYZE TABLE skewed")
	if len(kept) != 1 {
		t.Fatalf("%d files", len(kept))
	}
	if got := reader(Config{Statistics: kept}).Do("SHOW STATISTICS skewed"); got != shown || got == "" {
		t.Errorf("%s\nis\n%s", shown, got)
	}
	if got := w.Do("SHOW STATISTICS skewed"); got != "" {
		t.Errorf("the store has %s", got)
	}
	without := reader(Config{})
	shown, warnings, err := without.Try("ANALYZE skewed")
	if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "HQL-W008") {
		t.Errorf("%v %v", warnings, err)
	}
	if got := without.Do("SHOW STATISTICS skewed"); got != shown {
		t.Errorf("%s\nis\n%s", shown, got)
	}
}

// Rows that there was no time to read are counted by the sizes of regions, if these are known and not less than the
// rows seen.
func TestAnalyzeFillsIn(t *testing.T) {
	const mega = 1 << 20
	region := func(rows int64, size int64, whole bool) *analyzedRegion {
		g := &analyzedRegion{rows: rows, bytes: rows * mega, size: size * mega, told: size >= 0, whole: whole}
		if rows > 0 {
			run := stats.NewCollector(stats.Shape{}).Begin(0)
			for range rows {
				run.Add(stats.Row{})
			}
			g.runs = append(g.runs, run)
		}
		return g
	}
	packed := region(100, 1000, false)
	for range 900 {
		packed.runs[0].Add(stats.Row{})
	}
	for _, c := range []struct {
		what         string
		regions      []*analyzedRegion
		rows, unread float64
		scaled       bool
	}{
		{"all", []*analyzedRegion{region(100, -1, true), region(0, -1, true)}, 100, 0, true},
		{"a region that was begun, and one that was not", []*analyzedRegion{region(100, 100, true), region(100, 1000, false), region(0, 400, false)}, 1500, 1300. / 1500, true},
		{"a region of less than a megabyte that was not begun", []*analyzedRegion{region(100, 100, true), region(0, 0, false)}, 100, 0, true},
		{"no sizes", []*analyzedRegion{region(100, -1, true), region(0, -1, false)}, 200, 0, false},
		{"a size that was told before the rows came", []*analyzedRegion{region(100, 100, true), region(100, 50, false)}, 200, 0, false},
		{"nothing", []*analyzedRegion{region(0, 100, false)}, 0, 0, false},
		{"ten rows in each row of the store", []*analyzedRegion{packed}, 10_000, 0.9, true},
	} {
		a := &analysis{regions: c.regions}
		_, unread, scaled := a.fillIn()
		rows := 0.0
		for _, g := range c.regions {
			for _, r := range g.runs {
				rows += r.Stands
			}
		}
		if math.Abs(rows-c.rows) > 1 || math.Abs(unread-c.unread) > 0.01 || scaled != c.scaled {
			t.Errorf("%s: %v rows, %v unread, %v", c.what, rows, unread, scaled)
		}
	}
}

// stuck is a store of which a region does not answer.
type stuck struct {
	hbase.Client
	start string
}

func (s stuck) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if r.Table == "skewed" && string(r.Start) == s.start {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Client.Scan(ctx, r, o)
}

// There are no estimates for keys that ANALYZE had no time to read, and SHOW STATISTICS names these ranges. Without
// sizes there are no estimates at all.
func TestAnalyzeOutOfTime(t *testing.T) {
	_, c := skewed(t, 2000)
	sizes := map[string]int64{}
	regions, err := c.Regions(t.Context(), "skewed")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range regions {
		sizes[g.Name] = 3 << 20
	}
	for _, told := range []hbase.Client{c, sized{c, sizes, 1}} {
		w := newWorld(t, ReadOnly(stuck{told, "z1"}), Config{FullScan: AllowFullScan, Statistics: files{}})
		if _, err := w.LoadCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.Do("SET analyze_time = '700ms'; ANALYZE skewed"); !strings.Contains(got, "the time was up before") {
			t.Errorf("%s", got)
		}
		w = newWorld(t, ReadOnly(told), w.cfg)
		if _, err := w.LoadCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := statisticsFor(t, w, "skewed")
		for _, q := range []string{"customer > 'z5'", "customer >= 'customer-1' AND customer < 'z2'", "customer = 'z105'", "customer > 'a'", "kind = 'refund'", "uid = 2 AND note IS NOT NULL"} {
			if e := w.Estimated("EXPLAIN (FORMAT JSON) SELECT * FROM skewed WHERE " + q); e.Estimate.Rows != nil {
				t.Errorf("%s: %v rows", q, *e.Estimate.Rows)
			}
		}
		e := w.Estimated("EXPLAIN (FORMAT JSON) SELECT * FROM skewed")
		if known := e.Estimate.Rows != nil; known == s.Unscaled || known && *e.Estimate.Rows < 3000 {
			t.Errorf("%+v, %v rows, unscaled %v", e, s.Rows, s.Unscaled)
		}
	}
}
