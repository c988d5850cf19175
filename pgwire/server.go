package pgwire

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql"
)

// Options are the users and the limits of a Server. With the zero value, only clients on this host can connect, and they can
// only read.
type Options struct {
	// Users are the users that may connect, with their passwords; nil: every user may connect, without a password.
	Users *Users
	// TLS secures connections; nil: no TLS.
	TLS *tls.Config
	// Insecure lets other hosts connect although Users or TLS is missing.
	Insecure bool
	// Write lets statements write if the DB allows it. A user's role may say otherwise.
	Write bool
	// Open opens a DB for one user; nil: all users share the server's DB. It is called once for each user, and the server
	// closes the DB.
	Open func(ctx context.Context, user string) (*hql.DB, error)

	MaxConnections int   // at a time; 0: 1000
	MaxStatements  int   // that run at a time; 0: 32
	MaxQueue       int   // statements that wait for others to end; 0: 256
	Memory         int64 // bytes for the statements that run; 0: 1 GiB
	// Parallelism is the number of reads that a statement may have in flight; 0: 8.
	Parallelism int

	AuthTimeout      time.Duration // until a client has proved who it is; 0: 10 s
	QueueTimeout     time.Duration // that a statement waits for others; 0: 30 s
	StatementTimeout time.Duration // of sessions that set none; 0: none
	WriteTimeout     time.Duration // until a client takes what it was sent; 0: 5 min

	// Logger logs connections and failures, without the texts of statements; nil: nothing is logged.
	Logger *slog.Logger
	// LogStatements adds the texts of statements to the log and to Queries.
	LogStatements bool
}

// ErrServerClosed is returned by Serve after Shutdown or Close.
var ErrServerClosed = errors.New("pgwire: the server is closed")

// Server serves a DB. Its methods may be called by several goroutines.
type Server struct {
	db   *hql.DB
	opts Options
	log  *slog.Logger

	began     time.Time
	admission admission
	held      budget // bytes of messages, prepared statements and parameters
	counts    counts
	queries   queryLog
	oids      sync.Map // of tables and views, by name

	ctx    context.Context // of all connections
	cancel context.CancelCauseFunc
	group  sync.WaitGroup // of all connections

	mu        sync.Mutex
	draining  bool // Shutdown was called
	listeners map[net.Listener]struct{}
	conns     map[uint32]*conn
	nextPID   uint32
	own       map[string]*userDB

	locks locks
}

// userDB is the DB of one user.
type userDB struct {
	ready chan struct{} // closed when db or err is set
	db    *hql.DB
	err   error
}

// counts are the counts of the metrics.
type counts struct {
	connections, refused, failedLogins, statements, failed, canceled, rowsSent, bytesSent atomic.Int64
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// NewServer makes a server for db, which the caller closes later and should have opened with hql.WithoutFiles.
func NewServer(db *hql.DB, o Options) (*Server, error) {
	o.MaxConnections = or(o.MaxConnections, 1000)
	o.MaxStatements = or(o.MaxStatements, 32)
	o.MaxQueue = or(o.MaxQueue, 256)
	o.Memory = or(o.Memory, 1<<30)
	o.Parallelism = or(o.Parallelism, 8)
	o.AuthTimeout = or(o.AuthTimeout, 10*time.Second)
	o.QueueTimeout = or(o.QueueTimeout, 30*time.Second)
	o.WriteTimeout = or(o.WriteTimeout, 5*time.Minute)
	if o.MaxConnections < 1 || o.MaxStatements < 1 || o.MaxQueue < 0 || o.Memory < 1 || o.Parallelism < 1 {
		return nil, errors.New("pgwire: MaxConnections, MaxStatements, Memory and Parallelism must be at least 1, and MaxQueue must not be negative")
	}
	s := &Server{db: db, opts: o, began: time.Now(), log: o.Logger, listeners: map[net.Listener]struct{}{}, conns: map[uint32]*conn{}, own: map[string]*userDB{}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.admission.begin(o.Memory, o.MaxQueue)
	s.held.most = max(o.Memory/4, 1<<20)
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// Serve accepts connections of l until Shutdown or Close, and closes l. It returns an error if other hosts reach l, unless
// Users and TLS or Insecure are set.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if err := s.admits(l.Addr()); err != nil {
		return err
	}
	s.mu.Lock()
	if s.draining {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	for wait := time.Duration(0); ; {
		c, err := l.Accept()
		if err == nil {
			wait = 0
			s.accept(c)
			continue
		}
		s.mu.Lock()
		closed := s.draining
		s.mu.Unlock()
		if closed {
			return ErrServerClosed
		}
		var temporary interface{ Temporary() bool }
		if !errors.As(err, &temporary) || !temporary.Temporary() {
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second) // too many open files, and the like
		time.Sleep(wait)
	}
}

// admits returns an error for an address that other hosts reach, unless Users and TLS or Insecure are set.
func (s *Server) admits(a net.Addr) error {
	if tcp, ok := a.(*net.TCPAddr); !ok || tcp.IP.IsLoopback() || s.opts.Insecure || s.opts.Users != nil && s.opts.TLS != nil {
		return nil
	}
	return fmt.Errorf("pgwire: %s is reached by other hosts, which needs passwords (--users) and TLS (--tls-cert, --tls-key)", a)
}

// accept begins to serve a connection.
func (s *Server) accept(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		nc.Close()
		return
	}
	full := len(s.conns) >= s.opts.MaxConnections
	if len(s.conns) >= s.opts.MaxConnections+s.opts.MaxConnections/8+8 { // without an error message
		s.counts.refused.Add(1)
		nc.Close()
		return
	}
	s.counts.connections.Add(1)
	for s.nextPID++; s.nextPID == 0 || s.nextPID > 1<<31-1 || s.conns[s.nextPID] != nil; s.nextPID++ {
		if s.nextPID >= 1<<31-1 {
			s.nextPID = 0
		}
	}
	c := newConn(s, nc, s.nextPID)
	s.conns[c.pid] = c
	s.group.Go(func() {
		defer func() {
			s.locks.end(c, true, true)
			s.mu.Lock()
			delete(s.conns, c.pid)
			s.mu.Unlock()
		}()
		c.serve(full)
	})
}

// cancelStatement cancels the running statement of the connection pid, if secret is that connection's secret.
func (s *Server) cancelStatement(pid uint32, secret []byte) {
	s.mu.Lock()
	c := s.conns[pid]
	s.mu.Unlock()
	if c != nil && c.knows(secret) {
		c.interrupt(errCanceled)
	}
}

// Cancel cancels the running statement of the connection with this process number, as pg_cancel_backend does. It returns false
// if there is no such connection.
func (s *Server) Cancel(pid uint32) bool {
	s.mu.Lock()
	c := s.conns[pid]
	s.mu.Unlock()
	if c != nil {
		c.interrupt(errCanceled)
	}
	return c != nil
}

// Shutdown stops accepting connections, ends idle ones, and waits for running statements. If ctx ends first, it ends the
// statements, as Close does, and returns the error of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	for _, c := range s.drain() {
		c.endIdle()
	}
	done := make(chan struct{})
	go func() {
		s.group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return s.Close()
	case <-ctx.Done():
		s.Close()
		<-done
		return ctx.Err()
	}
}

// drain stops accepting connections and returns the open ones.
func (s *Server) drain() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for l := range s.listeners {
		l.Close()
	}
	return slices.Collect(maps.Values(s.conns))
}

// Close ends all connections and their statements, and waits for them.
func (s *Server) Close() error {
	conns := s.drain()
	s.cancel(errShutdown)
	for _, c := range conns {
		c.interrupt(errShutdown)
		c.endIdle()
	}
	s.group.Wait()
	s.mu.Lock()
	own := s.own
	s.own = map[string]*userDB{}
	s.mu.Unlock()
	var errs []error
	for _, u := range own {
		<-u.ready
		if u.db != nil {
			errs = append(errs, u.db.Close())
		}
	}
	return errors.Join(errs...)
}

// dbOf gives the DB of a user.
func (s *Server) dbOf(user string) (*hql.DB, error) {
	if s.opts.Open == nil {
		return s.db, nil
	}
	s.mu.Lock()
	u := s.own[user]
	if u == nil {
		u = &userDB{ready: make(chan struct{})}
		s.own[user] = u
		s.mu.Unlock()
		u.db, u.err = s.opts.Open(s.ctx, user)
		if u.err != nil { // the next connection tries again
			s.mu.Lock()
			delete(s.own, user)
			s.mu.Unlock()
		}
		close(u.ready)
	} else {
		s.mu.Unlock()
		<-u.ready
	}
	return u.db, u.err
}

// newSecret draws the secret that a request to cancel must contain.
func newSecret(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func beUint32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }
