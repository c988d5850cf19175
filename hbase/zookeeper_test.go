package hbase

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// A connection to a ZooKeeper that requires TLS or SASL fails at once, with an error that says so.
func TestSecuredZooKeeper(t *testing.T) {
	secured, sasl := hbasetest.SecuredZooKeeper(t)
	for _, test := range []struct{ quorum, want string }{
		{secured, "this port does not speak ZooKeeper's protocol in clear text (TLS?)"},
		{sasl, "it requires SASL, which hql supports only for HBase"},
	} {
		c, err := Dial(t.Context(), Config{Quorum: test.quorum})
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, not %s", err, test.want)
		}
	}
}

// A server of HBase's that is asked for ZooKeeper's word has as much to read as it waits for: it need not be waited for.
func TestZooKeepersWordIsAPreamblesLength(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	whole := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, err = io.ReadFull(conn, make([]byte, len(simplePreamble)))
			conn.Close()
		}
		whole <- err
	}()
	if answersAsZooKeeper(t.Context(), l.Addr().String()) {
		t.Error("HBase's server is taken for ZooKeeper's")
	}
	if err := <-whole; err != nil {
		t.Error(err)
	}
}

// If the servers in a znode no longer exist, the error names the znode, which may belong to another cluster.
func TestZooKeeperThatNamesNoServer(t *testing.T) {
	content, err := znode(metaPlace, &pb.ServerName{HostName: proto.String("127.0.0.1"), Port: proto.Uint32(1)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go serveAll(l, func(conn net.Conn) {
		serveZnodes(conn, func(string) ([]byte, error) { return content, nil })
	})
	c, err := Dial(t.Context(), Config{Quorum: l.Addr().String(), Root: "/old", ConnectTimeout: 500 * time.Millisecond})
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "hbase:meta under /old is at 127.0.0.1:1, which does not answer") {
		t.Error(err)
	}
}

// A client makes only two connections to a ZooKeeper that speaks only TLS, and waits for neither.
func TestZooKeeperThatSpeaksTLS(t *testing.T) {
	own := certificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			taken <- struct{}{}
			go func() {
				defer conn.Close()
				_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{own}}).Handshake()
			}()
		}
	}()
	c, err := Dial(t.Context(), Config{Quorum: l.Addr().String()})
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "this port does not speak ZooKeeper's protocol in clear text (TLS?)") {
		t.Error(err)
	}
	if n := len(taken); n != 2 {
		t.Errorf("%d connections", n)
	}
}
