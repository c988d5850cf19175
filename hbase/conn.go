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
	"strings"
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
	"github.com/hql-db/hql/internal/wire"
)

// Fields of HBase's RequestHeader.
const (
	callIDField = 1
	methodField = 3
)

// simplePreamble is what gohbase sends in front of each connection header, in one write: magic, version 0,
// simple authentication.
const simplePreamble = "HBas\x00\x50"

// writeTimeout bounds one write to a server, which gohbase lets block for ever when the
// server takes nothing in. It is more than an attempt has.
const writeTimeout = 30 * time.Second

// lastWords is how long a failed write waits for what the server sent before it ended the connection.
const lastWords = 500 * time.Millisecond

// How a server shows that it speaks TLS, or that it does not.
var (
	errNoWord = errors.New("ends the connection without a word, as servers do that want TLS (tls in the address)")
	errInTLS  = errors.New("answers in TLS, which the address does not ask for (tls)")
	errNoTLS  = errors.New("the server ends the connection within the handshake, as one does that speaks clear text or is going down")
)

// regionConn is a connection to a server, with TLS or without. Several goroutines write to it, each a whole call: see wholeCall.
type regionConn struct {
	net.Conn
	writing sync.Mutex
	greeted bool // the preamble was sent: gohbase's own, which it writes first, must not follow
	answers *answers
	dialer  *dialer
	addr    string // as hbase:meta, or who was asked, names the server
	used    func() // called when the connection is first used
	gone    func() // called when it is closed
	over    sync.Once
	ended   chan struct{} // closed, by over, once nothing more can be read
}

// Read notices why a server ends the connection: gohbase passes over answers without a call.
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
	case errors.As(err, &alert) && alert.Op == "remote error" && !c.answers.first: // with TLS 1.3 a client's certificate is looked at last
		c.refused(c.dialer.tlsError(c.RemoteAddr(), err))
	case (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)) && !c.answers.first && c.dialer.tls == nil:
		c.dialer.giveUp(fmt.Errorf("%s %w", c.RemoteAddr(), errNoWord))
	}
	return n, err
}

// refused notes that the server refuses the connection.
func (c *regionConn) refused(err error) {
	c.dialer.refuse(err)
	c.dialer.note(c.addr, err)
}

// introduce sends the connection's header, in which user is named, and waits a moment for what the server says to that. Of one that goes on
// nothing comes.
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

// SetReadDeadline takes no offence at a closed connection: gohbase sets it between taking a call
// off its list and delivering the answer, and over an error would never deliver anything.
func (c *regionConn) SetReadDeadline(t time.Time) error {
	err := c.Conn.SetReadDeadline(t)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// SetWriteDeadline is what gohbase calls first on a connection: see connections.
func (c *regionConn) SetWriteDeadline(t time.Time) error {
	c.used()
	return c.Conn.SetWriteDeadline(t)
}

func (c *regionConn) Close() error {
	c.gone()
	return c.Conn.Close()
}

func (c *regionConn) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	skipped := 0
	if c.greeted {
		if !bytes.HasPrefix(b, []byte(simplePreamble)) {
			return 0, errors.New("the connection header does not come with the preamble")
		}
		skipped, c.greeted = len(simplePreamble), false
	}
	frame, wanted := c.prepare(b), len(b)-skipped
	n, err := c.Conn.Write(frame[skipped:])
	if err != nil {
		// gohbase closes the connection over this: Read, which may be told more by what the server sent last, comes first.
		select {
		case <-c.ended:
		case <-time.After(lastWords):
		}
	}
	if n == len(frame)-skipped { // all of what may be a shorter frame
		n = wanted
	}
	n += skipped
	_ = c.SetWriteDeadline(time.Time{}) // it would end a write of net.Buffers, later; if it fails, so will they
	return n, err
}

// prepare notes a call whose answer gohbase decodes itself, and gives what is to be sent of it. frame is a call as gohbase writes it, or the
// connection's first bytes.
func (c *regionConn) prepare(frame []byte) []byte {
	if len(frame) < 4 || uint64(binary.BigEndian.Uint32(frame)) != uint64(len(frame)-4) {
		return frame
	}
	head, n := protowire.ConsumeBytes(frame[4:])
	var call uint32
	var method []byte
	for f := range wire.Fields(head) {
		switch f.Number {
		case callIDField:
			call = uint32(f.Varint)
		case methodField:
			method = f.Bytes
		}
	}
	switch string(method) {
	case "Get":
		c.answers.expect(call, "Get")
		return c.dialer.renamed(frame, 4+n, func() readRequest { return &pb.GetRequest{} })
	case "Mutate":
		c.answers.expect(call, "Mutate")
	case "Scan":
		var own bool
		if frame, own = withoutTimeRange(frame, 4+n); own {
			c.answers.expect(call, "Scan")
		}
		return c.dialer.renamed(frame, 4+n, func() readRequest { return &pb.ScanRequest{} })
	}
	return frame
}

// metaRegion is the name of the region of hbase:meta, the only one that gohbase knows.
const metaRegion = "hbase:meta,,1"

// readRequest is a call that reads a region.
type readRequest interface {
	proto.Message
	GetRegion() *pb.RegionSpecifier
}

// renamed puts the name that hbase:meta has in the cluster into a call that reads it: see Config.MetaSuffix. The call is in frame at the
// place given; empty makes a message of its kind, which few clusters need.
func (d *dialer) renamed(frame []byte, at int, empty func() readRequest) []byte {
	suffix := d.metaSuffix.Load()
	if suffix == nil || *suffix == "" {
		return frame
	}
	m := empty()
	body, n := protowire.ConsumeBytes(frame[at:])
	if n < 0 || proto.Unmarshal(body, m) != nil || string(m.GetRegion().GetValue()) != metaRegion {
		return frame
	}
	m.GetRegion().Value = []byte(strings.Replace(metaRegion, ",", "_"+*suffix+",", 1))
	return replaced(frame, at, m)
}

// replaced is frame with another call in the place of the one in it.
func replaced(frame []byte, at int, m proto.Message) []byte {
	body, err := proto.Marshal(m)
	if err != nil {
		return frame
	}
	out := protowire.AppendBytes(slices.Clone(frame[:at]), body)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// withoutTimeRange takes the time range without ends off gohbase's own look-ups of regions: HBase 3 takes it for one that ends where
// it begins. The scan is in frame at the place given; own reports whether it is one of gohbase's.
func withoutTimeRange(frame []byte, at int) (out []byte, own bool) {
	if !bytes.Contains(frame[:min(len(frame), 256)], []byte(metaRegion)) {
		return frame, false
	}
	body, n := protowire.ConsumeBytes(frame[at:])
	var scan pb.ScanRequest
	if n < 0 || proto.Unmarshal(body, &scan) != nil || scan.Scan == nil || scan.Scan.TimeRange == nil || scan.Scan.TimeRange.To != nil {
		return frame, false
	}
	scan.Scan.TimeRange = nil
	return replaced(frame, at, &scan), true
}

// dialer makes the connections to servers.
type dialer struct {
	tls     func() (*tls.Config, error) // nil: connections are in clear text
	auth    *kerberos.Authenticator     // nil: authentication is simple
	refused atomic.Pointer[refusal]
	refusals
	opening func(error) // ends Dial, which gohbase would let wait for its whole time; may be nil
	locator             // of what gohbase does not find in hbase:meta
	// meta is who serves hbase:meta as Dial found out, for gohbase to be told once without asking again.
	meta atomic.Pointer[pb.ServerName]
	// metaSuffix is Config.MetaSuffix, or what the cluster says that it is.
	metaSuffix atomic.Pointer[string]
}

// refusal is the last time that a server, or the KDC, refused a connection, or one came to nothing in another way.
type refusal struct {
	err error
	at  time.Time
}

func (d *dialer) refuse(err error) {
	d.refused.Store(&refusal{err, time.Now()})
	d.giveUp(err)
}

// giveUp ends Dial, if it is still at work.
func (d *dialer) giveUp(err error) {
	if d.opening != nil {
		d.opening(err)
	}
}

// refusedSince says why a connection was refused, if one was since t; nil otherwise. One that broke counts only if the call has no time
// for another attempt.
func (d *dialer) refusedSince(t time.Time, last bool) error {
	if d == nil {
		return nil
	}
	if r := d.refused.Load(); r != nil && r.at.After(t) && (last || !broke(r.err)) {
		return fmt.Errorf("%w: %w", ErrUnreachable, r.err)
	}
	return nil
}

// connections are those of one gohbase client. Its Close and its making of connections do not know of each other:
// a connection that is made meanwhile would stay open for ever. So close waits until those being made have
// come into gohbase's hands, which its first use of them shows, and there are no new ones afterwards.
type connections struct {
	*dialer
	making sync.RWMutex // held for reading by who makes one
	ended  context.Context
	end    context.CancelFunc
	open   sync.Map    // *regionConn to nil
	closed atomic.Bool // gohbase's client is closed
}

func (d *dialer) connections() *connections {
	ended, end := context.WithCancel(context.Background())
	return &connections{dialer: d, ended: ended, end: end}
}

// close closes a gohbase client through its own Close, and the connections: an admin client of gohbase can close
// nothing.
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

// nowhere is the ZooKeeper that gohbase is told of. Looked up it is itself, and what dials it reaches zooKeeper.
const nowhere = "127.0.0.1:1"

func (c *connections) options(user string) []gohbase.Option {
	return []gohbase.Option{gohbase.EffectiveUser(user), gohbase.RegionReadTimeout(readTimeout), gohbase.RegionDialer(c.dial), gohbase.ZooKeeperDialer(c.zooKeeper)}
}

// zooKeeper is a dialer that leads to what the client's locator finds: see serveZnodes. A closed client is led to a
// server at once, since gohbase would go on to look for it for ever: see dial.
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

// find is locate for gohbase.
func (d *dialer) find(ctx context.Context, p place) (*pb.ServerName, error) {
	if p == metaPlace {
		if server := d.meta.Swap(nil); server != nil {
			return server, nil
		}
	}
	return d.locate(ctx, p)
}

// dial is a gohbase.RegionDialer. An error comes in a connection, since only its use shows that gohbase has taken it.
func (c *connections) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.making.RLock()
	used := sync.OnceFunc(c.making.RUnlock)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ended, cancel)()
	conn, err := c.dialer.dial(ctx, network, addr)
	if err == nil && c.ended.Err() != nil { // ctx follows in its own time
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

// noConn is a connection that could not be made.
type noConn struct {
	net.Conn
	err    error
	used   func()
	closed *atomic.Bool
}

// SetWriteDeadline is what gohbase calls first on a connection.
func (c *noConn) SetWriteDeadline(time.Time) error {
	c.used()
	return c.err
}

func (c *noConn) Write([]byte) (int, error) {
	c.used()
	return 0, c.err
}

// Close ends the goroutine that calls it if the client was closed: only the one is left then which tried to connect, and gohbase would
// let it try again for ever. gohbase has already told those who wait for the same connection that there is none.
func (c *noConn) Close() error {
	if c.closed.Load() {
		runtime.Goexit()
	}
	return nil
}

func (d *dialer) dial(ctx context.Context, network, addr string) (*regionConn, error) {
	var nd net.Dialer
	conn, err := nd.DialContext(ctx, network, addr)
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) && dns.IsNotFound { // it will not pass
		err = fmt.Errorf("the cluster names a server %s, a name that cannot be resolved here (%s)", addr, dns.Err)
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
	if d.auth != nil {
		if c.Conn, err = d.auth.Authenticate(ctx, conn, host); err != nil {
			conn.Close()
			if errors.Is(err, kerberos.ErrClosed) && d.tls == nil {
				err = fmt.Errorf("%w, as servers do that want TLS (tls in the address)", err)
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

// tlsError is why TLS with a server came to nothing: err, and what a server may mean that refuses.
func (d *dialer) tlsError(server net.Addr, err error) error {
	without := ""
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" {
		if cfg, failed := d.tls(); failed == nil && len(cfg.Certificates) == 0 && cfg.GetClientCertificate == nil {
			without = "; hql shows no certificate (tls_cert in the address)"
		}
	}
	return fmt.Errorf("TLS with %s: %w%s", server, err, without)
}
