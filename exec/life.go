package exec

import (
	"context"
	"errors"
	"io"
	"sync"
)

// ErrClosed is what statements end with when their Engine is closed, and what those give that begin later.
var ErrClosed = errors.New("the database is closed")

// life is what a statement works under. The context given for it ends it, Rows.Close does, and Engine.Close.
type life struct {
	all    *lives
	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex // held while the statement works: until its rows are there, then while some are fetched
	rows   *Rows      // those that may still be read
}

// lives are the statements of an engine that have not ended.
type lives struct {
	mu     sync.Mutex
	closed bool
	those  map[*life]struct{}
}

// begin gives a statement its life, with mu held.
func (a *lives) begin(ctx context.Context) (*life, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	if a.those == nil {
		a.those = map[*life]struct{}{}
	}
	l := &life{all: a}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.mu.Lock()
	a.those[l] = struct{}{}
	return l, nil
}

// end frees what l holds.
func (l *life) end() {
	l.cancel(nil)
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	delete(l.all.those, l)
}

// why is the error to tell for err: statements fail in many ways when all is closed under them.
func (l *life) why(err error) error {
	if err != nil && err != io.EOF && context.Cause(l.ctx) == ErrClosed {
		return ErrClosed
	}
	return err
}

// Close ends all statements and waits until nothing of them runs any more; whoever reads their rows gets
// ErrClosed. It must not be called by what a statement calls, as a function registered for SQL.
func (e *Engine) Close() {
	e.lives.mu.Lock()
	e.lives.closed = true
	var those []*life
	for l := range e.lives.those {
		l.cancel(ErrClosed)
		those = append(those, l)
	}
	e.lives.mu.Unlock()
	for _, l := range those {
		l.mu.Lock()
		if l.rows != nil {
			_ = l.rows.end(ErrClosed) // the readers' end: nobody is there to be told
		}
		l.mu.Unlock()
	}
}
