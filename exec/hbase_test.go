package exec

import (
	"context"
	"errors"
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

// TestHBase runs on one HBase, one test after the other. HBase takes its time to make a table, in which the tests of the
// embedded store go on. Under the race detector only those run that send statements from several goroutines: the others
// run the same code on the embedded store.
func TestHBase(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name       string
		test       func(t *testing.T)
		concurrent bool
	}{
		{"ReadModifyWrite", testReadModifyWriteHBase, true}, {"Histories", testHistoriesHBase, true}, {"Ended", testEndedHBase, true},
		{"Law", testLawHBase, false}, {"OpenTSDB", testOpenTSDBHBase, false}, {"Mob", testMobHBase, false}, {"ForeignTables", testForeignTablesHBase, false},
		{"Forms", testFormsHBase, false}, {"GuardOfBoundedReads", testGuardOfBoundedReadsHBase, false}, {"CostOfHops", testCostOfHopsHBase, false},
		{"KeyFilters", testKeyFiltersHBase, false}, {"LayoutCases", testLayoutCasesHBase, false}, {"Limits", testLimitsHBase, false},
		{"Refusals", testRefusalsHBase, false}, {"Shapes", testShapesHBase, false},
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
	c := dialHBase(t)
	seeds.Each(t, 5, func(t *testing.T, seed uint64, fig seeds.Figures) {
		g := newLawWorld(t, seed, c, Config{})
		g.check(10)
		fig["queries"] += 10
		g.planned.run("DROP TABLE t")
	})
}

// OpenTSDB's cells on a real HBase.
func testOpenTSDBHBase(t *testing.T) {
	c := dialHBase(t)
	checkOpenTSDB(t, c)
	for table := range foreignTables["tsdb"] {
		if err := c.DropTable(context.Background(), table, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Several connections that change one row by what they read of it, on a real HBase.
func testReadModifyWriteHBase(t *testing.T) {
	_, times := seeds.Range(t, 5)
	for _, name := range []string{"plain", "families", "indexes", "copy"} {
		t.Run(name, func(t *testing.T) { checkReadModifyWrite(t, dialHBase(t), name, times) })
	}
}

// Histories of clients of a real HBase.
func testHistoriesHBase(t *testing.T) {
	c := dialHBase(t)
	seeds.Each(t, race.Fewer(2), func(t *testing.T, seed uint64, fig seeds.Figures) {
		checkHistory(t, c, seed, fig).run("DROP TABLE t")
	})
}

// Large values of a MOB family stand in files of their own, and HBase's filters compare the references to them.
func testMobHBase(t *testing.T) {
	c := dialHBase(t)
	w := newWorld(t, c, Config{})
	w.run("CREATE TABLE mob (id INT, s STRING FROM f:s, n STRING FROM g:n) FAMILY f (IS_MOB = true, MOB_THRESHOLD = 8) ROW KEY (id AS INT32)")
	defer w.run("DROP TABLE mob")
	w.run("INSERT INTO mob SELECT g, 'a large value ' || g, 'n' || g % 10 FROM generate_series(1, 100) AS g")
	w.run("INSERT INTO mob VALUES (101, 'small', 'n1'), (102, NULL, 'n2')")
	stay := errors.New("it stays")
	if err := c.DropTable(t.Context(), "mob", func(context.Context) error { return stay }); !errors.Is(err, stay) { // disabling it writes its files
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"s = 'a large value 90'":               "1",
		"s <> 'a large value 90'":              "100",
		"s LIKE '%value 9%'":                   "11",
		"s < 'a large value 2'":                "12",
		"s = 'small' OR s = 'a large value 7'": "2",
		"s IS NULL":                            "1",
		"n = 'n1' AND s IN ('a large value 1', 'small', 'none')": "2",
	} {
		if got := w.run("SELECT count(*) FROM mob WHERE " + query); got != want {
			t.Errorf("%s: %s, not %s", query, got, want)
		}
	}
	w.run("DELETE FROM mob WHERE s <> 'a large value 50' AND id BETWEEN 40 AND 60")
	if got := w.run("SELECT s FROM mob WHERE id BETWEEN 40 AND 60"); got != "a large value 50" {
		t.Errorf("left are %s", got)
	}
}
