package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tsuna/gohbase/pb"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/seeds"
)

// hostile is a server of all of HBase's roles that lies, and answers with what no HBase sends.
type hostile struct {
	t    *testing.T
	addr string

	mu sync.Mutex
	r  *rand.Rand
}

func (h *hostile) n(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.r.IntN(n)
}

func (h *hostile) oneOf(texts ...string) string { return texts[h.n(len(texts))] }

// listen runs the server, which ends with the test.
func (h *hostile) listen() (stop func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	h.addr = l.Addr().String()
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { h.serve(conn) })
		}
	})
	return func() {
		l.Close()
		all.Wait()
	}
}

func (h *hostile) serve(conn net.Conn) {
	serveCalls(conn, func(call *pb.RequestHeader, frame []byte) []byte {
		meta := bytes.Contains(frame, []byte("hbase:meta"))
		b := h.answer(call, meta)
		switch h.n(12) {
		case 0:
			if !meta && call.GetMethodName() != "Mutate" { // gohbase decodes those answers, and trusts the server
				b[4+h.n(len(b)-4)] ^= byte(1 << h.n(8))
			}
		case 1:
			b = b[:h.n(len(b))]
		case 2:
			binary.BigEndian.PutUint32(b, uint32(h.n(maxAnswer)))
		case 3:
			return nil
		}
		return b
	})
}

// answer is a server's answer in its frame.
func (h *hostile) answer(call *pb.RequestHeader, meta bool) []byte {
	head := &pb.ResponseHeader{CallId: call.CallId}
	if h.n(6) == 0 {
		class := h.oneOf("java.io.IOException", "org.apache.hadoop.hbase.NotServingRegionException", "org.apache.hadoop.hbase.UnknownScannerException",
			"org.apache.hadoop.hbase.CallQueueTooBigException", "org.apache.hadoop.hbase.exceptions.RegionMovedException", strings.Repeat("x", 1<<16))
		head.Exception = &pb.ExceptionResponse{ExceptionClassName: &class, StackTrace: proto.String(class + ": \x1b[31m\n\tat x")}
		return answer(h.t, head, nil, nil)
	}
	host, port, _ := strings.Cut(h.addr, ":")
	self := serverAt(h.t, net.JoinHostPort(host, h.oneOf(port, port, port, "1")))
	var body, cells []byte
	switch method := call.GetMethodName(); {
	case method == "GetClusterId":
		body = field(1, []byte(h.oneOf("c", "c", "c", "d", "")))
	case method == "GetMetaRegionLocations":
		body = field(1, append(field(1, marshal(h.t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("hbase:meta")})), field(2, self)...))
	case strings.HasPrefix(method, "Get") && method != "Get":
		body = field(1, self)
	case method == "Scan" && meta:
		body, cells = h.region()
	case method == "Scan":
		body, cells = h.rows()
	case method == "Get":
		cells = keyValue(h.oneOf("k", "other", ""), "f", "q", "v")
		body = marshal(h.t, &pb.GetResponse{Result: &pb.Result{AssociatedCellCount: proto.Int32(int32(h.n(4) - 1))}})
	case method == "Multi":
		var results []*pb.ResultOrException
		for range h.n(5) {
			results = append(results, &pb.ResultOrException{Index: proto.Uint32(uint32(h.n(4))), Result: &pb.Result{AssociatedCellCount: proto.Int32(int32(h.n(4) - 1))}})
		}
		cells = slices.Concat(keyValue("k", "f", "q", "v"), keyValue("l", "f", "q", ""))
		body = marshal(h.t, &pb.MultiResponse{RegionActionResult: []*pb.RegionActionResult{{ResultOrException: results}}})
	}
	if len(cells) > 0 {
		head.CellBlockMeta = &pb.CellBlockMeta{Length: proto.Uint32(uint32(len(cells)))}
	}
	b := append(protowire.AppendBytes(protowire.AppendBytes(nil, marshal(h.t, head)), body), cells...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// region is what hbase:meta says of a table's regions.
func (h *hostile) region() (body, cells []byte) {
	start, stop := h.oneOf("", "", "k", "z"), h.oneOf("", "", "a", "k")
	name := h.oneOf("t", "t", "t", "u") + "," + start + ",1.0123456789abcdef0123456789abcdef."
	info := marshal(h.t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("t"), StartKey: []byte(start), EndKey: []byte(stop)})
	cells = append(keyValue(name, "info", "regioninfo", "PBUF"+string(info)), keyValue(name, "info", "server", h.oneOf(h.addr, h.addr, h.addr, "localhost", ":", "x:y", "127.0.0.1:99999"))...)
	more := h.n(8) == 0 // again and again
	return marshal(h.t, &pb.ScanResponse{CellsPerResult: []uint32{2}, PartialFlagPerResult: []bool{false}, ScannerId: proto.Uint64(1), MoreResultsInRegion: &more, MoreResults: &more}), cells
}

// rows are those of a scan: endless, none, in parts, of other keys, of more cells than there are.
func (h *hostile) rows() (body, cells []byte) {
	m := &pb.ScanResponse{ScannerId: proto.Uint64(uint64(h.n(3))), MoreResultsInRegion: proto.Bool(h.n(4) > 0)}
	if h.n(3) > 0 {
		m.MoreResults = proto.Bool(h.n(4) > 0)
	}
	for range h.n(4) {
		cells = append(cells, keyValue(h.oneOf("k", "l", "a", ""), "f", h.oneOf("q", ""), "v")...)
		m.CellsPerResult = append(m.CellsPerResult, uint32(1+h.n(6)/5))
		m.PartialFlagPerResult = append(m.PartialFlagPerResult, h.n(3) == 0)
	}
	return marshal(h.t, m), cells
}

// Whatever a server says, each call ends, with what it has or with an error, at its deadline at the latest, and nothing is left behind.
func TestHostileServer(t *testing.T) {
	leavesNothing(t)
	seeds.Each(t, 3, func(t *testing.T, seed uint64, _ seeds.Figures) {
		h := &hostile{t: t, r: rand.New(rand.NewPCG(seed, 0))}
		stop := h.listen()
		defer stop()
		ended := make(chan error, 1)
		go func() { ended <- h.meet(t.Context()) }()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			stack := make([]byte, 1<<20)
			t.Fatalf("a call does not end:\n%s", stack[:runtime.Stack(stack, true)])
		}
	})
}

// leavesNothing checks that the goroutines of the test end after it: gohbase waits for up to half a minute before it sees that it is closed.
func leavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		for end := time.Now().Add(time.Minute); goleak.Find(before) != nil && time.Now().Before(end); {
			time.Sleep(time.Second)
		}
		goleak.VerifyNone(t, before)
	})
}

// meet asks all that a client can ask.
func (h *hostile) meet(ctx context.Context) error {
	c, err := Dial(ctx, Config{Servers: h.addr, ConnectTimeout: time.Second, AttemptTimeout: 100 * time.Millisecond})
	if err != nil {
		if !errors.Is(err, ErrUnreachable) {
			return err
		}
		return nil
	}
	defer c.Close()
	in := func(do func(ctx context.Context) error) {
		ctx, cancel := context.WithTimeout(ctx, 150*time.Millisecond)
		defer cancel()
		_ = do(ctx) // an error or none
	}
	var wrong error
	for _, o := range []*ReadOptions{nil, {}} {
		for _, r := range []ScanRange{{Table: "t"}, {Table: "t", Reversed: true}, {Table: "t", Start: []byte("b"), Stop: []byte("m"), Limit: 3}} {
			in(func(ctx context.Context) error {
				s, err := c.Scan(ctx, r, o)
				if err != nil {
					return err
				}
				defer s.Close()
				for n := 0; ; {
					rows, err := s.Next(ctx)
					if err != nil {
						return err
					}
					if n += len(rows); r.Limit > 0 && n > r.Limit+len(rows) {
						wrong = fmt.Errorf("%d rows of a scan of %d", n, r.Limit)
					}
				}
			})
		}
		in(func(ctx context.Context) error {
			rows, err := c.Get(ctx, "t", [][]byte{[]byte("k"), []byte("l"), []byte("m")}, o)
			if err == nil && len(rows) != 3 {
				wrong = fmt.Errorf("%d rows of 3 Gets", len(rows))
			}
			return err
		})
		in(func(ctx context.Context) error {
			rows, err := c.Get(ctx, "t", [][]byte{[]byte("k")}, o)
			if err == nil && rows[0].Key != nil && (string(rows[0].Key) != "k" || len(rows[0].Cells) == 0) {
				wrong = fmt.Errorf("row %q of a Get of another, %d cells", rows[0].Key, len(rows[0].Cells))
			}
			return err
		})
	}
	in(func(ctx context.Context) error {
		return c.Mutate(ctx, "t", []Mutation{put("k", 1, "f:q=v"), put("l", 1, "f:q=v")})
	})
	in(func(ctx context.Context) error { _, err := c.Increment(ctx, "t", []byte("k"), "f", "q", 1); return err })
	in(func(ctx context.Context) error { _, err := c.Regions(ctx, "t"); return err })
	in(func(ctx context.Context) error { _, err := c.Tables(ctx, ""); return err })
	in(func(ctx context.Context) error { _, err := c.Families(ctx, "t"); return err })
	in(func(ctx context.Context) error { _, err := c.RegionLoads(ctx, "t"); return err })
	return wrong
}

// Memory is not reserved for an answer because a server announces one: what is announced comes first.
func TestAnnouncedAnswer(t *testing.T) {
	head := marshal(t, callHeader(1))
	sent := append(binary.BigEndian.AppendUint32(nil, maxAnswer), protowire.AppendBytes(nil, head)...)
	a := newAnswers(bytes.NewReader(append(sent, make([]byte, 1000)...)), func(error) {})
	if n, err := a.Read(make([]byte, 4)); n > 0 || err == nil {
		t.Errorf("%d bytes of an answer that does not come, %v", n, err)
	}
	whole := append(binary.BigEndian.AppendUint32(nil, uint32(1+len(head)+trusted)), protowire.AppendBytes(nil, head)...)
	whole = append(whole, bytes.Repeat([]byte{7}, trusted)...)
	a = newAnswers(bytes.NewReader(whole), func(error) {})
	if got, err := io.ReadAll(a); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("%d bytes of %d, %v", len(got), len(whole), err)
	}
}

// Memory for rows is reserved by what came, not by how many a server says there are: a byte says that there is one without cells.
func TestAnnouncedRows(t *testing.T) {
	s := &scanner{c: &client{}}
	rows, err := s.decode(&pb.ScanResponse{CellsPerResult: make([]uint32, 1<<20)}, nil)
	if len(rows) > 0 || err != nil || cap(s.rows) > 100 {
		t.Errorf("%d rows, memory for %d, %v", len(rows), cap(s.rows), err)
	}
}

// A server that is asked for servers cannot name millions of them.
func TestAnnouncedServers(t *testing.T) {
	m := &metaServers{answers: map[string][]byte{"GetClusterId": field(1, []byte("c")), "GetMasters": bytes.Repeat([]byte{0x0a, 0}, maxNodesAnswer)}, asked: map[string]int{}}
	r := newRegistry([]string{m.listen(t)}, "hql", new(dialer))
	defer r.close()
	if _, err := r.ask(t.Context(), r.given[0], "GetMasters"); err == nil || !strings.Contains(err.Error(), "this is not an HBase server") {
		t.Errorf("%v", err)
	}
}

// Whatever comes from a port of ZooKeeper's is a znode of a bounded size or an error.
func FuzzZooKeeper(f *testing.F) {
	session := zkFramed(zkBytes(append(zkInt(zkInt(nil, 0), 60000), make([]byte, 8)...), make([]byte, 16)))
	f.Add(append(bytes.Clone(session), zkFramed(zkBytes(make([]byte, 16), []byte("\xff\x00\x00\x00\x01-PBUF")))...))
	f.Add(append(bytes.Clone(session), zkFramed(binary.BigEndian.AppendUint32(make([]byte, 16), 1<<31-1))...))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	defer l.Close()
	f.Fuzz(func(t *testing.T, sent []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var all sync.WaitGroup
		defer all.Wait()
		all.Go(func() {
			for range 2 { // it is asked once more what it is, if it has failed
				_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Millisecond))
				peer, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = peer.Write(sent)
				_ = peer.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, peer)
				peer.Close()
			}
		})
		b, err := readZnode(ctx, l.Addr().String(), "/hbase/meta-region-server")
		if err == nil && len(b) > zkFrame {
			t.Errorf("a znode of %d bytes", len(b))
		}
		if ctx.Err() != nil {
			t.Error("it does not end")
		}
	})
}
