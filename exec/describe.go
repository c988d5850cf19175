package exec

import (
	"context"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// ParameterType is the type that the context of a parameter expects.
type ParameterType = expr.ParameterType

// Describe returns the types of the n parameters of a statement, and the statement's columns. given are the types of
// the first parameters as far as the caller knows them; Null: unknown. Describe plans the statement with NULL for each
// argument, and reads only what Plan reads.
func (e *Engine) Describe(ctx context.Context, stmt parser.Statement, args Args, n int, given []types.Type) ([]ParameterType, []plan.OutputColumn, error) {
	found := expr.ParametersOf(stmt, n, given)
	args.Positional = make([]types.Value, n)
	columns, err := describe(found, func() (columns []plan.OutputColumn, err error) {
		err = e.during(ctx, args, func(ctx context.Context, r *run) (err error) {
			r.env.Parameters = found
			columns, err = r.describeStatement(ctx, stmt)
			return err
		})
		return columns, err
	})
	if err != nil {
		return nil, nil, err
	}
	return found.Types, columns, nil
}

// describe calls once until a call finds no further types of parameters. It may take several calls: the type of a
// parameter determines the types of columns, and which types other operands may have.
func describe(found *expr.Parameters, once func() ([]plan.OutputColumn, error)) (columns []plan.OutputColumn, err error) {
	for again := true; again; {
		was := slices.Clone(found.Types)
		columns, err = once()
		again = !slices.Equal(was, found.Types)
	}
	return columns, err
}

// describeStatement returns the columns of a statement, and records the types of its parameters.
func (r *run) describeStatement(ctx context.Context, stmt parser.Statement) ([]plan.OutputColumn, error) {
	stmt, err := r.throughView(stmt)
	if err != nil {
		return nil, err
	}
	switch s := stmt.(type) {
	case *parser.Select:
		p, err := r.planSelect(ctx, s)
		if err != nil {
			return nil, err
		}
		return p.Columns, nil
	case *parser.Explain:
		typ := types.String
		if s.Format == "JSON" {
			typ = types.JSON
		}
		_, err := r.describeStatement(ctx, s.Statement)
		return []plan.OutputColumn{{Name: "plan", Type: typ}}, err
	case *parser.Writing:
		return r.describeWriting(ctx, s)
	case *parser.Insert:
		return r.describeInsert(ctx, s)
	case *parser.Update:
		return r.describeUpdate(ctx, s)
	case *parser.Delete:
		t, err := r.tableNamed(s.Table, s.TablePos)
		if err != nil {
			return nil, err
		}
		x, others, err := r.returning(ctx, t, s.Alias, s.Returning, s.Joined())
		if err == nil {
			_, err = r.planDelete(ctx, t, s, others)
		}
		return x.Given(), err
	case *parser.Merge:
		_, _, err := r.newMerger(ctx, s)
		return nil, err
	case *parser.Execute:
		return r.describeExecute(ctx, s)
	case *parser.Show:
		rows, err := r.show(ctx, s)
		if err != nil {
			return nil, err
		}
		return rows.Columns, nil
	}
	return nil, nil
}

func (r *run) describeInsert(ctx context.Context, s *parser.Insert) ([]plan.OutputColumn, error) {
	t, cols, s, err := r.insertTarget(s)
	if err != nil {
		return nil, err
	}
	want := func(i int, x parser.Expr) {
		if i < len(cols) {
			r.env.Parameters.Want(x, cols[i].Type)
		}
	}
	if s.Query != nil {
		for _, core := range s.Query.Cores {
			for i, item := range core.Items {
				want(i, item.Expr)
			}
		}
		if _, err := r.planSelect(ctx, s.Query); err != nil {
			return nil, err
		}
	}
	for _, row := range s.Rows {
		for i, x := range row {
			if want(i, x); hasSubquery(x) {
				continue
			}
			if _, err := expr.Compile(x, r.scope()); err != nil {
				return nil, err
			}
		}
	}
	if s.Set != nil {
		r.env.Named = excluded(t, r.env.Named, func(*catalog.Column) types.Value { return types.Value{} })
		if _, err := r.describeUpdate(ctx, updateOf(t, s)); err != nil {
			return nil, err
		}
	}
	x, _, err := r.returning(ctx, t, s.Alias, s.Returning, nil)
	return x.Given(), err
}

func (r *run) describeUpdate(ctx context.Context, s *parser.Update) ([]plan.OutputColumn, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	_, values, err := assignments(t, s)
	if err != nil {
		return nil, err
	}
	for i, a := range s.Set {
		if c, ok := t.Column(a.Column.Name); ok {
			r.env.Parameters.Want(values[i], c.Type)
		}
	}
	x, others, err := r.returning(ctx, t, s.Alias, s.Returning, s.Joined())
	if err == nil {
		_, _, err = r.planUpdate(ctx, t, s, values, others)
	}
	return x.Given(), err
}
