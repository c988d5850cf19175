package operator

import (
	"context"
	"io"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// sieve returns the rows of in that keep accepts. When in has ended it calls more, unless that is nil: more sets in to an
// operator with further rows, or returns io.EOF.
type sieve struct {
	in   Operator
	keep func(row []types.Value) (bool, error)
	more func(ctx context.Context) error
	out  [][]types.Value
}

func (s *sieve) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		rows, err := s.in.Next(ctx)
		if err == io.EOF && s.more != nil {
			if err = s.more(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		s.out = s.out[:0]
		for _, r := range rows {
			ok, err := s.keep(r)
			if err != nil {
				return nil, err
			}
			if ok {
				s.out = append(s.out, r)
			}
		}
		if len(s.out) > 0 {
			return s.out, nil
		}
	}
}

func (s *sieve) Close() error { return s.in.Close() }

// filter keeps the rows for which cond is true.
func filter(in Operator, cond expr.Expr, env *expr.Env) Operator {
	return &sieve{in: in, keep: func(row []types.Value) (bool, error) {
		env.Row = row
		return expr.IsTrue(cond, env)
	}}
}

// project computes exprs for each row of in. If they are adjacent columns, it returns slices of the rows instead of
// copies.
func project(in Operator, exprs []expr.Expr, o Options) Operator {
	first, ok := (*expr.Column)(nil), false
	if len(exprs) > 0 {
		first, ok = exprs[0].(*expr.Column)
	}
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

// columnsOp returns the columns [from, to) of each row.
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

// projectOp computes expressions for each row.
type projectOp struct {
	in    Operator
	rows  [][]types.Value // rows of the input without results yet
	exprs []expr.Expr
	env   *expr.Env
	slab  []types.Value
	out   [][]types.Value
}

func (p *projectOp) Next(ctx context.Context) (_ [][]types.Value, err error) {
	if len(p.rows) == 0 {
		if p.rows, err = p.in.Next(ctx); err != nil {
			return nil, err
		}
	}
	w := len(p.exprs)
	if cap(p.slab) < w*len(p.rows) {
		p.slab = make([]types.Value, w*len(p.rows))
	}
	p.slab, p.out = p.slab[:w*len(p.rows)], p.out[:0]
	made := int64(0)
	for i, r := range p.rows {
		out := p.slab[i*w : (i+1)*w : (i+1)*w]
		p.env.Row = r
		n, err := compute(out, p.exprs, p.env)
		if err != nil {
			return nil, err
		}
		p.out = append(p.out, out)
		if made += n; made > batchBytes {
			clear(p.slab[(i+1)*w:]) // otherwise it keeps texts of the previous batch alive
			break
		}
	}
	p.rows = p.rows[len(p.out):]
	return p.out, nil
}

// compute evaluates exprs into row. made estimates the bytes of text that were allocated.
func compute(row []types.Value, exprs []expr.Expr, env *expr.Env) (made int64, err error) {
	for k, e := range exprs {
		if c, there := e.(*expr.Column); there {
			row[k] = env.Row[c.Index]
			continue
		}
		if row[k], err = e.Eval(env); err != nil {
			return 0, err
		}
		if err = env.Hold(row[k]); err != nil {
			return 0, parser.Errorf(e.Position(), "%s", err).Of(err)
		}
	}
	made, env.Held = env.Held, 0
	return made, nil
}

func (p *projectOp) Close() error { return p.in.Close() }

// Limit skips the first skip rows of in, returns as many of the next ones as count allows, and closes in.
func Limit(in Operator, skip int64, count plan.RowLimit) Operator {
	return &limitOp{in: in, skip: skip, left: count}
}

type limitOp struct {
	in   Operator
	skip int64
	left plan.RowLimit
	// ties is set if rows that are equal to the last one in the order by are returned, too. last has its terms.
	ties bool
	by   Order
	env  *expr.Env
	last []types.Value
}

func (l *limitOp) Next(ctx context.Context) ([][]types.Value, error) {
	for {
		if l.left == plan.AtMost(0) && l.last == nil {
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
			n := min(int64(len(rows)), l.left.Rows)
			l.left.Rows -= n
			if l.ties && l.left.Rows == 0 {
				if n, err = l.tied(rows, n); err != nil {
					return nil, err
				}
			}
			if rows = rows[:n]; n == 0 {
				continue
			}
		}
		return rows, nil
	}
}

// tied returns the number of rows to return: the first n, of which the last one is the last of all unless n is 0, and
// those that are equal to it.
func (l *limitOp) tied(rows [][]types.Value, n int64) (int64, error) {
	if n > 0 {
		keys, err := l.by.Keys(make([]types.Value, 0, len(l.by)), l.env, rows[n-1])
		if err != nil {
			return 0, err
		}
		for i := range keys {
			keys[i] = keys[i].Clone()
		}
		l.last = keys
	}
	for ; n < int64(len(rows)); n++ {
		if keys, err := l.by.Keys(nil, l.env, rows[n]); err != nil || l.by.Compare(l.last, keys) != 0 {
			l.last = nil
			return n, err
		}
	}
	return n, nil
}

func (l *limitOp) Close() error { return l.in.Close() }

// valuesOp returns the rows of VALUES.
type valuesOp struct {
	rows [][]expr.Expr // not returned yet
	env  *expr.Env
}

func (v *valuesOp) Next(context.Context) ([][]types.Value, error) {
	n := min(len(v.rows), BatchRows)
	if n == 0 {
		return nil, io.EOF
	}
	out := make([][]types.Value, 0, n)
	for made := int64(0); len(out) < n && made <= batchBytes; {
		r := v.rows[len(out)]
		row := make([]types.Value, len(r))
		m, err := compute(row, r, v.env)
		if err != nil {
			return nil, err
		}
		out, made = append(out, row), made+m
	}
	v.rows = v.rows[len(out):]
	return out, nil
}

func (v *valuesOp) Close() error { v.rows = nil; return nil }

// Literal returns an operator with the given rows.
func Literal(rows [][]types.Value) Operator { return &literalRows{rows} }

type literalRows struct{ rows [][]types.Value }

func (l *literalRows) Next(context.Context) ([][]types.Value, error) {
	n := min(len(l.rows), BatchRows)
	if n == 0 {
		return nil, io.EOF
	}
	out := l.rows[:n]
	l.rows = l.rows[n:]
	return out, nil
}

func (l *literalRows) Close() error { return nil }

// setRows returns the rows of a plan.Set.
type setRows struct {
	set       *plan.Set
	width, at int
	slab      slab
	out       [][]types.Value
}

func (s *setRows) Next(context.Context) ([][]types.Value, error) {
	n := min(s.set.Len()-s.at, BatchRows)
	if n == 0 {
		return nil, io.EOF
	}
	s.slab.reset()
	for s.out = s.out[:0]; len(s.out) < n; s.at++ {
		row := s.slab.row(s.width)
		s.set.Get(s.at, row)
		s.out = append(s.out, row)
	}
	return s.out, nil
}

func (s *setRows) Close() error { return nil }

// None returns no rows.
type None struct{}

// Next returns io.EOF.
func (None) Next(context.Context) ([][]types.Value, error) { return nil, io.EOF }

// Close does nothing.
func (None) Close() error { return nil }
