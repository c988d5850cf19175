package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// cellCache keeps the cells of regions in memory, as a server does with its memory and block cache, so that a repeated read
// needs no iterator. It has all versions and delete markers of a region and family, or nothing of them. A scan that comes
// to the end of a region marks it; the next one, if nothing was written in between, puts the region into the cache.
type cellCache struct {
	mu          sync.Mutex
	limit, held int64 // bytes
	entries     map[cacheKey]*cacheEntry
	writes      [256]writeCount // of tables by the last byte of their id, because a region can be replaced while a write goes on
}

type cacheKey struct {
	region *region
	family byte
}

// cacheEntry is what is known of a family in a region.
type cacheEntry struct {
	key     cacheKey
	version uint64       // of the cells, or of the marking scan
	cells   *cachedCells // nil: only marked
	large   bool         // they do not fit: cells are never removed from a region, so they never will
}

// writeCount counts the writes that have begun and those that have ended. The number begun is the version of what is stored
// if it is also the number ended.
type writeCount struct{ begun, ended atomic.Uint64 }

func (c *cellCache) writesTo(t *table) *writeCount { return &c.writes[t.id%uint32(len(c.writes))] }

// version returns the version of a table's cells; ok is false during a write.
func (c *cellCache) version(t *table) (version uint64, ok bool) {
	w := c.writesTo(t)
	ended := w.ended.Load() // first: what has begun by then has ended, if the numbers are equal
	version = w.begun.Load()
	return version, version == ended && !t.meta
}

// cachedCells are the cells of a family in a region, in the format of a block. They never change.
type cachedCells struct {
	buf   []byte
	at    []uint32 // start of each cell, and the end of the last one
	rows  []uint32 // number of each row's first cell, and the number of cells
	plain bool     // there are only puts, and one version of each column
	names [][]byte // the qualifiers
	name  []uint8  // of each cell: the index of its qualifier in names; nil: there are too many
}

func (c *cachedCells) size() int64 {
	return int64(cap(c.buf) + 4*cap(c.at) + 4*cap(c.rows) + cap(c.name))
}

// value returns the value of the cell with number i.
func (c *cachedCells) value(i int) []byte {
	b := c.buf[c.at[i]:c.at[i+1]]
	return b[12+binary.BigEndian.Uint32(b[4:]):]
}

// row returns the key of the row with number i.
func (c *cachedCells) row(i int) []byte { return (&block{buf: c.buf}).rowAt(int(c.at[c.rows[i]])) }

// rowFrom returns the number of the first row at or, unless including is set, behind a key.
func (c *cachedCells) rowFrom(key []byte, including bool) int {
	return sort.Search(len(c.rows)-1, func(i int) bool {
		d := bytes.Compare(c.row(i), key)
		return d > 0 || d == 0 && including
	})
}

// cached returns the cells of the families that a query of g reads, of one version; nil: read the store.
func (s *Store) cached(ctx context.Context, q *query, g *region, version uint64) []*cachedCells {
	out := make([]*cachedCells, len(q.families))
	c, whole := &s.cells, q.whole(g)
	for i := range q.families {
		f := q.families[i].family
		c.mu.Lock()
		e := c.entries[cacheKey{g, f.id}]
		fill := false
		if e != nil && e.version == version {
			out[i], fill = e.cells, e.cells == nil && whole && !e.large
		}
		c.mu.Unlock()
		if fill {
			cells, large := s.readCells(ctx, f, g)
			c.fill(e, version, cells, large)
			out[i] = cells
		}
		if out[i] == nil {
			return nil
		}
	}
	if now, ok := c.version(g.table); !ok || now != version {
		return nil // what was put into the cache may be newer
	}
	return out
}

// whole reports whether q reads all rows of g, from the first to the last.
func (q *query) whole(g *region) bool {
	return !q.get && !q.reversed && bytes.Compare(q.start, g.start) <= 0 &&
		(len(q.stop) == 0 || len(g.stop) > 0 && bytes.Compare(q.stop, g.stop) >= 0)
}

// readCells reads the cells of a family in a region; nil: there are too many, or reading failed.
func (s *Store) readCells(ctx context.Context, f *family, g *region) (cells *cachedCells, large bool) {
	q := &query{}
	lower, upper := q.bounds(f, g)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, false
	}
	defer it.Close()
	c, b, lim := &cachedCells{plain: true}, &block{}, limits{}
	var last []byte // qualifier
	var name []uint8
	names := map[string]uint8{}
	sc := &storeScanner{it: it, family: f, query: q, cur: cell{family: f.name}}
	for sc.start(); sc.valid; sc.step() {
		if lim.poll(ctx) {
			return nil, false
		}
		if int(sc.rows) > len(c.rows) {
			c.rows = append(c.rows, uint32(len(c.at)))
		} else if bytes.Equal(last, sc.cur.qualifier) {
			c.plain = false
		}
		last = append(last[:0], sc.cur.qualifier...)
		c.plain = c.plain && sc.cur.typ == typePut
		c.at = append(c.at, uint32(len(b.buf)))
		if id, known := names[string(last)]; known || len(names) <= math.MaxUint8 {
			if !known {
				id, c.names = uint8(len(names)), append(c.names, bytes.Clone(last))
				names[string(last)] = id
			}
			name = append(name, id)
		}
		if b.add(&sc.cur); int64(len(b.buf))+4*int64(len(c.at)+len(c.rows)) > s.cells.limit {
			return nil, true
		}
	}
	if sc.err != nil {
		return nil, false
	}
	c.rows, c.at = append(c.rows, uint32(len(c.at))), append(c.at, uint32(len(b.buf)))
	if len(name)+1 == len(c.at) {
		c.name = slices.Clone(name)
	}
	return &cachedCells{buf: bytes.Clone(b.buf), at: slices.Clone(c.at), rows: slices.Clone(c.rows), plain: c.plain, names: c.names, name: c.name}, false
}

// fill puts cells into an entry, and removes others, whichever come first, while there are too many.
func (c *cellCache) fill(e *cacheEntry, version uint64, cells *cachedCells, large bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.large = large; cells == nil || c.entries[e.key] != e {
		return
	}
	c.drop(e)
	e.version, e.cells = version, cells
	c.held += cells.size()
	for _, o := range c.entries {
		if o != e && c.held > c.limit {
			c.drop(o)
		}
	}
}

func (c *cellCache) drop(e *cacheEntry) {
	if e.cells != nil {
		c.held -= e.cells.size()
		e.cells = nil
	}
}

// mark notes that a scan of version has read the families of q in g to the end.
func (c *cellCache) mark(q *query, g *region, version uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range q.families {
		key := cacheKey{g, q.families[i].family.id}
		e := c.entries[key]
		if e == nil {
			e = &cacheEntry{key: key}
			c.entries[key] = e
		}
		if e.version != version {
			c.drop(e)
			e.version = version
		}
	}
}

// forget removes the regions of old, a former version of a table, that t does not have; t is nil if the table was dropped.
func (c *cellCache) forget(old, t *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, e := range c.entries {
		if slices.Contains(old.regions, key.region) && (t == nil || !slices.Contains(t.regions, key.region)) {
			c.drop(e)
			delete(c.entries, key)
		}
	}
}

// cachedReader is a position in cachedCells.
type cachedReader struct {
	*cachedCells
	from, to int // rows to read
	row, i   int // current row and cell
}

// reader returns a reader of the rows of g that q reads.
func (c *cachedCells) reader(q *query, g *region) cachedReader {
	low, lowIncl, high, highIncl := q.rows(g)
	r := cachedReader{cachedCells: c, to: len(c.rows) - 1}
	if len(low) > 0 {
		r.from = c.rowFrom(low, lowIncl)
	}
	if len(high) > 0 {
		r.to = c.rowFrom(high, !highIncl)
	}
	return r
}

// rowEnd returns the cell after the current row.
func (r *cachedReader) rowEnd() int { return int(r.rows[r.row+1]) }

// cell returns the current cell, as in a block.
func (r *cachedReader) cell() []byte { return r.buf[r.at[r.i]:r.at[r.i+1]] }

func (s *storeScanner) startCached() {
	if s.query.reversed {
		s.toRow(s.cells.to - 1)
	} else {
		s.toRow(s.cells.from)
	}
}

// toRow goes to the first cell of the row with a number.
func (s *storeScanner) toRow(row int) {
	r := &s.cells
	if s.valid = row >= r.from && row < r.to; s.valid {
		r.row, r.i = row, int(r.rows[row])
		s.rows++
		decodeCell(r.cell(), &s.cur)
	}
}

// goTo goes to a cell of the current row or, if i is behind the row, to the next row in the order of the scan.
func (s *storeScanner) goTo(i int) {
	r := &s.cells
	switch {
	case i < r.rowEnd():
		r.i = i
		decodeCell(r.cell(), &s.cur)
	case s.query.reversed:
		s.toRow(r.row - 1)
	default:
		s.toRow(r.row + 1)
	}
}

// seekCached goes to the first cell at or behind h, a position ahead. A reversed scan does so in the row of h; if there
// is none it goes to the row before.
func (s *storeScanner) seekCached(h *cell) {
	r := &s.cells
	row := max(r.rowFrom(h.row, true), r.from)
	if s.query.reversed && (row >= r.to || !bytes.Equal(r.cachedCells.row(row), h.row)) {
		s.toRow(row - 1)
		return
	}
	if row != r.row {
		s.toRow(row)
	}
	for row := s.rows; s.valid && s.rows == row && compareCells(&s.cur, h) < 0; {
		s.step()
	}
}
