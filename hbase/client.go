package hbase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/kerberos"
	"github.com/hql-db/hql/internal/pause"
)

const (
	defaultConnectTimeout = 10 * time.Second
	scanAttempt           = 90 * time.Second
	callAttempt           = 20 * time.Second
	// readTimeout is twice the time that a server allows a scan to run: a read that times out earlier breaks the
	// connection that all calls share.
	readTimeout = 2 * time.Minute
	// maxAttempts bounds how often a call that never answers is sent again.
	maxAttempts = 5
)

// client sends RPCs through gohbase.
type client struct {
	servers link          // to region servers
	master  link          // to the active master
	attempt time.Duration // 0: the defaults
	dialer  *dialer       // nil: the client was handed in

	// regions are those of tables, to group keys by region. They may be stale: a region that has moved refuses the call, and
	// the table is looked up again.
	regions aged[string, []Region]
	user    string // "": the client was handed in
	rights  rights
	mob     mobFamilies
	stats   counters
	noSeq   bool // set by tests: scans go without next_call_seq, and lose rows when an answer is lost
}

// link is a gohbase client, which is replaced when it is stuck.
type link struct {
	mu     sync.Mutex
	rpc    gohbase.RPCClient
	redial func() closer // nil: rpc was handed in, is never replaced and stays open
	// late is the time, summed since the last answer, that calls waited until their callers' deadlines. When it reaches
	// the time of one attempt, rpc counts as stuck and is replaced.
	late atomic.Int64
}

// closer is a gohbase client that can be closed.
type closer interface {
	gohbase.RPCClient
	Close()
}

// ownClient is a gohbase client that is closed with its connections.
type ownClient struct {
	gohbase.RPCClient
	close func()
	conns *connections
}

func (c *ownClient) Close() { c.conns.close(c.close) }

type counters struct {
	rpcs, rows, cells, bytes, reopens, retries, replaced atomic.Int64
}

// New makes a Client that sends calls to region servers through servers, and calls to the master through master. Both
// can be clients of gohbase or an embedded store. Closing the Client leaves them open.
func New(servers, master gohbase.RPCClient) Client {
	return &client{servers: link{rpc: servers}, master: link{rpc: master}}
}

// Dial connects to a cluster. If the cluster cannot be reached, it returns ErrUnreachable within Config.ConnectTimeout.
func Dial(ctx context.Context, cfg Config) (Client, error) {
	silenceLogs()
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = defaultConnectTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	reach, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	dials := &dialer{tls: cfg.TLS, opening: func(err error) { stop(fmt.Errorf("%w: %w", ErrUnreachable, err)) }}
	if cfg.Kerberos != nil {
		auth, err := kerberos.New(*cfg.Kerberos)
		if err != nil {
			return nil, err
		}
		dials.auth, cfg.User = auth, cmp.Or(cfg.User, auth.Principal())
	}
	who, err := userName(cfg.User)
	if err != nil {
		return nil, err
	}
	from := "hbase:meta"
	if cfg.Servers != "" {
		dials.locator = newRegistry(strings.Split(cfg.Servers, ","), who, dials)
	} else {
		z := newZooKeeper(cfg)
		from += " under " + z.root
		dials.locator = z
	}
	c := &client{attempt: cfg.AttemptTimeout, dialer: dials, user: who}
	c.servers.redial = func() closer {
		conns := dials.connections()
		g := gohbase.NewClient(nowhere, conns.options(who)...)
		return &ownClient{g.(gohbase.RPCClient), g.Close, conns}
	}
	c.master.redial = func() closer {
		conns := dials.connections()
		g := gohbase.NewAdminClient(nowhere, conns.options(who)...)
		return &ownClient{g.(gohbase.RPCClient), func() {}, conns} // gohbase's Close is not for admin clients
	}
	c.servers.rpc, c.master.rpc = c.servers.redial(), c.master.redial()
	server, err := dials.locate(ctx, metaPlace)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	dials.meta.Store(server)
	if _, err := c.metaRegions(reach, "hbase:namespace"); err != nil && !errors.Is(err, ErrNoTable) {
		c.Close()
		if cause := context.Cause(reach); errors.Is(cause, ErrUnreachable) {
			return nil, cause
		}
		return nil, fmt.Errorf("%w: %s is at %s, which does not answer (%v)", ErrUnreachable, from, address(server), err)
	}
	return c, nil
}

// userName returns the user name to send to servers that do not authenticate: the given one, else HADOOP_USER_NAME as
// for Java's clients, else the operating system's user.
func userName(given string) (string, error) {
	if name := cmp.Or(given, os.Getenv("HADOOP_USER_NAME")); name != "" {
		return name, nil
	}
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "", fmt.Errorf("the operating system has no name for uid %d to act as: name the user by ?user=NAME in the address or HADOOP_USER_NAME", os.Getuid())
	}
	return u.Username, nil
}

func (l *link) current() gohbase.RPCClient {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rpc
}

// replace replaces the client stuck of l, which no longer answers, by a new client. A client for the master gets stuck
// when it stays connected to a former master.
func (c *client) replace(l *link, stuck gohbase.RPCClient) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.redial == nil || l.rpc != stuck {
		return
	}
	l.rpc = l.redial()
	c.stats.replaced.Add(1)
	l.late.Store(0)
	go stuck.(closer).Close()
}

// call makes a new request for each attempt: gohbase's requests are single use.
type call func(ctx context.Context) (hrpc.Call, error)

func (c *client) timeout(d time.Duration) time.Duration {
	if c.attempt > 0 {
		return c.attempt
	}
	return d
}

// Errors of one attempt after which the call may be sent again, because they do not come from the call itself.
var (
	errAttempt  = errors.New("no answer within the attempt timeout")
	errReplaced = errors.New("the connections were replaced")
)

// repeatable reports whether a call that failed with err may be sent again as it is.
func repeatable(err error) bool {
	return errors.Is(err, errAttempt) || errors.Is(err, errReplaced) || classify(err) == retry
}

// lateError is the error of the last attempt that a caller's deadline allows. That attempt ends a little before the
// deadline, so that the caller receives a lateError and not its context's error.
type lateError struct {
	table    string
	key      []byte
	waited   time.Duration
	disabled bool
}

func (e *lateError) Error() string {
	s := fmt.Sprintf("the region of key %.64q did not answer in %v", e.key, e.waited.Round(10*time.Millisecond))
	if e.disabled {
		s += fmt.Sprintf(" (table %s is disabled)", e.table)
	}
	return s + ": " + context.DeadlineExceeded.Error()
}

func (e *lateError) Unwrap() error { return context.DeadlineExceeded }

// stateWait is how long the check for a disabled table may take. A call to a region of a disabled table does not fail:
// gohbase waits until the table is enabled again.
const stateWait = 2 * time.Second

// maxMargin is the longest time between the end of the last attempt and the caller's deadline.
const maxMargin = 250 * time.Millisecond

// try sends one attempt of at most callAttempt. It distinguishes the end of the attempt from the end of the caller's context.
func (c *client) try(ctx context.Context, mk call) (proto.Message, hrpc.Call, error) {
	return c.tryAnd(ctx, callAttempt, mk, nil)
}

// tryAnd works like try with attempts of at most d, but passes an answer that arrives too late to abandoned.
func (c *client) tryAnd(ctx context.Context, d time.Duration, mk call, abandoned func(proto.Message)) (proto.Message, hrpc.Call, error) {
	d = c.timeout(d)
	margin := time.Duration(0) // above 0: this attempt is the last
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		if m := min(left/10, maxMargin); left-m < d {
			d, margin = left-m, max(m, 1)
		}
	}
	a := newAttempt(ctx, d)
	a.abandoned = abandoned
	msg, err := mk(a)
	if err != nil {
		return nil, nil, err
	}
	rpc := c.servers.current()
	if _, own := msg.(*rightCall); !own {
		c.stats.rpcs.Add(1)
	}
	began := time.Now()
	m, err := a.send(rpc, msg, watch{c, msg})
	switch {
	case err == nil:
		c.servers.late.Store(0)
	case errors.Is(ctx.Err(), context.Canceled):
		err = ctx.Err()
	case a.over() && margin > 0:
		waited := time.Since(began)
		if c.servers.late.Add(int64(waited)) >= int64(c.timeout(callAttempt)) {
			c.replace(&c.servers, rpc)
		}
		if err = c.dialer.refusedSince(began, true); err == nil {
			err = &lateError{string(msg.Table()), msg.Key(), waited, c.disabled(ctx, rpc, msg.Table(), margin/2)}
		}
	case a.over():
		if err = c.dialer.refusedSince(began, false); err != nil {
			break
		}
		c.replace(&c.servers, rpc)
		if err = errAttempt; c.disabled(ctx, c.servers.current(), msg.Table(), stateWait) {
			err = disabledError(msg.Table())
		} else if string(msg.Table()) != "hbase:meta" {
			err = c.lostRegion(ctx, msg, err)
		}
	case errors.Is(err, gohbase.ErrClientClosed) && c.servers.current() != rpc:
		err = errReplaced
	case errors.Is(err, gohbase.TableNotFound) && c.dialer != nil:
		if err = c.noRegion(ctx, string(msg.Table()), msg.Key()); err == nil { // the region has just been created
			err = errReplaced
		}
	}
	return m, msg, err
}

// errLost means that hbase:meta lacks a region.
var errLost = errors.New("hbase:meta has no region")

// noRegion returns an error if hbase:meta has no region for a key: gohbase.TableNotFound if it has no region of the
// table, else errLost. gohbase itself reports a table without its first region as missing, and searches without end for
// any other region that is lost.
func (c *client) noRegion(ctx context.Context, table string, key []byte) error {
	regions, err := c.metaRegions(ctx, table)
	switch {
	case errors.Is(err, ErrNoTable):
		return gohbase.TableNotFound
	case err != nil || slices.ContainsFunc(regions, func(r Region) bool { return r.holds(key) }):
		return err
	}
	return fmt.Errorf("%w for key %.64q although it has other regions of the table: hbase:meta is inconsistent (HBCK2 can repair it)", errLost, key)
}

// lostRegion returns errLost if hbase:meta soon reports that it has no region for the call, else err.
func (c *client) lostRegion(ctx context.Context, msg hrpc.Call, err error) error {
	ctx, cancel := context.WithTimeout(ctx, stateWait)
	defer cancel()
	if lost := c.noRegion(ctx, string(msg.Table()), msg.Key()); errors.Is(lost, errLost) || errors.Is(lost, gohbase.TableNotFound) {
		return lost
	}
	return err
}

// disabled reports whether hbase:meta marks a table as disabled. It returns false if hbase:meta does not answer within
// d or before ctx ends.
func (c *client) disabled(ctx context.Context, rpc gohbase.RPCClient, table []byte, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	m, err := sendOnce(ctx, rpc, func(ctx context.Context) (hrpc.Call, error) {
		return hrpc.NewGet(ctx, []byte("hbase:meta"), table, hrpc.SkipBatch(), anyTime, hrpc.Families(map[string][]string{"table": {"state"}}))
	})
	res, ok := m.(*pb.GetResponse)
	if err != nil || !ok || len(res.GetResult().GetCell()) == 0 {
		return false
	}
	return string(res.Result.Cell[0].Value) == "\x08\x01" // the message TableState{state: DISABLED}
}

// send repeats a call until it is answered. The call must be safe to send twice.
func (c *client) send(ctx context.Context, mk call) (proto.Message, hrpc.Call, error) {
	var b backoff
	for n := 1; ; n++ {
		m, msg, err := c.try(ctx, mk)
		if err == nil || ctx.Err() != nil {
			return m, msg, err
		}
		if !repeatable(err) || errors.Is(err, errAttempt) && n >= maxAttempts {
			return nil, msg, err
		}
		c.stats.retries.Add(1)
		if werr := b.wait(ctx); werr != nil {
			return nil, msg, fmt.Errorf("%w (last answer: %v)", werr, err)
		}
	}
}

// backoff waits about 10 ms, then twice as long each time, up to 2 s. Up to half of each wait is random, so that
// callers that were refused together do not return together.
type backoff time.Duration

func (b *backoff) wait(ctx context.Context) error {
	d := min(max(time.Duration(*b)*2, 10*time.Millisecond), 2*time.Second)
	*b = backoff(d)
	return pause.For(ctx, d-rand.N(d/2))
}

func (c *client) Stats() Stats {
	s := &c.stats
	return Stats{RPCs: s.rpcs.Load(), Rows: s.rows.Load(), Cells: s.cells.Load(), Bytes: s.bytes.Load(),
		Reopens: s.reopens.Load(), Retries: s.retries.Load(), Replaced: s.replaced.Load()}
}

// Close closes the connections that Dial opened.
func (c *client) Close() error {
	if c.servers.redial != nil {
		c.servers.current().(closer).Close()
		c.master.current().(closer).Close()
		c.dialer.close()
	}
	return nil
}
