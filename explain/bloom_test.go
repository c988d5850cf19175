package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hql-db/hql/internal/given"
)

// EXPLAIN says which Bloom filter is of use, where the definition names one.
func TestBloom(t *testing.T) {
	c := given.Layouts(t)
	if err := c.Load("CREATE TABLE two (id STRING, a STRING FROM f:a, b STRING FROM g:b, c STRING FROM h:c)" +
		" FAMILY f (BLOOMFILTER = 'ROW') FAMILY g (BLOOMFILTER = 'NONE') FAMILY h () ROW KEY (id AS TEXT);" +
		"CREATE TABLE prefixed (id STRING, n INT, v STRING) FAMILY f (BLOOMFILTER = 'ROWPREFIX_FIXED_LENGTH') ROW KEY (id AS TEXT(4), n AS UINT16);"); err != nil {
		t.Fatal(err)
	}
	for _, test := range [][3]string{
		{"SELECT * FROM bloom_row WHERE id = 'x'", "ROW", "a Get skips"},
		{"SELECT q1 FROM bloom_row WHERE id IN ('x', 'y') OR id LIKE 'z%'", "ROW", "a Get skips"},
		{"SELECT * FROM bloom_row WHERE id LIKE 'x%'", "none", "not ranges"},
		{"SELECT * FROM bloom_rowcol WHERE id = 'x'", "none", "IS NOT NULL"},
		{"SELECT q1 FROM bloom_rowcol WHERE id = 'x' AND q1 IS NOT NULL", "ROWCOL", "a column of a row"},
		{"SELECT * FROM messages_random WHERE sent = TIMESTAMP '2018-12-18 03:50:00' AND message_id = 'b998a8dfc05a4a819284213d4e727a85'", "ROW", "a Get skips"},
		{"SELECT * FROM sites WHERE domain = 'x'", "", ""},
		{"SELECT * FROM bloom_row WHERE id = 'x' AND id = 'y'", "", ""},
		{"SELECT a, b, c FROM two WHERE id = 'x'", "f: ROW, g: none", "no Bloom filter"},
		{"SELECT b FROM two WHERE id = 'x' AND b > 'y'", "none", "no Bloom filter"},
		{"SELECT c FROM two WHERE id = 'x' AND c > 'y'", "", ""},
		{"SELECT * FROM prefixed WHERE id = 'x' AND n = 7", "ROWPREFIX_FIXED_LENGTH", "its key's prefix"},
		{"SELECT * FROM prefixed WHERE id = 'x' AND n BETWEEN 1 AND 7", "ROWPREFIX_FIXED_LENGTH", "at most 5 bytes"},
		{"SELECT * FROM prefixed WHERE id > 'x'", "none", "share"},
	} {
		p, err := planSelect(t, c, test[0])
		if err != nil {
			t.Fatal(err)
		}
		b, err := JSON(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Bloom string }
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if text := String(p); got.Bloom != test[1] || (test[1] == "") == strings.Contains(text, "bloom  ") || !strings.Contains(text, test[2]) {
			t.Errorf("%s: bloom %q, want %q\n%s", test[0], got.Bloom, test[1], text)
		}
	}
}
