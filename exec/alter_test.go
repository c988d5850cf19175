package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
)

// While CREATE INDEX fills an index, other connections write, and none of their rows is without its entry afterwards.
func TestIndexBesideWriters(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(testing.TB) hbase.Client{
		"embedded": func(t testing.TB) hbase.Client { _, c := NewStore(t); return c },
		"hbase":    DialHBase,
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t)
			first, _ := seeds.Range(t, 1)
			connect := func() *world { return worldOf(t, New(c, catalog.New(), Config{FullScan: AllowFullScan})) }
			w := connect()
			w.Do("DROP TABLE IF EXISTS alter_beside; CREATE TABLE alter_beside (id INT PRIMARY KEY, kind STRING, n INT)")
			w.Do("INSERT INTO alter_beside SELECT g, 'k' || g % 7, g FROM generate_series(1, 3000) AS g")
			ctx, stop := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			wrote := make([]int, 2)
			for i := range wrote {
				r, writer := rand.New(rand.NewPCG(first, uint64(i))), connect()
				wg.Go(func() {
					for ctx.Err() == nil {
						id := len(wrote)*r.IntN(2000) + i // an INSERT at the same time as another statement on its row may leave an entry of old values
						sql := []string{"INSERT INTO alter_beside (id, kind, n) VALUES (%d, 'k%d', %d)", "UPDATE alter_beside SET kind = 'k%[2]d' WHERE id = %[1]d",
							"DELETE FROM alter_beside WHERE id = %d"}[r.IntN(3)]
						sql, _, _ = strings.Cut(fmt.Sprintf(sql, id, r.IntN(9), wrote[i]), "%!")
						if _, _, err := writer.Try(sql); err != nil {
							t.Errorf("%s: %v", sql, err)
							return
						}
						wrote[i]++
					}
				})
			}
			w.Do("CREATE INDEX by_kind ON alter_beside (kind)")
			w.Do("ALTER TABLE alter_beside ADD COLUMN note STRING")
			w.Do("COMMENT ON COLUMN alter_beside.note IS 'none yet'")
			stop()
			wg.Wait()
			if wrote[0] < 10 || wrote[1] < 10 {
				t.Errorf("the writers wrote %v rows", wrote)
			}
			w.Expect("by_kind|rows without an entry|0\nby_kind|entries without their row|0", "CHECK TABLE alter_beside")
			q := "SELECT id, kind, n FROM alter_beside WHERE kind = 'k3' ORDER BY id"
			w.Expect(w.Do(strings.Replace(q, "SELECT", "SELECT /*+ LAYOUT(primary) */", 1)), strings.Replace(q, "SELECT", "SELECT /*+ LAYOUT(by_kind) */", 1))
			w.Do("DROP TABLE alter_beside")
		})
	}
}

// An index whose filling was interrupted is written, not read; the same CREATE INDEX goes on.
func TestIndexInterrupted(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY, kind STRING); INSERT INTO t SELECT g, 'k' || g % 3 FROM generate_series(1, 2500) AS g")
	ctx, stop := context.WithCancel(context.Background())
	broken := worldOf(t, New(&indexless{c, "t_by_kind", stop}, catalog.New(), Config{FullScan: AllowFullScan}))
	if _, _, err := broken.TryUnder(ctx, "CREATE INDEX by_kind ON t (kind)"); err == nil || !strings.Contains(err.Error(), "is not complete") {
		t.Fatal(err)
	}
	w.Do("INSERT INTO t VALUES (5000, 'k1')")
	w.Expect("835", "SELECT count(*) FROM t WHERE kind = 'k1'")
	w.Refused("has no layout", "SELECT /*+ LAYOUT(by_kind) */ count(*) FROM t WHERE kind = 'k1'")
	w.Refused("is being built with another definition", "CREATE INDEX by_kind ON t (lower(kind) AS TEXT)")
	w.Do("CREATE INDEX by_kind ON t (kind)")
	w.Expect("835", "SELECT /*+ LAYOUT(by_kind) */ count(*) FROM t WHERE kind = 'k1'")
	w.Expect("by_kind|rows without an entry|0\nby_kind|entries without their row|0", "CHECK TABLE t")
	w.Do("DROP INDEX by_kind")
	w.Expect("835", "SELECT count(*) FROM t WHERE kind = 'k1'")
	if names, err := c.Tables(context.Background(), "t"); err != nil || len(names) != 1 {
		t.Error(names, err)
	}
}

// indexless is a client whose statement ends after the first rows that it writes to a table.
type indexless struct {
	hbase.Client
	table string
	stop  func()
}

func (c *indexless) Mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	err := c.Client.Mutate(ctx, table, ms)
	if table == c.table {
		c.stop()
	}
	return err
}

// If another connection changes the definition during RENAME TO, the table keeps its name and the change.
func TestChangedDuringRename(t *testing.T) {
	_, c := NewStore(t)
	ws := connections(t, c, 2)
	ws[0].Do("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 5)")
	late := newWorld(t, &Forestalled{Client: c, First: Hook{F: func() { ws[0].Do("ALTER TABLE t ADD COLUMN w INT") }}}, Config{FullScan: AllowFullScan})
	if _, _, err := late.Try("ALTER TABLE t RENAME TO u"); err == nil || err.Error() != "another connection has changed or dropped t meanwhile: run it again" {
		t.Errorf("got %v", err)
	}
	for _, w := range []*world{late, ws[0], ws[1]} {
		w.Expect("1|5|NULL", "SELECT id, v, w FROM t")
		w.Refused("unknown table", "SELECT * FROM u")
	}
}

// Another session of the same engine changes the definition while CREATE INDEX makes an HBase table: its change stays.
func TestChangedWhileIndexed(t *testing.T) {
	_, c := NewStore(t)
	var other *world
	client := &making{Client: c}
	engine := New(client, catalog.New(), Config{FullScan: AllowFullScan})
	w := worldOf(t, engine)
	other = worldOf(t, engine)
	w.Do("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t (id, v) VALUES (1, 5)")
	client.First.Set(func() { other.Do("ALTER TABLE t ADD COLUMN w INT") })
	w.Refused("another connection has changed or dropped t meanwhile: run it again", "CREATE INDEX i ON t (v)")
	w.Expect("1|5|NULL", "SELECT id, v, w FROM t")
}

// making is a client that calls First before it makes a table.
type making struct {
	hbase.Client
	First Hook
}

func (c *making) CreateTable(ctx context.Context, name string, families []hbase.Family, splits [][]byte) error {
	if first := c.First.Set(nil); first != nil {
		first()
	}
	return c.Client.CreateTable(ctx, name, families, splits)
}
