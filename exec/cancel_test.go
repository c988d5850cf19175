package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// A statement that is cancelled, timed out or closed, or one of whose calls fails, is an error or a whole answer, wherever
// in its course that happens: each of its steps, which are the calls of the client and of every operator, is a place to
// end it at.

// stepping counts the steps of one statement and ends it at one of them. Its scans give few rows at a time.
type stepping struct {
	hbase.Client
	n   atomic.Int64
	at  int64
	do  func() // at that step
	err error  // of the call at that step
}

func (s *stepping) step() error {
	if s.n.Add(1) == s.at {
		s.do()
		return s.err
	}
	return nil
}

// around calls f between two steps. When one of them fails, so does f: it is called all the same when that is the second.
func around[T any](s *stepping, f func() (T, error)) (T, error) {
	var none T
	if err := s.step(); err != nil {
		return none, err
	}
	out, err := f()
	if failed := s.step(); failed != nil {
		return none, failed
	}
	return out, err
}

func (s *stepping) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	return around(s, func() ([]hbase.Row, error) { return s.Client.Get(ctx, table, keys, o) })
}

func (s *stepping) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if err := s.step(); err != nil {
		return nil, err
	}
	r.BatchRows = 30
	sc, err := s.Client.Scan(ctx, r, o)
	return &steppingScanner{sc, s}, err
}

func (s *stepping) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	_, err := around(s, func() (any, error) { return nil, s.Client.Mutate(ctx, table, ms) })
	return err
}

func (s *stepping) Increment(ctx context.Context, table string, key []byte, family, qualifier string, n int64) (int64, error) {
	return around(s, func() (int64, error) { return s.Client.Increment(ctx, table, key, family, qualifier, n) })
}

func (s *stepping) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	return around(s, func() (bool, error) { return s.Client.PutIf(ctx, table, was, m) })
}

func (s *stepping) Tables(ctx context.Context, prefix string) ([]string, error) {
	return around(s, func() ([]string, error) { return s.Client.Tables(ctx, prefix) })
}

func (s *stepping) Families(ctx context.Context, table string) ([]hbase.Family, error) {
	return around(s, func() ([]hbase.Family, error) { return s.Client.Families(ctx, table) })
}

func (s *stepping) KnownRegions(ctx context.Context, table string) ([]hbase.Region, error) {
	return around(s, func() ([]hbase.Region, error) { return s.Client.KnownRegions(ctx, table) })
}

type steppingScanner struct {
	hbase.Scanner
	s *stepping
}

func (s *steppingScanner) Next(ctx context.Context) ([]hbase.Row, error) {
	return around(s.s, func() ([]hbase.Row, error) { return s.Scanner.Next(ctx) })
}

// wrap is operator.Options.Wrap.
func (s *stepping) wrap(_ plan.Node, op operator.Operator) operator.Operator {
	return &steppingOp{op, s}
}

type steppingOp struct {
	operator.Operator
	s *stepping
}

func (o *steppingOp) Next(ctx context.Context) ([][]types.Value, error) {
	return around(o.s, func() ([][]types.Value, error) { return o.Operator.Next(ctx) })
}

// endedStatement is a statement to be ended. $ represents the prefix of a test's table names.
type endedStatement struct {
	sql     string
	memory  int64  // RunOptions.MemoryLimit
	sorted  bool   // its rows come in this order
	after   string // for a statement that writes: a query whose rows show its effect
	restore string // of one that writes: statements that undo it
	steps   int64  // of a run to its end
	took    time.Duration
	want    []string
}

const endedTables = `
CREATE TABLE $t (id BIGINT, n INT, s STRING, d DOUBLE) ROW KEY (id % 4 AS UINT8, id AS INT64) SPLIT AT (X'01', X'02', X'03');
CREATE TABLE $u (k INT, name STRING) ROW KEY (k AS INT32) SPLIT AT (X'80000014');
CREATE TABLE $x (id INT, tel STRING, v INT) ROW KEY (id AS INT32) INDEX tel (tel AS TEXT(8), id AS INT32);
CREATE TABLE $z (a STRING, b INT, v INT) ROW KEY (a AS TEXT, '|', b AS INT32);
CREATE TABLE $names (name STRING, no BIGINT) ROW KEY (name AS TEXT);
CREATE TABLE $l (name STRING, id INT, v INT) ROW KEY (LOOKUP($names.no, name) AS INT64, id AS INT32);
CREATE TABLE $day (at DATE, id INT, v INT) STORED IN ('$day_', at AS TEXT('yyyyMMdd')) ROW KEY (id AS INT32);
CREATE TABLE $to (id BIGINT, n INT, s STRING) ROW KEY (id AS INT64);
CREATE TABLE $ix (id INT, tel STRING, v INT) ROW KEY (id AS INT32) INDEX tel (tel AS TEXT(8), id AS INT32);
CREATE TABLE $nl (name STRING, id INT, v INT) ROW KEY (LOOKUP($names.no, name) AS INT64, id AS INT32)`

var endedStatements = []endedStatement{
	{sql: "SELECT id, n, s FROM $t"},
	{sql: "SELECT count(*), sum(n), max(id) FROM $t"},
	{sql: "SELECT count(DISTINCT n), count(DISTINCT s) FROM $t"},
	{sql: "SELECT id FROM $t WHERE n > 20 AND s LIKE 'text%'"},
	{sql: "SELECT id FROM $t ORDER BY id", sorted: true},
	{sql: "SELECT id FROM $t ORDER BY id LIMIT 70", sorted: true},
	{sql: "SELECT id FROM $t WHERE id % 4 = 2 ORDER BY id DESC LIMIT 60", sorted: true},
	{sql: "SELECT id FROM $t WHERE id IN (1, 2, 3, 77, 301, 5000)"},
	{sql: "SELECT id FROM $t WHERE id IN (1, 2, 3, 77, 301, 5000) ORDER BY id LIMIT 3", sorted: true},
	{sql: "SELECT id, s FROM $t WHERE id = 77"},
	{sql: "SELECT id FROM $t ORDER BY n, id DESC", sorted: true},
	{sql: "SELECT id, s FROM $t ORDER BY s DESC, id", sorted: true, memory: 30_000},
	{sql: "SELECT n, count(*), min(s) FROM $t GROUP BY n"},
	{sql: "SELECT id, s, count(*) FROM $t GROUP BY id, s", memory: 30_000},
	{sql: "SELECT n FROM $t GROUP BY n HAVING count(*) > 3 ORDER BY n", sorted: true},
	{sql: "SELECT DISTINCT n, d FROM $t"},
	{sql: "SELECT DISTINCT id, s FROM $t", memory: 20_000},
	{sql: "SELECT DISTINCT a FROM $z"},
	{sql: "SELECT a, count(*) FROM $z GROUP BY a"},
	{sql: "SELECT a, b FROM $z ORDER BY a DESC", sorted: true},
	{sql: "SELECT t.id, u.name FROM $t t JOIN $u u ON u.k = t.n"},
	{sql: "SELECT t.id, u.name FROM $t t LEFT JOIN $u u ON u.k = t.n AND u.name < 'name 3'"},
	{sql: "SELECT t.id, u.k FROM $t t FULL JOIN $u u ON u.k = t.n + 10"},
	{sql: "SELECT a.id, b.id FROM $t a JOIN $t b ON a.s = b.s", memory: 30_000},
	{sql: "SELECT u.k, t.s FROM $u u JOIN $t t ON t.id = u.k WHERE u.k < 30"},
	{sql: "SELECT count(*) FROM $u a CROSS JOIN $u b WHERE a.k < b.k"},
	{sql: "SELECT n FROM $t UNION SELECT k FROM $u"},
	{sql: "SELECT n FROM $t UNION ALL SELECT k FROM $u"},
	{sql: "SELECT n FROM $t INTERSECT SELECT k FROM $u"},
	{sql: "SELECT n FROM $t EXCEPT SELECT k FROM $u"},
	{sql: "WITH c AS (SELECT n, count(*) AS q FROM $t GROUP BY n) SELECT c.n, u.name FROM c JOIN $u u ON u.k = c.n WHERE q > 2"},
	{sql: "SELECT id FROM $t WHERE n = (SELECT max(k) FROM $u)"},
	{sql: "SELECT k FROM $u WHERE k IN (SELECT n FROM $t WHERE id > 100)"},
	{sql: "SELECT k FROM $u WHERE k NOT IN (SELECT n + 10 FROM $t)"},
	{sql: "SELECT k FROM $u u WHERE EXISTS (SELECT 1 FROM $t t WHERE t.n = u.k + 5)"},
	{sql: "SELECT k, (SELECT count(*) FROM $t t WHERE t.n = u.k) FROM $u u"},
	{sql: "SELECT u.k, x.id FROM $u u LEFT JOIN LATERAL (SELECT id FROM $t t WHERE t.n = u.k ORDER BY id LIMIT 2) x ON TRUE WHERE u.k < 20"},
	{sql: "WITH RECURSIVE r AS (SELECT k FROM $u WHERE k < 5 UNION SELECT u.k FROM r JOIN $u u ON u.k = r.k + 7) SELECT k FROM r"},
	{sql: "SELECT id, v FROM $x WHERE tel = 'tel 3'"},
	{sql: "SELECT id, v FROM $x WHERE tel >= 'tel 2' ORDER BY tel, id LIMIT 40", sorted: true},
	{sql: "SELECT name, id, v FROM $l"},
	{sql: "SELECT id, v FROM $l WHERE name = 'nine'"},
	{sql: "SELECT at, id, v FROM $day"},
	{sql: "SELECT id, v FROM $day WHERE at >= DATE '2026-01-02' AND at < DATE '2026-01-04' ORDER BY id", sorted: true},
	{sql: "SELECT count(*) FROM (SELECT id FROM $t LIMIT 50) q"},
	{sql: "CHECK TABLE $x"},
	{sql: "COPY $t TO '$FILE.csv'"},
	{sql: "COPY (SELECT n, count(*) FROM $t GROUP BY n) TO '$FILE.jsonl'"},
	{sql: "COPY $to FROM '$IN.csv'", after: "SELECT id, n, s FROM $to", restore: "DELETE FROM $to"},
	{sql: "INSERT INTO $to VALUES (1, 2, 'x'), (3, 4, 'y'), (-5, 6, NULL)", after: "SELECT id, n, s FROM $to", restore: "DELETE FROM $to"},
	{sql: "INSERT INTO $to SELECT id, n, s FROM $t WHERE n < 10", after: "SELECT id, n, s FROM $to", restore: "DELETE FROM $to"},
	{sql: "UPDATE $ix SET v = v + 1000, tel = 'new' WHERE v < 1000 AND id % 3 = 1", after: "SELECT id, tel, v FROM $ix",
		restore: "INSERT INTO $ix SELECT id, tel, v FROM $x"},
	{sql: "DELETE FROM $ix WHERE tel >= 'tel 2'", after: "SELECT id, tel, v FROM $ix", restore: "INSERT INTO $ix SELECT id, tel, v FROM $x"},
	{sql: "DELETE FROM $ix WHERE id IN (SELECT k FROM $u)", after: "SELECT id, tel, v FROM $ix", restore: "INSERT INTO $ix SELECT id, tel, v FROM $x"},
	{sql: "INSERT INTO $nl SELECT name, id, v FROM $l WHERE id < 30", after: "SELECT name, id, v FROM $nl", restore: "DELETE FROM $nl"},
}

// endedWorld is the tables that statements are ended on. It is for one goroutine.
type endedWorld struct {
	*world
	prefix, dir string
	statements  []endedStatement
	runs        int
}

func newEndedWorld(t testing.TB, c hbase.Client, prefix string) *endedWorld {
	last := int64(0)
	clock := func() time.Time { // later at each call: what one engine writes, none overwrites with an earlier time
		last = max(last+1, time.Now().UnixMilli())
		return time.UnixMilli(last)
	}
	w := &endedWorld{world: newWorld(t, c, Config{FullScan: AllowFullScan, Clock: clock}), prefix: prefix, dir: t.TempDir()}
	w.Do(w.named(endedTables))
	insert := func(table string, n int, row func(i int) string) {
		var rows []string
		for i := range n {
			rows = append(rows, row(i))
		}
		w.Do(w.named("INSERT INTO $" + table + " VALUES " + strings.Join(rows, ", ")))
	}
	insert("t", 400, func(i int) string { return fmt.Sprintf("(%d, %d, 'text %d', %d.5)", i, i%47, i, i%3) })
	insert("u", 40, func(i int) string { return fmt.Sprintf("(%d, 'name %d')", i, i) })
	for _, table := range []string{"x", "ix"} {
		insert(table, 150, func(i int) string { return fmt.Sprintf("(%d, 'tel %d', %d)", i, i%5, i) })
	}
	insert("z", 300, func(i int) string { return fmt.Sprintf("('a%s', %d, %d)", strings.Repeat("\x10", i%7), i, i) })
	insert("l", 150, func(i int) string {
		return fmt.Sprintf("('%s', %d, %d)", []string{"seven", "eight", "nine"}[i%3], i, i)
	})
	insert("day", 120, func(i int) string { return fmt.Sprintf("(DATE '2026-01-%02d', %d, %d)", 1+i%4, i, i) })
	var in strings.Builder
	in.WriteString("id,n,s\n")
	for i := range 1500 {
		fmt.Fprintf(&in, "%d,%d,line %d\n", i, i%10, i)
	}
	if err := os.WriteFile(w.file("IN.csv"), []byte(in.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	w.statements = slices.Clone(endedStatements)
	for i := range w.statements {
		s := &w.statements[i]
		for _, text := range []*string{&s.sql, &s.after, &s.restore} {
			*text = w.named(*text)
		}
		begin := time.Now()
		st := &stepping{Client: c}
		var err error
		if s.want, err = w.rows(context.Background(), s, st, nil); err != nil {
			t.Fatalf("%s: %v", s.sql, err)
		}
		if s.after != "" {
			s.want = w.written(s)
			w.Do(s.restore)
		}
		w.removeFiles()
		if s.steps, s.took = st.n.Load(), time.Since(begin); len(s.want) == 0 || s.steps == 0 {
			t.Fatalf("%s: %d rows in %d steps", s.sql, len(s.want), s.steps)
		}
	}
	return w
}

func (w *endedWorld) file(name string) string { return filepath.Join(w.dir, w.prefix+name) }

func (w *endedWorld) named(sql string) string {
	return strings.NewReplacer("$FILE", w.file("FILE"), "$IN", w.file("IN"), "$", w.prefix).Replace(sql)
}

// written gives the rows that a statement has left.
func (w *endedWorld) written(s *endedStatement) []string {
	rows := strings.Split(w.Do(s.after), "\n")
	slices.Sort(rows)
	return rows
}

// rows runs a statement on an engine of its own and gives all its rows, or the lines of the file that it makes.
// fetch, if not nil, is called before each batch.
func (w *endedWorld) rows(ctx context.Context, s *endedStatement, st *stepping, fetch func(e *Engine, rows *Rows)) (out []string, err error) {
	stmt, err := parser.ParseStatement(s.sql)
	if err != nil {
		return nil, err
	}
	e := New(st, w.catalog, w.cfg)
	defer e.Close()
	if st.do == nil {
		st.do = func() {}
	}
	if do := st.do; ctx.Value(closesEngine{}) != nil {
		closed := make(chan struct{})
		st.do = func() {
			go func() {
				defer close(closed)
				e.Close()
			}()
			do()
		}
	}
	l, err := e.lives.begin(ctx, e.session)
	if err != nil {
		return nil, err
	}
	began := now(e.client)
	var beside <-chan error
	if w.runs++; w.runs%2 == 0 { // the statement begins with definitions that may be old
		e.defs.checked.Store(-1)
		if beside, err = e.look(l.ctx, stmt, false); err != nil {
			l.mu.Unlock()
			return nil, l.why(err)
		}
	}
	r := e.newRun(Args{Options: RunOptions{MemoryLimit: s.memory, Parallelism: 4}}, began)
	r.Opt.Wrap = st.wrap
	rows, err := r.start(l, stmt, nil, beside)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		if fetch != nil {
			fetch(e, rows)
		}
		batch, err := rows.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			if _, again := rows.Next(); again != err {
				return nil, fmt.Errorf("after the error %w the rows end with %v", err, again)
			}
			return nil, err
		}
		for _, row := range batch {
			var b strings.Builder
			for _, v := range row {
				b.WriteString(v.String())
				b.WriteByte('|')
			}
			out = append(out, b.String())
		}
	}
	if c, ok := stmt.(*parser.Copy); ok && c.To {
		b, err := os.ReadFile(c.File)
		if err != nil {
			return nil, err
		}
		out = strings.Split(string(b), "\n")
	}
	if !s.sorted {
		slices.Sort(out)
	}
	return out, nil
}

// removeFiles removes what COPY TO has left.
func (w *endedWorld) removeFiles() []string {
	left, _ := filepath.Glob(w.file("FILE*"))
	for _, f := range left {
		os.Remove(f)
	}
	return left
}

// closesEngine marks a context under which the engine is closed at the step.
type closesEngine struct{}

// ending is how a statement is ended, and with what error.
type ending struct {
	name string
	err  error
}

var ends = []ending{
	{"cancelled", context.Canceled},
	{"timed out", context.DeadlineExceeded},
	{"closed", errRowsClosed},
	{"engine closed", ErrClosed},
}

// errCall is that of a call that fails.
var errCall = errors.New("the call failed")

// check ends the n-th statement and tells what came of it: "" for a whole answer, else how it was ended.
func (w *endedWorld) check(n, round int, random *rand.Rand) (string, error) {
	return w.checkEnd(n, round, random, ends[random.IntN(len(ends))])
}

// checkEnd ends it as how says.
func (w *endedWorld) checkEnd(n, round int, random *rand.Rand, how ending) (string, error) {
	s := &w.statements[n%len(w.statements)]
	st := &stepping{Client: w.client, at: 1 + int64(round)%s.steps}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	closing := -1 // batches after which the rows are closed
	switch how.err {
	case context.Canceled:
		st.do = cancel
	case context.DeadlineExceeded:
		st.at = 0
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.Int64N(int64(s.took)+1)))
		defer cancel()
	case errRowsClosed:
		st.at = 0
		closing = random.IntN(4)
	case ErrClosed:
		ctx = context.WithValue(ctx, closesEngine{}, true)
	case errCall:
		st.err = errCall
	}
	slow := time.Duration(0)
	if random.IntN(4) == 0 {
		slow = time.Duration(random.IntN(int(2 * time.Millisecond)))
	}
	hangs := time.AfterFunc(time.Minute, func() { panic("hangs: " + s.sql) })
	defer hangs.Stop()
	batches := 0
	got, err := w.rows(ctx, s, st, func(_ *Engine, rows *Rows) {
		time.Sleep(slow)
		if batches == closing {
			rows.Close()
		}
		batches++
	})
	describe := func(err error) error {
		return fmt.Errorf("%s\n%s at step %d of %d, the consumer waits %v: %w", s.sql, how.name, st.at, s.steps, slow, err)
	}
	whole := err == nil
	if !whole && !errors.Is(err, how.err) {
		return "", describe(fmt.Errorf("another error: %w", err))
	}
	if s.after != "" {
		if !whole { // repeated, it does what is left
			if _, err := w.rows(context.Background(), s, &stepping{Client: w.client}, nil); err != nil {
				return "", describe(fmt.Errorf("repeated: %w", err))
			}
		}
		got = w.written(s)
		w.Do(s.restore)
	}
	if left := w.removeFiles(); !whole && len(left) > 0 {
		return "", describe(fmt.Errorf("%q is left", left))
	}
	if (whole || s.after != "") && !slices.Equal(got, s.want) {
		return "", describe(fmt.Errorf("%d rows in place of %d, and no error", len(got), len(s.want)))
	}
	if whole {
		return "", nil
	}
	return how.name, nil
}

// checkEnded ends n statements, on as many worlds at a time as at says.
func checkEnded(t *testing.T, c hbase.Client, n, at int) {
	first, n := seeds.Range(t, n)
	fig := seeds.Figures{"cancelled": 0, "closed": 0, "timed out": 0, "engine closed": 0, "whole": 0}
	wrong := 0
	defer func() { t.Logf("figures: statements %d, %s, wrong %d, seeds from %d", n, fig, wrong, first) }()
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range at {
		w := newEndedWorld(t, c, fmt.Sprintf("c%x_%d", first&0xffffffff, i))
		defer w.drop()
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				seed := first + uint64(i)
				how, err := w.check(i, int(seed)/len(w.statements), rand.New(rand.NewPCG(seed, 0)))
				mu.Lock()
				if err != nil {
					wrong++
					t.Error(err)
				} else if how == "" {
					fig["whole"]++
				} else {
					fig[how]++
				}
				stop := wrong >= 10
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	wg.Wait()
}

func (w *endedWorld) drop() {
	for _, table := range []string{"t", "u", "x", "z", "l", "nl", "names", "day", "to", "ix"} {
		w.Do("DROP TABLE " + w.prefix + table)
	}
}

// Statements that are ended at each of their steps.
func TestEnded(t *testing.T) {
	t.Parallel()
	s, c := NewStore(t)
	checkEnded(t, c, race.Fewer(150), 4)
	for end := time.Now().Add(10 * time.Second); s.OpenScanners() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d scanners are open", s.OpenScanners())
		}
	}
}

// Statements of which a call fails, each call in turn but for the middle ones of the long statements.
func TestCallFails(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	_, ends := seeds.Range(t, race.Fewer(4))
	var wg sync.WaitGroup
	for i := range 4 {
		w := newEndedWorld(t, c, fmt.Sprintf("f%d", i))
		defer w.drop()
		wg.Go(func() {
			for n := i; n < len(w.statements); n += 4 {
				steps := int(w.statements[n].steps)
				for at := range steps {
					if at >= ends && at < steps-ends {
						continue
					}
					if _, err := w.checkEnd(n, at, rand.New(rand.NewPCG(uint64(at), 0)), ending{"a call failed", errCall}); err != nil {
						t.Error(err)
						break
					}
				}
			}
		})
	}
	wg.Wait()
}

// cutShort is a client whose scans fail, at one call for rows of all, with an error that is about an end.
type cutShort struct {
	hbase.Client
	at atomic.Int32
}

func (c *cutShort) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	s, err := c.Client.Scan(ctx, r, o)
	return cutShortScanner{s, c}, err
}

type cutShortScanner struct {
	hbase.Scanner
	c *cutShort
}

var errCutShort = fmt.Errorf("the connection is broken: %w", io.EOF)

func (s cutShortScanner) Next(ctx context.Context) ([]hbase.Row, error) {
	if s.c.at.Add(-1) == 0 {
		return nil, errCutShort
	}
	return s.Scanner.Next(ctx)
}

// An error that is about the end of a connection is not the end of the rows, wherever it meets a read.
func TestErrorAboutAnEnd(t *testing.T) {
	_, store := NewStore(t)
	c := &cutShort{Client: store}
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT, n INT) ROW KEY (SALT(0 TO 1) AS UINT8, id AS INT32)")
	w.Fill("t", 5000, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i%7) })
	for _, sql := range []string{"SELECT id FROM t ORDER BY id", "SELECT id FROM t ORDER BY id LIMIT 3000", "SELECT id FROM t", "SELECT n, COUNT(*) FROM t GROUP BY n ORDER BY n"} {
		c.at.Store(0)
		want := w.Do(sql)
		for at := int32(1); ; at++ {
			c.at.Store(at)
			out, _, err := w.Try(sql)
			if err == nil && c.at.Load() > 0 && out == want {
				break
			}
			if !errors.Is(err, errCutShort) {
				t.Errorf("%s, cut short at call %d: %d bytes of %d, %v", sql, at, len(out), len(want), err)
			}
		}
	}
}

// Planning ends with its statement: what is left of it is not done. Work is counted as the bytes that are allocated.
func TestPlanningEnds(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE first (id INT PRIMARY KEY, v INT); INSERT INTO first VALUES (1, 2); ANALYZE TABLE first")
	w.Do("CREATE TABLE pairs (a INT, b STRING) ROW KEY (LEFT(MD5(b), 2), a AS INT32, b AS TEXT)")
	var where []string
	for i := range 20 {
		where = append(where, fmt.Sprintf("(a <> %d OR b <> 'x%d')", i, i))
	}
	s := MustParse(t, "EXPLAIN SELECT id FROM first WHERE v = 2 UNION ALL SELECT a FROM pairs WHERE "+strings.Join(where, " AND "))
	work := func(ctx context.Context, end context.CancelFunc) (uint64, error) {
		f := &Unanswered{Client: c, Fail: func(call, table string) error {
			if call+" "+table == "get "+statisticsTable {
				end() // when the first table is planned
			}
			return nil
		}}
		e := New(f, w.catalog, Config{FullScan: AllowFullScan})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := e.Run(ctx, s, Args{})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	whole, err := work(t.Context(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	part, err := work(ctx, cancel)
	if !errors.Is(err, context.Canceled) || 5*part > whole {
		t.Errorf("%d bytes of %d: %v", part, whole, err)
	}
}

// Statements that are ended at each of their steps, on a real HBase.
func testEndedHBase(t *testing.T) { checkEnded(t, DialHBase(t), race.Fewer(30), 1) }

// stuckRow is a store that does not answer Gets of a table.
type stuckRow struct {
	hbase.Client
	table string
	asked chan struct{} // closed at the first
	once  *sync.Once
}

func (s stuckRow) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	if table != s.table {
		return s.Client.Get(ctx, table, keys, o)
	}
	s.once.Do(func() { close(s.asked) })
	<-ctx.Done()
	return nil, ctx.Err()
}

// Closing rows does not wait for a reader that reads ahead, even if its sub-query gets no answer.
func TestCloseBesideASubquery(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE few (id INT PRIMARY KEY); CREATE TABLE t (id INT, v INT) ROW KEY (id AS ORDERED INT32) SPLIT AT (X'80000005')")
	w.Fill("t", 10, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i/5) })
	stuck := stuckRow{c, "few", make(chan struct{}), new(sync.Once)}
	other := newWorld(t, stuck, Config{FullScan: AllowFullScan})
	stmts, err := parser.Parse("SELECT id FROM t WHERE v = 0 OR EXISTS (SELECT 1 FROM few WHERE few.id = t.id)")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := other.Run(t.Context(), stmts[0], Args{})
	if err != nil {
		t.Fatal(err)
	}
	if batch, err := rows.Next(); err != nil || len(batch) == 0 {
		t.Fatal(batch, err)
	}
	<-stuck.asked
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
}

// endsWithRows is a store whose Gets of a table end the statement as they give their rows.
type endsWithRows struct {
	hbase.Client
	table string
	end   context.CancelFunc
}

func (e endsWithRows) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	rows, err := e.Client.Get(ctx, table, keys, o)
	if table == e.table {
		e.end()
	}
	return rows, err
}

// If a statement ends while the entries of an INDEX are compared with their rows, no row is skipped: otherwise another
// row would be the first.
func TestEndedWhileEntriesAreCompared(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{})
	w.Do("CREATE TABLE t (id INT, n INT NOT NULL, v STRING NOT NULL, w INT) ROW KEY (id AS INT32) INDEX by_n (n AS ORDERED INT32, LEFT(MD5(UPPER(v)), 2), id AS INT32)")
	w.Do("INSERT INTO t VALUES (7, 1, ?, 1), (8, 2, 'b', 1)", types.NewString(strings.Repeat("a", 1<<17)))
	ctx, end := context.WithCancel(t.Context())
	got, _, err := newWorld(t, endsWithRows{c, "t", end}, Config{}).TryUnder(ctx, "SELECT /*+ LAYOUT(by_n) */ id FROM t WHERE n > 0 AND w = 1 ORDER BY n LIMIT 1")
	if err == nil && got != "7" || err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", got, err)
	}
	if ctx.Err() == nil {
		t.Error("no row was looked up")
	}
}

// A statement that reads its table several times, as in a sub-query, saw one state of each row that it changes, whenever
// another client changes the row.
func TestChangedBetweenReads(t *testing.T) {
	for _, test := range []struct{ meanwhile, sql string }{
		{"UPDATE t SET s = 'other' WHERE id = 1 AND s IS NULL", "UPDATE t SET s = 'me' WHERE id = (SELECT min(id) FROM t WHERE s IS NULL)"},
		{"UPDATE t SET s = 'other' WHERE id = 1 AND s IS NULL", "UPDATE t SET s = 'me' FROM (SELECT min(id) AS i FROM t WHERE s IS NULL) f WHERE f.i = t.id"},
		{"UPDATE t SET s = 'other' WHERE id = 1 AND s IS NULL", "WITH f AS (SELECT id FROM t WHERE s IS NULL ORDER BY id LIMIT 1) UPDATE t SET s = 'me' FROM f WHERE f.id = t.id"},
		{"UPDATE t SET n = n + 1 WHERE id = 1", "UPDATE t SET n = 1 + (SELECT max(n) FROM t b) WHERE id = 1"},
		{"UPDATE t SET n = n + 1 WHERE id = 1", "UPDATE t SET n = q.n + 1 FROM (SELECT id, n FROM t) q WHERE q.id = t.id AND t.id = 1"},
		{"UPDATE t SET n = n + 1 WHERE id = 1", "UPDATE t SET n = 1 + (SELECT n FROM tv WHERE tv.id = t.id) WHERE id = 1"},
	} {
		steps := int64(0)
		for at := int64(0); at <= steps; at++ { // first with no change
			_, c := NewStore(t)
			other := newWorld(t, c, Config{FullScan: AllowFullScan})
			other.Do("CREATE TABLE t (id INT, n INT, s TEXT) ROW KEY (id AS INT32) INDEX i (s AS TEXT, X'00', id AS INT32); INSERT INTO t VALUES (1, 5, NULL), (2, 1, NULL)")
			other.Do("CREATE VIEW tv AS SELECT id, n FROM t")
			var changed atomic.Int64
			st := &stepping{Client: c, at: at, do: func() { changed.Store(affected(other, test.meanwhile)) }}
			mine := affected(newWorld(t, st, Config{FullScan: AllowFullScan}), test.sql)
			steps = max(steps, st.n.Load())
			n, got := changed.Load(), other.Do("SELECT n, s FROM t WHERE id = 1")
			switch {
			case strings.Contains(test.sql, "SET n"):
				if want := fmt.Sprintf("%d|NULL", 5+mine+n); got != want {
					t.Errorf("%s, at step %d: %s, want %s", test.sql, at, got, want)
				}
			case n == 1 && got != "5|other", n == 0 && got != "5|me", mine > 1:
				t.Errorf("%s, at step %d: %d rows, and %s", test.sql, at, mine, got)
			}
		}
		if steps < 10 {
			t.Errorf("%s: %d steps", test.sql, steps)
		}
	}
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT, n INT) ROW KEY (id AS INT32); INSERT INTO t SELECT g, 0 FROM generate_series(1, 50) AS g")
	for _, sql := range []string{"UPDATE t SET n = 1 WHERE id IN (SELECT id FROM t WHERE n = 0 ORDER BY random() LIMIT 3)", "UPDATE t SET n = 2 WHERE id IN (SELECT id FROM t WHERE n = 0 LIMIT 3)"} {
		if n := affected(w, sql); n != 3 {
			t.Errorf("%s: %d rows", sql, n)
		}
	}
}

// affected runs a statement and returns how many rows it changed.
func affected(w *world, sql string) int64 {
	w.T.Helper()
	rows, err := w.Run(context.Background(), MustParse(w.T, sql), Args{})
	if err != nil {
		w.T.Errorf("%s: %v", sql, err)
		return 0
	}
	defer rows.Close()
	return rows.Affected
}
