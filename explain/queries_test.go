package explain

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/planner/plan"
)

func planSelect(tb testing.TB, c *catalog.Catalog, query string) (*plan.Plan, error) {
	tb.Helper()
	return (&planner.Env{Catalog: c}).Select(given.Query(tb, query))
}

// testdata/queries.tsv fixes what EXPLAIN (FORMAT JSON) says of a query on each layout.
func TestQueries(t *testing.T) {
	src, err := os.ReadFile("../testdata/queries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	c := given.Layouts(t)
	n := 0
	for line := range strings.Lines(string(src)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 7 {
			continue
		}
		n++
		t.Run(fmt.Sprintf("%s/%d", f[0], n), func(t *testing.T) {
			p, err := planSelect(t, c, f[1])
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
