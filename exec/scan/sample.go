package scan

import (
	"context"
	"time"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// This file is for readers of whole tables, such as ANALYZE.

// Decode returns the logical rows of r, a row of an HBase table: several for packed columns, none if its key does not fit.
// They are valid until the next call.
func (d *Decoder) Decode(ctx context.Context, table string, r *hbase.Row) ([][]types.Value, error) {
	if d.batch == nil {
		d.batch = newRowBatch(d.scan.Width())
	}
	d.batch.reset()
	d.ctx, d.seen = ctx, time.Now()
	err := d.appendRows(d.batch, table, r)
	return d.batch.rows, err
}

// Add counts ranges that were opened and rows that were read.
func (s *Counts) Add(ranges, rows int64) {
	s.ranges.Add(ranges)
	s.read.Add(rows)
}

// Answered is hbase.ReadOptions.Region for reads that s counts.
func (s *Counts) Answered(region []byte) { s.regions.Answered(region) }

// End ends the access; err is the error that ended it, or nil.
func (s *Counts) End(err error) { s.done(err) }
