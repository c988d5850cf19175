package exec

import (
	"context"

	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/parser"
)

// look checks whether definitions older than definitionsAge have changed, before stmt is planned. For a query, the check
// runs concurrently: the query is planned and begins to read, and the result of the check arrives on checked. piece
// reports whether only a piece of the query is read, for a plan that was made elsewhere.
func (e *Engine) look(ctx context.Context, stmt parser.Statement, piece bool) (checked <-chan error, err error) {
	if _, query := stmt.(*parser.Select); !query || piece || e.cfg.Alone || e.defs.fresh() || e.defs.checked.Load() == 0 {
		return nil, e.refresh(ctx)
	}
	outcome := make(chan error, 1)
	go func() { outcome <- operator.Safely(func() error { return e.refresh(ctx) }) }()
	return outcome, nil
}

// doAhead runs a query by definitions that may be outdated. It begins to read, and returns when checked delivers the
// result of the check. again reports that definitions have changed; then the caller has not seen any part of the query,
// not even its columns.
func (r *run) doAhead(ctx context.Context, stmt parser.Statement, kept *Plans, checked <-chan error) (rows *Rows, again bool, err error) {
	known := r.engine.defs.edition.Load()
	ctx, stop := context.WithCancel(ctx)
	rows, err = r.do(ctx, stmt, kept)
	ahead := func(op operator.Operator) operator.Operator {
		return operator.ReadAhead(ctx, stop, func() (operator.Operator, error) { return op, nil })
	}
	if err == nil {
		rows.op = ahead(rows.op)
	}
	looked := <-checked
	again = looked == nil && r.engine.defs.edition.Load() != known
	if err == nil && looked == nil && !again {
		return rows, false, nil
	}
	stop()
	if err == nil {
		err = rows.op.Close()
	}
	if looked != nil {
		err = looked
	}
	return nil, again, err
}
