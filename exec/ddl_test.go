package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
)

// connections are engines of their own on one store.
func connections(t *testing.T, c hbase.Client, n int) []*world {
	var out []*world
	for range n {
		out = append(out, newWorld(t, c, Config{FullScan: AllowFullScan}))
	}
	return out
}

// Other connections see the new query of a view once the statement that changes it has ended.
func TestReplacedView(t *testing.T) {
	_, c := NewStore(t)
	ws := connections(t, c, 2)
	ws[0].Do("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20); CREATE VIEW w AS SELECT id, v FROM t")
	const q = "SELECT v FROM w WHERE id = 1"
	for _, x := range []struct{ view, want string }{{"SELECT id, v FROM t WHERE v > 10", ""}, {"SELECT id, v + 1 AS v FROM t", "11"}, {"SELECT v / 20 AS id, v FROM t", "20"}} {
		ws[1].Do(q)
		ws[0].Do("CREATE OR REPLACE VIEW w AS " + x.view)
		if got := ws[1].Do(q); got != x.want {
			t.Errorf("%s: %q, want %q", x.view, got, x.want)
		}
	}
}

// Statements that run on one connection at the same time all know what another one has just defined, whichever of them reads of it.
func TestDefinedBesideStatements(t *testing.T) {
	t.Parallel()
	_, c := NewStore(t)
	ws := connections(t, c, 2)
	for i := range 200 {
		name := fmt.Sprint("x", i)
		def := "CREATE TABLE " + name + " (id INT PRIMARY KEY)"
		if i%2 == 1 {
			def = "CREATE VIEW " + name + " AS SELECT 1 AS id"
		}
		ws[0].Do(def)
		var wg sync.WaitGroup
		for _, q := range []string{"SELECT id FROM " + name, "SELECT x.id FROM " + name + " x LEFT JOIN " + name + " y ON x.id = y.id", "DESCRIBE " + name} {
			for range 2 {
				wg.Go(func() {
					if _, _, err := ws[1].Try(q); err != nil {
						t.Errorf("%s: %s: %v", def, q, err)
					}
				})
			}
		}
		wg.Wait()
	}
}

// If several connections define tables at once, including the first of a store, each table is defined by exactly one,
// and all read and write by its definition.
func TestDefinedByOne(t *testing.T) {
	seeds.Each(t, 5, func(t *testing.T, seed uint64, fig seeds.Figures) {
		_, c := NewStore(t)
		ws := connections(t, c, 4)
		keys := []string{"(id AS INT32)", "(id AS ORDERED INT32)", "(id AS TEXT(6))", "(10 - id AS INT32) ROW KEY copy (v AS INT32, id AS INT32)"}
		var wg sync.WaitGroup
		won := make([]string, len(ws))
		for i, w := range ws {
			wg.Go(func() {
				if _, _, err := w.Try("CREATE TABLE mine" + fmt.Sprint(i) + " (id INT PRIMARY KEY); INSERT INTO mine" + fmt.Sprint(i) + " VALUES (1)"); err != nil {
					t.Error(err)
				}
				_, _, err := w.Try("CREATE TABLE t (id INT, v INT) ROW KEY " + keys[i])
				if err == nil {
					won[i] = keys[i]
				} else if err.Error() != `table "t" already exists` {
					t.Error(err)
				}
				if _, _, err = w.Try(fmt.Sprintf("INSERT INTO t VALUES (%d, %[1]d)", i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		winners := 0
		for _, k := range won {
			if k != "" {
				winners++
			}
		}
		if winners != 1 {
			t.Errorf("%d connections defined t", winners)
		}
		for _, w := range ws {
			w.Expect("0|0\n1|1\n2|2\n3|3", "SELECT * FROM t ORDER BY id")
			w.Expect("2|2", "SELECT * FROM t WHERE id = 2")
			w.Expect("1", "SELECT count(*) FROM mine3")
		}
		tables, _ := c.Tables(context.Background(), "t_")
		if want := strings.Contains(strings.Join(won, ""), "copy"); want != (len(tables) == 1) {
			t.Errorf("%q left", tables)
		}
	})
}

// A view is replaced only while it is what the statement found, and one connection's view does not hide what another has defined since.
func TestReplacedAtTheLastMoment(t *testing.T) {
	for other, want := range map[string]string{
		"DROP VIEW w; CREATE TABLE w (id INT PRIMARY KEY); INSERT INTO w VALUES (7)": "7",
		"CREATE OR REPLACE VIEW w AS SELECT id + 1 AS id FROM t":                     "2",
		"DROP VIEW w": "",
	} {
		_, c := NewStore(t)
		ws := connections(t, c, 2)
		ws[0].Do("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1); CREATE VIEW w AS SELECT id FROM t")
		late := newWorld(t, &Forestalled{Client: c, First: Hook{F: func() { ws[0].Do(other) }}}, Config{FullScan: AllowFullScan})
		_, _, err := late.Try("CREATE OR REPLACE VIEW w AS SELECT id + 2 AS id FROM t")
		if err == nil || err.Error() != `view "w" was dropped or redefined by another connection: run it again` {
			t.Errorf("%s: %v", other, err)
		}
		if want != "" {
			ws[1].Expect(want, "SELECT id FROM w")
			late.Expect(want, "SELECT id FROM w")
		} else if _, _, err := ws[1].Try("SELECT id FROM w"); err == nil {
			t.Error("the view is there again")
		}
	}
}

// Connections that drop, create and write tables at random, one statement after the other: each goes by what the
// others did before.
func TestDefinitionsOfOthers(t *testing.T) {
	t.Parallel()
	seeds.Each(t, 4, func(t *testing.T, seed uint64, fig seeds.Figures) {
		_, c := NewStore(t)
		ws := connections(t, c, 3)
		r := rand.New(rand.NewPCG(seed, 1))
		keys := []string{"(id AS INT32)", "(id AS ORDERED INT32)", "(id AS TEXT(6))", "(LOOKUP(names.id, s) AS INT32, id AS INT32)"}
		ws[0].Do("CREATE TABLE names (name STRING, id INT) ROW KEY (name AS TEXT)")
		key := -1 // of t; -1: there is none
		rows := map[int]bool{}
		for range 25 {
			w := ws[r.IntN(len(ws))]
			id := r.IntN(50)
			fig["statements"]++
			switch k := r.IntN(len(keys)); {
			case key < 0:
				w.Refused("table", "SELECT * FROM t")
				w.Do("CREATE TABLE t (s STRING FROM f:s, id INT) ROW KEY " + keys[k])
				key = k
			case r.IntN(8) == 0:
				w.Refused("already exists", "CREATE TABLE t (id INT PRIMARY KEY)")
				w.Do("CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY)")
				w.Do("DROP TABLE t")
				key, rows = -1, map[int]bool{}
			case r.IntN(2) == 0:
				w.Do(fmt.Sprintf("INSERT INTO t VALUES ('n%d', %d)", id%3, id))
				rows[id] = true
			default:
				w.Expect(fmt.Sprint(len(rows)), "SELECT count(*) FROM t")
				n := 0
				if rows[id] {
					n = 1
				}
				w.Expect(fmt.Sprint(n), fmt.Sprintf("SELECT count(*) FROM t WHERE id = %d AND s IN ('n0', 'n1', 'n2')", id))
			}
		}
	})
}

// A statement that reads on while its table is dropped and redefined by another connection fails.
func TestDefinedAnewWhileRead(t *testing.T) {
	_, c := NewStore(t)
	ws := connections(t, c, 2)
	ws[0].Do("CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1), (2, 2)")
	s, _ := parser.ParseStatement("SELECT * FROM t")
	rows, err := ws[0].Run(context.Background(), s, Args{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ws[1].Do("DROP TABLE t; CREATE TABLE t (id INT, v INT) ROW KEY (v AS INT32, id AS INT32); INSERT INTO t VALUES (7, 70), (9, 90)")
	for err == nil {
		_, err = rows.Next()
	}
	if err == nil || !strings.Contains(err.Error(), "table t was dropped or redefined while the statement ran") {
		t.Error(err)
	}
	ws[0].Expect("7|70", "SELECT * FROM t WHERE v = 70")
}

// So does the first row of such a statement: who reads one row asks for no more.
func TestDefinedAnewBeforeTheFirstRow(t *testing.T) {
	_, c := NewStore(t)
	w := connections(t, c, 1)[0]
	w.Do("CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1)")
	late := newWorld(t, &interrupted{Client: c, at: "get t", then: func() {
		w.Do("DROP TABLE t; CREATE TABLE t (v INT, id INT) ROW KEY (v AS INT32); INSERT INTO t VALUES (1, 7)")
	}}, Config{})
	s, _ := parser.ParseStatement("SELECT id, v FROM t WHERE id = 1")
	rows, err := late.Run(context.Background(), s, Args{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if got, err := rows.Next(); err == nil || !strings.Contains(err.Error(), "table t was dropped or redefined while the statement ran") {
		t.Errorf("%v %v", got, err)
	}
}

// interrupted is a client where something else happens once: before a table is read by key, written, described or dropped, or after one is written or dropped.
type interrupted struct {
	hbase.Client
	mu   sync.Mutex // for at: the engine calls the client from several goroutines
	at   string     // "get", "before mutate", "families", "mutate", "dropping" or "drop", and a table; "": never
	then func()
}

// swapAt sets at to next if it is was.
func (c *interrupted) swapAt(was, next string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at != was {
		return false
	}
	c.at = next
	return true
}

func (c *interrupted) now(at string) {
	if c.swapAt(at, "") {
		c.then()
	}
}

func (c *interrupted) Get(ctx context.Context, table string, keys [][]byte, opt *hbase.ReadOptions) ([]hbase.Row, error) {
	c.now("get " + table)
	return c.Client.Get(ctx, table, keys, opt)
}

func (c *interrupted) Mutate(ctx context.Context, table string, m []hbase.Mutation) error {
	c.now("before mutate " + table)
	defer c.now("mutate " + table)
	return c.Client.Mutate(ctx, table, m)
}

func (c *interrupted) Families(ctx context.Context, table string) ([]hbase.Family, error) {
	c.now("families " + table)
	return c.Client.Families(ctx, table)
}

func (c *interrupted) DropTable(ctx context.Context, table string, still func(context.Context) error) error {
	c.now("dropping " + table)
	defer c.now("drop " + table)
	return c.Client.DropTable(ctx, table, still)
}

// A row that is written while its table is dropped leaves nothing of the table, under whichever definition it may come back.
func TestWrittenWhileDropped(t *testing.T) {
	for key, first := range map[string]string{
		"(id AS INT32)": "t",
		"(id AS INT32) STORED IN ('t_', id AS TEXT(1))":      "t_1",
		"(id AS INT32) INDEX by_v (v AS INT32, id AS INT32)": "t",
	} {
		_, c := NewStore(t)
		other := connections(t, c, 1)[0]
		w := newWorld(t, &interrupted{Client: c, at: "drop " + first, then: func() { _, _, _ = other.Try("INSERT INTO t VALUES (1, 30)") }}, Config{FullScan: AllowFullScan})
		w.Do("CREATE TABLE t (id INT, v INT) ROW KEY " + key + "; INSERT INTO t VALUES (1, 10), (2, 20)")
		w.Do("DROP TABLE t")
		if tables, _ := c.Tables(context.Background(), "t"); len(tables) > 0 {
			t.Errorf("%s: %q left", key, tables)
		}
		w.Do("CREATE TABLE t (v INT, id INT) ROW KEY " + key)
		w.Expect("0", "SELECT count(*) FROM t")
	}
}

// An HBase table that another connection drops just before the definition is kept is made again.
func TestDroppedAtTheLastMoment(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, &Forestalled{Client: c, First: Hook{F: func() {
		if err := c.DropTable(context.Background(), "t", nil); err != nil {
			t.Error(err)
		}
	}}}, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY)")
	w.Expect("0", "SELECT count(*) FROM t")
}

// A statement that has written rows when a table of its query is no longer known is not begun again.
func TestDroppedWhileWritten(t *testing.T) {
	_, c := NewStore(t)
	other := connections(t, c, 1)[0]
	var w *world
	client := &interrupted{Client: c, then: func() { other.Do("DROP TABLE u"); w.Do("SELECT 1") }}
	w = newWorld(t, client, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t SELECT n FROM generate_series(1, 5000) s(n); CREATE TABLE h (v INT); CREATE TABLE u (id INT PRIMARY KEY, v INT)")
	client.swapAt("", "mutate h")
	_, _, err := w.Try("INSERT INTO h SELECT (SELECT max(u.v) FROM u WHERE u.id < t.id) FROM t")
	n := w.Do("SELECT count(*) FROM h")
	if err == nil || n == "0" || !strings.Contains(err.Error(), n+" rows written before stay") {
		t.Errorf("%v, and %s rows", err, n)
	}
}

// hql neither uses nor drops HBase tables that it did not create.
func TestForeignTables(t *testing.T) {
	checkForeignTables(t, func() hbase.Client { _, c := NewStore(t); return c }())
}

func testForeignTablesHBase(t *testing.T) { checkForeignTables(t, DialHBase(t)) }

func checkForeignTables(t *testing.T, c hbase.Client) {
	ctx := context.Background()
	ws := connections(t, c, 2)
	if err := c.CreateTable(ctx, "ddl_prod", []hbase.Family{{Name: "f"}}, nil); err != nil {
		t.Fatal(err)
	}
	defer c.DropTable(ctx, "ddl_prod", nil)
	put := func(table, key string) {
		t.Helper()
		if err := c.Mutate(ctx, table, []hbase.Mutation{{Key: []byte(key), Timestamp: 1, Cells: []hbase.Cell{{Family: []byte("f"), Qualifier: []byte("v"), Value: []byte("x")}}}}); err != nil {
			t.Fatal(err)
		}
	}
	put("ddl_prod", "k1")
	for _, ddl := range []string{
		"CREATE TABLE ddl_prod (k STRING, v STRING) ROW KEY (k AS TEXT)",
		"CREATE TABLE ddl_own (k STRING, v STRING) ROW KEY (k AS TEXT) STORED IN 'ddl_prod'",
		"CREATE TABLE ddl_own (k STRING, v STRING) ROW KEY (k AS TEXT) STORED IN 'default:ddl_prod'",
		"CREATE TABLE ddl_own (k STRING, v STRING) ROW KEY (k AS TEXT) ROW KEY other (v AS TEXT(1), k AS TEXT) STORED IN 'ddl_prod'",
	} {
		ws[0].Refused("the HBase table ddl_prod already exists", ddl)
	}
	if _, err := c.Families(ctx, "ddl_own"); !errors.Is(err, hbase.ErrNoTable) {
		t.Errorf("a refused CREATE TABLE left a table: %v", err)
	}
	for _, ddl := range []string{"CREATE TABLE hql_catalog (k STRING PRIMARY KEY)", "CREATE EXTERNAL TABLE ddl_x (k STRING) ROW KEY (k AS TEXT) STORED IN 'default:hql_catalog'"} {
		ws[0].Refused("the HBase table hql_catalog is hql's own", ddl)
	}
	ws[0].Refused("the HBase table hql_stats is hql's own", "CREATE EXTERNAL TABLE ddl_x (k STRING) ROW KEY (k AS TEXT) STORED IN 'hql_stats'")
	// A definition from a file, or of an earlier version, may name it all the same.
	if err := ws[1].catalog.Load("CREATE TABLE ddl_prod (k STRING, v STRING) ROW KEY (k AS TEXT)"); err != nil {
		t.Fatal(err)
	}
	ws[1].Expect("k1|x", "SELECT * FROM ddl_prod")
	if _, warnings, err := ws[1].Try("DROP TABLE ddl_prod"); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "the HBase table ddl_prod stays: it was not made by CREATE TABLE") {
		t.Errorf("%v %q", err, warnings)
	}
	ws[0].Do("CREATE EXTERNAL TABLE ddl_prod (k STRING, v STRING) ROW KEY (k AS TEXT)")
	ws[1].Expect("k1|x", "SELECT * FROM ddl_prod")
	ws[1].Do("DROP TABLE ddl_prod")
	if _, err := c.Families(ctx, "ddl_prod"); err != nil {
		t.Error(err)
	}
	// A crash between the HBase table and the definition leaves an empty table: the statement can be repeated.
	crash := worldOf(t, New(&uncataloged{c}, catalog.New(), Config{}))
	for range 2 {
		crash.Refused("gone", "CREATE TABLE ddl_own (k STRING, v STRING) ROW KEY (k AS TEXT)")
	}
	// An empty one that hql did not make is another's all the same.
	if err := c.CreateTable(ctx, "ddl_empty", []hbase.Family{{Name: "f"}}, nil); err != nil {
		t.Fatal(err)
	}
	defer c.DropTable(ctx, "ddl_empty", nil)
	ws[0].Refused("the HBase table ddl_empty already exists", "CREATE TABLE ddl_empty (k STRING, v STRING) ROW KEY (k AS TEXT)")
	ws[0].Do("CREATE TABLE ddl_own (k STRING, v STRING) ROW KEY (k AS TEXT); CREATE TABLE ddl_too (k STRING, v STRING) ROW KEY (k AS TEXT) STORED IN 'default:ddl_own'")
	if _, warnings, err := ws[1].Try("DROP TABLE ddl_own"); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "ddl_too is stored in it too") {
		t.Errorf("%v %q", err, warnings)
	}
	crash.Refused("gone", "DROP TABLE ddl_too")
	ws[0].Expect("0", "SELECT count(*) FROM ddl_too")
	ws[0].Do("DROP TABLE ddl_too")
	if _, err := c.Families(ctx, "ddl_own"); !errors.Is(err, hbase.ErrNoTable) {
		t.Errorf("DROP TABLE left what CREATE TABLE made: %v", err)
	}
}

// uncataloged is a client that is gone when a definition is to be stored.
type uncataloged struct{ hbase.Client }

func (uncataloged) PutIf(context.Context, string, []byte, hbase.Mutation) (bool, error) {
	return false, errors.New("gone")
}
func (uncataloged) DropTable(context.Context, string, func(context.Context) error) error {
	return errors.New("gone")
}

// A definition from a file makes no table by itself: the first write does, or CREATE TABLE IF NOT EXISTS.
func TestDefinitionsFromFiles(t *testing.T) {
	_, c := NewStore(t)
	file := `CREATE TABLE hosts (name STRING, id INT) ROW KEY (name AS TEXT);
		CREATE TABLE t (s STRING, v INT) ROW KEY (LOOKUP(hosts.id, s) AS INT32) ROW KEY by_v (v AS INT32, LOOKUP(hosts.id, s) AS INT32);
		CREATE TABLE u (id INT PRIMARY KEY); CREATE EXTERNAL TABLE x (id INT) ROW KEY (id AS INT32)`
	ws := connections(t, c, 2)
	for _, w := range ws {
		if err := w.catalog.Load(file); err != nil {
			t.Fatal(err)
		}
	}
	ws[0].Refused("the HBase table of t does not exist", "SELECT * FROM t")
	ws[0].Do("INSERT INTO t VALUES ('a', 1), ('b', 2)")
	ws[1].Expect("a|1\nb|2", "SELECT * FROM t ORDER BY v")
	ws[1].Expect("b", "SELECT s FROM t WHERE v = 2")
	if err := c.DropTable(context.Background(), "hosts", nil); err != nil {
		t.Fatal(err)
	}
	ws[0].Do("INSERT INTO t VALUES ('c', 3)") // of the look-up table alone
	ws[0].Expect("c", "SELECT s FROM t WHERE v = 3")
	ws[0].Do("CREATE TABLE IF NOT EXISTS u (id INT PRIMARY KEY)")
	ws[0].Expect("0", "SELECT count(*) FROM u")
	ws[0].Refused("x", "INSERT INTO x VALUES (1)")
	ws[0].Do("DROP TABLE t; DROP TABLE u")
	if tables, _ := c.Tables(context.Background(), "t"); len(tables) > 0 {
		t.Errorf("DROP TABLE left %q", tables)
	}
}

// A definition that another connection keeps at the last moment stands.
func TestDefinedAtTheLastMoment(t *testing.T) {
	_, c := NewStore(t)
	ws := connections(t, c, 2)
	late := newWorld(t, &Forestalled{Client: c, First: Hook{F: func() {
		ws[0].Do("CREATE TABLE t (id INT, v INT) ROW KEY (id AS ORDERED INT32); INSERT INTO t VALUES (-1, 5)")
	}}}, Config{FullScan: AllowFullScan})
	if _, _, err := late.Try("CREATE TABLE t (id INT, v INT) ROW KEY (id AS TEXT)"); err == nil || err.Error() != `table "t" already exists` {
		t.Errorf("got %v", err)
	}
	for _, w := range []*world{late, ws[0], ws[1]} {
		w.Expect("-1|5", "SELECT * FROM t WHERE id < 0")
	}
}

// CREATE IF NOT EXISTS and CREATE OR REPLACE do not fail because another connection was faster.
func TestDefinedUnlessThere(t *testing.T) {
	for late, other := range map[string]string{
		"CREATE TABLE IF NOT EXISTS w (id INT PRIMARY KEY)": "CREATE TABLE w (id INT PRIMARY KEY); INSERT INTO w VALUES (1)",
		"CREATE VIEW IF NOT EXISTS w AS SELECT 2 AS id":     "CREATE VIEW w AS SELECT 1 AS id",
		"CREATE OR REPLACE VIEW w AS SELECT 1 AS id":        "CREATE VIEW w AS SELECT 2 AS id",
	} {
		_, c := NewStore(t)
		ws := connections(t, c, 2)
		newWorld(t, &Forestalled{Client: c, First: Hook{F: func() { ws[0].Do(other) }}}, Config{}).Do(late)
		ws[1].Expect("1", "SELECT id FROM w")
	}
}

// A connection reads the definitions by one scan, and asks for statistics only where hql made a table.
func TestLoadCalls(t *testing.T) {
	_, c := NewStore(t)
	catalogs, statistics := &Counted{Client: c, Table: catalogTable}, &Counted{Client: c, Table: statisticsTable}
	catalogs.Client = statistics
	load := func(want string) {
		t.Helper()
		for _, c := range []*Counted{catalogs, statistics} {
			c.Gets.Store(0)
			c.Scans.Store(0)
		}
		if _, err := newWorld(t, catalogs, Config{}).LoadCatalog(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d %d %d %d", catalogs.Gets.Load(), catalogs.Scans.Load(), statistics.Gets.Load(), statistics.Scans.Load()); got != want {
			t.Errorf("Gets and scans of the catalog and of statistics: %s, not %s", got, want)
		}
	}
	load("0 1 0 0")
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY)")
	load("0 1 0 1")
	w.Do("ANALYZE t")
	load("0 1 0 1")
}

// If two connections drop a table at once, the later one does not drop the next table with its name.
func TestDroppedTwice(t *testing.T) {
	def := func(encoding string) string {
		return "CREATE TABLE t (id INT, v INT) ROW KEY (id AS " + encoding + ") INDEX by_v (v AS INT32, id AS INT32)"
	}
	for _, at := range []string{"drop t_by_v", "drop t"} {
		_, c := NewStore(t)
		other := connections(t, c, 1)[0]
		w := newWorld(t, &interrupted{Client: c, at: at, then: func() {
			other.Do("DROP TABLE t; " + def("TEXT") + "; INSERT INTO t VALUES (1, 10)")
		}}, Config{FullScan: AllowFullScan})
		w.Do(def("INT32") + "; INSERT INTO t VALUES (2, 20)")
		w.Do("DROP TABLE t")
		for _, w := range []*world{w, other} {
			w.Expect("1|10", "SELECT id, v FROM t")
			w.Expect("1", "SELECT id FROM t WHERE v = 10")
		}
	}
}

// Whichever call of a definition statement fails, before or after it took effect, the statement reports it or has
// completed; repeated, it completes the rest.
func TestDefinitionCallFails(t *testing.T) {
	race.Skip(t) // it repeats the statement for each call, in a store of its own
	defer func(age time.Duration) { definitionsAge = age }(definitionsAge)
	definitionsAge = 0
	const ends = 6 // calls from both ends of a statement
	const before = "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20); CREATE VIEW old AS SELECT id FROM t"
	for _, s := range []struct{ sql, again, after, want string }{
		{"CREATE VIEW v AS SELECT v FROM t", "CREATE OR REPLACE VIEW v AS SELECT v FROM t", "SELECT * FROM v", "10\n20"},
		{"CREATE OR REPLACE VIEW old AS SELECT v AS id FROM t", "", "SELECT * FROM old", "10\n20"},
		{"DROP VIEW old", "DROP VIEW IF EXISTS old", "SELECT id FROM old", `error: unknown table "old"`},
		{"CREATE TABLE n (a INT, b INT) ROW KEY (a AS INT32) INDEX x (b AS INT32, a AS INT32)", "CREATE TABLE IF NOT EXISTS n (a INT, b INT) ROW KEY (a AS INT32) INDEX x (b AS INT32, a AS INT32)",
			"SELECT count(*) FROM n", "0"},
		{"CREATE TABLE n (d DATE, a INT) STORED IN ('n_', d AS TEXT('yyyyMMdd')) ROW KEY (a AS INT32)", "CREATE TABLE IF NOT EXISTS n (d DATE, a INT) STORED IN ('n_', d AS TEXT('yyyyMMdd')) ROW KEY (a AS INT32)",
			"SELECT count(*) FROM n", "0"},
		{"DROP VIEW old; DROP TABLE t", "DROP VIEW IF EXISTS old; DROP TABLE IF EXISTS t", "SELECT v FROM t", `error: unknown table "t"`},
		{"ANALYZE t", "", "SELECT v FROM t WHERE id = 2", "20"},
	} {
		steps := int64(0)
		for at := int64(0); at <= steps; at++ { // first with no call that fails
			if at > ends && at <= steps-ends {
				continue
			}
			_, c := NewStore(t)
			cfg := Config{FullScan: AllowFullScan}
			first, others := newWorld(t, c, cfg), newWorld(t, c, cfg)
			first.Do(before)
			st := &stepping{Client: c, at: at, err: errCall, do: func() {}}
			fails := newWorld(t, st, cfg)
			_, _, err := fails.Try(s.sql)
			if at == 0 {
				steps = st.n.Load()
			}
			if err != nil {
				if !errors.Is(err, errCall) {
					t.Errorf("%s: call %d of %d fails: %v", s.sql, at, steps, err)
				}
				others.Do(cmp.Or(s.again, s.sql))
			}
			if got := others.answer(s.after); got != s.want {
				t.Errorf("%s: call %d of %d failed (%v): %s gives %q, want %q", s.sql, at, steps, err, s.after, got, s.want)
			}
			for _, w := range []*world{first, others, fails} {
				w.Close()
			}
		}
		t.Logf("%s: %d calls", s.sql, steps)
	}
}

// late says of a table that there is none until it is asked once more.
type late struct {
	hbase.Client
	table string
	asked bool
}

func (c *late) Families(ctx context.Context, table string) ([]hbase.Family, error) {
	if table == c.table && !c.asked {
		c.asked = true
		return nil, hbase.ErrNoTable
	}
	return c.Client.Families(ctx, table)
}

// A table that another has made meanwhile is refused as one that was there before.
func TestTableMadeMeanwhile(t *testing.T) {
	for family, want := range map[string]string{"f": "the HBase table t already exists", "g": `the HBase table t exists and has no family "f"`} {
		_, c := NewStore(t)
		if err := c.CreateTable(t.Context(), "t", []hbase.Family{{Name: family}}, nil); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, &late{Client: c, table: "t"}, Config{})
		if _, _, err := w.Try("CREATE TABLE t (k INT, v INT) FAMILY f () ROW KEY (k AS INT32)"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("family %s: %v, want %q", family, err, want)
		}
	}
}

// Whenever another connection makes a table of the same name during CREATE TABLE ... AS, its rows stand: the statement adds none, and
// does not drop the table when it fails.
func TestCreatedAsMeanwhile(t *testing.T) {
	race.Skip(t) // it repeats the statement for each call, in a store of its own
	defer func(age time.Duration) { definitionsAge = age }(definitionsAge)
	definitionsAge = 0
	const made = "CREATE TABLE n AS SELECT 7 AS a, 8 AS b"
	for _, s := range []struct{ sql, others string }{
		{"CREATE TABLE IF NOT EXISTS n AS SELECT id AS a FROM t", "CREATE TABLE IF NOT EXISTS n AS SELECT 7 AS a, 8 AS b"},
		{"CREATE TABLE IF NOT EXISTS n AS SELECT 1 / (id - 1) AS a FROM t", made},
		{"CREATE TABLE n AS SELECT 1 / (id - 1) AS a FROM t", made},
	} {
		steps := int64(0)
		for at := int64(0); at <= steps; at++ { // first with no call at which the other comes
			_, c := NewStore(t)
			cfg := Config{FullScan: AllowFullScan}
			other := newWorld(t, c, cfg)
			other.Do("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
			done := false
			st := &stepping{Client: c, at: at, do: func() {
				_, _, err := other.Try(s.others)
				done = err == nil && other.answer("SELECT count(*) FROM n") == "1" // its own row, not those of the statement
			}}
			late := newWorld(t, st, cfg)
			_, _, err := late.Try(s.sql)
			if at == 0 {
				steps = st.n.Load()
			}
			if got := other.answer("SELECT a, b FROM n"); done && got != "7|8" {
				t.Errorf("%s: at call %d of %d another made the table (%v): %s", s.sql, at, steps, err, got)
			}
			for _, w := range []*world{other, late} {
				w.Close()
			}
		}
		t.Logf("%s: %d calls", s.sql, steps)
	}
}

// scanned is a client before whose first Scan of a table something else happens.
type scanned struct {
	hbase.Client
	table string
	first func()
	begun atomic.Bool
}

func (c *scanned) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if r.Table == c.table && !c.begun.Swap(true) {
		c.first()
	}
	return c.Client.Scan(ctx, r, o)
}

// If CREATE TABLE ... AS fails to fill a table that another connection has dropped and created again, the table belongs
// to that connection.
func TestCreatedAnewWhileFilled(t *testing.T) {
	_, c := NewStore(t)
	ws := connections(t, c, 2)
	ws[0].Do("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
	late := newWorld(t, &scanned{Client: c, table: "t", first: func() { ws[0].Do("DROP TABLE n; CREATE TABLE n AS SELECT 7 AS a, 8 AS b") }}, Config{FullScan: AllowFullScan})
	late.Refused("division by zero", "CREATE TABLE n AS SELECT 1 / (id - 1) AS a FROM t")
	for _, w := range ws {
		w.Expect("7|8", "SELECT * FROM n")
	}
}

// Whichever call of CREATE TABLE ... AS fails, no table without rows is left: one alone may, whose definition was kept when the answer was lost.
func TestCreateAsCallFails(t *testing.T) {
	race.Skip(t) // it repeats the statement for each call, in a store of its own
	defer func(age time.Duration) { definitionsAge = age }(definitionsAge)
	definitionsAge = 0
	steps, left := int64(0), []int64{}
	for at := int64(0); at <= steps; at++ { // first with no call that fails
		_, c := NewStore(t)
		cfg := Config{FullScan: AllowFullScan}
		other := newWorld(t, c, cfg)
		other.Do("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
		st := &stepping{Client: c, at: at, err: errCall, do: func() {}}
		fails := newWorld(t, st, cfg)
		_, _, err := fails.Try("CREATE TABLE n AS SELECT id FROM t")
		if at == 0 {
			steps = st.n.Load()
		}
		if err != nil && !errors.Is(err, errCall) {
			t.Errorf("call %d of %d fails: %v", at, steps, err)
		}
		if got := other.answer("SELECT count(*) FROM n"); err == nil && got != "2" {
			t.Errorf("call %d of %d failed, and the statement did not: %s", at, steps, got)
		} else if err != nil && got != `error: unknown table "n"` {
			left = append(left, at)
		}
		for _, w := range []*world{other, fails} {
			w.Close()
		}
	}
	if len(left) > 1 {
		t.Errorf("a table is left when one of the calls %d of %d fails", left, steps)
	}
}

// noTables is a client that may not make the catalog's table, or drop none, where an error says so.
type noTables struct {
	hbase.Client
	create, drop error
}

func (c *noTables) CreateTable(ctx context.Context, table string, families []hbase.Family, splits [][]byte) error {
	if c.create != nil && table == catalogTable {
		return c.create
	}
	return c.Client.CreateTable(ctx, table, families, splits)
}

func (c *noTables) DropTable(ctx context.Context, table string, still func(context.Context) error) error {
	if c.drop != nil {
		return c.drop
	}
	return c.Client.DropTable(ctx, table, still)
}

// If the user may not create the table of the catalog, the error says so; if a table that could not be filled cannot be
// dropped again either, it reports both.
func TestTablesThatMayNotBeMade(t *testing.T) {
	_, c := NewStore(t)
	client := &noTables{Client: c, create: errors.New("you may not make it")}
	w := newWorld(t, client, Config{})
	w.Refused("make the catalog table: you may not make it", "CREATE TABLE t (id INT PRIMARY KEY)")
	client.create, client.drop = nil, errors.New("you may not drop it")
	for _, want := range []string{"division by zero", "you may not drop it"} {
		w.Refused(want, "CREATE TABLE "+strings.Fields(want)[0]+" AS SELECT n AS k, 1 / (n - 5) AS q FROM generate_series(1, 9) AS s (n)")
	}
}

// A statement that is run again gives columns the default that they have by then.
func TestDefaultOfATableMadeAnew(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	insert := MustParse(t, "INSERT INTO t VALUES (1, DEFAULT)")
	for _, value := range []string{"old", "new"} {
		w.Do("DROP TABLE IF EXISTS t; CREATE TABLE t (id INT PRIMARY KEY, v STRING DEFAULT '" + value + "')")
		rows, err := w.Run(t.Context(), insert, Args{})
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
		w.Expect("1|"+value, "SELECT * FROM t")
	}
}

// The error for a row of VALUES that is too short or too long has its position.
func TestPlaceOfAWrongRow(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY, v STRING)")
	for sql, at := range map[string]string{"INSERT INTO t VALUES (1, 'a'), (2)": "2)", "INSERT INTO t VALUES (  1, 'a', 2)": "1, "} {
		_, _, err := w.Try(sql)
		if e := new(parser.Error); !errors.As(err, &e) || int(e.Pos) != strings.Index(sql, at) || !strings.Contains(e.Msg, "for 2 columns") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
