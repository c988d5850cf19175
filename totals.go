package hql

import (
	"sync"

	"github.com/hql-db/hql/exec"
)

// Totals counts the statements of a DB and of its sessions since Open, like DBStats of database/sql.
type Totals struct {
	Statements int64 // started
	Failed     int64 // ended with an error
	Open       int64 // statements whose rows are neither read to the end nor closed; their scanners may be open
	// Stats is the sum over the statements that ended; its Tables are empty and its Done is 0.
	Stats Stats
}

// totals collects the counts of all sessions of a DB.
type totals struct {
	mu  sync.Mutex
	sum Totals
}

func (t *totals) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Statements++
	t.sum.Open++
}

// end counts a statement that ended with err; rows is nil if it failed before there were any.
func (t *totals) end(rows *exec.Rows, err error) {
	var s Stats
	if rows != nil {
		s = rows.Stats()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.Open--
	if err != nil {
		t.sum.Failed++
	}
	sum := &t.sum.Stats
	sum.Gets += s.Gets
	sum.Scans += s.Scans
	sum.RowsRead += s.RowsRead
	sum.Regions += s.Regions
	sum.RowsReturned += s.RowsReturned
	sum.RowsWritten += s.RowsWritten
	sum.RPCs += s.RPCs
	sum.Bytes += s.Bytes
	sum.Retries += s.Retries
	sum.Elapsed += s.Elapsed
}

// Totals returns the counts of all statements so far.
func (db *DB) Totals() Totals {
	db.totals.mu.Lock()
	defer db.totals.mu.Unlock()
	return db.totals.sum
}
