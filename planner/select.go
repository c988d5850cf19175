package planner

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Select plans a query.
func (e *Env) Select(s *parser.Select) (*Plan, error) {
	var first *Plan
	for i := range sampleValues {
		p, err := (&query{env: e, plan: &Plan{}, sample: i}).finish(s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = p
		}
		if e.Subqueries != nil || len(p.Subplans) == 0 {
			break
		}
		if !readsNothing(p) {
			return p, nil
		}
	}
	return first, nil
}

// finish plans s as q's whole statement.
func (q *query) finish(s *parser.Select) (*Plan, error) {
	node, cols, err := q.selectStmt(s)
	if err != nil {
		return nil, err
	}
	q.plan.Root, q.plan.Columns, q.plan.FullScanAllowed = node, cols, s.AllowFullScan || plainLimit(s) || q.fewRows
	return q.plan, nil
}

// plainLimit tells SELECT ... FROM t LIMIT n: it reads few rows whatever the table.
func plainLimit(s *parser.Select) bool {
	if s.Limit == nil || len(s.OrderBy) > 0 || len(s.Cores) != 1 {
		return false
	}
	c := s.Cores[0]
	if c.Where != nil || len(c.GroupBy) > 0 || c.Having != nil || c.Distinct || len(c.From) != 1 {
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
func (e *Env) Where(t *catalog.Table, alias string, where parser.Expr, values []parser.Expr) (*Plan, []expr.Expr, error) {
	q := &query{env: e, plan: &Plan{}}
	src := q.tableSource(t, cmp.Or(alias, t.Name))
	scope := q.scope([]*source{src})
	req := &accessRequest{table: t, alias: src.name, needed: make([]bool, src.width()), limit: -1}
	for i := range req.needed {
		req.needed[i] = true
	}
	if where != nil {
		cond, err := expr.CompileCondition(where, scope)
		if err != nil {
			return nil, nil, err
		}
		req.conjuncts = expr.Conjuncts(expr.Fold(cond, q.env.Loc))
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

// query plans one statement.
type query struct {
	env   *Env
	ctes  []parser.CTE
	plan  *Plan // what is found on the way
	depth int
	// fewRows is set when the whole statement reads a row or two, whatever the table.
	fewRows bool
	// sample numbers the value made up for sub-queries that are not run.
	sample int
	// outer resolves a column of the queries around a sub-query: nil without an error when they have none such.
	outer func(ref *parser.ColumnRef) (expr.Expr, error)
	// resolved, while an aggregate is compiled, is told whether a column that stands in it is q's own.
	resolved func(own bool)
}

// source is what stands in FROM under one name; its columns begin at offset in the joined row. A join
// that is read as a whole is one source of several names.
type source struct {
	name   string
	names  []string // of a join: the name under which each column stands
	merged []bool   // columns that JOIN ... USING has under their table's name only; nil: none
	cols   []OutputColumn
	hidden int // the last columns that * does not show: _key and _ts
	offset int
	table  *catalog.Table // nil for a derived table
	system *parser.SystemTime
	node   Node // of a derived table
}

func (s *source) width() int { return len(s.cols) }

// has tells whether column i is one of those that table (empty: no table) stands for.
func (s *source) has(i int, table string) bool {
	switch {
	case table == "":
		return s.merged == nil || !s.merged[i]
	case s.names != nil:
		return strings.EqualFold(table, s.names[i])
	}
	return strings.EqualFold(table, s.name)
}

func (q *query) tableSource(t *catalog.Table, alias string) *source {
	src := &source{name: alias, table: t, hidden: 2}
	for _, c := range t.Columns {
		src.cols = append(src.cols, OutputColumn{c.Name, c.Type})
	}
	src.cols = append(src.cols, OutputColumn{catalog.KeyColumn, types.Bytes}, OutputColumn{catalog.TimestampColumn, types.Timestamp})
	return src
}

// maxNesting bounds queries inside queries.
const maxNesting = 32

func (q *query) selectStmt(s *parser.Select) (Node, []OutputColumn, error) {
	if q.depth++; q.depth > maxNesting {
		return nil, nil, parser.Errorf(s.Pos, "more than %d queries inside one another", maxNesting)
	}
	defer func(n int) { q.ctes = q.ctes[:n]; q.depth-- }(len(q.ctes))
	q.ctes = append(q.ctes, s.With...)
	limit, err := q.count(s.Limit, "LIMIT", -1)
	if err != nil {
		return nil, nil, err
	}
	offset, err := q.count(s.Offset, "OFFSET", 0)
	if err != nil {
		return nil, nil, err
	}
	if len(s.Cores) == 1 {
		return q.core(s.Cores[0], s.OrderBy, limit, offset)
	}
	node, cols, err := q.sets(s)
	if err != nil {
		return nil, nil, err
	}
	node, err = sorted(node, cols, s.OrderBy, sum(limit, offset), s.Sets[0].Op)
	return cut(node, limit, offset), cols, err
}

// sets plans the cores of s and ties them together, INTERSECT first.
func (q *query) sets(s *parser.Select) (Node, []OutputColumn, error) {
	parts := make([]Node, len(s.Cores))
	var cols []OutputColumn
	lists := make([][]OutputColumn, len(s.Cores))
	for i, c := range s.Cores {
		n, cs, err := q.core(c, nil, -1, 0)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			cols = slices.Clone(cs)
		} else if len(cs) != len(cols) {
			return nil, nil, parser.Errorf(c.Pos, "each part of %s must have %d columns, not %d", s.Sets[i-1].Op, len(cols), len(cs))
		}
		for k := range cols {
			t, ok := expr.Widen(cols[k].Type, cs[k].Type)
			if !ok {
				return nil, nil, parser.Errorf(c.Pos, "column %d is %s here and %s before", k+1, cs[k].Type, cols[k].Type)
			}
			cols[k].Type = t
		}
		parts[i], lists[i] = n, cs
	}
	for i := range parts {
		parts[i] = casted(parts[i], lists[i], cols)
	}
	ops := s.Sets
	left, rest := []Node{parts[0]}, []parser.SetOp{}
	for i, op := range ops {
		if op.Op != "INTERSECT" {
			left, rest = append(left, parts[i+1]), append(rest, op)
			continue
		}
		left[len(left)-1] = distinctUnless(op.All, &SetOp{Left: left[len(left)-1], Right: parts[i+1], All: op.All})
	}
	node := left[0]
	for i, op := range rest {
		if op.Op == "EXCEPT" {
			node = distinctUnless(op.All, &SetOp{Left: node, Right: left[i+1], Except: true, All: op.All})
			continue
		}
		u, ok := node.(*Union)
		if !ok {
			u = &Union{Parts: []Node{node}}
		}
		u.Parts = append(u.Parts, left[i+1])
		node = distinctUnless(op.All, u)
	}
	return node, cols, nil
}

func distinctUnless(all bool, n Node) Node {
	if all {
		return n
	}
	return &Distinct{Input: n}
}

// casted gives the rows of n, whose columns are of the types in from, with those in to.
func casted(n Node, from, to []OutputColumn) Node {
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
	return &Project{Input: n, Exprs: exprs}
}

func sum(limit, offset int64) int64 {
	if limit < 0 {
		return -1
	}
	return limit + offset
}

func cut(n Node, limit, offset int64) Node {
	if limit < 0 && offset == 0 {
		return n
	}
	return &Limit{Input: n, Offset: offset, Count: limit}
}

// count evaluates LIMIT or OFFSET.
func (q *query) count(e parser.Expr, what string, none int64) (int64, error) {
	if e == nil {
		return none, nil
	}
	x, err := expr.Compile(e, q.scope(nil))
	if err != nil {
		return 0, err
	}
	k, ok := x.(*expr.Const)
	if ok && k.Typ == types.String { // as every text constant it has the type that its place wants
		if v, err := types.Cast(k.Val, types.BigInt, nil); err == nil {
			k = &expr.Const{Pos: k.Pos, Val: v, Typ: v.Type()}
		}
	}
	if !ok || !k.Val.IsNull() && !k.Val.Type().IsInteger() {
		return 0, parser.Errorf(e.Position(), "%s takes a whole number", what)
	}
	if k.Val.IsNull() {
		return none, nil
	}
	if n := k.Val.Int(); n >= 0 {
		return min(n, 1<<62-1), nil // so that LIMIT and OFFSET add up
	}
	return 0, parser.Errorf(e.Position(), "%s must not be negative", what)
}

// scope resolves names among sources.
func (q *query) scope(srcs []*source) *expr.Scope {
	e := q.env
	return &expr.Scope{Funcs: e.Funcs, Loc: e.Loc, Now: e.Now,
		Column: func(ref *parser.ColumnRef) (expr.Expr, error) {
			x, err := q.column(ref, srcs)
			if err == nil && x == nil {
				err = unknownColumn(ref, srcs)
			}
			return x, err
		},
		Subquery: func(s *parser.Select, pos parser.Pos, exists bool, x expr.Expr, not bool) (expr.Expr, error) {
			node := expr.Subquery{Pos: pos, Kind: expr.ScalarSubquery, X: x, Not: not}
			if exists {
				node.Kind = expr.ExistsSubquery
			} else if x != nil {
				node.Kind = expr.InSubquery
			}
			return q.subquery(srcs, s, node)
		},
		Param: func(p *parser.Param) (types.Value, error) {
			if p.Name != "" {
				if v, ok := e.Named[p.Name]; ok {
					return v, nil
				}
				return types.Value{}, parser.Errorf(p.Pos, "no argument for @%s", p.Name)
			}
			if p.Index < 1 || p.Index > len(e.Args) {
				return types.Value{}, parser.Errorf(p.Pos, "no argument for parameter %d: %d given", p.Index, len(e.Args))
			}
			return e.Args[p.Index-1], nil
		}}
}

// column finds a column by name among sources, then in the queries around; nil without an error: there is none.
func (q *query) column(ref *parser.ColumnRef, srcs []*source) (expr.Expr, error) {
	found, err := findColumn(ref, srcs)
	if q.resolved != nil {
		q.resolved(found != nil)
	}
	switch {
	case err != nil:
		return nil, err
	case found != nil:
		return found, nil
	case q.outer != nil:
		return q.outer(ref)
	}
	return nil, nil
}

// findColumn finds a column by name among sources; nil when there is none.
func findColumn(ref *parser.ColumnRef, srcs []*source) (*expr.Column, error) {
	var found *expr.Column
	for _, s := range srcs {
		for i, c := range s.cols {
			if !strings.EqualFold(c.Name, ref.Name) || !s.has(i, ref.Table) {
				continue
			}
			if found != nil {
				return nil, parser.Errorf(ref.Pos, "column %q is ambiguous", ref.Name).WithHint("write table.%s", ref.Name)
			}
			found = &expr.Column{Pos: ref.Pos, Index: s.offset + i, Name: c.Name, Typ: c.Type}
		}
	}
	return found, nil
}

// unknownColumn says that ref names nothing, and what is near.
func unknownColumn(ref *parser.ColumnRef, srcs []*source) error {
	if len(srcs) == 0 {
		return parser.Errorf(ref.Pos, "unknown column %q: there is no table here", ref.Name).Of(catalog.ErrUnknownColumn)
	}
	var names []string
	for _, s := range srcs {
		for i, c := range s.cols {
			if s.has(i, ref.Table) {
				names = append(names, c.Name)
			}
		}
	}
	if ref.Table != "" && len(names) == 0 {
		return parser.Errorf(ref.Pos, "unknown table %q", ref.Table).Of(catalog.ErrUnknownTable)
	}
	err := expr.Suggest(parser.Errorf(ref.Pos, "unknown column %q", ref.Name).Of(catalog.ErrUnknownColumn), ref.Name, names)
	family, qualifier, cell := strings.Cut(ref.Name, ":")
	switch {
	case err.Hint != "":
	case cell:
		return err.WithHint("a cell is read by a column of the table's definition: %s BYTES FROM %s:%s", parser.QuoteName(qualifier), parser.QuoteName(family), parser.QuoteQualifier(qualifier))
	case ref.Quoted:
		return err.WithHint("double quotes make a name: the text is %s", types.NewString(ref.Name).SQL())
	}
	return err
}

// named finds a CTE or a table of the catalog.
func (q *query) named(t *parser.TableName) (*source, error) {
	alias := cmp.Or(t.Alias, t.Name)
	for i := len(q.ctes) - 1; i >= 0; i-- {
		if c := q.ctes[i]; strings.EqualFold(c.Name, t.Name) {
			inner := &query{env: q.env, ctes: slices.Clone(q.ctes[:i]), depth: q.depth, plan: q.plan, outer: q.outer} // a CTE sees those before it
			node, cols, err := inner.selectStmt(c.Query)
			if err != nil {
				return nil, err
			}
			cols, err = renamed(cols, c.Columns, c.Name, c.Pos)
			return &source{name: alias, cols: cols, node: node}, err
		}
	}
	table, err := q.env.Catalog.TableAt(t.Name, t.Pos)
	if err != nil {
		return nil, err
	}
	s := q.tableSource(table, alias)
	s.system = t.SystemTime
	return s, nil
}

// renamed gives the columns of the query called alias the names of its column list.
func renamed(cols []OutputColumn, names []string, alias string, pos parser.Pos) ([]OutputColumn, error) {
	if len(names) > len(cols) {
		return nil, parser.Errorf(pos, "%s has %d columns, not %d", alias, len(cols), len(names))
	}
	cols = slices.Clone(cols)
	for i, n := range names {
		cols[i].Name = n
	}
	return cols, nil
}

// output is one column of the result while a core is planned.
type output struct {
	name string
	expr expr.Expr
}

// core plans SELECT ... FROM ... with the statement's order and cut.
func (q *query) core(c *parser.SelectCore, orderBy []parser.OrderTerm, limit, offset int64) (Node, []OutputColumn, error) {
	if c.Values != nil {
		return q.values(c, orderBy, limit, offset)
	}
	if c.Query != nil {
		node, cols, err := q.selectStmt(c.Query)
		if err != nil {
			return nil, nil, err
		}
		node, err = sorted(node, cols, orderBy, sum(limit, offset), "a query in parentheses")
		return cut(node, limit, offset), cols, err
	}
	f, err := q.from(c.From)
	if err != nil {
		return nil, nil, err
	}
	aggs := &aggregates{q: q, srcs: f.srcs}
	scope := aggs.scope()
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
	terms, err := q.orderTerms(orderBy, outs, scope)
	if err != nil {
		return nil, nil, err
	}
	var having expr.Expr
	if c.Having != nil {
		if having, err = expr.CompileCondition(c.Having, scope); err != nil {
			return nil, nil, err
		}
	}
	grouped := len(c.GroupBy) > 0 || len(aggs.calls) > 0 || having != nil
	used := usage(f.srcs, outs, terms, having, conds, f.on)
	var groups []expr.Expr
	if grouped {
		if groups, err = q.groups(c.GroupBy, outs, f.srcs); err != nil {
			return nil, nil, err
		}
		mark(used, groups...)
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
	plain := !grouped && !c.Distinct
	want := accessOrder{}
	if plain && len(f.srcs) == 1 {
		want.by, want.limit = terms, sum(limit, offset)
	} else if grouped && len(groups) > 0 && len(f.srcs) == 1 {
		want = accessOrder{by: groupOrder(groups), limit: -1, unmerged: true}
	} else {
		want.limit = -1
	}
	extremes, err := q.extremes(c, f, groups, aggs.calls, conds, used, hints)
	if err != nil {
		return nil, nil, err
	}
	node, ordered := extremes, false
	if extremes == nil {
		if node, ordered, err = q.joined(f, conds, used, want, hints); err != nil {
			return nil, nil, err
		}
		if anyOfSame(c, grouped, aggs.calls) {
			if s, ok := node.(*Scan); ok && s.skips() {
				if len(aggs.calls) == 1 {
					ends(s, groups, &aggs.calls[0])
				}
				if s.Skip == 0 {
					skip(s, used)
				}
				if s.Skip > 0 && s.Access == FullScan && s.Filter == nil && s.Residual == nil { // else a row that passes may be far
					s.Access, s.Considered[0].Access = SkipScan, SkipScan
				}
			}
		}
	}
	if grouped {
		agg := &Aggregate{Input: node, GroupBy: groups, Aggs: aggs.calls, Ordered: ordered && len(groups) > 0}
		ordered = false
		if extremes == nil {
			node = agg
		}
		for i := range outs {
			if outs[i].expr, err = afterGrouping(outs[i].expr, groups); err != nil {
				return nil, nil, err
			}
		}
		for i := range terms {
			if terms[i].Expr, err = afterGrouping(terms[i].Expr, groups); err != nil {
				return nil, nil, err
			}
		}
		if having != nil {
			if having, err = afterGrouping(having, groups); err != nil {
				return nil, nil, err
			}
			node = &Filter{Input: node, Cond: having}
		}
	}
	cols := make([]OutputColumn, len(outs))
	exprs := make([]expr.Expr, len(outs))
	for i, o := range outs {
		cols[i], exprs[i] = OutputColumn{o.name, o.expr.Type()}, o.expr
	}
	if c.Distinct {
		node = &Distinct{Input: &Project{Input: node, Exprs: exprs}}
		for i, t := range terms {
			at := slices.IndexFunc(exprs, func(x expr.Expr) bool { return expr.Same(x, t.Expr) })
			if at < 0 {
				return nil, nil, parser.Errorf(t.Expr.Position(), "ORDER BY of SELECT DISTINCT takes columns of the result")
			}
			terms[i].Expr = &expr.Column{Index: at, Name: cols[at].Name, Typ: cols[at].Type}
		}
		if len(terms) > 0 {
			node = &Sort{Input: node, By: terms, Limit: sum(limit, offset)}
		}
		return cut(node, limit, offset), cols, nil
	}
	if len(terms) > 0 && !ordered {
		node = &Sort{Input: node, By: terms, Limit: sum(limit, offset)}
	}
	return &Project{Input: cut(node, limit, offset), Exprs: exprs}, cols, nil
}

func (q *query) values(c *parser.SelectCore, orderBy []parser.OrderTerm, limit, offset int64) (Node, []OutputColumn, error) {
	v := &Values{N: len(c.Values[0])}
	cols := make([]OutputColumn, v.N)
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
		cols[i] = OutputColumn{fmt.Sprintf("column%d", i+1), t}
	}
	node, err := sorted(v, cols, orderBy, sum(limit, offset), "VALUES")
	return cut(node, limit, offset), cols, err
}

// sorted sorts n by its own columns.
func sorted(n Node, cols []OutputColumn, orderBy []parser.OrderTerm, limit int64, what string) (Node, error) {
	if len(orderBy) == 0 {
		return n, nil
	}
	var by []SortTerm
	for _, t := range orderBy {
		i, ok := outputIndex(t.Expr, cols)
		if !ok {
			return nil, parser.Errorf(t.Expr.Position(), "ORDER BY over %s takes the names or numbers of result columns", what)
		}
		by = append(by, sortTerm(t, &expr.Column{Index: i, Name: cols[i].Name, Typ: cols[i].Type}))
	}
	return &Sort{Input: n, By: by, Limit: limit}, nil
}

// maxColumns bounds the columns of a query: each SELECT a.*, b.* over the one before doubles them.
const maxColumns = 16_384

// items compiles the SELECT list.
func (q *query) items(c *parser.SelectCore, f *from, scope *expr.Scope) ([]output, error) {
	var outs []output
	for _, it := range c.Items {
		if !it.Star {
			x, err := expr.Compile(it.Expr, scope)
			if err != nil {
				return nil, err
			}
			outs = append(outs, output{itemName(it), x})
			continue
		}
		n := len(outs)
		shown := f.star
		if it.Table != "" {
			shown = f.shown(it.Table)
		}
		if len(outs)+len(shown) > maxColumns {
			return nil, parser.Errorf(it.Pos, "%d columns are more than the %d that a query may have", len(outs)+len(shown), maxColumns)
		}
		for _, c := range shown {
			outs = append(outs, output{c.Name, &expr.Column{Pos: it.Pos, Index: c.Index, Name: c.Name, Typ: c.Typ}})
		}
		if len(outs) == n {
			if it.Table != "" {
				return nil, parser.Errorf(it.Pos, "unknown table %q", it.Table).Of(catalog.ErrUnknownTable)
			}
			return nil, parser.Errorf(it.Pos, "SELECT * needs a table")
		}
	}
	return outs, nil
}

// itemName is the result column's name: the alias, the column's name, or the function's.
func itemName(it parser.SelectItem) string {
	if it.Alias != "" {
		return it.Alias
	}
	switch e := it.Expr.(type) {
	case *parser.ColumnRef:
		return e.Name
	case *parser.Call:
		return strings.ToLower(e.Name)
	case *parser.Cast:
		if r, ok := e.X.(*parser.ColumnRef); ok {
			return r.Name
		}
	case *parser.Case:
		return "case"
	}
	return "?column?"
}

// outputIndex finds the result column that an ORDER BY or GROUP BY term names or numbers.
func outputIndex(e parser.Expr, cols []OutputColumn) (int, bool) {
	switch e := e.(type) {
	case *parser.Literal:
		if n, err := strconv.Atoi(e.Text); err == nil && e.Kind == parser.NumberLiteral && n >= 1 && n <= len(cols) {
			return n - 1, true
		}
	case *parser.ColumnRef:
		for i, c := range cols {
			if e.Table == "" && strings.EqualFold(c.Name, e.Name) {
				return i, true
			}
		}
	}
	return 0, false
}

func sortTerm(t parser.OrderTerm, x expr.Expr) SortTerm {
	st := SortTerm{Expr: x, Desc: t.Desc, NullsFirst: t.Desc}
	if t.NullsFirst != nil {
		st.NullsFirst = *t.NullsFirst
	}
	return st
}

// orderTerms compiles ORDER BY: result columns by name or number first, then expressions over the tables.
func (q *query) orderTerms(orderBy []parser.OrderTerm, outs []output, scope *expr.Scope) ([]SortTerm, error) {
	cols := make([]OutputColumn, len(outs))
	for i, o := range outs {
		cols[i] = OutputColumn{o.name, o.expr.Type()}
	}
	var terms []SortTerm
	for _, t := range orderBy {
		if i, ok := outputIndex(t.Expr, cols); ok {
			terms = append(terms, sortTerm(t, outs[i].expr))
			continue
		}
		if l, ok := t.Expr.(*parser.Literal); ok && l.Kind == parser.NumberLiteral {
			return nil, parser.Errorf(l.Pos, "ORDER BY %s: the result has no column of that number, the last is %d", l.Text, len(outs))
		}
		x, err := expr.Compile(t.Expr, scope)
		if err != nil {
			return nil, err
		}
		if _, constant := x.(*expr.Const); !constant {
			terms = append(terms, sortTerm(t, x))
		}
	}
	return terms, nil
}

// groups compiles GROUP BY: columns of the tables first, then result columns by name or number.
func (q *query) groups(by []parser.Expr, outs []output, srcs []*source) ([]expr.Expr, error) {
	cols := make([]OutputColumn, len(outs))
	for i, o := range outs {
		cols[i] = OutputColumn{o.name, o.expr.Type()}
	}
	var out []expr.Expr
	for _, g := range by {
		x, err := expr.Compile(g, q.scope(srcs))
		_, literal := g.(*parser.Literal)
		if err != nil || literal {
			i, ok := outputIndex(g, cols)
			if !ok {
				if err == nil {
					err = parser.Errorf(g.Position(), "GROUP BY takes expressions, or numbers of result columns")
				}
				return nil, err
			}
			if x = outs[i].expr; slices.ContainsFunc(expr.Columns(x), func(c int) bool { return c >= aggMark }) {
				return nil, parser.Errorf(g.Position(), "GROUP BY %s: result column %d is an aggregate, which is computed of the groups", g, i+1)
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// usage tells which columns of the joined row are read above the tables.
func usage(srcs []*source, outs []output, terms []SortTerm, having expr.Expr, conds, on []expr.Expr) []bool {
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

type hints struct {
	layout     string
	noPushdown bool
}

// readHints reads the hints of a SELECT. One that is not known would change nothing without a word.
func readHints(hs []parser.Hint) (hints, error) {
	var h hints
	for _, x := range hs {
		switch {
		case (x.Name == "LAYOUT" || x.Name == "INDEX") && len(x.Args) == 1:
			h.layout = x.Args[0]
		case x.Name == "NO_PUSHDOWN" && len(x.Args) == 0:
			h.noPushdown = true
		default:
			return h, parser.Errorf(x.Pos, "unknown hint %s", x.Name).WithHint("hints are LAYOUT(name), INDEX(name) and NO_PUSHDOWN")
		}
	}
	return h, nil
}

// accessOrder is the order wanted of a single table.
type accessOrder struct {
	by    []SortTerm
	limit int64
	// unmerged: the order is not worth merging for. Groups that come in pieces cost a look-up for each.
	unmerged bool
}

func groupOrder(groups []expr.Expr) []SortTerm {
	terms := make([]SortTerm, len(groups))
	for i, g := range groups {
		terms[i] = SortTerm{Expr: g}
	}
	return terms
}

// source reads one source.
func (q *query) source(s *source, own []expr.Expr, used []bool, want accessOrder, h hints) (Node, bool, error) {
	if s.table == nil {
		n := s.node
		if len(own) > 0 {
			n = &Filter{Input: n, Cond: expr.Conjunction(own)}
		}
		return n, false, nil
	}
	req, err := q.request(s, own, used, want, h)
	if err != nil {
		return nil, false, err
	}
	scan, err := q.env.access(req)
	if err != nil {
		return nil, false, err
	}
	return scan, len(want.by) > 0 && scan.Order != NoOrder, nil
}

// request asks for access to a table.
func (q *query) request(s *source, own []expr.Expr, used []bool, want accessOrder, h hints) (*accessRequest, error) {
	req := &accessRequest{table: s.table, alias: s.name, conjuncts: own, needed: slices.Clone(used), orderBy: want.by, unmerged: want.unmerged, limit: want.limit, layout: h.layout, noPushdown: h.noPushdown}
	return req, q.systemTime(s.system, req)
}

// systemTime reads FOR SYSTEM_TIME into the request.
func (q *query) systemTime(s *parser.SystemTime, req *accessRequest) error {
	if s == nil {
		return nil
	}
	if s.All {
		req.allVersions = true
		return nil
	}
	at := func(e parser.Expr) (int64, error) {
		x, err := expr.Compile(e, q.scope(nil))
		if err != nil {
			return 0, err
		}
		k, ok := x.(*expr.Const)
		if !ok {
			return 0, parser.Errorf(e.Position(), "FOR SYSTEM_TIME takes a constant")
		}
		v, err := types.Cast(k.Val, types.Timestamp, q.env.Loc)
		if err != nil || v.IsNull() || v.Int() < 0 || v.Int() == math.MaxInt64 {
			return 0, parser.Errorf(e.Position(), "FOR SYSTEM_TIME takes a TIMESTAMP from 1970 on")
		}
		return v.Int(), nil
	}
	from, err := at(s.From)
	if err != nil {
		return err
	}
	if s.To == nil { // AS OF: the newest cells up to then
		req.minTime, req.maxTime = 0, from+1
		return nil
	}
	to, err := at(s.To)
	if err == nil && to < from {
		err = parser.Errorf(s.To.Position(), "FOR SYSTEM_TIME BETWEEN ends before it begins")
	}
	req.minTime, req.maxTime, req.allVersions = from, to+1, true
	return err
}
