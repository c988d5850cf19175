package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/pause"
)

// Flush sends the pending mutations. It first puts new entries, in derived layouts before the primary one, and then
// removes old ones, in the primary layout first.
func (w *Writer) Flush(ctx context.Context) error {
	err := w.flush(ctx)
	for err == nil && len(w.changes) > 0 { // conditions did not hold
		err = w.flush(ctx)
	}
	return err
}

func (w *Writer) flush(ctx context.Context) error {
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
		if len(w.puts[i].names) > 0 && !w.filling { // the first entry would hide that all others are missing
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
	if err := w.st.Arrived(ctx, w.table); err != nil {
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

// mayWrite fails before anything is sent if a table has several layouts and the user may not write to all of their HBase
// tables.
func (w *Writer) mayWrite(ctx context.Context) error {
	if len(w.table.Layouts) == 1 {
		return nil // the server refuses the whole write
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

// familiesOf returns the families of mutations, or nil if one of them deletes whole rows.
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

// sendAll sends the pending mutations. Its error lists the mutations that were written.
func (w *Writer) sendAll(ctx context.Context) error {
	if err := w.mayWrite(ctx); err != nil {
		return err
	}
	name := w.table.Name
	var written []*catalog.Layout
	for i := range w.puts[1:] {
		if len(w.puts[i+1].names) > 0 {
			written = append(written, w.table.Layouts[i+1])
		}
	}
	if err := w.send(ctx, 1, w.puts[1:], true, "before any of these rows is changed in "+name); err != nil {
		return err
	}
	if !w.filling {
		for _, l := range written {
			w.st.NoteFilled(l)
		}
	}
	send := w.send
	if w.IfNew {
		send = w.sendNew
	}
	if err := send(ctx, 0, w.puts[:1], true, ""); err != nil {
		return err
	}
	if err := w.send(ctx, 0, w.removals[:1], false, ""); err != nil {
		return err
	}
	for _, l := range w.later {
		if !w.refused[l.row] {
			l.add()
		}
	}
	w.later = nil
	if err := w.send(ctx, 1, w.removals[1:], false, "after these rows were changed in "+name); err != nil {
		return err
	}
	return w.seeWritten(ctx)
}

// sentAtOnce bounds the number of HBase tables to which send sends in parallel.
const sentAtOnce = 8

// send sends mutations of the layouts from first on, to several HBase tables in parallel. when describes the state of the
// rows for an error's text.
func (w *Writer) send(ctx context.Context, first int, of []tableMutations, create bool, when string) error {
	w.st.Clock.await(w.after)
	var names []string
	var mutations [][]hbase.Mutation
	for i, m := range of {
		for _, name := range m.names {
			if create {
				if err := w.ensureTable(ctx, w.table.Layouts[first+i], name); err != nil {
					return err
				}
			}
			names, mutations = append(names, name), append(mutations, m.by[name])
		}
	}
	errs := make([]error, len(names))
	mutate := func(i int) error {
		errs[i] = operator.Safely(func() error { return w.st.Client.Mutate(ctx, names[i], mutations[i]) })
		return nil
	}
	if len(names) == 1 {
		_ = mutate(0)
	} else {
		var g errgroup.Group
		g.SetLimit(sentAtOnce)
		for i := range names {
			g.Go(func() error { return mutate(i) })
		}
		_ = g.Wait()
	}
	for i, name := range names {
		err := w.noteUnmet(name, mutations[i], errs[i])
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
	clear(of)
	return nil
}

// noteUnmet records the rows whose conditions did not hold. It returns err if err reports any other failure, otherwise
// nil.
func (w *Writer) noteUnmet(table string, ms []hbase.Mutation, err error) error {
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

// ensureTable creates the HBase table name of a layout with computed table names, if the definition allows that.
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

// awaitRegions waits until a table has regions: another writer may be creating it.
func (w *Writer) awaitRegions(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTableWait)
	defer cancel()
	for {
		_, err := w.st.Client.KnownRegions(ctx, name)
		if !errors.Is(err, hbase.ErrNoTable) {
			return err
		}
		if pause.For(ctx, 50*time.Millisecond) != nil {
			return err
		}
		if err := w.st.Unchanged(ctx, w.table); err != nil { // a dropped table's creator has removed it
			return err
		}
	}
}

// maxTableWait bounds the time that awaitRegions waits for a table.
const maxTableWait = 20 * time.Second
