package hbase

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/tsuna/gohbase/pb"

	"github.com/hql-db/hql/filter"
)

// rpcTape keeps the ends of calls.
type rpcTape struct {
	mu    sync.Mutex
	calls []RPCEnd
}

func (t *rpcTape) TraceRPCStart(ctx context.Context, _ RPCStart) context.Context { return ctx }
func (t *rpcTape) TraceRPCEnd(_ context.Context, d RPCEnd) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, d)
}

// drain reads a scan to its end.
func drain(t *testing.T, ctx context.Context, sc Scanner) {
	t.Helper()
	for {
		if _, err := sc.Next(ctx); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A trace tells each RPC with its region and what its answer held, and nothing twice: the sums are those of Stats.
func TestTrace(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}}, "b", "c")
		if err := c.Mutate(within(t), name, []Mutation{put("a1", 1, "f:x=1"), put("b1", 1, "f:x=22"), put("c1", 1, "f:x=333"), put("c2", 1, "f:x=4")}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(within(t), name, [][]byte{[]byte("a1"), []byte("c1")}, nil); err != nil { // learns the regions
			t.Fatal(err)
		}
		tape := &rpcTape{}
		ctx := WithRPCTracer(within(t), tape)
		before := c.Stats()
		sc, err := c.Scan(ctx, ScanRange{Table: name, Start: []byte("b")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, ctx, sc)
		if _, err := c.Get(ctx, name, [][]byte{[]byte("a1")}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(ctx, name, [][]byte{[]byte("a1"), []byte("a2"), []byte("c1")}, nil); err != nil {
			t.Fatal(err)
		}
		after := c.Stats()
		var got []string
		var sum Stats
		for _, x := range tape.calls {
			got = append(got, fmt.Sprintf("%s [%s,%s) %d", x.Method, x.Region.Start, x.Region.Stop, x.Rows))
			sum.RPCs, sum.Bytes, sum.Rows = sum.RPCs+1, sum.Bytes+x.Bytes, sum.Rows+x.Rows
			if x.Table != name || x.Took <= 0 || x.Err != nil {
				t.Errorf("%+v", x)
			}
		}
		slices.Sort(got[min(3, len(got)):]) // regions are asked at the same time
		want := []string{"Scan [b,c) 1", "Scan [c,) 2", "Get [,b) 1", "Multi [,b) 1", "Multi [c,) 1"}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if d := (Stats{RPCs: after.RPCs - before.RPCs, Bytes: after.Bytes - before.Bytes, Rows: after.Rows - before.Rows}); d != sum {
			t.Errorf("traced %+v, counted %+v", sum, d)
		}
		if n := after.Cells - before.Cells; n != 6 {
			t.Errorf("%d cells counted of 6", n)
		}
	})
}

// A scan that asks for metrics gets the servers' counts; a Get gets none, and neither does a scan that does not ask.
func TestScanned(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		name := table(t, c, []Family{{Name: "f"}}, "c")
		if err := c.Mutate(within(t), name, []Mutation{put("a1", 1, "f:x=1"), put("b1", 1, "f:x=22"), put("b2", 1, "f:x=1"), put("c1", 1, "f:y=1"), put("c2", 1, "f:x=4")}); err != nil {
			t.Fatal(err)
		}
		one := filter.Cell{Family: "f", Qualifier: "x", Op: filter.Equal, Value: []byte("1")}
		for _, asked := range []bool{false, true} {
			tape := &rpcTape{}
			ctx := WithRPCTracer(within(t), tape)
			o := &ReadOptions{Filter: one, Metrics: asked}
			sc, err := c.Scan(ctx, ScanRange{Table: name, BatchRows: 1}, o) // several calls a region
			if err != nil {
				t.Fatal(err)
			}
			drain(t, ctx, sc)
			if _, err := c.Get(ctx, name, [][]byte{[]byte("a1")}, o); err != nil {
				t.Fatal(err)
			}
			var sum Scanned
			for _, x := range tape.calls {
				if told := x.Scanned != nil; told != (asked && x.Method == "Scan") {
					t.Errorf("asked %v: %+v", asked, x)
				} else if told {
					sum.Rows, sum.Filtered = sum.Rows+x.Scanned.Rows, sum.Filtered+x.Scanned.Filtered
				}
			}
			if want := (Scanned{Rows: 5, Filtered: 3}); asked && sum != want {
				t.Errorf("scanned %+v, want %+v", sum, want)
			}
		}
	})
}

// Metrics that are cut or mean nothing to this client are no more than unknown.
func TestScanMetricsMalformed(t *testing.T) {
	whole := []byte("\x52\x14\x0a\x10\x0a\x0cROWS_SCANNED\x10\x07\x0a\x00")
	for n := range len(whole) + 1 {
		m := &pb.ScanResponse{}
		m.ProtoReflect().SetUnknown(whole[:n])
		want := (*Scanned)(nil)
		if n == len(whole) {
			want = &Scanned{Rows: 7}
		}
		if got := scanMetrics(m); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q: %+v, want %+v", whole[:n], got, want)
		}
	}
}
