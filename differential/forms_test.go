package differential

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/internal/forms"
	"github.com/hql-db/hql/internal/seeds"
)

// TestForms runs each condition of testdata/forms that PostgreSQL supports on PostgreSQL and compares the rows. Package
// exec tests which part of the key a condition binds, and that a full scan returns the same rows.
func TestForms(t *testing.T) {
	pg := connect(t)
	datadriven.Walk(t, "../testdata/forms", func(t *testing.T, path string) {
		w := &world{t: t, pg: pg, r: rand.New(rand.NewPCG(1, 1)), fig: seeds.Figures{}, sessions: map[string][]*hql.DB{}}
		w.exec("DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public; SET TIME ZONE 'UTC'; SET client_min_messages = error")
		w.open()
		db := w.clients[0]
		var table forms.Table
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "table":
				var err error
				if table, err = forms.ParseTable(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				w.exec("CREATE TABLE " + table.Name + " (" + table.Postgres + "); " + table.Insert)
				for _, sql := range []string{table.Create, table.Insert} {
					if _, err := db.Exec(t.Context(), sql); err != nil {
						d.Fatalf(t, "%v", err)
					}
				}
			case "forms":
				for _, f := range forms.Parse(d.Input) {
					if f.Without != "" {
						continue
					}
					sql := "SELECT * FROM " + table.Name + " WHERE "
					c := &call{text: sql + dialect(f.Where, f.Postgres)}
					h, p := w.ask(db, c)
					if h.err != nil || p.err != nil || !same(c, h.rows, p.rows) {
						t.Errorf("%s\nhql        %s\nPostgreSQL %s", f.Where, show(h, p), show(p, h))
					}
				}
			}
			return d.Expected
		})
	})
}
