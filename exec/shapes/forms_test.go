package shapes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/forms"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/planner"
)

// TestForms runs testdata/forms: conditions in all the forms in which they can be written, and what of the key each binds. The rows
// are those of a full scan; the differential tests ask PostgreSQL for them. A form that binds less shows as more rows that are
// read. Commands:
//
//	table  a table with its rows, see internal/forms
//	forms  a condition a line; prints the rows that match, those that are read where servers filter nothing, and the access
func TestForms(t *testing.T) {
	t.Parallel()
	race.Skip(t)
	checkForms(t, true, func(t *testing.T) hbase.Client {
		_, c := NewStore(t)
		return c
	})
}

// The same on a real HBase, for its filters, ranges and reversed scans. Full scans are compared on the embedded store alone.
func testFormsHBase(t *testing.T) {
	race.Skip(t)
	c := DialHBase(t)
	checkForms(t, false, func(*testing.T) hbase.Client { return c })
}

// checkForms compares with a full scan if compare is set.
func checkForms(t *testing.T, compare bool, open func(*testing.T) hbase.Client) {
	datadriven.Walk(t, "../../testdata/forms", func(t *testing.T, path string) {
		client := open(t)
		planned := NewWorld(t, client, Config{FullScan: AllowFullScan, Alone: true})
		with := func(o planner.Options) *World {
			return Of(t, New(client, planned.Catalog(), Config{FullScan: AllowFullScan, Alone: true, Planner: o}))
		}
		keys, naive := with(planner.Options{NoPushdown: true}), with(planner.Options{NoKey: true, NoPushdown: true, NoOrder: true, NoSkip: true})
		var table forms.Table
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "table":
				var err error
				if table, err = forms.ParseTable(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				planned.Do(table.Create)
				name := table.Name
				planned.T.Cleanup(func() { planned.Do("DROP TABLE " + name) })
				planned.Do(table.Insert)
				return ""
			case "forms":
				var b strings.Builder
				bind, tight, all := 0, 0, forms.Parse(d.Input)
				for _, f := range all {
					sql := "SELECT * FROM " + table.Name + " WHERE " + f.Where
					byKeys, s := keys.RowsAndStats(sql)
					want := byKeys
					if compare {
						want = SortLines(naive.Do(sql))
					}
					if got := SortLines(planned.Do(sql)); got != want || byKeys != want || got == "" {
						t.Errorf("%s\n got %q\nby the key alone %q\nwant %q", f.Where, got, byKeys, want)
					}
					n := strings.Count(want, "\n") + 1
					a := s.Tables[len(s.Tables)-1]
					fmt.Fprintf(&b, "%4d rows of %4d, %s: %s\n", n, a.RowsRead, a.Access, f.Where)
					if a.Access.HitsPrefix() {
						bind++
					}
					if a.RowsRead <= int64(n+3) {
						tight++
					}
				}
				fmt.Fprintf(&b, "%d forms: %d hit the prefix, %d read 3 rows too many at most\n", len(all), bind, tight)
				return b.String()
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}
