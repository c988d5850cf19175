package planner

import (
	"slices"
	"strconv"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// The rules that move conditions to where they bind a key:
//
//	havingToWhere   a condition of HAVING on grouped expressions is true for all rows of a group or for none: it moves to the WHERE
//	implied         conditions that each term of an OR has on one table, or on what is grouped, move alone (rules.go, join.go)
//	narrowQuery     a condition above a query in FROM moves into it: below DISTINCT, GROUP BY and windows if its columns are among those that
//	                they group by, and into each part of a set operation; not below LIMIT
//	reduceOuter     a LEFT or RIGHT JOIN whose unmatched rows the WHERE drops becomes an inner join
//	reduced         a FULL JOIN becomes a LEFT JOIN if the WHERE drops the unmatched rows of one side (full.go)
//	full.again      conditions on merged columns of a FULL JOIN move to both sides, and so do ORDER BY with LIMIT, min and max (full.go)
//	spread          a condition on a column is added for the columns that are equal to it (join.go)
//	arrange         inner joins begin with a source that is bound, or probably has few rows, and binds the key of another source (arrange.go)
//	fix             a sub-query takes the value that an equality of the WHERE around it gives a column (subquery.go)
//	lists           the values of one table's column become a list for the equal column of another table, or of groups (listed.go)
//	lookup          a join's right side, a table or a query, is looked up by the conditions that a left row's values bind (lookup.go)
//	tries, wanted   LIMIT ends groups, DISTINCT, joins and sorts early if their rows are in the order of a key, or of its first terms (ordering.go)
//	backward        LIMIT ends the rows of windows that see no later ones (ordering.go)
//	oneOfSame       only the first or last rows of each group are read if the result needs no others (ends.go)
//	oneOfEach       the same for each part of a UNION ALL (ends.go)
//	source          a WITH query or view that is read in several places is read by key where conditions bind it (with.go)
//	united          an OR whose terms bind different layouts is read from each of them (union.go)
//	coarsely        the first rows are read day by day if a key or table names follow the order only by days (request.go)
//	sortedFirst     a join begins with the source by whose columns it is sorted if few rows are wanted (join.go)
//	besideNulls     rows with NULL, which an INDEX lacks, are read before or after the rows that come in its order (request.go)
//	grouped         a sub-query for each row that no key binds is read once for all rows (grouped.go)
//	Repeated        a table is read once for all rows around a sub-query or LATERAL if these do not narrow the range of keys (exec/repeated.go)
//	latest          a column that equals the min or max of a sub-query for each row is IN the values of all rows, which bind a key (grouped.go)
//	under           conditions on a LATERAL query go into it (lateral.go)
//	batched         a LATERAL query with aggregates or LIMIT, tied to the row by equalities, is read for many rows at once (batched.go)
//	limitUnion      parts of a UNION [ALL] return no more rows than LIMIT wants, for UNION each once (setop.go)
//	first           ORDER BY with LIMIT, min and max above a query in FROM move into this query
//
// A new rule needs a case in exec/testdata/shapes, and a shape in differential/shape_test.go.

// maxNarrowed bounds the nesting of queries that are planned again for conditions.
const maxNarrowed = 4

// narrowing holds conditions on the columns of a query that is being planned, and marks those that the query has taken
// over.
type narrowing struct {
	conds []expr.Expr
	done  []bool
	helps bool // the query uses a condition that is checked above it, too: one on row_number, or a part of an OR
	// If limit is set, the caller wants only the first rows, in the order by, that match the conditions. topped is set
	// if the query returns only these rows.
	by     []parser.OrderTerm
	limit  plan.RowLimit
	topped bool
	of     *block // the query's block, if it is compiled
}

// first gives s the order of n, if the caller wants only the first rows in that order, and sets topped. It returns s
// unchanged if LIMIT, OFFSET or DISTINCT ON of s already decide which rows it returns.
func (n *narrowing) first(s *parser.Select) *parser.Select {
	if n == nil || !n.limit.Set || s.Limit != nil || s.Offset != nil || slices.ContainsFunc(s.Cores, func(c *parser.SelectCore) bool { return c.On != nil }) {
		return s
	}
	n.topped = true
	out := *s
	out.OrderBy = n.by
	return &out
}

// exact reports whether e has equal values for equal operands: 1.0 and 1.00 are equal, but their texts are not.
func exact(e expr.Expr) bool {
	if e.Type() == types.Boolean { // a condition
		if _, _, _, ok := solve.Sarg(e); ok {
			return true
		}
	}
	return !expr.Some(e, func(x expr.Expr) bool {
		c, ok := x.(*expr.Column)
		return expr.IsSubquery(x) || ok && slices.Contains([]types.Type{types.Decimal, types.Float, types.Double, types.JSON, types.JSONB}, c.Typ)
	})
}

// havingToWhere moves conditions of HAVING on grouped expressions to the WHERE.
func (b *block) havingToWhere() {
	if b.having == nil || b.groups.sets != nil || len(b.groups.by) == 0 || b.q.env.Options.NoRules {
		return
	}
	var stays []expr.Expr
	ofGroup := func(c expr.Expr) bool {
		after, err := b.groups.after(c)
		return err == nil && exact(c) && len(expr.Columns(c)) > 0 && within(c, 0, groupingMark) && within(after, 0, len(b.groups.by))
	}
	for _, c := range expr.Conjuncts(b.having) {
		if !ofGroup(c) {
			stays = append(stays, c)
			if c = implied(c, ofGroup); c == nil {
				continue
			}
		}
		b.conds = append(b.conds, expr.Conjuncts(expr.Fold(c, b.q.env.Loc))...)
	}
	b.having = nil
	if len(stays) > 0 {
		b.having = expr.Conjunction(stays)
	}
}

// implied returns a condition that follows from e, an OR: it keeps in each term only the conditions for which the
// function of returns true. It returns nil if e is no OR, or if a term has no such condition.
//
//	(host = 'a' AND count(*) > 5) OR (host = 'b' AND max(v) > 1), of grouped columns      host = 'a' OR host = 'b'
func implied(e expr.Expr, of func(expr.Expr) bool) expr.Expr {
	or, ok := e.(*expr.Or)
	if !ok {
		return nil
	}
	out := &expr.Or{}
	for _, t := range or.Terms {
		all := slices.DeleteFunc(slices.Clone(expr.Conjuncts(t)), func(c expr.Expr) bool { return !of(c) })
		if len(all) == 0 {
			return nil
		}
		out.Terms = append(out.Terms, expr.Conjunction(all))
	}
	return out
}

// narrowQuery takes over those conditions of n that can be checked on the rows of b's tables.
func (b *block) narrowQuery(n *narrowing) {
	if n == nil || b.grouped && b.groups.sets != nil {
		return
	}
	n.of = b
	inside := func(c expr.Expr) (over expr.Expr, ok bool) {
		ok = exact(c) && len(expr.Columns(c)) > 0
		over = expr.MapColumns(c, func(col *expr.Column) expr.Expr {
			if col.Index >= len(b.outs) || !b.keeps(&b.outs[col.Index]) {
				ok = false
				return col
			}
			out := b.outs[col.Index].expr
			if out.Type() != col.Typ {
				out = &expr.Cast{Pos: col.Pos, X: out, Typ: col.Typ}
			}
			return out
		})
		return over, ok
	}
	for i, c := range n.conds {
		n.helps = b.numbered(c) || n.helps
		if n.done[i] = b.narrowed(inside(c)); !n.done[i] {
			if c = implied(c, func(c expr.Expr) bool { _, ok := inside(c); return ok }); c != nil {
				n.helps = b.narrowed(inside(c)) || n.helps
			}
		}
	}
}

// narrowed adds c to the WHERE if ok is true, and returns ok.
func (b *block) narrowed(c expr.Expr, ok bool) bool {
	if ok {
		b.conds = append(b.conds, expr.Conjuncts(expr.Fold(c, b.q.env.Loc))...)
	}
	return ok
}

// keeps reports whether o, which is computed from a row, has the same value in all rows that b's groups, windows and
// DISTINCT ON combine.
func (b *block) keeps(o *output) bool {
	if o.written != nil && !b.q.rowwise(o.written) || !within(o.expr, 0, groupingMark) || !exact(o.expr) {
		return false
	}
	if b.grouped && !has(b.groups.by, o.expr) || b.on != nil && !has(b.on, o.expr) {
		return false
	}
	return !slices.ContainsFunc(b.wins.calls, func(c windowCall) bool { return !has(c.partition, o.expr) })
}

// narrower sets src.again and src.first, which plan s, the query of src, a second time with additional conditions on
// its columns. subs are the sub-queries of the first plan; the second plan has its own.
func (q *query) narrower(src *source, subs []*plan.Subplan, s *parser.Select) {
	around := q.inside()
	around.few, around.joins = q.few, q.joins
	if q.env.Options.NoRules || len(q.steps) > 0 || q.narrowed >= maxNarrowed {
		return
	}
	src.again = func(q *query, conds []expr.Expr) (plan.Node, []expr.Expr, error) {
		return src.first(q, conds, accessOrder{})
	}
	src.first = func(q *query, conds []expr.Expr, want accessOrder) (plan.Node, []expr.Expr, error) {
		in := *around
		in.plan, in.narrowed = &plan.Plan{}, around.narrowed+1
		n := &narrowing{conds: conds, done: make([]bool, len(conds)), limit: want.limit}
		in.narrow = n
		for _, t := range want.by {
			c, ok := t.Expr.(*expr.Column)
			if !ok {
				return nil, conds, nil
			}
			n.by = append(n.by, parser.OrderTerm{Expr: &parser.Literal{Pos: c.Pos, Kind: parser.NumberLiteral, Text: strconv.Itoa(c.Index + 1)}, Desc: t.Desc, NullsFirst: &t.NullsFirst})
		}
		node, _, err := in.selectStmt(s)
		if err != nil || want.limit.Set && (!n.topped || slices.Contains(n.done, false)) || !want.limit.Set && !slices.Contains(n.done, true) && !n.helps {
			return nil, conds, err
		}
		q.plan.Subplans = slices.DeleteFunc(slices.Clone(q.plan.Subplans), func(s *plan.Subplan) bool { return slices.Contains(subs, s) })
		q.needs(in.plan.Subplans...)
		var rest []expr.Expr
		for i, c := range conds {
			if !n.done[i] {
				rest = append(rest, c)
			}
		}
		return node, rest, nil
	}
}

// reduceOuter turns outer joins into inner ones if conds drop their unmatched rows, and adds their conditions to conds.
func (q *query) reduceOuter(f *from, conds []expr.Expr) (*from, []expr.Expr) {
	if !slices.Contains(f.outer, true) || q.env.Options.NoRules {
		return f, conds
	}
	g := *f
	g.outer, g.on, g.swapped = slices.Clone(f.outer), slices.Clone(f.on), slices.Clone(f.swapped)
	conds = slices.Clip(conds)
	for again := true; again; {
		again = false
		for i, s := range g.srcs {
			if !g.outer[i] || !slices.ContainsFunc(conds, func(c expr.Expr) bool { return q.dropsMissing(c, s) }) {
				continue
			}
			if !isAlways(g.on[i]) {
				conds = append(conds, expr.Conjuncts(g.on[i])...)
			}
			g.outer[i], g.on[i], g.swapped[i], again = false, nil, false, true
		}
	}
	return &g, conds
}

// dropsMissing reports whether c is not true if all columns of s are NULL.
func (q *query) dropsMissing(c expr.Expr, s *source) bool {
	found, ok := false, true
	missing := expr.Map(c, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Subquery:
			ok = false
		case *expr.Column:
			if x.Index >= s.offset && x.Index < s.offset+s.width() {
				found = true
				return &expr.Const{Pos: x.Pos, Typ: x.Typ}
			}
		}
		return x
	})
	return found && ok && isNever(expr.Fold(missing, q.env.Loc))
}
