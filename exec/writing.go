package exec

import (
	"context"
	"fmt"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// writeEnv returns the environment of the statement's writers.
func (r *run) writeEnv() *write.Env {
	e := r.engine
	return &write.Env{Reads: &r.Reads, Catalog: e.catalog, Clock: e.clock, Cache: &e.lookups, Unchanged: r.checkUnchanged, Arrived: r.arrived, Sending: e.sending,
		Filled: r.filled, NoteFilled: func(l *catalog.Layout) { r.full.known.Store(l, true) }, MakeTable: r.ensurePhysical, Where: r.rowsWhere, Check: r.compiled}
}

// compiled implements write.Env.Check.
func (r *run) compiled(t *catalog.Table, c catalog.Check) (expr.Expr, error) {
	scope := r.scope()
	scope.Column = t.Resolve
	return expr.CompileCondition(c.Expr, scope)
}

// arrived implements write.Env.Arrived.
func (r *run) arrived(ctx context.Context, t *catalog.Table) error {
	if r.engine.cfg.Alone { // a statement that changes a definition waits for rows being sent
		return nil
	}
	return r.checkUnchanged(ctx, t)
}

func (r *run) newWriter(t *catalog.Table) *write.Writer { return write.New(r.writeEnv(), t) }

// ensurePhysical implements write.Env.MakeTable.
func (r *run) ensurePhysical(ctx context.Context, t *catalog.Table, name string) error {
	made, err := r.createPhysical(ctx, t, name)
	if err != nil || !made {
		return err
	}
	return r.stillWanted(ctx, t, []string{name})
}

// rowsWhere implements write.Env.Where.
func (r *run) rowsWhere(ctx context.Context, t *catalog.Table, where parser.Expr, args []types.Value, f func(rows [][]types.Value) error) error {
	env := *r.env
	env.Args = args
	sub := *r
	sub.env, sub.repeated = &env, true
	p, _, err := sub.planWhere(ctx, t, "", where, true)
	if err != nil {
		return err
	}
	return r.eachRow(ctx, p, asRead, f)
}

// PartialError is the error of a statement that failed after it had written rows, which stay.
type PartialError struct {
	Written int64
	Err     error
}

// Error returns the text of Err, and the number of rows that were written.
func (e *PartialError) Error() string { return e.Err.Error() + e.Stand() }

// Stand returns the number of rows that were written, as the end of an error text.
func (e *PartialError) Stand() string {
	return fmt.Sprintf("; %s written before %s", words.Count(e.Written, "row"), words.Plural(e.Written, "stays", "stay"))
}

// Unwrap returns Err.
func (e *PartialError) Unwrap() error { return e.Err }

// wrote records that the running part of the statement has written n rows so far.
func (r *run) wrote(n int64) { r.rec.written.Store(r.before + n) }

// partly returns the result of a statement. If err is not nil, it adds the number of rows already written to it.
func (r *run) partly(rows *Rows, err error) (*Rows, error) {
	n := r.rec.written.Load()
	if err == nil || n == 0 || r.inside {
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
