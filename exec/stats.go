package exec

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/hbase"
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
	Tables       []scan.TableStats // one a table access, in the order they began
}

// recorder counts while a statement runs.
type recorder struct {
	scan.Recorder
	start    time.Time
	before   hbase.Stats
	returned atomic.Int64
	written  atomic.Int64
	ended    atomic.Pointer[moment] // nil: the statement runs

	meta   sync.Mutex
	listed map[string][]hbase.Region // looked up for Rows.Regions
}

// moment is what goes on changing after a statement's end: the time, and what its client has done.
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
	m := now(c)
	return &recorder{start: m.at, before: m.client}
}

// end says that the statement has ended, unless it had before: what its client does from now on is not its work.
func (r *recorder) end(c hbase.Client) {
	if r.ended.Load() == nil {
		m := now(c)
		r.ended.CompareAndSwap(nil, &m)
	}
}

// stats sums up; c is the statement's client.
func (r *recorder) stats(c hbase.Client) Stats {
	end := r.ended.Load()
	if end == nil {
		m := now(c)
		end = &m
	}
	out := Stats{RowsReturned: r.returned.Load(), RowsWritten: r.written.Load(), Elapsed: end.at.Sub(r.start)}
	did := &end.client
	out.RPCs, out.Bytes = did.RPCs-r.before.RPCs, did.Bytes-r.before.Bytes
	out.Retries = did.Retries - r.before.Retries + did.Reopens - r.before.Reopens
	tables, regions := r.Tables()
	for _, t := range tables {
		out.Gets += t.Gets
		out.Scans += t.Scans
		out.RowsRead += t.RowsRead
	}
	out.Tables, out.Regions = tables, int64(len(regions))
	return out
}
