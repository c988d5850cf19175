package planner

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// subquery compiles a query inside an expression over srcs.
func (q *query) subquery(srcs []*source, s *parser.Select, node expr.Subquery) (expr.Expr, error) {
	if of := q.assigned; node.Column > 0 && of != nil && of.Query.(*plan.Subplan).Select == s {
		column := *of
		column.Column = node.Column
		return q.answered(of.Query.(*plan.Subplan), column)
	}
	run := limited(s, node.Kind)
	var fixed map[int]fixedTo
	if node.Kind == expr.ScalarSubquery && q.where != nil {
		if q.fixed == nil {
			q.fixed = q.fix()
		}
		fixed = q.fixed
	}
	sub, outer, err := q.correlated(srcs, fixed, q.outer, s, func(in *query) (*plan.Plan, error) { return in.finish(run) })
	if err != nil {
		return nil, err
	}
	sub.Width = node.Width()
	if n := len(sub.Sample.Columns); node.Kind != expr.ExistsSubquery && n != sub.Width {
		if node.Columns > 0 {
			return nil, parser.Errorf(node.Pos, "%d columns cannot be set by a sub-query of %d", node.Columns, n)
		}
		if sub.Width > 1 {
			return nil, parser.Errorf(node.Pos, "a sub-query compared with a row value of %d items must have as many columns, not %d", sub.Width, n)
		}
		return nil, parser.Errorf(node.Pos, "a sub-query used as a value must have 1 column, not %d", n)
	}
	if slices.ContainsFunc(sub.Sample.Reads(), func(s *plan.Scan) bool { return s.Access.Wide() }) {
		q.grouped(sub, srcs, s, node.Kind, outer)
	}
	for _, c := range sub.Sample.Columns {
		node.Types, node.Limits = append(node.Types, c.Type), append(node.Limits, c.Limit)
	}
	node.Text, node.Outer = sub.Text, outer
	if node.Columns > 0 {
		of := node
		of.Query, q.assigned = sub, &of
	}
	return q.answered(sub, node)
}

// answered returns the expression for node: the value of sub's rows if they are known, otherwise the sub-query.
func (q *query) answered(sub *plan.Subplan, node expr.Subquery) (expr.Expr, error) {
	node.Query = sub
	out, err := expr.NewSubquery(node, q.scope(nil))
	if err != nil {
		return nil, err
	}
	if sub.Closed && q.env.Subqueries != nil {
		if rows, ok := q.env.Subqueries(sub); ok {
			if rows.Err() == nil {
				x, err := out.Answer(rows.Values(sub.Width), q.env.Loc)
				if err == nil || out.Kind != expr.ScalarSubquery {
					return x, err
				}
				rows.Fail(err)
			}
			out.Failed = rows.Err()
			return out, nil
		}
	}
	if !slices.Contains(q.plan.Subplans, sub) { // each column of an assigned row has the same one
		q.plan.Subplans = append(q.plan.Subplans, sub)
	}
	if sub.Closed && q.env.Subqueries == nil { // a plan that is not run
		for _, t := range node.Types[:sub.Width] {
			sub.Shown = append(sub.Shown, sampleValue(t, q.sample))
		}
		return out.Answer(sub.Shown, q.env.Loc)
	}
	return out, nil
}

// correlated plans s, a query over the columns of srcs, for values of the columns to which it refers. It returns these
// columns, of the joined row, in the order in which the Subplan takes their values. The columns in fixed have one value
// and are not among them. further, unless nil, resolves names that srcs do not have. finish makes the plan that is run.
func (q *query) correlated(srcs []*source, fixed map[int]fixedTo, further func(ref *parser.ColumnRef) (expr.Expr, error), s *parser.Select, finish func(in *query) (*plan.Plan, error)) (sub *plan.Subplan, outer []expr.Expr, err error) {
	sub = &plan.Subplan{Select: s, Closed: true, Text: s.String()}
	srcs = frozen(srcs)
	around := q.inside()
	planFor := func(value func(c *expr.Column) types.Value) (*plan.Plan, error) {
		in := around.inside()
		in.level, in.plan, in.pieces, in.layout = in.level+1, &plan.Plan{}, false, ""
		in.depends = func(level int) {
			if level < in.level {
				if sub.Closed {
					sub.Closed = false
				}
				if q.depends != nil {
					q.depends(level)
				}
			}
		}
		in.outer = func(ref *parser.ColumnRef) (expr.Expr, error) {
			x, err := findColumn(ref, srcs)
			if q.resolved != nil {
				q.resolved(x != nil)
			}
			if x == nil && err == nil && further != nil {
				x, err = further(ref)
			}
			if err != nil || x == nil {
				return nil, err
			}
			if c, ok := x.(*expr.Column); ok {
				if g, ok := fixed[c.Index]; ok {
					if g.around && sub.Closed {
						sub.Closed = false
					}
					return &expr.Const{Pos: ref.Pos, Val: g.val, Typ: c.Typ, Limit: c.Limit}, nil
				}
			}
			x = expr.MapColumns(x, func(c *expr.Column) expr.Expr { // any other leaf is from further out
				return &expr.Const{Pos: ref.Pos, Val: value(c), Typ: c.Typ, Limit: c.Limit}
			})
			if sub.Closed { // found at the first plan; later ones may be made by several at once
				sub.Closed = false
			}
			return expr.Fold(x, q.env.Loc), nil
		}
		return finish(in)
	}
	var columns []int
	sub.Sample, err = sample(func(i int) (*plan.Plan, error) {
		return planFor(func(c *expr.Column) types.Value {
			if !slices.Contains(columns, c.Index) {
				columns, outer = append(columns, c.Index), append(outer, c)
			}
			return sampleValue(c.Typ, i)
		})
	}, func(*plan.Plan) bool { return len(columns) > 0 && q.outer == nil }) // made-up values at one level suffice
	sub.Plan = func(values []types.Value) (*plan.Plan, error) {
		return planFor(func(c *expr.Column) types.Value { return values[slices.Index(columns, c.Index)] })
	}
	return sub, outer, err
}

// fixedTo is the value that an equality gives a column.
type fixedTo struct {
	val    types.Value
	around bool // it is that of a row around the query, another one each time that the query is run
}

// fix returns the columns to which an equality in q.where gives one value in all rows that pass.
func (q *query) fix() map[int]fixedTo {
	defer func(resolved func(own bool)) { q.resolved = resolved }(q.resolved)
	q.resolved = nil
	known := func(e parser.Expr) bool {
		switch e.(type) {
		case *parser.ColumnRef, *parser.Literal, *parser.Param:
			return true
		}
		return false
	}
	out := map[int]fixedTo{}
	for _, c := range conjunctsOf(q.where) {
		b, ok := c.(*parser.Binary)
		if !ok || b.Op != "=" || !known(b.X) || !known(b.Y) {
			continue
		}
		x, err := expr.CompileCondition(b, q.rows)
		if err != nil {
			continue // the compilation of the whole WHERE returns it
		}
		if eq, ok := expr.Fold(x, q.env.Loc).(*expr.Compare); ok && eq.Op == expr.EQ {
			c, column := eq.X.(*expr.Column)
			v, constant := eq.Y.(*expr.Const) // a constant is always on the right
			if column && constant && v.Val.Type() == c.Typ && exact(c) {
				_, left := b.X.(*parser.ColumnRef)
				_, right := b.Y.(*parser.ColumnRef)
				out[c.Index] = fixedTo{v.Val, q.outer != nil && left && right}
			}
		}
	}
	return out
}

// frozen copies srcs as they are: joins around them may yet move their columns, and a sub-query is planned again after that.
func frozen(srcs []*source) []*source {
	out := make([]*source, len(srcs))
	for i, s := range srcs {
		c := *s
		c.merged = slices.Clone(s.merged)
		out[i] = &c
	}
	return out
}

// limited adds a limit for the rows that the use of s needs: one for EXISTS, and two for a value, to detect a second one.
func limited(s *parser.Select, kind expr.SubqueryKind) *parser.Select {
	if kind == expr.InSubquery || kind == expr.ArraySubquery || s.Limit != nil {
		return s
	}
	n := "2"
	if kind == expr.ExistsSubquery {
		n = "1"
	}
	out := *s
	out.Limit = &parser.Literal{Pos: s.Pos, Kind: parser.NumberLiteral, Text: n}
	return &out
}

// sample returns the first plan whose made-up values fit a key, or else the first plan. more reports whether p depends
// on made-up values, so that other values may fit.
func sample(planWith func(i int) (*plan.Plan, error), more func(p *plan.Plan) bool) (first *plan.Plan, err error) {
	for i := range sampleValues {
		p, err := planWith(i)
		if err != nil || !readsNothing(p) {
			return p, err
		}
		if first == nil {
			first = p
		}
		if !more(p) {
			break
		}
	}
	return first, nil
}

// readsNothing reports whether the made-up values fit no key, so that the plan does not apply to other values.
func readsNothing(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Reads(), func(s *plan.Scan) bool { return s.Access == plan.Empty })
}

// sampleValues is the number of different values of sampleValue.
const sampleValues = 40

// sampleValue returns the i-th made-up value of a type, which shows how an unknown value would bind a key. Texts have
// different lengths, because a key part may need a certain length.
func sampleValue(t types.Type, i int) types.Value {
	switch {
	case t.IsText() || t == types.Bytes:
		v := types.NewString(strings.Repeat("1", i+1))
		if out, err := types.Cast(v, t, nil); err == nil {
			return out
		}
		return v
	case t == types.Boolean:
		return types.NewBool(i%2 == 1)
	case t == types.UUID:
		return types.NewUUID(strings.Repeat(string(rune('0'+i)), 16))
	case t.IsArray():
		return types.NewArrayOf(t, []types.Dim{{Lower: 1, Len: 1}}, []types.Value{sampleValue(t.Elem(), i)})
	}
	v, err := types.Cast(types.NewInt(int64(i+1)), t, nil)
	if err != nil {
		v, _ = types.Cast(types.NewTimestamp(int64(i)*types.MillisPerDay), t, nil)
	}
	return v
}
