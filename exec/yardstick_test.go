package exec

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
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
		yardstick(t, c, 100_000)
	})
	t.Run("HBase", func(t *testing.T) { yardstick(t, dialHBase(t), 1_000_000) })
}

// yardstickTime bounds how long queries are asked of one store.
const yardstickTime = 15 * time.Minute

// yardstick prints the figures of tables with n rows in all.
func yardstick(t *testing.T, c hbase.Client, n int) {
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	tables := []string{"skewed", "parcels", "sensors", "levels"}
	for _, name := range tables {
		defer w.run("DROP TABLE IF EXISTS " + name)
	}
	fillYardstick(w, n)
	analyzed, used := time.Now(), serverCPU(t)
	for _, name := range tables {
		start := time.Now()
		w.run("ANALYZE " + name)
		t.Logf("ANALYZE %s: %v", name, time.Since(start).Round(time.Millisecond))
	}
	took := time.Since(analyzed).Seconds()
	t.Logf("ANALYZE of %d rows: %.1f s, %.2f cores of the server", n, took, (serverCPU(t)-used)/took)
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
	var all []priced
	// timed gives the best time of a few that a plan takes; one that was timed already is not timed again.
	timed := func(times map[string]time.Duration, w *world, sql string) time.Duration {
		var lines []string
		for _, l := range strings.Split(w.run("EXPLAIN "+sql), "\n") {
			if f := strings.Fields(l); !slices.Contains([]string{"chosen", "not", "layout", "estimated", "to"}, f[0]) {
				lines = append(lines, l)
			}
		}
		key := strings.Join(lines, "\n")
		if times[key] > 0 {
			return times[key]
		}
		did := priced{}
		if err := json.Unmarshal([]byte(w.run("EXPLAIN (ANALYZE, FORMAT JSON) "+sql)), &did); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			start := time.Now()
			w.read(sql)
			if took := time.Since(start); times[key] == 0 || took < times[key] {
				times[key] = took
			}
			if i > 0 && times[key] > 500*time.Millisecond {
				break
			}
		}
		did.took = float64(times[key].Microseconds())
		all = append(all, did)
		return times[key]
	}
	var qs, slower, before []float64
	for i := range 4 * len(forms) {
		if time.Since(analyzed) > yardstickTime {
			break
		}
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
	t.Logf("prices in microseconds that fit these times: %s", fitted(all))
}

// fillYardstick makes the tables, with n rows in all.
func fillYardstick(w *world, n int) {
	start := time.Now()
	w.run(skewedTable)
	r := rand.New(rand.NewPCG(3, 3))
	zipf := rand.NewZipf(r, 1.1, 1, 800)
	w.load("skewed", 4*n/10, func(i int) string { return skewedRow(r, zipf, i) })
	w.run(parcelsTable)
	w.load("parcels", 3*n/10, parcelRow(rand.New(rand.NewPCG(4, 4))))
	w.run(sensorsTable)
	w.run(levelsTable)
	wide := strings.Repeat("wide ", 100)
	w.load("sensors", n/10, func(i int) string { return fmt.Sprintf("('host%d', %d, %d, '%s')", i%7, i, i%100, wide) })
	w.load("levels", 2*n/10, func(i int) string { return fmt.Sprintf("(%d, %d, %d, %d)", i%5, i%11, i, i%1000) })
	w.t.Logf("%d rows written in %v", n, time.Since(start).Round(time.Millisecond))
}

const (
	sensorsTable = `CREATE TABLE sensors (host STRING, ts BIGINT, v BIGINT FROM d:v, text STRING FROM d:text) ROW KEY (host AS TEXT, X'00', ts AS INT64)`
	levelsTable  = `CREATE TABLE levels (site BIGINT, floor INT, seq INT, v BIGINT FROM d:v) ROW KEY (site AS INT64, floor AS INT32, seq AS INT32)`
)

// load is fill with several statements at a time, each of many rows.
func (w *world) load(table string, n int, value func(i int) string) {
	w.t.Helper()
	statements := make(chan string)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for sql := range statements {
				if _, err := w.Run(w.t.Context(), mustParse(w.t, sql), Args{}); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	const rows = 1000
	for from := 0; from < n; from += rows {
		var vs []string
		for i := from; i < min(n, from+rows); i++ {
			vs = append(vs, value(i))
		}
		statements <- "INSERT INTO " + table + " VALUES " + strings.Join(vs, ",")
	}
	close(statements)
	workers.Wait()
}

// serverCPU is the CPU time in seconds of the process that SPID names; 0 where none is named.
func serverCPU(t *testing.T) float64 {
	t.Helper()
	b, err := os.ReadFile("/proc/" + os.Getenv("SPID") + "/stat")
	if os.Getenv("SPID") == "" || err != nil {
		return 0
	}
	ticks := 0.0
	for _, f := range strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[11:13] {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return ticks / 100
}

// priced is what a plan did and how long that took, in microseconds.
type priced struct {
	took    float64
	Analyze struct {
		RPCs     float64 `json:"rpcs"`
		Gets     float64 `json:"gets"`
		Scanned  float64 `json:"rows_scanned"`
		RowsRead float64 `json:"rows_read"`
		Bytes    float64 `json:"bytes"`
	}
}

// amounts are what prices are for.
func (p *priced) amounts() []float64 {
	a := &p.Analyze
	return []float64{1, a.RPCs, a.Gets, a.Scanned, a.RowsRead, a.Bytes}
}

// fitted gives the prices, none below zero, by which the times of all are met with the least squares of relative errors.
func fitted(all []priced) string {
	names := []string{"statement", "RPC", "Get", "row looked at", "row sent", "byte"}
	prices := make([]float64, len(names))
	for range 5000 {
		for k := range prices {
			top, below := 0.0, 0.0
			for i := range all {
				as := all[i].amounts()
				rest := 1.0
				for j, a := range as {
					if j != k {
						rest -= prices[j] * a / all[i].took
					}
				}
				x := as[k] / all[i].took
				top, below = top+x*rest, below+x*x
			}
			if below > 0 {
				prices[k] = max(0, top/below)
			}
		}
	}
	out, off := "", []float64{}
	for i := range all {
		sum := 0.0
		for j, a := range all[i].amounts() {
			sum += prices[j] * a
		}
		off = append(off, math.Exp(math.Abs(math.Log(max(sum, 1e-9)/all[i].took))))
	}
	for i, name := range names {
		out += fmt.Sprintf("%s %.3g, ", name, prices[i])
	}
	slices.Sort(off)
	return out + fmt.Sprintf("off by %.2f in the median, %.2f at 95 per cent", off[len(off)/2], off[len(off)*95/100])
}
