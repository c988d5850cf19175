package planner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/access"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Select plans a query.
func (e *Env) Select(s *parser.Select) (*plan.Plan, error) {
	return sample(func(i int) (*plan.Plan, error) {
		return (&query{env: e, plan: &plan.Plan{}, sample: i, views: &views{text: []parser.Node{s}}}).finish(s)
	}, func(p *plan.Plan) bool { return e.Subqueries == nil && len(p.Subplans) > 0 })
}

// finish plans s, the whole query of q.
func (q *query) finish(s *parser.Select) (*plan.Plan, error) {
	q.top = q.plan
	node, cols, err := q.selectStmt(s)
	if err != nil {
		return nil, err
	}
	q.plan.Root, q.plan.Columns, q.plan.FullScanAllowed = node, cols, s.AllowFullScan
	return dropUnread(q.plan), nil
}

// Where plans the reads of UPDATE and DELETE: the rows of t for which where is true (nil: all rows), with all columns.
// values are the new values of UPDATE, compiled for these rows. alias, if not empty, replaces the table's name.
func (e *Env) Where(t *catalog.Table, alias string, where parser.Expr, values []parser.Expr) (_ *plan.Plan, _ []expr.Expr, err error) {
	defer fail.Catch(&err)
	q := &query{env: e, plan: &plan.Plan{}, views: &views{}}
	for _, x := range append(slices.Clip(values), where) {
		q.views.text = append(q.views.text, x)
	}
	src, f := q.tableSource(t, cmp.Or(alias, t.Name)), &from{}
	f.add(src)
	scope := q.scope(f.srcs)
	req := &access.Request{Table: t, Alias: src.name, Needed: slices.Repeat([]bool{true}, src.width())}
	var semis []*semi
	if where != nil {
		cond := fail.Must(expr.CompileCondition(where, scope))
		semis, req.Conjuncts = fail.Must2(q.semis(f, expr.Conjuncts(expr.Fold(cond, q.env.Loc)), false))
	}
	exprs := fail.Must(expr.CompileAll(values, scope))
	scan := fail.Must(e.access(req))
	if scan.Layout.Kind != catalog.Primary && !stays(scan) {
		req.Layout = t.Layouts[0].Name
		scan = fail.Must(e.access(req))
	}
	q.plan.Columns = src.cols[:len(t.Columns)]
	q.plan.Root, _, err = semiJoined(scan, semis)
	return q.plan, exprs, err
}

// stays reports whether the entry that s reads for a row keeps its key as long as the row matches. Otherwise a concurrent
// statement that changes the row may move the entry within a range, past the reader.
func stays(s *plan.Scan) bool {
	return len(s.Spans) < 2 && !slices.ContainsFunc(s.Key, func(u plan.PartUse) bool {
		return u.Part.Literal == nil && u.Use != plan.Bound && slices.ContainsFunc(u.Part.Columns, func(c int) bool { return !s.Table.Columns[c].KeyPart })
	})
}

// Returning compiles the RETURNING clause for the rows of t that a statement writes: t's columns, _key and _ts. needed
// marks the columns that it reads. others are the references to columns of tables that the statement joins with t.
func (e *Env) Returning(t *catalog.Table, alias string, items []parser.SelectItem, others map[*parser.ColumnRef]*expr.Column) (cols []plan.OutputColumn, exprs []expr.Expr, needed []bool, err error) {
	defer fail.Catch(&err)
	q := &query{env: e, plan: &plan.Plan{}}
	f := &from{}
	f.star = f.add(q.tableSource(t, cmp.Or(alias, t.Name)))
	scope := q.scope(f.srcs)
	own := scope.Column
	scope.Column = func(ref *parser.ColumnRef) (expr.Expr, error) {
		if c := others[ref]; c != nil {
			return c, nil
		}
		return own(ref)
	}
	scope.Subquery = func(_ *parser.Select, use expr.Subquery) (expr.Expr, error) {
		return nil, parser.Errorf(use.Pos, "RETURNING takes no sub-query").WithHint("a SELECT behind the statement can have it")
	}
	outs := q.items(&parser.SelectCore{Items: items}, f, scope)
	needed = make([]bool, f.width())
	for _, o := range outs {
		cols, exprs = append(cols, o.column()), append(exprs, o.expr)
	}
	mark(needed, exprs...)
	return cols, exprs, needed, nil
}

// query is the state of planning one query.
type query struct {
	env   *Env
	ctes  []*with
	steps []step     // those of ctes that are being repeated
	level int        // number of enclosing queries with rows of their own: queries in expressions, and LATERAL
	plan  *plan.Plan // collects the plan's properties
	top   *plan.Plan // the plan of the whole query: the statement's or a sub-query's
	depth int
	// pieces is set if the statement will be read in pieces. layout, if not "", is the layout that the pieces must
	// read, because an earlier plan of the statement chose it.
	pieces    bool
	layout    string
	estimates *estimate.Estimator // nil: not needed yet
	pull      pulling             // for the FROM that is being planned
	views     *views              // the statement's views
	reading   []string            // the views that are being planned, each nested in the previous one
	// few is set if the caller may need only some of the rows, cut if it may need only the first rows in some order.
	few, cut bool
	// sample is the index of the values made up for sub-queries that are not run.
	sample int
	// outer resolves a column of the queries around a sub-query; nil without an error if they have no such column.
	outer func(ref *parser.ColumnRef) (expr.Expr, error)
	// depends, if not nil, is called when q reads a WITH query, defined at a level, that depends on the rows of a query
	// around it. All queries from q out to this level then depend on these rows, too.
	depends func(level int)
	// enclosing is set in a join that is read for each row of the previous items: it resolves these items' columns for the
	// join's LATERAL items.
	enclosing func(ref *parser.ColumnRef) (expr.Expr, error)
	// where is the WHERE of the block that is being compiled, and rows its scope.
	where parser.Expr
	rows  *expr.Scope
	// assigned is the last query whose row is assigned to several columns.
	assigned *expr.Subquery
	fixed    map[int]fixedTo // the result of fix; nil until a sub-query needs it
	// joins is set in the query of a semi-join: then outer returns columns of the join instead of values.
	joins bool
	// narrow holds conditions on the rows of the next query to be planned; narrowed is the number of such queries around
	// q.
	narrow   *narrowing
	narrowed int
	// certain is set while the right side of a join is added whose rows are all kept, and which may be computed.
	certain bool
	// barred are sources to which LATERAL items must not refer: see addBarred.
	barred []*source
	// resolved is called for each column in an aggregate that is being compiled; own reports whether the column belongs to
	// q.
	resolved func(own bool)
}

// inside returns a query that can refer to the same names as q.
func (q *query) inside() *query {
	return &query{env: q.env, ctes: slices.Clip(q.ctes), steps: slices.Clip(q.steps), level: q.level, depth: q.depth, plan: q.plan, top: q.top, outer: q.outer, depends: q.depends,
		views: q.views, reading: q.reading, pieces: q.pieces, layout: q.layout, sample: q.sample, narrowed: q.narrowed}
}

// apart returns q.inside with a plan of its own, whose sub-queries do not become those of q.plan.
func (q *query) apart() *query {
	in := q.inside()
	in.plan = &plan.Plan{}
	return in
}

// maxNesting bounds the nesting of queries in the text.
const maxNesting = 32

func (q *query) selectStmt(s *parser.Select) (_ plan.Node, _ []plan.OutputColumn, err error) {
	defer fail.Catch(&err)
	narrow := q.narrow
	q.narrow, s = nil, narrow.first(s)
	if q.depth++; q.depth > maxNesting {
		return nil, nil, parser.Errorf(s.Pos, "more than %d queries inside one another", maxNesting)
	}
	defer func(ctes []*with) { q.ctes = ctes; q.depth-- }(q.ctes)
	if q.env.Stop != nil {
		fail.On(q.env.Stop())
	}
	q.with(s)
	limit := fail.Must(q.count(s.Limit, "LIMIT"))
	skip := fail.Must(q.count(s.Offset, "OFFSET"))
	if s.Ties && len(s.OrderBy) == 0 {
		return nil, nil, parser.Errorf(s.Limit.Position(), "WITH TIES needs an ORDER BY clause")
	}
	if k, ok := s.Limit.(*parser.Literal); s.Ties && ok && k.Kind == parser.NullLiteral {
		return nil, nil, parser.Errorf(k.Pos, "WITH TIES takes a number of rows, not NULL")
	}
	cut := bounds{limit, skip.Rows, s.Ties && limit.Set}
	defer func(few, cut bool) { q.few, q.cut = few, cut }(q.few, q.cut)
	q.few, q.cut = q.few || limit.Set && len(s.OrderBy) == 0, q.cut || limit.Set
	if cut.any() {
		narrow = nil
	}
	if narrow != nil {
		cut.limit = narrow.limit
	}
	if len(s.Cores) == 1 {
		node, cols := q.core(s.Cores[0], s.OrderBy, cut, narrow)
		return node, cols, nil
	}
	node, cols := q.sets(s, cut.enough(), narrow)
	return sorted(node, cols, s.OrderBy, cut, string(s.Sets[0].Op)), cols, nil
}

// count evaluates a LIMIT or OFFSET; what is its name in errors.
func (q *query) count(e parser.Expr, what string) (n plan.RowLimit, err error) {
	if e == nil {
		return n, nil
	}
	known := len(q.plan.Subplans)
	x, err := expr.Compile(e, q.scope(nil))
	if err == nil {
		x, err = expr.Place(x, types.BigInt, q.scope(nil))
	}
	if err != nil {
		return n, err
	}
	if slices.ContainsFunc(q.plan.Subplans[known:], func(s *plan.Subplan) bool { return s.Closed }) {
		switch {
		case q.env.MadeUp:
			return plan.AtMost(madeUpOffset), nil
		case q.env.Subqueries != nil: // the query is planned again with the values
			return n, nil
		}
	}
	if s, ok := x.(*expr.Subquery); ok && s.Failed != nil {
		return n, s.Failed
	}
	k, ok := x.(*expr.Const)
	if ok && k.Val.Type().IsNumeric() { // as in PostgreSQL, a fraction is rounded
		v, err := types.Cast(k.Val, types.BigInt, nil)
		if err != nil {
			return n, parser.Errorf(e.Position(), "%s: %v", what, err)
		}
		k = &expr.Const{Pos: k.Pos, Val: v}
	}
	if !ok || !k.Val.IsNull() && !k.Val.Type().IsInteger() {
		return n, parser.Errorf(e.Position(), "%s takes a whole number", what)
	}
	if k.Val.IsNull() {
		return n, nil
	}
	if rows := k.Val.Int(); rows >= 0 {
		return plan.AtMost(min(rows, 1<<62-1)), nil // so that the sum of LIMIT and OFFSET does not overflow
	}
	return n, parser.Errorf(e.Position(), "%s must not be negative", what)
}

// core plans SELECT ... FROM ... with the statement's ORDER BY, LIMIT and OFFSET.
func (q *query) core(c *parser.SelectCore, orderBy []parser.OrderTerm, cut bounds, narrow *narrowing) (plan.Node, []plan.OutputColumn) {
	if c.Values != nil {
		return q.values(c, orderBy, cut)
	}
	if c.Query != nil {
		if !cut.any() {
			q.narrow = narrow
		}
		node, cols := fail.Must2(q.selectStmt(c.Query))
		return sorted(node, cols, orderBy, cut, "a query in parentheses"), cols
	}
	b := fail.Must(q.block(c, orderBy, narrow))
	var node plan.Node
	if len(b.semis) == 0 {
		node = fail.Must(q.extremes(c, b.from, b.groups.by, b.aggs.calls, b.conds, b.used, b.hints))
	}
	ordered, inOrder := false, false
	if node == nil {
		rows := cut.enough()
		if b.several() {
			rows = plan.RowLimit{}
		}
		node, ordered, inOrder = b.read(rows)
		if b.grouped {
			node = b.groups.over(node, ordered)
		}
	}
	if b.grouped {
		ordered = inOrder
		fail.On(b.afterGrouping())
		if b.having != nil {
			node = &plan.Filter{Input: node, Cond: b.having}
		}
	}
	if len(b.wins.calls) > 0 {
		node = b.window(node, ordered)
		ordered = false
	}
	return b.output(node, ordered, cut, len(orderBy) > 0)
}

// block is a compiled SELECT ... FROM ... WHERE ... GROUP BY ... HAVING with its ORDER BY. Its expressions are first over
// the joined row of its tables, then over the groups' rows, then over these with the values of window functions.
type block struct {
	q       *query
	core    *parser.SelectCore
	from    *from
	aggs    *aggregates
	wins    *windows
	outs    []output
	conds   []expr.Expr     // of the WHERE and of inner joins
	semis   []*semi         // conditions of the WHERE that became joins
	on      []expr.Expr     // of DISTINCT ON; nil if there is none
	terms   []plan.SortTerm // of ORDER BY, beginning with those of DISTINCT ON
	first   int             // number of rows wanted of each window partition; 0: all
	sorted  int             // number of leading terms by which the rows are sorted, if that is not all
	having  expr.Expr       // nil: none
	grouped bool
	groups  *grouping // without expressions if grouped is false
	used    []bool    // by column of the joined row: it is read above the tables
	hints   hints
}

// block compiles c.
func (q *query) block(c *parser.SelectCore, orderBy []parser.OrderTerm, narrow *narrowing) (_ *block, err error) {
	defer fail.Catch(&err)
	pull, subplans := q.pull, q.plan.Subplans
	if q.pull = pullAny; slices.ContainsFunc(c.GroupBy, isSets) {
		q.pull = pullPlain
	}
	certain := q.certain
	q.certain = q.pull == pullAny
	f, err := q.from(c.From, c.Items)
	if q.pull, q.certain = pull, certain; err != nil {
		return nil, err
	}
	rows := q.scope(f.srcs)
	aggs := &aggregates{q: q, rows: rows, srcs: f.srcs}
	b := &block{q: q, core: c, from: f, aggs: aggs, wins: &windows{aggs: aggs, named: c.Windows}, groups: &grouping{aggs: aggs}}
	scope := b.wins.scope()
	scope.Sets = true
	q.where, q.rows = c.Where, rows
	defer func() { q.where, q.rows, q.fixed = nil, nil, nil }()
	b.outs = q.items(c, f, scope)
	scope.Sets = false
	b.conds = slices.Clone(f.conds)
	if c.Where != nil {
		w := fail.Must(expr.CompileCondition(c.Where, rows))
		b.conds = append(b.conds, expr.Conjuncts(expr.Fold(w, q.env.Loc))...)
	}
	b.terms = q.orderTerms("ORDER BY", orderBy, b.outs, scope)
	b.wins.check()
	if c.On != nil {
		b.on = q.distinctOn(c.On, b.outs, b.terms, scope)
		b.terms = onFirst(b.on, b.terms)
	}
	if c.Having != nil {
		b.having = fail.Must(expr.CompileCondition(c.Having, aggs.scope()))
	}
	if b.grouped = len(c.GroupBy) > 0 || len(aggs.calls) > 0 || len(aggs.marks) > 0 || b.having != nil; b.grouped {
		if slices.ContainsFunc(f.srcs, func(s *source) bool { return s.step }) {
			return nil, parser.Errorf(c.Pos, "the last part of a recursive query must not have groups or aggregates")
		}
		if b.groups, err = fail.Try(func() *grouping { return q.grouping(c, b.outs, aggs) }); err != nil {
			if of, ok := errors.AsType[groupedSet](err); ok {
				if c := of.inFrom(c, b.outs); c != nil {
					q.plan.Subplans = subplans
					return q.block(c, orderBy, narrow)
				}
			}
			return nil, err
		}
		if b.groups.sets == nil {
			b.aboveGroups(func(e *expr.Expr) { *e = b.groups.determined(*e) })
		}
	}
	b.havingToWhere()
	b.narrowQuery(narrow)
	b.keepsAll()
	all := func(a plan.AggCall) bool { return !a.Func.OneRow() } // otherwise one row of a group may suffice
	whole := !q.cut && !c.Distinct && c.On == nil && (!b.grouped || slices.ContainsFunc(b.aggs.calls, all))
	b.semis, b.conds = fail.Must2(q.semis(f, b.conds, whole))
	b.used = b.usage()
	b.hints, err = readHints(c.Hints)
	return b, err
}

// usage marks the columns of the joined row that are read above the tables.
func (b *block) usage() []bool {
	used := make([]bool, b.from.width())
	b.aboveGroups(func(e *expr.Expr) { mark(used, *e) })
	for _, m := range b.semis {
		m.markLeft(used)
	}
	if len(b.from.srcs) > 1 {
		mark(used, b.conds...)
		for _, x := range b.from.on {
			if x != nil {
				mark(used, x)
			}
		}
		for _, s := range b.from.srcs {
			mark(used, s.of...)
		}
	}
	mark(used, b.groups.by...)
	for _, a := range b.aggs.calls {
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
	return used
}

// afterGrouping rewrites expressions over the tables' rows to expressions over the groups' rows.
func (b *block) afterGrouping() (err error) {
	b.aboveGroups(func(e *expr.Expr) {
		if err == nil {
			*e, err = b.groups.after(*e)
		}
	})
	return err
}

// aboveGroups calls f with the expressions that are computed from the groups' rows, or from the tables' rows if there are no groups.
func (b *block) aboveGroups(f func(e *expr.Expr)) {
	for i := range b.outs {
		f(&b.outs[i].expr)
	}
	for i := range b.terms {
		f(&b.terms[i].Expr)
	}
	if b.having != nil {
		f(&b.having)
	}
	b.wins.exprs(f)
}

// window computes the window functions for node's rows. ordered reports that the rows are in the order that read
// requested.
func (b *block) window(node plan.Node, ordered bool) plan.Node {
	node, at := b.wins.over(node, ordered)
	for i := range b.outs {
		b.outs[i].expr = placed(b.outs[i].expr, at)
	}
	for i := range b.terms {
		b.terms[i].Expr = placed(b.terms[i].Expr, at)
	}
	return node
}

func (q *query) values(c *parser.SelectCore, orderBy []parser.OrderTerm, cut bounds) (plan.Node, []plan.OutputColumn) {
	v := &plan.Values{N: len(c.Values[0])}
	cols := make([]plan.OutputColumn, v.N)
	for _, r := range c.Values {
		if len(r) != v.N {
			panic(fail.With(parser.Errorf(c.Pos, "each row of VALUES must have %d values, not %d", v.N, len(r))))
		}
		row := make([]expr.Expr, v.N)
		for i, x := range r {
			e := fail.Must(expr.Compile(x, q.scope(nil)))
			row[i] = e
		}
		v.Rows = append(v.Rows, row)
	}
	column := make([]expr.Expr, len(v.Rows))
	for i := range cols {
		for k := range v.Rows {
			column[k] = v.Rows[k][i]
		}
		same, t := fail.Must2(expr.Common(column, q.scope(nil), c.Pos))
		for k := range v.Rows {
			v.Rows[k][i] = same[k]
		}
		cols[i] = plan.OutputColumn{Name: fmt.Sprintf("column%d", i+1), Type: t, Limit: expr.DeclaredLimit(t, same...)}
	}
	return sorted(v, cols, orderBy, cut, "VALUES"), cols
}

// sorted sorts n by its own columns and cuts it.
func sorted(n plan.Node, cols []plan.OutputColumn, orderBy []parser.OrderTerm, cut bounds, what string) plan.Node {
	if len(orderBy) == 0 {
		return cut.of(n, nil)
	}
	var by []plan.SortTerm
	for _, t := range orderBy {
		i, ok := outputIndex(t.Expr, cols)
		if !ok {
			panic(fail.With(parser.Errorf(t.Expr.Position(), "ORDER BY over %s takes the names or numbers of result columns", what)))
		}
		by = append(by, sortTerms(t, &expr.Column{Index: i, Name: cols[i].Name, Typ: cols[i].Type})...)
	}
	return cut.of(&plan.Sort{Input: n, By: by, Limit: cut.enough()}, by)
}

func mark(used []bool, es ...expr.Expr) {
	for _, e := range es {
		expr.SomeColumn(e, func(c int) bool {
			if c < len(used) {
				used[c] = true
			}
			return false
		})
	}
}
