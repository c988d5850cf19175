package write_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/types"
)

// peers are engines on one store, as of several processes, whose clocks are ahead by ahead each; the first runs defs.
func peers(t testing.TB, c hbase.Client, defs string, ahead ...time.Duration) []*World {
	t.Helper()
	var out []*World
	for i, d := range ahead {
		w := NewWorld(t, c, Config{FullScan: AllowFullScan, Clock: func() time.Time { return time.Now().Add(d) }})
		if i == 0 { // the others find them
			w.Do(defs)
		}
		out = append(out, w)
	}
	return out
}

// affected runs a statement and gives how many rows it says that it changed.
func affected(w *World, sql string) int64 {
	w.T.Helper()
	rows, err := w.Run(context.Background(), MustParse(w.T, sql), Args{})
	if err != nil {
		w.T.Errorf("%s: %v", sql, err)
		return 0
	}
	defer rows.Close()
	return rows.Affected
}

// together runs f for each of n at the same time.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// DELETE and UPDATE overwrite the cells that they read, whatever the clock of their writer.
func TestWritesFromTheFuture(t *testing.T) {
	_, c := NewStore(t)
	w := peers(t, c, "CREATE TABLE t (id TEXT, v INT, n INT) ROW KEY (id AS TEXT) INDEX i (n AS ORDERED INT32, id AS TEXT)", 5*time.Second, 0)
	fast, slow := w[0], w[1]
	fast.Do("INSERT INTO t VALUES ('a', 1, 1), ('b', 1, 1)")
	slow.Do("UPDATE t SET v = 2, n = NULL WHERE id = 'a'; DELETE FROM t WHERE id = 'b'")
	slow.Expect("a|2|NULL", "SELECT * FROM t")
	slow.Do("UPDATE t SET n = 3 WHERE id = 'a'")
	slow.Expect("a|2|3", "SELECT * FROM t WHERE n = 3")
	slow.Do("INSERT INTO t VALUES ('a', 4, 4)") // the table has an INDEX: the row is read
	slow.Expect("a|4|4", "SELECT * FROM t WHERE n > 0")
}

// If two statements insert a row that neither has found, under a drawn salt, one succeeds: both draw the same salt.
func TestInsertIfNotExistsUnderADrawnSalt(t *testing.T) {
	_, c := NewStore(t)
	other := NewWorld(t, c, Config{FullScan: AllowFullScan})
	other.Do("CREATE TABLE t (id TEXT, v INT) ROW KEY (SALT(0 TO 255) AS UINT8, id AS TEXT)")
	const insert = "INSERT INTO t VALUES ('a', %d) IF NOT EXISTS"
	w := NewWorld(t, &Forestalled{Client: c, First: Hook{F: func() { other.Do(fmt.Sprintf(insert, 1)) }}}, Config{FullScan: AllowFullScan})
	if n := affected(w, fmt.Sprintf(insert, 2)); n != 0 {
		t.Errorf("%d rows were inserted beside one that was there", n)
	}
	w.Expect("a|1", "SELECT * FROM t")
}

// A row that one client deletes and another inserts at once afterwards is there.
func TestInsertAfterDelete(t *testing.T) {
	_, c := NewStore(t)
	w := peers(t, c, "CREATE TABLE t (id TEXT, v INT) ROW KEY (id AS TEXT)", 0, 0)
	for i := range 100 {
		w[0].Do("DELETE FROM t WHERE id = 'a'; INSERT INTO t VALUES ('a', 1); DELETE FROM t WHERE id = 'a'")
		w[1].Do("INSERT INTO t VALUES ('a', NULL)")
		w[0].Do("INSERT INTO t VALUES ('a', 2)")
		if got := w[1].Do("SELECT v FROM t"); got != "2" {
			t.Fatalf("round %d: %q", i, got)
		}
	}
}

func TestInsertIfNotExistsOnce(t *testing.T) {
	for name, def := range map[string]string{
		"plain":    "CREATE TABLE t (id TEXT, v INT) ROW KEY (id AS TEXT)",
		"null":     "CREATE TABLE t (region TEXT FROM f:r, id TEXT, v INT FROM f:v) ROW KEY (COALESCE(region, '-') AS TEXT, '/', id AS TEXT)",
		"salt":     "CREATE TABLE t (region TEXT FROM f:r, id TEXT, v INT FROM f:v) ROW KEY (SALT(0 TO 7) AS UINT8, COALESCE(region, '-') AS TEXT, '/', id AS TEXT)",
		"bucket":   "CREATE TABLE b (id TEXT, day TEXT, v INT) STORED IN ('b_', day AS TEXT) ROW KEY (id AS TEXT)",
		"index":    "CREATE TABLE t (id TEXT, v INT) ROW KEY (id AS TEXT) INDEX i (v AS ORDERED INT32, id AS TEXT)",
		"copy":     "CREATE TABLE t (id TEXT, v INT) ROW KEY (id AS TEXT) ROW KEY by_v (v AS ORDERED INT32, id AS TEXT)",
		"ids only": "CREATE TABLE t (id TEXT) ROW KEY (id AS TEXT)",
	} {
		t.Run(name, func(t *testing.T) {
			_, c := NewStore(t)
			w := peers(t, c, def, 0, 0, 0, 0, 0, 0, 0, 0)
			table, cols, values := "t", "(id, v)", "('%d', %d)"
			switch name {
			case "null", "salt":
				cols, values = "(region, id, v)", "(NULL, '%d', %d)"
			case "bucket":
				table, cols, values = "b", "(day, id, v)", "('d', '%d', %d)"
			case "ids only":
				cols, values = "(id)", "('%d')"
			}
			const rows = 20
			won := make([]int64, len(w))
			winner := make([]string, rows)
			var mu sync.Mutex
			for r := range rows {
				together(len(w), func(i int) {
					args := []any{r, i}
					if name == "ids only" {
						args = args[:1]
					}
					n := affected(w[i], fmt.Sprintf("INSERT INTO %s %s VALUES "+values+" IF NOT EXISTS", append([]any{table, cols}, args...)...))
					mu.Lock()
					defer mu.Unlock()
					if won[i] += n; n == 1 {
						winner[r] = fmt.Sprint(i)
					}
				})
			}
			var total int64
			for _, n := range won {
				total += n
			}
			if total != rows {
				t.Errorf("%d rows were inserted, of %d", total, rows)
			}
			if name == "ids only" {
				w[0].Expect("20", "SELECT COUNT(*) FROM t")
				return
			}
			for r := range rows {
				if got := w[0].Do(fmt.Sprintf("SELECT v FROM %s WHERE id = '%d'", table, r)); got != winner[r] {
					t.Errorf("row %d is %s's, not %s's", r, got, winner[r])
				}
			}
			if name == "salt" && w[0].Do("SELECT count(DISTINCT LEFT(HEX(_key), 2)) > 1 FROM t") != "true" {
				t.Error("all rows drew one salt")
			}
			if name == "index" || name == "copy" {
				for _, line := range strings.Split(w[0].Do("CHECK TABLE t"), "\n") {
					if !strings.HasSuffix(line, "|0") {
						t.Error(line)
					}
				}
			}
		})
	}
}

// The first rows of a computed table, by several writers at once, with other layouts.
func TestFirstRowsOfATable(t *testing.T) {
	_, c := NewStore(t)
	w := peers(t, c, `CREATE TABLE b (id TEXT, day TEXT, n INT, m INT) STORED IN ('b_', day AS TEXT) ROW KEY (id AS TEXT)
		INDEX i (n AS ORDERED INT32, day AS TEXT(2), id AS TEXT) STORED IN ('i_', day AS TEXT)
		ROW KEY c (m AS ORDERED INT32, day AS TEXT(2), id AS TEXT) STORED IN ('c_', day AS TEXT)`, 0, 0, 0, 0)
	for d := range 10 {
		together(len(w), func(i int) {
			affected(w[i], fmt.Sprintf("INSERT INTO b VALUES ('%d', 'd%d', 1, 1)", i, d))
		})
	}
	w[0].Expect("40", "SELECT COUNT(*) FROM b WHERE n = 1")
	w[0].Do("DELETE FROM b WHERE day = 'd1'; UPDATE b SET n = 2 WHERE day = 'd2'")
	w[0].Expect("32", "SELECT COUNT(*) FROM b WHERE n = 1")
}

// Two statements that change different columns of a row leave the entry under both.
func TestEntryOfTwoColumns(t *testing.T) {
	const index, copied = "INDEX i (n AS ORDERED INT32, m AS ORDERED INT32, id AS TEXT)", "ROW KEY c (m AS ORDERED INT32, n AS ORDERED INT32, id AS TEXT)"
	for _, def := range []string{index, index + " " + copied} {
		_, c := NewStore(t)
		w := peers(t, c, "CREATE TABLE t (id TEXT, n INT, m INT) ROW KEY (id AS TEXT) "+def, 0, 0)
		layouts := []string{"i", "c"}
		if def == index {
			layouts = layouts[:1]
		}
		for v := range 60 {
			w[0].Do("INSERT INTO t VALUES ('a', 0, 0)")
			together(len(w), func(i int) {
				switch i {
				case 0:
					affected(w[0], fmt.Sprintf("UPDATE t SET n = %d WHERE id = 'a'", v))
				case 1:
					affected(w[1], fmt.Sprintf("UPDATE t SET m = %d WHERE id = 'a'", v))
				}
			})
			want := fmt.Sprintf("a|%d|%d", v, v)
			for _, layout := range layouts {
				if got := w[0].Do(fmt.Sprintf("SELECT /*+ LAYOUT(%s) */ * FROM t WHERE n = %d AND m = %d", layout, v, v)); got != want {
					t.Fatalf("round %d by %s: %q; %q", v, layout, got, w[0].Do("SELECT * FROM t; CHECK TABLE t"))
				}
			}
		}
	}
}

// IF NOT EXISTS whose claims have no answer, or cannot be looked at, does not say that it has written, nor that it has not.
func TestClaimsWithoutAnswer(t *testing.T) {
	_, c := NewStore(t)
	var at string
	n := 0
	f := &Unanswered{Client: c, Fail: func(call, table string) error {
		if n--; at == call+" "+table && n < 0 {
			return errors.New("no answer")
		}
		if at != call+" "+table {
			n++
		}
		return nil
	}}
	w := NewWorld(t, f, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT) STORED IN 't' INDEX i (n AS ORDERED INT32, id AS TEXT) STORED IN 't_i' ROW KEY c (n AS ORDERED INT32, id AS TEXT) STORED IN 't_c';
		CREATE TABLE day (id TEXT, d TEXT) ROW KEY (id AS TEXT) STORED IN ('day_', d AS TEXT); INSERT INTO day VALUES ('a', '1')`)
	for i, test := range []struct {
		at    string // the call that fails
		after int    // calls that succeed before
		want  string
		sql   string
	}{
		{"put if absent t", 0, `0 of 1 mutations refused, 1 without an answer (rows "a0"): no answer`, "INSERT INTO t VALUES ('a%d', 1) IF NOT EXISTS"},
		{"get t", 1, `0 of 1 mutations refused, 1 without an answer (rows "a1"): no answer`, "INSERT INTO t VALUES ('a%d', 1) IF NOT EXISTS"},
		{"get t", 2, "no answer", "INSERT INTO t VALUES ('a%d', 1) IF NOT EXISTS"},
		{"get t_c", 0, "no answer", "UPDATE t SET n = 5 WHERE id = 'there'"},
		{"regions day_1", 0, "no answer", "INSERT INTO day VALUES ('a%d', '1') IF NOT EXISTS"},
	} {
		if strings.HasPrefix(test.sql, "UPDATE") {
			w.Do("INSERT INTO t VALUES ('there', 1)")
		}
		writer := Of(t, New(f, w.Catalog(), Config{FullScan: AllowFullScan}))
		at, n = test.at, test.after
		sql := test.sql
		if strings.Contains(sql, "%d") {
			sql = fmt.Sprintf(sql, i)
		}
		writer.Refused(test.want, sql)
		at = ""
	}
}

// broken refuses to change one table.
type broken struct {
	hbase.Client
	table atomic.Pointer[string]
}

func (b *broken) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	if t := b.table.Load(); t != nil && *t == table {
		return errors.New("the table is read-only")
	}
	return b.Client.Mutate(ctx, table, ms)
}

// Rows that a failed statement left in a copy are never read, and repeating the statement is enough.
func TestCopyIsCheckedAgainstItsRows(t *testing.T) {
	_, c := NewStore(t)
	b := &broken{Client: c}
	w := peers(t, b, "CREATE TABLE cp (id TEXT, n INT, v TEXT) ROW KEY main (id AS TEXT) STORED IN 'cp' ROW KEY by_n (n AS ORDERED INT32, id AS TEXT) STORED IN 'cp_by_n'", 0)[0]
	breaking := func(table string) { b.table.Store(&table) }
	const byN = "SELECT /*+ LAYOUT(by_n) */ id, n, v FROM cp WHERE n > 0"
	breaking("cp")
	w.Refused("write cp: ", "INSERT INTO cp VALUES ('a', 1, 'x')")
	w.Expect("", byN)
	breaking("")
	w.Do("INSERT INTO cp VALUES ('a', 1, 'x'), ('b', 2, 'y')")
	w.Expect("a|1|x\nb|2|y", byN+" ORDER BY n")
	breaking("cp_by_n")
	w.Refused("write cp_by_n, after these rows were changed in cp: ", "DELETE FROM cp WHERE id = 'a'")
	w.Refused("write cp_by_n, before any of these rows is changed in cp: ", "UPDATE cp SET v = 'z' WHERE id = 'b'")
	w.Expect("b|2|y", byN)
	breaking("cp")
	w.Refused("write cp: ", "UPDATE cp SET n = 3, v = 'z' WHERE id = 'b'")
	w.Expect("b|2|y", byN)
	breaking("")
	if n := affected(w, "DELETE FROM cp WHERE id = 'a'"); n != 0 {
		t.Errorf("%d rows", n)
	}
	w.Expect("b|2|y", byN)
	w.Expect("1", "SELECT /*+ LAYOUT(by_n) */ COUNT(*) FROM cp")
	w.Do("UPDATE cp SET n = 3, v = 'z' WHERE id = 'b'; CHECK TABLE cp REPAIR")
	w.Expect("by_n|rows without an entry|0\nby_n|entries without their row|0\nby_n|entries unlike their row|0", "CHECK TABLE cp")
	w.Expect("b|3|z", byN)
}

// However statements on one row meet, in one millisecond too, its copy ends with what the row holds.
func TestCopiesOfRacingStatements(t *testing.T) {
	_, c := NewStore(t)
	tick := func() time.Time { return time.Now().Truncate(5 * time.Millisecond) }
	var w []*World
	for range 3 {
		w = append(w, NewWorld(t, c, Config{FullScan: AllowFullScan, Clock: tick}))
	}
	w[0].Do("CREATE TABLE t (id TEXT, n INT NOT NULL, v INT, u INT) ROW KEY (id AS TEXT) ROW KEY c (n AS ORDERED INT32, id AS TEXT)")
	for round := range 40 {
		together(len(w), func(i int) {
			sql := fmt.Sprintf("INSERT INTO t VALUES ('%d', 1, %d, %d)", round/2, i, i)
			switch {
			case round%2 == 0 || i == 0:
			case i == 1:
				sql = fmt.Sprintf("UPDATE t SET v = 10 WHERE id = '%d'", round/2)
			default:
				sql = fmt.Sprintf("UPDATE t SET u = NULL, n = %d WHERE id = '%d'", round%3, round/2)
			}
			affected(w[i], sql)
		})
	}
	out := w[0].Do("CHECK TABLE t")
	if !strings.Contains(out, "c|rows without an entry|0\n") || !strings.Contains(out, "c|entries unlike their row|0") {
		t.Error(out)
	}
}

// waiting holds what is written to one table back until go on is closed, and closes held when it does.
type waiting struct {
	hbase.Client
	table      string
	held, goOn chan struct{}
}

func (c *waiting) wait(table string) {
	if table == c.table {
		close(c.held)
		<-c.goOn
	}
}

func (c *waiting) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	c.wait(table)
	return c.Client.Mutate(ctx, table, ms)
}

func (c *waiting) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	c.wait(table)
	return c.Client.PutIf(ctx, table, was, m)
}

// An IF NOT EXISTS that is refused takes back its own entries: see TestRefusedClaimBesideInsert for those of others.
func TestRefusedClaim(t *testing.T) {
	for _, with := range []string{"", " WITH (ROW_MARKER = '_0')"} {
		_, c := NewStore(t)
		w := NewWorld(t, c, Config{FullScan: AllowFullScan})
		w.Do("CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT) STORED IN 't' INDEX i (n AS ORDERED INT32, id AS TEXT)" + with)
		slow := &waiting{c, "t", make(chan struct{}), make(chan struct{})}
		writer, done := Of(t, New(slow, w.Catalog(), Config{})), make(chan int64)
		go func() { done <- affected(writer, "INSERT INTO t VALUES ('a', 1) IF NOT EXISTS") }()
		<-slow.held
		w.Do("INSERT INTO t VALUES ('a', 2) IF NOT EXISTS")
		close(slow.goOn)
		if n := <-done; n != 0 {
			t.Errorf("%d rows", n)
		}
		w.Expect("a|2", "SELECT * FROM t")
		w.Expect("i|rows without an entry|0\ni|entries without their row|0", "CHECK TABLE t")
	}
}

// An IF NOT EXISTS that is refused takes back its own entries only: not that of an INSERT which is about to write the row
// that the entry leads to, at the same time or an earlier one.
func TestRefusedClaimBesideInsert(t *testing.T) {
	for _, later := range []time.Duration{3, 5} {
		_, c := NewStore(t)
		began := time.Now()
		at := func(ms time.Duration) Config {
			return Config{FullScan: AllowFullScan, Clock: func() time.Time { return began.Add(ms * time.Millisecond) }}
		}
		w := NewWorld(t, c, at(0))
		w.Do("CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT) STORED IN 't' INDEX i (n AS ORDERED INT32, id AS TEXT)")
		start := func(cfg Config, sql string) (goOn func() int64) {
			slow := &waiting{c, "t", make(chan struct{}), make(chan struct{})}
			writer, done := Of(t, New(slow, w.Catalog(), cfg)), make(chan int64)
			go func() { done <- affected(writer, sql) }()
			<-slow.held
			return func() int64 { close(slow.goOn); return <-done }
		}
		claim := start(at(5), "INSERT INTO t VALUES ('a', 1) IF NOT EXISTS")
		w.Do("INSERT INTO t VALUES ('a', 2) IF NOT EXISTS")
		insert := start(at(later), "INSERT INTO t VALUES ('a', 1)")
		if n := claim(); n != 0 {
			t.Errorf("%d rows", n)
		}
		if n := insert(); n != 1 {
			t.Errorf("%d rows", n)
		}
		w.Expect("a|1", "SELECT * FROM t")
		w.Expect("a|1", "SELECT * FROM t WHERE n = 1")
		w.Expect("i|rows without an entry|0\ni|entries without their row|0", "CHECK TABLE t")
		w.Do("DELETE FROM t WHERE id = 'a'")
		w.Expect("i|rows without an entry|0\ni|entries without their row|0", "CHECK TABLE t")
	}
}

// The HBase table of an INDEX that somebody dropped is not read as one without entries, whatever its name is made of.
func TestIndexWhoseTableIsGone(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	for _, stored := range []string{"", " STORED IN 't_i'", " STORED IN ('t_', 'i')"} {
		w.Do("CREATE TABLE t (id TEXT, n INT NOT NULL FROM f:n) ROW KEY (id AS TEXT) INDEX i (n AS ORDERED INT32, id AS TEXT)" + stored + "; INSERT INTO t VALUES ('a', 1)")
		w.Expect("a", "SELECT id FROM t WHERE n = 1")
		if err := c.DropTable(t.Context(), "t_i", nil); err != nil {
			t.Fatal(err)
		}
		w.Refused("the HBase table of t does not exist", "SELECT id FROM t WHERE n = 1")
		w.Do("DROP TABLE t")
	}
}

// Rows that HBase's table cannot hold are not taken for rows that are gone: their entries stay.
func TestCheckOfATableMadeAnew(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id TEXT, n INT NOT NULL FROM f:n) ROW KEY (id AS TEXT) STORED IN 't' INDEX i (n AS ORDERED INT32, id AS TEXT); INSERT INTO t VALUES ('a', 1)")
	if err := c.DropTable(t.Context(), "t", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateTable(t.Context(), "t", []hbase.Family{{Name: "g"}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"CHECK TABLE t", "CHECK TABLE t REPAIR", "SELECT n FROM t", "SELECT id FROM t WHERE n = 1"} {
		w.Refused("NoSuchColumnFamilyException", sql)
	}
	w.Expect("1", "CREATE EXTERNAL TABLE entries (entry BYTES) ROW KEY (entry AS BYTES) STORED IN 't_i'; SELECT COUNT(*) FROM entries")
}

// REPAIR takes no entry away whose row another statement is writing, and gives no copy the values that a row had.
func TestRepairBesideWrites(t *testing.T) {
	for _, sql := range []string{"INSERT INTO t VALUES ('b', 2, 2)", "UPDATE t SET n = 3 WHERE id = 'a'", "UPDATE t SET v = 3 WHERE id = 'a'"} {
		t.Run(sql, func(t *testing.T) {
			t.Parallel()
			_, c := NewStore(t)
			w := peers(t, c, `CREATE TABLE t (id TEXT, n INT NOT NULL, v INT) ROW KEY (id AS TEXT) STORED IN 't'
				INDEX i (n AS ORDERED INT32, id AS TEXT) ROW KEY c (n AS ORDERED INT32, id AS TEXT); INSERT INTO t VALUES ('a', 1, 1)`, 0)[0]
			slow := &waiting{c, "t", make(chan struct{}), make(chan struct{})}
			writer := Of(t, New(slow, w.Catalog(), Config{FullScan: AllowFullScan}))
			done := make(chan int64)
			go func() { done <- affected(writer, sql) }()
			<-slow.held
			w.Do("CHECK TABLE t REPAIR")
			close(slow.goOn)
			if n := <-done; n != 1 {
				t.Errorf("%d rows", n)
			}
			w.Expect(`i|rows without an entry|0
i|entries without their row|0
c|rows without an entry|0
c|entries without their row|0
c|entries unlike their row|0`, "CHECK TABLE t")
			want := w.Do("SELECT * FROM t")
			w.Expect(want, "SELECT /*+ LAYOUT(i) */ * FROM t WHERE n > 0 ORDER BY id")
			w.Expect(want, "SELECT /*+ LAYOUT(c) */ * FROM t WHERE n > 0 ORDER BY id")
		})
	}
}

// endingWrite lets one write to a table finish, and ends the context of the others.
type endingWrite struct {
	hbase.Client
	table string
	n     atomic.Int32
	first chan struct{} // closed after the first write
	end   func()
}

func (c *endingWrite) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	if table != c.table {
		return c.Client.Mutate(ctx, table, ms)
	}
	if c.n.Add(1) == 1 {
		defer close(c.first)
		return c.Client.Mutate(ctx, table, ms)
	}
	<-c.first
	c.end()
	return ctx.Err()
}

// A statement that ends half-way says how many rows it has written.
func TestRowsThatStand(t *testing.T) {
	_, store := NewStore(t)
	w := NewWorld(t, store, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE a (id INT, v INT) ROW KEY (id AS INT32); CREATE TABLE b (id INT, v INT) ROW KEY (id AS INT32)")
	var rows []string
	for i := range 3 * write.Batch {
		rows = append(rows, fmt.Sprintf("(%d, 0)", i))
	}
	w.Do("INSERT INTO a VALUES " + strings.Join(rows, ", "))
	for sql, table := range map[string]string{"INSERT INTO b SELECT * FROM a": "b", "UPDATE a SET v = 1 WHERE id > -1000": "a"} {
		ctx, cancel := context.WithCancel(context.Background())
		c := &endingWrite{Client: store, table: table, first: make(chan struct{}), end: cancel}
		_, err := New(c, w.Catalog(), Config{FullScan: AllowFullScan}).Run(ctx, MustParse(t, sql), Args{})
		cancel()
		var partial *PartialError
		if !errors.As(err, &partial) || partial.Written < write.Batch || !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), "rows written before stay") {
			t.Errorf("%s: %v", sql, err)
		} else if sql[0] == 'I' {
			w.Expect(fmt.Sprint(partial.Written), "SELECT COUNT(*) FROM b")
		} else {
			w.Expect(fmt.Sprint(partial.Written), "SELECT COUNT(*) FROM a WHERE v = 1")
		}
	}
}

// followed is a client after whose first conditional Put something else happens.
type followed struct {
	hbase.Client
	then Hook
}

func (c *followed) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	ok, err := c.Client.PutIf(ctx, table, was, m)
	if then := c.then.Set(nil); then != nil {
		then()
	}
	return ok, err
}

// sentTwice is a client whose conditional Puts reach the server, have no answer, and are sent again.
type sentTwice struct{ hbase.Client }

func (c sentTwice) PutIf(ctx context.Context, table string, was []byte, m hbase.Mutation) (bool, error) {
	if _, err := c.Client.PutIf(ctx, table, was, m); err != nil {
		return false, err
	}
	return c.Client.PutIf(ctx, table, was, m)
}

// A claim whose answer is lost is refused when it is sent again: the row is the statement's own.
func TestClaimSentTwice(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT) INDEX i (n AS ORDERED INT32, id AS TEXT); INSERT INTO t VALUES ('b', 1)")
	writer := Of(t, New(sentTwice{c}, w.Catalog(), Config{FullScan: AllowFullScan}))
	if n := affected(writer, "INSERT INTO t VALUES ('a', 2), ('b', 2), ('c', 2) IF NOT EXISTS"); n != 2 {
		t.Errorf("%d rows inserted", n)
	}
	w.Expect("a|2\nb|1\nc|2", "SELECT * FROM t")
	w.Expect("i|rows without an entry|0\ni|entries without their row|0", "CHECK TABLE t")
}

// steps is a client that keeps the keys of rows which one call changes in several steps.
type steps struct {
	hbase.Client
	mu      sync.Mutex
	several []string
}

func (c *steps) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[string]bool{}
	for _, m := range ms {
		if seen[string(m.Key)] {
			c.several = append(c.several, table+" "+string(m.Key))
		}
		seen[string(m.Key)] = true
	}
	return c.Client.Mutate(ctx, table, ms)
}

// A statement writes a row's new values and NULLs in one mutation: readers see both or neither.
func TestRowIsWrittenInOneStep(t *testing.T) {
	_, store := NewStore(t)
	c := &steps{Client: store}
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id TEXT, n INT, s TEXT) ROW KEY main (id AS TEXT) INDEX i (n AS ORDERED INT32, id AS TEXT) ROW KEY copy (s AS TEXT, X'00', id AS TEXT)")
	w.Do("INSERT INTO t VALUES ('a', 1, 'x'), ('b', 2, 'x')")
	w.Do("UPDATE t SET n = NULL, s = 'y' WHERE id = 'a'")
	w.Do("INSERT INTO t VALUES ('b', NULL, 'z'), ('c', NULL, 'z')")
	w.Expect("a|NULL|y\nb|NULL|z\nc|NULL|z", "SELECT * FROM t")
	if c.several != nil {
		t.Errorf("written in several steps: %q", c.several)
	}
}

// A row that is deleted, and claimed by another, between its claim and the look at it is not said to be inserted.
func TestClaimDeletedAtOnce(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id TEXT, n INT) ROW KEY (id AS TEXT)")
	for id, then := range map[string]string{"a": "DELETE FROM t WHERE id = 'a'", "b": "DELETE FROM t WHERE id = 'b'; INSERT INTO t VALUES ('b', 2) IF NOT EXISTS"} {
		first := Of(t, New(&followed{c, Hook{F: func() { w.Do(then) }}}, w.Catalog(), Config{FullScan: AllowFullScan}))
		first.Refused("a row was deleted while it was inserted", "INSERT INTO t VALUES ('"+id+"', 1) IF NOT EXISTS")
	}
	w.Expect("b|2", "SELECT * FROM t")
}

// IF NOT EXISTS looks for its rows under every salt, and for no others.
func TestNewRowsUnderAnySalt(t *testing.T) {
	for _, key := range []string{"id AS INT32", "id AS INT32, b AS INT32"} {
		_, c := NewStore(t)
		w := NewWorld(t, c, Config{FullScan: DenyFullScan})
		w.Do("CREATE TABLE t (id INT, b INT FROM f:b) ROW KEY (SALT(0 TO 3) AS UINT8, " + key + ")")
		w.Fill("t", 2000, func(i int) string { return fmt.Sprintf("(%d, 0)", i) })
		args := []types.Value{types.NewInt(5), types.NewInt(0), types.NewInt(7)}
		rows, err := w.Run(t.Context(), MustParse(t, "INSERT INTO t VALUES (?, ?), (2005, 0) IF NOT EXISTS"), Args{Positional: args[:2]})
		if err != nil {
			t.Fatal(err)
		}
		if stats := rows.Stats(); rows.Affected != 1 || stats.RowsRead > 20 || stats.RowsRead == 0 {
			t.Errorf("%s: %d rows, %d read", key, rows.Affected, stats.RowsRead)
		}
		if args[2].Int() != 7 {
			t.Error("the caller's arguments are overwritten")
		}
	}
}

// writtenTogether is a client whose writes of indexes, whose tables are called t_ and more, begin when three are asked for.
type writtenTogether struct {
	hbase.Client
	mu    sync.Mutex
	asked int
	round chan struct{}
	order []string
}

func (c *writtenTogether) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	c.mu.Lock()
	round, index := c.round, strings.HasPrefix(table, "t_")
	if !index {
		c.order = append(c.order, "row")
	} else {
		c.order = append(c.order, "index")
		if c.asked++; c.asked%3 == 0 {
			close(c.round)
			c.round = make(chan struct{})
		}
	}
	c.mu.Unlock()
	if index {
		select {
		case <-round:
		case <-time.After(20 * time.Second):
			return fmt.Errorf("%s alone is written", table)
		}
	}
	return c.Client.Mutate(ctx, table, ms)
}

// The entries of a batch are sent to all indexes at the same time, new ones before the rows, old ones after them.
func TestEntriesAreSentTogether(t *testing.T) {
	_, s := NewStore(t)
	c := &writtenTogether{Client: s, round: make(chan struct{})}
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT, a INT, b INT, c INT) ROW KEY (id AS INT32) INDEX a (a AS INT32, id AS INT32) INDEX b (b AS INT32, id AS INT32) INDEX c (c AS INT32, id AS INT32)")
	for _, x := range []struct{ sql, want string }{
		{"INSERT INTO t VALUES (1, 10, 20, 30), (2, 11, 21, 31)", "index index index row"},
		{"UPDATE t SET a = 12, b = 22, c = 32 WHERE id = 2", "index index index row index index index"},
		{"DELETE FROM t WHERE id = 1", "row index index index"},
	} {
		c.order = nil
		w.Do(x.sql)
		if got := strings.Join(c.order, " "); got != x.want {
			t.Errorf("%s: %s, want %s", x.sql, got, x.want)
		}
	}
	w.Expect("2|12|22|32", "SELECT * FROM t WHERE b = 22")
}
