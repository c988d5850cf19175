package planner

import (
	"iter"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// source is an item of FROM with a name; its columns begin at offset in the joined row. A join that is read as a whole is
// a single source with several names.
type source struct {
	name   string
	names  []string // of a join: by column, the name of its table
	merged []bool   // columns that JOIN ... USING has merged: they need their table's name; nil if there are none
	cols   []plan.OutputColumn
	unused []string // names of a system relation's columns that cols omits, for errors
	offset int
	table  *catalog.Table // nil for a derived table
	system *parser.SystemTime
	node   plan.Node // of a derived table
	// again, if not nil, plans the derived table again for only the rows that match conds. It returns in rest the
	// conditions that the caller must check; if n is nil, these are all. first does the same for only the first rows in
	// the order want; if it returns a plan, no condition remains.
	again func(q *query, conds []expr.Expr) (n plan.Node, rest []expr.Expr, err error)
	first func(q *query, conds []expr.Expr, want accessOrder) (n plan.Node, rest []expr.Expr, err error)
	step  bool // it has the rows of the previous step: see type step
	// lateral is set for a query that depends on the previous sources: it is read for each of their rows. It takes the
	// values of the columns that the field "of" lists.
	lateral *plan.Subplan
	of      []expr.Expr
	// under, if not nil, plans lateral for the rows that match conds. The caller checks conds again.
	under func(conds []expr.Expr) (lateral *plan.Subplan, of []expr.Expr, err error)
	// view is the list of visible columns of a query that is replaced by its table; conds are the query's conditions on
	// the table's rows.
	view  []viewColumn
	conds []expr.Expr
	// ties are further conditions of the query, which contain columns of previous sources; these have indexes from
	// outerMark on.
	ties []expr.Expr
	// each is set for a query that answers for all rows of the previous sources, which are joined with it; one if it is
	// also the right side of an outer join that has a row for each of them. See batched.
	each, one bool
	// missing is set on the side of an outer join whose rows may be missing.
	missing bool
}

func (s *source) width() int { return len(s.cols) }

// has reports whether column i belongs to table; any column belongs to the table "".
func (s *source) has(i int, table string) bool {
	switch {
	case table == "":
		return s.merged == nil || i >= len(s.merged) || !s.merged[i]
	case s.names != nil:
		return strings.EqualFold(table, s.names[i])
	}
	return strings.EqualFold(table, s.name)
}

// sees works like has, for a column v of s.view.
func (s *source) sees(v viewColumn, table string) bool {
	if c, ok := v.of.(*expr.Column); ok {
		return s.has(c.Index, table)
	}
	return s.has(len(s.cols), table)
}

// visible yields the columns of s that a name with table can mean: their indexes in view, or else in cols, and their names.
func (s *source) visible(table string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, v := range s.view {
			if s.sees(v, table) && !yield(i, v.name) {
				return
			}
		}
		for i := range s.cols {
			if s.view == nil && s.has(i, table) && !yield(i, s.cols[i].Name) {
				return
			}
		}
	}
}

func (q *query) tableSource(t *catalog.Table, alias string) *source {
	src := &source{name: alias, table: t, cols: make([]plan.OutputColumn, 0, len(t.Columns)+2)}
	for i, c := range t.Columns {
		src.cols = append(src.cols, plan.OutputColumn{Name: c.Name, Type: c.Type, Limit: c.Limit, Hidden: t.HiddenKey && c.Name == catalog.HiddenColumn, Origin: plan.Origin{Relation: t.Name, Column: i + 1}})
	}
	src.cols = append(src.cols, plan.OutputColumn{Name: catalog.KeyColumn, Type: types.Bytes, Hidden: true},
		plan.OutputColumn{Name: catalog.TimestampColumn, Type: types.Timestamp, Hidden: true})
	return src
}

// scope returns a scope that resolves names among sources.
func (q *query) scope(srcs []*source) *expr.Scope {
	e := q.env
	scope := &expr.Scope{Funcs: e.funcs(), Function: e.Function, Loc: e.Loc, Now: e.Now, Parameters: e.Parameters, Moment: e.Moment, Stop: e.Stop,
		Subquery: func(s *parser.Select, use expr.Subquery) (expr.Expr, error) { return q.subquery(srcs, s, use) },
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
	scope.Row = func(ref *parser.ColumnRef) *parser.Tuple {
		row, _, _ := columnsOf(ref, srcs)
		if row != nil && !ref.Star {
			if x, err := q.column(ref, srcs); x != nil || err != nil {
				return nil
			}
		}
		return row
	}
	scope.Column = func(ref *parser.ColumnRef) (expr.Expr, error) {
		if ref.Star { // a column may have the table's name
			if row := rowOf(ref, srcs); row != nil {
				return expr.Compile(row, scope)
			}
		}
		x, err := q.column(ref, srcs)
		if err == nil && x == nil {
			if row := rowOf(ref, srcs); row != nil {
				return expr.Compile(row, scope)
			}
			if x = e.word(ref); x == nil {
				err = unknownColumn(ref, srcs)
			}
		}
		return x, err
	}
	return scope
}

// rowOf returns an expression for the row of the table ref: the row value of its columns, or if ref.Row is set the JSON object of them. It is
// nil if ref is not a table. The missing row of an outer join, whose columns are all NULL, is NULL.
func rowOf(ref *parser.ColumnRef, srcs []*source) parser.Expr {
	row, names, missing := columnsOf(ref, srcs)
	var out parser.Expr = row
	if ref.Row {
		out = &parser.Call{Pos: ref.Pos, Name: "JSON_BUILD_OBJECT", Args: names}
	}
	switch {
	case row == nil:
		return nil
	case !missing:
		return out
	}
	values := &parser.Call{Pos: ref.Pos, Name: "NUM_NONNULLS", Args: row.Items}
	there := &parser.Binary{Pos: ref.Pos, Op: ">", X: values, Y: &parser.Literal{Pos: ref.Pos, Kind: parser.NumberLiteral, Text: "0"}}
	return &parser.Case{Pos: ref.Pos, Whens: []parser.When{{Cond: there, Then: out}}}
}

// columnsOf returns the columns of the table ref, nil if ref is not a table, and a list of their names and themselves. missing is set if
// the row may be the missing one of an outer join.
func columnsOf(ref *parser.ColumnRef, srcs []*source) (row *parser.Tuple, names []parser.Expr, missing bool) {
	if ref.Table != "" {
		return nil, nil, false
	}
	out := &parser.Tuple{Pos: ref.Pos}
	for _, s := range srcs {
		for i, name := range s.visible(ref.Name) {
			if s.view == nil && s.cols[i].Hidden {
				continue
			}
			value := &parser.ColumnRef{Pos: ref.Pos, Table: ref.Name, Name: name}
			names = append(names, &parser.Literal{Pos: ref.Pos, Kind: parser.StringLiteral, Text: name}, value)
			out.Items = append(out.Items, value)
			missing = missing || s.missing || s.names != nil
		}
	}
	if names == nil {
		return nil, nil, false
	}
	return out, names, missing
}

// column resolves a column among sources, then in the outer queries; nil without an error if there is none.
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

// findColumn resolves a column among sources, or returns nil.
func findColumn(ref *parser.ColumnRef, srcs []*source) (expr.Expr, error) {
	var found expr.Expr
	for _, s := range srcs {
		for i, name := range s.visible(ref.Table) {
			switch {
			case !strings.EqualFold(name, ref.Name):
			case found != nil:
				return nil, parser.Errorf(ref.Pos, "column %q is ambiguous", ref.Name).WithHint("write table.%s", ref.Name)
			case s.view != nil:
				found = s.column(s.view[i], ref.Pos)
			default:
				found = &expr.Column{Pos: ref.Pos, Index: s.offset + i, Name: name, Typ: s.cols[i].Type, Limit: s.cols[i].Limit}
			}
		}
	}
	return found, nil
}

// pseudoColumns are names in other systems, with hql's replacement.
var pseudoColumns = map[string]string{
	"SYSDATE": "NOW()",
	"ROWID":   "_key is the rowkey's bytes", "ROWKEY": "_key is the rowkey's bytes", "ROW_KEY": "_key is the rowkey's bytes",
	"DEFAULT": "DEFAULT can only be a whole value of INSERT ... VALUES, or in UPDATE ... SET column = DEFAULT",
	"ROWNUM":  "LIMIT n takes the first rows, ROW_NUMBER() OVER (ORDER BY ...) numbers them",
}

// unknownColumn returns the error for an unknown name; it suggests a similar name.
func unknownColumn(ref *parser.ColumnRef, srcs []*source) error {
	if hint := pseudoColumns[strings.ToUpper(ref.Name)]; hint != "" && ref.Table == "" {
		return parser.Errorf(ref.Pos, "unknown column %q", ref.Name).Of(catalog.ErrUnknownColumn).WithHint("%s", hint)
	}
	if len(srcs) == 0 {
		return parser.Errorf(ref.Pos, "unknown column %q: there is no table here", ref.Name).Of(catalog.ErrUnknownColumn)
	}
	var names []string
	for _, s := range srcs {
		for _, name := range s.visible(ref.Table) {
			names = append(names, name)
		}
	}
	for _, s := range srcs {
		if ref.Table == "" || strings.EqualFold(ref.Table, s.name) {
			names = append(names, s.unused...)
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
	case slices.Contains([]string{"ctid", "xmin", "xmax", "oid", "rowid"}, strings.ToLower(ref.Name)):
		return err.WithHint("%s is the rowkey of a row, %s the time of its newest cell", catalog.KeyColumn, catalog.TimestampColumn)
	case ref.Quoted:
		return err.WithHint("double quotes make a name: the text is %s", types.NewString(ref.Name).SQL())
	}
	return err
}

// named returns the source for a CTE or a table of the catalog.
func (q *query) named(t *parser.TableName) *source {
	alias := t.Called()
	if w := q.cteOf(t); w != nil {
		if t.SystemTime != nil {
			panic(fail.With(parser.Errorf(t.SystemTime.Pos, "FOR SYSTEM_TIME is allowed only after tables: %s is a query", t.Name)))
		}
		if k := slices.IndexFunc(q.steps, func(s step) bool { return s.of == w }); k >= 0 {
			return q.stepSource(q.steps[k], t, alias)
		}
		s := fail.Must(w.source(q))
		s.name = alias
		return s
	}
	table, view, err := q.env.Catalog.TableOrView(t.Name, t.Pos)
	switch {
	case err != nil:
		if s := q.virtual(t.Name, t.Alias, true); s != nil && t.SystemTime == nil {
			return s
		}
		panic(fail.With(err))
	case view != nil:
		return fail.Must(q.viewSource(view, t, alias))
	}
	s := q.tableSource(table, alias)
	s.system = t.SystemTime
	return s
}

// derived returns the source for s, a query in FROM, with an alias; called is its name in errors.
func (q *query) derived(s *parser.Select, alias string, columns []string, called string, pos parser.Pos) (_ *source, err error) {
	defer fail.Catch(&err)
	if src, err := q.pulled(s, alias, columns, pos); src != nil || err != nil {
		return src, err
	}
	enclosing, barred, before := q.enclosing, q.barred, len(q.plan.Subplans)
	q.enclosing, q.barred = nil, nil // only LATERAL queries see them, as q.outer
	node, cols, err := q.selectStmt(s)
	q.enclosing, q.barred = enclosing, barred
	if err != nil {
		return nil, err
	}
	out := &source{name: alias, cols: renamed(cols, columns, called, pos), node: node}
	q.narrower(out, slices.Clone(q.plan.Subplans[before:]), s)
	return out, nil
}

// renamed replaces the names of the columns of the query alias by those of its column list.
func renamed(cols []plan.OutputColumn, names []string, alias string, pos parser.Pos) []plan.OutputColumn {
	if len(names) > len(cols) {
		panic(fail.With(parser.Errorf(pos, "%s has %d columns, not %d", alias, len(cols), len(names))))
	}
	cols = slices.Clone(cols)
	for i, n := range names {
		cols[i].Name = n
	}
	return cols
}
