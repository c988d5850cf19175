package write_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
)

// A history is what several clients did to a table at the same time: statements that each write or read some cells, from
// when to when, and what came of them. Each cell must behave as a register: there is an order of the statements, each
// somewhere between its begin and its end, in which every read gives what was written last. A statement that failed
// may have written at any time from its begin on, or never.
type history struct {
	mu    sync.Mutex
	began time.Time
	cells map[string][]porcupine.Operation
}

// cellOp is what a statement did to one cell. Values are never written twice.
type cellOp struct {
	// kind is write, read, claim: write what must be NULL, refused: find what must not be, append: write behind what is there,
	// swap: write in place of was, kept: find another than was, may swap: swap or kept.
	kind, was string
	value     string // written; "" deletes
}

// register checks one cell. Its state is the value, "" for NULL.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		op := in.(cellOp)
		switch op.kind {
		case "read":
			return out.(string) == state.(string), state
		case "claim":
			return state.(string) == "", op.value
		case "refused":
			return state.(string) != "", state
		case "append":
			if state.(string) == "" { // NULL
				return true, state
			}
			return true, state.(string) + op.value
		case "swap":
			return state.(string) == op.was, op.value
		case "kept":
			return state.(string) != op.was, state
		case "may swap":
			if state.(string) != op.was {
				return true, state
			}
		}
		return true, op.value
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v %v", in, out) },
}

func (h *history) now() int64 { return int64(time.Since(h.began)) }

// add notes what client did to a cell; end is math.MaxInt64 for a statement that failed.
func (h *history) add(client int, cell string, op cellOp, out string, from, end int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cells[cell] = append(h.cells[cell], porcupine.Operation{ClientId: client, Input: op, Call: from, Output: out, Return: end})
}

// flaky fails some of the calls that write: before or after they did.
type flaky struct {
	hbase.Client
	mu    sync.Mutex
	rng   *rand.Rand
	share float64
	spare atomic.Int32 // above 0: definitions are being made, nothing fails
}

var errFlaky = errors.New("the answer is lost")

func (f *flaky) draw() (before, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.rng.Float64()
	if f.spare.Load() > 0 {
		return false, false
	}
	return x < f.share/2, x < f.share
}

func (f *flaky) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	before, after := f.draw()
	if before {
		return errFlaky
	}
	if err := f.Client.Mutate(ctx, table, ms); err != nil {
		return err
	}
	if after {
		return errFlaky
	}
	return nil
}

func (f *flaky) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	before, after := f.draw()
	if before {
		return false, errFlaky
	}
	ok, err := f.Client.PutIf(ctx, table, was, m)
	if err == nil && after {
		return false, errFlaky
	}
	return ok, err
}

// historyTables are tables (id, v, w) with other layouts.
var historyTables = []string{
	"ROW KEY main (id AS TEXT) STORED IN 't'",
	"ROW KEY main (id AS TEXT) STORED IN 't' INDEX other (v AS TEXT, '|', id AS TEXT) STORED IN 't_other'",
	"ROW KEY main (id AS TEXT) STORED IN 't' INDEX other (v AS TEXT, '|', w AS TEXT, '|', id AS TEXT) STORED IN 't_other'",
	"ROW KEY main (id AS TEXT) STORED IN 't' ROW KEY other (v AS TEXT, '|', id AS TEXT) STORED IN 't_other'",
	"ROW KEY main (LEFT(MD5(id), 2) AS TEXT(2), id AS TEXT) STORED IN ('t_', id AS TEXT) INDEX other (v AS TEXT, '|', w AS TEXT, '|', id AS TEXT) STORED IN ('other_', id AS TEXT)",
	"ROW KEY main (SALT(0 TO 3) AS UINT8, id AS TEXT) STORED IN 't'",
}

// historyWorld is one run: clients on one store, each an engine that may begin anew between two statements.
type historyWorld struct {
	t      *testing.T
	c      *flaky
	def    string
	made   bool
	skewed bool // the clients' clocks differ by seconds
	faulty bool
	clocks []time.Duration
	known  []string // by client: what it knows of w in row r1
	h      history
}

func (g *historyWorld) engine(client int) *World {
	ahead := g.clocks[client]
	w := NewWorld(g.t, g.c, Config{FullScan: AllowFullScan, Clock: func() time.Time { return time.Now().Add(ahead) }})
	g.c.spare.Add(1)
	defer g.c.spare.Add(-1)
	if !g.made { // the others find it
		w.Do("CREATE TABLE t (id STRING, v STRING, w STRING) " + g.def + " WITH (create_tables = true)")
		g.made = true
	}
	return w
}

// client runs n random statements.
func (g *historyWorld) client(client int, seed uint64, n int, fig func(string)) {
	r := rand.New(rand.NewPCG(seed, uint64(client)))
	w := g.engine(client)
	for i := range n {
		if r.IntN(12) == 0 {
			w = g.engine(client)
			fig("restarts")
		}
		if r.IntN(15) == 0 {
			g.c.spare.Add(1)
			_, _, err := w.Try(fmt.Sprintf("CREATE TABLE x%d (a INT) ROW KEY (a AS INT32); DROP TABLE x%d", client, client))
			g.c.spare.Add(-1)
			if err != nil {
				g.t.Error(err)
			}
			continue
		}
		g.statement(r, w, client, fmt.Sprintf("%d.%d", client, i), fig)
	}
}

// statement runs one statement about one row and notes what it did. Rows c are only inserted IF NOT EXISTS and deleted:
// their claims are checked to the letter. Row r1 is so, and updated, also by what it holds. Rows a see every statement but these; where
// clocks differ, those only that read first.
func (g *historyWorld) statement(r *rand.Rand, w *World, client int, value string, fig func(string)) {
	id := []string{"a1", "a2", "c1", "r1", "r1"}[r.IntN(5)]
	kinds := []string{"select", "insert", "insert", "null", "update v", "update w", "update null", "delete", "if not exists"}
	switch {
	case id == "r1":
		kinds = []string{"select", "update v", "update w", "update null", "append", "append", "swap", "swap", "delete", "if not exists"}
	case id == "c1", strings.Contains(g.def, "SALT"): // under a salt that is drawn each INSERT makes a row of its own
		kinds = []string{"select", "delete", "if not exists", "if not exists"}
	case g.skewed:
		kinds = []string{"select", "update v", "update w", "update null", "delete", "if not exists"}
	}
	kind := kinds[r.IntN(len(kinds))]
	if kind == "if not exists" && id[0] == 'a' && !g.skewed && !strings.Contains(g.def, "SALT") {
		kind = "insert"
	}
	v, x := "v"+value, "w"+value
	sql, writes := "", map[string]string{}
	switch kind {
	case "select":
		sql = "SELECT v, w FROM t WHERE id = '%s'"
	case "insert":
		sql, writes = "INSERT INTO t VALUES ('%s', '"+v+"', '"+x+"')", map[string]string{"v": v, "w": x}
	case "null":
		sql, writes = "INSERT INTO t VALUES ('%s', '"+v+"', NULL)", map[string]string{"v": v, "w": ""}
	case "update v":
		sql, writes = "UPDATE t SET v = '"+v+"' WHERE id = '%s'", map[string]string{"v": v}
	case "update w":
		sql, writes = "UPDATE t SET w = '"+x+"' WHERE id = '%s'", map[string]string{"w": x}
	case "update null":
		sql, writes = "UPDATE t SET w = NULL WHERE id = '%s'", map[string]string{"w": ""}
	case "append":
		sql, writes = "UPDATE t SET v = v || '+"+value+"' WHERE id = '%s'", map[string]string{"v": "+" + value}
	case "swap":
		is := "= '" + g.known[client] + "'"
		if g.known[client] == "" {
			is = "IS NULL"
		}
		sql, writes = "UPDATE t SET w = '"+x+"' WHERE id = '%s' AND w "+is, map[string]string{"w": x}
	case "delete":
		sql, writes = "DELETE FROM t WHERE id = '%s'", map[string]string{"v": "", "w": ""}
	case "if not exists":
		sql, writes = "INSERT INTO t VALUES ('%s', '"+v+"', '"+x+"') IF NOT EXISTS", map[string]string{"v": v, "w": x}
	}
	if strings.Contains(g.def, "ROW KEY other") && kind == "update null" {
		return // none of the copies' keys
	}
	fig("statements")
	from := g.h.now()
	if kind == "select" {
		out, _, err := w.Try(fmt.Sprintf(sql, id))
		if err != nil {
			g.t.Errorf("%s: %v", sql, err)
		}
		g.read(client, id, out, from)
		return
	}
	rows, err := w.Run(context.Background(), MustParse(g.t, fmt.Sprintf(sql, id)), Args{})
	end := g.h.now()
	if err != nil {
		if end = math.MaxInt64; !errors.Is(err, errFlaky) && !strings.Contains(err.Error(), "was deleted while") && !strings.Contains(err.Error(), "must not be NULL") {
			g.t.Errorf("%s: %v", sql, err)
		}
		fig("unknown")
	} else if rows.Affected == 0 {
		switch {
		case kind == "if not exists" && id[0] != 'a':
			g.h.add(client, id+" v", cellOp{kind: "refused"}, "", from, end)
		case kind == "swap" && g.known[client] != "": // else there may be no row
			g.h.add(client, id+" w", cellOp{kind: "kept", was: g.known[client]}, "", from, end)
		}
		return // it wrote nothing
	}
	for cell, value := range writes {
		op := cellOp{kind: "write", value: value}
		switch {
		case kind == "if not exists" && id[0] != 'a' && err == nil:
			op.kind = "claim"
		case kind == "append":
			op.kind = kind
		case kind == "swap" && err == nil:
			op.kind, op.was = kind, g.known[client]
		case kind == "swap":
			op.kind, op.was = "may swap", g.known[client]
		}
		g.h.add(client, id+" "+cell, op, "", from, end)
	}
	if w, ok := writes["w"]; ok && id == "r1" && err == nil {
		g.known[client] = w
	}
}

// read notes what a SELECT gave.
func (g *historyWorld) read(client int, id, out string, from int64) {
	end := g.h.now()
	v, x, _ := strings.Cut(out, "|")
	for cell, value := range map[string]string{"v": v, "w": x} {
		if value == "NULL" {
			value = ""
		}
		if id == "r1" && cell == "w" {
			g.known[client] = value
		}
		g.h.add(client, id+" "+cell, cellOp{kind: "read"}, value, from, end)
	}
}

// Every cell that clients write at the same time, with faults, restarts and clocks that differ, is a register: nothing
// that was acknowledged is lost. After it no layout shows what the rows do not say, and REPAIR makes them equal.
func TestHistories(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(8), func(t *testing.T, seed uint64, fig seeds.Figures) {
		_, c := NewStore(t)
		checkHistory(t, c, seed, fig)
	})
}

// checkHistory runs a history on c, and gives one of its connections.
func checkHistory(t *testing.T, c hbase.Client, seed uint64, fig seeds.Figures) *World {
	r := rand.New(rand.NewPCG(seed, 1))
	f := &flaky{Client: c, rng: rand.New(rand.NewPCG(seed, 2))}
	clocks := make([]time.Duration, 4)
	g := &historyWorld{t: t, c: f, def: historyTables[r.IntN(len(historyTables))], skewed: r.IntN(3) == 0, faulty: r.IntN(2) == 0, clocks: clocks, known: make([]string, len(clocks)),
		h: history{began: time.Now(), cells: map[string][]porcupine.Operation{}}}
	if g.skewed {
		for i := range clocks {
			clocks[i] = time.Duration(r.IntN(8000)) * time.Millisecond
		}
	}
	first := g.engine(0)
	from := g.h.now()
	first.Do("INSERT INTO t VALUES ('a1', 'v1', 'w1'), ('a2', 'v2', 'w2') IF NOT EXISTS") // which draws every client's salt
	for _, id := range []string{"1", "2"} {
		g.h.add(0, "a"+id+" v", cellOp{kind: "write", value: "v" + id}, "", from, g.h.now())
		g.h.add(0, "a"+id+" w", cellOp{kind: "write", value: "w" + id}, "", from, g.h.now())
	}
	if g.faulty {
		f.share = 0.06
	}
	var mu sync.Mutex
	count := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		fig[what]++
	}
	together(len(clocks), func(i int) { g.client(i, seed, 25, count) })
	f.share = 0
	for _, id := range []string{"a1", "a2", "c1", "r1"} {
		from := g.h.now()
		g.read(0, id, first.Do("SELECT v, w FROM t WHERE id = '"+id+"'"), from)
	}
	for cell, ops := range g.h.cells {
		switch porcupine.CheckOperationsTimeout(register, ops, 20*time.Second) {
		case porcupine.Illegal:
			t.Errorf("%s, skewed %v, faulty %v: cell %s is no register:%s", g.def, g.skewed, g.faulty, cell, listed(ops))
		case porcupine.Unknown:
			fig["undecided"]++
		}
		fig["histories"]++
	}
	g.layouts(first)
	return first
}

func listed(ops []porcupine.Operation) string {
	var b strings.Builder
	for _, op := range ops {
		fmt.Fprintf(&b, "\n%9.3f %9.3f client %d: %v %q", float64(op.Call)/1e6, float64(min(op.Return, 1e12))/1e6, op.ClientId, op.Input, op.Output)
	}
	return b.String()
}

// layouts compares what the layouts give.
func (g *historyWorld) layouts(w *World) {
	if !strings.Contains(g.def, "other") {
		return
	}
	const by = "SELECT /*+ LAYOUT(%s) */ id, v, w FROM t WHERE v IS NOT NULL AND w IS NOT NULL"
	const both = " ORDER BY 1"
	rows := map[string]bool{}
	for _, row := range strings.Split(w.Do(fmt.Sprintf(by, "main")), "\n") {
		rows[row] = true
	}
	for _, row := range strings.Split(w.Do(fmt.Sprintf(by, "other")), "\n") {
		if row != "" && !rows[row] {
			g.t.Errorf("%s: %s is no row: %v", g.def, row, rows)
		}
	}
	if strings.Contains(g.def, "ROW KEY other") && w.Do("SELECT COUNT(*) FROM t WHERE v IS NULL") != "0" {
		return // an UPDATE left half of a row that was deleted meanwhile: no copy can hold it
	}
	if lacking := strings.Split(w.Do("CHECK TABLE t"), "\n")[0]; !g.faulty && lacking != "other|rows without an entry|0" {
		g.t.Errorf("%s, skewed %v: %s", g.def, g.skewed, lacking)
	}
	w.Do("CHECK TABLE t REPAIR")
	for _, line := range strings.Split(w.Do("CHECK TABLE t"), "\n") {
		if !strings.HasSuffix(line, "|0") {
			g.t.Errorf("%s: after REPAIR %s", g.def, line)
		}
	}
	want := w.Do("SELECT /*+ LAYOUT(main) */ id, v, w FROM t WHERE v IS NOT NULL AND w IS NOT NULL" + both)
	w.Expect(want, "SELECT /*+ LAYOUT(other) */ id, v, w FROM t WHERE v IS NOT NULL AND w IS NOT NULL"+both)
}
