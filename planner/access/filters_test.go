package access

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/planner/plan"
)

// Servers try each member of a filter on each row that they look at: one of many members is left to the client.
func TestLargestFilters(t *testing.T) {
	c := given.Tables(t, "CREATE TABLE t (a INT, b INT, c INT, v INT FROM f:v) ROW KEY (a AS ORDERED INT32, b AS ORDERED INT32, c AS ORDERED INT32)")
	table, _ := c.Table("t")
	for _, test := range []struct {
		before, col string
		n           int
		by          plan.Checked
	}{
		{"", "b", 32, plan.ByBoth},
		{"", "b", 33, plan.ByClient},
		{"a IN (1, 3) AND ", "c", 16, plan.ByBoth}, // in each of two ranges
		{"a IN (1, 3) AND ", "c", 17, plan.ByClient},
		{"", "v", 128, plan.ByBoth},
		{"", "v", 129, plan.ByClient},
	} {
		vals := make([]string, test.n)
		for i := range vals {
			vals[i] = fmt.Sprint(2 * i)
		}
		where := fmt.Sprintf("%s%s IN (%s)", test.before, test.col, strings.Join(vals, ", "))
		cond, err := compileWhere(table, where, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := (&Env{}).Scan(&Request{Table: table, Conjuncts: expr.Conjuncts(cond), Needed: make([]bool, len(table.Columns)+2)})
		if err != nil {
			t.Fatal(err)
		}
		if by := s.Fates[len(s.Fates)-1].By; by != test.by {
			t.Errorf("%s%s IN %d numbers: %v, want %v", test.before, test.col, test.n, by, test.by)
		}
	}
}
