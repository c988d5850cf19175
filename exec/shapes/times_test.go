package shapes_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/planner"
)

// A condition on _ts reads what a full scan reads, whatever other programs wrote, replaced and deleted at which times.
func TestCellTimes(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(12), func(t *testing.T, seed uint64, fig seeds.Figures) {
		_, c := NewStore(t)
		checkCellTimes(t, c, seed, fig)
	})
}

func testCellTimesHBase(t *testing.T) {
	c := DialHBase(t)
	seeds.Each(t, 4, func(t *testing.T, seed uint64, fig seeds.Figures) { checkCellTimes(t, c, seed, fig) })
}

func checkCellTimes(t *testing.T, c hbase.Client, seed uint64, fig seeds.Figures) {
	r := rand.New(rand.NewPCG(seed, 31))
	pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
	planned := NewWorld(t, c, Config{FullScan: AllowFullScan})
	naive := Of(t, New(c, planned.Catalog(), Config{FullScan: AllowFullScan, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true, NoSkip: true}}))
	planned.Do("CREATE TABLE wide (k STRING, n INT, a STRING FROM f:a, b STRING FROM g:b) FAMILY f (VERSIONS = " + pick("1", "3") + ") FAMILY g (VERSIONS = " + pick("1", "2") +
		", KEEP_DELETED_CELLS = " + pick("true", "false") + ") ROW KEY (k AS TEXT, X'00', n AS UINT8)")
	planned.Do("CREATE TABLE long (k STRING, n INT, v STRING FROM f:[n AS UINT8]) FAMILY f (VERSIONS = " + pick("1", "3") + ") ROW KEY (k AS TEXT)")
	defer planned.Do("DROP TABLE wide; DROP TABLE long")
	stay := errors.New("it stays")
	for i := range 150 {
		m := hbase.Mutation{Key: []byte(pick("p", "q", "r") + "\x00" + string(rune(r.IntN(25)))), Timestamp: int64(1000 + r.IntN(200))}
		cell := func() hbase.Cell {
			f := pick("fa", "fa", "fx", "gb", "gy")
			return hbase.Cell{Family: []byte(f[:1]), Qualifier: []byte(f[1:]), Value: []byte(pick("0", "1", "2"))}
		}
		switch r.IntN(9) {
		case 0:
			m.Kind = hbase.DeleteRow
		case 1:
			m.Kind, m.Cells = hbase.DeleteColumns, []hbase.Cell{cell()}
		case 2:
			m.Kind, m.Cells = hbase.DeleteFamilies, []hbase.Cell{{Family: []byte(pick("f", "g"))}}
		default:
			for range 1 + r.IntN(2) {
				m.Cells = append(m.Cells, cell())
			}
		}
		l := hbase.Mutation{Key: m.Key[:1], Timestamp: m.Timestamp, Cells: []hbase.Cell{{Family: []byte("f"), Qualifier: m.Key[2:], Value: []byte("v")}}}
		if m.Kind != hbase.Put {
			l.Kind = hbase.DeleteColumns
		}
		if err := errors.Join(c.Mutate(t.Context(), "wide", []hbase.Mutation{m}), c.Mutate(t.Context(), "long", []hbase.Mutation{l})); err != nil {
			t.Fatal(err)
		}
		if i%40 == 30 { // disabling a table writes its files
			for _, table := range []string{"wide", "long"} {
				if err := c.DropTable(t.Context(), table, func(context.Context) error { return stay }); !errors.Is(err, stay) {
					t.Fatal(err)
				}
			}
		}
	}
	at := func() string {
		return time.UnixMilli(int64(990 + r.IntN(220))).UTC().Format("TIMESTAMP '2006-01-02 15:04:05.000'")
	}
	where := func() string {
		s := pick("_ts >= "+at(), "_ts > "+at(), at()+" <= _ts", "_ts = "+at(), "_ts BETWEEN "+at()+" AND "+at(), "_ts IN ("+at()+", "+at()+")", "_ts < "+at(),
			"_ts >= "+at()+" AND _ts < "+at(), "(_ts = "+at()+" OR k = 'q' AND _ts > "+at()+")", "(_ts > "+at()+" OR n = 3)", "NOT _ts < "+at(), "date_trunc('second', _ts) >= "+at())
		return s + pick("", "", " AND k = 'q'", " AND n < 9", " AND k > 'p'", " AND k = 'p' AND n = 4", " AND n IN (3, 5, 7)", " AND length(k) = 1")
	}
	for range 40 {
		table := pick("wide", "wide", "long")
		w := where()
		if table == "wide" {
			w += pick("", "", " AND a = '1'", " AND b IS NULL", " AND a < b", " AND (a IS NULL OR b > '0')")
		}
		q := pick("SELECT * FROM %s WHERE %s", "SELECT k, n, _ts FROM %s WHERE %s ORDER BY k DESC, n DESC", "SELECT count(*) FROM %s WHERE %s",
			"SELECT k, n FROM %s WHERE %s ORDER BY k, n LIMIT 3 OFFSET 1", "SELECT count(*) FROM (SELECT 1 FROM %s WHERE %s LIMIT 4) x",
			"SELECT DISTINCT k FROM %s WHERE %s", "SELECT k, min(n), max(n) FROM %s WHERE %s GROUP BY k", "SELECT max(_ts) FROM %s WHERE %s",
			"SELECT count(*) FROM %s x WHERE %s AND EXISTS (SELECT 1 FROM wide y WHERE y.k = x.k AND y._ts > "+at()+")")
		q = fmt.Sprintf(q, table, w)
		got, want := planned.Do(q), naive.Do(q)
		if !strings.Contains(q, "ORDER BY") {
			got, want = SortLines(got), SortLines(want)
		}
		if got != want {
			t.Fatalf("%s\n%s\ngives %q\n want %q", q, planned.Do("EXPLAIN "+q), got, want)
		}
		fig["queries"]++
		if strings.Contains(planned.Do("EXPLAIN "+q), "find the rows") {
			fig["by time"]++
		}
	}
	w := where()
	left := naive.Do("SELECT count(*) FROM wide WHERE (" + w + ") IS NOT TRUE")
	planned.Do("DELETE FROM wide WHERE " + w)
	if got := naive.Do("SELECT count(*) FROM wide"); got != left {
		t.Fatalf("DELETE FROM wide WHERE %s leaves %s rows, want %s", w, got, left)
	}
}
