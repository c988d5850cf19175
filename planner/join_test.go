package planner

import (
	"strings"
	"testing"

	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/planner/plan"
)

// Joins begin with a source whose key is bound and go on with those whose keys the rows so far bind. Those that nothing binds stand as they
// are written: each has conditions on those before it.
func TestOrderOfJoins(t *testing.T) {
	c := given.Tables(t, `CREATE TABLE a (k INT PRIMARY KEY, v INT, w INT); CREATE TABLE b (k INT PRIMARY KEY, v INT, w INT);
		CREATE TABLE c (k INT PRIMARY KEY, v INT, w INT)`)
	for where, want := range map[string]string{
		"a.k = 1 AND b.v = a.v AND c.v = b.w": "a b c",
		"b.k = 1 AND a.v = b.v AND c.v = a.w": "b a c",
		"c.k = 1 AND a.v = c.v AND b.v = a.w": "c a b",
		"c.k = 1 AND a.v = c.v AND b.k = c.w": "c b a",
		"a.v = b.v AND b.w = c.v":             "a b c",
	} {
		p, err := (&Env{Catalog: c}).Select(given.Query(t, "SELECT a.v, b.v, c.v FROM a, b, c WHERE "+where))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range plan.Scans(p.Root) {
			got = append(got, s.Table.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", where, got, want)
		}
	}
}
