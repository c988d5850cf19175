package exec

import (
	"context"

	"github.com/hql-db/hql/hbase"
)

// maxPlannedTables bounds the physical tables whose regions are counted beforehand.
const maxPlannedTables = 100

// Regions says how many of the regions that the statement reads from are done, of those that are
// known beforehand; total is 0 when that is too much to count. It asks hbase:meta once a table,
// and may be called while another goroutine reads the rows.
func (r *Rows) Regions(ctx context.Context) (done, total int, err error) {
	rec := r.run.rec
	rec.meta.Lock()
	defer rec.meta.Unlock()
	list := func(table string) ([]hbase.Region, error) {
		if l, ok := rec.listed[table]; ok {
			return l, nil
		}
		if len(rec.listed) == maxPlannedTables {
			return nil, nil
		}
		l, err := r.run.Client.Regions(ctx, table)
		if err != nil {
			return nil, err
		}
		if rec.listed == nil {
			rec.listed = map[string][]hbase.Region{}
		}
		rec.listed[table] = l
		return l, nil
	}
	if done, total, err = rec.Progress(list); len(rec.listed) == maxPlannedTables {
		total = 0
	}
	return done, total, err
}
