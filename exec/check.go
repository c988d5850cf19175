package exec

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// check runs CHECK TABLE: it compares the derived layouts with the primary one
// and reports, or with REPAIR mends, entries out of step.
func (r *run) check(ctx context.Context, s *parser.CheckTable) (*Rows, error) {
	t, err := r.tableNamed(s.Name, s.NamePos)
	if err != nil {
		return nil, err
	}
	r.allowFull = true // it is what the statement is for
	columns := append(textColumns("layout", "problem"), planner.OutputColumn{Name: "count", Type: types.BigInt})
	var rows [][]types.Value
	w := r.newWriter(t)
	if w.filling = s.Repair; s.Repair {
		if err := r.fill(ctx, t); err != nil {
			return nil, err
		}
	}
	for i := 1; i < len(t.Layouts); i++ {
		missing, err := r.checkMissing(ctx, w, i, s.Repair)
		if err != nil {
			return nil, err
		}
		stale, unlike, err := r.checkStale(ctx, w, i, s.Repair)
		if err != nil {
			return nil, err
		}
		name := types.NewString(t.Layouts[i].Name)
		rows = append(rows, []types.Value{name, types.NewString("rows without an entry"), types.NewInt(missing)},
			[]types.Value{name, types.NewString("entries without their row"), types.NewInt(stale)})
		if t.Layouts[i].Kind != catalog.Index { // a copy
			rows = append(rows, []types.Value{name, types.NewString("entries unlike their row"), types.NewInt(unlike)})
		}
	}
	return r.table(columns, rows), nil
}

// wholeScan reads all rows of one layout.
func wholeScan(t *catalog.Table, l *catalog.Layout) *planner.Scan {
	s := &planner.Scan{Table: t, Layout: l, Entries: l.Kind == catalog.Index, Access: planner.FullScan, Hold: -1, Limit: -1, Whole: true, Families: t.RowFamilies(), Needed: make([]bool, len(t.Columns)+2)}
	for i := range s.Needed {
		s.Needed[i] = true
	}
	if l.Stored.IsLiteral() {
		s.Spans = []planner.Span{{Table: storedName(l)}}
	} else {
		s.ListTables, s.TablePrefix, s.Spans = true, string(l.Stored.Parts[0].Literal), []planner.Span{{}}
	}
	return s
}

// batches calls f with the rows of layout l as they stand there: an index is not looked up back.
func (r *run) batches(ctx context.Context, w *writer, l *catalog.Layout, f func(rows [][]types.Value) error) error {
	s := wholeScan(w.table, l)
	stats := r.rec.open(s)
	spans := s.Spans
	if s.ListTables {
		var err error
		if spans, err = r.listTables(ctx, s); err != nil {
			return err
		}
	}
	op := r.read(ctx, s, spans, stats)
	defer op.Close()
	for {
		rows, err := op.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.know(ctx, w.table, rows)
		}
		if err == nil {
			err = f(rows)
		}
		if err != nil {
			return err
		}
	}
}

// exist tells of each place whether a row stands there.
func (r *run) exist(ctx context.Context, w *writer, places []place) ([]bool, error) {
	out := make([]bool, len(places))
	for i := 0; i < len(places); {
		from, table := i, places[i].table
		var keys [][]byte
		for ; i < len(places) && places[i].table == table && len(keys) < getChunk; i++ {
			keys = append(keys, places[i].key)
		}
		rows, err := r.client.Get(ctx, table, keys, readOptions(&planner.Scan{Entries: true}, w.table.Layouts[1]))
		if errors.Is(err, hbase.ErrNoTable) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for k := range rows {
			out[from+k] = rows[k].Key != nil
		}
	}
	return out, nil
}

// checkMissing counts the rows of the primary layout that have no entry in layout i.
func (r *run) checkMissing(ctx context.Context, w *writer, i int, repair bool) (n int64, err error) {
	l := w.table.Layouts[i]
	all := allColumns(w.table)
	err = r.batches(ctx, w, w.table.Layouts[0], func(rows [][]types.Value) error {
		var places []place
		var of [][]types.Value
		for _, row := range rows {
			at, err := w.place(l, row)
			if err != nil {
				n++ // it cannot have an entry
				continue
			}
			switch {
			case !at.skip:
				places, of = append(places, at), append(of, row)
			case slices.ContainsFunc(l.Sparse, func(c *catalog.Column) bool { return c.NotNull && row[c.Index].IsNull() }):
				n++ // queries take the index for one with all rows
			}
		}
		found, err := r.exist(ctx, w, places)
		if err != nil {
			return err
		}
		for k, ok := range found {
			if ok {
				continue
			}
			n++
			if repair {
				if err := w.entry(i, of[k], all, places[k], w.at(w.newest(of[k]))); err != nil {
					return err
				}
			}
		}
		return w.flush(ctx)
	})
	return n, err
}

// checkStale counts the entries of layout i whose row is gone or stands elsewhere now and, of a layout that is
// a copy, those that hold other values than their row.
func (r *run) checkStale(ctx context.Context, w *writer, i int, repair bool) (stale, unlike int64, err error) {
	l := w.table.Layouts[i]
	all := allColumns(w.table)
	err = r.batches(ctx, w, l, func(rows [][]types.Value) error {
		pending := make([]pendingRow, len(rows))
		for k, row := range rows {
			pending[k] = pendingRow{row: row, pos: parser.NoPos}
		}
		now, err := r.stored(ctx, w, pending)
		if err != nil {
			return err
		}
		for k, row := range rows {
			is, err := w.entryPlace(l, row)
			if err != nil {
				return err
			}
			switch {
			case now[k] == nil || !w.standsAt(l, now[k], is):
				stale++
				if repair {
					w.add(&w.removals[i], is.table, w.removal(l, is, max(w.at(0), w.newest(row))))
				}
			case l.Kind != catalog.Index && !sameRow(w.table, now[k], row):
				unlike++
				if repair {
					if err := w.entry(i, now[k], all, is, w.at(max(w.newest(now[k]), w.newest(row)))); err != nil {
						return err
					}
				}
			}
		}
		return w.flush(ctx)
	})
	return stale, unlike, err
}

// entryPlace is where row, as it was read from l, stands there. An entry of an index need not tell the columns that its key
// was computed from: that of a moment's day tells no moment.
func (w *writer) entryPlace(l *catalog.Layout, row []types.Value) (place, error) {
	if l.Kind != catalog.Index {
		return w.place(l, row)
	}
	name, err := l.Stored.Append(nil, row, &w.env)
	return place{table: string(name), key: []byte(row[len(w.table.Columns)].Text())}, err
}

// standsAt tells whether the entry of row in l stands at p.
func (w *writer) standsAt(l *catalog.Layout, row []types.Value, p place) bool {
	at, err := w.place(l, row)
	return err == nil && !at.skip && at.table == p.table && bytes.Equal(at.key, p.key)
}

func sameRow(t *catalog.Table, a, b []types.Value) bool {
	for i := range t.Columns {
		if string(a[i].AppendKey(nil)) != string(b[i].AppendKey(nil)) {
			return false
		}
	}
	return true
}

func allColumns(t *catalog.Table) []bool {
	all := make([]bool, len(t.Columns))
	for i := range all {
		all[i] = true
	}
	return all
}
