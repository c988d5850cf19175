package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/types"
)

// storedPoint is a data point as it was found in a row.
type storedPoint struct {
	catalog.Point
	ts   int64 // the cell's
	cell int
}

// rowPoints appends the data points of c in r, by offset, the newest of an offset first. It
// calls bad with each cell that cannot be read.
func rowPoints(dst []storedPoint, c *catalog.Column, r *hbase.Row, versions bool, bad func(error)) []storedPoint {
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
			dst = append(dst, storedPoint{p, cell.Timestamp, i})
		}
	}
	slices.SortStableFunc(dst, func(a, b storedPoint) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.ts, a.ts))
	})
	return dst
}

// appendPoints adds one row a time for which OpenTSDB's row r has a data point. Where several
// cells hold one, as after a repair or while OpenTSDB compacts a row, the newest counts.
func (d *decoder) appendPoints(b *scanBatch, table string, r *hbase.Row) error {
	d.points = rowPoints(d.points[:0], d.packed, r, d.scan.AllVersions, func(err error) { d.undecodable(d.packed, r.Key, err) })
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
			row[len(row)-1] = types.NewTimestamp(p.ts)
		}
		if err := d.check(b, row); err != nil {
			return err
		}
	}
	return nil
}

// pointRow is an OpenTSDB row that a statement writes to.
type pointRow struct{ table, key string }

// touchPoint notes that the statement writes the data point at p under the qualifier kept, or
// deletes it where that is "": what other cells hold of it must go. It reports whether p is one.
func (w *writer) touchPoint(p place, kept string) bool {
	if c := w.pointColumn(); c == nil {
		return false
	}
	offset, ok := expr.OpenTSDBOffset(string(p.qualifier))
	if !ok {
		return false
	}
	if w.points == nil {
		w.points = map[pointRow]map[int64]string{}
	}
	row := pointRow{p.table, string(p.key)}
	if w.points[row] == nil {
		w.points[row] = map[int64]string{}
	}
	w.points[row][offset] = kept
	return true
}

func (w *writer) pointColumn() *catalog.Column {
	for _, c := range w.table.Columns {
		if c.HoldsPoints() {
			return c
		}
	}
	return nil
}

// retirePoints adds the mutations that take the touched data points out of the cells that hold
// them already. What else a compacted cell holds is compacted again.
func (w *writer) retirePoints(ctx context.Context) error {
	c := w.pointColumn()
	for row, touched := range w.points {
		rows, err := w.run.client.Get(ctx, row.table, [][]byte{[]byte(row.key)}, &hbase.ReadOptions{Families: []string{c.Family}})
		if errors.Is(err, hbase.ErrNoTable) {
			continue // the write says so
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", row.table, err)
		}
		var bad error
		points := rowPoints(nil, c, &rows[0], false, func(err error) { bad = err })
		if bad != nil {
			return fmt.Errorf("table %s, key %s: a cell of column %s cannot be rewritten: %w", row.table, hexBytes([]byte(row.key)), c.Name, bad)
		}
		gone := map[int]bool{}
		for _, p := range points {
			if kept, ok := touched[p.Offset]; ok && string(rows[0].Cells[p.cell].Qualifier) != kept {
				gone[p.cell] = true
			}
		}
		var rest []catalog.Point
		for i, p := range points {
			_, ok := touched[p.Offset]
			if !ok && gone[p.cell] && (i == 0 || points[i-1].Offset != p.Offset) {
				rest = append(rest, p.Point)
			}
		}
		if len(gone) == 0 {
			continue
		}
		m := hbase.Mutation{Key: []byte(row.key), Timestamp: w.at(newestCell(&rows[0]))}
		for i := range gone {
			m.Removed = append(m.Removed, hbase.Cell{Family: []byte(c.Family), Qualifier: rows[0].Cells[i].Qualifier})
		}
		if len(rest) > 0 {
			q, v := catalog.Compact(rest)
			m.Cells = []hbase.Cell{{Family: []byte(c.Family), Qualifier: q, Value: v}}
			w.add(&w.puts[0], row.table, m)
		} else {
			m.Kind, m.Cells, m.Removed = hbase.DeleteColumns, m.Removed, nil
			w.add(&w.removals[0], row.table, m)
		}
	}
	w.points = nil
	return nil
}

// newestCell is the time of the newest cell of r.
func newestCell(r *hbase.Row) (ts int64) {
	for i := range r.Cells {
		ts = max(ts, r.Cells[i].Timestamp)
	}
	return ts
}
