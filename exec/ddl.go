package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
)

// createTable runs CREATE TABLE: the definition is checked, the HBase tables that
// are missing are made, the definition is kept in the store.
func (r *run) createTable(ctx context.Context, s *parser.CreateTable) (*Rows, error) {
	cat := r.engine.catalog
	if _, ok := cat.Table(s.Name); ok {
		if s.IfNotExists {
			return r.done(-1), nil
		}
		return nil, parser.Errorf(s.NamePos, "table %q exists already", s.Name)
	}
	t, err := cat.Build(s)
	if err != nil {
		return nil, err
	}
	for _, u := range t.Lookups() {
		if _, ok := cat.Table(u.Table); !ok {
			return nil, parser.Errorf(u.Pos, "LOOKUP in %s: there is no such table", u.Table).WithHint("create it first")
		}
	}
	if !t.External {
		for _, l := range t.Layouts {
			if !l.Stored.IsLiteral() {
				continue // made when a row is written
			}
			if err := r.createPhysical(ctx, t, storedName(l)); err != nil {
				return nil, err
			}
		}
	}
	switch err := r.saveTable(ctx, t); {
	case errors.Is(err, ErrReadOnly) && t.External:
		r.warn.add(warnReadOnly, fmt.Sprintf("the connection is read-only: %s is known until it ends", t.Name))
	case err != nil:
		return nil, err
	}
	if err := cat.Add(t); err != nil {
		return nil, err
	}
	return r.done(-1), nil
}

// storedName is the name of the physical table of l, which is a literal.
func storedName(l *catalog.Layout) string {
	var b []byte
	for _, p := range l.Stored.Parts {
		b = append(b, p.Literal...)
	}
	return string(b)
}

// createPhysical makes the HBase table name for t, unless it exists: several
// record types may share one, and another writer may be faster. It must then have the families of t.
func (r *run) createPhysical(ctx context.Context, t *catalog.Table, name string) error {
	have, err := r.client.Families(ctx, name)
	switch {
	case err == nil:
		for _, f := range t.Families {
			if !slices.ContainsFunc(have, func(h hbase.Family) bool { return h.Name == f.Name }) {
				return parser.Errorf(t.Def.NamePos, "the HBase table %s exists and has no family %q", name, f.Name)
			}
		}
		return nil
	case !errors.Is(err, hbase.ErrNoTable):
		return err
	}
	l := t.Layouts[0]
	for _, o := range t.Layouts {
		if o.Stored.IsLiteral() && storedName(o) == name {
			l = o
		}
	}
	var splits [][]byte
	if l == t.Layouts[0] { // SPLIT is about the primary layout's keys
		if splits, err = r.splitKeys(ctx, t, l); err != nil {
			return err
		}
	}
	var families []hbase.Family
	for _, f := range t.Families {
		families = append(families, hbase.Family{Name: f.Name, Attributes: f.Attributes})
	}
	err = r.client.CreateTable(ctx, name, families, splits)
	if errors.Is(err, hbase.ErrTableExists) {
		return r.createPhysical(ctx, t, name)
	}
	return err
}

// splitKeys gives the keys that a new table of layout l is split at.
func (r *run) splitKeys(ctx context.Context, t *catalog.Table, l *catalog.Layout) ([][]byte, error) {
	return t.SplitKeys(l, r.engine.cfg.ReadFile, func(file string) ([][]byte, error) { return r.sampleKeys(ctx, t, file) })
}

// dropTable runs DROP TABLE. HBase tables that another definition uses too stay.
func (r *run) dropTable(ctx context.Context, s *parser.DropTable) (*Rows, error) {
	t, err := r.tableNamed(s.Name, s.NamePos)
	if err != nil {
		if s.IfExists {
			return r.done(-1), nil
		}
		return nil, err
	}
	for _, o := range r.engine.catalog.Tables() {
		for _, u := range o.Lookups() {
			if strings.EqualFold(u.Table, t.Name) {
				return nil, parser.Errorf(s.NamePos, "table %s is used by %s: %s", t.Name, o.Name, u.Source).WithHint("drop %s first", o.Name)
			}
		}
	}
	if !t.External {
		for i := len(t.Layouts) - 1; i >= 0; i-- {
			if err := r.dropPhysical(ctx, t, t.Layouts[i]); err != nil {
				return nil, err
			}
		}
	}
	if err := r.forgetTable(ctx, t.Name); err != nil && !(t.External && errors.Is(err, ErrReadOnly)) {
		return nil, err
	}
	r.engine.catalog.Drop(t.Name)
	r.engine.lookups.clear() // t may have given numbers
	return r.done(-1), nil
}

// physical lists the HBase tables of one layout.
func (r *run) physical(ctx context.Context, l *catalog.Layout) ([]string, error) {
	if l.Stored.IsLiteral() {
		return []string{storedName(l)}, nil
	}
	return r.tables(ctx, l, string(l.Stored.Parts[0].Literal))
}

// dropPhysical drops the HBase tables of one layout.
func (r *run) dropPhysical(ctx context.Context, t *catalog.Table, l *catalog.Layout) error {
	names, err := r.physical(ctx, l)
	if err != nil {
		return err
	}
	for _, name := range names {
		if o := r.sharing(t, name); o != nil {
			r.warn.add(warnTableKept, fmt.Sprintf("the HBase table %s stays: %s is stored in it too", name, o.Name))
			continue
		}
		if err := r.client.DropTable(ctx, name); err != nil && !errors.Is(err, hbase.ErrNoTable) {
			return err
		}
	}
	return nil
}

// sharing finds another table that has rows in the HBase table name.
func (r *run) sharing(t *catalog.Table, name string) *catalog.Table {
	for _, o := range r.engine.catalog.Tables() {
		if o == t {
			continue
		}
		for _, l := range o.Layouts {
			if l.Stored.IsLiteral() && storedName(l) == name {
				return o
			}
			if !l.Stored.IsLiteral() && fitsName(l.Stored, name) {
				return o
			}
		}
	}
	return nil
}
