package exec

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
)

// inMany is a table whose rows stand in an HBase table each: one that is gone counts as empty.
const inMany = "CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32) STORED IN ('t_', id AS TEXT(1))"

// No part of a table is read while DROP TABLE drops its HBase tables one by one, also not by who began before.
func TestReadWhileDropped(t *testing.T) {
	for _, alone := range []bool{false, true} {
		for _, at := range []string{"drop t_1", "drop t_2", "drop t_3"} {
			_, c := NewStore(t)
			cfg := Config{FullScan: AllowFullScan, Alone: alone}
			client := &interrupted{Client: c, at: at}
			w := newWorld(t, client, cfg)
			reader := w
			if !alone {
				reader = newWorld(t, c, cfg)
			}
			w.Do(inMany + "; INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
			rows, err := reader.Run(t.Context(), MustParse(t, "SELECT id FROM t"), Args{})
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			client.then = func() {
				for _, sql := range []string{"SELECT count(*) FROM t", "SELECT id FROM t WHERE id IN (1, 2, 3)", "SELECT (SELECT max(v) FROM t)", "CHECK TABLE t"} {
					if got := reader.answer(sql); got != `error: unknown table "t"` {
						t.Errorf("alone %t, %s: %s: %s", alone, at, sql, got)
					}
				}
				if got, err := rows.Next(); err == nil || !strings.Contains(err.Error(), "table t was dropped or redefined while the statement ran") {
					t.Errorf("alone %t, %s: rows %v, %v", alone, at, got, err)
				}
			}
			w.Do("DROP TABLE t")
			if !client.swapAt("", "") {
				t.Errorf("%s: never", at)
			}
		}
	}
}

// A statement that looks at a table without returning rows of it also fails if the HBase tables were dropped meanwhile.
func TestLookedAtWhileDropped(t *testing.T) {
	const indexed = inMany + " INDEX by_v (v AS INT32, id AS INT32) STORED IN ('tv_', id AS TEXT(1))"
	for _, sql := range []string{"CHECK TABLE t", "EXPLAIN ANALYZE SELECT * FROM t", "CREATE TABLE copy AS SELECT id FROM t", "DELETE FROM t WHERE v < 20", "SELECT count(*) FROM t"} {
		_, c := NewStore(t)
		other := connections(t, c, 1)[0]
		other.Do(indexed + "; INSERT INTO t VALUES (1, 10), (2, 20)")
		newWorld(t, &scanned{Client: c, table: "t_1", first: func() { other.Do("DROP TABLE t") }}, Config{FullScan: AllowFullScan}).Refused("t was dropped", sql)
	}
}

// undroppable is a client that cannot drop a table, for a reason.
type undroppable struct {
	hbase.Client
	table string
	err   error
}

func (c *undroppable) DropTable(ctx context.Context, table string, still func(context.Context) error) error {
	if table == c.table {
		return c.err
	}
	return c.Client.DropTable(ctx, table, still)
}

// A DROP TABLE that was interrupted leaves a name that has no table and cannot be defined, until the statement is
// repeated.
func TestDropCutShort(t *testing.T) {
	_, c := NewStore(t)
	client := &undroppable{c, "t_2", errors.New("gone")}
	w, other := newWorld(t, client, Config{FullScan: AllowFullScan}), connections(t, c, 1)[0]
	w.Do(inMany + "; INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
	for range 2 {
		w.Refused("gone (DROP TABLE t again drops what is left)", "DROP TABLE t")
	}
	for _, w := range []*world{w, other} {
		for _, sql := range []string{"SELECT * FROM t", "DESCRIBE t", "INSERT INTO t VALUES (1, 1)", "CREATE VIEW v AS SELECT id FROM t", "CREATE TABLE u (s STRING FROM f:s, id INT) ROW KEY (LOOKUP(t.id, s) AS INT32, id AS INT32)", "ANALYZE t"} {
			w.Refused("t", sql)
		}
		w.Refused(`view "t" does not exist`, "DROP VIEW t")
		w.Expect("", "SHOW TABLES")
		for _, sql := range []string{"CREATE TABLE T (id INT PRIMARY KEY)", "CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY)", "CREATE TABLE t AS SELECT 1 AS id",
			"CREATE EXTERNAL TABLE t (id INT) ROW KEY (id AS INT32)", "CREATE VIEW t AS SELECT 1 AS id", "CREATE OR REPLACE VIEW t AS SELECT 1 AS id", "CREATE VIEW IF NOT EXISTS t AS SELECT 1 AS id"} {
			w.Refused("is being dropped", sql)
		}
	}
	other.Do("DROP TABLE IF EXISTS t")
	if tables, _ := c.Tables(t.Context(), "t"); len(tables) > 0 {
		t.Errorf("%q left", tables)
	}
	w.Refused("unknown table", "DROP TABLE t")
	w.Do(inMany)
	other.Expect("0", "SELECT count(*) FROM t")
}

// If DROP TABLE can drop nothing, because the user may not, the table is unchanged.
func TestDropDenied(t *testing.T) {
	_, c := NewStore(t)
	client := &undroppable{c, "t_1", hbase.ErrDenied}
	w, other := newWorld(t, client, Config{FullScan: AllowFullScan}), connections(t, c, 1)[0]
	w.Do(inMany + "; INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
	w.Refused("not permitted", "DROP TABLE t")
	for _, w := range []*world{w, other} {
		w.Expect("3", "SELECT count(*) FROM t")
	}
	client.table = "t_2"
	w.Refused("(DROP TABLE t again drops what is left)", "DROP TABLE t")
	other.Refused("unknown table", "SELECT count(*) FROM t")
}

// A DROP TABLE of a table in a catalog file does not affect other connections. If it fails, the table stays known.
func TestDropOfAFile(t *testing.T) {
	_, c := NewStore(t)
	client := &undroppable{c, "t_2", errors.New("gone")}
	w := newWorld(t, client, Config{FullScan: AllowFullScan})
	if err := w.catalog.Load(inMany); err != nil {
		t.Fatal(err)
	}
	w.Do("INSERT INTO t VALUES (1, 10), (2, 20)")
	w.Refused("gone", "DROP TABLE t")
	w.Expect("2|20", "SELECT * FROM t")
	client.table = ""
	w.Do("DROP TABLE t")
	w.Refused("unknown table", "SELECT * FROM t")
	if tables, _ := c.Tables(t.Context(), "t"); len(tables) > 0 {
		t.Errorf("%q left", tables)
	}
}

// If two connections drop a table at once, the later one completes the drop.
func TestDropTakenUp(t *testing.T) {
	_, c := NewStore(t)
	fails := &undroppable{c, "t_3", errors.New("gone")}
	other := newWorld(t, fails, Config{FullScan: AllowFullScan})
	again := func(at, then string) *world {
		return newWorld(t, &interrupted{Client: c, at: at, then: func() { _, _, _ = other.Try(then) }}, Config{FullScan: AllowFullScan})
	}
	other.Do(inMany + "; INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
	again("drop t_1", "DROP TABLE t").Refused("table t is being dropped by another connection, too", "DROP TABLE t")
	fails.table = ""
	other.Do("DROP TABLE t")

	other.Do(inMany + "; INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
	again("drop t_1", "DROP TABLE t; "+inMany+"; INSERT INTO t VALUES (2, 21), (3, 31)").Do("DROP TABLE t")
	other.Expect("2|21\n3|31", "SELECT * FROM t ORDER BY id")

	again("dropping t_2", "DROP TABLE t; "+inMany+"; INSERT INTO t VALUES (2, 22), (3, 32)").Do("DROP TABLE t")
	other.Expect("2|22\n3|32", "SELECT * FROM t ORDER BY id")
}

// DROP VIEW leaves what has the name since.
func TestDroppedViewIsATable(t *testing.T) {
	_, c := NewStore(t)
	other := connections(t, c, 1)[0]
	other.Do("CREATE VIEW w AS SELECT 1 AS id")
	newWorld(t, &interrupted{Client: c, at: "before mutate hql_catalog", then: func() {
		other.Do("DROP VIEW w; CREATE TABLE w (id INT PRIMARY KEY); INSERT INTO w VALUES (7)")
	}}, Config{}).Do("DROP VIEW w")
	for _, w := range connections(t, c, 2) {
		w.Expect("7", "SELECT id FROM w")
	}
}

// A name whose definition cannot be read, as one of a later version, is refused and stays as it is, until DROP TABLE frees it.
func TestUnreadableDefinition(t *testing.T) {
	_, c := NewStore(t)
	w := connections(t, c, 1)[0]
	w.Do("CREATE TABLE t (id INT PRIMARY KEY)")
	put := hbase.Mutation{Kind: hbase.Put, Key: []byte("u"), Timestamp: serverTime, Cells: []hbase.Cell{{Family: []byte(catalogFamily), Qualifier: []byte(catalogQualifier), Value: []byte("CREATE CUBE u")},
		{Family: []byte(catalogFamily), Qualifier: []byte("a"), Value: []byte("of a later version")}}}
	if err := c.Mutate(t.Context(), catalogTable, []hbase.Mutation{put}); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CREATE TABLE IF NOT EXISTS u (id INT PRIMARY KEY)", "CREATE TABLE u AS SELECT 1 AS id", "CREATE VIEW u AS SELECT 1 AS id", "CREATE VIEW IF NOT EXISTS u AS SELECT 1 AS id"} {
		w.Refused(`"u" already exists: its definition in hql_catalog cannot be read`, sql)
	}
	other := connections(t, c, 1)[0]
	for _, sql := range []string{"SELECT * FROM u", "INSERT INTO u VALUES (1)", "SHOW CREATE TABLE u", "SELECT * FROM t JOIN u ON t.id = u.id"} {
		w.Refused(`the definition of "u" cannot be used: hql_catalog: row "u" does not define table u`, sql)
		other.Refused(`the definition of "u" cannot be used`, sql)
	}
	_, warnings, err := w.Try("DROP TABLE u")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "the definition of u was dropped alone") {
		t.Errorf("%q, %v", warnings, err)
	}
	w.Do("CREATE TABLE u (id INT PRIMARY KEY); INSERT INTO u VALUES (1)")
	other.Expect("1", "SELECT id FROM u")
}

// A table that is dropped and created again with the same statement is another table for running reads and writes.
func TestMadeAgainWhileRead(t *testing.T) {
	_, c := NewStore(t)
	ws := connections(t, c, 2)
	ws[0].Do(inMany + "; INSERT INTO t VALUES (1, 10), (2, 20)")
	rows, err := ws[0].Run(t.Context(), MustParse(t, "SELECT id FROM t"), Args{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ws[1].Do("DROP TABLE t; " + inMany + "; INSERT INTO t VALUES (2, 21)")
	if got, err := rows.Next(); err == nil || !strings.Contains(err.Error(), "table t was dropped or redefined while the statement ran") {
		t.Errorf("%v %v", got, err)
	}
}

// An HBase table that CREATE TABLE makes again for one that is dropped meanwhile goes with it.
func TestMadeAgainWhileDropped(t *testing.T) {
	_, c := NewStore(t)
	other := connections(t, c, 1)[0]
	other.Do("CREATE TABLE t (id INT PRIMARY KEY)")
	newWorld(t, &interrupted{Client: c, at: "families t", then: func() { other.Do("DROP TABLE t") }}, Config{}).
		Refused("table t was dropped", "CREATE TABLE IF NOT EXISTS t (id INT PRIMARY KEY)")
	if tables, _ := c.Tables(context.Background(), "t"); len(tables) > 0 {
		t.Errorf("%q left", tables)
	}
}

// Rows that are on their way when their table is dropped do not come to what is defined under its name next, also where no other engine uses
// the store and none has to be waited for.
func TestWrittenBeforeDropped(t *testing.T) {
	_, c := NewStore(t)
	done := make(chan error, 1)
	client := &interrupted{Client: c, at: "before mutate t"}
	w := newWorld(t, client, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32)")
	was, _ := w.catalog.Table("t")
	client.then = func() {
		go func() {
			_, _, err := w.Try("DROP TABLE t; CREATE TABLE t (id INT, v BIGINT) ROW KEY (id AS INT32)")
			done <- err
		}()
		for now := was; now == was; now, _ = w.catalog.Table("t") { // till it is known no more
			runtime.Gosched()
		}
	}
	w.Do("INSERT INTO t VALUES (1, 10)")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.Expect("0", "SELECT count(*) FROM t")
}

// DROP TABLE ends with its context while rows are on their way, and the table is there as before.
func TestDropEndsWhileItWaits(t *testing.T) {
	_, c := NewStore(t)
	client := &interrupted{Client: c, at: "before mutate t"}
	w := newWorld(t, client, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32)")
	was, _ := w.catalog.Table("t")
	client.then = func() {
		ctx, end := context.WithCancel(t.Context())
		go func() {
			for now := was; now == was; now, _ = w.catalog.Table("t") { // till it is known no more
				runtime.Gosched()
			}
			end()
		}()
		if _, _, err := w.TryUnder(ctx, "DROP TABLE t"); !errors.Is(err, context.Canceled) {
			t.Errorf("DROP TABLE ended with %v", err)
		}
	}
	w.Do("INSERT INTO t VALUES (1, 10)")
	w.Expect("1|10", "SELECT * FROM t")
}

// regionless is a client to which a table is gone once it is known that it has regions.
type regionless struct {
	hbase.Client
	table string
	then  Hook
}

func (c *regionless) KnownRegions(ctx context.Context, table string) ([]hbase.Region, error) {
	if table != c.table {
		return c.Client.KnownRegions(ctx, table)
	}
	if then := c.then.Set(nil); then != nil {
		then()
	}
	return nil, hbase.ErrNoTable
}

// A statement that waits for an HBase table that another writer is creating ends when the table is dropped, and does
// not block DROP TABLE.
func TestAwaitedWhileDropped(t *testing.T) {
	_, c := NewStore(t)
	done := make(chan error, 1)
	client := &regionless{Client: c, table: "t_1"}
	w := newWorld(t, client, Config{FullScan: AllowFullScan, Alone: true})
	w.Do(inMany)
	client.then.Set(func() {
		go func() {
			_, _, err := w.Try("DROP TABLE t")
			done <- err
		}()
	})
	w.Refused("table t was dropped or redefined while the statement ran", "INSERT INTO t VALUES (1, 10)")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A table that a file defines hides a kept definition of its name, which DROP TABLE leaves, with the HBase table of both.
func TestDropOfAFileLeavesTheKeptDefinition(t *testing.T) {
	for _, kept := range []string{
		"CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 10)",
		"CREATE VIEW t AS SELECT 1 AS id, 10 AS v",
	} {
		_, c := NewStore(t)
		other := connections(t, c, 1)[0]
		other.Do(kept)
		w := newWorld(t, c, Config{FullScan: AllowFullScan})
		if err := w.catalog.Load("CREATE TABLE t (id INT, own INT) ROW KEY (id AS INT32)"); err != nil {
			t.Fatal(err)
		}
		w.Do("EXPLAIN SELECT own FROM t WHERE id = 1")
		w.Do("DROP TABLE t")
		for _, w := range []*world{w, other, connections(t, c, 1)[0]} {
			w.Expect("1|10", "SELECT id, v FROM t")
		}
	}
}

// A view over a table of a catalog file is known only to the connection that has the file.
func TestViewOverAFile(t *testing.T) {
	_, c := NewStore(t)
	other := connections(t, c, 1)[0]
	other.Do("CREATE TABLE kept (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO kept VALUES (1, 10); CREATE VIEW k AS SELECT id FROM kept")
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	if err := w.catalog.Load("CREATE EXTERNAL TABLE mine (id INT, v INT) STORED IN 'kept' ROW KEY (id AS INT32);" +
		"CREATE EXTERNAL TABLE names (name TEXT, num INT) ROW KEY (name AS TEXT)"); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := w.Try("CREATE VIEW v AS SELECT m.id FROM k JOIN mine m ON m.id = k.id")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "v is known until the connection ends, as it reads mine") {
		t.Errorf("%q, %v", warnings, err)
	}
	w.Do("CREATE VIEW over AS SELECT id FROM v")
	w.Expect("1", "SELECT id FROM over")
	w.Refused("view k is kept in the store: it cannot read mine", "CREATE OR REPLACE VIEW k AS SELECT id FROM mine")
	other.Refused("unknown table", "SELECT * FROM v")
	other.Refused("unknown table", "SELECT * FROM over")
	w.Refused("table l is kept in the store: its LOOKUP cannot name names", "CREATE TABLE l (id INT, name TEXT) ROW KEY (LOOKUP(names.num, name) AS INT32, id AS INT32)")
	_, warnings, err = w.Try("CREATE EXTERNAL TABLE l (id INT, name TEXT) STORED IN 'kept' ROW KEY (LOOKUP(names.num, name) AS INT32, id AS INT32)")
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "l is known until the connection ends, as it reads names") {
		t.Errorf("%q, %v", warnings, err)
	}
	other.Refused("unknown table", "SELECT * FROM l WHERE id = 1")
	w.Do("DROP TABLE l; DROP VIEW over; DROP VIEW v; DROP VIEW k")
	other.Refused("unknown table", "SELECT * FROM k")
}
