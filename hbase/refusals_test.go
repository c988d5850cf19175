package hbase

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// certificate is one of 127.0.0.1's that nobody else has signed.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	b, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(b); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{b}, PrivateKey: key, Leaf: c}
}

// securedServer answers calls within TLS.
type securedServer struct {
	t     *testing.T
	addr  string
	shown atomic.Pointer[tls.Certificate]
	// wants is which certificate it wants of clients, whom it tells so after their handshake, with TLS 1.3.
	wants tls.ClientAuthType
	// refuses, if not nil, is the answer to connections.
	refuses []byte
	body    func(method string, frame []byte) (body, cells []byte)
}

// listen runs a server.
func (s *securedServer) listen() {
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{ClientAuth: s.wants, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.shown.Load(), nil }})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	s.addr = l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if s.refuses != nil {
				go refuse(conn, s.refuses)
			} else {
				go serveCalls(conn, s.answer)
			}
		}
	}()
}

// refuse greets a client with answer, and ends the connection when the client does.
func refuse(conn net.Conn, answer []byte) {
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, len(simplePreamble))); err != nil {
		return
	}
	if _, err := readFrame(conn); err != nil {
		return
	}
	if _, err := conn.Write(answer); err == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
}

func (s *securedServer) answer(call *pb.RequestHeader, frame []byte) []byte {
	head := &pb.ResponseHeader{CallId: call.CallId}
	var body, cells []byte
	if call.GetMethodName() == "ExecService" { // it has no AccessController
		head.Exception = &pb.ExceptionResponse{ExceptionClassName: proto.String("org.apache.hadoop.hbase.exceptions.UnknownProtocolException"), StackTrace: proto.String("no such service")}
	} else {
		body, cells = s.body(call.GetMethodName(), frame)
	}
	if len(cells) > 0 {
		head.CellBlockMeta = &pb.CellBlockMeta{Length: proto.Uint32(uint32(len(cells)))}
	}
	b := append(protowire.AppendBytes(protowire.AppendBytes(nil, marshal(s.t, head)), body), cells...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// serverOfMeta gives the server of hbase:meta, which tells of the servers of tables and of the master.
func serverOfMeta(t *testing.T, tables map[string]*securedServer, master *securedServer) *securedServer {
	meta := &securedServer{t: t}
	meta.body = func(method string, frame []byte) (body, cells []byte) {
		switch method {
		case "GetClusterId":
			return field(1, []byte("c")), nil
		case "GetMetaRegionLocations":
			return field(1, append(field(1, marshal(t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("hbase:meta")})), field(2, serverAt(t, meta.addr))...)), nil
		case "GetActiveMaster":
			return field(1, serverAt(t, master.addr)), nil
		case "Scan":
			m := &pb.ScanResponse{ScannerId: proto.Uint64(1), MoreResultsInRegion: proto.Bool(false), MoreResults: proto.Bool(false)}
			for table, server := range tables {
				if bytes.Contains(frame, []byte(table+",")) {
					name := table + ",,1.0123456789abcdef0123456789abcdef."
					info := marshal(t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName(table)})
					cells = append(keyValue(name, "info", "regioninfo", "PBUF"+string(info)), keyValue(name, "info", "server", server.addr)...)
					m.CellsPerResult, m.PartialFlagPerResult = []uint32{2}, []bool{false}
				}
			}
			return marshal(t, m), cells
		}
		return nil, nil
	}
	return meta
}

// A server may refuse a client after the connection is established. Calls that already wait for the server get the
// error too.
func TestServerThatRefusesLast(t *testing.T) {
	leavesNothing(t)
	trusted := certificate(t)
	roots := x509.NewCertPool()
	roots.AddCert(trusted.Leaf)
	const denied = "org.apache.hadoop.hbase.security.AccessDeniedException"
	nobody := answer(t, &pb.ResponseHeader{CallId: proto.Uint32(math.MaxUint32), Exception: &pb.ExceptionResponse{
		ExceptionClassName: proto.String(denied), StackTrace: proto.String(denied + ": not you")}}, nil, nil)
	for _, test := range []struct {
		server *securedServer
		want   string
	}{
		{&securedServer{t: t, wants: tls.RequireAnyClientCert}, "remote error: tls: certificate required; hql shows no certificate"},
		{&securedServer{t: t, refuses: nobody}, "the server refuses the connection: AccessDeniedException: not you"},
	} {
		meta := serverOfMeta(t, map[string]*securedServer{"t": test.server}, test.server)
		for _, s := range []*securedServer{meta, test.server} {
			s.shown.Store(&trusted)
			s.listen()
		}
		c, err := Dial(within(t), Config{Servers: meta.addr, AttemptTimeout: time.Hour, TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: roots}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for what, do := range map[string]func(ctx context.Context) error{
			"get":    func(ctx context.Context) error { _, err := c.Get(ctx, "t", [][]byte{[]byte("k")}, nil); return err },
			"scan":   func(ctx context.Context) error { _, err := scanAll(ctx, c, ScanRange{Table: "t"}, nil); return err },
			"master": func(ctx context.Context) error { _, err := c.Families(ctx, "t"); return err },
		} {
			if err := do(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, not %s", what, err, test.want)
			}
		}
	}
}

// If a server's certificate is not trusted, the calls that wait for it, and only these, get the error. Once it has
// another certificate it is used.
func TestServerThatRefusesConnections(t *testing.T) {
	trusted, other := certificate(t), certificate(t)
	roots := x509.NewCertPool()
	roots.AddCert(trusted.Leaf)
	row := func(string, []byte) (body, cells []byte) {
		return marshal(t, &pb.GetResponse{Result: &pb.Result{AssociatedCellCount: proto.Int32(1)}}), keyValue("awaited", "f", "q", "v")
	}
	asked, release := make(chan struct{}), make(chan struct{})
	wrong := &securedServer{t: t, body: row}
	right := &securedServer{t: t, body: func(method string, frame []byte) (body, cells []byte) {
		if bytes.Contains(frame, []byte("awaited")) { // gohbase asks for another row first
			close(asked)
			<-release
		}
		return row(method, frame)
	}}
	meta := serverOfMeta(t, map[string]*securedServer{"right": right, "wrong": wrong}, wrong)
	for _, s := range []*securedServer{meta, right, wrong} {
		s.shown.Store(&trusted)
		s.listen()
	}
	wrong.shown.Store(&other)

	c, err := Dial(within(t), Config{Servers: meta.addr, AttemptTimeout: time.Hour, TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: roots}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	waiting := make(chan error, 1)
	go func() {
		rows, err := c.Get(within(t), "right", [][]byte{[]byte("awaited")}, nil)
		if err == nil && string(rows[0].Key) != "awaited" {
			err = errors.New("no row")
		}
		waiting <- err
	}()
	select {
	case <-asked:
	case err := <-waiting:
		t.Fatal(err)
	}
	for what, do := range map[string]func(ctx context.Context) error{
		"get": func(ctx context.Context) error {
			_, err := c.Get(ctx, "wrong", [][]byte{[]byte("awaited")}, nil)
			return err
		},
		"put":    func(ctx context.Context) error { return c.Mutate(ctx, "wrong", []Mutation{put("k", 1, "f:q=v")}) },
		"scan":   func(ctx context.Context) error { _, err := scanAll(ctx, c, ScanRange{Table: "wrong"}, nil); return err },
		"master": func(ctx context.Context) error { _, err := c.Families(ctx, "wrong"); return err },
	} {
		for range 2 { // the second time gohbase waits before it tries again
			if err := do(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), ErrUnreachable.Error()+": TLS with "+wrong.addr+": tls: failed to verify certificate") {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	close(release)
	if err := <-waiting; err != nil {
		t.Errorf("a call to another server: %v", err)
	}
	wrong.shown.Store(&trusted)
	if rows, err := c.Get(within(t), "wrong", [][]byte{[]byte("awaited")}, nil); err != nil || string(rows[0].Key) != "awaited" {
		t.Errorf("with another certificate: %v, %v", rows, err)
	}
}

// If a server's name cannot be resolved, the calls that wait for it get the error.
func TestServerThatIsNotFound(t *testing.T) {
	shown := certificate(t)
	roots := x509.NewCertPool()
	roots.AddCert(shown.Leaf)
	lost := &securedServer{t: t, addr: "no..such.host:16020"}
	meta := serverOfMeta(t, map[string]*securedServer{"t": lost}, lost)
	meta.shown.Store(&shown)
	meta.listen()
	c, err := Dial(within(t), Config{Servers: meta.addr, AttemptTimeout: time.Hour, TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: roots}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for what, do := range map[string]func(ctx context.Context) error{
		"get":    func(ctx context.Context) error { _, err := c.Get(ctx, "t", [][]byte{[]byte("k")}, nil); return err },
		"put":    func(ctx context.Context) error { return c.Mutate(ctx, "t", []Mutation{put("k", 1, "f:q=v")}) },
		"scan":   func(ctx context.Context) error { _, err := scanAll(ctx, c, ScanRange{Table: "t"}, nil); return err },
		"master": func(ctx context.Context) error { _, err := c.Families(ctx, "t"); return err },
	} {
		if err := do(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no..such.host:16020, and this machine cannot resolve that name") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// With TLS 1.3 a client learns only after its handshake that the server requires a certificate.
func TestMissingCertificate(t *testing.T) {
	own := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go serveAll(l, func(conn net.Conn) {
		serveCalls(conn, func(*pb.RequestHeader, []byte) []byte { return nil })
	})
	roots := x509.NewCertPool()
	roots.AddCert(own.Leaf)
	c, err := Dial(within(t), Config{Servers: l.Addr().String(), TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: roots}, nil }})
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "remote error: tls: certificate required; hql shows no certificate") {
		t.Error(err)
	}
}

// A server's message counts as a refusal; a broken connection does not, however often it breaks.
func TestBrokenConnectionIsNoRefusal(t *testing.T) {
	const server = "rs1:16020"
	for _, test := range []struct {
		err  error
		want int
	}{
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, 0},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, 0},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, 0},
		{errNoTLS, 0},
		{io.ErrUnexpectedEOF, 0},
		{context.DeadlineExceeded, 0},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, refusalsMeant},
		{x509.UnknownAuthorityError{}, refusalsMeant},
	} {
		var r refusals
		for range refusalsMeant {
			r.note(server, fmt.Errorf("kerberos: %w", test.err))
		}
		if n := r.row(server).n; n != test.want || r.some.Load() != (n > 0) {
			t.Errorf("%v: %d", test.err, n)
		}
		if r.taken(server); r.row(server).n != 0 || r.some.Load() {
			t.Errorf("%v: a connection that was taken is forgotten", test.err)
		}
	}
}

// silent answers no call but the last of some: connections came to nothing meanwhile. Two of them ask hbase:meta of the table.
type silent struct {
	gohbase.RPCClient
	d     *dialer
	err   error
	calls atomic.Int32
}

func (s *silent) SendRPC(call hrpc.Call) (proto.Message, error) {
	if s.calls.Add(1) > 2 {
		return &pb.GetResponse{}, nil
	}
	s.d.refuse(s.err)
	<-call.Context().Done()
	return nil, call.Context().Err()
}

// If connections break during a whole attempt, another attempt follows; if they are refused, none does.
func TestBrokenConnectionEndsNoCall(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string // in the error; "": there is none
	}{
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, ""},
		{errNoTLS, ""},
		{x509.UnknownAuthorityError{}, "certificate signed by unknown authority"},
	} {
		d := new(dialer)
		s := &silent{d: d, err: test.err}
		c := &client{servers: link{rpc: s}, dialer: d, attempt: 20 * time.Millisecond}
		c.rights.free.Store(true)
		rows, err := c.Get(within(t), "t", [][]byte{[]byte("k")}, nil)
		switch {
		case test.want == "" && (err != nil || len(rows) != 1 || s.calls.Load() != 4):
			t.Errorf("%v: %v, %v after %d calls", test.err, rows, err, s.calls.Load())
		case test.want != "" && (!errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) || s.calls.Load() != 1):
			t.Errorf("%v: %v after %d calls", test.err, err, s.calls.Load())
		}
	}
}

// scanAll gives copies of the rows of a scan.
func scanAll(ctx context.Context, c Client, r ScanRange, o *ReadOptions) (out []Row, err error) {
	s, err := c.Scan(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for {
		rows, err := s.Next(ctx)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			kept := Row{Key: bytes.Clone(row.Key)}
			for _, c := range row.Cells {
				kept.Cells = append(kept.Cells, Cell{bytes.Clone(c.Family), bytes.Clone(c.Qualifier), c.Timestamp, bytes.Clone(c.Value)})
			}
			out = append(out, kept)
		}
	}
}
