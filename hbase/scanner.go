package hbase

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"

	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/internal/poison"
)

// Fields of HBase's Client.proto that gohbase's messages do not know.
const (
	limitOfRowsField     = 11 // of ScanRequest
	includeStartRowField = 21 // of Scan
	includeStopRowField  = 22 // of Scan
	scanMetricsField     = 10 // of ScanResponse
)

// scanner reads one range region by region. If the server has lost the scanner, or an answer was lost, scanner opens a
// new one behind the last whole row.
type scanner struct {
	c *client
	r ScanRange
	// encoded keeps the cells of rows undecoded: see Row.Encoded.
	encoded bool
	metrics bool    // ask the servers to count the rows they look at
	wanted  *pb.Get // what to read of each row
	opts    []func(hrpc.Call) error
	watcher RegionWatcher // may be nil

	open  bool
	id    uint64
	seq   uint64
	route []byte // determines the region
	last  []byte // the last whole row delivered; nil before the first
	sent  int
	done  bool  // every row was delivered
	err   error // why it ended early. Once set it stays, so that a partial result never looks complete

	// ahead receives the answers to the next calls, which a goroutine sends, one for each value in more. nil: none runs.
	ahead     chan read
	more      chan struct{}
	room      int // number of calls to send ahead: few at first, since the scan may be closed early
	waiting   int // number of those whose answers were not used
	stopAhead context.CancelFunc

	cells []Cell
	rows  []Row
	most  int    // number of rows of the longest answer
	free  func() // releases the memory of rows; may be nil
	part  *Row   // a row whose remaining cells have not arrived
	back  backoff
	stuck int // reopens since the last row
}

// maxReopens bounds consecutive reopens that bring no row.
const maxReopens = 100

func (c *client) Scan(ctx context.Context, r ScanRange, o *ReadOptions) (Scanner, error) {
	wanted, err := o.wanted()
	if err != nil {
		return nil, err
	}
	if r.Reversed && o != nil && hops(o.Filter) {
		return nil, fmt.Errorf("HBase cannot scan in reverse with the filter %s: it jumps forward to keys", o.Filter)
	}
	s := &scanner{c: c, r: r, wanted: wanted, route: r.Start}
	if r.Reversed {
		s.opts = append(s.opts, hrpc.Reversed())
		s.route = keyBefore(r.Stop)
	}
	if o != nil {
		s.watcher = o.Region
	}
	s.encoded = o != nil && o.Encoded
	s.metrics = o != nil && o.Metrics
	if o != nil && o.NoCacheBlocks {
		s.opts = append(s.opts, hrpc.CacheBlocks(false))
	}
	if len(r.Stop) > 0 && bytes.Compare(r.Start, r.Stop) >= 0 {
		s.done = true // start == stop means a Get to HBase
	}
	if poison.On {
		return &poisonScanner{in: s}, nil
	}
	return s, nil
}

// hops reports whether f jumps to keys. Such a filter jumps only forward: a reversed scan with key ranges ends too
// early, and with a fuzzy filter it never ends in HBase 2.6.
func hops(f filter.Filter) bool {
	switch f := f.(type) {
	case filter.KeyRanges, filter.Fuzzy:
		return true
	case filter.And:
		return slices.ContainsFunc(f, hops)
	case filter.Or:
		return slices.ContainsFunc(f, hops)
	}
	return false
}

// bounds returns the start and stop row of the scan that is still to be read, as the server takes them, and whether
// each row is included.
func (s *scanner) bounds() (start, stop []byte, withStart, withStop bool) {
	if s.r.Reversed {
		start, withStart = s.r.Stop, len(s.r.Stop) == 0
		if s.last != nil {
			start, withStart = s.last, false
		}
		start, withStart = upper(start, withStart)
		stop, withStop = lower(s.r.Start, true)
		return start, stop, withStart, withStop
	}
	start = s.r.Start
	if s.last != nil {
		start = append(slices.Clone(s.last), 0)
	}
	if bytes.Compare(s.route, start) > 0 {
		start = s.route
	}
	start, withStart = lower(start, true)
	stop, withStop = upper(s.r.Stop, false)
	return start, stop, withStart, withStop
}

// Servers refuse bounds that are longer than MaxKeyLength, such as the bound just after the longest key. Since no
// stored key is longer, lower and upper cut such a bound to MaxKeyLength bytes; lower then excludes the key with these
// bytes, upper includes it.

// lower returns a lower bound that servers accept.
func lower(key []byte, included bool) ([]byte, bool) {
	if len(key) > MaxKeyLength {
		return key[:MaxKeyLength], false
	}
	return key, included
}

// upper returns an upper bound that servers accept.
func upper(key []byte, included bool) ([]byte, bool) {
	if len(key) > MaxKeyLength {
		return key[:MaxKeyLength], true
	}
	return key, included
}

// request makes the next call: one that opens a scanner, or a next on the open one.
func (s *scanner) request(ctx context.Context) (hrpc.Call, error) {
	rows := uint32(1 << 30)
	if s.r.BatchRows > 0 {
		rows = uint32(s.r.BatchRows)
	}
	left := 0
	if s.r.Limit > 0 {
		left = s.r.Limit - s.sent
		rows = min(rows, uint32(left))
	}
	seq, brief := s.seq, s.r.Brief
	edit := func(m *pb.ScanRequest) {
		if s.metrics { // each request must ask for it
			m.TrackScanMetrics = proto.Bool(true)
		}
		if !s.c.noSeq {
			m.NextCallSeq = proto.Uint64(seq)
		}
		if left > 0 {
			m.ProtoReflect().SetUnknown(varint(limitOfRowsField, uint64(left)))
		}
	}
	if s.open {
		sc, err := hrpc.NewScanRange(ctx, []byte(s.r.Table), s.route, nil, hrpc.ScannerID(s.id), hrpc.NumberOfRows(rows))
		return &scanCall{Scan: sc, key: s.route, edit: edit}, err
	}
	start, stop, withStart, withStop := s.bounds()
	opts := append(slices.Clone(s.opts), hrpc.NumberOfRows(rows))
	if s.r.BatchBytes > 0 {
		opts = append(opts, hrpc.MaxResultSize(uint64(s.r.BatchBytes)))
	}
	sc, err := hrpc.NewScanRange(ctx, []byte(s.r.Table), start, stop, opts...)
	return &scanCall{Scan: sc, key: s.route, edit: func(m *pb.ScanRequest) {
		edit(m)
		if brief {
			m.CloseScanner = proto.Bool(true) // after it has answered
		}
		if m.Scan == nil {
			return
		}
		w := s.wanted
		m.Scan.Column, m.Scan.Filter, m.Scan.TimeRange, m.Scan.MaxVersions, m.Scan.StoreLimit = w.Column, w.Filter, w.TimeRange, w.MaxVersions, w.StoreLimit
		u := varint(includeStartRowField, b2u(withStart))
		m.Scan.ProtoReflect().SetUnknown(append(u, varint(includeStopRowField, b2u(withStop))...))
		m.Scan.LoadColumnFamiliesOnDemand = proto.Bool(!s.r.Reversed)
	}}, err
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (s *scanner) Next(ctx context.Context) ([]Row, error) {
	for s.err == nil && !s.done {
		rows, err := s.fetch(ctx)
		if err != nil {
			s.err = err
			if s.open {
				s.closeRemote()
			}
			break
		}
		if len(rows) > 0 {
			return rows, nil
		}
	}
	if s.err != nil {
		return nil, s.err
	}
	return nil, io.EOF
}

// release ends the life of the rows of the last answer.
func (s *scanner) release() {
	if s.free != nil {
		s.free()
		s.free = nil
	}
}

// fetch sends one call. Neither rows nor an error means: call again.
func (s *scanner) fetch(ctx context.Context) ([]Row, error) {
	s.release()
	if !s.open {
		if err := s.c.permitted(ctx, actionRead, s.r.Table, s.wanted.Column, s.route); err != nil {
			return nil, explain(err, "scan", s.r.Table)
		}
		s.seq = 0
	}
	answer := s.answer(ctx)
	if answer.err != nil {
		return nil, s.recover(ctx, answer.err)
	}
	resp, ok := answer.msg.(*pb.ScanResponse)
	if !ok {
		return nil, fmt.Errorf("scan %s: answer of type %T", s.r.Table, answer.msg)
	}
	if resp.MoreResultsInRegion == nil && resp.MoreResults == nil {
		return nil, s.recover(ctx, errScannerEnded)
	}
	call := answer.call.(*scanCall)
	if !s.open {
		s.open, s.id = true, resp.GetScannerId()
	}
	end, last := !resp.GetMoreResultsInRegion(), resp.MoreResults != nil && !resp.GetMoreResults()
	if s.r.Ahead && s.r.Limit == 0 && !s.r.Brief && !end && !last {
		s.sendAhead(ctx) // the server reads while the rows are decoded
	}
	rows, err := s.decode(resp, call.block)
	if s.part == nil || s.part.Cells == nil { // otherwise these refer to the block
		s.free = call.release
	}
	if err != nil {
		if s.ahead != nil {
			s.stopAhead()
			s.endAhead()
		}
		return nil, fmt.Errorf("scan %s: %w", s.r.Table, err)
	}
	if (end || last) && s.part != nil {
		rows = append(rows, *s.part)
		s.part = nil
	}
	if len(rows) > 0 {
		s.last = append(s.last[:0:0], rows[len(rows)-1].Key...)
		s.sent += len(rows)
		s.back, s.stuck = 0, 0
		s.c.stats.rows.Add(int64(len(rows)))
	}
	if reg := call.Region(); s.watcher != nil && reg != nil {
		s.watcher.Answered(reg.Name())
	}
	switch {
	case last:
		s.done = true // the server has closed the scanner
		s.open = false
	case s.r.Limit > 0 && s.sent >= s.r.Limit:
		s.done = true
		if !end {
			s.closeRemote()
		}
	case s.r.Brief && !end:
		s.open, s.part = false, nil
		if len(rows) > 0 {
			s.route = s.last
		} else {
			s.r.Brief = false // a part of a row, or no row within the server's time limit
		}
	case end:
		s.open = false
		if err := s.nextRegion(call.Region()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// maxAhead bounds the bytes of the answers that wait for Next, unless it is one answer.
const maxAhead = 512 << 10

// sendAhead lets the goroutine that sends calls ahead send the next ones: one more than after the answer before.
func (s *scanner) sendAhead(ctx context.Context) {
	if s.ahead == nil {
		ctx, s.stopAhead = context.WithCancel(ctx)
		most := max(1, maxAhead/cmp.Or(s.r.BatchBytes, maxAhead))
		s.ahead, s.more, s.waiting = make(chan read, most), make(chan struct{}, most), 0
		go func(ahead chan<- read, more <-chan struct{}) {
			defer close(ahead)
			for range more {
				r := s.ask(ctx)
				if ahead <- r; r.ends() {
					return
				}
			}
		}(s.ahead, s.more)
	}
	for s.room = min(max(1, 2*s.room), cap(s.more)); s.waiting < s.room; s.waiting++ {
		s.more <- struct{}{}
	}
}

// answer returns the answer to the next call, and sends the call unless it was sent ahead.
func (s *scanner) answer(ctx context.Context) read {
	if s.ahead == nil {
		return s.ask(ctx)
	}
	defer context.AfterFunc(ctx, s.stopAhead)()
	r := <-s.ahead
	if s.waiting--; r.ends() {
		s.stopAhead()
		s.ahead = nil
	}
	return r
}

// endAhead waits for the call that was sent ahead, and sends no other.
func (s *scanner) endAhead() {
	if s.ahead == nil {
		return
	}
	for len(s.more) > 0 {
		select {
		case <-s.more:
		default:
		}
	}
	close(s.more)
	for r := range s.ahead {
		if errors.Is(r.err, context.Canceled) {
			s.open = false // it is closed when the answer comes
		}
	}
	s.stopAhead()
	s.ahead = nil
}

// read is the outcome of a call of a scanner.
type read struct {
	msg  proto.Message
	call hrpc.Call
	err  error
}

// ends reports whether the server's scanner answers no further call.
func (r *read) ends() bool {
	m, ok := r.msg.(*pb.ScanResponse)
	return !ok || r.err != nil || !m.GetMoreResultsInRegion() || m.MoreResults != nil && !m.GetMoreResults()
}

// ask sends the next call.
func (s *scanner) ask(ctx context.Context) (r read) {
	r.msg, r.call, r.err = s.c.tryAnd(ctx, scanAttempt, s.request, s.abandoned())
	s.seq++
	return r
}

// errScannerEnded is an answer that does not say whether more rows follow. Servers before 2.5.9, 2.6.1 and 3.0.0-beta-2
// (HBASE-28595) give it for a scanner that they closed because of a call whose answer was lost. It is not the end of
// the rows.
var errScannerEnded = errors.New("UnknownScannerException: the server has closed the scanner")

// recover decides how to continue after a failed call.
func (s *scanner) recover(ctx context.Context, err error) error {
	kind := classify(err)
	refused := kind == fatal && !repeatable(err)
	late := ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)
	if s.open && !late && isOneOf(err, scannerStays) {
		s.closeRemote()
	}
	if late || !refused {
		s.open = false // it is lost, or is closed when the answer comes
	}
	if late || refused {
		return explain(err, "scan", s.r.Table)
	}
	if s.stuck++; s.stuck > maxReopens {
		return explain(fmt.Errorf("no progress after %d attempts: %w", maxReopens, err), "scan", s.r.Table)
	}
	s.c.stats.reopens.Add(1)
	s.part = nil
	if s.last != nil { // regions may have moved: continue behind the last row
		s.route = s.last
	}
	if kind == retry || s.stuck > 3 {
		if werr := s.back.wait(ctx); werr != nil {
			return explain(fmt.Errorf("%w (last answer: %v)", werr, err), "scan", s.r.Table)
		}
	}
	return nil
}

// nextRegion moves to the region after the one that answered.
func (s *scanner) nextRegion(reg hrpc.RegionInfo) error {
	if s.r.Reversed {
		k := reg.StartKey()
		if len(k) == 0 || len(s.r.Start) > 0 && bytes.Compare(s.r.Start, k) >= 0 {
			s.done = true
			return nil
		}
		s.route = keyBefore(k)
		return nil
	}
	k := reg.StopKey()
	if len(k) == 0 || len(s.r.Stop) > 0 && bytes.Compare(s.r.Stop, k) <= 0 {
		s.done = true
		return nil
	}
	if bytes.Compare(k, s.route) <= 0 {
		return fmt.Errorf("scan %s: region %s ends before the key %q it was asked for: hbase:meta is inconsistent", s.r.Table, reg.Name(), s.route)
	}
	s.route = slices.Clone(k)
	return nil
}

// closeWait is how long Close waits for the server to close a scanner: see abandonedWait.
const closeWait = 250 * time.Millisecond

// closeRemote closes the scanner on its server.
func (s *scanner) closeRemote() {
	s.open = false
	c, table, route, id, closed := s.c, s.r.Table, s.route, s.id, make(chan struct{})
	go func() {
		c.closeScanner(table, route, id)
		close(closed)
	}()
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case <-closed:
	case <-t.C: // an unresponsive server must not delay the end of a query
	}
}

// abandoned returns the function for an answer that comes after the caller has gone. The answer's scanner is open and
// must be closed; a server does not close a scanner while it works for it.
func (s *scanner) abandoned() func(proto.Message) {
	c, table, route, open, scannerID := s.c, s.r.Table, s.route, s.open, s.id
	return func(m proto.Message) {
		resp, ok := m.(*pb.ScanResponse)
		if !ok || !resp.GetMoreResultsInRegion() || resp.MoreResults != nil && !resp.GetMoreResults() {
			return // the server has closed it
		}
		id := scannerID // several answers may come
		if !open {
			id = resp.GetScannerId()
		}
		c.closeScanner(table, route, id)
	}
}

// closeScanner asks a server to close a scanner, and repeats that if the server is busy or a quota refuses it. If it
// fails, the scanner stays open until its lease ends.
func (c *client) closeScanner(table string, route []byte, id uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), abandonedWait)
	defer cancel()
	for back := backoff(0); ; {
		_, err := sendOnce(ctx, c.servers.current(), func(ctx context.Context) (hrpc.Call, error) {
			return hrpc.NewScanRange(ctx, []byte(table), route, nil, hrpc.ScannerID(id), hrpc.CloseScanner(), hrpc.NumberOfRows(0))
		})
		if !busy(err) || back.wait(ctx) != nil {
			return
		}
	}
}

// errScanClosed is the error of a scan that was closed before its end.
var errScanClosed = errors.New("the scan is closed")

func (s *scanner) Close() error {
	s.release()
	if cap(s.rows) >= longList {
		rows := s.rows[:0]
		clear(rows[:min(s.most, cap(rows))])
		rowLists.Put(&rows)
	}
	s.rows, s.most = nil, 0
	if s.ahead != nil {
		t := time.AfterFunc(closeWait, s.stopAhead)
		s.endAhead()
		t.Stop()
	}
	if s.open {
		s.closeRemote()
	}
	if !s.done && s.err == nil {
		s.err = errScanClosed
	}
	return nil
}
