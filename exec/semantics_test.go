package exec

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
)

// TestSemantics runs testdata/semantics: what SQL means here, with the source that says so in a
// comment. Each file has an engine of its own. Commands:
//
//	run     statements whose results do not matter
//	eval    an expression a line; prints each one's value or error
//	query   one statement; prints its rows, values between bars, or its error
//	sorted  as query, the rows sorted where their order is not fixed
func TestSemantics(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, filepath.Join("testdata", "semantics"), func(t *testing.T, path string) {
		_, c := NewStore(t)
		w := newWorld(t, c, Config{FullScan: AllowFullScan})
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "run":
				if _, _, err := w.Try(d.Input); err != nil {
					return "error: " + err.Error() + "\n"
				}
				return ""
			case "eval":
				var b strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					out := w.answer("SELECT " + line)
					if out == "" {
						out = "''"
					}
					b.WriteString(out + "\n")
				}
				return b.String()
			case "query":
				return cmp.Or(w.answer(d.Input), "(no rows)") + "\n"
			case "sorted":
				rows := strings.Split(w.answer(d.Input), "\n")
				slices.Sort(rows)
				return cmp.Or(strings.Join(rows, "\n"), "(no rows)") + "\n"
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// answer gives the rows of sql, or its error without the place.
func (w *world) answer(sql string) string {
	out, _, err := w.Try(sql)
	var e *parser.Error
	switch {
	case errors.As(err, &e):
		return "error: " + e.Msg
	case err != nil:
		return "error: " + err.Error()
	}
	return out
}
