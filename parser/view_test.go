package parser

import (
	"reflect"
	"testing"
)

// A copy of a query shares no node with it, reads the same and is all in one place.
func TestAt(t *testing.T) {
	const src = `WITH w (x) AS (SELECT a FROM b) SELECT x, f(y ORDER BY z) FILTER (WHERE q), sum(a) OVER (PARTITION BY b ROWS 1 PRECEDING), t.*
		FROM (SELECT 1 UNION VALUES (2), (3)) AS s (n) LEFT JOIN t FOR SYSTEM_TIME BETWEEN 1 AND 2 ON s.n = t.n, u
		WHERE a IN (SELECT b FROM c) AND x BETWEEN 1 AND 2 GROUP BY ROLLUP (a, b) HAVING max(a) > 2 ORDER BY 1 LIMIT 1 OFFSET 2`
	st, err := ParseStatement(src)
	if err != nil {
		t.Fatal(err)
	}
	s := st.(*Select)
	text := s.String()
	c := s.At(7)
	if got := c.String(); got != text {
		t.Errorf("%s\nbecomes\n%s", text, got)
	}
	was, is := map[Node]bool{}, map[Node]bool{}
	collectNodes(reflect.ValueOf(s), was)
	collectNodes(reflect.ValueOf(c), is)
	if len(was) != len(is) || len(was) < 30 {
		t.Errorf("%d nodes of %d", len(is), len(was))
	}
	for n := range is {
		if was[n] {
			t.Errorf("%s is of both", n)
		}
		if n.Position() != 7 {
			t.Errorf("%s is at %d", n, n.Position())
		}
	}
}
