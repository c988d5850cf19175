package operator

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Operator produces the rows of one step of a plan.
type Operator interface {
	// Next returns the next rows, valid until the following call; io.EOF at the end.
	Next(ctx context.Context) ([][]types.Value, error)
	// Close ends the operator and its inputs; it is idempotent.
	Close() error
}

// Drain calls f with the rows of op, each valid until f returns, and closes it.
func Drain(ctx context.Context, op Operator, f func(rows [][]types.Value) error) error {
	defer op.Close()
	for {
		rows, err := op.Next(ctx)
		if err == io.EOF {
			return op.Close()
		}
		if err == nil {
			err = f(rows)
		}
		if err != nil {
			return err
		}
	}
}

// BatchRows is the number of rows in a full batch: enough to pay for a
// channel operation, few enough to stay in the cache.
const BatchRows = 256

// batchBytes is the approximate size of the values computed for one batch: a batch with long texts has fewer rows.
const batchBytes = 1 << 20

// atOnce is the largest number of rows for which brief queries run at the same time.
const atOnce = 16

// Source opens the access to one table.
type Source func(ctx context.Context, s *plan.Scan) (Operator, error)

// Options configure how a query runs. The zero value works.
type Options struct {
	// MemoryLimit bounds the rows that a query's sorts, groups and joins hold, in bytes; 0 means 256 MiB.
	MemoryLimit int64
	SpillDir    string // directory for files; "" means the system's temporary directory
	Loc         *time.Location
	Now         int64
	// Subquery runs the queries inside expressions: see expr.Env.
	Subquery func(s *expr.Subquery, outer []types.Value) (expr.Expr, error)
	Stop     func() error                                               // see expr.Env
	Sequence func(name string, args []types.Value) (types.Value, error) // see expr.Env
	// Open opens the plan that ask returns, while the surrounding query runs.
	Open func(ctx context.Context, ask func() (*plan.Plan, error)) (Operator, error)
	// AtOnce is the largest number of rows for which a brief query runs at the same time, 16 at most; 0 or 1: one row after the other.
	AtOnce int
	// Reuse returns the rows of a plan.Reuse, whose query is computed once; nil: each reader computes it.
	Reuse func(*plan.Subplan) Operator
	// Resolve calls ask until all LOOKUPs that the plan needs are known; nil: ask is called once.
	Resolve func(ctx context.Context, ask func() (*plan.Plan, error)) (*plan.Plan, error)
	// MayRead reports whether a scan may be read completely instead of by look-ups; nil: never.
	MayRead func(*plan.Scan) bool
	// Wrap wraps the operator of each step, to measure it; nil: no wrapping.
	Wrap func(plan.Node, Operator) Operator
}

// Env returns the environment in which the expressions of the query are evaluated.
func (o Options) Env() *expr.Env {
	return &expr.Env{Loc: o.Loc, Now: o.Now, Subquery: o.Subquery, Stop: o.Stop, Sequence: o.Sequence, Memory: o.Memory()}
}

// Memory returns MemoryLimit, or the default if that is 0.
func (o Options) Memory() int64 {
	if o.MemoryLimit == 0 {
		return DefaultMemoryLimit
	}
	return o.MemoryLimit
}

// New returns the operator that runs the plan node, with its inputs. src opens the tables. After an error nothing is open.
func New(ctx context.Context, node plan.Node, src Source, o Options) (Operator, error) {
	b := &build{src: src, opt: o, budget: Budget{Limit: o.Memory()}}
	return b.node(ctx, node)
}

type build struct {
	src    Source
	opt    Options
	budget Budget
	// unordered is set once a join returns rows in another order than its left side's, because it uses files or has few
	// keys of the right side.
	unordered bool
}

func (b *build) node(ctx context.Context, n plan.Node) (Operator, error) {
	op, err := b.bare(ctx, n)
	if err == nil && b.opt.Wrap != nil {
		op = b.opt.Wrap(n, op)
	}
	if err == nil && poison.On {
		op = &poisonOp{in: op}
	}
	return op, err
}

func (b *build) bare(ctx context.Context, n plan.Node) (Operator, error) {
	switch n := n.(type) {
	case *plan.Scan:
		return b.src(ctx, n)
	case *plan.Values:
		if n.Known != nil {
			return Literal(n.Known), nil
		}
		if n.Set != nil {
			return &setRows{set: n.Set, width: n.N}, nil
		}
		return &valuesOp{rows: n.Rows, env: b.opt.Env()}, nil
	case *plan.Virtual:
		return virtual(ctx, n), nil
	case *plan.Reuse:
		return b.reuse(ctx, n)
	case *plan.Union:
		return &unionOp{b: b, parts: n.Parts}, nil
	case *plan.SetOp:
		return b.setOp(ctx, n)
	case *plan.Join:
		return b.join(ctx, n)
	case *plan.Project: // frequent; avoids a list for its single input
		if j, ok := n.Input.(*plan.Join); ok && b.opt.Wrap == nil && turns(j, n.Exprs) { // the rows are copied once
			op, err := b.join(ctx, j)
			if err == nil {
				op.(*joinOp).turned = true
			}
			return op, err
		}
		in, err := b.node(ctx, n.Input)
		if err != nil {
			return nil, err
		}
		return project(b.opt.ask(in, n.Exprs...), n.Exprs, b.opt), nil
	}
	in, err := b.node(ctx, n.Inputs()[0])
	if err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *plan.Apply:
		a := &applyOp{left: in, node: n, opt: b.opt, env: b.opt.Env(), nulls: make([]types.Value, len(n.Query.Sample.Columns)), wanted: n.Wanted, depth: 1, atOnce: 1}
		if n.Query.Sample.Brief() {
			a.atOnce = max(1, min(atOnce, b.opt.AtOnce))
		}
		return a, nil
	case *plan.Recursive:
		return b.recursive(in, n), nil
	case *plan.Filter:
		return filter(in, n.Cond, b.opt.Env()), nil
	case *plan.Limit:
		l := &limitOp{in: in, skip: n.Offset, left: n.Count}
		if n.Ties {
			l.ties, l.by, l.env = true, n.By, b.opt.Env()
		}
		return l, nil
	case *plan.Distinct:
		return newDistinct(in, b.opt, &b.budget), nil
	case *plan.DistinctOn:
		return distinctOn(in, n.By, b.opt.Env()), nil
	case *plan.Window:
		return b.window(in, n), nil
	case *plan.Sort:
		for _, by := range n.By {
			in = b.opt.ask(in, by.Expr)
		}
		if n.Sorted > 0 {
			return &runSortOp{runOp: runOp{in: in, by: n.By[:n.Sorted], env: b.opt.Env(), unordered: &b.unordered}, node: n, build: b}, nil
		}
		return newSort(in, n, b.opt, &b.budget), nil
	case *plan.Unnest:
		return &unnestOp{in: in, node: n, env: b.opt.Env()}, nil
	case *plan.Expand:
		return &expandOp{in: in, node: n, env: b.opt.Env()}, nil
	case *plan.Aggregate:
		return &aggregateOp{in: in, node: n, env: b.opt.Env(), share: share{Budget: &b.budget}, spill: spilledRows{dir: b.opt.SpillDir}}, nil
	}
	panic(fmt.Sprintf("operator: unknown node %T", n))
}
