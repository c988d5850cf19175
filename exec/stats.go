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

	meta   sync.Mutex
	listed map[string][]hbase.Region // looked up for Rows.Regions
}

func newRecorder(c hbase.Client) *recorder {
	r := &recorder{start: time.Now()}
	if c != nil {
		r.before = c.Stats()
	}
	return r
}

// stats sums up; c is the statement's client.
func (r *recorder) stats(c hbase.Client) Stats {
	out := Stats{RowsReturned: r.returned.Load(), RowsWritten: r.written.Load(), Elapsed: time.Since(r.start)}
	if c != nil {
		now := c.Stats()
		out.RPCs, out.Bytes = now.RPCs-r.before.RPCs, now.Bytes-r.before.Bytes
		out.Retries = now.Retries - r.before.Retries + now.Reopens - r.before.Reopens
	}
	tables, regions := r.Tables()
	for _, t := range tables {
		out.Gets += t.Gets
		out.Scans += t.Scans
		out.RowsRead += t.RowsRead
	}
	out.Tables, out.Regions = tables, int64(len(regions))
	return out
}
