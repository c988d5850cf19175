package operator

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// readingOp is an operator that a goroutine opens. The goroutine reads the first rows.
type readingOp struct {
	stop context.CancelFunc
	done chan struct{}   // closed after the first rows were read
	in   Operator        // nil if it was not opened
	rows [][]types.Value // the first rows, until Next returns them
	err  error
}

// ReadAhead returns the operator that open returns. A goroutine opens it under ctx and reads its first rows, while the caller
// does something else. Close calls stop, which must cancel ctx, and waits for the goroutine.
func ReadAhead(ctx context.Context, stop context.CancelFunc, open func() (Operator, error)) Operator {
	a := &readingOp{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.err = Safely(func() (err error) {
			if a.in, err = open(); err == nil {
				a.rows, err = a.in.Next(ctx)
			}
			return err
		})
	}()
	return a
}

func (a *readingOp) Next(ctx context.Context) ([][]types.Value, error) {
	<-a.done
	if rows := a.rows; rows != nil || a.err != nil {
		a.rows = nil
		return rows, a.err
	}
	return a.in.Next(ctx)
}

func (a *readingOp) Close() error {
	a.stop()
	if <-a.done; a.in != nil {
		return a.in.Close()
	}
	return nil
}

// askOp asks sub-queries of the step above for several rows at the same time. That step then finds the answers, or the errors.
type askOp struct {
	Operator
	asks []*expr.Subquery
	opt  Options
}

// ask returns an operator that passes on the rows of in, after it asked the brief sub-queries of exprs.
func (o Options) ask(in Operator, exprs ...expr.Expr) Operator {
	var asks []*expr.Subquery
	for _, e := range exprs {
		asks = appendBrief(asks, e)
	}
	if len(asks) == 0 || o.AtOnce <= 1 {
		return in
	}
	return &askOp{in, asks, o}
}

// appendBrief appends the brief sub-queries of e that are asked whatever the values of a row are.
func appendBrief(asks []*expr.Subquery, e expr.Expr) []*expr.Subquery {
	args := expr.Children(e)
	switch e := e.(type) {
	case *expr.Subquery:
		sub := e.Query.(*plan.Subplan)
		if len(e.Outer) > 0 && sub.Sample.Brief() && (e.Columns > 0 || !CallsVolatile(sub.Select)) { // otherwise its answer is not kept
			return append(asks, e)
		}
	case *expr.And, *expr.Or, *expr.Case:
		args = args[:1]
	case *expr.Call:
		if e.Func.Name == "COALESCE" {
			args = args[:1]
		}
	}
	for _, x := range args {
		asks = appendBrief(asks, x)
	}
	return asks
}

// CallsVolatile reports whether n calls a function whose value may differ each time.
func CallsVolatile(n parser.Node) (is bool) {
	parser.Inspect(n, func(n parser.Node) bool {
		if c, ok := n.(*parser.Call); ok {
			f := functions.Builtins().Lookup(c.Name)
			is = is || f != nil && f.Volatile
		}
		return true
	})
	return is
}

func (a *askOp) Next(ctx context.Context) ([][]types.Value, error) {
	rows, err := a.Operator.Next(ctx)
	var g errgroup.Group
	g.SetLimit(min(atOnce, a.opt.AtOnce))
	for _, row := range rows {
		for _, s := range a.asks {
			g.Go(func() error {
				return Safely(func() error {
					env := a.opt.Env()
					env.Row = row
					_, err := s.Eval(env)
					return err
				})
			})
		}
	}
	_ = g.Wait() // the step above meets the error if it asks for the row
	return rows, err
}

// Safely converts a panic of f, which is a bug in hql, to an error, so that the process and other statements continue.
func Safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
