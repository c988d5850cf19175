package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/store"
)

// faultRows is how many rows a world under faults has, faultSplits where its regions begin.
const faultRows = 45

var faultSplits = [][]byte{[]byte("k15"), []byte("k30")}

// faultWorld gives the rows of every world under faults, and what stores them.
var faultWorld = sync.OnceValues(func() ([]Row, []Mutation) {
	var rows []Row
	var ms []Mutation
	for i := range faultRows {
		cells := []string{fmt.Sprintf("f:a=%d", i), "f:b=x", "f:c=y"}
		if i < 20 || i%9 > 1 {
			cells = append(cells, "f:d=z")
		}
		m := put(fmt.Sprintf("k%02d", i), 5, cells...)
		ms = append(ms, m)
		row := Row{Key: m.Key}
		for _, c := range m.Cells {
			row.Cells = append(row.Cells, Cell{c.Family, c.Qualifier, 5, c.Value})
		}
		rows = append(rows, row)
	}
	return rows, ms
})

// errWrongRows reports whether a scan gave other rows than are stored.
var errWrongRows = errors.New("wrong rows")

// splitStore gives a store with the table t of one family in three regions, and a client of it.
func splitStore(ctx context.Context, f Family) (*store.Store, *client, error) {
	s, err := store.Open(store.Options{CacheBytes: 1 << 20})
	if err != nil {
		return nil, nil, err
	}
	c := New(s, s.Admin()).(*client)
	if err := c.CreateTable(ctx, "t", []Family{f}, faultSplits); err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, c, nil
}

// faultyScan reads rows in batches of a few through a store that loses answers,
// drops leases, moves, splits and merges regions and sends rows in parts. It counts in fig what befell
// the calls and what came of them, and fails when that differs from what is stored.
func faultyScan(seed uint64, noSeq bool, fig seeds.Figures) error {
	r := rand.New(rand.NewPCG(seed, 0))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, c, err := splitStore(ctx, Family{Name: "f"})
	if err != nil {
		return err
	}
	defer s.Close()
	c.noSeq = noSeq
	want, ms := faultWorld()
	if err := c.Mutate(ctx, "t", ms); err != nil {
		return err
	}
	s.SetFaults(store.Faults{Seed: int64(seed), AnswerLost: 0.1, RequestLost: 0.05, LeaseGone: 0.05, Move: 0.05, Split: 0.03, Merge: 0.03, PartialRow: 0.3, Heartbeat: 0.1})
	rng := ScanRange{Table: "t", Reversed: r.IntN(2) == 0, BatchRows: 1 + r.IntN(8)}
	lo, hi := 0, len(want)
	if r.IntN(2) == 0 {
		lo, hi = r.IntN(len(want)/2), len(want)/2+1+r.IntN(len(want)/2)
		rng.Start, rng.Stop = want[lo].Key, want[hi].Key
	}
	want = slices.Clone(want[lo:hi])
	if rng.Reversed {
		slices.Reverse(want)
	}
	if r.IntN(3) == 0 {
		rng.Limit = 1 + r.IntN(len(want))
		want = want[:rng.Limit]
	}
	rng.Brief = r.IntN(3) == 0
	o := &ReadOptions{Encoded: r.IntN(2) == 0}
	if r.IntN(2) == 0 { // a column that some rows lack
		o.Families, o.Filter = []string{"f"}, filter.Columns{{Family: "f", Qualifier: "d"}}
		for i, row := range want {
			want[i].Cells = slices.DeleteFunc(slices.Clone(row.Cells), func(c Cell) bool { return string(c.Qualifier) != "a" && string(c.Qualifier) != "d" })
		}
	}
	sc, err := c.Scan(ctx, rng, o)
	if err != nil {
		return err
	}
	fig["scans"]++
	seen := map[string]bool{}
	n, wrong, doubled := 0, 0, 0
	for err == nil {
		var rows []Row
		rows, err = sc.Next(ctx)
		for _, row := range rows {
			row.Cells = append(row.Cells, decodeCells(nil, row.Encoded)...)
			if n >= len(want) || !sameRow(row, want[n]) {
				wrong++
			}
			if seen[string(row.Key)] {
				doubled++
			}
			seen[string(row.Key)] = true
			n++
		}
	}
	sc.Close()
	for kind, n := range s.FaultCounts() {
		fig[string(kind)] += n
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fig["hung"]++
		return err
	case err != io.EOF:
		return err
	}
	lost := 0
	for _, row := range want {
		if !seen[string(row.Key)] {
			lost++
		}
	}
	fig["rows"] += n
	fig["doubled"] += doubled
	fig["lost"] += lost
	if wrong+lost > 0 {
		return fmt.Errorf("%w: %+v gave %d, want %d: %d wrong or out of place, %d lost, %d doubled", errWrongRows, rng, n, len(want), wrong, lost, doubled)
	}
	if n := s.OpenScanners() - s.FaultCounts()[store.FaultOpenLost]; n > 0 {
		fig["leaked"] += n
		return fmt.Errorf("%+v: %d scanners stay open", rng, n)
	}
	return nil
}

func sameRow(a, b Row) bool {
	return bytes.Equal(a.Key, b.Key) && slices.EqualFunc(a.Cells, b.Cells, func(a, b Cell) bool {
		return bytes.Equal(a.Family, b.Family) && bytes.Equal(a.Qualifier, b.Qualifier) && a.Timestamp == b.Timestamp && bytes.Equal(a.Value, b.Value)
	})
}

// No row is lost, repeated or torn, and no scanner stays open, whatever happens to the calls.
func TestScanUnderFaults(t *testing.T) {
	seeds.Each(t, 300, func(t *testing.T, seed uint64, fig seeds.Figures) {
		for _, kind := range []string{"lost", "doubled", "hung", "leaked"} {
			fig[kind] += 0
		}
		if err := faultyScan(seed, false, fig); err != nil {
			t.Error(err)
		}
	})
}

// faultyWrites writes rows and deletes some of them through a misbehaving store, asks for each by key meanwhile, and
// then looks at what is stored: what was acknowledged is there, once, and what was refused is not. Batches are sent
// side by side, so that a seed does not give each of them the same faults every time.
func faultyWrites(seed uint64, fig seeds.Figures) error {
	r := rand.New(rand.NewPCG(seed, 2))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	s, c, err := splitStore(ctx, Family{Name: "f", Attributes: map[string]string{"VERSIONS": "5"}})
	if err != nil {
		return err
	}
	defer s.Close()
	all, ms := faultWorld()
	faults := store.Faults{Seed: int64(seed), AnswerLost: 0.1, RequestLost: 0.05, Move: 0.05, Split: 0.03, Merge: 0.03}
	if r.IntN(2) == 0 {
		faults.Exception = 0.05
	}
	s.SetFaults(faults)
	const absent, present, unknown = 0, 1, 2
	state := make([]int, len(all))
	// apply sends the mutations of rows lo to hi; those applied leave the rows in a state.
	apply := func(lo, hi, then int, ms []Mutation) error {
		err := c.Mutate(ctx, "t", ms)
		var batch *BatchError
		if err != nil && !errors.As(err, &batch) {
			return err
		}
		for i := lo; i < hi; i++ {
			if batch == nil || batch.Failed[i-lo] == nil && !slices.Contains(batch.Unknown, i-lo) {
				state[i] = then
				fig["acknowledged"]++
			} else if batch.Failed[i-lo] != nil {
				fig["refused"]++
			} else {
				state[i] = unknown
				fig["unknown"]++
			}
		}
		return nil
	}
	for lo := 0; lo < len(ms); {
		hi := min(len(ms), lo+1+r.IntN(20))
		if err := apply(lo, hi, present, ms[lo:hi]); err != nil {
			return err
		}
		lo = hi
	}
	lo := r.IntN(len(ms) - 5)
	var gone []Mutation
	for _, m := range ms[lo : lo+5] {
		gone = append(gone, Mutation{Kind: DeleteRow, Key: m.Key, Timestamp: m.Timestamp})
	}
	if err := apply(lo, lo+5, absent, gone); err != nil {
		return err
	}
	// look compares rows with what is known of them.
	look := func(rows []Row, i int) error {
		switch {
		case state[i] == unknown:
		case state[i] == absent && len(rows) > 0:
			fig["wrong rows"]++
			return fmt.Errorf("%q is there, after it was deleted or refused", all[i].Key)
		case state[i] == present && len(rows) == 0:
			fig["lost"]++
			return fmt.Errorf("%q was acknowledged and is not there", all[i].Key)
		case state[i] == present && len(rows[0].Cells) > len(all[i].Cells):
			fig["doubled"]++
			return fmt.Errorf("%q has versions of its own: %v", all[i].Key, rows[0])
		case state[i] == present && !sameRow(rows[0], all[i]):
			fig["wrong rows"]++
			return fmt.Errorf("%q is %v", all[i].Key, rows[0])
		}
		return nil
	}
	keys := make([][]byte, len(all))
	for i := range all {
		keys[i] = all[i].Key
	}
	versions := &ReadOptions{Versions: 5}
	rows, err := c.Get(ctx, "t", keys, versions)
	if errors.Is(err, context.DeadlineExceeded) {
		fig["hung"]++
		return err
	}
	if err != nil && faults.Exception == 0 {
		return err
	}
	for kind, n := range s.FaultCounts() {
		fig[string(kind)] += n
	}
	if err != nil { // an exception is an answer, of which no row is to be had
		fig["clear errors"]++
		s.SetFaults(store.Faults{})
		if rows, err = c.Get(ctx, "t", keys, versions); err != nil {
			return err
		}
	}
	fig["gets"] += len(rows)
	for i, row := range rows {
		found := []Row{row}
		if len(row.Cells) == 0 {
			found = nil
		}
		if err := look(found, i); err != nil {
			return err
		}
	}
	return nil
}

// Acknowledged rows are there, once, whatever happens to the calls; refused ones are not.
func TestWritesUnderFaults(t *testing.T) {
	seeds.Each(t, 300, func(t *testing.T, seed uint64, fig seeds.Figures) {
		for _, kind := range []string{"lost", "doubled", "hung"} {
			fig[kind] += 0
		}
		if err := faultyWrites(seed, fig); err != nil {
			t.Error(err)
		}
	})
}

// storeWithTable gives a store with the table t of family f, and a client of it.
func storeWithTable(t *testing.T) (*store.Store, *client) {
	t.Helper()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := New(s, s.Admin()).(*client)
	if err := c.CreateTable(t.Context(), "t", []Family{{Name: "f"}}, nil); err != nil {
		t.Fatal(err)
	}
	return s, c
}

// refusingAgain answers writes with an exception, as if a connection broke after each of its answers but the last.
type refusingAgain struct {
	gohbase.Client
	lost      int
	exception string
}

func (f *refusingAgain) SendRPC(c hrpc.Call) (proto.Message, error) {
	if c.Name() != "Multi" {
		return f.Client.(gohbase.RPCClient).SendRPC(c)
	}
	for range f.lost {
		if m, err := f.Client.(gohbase.RPCClient).SendRPC(c); err != nil {
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
	} {
		s, cl := storeWithTable(t)
		cl.rpc = &refusingAgain{s, c.lost, c.exception}
		err := cl.Mutate(t.Context(), "t", []Mutation{put("k", 1, "f:a=1")})
		var batch *BatchError
		if !errors.As(err, &batch) || len(batch.Failed)+len(batch.Unknown) != 1 || len(batch.Failed) == 1 != c.refused {
			t.Errorf("%d answers lost, %s: %v", c.lost, c.exception, err)
		}
	}
}

// fullRegion refuses each write for a while, within an answer.
type fullRegion struct{ gohbase.Client }

func (b fullRegion) SendRPC(c hrpc.Call) (proto.Message, error) {
	if c.Name() != "Multi" {
		return b.Client.(gohbase.RPCClient).SendRPC(c)
	}
	const class = "org.apache.hadoop.hbase.RegionTooBusyException"
	return &pb.MultiResponse{RegionActionResult: []*pb.RegionActionResult{{ResultOrException: []*pb.ResultOrException{
		{Index: proto.Uint32(0), Exception: &pb.NameBytesPair{Name: proto.String(class), Value: []byte(class + ": full")}}}}}}, nil
}

// A write that its region refuses until the time is over says what the region said.
func TestWriteToABusyRegion(t *testing.T) {
	s, cl := storeWithTable(t)
	cl.rpc = fullRegion{s}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := cl.Mutate(ctx, "t", []Mutation{put("k", 1, "f:a=1")}); err == nil || !strings.Contains(err.Error(), "RegionTooBusyException") {
		t.Error(err)
	}
}

// Regions that nobody told of are an error, and not none.
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
	gohbase.Client
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
	s, c := storeWithTable(t)
	if err := c.Mutate(t.Context(), "t", []Mutation{put("k", 1, "f:a=1")}); err != nil {
		t.Fatal(err)
	}
	broken := &stuck{s, make(chan struct{})}
	return &client{rpc: broken, admin: s.Admin(), redial: func() gohbase.Client { return s }, attempt: attempt}, broken
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
			time.AfterFunc(20*time.Millisecond, func() { c.replace(broken) })
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
	gohbase.Client
	from  int32
	calls atomic.Int32
}

func (s *slow) SendRPC(c hrpc.Call) (proto.Message, error) {
	m, err := s.Client.(gohbase.RPCClient).SendRPC(c)
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
			c := New(s, s.Admin()).(*client)
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
			c.rpc = &slow{Client: s, from: from}
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
	gohbase.Client
	calls int
}

func (c *closing) SendRPC(call hrpc.Call) (proto.Message, error) {
	m, err := c.Client.(gohbase.RPCClient).SendRPC(call)
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
	own := New(s, s.Admin())
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
		c := New(&closing{Client: s}, s.Admin())
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
	gohbase.AdminClient
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

// The master that takes a stopped one's place is waited for; that none answers is told.
func TestMasterStops(t *testing.T) {
	s, _ := storeWithTable(t)
	names, err := New(s, &stopping{left: 3}).PermittedTables(within(t))
	if err != nil || !slices.Equal(names, []string{"a", "ns:t"}) {
		t.Errorf("%q, %v", names, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := New(s, &stopping{left: -1}).PermittedTables(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "list tables: the master did not answer in ") {
		t.Error(err)
	}
}
