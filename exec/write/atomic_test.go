package write_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/store"
)

// countedTables are tables of rows (id, n, owner, v) under layouts that write a row in different ways.
var countedTables = map[string]string{
	"plain":    "CREATE TABLE c (id TEXT, n INT, owner TEXT, v INT) ROW KEY (id AS TEXT)",
	"families": "CREATE TABLE c (id TEXT, n INT FROM f:n, owner TEXT FROM g:o, v INT FROM h:v) ROW KEY (id AS TEXT)",
	"index":    "CREATE TABLE c (id TEXT, n INT, owner TEXT, v INT) ROW KEY (id AS TEXT) INDEX i (n AS ORDERED INT32, id AS TEXT)",
	"indexes":  "CREATE TABLE c (id TEXT, n INT, owner TEXT, v INT) ROW KEY (id AS TEXT) INDEX i (n AS ORDERED INT32, v AS ORDERED INT32, id AS TEXT) INDEX o (owner AS TEXT, '|', id AS TEXT)",
	"copy":     "CREATE TABLE c (id TEXT, n INT, owner TEXT, v INT) ROW KEY (id AS TEXT) ROW KEY by_n (n AS ORDERED INT32, id AS TEXT)",
	"copies":   "CREATE TABLE c (id TEXT, n INT, owner TEXT, v INT) ROW KEY (id AS TEXT) ROW KEY x ('x', id AS TEXT) ROW KEY y ('y', id AS TEXT)",
	"salt":     "CREATE TABLE c (id TEXT, n INT, owner TEXT, v INT) ROW KEY (SALT(0 TO 7) AS UINT8, id AS TEXT)",
	"tables":   "CREATE TABLE c (id TEXT, n INT, owner TEXT, v INT) STORED IN ('c_', id AS TEXT) ROW KEY (id AS TEXT) WITH (create_tables = true)",
	"as text":  "CREATE TABLE c (id TEXT, n INT FROM f:n AS TEXT, owner TEXT, v INT) ROW KEY (id AS TEXT)",
}

// Several connections that change one row by what they read of it lose nothing.
func TestReadModifyWrite(t *testing.T) {
	t.Parallel()
	for name := range countedTables {
		t.Run(name, func(t *testing.T) {
			_, c := NewStore(t)
			checkReadModifyWrite(t, c, name, 25)
		})
	}
}

func checkReadModifyWrite(t *testing.T, c hbase.Client, name string, times int) {
	w := peers(t, c, countedTables[name], 0, 0, 3*time.Second, -2*time.Second)
	w[0].Do("INSERT INTO c VALUES ('a', 0, 'free', 0), ('b', 0, 'free', 0)")
	var won, changed atomic.Int64
	together(len(w), func(i int) {
		for k := range times {
			changed.Add(affected(w[i], "UPDATE c SET n = n + 1 WHERE id = 'a'"))
			if k%5 == 0 {
				changed.Add(affected(w[i], "UPDATE c SET n = n + 1, v = v + 1 WHERE n >= 0"))
			}
			mine := fmt.Sprint(i)
			if affected(w[i], "UPDATE c SET owner = '"+mine+"' WHERE id = 'b' AND owner = 'free'") == 1 {
				won.Add(1)
				if got := w[i].Do("SELECT owner FROM c WHERE id = 'b'"); got != mine {
					t.Errorf("%s is the owner, not %s", got, mine)
				}
				if n := affected(w[i], "UPDATE c SET owner = 'free' WHERE id = 'b' AND owner = '"+mine+"'"); n != 1 {
					t.Errorf("the owner gives up %d rows", n)
				}
			}
		}
	})
	both := 4 * ((times + 4) / 5)
	n := 4*times + both
	if got := changed.Load(); got != int64(n+both) {
		t.Errorf("%d rows were changed", got)
	}
	w[0].Expect(fmt.Sprintf("a|%d|%d\nb|%d|%d", n, both, both, both), "SELECT id, n, v FROM c ORDER BY id")
	if won.Load() == 0 {
		t.Error("nobody ever was the owner")
	}
	together(len(w), func(i int) {
		for range times {
			if n := affected(w[i], "INSERT INTO c VALUES ('u', 1, 'x', 7) ON CONFLICT (id) DO UPDATE SET n = c.n + excluded.n, v = NULL"); n != 1 {
				t.Errorf("%d rows were counted", n)
			}
		}
	})
	w[0].Expect(fmt.Sprintf("%d|x|NULL", 4*times), "SELECT n, owner, v FROM c WHERE id = 'u'")
	together(len(w), func(i int) {
		for range times {
			n := affected(w[i], `MERGE INTO c USING (VALUES ('m', 1), ('o', 2)) AS s (id, n) ON c.id = s.id
				WHEN MATCHED AND c.n < 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = c.n + s.n WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.n, 'x', 7)`)
			if n != 2 {
				t.Errorf("%d rows were merged", n)
			}
		}
	})
	w[0].Expect(fmt.Sprintf("m|%d|x|7\no|%d|x|7", 4*times, 8*times), "SELECT * FROM c WHERE id IN ('m', 'o') ORDER BY id")
	w[0].Do("DELETE FROM c WHERE id IN ('m', 'o')")
	w[0].Do("INSERT INTO c VALUES ('u', 1, 'x', 7) ON CONFLICT (id) DO UPDATE SET owner = 'free' WHERE c.n < 0; DELETE FROM c WHERE id = 'u' AND owner = 'x'")
	w[0].Expect("a", fmt.Sprintf("SELECT id FROM c WHERE n = %d AND v = %d", n, both))
	if table, _ := w[0].Catalog().Table("c"); len(table.Layouts) > 1 {
		w = w[:2] // an INSERT is refused while a deletion by a clock that is ahead hides entries
	}
	for range 2 {
		var deleted atomic.Int64
		w[0].Do("INSERT INTO c VALUES ('d', 1, 'free', 1) IF NOT EXISTS")
		together(len(w), func(i int) { deleted.Add(affected(w[i], "DELETE FROM c WHERE id = 'd' AND owner = 'free'")) })
		if n := deleted.Load(); n != 1 {
			t.Errorf("%d deleted one row", n)
		}
	}
	for i := range w { // some clocks are ahead
		w[0].Do("INSERT INTO c VALUES ('e', 1, 'free', 1) IF NOT EXISTS")
		if n := affected(w[i], "DELETE FROM c WHERE id = 'e'"); n != 1 {
			t.Errorf("%d rows were deleted", n)
		}
	}
	w[0].Do("DROP TABLE c")
}

// Conditions cost no RPC, but for rows of a join; rows that are changed whatever they hold have none.
func TestCostOfConditions(t *testing.T) {
	_, c := NewStore(t)
	counted := &rpcCounter{Client: c}
	w := NewWorld(t, counted, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE c (id TEXT, n INT, v INT) ROW KEY (id AS TEXT); INSERT INTO c VALUES ('a', 1, 1), ('b', 2, NULL)")
	for _, test := range []struct {
		sql                       string
		gets, mutates, conditions int64
	}{
		{"UPDATE c SET n = 5, v = 2 WHERE id = 'a'", 1, 1, 1},
		{"DELETE FROM c WHERE id = 'none'", 1, 0, 0},
		{"UPDATE c SET n = n + 1 WHERE id = 'a'", 1, 1, 1},
		{"UPDATE c SET n = 9 WHERE id = 'a' AND v = 2", 1, 1, 1},
		{"UPDATE c SET n = 9 WHERE id = 'a' AND v = 3", 1, 0, 0},
		{"UPDATE c SET n = 9 WHERE id = 'a' RETURNING v", 1, 1, 1},
		{"UPDATE c SET v = 3 WHERE id = 'b'", 2, 1, 1}, // a deletion may hide what fills a NULL
		{"UPDATE c SET v = 4 WHERE id >= 'a'", 0, 1, 0},
		{"UPDATE c SET v = v + 1 WHERE id >= 'a'", 0, 1, 2},
		{"UPDATE c SET v = c.v + 1 FROM (VALUES ('a'), ('b')) x (id) WHERE c.id = x.id", 2, 1, 2}, // the rows of a join carry no cells
		{"DELETE FROM c WHERE id = 'a' AND v = 6", 1, 1, 1},
		{"DELETE FROM c WHERE id = 'b'", 1, 1, 1},
	} {
		counted.gets.Store(0)
		counted.mutates.Store(0)
		counted.conditions.Store(0)
		affected(w, test.sql)
		if g, m, x := counted.gets.Load(), counted.mutates.Load(), counted.conditions.Load(); g != test.gets || m != test.mutates || x != test.conditions {
			t.Errorf("%s: %d Gets, %d batches, %d conditions", test.sql, g, m, x)
		}
	}
}

// rpcCounter counts calls.
type rpcCounter struct {
	hbase.Client
	gets, mutates, conditions atomic.Int64
}

func (c *rpcCounter) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	c.gets.Add(1)
	return c.Client.Get(ctx, table, keys, o)
}

func (c *rpcCounter) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	c.mutates.Add(1)
	for _, m := range ms {
		if m.If != nil {
			c.conditions.Add(1)
		}
	}
	return c.Client.Mutate(ctx, table, ms)
}

// between is a client before whose next conditional mutations something else happens. Its function sets itself again to
// happen before the next ones as well.
type between struct {
	hbase.Client
	do Hook
}

func (c *between) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	if slices.ContainsFunc(ms, func(m hbase.Mutation) bool { return m.If != nil }) {
		if do := c.do.Set(nil); do != nil {
			do()
		}
	}
	return c.Client.Mutate(ctx, table, ms)
}

// Another client changes columns that a statement has read, before the statement changes the row.
func TestChangedMeanwhile(t *testing.T) {
	const defs = `CREATE TABLE t (id TEXT, n INT FROM f:n, s TEXT FROM g:s, v INT FROM f:v) ROW KEY (id AS TEXT);
		CREATE TABLE o (id TEXT, n INT) ROW KEY (id AS TEXT)`
	for _, test := range []struct{ meanwhile, sql, gives, want string }{
		{"UPDATE t SET n = 5 WHERE id = 'a'", "UPDATE t SET n = n + 1 WHERE id = 'a'", "1", "a|6|x|1"},
		{"UPDATE t SET n = 5 WHERE id = 'a'", "UPDATE t SET v = 7 WHERE id = 'a' AND n = 1", "0", "a|5|x|1"},
		{"UPDATE t SET n = NULL WHERE id = 'a'", "UPDATE t SET v = 7 WHERE n < 3", "0", "a|NULL|x|1"},
		{"UPDATE t SET v = 5 WHERE id = 'a'", "UPDATE t SET n = n + 1 WHERE id = 'a'", "1", "a|2|x|5"},
		{"DELETE FROM t WHERE id = 'a'", "UPDATE t SET n = n + 1 WHERE id = 'a'", "0", ""},
		{"UPDATE t SET s = 'y' WHERE id = 'a'", "DELETE FROM t WHERE s = 'x'", "0", "a|1|y|1"},
		{"UPDATE t SET n = 2 WHERE id = 'a'", "DELETE FROM t WHERE s = 'x'", "1", ""}, // and nothing remains
		{"UPDATE t SET n = 2 WHERE id = 'a'; UPDATE t SET n = 1 WHERE id = 'a'", "UPDATE t SET n = 3 WHERE n = 1", "1", "a|3|x|1"},
		{"UPDATE t SET n = 2 WHERE id = 'a'", "UPDATE t SET v = n * 10 WHERE id = 'a' RETURNING v, s", "20|x", "a|2|x|20"},
		{"UPDATE t SET s = 'y' WHERE id = 'a'", "UPDATE t SET v = 3 WHERE id = 'a' RETURNING s", "y", "a|1|y|3"},
		{"UPDATE t SET s = 'y' WHERE id = 'a'", "UPDATE t SET n = t.n + o.n FROM o WHERE o.id = t.s", "0", "a|1|y|1"},
		{"UPDATE t SET n = 4 WHERE id = 'a'", "UPDATE t SET n = t.n + o.n FROM o WHERE o.id = t.s", "1", "a|14|x|1"},
		{"UPDATE t SET n = 4 WHERE id = 'a'", "UPDATE t SET n = t.n + o.n FROM o WHERE o.id = t.s RETURNING t.n, o.n, v", "14|10|1", "a|14|x|1"},
		{"UPDATE t SET s = 'z', n = 4 WHERE id = 'a'", "UPDATE t SET v = o.n FROM o WHERE o.id >= t.s RETURNING o.*, t.*", "z|20|a|4|z|20", "a|4|z|20"},
		{"UPDATE t SET s = 'z' WHERE id = 'a'", "UPDATE t SET (n, v) = (SELECT o.n, o.n + t.n FROM o WHERE o.id = t.s) WHERE id = 'a'", "1", "a|20|z|21"},
		{"UPDATE t SET n = 4 WHERE id = 'a'", "DELETE FROM t USING o WHERE o.id = t.s AND t.n = 1", "0", "a|4|x|1"},
		{"UPDATE t SET v = 4 WHERE id = 'a'", "DELETE FROM t USING o WHERE o.id = t.s AND t.n = 1 RETURNING o.n, t.v", "10|4", ""},
		{"UPDATE t SET n = 4 WHERE id = 'a'", "UPDATE t SET n = (SELECT max(n) FROM t) + 1 WHERE id = 'a'", "1", "a|5|x|1"},
		{"UPDATE t SET s = 'y' WHERE id = 'a'", "DELETE FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.id = t.s)", "0", "a|1|y|1"},
		{"DELETE FROM t WHERE id = 'a'; INSERT INTO t VALUES ('a', 8, 'z', 8)", "UPDATE t SET n = n + 1 WHERE id = 'a'", "1", "a|9|z|8"},
	} {
		_, c := NewStore(t)
		other := NewWorld(t, c, Config{FullScan: AllowFullScan})
		other.Do(defs)
		other.Do("INSERT INTO t VALUES ('a', 1, 'x', 1); INSERT INTO o VALUES ('x', 10), ('z', 20)")
		w := NewWorld(t, &between{c, Hook{F: func() { other.Do(test.meanwhile) }}}, Config{FullScan: AllowFullScan})
		if strings.Contains(test.sql, "RETURNING") {
			w.Expect(test.gives, test.sql)
		} else if n := affected(w, test.sql); fmt.Sprint(n) != test.gives {
			t.Errorf("%s: %d rows", test.sql, n)
		}
		if got := w.Do("SELECT * FROM t"); got != test.want {
			t.Errorf("%s, %s: %s", test.meanwhile, test.sql, got)
		}
	}
}

// The entries that a statement wrote for a row are removed if others changed the row first, even if the row had the
// same values in between: a clock that is behind does not delete them.
func TestEntriesOfChangedRows(t *testing.T) {
	for _, layout := range []string{"INDEX i (n AS ORDERED INT32, id AS TEXT)", "ROW KEY i (n AS ORDERED INT32, id AS TEXT)"} {
		for _, last := range []string{"UPDATE t SET n = n + 1", "DELETE FROM t", "UPDATE t SET n = 1"} {
			_, c := NewStore(t)
			w := peers(t, c, "CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT) "+layout+"; INSERT INTO t VALUES ('a', 1)", -2*time.Second, 0)
			meanwhile := []string{"UPDATE t SET n = n + 1", last}
			busy := &between{Client: c}
			busy.do.Set(func() {
				affected(w[0], meanwhile[0])
				busy.do.Set(func() { affected(w[0], meanwhile[1]) })
			})
			affected(Of(t, New(busy, w[1].Catalog(), Config{FullScan: AllowFullScan})), "UPDATE t SET n = n + 1 WHERE id = 'a'")
			if got := w[0].Do("CHECK TABLE t"); strings.ContainsAny(got, "123456789") {
				t.Errorf("%s, %s: %s", layout, last, got)
			}
		}
	}
}

// A row that others change all the time ends the statement.
func TestChangedAllTheTime(t *testing.T) {
	_, c := NewStore(t)
	other := NewWorld(t, c, Config{FullScan: AllowFullScan})
	other.Do("CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT); INSERT INTO t VALUES ('a', 1), ('b', 1)")
	busy := &between{Client: c}
	var change func()
	change = func() { other.Do("UPDATE t SET n = n + 1 WHERE id = 'a'"); busy.do.Set(change) }
	busy.do.Set(change)
	w := NewWorld(t, busy, Config{FullScan: AllowFullScan})
	w.Refused("other statements change 1 row of t all the time, among them that with key \"a\"", "UPDATE t SET n = -n WHERE n > 0")
	w.Expect("b|-1", "SELECT * FROM t WHERE n < 0")
}

// A program that writes cells of the row at the same time is one more client: none of its cells is lost.
func TestBesideOtherPrograms(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id TEXT, n BIGINT FROM f:n) ROW KEY (id AS TEXT) STORED IN 't'; INSERT INTO t VALUES ('a', 0)")
	together(3, func(i int) {
		for range 40 {
			if i == 0 {
				if _, err := c.Increment(context.Background(), "t", []byte("a"), "f", "n", 1); err != nil {
					t.Error(err)
				}
			} else {
				affected(w, "UPDATE t SET n = n + 1 WHERE id = 'a'")
			}
		}
	})
	w.Expect("120", "SELECT n FROM t")
}

// A deletion from the future hides what fills a NULL, in a column of a family that the definition does not name as well.
func TestHiddenByTheFuture(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT, f TEXT FROM d:f, g TEXT FROM e:g) ROW KEY (id AS INT32) STORED IN 't'; INSERT INTO t VALUES (1, NULL, 'x')")
	key, late := []byte{0, 0, 0, 1}, time.Now().Add(time.Hour).UnixMilli()
	column := []hbase.Cell{{Family: []byte("d"), Qualifier: []byte("f")}}
	if err := c.Mutate(context.Background(), "t", []hbase.Mutation{{Kind: hbase.DeleteColumns, Key: key, Timestamp: late, Cells: column}}); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"id = 1 AND f IS NULL", "id = 1", "g = 'x'"} {
		w.Refused("cell d:f of the row with key", "UPDATE t SET f = 'B' WHERE "+where)
	}
	w.Refused("cell d:f of the row with key", "INSERT INTO t VALUES (1, 'B', 'x') RETURNING f")
	w.Expect("1|NULL|x", "SELECT * FROM t")
	if err := c.Mutate(context.Background(), "t", []hbase.Mutation{{Kind: hbase.DeleteRow, Key: []byte{0, 0, 0, 2}, Timestamp: late}}); err != nil {
		t.Fatal(err)
	}
	w.Refused("was deleted while it was written", "INSERT INTO t VALUES (2, 'B', 'x') RETURNING *")
	w.Expect("3|C", "INSERT INTO t VALUES (3, 'C', NULL) RETURNING id, f")
	end := hbase.Mutation{Key: key, Timestamp: hbase.LastTime, Cells: []hbase.Cell{{Family: []byte("e"), Qualifier: []byte("g"), Value: []byte("z")}}}
	if err := c.Mutate(context.Background(), "t", []hbase.Mutation{end}); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"UPDATE t SET g = 'y' WHERE id = 1", "UPDATE t SET g = 'y' WHERE g = 'z'", "DELETE FROM t WHERE id = 1"} {
		w.Refused("has a cell with the latest possible timestamp", sql)
	}
}

// A machine's clock is set back between two statements.
func TestClockSetBack(t *testing.T) {
	for _, back := range []time.Duration{20 * time.Millisecond, time.Second, time.Hour} {
		_, c := NewStore(t)
		var ahead atomic.Int64
		w := NewWorld(t, c, Config{FullScan: AllowFullScan, Clock: func() time.Time { return time.Now().Add(-time.Duration(ahead.Load())) }})
		w.Do("CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1); UPDATE t SET v = 2 WHERE id = 1")
		ahead.Store(int64(back))
		for range 3 {
			w.Do("DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 3)")
			w.Expect("1|3", "SELECT * FROM t")
			w.Do("UPDATE t SET v = v + 1 WHERE id = 1")
			w.Expect("1|4", "SELECT * FROM t")
		}
	}
}

// IF NOT EXISTS has one winner, also under definitions that have their columns in another order, or fewer families.
func TestInsertIfNotExistsOfTwoDefinitions(t *testing.T) {
	_, c := NewStore(t)
	a := NewWorld(t, c, Config{FullScan: AllowFullScan})
	a.Do("CREATE TABLE t (id INT, a INT FROM d:a, b INT FROM e:b) ROW KEY (id AS INT32) STORED IN 't'")
	b := NewWorld(t, c, Config{FullScan: AllowFullScan})
	b.Do("CREATE EXTERNAL TABLE u (id INT, b INT FROM e:b, a INT FROM d:a) ROW KEY (id AS INT32) STORED IN 't'")
	for i := range 60 {
		var won atomic.Int64
		together(2, func(k int) {
			w, table := []*World{a, b}[k], []string{"t (id, a, b)", "u (id, a, b)"}[k]
			won.Add(affected(w, fmt.Sprintf("INSERT INTO %s VALUES (%d, %d, %d) IF NOT EXISTS", table, i, k, k)))
		})
		if won.Load() != 1 {
			t.Fatalf("round %d: %d won", i, won.Load())
		}
	}
	a.Expect("0", "SELECT count(*) FROM t WHERE a <> b")
	for _, w := range []*World{a, b} {
		w.Do("CREATE EXTERNAL TABLE IF NOT EXISTS part (id INT, b INT FROM e:b) ROW KEY (id AS INT32) STORED IN 't'")
	}
	for i := range 60 {
		var won atomic.Int64
		together(2, func(k int) {
			w, table := []*World{a, b}[k], []string{"t (id, b)", "part"}[k]
			won.Add(affected(w, fmt.Sprintf("INSERT INTO %s VALUES (%d, %d) IF NOT EXISTS", table, 100+i, k)))
		})
		if won.Load() != 1 {
			t.Fatalf("round %d of fewer families: %d won", i, won.Load())
		}
	}
}

// masked changes the conditions of mutations before they are sent.
type masked struct {
	hbase.Client
	mask func(filter.Filter) filter.Filter
}

func (c *masked) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	ms = slices.Clone(ms)
	for i := range ms {
		if all, ok := ms[i].If.(filter.And); ok {
			var out filter.And
			for _, f := range all {
				out = append(out, c.mask(f))
			}
			ms[i].If = out
		}
	}
	return c.Client.Mutate(ctx, table, ms)
}

// HBase shows a filter where a value of a MOB family is kept, and not the value; and cells that this user may not read.
func TestConditionsOnOtherCells(t *testing.T) {
	_, c := NewStore(t)
	mob := func(f filter.Filter) filter.Filter {
		if is, ok := f.(filter.Cell); ok {
			is.Value = append([]byte("\x00\x00\x00\x09"), "a file"...)
			return is
		}
		return f
	}
	w := NewWorld(t, &masked{c, mob}, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id TEXT, n INT, s TEXT) ROW KEY (id AS TEXT); INSERT INTO t VALUES ('a', 1, 'x'), ('b', 1, NULL)")
	if n := affected(w, "UPDATE t SET n = n + 1 WHERE s = 'x' OR s IS NULL"); n != 2 {
		t.Errorf("%d rows", n)
	}
	w.Expect("a|2|x\nb|2|NULL", "SELECT * FROM t ORDER BY id")
	if n := affected(w, "DELETE FROM t WHERE n = 2 AND s IS NULL"); n != 1 {
		t.Errorf("%d rows", n)
	}
	hidden := func(filter.Filter) filter.Filter {
		return filter.CellNull{Family: "d", Qualifier: "of another user", Not: true}
	}
	w = NewWorld(t, &masked{c, hidden}, Config{FullScan: AllowFullScan})
	w.Refused(`the row with key "a" of t cannot be changed`, "UPDATE t SET n = 5 WHERE id = 'a' AND n = 2")
	w.Expect("a|2|x", "SELECT * FROM t")
}

// An UPDATE whose answer is lost, so that it is sent twice, does not say that it changed nothing, and does not do so twice.
func TestLostAnswerOfACondition(t *testing.T) {
	s, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT); INSERT INTO t VALUES ('a', 0)")
	s.SetFaults(store.Faults{Seed: 1, AnswerLost: 0.2, RequestLost: 0.2, Move: 0.1, Split: 0.1, Stray: 0.1})
	var counted, doubtful int
	for range 60 {
		_, _, err := w.Try("UPDATE t SET n = n + 1 WHERE id = 'a'")
		switch {
		case err == nil:
			counted++
		case strings.Contains(err.Error(), "an answer was lost and the row may have been changed"):
			doubtful++
		default:
			t.Error(err)
		}
	}
	s.SetFaults(store.Faults{})
	var n int
	if _, err := fmt.Sscan(w.Do("SELECT n FROM t"), &n); err != nil || n < counted || n > counted+doubtful || doubtful == 0 || counted < 20 {
		t.Errorf("%d counted, %d are doubtful: %d, %v", counted, doubtful, n, err)
	}
}
