package planner

import (
	"slices"

	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// step is a query of WITH RECURSIVE inside its last part, where its name means the rows of the previous step.
type step struct {
	of    *with
	cols  []plan.OutputColumn // nil inside the first part, which must not refer to it
	rows  [][]types.Value
	level int  // the query.level of its last part
	named *int // counts the references to it
}

// recursiveSource returns w as a source: the rows of its first part, then repeatedly those that its last part computes
// from the previous ones, until there are none.
func (q *query) recursiveSource(w *with) (_ *source, err error) {
	defer fail.Catch(&err)
	c := w.CTE
	first, last, op, err := recursion(c)
	if err != nil {
		return nil, err
	}
	around := q.inside()
	around.ctes = append(around.ctes, w)
	in := around.inside()
	in.steps = append(in.steps, step{of: w})
	node, given := fail.Must2(in.selectStmt(first))
	given = renamed(given, c.Columns, c.Name, c.Pos)
	cols := given
	named := 0
	planFor := func(rows [][]types.Value) (*plan.Plan, error) {
		in := around.inside()
		in.plan, in.pieces, in.layout = &plan.Plan{}, false, ""
		named = 0
		in.steps = append(in.steps, step{of: w, cols: cols, rows: rows, level: in.level, named: &named})
		return in.finish(last)
	}
	sampleFor := func(i int) (*plan.Plan, error) {
		row := make([]types.Value, len(cols))
		for k, c := range cols {
			row[k] = sampleValue(c.Type, i)
		}
		return planFor([][]types.Value{row})
	}
	for widened := true; widened; { // rows with wider types may lead to still wider ones
		p := fail.Must(sampleFor(0))
		cols, widened = widen(cols, p.Columns, last.Pos, op.Op)
	}
	sub := &plan.Subplan{Select: last, Text: last.String(), Steps: true}
	sub.Sample = fail.Must(sample(sampleFor, func(*plan.Plan) bool { return q.outer == nil }))
	q.plan.Subplans = append(q.plan.Subplans, sub)
	step := func(rows [][]types.Value) (*plan.Plan, error) {
		p, err := planFor(rows)
		if err == nil {
			p.Root = casted(p.Root, p.Columns, cols)
		}
		return p, err
	}
	return &source{name: c.Name, cols: cols, node: &plan.Recursive{First: casted(node, given, cols), Step: step, Distinct: !op.All}}, nil
}

// refersTo reports whether s refers to c.
func refersTo(s *parser.Select, c parser.CTE) bool {
	return slices.ContainsFunc(parser.Tables(s), func(t *parser.TableName) bool { return names(t, c) })
}

// recursion divides c into its first part and its last part, which refers to the previous rows, and returns the set
// operation between them.
func recursion(c parser.CTE) (first, last *parser.Select, op parser.SetOp, err error) {
	s := c.Query
	n := len(s.Cores) - 1
	if n == 0 || s.Sets[n-1].Op != parser.Union {
		return nil, nil, op, parser.Errorf(c.Pos, "%s refers to itself: its query is a first part UNION [ALL] a last one, which does", c.Name)
	}
	for _, end := range []parser.Expr{s.Limit, s.Offset} {
		if end != nil {
			return nil, nil, op, parser.Errorf(end.Position(), "%s refers to itself: write LIMIT and OFFSET in the query that reads it", c.Name)
		}
	}
	if len(s.OrderBy) > 0 {
		return nil, nil, op, parser.Errorf(s.OrderBy[0].Expr.Position(), "%s refers to itself: write ORDER BY in the query that reads it", c.Name)
	}
	first = &parser.Select{Pos: s.Pos, With: s.With, Cores: s.Cores[:n], Sets: s.Sets[:n-1]}
	return first, &parser.Select{Pos: s.Cores[n].Pos, With: s.With, Cores: s.Cores[n:]}, s.Sets[n-1], nil
}

// stepSource returns the source for the reference t to a step.
func (q *query) stepSource(s step, t *parser.TableName, alias string) *source {
	switch {
	case s.cols == nil:
		panic(fail.With(parser.Errorf(t.Pos, "the first part of %s refers to it: the last one alone may", t.Name)))
	case s.level != q.level:
		panic(fail.With(parser.Errorf(t.Pos, "%s is used in a sub-query of itself: it can only be used in FROM", t.Name)))
	}
	if *s.named++; *s.named > 1 {
		panic(fail.With(parser.Errorf(t.Pos, "%s refers to itself twice: it may do so once", t.Name)))
	}
	return &source{name: alias, cols: s.cols, node: &plan.Values{N: len(s.cols), Known: s.rows}, step: true}
}
