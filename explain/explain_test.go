package explain

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/internal/given"
)

// testdata/explain holds what EXPLAIN draws for queries on layouts.sql, and, under "styles", in which styles, or the
// plan under "json".
func TestExplain(t *testing.T) {
	c := given.Layouts(t)
	datadriven.RunTest(t, "testdata/explain", func(t *testing.T, d *datadriven.TestData) string {
		p, err := planSelect(t, c, d.Input)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		if d.Cmd == "json" {
			b, err := JSON(p, nil)
			var out bytes.Buffer
			if err == nil {
				err = json.Indent(&out, b, "", " ")
			}
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out.String() + "\n"
		}
		lines := Text(p, nil)
		if d.Cmd == "text" {
			return String(p) + "\n"
		}
		names := map[Style]string{Hit: "hit", Miss: "miss", Bound: "bound", Ranged: "ranged", Enumerated: "enumerated", Literal: "literal"}
		var out []string
		for _, l := range lines {
			for _, piece := range l {
				if n := names[piece.Style]; n != "" {
					out = append(out, n+" "+strings.TrimSpace(piece.Text))
				}
			}
		}
		return strings.Join(slices.Compact(out), "\n") + "\n"
	})
}
