package hbase

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"github.com/tsuna/gohbase/region"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/hbase/kerberos"
)

// pipe gives a connection made by a dialer and its other end.
func pipe(t *testing.T) (conn, peer net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if conn, err = new(dialer).dial(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if peer, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); peer.Close() })
	return conn, peer
}

// gohbase never delivers an answer when this fails.
func TestReadDeadlineOfClosedConnection(t *testing.T) {
	conn, _ := pipe(t)
	conn.Close()
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Error(err)
	}
	if _, err := conn.Write([]byte("x")); err == nil {
		t.Error("a closed connection takes a write")
	}
}

// If a write fails although the connection is open, the call fails.
func TestFailedWrite(t *testing.T) {
	conn, peer := pipe(t)
	peer.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("an answer of nobody")
	}
	if err := conn.(*regionConn).Conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Write([]byte("x")); n > 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// frameOf is a frame of so many bytes.
func frameOf(fill byte, size int) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(size)), bytes.Repeat([]byte{fill}, size)...)
}

// stuckWrite begins a write that ends when the peer reads or closes, and waits until it is under way.
func stuckWrite(t *testing.T, conn net.Conn, size int) (ended <-chan error) {
	t.Helper()
	done, c := make(chan error, 1), conn.(*regionConn)
	go func() {
		_, err := conn.Write(frameOf(0, size))
		done <- err
	}()
	for under := false; !under; time.Sleep(time.Millisecond) {
		c.writing.Lock()
		under = c.sending
		c.writing.Unlock()
	}
	return done
}

// Calls that come while a write is under way are sent after it, each whole, in the order in which they came. A caller waits only if the queue is full.
func TestQueuedWrites(t *testing.T) {
	conn, peer := pipe(t)
	c := conn.(*regionConn)
	const first, size = 64 << 20, maxQueued / 4
	ended := stuckWrite(t, conn, first)
	for i := range 4 {
		if n, err := conn.Write(frameOf(byte(i+1), size)); n != size+4 || err != nil {
			t.Fatal(n, err)
		}
	}
	full := make(chan error, 2)
	for i := range 2 {
		go func() {
			_, err := conn.Write(frameOf(byte(i+5), size))
			full <- err
		}()
	}
	c.writing.Lock()
	if len(c.queue) != 4*(size+4) {
		t.Errorf("%d bytes are queued", len(c.queue))
	}
	c.writing.Unlock()
	select {
	case err := <-ended:
		t.Fatalf("a write of 64 MB that nobody reads ends: %v", err)
	case err := <-full:
		t.Fatalf("a write into a full queue ends: %v", err)
	default:
	}
	var got []byte
	for range 7 {
		var head [4]byte
		if _, err := io.ReadFull(peer, head[:]); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(peer, body); err != nil {
			t.Fatal(err)
		}
		if want := cmp.Or(min(len(got), 1)*size, first); len(body) != want || bytes.Count(body, body[:1]) != want {
			t.Fatalf("call %d has %d bytes, want %d", len(got), len(body), want)
		}
		got = append(got, body[0])
	}
	if slices.Sort(got[5:]); !bytes.Equal(got, []byte{0, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("the calls come as %v", got)
	}
	if err := errors.Join(<-ended, <-full, <-full); err != nil {
		t.Error(err)
	}
	if _, err := conn.Write(frameOf(7, 1)); err != nil { // nothing is under way any more
		t.Error(err)
	}
	if b := make([]byte, 5); true {
		if _, err := io.ReadFull(peer, b); err != nil || b[4] != 7 {
			t.Errorf("%v %v", b, err)
		}
	}
}

// When the write under way fails, what was queued goes nowhere: the connection ends for all, and takes nothing more.
func TestQueuedWritesFail(t *testing.T) {
	conn, peer := pipe(t)
	ended := stuckWrite(t, conn, 64<<20)
	if _, err := conn.Write(frameOf(1, maxQueued)); err != nil {
		t.Fatal(err)
	}
	full := make(chan error, 1)
	go func() {
		_, err := conn.Write(frameOf(2, 1))
		full <- err
	}()
	peer.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("an answer of nobody")
	}
	if err := <-ended; err == nil {
		t.Error("a write that nobody read succeeds")
	}
	if err := <-full; err == nil {
		t.Error("a call is queued behind a failure")
	}
	if _, err := conn.Write(frameOf(3, 1)); err == nil {
		t.Error("a call is sent behind a part of another")
	}
}

// A client without Kerberos begins its connections with the preamble of simple authentication.
func TestDialGreets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	greeted := make(chan string, 1)
	go serveAll(l, func(conn net.Conn) {
		defer conn.Close()
		b := make([]byte, len(simplePreamble))
		_, _ = io.ReadFull(conn, b)
		select {
		case greeted <- string(b):
		default: // another attempt
		}
	})
	c, err := Dial(t.Context(), Config{Servers: l.Addr().String(), ConnectTimeout: 200 * time.Millisecond})
	if err == nil {
		c.Close()
		t.Fatal("a server that closes its connections is reached")
	}
	if got := <-greeted; got != simplePreamble {
		t.Errorf("the server is greeted with %q (%v)", got, err)
	}
}

// A connection that was authenticated has had its preamble.
func TestPreambleIsSentOnce(t *testing.T) {
	conn, peer := pipe(t)
	conn.(*regionConn).greeted = true
	if _, err := conn.Write([]byte("HBas\x00\x51header")); err == nil {
		t.Error("another preamble is taken for gohbase's")
	}
	for _, s := range []string{simplePreamble + "header", simplePreamble + "call"} {
		if n, err := conn.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	conn.Close()
	if b, err := io.ReadAll(peer); string(b) != "header"+simplePreamble+"call" || err != nil {
		t.Errorf("%q %v", b, err)
	}
}

// A connection that is made to hear why a server refuses them is closed where it does not.
func TestIntroducedConnectionIsClosed(t *testing.T) {
	conn, peer := pipe(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn.(*regionConn).introduce(t.Context(), "somebody")
	}()
	if err := peer.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(peer); !strings.Contains(string(b), "somebody") || err != nil {
		t.Errorf("%q %v", b, err)
	}
	<-done
}

// The TLS configuration is read again for each connection, since its files may have changed.
func TestTLSIsAskedForEachConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := 0
	d := &dialer{tls: func() (*tls.Config, error) { asked++; return nil, fmt.Errorf("file %d is missing", asked) }}
	for n := 1; n <= 2; n++ {
		want := fmt.Sprintf("file %d is missing", n)
		if _, err := d.dial(t.Context(), "tcp", l.Addr().String()); err == nil || err.Error() != want {
			t.Errorf("%v, not %s", err, want)
		}
		if err := d.refusedSince(time.Now().Add(-time.Minute), false); !errors.Is(err, ErrUnreachable) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("told is %v", err)
		}
	}
}

// refusing never answers, because a server refuses its connections.
type refusing struct {
	gohbase.RPCClient
	conn net.Conn
	read *sync.Once // one goroutine reads a connection
}

func (s refusing) SendRPC(call hrpc.Call) (proto.Message, error) {
	s.read.Do(func() { go func() { _, _ = s.conn.Read(make([]byte, 1000)) }() })
	<-call.Context().Done()
	return nil, call.Context().Err()
}

// A server's message before any call is the reason if no answer comes; any other data is not.
func TestRefusedConnection(t *testing.T) {
	refusal := func(id uint32, e *pb.ExceptionResponse) []byte {
		h, err := proto.Marshal(&pb.ResponseHeader{CallId: &id, Exception: e})
		if err != nil {
			t.Fatal(err)
		}
		h = append(binary.AppendUvarint(nil, uint64(len(h))), h...)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(h))), h...)
	}
	denied := &pb.ExceptionResponse{ExceptionClassName: proto.String("org.apache.hadoop.hbase.security.AccessDeniedException"),
		StackTrace: proto.String("org.apache.hadoop.hbase.security.AccessDeniedException: not you\n\tat x")}
	wanted := &pb.ExceptionResponse{ExceptionClassName: denied.ExceptionClassName, StackTrace: proto.String("Authentication is required")}
	full := refusal(math.MaxUint32, denied)
	for _, test := range []struct {
		first []byte
		want  string
	}{
		{full, "the server refuses the connection: AccessDeniedException: not you"},
		{refusal(math.MaxUint32, wanted), "the cluster requires Kerberos"},
		{refusal(1, denied), "did not answer"},
		{refusal(math.MaxUint32, nil), "did not answer"},
		{full[:len(full)-1], "did not answer"},
		{[]byte{0, 0, 0, 9}, "did not answer"},
		{[]byte("\x00\x00\x00\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "the server's answer has no header: this is not an HBase server, or it is faulty"},
	} {
		conn, peer := pipe(t)
		if _, err := peer.Write(test.first); err != nil {
			t.Fatal(err)
		}
		c := &client{servers: link{rpc: refusing{conn: conn, read: new(sync.Once)}}, dialer: conn.(*regionConn).dialer}
		patience := 3 * time.Second // which region the server has is not known: a refusal is told at the end
		if test.want == "did not answer" {
			patience /= 10
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := c.Get(ctx, "t", [][]byte{[]byte("k")}, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, ErrUnreachable) != (test.want != "did not answer") {
			t.Errorf("%q: %v", test.first, err)
		}
	}
}

// An answer that is cut off, or that ends in something else, tells no refusal.
func TestRefusalOf(t *testing.T) {
	head, err := proto.Marshal(&pb.ResponseHeader{CallId: proto.Uint32(math.MaxUint32), Exception: &pb.ExceptionResponse{
		ExceptionClassName: proto.String("x.Denied"), StackTrace: proto.String("x.Denied: not you")}})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(head []byte) []byte {
		return slices.Concat(make([]byte, 4), binary.AppendUvarint(nil, uint64(len(head))), head)
	}
	whole := answer(head)
	if err := refusalOf(whole); err == nil || !strings.Contains(err.Error(), "Denied: not you") {
		t.Error(err)
	}
	for _, b := range [][]byte{nil, whole[:3], whole[:len(whole)-1], answer(append(head, 0xff))} {
		if err := refusalOf(b); err != nil {
			t.Errorf("%q: %v", b, err)
		}
	}
}

// openConnections is a server that answers nothing and counts its connections.
type openConnections struct{ open, ever atomic.Int64 }

func (o *openConnections) listen(t *testing.T) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			peer, err := l.Accept()
			if err != nil {
				return
			}
			o.open.Add(1)
			o.ever.Add(1)
			go func() {
				defer o.open.Add(-1)
				defer peer.Close()
				_, _ = io.Copy(io.Discard, peer) // until it is closed, or reset
			}()
		}
	}()
	return l.Addr().String()
}

// check wants all connections to be closed soon, of which there were some.
func (o *openConnections) check(t *testing.T) {
	for deadline := time.Now().Add(10 * time.Second); o.open.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d connections stay open", o.open.Load(), o.ever.Load())
		}
	}
	if o.ever.Load() == 0 {
		t.Error("no connection was made in time to be closed")
	}
}

// gohbase closes a connection while it is making it: nothing of it stays open, whichever comes first.
func TestCloseWhileConnecting(t *testing.T) {
	var o openConnections
	addr := o.listen(t)
	for i := range 300 {
		conns := new(dialer).connections()
		rc := region.NewClient(addr, region.RegionClient, 10, time.Millisecond, "hql", time.Minute, nil, conns.dial)
		dialed := make(chan struct{})
		go func() {
			defer close(dialed)
			_ = rc.Dial(t.Context()) // it may be closed already
		}()
		time.Sleep(time.Duration(i%10) * 20 * time.Microsecond)
		conns.close(rc.Close)
		<-dialed
	}
	o.check(t)
}

// If messages are protected, an unprotected one counts as a server's refusal only if it is the first. Later an attacker
// may have written it: then the connection is reported as broken.
func TestUnprotectedMessage(t *testing.T) {
	head, err := proto.Marshal(&pb.ResponseHeader{CallId: proto.Uint32(math.MaxUint32), Exception: &pb.ExceptionResponse{
		ExceptionClassName: proto.String("x.Denied"), StackTrace: proto.String("x.Denied: not you")}})
	if err != nil {
		t.Fatal(err)
	}
	refusal := slices.Concat(make([]byte, 4), binary.AppendUvarint(nil, uint64(len(head))), head)
	for _, test := range []struct {
		message  []byte
		answered bool // there was an answer before
		want     string
	}{
		{refusal, false, "not you"},
		{refusal, true, "no wrap token"},
		{[]byte("what"), false, "no wrap token"},
		{[]byte("what"), true, "no wrap token"},
	} {
		d := new(dialer)
		conn, peer := net.Pipe()
		peer.Close()
		c := &regionConn{Conn: conn, dialer: d, gone: func() {}, ended: make(chan struct{})}
		c.answers = newAnswers(iotest.ErrReader(&kerberos.MessageError{Err: errors.New("no wrap token"), Message: test.message}), d.refuse)
		c.answers.first = test.answered
		if _, err := c.Read(make([]byte, 10)); err == nil {
			t.Error("an answer is made of a broken message")
		}
		if err := d.refusedSince(time.Now().Add(-time.Minute), false); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, answered before: %t: %v, want %s", test.message, test.answered, err, test.want)
		}
		conn.Close()
	}
}

// gohbase's Fatal ends a goroutine and not the process, and says nothing.
func TestFatalLog(t *testing.T) {
	silenceLogs()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		logrus.Fatal("ends here")
		t.Error("it goes on")
	}()
	<-ended
}

// Rows come in the message itself as well, whole or in parts.
func TestRowsInTheMessage(t *testing.T) {
	cell := func(row, column string) *pb.Cell {
		return &pb.Cell{Row: []byte(row), Family: []byte("f"), Qualifier: []byte(column), Value: []byte("v"), Timestamp: proto.Uint64(1), CellType: pb.CellType_PUT.Enum()}
	}
	result := func(partial bool, cells ...*pb.Cell) *pb.Result { return &pb.Result{Cell: cells, Partial: &partial} }
	s := &scanner{c: &client{}}
	for _, test := range []struct {
		results     []*pb.Result
		want        string
		cells, size int64
	}{
		{[]*pb.Result{result(false, cell("a", "x")), result(false, cell("b", "x"), cell("b", "y")), result(false), result(true, cell("c", "x"))}, "a:x b:x,y", 4, 16},
		{[]*pb.Result{result(true, cell("c", "y"))}, "", 5, 20},
		{[]*pb.Result{result(false, cell("c", "z")), result(false, cell("long", "x"))}, "c:x,y,z long:x", 7, 31},
	} {
		rows, err := s.decode(&pb.ScanResponse{Results: test.results}, nil)
		var got []string
		for _, r := range rows {
			var columns []string
			for _, c := range r.Cells {
				columns = append(columns, string(c.Qualifier))
			}
			got = append(got, string(r.Key)+":"+strings.Join(columns, ","))
		}
		if strings.Join(got, " ") != test.want || err != nil || s.c.stats.cells.Load() != test.cells || s.c.stats.bytes.Load() != test.size {
			t.Errorf("%q, want %s; %d cells, %d bytes, %v", got, test.want, s.c.stats.cells.Load(), s.c.stats.bytes.Load(), err)
		}
	}
	if _, err := s.decode(&pb.ScanResponse{Results: []*pb.Result{result(false, cell("a", "x"), cell("b", "x"))}}, nil); err == nil {
		t.Error("cells of two rows make one")
	}
}
