package write

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// present works like stored for rows that are about to be written: their old values determine which entries to remove. It reads
// nothing if the table has no derived layouts.
func (w *Writer) present(ctx context.Context, rows []Row) ([][]types.Value, error) {
	if len(w.table.Layouts) == 1 {
		return nil, nil
	}
	return w.stored(ctx, w.table.Layouts[0], rows)
}

// pending returns rows without positions in a statement.
func pending(rows [][]types.Value) []Row {
	out := make([]Row, len(rows))
	for i, row := range rows {
		out[i] = Row{Values: row, Pos: parser.NoPos}
	}
	return out
}

// stored reads the rows that layout l, the primary one or a copy, has under the keys of rows; nil for a missing row. The
// key has no drawn part.
func (w *Writer) stored(ctx context.Context, l *catalog.Layout, rows []Row) ([][]types.Value, error) {
	places := make([]place, len(rows))
	for i, p := range rows {
		var err error
		if places[i], err = w.place(l, p.Values); err != nil {
			return nil, w.Refuse(err, p.Pos)
		}
	}
	found, err := w.storedAt(ctx, w.st.Reads, l, places)
	out := make([][]types.Value, len(found))
	for i, row := range found {
		out[i] = row.values
	}
	return out, err
}

// storedAt works like stored for rows at places; reads decodes their cells.
func (w *Writer) storedAt(ctx context.Context, reads *scan.Reads, l *catalog.Layout, places []place) ([]storedRow, error) {
	if len(places) == 0 {
		return nil, nil
	}
	t := w.table
	s := plan.NewScan(t, l)
	s.Access = plan.Get
	for i := range t.Columns {
		s.Needed[i] = true
	}
	s.Needed[len(t.Columns)], s.Needed[len(t.Columns)+1] = true, true
	opts := scan.ReadOptions(s, l)
	dec := scan.NewDecoder(reads, s, l)
	out := make([]storedRow, len(places))
	var read [][]types.Value
	err := w.eachGet(ctx, places, &opts, !l.Stored.IsLiteral(), func(from int, found []hbase.Row) error {
		seen := time.Now()
		for k := range found {
			if found[k].Key == nil {
				continue
			}
			is := places[from+k]
			decoded, err := dec.Rows(ctx, is.table, &found[k], seen)
			if err != nil {
				return err
			}
			for _, row := range decoded {
				if is.qualifier != nil { // the HBase row holds several rows
					if at, err := w.place(l, row); err != nil || !bytes.Equal(at.qualifier, is.qualifier) {
						continue
					}
				}
				out[from+k] = storedRow{values: row, cells: found[k].Cells}
				read = append(read, row)
			}
		}
		return nil
	})
	if err == nil { // entries are computed from them
		err = w.st.Numbers.ResolveNames(ctx, t, read)
	}
	return out, err
}

// batches calls f with the rows of layout l as stored: it does not look up the rows of an index's entries.
func (w *Writer) batches(ctx context.Context, l *catalog.Layout, f func(rows [][]types.Value) error) error {
	s := scan.Whole(w.table, l)
	stats := w.st.Recorder.Open(s)
	spans := s.Spans
	if s.ListTables {
		var err error
		if spans, err = w.st.ListTables(ctx, s); err != nil {
			return err
		}
	}
	return operator.Drain(ctx, w.st.Read(ctx, s, spans, stats), func(rows [][]types.Value) error {
		if err := w.st.Numbers.ResolveNames(ctx, w.table, rows); err != nil {
			return err
		}
		return f(rows)
	})
}

// exist reports, for each place, whether it has a row.
func (w *Writer) exist(ctx context.Context, places []place) ([]bool, error) {
	out := make([]bool, len(places))
	opts := scan.ReadOptions(&plan.Scan{Entries: true}, w.table.Layouts[1])
	err := w.eachGet(ctx, places, &opts, true, func(from int, rows []hbase.Row) error {
		for k := range rows {
			out[from+k] = rows[k].Key != nil
		}
		return nil
	})
	return out, err
}

// eachGet reads the rows at places, with one call for consecutive ones of the same table. It passes the result of each
// call to f: rows[k] is the row at places[from+k]; its key is nil if it does not exist. With mayLack, a missing table
// counts as empty, and f is not called.
func (w *Writer) eachGet(ctx context.Context, places []place, opts *hbase.ReadOptions, mayLack bool, f func(from int, rows []hbase.Row) error) error {
	for i := 0; i < len(places); {
		from, table := i, places[i].table
		var keys [][]byte
		for ; i < len(places) && places[i].table == table && len(keys) < scan.GetChunk; i++ {
			keys = append(keys, places[i].key)
		}
		rows, err := w.st.Client.Get(ctx, table, keys, opts)
		if mayLack && errors.Is(err, hbase.ErrNoTable) {
			continue
		}
		if err == nil {
			err = f(from, rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
