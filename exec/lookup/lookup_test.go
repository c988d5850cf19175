package lookup_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsuna/gohbase/hrpc"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
)

// Look-up tables that are written while others go by their numbers: what was acknowledged is found by each engine at
// once, by name and by number, no statement fails, and no name has two numbers.
func TestLookupsWhileWritten(t *testing.T) {
	t.Parallel()
	seeds.Each(t, 3, func(t *testing.T, seed uint64, fig seeds.Figures) {
		_, c := NewStore(t)
		ws := []*World{NewWorld(t, c, Config{FullScan: AllowFullScan})}
		ws[0].Do(`CREATE TABLE hosts (name STRING, id INT) ROW KEY (name AS TEXT);
			CREATE TABLE metrics (host STRING, name STRING, id INT) ROW KEY (LOOKUP(hosts.id, host) AS INT32, name AS TEXT);
			CREATE TABLE points (host STRING, n INT, v INT) ROW KEY (LOOKUP(hosts.id, host) AS INT32, n AS INT32) ROW KEY by_n (n AS INT32, LOOKUP(hosts.id, host) AS INT32);
			CREATE TABLE deep (metric STRING, n INT) ROW KEY (LOOKUP(metrics.id, 'h0', metric) AS INT32, n AS INT32)`)
		ws = append(ws, Of(t, New(c, ws[0].Catalog(), Config{FullScan: AllowFullScan})))
		const known = 60
		var names []string
		for i := range known {
			names = append(names, fmt.Sprintf("'h%d'", i))
			ws[0].Do(fmt.Sprintf("INSERT INTO points VALUES ('h%d', 0, %[1]d); INSERT INTO deep VALUES ('m%[1]d', 0)", i))
		}
		list := strings.Join(names, ", ")
		var wg sync.WaitGroup
		var stop atomic.Bool
		for id := range 3 {
			wg.Go(func() { // writers of names, by hand and by their use
				w := ws[id%2]
				for i := 0; !stop.Load(); i++ {
					name := fmt.Sprintf("new%d_%d", id, i)
					sql := fmt.Sprintf("INSERT INTO points VALUES ('%s', %d, 7), ('shared%[2]d', %[2]d, %d)", name, i+1, id)
					if id == 0 {
						sql = fmt.Sprintf("UPSERT INTO hosts VALUES ('byhand%d', %d); ", i, 50_000*(i+1)) + sql
					}
					if _, _, err := w.Try(sql); err != nil {
						t.Errorf("%s: %v", sql, err)
						return
					}
					other := ws[1-id%2]
					if got, _, err := other.Try("SELECT v FROM points WHERE host = '" + name + "'"); err != nil || got != "7" {
						t.Errorf("%s, acknowledged, is read as %q, %v", name, got, err)
					}
				}
			})
		}
		deadline := time.Now().Add(2 * time.Second)
		for n := 0; time.Now().Before(deadline); n++ {
			w := ws[n%2]
			for sql, want := range map[string]string{
				"SELECT count(*) FROM points WHERE n = 0 AND host IN (" + list + ")":                             fmt.Sprint(known),
				"SELECT count(*) FROM deep WHERE metric IN (" + strings.ReplaceAll(list, "'h", "'m") + ")":       fmt.Sprint(known),
				"SELECT count(*), count(DISTINCT host) FROM points WHERE n = 0":                                  fmt.Sprintf("%d|%[1]d", known),
				"SELECT count(*) FROM points a JOIN points b ON a.host = b.host AND b.n = 0 WHERE a.host = 'h5'": "1",
			} {
				if got, warnings, err := w.Try(sql); err != nil || got != want || len(warnings) > 0 {
					t.Errorf("%.60s: %q, not %q, %v %q", sql, got, want, err, warnings)
				}
			}
			fig["queries"] += 4
		}
		stop.Store(true)
		wg.Wait()
		w := NewWorld(t, c, Config{FullScan: AllowFullScan})
		w.Engine.LoadCatalog(context.Background())
		if got := w.Do("SELECT count(*) - count(DISTINCT id) FROM hosts"); got != "0" {
			t.Errorf("%s names share a number", got)
		}
		w.Expect("by_n|rows without an entry|0\nby_n|entries without their row|0\nby_n|entries unlike their row|0", "CHECK TABLE points")
	})
}

// Numbers without names cost one more reading of the names, not one for each.
func TestNumbersWithoutNames(t *testing.T) {
	_, c := NewStore(t)
	cc := &Counted{Client: c, Table: "hosts"}
	w := NewWorld(t, cc, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE hosts (name STRING, id INT) ROW KEY (name AS TEXT); CREATE TABLE points (host STRING, n INT) ROW KEY (LOOKUP(hosts.id, host) AS INT32, n AS INT32)")
	var rows []string
	for i := range 300 {
		rows = append(rows, fmt.Sprintf("('h%d', 1)", i))
	}
	w.Do("INSERT INTO points VALUES " + strings.Join(rows, ", ") + "; DELETE FROM hosts WHERE name <> 'h7'")
	cc.Scans.Store(0)
	out, warnings, err := w.Try("SELECT host FROM points")
	if err != nil || out != "h7" || len(warnings) != 1 || !strings.Contains(warnings[0], "299 rows") {
		t.Errorf("%q, %v, %q", out, err, warnings)
	}
	if n := cc.Scans.Load(); n > 2 {
		t.Errorf("the names were read %d times", n)
	}
}

// A table of names that is disabled ends the statement.
func TestNamesObserveContext(t *testing.T) {
	s, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE hosts (name STRING, id INT) ROW KEY (name AS TEXT);
		CREATE TABLE points (host STRING, n INT) ROW KEY (LOOKUP(hosts.id, host) AS INT32, n AS INT32) SPLIT AT (X'00000002', X'00000003');
		INSERT INTO points VALUES ('a', 1), ('b', 1), ('c', 1)`)
	if _, err := s.SendRPC(hrpc.NewDisableTable(context.Background(), []byte("hosts"))); err != nil {
		t.Fatal(err)
	}
	stmt, _ := parser.ParseStatement("SELECT host FROM points")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	rows, err := w.Run(ctx, stmt, Args{})
	if err == nil {
		_, err = rows.Next()
		rows.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "table hosts is disabled") {
		t.Error(err)
	}
}

// The first number that is drawn is beyond those that were written by hand before, and none is drawn where these cannot be
// read.
func TestNumbersBeyondThoseByHand(t *testing.T) {
	_, c := NewStore(t)
	var at string
	f := UnansweredAt(c, &at)
	w := NewWorld(t, f, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE names (name STRING, id BIGINT) ROW KEY (name AS TEXT); INSERT INTO names VALUES ('a', 7), ('b', 3);
		CREATE TABLE t (name STRING, v INT) ROW KEY (LOOKUP(names.id, name) AS INT64)`)
	for _, at = range []string{"scan names", "get hql_catalog", "put if absent hql_catalog"} {
		w.Refused("no answer", "INSERT INTO t VALUES ('c', 1)")
	}
	at = ""
	w.Do("INSERT INTO t VALUES ('c', 1), ('a', 2)")
	w.Expect("a|7\nb|3\nc|8", "SELECT * FROM names ORDER BY name")
	w.Do("DROP TABLE t; DROP TABLE names") // with the numbers that were known
	w.Do(`CREATE TABLE names (name STRING, id BIGINT) ROW KEY (name AS TEXT); INSERT INTO names VALUES ('a', 1);
		CREATE TABLE t (name STRING, v INT) ROW KEY (LOOKUP(names.id, name) AS INT64); INSERT INTO t VALUES ('a', 5)`)
	w.Expect("a|5", "SELECT * FROM t")
}

// A row whose names' numbers cannot be read is not passed over by what changes rows.
func TestNumbersWithoutAnswer(t *testing.T) {
	_, c := NewStore(t)
	var at string
	f := UnansweredAt(c, &at)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE names (name STRING, id BIGINT) ROW KEY (name AS TEXT);
		CREATE TABLE t (name STRING, v INT) ROW KEY (LOOKUP(names.id, name) AS INT64) INDEX by_v (v AS INT32, LOOKUP(names.id, name) AS INT64);
		INSERT INTO t VALUES ('a', 1), ('b', 2)`)
	at = "get names"
	for _, sql := range []string{"DELETE FROM t", "UPDATE t SET v = 3", "CHECK TABLE t REPAIR"} {
		other := Of(t, New(f, w.Catalog(), Config{FullScan: AllowFullScan})) // that knows no number
		other.Refused("LOOKUP in names: no answer", sql)
	}
	w.Expect("a|1\nb|2", "SELECT * FROM t ORDER BY v")
}

// A number that is deleted at once, by a delete with a later timestamp, is an error that names whose it was.
func TestNumberThatIsGone(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE names (name STRING, id BIGINT) ROW KEY (name AS TEXT); CREATE TABLE t (name STRING, v INT) ROW KEY (LOOKUP(names.id, name) AS INT64)`)
	later := hbase.Mutation{Kind: hbase.DeleteRow, Key: []byte("a"), Timestamp: time.Now().Add(time.Hour).UnixMilli()}
	if err := c.Mutate(t.Context(), "names", []hbase.Mutation{later}); err != nil {
		t.Fatal(err)
	}
	w.Refused("LOOKUP in names: the number that 'a' was given is gone", "INSERT INTO t VALUES ('a', 1)")
	w.Do("INSERT INTO t VALUES ('b', 1)")
	w.Expect("b|1", "SELECT * FROM t")
}

// A look-up table that another one has taken the place of, with another key, gives no names.
func TestNamesOfAnotherKey(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE names (name STRING, id BIGINT) ROW KEY (name AS TEXT);
		CREATE TABLE t (name STRING, v INT) ROW KEY (LOOKUP(names.id, name) AS INT64); INSERT INTO t VALUES ('a', 1)`)
	_, other := NewStore(t)
	o := NewWorld(t, other, Config{})
	o.Do("CREATE TABLE names (host STRING, name STRING, id BIGINT) ROW KEY (host AS TEXT, '|', name AS TEXT)")
	names, _ := o.Catalog().Table("names")
	w.Catalog().Replace(names)
	w.Refused("the key of names has 2 columns, LOOKUP('names.id', name) names 1", "SELECT * FROM t")
	w.Refused("the key of names has 2 columns, 1 are given", "INSERT INTO t VALUES ('b', 1)")
}
