package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// The law on each table of layouts.sql, with rows and queries made for its columns.
func TestLawOfEveryLayout(t *testing.T) {
	t.Parallel()
	race.Skip(t) // TestLayoutCases writes and reads the same layouts
	for _, def := range Layouts(t) {
		t.Run(def.Name, func(t *testing.T) {
			seeds.Each(t, 1, func(t *testing.T, seed uint64, fig seeds.Figures) {
				_, c := NewStore(t)
				newLayoutWorld(t, seed, c, def).check(10)
				fig["queries"] += 10
			})
		})
	}
}

// foreignTables are the HBase tables that others would have made for EXTERNAL definitions.
var foreignTables = map[string]map[string][]hbase.Family{
	"phoenix_events": {"EVENTS": {{Name: "0"}}},
	"tsdb":           {"tsdb": {{Name: "t"}}, "tsdb-uid": {{Name: "id"}, {Name: "name"}}},
}

// newLayoutWorld is a world with the table def and what it refers to.
func newLayoutWorld(t testing.TB, seed uint64, client hbase.Client, def *parser.CreateTable) *lawWorld {
	g := &lawWorld{t: t, name: def.Name, ddl: def.String(), r: rand.New(rand.NewPCG(seed, 1))}
	g.planned = newWorld(t, client, Config{FullScan: AllowFullScan, Parallelism: 1 + g.r.IntN(6)})
	for _, d := range Layouts(t) {
		if d.Name != def.Name && d.Name != "log_types" {
			continue
		}
		if d.External {
			for table, families := range foreignTables[d.Name] {
				if err := client.CreateTable(context.Background(), table, families, nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := g.planned.Run(context.Background(), d, Args{}); err != nil {
			t.Fatal(err)
		}
	}
	g.naive = worldOf(t, New(client, g.planned.catalog, Config{FullScan: AllowFullScan, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true}}))
	g.table, _ = g.planned.catalog.Table(def.Name)
	g.copies = len(g.table.Layouts) > 1
	g.load(80)
	return g
}

// layoutValue is a value for a column of any table: few of each type, so that predicates hit some.
func (g *lawWorld) layoutValue(col *catalog.Column) types.Value {
	r := g.r
	if !col.KeyPart && col.Packed == nil && g.table.Layouts[0].PartOf(col.Index) == nil && !g.inAnyKey(col) && r.IntN(4) == 0 {
		return types.Value{}
	}
	if col.NullKey && r.IntN(3) == 0 {
		return types.Value{}
	}
	switch t := col.Type; t {
	case types.Decimal:
		v, err := types.ParseDecimal(g.pick("0", "-1.5", "7", "100", "0.001"))
		if err != nil {
			g.t.Fatal(err)
		}
		return v
	case types.Int, types.BigInt, types.SmallInt, types.TinyInt:
		return types.NewIntOf(t, []int64{0, 1, 2, 3, 7, 9, 10, 100, 1001, -1}[r.IntN(10)])
	case types.Date:
		return types.NewDate([]int64{15583, 15584, 15585, 20000}[r.IntN(4)])
	case types.Timestamp:
		base := []int64{1_346_457_600_000, 1_346_544_000_000, 1_545_105_000_000, 1_600_000_200_000}[r.IntN(4)]
		step := []int64{1, 1000, 60_000}[r.IntN(3)]
		if strings.Contains(g.ddl, "'yyMMdd:HHmmss'") {
			step = 1000
		}
		if strings.Contains(g.ddl, "MINUTE_OF_DAY") {
			step = 60_000
		}
		return types.NewTimestamp(base + step*int64(r.IntN(9)-4))
	case types.Double:
		return types.NewDouble([]float64{-1.5, 0, 0.25, 100}[r.IntN(4)])
	case types.JSON, types.JSONB:
		return types.NewJSONOf(col.Type, fmt.Sprintf(`{"n":%d}`, r.IntN(3)))
	case types.Bytes:
		return types.NewBytes(g.pick("", "a", "\x00\xff", "ab"))
	}
	return types.NewString(g.pick("a", "b", "ab", "1", "1231231", "x.y", "é"))
}

func (g *lawWorld) inAnyKey(col *catalog.Column) bool {
	for _, l := range g.table.Layouts[1:] {
		if l.PartOf(col.Index) != nil {
			return true
		}
	}
	return false
}

// Every statement fails cleanly, and is right when it does not fail, whichever of
// the store's calls fails.
func TestFailures(t *testing.T) {
	w := worldOf(t, nil)
	boom := errors.New("boom")
	f := newFakeClient()
	c := &failing{fakeClient: f, err: boom}
	c.left.Store(1 << 30)
	w.Engine = New(c, catalog.New(), Config{FullScan: AllowFullScan, Planner: planner.Options{NoPushdown: true}})
	w.Do("CREATE TABLE t (a INT, s STRING, v INT) ROW KEY main (a AS TEXT(4)) STORED IN 't' INDEX by_s (s AS TEXT, '|', a AS TEXT(4)) STORED IN 'ts'")
	for i := range 30 {
		w.Do(fmt.Sprintf("INSERT INTO t VALUES (%d, 's%d', %d)", i, i%3, i))
	}
	for _, sql := range []string{"SELECT COUNT(*) FROM t", "SELECT a FROM t WHERE s = 's1' ORDER BY a", "SELECT a FROM t WHERE a IN (1, 2, 3)", "SELECT a FROM t ORDER BY a DESC LIMIT 12",
		"UPDATE t SET v = v WHERE s = 's1'", "UPSERT INTO t VALUES (1, 's1', 1)"} {
		c.left.Store(1 << 30)
		want := w.Do(sql)
		for n := int64(0); ; n++ {
			c.left.Store(n)
			got, _, err := w.Try(sql)
			if err == nil {
				if got != want {
					t.Errorf("%s: after %d calls %q, want %q", sql, n, got, want)
				}
				break
			}
			if !errors.Is(err, boom) {
				t.Fatalf("%s: call %d: %v", sql, n, err)
			}
		}
	}
}
