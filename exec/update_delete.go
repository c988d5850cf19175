package exec

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/scan"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// planWhere plans the reading of the rows that an UPDATE or DELETE is about, with all their columns, and
// compiles the values that an UPDATE sets.
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

// planJoined is planWhere for an UPDATE with FROM or a DELETE with USING: s reads their rows, under name those of t. Of
// several rows beside one of t the one counts whose values come first.
func (r *run) planJoined(ctx context.Context, t *catalog.Table, name string, s *parser.Select, values []parser.Expr) (*plan.Plan, []expr.Expr, error) {
	core := s.Cores[0]
	core.Items = nil
	column := func(of string) parser.Expr {
		return &parser.ColumnRef{Pos: s.Pos, Table: name, Name: of, Quoted: true}
	}
	for _, c := range append(slices.Clip(t.ColumnNames()), catalog.KeyColumn, catalog.TimestampColumn) {
		core.Items = append(core.Items, parser.SelectItem{Pos: s.Pos, Expr: column(c)})
	}
	core.On = []parser.Expr{column(catalog.KeyColumn)} // which several tables may have, and a row of HBase that holds several
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
	p, err := r.planSelect(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range exprs {
		c := x.(*expr.Column)
		c.Typ = p.Columns[c.Index].Type
	}
	return p, exprs, nil
}

// planDelete plans the reading of the rows that a DELETE is about.
func (r *run) planDelete(ctx context.Context, t *catalog.Table, s *parser.Delete) (*plan.Plan, error) {
	if s.Using != nil {
		p, _, err := r.planJoined(ctx, t, cmp.Or(s.Alias, s.Table), s.Joined(), nil)
		return p, err
	}
	p, _, err := r.planWhere(ctx, t, s.Alias, s.Where, s.AllowFullScan)
	return p, err
}

// planUpdate plans the reading of the rows that an UPDATE is about, and compiles the values that it sets.
func (r *run) planUpdate(ctx context.Context, t *catalog.Table, s *parser.Update, values []parser.Expr) (*plan.Plan, []expr.Expr, error) {
	if s.From != nil {
		return r.planJoined(ctx, t, cmp.Or(s.Alias, s.Table), s.Joined(), values)
	}
	return r.planWhere(ctx, t, s.Alias, s.Where, s.AllowFullScan, values...)
}

// currentPlace is where a row that was read stands in the primary layout.
func (w *writer) currentPlace(row []types.Value) (place, error) {
	primary := w.table.Layouts[0]
	if primary.Key.Drawn() == nil {
		return w.place(primary, row)
	}
	at := place{key: []byte(row[len(w.table.Columns)].Text())}
	name, err := primary.Stored.Append(nil, row, &w.env)
	at.table = string(name)
	if err == nil && primary.Packed != nil {
		at.qualifier, err = primary.Packed.Append(nil, row, &w.env)
	}
	return at, err
}

// delete runs DELETE.
func (r *run) delete(ctx context.Context, s *parser.Delete) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	if err := writable(t, s.TablePos); err != nil {
		return nil, err
	}
	p, err := r.planDelete(ctx, t, s)
	if err != nil {
		return nil, err
	}
	w := r.newWriter(t)
	if w.returning, err = r.returning(t, s.Alias, s.Returning, s.Using != nil); err != nil {
		return nil, err
	}
	when := asRead
	if len(p.Subplans) > 0 || s.Using != nil {
		when = allFirst
	}
	return r.change(ctx, w, p, when, nil, func(row, _ []types.Value) error {
		at, err := w.currentPlace(row)
		if err == nil {
			err = w.remove(row, at)
		}
		if err == nil && w.returning != nil {
			err = w.returning.add(rowID{}, row)
		}
		return w.refuse(err, s.Pos)
	})
}

// width is the number of columns of a row of the table, _key and _ts among them.
func (w *writer) width() int { return len(w.table.Columns) + 2 }

// change runs p and calls f for each of its rows: f gives w what is to be written for the row. change sends that in
// batches, and answers with the number of rows.
// next, which may be nil, makes the new values of a row, and f gets them. It is called for all rows that come together
// before f is called for one of them: with atOnce for all rows of p, so that its error leaves nothing written.
func (r *run) change(ctx context.Context, w *writer, p *plan.Plan, when reading, next func(row []types.Value) ([]types.Value, error), f func(row, next []types.Value) error) (*Rows, error) {
	n := int64(0)
	err := r.eachRow(ctx, p, when, func(rows [][]types.Value) error {
		if err := r.Numbers.ResolveNames(ctx, w.table, rows); err != nil {
			return err
		}
		become := make([][]types.Value, len(rows))
		for i := 0; next != nil && i < len(rows); i++ {
			var err error
			if become[i], err = next(rows[i]); err != nil {
				return err
			}
		}
		for i, row := range rows {
			if err := f(row[:w.width()], become[i]); err != nil {
				return err
			}
			if n++; w.full() {
				if err := w.flush(ctx); err != nil {
					return err
				}
				r.rec.written.Store(n)
			}
		}
		return nil
	})
	if err == nil {
		err = w.flush(ctx)
	}
	if err != nil {
		if w.returning != nil {
			w.returning.kept.Close()
		}
		return nil, err
	}
	r.rec.written.Store(n)
	return r.result(n, w.returning), nil
}

// update runs UPDATE. Columns of the key stay as they are: a row with another key is another row.
func (r *run) update(ctx context.Context, s *parser.Update) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	if err := writable(t, s.TablePos); err != nil {
		return nil, err
	}
	set, values, err := assignments(t, s)
	if err != nil {
		return nil, err
	}
	p, exprs, err := r.planUpdate(ctx, t, s, values)
	if err != nil {
		return nil, err
	}
	w, env := r.newWriter(t), r.ExprEnv()
	if w.returning, err = r.returning(t, s.Alias, s.Returning, s.From != nil); err != nil {
		return nil, err
	}
	next := func(old []types.Value) ([]types.Value, error) {
		row := slices.Clone(old[:w.width()])
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
	when := asRead
	switch {
	case len(p.Subplans) > 0:
		when = atOnce // for next may read the table
	case len(t.Layouts) > 1 || s.From != nil:
		when = allFirst
	}
	return r.change(ctx, w, p, when, next, func(old, row []types.Value) error {
		if err := r.allocate(ctx, w, []pendingRow{{row: row, pos: s.Pos}}); err != nil {
			return err
		}
		at, err := w.currentPlace(old)
		if err == nil {
			err = w.put(ctx, row, set, false, &at, old)
		}
		return w.refuse(err, s.Pos)
	})
}

// assignments compiles SET.
func assignments(t *catalog.Table, s *parser.Update) (set []bool, values []parser.Expr, err error) {
	set = make([]bool, len(t.Columns))
	for _, a := range s.Set {
		c, err := columnNamed(t, a.Column)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range t.Columns {
			if part := t.Layouts[0].PartOf(o.Index); part != nil && (o == c || oneCell(o, c)) {
				what := "column " + c.Name + " is"
				if o != c {
					what = "column " + c.Name + " stands in one cell with " + o.Name + ", which is"
				}
				return nil, nil, parser.Errorf(a.Column.Pos, "%s part of the rowkey (%s): UPDATE cannot change it", what, part.Source).
					WithHint("insert the row anew and delete the old one")
			}
		}
		if set[c.Index] {
			return nil, nil, parser.Errorf(a.Column.Pos, "column %q is set twice", c.Name)
		}
		set[c.Index] = true
		values = append(values, a.Expr)
	}
	return set, values, nil
}

// present is stored for writing: what derived layouts hold of a row follows from the row as it was. Tables without them
// are not read.
func (r *run) present(ctx context.Context, w *writer, rows []pendingRow) ([][]types.Value, error) {
	if len(w.table.Layouts) == 1 {
		return nil, nil
	}
	return r.stored(ctx, w, w.table.Layouts[0], rows)
}

// pending are rows that no place in a statement is known of.
func pending(rows [][]types.Value) []pendingRow {
	out := make([]pendingRow, len(rows))
	for i, row := range rows {
		out[i] = pendingRow{row: row, pos: parser.NoPos}
	}
	return out
}

// stored reads the rows that layout l, the primary one or a copy, holds under the keys of rows: nil for a row that is not
// there. No part of its keys is drawn.
func (r *run) stored(ctx context.Context, w *writer, l *catalog.Layout, rows []pendingRow) ([][]types.Value, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	t := w.table
	s := plan.NewScan(t, l)
	s.Access = plan.Get
	for i := range t.Columns {
		s.Needed[i] = true
	}
	s.Needed[len(t.Columns)+1] = true
	opts := scan.ReadOptions(s, l)
	dec := scan.NewDecoder(&r.Reads, s, l)
	places := make([]place, len(rows))
	for i, p := range rows {
		var err error
		if places[i], err = w.place(l, p.row); err != nil {
			return nil, w.refuse(err, p.pos)
		}
	}
	out := make([][]types.Value, len(rows))
	err := r.eachGet(ctx, places, opts, !l.Stored.IsLiteral(), func(from int, found []hbase.Row) error {
		seen := time.Now()
		for k := range found {
			if found[k].Key == nil {
				continue
			}
			is := places[from+k]
			decoded, err := dec.Rows(ctx, is.table, &found[k], seen)
			if err != nil {
				return err
			}
			for _, row := range decoded {
				if is.qualifier != nil { // the row of HBase holds several
					if at, err := w.place(l, row); err != nil || !bytes.Equal(at.qualifier, is.qualifier) {
						continue
					}
				}
				out[from+k] = row
			}
		}
		return nil
	})
	return out, err
}

// identity is the place of a row in the primary layout, the same whatever salt is drawn for it. Rows of one identity
// are one row.
func (w *writer) identity(row []types.Value) (rowID, error) {
	at, err := w.stands(row)
	return at.id(), err
}

// stands gives where row stands in the primary layout; that of all draws one is meant, where a part of the key is drawn.
func (w *writer) stands(row []types.Value) (place, error) {
	env := w.env
	defer func() { w.env = env }()
	w.env.Rand = func() uint64 { return 0 }
	return w.place(w.table.Layouts[0], row)
}

// missing keeps the rows whose key no row of the table has, under any salt, for IF NOT EXISTS. Of rows with the same key
// the first is kept.
func (r *run) missing(ctx context.Context, w *writer, rows []pendingRow) ([]pendingRow, error) {
	drawn := w.table.Layouts[0].Key.Drawn() != nil
	seen := map[rowID]bool{}
	if drawn {
		if err := r.underAnySalt(ctx, w, rows, seen); err != nil {
			return nil, err
		}
	}
	out := rows[:0]
	for _, p := range rows {
		id, err := w.identity(p.row)
		if err != nil {
			return nil, w.refuse(err, p.pos)
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, p)
		}
	}
	if drawn {
		return out, nil
	}
	old, err := r.stored(ctx, w, w.table.Layouts[0], out)
	if err != nil {
		return nil, err
	}
	rows, out = out, out[:0]
	for i, p := range rows {
		if old[i] == nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// underAnySalt notes the identities of the rows that the table has with the keys of rows.
func (r *run) underAnySalt(ctx context.Context, w *writer, rows []pendingRow, seen map[rowID]bool) error {
	for part := range slices.Chunk(rows, keysPerPlan) {
		p, err := r.planKeys(ctx, w, part)
		if err != nil {
			return err
		}
		err = r.eachRow(ctx, p, asRead, func(found [][]types.Value) error {
			for _, row := range found {
				id, err := w.identity(row)
				if err != nil {
					return err
				}
				seen[id] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keysPerPlan bounds the rows that one plan looks for by their keys.
const keysPerPlan = 200

// planKeys plans reading the rows whose keys are those of rows but for what is drawn: a = ? AND COALESCE(b, 0) = ? OR ...
func (r *run) planKeys(ctx context.Context, w *writer, rows []pendingRow) (*plan.Plan, error) {
	env := *r.env
	env.Args = nil
	var where parser.Expr
	for _, p := range rows {
		var same parser.Expr
		for _, t := range keyTerms(w.table) {
			v, err := t.value.Eval(&expr.Env{Row: p.row})
			if err != nil {
				return nil, w.refuse(err, p.pos)
			}
			env.Args = append(env.Args, v)
			var is parser.Expr = &parser.Binary{Op: "=", X: t.written, Y: &parser.Param{Index: len(env.Args)}}
			if v.IsNull() {
				is = &parser.Is{X: t.written, What: "NULL"}
			}
			same = joined(same, "AND", is)
		}
		where = joined(where, "OR", same)
	}
	sub := *r
	sub.env = &env
	p, _, err := sub.planWhere(ctx, w.table, "", where, true)
	return p, err
}

// joined is x op y, or y where there is no x.
func joined(x parser.Expr, op string, y parser.Expr) parser.Expr {
	if x == nil {
		return y
	}
	return &parser.Binary{Op: op, X: x, Y: y}
}

// keyTerm is what rows with the same key have alike, to be planned and to be computed.
type keyTerm struct {
	written parser.Expr
	value   expr.Expr
}

// keyTerms tells the rows of t apart by where they stand: columns that are read from the key, and parts of it that are made
// from others, which rows with different values of these may share.
func keyTerms(t *catalog.Table) []keyTerm {
	var out []keyTerm
	var seen []int
	for _, p := range t.Layouts[0].AllParts() {
		known := !slices.ContainsFunc(p.Columns, func(c int) bool { return !t.Columns[c].KeyPart })
		if !known && !p.UsesLookup() {
			out = append(out, keyTerm{p.Def.Expr, p.Expr})
			continue
		}
		for _, c := range p.Columns {
			if !slices.Contains(seen, c) {
				seen = append(seen, c)
				col := t.Columns[c]
				out = append(out, keyTerm{&parser.ColumnRef{Name: col.Name, Quoted: true}, &expr.Column{Index: c, Name: col.Name, Typ: col.Type}})
			}
		}
	}
	return out
}
