package exec

import (
	"context"

	"github.com/hql-db/hql/hbase"
)

// maxPlannedTables bounds the physical tables whose regions are counted beforehand.
const maxPlannedTables = 100

// Regions returns the number of regions that the statement has finished reading, and the total number that it reads.
// total is 0 if counting them would take too long. It reads hbase:meta once per table, and may be called while another
// goroutine reads the rows.
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
