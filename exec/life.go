package exec

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// ErrClosed is the error of statements that run when their Engine is closed, or begin later.
var ErrClosed = errors.New("the database is closed")

// life is the context of a statement. It ends with the given context, by Rows.Close, or by Engine.Close.
type life struct {
	all    *lives
	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex  // held while the statement works: until its rows are there, then while some are fetched
	rows   *Rows       // those that may still be read
	timer  *time.Timer // of the timeout; nil: there is none
}

// errTimeout ends a statement that takes longer than its session allows.
var errTimeout error = timeoutError{}

type timeoutError struct{}

func (timeoutError) Error() string {
	return "canceling statement due to statement timeout (SHOW statement_timeout)"
}
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// lives are the statements of an engine that have not ended.
type lives struct {
	mu     sync.Mutex
	closed bool
	those  map[*life]struct{}
}

// begin gives a statement of a session its life, with mu held. A server ends its clients' statements by itself.
func (a *lives) begin(ctx context.Context, s *Session) (*life, error) {
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
	if d := s.Timeout(); d > 0 && s.Client == nil {
		l.timer = time.AfterFunc(d, func() { l.cancel(errTimeout) })
	}
	l.mu.Lock()
	a.those[l] = struct{}{}
	return l, nil
}

// end frees the resources of l.
func (l *life) end() {
	l.cancel(nil)
	if l.timer != nil {
		l.timer.Stop()
	}
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	delete(l.all.those, l)
}

// why is the error to tell for err: statements fail in many ways when all is closed under them.
func (l *life) why(err error) error {
	if cause := context.Cause(l.ctx); err != nil && err != io.EOF && (cause == ErrClosed || cause == errTimeout) {
		return cause
	}
	return err
}

// Close ends all statements and waits for their goroutines; readers of their rows get ErrClosed. A function that a
// statement calls, such as one registered for SQL, must not call it.
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
