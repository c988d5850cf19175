package write_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
)

const moveTables = `CREATE TABLE q (id INT, n INT, v TEXT) ROW KEY (id AS ORDERED INT32) INDEX by_n (n AS ORDERED INT32, id AS ORDERED INT32);
	CREATE TABLE done (id INT, n INT, v TEXT) ROW KEY (id AS ORDERED INT32)`

const move = "WITH d AS (DELETE FROM q WHERE n >= 0 RETURNING *) INSERT INTO done SELECT * FROM d"

// A fault between the parts of a statement loses no row: those that a DELETE passes on are written before they are deleted.
func TestWithWritesUnderFaults(t *testing.T) {
	_, c := NewStore(t)
	b := &broken{Client: c}
	w := NewWorld(t, b, Config{FullScan: AllowFullScan})
	w.Do(moveTables)
	w.Do("INSERT INTO q VALUES (1, 1, 'a'), (2, 2, 'b')")
	const left, arrived = "SELECT count(*) FROM q WHERE n > 0", "SELECT count(*) FROM done"
	for _, test := range []struct{ broken, sql, want, left, arrived string }{
		{"done", move, "read-only", "2", "0"},
		{"q", move, "read-only; 2 rows written before stay", "2", "2"},
		{"q", "WITH i AS (INSERT INTO done VALUES (7, 7, 'x')) DELETE FROM q", "read-only; 1 row written before stays", "2", "3"},
		{"done", "WITH u AS (UPDATE q SET n = n + 1 RETURNING *) INSERT INTO done SELECT * FROM u", "read-only; 2 rows written before stay", "2", "3"},
		{"q", "WITH u AS (UPDATE q SET n = 9) SELECT * FROM q", "read-only", "2", "3"},
	} {
		b.table.Store(&test.broken)
		w.Refused(test.want, test.sql)
		b.table.Store(nil)
		w.Expect(test.left, left)
		w.Expect(test.arrived, arrived)
	}
	w.Expect("1|2|a\n2|3|b", "SELECT * FROM q ORDER BY id")
	if n := affected(w, move); n != 2 { // repeating the statement is enough
		t.Errorf("%d rows arrived", n)
	}
	w.Expect("0", left)
	w.Expect("1|2|a\n2|3|b\n7|7|x", "SELECT * FROM done ORDER BY id")
}

// Another client changes or deletes a row that a DELETE has passed on: what it wrote stays, and the statement says so.
func TestMovedMeanwhile(t *testing.T) {
	for _, test := range []struct{ meanwhile, left string }{
		{"UPDATE q SET v = 'new' WHERE id = 1", "1|1|new"},
		{"DELETE FROM q WHERE id = 1", ""},
	} {
		_, c := NewStore(t)
		other := NewWorld(t, c, Config{FullScan: AllowFullScan})
		other.Do(moveTables)
		other.Do("INSERT INTO q VALUES (1, 1, 'a'), (2, 2, 'b')")
		w := NewWorld(t, &between{c, Hook{F: func() { other.Do(test.meanwhile) }}}, Config{FullScan: AllowFullScan})
		w.Refused("1 row of q changed after the statement had read and used it, so the DELETE left it as it is; 3 rows written before stay", move)
		w.Expect(test.left, "SELECT * FROM q")
		w.Expect("1|1|a\n2|2|b", "SELECT * FROM done ORDER BY id")
		affected(w, move)
		w.Expect("", "SELECT * FROM q")
	}
}

// Clients that count in WITH lose nothing, and none of those that move rows loses one; of those that take rows one gets each.
func TestWithWritesTogether(t *testing.T) {
	_, c := NewStore(t)
	checkWithWrites(t, c, 20)
}

func checkWithWrites(t *testing.T, c hbase.Client, times int) {
	w := peers(t, c, moveTables, 0, 0, 0)
	w[0].Do("INSERT INTO q VALUES (0, 0, 'counter')")
	moveSome := strings.ReplaceAll(move, "n >= 0", "n > 0 AND id > 1000")
	var took atomic.Int64
	together(len(w), func(i int) {
		for k := range times {
			id := 1 + i*times + k
			w[i].Do(fmt.Sprintf("WITH u AS (UPDATE q SET n = n + 1 WHERE id = 0 RETURNING n) INSERT INTO done SELECT n, %d, 'drawn' FROM u", i))
			w[i].Do(fmt.Sprintf("INSERT INTO q VALUES (%d, -1, 'taken'), (%d, 1, 'moved')", id, id+1000))
			taken := fmt.Sprintf("WITH d AS (DELETE FROM q WHERE id = %d RETURNING id) SELECT id FROM d", 1+k)
			if w[i].Do(taken) != "" {
				took.Add(1)
			}
			if _, _, err := w[i].Try(moveSome); err != nil && !strings.Contains(err.Error(), "the DELETE left") {
				t.Error(err)
			}
		}
	})
	w[0].Do(moveSome)
	n := len(w) * times
	w[0].Expect(fmt.Sprint(n), "SELECT n FROM q WHERE id = 0")
	w[0].Expect(fmt.Sprintf("%d|%d", n, n), "SELECT count(*), max(id) FROM done WHERE v = 'drawn'")
	w[0].Expect(fmt.Sprint(n), "SELECT count(*) FROM done WHERE v = 'moved' AND id > 1000")
	if left := w[0].Do("SELECT count(*) FROM q WHERE n < 0"); left != fmt.Sprint(int64(n)-took.Load()) {
		t.Errorf("%s of %d rows are left, %d were taken", left, n, took.Load())
	}
	w[0].Do("DROP TABLE q, done")
}
