package explain

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
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
	return (&planner.Env{Catalog: c}).Select(st.(*parser.Select))
}

// testdata/queries.tsv fixes what EXPLAIN (FORMAT JSON) says of a query on each layout.
func TestQueries(t *testing.T) {
	src, err := os.ReadFile("../testdata/queries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	c := layouts(t)
	n := 0
	for line := range strings.Lines(string(src)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 7 {
			continue
		}
		n++
		t.Run(fmt.Sprintf("%s/%d", f[0], n), func(t *testing.T) {
			p, err := planSelect(c, f[1])
			if err != nil {
				t.Fatalf("%s: %v", f[1], err)
			}
			b, err := JSON(p, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Access              string
				Gets, Scans, Ranges int
				Order               string
			}
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			have := []string{got.Access, fmt.Sprint(got.Gets), fmt.Sprint(got.Scans), fmt.Sprint(got.Ranges), got.Order}
			for i, want := range f[2:] {
				if want != "-" && want != have[i] {
					t.Errorf("%s\ngot  %v\nwant %v\n%s", f[1], have, f[2:], String(p))
					break
				}
			}
		})
	}
	if n < 40 {
		t.Fatalf("only %d queries", n)
	}
}
