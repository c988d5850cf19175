package hbase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/store"
)

// A brief scan gives what any scan gives, one RPC an answer, and rows larger than an answer, too.
func TestBriefScan(t *testing.T) {
	both(t, func(t *testing.T, c Client) {
		ctx := within(t)
		name := table(t, c, []Family{{Name: "f"}}, "k3", "k6")
		var ms []Mutation
		var want []string
		for i := range 90 {
			m := put(fmt.Sprintf("k%d%d", i/10, i%10), 5)
			for q := range 1 + 40*(i%20/19) { // some are larger than an answer
				m.Cells = append(m.Cells, Cell{Family: []byte("f"), Qualifier: fmt.Appendf(nil, "q%02d", q), Value: make([]byte, 100)})
			}
			ms, want = append(ms, m), append(want, fmt.Sprintf("%s %d", m.Key, len(m.Cells)))
		}
		if err := c.Mutate(ctx, name, ms); err != nil {
			t.Fatal(err)
		}
		for _, reversed := range []bool{false, true} {
			for _, size := range []int{1000, 1 << 20} {
				var got []string
				sc, err := c.Scan(ctx, ScanRange{Table: name, Reversed: reversed, BatchBytes: size, Brief: true}, nil)
				if err != nil {
					t.Fatal(err)
				}
				before := c.Stats().RPCs
				for {
					rows, err := sc.Next(ctx)
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range rows {
						got = append(got, fmt.Sprintf("%s %d", r.Key, len(r.Cells)))
					}
				}
				if reversed {
					slices.Reverse(got)
				}
				if !slices.Equal(got, want) {
					t.Errorf("reversed %v, %d bytes an answer: %q", reversed, size, got)
				}
				if n := c.Stats().RPCs - before; size > 1000 && n != 3 {
					t.Errorf("reversed %v: %d RPCs for three regions", reversed, n)
				}
			}
		}
	})
}

// A brief scan holds no scanner while nobody waits for it, and a scan that reads ahead none once it is closed.
func TestScanLeavesNoScanner(t *testing.T) {
	s, c := inMemory(t)
	ctx := within(t)
	if err := c.CreateTable(ctx, "t", []Family{{Name: "f"}}, nil); err != nil {
		t.Fatal(err)
	}
	var ms []Mutation
	for i := range 100 {
		ms = append(ms, put(fmt.Sprintf("k%02d", i), 5, "f:a=x"))
	}
	if err := c.Mutate(ctx, "t", ms); err != nil {
		t.Fatal(err)
	}
	for n := range 12 { // closed after n calls, while the next one is under way
		sc, err := c.Scan(ctx, ScanRange{Table: "t", BatchRows: 10, Ahead: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for range n {
			batch, err := sc.Next(ctx)
			if rows += len(batch); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		if err := sc.Close(); err != nil || rows != min(10*n, 100) || s.OpenScanners() != 0 {
			t.Errorf("%d calls ahead: %d rows, %d scanners, %v", n, rows, s.OpenScanners(), err)
		}
	}
	for brief, want := range map[bool]int{false: 1, true: 0} {
		sc, err := c.Scan(ctx, ScanRange{Table: "t", BatchRows: 10, Brief: brief}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for range 9 {
			batch, err := sc.Next(ctx)
			if rows += len(batch); err != nil || s.OpenScanners() != want {
				t.Fatalf("brief %v: %d scanners after %d rows, %v", brief, s.OpenScanners(), rows, err)
			}
		}
		if err := sc.Close(); err != nil || rows != 90 {
			t.Errorf("brief %v: %d rows, %v", brief, rows, err)
		}
	}
}

func inMemory(t *testing.T) (*store.Store, Client) {
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, New(s, s)
}

// gate counts the RPCs in flight, and refuses the first ones as a server under load does.
type gate struct {
	*store.Store
	now, most, refused, refuse, meta atomic.Int64
	class                            string
}

func (g *gate) SendRPC(c hrpc.Call) (proto.Message, error) {
	if string(c.Table()) == "hbase:meta" {
		g.meta.Add(1)
		return g.Store.SendRPC(c)
	}
	n := g.now.Add(1)
	defer g.now.Add(-1)
	for m := g.most.Load(); n > m && !g.most.CompareAndSwap(m, n); m = g.most.Load() {
	}
	if g.refuse.Add(-1) >= 0 {
		g.refused.Add(1)
		return nil, errors.New("HBase Java exception org.apache.hadoop.hbase." + g.class + ":\nlater")
	}
	return g.Store.SendRPC(c)
}

// Keys of many regions are read by several RPCs at a time, no more than there are slots.
func TestGetsAtOnce(t *testing.T) {
	s, c := inMemory(t)
	ctx := within(t)
	var splits, keys [][]byte
	var ms []Mutation
	for i := range 64 {
		keys = append(keys, []byte{byte(i), 'k'})
		ms = append(ms, put(string(keys[i]), 5, "f:a=x"))
		if i > 0 {
			splits = append(splits, []byte{byte(i)})
		}
	}
	if err := errors.Join(c.CreateTable(ctx, "t", []Family{{Name: "f"}}, splits), c.Mutate(ctx, "t", ms)); err != nil {
		t.Fatal(err)
	}
	s.SetFaults(store.Faults{Latency: 2 * time.Millisecond})
	for _, most := range []int{1, 8} {
		g := &gate{Store: s}
		c := New(g, s)
		slots := make(chan struct{}, most)
		rows, err := c.Get(ctx, "t", keys, &ReadOptions{Slots: slots})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			if string(r.Key) != string(keys[i]) {
				t.Fatalf("row %d is %q", i, r.Key)
			}
		}
		if int(g.most.Load()) != most || len(slots) != 0 {
			t.Errorf("%d slots: %d in flight, %d kept", most, g.most.Load(), len(slots))
		}
	}
	canceled, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	if _, err := c.Get(canceled, "t", keys, &ReadOptions{Slots: make(chan struct{}, 1)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a Get given up: %v", err)
	}
}

// Refused calls are sent again after longer and longer waits, and hbase:meta is
// not asked: the regions are where they were.
func TestBackoffWhenBusy(t *testing.T) {
	for _, class := range []string{"RegionTooBusyException", "CallQueueTooBigException"} {
		s, c := inMemory(t)
		ctx := within(t)
		if err := c.CreateTable(ctx, "t", []Family{{Name: "f"}}, nil); err != nil {
			t.Fatal(err)
		}
		g := &gate{Store: s, class: class}
		c = New(g, s)
		calls := map[string]func() error{
			"write": func() error { return c.Mutate(ctx, "t", []Mutation{put("a", 5, "f:a=x"), put("b", 5, "f:a=y")}) },
			"get": func() error {
				rows, err := c.Get(ctx, "t", [][]byte{[]byte("a"), []byte("b")}, nil)
				if err == nil && (rows[0].Key == nil || rows[1].Key == nil) {
					return errors.New("rows are missing")
				}
				return err
			},
			"scan": func() error {
				sc, err := c.Scan(ctx, ScanRange{Table: "t"}, nil)
				if err != nil {
					return err
				}
				defer sc.Close()
				rows, err := sc.Next(ctx)
				if err == nil && len(rows) != 2 {
					return fmt.Errorf("%d rows", len(rows))
				}
				return err
			},
		}
		for _, name := range []string{"write", "get", "scan"} {
			if _, err := c.KnownRegions(ctx, "t"); err != nil {
				t.Fatal(err)
			}
			g.refused.Store(0)
			g.refuse.Store(5)
			meta, began := g.meta.Load(), time.Now()
			if err := calls[name](); err != nil || g.refused.Load() != 5 {
				t.Errorf("%s, %s: refused %d times, %v", class, name, g.refused.Load(), err)
			}
			if took := time.Since(began); took < 155*time.Millisecond { // half of 10, 20, 40, 80 and 160 ms
				t.Errorf("%s, %s: sent six times in %v", class, name, took)
			}
			if g.meta.Load() != meta {
				t.Errorf("%s, %s: hbase:meta was asked", class, name)
			}
		}
	}
}
