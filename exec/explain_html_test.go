package exec

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
)

// element is an element of a parsed page.
type element struct{ *html.Node }

func (e element) attr(name string) string {
	for _, a := range e.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is the element's text with its white space folded.
func (e element) text() string {
	var b strings.Builder
	for n := range e.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// all finds the elements below e with a tag and, unless it is "", a class.
func (e element) all(tag, class string) []element {
	var out []element
	for n := range e.Descendants() {
		x := element{n}
		if n.Type == html.ElementNode && n.Data == tag && (class == "" || slices.Contains(strings.Fields(x.attr("class")), class)) {
			out = append(out, x)
		}
	}
	return out
}

// page parses the page of a query and checks what holds for every page: nothing is loaded,
// nothing runs, nothing is drawn beside its picture.
func pageOf(t *testing.T, w *world, sql string) element {
	t.Helper()
	text := w.Do(sql)
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	page := element{root}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if slices.Contains([]string{"script", "link", "img", "iframe", "object", "b", "image", "use", "a"}, n.Data) && (element{n}).text() != "To hit the prefix:" {
			t.Errorf("<%s> %s", n.Data, element{n}.text())
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "href" || strings.Contains(a.Val, "ZgotmplZ") {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
		if x, err := strconv.ParseFloat(strings.TrimSuffix(element{n}.attr("x"), "%"), 64); err == nil && n.Data == "rect" {
			width, err := strconv.ParseFloat(strings.TrimSuffix(element{n}.attr("width"), "%"), 64)
			if err != nil || x < 0 || width <= 0 || x+width > 100.51 {
				t.Errorf("rect from %v, %v wide: %v", x, width, err)
			}
		}
	}
	return page
}

func texts(es []element) []string {
	var out []string
	for _, e := range es {
		out = append(out, e.text())
	}
	return out
}

func equal(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %q\nwant %q", what, got, want)
	}
}

func pageWorld(t *testing.T) *world {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE events (device STRING, ts TIMESTAMP, kind STRING) ROW KEY (ts % 3 AS UINT8, device AS TEXT(4), ts AS INT64) SPLIT AT (X'01', X'02')`)
	w.Do(`INSERT INTO events VALUES ('d1', TIMESTAMP '2020-01-01', 'on'), ('d1', TIMESTAMP '2020-01-02 00:00:00.001', 'off')`)
	return w
}

func TestPage(t *testing.T) {
	w := pageWorld(t)
	p := pageOf(t, w, "EXPLAIN (FORMAT HTML) SELECT kind FROM events WHERE device = 'd1' AND kind = '<script>alert(1)</script>\x1b[31m\u202e'")
	equal(t, "verdict", texts(p.all("h1", "hit")), "hits the rowkey prefix")
	equal(t, "query", texts(p.all("pre", "")), `SELECT kind FROM events WHERE device = 'd1' AND kind = '<script>alert(1)</script>\u001B[31m\u202E'`)
	equal(t, "key", texts(p.all("div", "part")), "byte 0 ts % 3 AS UINT8 enumerated", "byte 1-4 device AS TEXT(4) bound", "byte 5-12 ts AS INT64 unused")
	for i, class := range []string{"enumerated", "bound", "unused"} {
		if c := p.all("div", "part")[i].attr("class"); c != "part "+class {
			t.Errorf("part %d has class %q", i, c)
		}
	}
	equal(t, "regions", texts(p.all("rect", "region")), "[open, \\x01)", "[\\x01, \\x02)", "[\\x02, open)")
	equal(t, "spans", texts(p.all("rect", "span")), "[\\x00d1 , \\x00d1 !)", "[\\x01d1 , \\x01d1 !)", "[\\x02d1 , \\x02d1 !)")
	equal(t, "measures", texts(append(p.all("table", "regions"), p.all("svg", "timeline")...)))
	equal(t, "fates", texts(p.all("table", "fates")[0].all("tr", ""))[:1], "device = 'd1' by the key")

	rows, err := w.Run(t.Context(), MustParse(t, "EXPLAIN (FORMAT HTML) SELECT kind FROM events WHERE device = 'd1'"), Args{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Document {
		t.Error("a page is not said to be a whole file")
	}

	p = pageOf(t, w, "EXPLAIN (FORMAT HTML) SELECT kind FROM events WHERE device = 'd1' AND ts = TIMESTAMP '2020-01-01 00:00:00.001'")
	equal(t, "gets", texts(p.all("rect", "get")), `\x01d1 \x00\x00\x01o^f\xE8\x01`)
	equal(t, "regions read", texts(p.all("rect", "read")), "[\\x01, \\x02)")
	equal(t, "regions", texts(p.all("rect", "region")), "[open, \\x01)", "[\\x01, \\x02)", "[\\x02, open)")
}

func TestPageAnalyzed(t *testing.T) {
	w := pageWorld(t)
	p := pageOf(t, w, "EXPLAIN (ANALYZE, FORMAT HTML) SELECT e.kind, f.kind FROM events e JOIN events f ON e.kind = f.kind WHERE e.device = 'd1' ORDER BY 1")
	equal(t, "verdict", texts(p.all("h1", "miss")), "MISSES the rowkey prefix of events (1 of 2 reads)")
	tables := p.all("section", "table")
	equal(t, "tables", texts(p.all("h2", "")), "Steps", "scan events e", "full scan events f")
	var steps []string
	for _, tr := range p.all("tr", "step") {
		td := tr.all("td", "")
		steps = append(steps, td[0].text()+": "+td[1].text())
		if len(tr.all("i", "")) != 2 {
			t.Errorf("no bar in %s", tr.text())
		}
	}
	equal(t, "steps", steps, "columns: 2", "sort by kind: 2", "inner join, hash, few keys of one side narrow the other, on e.kind = f.kind: 2", "scan events e: 2", "full scan events f: 2")
	for i, want := range [][]string{{"1", "1", "0"}, {"1", "1", "0"}} {
		var rows []string
		for _, tr := range tables[i].all("table", "regions")[0].all("tr", "")[1:] {
			rows = append(rows, tr.all("td", "n")[1].text())
		}
		equal(t, "rows of the regions", rows, want...)
		if n := len(tables[i].all("svg", "timeline")); n != 3 {
			t.Errorf("%d lanes", n)
		}
		if n := len(tables[i].all("rect", "call")); n != 3 {
			t.Errorf("%d calls", n)
		}
	}
}

// noRegions answers nothing about regions.
type noRegions struct{ hbase.Client }

func (noRegions) Regions(context.Context, string) ([]hbase.Region, error) {
	return nil, errors.New("no meta today")
}

// A page is drawn without regions when they cannot be read, and for plans that read nothing.
// Sub-queries are drawn behind the tables of the query around them, and count for its verdict.
func TestPageOfSubqueries(t *testing.T) {
	p := pageOf(t, pageWorld(t), "EXPLAIN (FORMAT HTML) SELECT x.n FROM generate_series(1, 2) AS g, LATERAL (SELECT count(*) AS n FROM events WHERE kind = 'd' || g) x")
	equal(t, "verdict", texts(p.all("h1", "miss")), "MISSES the rowkey prefix of events")
	section := p.all("section", "table")
	if len(section) != 1 {
		t.Fatalf("%d tables are drawn", len(section))
	}
	equal(t, "table", texts(section[0].all("h2", "")), "full scan events")
	equal(t, "of", texts(section[0].all("p", "soft"))[:1], "of the sub-query (SELECT COUNT(*) AS n FROM events WHERE kind = 'd' || g), which runs for each row")
}

func TestPageWithout(t *testing.T) {
	_, c := NewStore(t)
	newWorld(t, c, Config{}).Do(`CREATE TABLE m (k STRING, v BIGINT) ROW KEY (k AS TEXT)`)
	w := newWorld(t, noRegions{c}, Config{})
	p := pageOf(t, w, "EXPLAIN (FORMAT HTML) SELECT * FROM m WHERE k IN ('a', 'b')")
	if s := p.text(); !strings.Contains(s, "The regions cannot be read now: no meta today") {
		t.Error(s)
	}
	equal(t, "gets", texts(p.all("rect", "get")), "a", "b")
	p = pageOf(t, w, "EXPLAIN (FORMAT HTML) SELECT * FROM m WHERE k = 'a' AND k = 'b'")
	equal(t, "pictures", texts(append(p.all("svg", ""), p.all("div", "key")...)))
	pageOf(t, w, "EXPLAIN (ANALYZE, FORMAT HTML) SELECT 1")
}
