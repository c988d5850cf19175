package parser

import (
	"strings"
	"testing"

	"github.com/hql-db/hql/internal/race"
)

// TestHostile feeds what kills naive parsers: each must end in an error, soon.
func TestHostile(t *testing.T) {
	race.Skip(t)
	const many = 1 << 18
	for name, src := range map[string]string{
		"parentheses":          "SELECT " + strings.Repeat("(", 8<<20),
		"closed parentheses":   "SELECT " + strings.Repeat("(", many) + "1" + strings.Repeat(")", many),
		"closing":              "SELECT " + strings.Repeat(")", many),
		"brackets":             "CREATE TABLE t (a INT FROM f:" + strings.Repeat("[", many),
		"CASE":                 "SELECT " + strings.Repeat("CASE WHEN ", many),
		"NOT":                  "SELECT " + strings.Repeat("NOT ", many) + "a",
		"signs":                "SELECT " + strings.Repeat("- ", many) + "a",
		"operators":            "SELECT a" + strings.Repeat(" + a", many),
		"operators in each":    "SELECT " + nested("(", "a", ")"+strings.Repeat("+ a", 3000)),
		"sub-queries in each":  nested("SELECT (", "SELECT a", ") "+strings.Repeat("+ a", 3000)),
		"NOT behind operators": "SELECT " + strings.Repeat("1 = NOT ", many) + "a",
		"casts":                "SELECT a" + strings.Repeat("::INT", many),
		"functions":            "SELECT " + strings.Repeat("f(", many),
		"subqueries":           strings.Repeat("SELECT * FROM (", many),
		"IN":                   "SELECT " + strings.Repeat("a IN (", many),
		"EXPLAIN":              strings.Repeat("EXPLAIN ", many),
		"joins":                "SELECT * FROM a" + strings.Repeat(" CROSS JOIN a", many),
		"WITH":                 strings.Repeat("WITH a AS (", many),
		"NUL":                  strings.Repeat("\x00", many),
		"NUL behind":           "SELECT 1" + strings.Repeat("\x00", many),
		"bad UTF-8":            strings.Repeat("\xff", many),
		"open string":          "SELECT '" + strings.Repeat("a", many),
		"open name":            "SELECT \"" + strings.Repeat("a", many),
		"open comment":         strings.Repeat("/*", many),
		"open bytes":           "SELECT b'" + strings.Repeat("\\", many),
		"quotes":               strings.Repeat("'", many+1),
		"too long":             "SELECT '" + strings.Repeat("a", 17<<20) + "'",
		"too long, many":       "SELECT 1" + strings.Repeat(", 1", 6<<20),
		"dots":                 "SELECT a" + strings.Repeat(".a", many),
		"colons":               "SELECT a" + strings.Repeat(":a", many),
		"nested EXPLAIN":       "EXPLAIN " + strings.Repeat("(", many),
		"parameter":            "SELECT $" + strings.Repeat("9", many),
		"IS":                   "SELECT a" + strings.Repeat(" IS NULL", many),
		"BETWEEN":              "SELECT a" + strings.Repeat(" BETWEEN a", many),
		"hint":                 "SELECT /*+ " + strings.Repeat("a(", many) + " */ 1",
		"joins in parentheses": "SELECT * FROM " + strings.Repeat("(", many),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(src) // one that is slow runs into the test binary's limit
			if err == nil {
				t.Fatal("no error")
			}
			if len(err.Error()) > 300 {
				t.Fatalf("a message of %d bytes: %.100s", len(err.Error()), err)
			}
			if text := err.(*Error).Format(); len(text) > 800 {
				t.Fatalf("an excerpt of %d bytes: %.100s", len(text), text)
			}
		})
	}
}

// nested is core in 200 pairs of before and behind.
func nested(before, core, behind string) string {
	return strings.Repeat(before, 200) + core + strings.Repeat(behind, 200)
}

// TestGenerous reads what is large but sound.
func TestGenerous(t *testing.T) {
	race.Skip(t)
	deep := strings.Repeat("(", maxDepth) + "1" + strings.Repeat(")", maxDepth)
	for name, src := range map[string]string{
		"depth":        "SELECT " + deep,
		"long IN list": "SELECT * FROM t WHERE a IN (1" + strings.Repeat(", 123456", 100_000) + ")",
		"long VALUES":  "INSERT INTO t VALUES (1, 'a')" + strings.Repeat(", (2, 'b')", 100_000),
		"long OR":      "SELECT * FROM t WHERE a = 1" + strings.Repeat(" OR a = 2", 9000),
		"script":       strings.Repeat("SELECT 'a;b'; -- c\n", 50_000),
		"many CASE":    "SELECT 1" + strings.Repeat(", CASE WHEN a THEN b END, f:case", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			statements, err := Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			if len(statements) == 1 {
				checkRoundTrip(t, statements[0])
			}
		})
	}
}
