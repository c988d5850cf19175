package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/check"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
)

// verdictOf is the verdict that the access of testdata/queries.tsv means.
func verdictOf(access string) check.Verdict {
	switch access {
	case "full scan":
		return check.Miss
	case "skip scan":
		return check.Skip
	}
	return check.Hit
}

// unbound replaces the constants of comparisons in a query by parameters.
func unbound(t *testing.T, query string) string {
	s, err := parser.ParseStatement(query)
	if err != nil {
		t.Fatal(err)
	}
	param := func(e *parser.Expr) {
		switch (*e).(type) {
		case *parser.Literal:
			*e = &parser.Param{Index: 1}
		}
	}
	parser.Inspect(s, func(n parser.Node) bool {
		switch n := n.(type) {
		case *parser.Binary:
			if strings.Contains("= < > <= >= <>", n.Op) {
				param(&n.X)
				param(&n.Y)
			}
		case *parser.Between:
			param(&n.Lo)
			param(&n.Hi)
		case *parser.In:
			for i := range n.List {
				param(&n.List[i])
			}
		}
		return true
	})
	n := 0
	parser.Inspect(s, func(x parser.Node) bool {
		if p, ok := x.(*parser.Param); ok {
			n++
			p.Index = n
		}
		return true
	})
	return s.String()
}

// The queries on every layout have the verdict that their EXPLAIN means, with their constants and with parameters.
func TestQueries(t *testing.T) {
	c := check.New(given.Layouts(t))
	for line := range strings.Lines(testdata.Queries) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(f) != 7 {
			continue
		}
		for _, query := range []string{f[1], unbound(t, f[1])} {
			if r := c.Statement(t.Context(), query); r.Verdict != verdictOf(f[2]) {
				t.Errorf("%s\ngot %s: %s\nwant %s", query, r.Verdict, r.Text, verdictOf(f[2]))
			}
		}
	}
}

// otherwise are the forms that read more or less for other values than the constants of testdata/forms: parameters may have
// them.
var otherwise = map[string]check.Verdict{
	"(u = 'u7') = TRUE": check.Miss, // FALSE
	"CASE WHEN k > 17 THEN 'high' WHEN k < -17 THEN 'low' ELSE 'mid' END <> 'mid'": check.Miss,
	"LOWER(u) = 'u7'":                    check.Miss, // more letters
	"UPPER(u) = 'U7'":                    check.Miss,
	"REVERSE(RIGHT(domain, 4)) = 'gro.'": check.Hit,  // a text of another length
	"(a = 'a12') IS NOT FALSE":           check.Miss, // NULL
	// An empty text:
	"REVERSE(domain) >= 't'":      check.Miss,
	"LEFT(a, 2) >= 'a3'":          check.Miss,
	"LEFT(a, -1) = 'a1'":          check.Miss,
	"a || '|' || b > 'a9|b5'":     check.Miss,
	"a NOT BETWEEN 'a1' AND 'a8'": check.Miss,
	"GREATEST(a, 'a8') > 'a8'":    check.Miss,
	"NOT (a < 'a9')":              check.Miss,
	"'a9' <= a":                   check.Miss,
}

// The conditions of testdata/forms have with parameters the verdict that they have with constants, if it is clear.
func TestForms(t *testing.T) {
	files, err := filepath.Glob("../testdata/forms/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	clear := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "CREATE ")
		definition, rest, _ := strings.Cut(rest, "\n")
		tables := catalog.New()
		if err := tables.Load("CREATE " + definition); err != nil {
			t.Fatal(file, err)
		}
		c := check.New(tables)
		_, list, _ := strings.Cut(rest, "\nforms\n")
		list, _, _ = strings.Cut(list, "\n----")
		for _, form := range strings.Split(list, "\n") {
			form, _, _ = strings.Cut(form, "\t")
			query := "SELECT * FROM " + tables.Tables()[0].Name + " WHERE " + form
			want := c.Statement(t.Context(), query).Verdict
			if other, ok := otherwise[form]; ok {
				want = other
			}
			got := c.Statement(t.Context(), unbound(t, query))
			if got.Verdict == check.Unclear {
				continue
			}
			if clear++; got.Verdict != want {
				t.Errorf("%s\n%s\ngot %s: %s\nwant %s", query, unbound(t, query), got.Verdict, got.Text, want)
			}
		}
	}
	if clear < 600 {
		t.Errorf("only %d forms have a clear verdict", clear)
	}
}
