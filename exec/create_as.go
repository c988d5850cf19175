package exec

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// dropTime bounds the time for dropping a table whose rows could not all be written. The drop continues even if the
// statement was cancelled.
const dropTime = 10 * time.Second

// errTableExists marks the error of CREATE TABLE if a table of the same name exists.
var errTableExists = errors.New("the table exists")

// createTableAs runs CREATE TABLE ... AS: it creates the table with the columns of the query and writes the query's
// rows. If that fails, it drops the table.
func (r *run) createTableAs(ctx context.Context, s *parser.CreateTable, taken error) (*Rows, error) {
	if s.External {
		return nil, parser.Errorf(s.Pos, "CREATE EXTERNAL TABLE maps a table that exists: it is written with INSERT INTO %s query", parser.QuoteName(s.Name))
	}
	p, err := r.planSelect(ctx, s.Query)
	if err != nil {
		return nil, err
	}
	def := *s
	def.Query, def.IfNotExists = nil, false
	if def.Columns, err = columnsOfQuery(s, p.Columns); err != nil {
		return nil, err
	}
	define := func() (*Rows, error) { return r.createTable(ctx, &def) }
	if s.Materialized { // it has no rows until it has all of them
		if def.Query, err = r.materializedQuery(ctx, s); err != nil {
			return nil, err
		}
		def.NoData, define = true, func() (*Rows, error) { return r.define(ctx, &def, taken) }
	}
	var kept keptError
	switch _, err := define(); {
	case s.IfNotExists && errors.Is(err, errTableExists): // another connection was faster: its rows stay
		return r.done(-1), nil
	case errors.As(err, &kept):
		return r.dropAgain(ctx, s, nil, err)
	case err != nil:
		return nil, err
	}
	if s.NoData {
		return r.done(-1), nil
	}
	r.rec.ended.Store(nil) // the statement continues after the table was created
	made, _ := r.engine.catalog.Table(s.Name)
	if s.Materialized {
		rows, err := r.refill(ctx, made, false, s.NamePos)
		if err != nil {
			return r.dropAgain(ctx, s, made, err)
		}
		return rows, nil
	}
	into := &parser.Insert{Pos: s.Pos, Table: s.Name, TablePos: s.NamePos, Query: s.Query}
	for _, c := range def.Columns {
		into.Columns = append(into.Columns, parser.Name{Pos: s.NamePos, Name: c.Name})
	}
	rows, err := r.insert(ctx, into)
	if err != nil {
		return r.dropAgain(ctx, s, made, err)
	}
	return rows, nil
}

// dropAgain drops the table that s created before s failed with err. made is that table, or nil if unknown. If another
// table has the name by now, that table stays.
func (r *run) dropAgain(ctx context.Context, s *parser.CreateTable, made *catalog.Table, err error) (*Rows, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer stop()
	if e := r.engine.reload(ctx); e != nil {
		return r.partly(nil, errors.Join(err, e))
	}
	now, ok := r.engine.catalog.Table(s.Name)
	if !ok || made != nil && now != made {
		return nil, err // it was dropped meanwhile; the name may be another connection's table now
	}
	stay, e := r.sharesTables(ctx, now)
	if e == nil {
		_, e = r.dropTable(ctx, &parser.Drop{Pos: s.Pos, Materialized: s.Materialized, Name: s.Name, NamePos: s.NamePos, IfExists: true})
	}
	if e != nil {
		err = errors.Join(err, e)
	}
	if e != nil || stay {
		return r.partly(nil, err)
	}
	return nil, err
}

// sharesTables reports whether another table has rows in an HBase table of t: such an HBase table stays when t is
// dropped.
func (r *run) sharesTables(ctx context.Context, t *catalog.Table) (bool, error) {
	for _, l := range t.Layouts {
		names, err := r.physical(ctx, l)
		if err != nil || slices.ContainsFunc(names, func(name string) bool { return r.sharing(t, name) != nil }) {
			return err == nil, err
		}
	}
	return false, nil
}

// columnsOfQuery returns the columns of s in the order of its query. Columns that s does not define have the query's
// types.
func columnsOfQuery(s *parser.CreateTable, from []plan.OutputColumn) ([]parser.ColumnDef, error) {
	if err := namedColumns("table", s.Name, s.NamePos, s.Query, nil, from); err != nil {
		return nil, err
	}
	var out []parser.ColumnDef
	for _, c := range from {
		named := func(d parser.ColumnDef) bool { return strings.EqualFold(d.Name, c.Name) }
		if i := slices.IndexFunc(s.Columns, named); i >= 0 {
			out = append(out, s.Columns[i])
			continue
		}
		d := parser.ColumnDef{Pos: s.Query.Pos, Name: c.Name, Type: c.Type.String()}
		switch c.Type {
		case types.Null, types.Char:
			d.Type = types.String.String()
		case types.RegClass, types.RegType, types.RegProc, types.RegNamespace:
			d.Type = types.BigInt.String()
		case types.Int2Vector, types.OIDVector:
			d.Type = types.ArrayOf(types.BigInt).String()
		}
		out = append(out, d)
	}
	for _, d := range s.Columns {
		if !slices.ContainsFunc(from, func(c plan.OutputColumn) bool { return strings.EqualFold(d.Name, c.Name) }) {
			return nil, parser.Errorf(d.Pos, "the query has no column %q", d.Name).WithHint("name one in its select list: expression AS %s", parser.QuoteName(d.Name))
		}
	}
	return out, nil
}
