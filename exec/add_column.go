package exec

import (
	"context"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// filledRows gives the columns that changes add to t the values of their DEFAULTs in the rows that exist. A DEFAULT without
// volatile functions is evaluated once, and its value is that of rows without the cell. later are the statements that write the
// values of the other ones, which differ by row. def is the definition after changes, now its table.
func (r *run) filledRows(t *catalog.Table, def *parser.CreateTable, now *catalog.Table, changes []parser.Change) (_ *catalog.Table, later []parser.Statement, err error) {
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
			steps, err := fillEach(t, col)
			if err != nil {
				return nil, nil, err
			}
			filled, later, col.NotNull = filled || col.NotNull, append(later, steps...), false
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

// fillEach returns the statements that write a value of its own into col for each row of t that has none.
func fillEach(t *catalog.Table, col *parser.ColumnDef) ([]parser.Statement, error) {
	name, column := parser.QuoteName(t.Name), parser.QuoteName(col.Name)
	fill, err := parser.ParseStatement("UPDATE " + name + " SET " + column + " = DEFAULT WHERE " + column + " IS NULL ALLOW FULL SCAN")
	steps := []parser.Statement{fill}
	if col.NotNull {
		last := parser.Change{Pos: col.Pos, Kind: parser.AlterNotNull, Name: col.Name, Column: parser.ColumnDef{NotNull: true}}
		steps = append(steps, &parser.Alter{Pos: col.Pos, Verb: "ALTER TABLE", Name: t.Name, NamePos: col.Pos, Changes: []parser.Change{last}})
	}
	return steps, err
}

// runEach runs the statements of steps, parts of r's statement, one after the other.
func (r *run) runEach(ctx context.Context, steps []parser.Statement) error {
	for _, step := range steps {
		next := r.engine.newRun(r.args, r.rec.began)
		next.prepare(ctx, step)
		_, err := next.do(ctx, step, nil)
		next.subqueries.end()
		if err != nil {
			return err
		}
	}
	return nil
}
