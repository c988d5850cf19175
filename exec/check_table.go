package exec

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// check runs CHECK TABLE: it compares the derived layouts with the primary one
// and reports, or with REPAIR mends, entries out of step.
func (r *run) check(ctx context.Context, s *parser.CheckTable) (*Rows, error) {
	t, err := r.tableNamed(s.Name, s.NamePos)
	if err != nil {
		return nil, err
	}
	if s.Repair {
		if err := writable(t, s.NamePos); err != nil {
			return nil, err
		}
	}
	r.allowFull = true // it is what the statement is for
	columns := append(textColumns("layout", "problem"), plan.OutputColumn{Name: "count", Type: types.BigInt})
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
func wholeScan(t *catalog.Table, l *catalog.Layout) *plan.Scan {
	s := plan.NewScan(t, l)
	s.Entries = l.Kind == catalog.Index
	for i := range s.Needed {
		s.Needed[i] = true
	}
	name, whole := l.Stored.Prefix()
	if whole {
		s.Spans = []plan.Span{{Table: name}}
	} else {
		s.ListTables, s.TablePrefix, s.Spans = true, name, []plan.Span{{}}
	}
	return s
}

// batches calls f with the rows of layout l as they stand there: an index is not looked up back.
func (r *run) batches(ctx context.Context, w *writer, l *catalog.Layout, f func(rows [][]types.Value) error) error {
	s := wholeScan(w.table, l)
	stats := r.rec.Open(s)
	spans := s.Spans
	if s.ListTables {
		var err error
		if spans, err = r.ListTables(ctx, s); err != nil {
			return err
		}
	}
	return operator.Drain(ctx, r.Read(ctx, s, spans, stats), func(rows [][]types.Value) error {
		if err := r.Numbers.ResolveNames(ctx, w.table, rows); err != nil {
			return err
		}
		return f(rows)
	})
}

// exist tells of each place whether a row stands there.
func (r *run) exist(ctx context.Context, w *writer, places []place) ([]bool, error) {
	out := make([]bool, len(places))
	opts := scan.ReadOptions(&plan.Scan{Entries: true}, w.table.Layouts[1])
	err := r.eachGet(ctx, places, opts, true, func(from int, rows []hbase.Row) error {
		for k := range rows {
			out[from+k] = rows[k].Key != nil
		}
		return nil
	})
	return out, err
}

// eachGet reads the rows at places, with one call those that follow one another in a table, and gives f what each call brought: rows[k]
// stands at places[from+k], without a key where there is none. mayLack: a table that does not exist has no rows, and f is not called.
func (r *run) eachGet(ctx context.Context, places []place, opts *hbase.ReadOptions, mayLack bool, f func(from int, rows []hbase.Row) error) error {
	for i := 0; i < len(places); {
		from, table := i, places[i].table
		var keys [][]byte
		for ; i < len(places) && places[i].table == table && len(keys) < scan.GetChunk; i++ {
			keys = append(keys, places[i].key)
		}
		rows, err := r.Client.Get(ctx, table, keys, opts)
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
				if err := w.mend(i, of[k], all, places[k], 0); err != nil {
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
	var doubtful [][]types.Value // entries that have no row yet
	err = r.batches(ctx, w, l, func(rows [][]types.Value) error {
		now, err := r.stored(ctx, w, w.table.Layouts[0], pending(rows))
		if err != nil {
			return err
		}
		for k, row := range rows {
			is, ok, err := w.leads(l, row, now[k])
			if err != nil {
				return err
			}
			switch {
			case !ok:
				stale++
				if repair {
					doubtful = append(doubtful, slices.Clone(row))
				}
			case l.Kind != catalog.Index && !w.alike(l, row, now[k]):
				unlike++
				if repair {
					if err := w.mend(i, now[k], all, is, w.newest(row)); err != nil {
						return err
					}
				}
			}
		}
		if err := w.flush(ctx); err != nil || len(doubtful) < maxDoubtful {
			return err
		}
		kept, err := r.removeStale(ctx, w, i, doubtful)
		stale, doubtful = stale-kept, doubtful[:0]
		return err
	})
	if err == nil && len(doubtful) > 0 {
		var kept int64
		kept, err = r.removeStale(ctx, w, i, doubtful)
		stale -= kept
	}
	return stale, unlike, err
}

// maxDoubtful bounds the entries without a row that are held until they are looked at again.
const maxDoubtful = 20_000

// removeStale removes entries of layout i that had no row when they were read. A statement may have written one and be about
// to write its row: those that have it by now are kept, and counted. A statement that takes longer looks for its entries
// itself, and the row of one that ended in between is found by the flush.
func (r *run) removeStale(ctx context.Context, w *writer, i int, entries [][]types.Value) (kept int64, err error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(entryPatience + maxAhead*time.Millisecond):
	}
	l := w.table.Layouts[i]
	for some := range slices.Chunk(entries, writeBatch) {
		now, err := r.stored(ctx, w, w.table.Layouts[0], pending(some))
		if err != nil {
			return 0, err
		}
		for k, row := range some {
			is, ok, err := w.leads(l, row, now[k])
			if err != nil {
				return 0, err
			}
			if ok {
				kept++
				continue
			}
			ts := w.newest(row) // what was written there since stays
			w.add(&w.removals[i], is.table, w.removal(l, is, ts))
			w.written = append(w.written, writtenRow{row: row, ts: ts})
		}
		if err := w.flush(ctx); err != nil {
			return 0, err
		}
	}
	return kept, nil
}

// mend adds the mutation that stores row, as it was read, in layout i over an entry whose newest cell is from newest. The
// row is looked at again afterwards.
func (w *writer) mend(i int, row []types.Value, all []bool, at place, newest int64) error {
	ts := w.at(max(w.newest(row), newest))
	w.written = append(w.written, writtenRow{row: slices.Clone(row), ts: ts})
	return w.entry(i, row, all, at, ts)
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

// leads says where entry, as it was read from l, stands, and whether the entry of row, nil for none, stands there.
func (w *writer) leads(l *catalog.Layout, entry, row []types.Value) (is place, ok bool, err error) {
	is, err = w.entryPlace(l, entry)
	if err != nil || row == nil {
		return is, false, err
	}
	at, err := w.place(l, row)
	return is, err == nil && !at.skip && at.table == is.table && bytes.Equal(at.key, is.key), nil
}

// alike reports whether copied, as it was read from the copy l, is what is written there for row: of a cell that several
// columns read, and others wrote, a copy may not hold what all of them read.
func (w *writer) alike(l *catalog.Layout, copied, row []types.Value) bool {
	if sameRow(w.table, copied, row) {
		return true
	}
	all := allColumns(w.table)
	is, _, err := w.cells(l, copied, all, place{})
	if err != nil {
		return false
	}
	wanted, _, err := w.cells(l, row, all, place{})
	return err == nil && slices.EqualFunc(is, wanted, func(a, b hbase.Cell) bool {
		return string(a.Family) == string(b.Family) && bytes.Equal(a.Qualifier, b.Qualifier) && bytes.Equal(a.Value, b.Value)
	})
}

func sameRow(t *catalog.Table, a, b []types.Value) bool {
	for i := range t.Columns {
		if !sameValue(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameValue(a, b types.Value) bool { return string(a.AppendKey(nil)) == string(b.AppendKey(nil)) }

func allColumns(t *catalog.Table) []bool {
	all := make([]bool, len(t.Columns))
	for i := range all {
		all[i] = true
	}
	return all
}
