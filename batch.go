package hql

import (
	"context"
	"errors"

	"github.com/hql-db/hql/parser"
)

// Batch is a list of statements that SendBatch runs. The zero Batch is empty.
type Batch struct {
	queued []queued
}

// queued is a statement of a batch.
type queued struct {
	sql  string
	args []any
}

// Queue adds a statement with its arguments, as for DB.Query.
func (b *Batch) Queue(sql string, args ...any) {
	b.queued = append(b.queued, queued{sql, args})
}

// Len returns the number of statements.
func (b *Batch) Len() int { return len(b.queued) }

// batchReads is the number of queries of a batch that run concurrently.
const batchReads = 8

// BatchResults are the results of a batch, in the order of Queue. They are not safe for concurrent use.
type BatchResults struct {
	ctx     context.Context
	cancel  context.CancelFunc
	db      *DB
	left    []queued
	started []*startedQuery // the first queries of left, which already run
	err     error
}

// startedQuery is a query that was started before its result was requested.
type startedQuery struct {
	done chan struct{}
	rows *Rows
	err  error
}

// SendBatch starts the statements of b. Consecutive queries run concurrently, up to eight of them. A statement that writes
// begins when the results of all previous statements have been taken, and later statements wait for its end. A failed
// statement does not end the others, since HBase has no transactions. The results must be closed.
func (db *DB) SendBatch(ctx context.Context, b *Batch) *BatchResults {
	ctx, cancel := context.WithCancel(ctx)
	r := &BatchResults{ctx: ctx, cancel: cancel, db: db, left: b.queued}
	r.ahead()
	return r
}

// ahead starts the queries at the front of the remaining statements, up to the first statement that is no query and at
// most batchReads in all.
func (r *BatchResults) ahead() {
	for _, q := range r.left[len(r.started):min(len(r.left), batchReads)] {
		s, err := r.db.statement(q.sql)
		if err != nil {
			return // the error is returned with its own result
		}
		if _, query := s.parsed.(*parser.Select); !query {
			return
		}
		b := &startedQuery{done: make(chan struct{})}
		r.started = append(r.started, b)
		go func() {
			defer close(b.done)
			if b.rows, b.err = s.Query(r.ctx, q.args...); b.err == nil {
				b.rows.fetch()
			}
		}()
	}
}

// Query returns the rows of the next statement. They must be closed before the next result is taken.
func (r *BatchResults) Query() (*Rows, error) {
	err := r.err
	if err == nil && len(r.left) == 0 {
		err = errors.New("the batch has no more statements")
	}
	if err != nil {
		return failedRows(err), err
	}
	var rows *Rows
	if len(r.started) > 0 {
		b := r.started[0]
		r.started = r.started[1:]
		<-b.done
		rows, err = b.rows, b.err
	} else {
		q := r.left[0]
		if rows, err = r.db.Query(r.ctx, q.sql, q.args...); err == nil {
			rows.fetch() // runs a statement without rows
		}
	}
	r.left = r.left[1:]
	r.ahead()
	return rows, err
}

// QueryRow returns the first row of the next statement.
func (r *BatchResults) QueryRow() *OneRow {
	rows, err := r.Query()
	return &OneRow{rows, err}
}

// Exec returns the next statement's result and discards its rows.
func (r *BatchResults) Exec() (Result, error) {
	rows, err := r.Query()
	if err != nil {
		return Result{}, err
	}
	return rows.drain()
}

// Close runs the remaining statements, discards their rows, and returns the first of their errors. After the end of the
// context it runs none.
func (r *BatchResults) Close() error {
	var first error
	for r.err == nil && len(r.left) > 0 {
		if _, err := r.Exec(); first == nil {
			first = err
		}
	}
	if r.err == nil {
		r.err = ErrClosed
	}
	r.cancel()
	return first
}
