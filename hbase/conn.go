package hbase

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/pb"
	"github.com/tsuna/gohbase/region"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/kerberos"
)

// simplePreamble is the preamble that gohbase sends in front of each connection header, in the same write: magic,
// version 0, simple authentication.
const simplePreamble = "HBas\x00\x50"

// Errors about TLS that a server's behaviour shows.
var (
	errNoWord = errors.New("closes the connection without an answer; a server that requires TLS does that (set tls in the address)")
	errInTLS  = errors.New("answers in TLS: set tls in the address")
	errNoTLS  = errors.New("the server closes the connection during the TLS handshake: it speaks clear text, or is shutting down")
)

// regionConn is a connection to a server, with or without TLS. Several goroutines write to it, each a whole call in one
// write: see wholeCall.
type regionConn struct {
	net.Conn
	writing sync.Mutex
	room    sync.Cond // signalled when the queue was taken
	queue   []byte    // calls that wait for the write under way
	sending bool      // a write is under way
	failed  error     // of a write: a part of a call may have been sent
	greeted bool      // the preamble was sent: the one that gohbase writes first must be skipped
	answers *answers
	dialer  *dialer
	addr    string // as hbase:meta names the server, or the server that was asked
	used    func() // called when the connection is first used
	gone    func() // called when it is closed
	over    sync.Once
	ended   chan struct{} // closed, by over, once nothing more can be read
}

// Read also detects why a server closes the connection: gohbase ignores answers that belong to no call.
func (c *regionConn) Read(b []byte) (int, error) {
	n, err := c.answers.Read(b)
	if err == nil {
		return n, nil
	}
	defer c.over.Do(func() { close(c.ended) })
	var malformed answerError
	var broken *kerberos.MessageError
	var alert *net.OpError
	switch {
	case errors.As(err, &malformed):
		c.dialer.refuse(fmt.Errorf("%s: %w", c.RemoteAddr(), err))
	case errors.Is(err, errInTLS):
		c.refused(fmt.Errorf("%s %w", c.RemoteAddr(), err))
	case errors.As(err, &broken):
		said := refusalOf(broken.Message)
		if said == nil || c.answers.first {
			said = err
		}
		c.refused(said)
	case errors.As(err, &alert) && alert.Op == "remote error" && !c.answers.first: // TLS 1.3 checks the client's certificate last
		c.refused(c.dialer.tlsError(c.RemoteAddr(), err))
	case (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) && !c.answers.first && c.dialer.tls == nil:
		c.dialer.giveUp(fmt.Errorf("%s %w", c.RemoteAddr(), errNoWord))
	}
	return n, err
}

// refused records that the server refuses the connection.
func (c *regionConn) refused(err error) {
	c.dialer.refuse(err)
	c.dialer.note(c.addr, err)
}

// introduce sends the connection header, which names user, and waits a moment for a refusal. A server that accepts the
// connection sends nothing.
func (c *regionConn) introduce(ctx context.Context, user string) {
	rc := region.NewClient(c.addr, region.RegionClient, 1, 0, user, askTimeout, nil, func(context.Context, string, string) (net.Conn, error) { return c, nil })
	defer rc.Close()
	if rc.Dial(ctx) != nil {
		return
	}
	t := time.NewTimer(wordTimeout)
	defer t.Stop()
	select {
	case <-c.ended:
	case <-t.C:
	case <-ctx.Done():
	}
}

// SetReadDeadline ignores the error of a closed connection. gohbase calls SetReadDeadline after it removes a call from
// its list and before it delivers the answer: an error would prevent the delivery.
func (c *regionConn) SetReadDeadline(t time.Time) error {
	err := c.Conn.SetReadDeadline(t)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// SetWriteDeadline is the first method that gohbase calls on a connection: see connections.
func (c *regionConn) SetWriteDeadline(t time.Time) error {
	c.used()
	return c.Conn.SetWriteDeadline(t)
}

func (c *regionConn) Close() error {
	c.gone()
	return c.Conn.Close()
}

// metaRegion is the only name of the region of hbase:meta that gohbase knows.
const metaRegion = "hbase:meta,,1"

// withoutTimeRange removes the time range without bounds from gohbase's own look-ups of regions: HBase 3 reads it as an
// empty range. frame is a call as gohbase writes it, or the first bytes of the connection.
func withoutTimeRange(frame []byte) []byte {
	if len(frame) < 4 || uint64(binary.BigEndian.Uint32(frame)) != uint64(len(frame)-4) || !bytes.Contains(frame[:min(len(frame), 256)], []byte(metaRegion)) {
		return frame
	}
	_, n := protowire.ConsumeBytes(frame[4:])
	at := 4 + n
	body, n := protowire.ConsumeBytes(frame[at:])
	var scan pb.ScanRequest
	if n < 0 || proto.Unmarshal(body, &scan) != nil || scan.Scan == nil || scan.Scan.TimeRange == nil || scan.Scan.TimeRange.To != nil {
		return frame
	}
	scan.Scan.TimeRange = nil
	body, err := proto.Marshal(&scan)
	if err != nil {
		return frame
	}
	out := protowire.AppendBytes(slices.Clone(frame[:at]), body)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// dialer makes the connections to servers.
type dialer struct {
	tls     func() (*tls.Config, error) // nil: connections are in clear text
	auth    *kerberos.Authenticator     // nil: authentication is simple
	refused atomic.Pointer[refusal]
	refusals
	opening func(error) // ends Dial early: gohbase would wait for its whole timeout; may be nil
	locator             // finds the servers that gohbase cannot find in hbase:meta
	// meta is the server of hbase:meta that Dial found. It is given to gohbase once, to save a second look-up.
	meta atomic.Pointer[pb.ServerName]
}

// refusal is the last failed connection: a server or the KDC refused it, or it broke.
type refusal struct {
	err error
	at  time.Time
}

func (d *dialer) refuse(err error) {
	d.refused.Store(&refusal{err, time.Now()})
	d.giveUp(err)
}

// giveUp ends Dial if Dial is still running.
func (d *dialer) giveUp(err error) {
	if d.opening != nil {
		d.opening(err)
	}
}

// refusedSince returns the error of a connection that was refused since t; nil: there is none. A broken connection
// counts only if last is set: the call has no time for another attempt.
func (d *dialer) refusedSince(t time.Time, last bool) error {
	if d == nil {
		return nil
	}
	if r := d.refused.Load(); r != nil && r.at.After(t) && (last || !broke(r.err)) {
		return fmt.Errorf("%w: %w", ErrUnreachable, r.err)
	}
	return nil
}

// connections are the connections of one gohbase client. gohbase's Close does not wait for connections that are being
// made, and these would stay open for ever. So close waits until gohbase has used each of them once, which shows that
// gohbase has received it. After close no new connections are made.
type connections struct {
	*dialer
	making sync.RWMutex // read-locked while a connection is made
	ended  context.Context
	end    context.CancelFunc
	open   sync.Map    // *regionConn to nil
	closed atomic.Bool // gohbase's client is closed
}

func (d *dialer) connections() *connections {
	ended, end := context.WithCancel(context.Background())
	return &connections{dialer: d, ended: ended, end: end}
}

// close closes a gohbase client by its own Close, and then its connections: gohbase's admin client closes none.
func (c *connections) close(closeClient func()) {
	c.end()
	c.making.Lock()
	defer c.making.Unlock()
	closeClient()
	c.closed.Store(true)
	c.open.Range(func(conn, _ any) bool {
		conn.(*regionConn).Close()
		return true
	})
}

// nowhere is the ZooKeeper address that hql gives gohbase. It needs no DNS, and gohbase connects to it through the
// method zooKeeper, so nothing is ever sent to it.
const nowhere = "127.0.0.1:1"

func (c *connections) options(user string) []gohbase.Option {
	return []gohbase.Option{gohbase.EffectiveUser(user), gohbase.RegionReadTimeout(readTimeout), gohbase.RegionDialer(c.dial), gohbase.ZooKeeperDialer(c.zooKeeper)}
}

// zooKeeper is the dialer for gohbase's ZooKeeper connections: serveZnodes answers them with the servers that the
// client's locator finds. Once the client is closed, the answer is a made-up server: without an answer gohbase would
// search for ever. dial refuses that server.
func (c *connections) zooKeeper(context.Context, string, string) (net.Conn, error) {
	conn, peer := net.Pipe()
	go serveZnodes(peer, func(name string) ([]byte, error) {
		p := place(path.Base(name))
		if c.ended.Err() != nil {
			return znode(p, &pb.ServerName{HostName: proto.String("closed"), Port: proto.Uint32(1)})
		}
		ctx, cancel := context.WithTimeout(c.ended, locateTimeout)
		defer cancel()
		server, err := c.find(ctx, p)
		if err != nil {
			return nil, err
		}
		return znode(p, server)
	})
	return conn, nil
}

// find answers gohbase's questions for a server like locate, but first uses up d.meta.
func (d *dialer) find(ctx context.Context, p place) (*pb.ServerName, error) {
	if p == metaPlace {
		if server := d.meta.Swap(nil); server != nil {
			return server, nil
		}
	}
	return d.locate(ctx, p)
}

// dial is a gohbase.RegionDialer. If it fails it returns a noConn, a connection whose methods return the error, because
// only the use of a connection shows that gohbase has received it.
func (c *connections) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.making.RLock()
	used := sync.OnceFunc(c.making.RUnlock)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ended, cancel)()
	conn, err := c.dialer.dial(ctx, network, addr)
	if err == nil && c.ended.Err() != nil { // ctx ends a little later
		conn.Close()
		err = net.ErrClosed
	}
	if err != nil {
		return &noConn{err: err, used: used, closed: &c.closed}, nil
	}
	c.open.Store(conn, nil)
	conn.used, conn.gone = used, func() { c.open.Delete(conn) }
	return conn, nil
}

// noConn takes the place of a connection that could not be made.
type noConn struct {
	net.Conn
	err    error
	used   func()
	closed *atomic.Bool
}

// SetWriteDeadline is the first method that gohbase calls on a connection.
func (c *noConn) SetWriteDeadline(time.Time) error {
	c.used()
	return c.err
}

func (c *noConn) Write([]byte) (int, error) {
	c.used()
	return 0, c.err
}

// Close ends the calling goroutine if the client was closed. At that point it is the goroutine that tried to connect
// and would try again for ever; gohbase has already failed the calls that wait for the connection.
func (c *noConn) Close() error {
	if c.closed.Load() {
		runtime.Goexit()
	}
	return nil
}

func (d *dialer) dial(ctx context.Context, network, addr string) (*regionConn, error) {
	var nd net.Dialer
	conn, err := nd.DialContext(ctx, network, addr)
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) && dns.IsNotFound { // waiting does not help
		err = fmt.Errorf("the cluster names a server %s, and this machine cannot resolve that name (%s): add it to DNS or /etc/hosts", addr, dns.Err)
		d.refuse(err)
		d.note(addr, err)
	}
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		conn.Close()
		return nil, err
	}
	if d.tls != nil {
		if conn, err = d.secure(ctx, conn, host); err != nil {
			d.refuse(err)
			d.note(addr, err)
			return nil, err
		}
	}
	c := &regionConn{Conn: conn, dialer: d, addr: addr, used: func() {}, gone: func() {}, ended: make(chan struct{})}
	c.room.L = &c.writing
	if d.auth != nil {
		if c.Conn, err = d.auth.Authenticate(ctx, conn, host); err != nil {
			conn.Close()
			if errors.Is(err, kerberos.ErrClosed) && d.tls == nil {
				err = fmt.Errorf("%w; a server that requires TLS does that (set tls in the address)", err)
			}
			c.refused(err)
			return nil, err
		}
		c.greeted = true
	}
	c.answers = newAnswers(c.Conn, c.refused)
	c.answers.taken = func() { d.taken(addr) }
	return c, nil
}

// secure speaks TLS on conn with the server at host, or closes it.
func (d *dialer) secure(ctx context.Context, conn net.Conn, host string) (net.Conn, error) {
	cfg, err := d.tls()
	if err != nil {
		conn.Close()
		return nil, err
	}
	if cfg.ServerName == "" {
		cfg = cfg.Clone()
		cfg.ServerName = host
	}
	secured := tls.Client(conn, cfg)
	err = secured.HandshakeContext(ctx)
	if err == nil {
		return secured, nil
	}
	conn.Close()
	var other tls.RecordHeaderError
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &other) {
		err = errNoTLS
	}
	return nil, d.tlsError(conn.RemoteAddr(), err)
}

// tlsError returns err, the failure of TLS with a server; if the server refused TLS, it adds the probable reason.
func (d *dialer) tlsError(server net.Addr, err error) error {
	without := ""
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" {
		if cfg, failed := d.tls(); failed == nil && len(cfg.Certificates) == 0 && cfg.GetClientCertificate == nil {
			without = "; hql shows no certificate (tls_cert in the address)"
		}
	}
	return fmt.Errorf("TLS with %s: %w%s", server, err, without)
}
