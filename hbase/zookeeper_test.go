package hbase

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// startZooKeepers starts a ZooKeeper that accepts only TLS, and one that requires SASL of its clients, and stops them
// after the test. It skips unless HQL_TEST_GUARDED is set.
func startZooKeepers(t *testing.T) (tls, sasl string) {
	t.Helper()
	if os.Getenv("HQL_TEST_GUARDED") == "" {
		t.Skip("set HQL_TEST_GUARDED=1 to check against ZooKeepers with TLS and SASL")
	}
	cp := hbasetest.ClassPath(t, hbasetest.Plain())
	ports, err := hbasetest.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ca, own := hbasetest.Certificates(t, dir, "localhost")
	write := func(file, content string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	jaas := filepath.Join(dir, "jaas.conf")
	write(jaas, `Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_hbase="secret"; };`)
	for name, lines := range map[string]string{
		"tls": fmt.Sprintf("secureClientPort=%d\nserverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\nssl.keyStore.location=%s\nssl.trustStore.location=%s\n", ports[0], own, ca),
		"sasl": fmt.Sprintf("clientPort=%d\nauthProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"+
			"enforce.auth.enabled=true\nenforce.auth.schemes=sasl\nsessionRequireClientSASLAuth=true\n", ports[1]),
	} {
		conf := filepath.Join(dir, name)
		write(filepath.Join(conf, "zoo.cfg"), "dataDir="+conf+"\nadmin.enableServer=false\n"+lines)
		write(filepath.Join(conf, "log4j.properties"), strings.Replace(hbasetest.Logging, "WARN", "INFO", 1))
		args := []string{"-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.security.auth.login.config=" + jaas, "-cp", conf + ":" + cp,
			"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(conf, "zoo.cfg")}
		hbasetest.Run(t, exec.Command("java", args...), dir, "PrepRequestProcessor (sid:0) started")
	}
	return fmt.Sprintf("localhost:%d", ports[0]), fmt.Sprintf("localhost:%d", ports[1])
}

// A connection to a ZooKeeper that requires TLS or SASL fails at once, with an error that says so.
func TestSecuredZooKeeper(t *testing.T) {
	secured, sasl := startZooKeepers(t)
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
