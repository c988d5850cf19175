package exec

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
)

// A materialized view is a table whose definition keeps a query. REFRESH writes the rows of the query into new HBase tables, lets
// the definition name these, and drops the old ones. Readers see the old rows or the new ones, never a part of them.

// materializedQuery returns the query of s, a materialized view, as its definition keeps it.
func (r *run) materializedQuery(ctx context.Context, s *parser.CreateTable) (*parser.Select, error) {
	if p := parser.FirstParam(s.Query); p != nil {
		return nil, parser.Errorf(p.Pos, "materialized views may not be defined using bound parameters")
	}
	for _, t := range parser.Tables(s.Query) {
		if own := r.session.temporaryTables(); own != "" && strings.HasPrefix(t.Name, own) {
			return nil, parser.Errorf(t.Pos, "materialized views must not use temporary tables or views")
		}
	}
	if file, err := r.readsFile(ctx, s.Query); err != nil || file != "" {
		if err == nil {
			err = parser.Errorf(s.NamePos, "materialized view %s is kept in the store: it cannot read %s, which only a catalog file of this connection defines", s.Name, file)
		}
		return nil, err
	}
	kept, err := r.timeless(&parser.CreateView{Pos: s.Pos, Name: s.Name, NamePos: s.NamePos, Query: s.Query})
	if err != nil {
		return nil, err
	}
	return kept.Query, nil
}

// refreshView runs REFRESH MATERIALIZED VIEW.
func (r *run) refreshView(ctx context.Context, s *parser.Alter) (*Rows, error) {
	t, err := r.tableNamed(s.Name, s.NamePos)
	if err == nil && !t.Def.Materialized {
		err = notA("materialized view", t.Name, s.NamePos)
	}
	if err != nil {
		return nil, err
	}
	if _, err = r.refill(ctx, t, s.Changes[0].If, s.NamePos); err != nil {
		return nil, err
	}
	return r.done(-1), nil
}

// refill gives the materialized view t the rows of its query, or none. The new HBase tables first belong to a temporary table of no
// session, which remains after a crash.
func (r *run) refill(ctx context.Context, t *catalog.Table, noData bool, at parser.Pos) (*Rows, error) {
	if _, err := r.changeable(ctx, t.Name, at); err != nil {
		return nil, err
	}
	id := strings.ToLower(rand.Text()[:10])
	next := t.Refilled(id)
	next.NoData = noData
	filling := *next.At(at)
	filling.Name, filling.Materialized = temporary+id+":"+t.Name[strings.IndexByte(t.Name, ':')+1:], false
	rows, err := r.createTable(ctx, &filling)
	if err != nil {
		return nil, err
	}
	if filled, ok := r.engine.catalog.Table(filling.Name); ok { // * stands for the columns that the tables have now
		next.Columns = filled.Def.Columns
	}
	now, err := r.engine.catalog.Build(next)
	if err == nil {
		err = r.checkUnchanged(ctx, t)
	}
	if err == nil {
		now, err = r.redefine(ctx, t, now, at)
	}
	if err != nil {
		return r.dropAgain(ctx, &filling, nil, err)
	}
	known, _, err := r.engine.definitionOf(ctx, filling.Name)
	if err == nil {
		err = r.forgetDefinition(ctx, filling.Name, known.sql)
	}
	if err == nil {
		err = r.engine.reload(ctx)
	}
	old := &drop{run: r, table: t, kept: now}
	for _, l := range slices.Backward(t.Layouts) {
		if err == nil {
			err = old.dropPhysical(ctx, l)
		}
	}
	if err != nil {
		return nil, keptError{fmt.Errorf("%s has its new rows, but HBase tables of the old ones may be left: %w", t.Name, err)}
	}
	return rows, nil
}

// populated refuses to read a materialized view that has no rows yet.
func populated(t *catalog.Table) error {
	if t.Def.Materialized && t.Def.NoData {
		return parser.Errorf(parser.NoPos, "materialized view %q has not been populated", t.Name).WithHint("REFRESH MATERIALIZED VIEW %s runs its query", parser.QuoteName(t.Name))
	}
	return nil
}

// notA returns the error of a statement about another kind of relation than the one called name.
func notA(kind, name string, at parser.Pos) *parser.Error {
	return parser.Errorf(at, "%q is not a %s", name, kind)
}
