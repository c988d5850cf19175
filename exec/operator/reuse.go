package operator

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Shared computes rows once for several readers, when the first reader asks for them. It keeps rows in memory, and in a
// file if they do not fit. It is safe for concurrent use.
type Shared struct {
	Open func() (Operator, error)
	Ctx  context.Context // under which the rows are computed, whoever asks for them
	Dir  string          // of the file
	// Held counts the bytes in memory of all Shareds of a statement, which Limit bounds.
	Held  *atomic.Int64
	Limit int64

	mu      sync.Mutex
	in      Operator // nil: not yet opened, or ended
	ended   error    // io.EOF when all rows are there
	rows    [][]types.Value
	bytes   int64 // of rows
	beyond  *spillFile
	n       int // rows that are there, those of the file among them
	flushed int // of n, those that can be read
}

// Reader gives all rows from the first one on.
func (s *Shared) Reader() Operator { return &sharedOp{s: s} }

// Close ends the computation of the rows, and drops them.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Held.Add(-s.bytes)
	s.rows, s.bytes = nil, 0
	s.beyond.close()
	return s.end(context.Canceled)
}

// end says why no more rows are computed.
func (s *Shared) end(why error) error {
	s.ended = why
	if s.in == nil {
		return nil
	}
	in := s.in
	s.in = nil
	return in.Close()
}

// more computes some more rows; the reason if there are none.
func (s *Shared) more() (err error) {
	if s.ended != nil {
		return s.ended
	}
	if s.in == nil {
		if s.in, err = s.Open(); err != nil {
			s.ended = err
			return err
		}
	}
	rows, err := s.in.Next(s.Ctx)
	for i := 0; i < len(rows) && err == nil; i++ {
		err = s.keep(rows[i])
	}
	if err != nil {
		if e := s.end(err); err == io.EOF && e != nil {
			s.ended = e
		}
	}
	return s.ended
}

func (s *Shared) keep(row []types.Value) (err error) {
	if s.n++; s.beyond == nil {
		size := SizeOf(row)
		if s.Held.Add(size) <= s.Limit {
			s.rows, s.bytes = append(s.rows, slices.Clone(row)), s.bytes+size
			return nil
		}
		s.Held.Add(-size)
		if s.beyond, err = newSpillFile(s.Dir); err != nil {
			return err
		}
	}
	return s.beyond.add(row)
}

// sharedOp reads a Shared.
type sharedOp struct {
	s    *Shared
	at   int // rows given
	file *bufio.Reader
	buf  []byte
	out  [][]types.Value
}

func (r *sharedOp) Next(ctx context.Context) ([][]types.Value, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for r.at == s.n {
		if err := s.more(); err != nil {
			return nil, err
		}
	}
	r.out = r.out[:0]
	for held := int64(0); len(r.out) < BatchRows && r.at < s.n && held < batchBytes; held += SizeOf(r.out[len(r.out)-1]) {
		row, err := r.row()
		if err != nil {
			return nil, err
		}
		r.out = append(r.out, row)
		r.at++
	}
	return r.out, nil
}

// row gives the next row, which is there.
func (r *sharedOp) row() (row []types.Value, err error) {
	s := r.s
	if r.at < len(s.rows) {
		return s.rows[r.at], nil
	}
	if r.at >= s.flushed {
		if err := s.beyond.w.Flush(); err != nil {
			return nil, err
		}
		s.flushed = s.n
	}
	if r.file == nil {
		r.file = bufio.NewReaderSize(&growing{f: s.beyond.f}, 64<<10)
	}
	row, r.buf, err = readRow(r.file, r.buf)
	return row, err
}

func (r *sharedOp) Close() error { return nil }

// growing reads a file that is still written to.
type growing struct {
	f  *os.File
	at int64
}

// Read does not end at the end of the file, as more may come.
func (g *growing) Read(p []byte) (int, error) {
	n, err := g.f.ReadAt(p, g.at)
	if g.at += int64(n); n > 0 {
		err = nil
	}
	return n, err
}

// reuse reads the rows of a query that others read as well.
func (b *build) reuse(ctx context.Context, n *plan.Reuse) (Operator, error) {
	if b.opt.Reuse == nil {
		return b.node(ctx, n.Query.Sample.Root)
	}
	return b.opt.Reuse(n.Query), nil
}
