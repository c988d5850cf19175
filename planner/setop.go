package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// sets plans the cores of s and combines them, INTERSECT first. limit applies to the result.
func (q *query) sets(s *parser.Select, limit plan.RowLimit, narrow *narrowing) (plan.Node, []plan.OutputColumn) {
	parts := make([]plan.Node, len(s.Cores))
	var cols []plan.OutputColumn
	lists := make([][]plan.OutputColumn, len(s.Cores))
	byNumber, ok := numbered(s.OrderBy, s.Cores[0])
	once := !s.Sets[0].All // each row counts once, also in the first rows of a part
	if !ok || q.env.Options.NoRules || slices.ContainsFunc(s.Sets, func(o parser.SetOp) bool { return o.Op != parser.Union || o.All == once }) {
		limit = plan.RowLimit{}
	}
	if !limit.Set {
		byNumber = nil
	}
	var done []bool
	for i, c := range s.Cores {
		var part *narrowing
		if narrow != nil {
			part = &narrowing{conds: narrow.conds, done: make([]bool, len(narrow.conds))}
		}
		first := limit
		if once && limit.Set {
			if first.Set = c.On == nil && c.Values == nil && c.Query == nil; first.Set {
				one := *c
				one.Distinct, c = true, &one
			}
		}
		by := byNumber
		if !first.Set {
			by = nil
		}
		n, cs := q.core(c, by, bounds{limit: first}, part)
		if part != nil {
			for k := range part.done {
				part.done[k] = part.done[k] && (i == 0 || done[k])
			}
			done = part.done
		}
		lists[i], cs = cs, untyped(c, cs)
		if i == 0 {
			cols = cs
		} else if len(cs) == len(cols) && (slices.ContainsFunc(byNumber, func(t parser.OrderTerm) bool {
			at, _ := outputIndex(t.Expr, cols)
			return cs[at].Type != cols[at].Type
		}) || once && limit.Set && !slices.EqualFunc(cs, cols, func(a, b plan.OutputColumn) bool { return a.Type == b.Type })) {
			// the conversion of the values to cols may change their order, and make different values equal
			return q.sets(&parser.Select{Pos: s.Pos, Cores: s.Cores, Sets: s.Sets}, plan.RowLimit{}, narrow)
		} else {
			cols, _ = widen(cols, cs, c.Pos, s.Sets[i-1].Op)
		}
		parts[i] = n
	}
	for k := range cols {
		for i := 0; i < len(lists) && cols[k].Type == types.Null; i++ {
			cols[k].Type = lists[i][k].Type
		}
		for _, c := range s.Cores {
			if len(c.Items) == len(cols) {
				q.env.Parameters.Want(c.Items[k].Expr, cols[k].Type)
			}
		}
	}
	for i := range parts {
		parts[i] = casted(parts[i], lists[i], cols)
	}
	if narrow != nil {
		copy(narrow.done, done)
	}
	ops := s.Sets
	left, rest := []plan.Node{parts[0]}, []parser.SetOp{}
	for i, op := range ops {
		if op.Op != parser.Intersect {
			left, rest = append(left, parts[i+1]), append(rest, op)
			continue
		}
		left[len(left)-1] = distinctUnless(op.All, &plan.SetOp{Left: left[len(left)-1], Right: parts[i+1], All: op.All})
	}
	node := left[0]
	for i, op := range rest {
		if d, ok := node.(*plan.Distinct); ok && !op.All { // this operation removes duplicates, too
			node = d.Input
		}
		if op.Op == parser.Except {
			node = distinctUnless(op.All, &plan.SetOp{Left: node, Right: left[i+1], Except: true, All: op.All})
			continue
		}
		u, ok := node.(*plan.Union)
		if !ok {
			u = &plan.Union{Parts: []plan.Node{node}}
		}
		u.Parts = append(u.Parts, left[i+1])
		node = distinctUnless(op.All, u)
	}
	return node, cols
}

// untyped returns cols, the columns of c, with the type Null for each text literal, which takes the type of the other parts.
func untyped(c *parser.SelectCore, cols []plan.OutputColumn) []plan.OutputColumn {
	out := slices.Clone(cols)
	for k, it := range c.Items {
		if l, ok := it.Expr.(*parser.Literal); ok && l.Kind == parser.StringLiteral && len(c.Items) == len(cols) {
			out[k].Type = types.Null
		}
	}
	return out
}

// numbered returns the terms of ORDER BY as numbers of result columns. core is the first part of the set operation,
// whose columns give the names. ok is false if a name cannot be found in the text.
func numbered(orderBy []parser.OrderTerm, core *parser.SelectCore) (out []parser.OrderTerm, ok bool) {
	for _, t := range orderBy {
		ref, column := t.Expr.(*parser.ColumnRef)
		if _, literal := t.Expr.(*parser.Literal); !literal {
			at := -1
			if column && ref.Table == "" && !slices.ContainsFunc(core.Items, func(it parser.SelectItem) bool { return it.Star }) {
				at = slices.IndexFunc(core.Items, func(it parser.SelectItem) bool { return strings.EqualFold(itemName(it), ref.Name) })
			}
			if at < 0 {
				return nil, false
			}
			t.Expr = &parser.Literal{Pos: ref.Pos, Kind: parser.NumberLiteral, Text: strconv.Itoa(at + 1)}
		}
		out = append(out, t)
	}
	return out, true
}

// widen returns cols with types that hold the values of both cols and more. They are the columns of two parts of a set
// operation op; the second part is at pos. changed reports whether a type differs from that in cols.
func widen(cols, more []plan.OutputColumn, pos parser.Pos, op parser.SetOpKind) (out []plan.OutputColumn, changed bool) {
	if len(more) != len(cols) {
		panic(fail.With(parser.Errorf(pos, "each part of %s must have %d columns, not %d", op, len(cols), len(more))))
	}
	out = slices.Clone(cols)
	for k, c := range cols {
		t, ok := expr.Widen(c.Type, more[k].Type)
		if !ok {
			panic(fail.With(parser.Errorf(pos, "column %d is %s here and %s before", k+1, more[k].Type, c.Type)))
		}
		changed = changed || t != c.Type
		if out[k].Type, out[k].Origin = t, (plan.Origin{}); !c.Limit.Includes(more[k].Limit, t) || !more[k].Limit.Includes(c.Limit, t) {
			out[k].Limit = types.Limit{}
		}
	}
	return out, changed
}

func distinctUnless(all bool, n plan.Node) plan.Node {
	if all {
		return n
	}
	return &plan.Distinct{Input: n}
}

// casted converts the rows of n from the types of from to those of to.
func casted(n plan.Node, from, to []plan.OutputColumn) plan.Node {
	exprs := make([]expr.Expr, len(from))
	same := true
	for i, c := range from {
		exprs[i] = &expr.Column{Index: i, Name: c.Name, Typ: c.Type}
		if c.Type != to[i].Type && c.Type != types.Null {
			exprs[i] = &expr.Cast{X: exprs[i], Typ: to[i].Type}
			same = false
		}
	}
	if same {
		return n
	}
	return &plan.Project{Input: n, Exprs: exprs}
}
