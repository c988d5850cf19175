package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
)

// flush sends what is pending: new entries first, derived layouts before the
// primary; then removals, the primary first.
func (w *writer) flush(ctx context.Context) error {
	if err := w.run.unchanged(ctx, w.table); err != nil {
		return err
	}
	if err := w.retirePoints(ctx); err != nil {
		return err
	}
	for i, l := range w.table.Layouts {
		if len(w.puts[i].names) > 0 && !w.filling { // its first entry would hide that all others are missing
			if err := w.run.filled(ctx, w.table, l); err != nil {
				return err
			}
		}
	}
	if len(w.numbered) > 0 {
		defer w.run.engine.lookups.Clear()
	}
	for i, n := range w.largest {
		if n > 0 {
			if err := w.run.Numbers.Reserve(ctx, w.table, w.numbered[i], n); err != nil {
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
	w.rows, w.ts = 0, 0
	if w.returning != nil {
		return w.returning.sent(w.refused)
	}
	return nil
}

// sendAll sends the pending mutations. An error tells what of them stands.
func (w *writer) sendAll(ctx context.Context) error {
	name := w.table.Name
	for i := len(w.puts) - 1; i > 0; i-- {
		written := len(w.puts[i].names) > 0
		if err := w.send(ctx, i, &w.puts[i], true, "before any of these rows is changed in "+name); err != nil {
			return err
		}
		if written && !w.filling {
			w.run.full.known.Store(w.table.Layouts[i], true)
		}
	}
	send := w.send
	if w.ifNew {
		send = w.sendNew
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
	}
	return nil
}

// send sends mutations of layout i; when: at which state of the rows, for the error.
func (w *writer) send(ctx context.Context, i int, m *tableMutations, create bool, when string) error {
	w.run.engine.clock.await(w.after)
	for _, name := range m.names {
		if create {
			if err := w.ensureTable(ctx, w.table.Layouts[i], name); err != nil {
				return err
			}
		}
		err := w.run.Client.Mutate(ctx, name, m.by[name])
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

func writeFailed(table, when string, err error) error {
	if when != "" {
		when = ", " + when
	}
	return fmt.Errorf("write %s%s: %w", table, when, err)
}

// ensureTable creates the physical table of a row whose table's name is
// computed, when the definition allows it.
func (w *writer) ensureTable(ctx context.Context, l *catalog.Layout, name string) error {
	if l.Stored.IsLiteral() || w.known[name] {
		return nil
	}
	_, err := w.run.Client.Regions(ctx, name)
	if errors.Is(err, hbase.ErrNoTable) && (w.table.CreateTables || !w.table.External) {
		_, err = w.run.createPhysical(ctx, w.table, name)
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
func (w *writer) awaitRegions(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTableWait)
	defer cancel()
	for {
		_, err := w.run.Client.KnownRegions(ctx, name)
		if !errors.Is(err, hbase.ErrNoTable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// maxTableWait bounds how long a table that another writer is making is waited for.
const maxTableWait = 20 * time.Second

// refuse words why the row that stands at pos of a statement is not stored.
func (w *writer) refuse(err error, pos parser.Pos) error {
	var key *catalog.KeyError
	if errors.As(err, &key) {
		return parser.Errorf(pos, "the row does not fit %s: %v", w.table.Name, key)
	}
	var pe *parser.Error
	if errors.As(err, &pe) && pe.Pos < 0 {
		e := *pe
		e.Pos = pos
		return &e
	}
	return err
}

// PartialError is the failure of a statement that had written rows before, which stand.
type PartialError struct {
	Written int64
	Err     error
}

// Error is that of Err, and how many rows stand.
func (e *PartialError) Error() string { return e.Err.Error() + e.Stand() }

// Stand tells how many rows stand, behind what happened.
func (e *PartialError) Stand() string {
	return fmt.Sprintf("; %s written before %s", words.Count(e.Written, "row"), words.Plural(e.Written, "stands", "stand"))
}

// Unwrap gives Err.
func (e *PartialError) Unwrap() error { return e.Err }

// partly passes on what a statement gave: its error with the number of rows that it had written before.
func (r *run) partly(rows *Rows, err error) (*Rows, error) {
	n := r.rec.written.Load()
	if err == nil || n == 0 {
		return rows, err
	}
	partial := &PartialError{Written: n, Err: err}
	if pe, ok := err.(*parser.Error); ok {
		e := *pe
		e.Msg += partial.Stand()
		return rows, &e
	}
	return rows, partial
}
