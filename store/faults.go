package store

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/internal/pause"
)

// FaultKind names a fault.
type FaultKind string

// The faults.
const (
	// FaultAnswerLost executes the call and loses the answer; the client sends the call
	// again. A scan's next without a sequence number thereby loses a batch.
	FaultAnswerLost FaultKind = "answer lost"
	// FaultOpenLost is FaultAnswerLost for a call that opens a scanner: no client knows of
	// it, and only the end of its lease closes it.
	FaultOpenLost FaultKind = "answer to an open lost"
	// FaultRequestLost loses the call before it is executed; the client sends it again.
	FaultRequestLost FaultKind = "request lost"
	// FaultLeaseGone ends the lease of the scanner that the call uses.
	FaultLeaseGone FaultKind = "lease gone"
	// FaultMove, FaultSplit and FaultMerge reshape the call's region: its scanners are lost.
	FaultMove  FaultKind = "region moved"
	FaultSplit FaultKind = "region split"
	FaultMerge FaultKind = "regions merged"
	// FaultStray sends the call to a server that never had its region, which answers with NotServingRegionException.
	FaultStray FaultKind = "stray"
	// FaultDelay delays the answer.
	FaultDelay FaultKind = "delay"
	// FaultTooBusy refuses the call with RegionTooBusyException; the client tries again later.
	FaultTooBusy FaultKind = "too busy"
	// FaultThrottle refuses the call, or a Multi's actions on the region, with RpcThrottlingException.
	FaultThrottle FaultKind = "throttled"
	// FaultException fails the call with an exception that clients do not retry.
	FaultException FaultKind = "exception"
	// FaultPartialRow ends a scan's answer within a row, after any cell.
	FaultPartialRow FaultKind = "partial row"
	// FaultHeartbeat answers a scan without rows.
	FaultHeartbeat FaultKind = "heartbeat"
	// FaultHang executes the call and never answers: only the call's context ends it.
	FaultHang FaultKind = "hang"
)

// Faults make a store misbehave. The numbers are probabilities, 0 to 1, that a call to a region of a user's table has
// the fault; the same seed gives the same faults to the same sequence of calls. Calls to hbase:meta and to the master
// have none.
type Faults struct {
	Seed int64

	AnswerLost, RequestLost, LeaseGone float64
	Move, Split, Merge, Stray          float64
	Delay, TooBusy, Throttle           float64
	Exception                          float64
	PartialRow, Heartbeat, Hang        float64

	// MoveAt, SplitAt and MergeAt are the numbers of calls (the first is 1) that have the fault for certain.
	MoveAt, SplitAt, MergeAt []int
	// DelayFor is the longest delay; 0 is 10 ms.
	DelayFor time.Duration
	// Latency is added to every call.
	Latency time.Duration
	// ExceptionClass is the exception of FaultException; "" is java.io.IOException.
	ExceptionClass string
	// MaxRegions is the number of regions of a table from which on FaultSplit has no effect; 0 is 16.
	MaxRegions int
}

// faults draws the faults of a store's calls.
type faults struct {
	on     atomic.Bool
	mu     sync.Mutex
	f      Faults
	rng    *rand.Rand
	calls  int
	counts map[FaultKind]int
}

// injection holds the faults of one call.
type injection struct {
	from *faults
	Faults
	requestLost, loseAnswer, hang, leaseGone bool
	move, split, merge, stray                bool
	tooBusy, throttle, exception, heartbeat  bool
	region                                   *region // of the call
	moved                                    bool    // the server knows that the region has moved
	delay                                    time.Duration
	cut                                      int     // cells until the answer is cut; 0: never
	at                                       float64 // where to split, as a fraction
}

// SetFaults sets the faults of the calls from now on and resets their counts; the zero value ends them.
func (s *Store) SetFaults(f Faults) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.f = f
	s.faults.rng = rand.New(rand.NewPCG(uint64(f.Seed), 0x9e3779b97f4a7c15))
	s.faults.calls = 0
	s.faults.counts = map[FaultKind]int{}
	s.faults.on.Store(f.Move+f.Split+f.Merge+f.Stray+f.AnswerLost+f.RequestLost+f.LeaseGone+f.Delay+f.TooBusy+f.Throttle+f.Exception+
		f.PartialRow+f.Heartbeat+f.Hang > 0 || f.Latency > 0 || len(f.MoveAt)+len(f.SplitAt)+len(f.MergeAt) > 0)
}

// FaultCounts returns how many faults of each kind calls have had since SetFaults.
func (s *Store) FaultCounts() map[FaultKind]int {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	out := make(map[FaultKind]int, len(s.faults.counts))
	for k, n := range s.faults.counts {
		out[k] = n
	}
	return out
}

// did counts a fault that the call has had.
func (i *injection) did(k FaultKind) {
	if i.from == nil {
		return
	}
	i.from.mu.Lock()
	i.from.counts[k]++
	i.from.mu.Unlock()
}

// draw decides the faults of a call. It draws equally many numbers for every call, so that one fault does not shift the
// others.
func (f *faults) draw(t *table) injection {
	if !f.on.Load() || t.meta {
		return injection{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	at := func(calls []int) bool { return slices.Contains(calls, f.calls) }
	hit := func(p float64) bool { return f.rng.Float64() < p }
	i := injection{from: f, Faults: f.f}
	i.requestLost, i.loseAnswer, i.hang = hit(f.f.RequestLost), hit(f.f.AnswerLost), hit(f.f.Hang)
	i.leaseGone = hit(f.f.LeaseGone)
	i.move = hit(f.f.Move) || at(f.f.MoveAt)
	i.split = hit(f.f.Split) || at(f.f.SplitAt)
	i.merge = hit(f.f.Merge) || at(f.f.MergeAt)
	i.tooBusy, i.exception, i.heartbeat = hit(f.f.TooBusy), hit(f.f.Exception), hit(f.f.Heartbeat)
	delay, length := hit(f.f.Delay), f.rng.Float64()
	if delay {
		longest := f.f.DelayFor
		if longest <= 0 {
			longest = 10 * time.Millisecond
		}
		i.delay = time.Duration(length * float64(longest))
	}
	cut, after := hit(f.f.PartialRow), f.rng.IntN(8)
	if cut {
		i.cut = after + 1
	}
	i.at = f.rng.Float64()
	i.throttle, i.stray = hit(f.f.Throttle), hit(f.f.Stray)
	return i
}

// before applies the faults that precede a call's execution.
func (s *Store) before(ctx context.Context, t *table, g *region, req proto.Message, i *injection) error {
	if i.from == nil {
		return nil
	}
	i.region = g
	if i.delay > 0 {
		i.did(FaultDelay)
	}
	if d := i.delay + i.Latency; d > 0 {
		if err := pause.For(ctx, d); err != nil {
			return err
		}
	}
	if i.requestLost {
		i.did(FaultRequestLost)
		return errResend
	}
	if m, ok := req.(*pb.ScanRequest); ok && i.leaseGone && m.ScannerId != nil && s.scanners.dropLease(m.GetScannerId()) {
		i.did(FaultLeaseGone)
	}
	if err := s.reshapeFor(t, g, i); err != nil {
		return err
	}
	switch _, batch := req.(*pb.MultiRequest); {
	case i.tooBusy:
		i.did(FaultTooBusy)
		if !batch { // the actions of a batch are refused one by one
			return i.busy(g)
		}
	case i.throttle && !renews(req):
		i.did(FaultThrottle)
		if !batch { // a batch is refused region by region
			return i.throttled(g)
		}
	case i.exception:
		i.did(FaultException)
		class := i.ExceptionClass
		if class == "" {
			class = classIO
		}
		return throw(class, "injected")
	}
	return nil
}

// busy returns the exception of a region that is too busy; nil if it is not.
func (i *injection) busy(g *region) error {
	if !i.tooBusy || !bytes.Equal(g.name, i.region.name) {
		return nil
	}
	return throw(classTooBusy, "Over memstore limit")
}

// renews reports whether a call renews the lease of a scanner. No quota counts such calls.
func renews(req proto.Message) bool {
	m, ok := req.(*pb.ScanRequest)
	return ok && m.GetRenew()
}

// throttled returns the exception of a region whose table has a quota; nil if it has none.
func (i *injection) throttled(g *region) error {
	if !i.throttle || !bytes.Equal(g.name, i.region.name) {
		return nil
	}
	return throw(classThrottled, "number of requests exceeded - wait 1sec, 0ms")
}

// reshapeFor moves, splits or merges the region of a call. The call still goes to the old region.
func (s *Store) reshapeFor(t *table, g *region, i *injection) error {
	step := func(due bool, kind FaultKind, f func() (bool, error)) error {
		if !due {
			return nil
		}
		ok, err := f()
		if ok {
			i.did(kind)
		}
		return err
	}
	i.moved = i.move
	if err := step(i.move, FaultMove, func() (bool, error) { return true, s.Move(t.name, g.start) }); err != nil {
		return err
	}
	if err := step(i.split, FaultSplit, func() (bool, error) { return s.splitSomewhere(t, g, i) }); err != nil {
		return err
	}
	return step(i.merge, FaultMerge, func() (bool, error) {
		if len(g.stop) == 0 {
			return false, nil
		}
		return true, s.Merge(t.name, g.start)
	})
}

// splitSomewhere splits a region at one of its rows.
func (s *Store) splitSomewhere(t *table, g *region, i *injection) (bool, error) {
	most := i.MaxRegions
	if most <= 0 {
		most = 16
	}
	if len(t.regions) >= most {
		return false, nil
	}
	key, err := s.someRow(t, g, i.at)
	if err != nil || key == nil {
		return false, err
	}
	return true, s.Split(t.name, key)
}

// splitSample is how many rows are considered as split points.
const splitSample = 64

// someRow returns a row of a region other than its first, at the fraction at of the first rows; nil if there is none.
func (s *Store) someRow(t *table, g *region, at float64) ([]byte, error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return nil, nil
	}
	q := &query{times: timeRange{all: true}, maxVersions: 1, includeStart: true}
	for _, f := range t.families {
		q.families = append(q.families, familyQuery{f, nil})
	}
	r, err := s.openRegionScanner(context.Background(), q, g, s.now())
	if err != nil {
		return nil, err
	}
	defer r.close()
	var b block
	b.reset()
	var rows [][]byte
	for more := true; more && len(rows) < splitSample; {
		if more, err = r.next(context.Background(), &b, &limits{}); err != nil {
			return nil, err
		}
		if b.cells > 0 {
			rows = append(rows, append([]byte{}, b.openRow()...))
			b.drop()
		}
	}
	if len(rows) < 2 {
		return nil, nil
	}
	return rows[1+int(at*float64(len(rows)-1))], nil
}
