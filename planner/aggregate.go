package planner

import (
	"errors"
	"fmt"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// aggregate returns the aggregate with this name, or nil.
func aggregate(name string) *expr.Function {
	if f := functions.Builtins().Lookup(name); f != nil && f.Group == "aggregate" {
		return f
	}
	return nil
}

// aggregates collects the aggregate calls of a core. During compilation, a column with an index from aggMark on represents
// each call.
type aggregates struct {
	q      *query
	rows   *expr.Scope // for columns of srcs
	srcs   []*source
	calls  []plan.AggCall
	texts  []string
	inside bool
	// groupings are the calls of GROUPING; marks has the arguments of each.
	groupings []*parser.Call
	marks     [][]expr.Expr
}

const (
	groupingMark = 1 << 23
	aggMark      = 1 << 24
	groupMark    = 1 << 25
)

func (a *aggregates) scope() *expr.Scope {
	s := *a.rows
	s.Call = func(c *parser.Call) (expr.Expr, bool, error) {
		f := aggregate(c.Name)
		switch {
		case f != nil && f.Grouping:
			x, err := fail.Try(func() expr.Expr { return a.grouping(c) })
			return x, true, err
		case f == nil || c.Over != nil:
			return nil, false, nil
		}
		x, err := fail.Try(func() expr.Expr { return a.call(c, f) })
		return x, true, err
	}
	return &s
}

func (a *aggregates) call(c *parser.Call, f *expr.Function) expr.Expr {
	if a.inside {
		panic(fail.With(parser.Errorf(c.Pos, "aggregates cannot be nested")))
	}
	own, around := false, false
	a.inside = true
	a.q.resolved = func(is bool) { own, around = own || is, around || !is }
	defer func() { a.inside, a.q.resolved = false, nil }()
	call := a.compile(c, f)
	if around && !own { // as in SQL, it belongs to the outer query, and is computed over that query's rows
		panic(fail.With(parser.Errorf(c.Pos, "%s takes columns of the query around this one alone, which makes it an aggregate of that query: not supported here", c.Name).
			WithHint("compute it in a sub-query in FROM, and take its column")))
	}
	text := c.String()
	for i, t := range a.texts {
		if t == text {
			return a.ref(i, c.Pos)
		}
	}
	a.calls, a.texts = append(a.calls, call), append(a.texts, text)
	return a.ref(len(a.calls)-1, c.Pos)
}

// compile compiles the aggregate f: its arguments and the other clauses of c except OVER.
func (a *aggregates) compile(c *parser.Call, f *expr.Function) plan.AggCall {
	scope := a.scope()
	call := plan.AggCall{Func: plan.Func(f.Name), Distinct: c.Distinct}
	args := a.arguments(c, f)
	compiled := fail.Must(expr.CompileAll(args, scope))
	for i, t := range c.OrderBy {
		e := fail.Must(expr.Compile(t.Expr, scope))
		if c.Distinct && i == 0 && !expr.Same(e, compiled[0]) { // equal values follow one another
			panic(fail.With(parser.Errorf(t.Expr.Position(), "the ORDER BY of an aggregate with DISTINCT must begin with its argument").WithHint("ORDER BY %s", c.Args[0])))
		}
		call.OrderBy = append(call.OrderBy, sortTerms(t, e)...)
	}
	if c.Filter != nil {
		call.Filter = fail.Must(expr.CompileCondition(c.Filter, scope))
	}
	if f.Within && len(compiled) > 1 {
		compiled[1] = fail.Must(expr.Place(compiled[1], types.Double, scope))
	}
	if call.Typ = types.BigInt; !c.Star {
		var err error
		if compiled, call.Typ, err = expr.Accepted(f, compiled, scope); err != nil {
			if wrong, ok := errors.AsType[expr.ArgumentError](err); ok {
				err = fmt.Errorf("%s of %s is not defined", c.Name, wrong.At)
			}
			panic(fail.With(parser.Errorf(c.Pos, "%s", err)))
		}
		call.Arg, call.Args = compiled[0], compiled[1:]
	}
	if c.Within {
		for i, x := range call.Args {
			if _, ok := x.(*expr.Const); !ok {
				panic(fail.With(parser.Errorf(c.Args[i].Position(), "%s takes a constant", c.Name)))
			}
		}
	}
	if f.Percentile > 0 {
		part := &expr.Const{Pos: c.Pos, Val: types.NewDouble(f.Percentile), Typ: types.Double}
		call.Func, call.Args, call.OrderBy = plan.PercentileCont, []expr.Expr{part}, []plan.SortTerm{{Expr: call.Arg}}
	}
	return call
}

func (a *aggregates) ref(i int, pos parser.Pos) *expr.Column {
	return &expr.Column{Pos: pos, Index: aggMark + i, Name: fmt.Sprintf("%s#%d", a.texts[i], i), Text: a.texts[i], Typ: a.calls[i].Typ, Limit: a.q.limit(&a.calls[i])}
}

// limit returns the limit of the BIGINTs that c gives, which are values of its argument.
func (q *query) limit(c *plan.AggCall) (l types.Limit) {
	if c.Typ == types.BigInt && c.Arg != nil && q.function(string(c.Func)).Same {
		l = expr.DeclaredLimit(c.Typ, c.Arg)
	}
	return l
}

// arguments returns the expressions from which c is computed. The first one is evaluated for each row; for WITHIN GROUP
// this is the sort key. It refuses arguments that f does not take.
func (a *aggregates) arguments(c *parser.Call, f *expr.Function) []parser.Expr {
	switch {
	case c.Star && !f.Rows:
		panic(fail.With(parser.Errorf(c.Pos, "%s(*) is not defined", c.Name)))
	case c.Star:
		return nil
	case f.Within && !c.Within:
		panic(fail.With(parser.Errorf(c.Pos, "%s takes WITHIN GROUP (ORDER BY ...) behind its arguments", c.Name).WithHint("%s", f.Signature)))
	case c.Within && !f.Within:
		panic(fail.With(parser.Errorf(c.Pos, "%s takes no WITHIN GROUP", c.Name)))
	case len(c.Args) != f.MinArgs:
		panic(fail.With(parser.Errorf(c.Pos, "%s takes %d argument(s), not %d", c.Name, f.MinArgs, len(c.Args))))
	case c.Distinct && (len(c.Args) > 1 && !f.Distinct || f.Percentile > 0):
		panic(fail.With(parser.Errorf(c.Pos, "%s takes no DISTINCT", c.Name)))
	case !f.Within:
		return c.Args
	case len(c.OrderBy) != 1:
		panic(fail.With(parser.Errorf(c.Pos, "%s takes one ORDER BY, not %d", c.Name, len(c.OrderBy))))
	}
	return append([]parser.Expr{c.OrderBy[0].Expr}, c.Args...)
}
