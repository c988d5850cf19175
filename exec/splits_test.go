package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hql-db/hql/catalog"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/parser"
)

// Every way to split a table: SHOW SPLITS prints the regions of the table that was made, and
// those that a definition would make.
func TestSplits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rows := "id,n\n"
	var lines strings.Builder
	for i := range 100 {
		rows += fmt.Sprintf("u%02d,%d\n", i*i%100, i)
		fmt.Fprintf(&lines, "{\"n\": %d, \"id\": \"u%02d\"}\n", i, i)
	}
	keys, csv, jsonl := file("keys.txt", "1000\r\n\n2000\n1000\n"), file("rows.csv", rows+"too long for its part,1\n"), file("rows.jsonl", lines.String())
	_, c := NewStore(t)
	for i, test := range []struct{ key, split, want string }{
		{"id AS TEXT", "SPLIT AT ('b', X'61ff')", `a\xFF b`},
		{"id AS TEXT", "SPLIT FROM FILE '" + keys + "'", "1000 2000"},
		{"id AS TEXT", "SPLIT INTO 4 BY HEX", "40000000 80000000 c0000000"},
		{"id AS TEXT", "SPLIT INTO 4 BY UNIFORM", `@\x00\x00\x00\x00\x00\x00\x00 \x80\x00\x00\x00\x00\x00\x00\x00 \xC0\x00\x00\x00\x00\x00\x00\x00`},
		{"CRC32(id) % 4 AS TEXT(1), id AS TEXT", "SPLIT INTO 4 BY KEY", "1 2 3"},
		{"LEFT(MD5(id), 2), id AS TEXT", "SPLIT INTO 4 BY KEY", "40 80 c0"},
		{"UPPER(LEFT(MD5(id), 2)), id AS TEXT", "SPLIT INTO 4 BY KEY", "40 80 C0"},
		{"id AS TEXT(3)", "SPLIT INTO 4 BY SAMPLE OF FILE '" + csv + "'", "u16 u36 u64"},
		{"n AS UINT16, id AS TEXT(3)", "SPLIT INTO 4 BY SAMPLE OF FILE '" + jsonl + "'", `\x00\x19u25 \x002u50 \x00Ku75`},
		{"LEFT(MD5(id), 1), id AS TEXT(3)", "SPLIT INTO 2 BY SAMPLE OF FILE '" + jsonl + "'", "8u15"},
		{"id AS TEXT(3)", "SPLIT INTO 99 BY SAMPLE OF FILE '" + csv + "'", "error: its rows have 22 different keys, too few for 99 regions"},
		{"id AS TEXT(3)", "SPLIT INTO 4 BY SAMPLE OF FILE '" + keys + "'", `error: its rows must be csv, tsv, jsonl, arrow or parquet, not "txt"`},
		{"id AS TEXT(3)", "SPLIT INTO 4 BY SAMPLE OF FILE '" + filepath.Join(dir, "none.csv") + "'", "error: no such file"},
	} {
		w := worldOf(t, New(c, catalog.New(), Config{}))
		ddl := fmt.Sprintf("TABLE t%d (id STRING, n INT) ROW KEY (%s) %s", i, test.key, test.split)
		for _, create := range []string{"CREATE ", "CREATE EXTERNAL "} {
			ddl := create + ddl
			if create != "CREATE " {
				ddl += fmt.Sprintf(" STORED IN 'none%d'", i)
			}
			w.Do(fmt.Sprintf("DROP TABLE IF EXISTS t%d", i))
			_, _, err := w.Try(ddl)
			var got string
			if err == nil {
				got, _, err = w.Try(fmt.Sprintf("SHOW SPLITS t%d", i))
			}
			if want, refused := strings.CutPrefix(test.want, "error: "); refused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", ddl, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", ddl, err)
				continue
			}
			var starts []string
			for _, line := range strings.Split(got, "\n")[1:] {
				starts = append(starts, strings.Split(line, "|")[1])
			}
			if got := strings.Join(starts, " "); got != test.want {
				t.Errorf("%s: %s, want %s", ddl, got, test.want)
			}
			if again, err := parser.ParseStatement(w.Do(fmt.Sprintf("SHOW CREATE TABLE t%d", i))); err != nil || !strings.Contains(again.(*parser.CreateTable).String(), "SPLIT ") {
				t.Errorf("%s: printed again: %v", ddl, err)
			}
		}
	}
	w := worldOf(t, New(c, catalog.New(), Config{}))
	w.Do("CREATE TABLE ti (id STRING, n INT) ROW KEY (id AS TEXT) INDEX i (n AS UINT16, id AS TEXT) SPLIT INDEX i INTO 4 BY SAMPLE OF FILE '" + jsonl + "'")
	regions, err := c.Regions(t.Context(), "ti_i")
	if err != nil || len(regions) != 4 || string(regions[1].Start) != "\x00\x19u25" {
		t.Errorf("regions of an INDEX by a sample: %q %v", regions, err)
	}
}
