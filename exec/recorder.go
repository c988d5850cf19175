package exec

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
)

// Stats are the counts of a statement. The RPC figures are the client's over the statement's time, so they include
// other statements that used the same client at that time.
type Stats struct {
	Gets, Scans  int64 // rows asked for by key; ranges opened
	RowsRead     int64 // rows that came from the servers
	Regions      int64 // that answered
	RowsReturned int64
	RowsWritten  int64 // by INSERT, UPDATE, DELETE and COPY
	RPCs, Bytes  int64 // calls sent; bytes of cells received
	Retries      int64 // calls repeated and scanners reopened
	Elapsed      time.Duration
	Tables       []scan.TableStats // one a table access, in the order they began
	// Done is the finished part of the statement's work, below 1: by the estimated reads, by the size of the file that it
	// copies, or by the regions that it analyzes. It is 0 if that is unknown, nothing is done yet, or the statement has
	// ended.
	Done float64
}

// recorder counts while a statement runs.
type recorder struct {
	scan.Recorder
	began    moment
	returned atomic.Int64
	written  atomic.Int64
	ended    atomic.Pointer[moment] // nil: the statement runs
	ending   sync.Once
	last     moment // what ended is
	work     work

	meta   sync.Mutex
	listed map[string][]hbase.Region // looked up for Rows.Regions
}

// work is the work of a statement as far as it is known: to run a plan, to copy a file, or to look at regions.
type work struct {
	mu     sync.Mutex
	plan   *plan.Plan          // nil: none, or what is likely to be read for it was asked
	find   estimate.Statistics // tells that
	rows   float64             // that are likely to be read for it; 0: not known
	before int64               // rows that were read before, for what the plan depends on
	last   bool                // rows are written when all are read, which is half of the work
	found  int64               // rows that are all read and are to be written; 0: not known yet

	steps int64 // bytes of a file, or runs through regions; 0: rows tell
	at    atomic.Int64
}

// reads records that p runs now; find estimates its reads. last: rows are written after all are read.
func (w *work) reads(p *plan.Plan, find estimate.Statistics, before int64, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan, w.find, w.before, w.last = p, find, before, last
}

// writes records that so many rows are to be written, and all are read.
func (w *work) writes(rows int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = rows
}

// counts records that at returns the number of finished steps.
func (w *work) counts(steps int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = steps
}

// done returns the finished part of w when so many rows are read and written.
func (w *work) done(read, written int64) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plan != nil { // which nobody may ask
		if e := estimate.Of(w.plan, w.find); e != nil {
			w.rows = e.Rows
		}
		w.plan = nil
	}
	share := func(part int64, of float64) float64 {
		if part := float64(part); part < of {
			return part / of
		}
		return 0 // more than was expected, or all but its end
	}
	switch {
	case w.steps > 0:
		return share(w.at.Load(), float64(w.steps))
	case w.found > 0:
		return (1 + share(written, float64(w.found))) / 2
	case w.last:
		return share(read-w.before, w.rows) / 2
	}
	return share(read-w.before, w.rows)
}

// moment is the state that continues to change after a statement's end: the time, and the counts of its client.
type moment struct {
	at     time.Time
	client hbase.Stats
}

func now(c hbase.Client) moment {
	m := moment{at: time.Now()}
	if c != nil {
		m.client = c.Stats()
	}
	return m
}

func newRecorder(c hbase.Client) *recorder {
	r := &recorder{}
	r.begin(now(c))
	return r
}

// begin records the start of the statement and the counts of its client at that time.
func (r *recorder) begin(m moment) { r.began = m }

// end records the end of the statement, unless it has ended before: later calls of its client are not its work.
func (r *recorder) end(c hbase.Client) {
	r.ending.Do(func() {
		r.last = now(c)
		r.ended.Store(&r.last)
	})
}

// stats sums up; c is the statement's client.
func (r *recorder) stats(c hbase.Client) Stats {
	end := r.ended.Load()
	if end == nil {
		m := now(c)
		end = &m
	}
	out := Stats{RowsReturned: r.returned.Load(), RowsWritten: r.written.Load(), Elapsed: end.at.Sub(r.began.at)}
	before, did := &r.began.client, &end.client
	out.RPCs, out.Bytes = did.RPCs-before.RPCs, did.Bytes-before.Bytes
	out.Retries = did.Retries - before.Retries + did.Reopens - before.Reopens
	tables, regions := r.Tables()
	for _, t := range tables {
		out.Gets += t.Gets
		out.Scans += t.Scans
		out.RowsRead += t.RowsRead
	}
	out.Tables, out.Regions = tables, int64(regions)
	if r.ended.Load() == nil {
		out.Done = r.work.done(out.RowsRead, out.RowsWritten)
	}
	return out
}
