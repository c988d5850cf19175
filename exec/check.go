package exec

import (
	"bytes"
	"context"
	"io"

	"github.com/hql-db/hql/catalog"
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
	for i := 1; i < len(t.Layouts); i++ {
		missing, err := r.checkMissing(ctx, w, i, s.Repair)
		if err != nil {
			return nil, err
		}
		stale, err := r.checkStale(ctx, w, i, s.Repair)
		if err != nil {
			return nil, err
		}
		name := types.NewString(t.Layouts[i].Name)
		rows = append(rows, []types.Value{name, types.NewString("rows without an entry"), types.NewInt(missing)},
			[]types.Value{name, types.NewString("entries without their row"), types.NewInt(stale)})
	}
	return r.table(columns, rows), nil
}

// wholeScan reads all rows of one layout.
func wholeScan(t *catalog.Table, l *catalog.Layout) *planner.Scan {
	s := &planner.Scan{Table: t, Layout: l, Access: planner.FullScan, Hold: -1, Limit: -1, Whole: true, Needed: make([]bool, len(t.Columns)+2)}
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
func (r *run) batches(ctx context.Context, t *catalog.Table, l *catalog.Layout, f func(rows [][]types.Value) error) error {
	s := wholeScan(t, l)
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
			err = f(rows)
		}
		if err != nil {
			return err
		}
	}
}

// exist tells of each place whether a row stands there.
func (r *run) exist(ctx context.Context, places []place) ([]bool, error) {
	out := make([]bool, len(places))
	for i := 0; i < len(places); {
		from, table := i, places[i].table
		var keys [][]byte
		for ; i < len(places) && places[i].table == table && len(keys) < getChunk; i++ {
			keys = append(keys, places[i].key)
		}
		rows, err := r.client.Get(ctx, table, keys, readOptions(nil, &catalog.Layout{Kind: catalog.Index}))
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
	all := make([]bool, len(w.table.Columns))
	for c := range all {
		all[c] = true
	}
	err = r.batches(ctx, w.table, w.table.Layouts[0], func(rows [][]types.Value) error {
		var places []place
		var of [][]types.Value
		for _, row := range rows {
			at, err := w.place(l, row)
			if err != nil {
				n++ // it cannot have an entry
				continue
			}
			if !at.skip {
				places, of = append(places, at), append(of, row)
			}
		}
		found, err := r.exist(ctx, places)
		if err != nil {
			return err
		}
		for k, ok := range found {
			if ok {
				continue
			}
			n++
			if repair {
				puts, _, err := w.cells(l, of[k], all, places[k])
				if err != nil {
					return err
				}
				w.add(&w.puts[i], places[k].table, w.putAt(places[k], puts))
			}
		}
		return w.flush(ctx)
	})
	return n, err
}

// checkStale counts the entries of layout i whose row is gone or stands elsewhere now.
func (r *run) checkStale(ctx context.Context, w *writer, i int, repair bool) (n int64, err error) {
	t, l := w.table, w.table.Layouts[i]
	err = r.batches(ctx, t, l, func(rows [][]types.Value) error {
		var pending []pendingRow
		for _, row := range rows {
			pending = append(pending, pendingRow{row, parser.NoPos})
		}
		now, err := r.present(ctx, w, pending)
		if err != nil {
			return err
		}
		for k, row := range rows {
			is, err := w.place(l, row)
			if err != nil {
				return err
			}
			if now != nil && now[k] != nil {
				if at, err := w.place(l, now[k]); err == nil && !at.skip && at.table == is.table && bytes.Equal(at.key, is.key) {
					continue
				}
			}
			n++
			if repair {
				w.add(&w.removals[i], is.table, w.removal(l, is))
			}
		}
		return w.flush(ctx)
	})
	return n, err
}
