package exec

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// insert runs INSERT and UPSERT, which are equivalent: HBase overwrites.
func (r *run) insert(ctx context.Context, s *parser.Insert) (*Rows, error) {
	t, cols, s, err := r.insertTarget(s)
	if err != nil {
		return nil, err
	}
	in, err := r.newInserter(t, cols)
	if err != nil {
		return nil, err
	}
	if in.Once = s.Set != nil; in.Once && (len(in.given) > 0 || !replaces(t, cols, s)) {
		in.merge = newMerge(ctx, in, s)
		defer func() { in.merge.run.subqueries.end() }()
	}
	in.IfNew = (s.IfNotExists || in.merge != nil) && !t.HiddenKey // with a hidden key, every row is new
	for _, k := range in.keys {
		if s.Overriding == "USER" && cols[k].Identity != "" {
			in.drawn = append(in.drawn, cols[k].Index)
		}
	}
	if s.IfNotExists || s.Set != nil {
		in.keys, in.drawn = nil, nil // the statement says what becomes of a row that exists
	}
	if err := in.gives(ctx, s); err != nil {
		return nil, err
	}
	rows, err := r.insertRows(ctx, s, in)
	if err != nil {
		in.Returning.Close()
	}
	return rows, err
}

// insertTarget returns the table and the columns that s writes, and s with its DEFAULTs replaced.
func (r *run) insertTarget(s *parser.Insert) (*catalog.Table, []*catalog.Column, *parser.Insert, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, nil, nil, err
	}
	cols, err := targetColumns(t, s.Columns, s.TablePos)
	if err != nil {
		return nil, nil, nil, err
	}
	if n := given(s); len(s.Columns) == 0 && n < len(cols) { // as in PostgreSQL, the first columns
		var names []parser.Name
		for _, c := range cols[:n] {
			names = append(names, parser.Name{Pos: s.TablePos, Name: c.Name})
		}
		if cols, err = targetColumns(t, names, s.TablePos); err != nil {
			return nil, nil, nil, err
		}
	}
	if err := checkConflict(t, s); err != nil {
		return nil, nil, nil, err
	}
	s = withDefaults(s, cols)
	return t, cols, s, drawnAlways(t, cols, s)
}

// checkConflict checks ON CONFLICT: only the columns of the row key may conflict.
func checkConflict(t *catalog.Table, s *parser.Insert) error {
	if c := s.Constraint; c.Name != "" && !strings.EqualFold(c.Name, t.Name+"_pkey") {
		return parser.Errorf(c.Pos, "%s has no constraint %q: its rows conflict by their row key alone, %s", t.Name, c.Name, parser.QuoteName(t.Name+"_pkey"))
	}
	if s.Conflict == nil && (s.Set == nil || s.Constraint.Name != "") {
		return nil
	}
	keys := t.Layouts[0].PlaceColumns()
	var names []string
	known := true
	for _, i := range keys {
		names = append(names, t.Columns[i].Name)
		known = known && slices.ContainsFunc(s.Conflict, func(n parser.Name) bool { return strings.EqualFold(n.Name, t.Columns[i].Name) })
	}
	switch list := strings.Join(names, ", "); {
	case s.Conflict == nil:
		return parser.Errorf(s.Set[0].Column.Pos, "DO UPDATE needs the columns of the row key: ON CONFLICT (%s)", list)
	case !known || len(keys) != len(s.Conflict):
		return parser.Errorf(s.Conflict[0].Pos, "rows of %s conflict by their row key alone: ON CONFLICT (%s)", t.Name, list)
	}
	return nil
}

// inserter writes rows for which a statement gives the columns cols.
type inserter struct {
	*write.Inserter
	run   *run
	table *catalog.Table
	cols  []*catalog.Column
	merge *merge // nil: no row is updated
	given []columnDefault
	keys  []int // the indexes in cols of the columns of the key
	drawn []int // columns of the key that draw numbers in all rows
}

// columnDefault is the DEFAULT of a column that the statement does not name.
type columnDefault struct {
	column *catalog.Column
	value  expr.Expr
}

func (r *run) newInserter(t *catalog.Table, cols []*catalog.Column) (*inserter, error) {
	in := &inserter{Inserter: &write.Inserter{Writer: r.newWriter(t), Set: make([]bool, len(t.Columns))}, run: r, table: t, cols: cols}
	keys := t.Layouts[0].PlaceColumns()
	for k, c := range cols {
		if in.Set[c.Index] = true; slices.Contains(keys, c.Index) {
			in.keys = append(in.keys, k)
		}
	}
	for _, c := range t.Columns {
		if c.Default == nil || in.Set[c.Index] {
			continue
		}
		x, err := expr.Compile(c.Default, r.scope())
		if err != nil {
			return nil, err
		}
		in.given, in.Set[c.Index] = append(in.given, columnDefault{c, x}), true
		if slices.Contains(keys, c.Index) && callsNextval(c.Default) {
			in.drawn = append(in.drawn, c.Index)
		}
	}
	return in, nil
}

// another returns an inserter for the rows of in that writes them by itself.
func (in *inserter) another() *inserter {
	out := *in
	out.merge = nil
	out.Inserter = &write.Inserter{Writer: in.run.newWriter(in.table), Set: in.Set}
	return &out
}

// defaultsOf returns an inserter for the new definition t and the row of its DEFAULTs, in which sequences draw no numbers.
func (r *run) defaultsOf(t *catalog.Table) (in *inserter, row []types.Value, err error) {
	r.trial = true
	defer func() { r.trial = false }()
	if in, err = r.newInserter(t, nil); err == nil {
		row, err = in.newRow()
	}
	return in, row, err
}

// newRow returns a row with the DEFAULTs of the columns that the statement does not name.
func (in *inserter) newRow() ([]types.Value, error) {
	row := make([]types.Value, len(in.table.Columns)+2)
	if len(in.given) == 0 {
		return row, nil
	}
	env := in.run.ExprEnv()
	for _, d := range in.given {
		v, err := d.value.Eval(&env)
		if err == nil {
			row[d.column.Index], err = in.run.assign(v, d.column, parser.NoPos)
		}
		if err != nil {
			return nil, fmt.Errorf("the DEFAULT of column %s: %w", d.column.Name, err)
		}
	}
	return row, nil
}

// write writes a batch of rows, and records the number of rows written so far.
func (in *inserter) write(ctx context.Context, rows []write.Row) error {
	if in.merge != nil {
		return in.merge.write(ctx, rows)
	}
	before := in.Written
	err := in.Write(ctx, rows)
	in.run.rec.written.Add(in.Written - before)
	return err
}

// gives compiles RETURNING for the inserted rows.
func (in *inserter) gives(ctx context.Context, s *parser.Insert) error {
	t := in.table
	x, _, err := in.run.returning(ctx, t, s.Alias, s.Returning, nil)
	if in.Returning = x; err != nil || x == nil || in.IfNew || t.HiddenKey || !x.Unread(t, in.Set) {
		return err
	}
	if t.Layouts[0].Key.Drawn() != nil {
		return parser.Errorf(s.Returning[0].Pos, "RETURNING takes columns that the INSERT names, since a part of the key is drawn at random: whether a row has others is not known before")
	}
	in.Reads = true
	return nil
}

func (r *run) insertRows(ctx context.Context, s *parser.Insert, in *inserter) (*Rows, error) {
	if s.Query == nil && slices.ContainsFunc(s.Rows, func(row []parser.Expr) bool { return slices.ContainsFunc(row, hasSubquery) }) {
		q := *s // VALUES may be a query, too
		q.Query = &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{{Pos: s.Pos, Values: s.Rows}}}
		s = &q
	}
	if s.Query != nil {
		return r.insertQuery(ctx, s, in)
	}
	rows := make([]write.Row, len(s.Rows))
	left := in.draws(s.Rows)
	for i, values := range s.Rows {
		r.drawn.rows = left
		left -= in.draws(s.Rows[i : i+1])
		row, err := r.valuesRow(values, in)
		if err != nil {
			return nil, err
		}
		rows[i] = write.Row{Values: row, Pos: values[0].Position(), Drawn: in.drawsKey(values)}
	}
	if err := in.write(ctx, rows); err != nil { // all rows were checked before the first is written
		return nil, err
	}
	return r.result(in.Written, in.Returning), nil
}

// withDefaults replaces DEFAULT by the default values of the columns.
func withDefaults(s *parser.Insert, cols []*catalog.Column) *parser.Insert {
	out := *s
	if s.Query != nil && len(*valuesOf(s)) > 0 {
		query, core := *s.Query, *s.Query.Cores[0]
		query.Cores, out.Query = []*parser.SelectCore{&core}, &query
	}
	rows := valuesOf(&out)
	*rows = slices.Clone(*rows)
	ours := func(c *catalog.Column) bool { return s.Overriding == "USER" && c.Identity != "" }
	for i, row := range *rows {
		if !slices.ContainsFunc(row, isDefault) && !slices.ContainsFunc(cols, ours) {
			continue
		}
		(*rows)[i] = slices.Clone(row)
		for k := range min(len(row), len(cols)) {
			if isDefault(row[k]) || ours(cols[k]) {
				(*rows)[i][k] = absent(cols[k], row[k].Position())
			}
		}
	}
	return &out
}

// given returns the number of columns that the rows of s have; math.MaxInt if its query has a *.
func given(s *parser.Insert) int {
	if rows := *valuesOf(s); len(rows) > 0 {
		return len(rows[0])
	}
	if s.Query == nil || slices.ContainsFunc(s.Query.Cores[0].Items, func(it parser.SelectItem) bool { return it.Star }) || s.Query.Cores[0].Query != nil {
		return math.MaxInt
	}
	return len(s.Query.Cores[0].Items)
}

// valuesOf returns the rows of VALUES of s, which stand in its query behind WITH.
func valuesOf(s *parser.Insert) *[][]parser.Expr {
	if s.Query != nil && len(s.Query.Cores) == 1 {
		return &s.Query.Cores[0].Values
	}
	return &s.Rows
}

// isDefault reports whether x is the word DEFAULT. In UPDATE it names a column called default if there is one.
func isDefault(x parser.Expr) bool {
	c, ok := x.(*parser.ColumnRef)
	return ok && c.Table == "" && !c.Quoted && strings.EqualFold(c.Name, "DEFAULT")
}

// absent returns the DEFAULT of c; if there is none, it returns NULL.
func absent(c *catalog.Column, pos parser.Pos) parser.Expr {
	if c.Default != nil {
		return c.Default
	}
	v := c.Absent()
	if v.IsNull() {
		return &parser.Literal{Pos: pos, Kind: parser.NullLiteral}
	}
	text := &parser.Literal{Pos: pos, Kind: parser.StringLiteral, Text: v.String()} // a moment includes its zone
	if c.Type == types.Bytes {
		text.Kind, text.Text = parser.BytesLiteral, v.Text()
	}
	return &parser.Cast{Pos: pos, X: text, Type: c.Type.String()}
}

func hasSubquery(x parser.Expr) bool { return parser.Some(x, parser.IsQuery) }

func (r *run) tableNamed(name string, pos parser.Pos) (*catalog.Table, error) {
	return r.engine.catalog.TableAt(name, pos)
}

// writableTable finds a table that statements may write.
func (r *run) writableTable(name string, pos parser.Pos) (*catalog.Table, error) {
	t, err := r.tableNamed(name, pos)
	if err != nil {
		return nil, err
	}
	return t, write.Writable(t, pos)
}

// targetColumns returns the named columns of t, or all if none is named. It fails if a rowkey cannot be made from them.
func targetColumns(t *catalog.Table, names []parser.Name, pos parser.Pos) ([]*catalog.Column, error) {
	if err := write.Writable(t, pos); err != nil {
		return nil, err
	}
	var cols []*catalog.Column
	if len(names) == 0 {
		for _, c := range t.Columns {
			if c.Name != catalog.HiddenColumn {
				cols = append(cols, c)
			}
		}
		return cols, nil
	}
	named := make([]bool, len(t.Columns))
	for _, n := range names {
		c, err := columnNamed(t, n)
		if err != nil {
			return nil, err
		}
		if named[c.Index] {
			return nil, parser.Errorf(n.Pos, "column %q is named twice", n.Name)
		}
		named[c.Index] = true
		cols = append(cols, c)
	}
	for _, l := range t.Layouts {
		for _, parts := range [][]*catalog.Part{l.Stored.Parts, l.Key.Parts} {
			for _, p := range parts {
				for _, c := range p.Columns {
					if !named[c] && l.Kind != catalog.Index && t.Columns[c].Name != catalog.HiddenColumn && t.Columns[c].Default == nil {
						return nil, parser.Errorf(pos, "column %q is part of the rowkey of %s (%s) and needs a value", t.Columns[c].Name, t.Name, p.Source).
							Of(&write.ConstraintError{Table: t.Name, Column: t.Columns[c].Name})
					}
				}
			}
		}
	}
	return cols, nil
}

func columnNamed(t *catalog.Table, n parser.Name) (*catalog.Column, error) {
	if c, ok := t.Column(n.Name); ok {
		return c, nil
	}
	if n.Name == catalog.KeyColumn || n.Name == catalog.TimestampColumn {
		return nil, parser.Errorf(n.Pos, "%s cannot be written: it follows from the row", n.Name)
	}
	err := parser.Errorf(n.Pos, "unknown column %q of table %s", n.Name, t.Name).Of(catalog.ErrUnknownColumn)
	return nil, expr.Suggest(err, n.Name, t.ColumnNames())
}

// valuesRow computes one row of VALUES.
func (r *run) valuesRow(values []parser.Expr, in *inserter) ([]types.Value, error) {
	if len(values) != len(in.cols) {
		pos := parser.NoPos
		if len(values) > 0 {
			pos = values[0].Position()
		}
		return nil, parser.Errorf(pos, "%s for %s", words.Count(int64(len(values)), "value"), words.Count(int64(len(in.cols)), "column"))
	}
	row, err := in.newRow()
	if err != nil {
		return nil, err
	}
	for i, x := range values {
		e, err := expr.Compile(x, r.scope())
		if err == nil {
			err = assignable(e.Type(), x, in.cols[i])
		}
		if err != nil {
			return nil, err
		}
		env := r.ExprEnv()
		v, err := e.Eval(&env)
		if err != nil {
			return nil, err
		}
		if row[in.cols[i].Index], err = r.assign(v, in.cols[i], x.Position()); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// assignable refuses the value of x, of type t, for column c. Booleans, moments and JSON are no numbers, and a text that is
// no literal is nothing but a text or BYTES: CAST converts them.
func assignable(t types.Type, x parser.Expr, c *catalog.Column) error {
	kind := func(t types.Type) int {
		return slices.IndexFunc([]bool{t == types.Boolean, t.IsMoment(), t.IsNumeric(), t.IsJSON()}, func(is bool) bool { return is })
	}
	a, b := kind(t), kind(c.Type)
	if a >= 0 && b >= 0 && a != b || t == types.String && c.Type != t && c.Type != types.Bytes && !untyped(x) {
		return parser.Errorf(x.Position(), "column %s is %s, but its value is %s", c.Name, c.Type, t).WithHint("CAST(... AS %s) converts it", c.Type)
	}
	return nil
}

// assign converts v to the type of column c.
func (r *run) assign(v types.Value, c *catalog.Column, pos parser.Pos) (types.Value, error) {
	if err := assignable(v.Type(), &parser.Param{Pos: pos}, c); err != nil {
		return v, err
	}
	out, err := types.Read(v, c.Type, r.Opt.Now, r.settings.loc)
	if err == nil {
		out, err = c.Limit.Store(out)
	}
	if err != nil {
		return out, parser.Errorf(pos, "column %s: %v", c.Name, err)
	}
	if _, text := out.ToUTF8(); !c.KeyPart && !text { // the keys of some tables contain other bytes on purpose
		return out, parser.Errorf(pos, "column %s: the text is not UTF-8, or has a zero byte", c.Name).WithHint("a column of the type BYTES holds any bytes")
	}
	return out.WithoutClock(), nil
}

// untyped reports whether x is a text or a parameter that takes the type of its column.
func untyped(x parser.Expr) bool {
	_, param := x.(*parser.Param)
	k, ok := x.(*parser.Literal)
	return param || ok && k.Kind == parser.StringLiteral
}

// insertQuery writes the rows of a query. If the query reads the same table, all rows are read before the first is
// written, so that it does not read its own rows.
func (r *run) insertQuery(ctx context.Context, s *parser.Insert, in *inserter) (*Rows, error) {
	p, err := r.planSelect(ctx, s.Query)
	if err != nil {
		return nil, err
	}
	if len(p.Columns) != len(in.cols) {
		return nil, parser.Errorf(s.Query.Pos, "the query gives %d columns for %d of %s", len(p.Columns), len(in.cols), in.table.Name)
	}
	for _, core := range s.Query.Cores {
		written := core.Values
		if !slices.ContainsFunc(core.Items, func(it parser.SelectItem) bool { return it.Star }) {
			row := make([]parser.Expr, len(core.Items))
			for k, it := range core.Items {
				row[k] = it.Expr
			}
			written = append(written, row)
		}
		for _, row := range written {
			for k, x := range row {
				if err := assignable(p.Columns[k].Type, x, in.cols[k]); err != nil {
					return nil, err
				}
			}
		}
	}
	b, drawn := newBulk(in), in.queryDrawsKey(s.Query)
	when := asRead
	if in.merge != nil || readsTable(p, in.table) {
		when = allFirst
	}
	err = r.eachRow(ctx, p, when, func(rows [][]types.Value) error {
		for i, from := range rows {
			r.drawn.rows = int64(len(rows) - i)
			row, err := in.newRow()
			if err != nil {
				return err
			}
			for i, c := range in.cols {
				if c.Identity != "" && s.Overriding == "USER" {
					v, err := r.constant(c.Default)
					if err != nil {
						return err
					}
					from[i] = v
				}
				if row[c.Index], err = r.assign(from[i], c, s.Query.Pos); err != nil {
					return err
				}
			}
			if err := b.add(ctx, write.Row{Values: row, Pos: s.Query.Pos, Drawn: drawn}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := b.end(ctx, err); err != nil {
		return nil, err
	}
	return r.result(r.rec.written.Load()-r.before, in.Returning), nil
}

// readsTable reports whether p, or a query inside its expressions, reads a physical table of t.
func readsTable(p *plan.Plan, t *catalog.Table) bool { return timesRead(p, t) > 0 }

// timesRead returns the number of table accesses of p, and of queries inside its expressions, to physical tables of t.
func timesRead(p *plan.Plan, t *catalog.Table) (n int) {
	for _, read := range p.Tables() {
		if shareStored(read, t) {
			n++
		}
	}
	return n
}

// shareStored reports whether a and b may have an HBase table in common.
func shareStored(a, b *catalog.Table) bool {
	return a == b || slices.ContainsFunc(a.Layouts, func(l *catalog.Layout) bool {
		return slices.ContainsFunc(b.Layouts, func(m *catalog.Layout) bool {
			return !l.Stored.IsLiteral() || !m.Stored.IsLiteral() || storedName(l) == storedName(m)
		})
	})
}
