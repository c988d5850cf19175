package differential

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// difference is a known difference between hql and PostgreSQL.
type difference struct {
	name     string
	sentence string         // of docs/sql.md
	message  *regexp.Regexp // of hql's errors that are excused by it; nil where statements are drawn so that it does not show
	risky    bool           // only in statements that may fail
	writes   bool           // only in statements that write
}

// differences reads testdata/differences: three lines each, with an empty line between.
var differences = func() (out []difference) {
	file, err := os.ReadFile("testdata/differences")
	if err != nil {
		panic(err)
	}
	for _, part := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
		var d difference
		for _, line := range strings.Split(part, "\n") {
			switch k, v, _ := strings.Cut(line, ": "); k {
			case "what":
				d.name = v
			case "docs":
				d.sentence = v
			case "error", "error where it may fail", "error where rows are written":
				d.risky, d.writes = k == "error where it may fail", k == "error where rows are written"
				d.message = regexp.MustCompile(v)
			}
		}
		if d.name != "" {
			out = append(out, d)
		}
	}
	return out
}()

// excuse names the difference that explains why only hql fails at c; "" for none.
func excuse(err error, c *call) string {
	for _, d := range differences {
		if d.message != nil && (c.risky || !d.risky) && (c.writes || !d.writes) && d.message.MatchString(err.Error()) {
			return d.name
		}
	}
	return ""
}

// Each difference is documented.
func TestDifferencesAreDocumented(t *testing.T) {
	docs, err := os.ReadFile("../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(docs)), " ")
	for _, d := range differences {
		if d.sentence == "" || !strings.Contains(text, d.sentence) {
			t.Errorf("%s: docs/sql.md does not say %q", d.name, d.sentence)
		}
	}
}
