package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
)

// Flush sends what is pending: new entries first, derived layouts before the
// primary; then removals, the primary first.
func (w *Writer) Flush(ctx context.Context) error {
	if err := w.st.Sending.Acquire(ctx, 1); err != nil {
		return err
	}
	defer w.st.Sending.Release(1)
	if err := w.st.Unchanged(ctx, w.table); err != nil {
		return err
	}
	if err := w.applyChanges(ctx); err != nil {
		return err
	}
	if err := w.retirePoints(ctx); err != nil {
		return err
	}
	for i, l := range w.table.Layouts {
		if len(w.puts[i].names) > 0 && !w.filling { // its first entry would hide that all others are missing
			if err := w.st.Filled(ctx, w.table, l); err != nil {
				return err
			}
		}
	}
	if len(w.numbered) > 0 {
		defer w.st.Cache.Clear()
	}
	for i, n := range w.largest {
		if n > 0 {
			if err := w.st.Numbers.Reserve(ctx, w.table, w.numbered[i], n); err != nil {
				return err
			}
		}
		w.largest[i] = 0
	}
	if err := w.sendAll(ctx); err != nil {
		return err
	}
	if err := w.complete(ctx, time.Since(w.drawn)); err != nil {
		return err
	}
	w.Changed += int64(w.rows - len(w.refused))
	w.rows, w.ts = 0, 0
	if w.Returning != nil {
		if err := w.Returning.sent(w.refused); err != nil {
			return err
		}
	}
	if w.attempts != nil {
		w.noteRefused()
	}
	return nil
}

// mayWrite fails before anything is sent if the user may not write one of the HBase tables of several layouts.
func (w *Writer) mayWrite(ctx context.Context) error {
	if len(w.table.Layouts) == 1 {
		return nil // the server refuses the whole
	}
	for _, of := range [][]tableMutations{w.puts, w.removals} {
		for i := range of {
			for _, name := range of[i].names {
				err := w.st.Client.MayWrite(ctx, name, familiesOf(of[i].by[name]))
				if err != nil && !errors.Is(err, hbase.ErrNoTable) {
					return fmt.Errorf("%w; nothing of this batch was written", err)
				}
			}
		}
	}
	if len(w.later) == 0 {
		return nil
	}
	for _, l := range w.table.Layouts[1:] { // removals that follow
		name, whole := l.Stored.Prefix()
		if !whole {
			continue
		}
		err := w.st.Client.MayWrite(ctx, name, familiesOf([]hbase.Mutation{w.removal(l, place{}, 0)}))
		if err != nil && !errors.Is(err, hbase.ErrNoTable) {
			return fmt.Errorf("%w; nothing of this batch was written", err)
		}
	}
	return nil
}

// familiesOf are the families of mutations; nil where one removes whole rows.
func familiesOf(ms []hbase.Mutation) (out []string) {
	for _, m := range ms {
		if m.Kind == hbase.DeleteRow {
			return nil
		}
		for _, cells := range [][]hbase.Cell{m.Cells, m.Removed} {
			for _, c := range cells {
				if !slices.Contains(out, string(c.Family)) {
					out = append(out, string(c.Family))
				}
			}
		}
	}
	return out
}

// sendAll sends the pending mutations. An error tells what of them stands.
func (w *Writer) sendAll(ctx context.Context) error {
	if err := w.mayWrite(ctx); err != nil {
		return err
	}
	name := w.table.Name
	for i := len(w.puts) - 1; i > 0; i-- {
		written := len(w.puts[i].names) > 0
		if err := w.send(ctx, i, &w.puts[i], true, "before any of these rows is changed in "+name); err != nil {
			return err
		}
		if written && !w.filling {
			w.st.NoteFilled(w.table.Layouts[i])
		}
	}
	send := w.send
	switch {
	case w.IfNew:
		send = w.sendNew
	case len(w.merged) > 0:
		send = w.sendMerged
	}
	if err := send(ctx, 0, &w.puts[0], true, ""); err != nil {
		return err
	}
	for i := range w.removals {
		when := ""
		if i > 0 {
			when = "after these rows were changed in " + name
		}
		if err := w.send(ctx, i, &w.removals[i], false, when); err != nil {
			return err
		}
		if i == 0 {
			for _, l := range w.later {
				if !w.refused[l.row] {
					l.add()
				}
			}
			w.later = nil
		}
	}
	return w.seeWritten(ctx)
}

// send sends mutations of layout i; when: at which state of the rows, for the error.
func (w *Writer) send(ctx context.Context, i int, m *tableMutations, create bool, when string) error {
	w.st.Clock.await(w.after)
	for _, name := range m.names {
		if create {
			if err := w.ensureTable(ctx, w.table.Layouts[i], name); err != nil {
				return err
			}
		}
		err := w.mutate(ctx, name, m.by[name])
		if !create && errors.Is(err, hbase.ErrNoTable) {
			err = nil
		}
		if errors.Is(err, ErrReadOnly) {
			return err
		}
		if err != nil {
			return writeFailed(name, when, err)
		}
	}
	*m = tableMutations{}
	return nil
}

// mutate sends ms, and notes the rows whose conditions do not hold.
func (w *Writer) mutate(ctx context.Context, table string, ms []hbase.Mutation) error {
	err := w.st.Client.Mutate(ctx, table, ms)
	var batch *hbase.BatchError
	if !errors.As(err, &batch) || len(batch.Failed)+len(batch.Unknown) > 0 {
		return err
	}
	for _, i := range batch.Unmet {
		w.refused[w.claimed(table, &ms[i])] = true
	}
	return nil
}

func writeFailed(table, when string, err error) error {
	if when != "" {
		when = ", " + when
	}
	return fmt.Errorf("write %s%s: %w", table, when, err)
}

// ensureTable creates the physical table of a row whose table's name is
// computed, when the definition allows it.
func (w *Writer) ensureTable(ctx context.Context, l *catalog.Layout, name string) error {
	if l.Stored.IsLiteral() || w.known[name] {
		return nil
	}
	if catalog.IsOwn(name) {
		return fmt.Errorf("table %s: the HBase table %s is hql's own", w.table.Name, name)
	}
	_, err := w.st.Client.Regions(ctx, name)
	if errors.Is(err, hbase.ErrNoTable) && (w.table.CreateTables || !w.table.External) {
		err = w.st.MakeTable(ctx, w.table, name)
	}
	if err == nil {
		err = w.awaitRegions(ctx, name)
	}
	if err == nil {
		w.known[name] = true
	}
	return err
}

// awaitRegions waits until a table has regions, which another writer may be making.
func (w *Writer) awaitRegions(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTableWait)
	defer cancel()
	for {
		_, err := w.st.Client.KnownRegions(ctx, name)
		if !errors.Is(err, hbase.ErrNoTable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
		if err := w.st.Unchanged(ctx, w.table); err != nil { // who made it for a table that is being dropped has removed it
			return err
		}
	}
}

// maxTableWait bounds how long a table that another writer is making is waited for.
const maxTableWait = 20 * time.Second
