package scan

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

// TableStats are the counts of one table access of a statement.
type TableStats struct {
	Table, Layout string
	Access        plan.Access
	Gets, Scans   int64
	RowsRead      int64 // before the client's filter
	Rows          int64 // after it
	Elapsed       time.Duration
	// The calls of this access alone, for EXPLAIN ANALYZE.
	RPCs, Bytes int64
	Scanned     *hbase.Scanned // by the servers, for scans; nil: they reported nothing
	Regions     []explain.Region
	Scan        *plan.Scan
}

// Recorder counts the table accesses of a statement.
type Recorder struct {
	mu      sync.Mutex
	scans   []*Counts // of maxApart accesses, then one for each kind of further accesses
	one     [1]*Counts
	Tracing bool // for EXPLAIN ANALYZE
}

// Counts counts one table access; its workers add to it.
type Counts struct {
	scan                         *plan.Scan
	start                        time.Time
	gets, ranges, read, returned atomic.Int64
	elapsed                      atomic.Int64 // nanoseconds from the start to the end
	ended                        func(error)  // called at the end; may be nil
	trace                        *trace       // nil: none
	into                         *Counts      // the common counts of the access's kind, to which these are added at the end; nil: they are listed individually
	regions                      *regionsSeen
	own                          regionsSeen // used by regions, unless into has another one
}

// maxApart is the number of accesses that are counted individually. A sub-query for each row, or the look-ups of a join,
// may make any number of accesses; further accesses of the same kind are counted together.
const maxApart = 64

// Open begins to count an access.
func (r *Recorder) Open(s *plan.Scan) *Counts {
	st := r.begin(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.scans == nil {
		r.scans = r.one[:0]
	}
	if len(r.scans) < maxApart {
		r.scans = append(r.scans, st)
		return st
	}
	for _, o := range r.scans[maxApart:] {
		if o.scan.Table == s.Table && o.scan.Layout == s.Layout && o.scan.Access == s.Access {
			st.into = o
		}
	}
	if st.into == nil {
		st.into = r.begin(s)
		r.scans = append(r.scans, st.into)
	}
	st.regions, st.trace = st.into.regions, st.into.trace
	return st
}

func (r *Recorder) begin(s *plan.Scan) *Counts {
	st := &Counts{scan: s, start: time.Now()}
	st.regions = &st.own
	if r.Tracing {
		st.trace = &trace{}
	}
	return st
}

// done ends the table access; err is the error that ended it, or nil. Later calls do nothing.
func (s *Counts) done(err error) {
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

// table returns the counts so far.
func (s *Counts) table() TableStats {
	t := TableStats{Table: s.scan.Table.Name, Layout: s.scan.Layout.Name, Access: s.scan.Access, Gets: s.gets.Load(),
		Scans: s.ranges.Load(), RowsRead: s.read.Load(), Rows: s.returned.Load(), Elapsed: time.Duration(s.elapsed.Load())}
	if t.Elapsed == 0 {
		t.Elapsed = time.Since(s.start)
	}
	return t
}

// Tables returns the counts so far, in the order in which the accesses began, and the number of regions that answered.
func (r *Recorder) Tables() (tables []TableStats, regions int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]bool{}
	for _, s := range r.scans {
		s.regions.addTo(names)
		t := s.table()
		if s.trace != nil {
			t.Scan = s.scan
			t.Regions, t.Scanned = s.trace.stats()
			for _, g := range t.Regions {
				t.RPCs, t.Bytes = t.RPCs+g.RPCs, t.Bytes+g.Bytes
			}
		}
		tables = append(tables, t)
	}
	return tables, len(names)
}

// RowsRead returns the number of rows received from the servers so far.
func (r *Recorder) RowsRead() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.scans {
		n += s.read.Load()
	}
	return n
}
