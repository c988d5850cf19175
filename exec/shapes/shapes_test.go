package shapes_test

import (
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/planner"
)

// Shapes of queries, each with how much it may read: conditions that move to where they bind a key, joins, groups. The rows are those
// of a plan that moves nothing and reads all of each table. The commands are
//
//	run            statements
//	shape most=n   a query that reads n rows at most, and with gets=m sends m Gets at most, with scans=m m scans, and with
//	               bytes=m receives m bytes of cells at most
//	explain        the plan of a query
func TestShapes(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	datadriven.Walk(t, "../testdata/shapes", func(t *testing.T, path string) {
		_, c := NewStore(t)
		checkShapes(t, path, c, true)
	})
}

// The same rows are read of a real HBase. The plan that moves nothing is not asked there: it gave the same on the embedded store.
func testShapesHBase(t *testing.T) {
	race.Skip(t)
	c := DialHBase(t)
	datadriven.Walk(t, "../testdata/shapes", func(t *testing.T, path string) {
		w := checkShapes(t, path, c, false)
		for _, v := range w.Catalog().Views() {
			w.Do("DROP VIEW " + v.Name)
		}
		for _, table := range slices.Backward(w.Catalog().Tables()) { // logs before the tables of its LOOKUPs
			w.Do("DROP TABLE IF EXISTS " + table.Name)
		}
	})
}

func checkShapes(t *testing.T, path string, c hbase.Client, compare bool) *World {
	planned := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true})
	naive := Of(t, New(c, planned.Catalog(), Config{FullScan: AllowFullScan, Alone: true, Planner: planner.Options{NoKey: true, NoPushdown: true, NoOrder: true, NoSkip: true, NoRules: true}}))
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "run":
			return planned.Do(d.Input)
		case "explain":
			return planned.Do("EXPLAIN "+d.Input) + "\n"
		case "shape":
			most, gets, scans, bytes := int64(0), int64(1<<62), int64(1<<62), int64(1<<62)
			d.ScanArgs(t, "most", &most)
			d.MaybeScanArgs(t, "gets", &gets)
			d.MaybeScanArgs(t, "scans", &scans)
			d.MaybeScanArgs(t, "bytes", &bytes)
			got, s := planned.RowsAndStats(d.Input)
			if compare {
				if want := SortLines(naive.Do(d.Input)); got != want {
					d.Fatalf(t, "%s\ngives %q\n want %q", d.Input, got, want)
				}
			}
			if s.RowsRead > most || s.Gets > gets || s.Scans > scans || s.Bytes > bytes {
				t.Errorf("%s: %s\nreads %d rows, and may read %d; sends %d Gets and %d scans, receives %d bytes", d.Pos, d.Input, s.RowsRead, most, s.Gets, s.Scans, s.Bytes)
			}
			return got + "\n"
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
	return planned
}
