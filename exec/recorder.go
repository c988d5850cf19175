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

// Stats are the counts of a statement. The RPC counts are those of its client while the statement runs: they include
// other statements that use the client at the same time.
type Stats struct {
	Gets, Scans  int64 // rows requested by key; ranges opened
	RowsRead     int64 // rows received from the servers
	Regions      int64 // number of regions that answered
	RowsReturned int64
	RowsWritten  int64 // by INSERT, UPDATE, DELETE and COPY
	RPCs, Bytes  int64 // calls sent; bytes of cells received
	Retries      int64 // calls repeated and scanners reopened
	Elapsed      time.Duration
	Tables       []scan.TableStats // one per table access, in the order in which they began
	// Done is the finished part of the statement's work, below 1. It is computed from the estimated reads, the size of
	// the file that COPY reads, or the regions that ANALYZE reads. It is 0 if unknown, if nothing is done yet, or if the
	// statement has ended.
	Done float64
}

// recorder counts while a statement runs.
type recorder struct {
	scan.Recorder
	began    moment // when the statement began
	returned atomic.Int64
	written  atomic.Int64
	ended    atomic.Pointer[moment] // nil while the statement runs
	ending   sync.Once
	last     moment // the value of ended
	work     work
}

// work is the work of a statement as far as it is known: a plan to run, a file to copy, or regions to read.
type work struct {
	mu     sync.Mutex
	plan   *plan.Plan          // nil: there is none, or rows was already estimated from it
	find   estimate.Statistics // the statistics for that estimate
	rows   float64             // estimated rows that plan reads; 0 if unknown
	before int64               // rows that were read before plan began, for sub-queries and look-ups
	last   bool                // rows are written after all are read: reading is half of the work
	found  int64               // number of rows to write, when all are read; 0 if not known yet

	steps int64 // bytes of a file, or runs through regions; 0: the work is measured in rows
	at    atomic.Int64
}

// reads records that the plan p begins to run; the arguments are the fields of work with the same names.
func (w *work) reads(p *plan.Plan, find estimate.Statistics, before int64, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan, w.find, w.before, w.last = p, find, before, last
}

// writes records that all rows are read, and how many are to be written.
func (w *work) writes(rows int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = rows
}

// counts records that the work has a number of steps; w.at counts the finished ones.
func (w *work) counts(steps int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = steps
}

// done returns the finished part of w, below 1. read and written are the numbers of rows read and written so far. It
// returns 0 if the part is unknown.
func (w *work) done(read, written int64) float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plan != nil { // estimate only if the caller asks
		if e := estimate.Of(w.plan, w.find); e != nil {
			w.rows = e.Rows
		}
		w.plan = nil
	}
	share := func(part int64, of float64) float64 {
		if part := float64(part); part < of {
			return part / of
		}
		return 0 // more rows than estimated, or nearly finished
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

// moment holds values that change even after a statement's end: the time, and the counts of its client.
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
	return &recorder{began: now(c)}
}

// end records the end of the statement once: later calls of its client are not its work.
func (r *recorder) end(c hbase.Client) {
	r.ending.Do(func() {
		r.last = now(c)
		r.ended.Store(&r.last)
	})
}

// stats returns the counts; c is the statement's client.
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
