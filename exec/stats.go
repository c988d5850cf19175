package exec

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// Stats says what a statement did. The RPC figures are the client's over the
// statement's time: another statement on the same client at that time is in them too.
type Stats struct {
	Gets, Scans  int64 // rows asked for by key; ranges opened
	RowsRead     int64 // rows that came from the servers
	Regions      int64 // that answered
	RowsReturned int64
	RowsWritten  int64 // by INSERT, UPDATE, DELETE and COPY
	RPCs, Bytes  int64 // calls sent; bytes of cells received
	Retries      int64 // calls repeated and scanners reopened
	Elapsed      time.Duration
	Tables       []TableStats // one a table access, in the order they began
}

// TableStats is the share of one table access in Stats.
type TableStats struct {
	Table, Layout string
	Access        plan.Access
	Gets, Scans   int64
	RowsRead      int64 // before the client's filter
	Rows          int64 // after it
	Elapsed       time.Duration
	// Under EXPLAIN ANALYZE: what was sent for this access alone.
	RPCs, Bytes int64
	Scanned     *hbase.Scanned // by the servers, for the scans; nil: they told nothing
	Regions     []explain.Region

	scan  *plan.Scan
	calls []hbase.RPCEnd // the first of them
}

// recorder counts while a statement runs.
type recorder struct {
	start    time.Time
	before   hbase.Stats
	returned atomic.Int64
	written  atomic.Int64
	mu       sync.Mutex
	scans    []*scanStats
	tracing  bool // for EXPLAIN ANALYZE

	meta   sync.Mutex
	tables map[string][]hbase.Region // looked up for Rows.Regions
}

// scanStats counts one table access; its workers add to it.
type scanStats struct {
	scan                         *plan.Scan
	start                        time.Time
	gets, ranges, read, returned atomic.Int64
	elapsed                      atomic.Int64 // ns from the start to the end
	ended                        func(error)  // told of the end; nil: nobody is
	trace                        *trace       // nil: none
	into                         *scanStats   // what the counts are added to in the end; nil: they stand for themselves
	regions                      *regionProgress
}

func newRecorder(c hbase.Client) *recorder {
	r := &recorder{start: time.Now()}
	if c != nil {
		r.before = c.Stats()
	}
	return r
}

func (r *recorder) open(s *plan.Scan) *scanStats {
	st := &scanStats{scan: s, start: time.Now(), regions: &regionProgress{}}
	if r.tracing {
		st.trace = &trace{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.scans) >= 64 { // a sub-query for each row, a join's look-ups: counted together
		for _, o := range r.scans {
			if o.scan.Table == s.Table && o.scan.Layout == s.Layout && o.scan.Access == s.Access {
				st.into, st.regions = o, o.regions
				return st
			}
		}
	}
	r.scans = append(r.scans, st)
	return st
}

// done ends the table access, with the error that ended it or nil, unless it has ended.
func (s *scanStats) done(err error) {
	if !s.elapsed.CompareAndSwap(0, max(1, int64(time.Since(s.start)))) {
		return
	}
	if s.ended != nil {
		s.ended(err)
	}
	if s.into != nil {
		s.into.gets.Add(s.gets.Load())
		s.into.ranges.Add(s.ranges.Load())
		s.into.read.Add(s.read.Load())
		s.into.returned.Add(s.returned.Load())
		s.into.elapsed.Add(s.elapsed.Load())
	}
}

// table gives what was counted so far.
func (s *scanStats) table() TableStats {
	t := TableStats{Table: s.scan.Table.Name, Layout: s.scan.Layout.Name, Access: s.scan.Access, Gets: s.gets.Load(),
		Scans: s.ranges.Load(), RowsRead: s.read.Load(), Rows: s.returned.Load(), Elapsed: time.Duration(s.elapsed.Load())}
	if t.Elapsed == 0 {
		t.Elapsed = time.Since(s.start)
	}
	return t
}

// stats sums up; c is the statement's client.
func (r *recorder) stats(c hbase.Client) Stats {
	out := Stats{RowsReturned: r.returned.Load(), RowsWritten: r.written.Load(), Elapsed: time.Since(r.start)}
	if c != nil {
		now := c.Stats()
		out.RPCs, out.Bytes = now.RPCs-r.before.RPCs, now.Bytes-r.before.Bytes
		out.Retries = now.Retries - r.before.Retries + now.Reopens - r.before.Reopens
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	regions := map[string]bool{}
	for _, s := range r.scans {
		s.regions.addTo(regions)
		t := s.table()
		if s.trace != nil {
			t.scan = s.scan
			t.calls, t.Regions, t.Scanned = s.trace.stats()
			for _, g := range t.Regions {
				t.RPCs, t.Bytes = t.RPCs+g.RPCs, t.Bytes+g.Bytes
			}
		}
		out.Gets += t.Gets
		out.Scans += t.Scans
		out.RowsRead += t.RowsRead
		out.Tables = append(out.Tables, t)
	}
	out.Regions = int64(len(regions))
	return out
}
