package parser

import (
	"reflect"
	"strings"
	"testing"
)

// TestInspect checks that Inspect visits all that hangs on a statement, each node once.
func TestInspect(t *testing.T) {
	for _, src := range []string{
		`WITH w (x) AS (SELECT a FROM b) SELECT x, f(y ORDER BY z) FILTER (WHERE q), CASE a WHEN b THEN c ELSE d END, t.*
			FROM (SELECT 1 UNION VALUES (2), (3)) AS s (n) LEFT JOIN t FOR SYSTEM_TIME BETWEEN 1 AND 2 ON s.n = t.n, u
			WHERE a IN (SELECT b FROM c) AND EXISTS (SELECT 1) AND x BETWEEN 1 AND 2 AND y IN (1, 2) AND z LIKE 'a' ESCAPE '!'
			GROUP BY 1 HAVING max(a) > 2 ORDER BY 1 LIMIT 1 OFFSET ?`,
		"INSERT INTO t VALUES (1, -a), (NOT b, RING(id, 1 TO 2))", "INSERT INTO t (SELECT (SELECT 1) UNION (SELECT 2))",
		"UPDATE t SET a = 1, b = CAST(c AS INT) WHERE d IS NULL", "DELETE FROM t WHERE a = (b, c) AND ts AT TIME ZONE 'UTC' > d",
		"EXPLAIN DELETE FROM t WHERE a", "SET a = 1", "COPY (SELECT 1) TO 'f'",
	} {
		s, err := ParseStatement(src)
		if err != nil {
			t.Fatal(err)
		}
		want := map[Node]bool{}
		collectNodes(reflect.ValueOf(s), want)
		Inspect(s, func(n Node) bool {
			if !want[n] {
				t.Errorf("%s: visits %s twice", src, n)
			}
			delete(want, n)
			return true
		})
		for n := range want {
			t.Errorf("%s: does not visit %s", src, n)
		}
	}
}

func collectNodes(v reflect.Value, to map[Node]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if n, ok := v.Interface().(Node); ok && !v.IsNil() {
			to[n] = true
		}
		collectNodes(v.Elem(), to)
	case reflect.Interface:
		collectNodes(v.Elem(), to)
	case reflect.Slice:
		for i := range v.Len() {
			collectNodes(v.Index(i), to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			collectNodes(v.Field(i), to)
		}
	}
}

// Names of WITH are no tables where they are seen: behind them, and in themselves with RECURSIVE.
func TestTables(t *testing.T) {
	for src, want := range map[string]string{
		"SELECT * FROM a, (SELECT 1 FROM b) x WHERE 1 IN (SELECT 1 FROM A)":                                    "a b A",
		"WITH w AS (SELECT 1 FROM t) SELECT 1 FROM W, u WHERE EXISTS (SELECT 1 FROM w JOIN v ON TRUE)":         "t u v",
		"WITH t AS (SELECT 1 FROM t) SELECT 1 FROM t":                                                          "t",
		"WITH RECURSIVE t AS (SELECT 1 UNION SELECT 1 FROM t, u) SELECT 1 FROM t":                              "u",
		"WITH a AS (SELECT 1 FROM b), b AS (SELECT 1 FROM a) SELECT 1 FROM a, b, c":                            "b c",
		"SELECT 1 FROM (WITH w AS (SELECT 1) SELECT 1 FROM w) x, w":                                            "w",
		"WITH t AS (WITH t AS (SELECT 1 FROM u) SELECT 1 FROM t) SELECT 1 FROM LATERAL (SELECT 1 FROM t, s) x": "u s",
	} {
		s, err := ParseStatement(src)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range Tables(s.(*Select)) {
			got = append(got, n.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", src, got, want)
		}
	}
}
