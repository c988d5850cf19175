package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
)

// The definitions of tables created in hql are kept in the store, so that every
// user of a cluster sees the same: table hql_catalog, a row a table under its
// lower-case name, the statement in d:sql. Rows that begin with a NUL are counters.
const (
	catalogTable     = "hql_catalog"
	catalogFamily    = "d"
	catalogQualifier = "sql"
	counterPrefix    = "\x00counter/"
	counterQualifier = "n"
)

// LoadCatalog adds the tables that the store's catalog holds and that the engine's
// does not know yet. A definition that cannot be read is a warning, not an error:
// it must not hide all others.
func (e *Engine) LoadCatalog(ctx context.Context) (warnings []string, err error) {
	sc, err := e.client.Scan(ctx, hbase.ScanRange{Table: catalogTable, Start: []byte{1}}, &hbase.ReadOptions{Families: []string{catalogFamily}})
	if errors.Is(err, hbase.ErrNoTable) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	defer sc.Close()
	var defs []*parser.CreateTable
	for {
		rows, err := sc.Next(ctx)
		if err == io.EOF || errors.Is(err, hbase.ErrNoTable) {
			break
		}
		if err != nil {
			return warnings, fmt.Errorf("read the catalog: %w", err)
		}
		for _, row := range rows {
			for _, c := range row.Cells {
				if string(c.Qualifier) != catalogQualifier {
					continue
				}
				s, err := parser.ParseStatement(string(c.Value))
				def, ok := s.(*parser.CreateTable)
				if err == nil && !ok {
					err = errors.New("it is another statement")
				}
				if err != nil {
					warnings = append(warnings, fmt.Sprintf("%s: row %q holds no CREATE TABLE statement: %v", catalogTable, row.Key, err))
					continue
				}
				defs = append(defs, def)
			}
		}
	}
	return append(warnings, e.addTables(defs)...), nil
}

// addTables adds the tables of defs that are not known.
func (e *Engine) addTables(defs []*parser.CreateTable) (warnings []string) {
	for _, def := range defs {
		if _, ok := e.catalog.Table(def.Name); ok {
			continue
		}
		t, err := e.catalog.Build(def)
		if err == nil {
			err = e.catalog.Add(t)
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: table %s: %v", catalogTable, def.Name, err))
		}
	}
	return warnings
}

func (r *run) ensureCatalogTable(ctx context.Context) error {
	_, err := r.client.Families(ctx, catalogTable)
	if errors.Is(err, hbase.ErrNoTable) {
		err = r.client.CreateTable(ctx, catalogTable, []hbase.Family{{Name: catalogFamily}}, nil)
	}
	if err != nil {
		return fmt.Errorf("make the catalog table: %w", err)
	}
	return nil
}

// saveTable keeps the definition of t in the store.
func (r *run) saveTable(ctx context.Context, t *catalog.Table) error {
	if err := r.ensureCatalogTable(ctx); err != nil {
		return err
	}
	return r.client.Mutate(ctx, catalogTable, []hbase.Mutation{{Kind: hbase.Put, Key: catalogKey(t.Name), Timestamp: r.engine.clock.next(),
		Cells: []hbase.Cell{{Family: []byte(catalogFamily), Qualifier: []byte(catalogQualifier), Value: []byte(t.SQL())}}}})
}

// forgetTable removes the definition of name from the store.
func (r *run) forgetTable(ctx context.Context, name string) error {
	ts := r.engine.clock.next()
	r.engine.clock.await(ts + 1)
	err := r.client.Mutate(ctx, catalogTable, []hbase.Mutation{{Kind: hbase.DeleteRow, Key: catalogKey(name), Timestamp: ts}})
	if errors.Is(err, hbase.ErrNoTable) {
		return nil
	}
	return err
}

func catalogKey(name string) []byte { return []byte(strings.ToLower(name)) }
