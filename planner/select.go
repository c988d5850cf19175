package planner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Select plans a query.
func (e *Env) Select(s *parser.Select) (*plan.Plan, error) {
	return sample(func(i int) (*plan.Plan, error) {
		return (&query{env: e, plan: &plan.Plan{}, sample: i}).finish(s)
	}, func(p *plan.Plan) bool { return e.Subqueries == nil && len(p.Subplans) > 0 })
}

// finish plans s as q's whole statement.
func (q *query) finish(s *parser.Select) (*plan.Plan, error) {
	node, cols, err := q.selectStmt(s)
	if err != nil {
		return nil, err
	}
	q.plan.Root, q.plan.Columns, q.plan.FullScanAllowed = node, cols, s.AllowFullScan || plainLimit(s) && q.readsFew(s, node) || q.fewRows
	return q.plan, nil
}

// readsFew reports whether s, a plainLimit, is of a table, or of a query that takes all of a table's rows.
func (q *query) readsFew(s *parser.Select, n plan.Node) bool {
	t := s.Cores[0].From[0]
	if isTable(t, q.env.Catalog) && cteIndex(s.With, t.(*parser.TableName).Name) < 0 {
		return true
	}
	return !slices.ContainsFunc(plan.Scans(n), func(s *plan.Scan) bool { return !s.Limit.Set || len(s.Fates) > 0 })
}

// plainLimit tells SELECT ... FROM t LIMIT n: it reads few rows whatever the table.
func plainLimit(s *parser.Select) bool {
	if s.Limit == nil || len(s.OrderBy) > 0 || len(s.Cores) != 1 {
		return false
	}
	c := s.Cores[0]
	if c.Where != nil || len(c.GroupBy) > 0 || c.Having != nil || c.Distinct || len(c.On) > 0 || len(c.From) != 1 {
		return false
	}
	if _, ok := c.From[0].(*parser.TableName); !ok {
		return false
	}
	for _, it := range c.Items {
		if it.Expr != nil && hasAggregate(it.Expr) {
			return false
		}
	}
	return true
}

// Where plans the reading side of UPDATE and DELETE: the rows of t for which where is true (nil: all),
// every column read. values are compiled over these rows: what UPDATE sets. alias, where it is not empty,
// stands for the table's name.
func (e *Env) Where(t *catalog.Table, alias string, where parser.Expr, values []parser.Expr) (*plan.Plan, []expr.Expr, error) {
	q := &query{env: e, plan: &plan.Plan{}}
	src := q.tableSource(t, cmp.Or(alias, t.Name))
	scope := q.scope([]*source{src})
	req := &access.Request{Table: t, Alias: src.name, Needed: make([]bool, src.width())}
	for i := range req.Needed {
		req.Needed[i] = true
	}
	if where != nil {
		cond, err := expr.CompileCondition(where, scope)
		if err != nil {
			return nil, nil, err
		}
		req.Conjuncts = expr.Conjuncts(expr.Fold(cond, q.env.Loc))
	}
	exprs := make([]expr.Expr, len(values))
	for i, v := range values {
		var err error
		if exprs[i], err = expr.Compile(v, scope); err != nil {
			return nil, nil, err
		}
	}
	scan, err := e.access(req)
	if err != nil {
		return nil, nil, err
	}
	q.plan.Root, q.plan.Columns = scan, src.cols[:len(src.cols)-src.hidden]
	return q.plan, exprs, nil
}

// Returning compiles what a statement gives of the rows of t that it writes, over these: t's columns, _key and _ts. needed tells which of
// them it reads.
func (e *Env) Returning(t *catalog.Table, alias string, items []parser.SelectItem) (cols []plan.OutputColumn, exprs []expr.Expr, needed []bool, err error) {
	q := &query{env: e, plan: &plan.Plan{}}
	f := &from{}
	f.star = f.add(q.tableSource(t, cmp.Or(alias, t.Name)))
	scope := q.scope(f.srcs)
	scope.Subquery = func(_ *parser.Select, pos parser.Pos, _ bool, _ expr.Expr, _ bool) (expr.Expr, error) {
		return nil, parser.Errorf(pos, "RETURNING takes no sub-query").WithHint("a SELECT behind the statement can have it")
	}
	outs, err := q.items(&parser.SelectCore{Items: items}, f, scope)
	if err != nil {
		return nil, nil, nil, err
	}
	needed = make([]bool, f.width())
	for _, o := range outs {
		cols, exprs = append(cols, plan.OutputColumn{Name: o.name, Type: o.expr.Type()}), append(exprs, o.expr)
	}
	mark(needed, exprs...)
	return cols, exprs, needed, nil
}

// query plans one statement.
type query struct {
	env   *Env
	ctes  []parser.CTE
	plan  *plan.Plan // what is found on the way
	depth int
	// fewRows is set when the whole statement reads a row or two, whatever the table.
	fewRows bool
	// pieces is set when a part of the statement's rows may be all that is read; layout, where it is not "", is what is read of a table then.
	pieces    bool
	layout    string
	estimates *estimate.Estimator // of its steps; nil: none were wanted yet
	pull      pulling             // of the FROM that is being read
	views     []string            // that are being read, one in the other
	// few is set where some rows of what is planned may suffice.
	few bool
	// sample numbers the value made up for sub-queries that are not run.
	sample int
	// outer resolves a column of the queries around a sub-query: nil without an error when they have none such.
	outer func(ref *parser.ColumnRef) (expr.Expr, error)
	// resolved, while an aggregate is compiled, is told whether a column that stands in it is q's own.
	resolved func(own bool)
}

// maxNesting bounds queries inside queries.
const maxNesting = 32

func (q *query) selectStmt(s *parser.Select) (plan.Node, []plan.OutputColumn, error) {
	if q.depth++; q.depth > maxNesting {
		return nil, nil, parser.Errorf(s.Pos, "more than %d queries inside one another", maxNesting)
	}
	defer func(n int) { q.ctes = q.ctes[:n]; q.depth-- }(len(q.ctes))
	q.ctes = append(q.ctes, s.With...)
	limit, err := q.count(s.Limit, "LIMIT")
	if err != nil {
		return nil, nil, err
	}
	skip, err := q.count(s.Offset, "OFFSET")
	if err != nil {
		return nil, nil, err
	}
	offset := skip.Rows
	defer func(few bool) { q.few = few }(q.few)
	q.few = q.few || limit.Set && len(s.OrderBy) == 0
	if len(s.Cores) == 1 {
		return q.core(s.Cores[0], s.OrderBy, limit, offset)
	}
	node, cols, err := q.sets(s)
	if err != nil {
		return nil, nil, err
	}
	node, err = sorted(node, cols, s.OrderBy, limit.Behind(offset), s.Sets[0].Op)
	return cut(node, limit, offset), cols, err
}

func cut(n plan.Node, limit plan.RowLimit, offset int64) plan.Node {
	if !limit.Set && offset == 0 {
		return n
	}
	return &plan.Limit{Input: n, Offset: offset, Count: limit}
}

// count evaluates LIMIT or OFFSET, as they are called in what.
func (q *query) count(e parser.Expr, what string) (n plan.RowLimit, err error) {
	if e == nil {
		return n, nil
	}
	x, err := expr.Compile(e, q.scope(nil))
	if err != nil {
		return n, err
	}
	k, ok := x.(*expr.Const)
	if ok && k.Typ == types.String { // as every text constant it has the type that its place wants
		if v, err := types.Cast(k.Val, types.BigInt, nil); err == nil {
			k = &expr.Const{Pos: k.Pos, Val: v, Typ: v.Type()}
		}
	}
	if !ok || !k.Val.IsNull() && !k.Val.Type().IsInteger() {
		return n, parser.Errorf(e.Position(), "%s takes a whole number", what)
	}
	if k.Val.IsNull() {
		return n, nil
	}
	if rows := k.Val.Int(); rows >= 0 {
		return plan.AtMost(min(rows, 1<<62-1)), nil // so that LIMIT and OFFSET add up
	}
	return n, parser.Errorf(e.Position(), "%s must not be negative", what)
}

// core plans SELECT ... FROM ... with the statement's order and cut.
func (q *query) core(c *parser.SelectCore, orderBy []parser.OrderTerm, limit plan.RowLimit, offset int64) (plan.Node, []plan.OutputColumn, error) {
	if c.Values != nil {
		return q.values(c, orderBy, limit, offset)
	}
	if c.Query != nil {
		node, cols, err := q.selectStmt(c.Query)
		if err != nil {
			return nil, nil, err
		}
		node, err = sorted(node, cols, orderBy, limit.Behind(offset), "a query in parentheses")
		return cut(node, limit, offset), cols, err
	}
	pull := q.pull
	q.pull = pullAny
	f, err := q.from(c.From)
	if q.pull = pull; err != nil {
		return nil, nil, err
	}
	aggs := &aggregates{q: q, srcs: f.srcs}
	wins := &windows{aggs: aggs, named: c.Windows}
	scope := wins.scope()
	outs, err := q.items(c, f, scope)
	if err != nil {
		return nil, nil, err
	}
	var conds []expr.Expr
	if c.Where != nil {
		w, err := expr.CompileCondition(c.Where, q.scope(f.srcs))
		if err != nil {
			return nil, nil, err
		}
		conds = expr.Conjuncts(expr.Fold(w, q.env.Loc))
	}
	conds = append(slices.Clone(f.conds), conds...)
	terms, err := q.orderTerms("ORDER BY", orderBy, outs, scope)
	if err != nil {
		return nil, nil, err
	}
	if err := wins.check(); err != nil {
		return nil, nil, err
	}
	var on []expr.Expr
	if c.On != nil {
		if on, err = q.distinctOn(c.On, outs, terms, scope); err != nil {
			return nil, nil, err
		}
		terms = onFirst(on, terms)
	}
	var having expr.Expr
	if c.Having != nil {
		if having, err = expr.CompileCondition(c.Having, aggs.scope()); err != nil {
			return nil, nil, err
		}
	}
	grouped := len(c.GroupBy) > 0 || len(aggs.calls) > 0 || len(aggs.marks) > 0 || having != nil
	used := usage(f.srcs, outs, terms, having, conds, f.on)
	wins.exprs(func(e *expr.Expr) { mark(used, *e) })
	groups := &grouping{aggs: aggs}
	if grouped {
		if groups, err = q.grouping(c, outs, aggs); err != nil {
			return nil, nil, err
		}
		mark(used, groups.by...)
		for _, a := range aggs.calls {
			if a.Arg != nil {
				mark(used, a.Arg)
			}
			mark(used, a.Args...)
			if a.Filter != nil {
				mark(used, a.Filter)
			}
			for _, t := range a.OrderBy {
				mark(used, t.Expr)
			}
		}
	}
	hints, err := readHints(c.Hints)
	if err != nil {
		return nil, nil, err
	}
	plain := !grouped && !c.Distinct && len(wins.calls) == 0
	want := accessOrder{}
	if plain && len(f.srcs) == 1 {
		if want.by = terms; on == nil {
			want.limit = limit.Behind(offset)
		}
	} else if !grouped && len(wins.calls) > 0 && len(f.srcs) == 1 {
		want.by = wins.calls[0].terms()
	} else if grouped && groups.sets == nil && len(groups.by) > 0 && len(f.srcs) == 1 {
		want.by, want.unmerged = groupOrder(groups.by), true
	}
	extremes, err := q.extremes(c, f, groups.by, aggs.calls, conds, used, hints)
	if err != nil {
		return nil, nil, err
	}
	node, ordered := extremes, false
	if extremes == nil {
		if node, ordered, err = q.joined(f, conds, used, want, hints); err != nil {
			return nil, nil, err
		}
		s, ok := node.(*plan.Scan)
		switch {
		case !ok || !grouped && len(wins.calls) > 0:
		case anyOfSame(c, grouped, aggs.calls):
			access.OneOfSame(s, used, groups.by, aggs.calls)
		case on != nil && ordered && !grouped: // the first row of each
			of := make([]bool, len(used))
			mark(of, on...)
			access.OneOfSame(s, of, nil, nil)
		}
	}
	if grouped {
		if extremes == nil {
			node = groups.over(node, ordered)
		}
		ordered = false
		for i := range outs {
			if outs[i].expr, err = groups.after(outs[i].expr); err != nil {
				return nil, nil, err
			}
		}
		for i := range terms {
			if terms[i].Expr, err = groups.after(terms[i].Expr); err != nil {
				return nil, nil, err
			}
		}
		if having != nil {
			if having, err = groups.after(having); err != nil {
				return nil, nil, err
			}
			node = &plan.Filter{Input: node, Cond: having}
		}
	}
	if len(wins.calls) > 0 {
		if grouped {
			wins.exprs(func(e *expr.Expr) {
				if err == nil {
					*e, err = groups.after(*e)
				}
			})
			if err != nil {
				return nil, nil, err
			}
		}
		var at []int
		node, at = wins.over(node, ordered)
		ordered = false
		for i := range outs {
			outs[i].expr = placed(outs[i].expr, at)
		}
		for i := range terms {
			terms[i].Expr = placed(terms[i].Expr, at)
		}
	}
	cols := make([]plan.OutputColumn, len(outs))
	exprs := make([]expr.Expr, len(outs))
	for i, o := range outs {
		cols[i], exprs[i] = plan.OutputColumn{Name: o.name, Type: o.expr.Type()}, o.expr
	}
	if c.Distinct {
		node = &plan.Distinct{Input: &plan.Project{Input: node, Exprs: exprs}}
		for i, t := range terms {
			at := slices.IndexFunc(exprs, func(x expr.Expr) bool { return expr.Same(x, t.Expr) })
			if at < 0 {
				return nil, nil, parser.Errorf(t.Expr.Position(), "ORDER BY of SELECT DISTINCT takes columns of the result")
			}
			terms[i].Expr = &expr.Column{Index: at, Name: cols[at].Name, Typ: cols[at].Type}
		}
		if len(terms) > 0 {
			node = &plan.Sort{Input: node, By: terms, Limit: limit.Behind(offset)}
		}
		return cut(node, limit, offset), cols, nil
	}
	if on != nil {
		if !ordered {
			node = &plan.Sort{Input: node, By: terms}
		}
		for i := range on {
			on[i] = terms[i].Expr // which say the same where the rows are now
		}
		node, ordered = &plan.DistinctOn{Input: node, By: on}, true
	}
	if len(terms) > 0 && !ordered {
		node = &plan.Sort{Input: node, By: terms, Limit: limit.Behind(offset)}
	}
	return &plan.Project{Input: cut(node, limit, offset), Exprs: exprs}, cols, nil
}

func (q *query) values(c *parser.SelectCore, orderBy []parser.OrderTerm, limit plan.RowLimit, offset int64) (plan.Node, []plan.OutputColumn, error) {
	v := &plan.Values{N: len(c.Values[0])}
	cols := make([]plan.OutputColumn, v.N)
	for _, r := range c.Values {
		if len(r) != v.N {
			return nil, nil, parser.Errorf(c.Pos, "each row of VALUES must have %d values, not %d", v.N, len(r))
		}
		row := make([]expr.Expr, v.N)
		for i, x := range r {
			e, err := expr.Compile(x, q.scope(nil))
			if err != nil {
				return nil, nil, err
			}
			row[i] = e
		}
		v.Rows = append(v.Rows, row)
	}
	column := make([]expr.Expr, len(v.Rows))
	for i := range cols {
		for k := range v.Rows {
			column[k] = v.Rows[k][i]
		}
		same, t, err := expr.Common(column, q.scope(nil), c.Pos)
		if err != nil {
			return nil, nil, err
		}
		for k := range v.Rows {
			v.Rows[k][i] = same[k]
		}
		cols[i] = plan.OutputColumn{Name: fmt.Sprintf("column%d", i+1), Type: t}
	}
	node, err := sorted(v, cols, orderBy, limit.Behind(offset), "VALUES")
	return cut(node, limit, offset), cols, err
}

// sorted sorts n by its own columns.
func sorted(n plan.Node, cols []plan.OutputColumn, orderBy []parser.OrderTerm, limit plan.RowLimit, what string) (plan.Node, error) {
	if len(orderBy) == 0 {
		return n, nil
	}
	var by []plan.SortTerm
	for _, t := range orderBy {
		i, ok := outputIndex(t.Expr, cols)
		if !ok {
			return nil, parser.Errorf(t.Expr.Position(), "ORDER BY over %s takes the names or numbers of result columns", what)
		}
		by = append(by, sortTerm(t, &expr.Column{Index: i, Name: cols[i].Name, Typ: cols[i].Type}))
	}
	return &plan.Sort{Input: n, By: by, Limit: limit}, nil
}

// usage tells which columns of the joined row are read above the tables.
func usage(srcs []*source, outs []output, terms []plan.SortTerm, having expr.Expr, conds, on []expr.Expr) []bool {
	n := 0
	if len(srcs) > 0 {
		last := srcs[len(srcs)-1]
		n = last.offset + last.width()
	}
	used := make([]bool, n)
	for _, o := range outs {
		mark(used, o.expr)
	}
	for _, t := range terms {
		mark(used, t.Expr)
	}
	if having != nil {
		mark(used, having)
	}
	if len(srcs) > 1 {
		mark(used, conds...)
		for _, x := range on {
			if x != nil {
				mark(used, x)
			}
		}
	}
	return used
}

func mark(used []bool, es ...expr.Expr) {
	for _, e := range es {
		for _, c := range expr.Columns(e) {
			if c < len(used) {
				used[c] = true
			}
		}
	}
}
