package scan

import (
	"cmp"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// StoredPoint is a data point as it was found in a row.
type StoredPoint struct {
	catalog.Point
	ts   int64 // timestamp of the cell
	Cell int
}

// RowPoints appends the data points of c in r, sorted by offset, the newest of each offset first. It calls bad for each
// cell that cannot be decoded.
func RowPoints(dst []StoredPoint, c *catalog.Column, r *hbase.Row, versions bool, bad func(error)) []StoredPoint {
	var points []catalog.Point
	for i := range r.Cells {
		cell := &r.Cells[i]
		if string(cell.Family) != c.Family || !versions && repeats(r.Cells, i) {
			continue
		}
		var err error
		if points, err = c.Points(points[:0], cell.Qualifier, cell.Value); err != nil {
			bad(err)
		}
		for _, p := range points {
			dst = append(dst, StoredPoint{p, cell.Timestamp, i})
		}
	}
	slices.SortStableFunc(dst, func(a, b StoredPoint) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.ts, a.ts))
	})
	return dst
}

// appendPoints adds one row for each time at which OpenTSDB's row r has a data point. If several cells have one, as after
// a repair or during OpenTSDB's compaction, the newest counts.
func (d *Decoder) appendPoints(b *rowBatch, table string, r *hbase.Row) error {
	d.points = RowPoints(d.points[:0], d.packed, r, d.scan.AllVersions, func(err error) { d.undecodable(d.packed, r.Key, err) })
	for i := range d.points {
		p := &d.points[i]
		if i > 0 && p.Offset == d.points[i-1].Offset && !d.scan.AllVersions {
			continue
		}
		row, ok, err := d.decodeKey(b, table, r.Key, p.Qualifier)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if row[d.packed.Index], err = d.packed.DecodePacked(p.Qualifier, p.Value); err != nil {
			d.undecodable(d.packed, r.Key, err)
		}
		if d.ts {
			row[len(d.scan.Table.Columns)+1] = types.NewTimestamp(p.ts)
		}
		if err := d.check(b, row); err != nil {
			return err
		}
	}
	return nil
}
