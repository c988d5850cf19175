// Package given parses the SQL with which tests begin: definitions of tables, and queries.
package given

import (
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
)

// Tables returns a catalog of the tables that ddl defines.
func Tables(tb testing.TB, ddl string) *catalog.Catalog {
	tb.Helper()
	c := catalog.New()
	if err := c.Load(ddl); err != nil {
		tb.Fatalf("%s: %v", ddl, err)
	}
	return c
}

// Layouts returns a catalog of the tables of testdata/layouts.sql.
func Layouts(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	return Tables(tb, testdata.Layouts)
}

// Query parses a query.
func Query(tb testing.TB, sql string) *parser.Select {
	tb.Helper()
	s, err := parser.ParseStatement(sql)
	if err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	q, ok := s.(*parser.Select)
	if !ok {
		tb.Fatalf("%s is not a query", sql)
	}
	return q
}
