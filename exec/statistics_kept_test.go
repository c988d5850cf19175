package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/stats"
)

// analyzing counts the calls for statistics that the store has, and takes none to be written if denied is set.
type analyzing struct {
	hbase.Client
	asked  *atomic.Int64
	denied bool
}

func (c analyzing) Get(ctx context.Context, table string, keys [][]byte, o *hbase.ReadOptions) ([]hbase.Row, error) {
	if table == statisticsTable {
		c.asked.Add(1)
	}
	return c.Client.Get(ctx, table, keys, o)
}

func (c analyzing) CreateTable(ctx context.Context, table string, families []hbase.Family, splits [][]byte) error {
	if c.denied && table == statisticsTable {
		return hbase.ErrDenied
	}
	return c.Client.CreateTable(ctx, table, families, splits)
}

// noRoom keeps no statistics.
type noRoom struct{ files }

func (noRoom) Save(string, []byte) error { return errors.New("no space left on device") }

// loaded makes an engine on a store that has definitions.
func loaded(t *testing.T, c hbase.Client, cfg Config) *world {
	t.Helper()
	w := newWorld(t, c, cfg)
	if _, err := w.LoadCatalog(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// keepStatistics changes the statistics of a table that the store has.
func keepStatistics(t *testing.T, c hbase.Client, table string, change func(string) string) {
	t.Helper()
	rows, err := c.Get(t.Context(), statisticsTable, [][]byte{catalogKey(table)}, &hbase.ReadOptions{})
	if err != nil || len(rows[0].Cells) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	cell := rows[0].Cells[0]
	cell.Value = []byte(change(string(cell.Value)))
	put := hbase.Mutation{Kind: hbase.Put, Key: catalogKey(table), Timestamp: serverTime, Cells: []hbase.Cell{cell}}
	if err := c.Mutate(t.Context(), statisticsTable, []hbase.Mutation{put}); err != nil {
		t.Fatal(err)
	}
}

// Statistics that the store has of a table as it was once are read once, and are not waited for.
func TestStatisticsOfAnotherDefinition(t *testing.T) {
	w, c := people(t, Config{FullScan: AllowFullScan}, 20)
	w.Do("ANALYZE people")
	for _, x := range []struct {
		what   string
		change func(string) string
		shown  string
	}{
		{"another column", func(s string) string { return strings.Replace(s, `"name":"id"`, `"name":"ident"`, 1) }, ""},
		{"damaged", func(s string) string { return s[:len(s)/2] }, "they are damaged"},
		{"another version", func(s string) string { return strings.Replace(s, `"version":1`, `"version":2`, 1) }, "they are of version 2"},
	} {
		w.Do("ANALYZE people")
		keepStatistics(t, c, "people", x.change)
		asked := &atomic.Int64{}
		kept := files{}
		r := loaded(t, ReadOnly(analyzing{c, asked, false}), Config{FullScan: AllowFullScan, Statistics: kept})
		r.Do("SELECT id FROM people WHERE id = 7")
		_, _, err := r.Try("SHOW STATISTICS people")
		if (err != nil) != (x.shown != "") || err != nil && !strings.Contains(err.Error(), x.shown) {
			t.Errorf("%s: %v", x.what, err)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("%s: they are asked for %d times", x.what, n)
		}
		// Those that the user makes himself count.
		r.Do("ANALYZE people")
		if got := loaded(t, ReadOnly(c), Config{Statistics: kept}).Do("SHOW STATISTICS people"); !strings.Contains(got, "people|20|") {
			t.Errorf("%s: %s", x.what, got)
		}
	}
}

// If the store and the user's files have statistics, the newer ones count.
func TestNewerStatistics(t *testing.T) {
	w, c := people(t, Config{FullScan: AllowFullScan}, 20)
	w.Do("ANALYZE people")
	kept := files{}
	reader := func() *world {
		return loaded(t, ReadOnly(c), Config{FullScan: AllowFullScan, Statistics: kept})
	}
	w.Do("DELETE FROM people WHERE id >= 15")
	r := reader()
	for _, x := range []struct {
		by   *world
		rows int
	}{{r, 15}, {w, 10}, {r, 5}} {
		w.Do(fmt.Sprintf("DELETE FROM people WHERE id >= %d", x.rows))
		x.by.Do("ANALYZE people")
		if got := reader().Do("SHOW STATISTICS people"); !strings.Contains(got, fmt.Sprintf("people|%d|", x.rows)) {
			t.Errorf("want %d rows: %s", x.rows, got)
		}
	}
}

// Statistics for which there is no place last as long as the connection: what took a minute to find is not thrown away.
func TestStatisticsWithoutAPlace(t *testing.T) {
	_, c := people(t, Config{FullScan: AllowFullScan}, 20)
	r := loaded(t, ReadOnly(c), Config{FullScan: AllowFullScan, Statistics: noRoom{files{}}})
	shown, warnings, err := r.Try("ANALYZE people")
	if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "HQL-W008") || !strings.Contains(warnings[0], "no space left") {
		t.Errorf("%v %v", warnings, err)
	}
	if got := r.Do("SHOW STATISTICS people"); got != shown || got == "" {
		t.Errorf("%s\nis\n%s", shown, got)
	}
}

// Statistics of a table that was dropped are not those of another one of its name, wherever they were kept.
func TestStatisticsOfADroppedTable(t *testing.T) {
	_, c := NewStore(t)
	kept := files{}
	w := newWorld(t, analyzing{c, &atomic.Int64{}, true}, Config{FullScan: AllowFullScan, Statistics: kept})
	const create = "CREATE TABLE people (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64)"
	w.Do(create + "; INSERT INTO people VALUES (1, 'a'); ANALYZE people")
	if len(kept) != 1 {
		t.Fatalf("%d files", len(kept))
	}
	w.Do("DROP TABLE people; " + create)
	if got := w.Do("SHOW STATISTICS people"); got != "" || len(kept) != 0 {
		t.Errorf("%d files: %s", len(kept), got)
	}
}

// Two users may call two tables by one name, each in his own definitions: statistics of the one that is small give no permission to read the other.
func TestStatisticsOfANamesake(t *testing.T) {
	w, c := people(t, Config{FullScan: AllowFullScan}, 20)
	kept := files{}
	w.Do("CREATE TABLE other (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64); INSERT INTO other VALUES (1, 'a')")
	user := func(stored string) *world {
		u := newWorld(t, ReadOnly(c), Config{FullScan: DenyFullScan, Statistics: kept})
		u.Do("CREATE EXTERNAL TABLE mine (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64) STORED IN '" + stored + "'")
		return u
	}
	user("other").Do("ANALYZE mine; SELECT * FROM mine")
	other := user("people")
	if got := other.Do("SHOW STATISTICS mine"); got != "" {
		t.Errorf("%s", got)
	}
	if _, _, err := other.Try("SELECT * FROM mine"); !errors.Is(err, ErrFullScan) {
		t.Errorf("%v", err)
	}
}

// A table of a few rows, of which no size is told, is told to have grown when it has.
func TestOutdatedStatisticsOfFewRows(t *testing.T) {
	_, c := people(t, Config{FullScan: AllowFullScan}, 20)
	sizes := map[string]int64{}
	w := loaded(t, sized{c, sizes, 1}, Config{FullScan: AllowFullScan})
	w.Do("ANALYZE people")
	for _, x := range []struct {
		size int64
		told bool
	}{{0, false}, {2 << 20, false}, {100 << 20, true}} {
		sizes["people's"] = x.size
		if got := w.Do("SHOW STATISTICS people"); strings.Contains(got, "OUTDATED: the table has grown") != x.told {
			t.Errorf("%d bytes: %s", x.size, got)
		}
	}
}

// A table in which no row fits the definition has no rows, and statistics that say so.
func TestAnalyzeOfNoFittingRows(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE people (id BIGINT, name STRING FROM d:name) ROW KEY (id AS INT64)")
	put := hbase.Mutation{Kind: hbase.Put, Key: []byte("short"), Timestamp: serverTime, Cells: []hbase.Cell{{Family: []byte("d"), Qualifier: []byte("name"), Value: []byte("a")}}}
	if err := c.Mutate(t.Context(), "people", []hbase.Mutation{put}); err != nil {
		t.Fatal(err)
	}
	if got := w.Do("ANALYZE people"); !strings.Contains(got, "table|people|0|") {
		t.Errorf("%s", got)
	}
}

// A piece of what ANALYZE had no time to look at is not told to have no rows.
func TestPieceOfWhatIsNotKnown(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	w.Do("CREATE TABLE sales (id BIGINT, name STRING FROM d:name) ROW KEY (id AS UINT64) SPLIT AT (X'0000000000000064')")
	w.Fill("sales", 200, func(i int) string { return fmt.Sprintf("(%d, 'name')", i) })
	w.Do("ANALYZE sales")
	s := w.stats.stored["sales"]
	s.Unread = 0.5
	s.Keys[0].Stored[0].Unread = append(s.Keys[0].Stored[0].Unread, stats.Gap{Start: []byte("\x00\x00\x00\x00\x00\x00\x00\x65")})
	cut, err := w.Cut(t.Context(), MustParse(t, "SELECT * FROM sales").(*parser.Select), Args{})
	if err != nil || len(cut.Pieces) != 2 {
		t.Fatalf("%+v, %v", cut, err)
	}
	if e := cut.Pieces[0].Estimate; e == nil || e.Rows < 50 {
		t.Errorf("the first piece: %+v", e)
	}
	if e := cut.Pieces[1].Estimate; e != nil {
		t.Errorf("the second piece: %+v", e)
	}
}
