package hql_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
)

// The tests that CONTRIBUTING.md and the nightly run name are there, in the packages that are named beside them: go test passes where -run
// fits none.
func TestNamedTestsExist(t *testing.T) {
	tests := map[string]string{} // by package, its tests
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		tests[filepath.Dir(path)] += string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	packages, names := regexp.MustCompile(`\./([a-z/]+)`), regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	checked := 0
	for _, file := range []string{"CONTRIBUTING.md", ".ci/nightly"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			var named []string
			for _, m := range packages.FindAllStringSubmatch(line, -1) {
				named = append(named, m[1])
			}
			for _, name := range names.FindAllString(line, -1) {
				checked++
				there := false
				for p, text := range tests {
					there = there || (len(named) == 0 || slices.Contains(named, p)) && strings.Contains(text, "func "+name) // or it begins a name
				}
				if !there {
					t.Errorf("%s: no %s in %v", file, name, named)
				}
			}
		}
	}
	if checked < 30 {
		t.Errorf("%d tests are named", checked)
	}
}

// documents are the texts of README and its fellows and of docs, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	texts := map[string]string{}
	for _, file := range append(files, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

// Documents are as wide as a screen.
func TestWidthOfDocuments(t *testing.T) {
	for file, text := range documents(t) {
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > 120 {
				t.Errorf("%s:%d has %d characters", file, i+1, n)
			}
		}
	}
}

// Each definition of the cookbook can be created, and each query hits the rowkey.
func TestCookbook(t *testing.T) {
	text := documents(t)["docs/cookbook.md"]
	ctx := t.Context()
	tables, queries := 0, 0
	for _, m := range regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(text, -1) {
		db, err := hql.Open(ctx, "mem:")
		if err != nil {
			t.Fatal(err)
		}
		ids := "CREATE TABLE uids (k BYTES) FAMILY id () FAMILY name () STORED IN 'tsdb-uid' ROW KEY (k AS BYTES);"
		for _, sql := range strings.Split(ids+strings.TrimSpace(m), ";") {
			switch sql = strings.TrimSpace(sql); {
			case sql == "":
			case strings.HasPrefix(sql, "SELECT"):
				queries++
				if plan, err := db.Explain(ctx, sql); err != nil || !plan.HitsPrefix() {
					t.Errorf("%s: %v\n%v", sql, err, plan)
				}
			default:
				tables++
				if _, err := db.Exec(ctx, sql); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
			}
		}
		db.Close()
	}
	if tables < 20 || queries < 20 {
		t.Errorf("%d tables, %d queries", tables, queries)
	}
}
