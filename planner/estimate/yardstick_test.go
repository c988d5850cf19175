package estimate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/proc"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/planner"
)

// The yardstick of statistics: how near estimates are on skewed data of several shapes, and how much slower the plan that they choose is than
// the best of the others. It is long, and times are no test: it runs with HQL_LARGE=1 and prints figures.
func TestYardstick(t *testing.T) {
	if !Large() {
		t.Skip("HQL_LARGE=1 runs it")
	}
	t.Run("embedded", func(t *testing.T) {
		_, c := NewStore(t)
		yardstick(t, c, 100_000, func([]string) {})
	})
	t.Run("HBase", func(t *testing.T) {
		c := DialHBase(t)
		yardstick(t, c, 1_000_000, func(tables []string) { toFiles(t, c, tables) })
	})
}

// yardstickTime bounds how long queries are asked of one store.
const yardstickTime = 20 * time.Minute

// yardstickRounds is how often each form of a query is asked.
const yardstickRounds = 3

// yardstick prints the figures of tables with n rows in all, which settle puts where rows stand that were not just written.
func yardstick(t *testing.T, c hbase.Client, n int, settle func(tables []string)) {
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	tables := []string{"skewed", "parcels", "sensors", "levels"}
	for _, name := range tables {
		defer w.Do("DROP TABLE IF EXISTS " + name)
		w.Do("DROP TABLE IF EXISTS " + name)
	}
	fillYardstick(w, n)
	settle(tables)
	w.Do("SET analyze_time = '10m'") // on a machine where others run too
	analyzed, used := time.Now(), serverCPU(t)
	for _, name := range tables {
		start := time.Now()
		w.Do("ANALYZE " + name)
		t.Logf("ANALYZE %s: %v", name, time.Since(start).Round(time.Millisecond))
	}
	took, cpu := time.Since(analyzed).Seconds(), serverCPU(t)-used
	t.Logf("ANALYZE of %d rows: %.1f s, %.1f s of the server's CPU, %.2f cores", n, took, cpu, cpu/took)
	forms := yardstickForms(w, rand.New(rand.NewPCG(9, 9)), n)
	engine := func(o planner.Options) *World {
		return Of(t, New(unanalyzed{c}, w.Catalog(), Config{FullScan: AllowFullScan, Alone: true, Planner: o}))
	}
	m := &measure{t: t, by: map[string]time.Duration{}}
	rules, unskipped := engine(planner.Options{}), engine(planner.Options{NoSkip: true})
	var qs, slower, before []float64
	others := 0 // plans that are not those of rules
	asked := time.Now()
	for i := range yardstickRounds * len(forms) {
		if time.Since(asked) > yardstickTime {
			t.Logf("no time is left")
			break
		}
		ways := forms[i%len(forms)]()
		m.by, m.best = map[string]time.Duration{}, 0
		chosen := m.time(w, ways[0])
		q := m.all[len(m.all)-1].Analyze.QError
		if q == nil {
			t.Errorf("%s: nothing is estimated", ways[0])
			continue
		}
		qs = append(qs, *q)
		usual := m.time(rules, ways[0])
		m.time(unskipped, ways[0])
		for _, way := range ways[1:] {
			m.time(rules, way)
		}
		if len(m.by) > 1 && chosen != usual {
			others++
		}
		of := func(d time.Duration) float64 { return float64(d) / float64(m.best) }
		slower, before = append(slower, of(chosen)), append(before, of(usual))
		if of(chosen) > 1.5 || of(usual) > 1.5 || *q > 10 {
			t.Logf("q-error %.2f, by statistics %.2f times, by rules %.2f times as slow as the best (%v): %s", *q, of(chosen), of(usual), m.best.Round(time.Microsecond), ways[0])
		}
	}
	t.Logf("%d queries in %v, %d of them with other plans than rules give", len(qs), time.Since(asked).Round(time.Second), others)
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
	t.Logf("prices in microseconds that fit these times: %s", fitted(m.all))
	overruns(t, rules, tables)
}

// unanalyzed is a store without statistics.
type unanalyzed struct{ hbase.Client }

func (c unanalyzed) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if r.Table == catalog.StatisticsTable {
		return nil, hbase.ErrNoTable
	}
	return c.Client.Scan(ctx, r, o)
}

// yardstickForms draw queries of tables with n rows in all: the query, and other ways to ask for the same.
func yardstickForms(w *World, r *rand.Rand, n int) (forms []func() []string) {
	single := append(skewedForms(w, r), parcelForms(r)...)
	sites := func() string { return fmt.Sprintf("l.site = %d AND l.floor = %d", r.IntN(5), r.IntN(11)) }
	upTo := func(most int) int { return 1 + int(math.Pow(float64(most), r.Float64())) }
	for _, form := range []func() string{
		func() string { return fmt.Sprintf("* FROM sensors WHERE ts = %d", r.IntN(n/10)) },
		func() string {
			return fmt.Sprintf("* FROM sensors WHERE v < %d AND host > 'host%d'", 1+r.IntN(50), r.IntN(7))
		},
		func() string {
			return fmt.Sprintf("* FROM levels WHERE site = %d AND seq BETWEEN %d AND %[2]d + 50", r.IntN(5), r.IntN(2*n/10))
		},
		func() string {
			return fmt.Sprintf("* FROM levels WHERE floor = %d AND seq < %d", r.IntN(11), 1+r.IntN(2*n/10))
		},
		func() string { return fmt.Sprintf("* FROM levels WHERE v = %d", r.IntN(1000)) },
		func() string { return fmt.Sprintf("* FROM skewed WHERE uid BETWEEN %d AND 10000", 1+r.IntN(10000)) },
		func() string { return fmt.Sprintf("* FROM skewed WHERE uid = %d AND customer > 'm'", 1+r.IntN(30)) },
		func() string {
			return fmt.Sprintf("kind, count(*), max(uid) FROM skewed WHERE uid < %d GROUP BY kind", upTo(10000))
		},
		func() string {
			return fmt.Sprintf("customer, count(*) FROM skewed WHERE uid = %d GROUP BY customer", upTo(1000))
		},
		func() string {
			return fmt.Sprintf("country, count(*), max(zip) FROM parcels WHERE id < %d GROUP BY country", upTo(3*n/10))
		},
		func() string {
			return "site, floor, min(v), avg(v) FROM levels l WHERE " + sites() + " GROUP BY site, floor"
		},
	} {
		single = append(single, func() string { return "SELECT " + form() })
	}
	for _, form := range single {
		forms = append(forms, func() []string {
			q := form()
			ways := []string{q, strings.Replace(q, "SELECT", "SELECT /*+ LAYOUT(primary) */", 1)}
			if strings.Contains(q, "uid") {
				ways = append(ways, strings.Replace(q, "SELECT", "SELECT /*+ INDEX(by_uid) */", 1))
			}
			return ways
		})
	}
	for _, form := range []func() string{ // of which the key of the second table is looked up, or all of it is read
		func() string {
			return fmt.Sprintf("SELECT l.seq, p.city FROM levels l JOIN parcels p ON KEY = l.seq WHERE %s AND l.seq < %d", sites(), upTo(2*n/10))
		},
		func() string {
			return fmt.Sprintf("SELECT l.seq, p.city FROM levels l LEFT JOIN parcels p ON KEY = l.seq WHERE %s AND l.v = %d", sites(), r.IntN(1000))
		},
		func() string {
			return fmt.Sprintf("SELECT p.city, count(*) FROM skewed s JOIN parcels p ON KEY = s.seq WHERE s.uid = %d GROUP BY p.city", upTo(1000))
		},
		func() string {
			return fmt.Sprintf("SELECT s.customer, p.country FROM skewed s JOIN parcels p ON KEY = s.uid WHERE s.seq %% %d = 0 AND s.kind = 'buy'", upTo(1000))
		},
	} {
		forms = append(forms, func() []string {
			q := form()
			return []string{strings.Replace(q, "KEY", "p.id", 1), strings.Replace(q, "KEY", "p.id + 0", 1)}
		})
	}
	return forms
}

// measure takes the times of the plans of one query after the other.
type measure struct {
	t    *testing.T
	by   map[string]time.Duration // by plan, of this query
	best time.Duration            // of them; 0: none yet
	all  []priced
}

// time gives the least CPU time of a few that the plan of sql takes; a plan that was timed already is not timed again. One that is far slower than
// another is ended, and what it took until then stands for it: so queries that read much are asked in bounded time.
func (m *measure) time(w *World, sql string) time.Duration {
	const short, tooSlow = 200 * time.Millisecond, 4
	var lines []string
	for _, l := range strings.Split(w.Do("EXPLAIN "+sql), "\n") {
		if f := strings.Fields(l); !slices.Contains([]string{"chosen", "not", "layout", "estimated", "to", "first"}, f[0]) {
			lines = append(lines, strings.ReplaceAll(l, " + 0", ""))
		}
	}
	plan := strings.Join(lines, "\n")
	if took := m.by[plan]; took > 0 {
		return took
	}
	for i := 0; i < 3 && m.by[plan] < short; i++ {
		ctx, cancel := context.WithCancelCause(m.t.Context())
		if m.best > 0 {
			go m.impatient(ctx, tooSlow*m.best+short, cancel)
		}
		var text string
		var err error
		took := spent(m.t, func() { text, _, err = w.TryUnder(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+sql) })
		slow := errors.Is(context.Cause(ctx), errTooSlow)
		cancel(nil)
		if err != nil && !slow {
			m.t.Fatalf("%s: %v", sql, err)
		}
		if m.by[plan] == 0 || took < m.by[plan] {
			m.by[plan] = took
		}
		if err != nil {
			return m.by[plan]
		}
		if i > 0 {
			m.all[len(m.all)-1].took = float64(m.by[plan].Microseconds())
			continue
		}
		did := priced{took: float64(took.Microseconds())}
		if err := json.Unmarshal([]byte(text), &did); err != nil {
			m.t.Fatal(err)
		}
		m.all = append(m.all, did)
	}
	if m.best == 0 || m.by[plan] < m.best {
		m.best = m.by[plan]
	}
	return m.by[plan]
}

// errTooSlow is why a plan is ended.
var errTooSlow = errors.New("far slower than another plan")

// impatient ends a plan when more CPU time than most has been spent.
func (m *measure) impatient(ctx context.Context, most time.Duration, end context.CancelCauseFunc) {
	used := func() float64 { return ownCPU(m.t) + serverTicks(m.t) } // cheap: what it takes itself is counted too
	for begun := used(); ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if used()-begun > most.Seconds() {
			end(errTooSlow)
		}
	}
}

// sent adds up the rows that servers have sent, and keeps the most of one answer.
type sent struct{ rows, most atomic.Int64 }

// TraceRPCStart implements hbase.RPCTracer.
func (s *sent) TraceRPCStart(ctx context.Context, _ hbase.RPCStart) context.Context { return ctx }

// TraceRPCEnd implements hbase.RPCTracer.
func (s *sent) TraceRPCEnd(_ context.Context, d hbase.RPCEnd) {
	s.rows.Add(d.Rows)
	for was := s.most.Load(); d.Rows > was && !s.most.CompareAndSwap(was, d.Rows); was = s.most.Load() {
	}
}

// overruns prints by how much more is read than a statement without statistics may: at most an answer for each worker.
func overruns(t *testing.T, w *World, tables []string) {
	const workers = 16 // exec's own number
	worst := 0.0
	for _, name := range tables {
		for _, limit := range []int64{10, 1000, 5000} {
			s := &sent{}
			_, _, err := w.TryUnder(hbase.WithRPCTracer(t.Context(), s), fmt.Sprintf("SET max_scan_rows = %d; SELECT * FROM %s", limit, name))
			if !errors.Is(err, ErrScanLimit) {
				t.Errorf("%s with %d rows: %v", name, limit, err)
				continue
			}
			over := float64(s.rows.Load()-limit) / float64(max(1, s.most.Load()))
			if worst = max(worst, over); over > workers {
				t.Errorf("%s with %d rows: %d were read, at most %d in an answer", name, limit, s.rows.Load(), s.most.Load())
			}
		}
	}
	t.Logf("a budget is overrun by %.1f answers at most, with %d workers", worst, workers)
}

// fillYardstick makes the tables, with n rows in all.
func fillYardstick(w *World, n int) {
	start := time.Now()
	w.Do(SkewedTable)
	r := rand.New(rand.NewPCG(3, 3))
	zipf := rand.NewZipf(r, 1.1, 1, 800)
	load(w, "skewed", 4*n/10, func(i int) string { return SkewedRow(r, zipf, i) })
	w.Do(parcelsTable)
	load(w, "parcels", 3*n/10, parcelRow(rand.New(rand.NewPCG(4, 4))))
	w.Do(sensorsTable)
	w.Do(levelsTable)
	wide := strings.Repeat("wide ", 100)
	load(w, "sensors", n/10, func(i int) string { return fmt.Sprintf("('host%d', %d, %d, '%s')", i%7, i, i%100, wide) })
	load(w, "levels", 2*n/10, func(i int) string { return fmt.Sprintf("(%d, %d, %d, %d)", i%5, i%11, i, i%1000) })
	w.T.Logf("%d rows written in %v", n, time.Since(start).Round(time.Millisecond))
}

const (
	sensorsTable = `CREATE TABLE sensors (host STRING, ts BIGINT, v BIGINT FROM d:v, text STRING FROM d:text) ROW KEY (host AS TEXT, X'00', ts AS INT64)`
	levelsTable  = `CREATE TABLE levels (site BIGINT, floor INT, seq INT, v BIGINT FROM d:v) ROW KEY (site AS INT64, floor AS INT32, seq AS INT32)`
)

// load is fill with several statements at a time, each of many rows.
func load(w *World, table string, n int, value func(i int) string) {
	w.T.Helper()
	statements := make(chan string)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for sql := range statements {
				if _, err := w.Run(w.T.Context(), MustParse(w.T, sql), Args{}); err != nil {
					w.T.Error(err)
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

// serverPID is the process of the HBase that the tests started, or that SPID names; 0 for none.
func serverPID(t *testing.T) int {
	t.Helper()
	named := os.Getenv("SPID")
	if pid := hbasetest.PID(); pid > 0 || named == "" {
		return pid
	}
	pid, err := strconv.Atoi(named)
	if err != nil {
		t.Fatalf("SPID names no process: %v", err)
	}
	return pid
}

// serverCPU is the CPU time in seconds of the server; 0 where its process is not known.
func serverCPU(t *testing.T) float64 {
	t.Helper()
	pid := serverPID(t)
	if pid == 0 {
		return 0
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("the server %d is no process: %v", pid, err)
	}
	sum := 0.0
	for _, name := range threads {
		if b, err := os.ReadFile(name); err == nil { // threads end
			ns, err := strconv.ParseFloat(strings.Fields(string(b))[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += ns
		}
	}
	return sum / 1e9
}

// serverTicks is serverCPU in whole ticks of the clock, from one file.
func serverTicks(t *testing.T) float64 {
	t.Helper()
	pid := serverPID(t)
	if pid == 0 {
		return 0
	}
	p, err := proc.Read(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p.CPU
}

// ownCPU is the CPU time in seconds of this process.
func ownCPU(t *testing.T) float64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// spent gives the CPU time of this process and of the server while f runs: times by the clock say who else ran.
func spent(t *testing.T, f func()) time.Duration {
	t.Helper()
	server := serverCPU(t)
	own := ownCPU(t)
	f()
	own = ownCPU(t) - own
	return max(time.Duration(1e9*(own+serverCPU(t)-server)), 1)
}

// priced is what a plan did and how long that took, in microseconds.
type priced struct {
	took    float64
	Analyze struct {
		QError   *float64 `json:"q_error"`
		RPCs     float64  `json:"rpcs"`
		Gets     float64  `json:"gets"`
		Scanned  float64  `json:"rows_scanned"`
		RowsRead float64  `json:"rows_read"`
		Bytes    float64  `json:"bytes"`
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
