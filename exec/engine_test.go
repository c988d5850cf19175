package exec

import (
	"context"
	"errors"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

func TestMain(m *testing.M) { Main(m) }

// A world is an engine on a store of its own.
type world struct {
	*Engine
	Script[Stats]
}

func newWorld(t testing.TB, client hbase.Client, cfg Config) *world {
	t.Helper()
	cfg.ReadFile = func(string) ([]byte, error) { return []byte("1000\n2000\n"), nil }
	return worldOf(t, New(client, catalog.New(), cfg))
}

func worldOf(t testing.TB, e *Engine) *world {
	w := &world{Engine: e} // a test may set another engine later
	w.Script = ScriptOf[Stats](t, func(ctx context.Context, s parser.Statement, sql string, args []types.Value) (*Rows, error) {
		if sql != "" {
			w.Place(s, sql, nil)
		}
		return w.Run(ctx, s, Args{Positional: args})
	})
	return w
}

func noPushdown() Config { return Config{Planner: planner.Options{NoPushdown: true}} }

func TestEveryLayoutIsCreated(t *testing.T) {
	w := newWorld(t, newFakeClient(), noPushdown())
	for _, def := range Layouts(t) {
		if _, err := w.Run(context.Background(), def, Args{}); err != nil {
			t.Errorf("%s: %v", def.Name, err)
			continue
		}
		again := w.Do("SHOW CREATE TABLE " + def.Name)
		if s, err := parser.ParseStatement(again); err != nil || s.String() != def.String() {
			t.Errorf("SHOW CREATE TABLE %s: %v\n%s\n%s", def.Name, err, again, def)
		}
	}
	fresh := New(w.Client(), catalog.New(), Config{})
	warnings, err := fresh.LoadCatalog(context.Background())
	if err != nil || len(warnings) > 0 || len(fresh.Catalog().Tables()) != len(Layouts(t)) {
		t.Errorf("the stored catalog: %v %v, %d tables", err, warnings, len(fresh.Catalog().Tables()))
	}
}

func TestCatalogRowWithoutTable(t *testing.T) {
	w := newWorld(t, newFakeClient(), noPushdown())
	w.Do("CREATE TABLE t (id INT PRIMARY KEY)")
	for key, sql := range map[string]string{"other": "SELECT 1", "bad": "CREATE TABEL"} {
		m := hbase.Mutation{Key: []byte(key), Timestamp: 1, Cells: []hbase.Cell{{Family: []byte(catalogFamily), Qualifier: []byte(catalogQualifier), Value: []byte(sql)}}}
		if err := w.Client().Mutate(context.Background(), catalogTable, []hbase.Mutation{m}); err != nil {
			t.Fatal(err)
		}
	}
	fresh := New(w.Client(), catalog.New(), Config{})
	warnings, err := fresh.LoadCatalog(context.Background())
	if _, ok := fresh.Catalog().Table("t"); err != nil || !ok || len(warnings) != 2 {
		t.Fatalf("table t: %t, %v, %q", ok, err, warnings)
	}
	if warnings[1] != `hql_catalog: row "other" does not define table other: it holds another kind of statement` {
		t.Error(warnings[1])
	}
}

func TestWriteAndRead(t *testing.T) {
	w := newWorld(t, newFakeClient(), noPushdown())
	w.Do("CREATE TABLE t (a INT, s STRING, v INT, x STRING) ROW KEY (a AS TEXT(4), '|', s AS TEXT)")
	w.Do("INSERT INTO t VALUES (1, 'one', 10, 'x'), (2, 'two', NULL, NULL), (3, 'three', 30, NULL)")
	w.Expect("1|one|10|x\n2|two|NULL|NULL\n3|three|30|NULL", "SELECT * FROM t ORDER BY a, s")
	w.Expect("1|one|10|x", "SELECT * FROM t WHERE a = 1 AND s = 'one'")
	w.Expect("3|two", "SELECT a + 1, s FROM t WHERE a = 2")
	w.Do("UPSERT INTO t (a, s, v) VALUES (1, 'one', NULL)")
	w.Expect("1|one|NULL|x", "SELECT * FROM t WHERE a = 1")
	w.Do("UPDATE t SET x = NULL WHERE a = 1")
	w.Expect("1|one|NULL|NULL", "SELECT * FROM t WHERE a = 1")
	w.Do("UPDATE t SET v = v + 1, x = s || '!' WHERE a = 3")
	w.Expect("3|three|31|three!", "SELECT * FROM t WHERE a = 3")
	w.Do("DELETE FROM t WHERE a IN (1, 2)")
	w.Expect("3|three|31|three!", "SELECT * FROM t ORDER BY a, s LIMIT 5")
	w.Do("INSERT INTO t (a, s, v) SELECT a + 1, s, v FROM t ALLOW FULL SCAN")
	w.Expect("3|31\n4|31", "SELECT a, v FROM t ORDER BY a, s")
	w.Expect("4\n3", "SELECT a FROM t ORDER BY a DESC, s DESC LIMIT 2")
	w.Do("UPSERT INTO t (a, s, v) VALUES (4, 'three', 1), (5, 'five', 5), (5, 'five', 6) IF NOT EXISTS")
	w.Expect("3|31\n4|31\n5|5", "SELECT a, v FROM t ORDER BY a, s")
}

func TestRefusedWrites(t *testing.T) {
	f := newFakeClient()
	w := newWorld(t, f, noPushdown())
	w.Do("CREATE TABLE t (a INT NOT NULL, s STRING, v INT, n INT NOT NULL) ROW KEY (s AS TEXT, '|', a AS TEXT(4))")
	for _, c := range [][2]string{
		{"column a in key part a AS TEXT(4)", "INSERT INTO t VALUES (1, 'a', 1, 1), (12345, 'x', 1, 1)"},
		{"delimiter", "INSERT INTO t VALUES (1, 'a|b', 1, 1)"},
		{"column n of t must not be NULL", "INSERT INTO t VALUES (1, 'a', 1, NULL)"},
		{"part of the rowkey", "INSERT INTO t (a, v, n) VALUES (1, 1, 1)"},
		{"must not be NULL", "INSERT INTO t (a, s, n) VALUES (1, NULL, 1)"},
		{"unknown column \"sss\"", "INSERT INTO t (a, sss) VALUES (1, 'a')"},
		{"5 values for 4 columns", "INSERT INTO t VALUES (1, 'a', 1, 1, 1)"},
		{"column v", "INSERT INTO t VALUES (1, 'a', 'abc', 1)"},
		{"is part of the rowkey", "UPDATE t SET a = 2 WHERE s = 'a'"},
		{"unknown table", "DELETE FROM tt"},
		{"already exists", "CREATE TABLE t (a INT) ROW KEY (a AS INT32)"},
	} {
		w.Refused(c[0], c[1])
	}
	if n := len(f.tables["t"].cells); n > 0 {
		t.Errorf("%d cells were written by refused statements", n)
	}
	w.Do("INSERT INTO t VALUES (1, 'a', 1, 1)")
	ro := newWorld(t, ReadOnly(f), noPushdown())
	ro.Engine.catalog = w.catalog
	for _, sql := range []string{"INSERT INTO t VALUES (2, 'a', 1, 1)", "DELETE FROM t WHERE s = 'a'", "UPDATE t SET v = 2 WHERE s = 'a'",
		"CREATE TABLE u (a INT PRIMARY KEY)", "DROP TABLE t"} {
		if _, _, err := ro.Try(sql); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s on a read-only connection: %v", sql, err)
		}
	}
	w.Expect("a|1|1", "SELECT s, a, v FROM t WHERE s = 'a'")
}

// A read-only connection may describe a table for itself, and forget it again.
func TestExternalTableOfReadOnlyConnection(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{})
	w.Do("CREATE TABLE t (k STRING, v INT) ROW KEY (k AS TEXT); INSERT INTO t VALUES ('a', 1)")
	w.Do("CREATE EXTERNAL TABLE kept (k STRING, v INT) STORED IN 't' ROW KEY (k AS TEXT)")
	ro := newWorld(t, ReadOnly(c), Config{})
	ro.Expect("1", "SELECT v FROM kept WHERE k = 'a'")
	ro.Do("DROP TABLE kept")
	w.Expect("1", "SELECT v FROM kept WHERE k = 'a'")
	ro.Do("CREATE EXTERNAL TABLE e (k STRING, v INT) STORED IN 't' ROW KEY (k AS TEXT)")
	ro.Expect("1", "SELECT v FROM e WHERE k = 'a'")
	ro.Do("DROP TABLE e")
	ro.Refused("unknown table", "SELECT v FROM e WHERE k = 'a'")
}

// TestInsertRowsApart checks that rows of one INSERT are distinct whatever bytes keys and qualifiers hold.
func TestInsertRowsApart(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	for sql, want := range map[string]string{
		`(E'a\x00b', 'c', 1), ('a', E'b\x00c', 2)`: "1\n2",
		`('a', 'b', 1), ('a', 'b', 2)`:             "2",
	} {
		for _, s := range []string{"DROP TABLE IF EXISTS p", "CREATE TABLE p (k STRING, q STRING, v INT FROM f:[q AS TEXT]) ROW KEY (k AS TEXT)", "INSERT INTO p VALUES " + sql} {
			if got := w.answer(s); got != "" {
				t.Fatalf("%s: %s", s, got)
			}
		}
		if got := w.answer("SELECT v FROM p ORDER BY v"); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// TestClosedSubqueryRunsOnce checks that a query inside an expression that depends on nothing around it is run
// once, and that its value binds the key.
func TestClosedSubqueryRunsOnce(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE t (id BIGINT PRIMARY KEY, x INT)")
	w.Do("INSERT INTO t VALUES (1, 1), (2, 5), (3, 20)")
	for _, q := range []struct {
		where, want string
		read        int64 // rows: those of the sub-query, then those of the query
	}{
		{"id = (SELECT MAX(x) - 17 FROM t)", "3|20", 3 + 1},
		{"id IN (SELECT MAX(x) - 17 FROM t)", "3|20", 3 + 1},
		{"id >= (SELECT MAX(x) - 18 FROM t) AND EXISTS (SELECT 1 FROM t WHERE id = 2)", "2|5\n3|20", 3 + 1 + 2},
		{"id = 1 AND NOT EXISTS (SELECT 1 FROM t WHERE id = 4)", "1|1", 1},
		{"EXISTS (SELECT 1 FROM t WHERE id = 4)", "", 0},
	} {
		before := c.Stats().Rows
		w.Expect(q.want, "SELECT * FROM t WHERE "+q.where)
		if n := c.Stats().Rows - before; n != q.read {
			t.Errorf("%s: %d rows read, want %d", q.where, n, q.read)
		}
	}
}

// REPAIR makes the HBase table of an index that nobody made.
// A closed engine says so, and runs nothing.
func TestClosedEngine(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{})
	w.Close()
	if _, err := w.Run(t.Context(), MustParse(t, "SELECT 1"), Args{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a query: %v", err)
	}
	if _, err := w.Cut(t.Context(), MustParse(t, "SELECT 1").(*parser.Select), Args{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a query in pieces: %v", err)
	}
}

func TestRepairOfMissingIndex(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT, tel STRING) ROW KEY (id AS INT32)")
	w.Do("INSERT INTO t VALUES (1, 't1')")
	w.Do("CREATE EXTERNAL TABLE e (id INT, tel STRING) ROW KEY main (id AS INT32) STORED IN 't' INDEX by_tel (tel AS TEXT, '|', id AS INT32) STORED IN 'e_by_tel'")
	if _, _, err := w.Try("SELECT id FROM e WHERE tel = 't1'"); !errors.Is(err, ErrNotFilled) {
		t.Errorf("an index without a table: %v", err)
	}
	if _, err := w.Cut(t.Context(), MustParse(t, "SELECT id FROM e WHERE tel = 't1'").(*parser.Select), Args{}); !errors.Is(err, ErrNotFilled) {
		t.Errorf("a query of it in pieces: %v", err)
	}
	w.Do("CHECK TABLE e REPAIR")
	w.Expect("1", "SELECT id FROM e WHERE tel = 't1'")
}

// The first row that others write, or write and remove, while an empty index is looked at makes no index that nobody filled.
func TestFirstRowOfOthers(t *testing.T) {
	for at := int64(1); ; at++ {
		_, c := NewStore(t)
		w := newWorld(t, c, Config{FullScan: AllowFullScan})
		w.Do("CREATE TABLE t (id INT, tel STRING) ROW KEY main (id AS INT32) STORED IN 't' INDEX by_tel (tel AS TEXT, '|', id AS INT32)")
		came := false
		s := &stepping{Client: c, at: at, do: func() {
			came = true
			w.Do("INSERT INTO t VALUES (1, 't1')")
		}}
		reader := worldOf(t, New(s, w.catalog, Config{FullScan: AllowFullScan}))
		if _, _, err := reader.Try("SELECT id FROM t WHERE tel = 't1'"); err != nil {
			t.Errorf("a row is written at step %d: %v", at, err)
		}
		if !came {
			break
		}
		w.Do("DELETE FROM t WHERE id = 1")
		s.n.Store(0)
		s.do = func() {
			w.Do("INSERT INTO t VALUES (1, 't1')")
			s.at, s.do = s.n.Load()+3, func() { w.Do("DELETE FROM t WHERE id = 1") }
		}
		writer := worldOf(t, New(s, w.catalog, Config{FullScan: AllowFullScan}))
		if _, _, err := writer.Try("INSERT INTO t VALUES (2, 't2')"); err != nil {
			t.Errorf("a row is written at step %d, and removed: %v", at, err)
		}
	}
}

// A read of so many rows of a table gives these and then its end, to whoever asks for more.
func TestLimitedReadEnds(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{})
	w.Do("CREATE TABLE t (a INT) ROW KEY (a AS INT32) SPLIT AT (X'80000032'); INSERT INTO t SELECT n FROM generate_series(0, 99) s(n)")
	table, _ := w.catalog.Table("t")
	for _, limit := range []int64{1, 30, 70, 100, 200} {
		r, s := w.newRun(Args{}, moment{}), scan.Whole(table, table.Layouts[0])
		s.Limit = plan.AtMost(limit)
		got := int64(0)
		err := operator.Drain(t.Context(), r.Read(t.Context(), s, s.Spans, newRecorder(c).Open(s)), func(rows [][]types.Value) error {
			got += int64(len(rows))
			return nil
		})
		if err != nil || got != min(limit, 100) {
			t.Errorf("%d rows of %d: %v", got, limit, err)
		}
	}
}
