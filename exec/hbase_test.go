package exec

import (
	"context"
	"testing"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/internal/seeds"
)

func dialHBase(t *testing.T) hbase.Client {
	t.Helper()
	c, err := hbase.Dial(context.Background(), hbase.Config{Quorum: hbasetest.Quorum(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// The law on a real HBase: real filters, real regions, the same random worlds.
func TestLawHBase(t *testing.T) {
	c := dialHBase(t)
	seeds.Each(t, race.Fewer(5), func(t *testing.T, seed uint64, fig seeds.Figures) {
		g := newLawWorld(t, seed, c, Config{})
		g.check(10)
		fig["queries"] += 10
		g.planned.run("DROP TABLE t")
	})
}

// OpenTSDB's cells on a real HBase.
func TestOpenTSDBHBase(t *testing.T) {
	c := dialHBase(t)
	checkOpenTSDB(t, c)
	for table := range foreignTables["tsdb"] {
		if err := c.DropTable(context.Background(), table, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Several connections that change one row by what they read of it, on a real HBase.
func TestReadModifyWriteHBase(t *testing.T) {
	for _, name := range []string{"plain", "families", "indexes", "copy"} {
		t.Run(name, func(t *testing.T) { checkReadModifyWrite(t, dialHBase(t), name, 10) })
	}
}

// Histories of clients of a real HBase.
func TestHistoriesHBase(t *testing.T) {
	c := dialHBase(t)
	seeds.Each(t, race.Fewer(4), func(t *testing.T, seed uint64, fig seeds.Figures) {
		checkHistory(t, c, seed, fig).run("DROP TABLE t")
	})
}
