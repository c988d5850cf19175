package operator

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Kept holds rows for later readers: in memory and, beyond the limit, in a file. Add fills it, or the first reader makes it
// compute its rows. It is safe for concurrent use.
type Kept struct {
	open func() (Operator, error)
	ctx  context.Context // for the computation of the rows, whichever reader starts it

	mu    sync.Mutex
	in    Operator // nil before it is opened and after its end
	ended error    // io.EOF when all rows are there
	rows  pages
}

// NewKept returns a Kept for Add. what names its rows in errors. If whole is set, it fails instead of writing to a file.
func NewKept(o Options, what string, whole bool) *Kept {
	return &Kept{ended: io.EOF, rows: pages{share: share{Budget: &Budget{Limit: o.Memory()}}, dir: o.SpillDir, what: what, whole: whole}}
}

// NewShared returns a Kept of the rows of the operator that open returns. Its file is in the directory dir. budget counts its
// rows in memory, and may be that of others, too.
func NewShared(ctx context.Context, open func() (Operator, error), budget *Budget, dir string) *Kept {
	return &Kept{open: open, ctx: ctx, rows: pages{share: share{Budget: budget}, dir: dir, what: "WITH"}}
}

// Add keeps copies of rows.
func (s *Kept) Add(rows [][]types.Value) error {
	for _, row := range rows {
		if err := s.rows.add(slices.Clone(row)); err != nil {
			return err
		}
	}
	return nil
}

// All returns all rows, if none is in a file.
func (s *Kept) All() (rows [][]types.Value) {
	for i := range s.rows.list {
		rows = append(rows, s.rows.list[i].rows...)
	}
	return rows
}

// Each calls f with the rows of a Kept for Add, in one batch if all are in memory. It does not call f without rows. The rows
// stay valid.
func (s *Kept) Each(ctx context.Context, f func(rows [][]types.Value) error) error {
	if s.rows.file != nil {
		return Drain(ctx, s.Reader(), f)
	}
	rows := s.All()
	if s.Close(); len(rows) == 0 {
		return ctx.Err()
	}
	return f(rows)
}

// Reader returns an operator that reads all rows. Closing it closes a Kept for Add.
func (s *Kept) Reader() Operator { return &keptOp{s: s} }

// Close ends the computation of the rows and drops them.
func (s *Kept) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows.reset()
	return s.end(context.Canceled)
}

// end ends the computation; why is the error for readers that ask for more rows.
func (s *Kept) end(why error) error {
	s.ended = why
	if s.in == nil {
		return nil
	}
	in := s.in
	s.in = nil
	return in.Close()
}

// more computes some more rows, or returns the reason why there are none.
func (s *Kept) more() (err error) {
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
	if err == nil {
		err = s.Add(rows)
	}
	if err != nil {
		if e := s.end(err); err == io.EOF && e != nil {
			s.ended = e
		}
	}
	return s.ended
}

type keptOp struct {
	s   *Kept
	at  int // number of rows returned
	out [][]types.Value
}

func (r *keptOp) Next(ctx context.Context) ([][]types.Value, error) {
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

func (r *keptOp) Close() error {
	if r.s.open != nil {
		return nil
	}
	return r.s.Close()
}

// reuse returns an operator for the rows of a query that several readers share.
func (b *build) reuse(ctx context.Context, n *plan.Reuse) (Operator, error) {
	if b.opt.Reuse == nil {
		return b.node(ctx, n.Query.Sample.Root)
	}
	return b.opt.Reuse(n.Query), nil
}
