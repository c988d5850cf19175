package hbase

import (
	"slices"

	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"

	"github.com/hql-db/hql/filter"
)

// ProbeRows is how many rows a scan with filter.Columns reads before it may try the columns alone. A variable for tests.
var ProbeRows = 1000

// narrowing reads the columns of filter.Columns alone where no row is missed by that: a server looks at each cell of a row for
// the filter, which takes it twice as long as seeking the columns. That a row has none of them then shows in the metrics of the
// answer, which count the rows looked at. Such an answer is dropped, and asked for again with the filter.
//
// A scanner opens at the last row read and reads it once more: at a key without a row, servers count one that is not there.
//
//	filter -> all rows have one of the columns -> columns alone -> a row is missing -> filter, for twice as many answers
type narrowing struct {
	opts    []func(hrpc.Call) error // to read the columns alone
	columns filter.Columns
	on      bool  // the open scanner reads the columns alone
	left    int   // answers to see with the filter, of rows that all have a column, before that is tried
	pause   int   // left after the next miss
	scanned int64 // rows that the open scanner looked at
	given   int64 // and those it gave
}

// narrowing gives nil where the columns alone are not read: in short scans, and where another filter drops rows too.
func (c *client) narrowing(r ScanRange, o *ReadOptions) *narrowing {
	if o == nil || r.Reversed || r.Brief || r.Limit > 0 || o.Versions > 1 || len(o.Families) != 1 || len(o.Columns) > 0 {
		return nil
	}
	columns, ok := o.Filter.(filter.Columns)
	if !ok || slices.ContainsFunc(columns, func(c filter.Column) bool { return c.Family != o.Families[0] }) {
		return nil
	}
	alone := *o
	alone.Columns, alone.Families, alone.Filter = columns, nil, nil
	opts, err := c.readOptions(&alone)
	if err != nil {
		return nil
	}
	if o.NoCacheBlocks {
		opts = append(opts, hrpc.CacheBlocks(false))
	}
	return &narrowing{opts: opts, columns: columns, left: 1, pause: 1}
}

// begin decides how the next scanner reads.
func (n *narrowing) begin() {
	n.on, n.scanned, n.given = n.left == 0, 0, 0
}

// last reports whether the next answer may be the last one with the filter.
func (n *narrowing) last() bool { return n != nil && !n.on && n.left == 1 }

// misses reports whether the answer to a scan of the columns alone may miss a row.
func (n *narrowing) misses(a *pb.ScanResponse, given int) bool {
	m := scanMetrics(a)
	if m == nil {
		n.pause = 1 << 30 // this server counts nothing
		return true
	}
	n.scanned += m.Rows
	n.given += int64(given)
	return n.scanned != n.given
}

// missed goes back to the filter.
func (n *narrowing) missed() {
	n.pause = min(2*n.pause, 1<<30)
	n.left = n.pause
}

// saw looks at rows that were read with the filter.
func (n *narrowing) saw(rows []Row) {
	if slices.ContainsFunc(rows, n.lacks) {
		n.missed()
	} else if len(rows) > 0 {
		n.left--
	}
}

// lacks reports whether a row has none of the columns: the filter leaves such a row its first cell alone.
func (n *narrowing) lacks(r Row) bool {
	has := func(c *Cell) bool {
		return slices.ContainsFunc(n.columns, func(col filter.Column) bool { return col.Qualifier == string(c.Qualifier) })
	}
	for i := range r.Cells {
		if has(&r.Cells[i]) {
			return false
		}
	}
	for cells := (CellReader{Encoded: r.Encoded}); cells.Next(); {
		if has(&cells.Cell) {
			return false
		}
	}
	return true
}
