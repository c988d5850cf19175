package hbase

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/user"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"google.golang.org/protobuf/proto"
)

const (
	defaultConnectTimeout = 10 * time.Second
	scanAttempt           = 90 * time.Second
	callAttempt           = 20 * time.Second
	// readTimeout is twice what a server lets a scan run: a read that times out
	// sooner breaks the connection that all calls share.
	readTimeout = 2 * time.Minute
	// maxAttempts bounds how often a call that never answers is sent again.
	maxAttempts = 5
)

// client sends region RPCs through gohbase, replacing a client that is stuck.
type client struct {
	mu      sync.Mutex
	rpc     gohbase.Client
	admin   gohbase.AdminClient
	redial  func() gohbase.Client // nil: the client was handed in and is never replaced
	owned   bool
	attempt time.Duration // 0: the defaults

	regions regionCache
	stats   counters
	noSeq   bool // for tests: scans without next_call_seq lose rows
}

type counters struct {
	rpcs, rows, cells, bytes, reopens, retries, replaced atomic.Int64
}

// New makes a client of one handed in, which is not closed with it. Both must
// implement gohbase.RPCClient, as gohbase's own and the embedded store do.
func New(rpc gohbase.Client, admin gohbase.AdminClient) Client {
	return &client{rpc: rpc, admin: admin}
}

// Dial reaches a cluster. An error that is ErrUnreachable comes within Config.ConnectTimeout (10 s by default).
func Dial(ctx context.Context, cfg Config) (Client, error) {
	silenceLogs()
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = defaultConnectTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.ConnectTimeout)
	defer cancel()
	quorum, err := preflight(ctx, cfg.Quorum)
	if err != nil {
		return nil, err
	}
	root := cfg.Root
	if root == "" {
		root = "/hbase"
	}
	who := cfg.User
	if who == "" {
		who = "hql"
		if u, err := user.Current(); err == nil {
			who = u.Username
		}
	}
	options := []gohbase.Option{gohbase.ZookeeperRoot(root), gohbase.EffectiveUser(who), gohbase.RegionReadTimeout(readTimeout)}
	dial := func() gohbase.Client { return gohbase.NewClient(quorum, options...) }
	c := &client{rpc: dial(), admin: gohbase.NewAdminClient(quorum, options...), redial: dial, owned: true, attempt: cfg.AttemptTimeout}
	if _, err := c.metaRegions(ctx, "hbase:namespace"); err != nil && !errors.Is(err, ErrNoTable) {
		c.rpc.Close()
		return nil, fmt.Errorf("%w: ZooKeeper at %s answers, but hbase:meta under %s does not (%v)", ErrUnreachable, cfg.Quorum, root, err)
	}
	return c, nil
}

// preflight finds the ZooKeeper servers that take connections.
func preflight(ctx context.Context, quorum string) (string, error) {
	var up []string
	var last error
	for _, host := range strings.Split(quorum, ",") {
		if host = strings.TrimSpace(host); host == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = net.JoinHostPort(host, "2181")
		}
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", host)
		if err != nil {
			last = err
			continue
		}
		conn.Close()
		up = append(up, host)
	}
	if len(up) == 0 {
		return "", fmt.Errorf("%w: no ZooKeeper server of %q takes connections (%v)", ErrUnreachable, quorum, last)
	}
	return strings.Join(up, ","), nil
}

func (c *client) current() gohbase.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rpc
}

// replace puts a new client in the place of one that no longer answers.
func (c *client) replace(stuck gohbase.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.redial == nil || c.rpc != stuck {
		return
	}
	c.rpc = c.redial()
	c.stats.replaced.Add(1)
	go stuck.Close()
}

// call is a request made anew for each attempt: gohbase's are single use.
type call func(ctx context.Context) (hrpc.Call, error)

// sendOnce sends one attempt. It returns when ctx ends even if gohbase does not.
func sendOnce(ctx context.Context, rpc any, msg hrpc.Call) (proto.Message, error) {
	type answer struct {
		msg proto.Message
		err error
	}
	done := make(chan answer, 1)
	go func() {
		m, err := rpc.(gohbase.RPCClient).SendRPC(msg)
		done <- answer{m, err}
	}()
	select {
	case a := <-done:
		return a.msg, a.err
	case <-ctx.Done():
		select {
		case a := <-done:
			return a.msg, a.err
		default:
		}
		return nil, ctx.Err()
	}
}

func (c *client) timeout(d time.Duration) time.Duration {
	if c.attempt > 0 {
		return c.attempt
	}
	return d
}

// errAttempt is what an attempt that got no answer in its time fails with.
var errAttempt = errors.New("no answer within the attempt timeout")

// try sends one attempt of at most d and tells an attempt's end from the caller's.
func (c *client) try(ctx context.Context, d time.Duration, mk call) (proto.Message, hrpc.Call, error) {
	actx, cancel := context.WithTimeout(ctx, c.timeout(d))
	defer cancel()
	msg, err := mk(actx)
	if err != nil {
		return nil, nil, err
	}
	rpc := c.current()
	c.stats.rpcs.Add(1)
	begin := time.Now()
	m, err := sendOnce(actx, rpc, msg)
	trace(ctx, msg, begin, m, err)
	if err != nil && ctx.Err() != nil {
		return nil, msg, ctx.Err()
	}
	if err != nil && actx.Err() != nil {
		c.replace(rpc)
		return nil, msg, errAttempt
	}
	return m, msg, err
}

// send repeats a call that may safely be sent twice until it is answered.
func (c *client) send(ctx context.Context, d time.Duration, mk call) (proto.Message, hrpc.Call, error) {
	var b backoff
	for n := 1; ; n++ {
		m, msg, err := c.try(ctx, d, mk)
		if err == nil || ctx.Err() != nil {
			return m, msg, err
		}
		again := errors.Is(err, errAttempt) && n < maxAttempts || classify(err) == retry
		if !again {
			return nil, msg, err
		}
		c.stats.retries.Add(1)
		if werr := b.wait(ctx); werr != nil {
			return nil, msg, fmt.Errorf("%w (last answer: %v)", werr, err)
		}
	}
}

// backoff waits 10 ms, then twice as long each time, up to 2 s.
type backoff time.Duration

func (b *backoff) wait(ctx context.Context) error {
	d := min(max(time.Duration(*b)*2, 10*time.Millisecond), 2*time.Second)
	*b = backoff(d)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (c *client) Stats() Stats {
	s := &c.stats
	return Stats{RPCs: s.rpcs.Load(), Rows: s.rows.Load(), Cells: s.cells.Load(), Bytes: s.bytes.Load(),
		Reopens: s.reopens.Load(), Retries: s.retries.Load(), Replaced: s.replaced.Load()}
}

// Close closes what Dial opened.
func (c *client) Close() error {
	if c.owned {
		c.current().Close()
	}
	return nil
}
