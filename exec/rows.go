package exec

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// Rows is the result of a statement. It is not for concurrent use.
type Rows struct {
	// Columns is nil for a statement that gives no rows.
	Columns []planner.OutputColumn
	// Affected is the number of rows written by INSERT, UPDATE, DELETE or COPY; -1 for others.
	Affected int64
	Plan     *planner.Plan // of a query; nil otherwise
	// Drawn is the same as the rows of EXPLAIN's text or JSON, with styles for a terminal; nil for other statements.
	Drawn []planner.Line
	// Document is set when the one value of the one row is a whole file, to be written
	// as it is (EXPLAIN's HTML, SHOW CREATE TABLE).
	Document bool

	run    *run
	op     operator
	cancel context.CancelFunc
	err    error
	stats  atomic.Pointer[Stats] // once closed
}

// Next gives the next rows, valid until the following call; io.EOF after the last.
func (r *Rows) Next(ctx context.Context) ([][]types.Value, error) {
	if r.err != nil {
		return nil, r.err
	}
	if r.op == nil {
		return nil, io.EOF
	}
	var rows [][]types.Value
	err := safely(func() (err error) {
		rows, err = r.op.Next(ctx)
		return err
	})
	if err != nil {
		r.err = err
		r.end()
		return nil, err
	}
	r.run.rec.returned.Add(int64(len(rows)))
	return rows, nil
}

// end stops what still runs.
func (r *Rows) end() error {
	if r.op == nil {
		return nil
	}
	err := r.op.Close()
	r.op = nil
	if r.cancel != nil {
		r.cancel()
	}
	s := r.run.rec.stats(r.run.client)
	r.stats.Store(&s)
	return err
}

// Close ends the statement; no goroutine of it is left. It is idempotent.
func (r *Rows) Close() error {
	err := r.end()
	if r.err == nil {
		r.err = io.EOF
	}
	return err
}

// Warnings are what the result should be read with, so far.
func (r *Rows) Warnings() []string {
	return r.run.warn.list()
}

// Stats tells what the statement did so far. It may be called while another goroutine reads the rows.
func (r *Rows) Stats() Stats {
	if s := r.stats.Load(); s != nil {
		return *s
	}
	return r.run.rec.stats(r.run.client)
}

// literalRows gives rows that are already there.
type literalRows struct{ rows [][]types.Value }

func (l *literalRows) Next(context.Context) ([][]types.Value, error) {
	if len(l.rows) == 0 {
		return nil, io.EOF
	}
	out := l.rows
	l.rows = nil
	return out, nil
}

func (l *literalRows) Close() error { return nil }

// table is a result of rows that are already there.
func (r *run) table(columns []planner.OutputColumn, rows [][]types.Value) *Rows {
	return &Rows{Columns: columns, Affected: -1, run: r, op: &literalRows{rows}}
}

// done is the result of a statement that wrote n rows (-1: it does not count any).
func (r *run) done(n int64) *Rows {
	s := r.rec.stats(r.client)
	out := &Rows{Affected: n, run: r}
	out.stats.Store(&s)
	return out
}

func textColumns(names ...string) []planner.OutputColumn {
	out := make([]planner.OutputColumn, len(names))
	for i, n := range names {
		out[i] = planner.OutputColumn{Name: n, Type: types.String}
	}
	return out
}
