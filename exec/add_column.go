package exec

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// filledRows gives the columns that changes add to t the values of their DEFAULTs in the rows that exist. A DEFAULT without
// volatile functions is evaluated once, and its value is that of rows without the cell. later are the columns of the other ones,
// whose values differ by row. def is the definition after changes, now its table.
func (r *run) filledRows(t *catalog.Table, def *parser.CreateTable, now *catalog.Table, changes []parser.Change) (_ *catalog.Table, later []filling, err error) {
	in, row, err := r.defaultsOf(now)
	if err != nil {
		return nil, nil, err
	}
	filled := false
	for _, given := range in.given {
		col := &def.Columns[slices.IndexFunc(def.Columns, func(c parser.ColumnDef) bool { return c.Name == given.column.Name })]
		adds := func(c parser.Change) bool {
			return c.Kind == parser.AddColumn && strings.EqualFold(c.Column.Name, col.Name)
		}
		if _, old := t.Column(col.Name); old || !slices.ContainsFunc(changes, adds) || given.column.EmptyIsNull() {
			continue
		}
		v := row[given.column.Index]
		switch {
		case expr.Volatile(given.value) != "":
			later = append(later, fillEach(t, col))
			filled, col.NotNull, col.Identity, col.Sequence = true, false, "", nil
		case !v.IsNull():
			l := &parser.Literal{Pos: col.Default.Position(), Kind: parser.StringLiteral, Text: v.String()}
			if v.Type() == types.Bytes {
				l.Kind, l.Text = parser.BytesLiteral, v.Text()
			}
			col.FillAbsent(l)
			filled = true
		case col.NotNull:
			return nil, nil, parser.Errorf(col.Pos, "column %q of table %s contains null values: its DEFAULT is NULL", col.Name, t.Name)
		}
	}
	if filled {
		now, err = r.engine.catalog.Build(def)
	}
	return now, later, err
}

// filling has the statements that give a new column a value of its own in each row.
type filling struct {
	fill, clear string          // clear takes the values back
	declare     []parser.Change // of the column, which was added without them
}

func fillEach(t *catalog.Table, col *parser.ColumnDef) filling {
	name, column := parser.QuoteName(t.Name), parser.QuoteName(col.Name)
	out := filling{fill: "UPDATE " + name + " SET " + column + " = DEFAULT WHERE " + column + " IS NULL ALLOW FULL SCAN", clear: "UPDATE " + name + " SET " + column + " = NULL ALLOW FULL SCAN"}
	if col.NotNull || col.Identity != "" {
		out.declare = []parser.Change{{Pos: col.Pos, Kind: parser.AlterNotNull, Name: col.Name, Column: parser.ColumnDef{NotNull: true}}}
	}
	if col.Identity != "" {
		out.declare = append(out.declare, parser.Change{Pos: col.Pos, Kind: parser.AlterIdentity, Name: col.Name, Column: *col})
	}
	return out
}

// fillRows ends an ALTER TABLE that has made t of old: it gives the columns of later their values, and compares the rows with checks,
// which t has as NOT VALID. If that fails, it takes the values back and restores old.
func (r *run) fillRows(ctx context.Context, old, t *catalog.Table, later []filling, checks []catalog.Check) (*catalog.Table, error) {
	var err error
	last := parser.Alter{Pos: parser.NoPos, Name: t.Name, NamePos: parser.NoPos}
	for _, f := range later {
		if last.Changes = append(last.Changes, f.declare...); err == nil {
			err = r.runText(ctx, f.fill)
		}
	}
	if err == nil && len(later) > 0 {
		t, err = r.tableNamed(t.Name, parser.NoPos)
	}
	if err == nil && len(checks) > 0 {
		t, err = r.validate(ctx, t, checks)
	}
	if err == nil && len(last.Changes) > 0 {
		_, err = r.alterDefinition(ctx, t, &last)
	}
	if err != nil {
		ctx = context.WithoutCancel(ctx)
		for _, f := range later {
			_ = r.runText(ctx, f.clear) // a column that is added again has the values that remain
		}
		if e := r.restore(ctx, old); e != nil {
			err = errors.Join(err, e)
		}
		return nil, err
	}
	return r.tableNamed(t.Name, parser.NoPos)
}

// restore makes old the definition again.
func (r *run) restore(ctx context.Context, old *catalog.Table) error {
	t, err := r.tableNamed(old.Name, parser.NoPos)
	if err != nil {
		return err
	}
	now, err := r.engine.catalog.Build(old.Def)
	if err == nil {
		_, err = r.redefine(ctx, t, now, parser.NoPos)
	}
	return err
}

// validate compares the rows of t with checks, which t has as NOT VALID, and makes them valid.
func (r *run) validate(ctx context.Context, t *catalog.Table, checks []catalog.Check) (*catalog.Table, error) {
	for _, c := range checks {
		broken := &parser.Unary{Pos: c.Pos, Op: "NOT", X: c.Expr}
		if err := r.noRow(ctx, t, broken, parser.Errorf(c.Pos, "check constraint %q of relation %q is violated by some row", c.Name, t.Name).
			WithHint("SELECT * FROM %s WHERE %s finds these rows; ADD ... NOT VALID checks new rows alone", parser.QuoteName(t.Name), broken).
			Of(&write.ConstraintError{Table: t.Name, Constraint: c.Name})); err != nil {
			return t, err
		}
	}
	def := t.Def.At(parser.NoPos)
	for i := range def.Checks {
		is := &def.Checks[i]
		is.NotValid = is.NotValid && !slices.ContainsFunc(checks, func(c catalog.Check) bool { return c.Name == is.Name })
	}
	now, err := r.engine.catalog.Build(def)
	if err != nil {
		return t, err
	}
	return r.redefine(context.WithoutCancel(ctx), t, now, parser.NoPos)
}

// runText runs the statement sql as a part of r's.
func (r *run) runText(ctx context.Context, sql string) error {
	s, err := parser.ParseStatement(sql)
	if err != nil {
		return err
	}
	next := r.engine.newRun(r.args, r.rec.began)
	next.prepare(ctx, s)
	defer func() { next.subqueries.end() }()
	_, err = next.do(ctx, s, nil)
	return err
}
