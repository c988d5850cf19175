package exec

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner"
)

// The yardstick of statistics: how near estimates are on skewed data of several shapes, and how much slower the plan that they choose is than
// the best of the others. It is long, and times are no test: it runs with HQL_LARGE=1 and prints figures.
func TestYardstick(t *testing.T) {
	if !large() {
		t.Skip("HQL_LARGE=1 runs it")
	}
	t.Run("embedded", func(t *testing.T) {
		_, c := newStore(t)
		yardstick(t, c, 40_000)
	})
	t.Run("HBase", func(t *testing.T) { yardstick(t, dialHBase(t), 200_000) })
}

// yardstick prints the figures of tables with n rows in all.
func yardstick(t *testing.T, c hbase.Client, n int) {
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	tables := []string{"skewed", "parcels", "sensors", "levels"}
	for _, name := range tables {
		defer w.run("DROP TABLE IF EXISTS " + name)
	}
	fillSkewed(w, 4*n/10)
	w.run(parcelsTable)
	w.fill("parcels", 3*n/10, parcelRow(rand.New(rand.NewPCG(4, 4))))
	w.run(`CREATE TABLE sensors (host STRING, ts BIGINT, v BIGINT FROM d:v, text STRING FROM d:text) ROW KEY (host AS TEXT, X'00', ts AS INT64);
		CREATE TABLE levels (site BIGINT, floor INT, seq INT, v BIGINT FROM d:v) ROW KEY (site AS INT64, floor AS INT32, seq AS INT32)`)
	wide := strings.Repeat("wide ", 100)
	w.fill("sensors", n/10, func(i int) string { return fmt.Sprintf("('host%d', %d, %d, '%s')", i%7, i, i%100, wide) })
	w.fill("levels", 2*n/10, func(i int) string { return fmt.Sprintf("(%d, %d, %d, %d)", i%5, i%11, i, i%1000) })
	for _, name := range tables {
		start := time.Now()
		w.run("ANALYZE " + name)
		t.Logf("ANALYZE %s: %v", name, time.Since(start).Round(time.Millisecond))
	}
	r := rand.New(rand.NewPCG(9, 9))
	forms := append(skewedForms(w, r), parcelForms(r)...)
	for _, form := range []func() string{
		func() string { return fmt.Sprintf("sensors WHERE ts = %d", r.IntN(n/10)) },
		func() string { return fmt.Sprintf("sensors WHERE v < %d AND host > 'host%d'", 1+r.IntN(50), r.IntN(7)) },
		func() string {
			return fmt.Sprintf("levels WHERE site = %d AND seq BETWEEN %d AND %[2]d + 50", r.IntN(5), r.IntN(2*n/10))
		},
		func() string {
			return fmt.Sprintf("levels WHERE floor = %d AND seq < %d", r.IntN(11), 1+r.IntN(2*n/10))
		},
		func() string { return fmt.Sprintf("levels WHERE v = %d", r.IntN(1000)) },
		func() string { return fmt.Sprintf("skewed WHERE uid BETWEEN %d AND 10000", 1+r.IntN(10000)) },
		func() string { return fmt.Sprintf("skewed WHERE uid = %d AND customer > 'm'", 1+r.IntN(30)) },
	} {
		forms = append(forms, func() string { return "SELECT * FROM " + form() })
	}
	engine := func(o planner.Options) *world {
		return &world{t, New(c, w.catalog, Config{FullScan: AllowFullScan, Alone: true, Planner: o})}
	}
	rules, unskipped := engine(planner.Options{}), engine(planner.Options{NoSkip: true})
	// timed is the best time of three that a plan takes; one that was timed already is not timed again.
	timed := func(times map[string]time.Duration, w *world, sql string) time.Duration {
		var lines []string
		for _, l := range strings.Split(w.run("EXPLAIN "+sql), "\n") {
			if f := strings.Fields(l); !slices.Contains([]string{"chosen", "not", "layout", "estimated"}, f[0]) {
				lines = append(lines, l)
			}
		}
		key := strings.Join(lines, "\n")
		if times[key] > 0 {
			return times[key]
		}
		for range 3 {
			start := time.Now()
			w.run(sql)
			if took := time.Since(start); times[key] == 0 || took < times[key] {
				times[key] = took
			}
		}
		return times[key]
	}
	var qs, slower, before []float64
	for i := range 4 * len(forms) {
		q := forms[i%len(forms)]()
		e := estimatedBy(t, w, "EXPLAIN (ANALYZE, FORMAT JSON) "+q)
		if e.Analyze.QError == nil {
			t.Errorf("%s: nothing is estimated", q)
			continue
		}
		qs = append(qs, *e.Analyze.QError)
		times := map[string]time.Duration{}
		chosen, usual := timed(times, w, q), timed(times, rules, q)
		timed(times, unskipped, q)
		timed(times, rules, strings.Replace(q, "SELECT", "SELECT /*+ LAYOUT(primary) */", 1))
		if strings.Contains(q, "uid") {
			timed(times, rules, strings.Replace(q, "SELECT", "SELECT /*+ INDEX(by_uid) */", 1))
		}
		best := slices.Min(slices.Collect(maps.Values(times)))
		slower, before = append(slower, float64(chosen)/float64(best)), append(before, float64(usual)/float64(best))
		if f := slower[len(slower)-1]; f > 1.5 || *e.Analyze.QError > 10 {
			t.Logf("q-error %v, %.2f times as slow as the best (%v): %s", *e.Analyze.QError, f, best.Round(time.Microsecond), q)
		}
	}
	print := func(what string, fs []float64) {
		slices.Sort(fs)
		within := 0
		for _, f := range fs {
			if f <= 1.5 {
				within++
			}
		}
		t.Logf("%s of %d queries: median %.2f, 95 per cent %.2f, worst %.2f, within 1.5: %d per cent", what, len(fs), fs[len(fs)/2], fs[len(fs)*95/100], fs[len(fs)-1], 100*within/len(fs))
	}
	print("q-error", qs)
	print("time by statistics over the best", slower)
	print("time by rules over the best", before)
}
