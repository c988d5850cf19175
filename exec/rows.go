package exec

import (
	"cmp"
	"errors"
	"io"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Rows is the result of a statement. It is not safe for concurrent use.
type Rows struct {
	// Columns is nil for a statement that returns no rows.
	Columns []plan.OutputColumn
	// Affected is the number of rows written by INSERT, UPDATE, DELETE or COPY; -1 for others.
	Affected int64
	Plan     *plan.Plan // nil for statements other than queries
	// Drawn holds the rows of EXPLAIN's text or JSON with styles for a terminal; it is nil for other statements.
	Drawn []explain.Line
	// Document is set if the only value is a whole file, to be written unchanged (EXPLAIN's HTML, SHOW CREATE TABLE).
	Document bool
	// Statement is the statement that EXECUTE ran; it is nil for other statements.
	Statement parser.Statement
	execute   *execute

	run  *run
	life *life // nil for a statement that returns no rows
	op   operator.Operator
	read []*catalog.Table
	err  error // the error that ended the rows
}

// errRowsClosed is the error of rows that were closed before their end.
var errRowsClosed = errors.New("the rows are closed")

// Next returns the next rows, valid until the following call; io.EOF after the last. It ends with the context with which
// the statement was started.
func (r *Rows) Next() ([][]types.Value, error) {
	if r.life == nil {
		return nil, io.EOF
	}
	r.life.mu.Lock()
	defer r.life.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	var rows [][]types.Value
	err := operator.Safely(func() (err error) {
		rows, err = r.op.Next(r.life.ctx)
		if r.Plan != nil && (err == nil || err == io.EOF) { // a caller that has all rows may not call Next again
			return cmp.Or(r.run.checkUnchanged(r.life.ctx, r.tables()...), err)
		}
		return err
	})
	if err != nil {
		_ = r.end(r.execute.placed(r.life.why(err)))
		return nil, r.err
	}
	r.run.rec.returned.Add(int64(len(rows)))
	return rows, nil
}

// tables returns the tables that the plan reads.
func (r *Rows) tables() []*catalog.Table {
	if r.read == nil {
		r.read = r.Plan.Tables()
	}
	return r.read
}

// Location returns the time zone of the statement's session.
func (r *Rows) Location() *time.Location { return r.run.settings.loc }

// end stops the running goroutines; from then on Next returns why.
func (r *Rows) end(why error) error {
	if r.err != nil {
		return nil
	}
	r.err = why
	r.life.cancel(nil) // before it waits for readers: one may be in a sub-query
	err := r.op.Close()
	r.run.subqueries.end()
	r.life.end()
	r.run.rec.end(r.run.Client)
	return err
}

// Close ends the statement and all of its goroutines. It is idempotent.
func (r *Rows) Close() error {
	if r.life == nil {
		return nil
	}
	r.life.mu.Lock()
	defer r.life.mu.Unlock()
	return r.end(errRowsClosed)
}

// Warnings returns the warnings about the result so far.
func (r *Rows) Warnings() []string {
	if r.run == nil {
		return nil
	}
	out := r.run.Warn.Texts()
	for i, text := range out {
		out[i] = r.run.session.named(text)
	}
	return out
}

// Stats returns the counts of the statement so far. It may be called while another goroutine reads the rows.
func (r *Rows) Stats() Stats {
	if r.run == nil {
		return Stats{}
	}
	return r.run.rec.stats(r.run.Client)
}

// table returns a result with the given rows.
func (r *run) table(columns []plan.OutputColumn, rows [][]types.Value) *Rows {
	return &Rows{Columns: columns, Affected: -1, run: r, op: operator.Literal(rows)}
}

// done returns the result of a statement that wrote n rows; -1: it writes none.
func (r *run) done(n int64) *Rows {
	r.rec.end(r.Client)
	return &Rows{Affected: n, run: r}
}

func textColumns(names ...string) []plan.OutputColumn {
	out := make([]plan.OutputColumn, len(names))
	for i, n := range names {
		out[i] = plan.OutputColumn{Name: n, Type: types.String}
	}
	return out
}
