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

	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/store"
)

// copies are a table's primary and replicas, each a store of its own: what the replicas have is older, or has other rows.
type copies struct {
	seed uint64
	mu   sync.Mutex
	r    *rand.Rand
	// ill is how many of ten calls fail at the primary and at replicas; of those some are never answered.
	ill  [2]int
	over chan struct{} // closed with the test
}

func (c *copies) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

// Errors of servers that are ill.
var (
	errNotServing  = errors.New("HBase Java exception org.apache.hadoop.hbase.NotServingRegionException: away")
	errScannerGone = errors.New("HBase Java exception org.apache.hadoop.hbase.UnknownScannerException: gone")
)

// befalls says what becomes of a call to a server: an error, which may take the caller's patience to come; nil: it is answered.
func (c *copies) befalls(call hrpc.Call, who int) error {
	if string(call.Table()) != "t" || c.n(10) >= c.ill[who] {
		return nil
	}
	switch c.n(8) {
	case 0:
		select {
		case <-call.Context().Done():
		case <-c.over:
		}
		return context.DeadlineExceeded
	case 1, 2, 3:
		if call.Name() == "Scan" {
			return errScannerGone
		}
	case 4:
		time.Sleep(time.Duration(c.n(20)) * time.Millisecond) // replicas are asked after ten
		return nil
	}
	return errNotServing
}

// primary is the store that everything is sent to.
type primary struct {
	*store.Store
	copies *copies
}

func (p primary) SendRPC(call hrpc.Call) (proto.Message, error) {
	if err := p.copies.befalls(call, 0); err != nil {
		return nil, err
	}
	return p.Store.SendRPC(call)
}

// replicaServer is the connection to a server of replicas.
type replicaServer struct {
	hrpc.RegionClient
	store  *store.Store
	copies *copies
	wrong  *atomic.Int32 // calls for no replica
}

func (r replicaServer) Dial(context.Context) error { return nil }
func (r replicaServer) Close()                     {}
func (r replicaServer) Addr() string               { return "replica:1" }

func (r replicaServer) QueueRPC(call hrpc.Call) {
	if info, ok := call.Region().(replicaInfo); !ok || !strings.Contains(string(info.specifier.GetValue()), "_000") {
		r.wrong.Add(1)
	}
	go func() {
		var msg proto.Message
		err := r.copies.befalls(call, 1)
		if err == nil {
			msg, err = r.store.SendRPC(call)
		}
		hbasetest.MarkStale(msg)
		call.ResultChan() <- hrpc.RPCResult{Msg: msg, Error: err}
	}()
}

// staleRows counts the rows that calls report as replicas' rows.
type staleRows struct{ n atomic.Int64 }

func (*staleRows) TraceRPCStart(ctx context.Context, _ RPCStart) context.Context { return ctx }
func (s *staleRows) TraceRPCEnd(_ context.Context, d RPCEnd)                     { s.n.Add(d.Stale) }

// replicated gives a client of a table of 40 rows, k00 to k39, in three regions, and which of these each state has.
func replicated(t *testing.T, c *copies) (cl *client, has [2]map[string]bool, wrong *atomic.Int32) {
	var stores [2]*store.Store
	var regions []Region
	for state := range stores {
		s, err := store.Open(store.Options{CacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores[state], has[state] = s, map[string]bool{}
		writer := New(s, s)
		if err := writer.CreateTable(t.Context(), "t", []Family{{Name: "f"}}, [][]byte{[]byte("k15"), []byte("k30")}); err != nil {
			t.Fatal(err)
		}
		var ms []Mutation
		for i := range 40 {
			if c.n(5) == 0 {
				continue // not yet there, or gone since
			}
			m := put(fmt.Sprintf("k%02d", i), 5)
			for q := range 6 {
				m.Cells = append(m.Cells, Cell{Family: []byte("f"), Qualifier: fmt.Appendf(nil, "q%d", q), Value: fmt.Append(nil, state)})
			}
			ms, has[state][string(m.Key)] = append(ms, m), true
		}
		if err := writer.Mutate(t.Context(), "t", ms); err != nil {
			t.Fatal(err)
		}
		if regions, err = writer.Regions(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		s.SetFaults(store.Faults{Seed: int64(c.seed), PartialRow: 0.4, Heartbeat: 0.1})
	}
	p := primary{stores[0], c}
	wrong = new(atomic.Int32)
	cl = &client{servers: link{rpc: p}, master: link{rpc: p}, attempt: 300 * time.Millisecond, replicas: newReplicas(new(dialer), "hql")}
	known := replicatedTable{at: time.Now()}
	for _, r := range regions {
		known.regions = append(known.regions, replica{r, 1, "replica:1"}, replica{r, 2, "replica:1"})
	}
	cl.replicas.tables["t"] = known
	cl.replicas.open["replica:1"] = replicaServer{store: stores[1], copies: c, wrong: wrong}
	return cl, has, wrong
}

// stateOf says of which state a row is: all of it, or there is an error.
func stateOf(row Row) (int, error) {
	if len(row.Cells) != 6 {
		return 0, fmt.Errorf("row %q has %d cells", row.Key, len(row.Cells))
	}
	for q, c := range row.Cells {
		if string(c.Qualifier) != fmt.Sprintf("q%d", q) || !bytes.Equal(c.Value, row.Cells[0].Value) {
			return 0, fmt.Errorf("row %q is of two states: %v", row.Key, row.Cells)
		}
	}
	return int(row.Cells[0].Value[0] - '0'), nil
}

// While the primary and its replicas fail in turn, a read that may be stale returns each row once, whole, as one of
// them has it. It misses no row that both have, and reports the rows of a replica. A read that may not be stale never
// returns a replica's row.
func TestReplicas(t *testing.T) {
	seeds.Each(t, 30, func(t *testing.T, seed uint64, fig seeds.Figures) {
		c := &copies{seed: seed, r: rand.New(rand.NewPCG(seed, 0)), over: make(chan struct{})}
		defer close(c.over)
		cl, has, wrong := replicated(t, c)
		c.ill = [2]int{c.n(11), c.n(5)}
		told := new(staleRows)
		ctx, cancel := context.WithTimeout(WithRPCTracer(t.Context(), told), 20*time.Second)
		defer cancel()
		o := &ReadOptions{Timeline: c.n(4) > 0}
		if !o.Timeline {
			c.ill[0] = min(c.ill[0], 5)
		}
		reversed := c.n(2) == 0
		var got []Row
		var err error
		if c.n(3) > 0 {
			fig["scans"]++
			got, err = scanAll(ctx, cl, ScanRange{Table: "t", Reversed: reversed, BatchRows: 1 + c.n(8), Brief: c.n(3) == 0, Ahead: c.n(2) == 0}, o)
			if reversed {
				slices.Reverse(got)
			}
		} else {
			fig["gets"]++
			var keys [][]byte
			for i := range 40 {
				keys = append(keys, fmt.Appendf(nil, "k%02d", i))
			}
			if got, err = cl.Get(ctx, "t", keys[c.n(40):], o); err == nil {
				for _, k := range keys[:40-len(got)] { // those that were not asked for
					delete(has[0], string(k))
				}
				got = slices.DeleteFunc(got, func(r Row) bool { return r.Key == nil })
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		var of [2]int
		seen := map[string]bool{}
		for i, row := range got {
			state, err := stateOf(row)
			if err != nil {
				t.Fatal(err)
			}
			of[state]++
			seen[string(row.Key)] = true
			if i > 0 && bytes.Compare(got[i-1].Key, row.Key) >= 0 {
				t.Errorf("%q after %q", row.Key, got[i-1].Key)
			}
			if !has[state][string(row.Key)] {
				t.Errorf("state %d has no row %q", state, row.Key)
			}
		}
		for k := range has[0] {
			if !seen[k] && (has[1][k] || !o.Timeline) {
				t.Errorf("row %q is missing", k)
			}
		}
		fig["rows of the primary"] += of[0]
		fig["rows of replicas"] += of[1]
		if !o.Timeline && of[1] > 0 || int64(of[1]) > told.n.Load() {
			t.Errorf("%d rows of a replica, %d told, timeline %v", of[1], told.n.Load(), o.Timeline)
		}
		if n := wrong.Load(); n > 0 {
			t.Errorf("%d calls to a replica are not for it", n)
		}
	})
}

// away refuses all calls for now.
type away struct{ gohbase.RPCClient }

func (away) SendRPC(hrpc.Call) (proto.Message, error) { return nil, errNotServing }

// deaf is the connection to a server of replicas that answers nothing.
type deaf struct {
	hrpc.RegionClient
	asked chan hrpc.Call
}

func (deaf) Dial(context.Context) error { return nil }
func (deaf) Close()                     {}
func (d deaf) QueueRPC(call hrpc.Call)  { d.asked <- call }

// A read ends with its caller's patience where the primary has failed and its replicas do not answer.
func TestReplicasThatDoNotAnswer(t *testing.T) {
	d := deaf{asked: make(chan hrpc.Call)}
	c := &client{servers: link{rpc: away{}}, replicas: newReplicas(new(dialer), "hql")}
	c.replicas.open["replica:1"] = d
	known := replicatedTable{at: time.Now()}
	for id := range maxReplicas {
		known.regions = append(known.regions, replica{id: id + 1, server: "replica:1"})
	}
	c.replicas.tables["t"] = known
	for what, read := range map[string]func(ctx context.Context) error{
		"get": func(ctx context.Context) error {
			_, err := c.Get(ctx, "t", [][]byte{[]byte("k")}, &ReadOptions{Timeline: true})
			return err
		},
		"scan": func(ctx context.Context) error {
			_, err := scanAll(ctx, c, ScanRange{Table: "t"}, &ReadOptions{Timeline: true})
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- read(ctx) }()
		for range maxReplicas {
			call := <-d.asked
			defer func() { call.ResultChan() <- hrpc.RPCResult{Error: errNotServing} }()
		}
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("a %s does not end", what)
		}
	}
}

// replicaFirst holds back the primary's answer, which has come, until it is given up for a replica's.
type replicaFirst struct{ answered chan struct{} }

func (replicaFirst) TraceRPCStart(ctx context.Context, _ RPCStart) context.Context { return ctx }
func (f replicaFirst) TraceRPCEnd(ctx context.Context, d RPCEnd) {
	switch {
	case d.Err != nil:
	case d.Stale > 0:
		<-f.answered
	default:
		close(f.answered)
		<-ctx.Done()
	}
}

// If the primary answers just after a replica, the replica's answer counts at once. The primary's answer goes to the
// function for late answers, which closes a scanner that it opened.
func TestPrimaryAnswersLate(t *testing.T) {
	c := &copies{r: rand.New(rand.NewPCG(1, 0))}
	cl, has, _ := replicated(t, c)
	cl.attempt = time.Minute
	known := cl.replicas.tables["t"]
	known.regions = slices.DeleteFunc(known.regions, func(r replica) bool { return r.id > 1 })
	cl.replicas.tables["t"] = known
	key := []byte("k00")
	for i := 0; !has[0][string(key)] || !has[1][string(key)]; i++ {
		key = fmt.Appendf(nil, "k%02d", i)
	}
	get := func(ctx context.Context) (hrpc.Call, error) {
		g, err := hrpc.NewGet(ctx, []byte("t"), key)
		return &getCall{Get: g, wanted: new(pb.Get)}, err
	}
	for _, wanted := range []bool{false, true} {
		var late []*replica
		var abandoned func(proto.Message, *replica)
		if wanted {
			abandoned = func(_ proto.Message, from *replica) { late = append(late, from) }
		}
		ctx := WithRPCTracer(within(t), replicaFirst{make(chan struct{})})
		r := cl.tryStale(ctx, callAttempt, 0, "t", key, get, abandoned)
		if r.err != nil || r.from == nil || ctx.Err() != nil {
			t.Errorf("an answer of %v, %v, %v", r.from, r.err, ctx.Err())
		}
		if wanted && (len(late) != 1 || late[0] != nil) {
			t.Errorf("late answers of %v", late)
		}
	}
}

// metaWithReplicas answers reads of hbase:meta with a table of two regions, both with a replica.
type metaWithReplicas struct {
	gohbase.RPCClient
	t     *testing.T
	scans int
}

func (m *metaWithReplicas) SendRPC(hrpc.Call) (proto.Message, error) {
	m.scans++
	out := &pb.ScanResponse{MoreResults: proto.Bool(false)}
	for _, r := range [][2]string{{"", "m"}, {"m", ""}} {
		info := marshal(m.t, &pb.RegionInfo{RegionId: proto.Uint64(1), TableName: tableName("t"), StartKey: []byte(r[0]), EndKey: []byte(r[1])})
		row := fmt.Appendf(nil, "t,%s,1.", r[0])
		out.Results = append(out.Results, &pb.Result{Cell: []*pb.Cell{
			{Row: row, Family: []byte("info"), Qualifier: []byte("regioninfo"), Value: append([]byte("PBUF"), info...)},
			{Row: row, Family: []byte("info"), Qualifier: []byte("server_0001"), Value: []byte("replica" + r[0] + ":1")}}})
	}
	return out, nil
}

// Replicas are looked up once for all regions of a table, and again when they were forgotten.
func TestReplicasLookedUp(t *testing.T) {
	m := &metaWithReplicas{t: t}
	c := &client{servers: link{rpc: m}, replicas: newReplicas(new(dialer), "hql")}
	for i, test := range []struct {
		key, server string
		forget      bool
		scans       int
	}{{"a", "replica:1", false, 1}, {"m", "replicam:1", false, 1}, {"z", "replicam:1", true, 2}} {
		if test.forget {
			c.replicas.forget("t")
		}
		of := c.replicasOf(t.Context(), "t", []byte(test.key))
		if len(of) != 1 || of[0].server != test.server || m.scans != test.scans {
			t.Errorf("%d: %v after %d reads of hbase:meta", i, of, m.scans)
		}
	}
}

// The cached replicas do not grow with all the tables that a long-lived client ever reads.
func TestReplicasOfManyTables(t *testing.T) {
	c := &client{servers: link{rpc: &metaWithReplicas{t: t}}, replicas: newReplicas(new(dialer), "hql")}
	for i := range 2000 {
		c.replicas.tables[fmt.Sprint(i)] = replicatedTable{}
	}
	if of := c.replicasOf(t.Context(), "t", []byte("a")); len(of) != 1 || len(c.replicas.tables) > 1001 {
		t.Errorf("%v, %d tables", of, len(c.replicas.tables))
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
