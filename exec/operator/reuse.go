package operator

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Shared computes rows once for several readers, when the first reader asks for them. It keeps them in memory and, beyond
// the limit, in a file. It is safe for concurrent use.
type Shared struct {
	open func() (Operator, error)
	ctx  context.Context // for the computation of the rows, whichever reader starts it

	mu    sync.Mutex
	in    Operator // nil before it is opened and after its end
	ended error    // io.EOF when all rows were computed
	rows  pages
}

// NewShared returns a Shared whose file is in the directory dir. budget counts its rows in memory, and may be that of
// others, too.
func NewShared(ctx context.Context, open func() (Operator, error), budget *Budget, dir string) *Shared {
	return &Shared{open: open, ctx: ctx, rows: pages{share: share{Budget: budget}, dir: dir, what: "WITH"}}
}

// Reader returns an operator that reads all rows.
func (s *Shared) Reader() Operator { return &sharedOp{s: s} }

// Close ends the computation of the rows and drops them.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows.reset()
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
		if s.in, err = s.open(); err != nil {
			s.ended = err
			return err
		}
	}
	rows, err := s.in.Next(s.ctx)
	for i := 0; i < len(rows) && err == nil; i++ {
		err = s.rows.add(slices.Clone(rows[i]))
	}
	if err != nil {
		if e := s.end(err); err == io.EOF && e != nil {
			s.ended = e
		}
	}
	return s.ended
}

type sharedOp struct {
	s   *Shared
	at  int // number of rows returned
	out [][]types.Value
}

func (r *sharedOp) Next(ctx context.Context) ([][]types.Value, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for r.at >= s.rows.n { // Close has removed all rows, or none is left
		if err := s.more(); err != nil {
			return nil, err
		}
	}
	r.out = r.out[:0]
	for held := int64(0); len(r.out) < BatchRows && r.at < s.rows.n && held < batchBytes; r.at++ {
		row, err := s.rows.row(r.at)
		if err != nil {
			return nil, err
		}
		r.out, held = append(r.out, row), held+SizeOf(row)
	}
	return r.out, nil
}

func (r *sharedOp) Close() error { return nil }

// reuse returns an operator for the rows of a query that several readers share.
func (b *build) reuse(ctx context.Context, n *plan.Reuse) (Operator, error) {
	if b.opt.Reuse == nil {
		return b.node(ctx, n.Query.Sample.Root)
	}
	return b.opt.Reuse(n.Query), nil
}
