package store

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tsuna/gohbase/pb"
	"google.golang.org/protobuf/proto"
)

// maxCellSize is the server's limit on the size of a written cell, in bytes.
const maxCellSize = 10 << 20

// rowLocks make reading and then writing a row atomic. Several rows share a lock.
type rowLocks struct {
	once sync.Once
	seed maphash.Seed
	mu   [256]sync.Mutex
}

// index returns the lock of a row.
func (l *rowLocks) index(row []byte) int {
	l.once.Do(func() { l.seed = maphash.MakeSeed() })
	return int(maphash.Bytes(l.seed, row) % uint64(len(l.mu)))
}

// lockAll locks rows, in an order that all callers share, and returns the function that unlocks them.
func (l *rowLocks) lockAll(rows [][]byte) func() {
	is := make([]int, len(rows))
	for i, r := range rows {
		is[i] = l.index(r)
	}
	slices.Sort(is)
	is = slices.Compact(is)
	for _, i := range is {
		l.mu[i].Lock()
	}
	return func() {
		for _, i := range is {
			l.mu[i].Unlock()
		}
	}
}

// writer applies mutations to one Pebble batch. Before a mutation has to read, it commits the batch, so that later
// mutations see earlier ones.
type writer struct {
	s     *Store
	table *table
	batch *pebble.Batch
	key   []byte
	value []byte
	// notBefore is the least timestamp given to cells, so that the cell that met a condition does not hide the
	// conditional write.
	notBefore int64
}

func (s *Store) newWriter(t *table) *writer { return &writer{s: s, table: t, batch: s.db.NewBatch()} }

// flush commits what has been written.
func (w *writer) flush() error {
	if w.batch.Empty() {
		return nil
	}
	count := w.s.cells.writesTo(w.table)
	count.begun.Add(1)
	err := w.batch.Commit(w.s.write)
	count.ended.Add(1)
	w.batch.Close()
	w.batch = w.s.db.NewBatch()
	return err
}

func (w *writer) close() { w.batch.Close() }

// put writes one cell, or a delete marker.
func (w *writer) put(f *family, meta bool, c *cell) error {
	w.key = appendRow(append(w.key[:0], f.prefix...), c.row, meta)
	w.key = appendVersion(appendColumn(w.key, c.qualifier), c.ts, c.typ)
	w.value = appendValue(w.value[:0], c.value)
	return w.batch.Set(w.key, w.value, nil)
}

// apply applies a Put or a Delete that was admitted and whose row is locked. A Delete without cells deletes the whole row.
func (w *writer) apply(t *table, m *pb.MutationProto, cells []cell) error {
	now := max(w.s.now(), w.notBefore)
	if m.GetMutateType() == pb.MutationProto_INCREMENT {
		return throw(classUnsupported, "an increment in a batch")
	}
	if m.GetMutateType() == pb.MutationProto_DELETE && len(cells) == 0 {
		ts := latestTimestamp
		if m.Timestamp != nil {
			ts = int64(m.GetTimestamp())
		}
		for _, f := range t.families {
			cells = append(cells, cell{row: m.GetRow(), family: f.name, ts: ts, typ: typeDeleteFamily})
		}
	}
	for i := range cells {
		c := &cells[i]
		if c.ts == latestTimestamp {
			c.ts = now
		}
		if err := w.put(t.family(c.family), t.meta, c); err != nil {
			return err
		}
	}
	return nil
}

// convert returns a mutation's cells. It refuses what a server refuses while it reads the message.
func convert(g *region, m *pb.MutationProto) ([]cell, error) {
	if err := checkRow(m.GetRow()); err != nil {
		return nil, err
	}
	if ts := int64(m.GetTimestamp()); ts < 0 {
		return nil, illegalArgument("Timestamp cannot be negative. ts=%d", ts)
	}
	cells, err := mutationCells(m)
	if err != nil {
		return nil, err
	}
	for i := range cells {
		if ts := cells[i].ts; ts < 0 {
			return nil, illegalArgument("Timestamp cannot be negative. ts=%d", ts)
		}
		if n := cellSize(&cells[i]); n > maxCellSize {
			return nil, throw(classDoNotRetry, "Cell with size %d exceeds limit of %d bytes in region %s", n, maxCellSize, g.name)
		}
	}
	return cells, nil
}

// admit refuses a mutation that its region cannot take. For a row of another region, the class of the exception depends
// on atomic: whether the mutation is conditional or an increment.
func admit(t *table, g *region, m *pb.MutationProto, cells []cell, atomic bool) error {
	if err := checkWritable(t); err != nil {
		return err
	}
	if !g.contains(m.GetRow()) {
		class := classInsane
		if atomic {
			class = classWrongRegion
		}
		return outOfRange(class, "batchMutate", g, m.GetRow())
	}
	for i := range cells {
		if f := cells[i].family; t.family(f) == nil {
			return noSuchFamily(f, t, g)
		}
	}
	return nil
}

func checkWritable(t *table) error {
	if t.readOnly {
		return throw(classDoNotRetry, "region is read only")
	}
	return nil
}

// mutationCells lists a mutation's cells, in the order of the message. It refuses the kinds of mutations that hql does
// not send.
func mutationCells(m *pb.MutationProto) ([]cell, error) {
	if m.GetMutateType() == pb.MutationProto_APPEND {
		return nil, throw(classUnsupported, "APPEND")
	}
	stamp := latestTimestamp
	if m.Timestamp != nil {
		stamp = int64(m.GetTimestamp())
	}
	var cells []cell
	for _, cv := range m.GetColumnValue() {
		for _, qv := range cv.GetQualifierValue() {
			c := cell{row: m.GetRow(), family: cv.GetFamily(), qualifier: qv.GetQualifier(), value: qv.GetValue(), ts: stamp, typ: typePut}
			if qv.Timestamp != nil {
				c.ts = int64(qv.GetTimestamp())
			}
			if m.GetMutateType() == pb.MutationProto_DELETE || m.GetMutateType() == pb.MutationProto_PUT && qv.DeleteType != nil {
				c.value = nil
				switch qv.GetDeleteType() {
				case pb.MutationProto_DELETE_MULTIPLE_VERSIONS:
					c.typ = typeDeleteColumn
				case pb.MutationProto_DELETE_FAMILY:
					c.typ, c.qualifier = typeDeleteFamily, nil
				default:
					return nil, throw(classUnsupported, "%s", qv.GetDeleteType())
				}
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

func column(family, qualifier []byte) []*pb.Column {
	return []*pb.Column{{Family: family, Qualifier: [][]byte{qualifier}}}
}

// get returns the cells that m asks for, with all earlier mutations of the writer applied.
func (w *writer) get(ctx context.Context, t *table, g *region, m *pb.Get) ([]cell, error) {
	if err := w.flush(); err != nil {
		return nil, err
	}
	q, err := newGet(t, g, m, nil)
	if err != nil {
		return nil, err
	}
	var b block
	b.reset()
	if err := w.s.readRow(ctx, g, q, &b); err != nil {
		return nil, err
	}
	var cells []cell
	for buf := b.buf; len(buf) > 0; {
		var c cell
		buf = buf[decodeCell(buf, &c):]
		cells = append(cells, c)
	}
	return cells, nil
}

// increment adds to stored numbers. The new values are a row of b.
func (w *writer) increment(ctx context.Context, t *table, g *region, cells []cell, b *block) (*pb.Result, error) {
	slices.SortStableFunc(cells, func(a, b cell) int { return compareCells(&a, &b) })
	for i := range cells {
		c := &cells[i]
		old, err := w.get(ctx, t, g, &pb.Get{Row: c.row, Column: column(c.family, c.qualifier)})
		if err != nil {
			return nil, err
		}
		if err := addNumber(c, old, max(w.s.now(), w.notBefore)); err != nil {
			return nil, err
		}
	}
	for i := range cells {
		c := &cells[i]
		if err := w.put(t.family(c.family), t.meta, c); err != nil {
			return nil, err
		}
		b.add(c)
	}
	n := b.cells
	if n > 0 {
		b.close(false)
	}
	return &pb.Result{AssociatedCellCount: proto.Int32(int32(n)), Stale: proto.Bool(false)}, nil
}

// addNumber changes c, the argument for a column, into the cell to store; old is the stored one.
func addNumber(c *cell, old []cell, now int64) error {
	if len(c.value) != 8 {
		return throw(classDoNotRetry, "Field is not a long, it's %d bytes wide", len(c.value))
	}
	if len(old) == 0 {
		if c.ts == latestTimestamp {
			c.ts = now
		}
		return nil
	}
	o := old[0]
	c.ts = max(o.ts+1, now)
	if len(o.value) != 8 {
		return throw(classDoNotRetry, "Field is not a long, it's %d bytes wide", len(o.value))
	}
	c.value = binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(o.value)+binary.BigEndian.Uint64(c.value))
	return nil
}
