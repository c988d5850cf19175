package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hql-db/hql"
)

const (
	// lease is how long the servers keep a scanner that nobody asks.
	lease = 3 * time.Second
	// deadline of a query: more than the recovery of a killed server takes.
	deadline = 30 * time.Second
	// grace is how long after its deadline a query may return. A second is promised;
	// the machine's processors are shared with the servers.
	grace = 2 * time.Second
)

// The tables: rows dense in id, all values computed from it.
const (
	rows    = 24_000
	padding = 400 // bytes in each row: a region takes several answers
	groups  = 50
	sites   = 40
	wideN   = 12 // rows of the table wide
	wideC   = 2000
)

const tables = `
CREATE TABLE events (id BIGINT, grp INT, n BIGINT, pad STRING) ROW KEY (id AS TEXT(8))
  SPLIT AT ('00008000', '00016000');
CREATE TABLE merged (id BIGINT, n BIGINT) ROW KEY (id % 8 AS UINT8, id AS INT64) SPLIT AT (X'02', X'04', X'06');
CREATE TABLE skipped (site INT, ts BIGINT, n BIGINT) ROW KEY (site AS TEXT(4), ts AS INT64) SPLIT AT ('0015', '0030');
CREATE TABLE groups (grp INT, name STRING) ROW KEY (grp AS TEXT(4)) SPLIT AT ('0025');
CREATE TABLE indexed (id BIGINT, code STRING, n BIGINT)
  ROW KEY by_id (id AS TEXT(8)) STORED IN 'indexed'
  INDEX by_code (code AS TEXT, '|', id AS TEXT(8)) STORED IN 'indexed_by_code';
CREATE TABLE high (k BYTES, n BIGINT) ROW KEY (k AS BYTES) SPLIT AT (X'FFFFFFFFFFFFFFFFFF', X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF');
`

func groupOf(id int) int { return id % groups }
func nOf(id int) int     { return id * 7919 % 100_003 }

// A world is the cluster, the tables on it and the observations of the test.
type world struct {
	t   *testing.T
	c   *cluster
	db  *hql.DB
	fig *figures
}

func (w *world) exec(ctx context.Context, sql string) {
	w.t.Helper()
	if _, err := w.db.Exec(ctx, sql); err != nil {
		w.t.Fatalf("%.200s: %v", sql, err)
	}
}

// insert writes n rows, made by value, with a thousand rows in each statement.
func (w *world) insert(ctx context.Context, table string, n int, value func(i int) string) {
	w.t.Helper()
	for from := 0; from < n; from += 1000 {
		var vs []string
		for i := from; i < min(n, from+1000); i++ {
			vs = append(vs, value(i))
		}
		w.exec(ctx, "INSERT INTO "+table+" VALUES "+strings.Join(vs, ","))
	}
}

func (w *world) load(ctx context.Context) {
	w.exec(ctx, tables)
	pad := strings.Repeat("x", padding)
	w.insert(ctx, "events", rows, func(i int) string { return fmt.Sprintf("(%d,%d,%d,'%s')", i, groupOf(i), nOf(i), pad) })
	w.insert(ctx, "merged", rows/4, func(i int) string { return fmt.Sprintf("(%d,%d)", i, nOf(i)) })
	w.insert(ctx, "skipped", rows/4, func(i int) string { return fmt.Sprintf("(%d,%d,%d)", i%sites, i/sites, nOf(i)) })
	w.insert(ctx, "groups", groups, func(i int) string { return fmt.Sprintf("(%d,'g%d')", i, i) })
	w.insert(ctx, "indexed", 2000, func(i int) string { return fmt.Sprintf("(%d,'c%d',%d)", i, i%100, nOf(i)) })
	w.insert(ctx, "high", highKeys, func(i int) string { return fmt.Sprintf("(X'%s',%d)", highKey(i), i) })
	for _, table := range []string{"events", "merged", "skipped"} {
		w.c.admin("flush", table)
	}
}

const highKeys = 40

// highKey returns the hexadecimal form of i+1 bytes 0xff: such keys surround region borders.
func highKey(i int) string { return strings.Repeat("FF", i+1) }

// A query is a statement and its expected rows.
type query struct {
	kind, sql string
	want      []string
	unordered bool
}

// A kind makes queries with one access, which EXPLAIN must name.
type kind struct {
	name, access string
	make         func(r *rand.Rand) query
}

func row(id int) string { return fmt.Sprintf("%d|%d|%d", id, groupOf(id), nOf(id)) }

func ids(lo, hi int, f func(int) string) []string {
	var out []string
	for i := lo; i < hi; i++ {
		out = append(out, f(i))
	}
	return out
}

func span(r *rand.Rand, n, most int) (lo, hi int) {
	lo = r.IntN(n)
	return lo, min(n, lo+1+r.IntN(most))
}

func list(xs []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(xs), " ", ","), "[]")
}

func pick(r *rand.Rand, n, k int) []int {
	xs := r.Perm(n)[:k]
	slices.Sort(xs)
	return xs
}

func idOnly(id int) string { return fmt.Sprint(id) }

var kinds = []kind{
	{"get", "get", func(r *rand.Rand) query {
		id := r.IntN(rows)
		return query{sql: fmt.Sprintf("SELECT id, grp, n FROM events WHERE id = %d", id), want: []string{row(id)}}
	}},
	{"gets", "get", func(r *rand.Rand) query {
		xs := pick(r, rows/3, 300)
		var want []string
		for i, id := range xs {
			id *= 3 // neighbours would be read as a range
			xs[i] = id
			want = append(want, row(id))
		}
		return query{sql: "SELECT id, grp, n FROM events WHERE id IN (" + list(xs) + ")", want: want, unordered: true}
	}},
	{"scan", "scan", func(r *rand.Rand) query {
		lo, hi := span(r, rows, rows/2)
		return query{sql: fmt.Sprintf("SELECT id, grp, n FROM events WHERE id >= %d AND id < %d ORDER BY id", lo, hi), want: ids(lo, hi, row)}
	}},
	{"full scan", "full scan", func(*rand.Rand) query {
		return query{sql: "SELECT id, length(pad) FROM events ORDER BY id",
			want: ids(0, rows, func(id int) string { return fmt.Sprintf("%d|%d", id, padding) })}
	}},
	{"filtered", "full scan", func(r *rand.Rand) query {
		n := r.IntN(50_000)
		var want []string
		for id := range rows {
			if nOf(id) >= n && nOf(id) < n+200 {
				want = append(want, row(id))
			}
		}
		return query{sql: fmt.Sprintf("SELECT id, grp, n FROM events WHERE n >= %d AND n < %d ORDER BY id", n, n+200), want: want}
	}},
	{"reversed", "scan", func(r *rand.Rand) query {
		lo, hi := span(r, rows, 5000)
		want := ids(lo, hi, row)
		slices.Reverse(want)
		if limit := 1 + r.IntN(4000); limit < len(want) {
			want = want[:limit]
		}
		return query{sql: fmt.Sprintf("SELECT id, grp, n FROM events WHERE id >= %d AND id < %d ORDER BY id DESC LIMIT %d", lo, hi, len(want)), want: want}
	}},
	{"reversed over 0xff", "full scan", func(*rand.Rand) query {
		want := ids(0, highKeys, idOnly)
		slices.Reverse(want)
		return query{sql: "SELECT n FROM high ORDER BY k DESC LIMIT 100", want: want}
	}},
	{"merged", "scan", func(r *rand.Rand) query {
		lo, hi := span(r, rows/4, 4000)
		return query{sql: fmt.Sprintf("SELECT id FROM merged WHERE id >= %d AND id < %d ORDER BY id", lo, hi), want: ids(lo, hi, idOnly)}
	}},
	{"skipping", "scan", func(r *rand.Rand) query {
		ts := r.IntN(rows/4/sites - 20)
		var want []string
		for site := range sites {
			for t := ts; t < ts+20; t++ {
				want = append(want, fmt.Sprintf("%d|%d|%d", site, t, nOf(t*sites+site)))
			}
		}
		all := make([]int, sites)
		for i := range all {
			all[i] = i
		}
		return query{sql: fmt.Sprintf("SELECT site, ts, n FROM skipped WHERE site IN (%s) AND ts >= %d AND ts < %d", list(all), ts, ts+20), want: want, unordered: true}
	}},
	{"aggregate", "full scan", func(*rand.Rand) query {
		sum := 0
		for id := range rows {
			sum += nOf(id)
		}
		return query{sql: "SELECT count(*), sum(n), min(id), max(id) FROM events", want: []string{fmt.Sprintf("%d|%d|0|%d", rows, sum, rows-1)}}
	}},
	{"grouped", "scan", func(r *rand.Rand) query {
		lo, hi := span(r, rows-groups, 10_000)
		hi = max(hi, lo+groups)
		count := make([]int, groups)
		for id := lo; id < hi; id++ {
			count[groupOf(id)]++
		}
		var want []string
		for g, n := range count {
			want = append(want, fmt.Sprintf("%d|%d", g, n))
		}
		return query{sql: fmt.Sprintf("SELECT grp, count(*) FROM events WHERE id >= %d AND id < %d GROUP BY grp ORDER BY grp", lo, hi), want: want}
	}},
	{"joined", "scan", func(r *rand.Rand) query {
		lo, hi := span(r, rows, 2000)
		want := ids(lo, hi, func(id int) string { return fmt.Sprintf("%d|g%d", id, groupOf(id)) })
		return query{sql: fmt.Sprintf("SELECT e.id, g.name FROM events e JOIN groups g ON e.grp = g.grp WHERE e.id >= %d AND e.id < %d", lo, hi), want: want, unordered: true}
	}},
	{"index", "scan", func(r *rand.Rand) query {
		code := r.IntN(100)
		var want []string
		for id := code; id < 2000; id += 100 {
			want = append(want, fmt.Sprintf("%d|%d", id, nOf(id)))
		}
		return query{sql: fmt.Sprintf("SELECT id, n FROM indexed WHERE code = 'c%d'", code), want: want, unordered: true}
	}},
}

// ask runs q and counts the result. It returns an error also if the rows were wrong.
func (w *world) ask(q query, pace time.Duration) error { return w.askWith(q, pace) }

// askWith is ask with arguments.
func (w *world) askWith(q query, pace time.Duration, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	began := time.Now()
	got, err := w.read(ctx, q.sql, pace, len(q.want), args...)
	took := time.Since(began)
	var verdict error
	f := w.fig
	f.do(func() {
		f.queries[q.kind]++
		f.rows += len(got)
		f.slowest = max(f.slowest, took)
		if took > deadline+grace {
			f.hung++
			f.bad("%s returned after %v", q.sql, took)
		}
		if err != nil {
			f.failed[q.kind]++
			f.errors[shape(err)]++
			verdict = err
			if strings.Contains(err.Error(), "internal error") {
				f.wrong++
				f.bad("%s: %v", q.sql, err)
			}
			return
		}
		verdict = f.compare(q, got)
	})
	return verdict
}

// read returns the rows of a query as text. With a pace it pauses twice for that time.
func (w *world) read(ctx context.Context, sql string, pace time.Duration, want int, args ...any) ([]string, error) {
	rows, err := w.db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	var got []string
	for r, err := range rows.All() {
		if err != nil {
			return got, err
		}
		var b strings.Builder
		for i, v := range r.Raw() {
			if i > 0 {
				b.WriteByte('|')
			}
			b.WriteString(v.String())
		}
		got = append(got, b.String())
		if pace > 0 && (len(got) == want/3 || len(got) == 2*want/3) {
			time.Sleep(pace)
		}
	}
	return got, nil
}

// compare counts rows that are lost, doubled, wrong or out of order.
func (f *figures) compare(q query, got []string) error {
	if slices.Equal(got, q.want) {
		return nil
	}
	left := map[string]int{}
	for _, r := range q.want {
		left[r]++
	}
	lost, doubled, wrong := 0, 0, 0
	for _, r := range got {
		n, known := left[r]
		switch {
		case !known:
			wrong++
		case n == 0:
			doubled++
		default:
			left[r]--
		}
	}
	for _, n := range left {
		lost += n
	}
	if lost+doubled+wrong == 0 {
		if q.unordered {
			return nil
		}
		wrong = 1 // the order
	}
	f.lost += lost
	f.doubled += doubled
	f.wrong += wrong
	f.bad("%.300s: %d rows, want %d: %d lost, %d doubled, %d wrong or out of order", q.sql, len(got), len(q.want), lost, doubled, wrong)
	return fmt.Errorf("%s: wrong rows", q.kind)
}

var number = regexp.MustCompile(`\d+`)

// shape returns an error's text without its varying parts.
func shape(err error) string {
	text, _, _ := strings.Cut(number.ReplaceAllString(err.Error(), "N"), "\n")
	return text[:min(len(text), 200)]
}

// readers run queries of all kinds until stop is called; stop waits for them.
func (w *world) readers(n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), uint64(i)))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for ctx.Err() == nil {
				k := kinds[r.IntN(len(kinds))]
				q := k.make(r)
				q.kind = k.name
				_ = w.ask(q, 0) // counted
			}
		}()
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// patience is how long a fault may have effects after its end: a minute after HBase's own client can read the tables
// again, which may take minutes on a busy machine.
type patience struct {
	c      *cluster
	end    time.Time
	served bool // HBase's own client was asked
}

func (w *world) patience() *patience {
	return &patience{c: w.c, end: time.Now().Add(time.Minute)}
}

// left reports whether a failed query may be tried again.
func (p *patience) left() bool {
	if time.Now().Before(p.end) {
		return true
	}
	if p.served || !p.c.waitServed(5*time.Minute) {
		return false
	}
	p.served, p.end = true, time.Now().Add(time.Minute)
	return true
}

// recovered runs one query of each kind until it is answered.
func (w *world) recovered(t *testing.T) {
	t.Helper()
	p := w.patience()
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range kinds {
		q := k.make(r)
		q.kind = k.name
		for {
			err := w.ask(q, 0)
			if err == nil {
				break
			}
			if !p.left() {
				t.Errorf("%s does not work again a minute after the fault (HBase's own client reads: %v): %v", k.name, p.served, err)
				return
			}
		}
	}
}

// explained checks that each kind of query has its access.
func (w *world) explained(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range kinds {
		p, err := w.db.Explain(context.Background(), k.make(r).sql)
		if err != nil {
			t.Fatal(err)
		}
		if p.Access != k.access {
			t.Errorf("%s: access %s, want %s", k.name, p.Access, k.access)
		}
	}
}

// missed reports whether err says that the deadline has passed.
func missed(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
