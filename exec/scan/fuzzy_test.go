package scan_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/hql-db/hql/exec"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/planner"
)

// Behind parts that nothing can bind the servers seek: rows that do not match are not sent.
func TestSeeksBehindUnknownParts(t *testing.T) {
	_, c := NewStore(t)
	w := NewWorld(t, c, Config{FullScan: AllowFullScan, Alone: true, Planner: planner.Options{NoSkip: true}}) // or hops would look for the parts first
	w.Do("CREATE TABLE h (id BIGINT, v STRING) ROW KEY (SALT HEX(8), id AS INT64) SPLIT INTO 4 BY HEX;" +
		"CREATE TABLE d (day DATE, host STRING, n INT, v STRING) ROW KEY (day AS TEXT('yyyyMMdd'), '/', host AS TEXT(4), n AS INT32);" +
		"CREATE TABLE p (a INT, b BIGINT, v STRING) ROW KEY (PHOENIX_SALT(4) AS UINT8, a AS ORDERED INT32, b AS ORDERED INT64);" +
		"CREATE TABLE q (a INT, b BIGINT, c STRING, v STRING) ROW KEY (a AS ORDERED INT32, b AS ORDERED INT64, c AS NULLABLE TEXT)")
	var h, d, p, q []string
	for i := range 300 {
		h = append(h, fmt.Sprintf("(%d, 'v%d')", i-10, i))
		d = append(d, fmt.Sprintf("(DATE '2024-01-%02d', 'h%d', %d, 'v%d')", 1+i%20, i%3, i, i))
		p = append(p, fmt.Sprintf("(%d, %d, 'v%d')", i%5, i, i))
		q = append(q, fmt.Sprintf("(%d, %d, NULLIF('c%d', 'c0'), 'v%d')", i%5, i/2, i%2, i))
	}
	w.Do("INSERT INTO h VALUES " + strings.Join(h, ",") + "; INSERT INTO d VALUES " + strings.Join(d, ",") + "; INSERT INTO p VALUES " + strings.Join(p, ",") + "; INSERT INTO q VALUES " + strings.Join(q, ","))
	for _, test := range []struct {
		sql, want, filter string
		read              int64 // rows sent
	}{
		{"SELECT v FROM h WHERE id = 5", "v15", `KEY LIKE ????????\x00\x00\x00\x00\x00\x00\x00\x05`, 1},
		{"SELECT v FROM h WHERE id IN (-3, 7) ORDER BY id", "v7\nv17", `KEY LIKE ????????\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFD OR ????????\x00\x00\x00\x00\x00\x00\x00\x07`, 2},
		{"SELECT v FROM h WHERE id = 5 AND v = 'v15' OR id = 6 AND v <> 'v16'", "v15", "KEY LIKE", 1},
		{"SELECT COUNT(*) FROM h WHERE id BETWEEN 5 AND 8", "4", "KEY LIKE", 4},
		{"SELECT COUNT(*) FROM h WHERE id > 5 AND v = 'v15'", "0", "f:v = 'v15'", 1},
		{"SELECT v FROM d WHERE day >= DATE '2024-01-15' AND host = 'h1' AND n = 79", "v79", `KEY LIKE ????????/h1  \x00\x00\x00O`, 1},
		{"SELECT COUNT(*) FROM d WHERE host = 'h1'", "100", `KEY LIKE ????????/h1`, 100},
		{"SELECT COUNT(*) FROM d WHERE n = 7 AND host < 'h2'", "1", `KEY LIKE ????????/????\x00\x00\x00\x07`, 1},
		{"SELECT v FROM p WHERE b = 7", "v7", `KEY LIKE ?????\x80\x00\x00\x00\x00\x00\x00\x07`, 1},
		{"SELECT v FROM q WHERE b = 7 ORDER BY v", "v14\nv15", `KEY LIKE ????\x80\x00\x00\x00\x00\x00\x00\x07`, 2},
		{"SELECT v FROM q WHERE b = 7 AND c IS NULL", "v14", `KEY LIKE ????\x80\x00\x00\x00\x00\x00\x00\x07`, 2},
		{"SELECT v FROM p WHERE a > 1 AND b = 7", "v7", `KEY LIKE \x00????\x80\x00`, 1},
	} {
		before := c.Stats().Rows
		w.Expect(test.want, test.sql)
		if n := c.Stats().Rows - before; n != test.read {
			t.Errorf("%s: %d rows read, want %d", test.sql, n, test.read)
		}
		if plan := w.Do("EXPLAIN (FORMAT JSON) " + test.sql); !strings.Contains(plan, strings.ReplaceAll(test.filter, `\`, `\\`)) {
			t.Errorf("%s: %s", test.sql, plan)
		}
	}
	if plan := w.Do("EXPLAIN SELECT * FROM d WHERE n = 7 ORDER BY day DESC, host DESC LIMIT 3"); strings.Contains(plan, "KEY LIKE") {
		t.Errorf("a reversed scan seeks: %s", plan)
	}
	if plan := w.Do("EXPLAIN SELECT * FROM h WHERE id = 5"); !strings.Contains(plan, "full scan h: MISSES") || !strings.Contains(plan, "id = 5  [server filter, checked again on the client: the servers seek") {
		t.Errorf("EXPLAIN: %s", plan)
	}
}

// IF NOT EXISTS finds a row under whatever salt it has, drawn digits that nothing can list
// included, and takes the first of several rows with one key.
func TestIfNotExistsUnderAnySalt(t *testing.T) {
	for _, salt := range []string{"SALT('a','b','c','d')", "SALT(0 TO 99) AS UINT8", "SALT HEX(8)", "PHOENIX_SALT(8) AS UINT8", "LEFT(MD5(id), 2)"} {
		t.Run(salt, func(t *testing.T) {
			_, c := NewStore(t)
			w := NewWorld(t, c, Config{FullScan: DenyFullScan})
			w.Do("CREATE TABLE s (id STRING, n INT, v STRING, o STRING) ROW KEY (" + salt + ", id AS TEXT(3), n AS UINT16)")
			w.Do("UPSERT INTO s VALUES ('a', 1, 'first', NULL), ('b', 1, 'first', NULL), ('a', 2, NULL, NULL)")
			for i := range 4 {
				w.Do(fmt.Sprintf("UPSERT INTO s VALUES ('a', 1, 'x', 'x'), ('a', 2, 'x', 'x'), ('c', %d, 'new', NULL), ('c', %d, 'again', 'x'), ('b', 1, 'x', 'x') IF NOT EXISTS", i/2, i/2))
				w.Do("UPSERT INTO s SELECT id, n, 'copy', 'x' FROM s ALLOW FULL SCAN IF NOT EXISTS")
			}
			w.Expect("a|1|first|NULL\na|2|NULL|NULL\nb|1|first|NULL\nc|0|new|NULL\nc|1|new|NULL", "SELECT * FROM s ORDER BY id, n ALLOW FULL SCAN")
		})
	}
}
