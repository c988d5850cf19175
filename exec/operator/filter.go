package operator

import (
	"context"
	"io"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// filterOp keeps the rows for which cond is true.
type filterOp struct {
	in   Operator
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

// project computes exprs over the rows of in; it does not copy adjacent columns.
func project(in Operator, exprs []expr.Expr, o Options) Operator {
	first, ok := exprs[0].(*expr.Column)
	for i, e := range exprs {
		c, column := e.(*expr.Column)
		ok = ok && column && c.Index == first.Index+i
	}
	if !ok {
		return &projectOp{in: in, exprs: exprs, env: o.Env()}
	}
	c := &columnsOp{in: in, from: first.Index, to: first.Index + len(exprs)}
	c.out = c.one[:0]
	return c
}

// columnsOp gives the columns [from, to) of each row.
type columnsOp struct {
	in       Operator
	from, to int
	out      [][]types.Value
	one      [1][]types.Value
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
	in    Operator
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

// Limit skips the first skip rows of in and returns the next ones, as many as count allows. It then closes in.
func Limit(in Operator, skip int64, count plan.RowLimit) Operator {
	return &limitOp{in: in, skip: skip, left: count}
}

// limitOp is Limit.
type limitOp struct {
	in   Operator
	skip int64
	left plan.RowLimit
}

func (l *limitOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		if l.left == plan.AtMost(0) {
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
		if l.left.Set {
			rows = rows[:min(int64(len(rows)), l.left.Rows)]
			l.left.Rows -= int64(len(rows))
		}
		return rows, nil
	}
}

func (l *limitOp) Close() error { return l.in.Close() }

// valuesOp gives literal rows.
type valuesOp struct {
	rows [][]expr.Expr // still to be given
	env  *expr.Env
}

func (v *valuesOp) Next(context.Context) ([][]types.Value, error) {
	n := min(len(v.rows), BatchRows)
	if n == 0 {
		return nil, io.EOF
	}
	out := make([][]types.Value, n)
	for i, r := range v.rows[:n] {
		out[i] = make([]types.Value, len(r))
		for k, e := range r {
			x, err := e.Eval(v.env)
			if err != nil {
				return nil, err
			}
			out[i][k] = x
		}
	}
	v.rows = v.rows[n:]
	return out, nil
}

func (v *valuesOp) Close() error { v.rows = nil; return nil }

// Literal gives rows that are there already.
func Literal(rows [][]types.Value) Operator { return &literalRows{rows} }

// literalRows is Literal.
type literalRows struct{ rows [][]types.Value }

func (l *literalRows) Next(context.Context) ([][]types.Value, error) {
	if len(l.rows) == 0 {
		return nil, io.EOF
	}
	out := l.rows
	l.rows = nil
	return out, nil
}

func (l *literalRows) Close() error { return nil }

// None gives no rows.
type None struct{}

// Next is the end.
func (None) Next(context.Context) ([][]types.Value, error) { return nil, io.EOF }

// Close has nothing to end.
func (None) Close() error { return nil }
