package pgwire

import (
	"bufio"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/exec"
)

// watchAfter is how long a statement runs before the server watches its client: most statements end sooner.
const watchAfter = 20 * time.Millisecond

// conn is a connection.
type conn struct {
	srv    *Server
	net    net.Conn
	in     *bufio.Reader
	body   []byte // of the message that was read last
	out    []byte // to be sent
	broken error  // why nothing can be sent any more

	pid      uint32
	secret   []byte
	user     string
	role     Role
	database string
	client   string // the client's address
	secured  bool   // by TLS
	began    time.Time

	db         *hql.DB // the session
	ctx        context.Context
	cancel     context.CancelCauseFunc
	settings   settings
	tx         transaction
	statements map[string]*prepared
	portals    map[string]*portal
	cursors    map[string]*portal
	skipping   bool // after an error, messages up to Sync are ignored

	mu      sync.Mutex
	stop    context.CancelCauseFunc // of the running statement; nil: none runs
	idle    bool                    // the connection waits for a message
	ending  bool                    // the connection is to end when it is idle
	running activity
	shown   Session // while it is idle
}

func newConn(s *Server, nc net.Conn, pid uint32) *conn {
	c := &conn{srv: s, net: nc, in: bufio.NewReaderSize(nc, 4096), pid: pid, began: time.Now(), client: nc.RemoteAddr().String(),
		statements: map[string]*prepared{}, portals: map[string]*portal{}, cursors: map[string]*portal{}}
	c.ctx, c.cancel = context.WithCancelCause(s.ctx)
	if tcp, ok := nc.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 6})
	}
	return c
}

// knows reports whether secret is the connection's.
func (c *conn) knows(secret []byte) bool {
	c.mu.Lock()
	own := c.secret
	c.mu.Unlock()
	return len(own) > 0 && subtle.ConstantTimeCompare(own, secret) == 1
}

// serve answers the client until the client or the server ends the connection.
func (c *conn) serve(full bool) {
	defer c.close()
	defer func() {
		if p := recover(); p != nil {
			c.srv.log.Error("pgwire: panic", "pid", c.pid, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			c.fail(fatal("XX000", "internal error: %v", p))
		}
	}()
	err := c.startup(full)
	if err == nil {
		err = c.loop()
	}
	c.fail(err)
}

// fail tells the client why the connection ends.
func (c *conn) fail(err error) {
	var gone goneError
	if err == nil || errors.As(err, &gone) || errors.Is(err, io.EOF) {
		_ = c.flush()
		return
	}
	e := asError(err, "", 0)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		e = fatal("08006", "canceling authentication due to timeout")
	}
	own := *e
	own.Severity = "FATAL"
	c.srv.log.Info("pgwire: connection failed", "pid", c.pid, "user", c.user, "client", c.net.RemoteAddr().String(), "code", own.Code)
	_ = c.send(own.message())
	_ = c.flush()
}

// close frees the resources of the connection.
func (c *conn) close() {
	c.cancel(errGone)
	c.dropAll()
	c.srv.held.give(int64(cap(c.body)))
	c.body = nil
	c.net.Close()
	if c.db != nil {
		_ = c.db.Close() // the session
	}
	c.role.leave()
}

// dropAll closes all portals, cursors and statements.
func (c *conn) dropAll() {
	c.closePortals(c.portals)
	c.closePortals(c.cursors)
	for name := range c.statements {
		c.dropStatement(name)
	}
}

// loop answers messages.
func (c *conn) loop() error {
	for {
		if c.broken != nil {
			return c.broken
		}
		if !c.setIdle(true) {
			return errShutdown
		}
		if err := c.awaitMessage(); err != nil {
			return err
		}
		kind, body, err := c.message(maxMessage)
		stays := c.setIdle(false)
		switch {
		case err != nil && !stays:
			return errShutdown
		case err != nil:
			return err
		case kind == 'X':
			return nil
		}
		if err := c.handle(kind, body); err != nil {
			return err
		}
	}
}

// setIdle notes whether the connection waits for a message. It returns false if the connection should end.
func (c *conn) setIdle(idle bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = idle
	return !c.ending
}

// awaitMessage waits for the first byte of a message. It returns an error if the session has been idle for longer than its
// timeout.
func (c *conn) awaitMessage() error {
	name, err := "idle_session_timeout", fatal("57P05", "terminating connection due to idle-session timeout")
	if c.tx.state != outside {
		name, err = "idle_in_transaction_session_timeout", fatal("25P03", "terminating connection due to idle-in-transaction timeout")
	}
	d, _ := exec.ParseTimeout(c.setting(name))
	if d == 0 || c.in.Buffered() > 0 {
		return nil
	}
	limit := func(t time.Time) (ending bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.ending {
			_ = c.net.SetReadDeadline(t)
		}
		return c.ending
	}
	limit(time.Now().Add(d))
	_, failed := c.in.Peek(1)
	if ending := limit(time.Time{}); errors.Is(failed, os.ErrDeadlineExceeded) && !ending {
		return err
	}
	return nil
}

// endIdle ends the connection at once if it waits for a message, otherwise after the current message.
func (c *conn) endIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	if c.idle {
		_ = c.net.SetReadDeadline(time.Unix(1, 0))
	}
}

// interrupt ends the running statement, if there is one.
func (c *conn) interrupt(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop(why)
	}
}

// handle answers one message. An error ends the connection.
func (c *conn) handle(kind byte, body []byte) error {
	if c.skipping && kind != 'S' {
		return nil
	}
	var err error
	switch kind {
	case 'Q':
		return c.simpleQuery(body)
	case 'P':
		err = decoded(body, &pgproto3.Parse{}, c.parseMessage)
	case 'B':
		err = decoded(body, &pgproto3.Bind{}, c.bindMessage)
	case 'D':
		err = decoded(body, &pgproto3.Describe{}, c.describeMessage)
	case 'E':
		err = decoded(body, &pgproto3.Execute{}, c.executeMessage)
	case 'C':
		err = decoded(body, &pgproto3.Close{}, c.closeMessage)
	case 'H':
		return c.flush()
	case 'S':
		c.skipping = false
		c.endImplicit()
		return c.ready()
	case 'd', 'c', 'f': // of a COPY that has failed
		return nil
	case 'F':
		err = failure("0A000", "function calls by message are not supported")
	default:
		return fatal("08P01", "invalid message type %q", kind)
	}
	if err == nil {
		return nil
	}
	if kind == 'F' {
		if err := c.report(err); err != nil {
			return err
		}
		return c.ready()
	}
	c.skipping = true // a Flush, too: the client may wait for the failure before it sends Sync
	if err := c.report(err); err != nil {
		return err
	}
	return c.flush()
}

// decoded decodes a message and passes it to f.
func decoded[M interface{ Decode([]byte) error }](body []byte, m M, f func(M) error) error {
	if err := decode(body, m); err != nil {
		return fatal("08P01", "invalid message format: %v", err)
	}
	return f(m)
}

// decode calls m.Decode. It turns a panic of Decode, caused by wrong lengths in body, into an error.
func decode(body []byte, m interface{ Decode([]byte) error }) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return m.Decode(body)
}

// report sends the error of a statement to the client. It returns the error if it ends the connection.
func (c *conn) report(err error) error {
	if _, ok := errors.AsType[goneError](err); ok {
		return err
	}
	e := asError(err, "", 0)
	if e.Severity == "FATAL" {
		return e
	}
	if message, stack, ok := strings.Cut(e.Message, "\n"); ok && strings.HasPrefix(message, "internal error: ") {
		c.srv.log.Error("pgwire: "+message, "pid", c.pid, "stack", stack)
		e.Message = message
	}
	c.tx.failed()
	c.srv.counts.failed.Add(1)
	return c.send(e.message())
}

// ready tells the client that the server waits for the next statement.
func (c *conn) ready() error {
	c.show()
	if err := c.send(&pgproto3.ReadyForQuery{TxStatus: c.tx.status()}); err != nil {
		return err
	}
	return c.flush()
}

// working runs f for a statement. Meanwhile a request to cancel, the timeout or the client's disconnecting calls stop.
func (c *conn) working(stop context.CancelCauseFunc, f func() error) error {
	return c.stoppable(stop, func() error {
		w := c.watch(stop)
		defer w.end()
		return f()
	})
}

// stoppable works like working, for an f that reads the client's messages.
func (c *conn) stoppable(stop context.CancelCauseFunc, f func() error) error {
	c.mu.Lock()
	c.stop = stop
	if c.ending && c.srv.ctx.Err() != nil {
		stop(errShutdown)
	}
	c.mu.Unlock()
	var timeout *time.Timer
	if d := c.db.Settings().Timeout(); d > 0 {
		timeout = time.AfterFunc(d, func() { stop(errTimeout) })
	}
	defer func() {
		if timeout != nil {
			timeout.Stop()
		}
		c.mu.Lock()
		c.stop = nil
		c.mu.Unlock()
	}()
	return f()
}

// watcher checks during a statement whether the client is still connected.
type watcher struct {
	c     *conn
	timer *time.Timer
	done  chan struct{} // closed when the watching has ended
	mu    sync.Mutex
	ended bool
	reads bool
}

func (c *conn) watch(stop context.CancelCauseFunc) *watcher {
	w := &watcher{c: c, done: make(chan struct{})}
	w.timer = time.AfterFunc(watchAfter, func() {
		defer close(w.done)
		for w.may() {
			if _, err := c.in.Peek(c.in.Buffered() + 1); err == nil {
				continue // a message for later
			} else if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, bufio.ErrBufferFull) {
				return
			}
			stop(errGone)
			return
		}
	})
	return w
}

// may reports whether to go on watching.
func (w *watcher) may() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads = !w.ended
	return w.reads
}

// end stops the watcher and waits for it; then the connection's messages can be read again.
func (w *watcher) end() {
	if w.timer.Stop() {
		return
	}
	w.mu.Lock()
	w.ended = true
	reads := w.reads
	w.mu.Unlock()
	if reads {
		_ = w.c.net.SetReadDeadline(time.Unix(1, 0))
	}
	<-w.done
	if reads {
		_ = w.c.net.SetReadDeadline(time.Time{})
	}
}
