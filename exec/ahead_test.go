package exec

import (
	"strings"
	"testing"
	"time"

	. "github.com/hql-db/hql/internal/scripttest"
)

// redefined are changes of definitions, with queries of before and their answers after.
var redefined = []struct{ name, before, change, query, was, want string }{
	{"another key", "CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1), (2, 2)",
		"DROP TABLE t; CREATE TABLE t (id INT, v INT) ROW KEY (v AS INT32, id AS INT32); INSERT INTO t VALUES (7, 70)", "SELECT id, v FROM t WHERE id > 0", "1|1\n2|2", "7|70"},
	{"another point", "CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1)",
		"DROP TABLE t; CREATE TABLE t (id STRING, v STRING) ROW KEY (id AS TEXT); INSERT INTO t VALUES ('1', 'x')", "SELECT * FROM t WHERE id = '1'", "1|1", "1|x"},
	{"more columns", "CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1)",
		"DROP TABLE t; CREATE TABLE t (w INT, id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (5, 1, 6)", "SELECT * FROM t", "1|1", "5|1|6"},
	{"a column that was missing", "CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1)",
		"DROP TABLE t; CREATE TABLE t (id INT, w INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 8)", "SELECT w FROM t", `error: unknown column "w"`, "8"},
	{"a table that is gone", "CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 1)",
		"DROP TABLE t", "SELECT count(*) FROM t", "1", `error: unknown table "t"`},
	{"a table in a sub-query", "CREATE TABLE u (id INT PRIMARY KEY); INSERT INTO u VALUES (1), (2); CREATE TABLE t (id INT, v INT) ROW KEY (id AS INT32); INSERT INTO t VALUES (1, 2)",
		"DROP TABLE t; CREATE TABLE t (v INT, id INT) ROW KEY (v AS INT32); INSERT INTO t VALUES (1, 2)", "SELECT id FROM u WHERE id IN (SELECT v FROM t)", "2", "1"},
	{"a view", "CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20); CREATE VIEW w AS SELECT id, v FROM t",
		"CREATE OR REPLACE VIEW w AS SELECT id, v + 1 AS v, id AS n FROM t", "SELECT * FROM w", "1|10\n2|20", "1|11|1\n2|21|2"},
}

// A query by definitions that are old gives what the new ones say, columns too, and counts the calls that tell it.
func TestRedefinedBeforeTheQuery(t *testing.T) {
	for _, x := range redefined {
		_, c := NewStore(t)
		ws := connections(t, c, 2)
		ws[0].Do(x.before)
		for _, again := range []string{x.was, x.want} {
			ws[1].Do("SELECT 1") // reads the definitions
			if again == x.want {
				ws[0].Do(x.change)
			}
			ws[1].defs.checked.Store(-1)
			if got := ws[1].answer(x.query); !strings.HasPrefix(got, again) {
				t.Errorf("%s: %s, want %s", x.name, got, again)
			}
			if got := ws[1].answer(x.query); !strings.HasPrefix(got, again) {
				t.Errorf("%s, once more: %s, want %s", x.name, got, again)
			}
		}
	}
}

// Whenever definitions change while a query by old ones runs, it answers by those of before, by those of after, or fails and says why.
func TestRedefinedBesideTheQuery(t *testing.T) {
	defer func(age time.Duration) { definitionsAge = age }(definitionsAge)
	definitionsAge = 20 * time.Millisecond // DROP TABLE waits for as long
	for _, x := range redefined {
		steps := int64(0)
		for at := int64(0); at <= steps; at++ { // first with no change
			_, c := NewStore(t)
			w := connections(t, c, 1)[0]
			w.Do(x.before)
			st := &stepping{Client: c, do: func() {}}
			late := newWorld(t, st, Config{FullScan: AllowFullScan})
			late.Do("SELECT 1")
			late.defs.checked.Store(-1)
			st.n.Store(0)
			st.at, st.do = at, func() { w.Do(x.change) }
			got := late.answer(x.query)
			if at == 0 {
				steps = st.n.Load()
			}
			if !strings.HasPrefix(got, x.was) && (at == 0 || !strings.HasPrefix(got, x.want) && !strings.Contains(got, "dropped or redefined") && !strings.Contains(got, "does not exist")) {
				t.Errorf("%s, at call %d of %d: %s", x.name, at, steps, got)
			}
			for _, w := range []*world{w, late} {
				w.Close()
			}
		}
		t.Logf("%s: %d calls", x.name, steps)
	}
}

// The call that asks for the definitions is one of the statement's.
func TestCallsOfAnIdleConnection(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10)")
	calls := func(sql string) int64 {
		rows, err := w.Run(t.Context(), MustParse(t, sql), Args{})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for err == nil {
			_, err = rows.Next()
		}
		return rows.Stats().RPCs
	}
	for _, sql := range []string{"SELECT v FROM t WHERE id = 1", "SELECT count(*) FROM t", "UPDATE t SET v = 11 WHERE id = 1"} {
		w.Do("SELECT 1")
		busy := calls(sql)
		w.defs.checked.Store(-1)
		if idle := calls(sql); idle != busy+1 {
			t.Errorf("%s: %d calls, %d where definitions are known", sql, idle, busy)
		}
	}
}
