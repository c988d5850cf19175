package exec

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	. "github.com/hql-db/hql/internal/scripttest"
)

// TestPage compares the page of a plan with the plan's text. Nothing in a page is loaded, and nothing runs.
func TestPage(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE events (device STRING, ts TIMESTAMP, kind STRING) ROW KEY (ts % 3 AS UINT8, device AS TEXT(4), ts AS INT64) SPLIT AT (X'01', X'02')`)
	w.Do(`INSERT INTO events VALUES ('d1', TIMESTAMP '2020-01-01', 'on'), ('d1', TIMESTAMP '2020-01-02 00:00:00.001', 'off')`)
	for _, test := range []struct{ sql, class, verdict string }{
		{"SELECT kind FROM events WHERE device = 'd1' AND kind = '<script>alert(1)</script>\x1b[31m\u202e'", "hit", "hits the rowkey prefix"},
		{"SELECT kind FROM events WHERE device = 'd1' AND ts = TIMESTAMP '2020-01-01 00:00:00.001'", "hit", "hits the rowkey prefix"},
		{"SELECT e.kind FROM events AS e JOIN events AS f ON e.kind = f.kind WHERE e.device = 'd1' ORDER BY 1", "miss", "MISSES the rowkey prefix of events (1 of 2 reads)"},
		{"SELECT x.n FROM GENERATE_SERIES(1, 2) AS g, LATERAL (SELECT COUNT(*) AS n FROM events WHERE kind = 'd' || g) AS x", "miss", "MISSES the rowkey prefix of events"},
		{"SELECT 1", "hit", "reads no table"},
	} {
		p := parsePage(t, w.Do("EXPLAIN (FORMAT HTML) "+test.sql))
		if got := p.text["h1"]; got != test.verdict || p.class["h1"] != test.class {
			t.Errorf("%s\nheading %q of class %q, want %q of class %q", test.sql, got, p.class["h1"], test.verdict, test.class)
		}
		if got, want := p.text["query"], unsafe.Replace(test.sql); got != want {
			t.Errorf("query %q, want %q", got, want)
		}
		if got, want := strings.TrimSpace(p.text["plan"]), strings.TrimSpace(unsafe.Replace(w.Do("EXPLAIN "+test.sql))); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", test.sql, got, want)
		}
		rows, err := w.Run(t.Context(), MustParse(t, "EXPLAIN (ANALYZE, FORMAT HTML) "+test.sql), Args{})
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Document {
			t.Error("a page is not said to be a whole file")
		}
		rows.Close()
		if p := parsePage(t, w.Do("EXPLAIN (ANALYZE, FORMAT HTML) "+test.sql)); !strings.Contains(p.text["plan"], "\nreturned ") {
			t.Errorf("%s\nwithout measurements\n%s", test.sql, p.text["plan"])
		}
	}
	if page := w.Do("EXPLAIN (FORMAT HTML) SELECT kind FROM events WHERE device = 'd1'"); !strings.Contains(page, `<span class="bound">####</span>`) {
		t.Errorf("no bound key part in\n%s", page)
	}
}

var unsafe = strings.NewReplacer("\x1b", `\u001B`, "\u202e", `\u202E`)

// htmlPage is a parsed page: texts and classes of elements, by id or, without one, by tag.
type htmlPage struct{ text, class map[string]string }

func parsePage(t *testing.T, source string) htmlPage {
	t.Helper()
	root, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	p := htmlPage{map[string]string{}, map[string]string{}}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		name := n.Data
		switch name {
		case "script", "link", "img", "iframe", "object", "a", "svg":
			t.Errorf("<%s> in a page", name)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "href":
				t.Errorf("<%s %s=%q>", name, a.Key, a.Val)
			case a.Key == "id":
				name = a.Val
			case a.Key == "class":
				p.class[name] = a.Val
			}
		}
		var b strings.Builder
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				b.WriteString(d.Data)
			}
		}
		p.text[name] = b.String()
	}
	return p
}
