package exec

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
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
	return p, exprs, err
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

// delete runs DELETE.
func (r *run) delete(ctx context.Context, s *parser.Delete) (*Rows, error) {
	t, err := r.writableTable(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	p, err := r.planDelete(ctx, t, s)
	if err != nil {
		return nil, err
	}
	w := r.newWriter(t)
	if w.Returning, err = r.returning(t, s.Alias, s.Returning, s.Using != nil); err != nil {
		return nil, err
	}
	when := asRead
	if len(p.Subplans) > 0 || s.Using != nil {
		when = allFirst
	}
	return r.change(ctx, w, t, p, when, nil, func(row, _ []types.Value) error {
		return w.Delete(row, s.Pos)
	})
}

// change runs p and calls f for each of its rows: f gives w what is to be written for the row. change sends that in
// batches, and answers with the number of rows.
// next, which may be nil, makes the new values of a row, and f gets them. It is called for all rows that come together
// before f is called for one of them: with atOnce for all rows of p, so that its error leaves nothing written.
func (r *run) change(ctx context.Context, w *write.Writer, t *catalog.Table, p *plan.Plan, when reading, next func(row []types.Value) ([]types.Value, error), f func(row, next []types.Value) error) (*Rows, error) {
	n := int64(0)
	err := r.eachRow(ctx, p, when, func(rows [][]types.Value) error {
		if err := r.Numbers.ResolveNames(ctx, t, rows); err != nil {
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
			if err := f(row[:w.Width()], become[i]); err != nil {
				return err
			}
			if n++; w.Full() {
				if err := w.Flush(ctx); err != nil {
					return err
				}
				r.rec.written.Store(n)
			}
		}
		return nil
	})
	if err == nil {
		err = w.Flush(ctx)
	}
	if err != nil {
		w.Returning.Close()
		return nil, err
	}
	r.rec.written.Store(n)
	return r.result(n, w.Returning), nil
}

// update runs UPDATE. Columns of the key stay as they are: a row with another key is another row.
func (r *run) update(ctx context.Context, s *parser.Update) (*Rows, error) {
	t, err := r.writableTable(s.Table, s.TablePos)
	if err != nil {
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
	if w.Returning, err = r.returning(t, s.Alias, s.Returning, s.From != nil); err != nil {
		return nil, err
	}
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
	when := asRead
	switch {
	case len(p.Subplans) > 0:
		when = atOnce // for next may read the table
	case len(t.Layouts) > 1 || s.From != nil:
		when = allFirst
	}
	return r.change(ctx, w, t, p, when, next, func(old, row []types.Value) error {
		return w.Update(ctx, old, row, set, s.Pos)
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
			if part := t.Layouts[0].PartOf(o.Index); part != nil && (o == c || write.OneCell(o, c)) {
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
		x := a.Expr
		if _, named := t.Column("default"); isDefault(x) && !named {
			x = absent(c, x.Position())
		}
		values = append(values, x)
	}
	return set, values, nil
}
