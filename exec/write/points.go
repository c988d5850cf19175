package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/hbase"
)

// pointRow is an OpenTSDB row to which a statement writes.
type pointRow struct{ table, key string }

// touchPoint records that the statement writes the data point at p under the qualifier kept, or deletes it if kept is "".
// Other cells must no longer hold the point. It reports whether p is a data point.
func (w *Writer) touchPoint(p place, kept string) bool {
	if c := w.pointColumn(); c == nil {
		return false
	}
	offset, ok := functions.OpenTSDBOffset(string(p.qualifier))
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

func (w *Writer) pointColumn() *catalog.Column {
	for _, c := range w.table.Columns {
		if c.HoldsPoints() {
			return c
		}
	}
	return nil
}

// retirePoints adds the mutations that remove the touched data points from the cells that already hold them. It rewrites
// compacted cells with the remaining points.
func (w *Writer) retirePoints(ctx context.Context) error {
	c := w.pointColumn()
	for row, touched := range w.points {
		rows, err := w.st.Client.Get(ctx, row.table, [][]byte{[]byte(row.key)}, &hbase.ReadOptions{Families: []string{c.Family}})
		if errors.Is(err, hbase.ErrNoTable) {
			continue // the write reports the missing table
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", row.table, err)
		}
		var bad error
		points := scan.RowPoints(nil, c, &rows[0], false, func(err error) { bad = err })
		if bad != nil {
			return fmt.Errorf("table %s, key %s: a cell of column %s cannot be rewritten: %w", row.table, scan.HexBytes([]byte(row.key)), c.Name, bad)
		}
		gone := map[int]bool{}
		for _, p := range points {
			if kept, ok := touched[p.Offset]; ok && string(rows[0].Cells[p.Cell].Qualifier) != kept {
				gone[p.Cell] = true
			}
		}
		var rest []catalog.Point
		for i, p := range points {
			_, ok := touched[p.Offset]
			if !ok && gone[p.Cell] && (i == 0 || points[i-1].Offset != p.Offset) {
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

// newestCell returns the time of the newest cell of r.
func newestCell(r *hbase.Row) (ts int64) {
	for i := range r.Cells {
		ts = max(ts, r.Cells[i].Timestamp)
	}
	return ts
}
