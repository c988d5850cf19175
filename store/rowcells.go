package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/hql-db/hql/internal/poison"
)

// block collects the rows of a response in the wire format of cells (KeyValueCodec):
//
//	length, 4 bytes | key length, 4 | value length, 4 |
//	row length, 2 | row | family length, 1 | family | qualifier | timestamp, 8 | type, 1 | value
//
// lengths big-endian, the first not counting itself. All rows of a response share one
// array. The last row is open: it can still lose cells or be dropped.
type block struct {
	buf      []byte
	counts   []uint32 // cells of each closed row
	partial  []bool   // for each closed row: more of it may follow
	rowStart int      // start of the open row in buf
	cells    int      // number of cells of the open row
	lastRow  int      // start of the last closed row; -1: none
	lone     bool     // it is a copy: its memory is not used again
}

func (b *block) reset() {
	*b = block{buf: b.buf[:0], counts: b.counts[:0], partial: b.partial[:0], lastRow: -1}
}

// blocks are blocks whose memory is used again, of at most maxKept bytes each.
var blocks = sync.Pool{New: func() any { return &block{} }}

const maxKept = 4 << 20

// borrowed returns an empty block. The caller that has used it to the end may call release.
func borrowed() *block {
	b := blocks.Get().(*block)
	b.reset()
	return b
}

// release lets others use the memory of b.
func (b *block) release() {
	poison.Bytes(b.buf)
	if cap(b.buf) <= maxKept && !b.lone {
		blocks.Put(b)
	}
}

// copied releases b and returns a copy of its rows, which needs no more memory than they do.
func (b *block) copied() *block {
	defer b.release()
	return &block{buf: bytes.Clone(b.buf), counts: slices.Clone(b.counts), partial: slices.Clone(b.partial), lone: true}
}

// cellSize is the length of a cell on the wire.
func cellSize(c *cell) int {
	return 4 + 8 + 2 + len(c.row) + 1 + len(c.family) + len(c.qualifier) + 9 + len(c.value)
}

// add appends a cell to the open row.
func (b *block) add(c *cell) {
	size, at := cellSize(c), len(b.buf)
	b.buf = slices.Grow(b.buf, size)[:at+size]
	buf := b.buf[at:]
	binary.BigEndian.PutUint32(buf, uint32(size-4))
	binary.BigEndian.PutUint32(buf[4:], uint32(size-12-len(c.value)))
	binary.BigEndian.PutUint32(buf[8:], uint32(len(c.value)))
	binary.BigEndian.PutUint16(buf[12:], uint16(len(c.row)))
	buf = buf[14+copy(buf[14:], c.row):]
	buf[0] = byte(len(c.family))
	buf = buf[1+copy(buf[1:], c.family):]
	buf = buf[copy(buf, c.qualifier):]
	binary.BigEndian.PutUint64(buf, uint64(c.ts))
	buf[8] = byte(c.typ)
	copy(buf[9:], c.value)
	b.cells++
}

// drop discards the open row.
func (b *block) drop() {
	b.buf = b.buf[:b.rowStart]
	b.cells = 0
}

// close ends the open row, which must have cells.
func (b *block) close(partial bool) {
	b.counts = append(b.counts, uint32(b.cells))
	b.partial = append(b.partial, partial)
	b.lastRow = b.rowStart
	b.rowStart = len(b.buf)
	b.cells = 0
}

// rowAt returns the key of the row that starts at an offset.
func (b *block) rowAt(off int) []byte {
	n := int(binary.BigEndian.Uint16(b.buf[off+12:]))
	return b.buf[off+14 : off+14+n]
}

// openRow returns the key of the open row, which must have cells.
func (b *block) openRow() []byte { return b.rowAt(b.rowStart) }

// decodeCell reads the cell at the start of b and returns its length on the wire; 0: b is malformed. The slices of c
// alias b.
func decodeCell(b []byte, c *cell) int {
	if len(b) < 14 {
		return 0
	}
	total := int(binary.BigEndian.Uint32(b))
	key, value := int(binary.BigEndian.Uint32(b[4:])), int(binary.BigEndian.Uint32(b[8:]))
	row := int(binary.BigEndian.Uint16(b[12:]))
	if total != 8+key+value || len(b) < 4+total || key < 2+row+1+9 {
		return 0
	}
	k := b[14 : 12+key]
	fam := int(k[row])
	if len(k) < row+1+fam+9 {
		return 0
	}
	n := len(k)
	c.row = k[:row:row]
	c.family = k[row+1 : row+1+fam : row+1+fam]
	c.qualifier = k[row+1+fam : n-9 : n-9]
	c.ts = int64(binary.BigEndian.Uint64(k[n-9:]))
	c.typ = cellType(k[n-1])
	c.value = b[12+key : 4+total]
	return 4 + total
}

// sort puts the cells of the open row in order after families were read out of order.
func (b *block) sort() {
	row := slices.Clone(b.buf[b.rowStart:])
	cells := make([]cell, 0, b.cells)
	for len(row) > 0 {
		var c cell
		row = row[decodeCell(row, &c):]
		cells = append(cells, c)
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return compareCells(&a, &b) })
	b.drop()
	for i := range cells {
		b.add(&cells[i])
	}
}

// size returns the size of the open row for limits.
func (b *block) size() int64 {
	return int64(len(b.buf)-b.rowStart) + int64(b.cells)*cellOverhead
}
