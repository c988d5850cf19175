package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/internal/worlds"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// verifiedTables are rows that hql writes, and the table of them that Phoenix keeps an index of.
const verifiedTables = `CREATE TABLE states (k BYTES, state STRING FROM "0":INDEX_STATE) ROW KEY (k AS BYTES) STORED IN 'SYSTEM.CATALOG';
INSERT INTO states VALUES (X'0000' || 'T_I'::BYTES, 'a');
CREATE TABLE entries (k BYTES, mark BYTES FROM "0":X'00000000') ROW KEY (k AS BYTES) STORED IN 'T_I';
CREATE TABLE stored (id INT, s STRING FROM "0":S, n INT FROM "0":N AS ORDERED INT32, d TIMESTAMP FROM "0":D AS ORDERED INT64, o INT FROM "0":O AS ORDERED INT32) ROW KEY (id AS ORDERED INT32) STORED IN 'T' WITH (ROW_MARKER = X'00000000');
CREATE EXTERNAL TABLE t (id INT, s STRING FROM "0":S, n INT FROM "0":N AS ORDERED INT32, d TIMESTAMP FROM "0":D AS ORDERED INT64, o INT FROM "0":O AS ORDERED INT32) STORED IN 'T' ROW KEY (id AS ORDERED INT32)
  INDEX i (%s, id AS ORDERED INT32) %s STORED IN 'T_I'
  WITH (ROW_MARKER = X'00000000', READ_ONLY = 'Phoenix keeps its index', INDEX_STATES = 'SYSTEM.CATALOG', VERIFIED_ENTRIES = X'01')`

// Whatever an entry that is not verified says, an index that answers by its entries gives the rows that there are.
func TestLawOfVerifiedEntries(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(12), func(t *testing.T, seed uint64, fig seeds.Figures) {
		r := rand.New(rand.NewPCG(seed, 3))
		parts := []string{"s AS NULLABLE TEXT, X'00'", "CAST(n AS DECIMAL) AS NULLABLE PHOENIX DECIMAL, X'00'", "CAST(CAST(d AS BIGINT) AS DECIMAL) AS NULLABLE PHOENIX DECIMAL, X'00'"}
		for i, p := range parts {
			if r.IntN(2) == 0 {
				parts[i] = strings.Replace(strings.Replace(p, "NULLABLE", "NULLABLE INVERTED", 1), "X'00'", "X'FF'", 1)
			}
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		_, c := newStore(t)
		w := newWorld(t, c, Config{FullScan: AllowFullScan})
		include := []string{`INCLUDE (n FROM "0":X'800B', o FROM "0":X'800C')`, `INCLUDE (s FROM "0":"1" AS PHOENIX ELEMENT(1), o FROM "0":"1" AS PHOENIX ELEMENT(3, 'ORDERED INT32'))`, "INCLUDE ()", ""}[r.IntN(4)]
		w.run(fmt.Sprintf(verifiedTables, strings.Join(parts[:1+r.IntN(3)], ", "), include))
		before := []string{"", "\x02", "\x01"} // what entries of other values say
		if include != "" {
			before = before[:2]
		}
		tab, _ := w.catalog.Table("t")
		value := func(c *catalog.Column) types.Value {
			switch n := r.IntN(6) - 2; {
			case n == 3:
				return types.Value{}
			case c.Type == types.String:
				return types.NewString([]string{"a", "ab", "b", "ba", "z"}[n+2])
			default:
				return types.NewIntOf(c.Type, int64(n))
			}
		}
		draw := func(id int) []types.Value {
			row := []types.Value{types.NewIntOf(types.Int, int64(id)), {}, {}, {}, {}, {}, {}}
			for i := 1; i < len(tab.Columns); i++ {
				row[i] = value(tab.Columns[i])
			}
			return row
		}
		var puts []hbase.Mutation
		for id := range 30 {
			row, place := draw(id), ""
			if r.IntN(8) > 0 { // else what stands in the index is of a row that is gone
				w.run("INSERT INTO stored VALUES (?, ?, ?, ?, ?)", row[:5]...)
				place = entryOf(t, tab, row)
				puts = append(puts, entry(tab, place, 2, string([]byte{1 + byte(r.IntN(3)/2)}), row))
				if r.IntN(3) == 0 { // what was NULL then keeps the cell that it had
					puts = append(puts, entry(tab, place, 1, "\x01", draw(id)))
				}
			}
			for range r.IntN(3) { // what it said before, or will say
				row := draw(id)
				if other := entryOf(t, tab, row); other != place {
					puts = append(puts, entry(tab, other, 3, before[r.IntN(len(before))], row))
				}
			}
		}
		if err := c.Mutate(t.Context(), "T_I", puts); err != nil {
			t.Fatal(err)
		}
		naive := &world{t, New(c, w.catalog, Config{FullScan: AllowFullScan, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true}})}
		predicates := worlds.Predicates{Rand: r, Table: tab, Value: value}
		for range 30 {
			list := []string{"id, s", "*", "id", "n, id, d", "id, o", "s, o", "n, o", "COUNT(*)", "COUNT(*), MIN(n), MAX(d)", "COUNT(o), SUM(o)"}[r.IntN(10)]
			where := predicates.Draw(2)
			by := func(layout string) string {
				return "SELECT /*+ LAYOUT(" + layout + ") */ " + list + " FROM t WHERE " + where
			}
			explained := w.run("EXPLAIN " + by("i"))
			if strings.Contains(explained, "not verified") {
				fig["covered"]++
			}
			got, want := strings.Split(w.run(by("i")), "\n"), strings.Split(naive.run(by("primary")), "\n")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s\n%s\ngot  %q\nwant %q\n%s", tab.SQL(), by("i"), got, want, explained)
			}
		}
		fig["queries"] += 30
	})
}

// entry writes the entry of row at place, with mark and the columns that are not NULL; the cell that several share is there in any case.
func entry(tab *catalog.Table, place string, at int64, mark string, row []types.Value) hbase.Mutation {
	put := hbase.Mutation{Kind: hbase.Put, Timestamp: at, Key: []byte(place)}
	cell := func(family, qualifier string, value []byte) {
		put.Cells = append(put.Cells, hbase.Cell{Family: []byte(family), Qualifier: []byte(qualifier), Value: value})
	}
	var elements [][]byte
	for _, c := range tab.Layouts[1].Included {
		v := row[c.Index]
		if v.IsNull() {
			continue
		}
		b, err := c.AppendCell(nil, v)
		if err != nil {
			panic(err)
		}
		if n := c.Element(); n > 0 {
			elements = append(elements, make([][]byte, n-len(elements))...)
			elements[n-1] = b
			continue
		}
		cell(c.Family, c.Qualifier, b)
	}
	if slices.ContainsFunc(tab.Layouts[1].Included, func(c *catalog.Column) bool { return c.Element() > 0 }) {
		cell("0", "1", catalog.AppendElements(nil, elements))
	}
	if mark != "" || put.Cells == nil {
		cell("0", tab.Marker, []byte(mark))
	}
	return put
}

// entryOf is the key of a row's entry.
func entryOf(t *testing.T, tab *catalog.Table, row []types.Value) string {
	_, key, err := tab.Layouts[1].Place(row)
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}

// The rows that verified entries tell all of are not read.
func TestVerifiedEntriesAreNotFollowed(t *testing.T) {
	_, c := newStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.run(fmt.Sprintf(verifiedTables, "s AS NULLABLE TEXT, X'00'", `INCLUDE (n FROM "0":X'800B')`))
	tab, _ := w.catalog.Table("t")
	var rows []hbase.Mutation
	for id := range 10 {
		row := []types.Value{types.NewIntOf(types.Int, int64(id)), types.NewString("a"), {}, {}, {}, {}, {}}
		w.run("INSERT INTO stored VALUES (?, 'a', NULL, NULL, 2)", row[0])
		mark := []byte{1}
		if id == 3 {
			mark = []byte{2}
		}
		rows = append(rows, entry(tab, entryOf(t, tab, row), 2, string(mark), row))
		if id > 7 { // n was something then
			row[2] = types.NewIntOf(types.Int, 5)
			rows = append(rows, entry(tab, entryOf(t, tab, row), 1, "\x01", row))
		}
	}
	if err := c.Mutate(t.Context(), "T_I", rows); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int64{
		"SELECT id FROM t WHERE s = 'a'":                      11 + 1, // the row of INDEX_STATE
		"SELECT COUNT(*) FROM t WHERE s = 'a' AND id > 4":     5 + 1,
		"SELECT id, n FROM t WHERE s = 'a'":                   13 + 1, // two carry an old cell
		"SELECT id, o FROM t WHERE s = 'a'":                   20 + 1,
		"SELECT id FROM t WHERE s = 'a' AND (o = 2 OR o = 3)": 20 + 1,
	} {
		before := c.Stats().Rows
		w.run(sql)
		if n := c.Stats().Rows - before; n != want {
			t.Errorf("%s: %d rows read, want %d", sql, n, want)
		}
	}
}
