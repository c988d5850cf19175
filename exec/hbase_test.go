package exec

import (
	"testing"

	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
)

// TestHBase runs on one HBase, one test after the other. HBase takes its time to make a table, in which the tests of the
// embedded store go on. Under the race detector only those run that send statements from several goroutines: the others
// run the same code on the embedded store.
func TestHBase(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name       string
		test       func(t *testing.T)
		concurrent bool
	}{{"Ended", testEndedHBase, true},
		{"Law", testLawHBase, false}, {"ForeignTables", testForeignTablesHBase, false}, {"GuardOfBoundedReads", testGuardOfBoundedReadsHBase, false}, {"LayoutCases", testLayoutCasesHBase, false},
		{"Refusals", testRefusalsHBase, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			if !x.concurrent {
				race.Skip(t)
			}
			x.test(t)
		})
	}
}

// The law on a real HBase: real filters, real regions, the same random worlds.
func testLawHBase(t *testing.T) {
	c := DialHBase(t)
	seeds.Each(t, 5, func(t *testing.T, seed uint64, fig seeds.Figures) {
		g := newLawWorld(t, seed, c, Config{})
		g.check(10)
		fig["queries"] += 10
		g.planned.Do("DROP TABLE t")
	})
}
