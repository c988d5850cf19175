package planner

import (
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/testdata"
)

func layouts(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	c := catalog.New()
	if err := c.Load(testdata.Layouts); err != nil {
		tb.Fatal(err)
	}
	return c
}

func planSelect(c *catalog.Catalog, query string) (*plan.Plan, error) {
	st, err := parser.ParseStatement(query)
	if err != nil {
		return nil, err
	}
	return (&Env{Catalog: c}).Select(st.(*parser.Select))
}
