package scan

import (
	"testing"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/plan"
)

// Beyond some, accesses of one kind are counted together, and nothing of them is lost.
func TestAccessesCountedTogether(t *testing.T) {
	var r Recorder
	table := &catalog.Table{}
	layouts := []*catalog.Layout{{}, {}}
	began := time.Now().Add(-time.Hour)
	for i := range 200 {
		access := plan.FullScan
		if i%4 == 3 {
			access = plan.RangeScan
		}
		c := r.Open(&plan.Scan{Table: table, Layout: layouts[i%2], Access: access})
		c.start = began
		c.Add(1, 10)
		c.End(nil)
	}
	tables, _ := r.Tables()
	if want := maxApart + 3; len(tables) != want {
		t.Errorf("%d figures, want %d", len(tables), want)
	}
	rows, took := map[plan.Access]int64{}, time.Duration(0)
	for _, s := range tables {
		rows[s.Access] += s.RowsRead
		took += s.Elapsed
	}
	if rows[plan.FullScan] != 1500 || rows[plan.RangeScan] != 500 || took < 200*time.Hour {
		t.Errorf("%v rows in %s", rows, took)
	}
}
