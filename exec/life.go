package exec

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// ErrClosed is the error of a statement whose Engine is closed before the statement ends.
var ErrClosed = errors.New("the database is closed")

// life is the context of a statement. It ends with the caller's context, with Rows.Close, or with Engine.Close.
type life struct {
	all    *lives
	of     *Session
	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex  // held while the statement works: until Run returns, then during each Next
	rows   *Rows       // the rows that the caller may still read
	timer  *time.Timer // of the timeout; nil if there is none
}

// errTimeout ends a statement that takes longer than the session's statement_timeout.
var errTimeout error = timeoutError{}

type timeoutError struct{}

func (timeoutError) Error() string {
	return "canceling statement due to statement timeout (SHOW statement_timeout)"
}
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// lives is the set of an engine's statements that have not ended.
type lives struct {
	mu     sync.Mutex
	closed bool
	those  map[*life]struct{}
}

// begin returns a new life, whose mu is locked, for a statement of a session.
func (a *lives) begin(ctx context.Context, s *Session) (*life, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
	}
	if a.those == nil {
		a.those = map[*life]struct{}{}
	}
	l := &life{all: a, of: s}
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

// why returns the error to report instead of err: ErrClosed or errTimeout if that ended the statement, otherwise err with the names
// that the session knows.
func (l *life) why(err error) error {
	if cause := context.Cause(l.ctx); err != nil && err != io.EOF && (cause == ErrClosed || cause == errTimeout) {
		return cause
	}
	return l.of.shown(err)
}

// Close ends all statements and waits for their goroutines; readers of their rows get ErrClosed. A function that a
// statement calls, such as a Go function registered for SQL, must not call Close.
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
			_ = l.rows.end(ErrClosed) // readers get ErrClosed; Close has nobody to report this error to
		}
		l.mu.Unlock()
	}
}
