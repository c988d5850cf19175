package differential

import (
	"context"
	"strings"
	"testing"
)

// TestCatalog compares what the system catalogs of PostgreSQL and hql contain about the same table, one statement on
// each line.
func TestCatalog(t *testing.T) {
	pg, db, lines := askedOfBoth(t, "testdata/catalog")
	const columns = "(a INT PRIMARY KEY, b TEXT NOT NULL, c TEXT[], d UUID, e DOUBLE PRECISION, f NUMERIC, g TIMESTAMP WITH TIME ZONE, h BYTEA, i BIGINT[])"
	if err := pg.Exec(context.Background(), "DROP TABLE IF EXISTS catalog_t; CREATE TABLE catalog_t "+columns).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(context.Background(), "CREATE TABLE catalog_t "+columns); err != nil {
		t.Fatal(err)
	}
	for _, sql := range lines {
		r := pg.ExecParams(context.Background(), sql, nil, nil, nil, nil).Read()
		if r.Err != nil {
			t.Fatalf("%s: %v", sql, r.Err)
		}
		var want []string
		for _, row := range r.Rows {
			var cells []string
			for _, c := range row {
				cells = append(cells, string(c))
			}
			want = append(want, strings.Join(cells, "|"))
		}
		rows, err := db.Query(context.Background(), sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		var got []string
		for row, err := range rows.All() {
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				break
			}
			var cells []string
			for _, v := range row.Raw() {
				switch s := v.String(); s {
				case "true", "false":
					cells = append(cells, s[:1])
				default:
					cells = append(cells, s)
				}
			}
			got = append(got, strings.Join(cells, "|"))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\nhql\n%s\nPostgreSQL\n%s", sql, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
