package check_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/check"
)

// testdata/*.txt: catalogs, and scripts with the verdict on each statement. \r, \t and \uFEFF stand for the characters.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		c := catalog.New()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			input := strings.NewReplacer(`\r`, "\r", `\t`, "\t", `\uFEFF`, "\uFEFF").Replace(d.Input)
			switch d.Cmd {
			case "catalog":
				c = catalog.New()
				if err := c.Load(input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			case "check":
				format := "text"
				d.MaybeScanArgs(t, "format", &format)
				checker, src := check.New(c), check.File("q.sql", input)
				checker.Define(src)
				results := checker.Source(t.Context(), src)
				var b bytes.Buffer
				if err := check.Write(&b, format, results); err != nil {
					d.Fatalf(t, "%v", err)
				}
				if format != "text" {
					return b.String()
				}
				return b.String() + check.Summary(results) + "\n"
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}
