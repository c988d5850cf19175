package write

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/pause"
	"github.com/hql-db/hql/types"
)

// Findings counts the differences between a derived layout and the rows.
type Findings struct {
	Missing int64 // rows without an entry
	Stale   int64 // entries without a row
	Unlike  int64 // entries of a copy whose values differ from their row's
}

// CheckLayout compares layout i with the primary one, and repairs it if repair is set.
func (w *Writer) CheckLayout(ctx context.Context, i int, repair bool) (f Findings, err error) {
	w.filling = repair
	if f.Missing, err = w.checkMissing(ctx, i, repair); err == nil {
		f.Stale, f.Unlike, err = w.checkStale(ctx, i, repair)
	}
	return f, err
}

// checkMissing counts the rows of the primary layout that have no entry in layout i.
func (w *Writer) checkMissing(ctx context.Context, i int, repair bool) (n int64, err error) {
	l := w.table.Layouts[i]
	all := allColumns(w.table)
	err = w.batches(ctx, w.table.Layouts[0], func(rows [][]types.Value) error {
		var places []place
		var of [][]types.Value
		for _, row := range rows {
			at, err := w.place(l, row)
			if fits := w.checkFits(l, row); err != nil && fits == nil && repair { // a name in the row has lost its number
				if err := w.st.Numbers.Allocate(ctx, w.table, row); err != nil {
					return err
				}
				at, err = w.place(l, row)
			}
			if err != nil && l.Building && repair {
				return err // an index without this row would be taken for whole
			}
			if err != nil {
				n++ // it fits no entry
				continue
			}
			switch {
			case !at.skip:
				places, of = append(places, at), append(of, row)
			case slices.ContainsFunc(l.Sparse, func(c *catalog.Column) bool { return c.NotNull && row[c.Index].IsNull() }):
				n++ // it counts: queries assume that the index has all rows
			}
		}
		found, err := w.exist(ctx, places)
		if err != nil {
			return err
		}
		for k, ok := range found {
			if ok {
				continue
			}
			n++
			if repair {
				if err := w.storeEntry(i, of[k], all, places[k], 0); err != nil {
					return err
				}
			}
		}
		return w.Flush(ctx)
	})
	return n, err
}

// checkStale counts the entries of layout i whose row is missing or has another entry. In a copy, it also counts the
// entries whose values differ from their row's.
func (w *Writer) checkStale(ctx context.Context, i int, repair bool) (stale, unlike int64, err error) {
	l := w.table.Layouts[i]
	all := allColumns(w.table)
	var doubtful [][]types.Value // entries for which no row was found
	err = w.batches(ctx, l, func(rows [][]types.Value) error {
		read := len(rows)
		rows = slices.DeleteFunc(rows, func(row []types.Value) bool { // without the number of a name, its row cannot be found
			_, err := w.place(w.table.Layouts[0], row)
			return err != nil
		})
		stale += int64(read - len(rows))
		now, err := w.stored(ctx, w.table.Layouts[0], pending(rows))
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
					if err := w.storeEntry(i, now[k], all, is, w.newest(row)); err != nil {
						return err
					}
				}
			}
		}
		if err := w.Flush(ctx); err != nil || len(doubtful) < maxDoubtful {
			return err
		}
		kept, err := w.removeStale(ctx, i, doubtful)
		stale, doubtful = stale-kept, doubtful[:0]
		return err
	})
	if err == nil && len(doubtful) > 0 {
		var kept int64
		kept, err = w.removeStale(ctx, i, doubtful)
		stale -= kept
	}
	return stale, unlike, err
}

// maxDoubtful bounds the entries without a row that are held before they are checked again.
const maxDoubtful = 20_000

// removeStale removes entries of layout i for which no row was found. It first waits, because a running statement may
// have written an entry before its row. It keeps and counts the entries whose row exists after the wait. A statement
// that takes longer than entryPatience checks its entries itself, and Flush finds rows that were written in between.
func (w *Writer) removeStale(ctx context.Context, i int, entries [][]types.Value) (kept int64, err error) {
	if err := pause.For(ctx, entryPatience+maxAhead*time.Millisecond); err != nil {
		return 0, err
	}
	l := w.table.Layouts[i]
	for some := range slices.Chunk(entries, Batch) {
		now, err := w.stored(ctx, w.table.Layouts[0], pending(some))
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
			ts := w.newest(row) // so that later cells of the entry stay
			w.add(&w.removals[i], is.table, w.removal(l, is, ts))
			w.written = append(w.written, writtenRow{row: row, ts: ts})
		}
		if err := w.Flush(ctx); err != nil {
			return 0, err
		}
	}
	return kept, nil
}

// storeEntry adds the mutation that stores the values of row in layout i. newest is the time of the newest cell of the
// existing entry, which the mutation replaces; 0: there is none. The new entry has the time of its row, so that a
// statement that changes the row at the same time removes the entry. Flush reads the row again afterwards.
func (w *Writer) storeEntry(i int, row []types.Value, all []bool, at place, newest int64) error {
	ts := max(w.newest(row), newest+1)
	if ts == 1 { // the times of both are unknown
		ts = w.at(0)
	}
	w.written = append(w.written, writtenRow{row: slices.Clone(row), ts: ts})
	_, err := w.entry(i, row, all, at, ts)
	return err
}

// leads returns the place of entry, which was read from l. ok reports whether the entry of row has the same place; it is
// false if row is nil.
func (w *Writer) leads(l *catalog.Layout, entry, row []types.Value) (is place, ok bool, err error) {
	is, err = w.readPlace(l, entry)
	if err != nil || row == nil {
		return is, false, err
	}
	at, err := w.place(l, row)
	return is, err == nil && !at.skip && at.table == is.table && bytes.Equal(at.key, is.key), nil
}

// alike reports whether copied, a row read from the copy l, has the values of row, or at least the same cells. If
// another program wrote a cell that several columns read, the copy may be unable to hold the values of all these
// columns.
func (w *Writer) alike(l *catalog.Layout, copied, row []types.Value) bool {
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
