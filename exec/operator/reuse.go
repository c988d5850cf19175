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

// Shared computes rows once for several readers, when the first reader asks for them. It keeps them in memory and, beyond
// the limit, in a file. It is safe for concurrent use.
type Shared struct {
	Open func() (Operator, error)
	Ctx  context.Context // for the computation of the rows, whichever reader starts it
	Dir  string          // directory of the file
	// Held counts the bytes that all Shareds of a statement hold in memory; Limit bounds it.
	Held  *atomic.Int64
	Limit int64

	mu      sync.Mutex
	in      Operator // nil before it is opened and after its end
	ended   error    // io.EOF when all rows were computed
	rows    [][]types.Value
	bytes   int64 // memory of rows
	beyond  *spillFile
	n       int // number of rows computed, including those in the file
	flushed int // number of rows that can be read, including those flushed to the file
}

// Reader returns an operator that reads all rows.
func (s *Shared) Reader() Operator { return &sharedOp{s: s} }

// Close ends the computation of the rows and drops them.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Held.Add(-s.bytes)
	s.rows, s.bytes = nil, 0
	s.beyond.close()
	return s.end(context.Canceled)
}

// end ends the computation; why is the error for readers that ask for more rows.
func (s *Shared) end(why error) error {
	s.ended = why
	if s.in == nil {
		return nil
	}
	in := s.in
	s.in = nil
	return in.Close()
}

// more computes some more rows, or returns the reason why there are none.
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

type sharedOp struct {
	s    *Shared
	at   int // number of rows returned
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
	if r.at < len(s.rows) {
		from := r.at
		r.at = min(from+BatchRows, len(s.rows))
		return s.rows[from:r.at], nil
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

// row returns the next row of the file, which was already computed.
func (r *sharedOp) row() (row []types.Value, err error) {
	s := r.s
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

// growing reads a file while it is being written.
type growing struct {
	f  *os.File
	at int64
}

// Read does not return io.EOF at the end of the file, since more may be written.
func (g *growing) Read(p []byte) (int, error) {
	n, err := g.f.ReadAt(p, g.at)
	if g.at += int64(n); n > 0 {
		err = nil
	}
	return n, err
}

// reuse returns an operator for the rows of a query that several readers share.
func (b *build) reuse(ctx context.Context, n *plan.Reuse) (Operator, error) {
	if b.opt.Reuse == nil {
		return b.node(ctx, n.Query.Sample.Root)
	}
	return b.opt.Reuse(n.Query), nil
}
