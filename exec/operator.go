package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// operator produces the rows of one step of a plan.
type operator interface {
	// Next gives the next rows, valid until the following call; io.EOF at the end.
	Next(ctx context.Context) ([][]types.Value, error)
	// Close ends the operator and what it reads; it is idempotent.
	Close() error
}

// opener opens the access to one table.
type opener func(ctx context.Context, s *planner.Scan) (operator, error)

// options bound and place a query's work. The zero value works.
type options struct {
	// MemoryLimit bounds the rows that a query's sorts, groups and joins hold, in bytes; 0 means 256 MiB.
	MemoryLimit int64
	SpillDir    string // where larger sorts go; "" means the system's temporary directory
	Loc         *time.Location
	Now         int64
	// Subquery runs the queries inside expressions: see expr.Env.
	Subquery func(s *expr.Subquery, outer []types.Value) (expr.Expr, error)
	Stop     func() error // see expr.Env
	// Resolve plans until the LOOKUPs that plan asks for are known; nil: as it comes.
	Resolve func(ctx context.Context, plan func() (*planner.Plan, error)) (*planner.Plan, error)

	wrap func(planner.Node, operator) operator // around each operator; nil: none
}

// defaultMemoryLimit is what the sorts, groups and joins of a statement hold unless told otherwise, in bytes.
const defaultMemoryLimit = 256 << 20

func (o options) env() *expr.Env {
	return &expr.Env{Loc: o.Loc, Now: o.Now, Subquery: o.Subquery, Stop: o.Stop}
}

func (o options) memory() int64 {
	if o.MemoryLimit == 0 {
		return defaultMemoryLimit
	}
	return o.MemoryLimit
}

// ErrMemoryLimit is what a query that needs more memory than allowed fails with.
var ErrMemoryLimit = errors.New("memory limit exceeded")

// budget counts the bytes that the operators of a query hold.
type budget struct {
	limit, used int64
}

func (b *budget) take(n int64, what string) error {
	if b.used+n > b.limit {
		return fmt.Errorf("%s: %w: it needs more than %s (setting memory_limit)", what, ErrMemoryLimit, formatSize(b.limit))
	}
	b.used += n
	return nil
}

// share is what one operator holds of the budget.
type share struct {
	*budget
	held int64
}

// take asks for n bytes more. An eighth of the limit is there for each, whatever others hold: one that writes to files when
// it gets no more must get that far while the one it reads from still holds its rows.
func (s *share) take(n int64, what string) error {
	if s.held+n <= s.limit/8 {
		s.used += n
	} else if err := s.budget.take(n, what); err != nil {
		return err
	}
	s.held += n
	return nil
}

// release gives back all of the share.
func (s *share) release() {
	s.used -= s.held
	s.held = 0
}

// sizeOf estimates the memory behind a row.
func sizeOf(row []types.Value) int64 {
	n := int64(24)
	for _, v := range row {
		n += 48 + int64(len(v.Text()))
		if v.Type() == types.Decimal {
			n += 64
		}
	}
	return n
}

// newOperator makes the operators of a plan. src opens the tables.
func newOperator(ctx context.Context, node planner.Node, src opener, o options) (operator, error) {
	b := &build{src: src, opt: o, budget: &budget{limit: o.memory()}}
	return b.node(ctx, node)
}

type build struct {
	src    opener
	opt    options
	budget *budget
}

func (b *build) node(ctx context.Context, n planner.Node) (operator, error) {
	op, err := b.bare(ctx, n)
	if err == nil && b.opt.wrap != nil {
		op = b.opt.wrap(n, op)
	}
	if err == nil && poison.On {
		op = &poisonOp{in: op}
	}
	return op, err
}

func (b *build) bare(ctx context.Context, n planner.Node) (operator, error) {
	switch n := n.(type) {
	case *planner.Scan:
		return b.src(ctx, n)
	case *planner.Values:
		return &valuesOp{rows: n.Rows, env: b.opt.env()}, nil
	case *planner.Union:
		return &unionOp{b: b, parts: n.Parts}, nil
	case *planner.SetOp:
		return b.setOp(ctx, n)
	case *planner.Join:
		return b.join(ctx, n)
	}
	in, err := b.node(ctx, n.Inputs()[0])
	if err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *planner.Filter:
		return &filterOp{in: in, cond: n.Cond, env: b.opt.env()}, nil
	case *planner.Project:
		return project(in, n.Exprs, b.opt), nil
	case *planner.Limit:
		return &limitOp{in: in, skip: n.Offset, left: n.Count}, nil
	case *planner.Distinct:
		return &distinctOp{in: in, seen: map[string]struct{}{}, share: share{budget: b.budget}, dir: b.opt.SpillDir}, nil
	case *planner.Sort:
		return newSort(in, n, b.opt, b.budget), nil
	case *planner.Aggregate:
		return &aggregateOp{in: in, node: n, env: b.opt.env(), share: share{budget: b.budget}, dir: b.opt.SpillDir}, nil
	}
	in.Close()
	panic(fmt.Sprintf("exec: unknown node %T", n))
}

// filterOp keeps the rows for which cond is true.
type filterOp struct {
	in   operator
	cond expr.Expr
	env  *expr.Env
	out  [][]types.Value
}

func (f *filterOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		rows, err := f.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		f.out = f.out[:0]
		for _, r := range rows {
			f.env.Row = r
			ok, err := expr.IsTrue(f.cond, f.env)
			if err != nil {
				return nil, err
			}
			if ok {
				f.out = append(f.out, r)
			}
		}
		if len(f.out) > 0 {
			return f.out, nil
		}
	}
}

func (f *filterOp) Close() error { return f.in.Close() }

// project computes exprs over the rows of in; columns that stand side by side are not copied.
func project(in operator, exprs []expr.Expr, o options) operator {
	first, ok := exprs[0].(*expr.Column)
	for i, e := range exprs {
		c, column := e.(*expr.Column)
		ok = ok && column && c.Index == first.Index+i
	}
	if !ok {
		return &projectOp{in: in, exprs: exprs, env: o.env()}
	}
	return &columnsOp{in: in, from: first.Index, to: first.Index + len(exprs)}
}

// columnsOp gives the columns [from, to) of each row.
type columnsOp struct {
	in       operator
	from, to int
	out      [][]types.Value
}

func (c *columnsOp) Next(ctx context.Context) ([][]types.Value, error) {
	rows, err := c.in.Next(ctx)
	if err != nil {
		return nil, err
	}
	c.out = c.out[:0]
	for _, r := range rows {
		c.out = append(c.out, r[c.from:c.to:c.to])
	}
	return c.out, nil
}

func (c *columnsOp) Close() error { return c.in.Close() }

// projectOp computes expressions over each row.
type projectOp struct {
	in    operator
	exprs []expr.Expr
	env   *expr.Env
	slab  []types.Value
	out   [][]types.Value
}

func (p *projectOp) Next(ctx context.Context) ([][]types.Value, error) {
	rows, err := p.in.Next(ctx)
	if err != nil {
		return nil, err
	}
	w := len(p.exprs)
	if cap(p.slab) < w*len(rows) {
		p.slab = make([]types.Value, w*len(rows))
	}
	p.slab, p.out = p.slab[:w*len(rows)], p.out[:0]
	for i, r := range rows {
		out := p.slab[i*w : (i+1)*w : (i+1)*w]
		p.env.Row = r
		for k, e := range p.exprs {
			if out[k], err = e.Eval(p.env); err != nil {
				return nil, err
			}
		}
		p.out = append(p.out, out)
	}
	return p.out, nil
}

func (p *projectOp) Close() error { return p.in.Close() }

// limitOp skips and cuts. It closes its input as soon as it has enough.
type limitOp struct {
	in         operator
	skip, left int64 // left: -1 for all
}

func (l *limitOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		if l.left == 0 {
			l.in.Close()
			return nil, io.EOF
		}
		rows, err := l.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		if n := int64(len(rows)); l.skip >= n {
			l.skip -= n
			continue
		}
		rows = rows[l.skip:]
		l.skip = 0
		if l.left >= 0 {
			rows = rows[:min(int64(len(rows)), l.left)]
			l.left -= int64(len(rows))
		}
		return rows, nil
	}
}

func (l *limitOp) Close() error { return l.in.Close() }

// valuesOp gives literal rows.
type valuesOp struct {
	rows [][]expr.Expr
	env  *expr.Env
	done bool
}

func (v *valuesOp) Next(context.Context) ([][]types.Value, error) {
	if v.done {
		return nil, io.EOF
	}
	v.done = true
	out := make([][]types.Value, len(v.rows))
	for i, r := range v.rows {
		out[i] = make([]types.Value, len(r))
		for k, e := range r {
			x, err := e.Eval(v.env)
			if err != nil {
				return nil, err
			}
			out[i][k] = x
		}
	}
	if len(out) == 0 {
		return nil, io.EOF
	}
	return out, nil
}

func (v *valuesOp) Close() error { v.done = true; return nil }

// unionOp gives the rows of its parts one after the other; each is opened when its turn comes.
type unionOp struct {
	b     *build
	parts []planner.Node
	cur   operator
}

func (u *unionOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		if u.cur == nil {
			if len(u.parts) == 0 {
				return nil, io.EOF
			}
			op, err := u.b.node(ctx, u.parts[0])
			if err != nil {
				return nil, err
			}
			u.cur, u.parts = op, u.parts[1:]
		}
		rows, err := u.cur.Next(ctx)
		if err != io.EOF {
			return rows, err
		}
		if err := u.cur.Close(); err != nil {
			return nil, err
		}
		u.cur = nil
	}
}

func (u *unionOp) Close() error {
	u.parts = nil
	if u.cur == nil {
		return nil
	}
	return u.cur.Close()
}

// distinctOp drops rows that came before. Rows that are new when the memory is used up go to
// files, to be read when the input has ended.
type distinctOp struct {
	in      operator
	seen    map[string]struct{}
	share   share
	dir     string
	parts   *partitions
	pending []spilled
	level   int
	key     []byte
	out     [][]types.Value
}

func (d *distinctOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		rows, err := d.in.Next(ctx)
		if err == io.EOF {
			if err = d.reread(); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		d.out = d.out[:0]
		for _, r := range rows {
			d.key = rowKey(d.key[:0], r)
			if _, ok := d.seen[string(d.key)]; ok {
				continue
			}
			if d.parts == nil {
				if err := d.share.take(int64(len(d.key))+64, "DISTINCT"); err != nil {
					if len(d.seen) == 0 || d.level == maxSpillLevel {
						return nil, err
					}
					d.parts = newPartitions(d.dir)
				}
			}
			if d.parts != nil { // also when memory is free again: rows like it may be in a file
				if err := d.parts.add(d.key, r); err != nil {
					return nil, err
				}
				continue
			}
			d.seen[string(d.key)] = struct{}{}
			d.out = append(d.out, r)
		}
		if len(d.out) > 0 {
			return d.out, nil
		}
	}
}

// reread begins with the next file of rows that did not fit; io.EOF when there is none.
func (d *distinctOp) reread() error {
	if err := d.in.Close(); err != nil {
		return err
	}
	if d.parts != nil {
		d.pending = append(d.pending, d.parts.pending(d.level+1)...)
		err := d.parts.rewind()
		d.parts = nil
		if err != nil {
			return err
		}
	}
	d.seen = map[string]struct{}{}
	d.share.release()
	if len(d.pending) == 0 {
		return io.EOF
	}
	next := d.pending[0]
	d.in, d.level, d.pending = &spillOp{file: next.file}, next.level, d.pending[1:]
	return nil
}

func (d *distinctOp) Close() error {
	d.parts.close()
	closeSpilled(d.pending)
	d.pending = nil
	return d.in.Close()
}

// rowKey appends bytes that are equal for rows of equal values.
func rowKey(dst []byte, row []types.Value) []byte {
	for _, v := range row {
		dst = v.AppendKey(dst)
	}
	return dst
}
