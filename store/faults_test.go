package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// readAll scans the table as a careful client does: with a sequence number when seq,
// opening anew behind the last whole row when a scanner is lost.
func (w *world) readAll(ctx context.Context, seq bool) (rows []string, err error) {
	var last []byte
	var part []*pb.Cell
	next := func(start []byte) []byte { return append(bytes.Clone(start), 0) }
	for route := []byte{}; ; {
		start := route
		if last != nil && bytes.Compare(next(last), start) > 0 {
			start = next(last)
		}
		var id, n uint64
		open := false
		for {
			o := opts{hrpc.NumberOfRows(3)}
			if open {
				o = append(o, hrpc.ScannerID(id))
			}
			s := must(hrpc.NewScanRange(ctx, []byte("t"), start, nil, o...))
			rpc := &rawScan{s, string(start), func(m *pb.ScanRequest) {
				if seq {
					m.NextCallSeq = proto.Uint64(n)
				}
			}}
			msg, err := w.SendRPC(rpc)
			if err != nil {
				if isClass(err, classUnknownScanner) || isClass(err, classOutOfOrder) {
					part = nil
					break
				}
				return rows, err
			}
			r := msg.(*pb.ScanResponse)
			if !open {
				open, id = true, r.GetScannerId()
			}
			n++
			for _, res := range r.Results {
				if len(part) > 0 && !bytes.Equal(part[0].Row, res.Cell[0].Row) {
					rows, last = append(rows, rowText(part)), bytes.Clone(part[0].Row)
					part = nil
				}
				part = append(part, res.Cell...)
				if !res.GetPartial() {
					rows, last = append(rows, rowText(part)), bytes.Clone(part[0].Row)
					part = nil
				}
			}
			if !r.GetMoreResultsInRegion() {
				if len(part) > 0 {
					rows, last = append(rows, rowText(part)), bytes.Clone(part[0].Row)
					part = nil
				}
				route = rpc.Region().StopKey()
				if len(route) == 0 {
					return rows, nil
				}
				break
			}
		}
	}
}

func rowText(cells []*pb.Cell) string {
	return format(hrpc.ToLocalResult(&pb.Result{Cell: cells}))
}

func faultWorld(t *testing.T) (*world, []string) {
	w := newWorld(t, "r020", "r040")
	for i := range 60 {
		w.put(fmt.Sprintf("r%03d", i), 1, "f:a=1", "f:b=2", "g:c=3")
	}
	w.SetFaults(Faults{})
	rows, err := w.readAll(context.Background(), true)
	if err != nil || len(rows) != 60 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return w, rows
}

// Whatever befalls the scanners, a careful client reads every row once and whole. Nothing befalls them but what was asked for.
func TestFaultsCarefulClient(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Faults
		want []FaultKind
	}{
		{"answers lost", Faults{AnswerLost: 0.2}, []FaultKind{FaultAnswerLost, FaultOpenLost}},
		{"requests lost", Faults{RequestLost: 0.2}, []FaultKind{FaultRequestLost}},
		{"leases", Faults{LeaseGone: 0.2}, []FaultKind{FaultLeaseGone}},
		{"moves", Faults{Move: 0.2}, []FaultKind{FaultMove}},
		{"splits and merges", Faults{Split: 0.2, Merge: 0.2}, []FaultKind{FaultSplit, FaultMerge}},
		{"partial rows", Faults{PartialRow: 0.5}, []FaultKind{FaultPartialRow}},
		{"heartbeats", Faults{Heartbeat: 0.3}, []FaultKind{FaultHeartbeat}},
		{"delays", Faults{Delay: 0.3, DelayFor: time.Millisecond}, []FaultKind{FaultDelay}},
		{"delays of the usual length", Faults{Delay: 0.02}, []FaultKind{FaultDelay}},
		{"everything", Faults{AnswerLost: 0.1, RequestLost: 0.1, LeaseGone: 0.1, Move: 0.05, Split: 0.05, Merge: 0.05,
			PartialRow: 0.2, Heartbeat: 0.1}, []FaultKind{FaultAnswerLost, FaultOpenLost, FaultRequestLost, FaultLeaseGone, FaultMove, FaultSplit, FaultMerge, FaultPartialRow, FaultHeartbeat}},
		{"certain calls", Faults{SplitAt: []int{2}, MoveAt: []int{4}, MergeAt: []int{6}}, []FaultKind{FaultSplit, FaultMove, FaultMerge}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, rows := faultWorld(t)
			counts := map[FaultKind]int{}
			for seed := range int64(20) {
				c.f.Seed = seed
				w.SetFaults(c.f)
				got, err := w.readAll(context.Background(), true)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if strings.Join(got, "\n") != strings.Join(rows, "\n") {
					t.Fatalf("seed %d: %d rows of %d:\n%s", seed, len(got), len(rows), strings.Join(got, "\n"))
				}
				for k, n := range w.FaultCounts() {
					counts[k] += n
				}
			}
			kinds := slices.Sorted(maps.Keys(counts))
			if slices.Sort(c.want); !slices.Equal(kinds, c.want) {
				t.Errorf("faults of the kinds %q, want %q", kinds, c.want)
			}
		})
	}
}

// Without sequence numbers lost answers lose rows: the store must show it.
func TestFaultsCarelessClient(t *testing.T) {
	w, rows := faultWorld(t)
	lost := 0
	for seed := range int64(20) {
		w.SetFaults(Faults{Seed: seed, AnswerLost: 0.2})
		got, err := w.readAll(context.Background(), false)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) < len(rows) {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no run lost a row")
	}
}

func TestFaultsAreReproducible(t *testing.T) {
	run := func() map[FaultKind]int {
		w, _ := faultWorld(t)
		w.SetFaults(Faults{Seed: 7, AnswerLost: 0.2, Split: 0.2, PartialRow: 0.3, LeaseGone: 0.2})
		if _, err := w.readAll(context.Background(), true); err != nil {
			t.Fatal(err)
		}
		return w.FaultCounts()
	}
	a, b := run(), run()
	if fmt.Sprint(a) != fmt.Sprint(b) || len(a) == 0 {
		t.Errorf("%v then %v", a, b)
	}
}

func TestFaultsThatFail(t *testing.T) {
	w, _ := faultWorld(t)
	w.SetFaults(Faults{Exception: 1, ExceptionClass: "org.apache.hadoop.hbase.SomethingException"})
	_, err := w.readAll(context.Background(), true)
	if !isClass(err, "org.apache.hadoop.hbase.SomethingException") {
		t.Errorf("exception: %v", err)
	}
	for name, f := range map[string]Faults{"hang": {Hang: 1}, "busy": {TooBusy: 1}, "delay": {Delay: 1, DelayFor: time.Hour}} {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		w.SetFaults(f)
		if _, err := w.readAll(ctx, true); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	// A lost answer applies an increment twice.
	w.SetFaults(Faults{Seed: 1, AnswerLost: 0.5})
	n := int64(0)
	for range 10 {
		n = must(w.Increment(must(hrpc.NewIncStrSingle(context.Background(), "t", "n", "f", "n", 1))))
	}
	if twice := int64(w.FaultCounts()[FaultAnswerLost]); n != 10+twice || twice == 0 {
		t.Errorf("counter %d after 10 increments and %d lost answers", n, twice)
	}
}
