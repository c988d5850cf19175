package scan_test

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"github.com/tsuna/gohbase/region"
	"google.golang.org/protobuf/proto"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/store"
)

// cluster is an embedded store whose servers are watched: what they have to do at a time.
type cluster struct {
	*store.Store
	mu       sync.Mutex
	regions  map[string][]hbase.Region // by table
	flying   load                      // RPCs
	scanners load
	open     map[uint64]bool
}

// load counts what is there, and the most there was: in all and on one server.
type load struct {
	all, most, mostOnOne int
	on                   map[string]int
}

func (l *load) add(server string, n int) {
	if l.on == nil {
		l.on = map[string]int{}
	}
	l.all, l.on[server] = l.all+n, l.on[server]+n
	l.most, l.mostOnOne = max(l.most, l.all), max(l.mostOnOne, l.on[server])
}

// SendRPC sends a call and takes notes. A scanner is there from the call that opens it to the end of
// the one that closes it.
func (c *cluster) SendRPC(call hrpc.Call) (proto.Message, error) {
	regions := c.regions[string(call.Table())]
	if regions == nil {
		return c.Store.SendRPC(call)
	}
	server := scan.RegionsOf(regions, plan.Span{Start: call.Key(), Key: true})[0].Server
	var scan *pb.ScanRequest
	if call.Name() == "Scan" {
		call.SetRegion(region.NewInfo(0, nil, nil, []byte("any"), nil, nil)) // else there is no request
		scan = call.ToProto().(*pb.ScanRequest)
	}
	c.mu.Lock()
	c.flying.add(server, 1)
	if scan != nil && scan.ScannerId == nil {
		c.scanners.add(server, 1)
	}
	c.mu.Unlock()
	msg, err := c.Store.SendRPC(call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying.add(server, -1)
	if scan != nil {
		resp, _ := msg.(*pb.ScanResponse)
		id, stays := resp.GetScannerId(), resp.GetMoreResults() && resp.GetMoreResultsInRegion() && !scan.GetCloseScanner()
		if !stays && (scan.ScannerId == nil || c.open[id]) {
			c.scanners.add(server, -1)
		}
		if c.open[id] = stays; !stays {
			delete(c.open, id)
		}
	}
	return msg, err
}

// reset forgets the most there was.
func (c *cluster) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying, c.scanners, c.open = load{}, load{}, map[uint64]bool{}
}

// newCluster makes tables with setup on a cluster of some servers.
func newCluster(t *testing.T, servers int, cfg Config, setup ...string) (*cluster, *World) {
	s, err := store.Open(store.Options{Servers: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := &cluster{Store: s, regions: map[string][]hbase.Region{}}
	cfg.FullScan = AllowFullScan
	client := hbase.New(c, s)
	w := NewWorld(t, client, cfg)
	for _, sql := range setup {
		w.Do(sql)
	}
	names, err := client.Tables(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if c.regions[n], err = client.KnownRegions(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	c.reset()
	return c, w
}

// peak gives how far the heap's objects, and the garbage that a tight collector leaves, grew while f ran, in bytes.
func peak(f func()) (most int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	heap := func() int64 {
		m := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(m)
		return int64(m[0].Value.Uint64())
	}
	runtime.GC()
	base := heap()
	done, seen := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		for {
			select {
			case <-done:
				seen <- most
				return
			case <-time.After(time.Millisecond):
				most = max(most, heap()-base)
			}
		}
	}()
	f()
	close(done)
	return <-seen
}

// What statements do to a cluster of a thousand regions. docs/scale.md has the table that it prints.
func TestScale(t *testing.T) {
	race.Skip(t)
	const regions, salts, rows = 1000, 256, 20_000
	spread := fmt.Sprintf("CREATE TABLE spread (id BIGINT, v STRING) ROW KEY (LEFT(MD5(id), 8), id AS TEXT) SPLIT INTO %d BY HEX", regions)
	salted := "CREATE TABLE salted (id BIGINT, v STRING) ROW KEY (SALT(0 TO 255) AS UINT8, id AS UINT64) SPLIT INTO 256 BY KEY"
	queries := []struct {
		name, sql  string
		rows       int
		least, rpc int64 // RPCs, between these
		inFlight   int   // at most
		scanners   int   // at most
		shared     bool  // no server has more than half of them
	}{
		{"one row by its key", "SELECT * FROM spread WHERE id = 7", 1, 1, 1, 1, 0, false},
		{"1,000 rows by their keys", "SELECT * FROM spread WHERE id IN (" + Multiples(1000, 3) + ")", 1000, 500, 700, 16, 0, false},
		{"all rows", "SELECT * FROM spread", rows, regions, regions, 16, 16, true},
		{"count(*)", "SELECT count(*) FROM spread", 1, regions, regions, 16, 16, true},
		{"any 10 rows", "SELECT * FROM spread LIMIT 10", 10, 1, 3, 1, 1, false},
		{"a row that is nowhere, LIMIT 1", "SELECT * FROM spread WHERE v = 'x' LIMIT 1", 0, regions, regions, 16, 16, false},
		{"one row under any of 256 salts", "SELECT * FROM salted WHERE id = 7", 1, salts, salts, 16, 0, false},
		{"256 salts, in order", "SELECT * FROM salted ORDER BY id", rows, salts, salts, 16, 16, false},
		{"256 salts, the newest 10", "SELECT * FROM salted ORDER BY id DESC LIMIT 10", 10, salts, salts + 10, 16, 16, false},
	}
	for _, servers := range []int{20, 1} {
		c, w := newCluster(t, servers, Config{Alone: true}, spread, salted)
		w.Fill("spread", rows, func(i int) string { return fmt.Sprintf("(%d, 'v%d')", i, i) })
		w.Fill("salted", rows, func(i int) string { return fmt.Sprintf("(%d, 'v%d')", i, i) })
		c.SetFaults(store.Faults{Latency: 2 * time.Millisecond})
		var out strings.Builder
		tw := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(tw, "servers: %d\tregions\trows read\tRPCs\tin flight\tscanners\ton one server\ttime\theap\n", servers)
		for _, q := range queries {
			c.reset()
			var n int
			var s Stats
			heap := peak(func() { n, s = w.Read(q.sql) })
			fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%v\t%.1f MiB\n", q.name, s.Regions, s.RowsRead, s.RPCs, c.flying.most,
				c.scanners.most, c.scanners.mostOnOne, s.Elapsed.Round(time.Millisecond), float64(heap)/(1<<20))
			if n != q.rows {
				t.Errorf("%s: %d rows, want %d", q.name, n, q.rows)
			}
			if s.RPCs < q.least || s.RPCs > q.rpc {
				t.Errorf("%s: %d RPCs, want %d to %d", q.name, s.RPCs, q.least, q.rpc)
			}
			if f := c.flying.most; f > q.inFlight || f < q.inFlight/4 { // a busy machine may not get as far
				t.Errorf("%s: %d RPCs in flight, want %d", q.name, f, q.inFlight)
			}
			if c.scanners.most > q.scanners || c.scanners.all != 0 {
				t.Errorf("%s: %d scanners open at a time, want %d at most; %d stay", q.name, c.scanners.most, q.scanners, c.scanners.all)
			}
			if one := c.scanners.mostOnOne; q.shared && one > q.scanners/2 {
				t.Errorf("%s: %d scanners on one server", q.name, one)
			}
		}
		tw.Flush()
		t.Log("\n" + out.String())
	}
}

// A merge of more streams than may keep a scanner keeps none while it waits for its consumer.
func TestMergeOfManyLeavesNoScanner(t *testing.T) {
	const salts, rows = 8, 800
	c, w := newCluster(t, 2, Config{Alone: true}, "CREATE TABLE t (id BIGINT, v STRING) ROW KEY (SALT(0 TO 7) AS UINT8, id AS UINT64) SPLIT INTO 8 BY KEY")
	v := strings.Repeat("x", 8000)
	w.Fill("t", rows, func(i int) string { return fmt.Sprintf("(%d, '%s')", i, v) })
	for most, want := range map[int]int{salts: salts, salts - 1: 0} {
		cfg := Config{FullScan: AllowFullScan, Alone: true, Tuning: scan.DefaultTuning()}
		cfg.Tuning.OpenScanners, cfg.Tuning.ResponseBytes = most, 1 // a stream is many answers
		r, err := New(w.Client(), w.Catalog(), cfg).Run(t.Context(), MustParse(t, "SELECT id, v FROM t ORDER BY id"), Args{})
		if err != nil {
			t.Fatal(err)
		}
		next := int64(0)
		for {
			batch, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if next == 0 { // wait until all streams have read ahead as far as they may
				waitFor(t, func() bool {
					c.mu.Lock()
					defer c.mu.Unlock()
					return c.flying.all == 0 && c.scanners.all == want
				})
			}
			for _, row := range batch {
				if row[0].Int() != next {
					t.Fatalf("row %v, want %d", row[0], next)
				}
				next++
			}
		}
		if err := r.Close(); err != nil || next != rows || c.scanners.all != 0 {
			t.Errorf("%d rows, %d scanners stay, %v", next, c.scanners.all, err)
		}
	}
}

// waitFor waits until ok, for a few seconds.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come so far in 5 s")
		}
	}
}
