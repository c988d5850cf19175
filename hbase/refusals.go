package hbase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsuna/gohbase/hrpc"

	"github.com/hql-db/hql/hbase/kerberos"
)

// gohbase tries to connect to a server until a call's deadline, and does not report why it fails. With a wrong
// certificate, or a user that the server does not know, a call would thus wait as long as a scan may take. So waiting
// calls learn which servers refuse one connection after the other, and end if they wait for such a server.

const (
	// refusalsMeant is the number of refusals in a row that count as permanent. Fewer may be a passing fault, such as
	// files being renewed or a server that starts.
	refusalsMeant = 3
	// refusalWait is how long a call waits before it checks whether its server has refused connections.
	refusalWait = 250 * time.Millisecond
	// refusalAge is how long a refusal is remembered: gohbase tries again twice a minute while the region exists.
	refusalAge = time.Minute
	// freshRegions is the greatest age at which hbase:meta's assignment of regions is used to find a call's server.
	freshRegions = time.Second
)

// refusals records the servers that refuse connections.
type refusals struct {
	mu   sync.Mutex
	in   map[string]row // by server
	some atomic.Bool    // a server has refused often enough
	next atomic.Pointer[chan struct{}]
}

// row describes the refusals by one server in a row: the number of connections that it has refused since it last
// accepted one, the time of the last refusal and its reason.
type row struct {
	n    int
	last time.Time
	why  error
}

// broke reports whether err means that a connection broke, was closed silently or timed out. A server that shuts down
// or pauses causes such errors.
func broke(err error) bool {
	var at *net.OpError
	return errors.As(err, &at) && at.Op != "remote error" || errors.Is(err, errNoTLS) || errors.Is(err, kerberos.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// note counts a refusal by a server with the reason err. A broken connection does not count as a refusal.
func (r *refusals) note(server string, err error) {
	if broke(err) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in == nil {
		r.in = map[string]row{}
	}
	n := r.in[server].n + 1
	r.in[server] = row{n, time.Now(), err}
	if n < refusalsMeant {
		return
	}
	r.some.Store(true)
	if next := r.next.Swap(nil); next != nil {
		close(*next)
	}
}

// taken records that a server has answered on a connection. An established connection is not enough: servers may check
// the client's identity last.
func (r *refusals) taken(server string) { r.forget(func(s string, _ row) bool { return s == server }) }

func (r *refusals) forget(which func(server string, of row) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.in, which)
	some := false
	for _, of := range r.in {
		some = some || of.n >= refusalsMeant
	}
	r.some.Store(some)
}

// row returns the recent refusals of a server.
func (r *refusals) row(server string) row {
	r.forget(func(_ string, of row) bool { return time.Since(of.last) > refusalAge })
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in[server]
}

// news returns a channel that is closed at the next refusal by a server that has refused refusalsMeant or more
// connections in a row.
func (r *refusals) news() <-chan struct{} {
	for {
		if next := r.next.Load(); next != nil {
			return *next
		}
		next := make(chan struct{})
		if r.next.CompareAndSwap(nil, &next) {
			return next
		}
	}
}

// watch tells a waiting call of servers that refuse connections. The zero watch never tells it anything.
type watch struct {
	c    *client
	call hrpc.Call
}

// begin returns a channel that is closed when there is a reason to call ask. It is closed after refusalWait if some
// server has already refused refusalsMeant connections, because gohbase may wait half a minute until its next attempt.
func (w watch) begin() <-chan struct{} {
	if w.c == nil || w.c.dialer == nil {
		return nil
	}
	if r := &w.c.dialer.refusals; !r.some.Load() {
		return r.news()
	}
	soon := make(chan struct{})
	time.AfterFunc(refusalWait, func() { close(soon) })
	return soon
}

// ask calls why in a goroutine.
func (w watch) ask(ctx context.Context) <-chan error {
	verdict := make(chan error, 1)
	go func() { verdict <- w.why(ctx) }()
	return verdict
}

// statePatience is how long a call waits before it asks hbase:meta whether its table is disabled: gohbase waits until
// the table is enabled again.
const statePatience = 500 * time.Millisecond

// patience returns how long a call with this limit waits before it calls askState; limit itself if it does not call
// askState.
func (w watch) patience(limit time.Duration) time.Duration {
	if w.c == nil || string(w.call.Table()) == "hbase:meta" || limit <= statePatience {
		return limit
	}
	if _, ofMaster := w.call.(*masterCall); ofMaster {
		return limit
	}
	return statePatience
}

// askState checks in a goroutine, twice, whether the call's table is disabled. The channel receives an error if it is
// disabled both times, else nil: a DropTable that fails disables the table only for a moment.
func (w watch) askState(ctx context.Context) <-chan error {
	state := make(chan error, 1)
	go func() {
		for range 2 {
			if !w.c.disabled(ctx, w.c.servers.current(), w.call.Table(), stateWait) {
				state <- nil
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(statePatience / 2):
			}
		}
		state <- disabledError(w.call.Table())
	}()
	return state
}

// disabledError is the name of a disabled table.
type disabledError string

func (e disabledError) Error() string { return "table " + string(e) + " is disabled" }

// why connects to the call's server if that has refused refusalsMeant connections in a row, and returns the reason if
// it refuses again. It returns nil if the server accepts the connection, is unknown or cannot be reached.
func (w watch) why(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	server, err := w.c.serverOf(ctx, w.call)
	r := &w.c.dialer.refusals
	before := r.row(server).n
	if err != nil || before < refusalsMeant {
		return nil
	}
	if conn, err := w.c.dialer.dial(ctx, "tcp", server); err == nil {
		conn.introduce(ctx, w.c.user)
	}
	now := r.row(server)
	if now.n <= before { // it accepts connections, or cannot be reached, which may pass
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, now.why)
}

// serverOf returns the server that a call goes to, "" if it is unknown.
func (c *client) serverOf(ctx context.Context, call hrpc.Call) (string, error) {
	p := metaPlace
	switch _, ofMaster := call.(*masterCall); {
	case ofMaster:
		p = masterPlace
	case string(call.Table()) != "hbase:meta":
		regions, err := c.knownRegions(ctx, string(call.Table()), freshRegions)
		for _, r := range regions {
			if r.holds(call.Key()) {
				return r.Server, nil
			}
		}
		return "", err
	}
	server, err := c.dialer.locate(ctx, p)
	if err != nil {
		return "", err
	}
	return address(server), nil
}
