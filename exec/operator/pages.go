package operator

import (
	"bufio"
	"io"
	"slices"
	"sort"

	"github.com/hql-db/hql/types"
)

// pages holds rows that are read by their numbers, in any order. It keeps the rows that were read last in memory, as many
// as the share allows, and the others in a file.
type pages struct {
	share share
	dir   string // directory of the file
	what  string // name of the operation in errors
	whole bool   // fail instead of writing to a file

	list  []page
	n     int   // number of rows
	cur   int   // index of the page that was used last
	held  []int // indexes of the pages in memory
	clock int
	file  *spillFile
	in    *bufio.Reader
	buf   []byte
}

// page holds consecutive rows.
type page struct {
	rows     [][]types.Value // nil: they are only in the file
	first, n int             // number of the first row, and of rows
	size     int64           // bytes in memory
	filed    bool            // the rows are in the file
	at       int64           // where they begin there
	used     int             // time of the last use, by clock
}

// pageBytes is the approximate size of a page in memory under a large limit.
const pageBytes = 64 << 10

// add adds a row, which p keeps.
func (p *pages) add(row []types.Value) error {
	last := len(p.list) - 1
	if last < 0 || p.list[last].filed || p.list[last].size >= min(pageBytes, p.share.Limit/64) {
		last++
		p.list, p.held = append(p.list, page{first: p.n}), append(p.held, last)
	}
	size := SizeOf(row)
	p.cur = last
	if err := p.room(size); err != nil {
		return err
	}
	g := &p.list[last]
	g.rows, g.n, g.size = append(g.rows, row), g.n+1, g.size+size
	g.used, p.n, p.clock = p.clock, p.n+1, p.clock+1
	return nil
}

// row returns row i. It stays valid.
func (p *pages) row(i int) ([]types.Value, error) {
	g := &p.list[p.cur]
	if i < g.first || i >= g.first+g.n {
		p.cur = sort.Search(len(p.list), func(k int) bool { return p.list[k].first > i }) - 1
		g = &p.list[p.cur]
	}
	p.clock++
	g.used = p.clock
	if g.rows == nil {
		if err := p.read(g); err != nil {
			return nil, err
		}
	}
	return g.rows[i-g.first], nil
}

// room takes n bytes of the share. It drops the pages from memory that were not used for the longest time.
func (p *pages) room(n int64) error {
	for {
		full := p.share.take(n, p.what)
		if full == nil || p.whole {
			return full
		}
		oldest := -1
		for k, i := range p.held {
			if i != p.cur && (oldest < 0 || p.list[i].used < p.list[p.held[oldest]].used) {
				oldest = k
			}
		}
		if oldest < 0 {
			return p.share.grow(n, p.what)
		}
		g := &p.list[p.held[oldest]]
		if err := p.write(g); err != nil {
			return err
		}
		p.share.give(g.size)
		g.rows, p.held = nil, slices.Delete(p.held, oldest, oldest+1)
	}
}

// write writes the rows of g to the file, unless they are there.
func (p *pages) write(g *page) (err error) {
	if g.filed {
		return nil
	}
	if p.file == nil {
		if p.file, err = newSpillFile(p.dir); err != nil {
			return err
		}
	}
	g.filed, g.at = true, p.file.size
	for _, row := range g.rows {
		if err := p.file.add(row); err != nil {
			return err
		}
	}
	return nil
}

// read reads the rows of g, the page at cur, from the file.
func (p *pages) read(g *page) (err error) {
	if err = p.room(g.size); err != nil {
		return err
	}
	p.held = append(p.held, p.cur)
	if err := p.file.w.Flush(); err != nil {
		return err
	}
	if p.in == nil {
		p.in = bufio.NewReaderSize(nil, 16<<10)
	}
	p.in.Reset(io.NewSectionReader(p.file.f, g.at, p.file.size-g.at))
	rows := make([][]types.Value, g.n)
	for i := range rows {
		if rows[i], p.buf, err = readRow(p.in, p.buf); err != nil {
			return err
		}
	}
	g.rows = rows
	return nil
}

// reset removes all rows.
func (p *pages) reset() {
	p.share.release()
	p.file.close()
	*p = pages{share: p.share, dir: p.dir, what: p.what, whole: p.whole, list: p.list[:0], held: p.held[:0]}
}
