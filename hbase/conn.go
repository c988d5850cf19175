package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

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
	greeted bool // the preamble was sent: gohbase's own, which it writes first, must not follow
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
	n, err := c.TCPConn.Write(b[skipped:])
	n += skipped
	_ = c.SetWriteDeadline(time.Time{}) // it would end a write of net.Buffers, later; if it fails, so will they
	return n, err
}

// dialer makes the connections to servers.
type dialer struct {
	auth    *kerberos.Authenticator // nil: authentication is simple
	refused atomic.Pointer[error]   // why the last authentication failed; nil after one that did not
}

// err is why connections fail, where that is authentication; nil otherwise.
func (d *dialer) err() error {
	if e := d.refused.Load(); e != nil {
		return *e
	}
	return nil
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
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
	if d.auth == nil {
		return &regionConn{TCPConn: tcp}, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err == nil {
		err = d.auth.Authenticate(ctx, tcp, host)
	}
	if err != nil {
		conn.Close()
		d.refused.Store(&err)
		return nil, err
	}
	d.refused.Store(nil)
	return &regionConn{TCPConn: tcp, greeted: true}, nil
}
