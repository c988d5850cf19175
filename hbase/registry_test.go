package hbase

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsuna/gohbase/pb"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// metaServers is a fake of servers that answer ClientMetaService: each call with the bytes that its method has here.
type metaServers struct {
	mu      sync.Mutex
	answers map[string][]byte
	asked   map[string]int // the calls of each method
}

// listen runs a server and gives its address.
func (m *metaServers) listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go serveAll(l, m.serve)
	return l.Addr().String()
}

func (m *metaServers) serve(conn net.Conn) {
	serveCalls(conn, func(h *pb.RequestHeader, _ []byte) []byte {
		m.mu.Lock()
		answer, ok := m.answers[h.GetMethodName()]
		m.asked[h.GetMethodName()]++
		m.mu.Unlock()
		reply := &pb.ResponseHeader{CallId: h.CallId}
		if !ok {
			reply.Exception = &pb.ExceptionResponse{ExceptionClassName: proto.String("java.lang.UnsupportedOperationException"), StackTrace: proto.String(h.GetMethodName())}
		}
		b, err := proto.Marshal(reply)
		if err != nil {
			return nil
		}
		b = protowire.AppendBytes(protowire.AppendBytes(nil, b), answer)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	})
}

// serveAll serves each connection to l, until l is closed.
func serveAll(l net.Listener, serve func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go serve(conn)
	}
}

// serveCalls greets a client and writes an answer, in its frame, to each call that comes, until one is nil.
func serveCalls(conn net.Conn, answer func(call *pb.RequestHeader, frame []byte) []byte) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(simplePreamble))); err != nil {
		return
	}
	if _, err := readFrame(conn); err != nil { // the connection header
		return
	}
	for {
		frame, err := readFrame(conn)
		if err != nil {
			return
		}
		head, _ := protowire.ConsumeBytes(frame)
		var call pb.RequestHeader
		if proto.Unmarshal(head, &call) != nil {
			return
		}
		b := answer(&call, frame)
		if b == nil {
			return
		}
		if _, err := conn.Write(b); err != nil {
			return
		}
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

// field is a message's field: text, or another message.
func field(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serverAt is a ServerName of an address.
func serverAt(t *testing.T, addr string) []byte {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var n uint32
	if _, err := fmt.Sscan(port, &n); err != nil {
		t.Fatal(err)
	}
	return marshal(t, &pb.ServerName{HostName: &host, Port: &n})
}

// The answers of servers about the places of others, each on its own: the place, or the reason why there is none.
func TestRegistry(t *testing.T) {
	info := func(replica int32) []byte {
		return field(1, marshal(t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("hbase:meta"), ReplicaId: &replica}))
	}
	rs1, rs2 := serverAt(t, "rs1:16020"), serverAt(t, "rs2:16020")
	id := field(1, []byte("cluster-1"))
	for _, test := range []struct {
		name    string
		p       place
		answers map[string][]byte
		want    string // the address, or what the error has in it
	}{
		{"master", masterPlace, map[string][]byte{"GetClusterId": id, "GetActiveMaster": field(1, rs1)}, "rs1:16020"},
		{"meta behind its replicas", metaPlace, map[string][]byte{"GetClusterId": id, "GetMetaRegionLocations": slices.Concat(
			field(1, append(info(1), field(2, rs1)...)), field(1, append(info(0), field(2, rs2)...)))}, "rs2:16020"},
		{"no master", masterPlace, map[string][]byte{"GetClusterId": id, "GetActiveMaster": nil}, "it knows of no active master"},
		{"no meta", metaPlace, map[string][]byte{"GetClusterId": id, "GetMetaRegionLocations": nil}, "it does not know where hbase:meta is"},
		{"meta without a server", metaPlace, map[string][]byte{"GetClusterId": id, "GetMetaRegionLocations": field(1, info(0))}, "it does not know who serves hbase:meta"},
		{"only replicas", metaPlace, map[string][]byte{"GetClusterId": id, "GetMetaRegionLocations": field(1, append(info(1), field(2, rs1)...))}, "it does not know where hbase:meta is"},
		{"no port", masterPlace, map[string][]byte{"GetClusterId": id, "GetActiveMaster": field(1, marshal(t, &pb.ServerName{HostName: proto.String("a"), Port: proto.Uint32(70000)}))}, "it names no server"},
		{"no message", masterPlace, map[string][]byte{"GetClusterId": id, "GetActiveMaster": field(1, []byte{0xff})}, "cannot parse"},
		{"no id", masterPlace, map[string][]byte{"GetClusterId": nil}, "it does not know its cluster's id"},
		{"another service", masterPlace, nil, "ask GetClusterId: UnsupportedOperationException"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := &metaServers{answers: test.answers, asked: map[string]int{}}
			r := newRegistry([]string{m.listen(t)}, "hql", new(dialer))
			defer r.close()
			server, err := r.locate(t.Context(), test.p)
			if err == nil && address(server) != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v", server, err)
			}
		})
	}
}

// A cluster whose masters all change is found through those it named before; a server of another cluster is not believed.
func TestRegistryFollowsMasters(t *testing.T) {
	id := field(1, []byte("cluster-1"))
	active := serverAt(t, "active:16000")
	m := &metaServers{answers: map[string][]byte{"GetClusterId": id, "GetActiveMaster": field(1, active)}, asked: map[string]int{}}
	first, second := m.listen(t), m.listen(t)
	m.answers["GetMasters"] = field(1, field(1, serverAt(t, second))) // this one has no bootstrap nodes, as 2.4
	other := &metaServers{answers: map[string][]byte{"GetClusterId": field(1, []byte("cluster-2")), "GetActiveMaster": field(1, serverAt(t, "foreign:1"))}, asked: map[string]int{}}
	r := newRegistry([]string{first}, "hql", new(dialer))
	defer r.close()
	if err := r.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.servers(); !slices.Contains(got, second) || !slices.Contains(got, first) {
		t.Fatalf("it knows %v", got)
	}
	r.given = []string{other.listen(t), "127.0.0.1:1"} // the address given is another cluster's now
	for range 10 {                                     // the order is left to chance
		if server, err := r.locate(t.Context(), masterPlace); err != nil || address(server) != "active:16000" {
			t.Fatalf("%v, %v", server, err)
		}
	}
	r.named = nil
	if server, err := r.locate(t.Context(), masterPlace); err == nil || !strings.Contains(err.Error(), `it belongs to another cluster ("cluster-2", not "cluster-1")`) {
		t.Errorf("%v, %v", server, err)
	}
}

// A server that does not answer costs half a second, not its whole time.
func TestSlowServerIsPassed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	m := &metaServers{answers: map[string][]byte{"GetClusterId": field(1, []byte("c")), "GetActiveMaster": field(1, serverAt(t, "active:16000"))}, asked: map[string]int{}}
	r := newRegistry([]string{l.Addr().String(), m.listen(t)}, "hql", new(dialer))
	defer r.close()
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), askTimeout/2)
		if server, err := r.locate(ctx, masterPlace); err != nil || address(server) != "active:16000" {
			t.Fatalf("%v, %v", server, err)
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r.given = r.given[:1]
	if _, err := r.locate(ctx, masterPlace); err == nil || !strings.Contains(err.Error(), "accepts connections but does not answer") {
		t.Error(err)
	}
	cancel()
	if _, err := r.locate(ctx, masterPlace); err == nil || !strings.Contains(err.Error(), "cannot connect (dial tcp ") {
		t.Error(err)
	}
}

// On an HBase: a client that knows a master, or a region server, works without ZooKeeper, and the errors for wrong
// addresses say what is wrong.
func TestHBaseWithoutZooKeeper(t *testing.T) {
	quorum := hbasetest.Quorum(t)
	z := &zooKeeper{quorum: []string{quorum}, root: "/hbase"}
	master, err := z.locate(t.Context(), masterPlace)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := z.locate(t.Context(), metaPlace)
	if err != nil {
		t.Fatal(err)
	}
	closed := "127.0.0.1:1"
	for _, servers := range []string{address(master), closed + "," + address(master), address(rs)} {
		c, err := Dial(t.Context(), Config{Servers: servers})
		if servers == address(rs) && err != nil && strings.Contains(err.Error(), "name masters") {
			continue // 2.4, whose region servers cannot be asked
		}
		if err != nil {
			t.Fatalf("%s: %v", servers, err)
		}
		table := "without_zookeeper"
		if err := c.CreateTable(t.Context(), table, []Family{{Name: "f"}}, [][]byte{[]byte("m")}); err != nil {
			t.Fatal(err)
		}
		cell := []Cell{{Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("v")}}
		if err := c.Mutate(t.Context(), table, []Mutation{{Key: []byte("a"), Timestamp: 1, Cells: cell}, {Key: []byte("z"), Timestamp: 1, Cells: cell}}); err != nil {
			t.Error(err)
		}
		if rows, err := c.Get(t.Context(), table, [][]byte{[]byte("z"), []byte("b")}, nil); err != nil || len(rows) != 2 || string(rows[0].Key) != "z" || rows[1].Key != nil {
			t.Errorf("%v, %v", rows, err)
		}
		if err := c.(*client).dialer.locator.(*registry).refresh(t.Context()); err != nil {
			t.Error(err)
		}
		if named := c.(*client).dialer.locator.(*registry).named; !slices.Contains(named, address(master)) {
			t.Errorf("%s names %v, and the master is %s", servers, named, address(master))
		}
		if err := c.DropTable(t.Context(), table, nil); err != nil {
			t.Error(err)
		}
		c.Close()
	}
	for _, test := range []struct {
		cfg  Config
		want string
	}{
		{Config{Servers: closed}, "connection refused"},
		{Config{Servers: quorum}, "this port speaks ZooKeeper's protocol: use the address hbase://" + quorum},
		{Config{Quorum: address(master)}, "this port does not speak ZooKeeper's protocol in clear text (TLS?)"},
		{Config{Quorum: closed}, "connection refused"},
		{Config{Quorum: quorum, Root: "/other"}, "it has no znode /other/meta-region-server: check that HBase runs and that its root znode is /other"},
	} {
		began := time.Now()
		c, err := Dial(t.Context(), test.cfg)
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) || time.Since(began) > 5*time.Second {
			t.Errorf("%+v: %v after %v", test.cfg, err, time.Since(began))
		}
	}
}

// A failed Dial leaves nothing running: gohbase alone would search for hbase:meta for ever. The errors of the addresses
// are reported at once.
func TestFailedDialLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // after the servers of the test, which end in the same way
	for _, test := range []struct{ greeting, want string }{
		{"", "closes the connection without an answer"},
		{"\x15\x03\x03\x00\x02\x02\x46", "answers in TLS: set tls in the address"},
		{"SSH-2.0-server\r\n", "the server's answer has a length of 1397966893 bytes: this is not an HBase server, or it is faulty"},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, test.greeting)
				_ = conn.(*net.TCPConn).CloseWrite() // a reset could overtake the greeting
				_, _ = io.CopyN(io.Discard, conn, 10)
				conn.Close()
			}
		}()
		host, port, _ := strings.Cut(l.Addr().String(), ":")
		location := append(field(1, marshal(t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("hbase:meta")})), field(2, serverAt(t, host+":"+port))...)
		m := &metaServers{answers: map[string][]byte{"GetClusterId": field(1, []byte("c")), "GetMetaRegionLocations": field(1, location)}, asked: map[string]int{}}
		began := time.Now()
		c, err := Dial(t.Context(), Config{Servers: m.listen(t)})
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) || time.Since(began) > 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if _, err := Dial(t.Context(), Config{Servers: l.Addr().String()}); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
			t.Error(err)
		}
		l.Close()
	}
}
