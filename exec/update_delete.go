package exec

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/operator"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// planWhere plans the read of the rows, with all columns, that an UPDATE or DELETE changes, and compiles the values that
// an UPDATE sets.
func (r *run) planWhere(ctx context.Context, t *catalog.Table, alias string, where parser.Expr, allow bool, values ...parser.Expr) (*plan.Plan, []expr.Expr, error) {
	r.allowFull = r.allowFull || allow
	var exprs []expr.Expr
	p, err := r.resolved(ctx, func() (p *plan.Plan, err error) {
		if p, exprs, err = r.env.Where(t, alias, where, values); err == nil {
			p.FullScanAllowed = allow
		}
		return p, err
	})
	return p, exprs, err
}

// planJoined works like planWhere for an UPDATE with FROM or a DELETE with USING: s reads the joined rows, with those of t under
// name, then values and reads, the items that RETURNING wants of the other tables. If several rows join with the same row of t, the
// one whose values sort first counts.
func (r *run) planJoined(ctx context.Context, t *catalog.Table, name string, s *parser.Select, values []parser.Expr, reads []parser.SelectItem) (*plan.Plan, []expr.Expr, error) {
	core := s.Cores[0]
	core.Items = nil
	column := func(of string) parser.Expr {
		return &parser.ColumnRef{Pos: s.Pos, Table: name, Name: of, Quoted: true}
	}
	for _, c := range append(slices.Clip(t.ColumnNames()), catalog.KeyColumn, catalog.TimestampColumn) {
		core.Items = append(core.Items, parser.SelectItem{Pos: s.Pos, Expr: column(c)})
	}
	core.On = []parser.Expr{column(catalog.KeyColumn)} // _key, which several tables may have, and several rows of the table in one HBase row
	for _, p := range t.Layouts[0].AllParts() {
		for _, c := range p.Columns {
			core.On = append(core.On, column(t.Columns[c].Name))
		}
	}
	for _, x := range core.On {
		s.OrderBy = append(s.OrderBy, parser.OrderTerm{Expr: x})
	}
	var exprs []expr.Expr
	for _, v := range values {
		exprs = append(exprs, &expr.Column{Pos: v.Position(), Index: len(core.Items)})
		core.Items = append(core.Items, parser.SelectItem{Pos: v.Position(), Expr: v})
		number := &parser.Literal{Pos: v.Position(), Kind: parser.NumberLiteral, Text: strconv.Itoa(len(core.Items))}
		s.OrderBy = append(s.OrderBy, parser.OrderTerm{Expr: number})
	}
	core.Items = append(core.Items, reads...)
	p, err := r.planSelect(ctx, s)
	for i := 0; err == nil && i < len(exprs); i++ {
		of := exprs[i].(*expr.Column)
		of.Typ = p.Columns[of.Index].Type
	}
	return p, exprs, err
}

// planDelete plans the read of the rows that a DELETE removes; see planJoined for reads.
func (r *run) planDelete(ctx context.Context, t *catalog.Table, s *parser.Delete, reads []parser.SelectItem) (*plan.Plan, error) {
	if s.Joins() {
		p, _, err := r.planJoined(ctx, t, cmp.Or(s.Alias, s.Table), s.Joined(), nil, reads)
		return p, err
	}
	p, _, err := r.planWhere(ctx, t, s.Alias, s.Where, s.AllowFullScan)
	return p, err
}

// planUpdate plans the read of the rows that an UPDATE changes, and compiles the values that it sets; see planJoined for
// reads.
func (r *run) planUpdate(ctx context.Context, t *catalog.Table, s *parser.Update, values []parser.Expr, reads []parser.SelectItem) (*plan.Plan, []expr.Expr, error) {
	if s.Joins() {
		return r.planJoined(ctx, t, cmp.Or(s.Alias, s.Table), s.Joined(), values, reads)
	}
	return r.planWhere(ctx, t, s.Alias, s.Where, s.AllowFullScan, values...)
}

// alone returns the scan of p if p only reads the primary rows of one table, otherwise nil.
func alone(p *plan.Plan) *plan.Scan {
	if s, ok := p.Root.(*plan.Scan); ok && s.Layout.Kind == catalog.Primary {
		return s
	}
	return nil
}

// delete runs DELETE. It calls first, if not nil, with the columns and rows of RETURNING before it deletes one of the rows.
func (r *run) delete(ctx context.Context, s *parser.Delete, first func([]plan.OutputColumn, [][]types.Value) error) (*Rows, error) {
	t, err := r.writableTable(s.Table, s.TablePos)
	if err != nil && s.Truncate && t != nil && t.Def.Materialized {
		err = notA("table", t.Name, s.TablePos)
	}
	if err != nil {
		return nil, err
	}
	w := r.newWriter(t)
	var others []parser.SelectItem
	if w.Returning, others, err = r.returning(ctx, t, s.Alias, s.Returning, s.Joined()); err != nil {
		return nil, err
	}
	reads := *s
	reads.Returning = nil
	w.DependOn(columnsRead(t, &reads, w.Returning, nil))
	var rows [][]types.Value
	c := &rowChanges{statement: s, plan: func(only parser.Expr) (*plan.Plan, reading, error) {
		q := *s
		q.Where = both(s.Where, only)
		p, err := r.planDelete(ctx, t, &q, others)
		if err == nil && first != nil {
			return p, atOnce, nil
		}
		if err == nil && (len(p.Subplans) > 0 || s.Joins() || alone(p) == nil) {
			return p, allFirst, nil
		}
		return p, asRead, err
	}, name: cmp.Or(s.Alias, s.Table), change: func(row, _ []types.Value) error {
		if first != nil {
			values, err := w.Returning.Values(row)
			if err != nil {
				return err
			}
			rows = append(rows, values)
		}
		return w.Change(ctx, row, nil, nil, s.Pos)
	}}
	if first != nil {
		c.first = func() error { return first(w.Returning.Given(), rows) }
	}
	if s.Joins() {
		c.others = w.Width()
	}
	if err = r.change(ctx, w, t, c); err != nil {
		return nil, err
	}
	if first != nil {
		w.Returning.Close()
		if n := int64(len(rows)) - w.Changed; n > 0 {
			err = parser.Errorf(s.Pos, "%s of %s changed after the statement had read and used %s, so the DELETE left %[3]s as %s", words.Count(n, "row"), t.Name,
				words.Plural(n, "it", "them"), words.Plural(n, "it is", "they are")).
				WithHint("no row is lost: repeat the statement if it may write these rows again")
		}
		return nil, err
	}
	if s.Restart {
		err = r.restartOwned(ctx, t)
	}
	return r.result(w.Changed, w.Returning), err
}

// update runs UPDATE.
func (r *run) update(ctx context.Context, s *parser.Update) (*Rows, error) {
	t, err := r.writableTable(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	x, others, err := r.returning(ctx, t, s.Alias, s.Returning, s.Joined())
	if err != nil {
		return nil, err
	}
	n, err := r.updateRows(ctx, t, s, x, others)
	if err != nil {
		return nil, err
	}
	return r.result(n, x), nil
}

// updateRows changes the rows of an UPDATE of t, adds them to x, which may be nil, and returns their number. others are the items
// that x reads of other tables. It cannot change columns of the key: a row with another key is another row.
func (r *run) updateRows(ctx context.Context, t *catalog.Table, s *parser.Update, x *write.Returning, others []parser.SelectItem) (int64, error) {
	set, values, err := assignments(t, s)
	if err != nil {
		return 0, err
	}
	w := r.newWriter(t)
	w.Returning = x
	reads := *s
	reads.Returning = nil
	w.DependOn(columnsRead(t, &reads, w.Returning, set))
	var exprs []expr.Expr
	var env expr.Env
	next := func(old []types.Value) ([]types.Value, error) {
		row := slices.Clone(old[:w.Width()])
		env.Row = old
		for i, a := range s.Set {
			c, _ := t.Column(a.Column.Name)
			v, err := exprs[i].Eval(&env)
			if err != nil {
				return nil, err
			}
			if row[c.Index], err = r.assign(v, c, a.Expr.Position()); err != nil {
				return nil, err
			}
		}
		return row, nil
	}
	c := &rowChanges{statement: s, plan: func(only parser.Expr) (p *plan.Plan, when reading, err error) {
		q := *s
		q.Where = both(s.Where, only)
		p, exprs, err = r.planUpdate(ctx, t, &q, values, others)
		env = r.ExprEnv()
		for i := 0; err == nil && i < len(exprs) && i < len(s.Set); i++ {
			of, _ := t.Column(s.Set[i].Column.Name)
			err = assignable(exprs[i].Type(), values[i], of)
		}
		switch {
		case err != nil:
		case len(p.Subplans) > 0:
			when = atOnce // next may read the same table
		case len(t.Layouts) > 1 || s.Joins() || alone(p) == nil:
			when = allFirst
		}
		return p, when, err
	}, name: cmp.Or(s.Alias, s.Table), next: next, change: func(old, row []types.Value) error {
		return w.Change(ctx, old, row, set, s.Pos)
	}}
	if s.Joins() {
		c.others = w.Width() + len(values)
	}
	err = r.change(ctx, w, t, c)
	return w.Changed, err
}

// rowChanges describes an UPDATE or a DELETE.
type rowChanges struct {
	statement parser.Statement
	name      string // of the table, in the statement
	// plan plans the read of the rows to change; only, which may be nil, is a further condition on them.
	plan func(only parser.Expr) (*plan.Plan, reading, error)
	// next computes the new values of a row for change; it is nil if there are none.
	next   func(row []types.Value) ([]types.Value, error)
	change func(row, next []types.Value) error
	// first, if not nil, is called when all rows are read, and before one is written. Rows that changed meanwhile are then
	// left.
	first func() error
	// others is the index of the first column of other tables in the rows that plan reads; 0 if there is none.
	others int
}

// Bounds for an UPDATE or DELETE of rows that other statements change repeatedly.
const (
	maxChangeRounds = 100
	missedPerPlan   = 200 // rows that one plan reads again
)

// change reads the rows of c and writes the change of each with w, in batches. Rows that another statement changed
// meanwhile are read again, and must meet all conditions of c again.
func (r *run) change(ctx context.Context, w *write.Writer, t *catalog.Table, c *rowChanges) error {
	err := r.changeRows(ctx, w, t, c, nil)
	for err == nil && w.Noted() {
		r.prepare(ctx, c.statement) // so that queries inside expressions run again
		err = r.changeRows(ctx, w, t, c, nil)
	}
	for round := 0; err == nil; round++ {
		missed := w.TakeMissed()
		if len(missed) == 0 || c.first != nil {
			r.wrote(w.Changed)
			return nil
		}
		if round == maxChangeRounds {
			err = parser.Errorf(c.statement.Position(), "other statements change %s of %s all the time, among them that with key %.64q: repeat the statement",
				words.Count(int64(len(missed)), "row"), t.Name, missed[0].Key())
			break
		}
		if err = write.Pause(ctx, round); err != nil {
			break
		}
		if !r.merging {
			r.prepare(ctx, c.statement)
		}
		for some := range slices.Chunk(missed, missedPerPlan) {
			if err == nil {
				err = r.changeRows(ctx, w, t, c, some)
			}
		}
	}
	w.Returning.Close()
	return err
}

// changeRows makes one round of change: for the missed rows, or for all rows if missed is nil. It calls next for all
// rows of a batch before it changes one of them. If all rows come in one batch, an error of next leaves nothing written.
func (r *run) changeRows(ctx context.Context, w *write.Writer, t *catalog.Table, c *rowChanges, missed []write.Missed) error {
	var only parser.Expr
	if missed != nil {
		w.Only(missed)
		only = haveKeys(c.name, missed)
	}
	p, when, err := c.plan(only)
	if err != nil {
		return err
	}
	width := w.Width()
	s := alone(p)
	if w.Hold(missed != nil || c.first != nil || s != nil && s.Access <= plan.Get) {
		if s != nil {
			s.Cells = true
			width = s.Width()
		}
		if missed == nil && c.first == nil && !r.merging && (w.Noted() || r.readsTwice(p, t)) && !choosesAtRandom(c.statement) {
			w.NoteStates()
		}
	}
	err = r.eachRow(ctx, p, when, func(rows [][]types.Value) error {
		if err := r.Numbers.ResolveNames(ctx, t, rows); err != nil {
			return err
		}
		become := make([][]types.Value, len(rows))
		for i := 0; c.next != nil && i < len(rows); i++ {
			var err error
			if become[i], err = c.next(rows[i]); err != nil {
				return err
			}
		}
		for i, row := range rows {
			if w.Returning != nil && c.others > 0 {
				w.Returning.Joined = row[c.others:]
			}
			if err := c.change(row[:width], become[i]); err != nil {
				return err
			}
			if w.Full() && c.first == nil {
				if err := w.Flush(ctx); err != nil {
					return err
				}
				r.wrote(w.Changed)
			}
		}
		return nil
	})
	if err == nil && c.first != nil {
		err = c.first()
	}
	if err != nil {
		return err
	}
	return w.Flush(ctx)
}

// readsTwice reports whether p, a plan to change rows of t, or a sub-query that was run for it, reads t for another purpose
// too.
func (r *run) readsTwice(p *plan.Plan, t *catalog.Table) bool {
	return timesRead(p, t) > 1 || slices.ContainsFunc(r.subqueries.ran, func(p *plan.Plan) bool { return readsTable(p, t) })
}

// choosesAtRandom reports whether a query in s may give other rows each time.
func choosesAtRandom(s parser.Node) (random bool) {
	parser.Inspect(s, func(n parser.Node) bool {
		q, query := n.(*parser.Select)
		random = random || query && operator.CallsVolatile(q)
		return !query
	})
	return random
}

// haveKeys returns the condition that rows of the table with this name have the keys of rows.
func haveKeys(name string, rows []write.Missed) parser.Expr {
	in := &parser.In{X: &parser.ColumnRef{Table: name, Name: catalog.KeyColumn, Quoted: true}}
	for _, m := range rows {
		in.List = append(in.List, &parser.Literal{Kind: parser.BytesLiteral, Text: string(m.Key())})
	}
	return in
}

// both returns a AND b; one of them may be nil.
func both(a, b parser.Expr) parser.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &parser.Binary{Op: "AND", X: a, Y: b}
}

// columnsRead returns the columns of t, _key and _ts that a statement reads: those that it names, and those that x needs
// except the ones that it sets. If a named column belongs to another table, the result has one column too many.
func columnsRead(t *catalog.Table, s parser.Statement, x *write.Returning, set []bool) []bool {
	read := make([]bool, len(t.Columns)+2)
	for i := range read {
		read[i] = x.Reads(i) && !(i < len(set) && set[i])
	}
	for _, c := range t.Checks {
		if slices.ContainsFunc(c.Columns, func(col int) bool { return col < len(set) && set[col] }) {
			for _, col := range c.Columns {
				read[col] = read[col] || !set[col]
			}
		}
	}
	parser.Inspect(s, func(n parser.Node) bool {
		if ref, ok := n.(*parser.ColumnRef); ok {
			if c, ok := t.Column(ref.Name); ok {
				read[c.Index] = true
			}
			read[len(read)-1] = read[len(read)-1] || strings.EqualFold(ref.Name, catalog.TimestampColumn)
		}
		return true
	})
	return read
}

// assignments compiles SET.
func assignments(t *catalog.Table, s *parser.Update) (set []bool, values []parser.Expr, err error) {
	set = make([]bool, len(t.Columns))
	for _, a := range s.Set {
		c, err := columnNamed(t, a.Column)
		if err != nil {
			return nil, nil, err
		}
		if c.Identity == parser.Always && !isDefault(a.Expr) {
			return nil, nil, parser.Errorf(a.Column.Pos, "column %q can only be updated to DEFAULT", c.Name).WithHint("it is GENERATED ALWAYS")
		}
		for _, o := range t.Columns {
			if part := t.Layouts[0].PartOf(o.Index); part != nil && (o == c || write.OneCell(o, c)) {
				what := "column " + c.Name + " is"
				if o != c {
					what = "column " + c.Name + " shares a cell with " + o.Name + ", which is"
				}
				return nil, nil, parser.Errorf(a.Column.Pos, "%s part of the rowkey (%s): UPDATE cannot change it", what, part.Source).
					WithHint("insert a new row and delete the old one")
			}
		}
		if set[c.Index] {
			return nil, nil, parser.Errorf(a.Column.Pos, "column %q is set twice", c.Name)
		}
		set[c.Index] = true
		x := a.Expr
		if _, named := t.Column("default"); isDefault(x) && !named {
			x = absent(c, x.Position())
		}
		values = append(values, x)
	}
	return set, values, nil
}
