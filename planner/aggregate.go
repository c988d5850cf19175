package planner

import (
	"fmt"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// aggregate finds an aggregate by name; nil when there is none.
func aggregate(name string) *expr.Function {
	if f := expr.Builtins().Lookup(name); f != nil && f.Group == "aggregate" {
		return f
	}
	return nil
}

// aggregates collects the aggregate calls of a core. While they are compiled, a
// column with an index from aggMark on stands for each.
type aggregates struct {
	q      *query
	srcs   []*source
	calls  []plan.AggCall
	texts  []string
	inside bool
}

const (
	aggMark   = 1 << 24
	groupMark = 1 << 25
)

func hasAggregate(e parser.Expr) bool {
	found := false
	parser.Walk(e, func(x parser.Expr) bool {
		if c, ok := x.(*parser.Call); ok {
			found = found || aggregate(c.Name) != nil
		}
		return !found
	})
	return found
}

func (a *aggregates) scope() *expr.Scope {
	s := a.q.scope(a.srcs)
	s.Call = func(c *parser.Call) (expr.Expr, bool, error) {
		f := aggregate(c.Name)
		if f == nil {
			return nil, false, nil
		}
		x, err := a.call(c, f)
		return x, true, err
	}
	return s
}

func (a *aggregates) call(c *parser.Call, f *expr.Function) (expr.Expr, error) {
	if a.inside {
		return nil, parser.Errorf(c.Pos, "an aggregate cannot stand inside another")
	}
	own, around := false, false
	a.inside = true
	a.q.resolved = func(is bool) { own, around = own || is, around || !is }
	defer func() { a.inside, a.q.resolved = false, nil }()
	scope := a.scope()
	call := plan.AggCall{Func: f.Name, Distinct: c.Distinct}
	if c.Star {
		if f.Name != "COUNT" {
			return nil, parser.Errorf(c.Pos, "%s(*) is not defined", c.Name)
		}
	} else {
		if len(c.Args) != f.MinArgs {
			return nil, parser.Errorf(c.Pos, "%s takes %d argument(s), not %d", c.Name, f.MinArgs, len(c.Args))
		}
		for i, x := range c.Args {
			e, err := expr.Compile(x, scope)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				call.Arg = e
			} else {
				call.Args = append(call.Args, e)
			}
		}
	}
	for _, t := range c.OrderBy {
		e, err := expr.Compile(t.Expr, scope)
		if err != nil {
			return nil, err
		}
		call.OrderBy = append(call.OrderBy, sortTerm(t, e))
	}
	if c.Filter != nil {
		e, err := expr.CompileCondition(c.Filter, scope)
		if err != nil {
			return nil, err
		}
		call.Filter = e
	}
	if around && !own { // SQL has it computed there, of the rows of that query
		return nil, parser.Errorf(c.Pos, "%s takes columns of the query around this one alone, which makes it an aggregate of that query: not supported here", c.Name).
			WithHint("compute it in a sub-query in FROM, and take its column")
	}
	var err error
	if call.Typ, err = aggregateType(c, f.Name, call.Arg); err != nil {
		return nil, err
	}
	text := c.String()
	for i, t := range a.texts {
		if t == text {
			return a.ref(i, c.Pos), nil
		}
	}
	a.calls, a.texts = append(a.calls, call), append(a.texts, text)
	return a.ref(len(a.calls)-1, c.Pos), nil
}

func (a *aggregates) ref(i int, pos parser.Pos) *expr.Column {
	return &expr.Column{Pos: pos, Index: aggMark + i, Name: fmt.Sprintf("%s#%d", a.texts[i], i), Typ: a.calls[i].Typ}
}

func aggregateType(c *parser.Call, name string, arg expr.Expr) (types.Type, error) {
	t := types.Null
	if arg != nil {
		t = arg.Type()
	}
	number := t.IsNumeric() || t == types.Null
	switch name {
	case "COUNT":
		return types.BigInt, nil
	case "SUM":
		switch {
		case t.IsInteger():
			return types.BigInt, nil
		case t == types.Float:
			return types.Double, nil
		case number:
			return t, nil
		}
	case "AVG":
		if t == types.Decimal || t.IsInteger() {
			return types.Decimal, nil
		}
		if number {
			return types.Double, nil
		}
	case "STRING_AGG":
		return types.String, nil
	case "ARRAY_AGG", "JSON_AGG":
		return types.JSON, nil
	case "BOOL_AND", "BOOL_OR":
		if t == types.Boolean || t == types.Null {
			return types.Boolean, nil
		}
	default:
		return t, nil
	}
	return 0, parser.Errorf(c.Pos, "%s of %s is not defined", c.Name, t)
}

// afterGrouping rewrites e, over the tables' row, to one over an Aggregate's output.
func afterGrouping(e expr.Expr, groups []expr.Expr) (expr.Expr, error) {
	written := func(x expr.Expr) expr.Expr { // x with the groups that stand in it as they were
		return expr.Map(x, func(y expr.Expr) expr.Expr {
			if c, ok := y.(*expr.Column); ok && c.Index >= groupMark {
				return groups[c.Index-groupMark]
			}
			return y
		})
	}
	out := expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Column); ok && c.Index >= groupMark {
			return x
		}
		if _, ok := x.(*expr.Const); ok {
			return x
		}
		was := written(x)
		for i, g := range groups {
			name := g.String()
			if c, ok := g.(*expr.Column); ok {
				name = c.Name
			}
			group := &expr.Column{Pos: x.Position(), Index: groupMark + i, Name: name, Typ: x.Type()}
			switch {
			case expr.Same(was, g):
				return group
			case g.Type() == types.Boolean && was.Type() == types.Boolean && expr.Same(expr.Negate(was), g):
				return expr.Negate(group) // NOT was pushed down into x when it was compiled
			}
		}
		return x
	})
	var err error
	out = expr.Map(out, func(x expr.Expr) expr.Expr {
		c, ok := x.(*expr.Column)
		if !ok {
			return x
		}
		d := *c
		switch {
		case c.Index >= groupMark:
			d.Index -= groupMark
		case c.Index >= aggMark:
			d.Index = len(groups) + c.Index - aggMark
		default:
			err = parser.Errorf(c.Pos, "column %q must stand in GROUP BY or inside an aggregate", c.Name)
		}
		return &d
	})
	return out, err
}
