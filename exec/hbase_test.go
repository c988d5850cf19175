package exec

import (
	"context"
	"testing"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/planner"
)

// The law on a real HBase: real filters, real regions, the same random worlds.
func TestLawHBase(t *testing.T) {
	c, err := hbase.Dial(context.Background(), hbase.Config{Quorum: hbasetest.Quorum(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	lawSeeds(t, 8, func(t *testing.T, seed uint64) {
		g := newLawWorld(t, seed, c, planner.Options{})
		g.check(10)
		g.planned.run("DROP TABLE t")
	})
}
