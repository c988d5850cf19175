package exec

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Unbound describes how a statement reads its tables for any values of its parameters.
type Unbound struct {
	// Plan is the plan for made-up values; nil if the statement reads no table. If values lead to different plans, it is
	// the one that reads most: first a plan that the guard refuses, then a skip scan, then others.
	Plan *plan.Plan
	// Refused is the error of the full-scan guard under the policy deny, or nil.
	Refused error
	// Arguments are the made-up values of Plan: "$1 = 7".
	Arguments []string
	// If is the condition under which Plan is used: "$1 is NULL". Then only a parameter that is NULL or empty leads to
	// this plan. It is "" if usual values lead to it, too.
	If string
	// Unclear is set if all made-up values contradict the statement's conditions: then Plan does not apply to other
	// values.
	Unclear bool

	rank int
}

// SkipScan reports whether the plan reads a table by a skip scan.
func (u *Unbound) SkipScan() bool { return u.has(plan.SkipScan) }

func (u *Unbound) has(a plan.Access) bool {
	return slices.ContainsFunc(u.Plan.Scans(), func(s *plan.Scan) bool { return s.Access == a })
}

// maxNulls bounds the number of parameters that are set to NULL, one at a time.
const maxNulls = 16

// PlanUnbound plans a statement before its parameters have values. It makes up values of the types that the parameters'
// contexts expect, and tries each parameter as NULL or empty. It reads no statistics. It numbers the @name parameters of
// stmt.
func (e *Engine) PlanUnbound(ctx context.Context, stmt parser.Statement) (*Unbound, error) {
	l, err := e.lives.begin(ctx, e.session)
	if err != nil {
		return nil, err
	}
	defer l.end()
	defer l.mu.Unlock()
	if err := e.refresh(l.ctx); err != nil {
		return nil, l.why(err)
	}
	u, err := e.planUnbound(l.ctx, readerOf(stmt), nil)
	return u, l.why(err)
}

// readerOf returns the part of stmt that reads.
func readerOf(stmt parser.Statement) parser.Statement {
	switch s := stmt.(type) {
	case *parser.Explain:
		return readerOf(s.Statement)
	case *parser.Prepare:
		return readerOf(s.Statement)
	case *parser.Copy:
		if s.To {
			return Copied(s)
		}
	case *parser.CreateTable:
		if s.Query != nil {
			return s.Query
		}
	}
	return stmt
}

// planUnbound is PlanUnbound in a session; nil: the engine's own.
func (e *Engine) planUnbound(ctx context.Context, stmt parser.Statement, session *Session) (*Unbound, error) {
	switch stmt.(type) {
	case *parser.Select, *parser.Insert, *parser.Update, *parser.Delete, *parser.Merge:
	default:
		return &Unbound{}, nil
	}
	names := numberNames(stmt)
	found := expr.ParametersOf(stmt, len(names), nil)
	if _, err := describe(found, func() ([]plan.OutputColumn, error) {
		r := e.newUnbound(ctx, Args{Positional: make([]types.Value, len(names)), Session: session})
		r.env.Parameters = found
		return r.describeStatement(ctx, stmt)
	}); err != nil {
		return nil, err
	}
	if in, ok := stmt.(*parser.Insert); ok && in.Query == nil {
		stmt = queriesOf(in)
	}
	return e.worst(ctx, stmt, names, planner.UnboundOf(stmt, found.Types), session)
}

// queriesOf returns the query of an INSERT, extended by the sub-queries in its VALUES.
func queriesOf(s *parser.Insert) *parser.Select {
	core := &parser.SelectCore{Pos: s.Pos}
	for _, x := range slices.Concat(s.Rows...) {
		if hasSubquery(x) {
			core.Items = append(core.Items, parser.SelectItem{Pos: x.Position(), Expr: x})
		}
	}
	if core.Items == nil {
		core.Items = []parser.SelectItem{{Pos: s.Pos, Expr: &parser.Literal{Pos: s.Pos, Kind: parser.NullLiteral}}}
	}
	return &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{core}}
}

// newUnbound works like newRun for a plan that is not run.
func (e *Engine) newUnbound(ctx context.Context, args Args) *run {
	r := e.newRun(args, moment{})
	r.policy = DenyFullScan
	r.mayPlan(ctx)
	r.env.MadeUp = true
	r.env.Lookups = func(k plan.LookupKey) (types.Value, bool) { return r.Numbers.Any(k.Table, k.Column, k.Args) }
	return r
}

// refusalOf returns the error of the full-scan guard for p. It assumes that scans find too many values to hop over.
func (r *run) refusalOf(p *plan.Plan) error {
	scans := p.Scans()
	if err := r.guardAll(scans); err != nil {
		return err
	}
	for _, s := range scans {
		if s.Access != plan.HopScan {
			continue
		}
		if err := r.TooMany(s); err != nil {
			return err
		}
	}
	return nil
}

// worst plans stmt for made-up values of its parameters, and returns the plan that reads most.
func (e *Engine) worst(ctx context.Context, stmt parser.Statement, names []string, made *planner.Unbound, session *Session) (*Unbound, error) {
	out := &Unbound{Unclear: true, rank: -1}
	var usual []types.Value // values that contradict no condition
	var failed error
	try := func(values []types.Value, rare string) error {
		r := e.newUnbound(ctx, Args{Positional: values, Session: session})
		p, err := r.plan(ctx, stmt)
		if err != nil {
			return err
		}
		u := &Unbound{Plan: p, Refused: r.refusalOf(p), If: rare, Arguments: slices.Clone(names)}
		for i, v := range values {
			u.Arguments[i] += " = " + v.SQL()
		}
		switch empty := u.has(plan.Empty); {
		case u.Refused != nil:
			u.rank = 3
		case u.SkipScan():
			u.rank = 2
		case !empty:
			u.rank = 1
		}
		if u.Unclear = out.Unclear; rare == "" && (len(names) == 0 || !u.has(plan.Empty)) {
			if u.Unclear = false; usual == nil {
				usual = values
			}
		}
		if out.Unclear = u.Unclear; u.rank > out.rank {
			*out = *u
		}
		return nil
	}
	for i := range planner.Variants {
		if err := try(made.Values(i), ""); err != nil {
			if failed = err; ctx.Err() != nil {
				return nil, err
			}
		}
		if len(names) == 0 || usual != nil && (made.Enough(i) || out.Refused != nil) {
			break
		}
	}
	if out.Plan == nil {
		return nil, failed
	}
	if usual == nil {
		usual = made.Values(0)
	}
	for i := 0; i < min(len(names), maxNulls) && out.Refused == nil; i++ {
		with := func(v types.Value, rare string) error {
			values := slices.Clone(usual)
			values[i] = v
			if err := try(values, rare); err != nil && ctx.Err() != nil {
				return err
			}
			return nil
		}
		err := with(types.Value{}, names[i]+" is NULL")
		for _, v := range made.Constants(i) {
			err = cmp.Or(err, with(v, ""))
		}
		if empty, ok := made.Empty(i); ok && err == nil {
			err = with(empty, names[i]+" is empty")
		}
		if err != nil {
			return nil, err
		}
	}
	out.Unclear = out.Unclear && out.rank < 2
	return out, nil
}

// numberNames numbers the @name parameters of a statement after its positional ones, and returns their names.
func numberNames(s parser.Statement) []string {
	var names []string
	var named []*parser.Param
	parser.Inspect(s, func(n parser.Node) bool {
		p, ok := n.(*parser.Param)
		if ok && p.Name != "" {
			named = append(named, p)
		}
		for ok && len(names) < p.Index {
			names = append(names, fmt.Sprintf("$%d", len(names)+1))
		}
		return true
	})
	for _, p := range named {
		i := slices.Index(names, "@"+p.Name)
		if i < 0 {
			i, names = len(names), append(names, "@"+p.Name)
		}
		p.Index, p.Name = i+1, ""
	}
	return names
}
