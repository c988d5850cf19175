package planner

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/internal/race"
)

// Planning that is stopped gives the reason, wherever that happens, and no plan.
func TestPlanningStops(t *testing.T) {
	c := given.Tables(t, "CREATE TABLE t (a INT, b INT, c INT) ROW KEY (a % 8 AS UINT8, a AS INT32, b AS INT32) INDEX bc (b AS INT32, c AS INT32, a AS INT32)")
	why := errors.New("enough")
	for _, sql := range []string{
		"SELECT a FROM t WHERE a = 1",
		"SELECT a FROM t WHERE a IN (1, 2, 3) AND (b = 1 OR b > 5 OR c = 3) AND a <> 9",
		"SELECT x.a FROM t x JOIN t y ON x.a = y.b JOIN t z ON z.a = y.a WHERE x.a = 3",
		"SELECT a FROM t WHERE b > (SELECT max(c) FROM t WHERE a = 2)",
		"SELECT a FROM t x WHERE EXISTS (SELECT 1 FROM t y WHERE y.a = x.b) UNION SELECT b FROM t WHERE a < 7",
	} {
		s := given.Query(t, sql)
		asked := 0
		for at := 1; ; at++ {
			asked = 0
			e := &Env{Catalog: c, Stop: func() error {
				if asked++; asked >= at {
					return why
				}
				return nil
			}}
			p, err := e.Select(s)
			if asked < at {
				if err != nil || at == 1 {
					t.Errorf("%s: asked %d times; %v", sql, asked, err)
				}
				break
			}
			if err != why || p != nil {
				t.Errorf("%s, stopped at question %d: %v", sql, at, err)
			}
		}
	}
}

// repeated expands {n;text;separator}: n texts, in which ? is 0, 7, 14 and so on.
func repeated(sql string) string {
	return regexp.MustCompile(`\{(\d+);([^;}]*);([^}]*)\}`).ReplaceAllStringFunc(sql, func(s string) string {
		f := strings.SplitN(s[1:len(s)-1], ";", 3)
		n, _ := strconv.Atoi(f[0])
		texts := make([]string, n)
		for i := range texts {
			texts[i] = strings.ReplaceAll(f[1], "?", strconv.Itoa(7*i))
		}
		return strings.Join(texts, f[2])
	})
}

// Planning looks at whether to stop before it has done more than to walk once through the statement, and gives the reason
// in place of a plan. The test counts the work as allocations of memory.
func TestLongStatementsStop(t *testing.T) {
	race.Skip(t)
	data, err := os.ReadFile("testdata/long")
	if err != nil {
		t.Fatal(err)
	}
	allocated := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Mallocs
	}
	why := errors.New("enough")
	var c *catalog.Catalog
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case strings.HasPrefix(line, "CREATE"):
			c = given.Tables(t, line)
			continue
		}
		sql := repeated(line)
		s, limit := given.Query(t, sql), uint64(20_000+len(sql))
		looks, where, most, last := 0, 0, uint64(0), allocated()
		look := func() {
			now := allocated()
			if now-last > most {
				most, where = now-last, looks
			}
			last = allocated()
			looks++
		}
		if _, err := (&Env{Catalog: c, Stop: func() error { look(); return nil }}).Select(s); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if look(); most > limit {
			t.Errorf("%s: %d allocations between looks %d and %d of %d", line, most, where, where+1, looks-1)
		}
		for at := 1; at < looks; at += 1 + looks/4 {
			n := 0
			p, err := (&Env{Catalog: c, Stop: func() error {
				if n++; n >= at {
					return why
				}
				return nil
			}}).Select(s)
			if err != why || p != nil {
				t.Errorf("%s, stopped at look %d of %d: %v", line, at, looks-1, err)
			}
		}
	}
}

// Pairs that are ruled out do not multiply the work without bound.
func TestPairsRuledOut(t *testing.T) {
	c := given.Tables(t, "CREATE TABLE t (a INT, b STRING) ROW KEY (LEFT(MD5(b), 2), a AS INT32, b AS TEXT)")
	var where []string
	for i := range 20 {
		where = append(where, fmt.Sprintf("(a <> %d OR b <> 'x%d')", i, i))
	}
	s := given.Query(t, "SELECT a FROM t WHERE "+strings.Join(where, " AND "))
	steps := 0
	e := &Env{Catalog: c, Stop: func() error { steps++; return nil }}
	if _, err := e.Select(s); err != nil || steps > 2000 {
		t.Errorf("%d steps; %v", steps, err)
	}
}

// For an order, no more of the values that parts of a key can have are walked than can be merged.
func TestOrderOfManyParts(t *testing.T) {
	c := given.Tables(t, "CREATE TABLE t (a BYTES, b STRING, u INT) ROW KEY (SALT_HEX(2), LEFT(SHA1(a), 2), LEFT(SHA512(b), 2), u AS INT8, a AS BYTES, X'00', b AS TEXT)")
	steps := 0
	e := &Env{Catalog: c, Stop: func() error { steps++; return nil }}
	if _, err := e.Select(given.Query(t, "SELECT a FROM t ORDER BY a, u")); err != nil || steps > 50 {
		t.Errorf("%d steps; %v", steps, err)
	}
}

// A list four times as long takes about four times the work to plan, not sixteen. Work is counted as the bytes that are allocated.
func TestLongConditions(t *testing.T) {
	of := func(n int, form, between string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = strings.ReplaceAll(form, "?", fmt.Sprint(7*i))
		}
		return strings.Join(items, between)
	}
	for _, c := range []struct{ table, where, form, between string }{
		{"(a BIGINT, n INT) ROW KEY (a AS INT64, n AS INT32)", "a IN (%s)", "?", ", "},
		{"(a TIMESTAMP, n INT) ROW KEY (9223372036854775807 - a AS INT64, n AS INT32)", "a IN (%s) AND n > 5", "TIMESTAMP '1970-01-01' + INTERVAL '? minutes'", ", "},
		{"(a BIGINT, n INT) ROW KEY (a / 10 AS INT64, a AS INT64, n AS INT32)", "a NOT IN (%s) AND n > 5", "?", ", "},
		{"(a BIGINT, n INT) ROW KEY (PHOENIX_SALT(4) AS UINT8, a AS INT64, n AS INT32)", "a NOT IN (%s) AND n > 5", "?", ", "},
		{"(a BIGINT, n STRING) ROW KEY (a AS INT64, n AS TEXT)", "CASE %s ELSE 'x' END = 'h'", "WHEN a = ? THEN n", " "},
	} {
		cat := given.Tables(t, "CREATE TABLE t "+c.table)
		work := func(n int) float64 {
			s := given.Query(t, "SELECT * FROM t WHERE "+fmt.Sprintf(c.where, of(n, c.form, c.between)))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := (&Env{Catalog: cat}).Select(s); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		if few, many := work(500), work(2000); many > 7*few {
			t.Errorf("%s, %s: %.0f bytes for 500, %.0f for 2000", c.table, c.where, few, many)
		}
	}
}

// deep is 24 queries, each of which names the one before it in a form, in WITH or as views.
func deep(form string) (with string, views []string) {
	with = "WITH a0 AS (SELECT a FROM t)"
	views = []string{"CREATE VIEW a0 AS SELECT a FROM t"}
	for i := range 24 {
		text := strings.ReplaceAll(form, "?", fmt.Sprintf("a%d", i))
		with += fmt.Sprintf(", a%d AS (%s)", i+1, text)
		views = append(views, fmt.Sprintf("CREATE VIEW a%d AS %s", i+1, text))
	}
	return with + " SELECT a FROM a24", views
}

// What is planned and read grows with the text, however often a query or a view is named.
func TestNamedTwice(t *testing.T) {
	for _, form := range []string{
		"SELECT x.a FROM ? x JOIN ? y ON x.a = y.a",
		"SELECT a FROM ? x FULL JOIN ? y USING (a)",
		"SELECT a + a AS a FROM ?",
		"SELECT a FROM ? UNION SELECT a FROM ?",
		"SELECT (SELECT max(a) FROM ?) + (SELECT min(a) FROM ?) AS a",
		"SELECT a FROM ? x WHERE EXISTS (SELECT 1 FROM ? y WHERE y.a > x.a)",
		"SELECT x.a FROM ? x, LATERAL (SELECT a FROM ? y WHERE y.a > x.a) z",
		"WITH b AS (SELECT a FROM ?) SELECT x.a FROM b x JOIN b y ON x.a = y.a",
	} {
		with, views := deep(form)
		for _, sql := range []string{with, "SELECT a FROM a24"} {
			tables := []string{"CREATE TABLE t (a INT, b INT) ROW KEY (a AS INT32)"}
			if sql != with {
				tables = append(tables, views...)
			}
			steps := 0
			e := &Env{Catalog: given.Tables(t, strings.Join(tables, ";")), Stop: func() error {
				if steps++; steps > 5000 {
					return errors.New("it goes on and on")
				}
				return nil
			}}
			p, err := e.Select(given.Query(t, sql))
			if err != nil {
				t.Errorf("%s: %v", sql, err)
				continue
			}
			if n := len(p.Tables()); n > 100 {
				t.Errorf("%s: %d tables are read", sql, n)
			}
		}
	}
}

// A thousand queries in a row are planned, and the conditions on the last reach the key.
func TestLongWith(t *testing.T) {
	c := given.Tables(t, "CREATE TABLE t (a INT, b INT) ROW KEY (a AS INT32)")
	sql := "WITH a0 AS (SELECT a, b FROM t)"
	for i := range 1000 {
		sql += fmt.Sprintf(", a%d AS (SELECT a, b FROM a%d WHERE b <> %d)", i+1, i, i)
	}
	p, err := (&Env{Catalog: c}).Select(given.Query(t, sql+" SELECT * FROM a100 WHERE a = 1"))
	if err != nil || !p.HitsPrefix() {
		t.Errorf("%v; %v", p, err)
	}
	if _, err = (&Env{Catalog: c}).Select(given.Query(t, sql+" SELECT x.a FROM a1000 x JOIN a999 y USING (a)")); err != nil {
		t.Error(err)
	}
}
