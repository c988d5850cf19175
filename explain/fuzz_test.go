package explain

import (
	"os"
	"strings"
	"testing"

	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
)

// Any query on layouts.sql is an error or a plan that can be shown; printed and read again, it has the same plan.
func FuzzExplain(f *testing.F) {
	c := given.Layouts(f)
	src, err := os.ReadFile("../testdata/queries.tsv")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(src)) {
		for field := range strings.SplitSeq(line, "\t") {
			if strings.HasPrefix(field, "SELECT") {
				f.Add(strings.TrimSpace(field))
			}
		}
	}
	f.Add("SELECT a.id, count(*) FROM foo_hashed a JOIN foo_hashed b USING (id) GROUP BY 1 HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 3")
	f.Add("SELECT * FROM files WHERE user_id IN (SELECT uid FROM contacts WHERE phone LIKE '1%') AND create_time > DATE '2012-09-01'")
	f.Fuzz(func(t *testing.T, query string) {
		st, err := parser.ParseStatement(query)
		if err != nil {
			return
		}
		sel, ok := st.(*parser.Select)
		if !ok {
			return
		}
		p, err := (&planner.Env{Catalog: c}).Select(sel)
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("%q: an error without a message", query)
			}
			return
		}
		shown := String(p)
		if _, err := JSON(p, nil); err != nil || shown == "" {
			t.Fatalf("%q: %q, %v", query, shown, err)
		}
		again, err := planSelect(t, c, sel.String())
		if err != nil {
			t.Fatalf("%q is planned, and printed as %q: %v", query, sel, err)
		}
		if got := String(again); got != shown {
			t.Fatalf("%q:\n%s\nprinted as %q:\n%s", query, shown, sel, got)
		}
	})
}
