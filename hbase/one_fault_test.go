package hbase

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/store"
)

// storeWithTable gives a store with the table t of family f, and a client of it.
func storeWithTable(t *testing.T) (*store.Store, *client) {
	t.Helper()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := New(s, s).(*client)
	if err := c.CreateTable(t.Context(), "t", []Family{{Name: "f"}}, nil); err != nil {
		t.Fatal(err)
	}
	return s, c
}

// refusingAgain answers writes with an exception, as if a connection broke after each of its answers but the last.
type refusingAgain struct {
	gohbase.RPCClient
	lost      int
	exception string
}

func (f *refusingAgain) SendRPC(c hrpc.Call) (proto.Message, error) {
	if c.Name() != "Multi" {
		return f.RPCClient.SendRPC(c)
	}
	for range f.lost {
		if m, err := f.RPCClient.SendRPC(c); err != nil {
			return m, err
		}
	}
	if f.lost > 0 {
		c.ToProto() // sent again
	}
	return nil, fmt.Errorf("HBase Java exception %s: no", f.exception)
}

// A write that is refused when it is sent again may have been applied before: nobody knows.
func TestRefusedAfterLostAnswer(t *testing.T) {
	for _, c := range []struct {
		lost      int
		exception string
		refused   bool
	}{
		{0, "java.io.IOException", true},
		{1, "java.io.IOException", false},
		{1, "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException", true},
		{1, `org.apache.hadoop.hbase.DoNotRetryIOException: too large, set "hbase.ipc.max.request.size"`, true}, // no RequestTooBigException for gohbase
	} {
		s, cl := storeWithTable(t)
		cl.servers.rpc = &refusingAgain{s, c.lost, c.exception}
		err := cl.Mutate(t.Context(), "t", []Mutation{put("k", 1, "f:a=1")})
		var batch *BatchError
		if !errors.As(err, &batch) || len(batch.Failed)+len(batch.Unknown) != 1 || len(batch.Failed) == 1 != c.refused {
			t.Errorf("%d answers lost, %s: %v", c.lost, c.exception, err)
		}
	}
}

// lostServer takes in writes, and refuses connections from the first on, so that its answer is lost.
type lostServer struct {
	gohbase.RPCClient
	d      *dialer
	reason error
	takes  bool // that first write
}

func (s *lostServer) SendRPC(c hrpc.Call) (proto.Message, error) {
	if c.Name() != "Multi" {
		return s.RPCClient.SendRPC(c)
	}
	if s.takes {
		if m, err := s.RPCClient.SendRPC(c); err != nil {
			return m, err
		}
	}
	s.d.refuse(s.reason)
	<-c.Context().Done()
	return nil, c.Context().Err()
}

// A write whose server refuses connections may have been applied before, if it was sent.
func TestRefusedConnectionAfterLostAnswer(t *testing.T) {
	for _, reason := range []error{x509.UnknownAuthorityError{}, errors.New("the server refuses the connection: AccessDeniedException: not you")} {
		for _, sent := range []bool{false, true} {
			s, cl := storeWithTable(t)
			cl.dialer, cl.attempt = new(dialer), 20*time.Millisecond
			cl.servers.rpc = &lostServer{s, cl.dialer, reason, sent}
			err := cl.Mutate(t.Context(), "t", []Mutation{put("k", 1, "f:a=1")})
			var batch *BatchError
			if !errors.As(err, &batch) || !errors.Is(err, ErrUnreachable) || len(batch.Failed)+len(batch.Unknown) != 1 || len(batch.Unknown) == 1 != sent {
				t.Errorf("sent before: %t: %v", sent, err)
			}
		}
	}
}

// anotherRow answers multi-gets with a row that was not asked for, with its cells outside the message or inside.
type anotherRow struct {
	gohbase.RPCClient
	inside bool
}

func (a anotherRow) SendRPC(c hrpc.Call) (proto.Message, error) {
	m, ok := c.(*multiCall)
	if !ok {
		return a.RPCClient.SendRPC(c)
	}
	result := &pb.Result{AssociatedCellCount: proto.Int32(1)}
	if a.inside {
		result = &pb.Result{Cell: []*pb.Cell{{Row: []byte("other"), Family: []byte("f"), Qualifier: []byte("q"), Value: []byte("v")}}}
	} else if _, err := m.DeserializeCellBlocks(nil, keyValue("other", "f", "q", "v")); err != nil {
		return nil, err
	}
	return &pb.MultiResponse{RegionActionResult: []*pb.RegionActionResult{{ResultOrException: []*pb.ResultOrException{
		{Index: proto.Uint32(0), Result: result}, {Index: proto.Uint32(1), Result: &pb.Result{}}}}}}, nil
}

// Cells of a row that was not asked for are not taken for those of one that was.
func TestAnotherRow(t *testing.T) {
	s, cl := storeWithTable(t)
	for _, inside := range []bool{false, true} {
		cl.servers.rpc = anotherRow{s, inside}
		if rows, err := cl.Get(t.Context(), "t", [][]byte{[]byte("k"), []byte("l")}, nil); err == nil || !strings.Contains(err.Error(), `cells of the rows "k" and "other"`) {
			t.Errorf("inside: %t: %v, %v", inside, rows, err)
		}
	}
}

// refusingRegion refuses what is in a batch, within an answer.
type refusingRegion struct {
	gohbase.RPCClient
	class string
	whole bool // all of the batch at once
	asked atomic.Int32
}

func (b *refusingRegion) SendRPC(c hrpc.Call) (proto.Message, error) {
	if c.Name() != "Multi" {
		return b.RPCClient.SendRPC(c)
	}
	b.asked.Add(1)
	class := "org.apache.hadoop.hbase." + b.class
	e := &pb.NameBytesPair{Name: &class, Value: []byte(class + ": no")}
	if b.whole {
		return &pb.MultiResponse{RegionActionResult: []*pb.RegionActionResult{{Exception: e}}}, nil
	}
	return &pb.MultiResponse{RegionActionResult: []*pb.RegionActionResult{{ResultOrException: []*pb.ResultOrException{
		{Index: proto.Uint32(0), Exception: e}}}}}, nil
}

// The error of a call that a region refused until its time was over contains the region's message.
func TestBusyRegion(t *testing.T) {
	s, cl := storeWithTable(t)
	cl.servers.rpc = &refusingRegion{RPCClient: s, class: "RegionTooBusyException"}
	for what, call := range map[string]func(ctx context.Context) error{
		"write": func(ctx context.Context) error { return cl.Mutate(ctx, "t", []Mutation{put("k", 1, "f:a=1")}) },
		"get": func(ctx context.Context) error {
			_, err := cl.Get(ctx, "t", [][]byte{[]byte("k"), []byte("l")}, nil)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if err := call(ctx); err == nil || !strings.Contains(err.Error(), "RegionTooBusyException") {
			t.Errorf("%s: %v", what, err)
		}
		cancel()
	}
}

// A Get of several rows that a region refuses for good, one of them or all, ends with what the region said.
func TestGetsRefusedForGood(t *testing.T) {
	s, cl := storeWithTable(t)
	for _, whole := range []bool{false, true} {
		region := &refusingRegion{RPCClient: s, class: "security.AccessDeniedException", whole: whole}
		cl.servers.rpc = region
		_, err := cl.Get(within(t), "t", [][]byte{[]byte("k"), []byte("l")}, nil)
		if n := region.asked.Load(); err == nil || !strings.Contains(err.Error(), "AccessDeniedException") || n != 1 {
			t.Errorf("all at once: %t: %v after %d calls", whole, err, n)
		}
	}
}

// lateWrite lets the time of the first write pass.
type lateWrite struct {
	gohbase.RPCClient
	writes atomic.Int32
}

func (l *lateWrite) SendRPC(c hrpc.Call) (proto.Message, error) {
	if c.Name() == "Multi" && l.writes.Add(1) == 1 {
		return nil, context.DeadlineExceeded
	}
	return l.RPCClient.SendRPC(c)
}

// A write whose time is over is not sent again: it may be there or not.
func TestLateWrite(t *testing.T) {
	s, cl := storeWithTable(t)
	late := &lateWrite{RPCClient: s}
	cl.servers.rpc = late
	err := cl.Mutate(t.Context(), "t", []Mutation{put("k", 1, "f:a=1")})
	if report := new(BatchError); !errors.As(err, &report) || len(report.Unknown) != 1 || !errors.Is(err, context.DeadlineExceeded) || late.writes.Load() != 1 {
		t.Errorf("%v after %d writes", err, late.writes.Load())
	}
}

// An answer without any regions is an error, not an empty table.
func TestRegionsUnanswered(t *testing.T) {
	cl, broken := stuckClient(t, time.Minute)
	defer broken.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if rs, err := cl.Regions(ctx, "t"); err == nil || errors.Is(err, ErrNoTable) {
		t.Errorf("%v, %v", rs, err)
	}
}

// Without next_call_seq a lost answer loses rows: faults that did not show this would show nothing.
func TestFaultsFindLostRows(t *testing.T) {
	for seed := range uint64(1000) {
		if errors.Is(faultyScan(seed, true, seeds.Figures{}), errWrongRows) {
			return
		}
	}
	t.Fatal("no row was lost in 1000 runs without next_call_seq")
}

// stuck is a client that never answers, as gohbase's may become; it notes that it was closed.
type stuck struct {
	gohbase.RPCClient
	closed chan struct{}
}

func (s *stuck) SendRPC(c hrpc.Call) (proto.Message, error) {
	select {
	case <-c.Context().Done():
		return nil, c.Context().Err()
	case <-s.closed:
		return nil, gohbase.ErrClientClosed
	}
}

func (s *stuck) Close() { close(s.closed) }

// stuckClient gives a client that is stuck until it is replaced by one of a store with the table t of one row.
func stuckClient(t *testing.T, attempt time.Duration) (*client, *stuck) {
	t.Helper()
	s, stored := storeWithTable(t)
	if err := stored.Mutate(t.Context(), "t", []Mutation{put("k", 1, "f:a=1")}); err != nil {
		t.Fatal(err)
	}
	broken := &stuck{s, make(chan struct{})}
	c := &client{servers: link{rpc: broken, redial: func() closer { return s }}, master: link{rpc: s}, attempt: attempt}
	c.rights.free.Store(true) // so that the calls of a test are all there are
	return c, broken
}

// Calls of every kind go on with a new client when theirs does not answer.
func TestStuckClientIsReplaced(t *testing.T) {
	calls := map[string]func(ctx context.Context, c *client) error{
		"get": func(ctx context.Context, c *client) error {
			rows, err := c.Get(ctx, "t", [][]byte{[]byte("k")}, nil)
			if err == nil && len(rows[0].Cells) != 1 {
				err = fmt.Errorf("rows %v", rows)
			}
			return err
		},
		"gets": func(ctx context.Context, c *client) error {
			rows, err := c.Get(ctx, "t", [][]byte{[]byte("j"), []byte("k")}, nil)
			if err == nil && len(rows[1].Cells) != 1 {
				err = fmt.Errorf("rows %v", rows)
			}
			return err
		},
		"scan": func(ctx context.Context, c *client) error {
			sc, err := c.Scan(ctx, ScanRange{Table: "t"}, nil)
			if err != nil {
				return err
			}
			defer sc.Close()
			rows, err := sc.Next(ctx)
			if err == nil && len(rows) != 1 {
				err = fmt.Errorf("rows %v", rows)
			}
			return err
		},
		"mutate": func(ctx context.Context, c *client) error {
			return c.Mutate(ctx, "t", []Mutation{put("k", 2, "f:a=2")})
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			c, _ := stuckClient(t, 20*time.Millisecond)
			if err := call(within(t), c); err != nil {
				t.Error(err)
			}
			if n := c.Stats().Replaced; n != 1 {
				t.Errorf("replaced %d times", n)
			}
		})
	}
	// Another call's client is closed under it.
	for name, call := range calls {
		t.Run(name+" beside another", func(t *testing.T) {
			c, broken := stuckClient(t, time.Minute)
			time.AfterFunc(20*time.Millisecond, func() { c.replace(&c.servers, broken) })
			if err := call(within(t), c); err != nil {
				t.Error(err)
			}
		})
	}
}

// Deadlines that are sooner than the attempt timeout come with table and key. Missed for as long as an
// attempt may take, they tell that a client is stuck.
func TestLateCalls(t *testing.T) {
	c, _ := stuckClient(t, 100*time.Millisecond)
	for n := 1; c.Stats().Replaced == 0; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := c.Get(ctx, "t", [][]byte{[]byte("k")}, nil)
		cancel()
		var late *lateError
		if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) || late.table != "t" || string(late.key) != "k" {
			t.Fatalf("call %d: %v", n, err)
		}
		if n == 1 && late.waited < 100*time.Millisecond && c.Stats().Replaced > 0 || n > 10 {
			t.Fatalf("replaced %d times after %d calls", c.Stats().Replaced, n)
		}
	}
	if _, err := c.Get(within(t), "t", [][]byte{[]byte("k")}, nil); err != nil {
		t.Error(err)
	}
}

// slow answers late from a given call on.
type slow struct {
	gohbase.RPCClient
	from  int32
	calls atomic.Int32
}

func (s *slow) SendRPC(c hrpc.Call) (proto.Message, error) {
	m, err := s.RPCClient.SendRPC(c)
	if s.calls.Add(1) >= s.from {
		time.Sleep(100 * time.Millisecond)
	}
	return m, err
}

// A scan that is given up while a call is under way leaves no scanner open on the server.
func TestAbandonedScan(t *testing.T) {
	for _, from := range []int32{1, 2} { // the open, a next
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			s, err := store.Open(store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			c := New(s, s).(*client)
			if err := c.CreateTable(t.Context(), "t", []Family{{Name: "f"}}, nil); err != nil {
				t.Fatal(err)
			}
			var ms []Mutation
			for i := range 9 {
				ms = append(ms, put(fmt.Sprint("k", i), 1, "f:a=1"))
			}
			if err := c.Mutate(t.Context(), "t", ms); err != nil {
				t.Fatal(err)
			}
			c.rights.free.Store(true) // so that the scan's own calls are all there are
			c.servers.rpc = &slow{RPCClient: s, from: from}
			sc, err := c.Scan(t.Context(), ScanRange{Table: "t", BatchRows: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			for err == nil {
				_, err = sc.Next(ctx)
			}
			if !errors.Is(err, context.DeadlineExceeded) || s.OpenScanners() != 1 {
				t.Fatalf("%v, %d scanners open", err, s.OpenScanners())
			}
			sc.Close()
			for end := time.Now().Add(5 * time.Second); s.OpenScanners() > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the scanner stays open")
				}
			}
		})
	}
}

func TestBatchErrorNamesRows(t *testing.T) {
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c\x00"), []byte("d"), []byte("e"), []byte("f")}
	e := &BatchError{Keys: keys, Failed: map[int]error{4: io.EOF, 2: io.EOF, 1: io.EOF, 0: io.EOF}, Unknown: []int{5}, Cause: io.EOF}
	const want = `4 of 6 mutations refused (rows "a", "b", "c\x00", ...), 1 without an answer (rows "f"): EOF`
	if e.Error() != want {
		t.Errorf("%s\nwant %s", e, want)
	}
}

// closing loses an answer and the refusal of the call sent again for it: the server has closed the scanner over that.
type closing struct {
	gohbase.RPCClient
	calls int
}

func (c *closing) SendRPC(call hrpc.Call) (proto.Message, error) {
	m, err := c.RPCClient.SendRPC(call)
	if resp, ok := m.(*pb.ScanResponse); ok && resp.ScannerId != nil {
		if c.calls++; c.calls%3 == 2 {
			return &pb.ScanResponse{ScannerId: resp.ScannerId}, nil // as HBase 3.0.0-alpha-4 has it
		}
	}
	return m, err
}

// A server says of a scanner that it has closed neither that there are more rows nor that there are none.
func TestScannerClosedOverLostAnswer(t *testing.T) {
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	own := New(s, s)
	name := table(t, own, []Family{{Name: "f"}}, "k5")
	var ms []Mutation
	var want []string
	for i := range 40 {
		ms = append(ms, put(fmt.Sprintf("k%02d", i+30), 1, "f:q=v"))
		want = append(want, fmt.Sprintf("k%02d", i+30))
	}
	if err := own.Mutate(within(t), name, ms); err != nil {
		t.Fatal(err)
	}
	for _, reversed := range []bool{false, true} {
		c := New(&closing{RPCClient: s}, s)
		sc, err := c.Scan(within(t), ScanRange{Table: name, BatchRows: 3, Reversed: reversed}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for {
			rows, err := sc.Next(within(t))
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				got = append(got, string(r.Key))
			}
		}
		sc.Close()
		if reversed {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("reversed %v: %d rows of %d: %v", reversed, len(got), len(want), got)
		}
	}
}

// stopping is a master that stops: it answers so, and another one takes its place after a few calls; or never.
type stopping struct {
	gohbase.RPCClient
	left int
}

func (s *stopping) SendRPC(call hrpc.Call) (proto.Message, error) {
	if s.left < 0 {
		<-call.Context().Done()
		return nil, call.Context().Err()
	}
	if s.left--; s.left >= 0 {
		return nil, errors.New("HBase Java exception org.apache.hadoop.hbase.exceptions.MasterStoppedException: org.apache.hadoop.hbase.exceptions.MasterStoppedException")
	}
	return &pb.GetTableNamesResponse{TableNames: []*pb.TableName{tableName("ns:t"), tableName("a")}}, nil
}

// Calls wait for the master that replaces a stopped one; if none answers, the error says so.
func TestMasterStops(t *testing.T) {
	s, _ := storeWithTable(t)
	names, err := New(s, &stopping{left: 3}).PermittedTables(within(t))
	if err != nil || !slices.Equal(names, []string{"a", "ns:t"}) {
		t.Errorf("%q, %v", names, err)
	}
	for left, want := range map[int]string{-1: "list tables: the master did not answer in ", math.MaxInt: ""} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := New(s, &stopping{left: left}).PermittedTables(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		cancel()
	}
}
