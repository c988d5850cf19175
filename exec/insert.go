package exec

import (
	"context"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// insert runs INSERT and UPSERT, which mean the same: HBase overwrites.
func (r *run) insert(ctx context.Context, s *parser.Insert) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	cols, err := targetColumns(t, s.Columns, s.TablePos)
	if err != nil {
		return nil, err
	}
	in := &inserter{run: r, w: r.newWriter(t), cols: cols, set: make([]bool, len(t.Columns))}
	in.w.ifNew = s.IfNotExists && !t.HiddenKey // no row of the others exists
	for _, c := range cols {
		in.set[c.Index] = true
	}
	if err := in.gives(s); err != nil {
		return nil, err
	}
	rows, err := r.insertRows(ctx, s, in)
	if err != nil && in.w.returning != nil {
		in.w.returning.kept.Close()
	}
	return rows, err
}

// gives compiles RETURNING.
func (in *inserter) gives(s *parser.Insert) error {
	t := in.w.table
	x, err := in.run.returning(t, "", s.Returning, false)
	if in.w.returning = x; err != nil || x == nil || in.w.ifNew || t.HiddenKey || !x.unread(t, in.set) {
		return err
	}
	if t.Layouts[0].Key.Drawn() != nil {
		return parser.Errorf(s.Returning[0].Pos, "RETURNING takes columns that the INSERT names, since a part of the key is drawn at random: whether a row has others is not known before")
	}
	in.reads = true
	return nil
}

func (r *run) insertRows(ctx context.Context, s *parser.Insert, in *inserter) (*Rows, error) {
	if s.Query == nil && slices.ContainsFunc(s.Rows, func(row []parser.Expr) bool { return slices.ContainsFunc(row, hasSubquery) }) {
		q := *s // VALUES is a query, too
		q.Query = &parser.Select{Pos: s.Pos, Cores: []*parser.SelectCore{{Pos: s.Pos, Values: s.Rows}}}
		s = &q
	}
	if s.Query != nil {
		return r.insertQuery(ctx, s, in)
	}
	for _, values := range s.Rows {
		row, err := r.valuesRow(values, in)
		if err != nil {
			return nil, err
		}
		in.rows = append(in.rows, pendingRow{row: row, pos: values[0].Position()})
	}
	if err := in.flush(ctx); err != nil { // every row is checked before one is written
		return nil, err
	}
	return r.result(in.n, in.w.returning), nil
}

func hasSubquery(x parser.Expr) bool {
	found := false
	parser.Walk(x, func(e parser.Expr) bool {
		in, ok := e.(*parser.In)
		_, sub := e.(*parser.SubqueryExpr)
		found = found || sub || ok && in.Query != nil
		return !found
	})
	return found
}

// tableNamed finds a table.
func (r *run) tableNamed(name string, pos parser.Pos) (*catalog.Table, error) {
	return r.engine.catalog.TableAt(name, pos)
}

// targetColumns finds the named columns, all when none is named, and checks that
// a key can be made of them.
func targetColumns(t *catalog.Table, names []parser.Name, pos parser.Pos) ([]*catalog.Column, error) {
	if err := writable(t, pos); err != nil {
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
					if !named[c] && l.Kind != catalog.Index && t.Columns[c].Name != catalog.HiddenColumn {
						return nil, parser.Errorf(pos, "column %q is part of the rowkey of %s (%s) and needs a value", t.Columns[c].Name, t.Name, p.Source)
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
	row := make([]types.Value, len(in.w.table.Columns)+2)
	for i, x := range values {
		v, err := r.constant(x)
		if err != nil {
			return nil, err
		}
		if row[in.cols[i].Index], err = r.assign(v, in.cols[i], x.Position()); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// assign converts v to the type of column c.
func (r *run) assign(v types.Value, c *catalog.Column, pos parser.Pos) (types.Value, error) {
	out, err := types.Cast(v, c.Type, r.settings.loc)
	if err != nil {
		return out, parser.Errorf(pos, "column %s: %v", c.Name, err)
	}
	return out, nil
}

// pendingRow is a row to be written, with its place in the statement.
type pendingRow struct {
	row []types.Value
	pos parser.Pos
	set []bool // by column: named for this row; nil: as the statement names them for all
	at  *place // in the primary layout; nil: not known yet
}

// inserter writes rows batch by batch.
type inserter struct {
	run  *run
	w    *writer
	cols []*catalog.Column
	set  []bool // by column: named by the statement
	rows []pendingRow
	n    int64
	// reads: the rows as they are now are wanted, to tell what the statement leaves.
	reads bool
}

// flush writes the pending rows. All are encoded before one is sent.
func (in *inserter) flush(ctx context.Context) error {
	rows := in.rows
	in.rows = nil
	if err := in.run.allocate(ctx, in.w, rows); err != nil {
		return err
	}
	if in.w.ifNew {
		return in.flushNew(ctx, rows)
	}
	given := len(rows)
	rows, err := in.lastOfEach(rows)
	if err != nil {
		return err
	}
	var old [][]types.Value
	if in.reads {
		old, err = in.run.stored(ctx, in.w, in.w.table.Layouts[0], rows)
	} else {
		old, err = in.run.present(ctx, in.w, rows)
	}
	if err != nil {
		return err
	}
	for i, p := range rows {
		set := in.named(p)
		var was []types.Value
		if old != nil && old[i] != nil { // what the statement does not name stays, in every layout
			was = old[i]
			for c := range set {
				if !set[c] {
					p.row[c] = was[c]
				}
			}
		}
		if err := in.w.put(ctx, p.row, set, true, p.at, was); err != nil {
			return in.w.refuse(err, p.pos)
		}
	}
	return in.send(ctx, given)
}

func (in *inserter) send(ctx context.Context, rows int) error {
	if err := in.w.flush(ctx); err != nil {
		return err
	}
	in.n += int64(rows - len(in.w.refused))
	clear(in.w.refused)
	in.run.rec.written.Store(in.n)
	return nil
}

// named tells the columns that are named for a row.
func (in *inserter) named(p pendingRow) []bool {
	if p.set != nil {
		return p.set
	}
	return in.set
}

// lastOfEach joins the rows of one place, of whose columns the last that names them holds: all are written with one
// timestamp, at which a cell that one row deletes would hide the cell that another writes. All must fit.
func (in *inserter) lastOfEach(rows []pendingRow) ([]pendingRow, error) {
	if len(rows) < 2 || in.w.table.HiddenKey {
		return rows, nil // every row is a new one
	}
	last := make(map[rowID]int, len(rows))
	ids := make([]rowID, len(rows))
	drawn := in.w.table.Layouts[0].Key.Drawn() != nil
	for i, p := range rows {
		at, err := in.w.stands(p.row)
		if err != nil {
			return nil, in.w.refuse(err, p.pos)
		}
		if ids[i] = at.id(); !drawn {
			rows[i].at, p.at = &at, &at
		}
		if earlier, ok := last[ids[i]]; ok {
			if err := in.w.check(rows[earlier].row, in.named(rows[earlier]), false); err != nil {
				return nil, in.w.refuse(err, rows[earlier].pos)
			}
			rows[i] = in.over(p, rows[earlier])
		}
		last[ids[i]] = i
	}
	if len(last) == len(rows) {
		return rows, nil
	}
	out := rows[:0]
	for i, p := range rows {
		if last[ids[i]] == i {
			out = append(out, p)
		}
	}
	return out, nil
}

// over is row p with what it does not name as an earlier row names it.
func (in *inserter) over(p, earlier pendingRow) pendingRow {
	before := in.named(earlier)
	p.set = slices.Clone(in.named(p))
	for c, named := range p.set {
		if before[c] && !named {
			p.row[c], p.set[c] = earlier.row[c], true
		}
	}
	return p
}

// insertQuery writes the rows of a query. Rows of the table itself are all read
// before one is written, so that no row is read that the statement wrote.
func (r *run) insertQuery(ctx context.Context, s *parser.Insert, in *inserter) (*Rows, error) {
	p, err := r.planSelect(ctx, s.Query)
	if err != nil {
		return nil, err
	}
	if len(p.Columns) != len(in.cols) {
		return nil, parser.Errorf(s.Query.Pos, "the query gives %d columns for %d of %s", len(p.Columns), len(in.cols), in.w.table.Name)
	}
	when := asRead
	if readsTable(p, in.w.table) {
		when = allFirst
	}
	err = r.eachRow(ctx, p, when, func(rows [][]types.Value) error {
		for _, from := range rows {
			row := make([]types.Value, len(in.w.table.Columns)+2)
			for i, c := range in.cols {
				var err error
				if row[c.Index], err = r.assign(from[i], c, s.Query.Pos); err != nil {
					return err
				}
			}
			in.rows = append(in.rows, pendingRow{row: row, pos: s.Query.Pos})
		}
		if len(in.rows) >= writeBatch {
			return in.flush(ctx)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := in.flush(ctx); err != nil {
		return nil, err
	}
	return r.result(in.n, in.w.returning), nil
}

// readsTable reports whether p, or a query inside its expressions, reads a physical table of t.
func readsTable(p *plan.Plan, t *catalog.Table) bool {
	for _, s := range p.Subplans {
		if readsTable(s.Sample, t) {
			return true
		}
	}
	for _, s := range plan.Scans(p.Root) {
		if s.Table == t {
			return true
		}
		for _, a := range s.Table.Layouts {
			for _, b := range t.Layouts {
				if !a.Stored.IsLiteral() || !b.Stored.IsLiteral() || storedName(a) == storedName(b) {
					return true
				}
			}
		}
	}
	return false
}
