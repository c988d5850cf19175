package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/kerberos"
)

// simplePreamble is what gohbase sends in front of each connection header, in one write: magic, version 0,
// simple authentication.
const simplePreamble = "HBas\x00\x50"

// writeTimeout bounds one write to a server, which gohbase lets block for ever when the
// server takes nothing in. It is more than an attempt has.
const writeTimeout = 30 * time.Second

// regionConn is a connection to a server. It embeds a TCPConn, and not any net.Conn, because
// gohbase writes net.Buffers from several goroutines: only the net package's own
// connections write them whole.
type regionConn struct {
	*net.TCPConn
	writing sync.Mutex
	greeted bool        // the preamble was sent: gohbase's own, which it writes first, must not follow
	heard   atomic.Bool // something was read
	dialer  *dialer
	used    func() // called when the connection is first used
	gone    func() // called when it is closed
}

// Read notices when the server's first words refuse the connection: gohbase passes over answers without a call.
func (c *regionConn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	if n > 0 && !c.heard.Swap(true) {
		if r := refusalIn(b[:n]); r != nil {
			c.dialer.refuse(r)
		}
	}
	return n, err
}

// refusalIn says why a server refuses a connection, if that is what its answer says: its call is -1 then.
func refusalIn(b []byte) error {
	if len(b) < 5 {
		return nil
	}
	size, n := binary.Uvarint(b[4:])
	if n <= 0 || size > uint64(len(b)-4-n) {
		return nil
	}
	var h pb.ResponseHeader
	if err := proto.Unmarshal(b[4+n:4+n+int(size)], &h); err != nil || h.GetCallId() != math.MaxUint32 || h.Exception == nil {
		return nil
	}
	class := h.Exception.GetExceptionClassName()
	text, _, _ := strings.Cut(h.Exception.GetStackTrace(), "\n")
	err := fmt.Errorf("the server refuses the connection: %s: %s", class[strings.LastIndexByte(class, '.')+1:], strings.TrimPrefix(text, class+": "))
	if strings.Contains(text, "Authentication is required") {
		err = fmt.Errorf("%w (the cluster wants Kerberos, which the address does not ask for)", err)
	}
	return err
}

// SetReadDeadline takes no offence at a closed connection: gohbase sets it between taking a call
// off its list and delivering the answer, and over an error would never deliver anything.
func (c *regionConn) SetReadDeadline(t time.Time) error {
	err := c.TCPConn.SetReadDeadline(t)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// SetWriteDeadline is what gohbase calls first on a connection: see connections.
func (c *regionConn) SetWriteDeadline(t time.Time) error {
	c.used()
	return c.TCPConn.SetWriteDeadline(t)
}

func (c *regionConn) Close() error {
	c.gone()
	return c.TCPConn.Close()
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
	frame, wanted := withoutTimeRange(b), len(b)-skipped
	n, err := c.TCPConn.Write(frame[skipped:])
	if n == len(frame)-skipped { // all of what may be a shorter frame
		n = wanted
	}
	n += skipped
	_ = c.SetWriteDeadline(time.Time{}) // it would end a write of net.Buffers, later; if it fails, so will they
	return n, err
}

// withoutTimeRange takes the time range without ends off gohbase's own look-ups of regions: HBase 3 takes it for one that ends where
// it begins. frame is a call, or the connection's first bytes, as gohbase writes it.
func withoutTimeRange(frame []byte) []byte {
	if len(frame) < 4 || !bytes.Contains(frame[:min(len(frame), 256)], []byte("hbase:meta,,1")) {
		return frame
	}
	head, n := protowire.ConsumeBytes(frame[4:])
	var header pb.RequestHeader
	if n < 0 || proto.Unmarshal(head, &header) != nil || header.GetMethodName() != "Scan" {
		return frame
	}
	body, m := protowire.ConsumeBytes(frame[4+n:])
	var scan pb.ScanRequest
	if m < 0 || proto.Unmarshal(body, &scan) != nil || scan.Scan == nil || scan.Scan.TimeRange == nil || scan.Scan.TimeRange.To != nil {
		return frame
	}
	scan.Scan.TimeRange = nil
	body, err := proto.Marshal(&scan)
	if err != nil {
		return frame
	}
	out := protowire.AppendBytes(slices.Clone(frame[:4+n]), body)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// dialer makes the connections to servers.
type dialer struct {
	auth    *kerberos.Authenticator // nil: authentication is simple
	refused atomic.Pointer[refusal]
	opening context.CancelCauseFunc // ends Dial, which gohbase would let wait for its whole time; may be nil
}

// refusal is the last time that a server, or the KDC, refused a connection.
type refusal struct {
	err error
	at  time.Time
}

func (d *dialer) refuse(err error) {
	d.refused.Store(&refusal{err, time.Now()})
	if d.opening != nil {
		d.opening(fmt.Errorf("%w: %w", ErrUnreachable, err))
	}
}

// refusedSince says why a connection was refused, if one was since t; nil otherwise.
func (d *dialer) refusedSince(t time.Time) error {
	if d == nil {
		return nil
	}
	if r := d.refused.Load(); r != nil && r.at.After(t) {
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
	open   sync.Map // *regionConn to nil
}

func (d *dialer) connections() *connections {
	ended, end := context.WithCancel(context.Background())
	return &connections{dialer: d, ended: ended, end: end}
}

// close closes a gohbase client through its own Close, and the connections: an admin client of gohbase can close
// nothing.
func (c *connections) close(gohbase func()) {
	c.end()
	c.making.Lock()
	defer c.making.Unlock()
	gohbase()
	c.open.Range(func(conn, _ any) bool {
		conn.(*regionConn).Close()
		return true
	})
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
		return &noConn{err: err, used: used}, nil
	}
	c.open.Store(conn, nil)
	conn.used, conn.gone = used, func() { c.open.Delete(conn) }
	return conn, nil
}

// noConn is a connection that could not be made.
type noConn struct {
	net.Conn
	err  error
	used func()
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

func (c *noConn) Close() error { return nil }

func (d *dialer) dial(ctx context.Context, network, addr string) (*regionConn, error) {
	var nd net.Dialer
	conn, err := nd.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("a connection over %s is not TCP", network)
	}
	c := &regionConn{TCPConn: tcp, dialer: d, used: func() {}, gone: func() {}}
	if d.auth == nil {
		return c, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err == nil {
		err = d.auth.Authenticate(ctx, tcp, host)
	}
	if err != nil {
		conn.Close()
		d.refuse(err)
		return nil, err
	}
	c.greeted = true
	return c, nil
}
