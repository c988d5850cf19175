package hbase

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// writeTimeout bounds one write to a server, which gohbase lets block for ever when the
// server takes nothing in. It is more than an attempt has.
const writeTimeout = 30 * time.Second

// regionConn is a connection to a server. It embeds a TCPConn, and not any net.Conn, because
// gohbase writes net.Buffers from several goroutines: only the net package's own
// connections write them whole.
type regionConn struct {
	*net.TCPConn
	writing sync.Mutex
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
	n, err := c.TCPConn.Write(b)
	_ = c.SetWriteDeadline(time.Time{}) // it would end a write of net.Buffers, later; if it fails, so will they
	return n, err
}

func dialRegion(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("a connection over %s is not TCP", network)
	}
	return &regionConn{TCPConn: tcp}, nil
}
