package exec

import (
	"cmp"
	"context"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// prepared is a statement of PREPARE.
type prepared struct {
	*parser.Prepare
	text  string // of its statement
	types []types.Type
	plans Plans
}

// placed returns the statement of p with the tables that search_path finds now, and its plans.
func (e *Engine) placed(p *prepared, session *Session) (parser.Statement, *Plans) {
	if session.Searches() {
		if s, err := parser.ParseStatement(p.text); err == nil {
			e.Place(s, p.text, session)
			return s, &Plans{}
		}
	}
	return p.Prepare.Statement, &p.plans
}

// maxPrepared bounds the number of a session's prepared statements; maxPreparedText bounds the text of each in bytes.
const maxPrepared, maxPreparedText = 1000, 64 << 10

func (r *run) prepareStatement(ctx context.Context, s *parser.Prepare) (*Rows, error) {
	p := &prepared{Prepare: s, text: s.Statement.String()}
	for _, name := range s.Types {
		t, ok := types.ParseType(types.WrittenType(name))
		if !ok && name != "UNKNOWN" {
			return nil, expr.UnknownType(name, s.Pos)
		}
		p.types = append(p.types, t)
	}
	wanted, _, err := r.describePrepared(ctx, p)
	if err != nil {
		return nil, err
	}
	for i, w := range wanted {
		switch {
		case i >= len(p.types) && w.List:
			p.types = append(p.types, types.Null)
		case i >= len(p.types):
			p.types = append(p.types, w.Type)
		}
	}
	session := r.session
	session.mu.Lock()
	defer session.mu.Unlock()
	switch {
	case session.prepared[strings.ToLower(s.Name)] != nil:
		return nil, parser.Errorf(s.Pos, "the statement %q is already prepared", s.Name).WithHint("DEALLOCATE %s ends it", parser.QuoteName(s.Name))
	case len(session.prepared) >= maxPrepared:
		return nil, parser.Errorf(s.Pos, "a session may have at most %d prepared statements", maxPrepared)
	case len(p.text) > maxPreparedText:
		return nil, parser.Errorf(s.Pos, "the text of a prepared statement may have at most %d bytes", maxPreparedText)
	case session.prepared == nil:
		session.prepared = map[string]*prepared{}
	}
	session.prepared[strings.ToLower(s.Name)] = p
	return r.done(-1), nil
}

func (s *Session) find(x *parser.Execute) (*prepared, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.prepared[strings.ToLower(x.Name)]
	if p == nil {
		return nil, parser.Errorf(x.Pos, "there is no prepared statement %q", x.Name)
	}
	return p, nil
}

// Statement returns the statement that runs for s: the prepared statement if s is EXECUTE, otherwise s.
func (s *Session) Statement(stmt parser.Statement) parser.Statement {
	if x, ok := stmt.(*parser.Execute); ok {
		if p, err := s.find(x); err == nil {
			return p.Prepare.Statement
		}
	}
	return stmt
}

// parametersOf returns how many positional parameters a statement has.
func parametersOf(stmt parser.Statement) (n int) {
	parser.Inspect(stmt, func(x parser.Node) bool {
		if p, ok := x.(*parser.Param); ok {
			n = max(n, p.Index)
		}
		return true
	})
	return n
}

// Deallocate removes a prepared statement; "" removes all. It reports whether there was one.
func (s *Session) Deallocate(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		s.prepared = nil
		return true
	}
	name = strings.ToLower(name)
	_, ok := s.prepared[name]
	delete(s.prepared, name)
	return ok
}

func (r *run) deallocate(s *parser.Deallocate) (*Rows, error) {
	if !r.session.Deallocate(s.Name) {
		return nil, parser.Errorf(s.Pos, "there is no prepared statement %q", s.Name)
	}
	return r.done(-1), nil
}

// execute is the EXECUTE that is running.
type execute struct{ at parser.Pos }

// placed replaces the position of an error in the prepared statement by the position of EXECUTE, whose text the user
// sees.
func (x *execute) placed(err error) error {
	if own, ok := err.(*parser.Error); ok && x != nil {
		placed := *own
		placed.Pos = x.at
		return &placed
	}
	return err
}

// execution replaces EXECUTE, also inside EXPLAIN, by the prepared statement with its arguments. For other statements
// the *execute is nil.
func (e *Engine) execution(stmt parser.Statement, args Args) (parser.Statement, Args, *execute, error) {
	inner := stmt
	explain, _ := stmt.(*parser.Explain)
	if explain != nil {
		inner = explain.Statement
	}
	x, ok := inner.(*parser.Execute)
	if !ok {
		return stmt, args, nil, nil
	}
	session := cmp.Or(args.Session, e.session)
	p, err := session.find(x)
	if err != nil {
		return nil, args, nil, err
	}
	if n := parametersOf(p.Prepare.Statement); n != len(x.Args) {
		return nil, args, nil, parser.Errorf(x.Pos, "the prepared statement %q takes %d arguments, %d given", x.Name, n, len(x.Args))
	}
	r := e.newRun(Args{Positional: args.Positional, Named: args.Named, Session: args.Session}, now(e.client))
	args.Positional, args.Named = nil, nil
	stmt, args.Plans = e.placed(p, session)
	for i, a := range x.Args {
		v, err := r.constant(a)
		if err == nil && i < len(p.types) && p.types[i] != types.Null {
			v, err = types.Read(v, p.types[i], r.Opt.Now, r.settings.loc)
		}
		if err != nil {
			return nil, args, nil, parser.Errorf(a.Position(), "%v", err)
		}
		args.Positional = append(args.Positional, v)
	}
	if explain != nil {
		copied := *explain
		copied.Statement = stmt
		return &copied, args, &execute{x.Pos}, nil
	}
	return stmt, args, &execute{x.Pos}, nil
}

// describePrepared returns the types that the parameters need, and the columns of the result.
func (r *run) describePrepared(ctx context.Context, p *prepared) ([]ParameterType, []plan.OutputColumn, error) {
	stmt, _ := r.engine.placed(p, r.session)
	return r.engine.Describe(ctx, stmt, Args{Session: r.session}, max(len(p.types), parametersOf(p.Prepare.Statement)), p.types)
}

// describeExecute returns the columns of EXECUTE.
func (r *run) describeExecute(ctx context.Context, x *parser.Execute) ([]plan.OutputColumn, error) {
	p, err := r.session.find(x)
	if err != nil {
		return nil, err
	}
	_, columns, err := r.describePrepared(ctx, p)
	return columns, err
}
