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

// batched returns the source for a query s that depends on the rows of srcs, as one query for all of these rows: the
// first columns of the new query are equal to the columns in of, and become conditions of a join (source.ties). each is
// the plan for one row, and outer are the columns of srcs to which s refers. If each row has exactly one row of s, the
// source has one set: it belongs on the right side of an outer join, and gives a row without a match the values of no
// rows. batched returns nil if s has other conditions on these columns, or if the join could not look up the rows.
//
//	SELECT count(*) FROM m WHERE m.host = h.id                              SELECT m.host, count(*) FROM m GROUP BY m.host
//	SELECT v FROM m WHERE m.host = h.id ORDER BY ts DESC LIMIT 3            SELECT * FROM (SELECT m.host, v, row_number()
//	                                                                        OVER (PARTITION BY m.host ORDER BY ts DESC) AS n FROM m) WHERE n <= 3
func (q *query) batched(srcs []*source, s *parser.Select, each *plan.Subplan, outer []expr.Expr, alias string, columns []string) (out *source) {
	core := s.Cores[0]
	if q.outer != nil || q.enclosing != nil || q.joins || q.pieces || q.env.Options.NoRules || len(s.Cores) > 1 || len(s.With) > 0 || core.Where == nil || !q.rowwise(core.Where) ||
		core.Having != nil || core.Distinct || len(core.On)+len(core.Windows) > 0 || slices.ContainsFunc(core.GroupBy, isSets) {
		return nil
	}
	before := q.plan.Subplans
	inner, err := q.apart().from(core.From, core.Items)
	if err != nil || inner.lateral() {
		return nil
	}
	all := *core
	of := untie(&all, inner.srcs, srcs, outer)
	var keys []parser.Expr
	for i, it := range all.Items {
		keys, all.Items[i].Alias = append(keys, it.Expr), it.Expr.String()
	}
	sub := &plan.Subplan{}
	if all.Items = append(all.Items, core.Items...); len(keys) == 0 || !q.plainOf(core.Items, sub) {
		return nil
	}
	text := &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{&all}}
	limit, err := q.count(s.Limit, "LIMIT")
	skip, err2 := q.count(s.Offset, "OFFSET")
	groups := sub.Aggregated || len(core.GroupBy) > 0
	one := groups && len(core.GroupBy) == 0
	cut := limit.Set || skip.Rows > 0
	switch {
	case err != nil || err2 != nil || s.Ties || (limit.Set || s.Limit == nil) && cut && groups && !(one && limit.Rows > 0 && skip.Rows == 0) || s.Limit != nil && !limit.Set:
		return nil
	case groups:
		all.GroupBy = append(keys, core.GroupBy...)
	case cut:
		if text = q.numberedWithin(s, &all, keys, limit, skip.Rows); text == nil {
			return nil
		}
	}
	n := &narrowing{}
	q.narrow = n
	src, err := q.derived(text, alias, nil, alias, s.Pos)
	q.narrow = nil
	defer func() {
		if out == nil {
			q.plan.Subplans = before
		}
	}()
	failing := mayFail(core.Where) || slices.ContainsFunc(core.Items, func(it parser.SelectItem) bool { return mayFail(it.Expr) })
	if err != nil || src.again == nil || failing && !reads(src.node).Wide() || !q.bindsAll(src, len(keys), cut || failing || !reads(each.Sample.Root).Wide()) {
		return nil
	}
	names, err := fail.Try(func() []plan.OutputColumn { return renamed(each.Sample.Columns, columns, alias, s.Pos) })
	if err != nil || len(src.cols) < len(keys)+len(names) {
		return nil
	}
	for i, k := range of {
		c := &expr.Column{Pos: keys[i].Position(), Index: i, Name: src.cols[i].Name, Typ: src.cols[i].Type}
		if a, b := c.Typ, outer[k].Type(); a != b && !(a.IsInteger() && b.IsInteger()) {
			return nil
		}
		src.ties = append(src.ties, &expr.Compare{Pos: c.Pos, Op: expr.EQ, X: c, Y: moved(outer[k], func(i int) int { return i + outerMark })})
	}
	src.each, src.one = true, one
	for i, name := range names {
		c := src.cols[len(keys)+i]
		v := viewColumn{name.Name, &expr.Column{Pos: s.Pos, Index: len(keys) + i, Name: name.Name, Typ: c.Type, Limit: c.Limit}}
		if one {
			none := n.of.withoutRows(len(keys) + i)
			if none == nil {
				return nil
			}
			if !none.Val.IsNull() {
				v.of = &expr.Case{Pos: s.Pos, Typ: c.Type, Else: v.of, Whens: []expr.When{{Cond: &expr.IsNull{Pos: s.Pos, X: src.ties[0].(*expr.Compare).X}, Then: none}}}
			}
		}
		src.view = append(src.view, v)
	}
	return src
}

// mayFail reports whether e divides, converts or calls a function. A query with such an expression must not read rows that
// no outer row asks for, since these may have values with which it fails.
func mayFail(e parser.Expr) bool {
	return parser.Some(e, func(x parser.Expr) bool {
		b, binary := x.(*parser.Binary)
		_, cast := x.(*parser.Cast)
		c, call := x.(*parser.Call)
		return cast || binary && (b.Op == "/" || b.Op == "%") || call && aggregate(c.Name) == nil && c.Name != "COALESCE"
	})
}

// plainOf reports whether items contain neither windows nor functions that are volatile or return rows, and sets
// Aggregated if they contain aggregates.
func (q *query) plainOf(items []parser.SelectItem, sub *plan.Subplan) bool {
	ok := true
	for _, it := range items {
		parser.Walk(it.Expr, func(x parser.Expr) bool {
			if c, call := x.(*parser.Call); call {
				sub.Aggregated = sub.Aggregated || aggregate(c.Name) != nil
				ok = ok && c.Over == nil && !q.volatile(c.Name) && !q.function(c.Name).Set
			}
			return ok
		})
	}
	return ok
}

// numberedWithin returns the query for the first rows, in the order of s, of all rows with equal keys. all is the query for
// all rows. It returns nil if it cannot find an expression for a term of ORDER BY.
func (q *query) numberedWithin(s *parser.Select, all *parser.SelectCore, keys []parser.Expr, limit plan.RowLimit, skip int64) *parser.Select {
	const number = "number of the row"
	order := slices.Clone(s.OrderBy)
	for i, t := range order {
		ref, column := t.Expr.(*parser.ColumnRef)
		for _, it := range s.Cores[0].Items {
			if column && ref.Table == "" && strings.EqualFold(it.Alias, ref.Name) {
				order[i].Expr = it.Expr
			}
		}
		if _, literal := t.Expr.(*parser.Literal); literal {
			return nil
		}
	}
	call := &parser.Call{Pos: s.Pos, Name: "ROW_NUMBER", Over: &parser.Window{Pos: s.Pos, PartitionBy: keys, OrderBy: order}}
	all.Items = append(all.Items, parser.SelectItem{Pos: s.Pos, Expr: call, Alias: number})
	bound := func(op string, n int64) parser.Expr {
		return &parser.Binary{Pos: s.Pos, Op: op, X: &parser.ColumnRef{Pos: s.Pos, Name: number}, Y: &parser.Literal{Pos: s.Pos, Kind: parser.NumberLiteral, Text: strconv.FormatInt(n, 10)}}
	}
	where := bound(">", skip)
	if limit.Set {
		where = &parser.Binary{Pos: s.Pos, Op: "AND", X: where, Y: bound("<=", limit.Behind(skip).Rows)}
	}
	from := &parser.Subquery{Pos: s.Pos, Query: &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{all}}, Alias: "rows"}
	return &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{{Pos: s.Pos, Items: []parser.SelectItem{{Pos: s.Pos, Star: true}}, From: []parser.TableExpr{from}, Where: where}}}
}

// bindsAll reports whether values for the first n columns of s, a query in FROM, keep it from reading whole tables. If must
// is false, they need not, as the query for one row reads whole tables, too.
func (q *query) bindsAll(s *source, n int, must bool) bool {
	for i := 0; i < sampleValues && must; i++ {
		var conds []expr.Expr
		for k := range n {
			conds = append(conds, &expr.Compare{Op: expr.EQ, X: &expr.Column{Index: k, Typ: s.cols[k].Type}, Y: &expr.Const{Val: sampleValue(s.cols[k].Type, i), Typ: s.cols[k].Type}})
		}
		node, _, err := s.again(q.apart(), conds)
		if err != nil || node == nil {
			return false
		}
		if a := reads(node); a != plan.Empty {
			return !a.Wide()
		}
	}
	return !must
}

// withoutRows returns the value of result column i if no row is grouped; nil if it is not known.
func (b *block) withoutRows(i int) *expr.Const {
	if b == nil {
		return nil
	}
	known := true
	out := expr.Fold(expr.MapColumns(b.outs[i].expr, func(c *expr.Column) expr.Expr {
		at := c.Index - len(b.groups.by)
		if known = known && at >= 0; !known {
			return c
		}
		switch b.aggs.calls[at].Func {
		case plan.Count:
			return &expr.Const{Pos: c.Pos, Val: types.NewInt(0), Typ: c.Typ}
		case plan.Sum, plan.Avg, plan.Min, plan.Max, plan.MinBy, plan.MaxBy, plan.BoolAnd, plan.BoolOr, plan.ArrayAgg, "STRING_AGG":
			return &expr.Const{Pos: c.Pos, Typ: c.Typ}
		}
		known = false
		return c
	}), b.q.env.Loc)
	if k, ok := out.(*expr.Const); ok && known {
		return k
	}
	return nil
}
