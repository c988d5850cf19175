package hql_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// plain lists the Go packages whose comments TestLint checks. A package joins the list when its comments are clean.
var plain = []string{".", "demo", "examples/companyhash", "examples/databasesql", "examples/embed", "examples/service", "hqlotel", "hqlprom",
	"sqldriver", "cmd/hql", "design", "hot", "columnar", "embedded", "store", "importer", "stats", "catalog", "hbase", "pgwire", "pgcatalog", "infer", "spark", "filter", "exec/scan", "exec/lookup", "explain",
	"check", "check/gocode", "hqltest", "cmd/hql/mcpserver", "types", "hbase/kerberos", "hbase/hbasetest",
	"internal/fail", "internal/forms", "internal/given", "internal/page", "internal/poison", "internal/race", "internal/registry", "internal/seeds", "internal/tlsfiles", "internal/wire", "internal/worlds",
	"exec", "exec/warning", "exec/write", "parser", "cmd/hql/lineedit", "exec/operator", "planner/estimate", "planner/plan", "planner/access", "planner", "expr", "bench", "internal/hbasesite", "internal/proc", "internal/python", "internal/words", "differential", "sqllogic"}

// refused are patterns that make a sentence hard to read, each with a remedy.
var refused = []struct {
	pattern *regexp.Regexp
	remedy  string
}{
	{regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`), "write repair, correct or fix"},
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be|been|unless|not|and) told\b`), "name the actor: the error says, hql reports"},
	{regexp.MustCompile(`(?i)\bbeside\b`), "write with, next to, in addition to or compared with"},
	{regexp.MustCompile(`(?i)\brandom worlds?\b`), "name it: a random schema, a set of tables"},
	{regexp.MustCompile(`(^|[.:;] )Of (a|an|the|all|any|each|several|two|those|these) `), "begin with the subject, not with Of"},
	{regexp.MustCompile(`(^|[.:;] )Who [a-z]+s `), "name the actor: the client, the user, the caller"},
	{regexp.MustCompile(`(?i)\b(to|for|by|from|of|as) who (does|is|has|reads|writes|asks|plans|knows)\b`), "name the actor: the client, the user, the caller"},
	{regexp.MustCompile(`(?i)\bwhat stands (there|behind|before|in)\b`), "name the thing: the text after, the value in"},
	{regexp.MustCompile(`(?i)\bas it stands\b`), "write unchanged, or name the state"},
}

// toldApart is the one use of "told" that is plain.
var toldApart = regexp.MustCompile(`(?i)\btold apart\b`)

// generated finds the parts of docs/sql.md that are made from the code.
var generated = regexp.MustCompile(`(?s)<!-- [a-z]+ -->.*?<!-- end -->`)

// lint returns the patterns that a text has, by the text's lines.
func lint(text string) map[int][]string {
	text = generated.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	found := map[int][]string{}
	for i, line := range strings.Split(text, "\n") {
		line = toldApart.ReplaceAllString(strings.TrimLeft(line, "/*- \t"), "")
		for _, r := range refused {
			if m := r.pattern.FindString(line); m != "" {
				found[i] = append(found[i], "\""+strings.TrimSpace(m)+"\": "+r.remedy)
			}
		}
	}
	return found
}

// Documents, and the comments of the packages in plain, have no sentences of the forms in refused.
func TestLint(t *testing.T) {
	for file, text := range documents(t) {
		for i, problems := range lint(text) {
			t.Errorf("%s:%d: %s", file, i+1, strings.Join(problems, "; "))
		}
	}
	for _, dir := range plain {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				lintComments(t, file)
			}
		}
	}
}

func lintComments(t *testing.T, file string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			for i, problems := range lint(c.Text) {
				t.Errorf("%s:%d: %s", file, fset.Position(c.Pos()).Line+i, strings.Join(problems, "; "))
			}
		}
	}
}

// Each pattern finds a sentence that it is for, and none finds the same thing in plain English.
func TestLintFinds(t *testing.T) {
	hard := []string{
		"CHECK TABLE ... REPAIR compares and mends them.",
		"A client without TLS is told so at once.",
		"rows that others write beside it",
		"under it random tests draw random worlds",
		"Of an UPDATE and a DELETE the columns of UPDATE may remain.",
		"// Who finds no table in a store that has failed gets an error.",
		"for who plans with it, as design does; from who reads",
		"it refers to what stands before it",
		"the cell is written as it stands",
	}
	for i, r := range refused {
		if found := lint(hard[i])[0]; len(found) == 0 || !strings.HasSuffix(found[0], r.remedy) {
			t.Errorf("%q: found %q, not %s", hard[i], found, r.pattern)
		}
	}
	for _, s := range []string{
		"layouts that cannot be told apart", "a recommendation, amended twice", "besides, the hub of the world",
		"the cluster tells its id", "INSERT, UPDATE and DELETE of the row; of these the last counts", "Offsets of a row; the user who reads it",
		"`\\1` stands for a group", "the worlds of `internal/worlds`",
	} {
		if found := lint(s); len(found) > 0 {
			t.Errorf("%q: found %v", s, found)
		}
	}
}
