package scan

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Sizes of reads, in rows and bytes.
const (
	maxChunkRows = 10_000  // a larger limited read becomes an open scan
	scanBytes    = 2 << 20 // size of a response if a single scan is open: larger ones cost memory, smaller ones calls
	minScanBytes = 128 << 10
)

// reader reads tasks one after the other and decodes their rows. It is not safe for concurrent use.
type reader struct {
	*access
	dec   *Decoder
	tasks []task
	bytes int // size of a response
	// chunk, if not 0, is the number of rows that the next scan requests: under a LIMIT a reader requests few, and more
	// only when wanted.
	chunk int
	quota int64 // number of rows after which it ends; 0: none
	ahead bool  // hbase.ScanRange.Ahead: it is the only reader
	brief bool  // hbase.ScanRange.Brief: it is one of many readers
	// skip, if not 0, is Scan.DistinctPrefix, a number of leading parts of the key. Rows with equal leading parts are a
	// group, and the reader keeps only the first matching rows of each group. While a fetch returns rows of many groups,
	// the reader reads on; otherwise it jumps past the last row's group, the rows that share prefix.
	skip   int
	behind *catalog.Part // with Scan.DistinctFirst, the part after prefix: rows whose part is not in side form another group
	prefix []byte        // the leading parts of the last row kept: rows that share it are the last row's group
	rows   int           // number of rows wanted of each group, and number kept of the last row's group
	kept   int
	far    bool              // the open scan reads the last row's group from its other end
	side   catalog.ByteRange // range of the part behind in the last row's group: see InOrder
	all    bool              // the first task is read whole, although there is skip: see turnBack
	fresh  int               // number of groups found since the scan was opened
	pace   pace

	// With Scan.ByTime, sc finds only the keys of rows. found are the rows of sc that are still to be read with all cells.
	// near is a scan that reads some of these rows, or nil. sparse is the number of keys to find before the reader
	// considers such a scan again.
	found  []hbase.Row
	near   hbase.Scanner
	sparse int

	sc     hbase.Scanner
	start  []byte // of the open scan, advanced as rows come
	stop   []byte
	asked  int // limit of the open scan; 0: none
	got    int // number of rows of the open scan so far
	raw    []hbase.Row
	table  string
	missOK bool // a missing HBase table counts as empty, since its name is computed
}

// begin sets the tasks of r, and its decoder.
func (r *reader) begin(a *access, dec *Decoder, tasks []task) {
	s := a.scan
	r.access, r.dec, r.tasks, r.bytes = a, dec, tasks, scanBytes
	r.skip, r.missOK, r.rows = s.DistinctPrefix, ComputedName(s.Layout), max(1, s.DistinctRows)
	if s.DistinctFirst {
		r.behind = s.Layout.Key.Parts[r.skip]
	}
	if r.skip > 0 {
		r.chunk = a.st.Tuning.FirstRows
		longest := maxChunkRows
		if s.Turned {
			r.chunk, longest = r.rows, a.st.Tuning.HopLongest
		}
		r.pace = newPace(&a.st.Tuning, r.chunk, longest)
		r.pace.steady = s.Turned
	}
}

// limitTo makes the reader request few rows first. limit rows are wanted; filtered reports that the client may drop some
// rows. first, if not 0, is the number of rows that probably suffices then.
func (r *reader) limitTo(limit, first int64, filtered bool) {
	n := limit
	if r.dec.packed != nil { // a row of HBase holds many rows
		n = 1
	}
	switch {
	case !filtered:
		r.quota = limit
	case first > 0:
		n = first
	case r.dec.packed != nil:
		n = 4
	default:
		n = max(int64(r.st.Tuning.FirstRows), 2*limit)
	}
	if n <= maxChunkRows {
		r.chunk = int(max(n, 1))
	}
}

// next fills b with at least one row; io.EOF after the last.
func (r *reader) next(ctx context.Context, b *rowBatch) error {
	b.reset()
	r.dec.ctx = ctx
	r.dec.expect(b, len(r.raw))
	for len(b.rows) < operator.BatchRows {
		if len(r.raw) == 0 {
			if len(b.rows) > 0 {
				return nil // return what there is instead of waiting for more
			}
			if err := r.fetch(ctx); err != nil {
				return err
			}
			r.dec.expect(b, len(r.raw))
			continue
		}
		row := &r.raw[0]
		r.raw = r.raw[1:]
		if row.Key == nil {
			continue // a Get that found no row
		}
		n, last := -1, false
		if r.skip > 0 && !r.far && !r.all {
			n = r.dec.layout.Key.PrefixLen(row.Key, r.skip, false)
			if last = n >= 0 && r.isLast(row.Key); last && r.kept >= r.rows && !r.scan.DistinctBoth {
				continue
			}
		}
		kept := len(b.rows)
		if err := r.dec.appendRows(b, r.table, row); err != nil {
			return err
		}
		if r.opts.Cells > 0 {
			if err := r.rest(ctx, b, row, len(b.rows)-kept); err != nil {
				return err
			}
		}
		if r.quota > 0 {
			if r.quota -= int64(len(b.rows) - kept); r.quota <= 0 {
				r.close()
				return nil
			}
		}
		if n >= 0 && len(b.rows) > kept {
			if r.kept++; last {
				continue
			}
			r.kept = 1
			r.prefix = append(r.prefix[:0], row.Key[:n]...)
			if r.behind != nil {
				r.side = r.behind.InOrder(row.Key[n:])
			}
			r.fresh++
		}
	}
	return nil
}

// rest reads the rest of row, of which opts.Cells limits the cells, until it has added as many rows to b as are wanted.
// Before that, row added found rows.
func (r *reader) rest(ctx context.Context, b *rowBatch, row *hbase.Row, found int) error {
	o, from := r.opts, len(b.rows)-found
	for o.Cells > 0 && len(row.Cells) >= o.Cells && int64(len(b.rows)-from) < r.scan.Limit.Rows {
		if o.Cells *= 4; o.Cells > maxChunkRows {
			o.Cells = 0
		}
		after := append(bytes.Clone(row.Cells[len(row.Cells)-1].Qualifier), 0)
		o.Filter = allOf(r.opts.Filter, filter.ColumnRange{Family: r.dec.packed.Family, Min: after})
		rows, err := r.st.Client.Get(ctx, r.table, [][]byte{row.Key}, &o)
		if r.stats.gets.Add(1); err != nil {
			return r.failed(err)
		}
		if row = &rows[0]; row.Key == nil {
			break
		}
		if err := r.dec.appendRows(b, r.table, row); err != nil {
			return err
		}
	}
	return nil
}

// fetch reads more raw rows, from the next task when the current one has ended.
func (r *reader) fetch(ctx context.Context) error {
	if r.sc == nil {
		if len(r.tasks) == 0 {
			return io.EOF
		}
		t := &r.tasks[0]
		r.table = t.table
		if t.keys != nil {
			return r.get(ctx, t)
		}
		if t.hop != nil {
			return r.hop(ctx, *t)
		}
		if r.all = r.scan.Turned && !t.reversed; r.scan.Turned && t.reversed && !r.ofOne(t) {
			short, err := r.chunk == 0, error(nil)
			if !short {
				short, err = r.short(ctx, t)
			}
			if short || err != nil {
				r.turnBack(t.stop)
				return err
			}
		}
		r.start, r.stop = t.start, t.stop
		chunk := r.chunk
		switch {
		case r.all && r.scan.Wanted == 0:
			r.chunk = 0
		case r.all:
			r.chunk = r.st.Tuning.FirstRows
		case r.skip > 0 && chunk > r.rows && r.scan.Residual == nil && r.ofOne(t):
			r.chunk = r.rows
		}
		err := r.open(ctx)
		if r.chunk = chunk; err != nil {
			return err
		}
		if r.sc == nil {
			return nil
		}
	}
	if r.near != nil || len(r.found) > 0 {
		return r.whole(ctx)
	}
	rows, err := r.st.next(ctx, r.sc)
	switch {
	case err == io.EOF:
		return r.finished(ctx)
	case err != nil && r.missOK && errors.Is(err, hbase.ErrNoTable):
		return r.closeTask()
	case err != nil:
		return r.failed(err)
	}
	if r.dec.seen = time.Now(); r.scan.ByTime {
		r.found = rows
	} else {
		r.raw = rows
	}
	r.got += len(rows)
	r.stats.read.Add(int64(len(rows)))
	if n := len(rows); n > 0 && r.asked > 0 && !r.far { // where to continue
		last := rows[n-1].Key
		if r.tasks[0].reversed {
			r.stop = append(r.stop[:0:0], last...)
		} else {
			r.start = append(append(r.start[:0:0], last...), 0)
		}
	}
	return nil
}

// whole reads rows of found with all their cells: by Gets, or by a scan from the first to the last of these rows if it
// passes few others.
func (r *reader) whole(ctx context.Context) (err error) {
	if r.near == nil {
		keys := make([][]byte, min(len(r.found), GetChunk))
		for i := range keys {
			keys[i] = r.found[i].Key
		}
		r.found = r.found[len(keys):]
		if r.near, err = r.over(ctx, keys); err != nil {
			return r.failed(err)
		}
		if r.near == nil {
			return r.getKeys(ctx, r.table, keys)
		}
	}
	r.raw, err = r.st.next(ctx, r.near)
	if r.dec.seen = time.Now(); err == io.EOF {
		err, r.near = r.near.Close(), nil
	}
	if err != nil {
		return r.failed(err)
	}
	r.stats.read.Add(int64(len(r.raw)))
	return nil
}

// over opens a scan from the first to the last of keys, which are in the order of the first task. It returns nil if Gets cost less.
func (r *reader) over(ctx context.Context, keys [][]byte) (hbase.Scanner, error) {
	const enough, passed = 16, 4 // how many keys make a scan worth while, and how many rows it may pass for each
	if r.sparse -= len(keys); r.sparse > 0 || len(keys) < enough {
		return nil, nil
	}
	t := &r.tasks[0]
	sr := hbase.ScanRange{Table: r.table, Start: keys[0], Stop: keys[len(keys)-1], Reversed: t.reversed, BatchBytes: r.bytes}
	if sr.Reversed {
		sr.Start, sr.Stop = sr.Stop, sr.Start
	}
	sr.Stop = append(bytes.Clone(sr.Stop), 0)
	between, all := sr, r.find
	between.Limit, all.Filter, all.MaxTime = passed*len(keys), filter.And{filter.FirstCell{}, filter.KeyOnly{}}, 0
	n := 0
	if err := r.st.scan(ctx, r.stats, between, t.packed(&all), func(rows []hbase.Row) { n += len(rows) }); err != nil {
		return nil, err
	}
	if n == between.Limit {
		r.sparse = between.Limit
		return nil, nil
	}
	r.stats.ranges.Add(1)
	return r.st.Client.Scan(ctx, sr, t.packed(&r.opts))
}

// short looks at the first keys of t, a task of a scan that is Turned. It reports whether t is better read forwards and
// whole, because its groups are short.
func (r *reader) short(ctx context.Context, t *task) (bool, error) {
	if r.scan.Access == plan.SkipScan || r.scan.Residual != nil || r.st.Guard.TooMany(r.scan) != nil {
		return false, nil
	}
	o, groups, last := r.opts, 0, []byte(nil)
	o.Columns, o.Filter = nil, filter.And{filter.FirstCell{}, filter.KeyOnly{}}
	sr := hbase.ScanRange{Table: t.table, Start: t.start, Stop: t.stop, Limit: r.st.Tuning.HopPays, BatchBytes: r.bytes}
	err := r.st.scan(ctx, r.stats, sr, &o, func(rows []hbase.Row) {
		for i := range rows {
			if n := r.dec.layout.Key.PrefixLen(rows[i].Key, r.skip, false); n >= 0 && !bytes.Equal(rows[i].Key[:n], last) {
				groups, last = groups+1, bytes.Clone(rows[i].Key[:n])
			}
		}
	})
	if err != nil && r.missOK && errors.Is(err, hbase.ErrNoTable) {
		return false, nil
	}
	return groups > 1, err
}

// turnBack has the first task, which ends with stop, read forwards and whole. The rest of a group that continues behind
// either end is read by itself, so that the rows of each group come together.
func (r *reader) turnBack(stop []byte) {
	var tasks []task
	t, k := r.tasks[0], r.dec.layout.Key
	t.stop = stop
	if n := k.PrefixLen(stop, r.skip, false); n >= 0 && n < len(stop) && bytes.Compare(stop[:n], t.start) > 0 {
		end := t
		end.start, t.stop = stop[:n], stop[:n]
		tasks = append(tasks, end)
	}
	first := t
	if n := k.PrefixLen(t.start, r.skip, false); n >= 0 {
		if first.stop = types.PrefixEnd(t.start[:n]); first.stop != nil && (len(t.stop) == 0 || bytes.Compare(first.stop, t.stop) < 0) {
			t.start = first.stop
		}
	}
	t.reversed = false
	if tasks = append(tasks, t); !bytes.Equal(first.start, t.start) {
		tasks = append(tasks, first)
	}
	r.tasks = append(tasks, r.tasks[1:]...)
}

// ofOne reports whether all keys of t are in one group (see skip).
func (r *reader) ofOne(t *task) bool {
	n := r.dec.layout.Key.PrefixLen(t.start, r.skip, false)
	if n < 0 || len(t.stop) == 0 {
		return false
	}
	end := types.PrefixEnd(t.start[:n])
	return end == nil || bytes.Compare(t.stop, end) <= 0
}

// hop replaces t, the first task, by the parts that are worth reading. It begins with few values, which often suffice
// under a LIMIT.
func (r *reader) hop(ctx context.Context, t task) error {
	found, left, err := t.hop.next(ctx, t, t.hop.want)
	if err != nil {
		return err
	}
	t.hop.want = min(4*t.hop.want, maxPacked)
	tasks := r.st.byRegion(ctx, joinKeys(found), nil, !t.reversed)
	if left != nil {
		tasks = append(tasks, *left)
	}
	r.tasks = append(tasks, r.tasks[1:]...)
	return nil
}

// get reads the next keys of t.
func (r *reader) get(ctx context.Context, t *task) error {
	keys := t.keys
	if r.chunk > 0 && len(keys) > r.chunk {
		keys = keys[:r.chunk]
	}
	table := t.table
	if t.keys = t.keys[len(keys):]; len(t.keys) == 0 {
		r.tasks = r.tasks[1:]
	}
	r.grow()
	return r.getKeys(ctx, table, keys)
}

func (r *reader) getKeys(ctx context.Context, table string, keys [][]byte) error {
	rows, err := r.st.Client.Get(ctx, table, keys, &r.opts)
	r.stats.gets.Add(int64(len(keys)))
	if err != nil {
		if r.missOK && errors.Is(err, hbase.ErrNoTable) {
			return nil
		}
		return r.failed(err)
	}
	n := int64(0)
	for i := range rows {
		if rows[i].Key != nil {
			n++
		}
	}
	r.stats.read.Add(n)
	r.raw, r.dec.seen = rows, time.Now()
	return nil
}

// open begins a scan of the rest of the first task.
func (r *reader) open(ctx context.Context) error {
	t := &r.tasks[0]
	sr := hbase.ScanRange{Table: t.table, Start: r.start, Stop: r.stop, Reversed: t.reversed, Limit: r.chunk, BatchBytes: r.bytes, Brief: r.brief, Ahead: r.ahead}
	r.asked, r.got = r.chunk, 0
	return r.scanRange(ctx, t, sr)
}

// scanRange opens a scan of sr, a part of t.
func (r *reader) scanRange(ctx context.Context, t *task, sr hbase.ScanRange) (err error) {
	opts := &r.opts
	if r.scan.ByTime {
		opts = &r.find
	}
	if r.skip > 0 {
		r.looks.Add(1)
	}
	r.stats.ranges.Add(1)
	if r.sc, err = r.st.Client.Scan(ctx, sr, t.packed(opts)); err == nil {
		return nil
	}
	r.sc = nil
	if r.missOK && errors.Is(err, hbase.ErrNoTable) {
		return r.closeTask()
	}
	return r.failed(err)
}

// finished closes an open scan that returned all rows that it requested. If the scan was limited, finished continues after
// it.
func (r *reader) finished(ctx context.Context) error {
	t := &r.tasks[0]
	more := r.far || r.asked > 0 && r.got >= r.asked
	if more && r.scan.DistinctBoth && !r.far && r.amidLast() {
		return r.openFar(ctx, t)
	}
	r.far = false
	if r.skip > 0 && !r.all && more && !r.jump() {
		return r.closeTask()
	}
	if more && len(r.start) > 0 && len(r.stop) > 0 && string(r.start) >= string(r.stop) || more && t.reversed && len(r.stop) == 0 {
		more = false
	}
	if r.skip == 0 || r.all {
		if more { // otherwise it has all rows
			r.grow()
		}
	} else if err := r.keepPace(more || len(r.tasks) > 1); err != nil {
		return err
	}
	if !more {
		return r.closeTask()
	}
	err := r.sc.Close()
	r.sc = nil
	if err != nil {
		return r.failed(err)
	}
	if r.chunk == 0 && r.scan.Turned && r.tasks[0].reversed && !r.ofOne(t) {
		r.turnBack(r.stop)
		return nil
	}
	return r.open(ctx)
}

// jump sets the range that remains to be read to the keys after the last row's group, if the scan ended in this group
// and enough of its rows were kept. It returns false if no row can follow the group.
func (r *reader) jump() bool {
	if r.amidLast() {
		first, end := r.ofLast()
		if r.start = end; r.tasks[0].reversed {
			r.start, r.stop = r.tasks[0].start, first
		}
		return r.tasks[0].reversed || r.start != nil
	}
	return true
}

// amidLast reports whether the scan ended in the last row's group, and enough rows of the group were kept.
func (r *reader) amidLast() bool {
	if r.tasks[0].reversed {
		return r.isLast(r.stop) && r.kept >= r.rows
	}
	return r.isLast(r.start) && r.kept >= r.rows
}

// ofLast returns the range of keys of the last row's group; end is nil if the range has no end.
func (r *reader) ofLast() (first, end []byte) {
	if end = types.PrefixEnd(r.prefix); r.side.Hi != nil {
		end = slices.Concat(r.prefix, r.side.Hi)
	}
	return slices.Concat(r.prefix, r.side.Lo), end
}

// openFar opens a scan that reads the last row's group from its other end: against the direction of t.
func (r *reader) openFar(ctx context.Context, t *task) error {
	if err := r.sc.Close(); err != nil {
		return r.failed(err)
	}
	first, end := r.ofLast()
	sr := hbase.ScanRange{Table: t.table, Start: r.start, Stop: r.stop, Reversed: !t.reversed, Limit: r.rows, BatchBytes: r.bytes}
	if t.reversed {
		if bytes.Compare(first, sr.Start) > 0 {
			sr.Start = first
		}
	} else if len(sr.Stop) == 0 || end != nil && bytes.Compare(end, sr.Stop) < 0 {
		sr.Stop = end
	}
	r.far = true
	return r.scanRange(ctx, t, sr)
}

// isLast reports whether key is in the last row's group.
func (r *reader) isLast(key []byte) bool {
	rest, ok := bytes.CutPrefix(key, r.prefix)
	return r.prefix != nil && ok && bytes.Compare(rest, r.side.Lo) >= 0 && (r.side.Hi == nil || bytes.Compare(rest, r.side.Hi) < 0)
}

// keepPace sets the number of rows that the next scan between hops requests; left reports whether there is more to read.
// If hops have not paid, it requests all rows.
func (r *reader) keepPace(left bool) error {
	r.pace.next(r.got, r.fresh)
	r.looks.Add(perValue(r.scan.Access, r.fresh))
	r.fresh = 0
	if !left {
		return nil
	}
	end, err := r.pace.ends(r.scan, r.looks.Load(), r.st.Guard)
	if r.chunk = r.pace.rows; end {
		r.chunk = 0
	}
	return err
}

// grow increases the size of the next limited fetch, and finally removes the limit.
func (r *reader) grow() {
	if r.chunk *= 4; r.chunk > maxChunkRows {
		r.chunk = 0
	}
}

func (r *reader) closeTask() error {
	r.tasks, r.far = r.tasks[1:], false
	if r.sc == nil {
		return nil
	}
	err := r.sc.Close()
	r.sc = nil
	if err != nil && !errors.Is(err, hbase.ErrNoTable) {
		return r.failed(err)
	}
	return nil
}

func (r *reader) failed(err error) error { return ReadError(r.table, err) }

func (r *reader) close() {
	if r.sc != nil {
		_ = r.sc.Close() // the rows are valid; the server closes the scanner after its timeout
		r.sc = nil
	}
	if r.near != nil {
		_ = r.near.Close()
		r.near = nil
	}
	r.tasks, r.raw, r.found = nil, nil, nil
}
