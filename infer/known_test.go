package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/infer"
)

// Tables of OpenTSDB 2.4 and JanusGraph 1.0 as these wrote them, byte by byte, of Nutch 2 as its mapping and Gora say it writes them, and such that look like them at first.
func TestKnownSystems(t *testing.T) {
	point := func(key, qualifier, value string) hbase.Row {
		return hbase.Row{Key: []byte(key), Cells: []hbase.Cell{{Family: []byte("t"), Qualifier: []byte(qualifier), Value: []byte(value)}}}
	}
	// 1789999200 is a full hour.
	series := func(salt string, hour byte, tags string) hbase.Row {
		return point(salt+"\x00\x00\x01\x6a\xb1"+string([]byte{0x38 + 0x0e*hour, 0x60 + 0x10*hour})+tags, "\x32\x00", "\x0c")
	}
	const one, other, third = "\x00\x00\x01\x00\x00\x01\x00\x00\x02\x00\x00\x02", "\x00\x00\x01\x00\x00\x07\x00\x00\x02\x00\x00\x04", "\x00\x00\x01\x00\x00\x07"
	letter := func(families string) (rows []hbase.Row) {
		for i, f := range families {
			rows = append(rows, hbase.Row{Key: []byte(fmt.Sprintf("\x00\x00%d", i)), Cells: []hbase.Cell{{Family: []byte(string(f)), Qualifier: []byte("\x02\x80"), Value: []byte("v")}}})
		}
		return rows
	}
	page := func(key string, cells ...string) hbase.Row {
		r := hbase.Row{Key: []byte(key)}
		for _, c := range append([]string{"f:fi=\x00\x27\x8d\x00", "f:ts=\x00\x00\x01\x3c\xd5\x57\x3a\x20", "mk:_injmrk_=y", "s:s=\x3f\x80\x00\x00"}, cells...) {
			name, value, _ := strings.Cut(c, "=")
			f, q, _ := strings.Cut(name, ":")
			r.Cells = append(r.Cells, hbase.Cell{Family: []byte(f), Qualifier: []byte(q), Value: []byte(value)})
		}
		return r
	}
	crawl := []hbase.Row{page("com.foo.bar:http:8983/to/index.html?a=b", "p:t=Bar"), page("org.example.www:https/", "f:st=\x00\x00\x00\x02"), page("localhost:http/")}
	for _, c := range []struct {
		name string
		rows []hbase.Row
		want string // in the first proposal; "!": not in it
	}{
		{"the same tags", []hbase.Row{series("", 0, one), series("", 1, one), series("", 1, other)},
			"DATE_BIN('1 hour', ts) AS EPOCH32, X'000001', OPENTSDB_UID('tagv', tag1) AS BYTES(3), X'000002', OPENTSDB_UID('tagv', tag2) AS BYTES(3))"},
		{"other tags", []hbase.Row{series("", 0, one), series("", 1, one), series("", 1, third)}, "DATE_BIN('1 hour', ts) AS EPOCH32, tags AS BYTES)"},
		{"no full hour", []hbase.Row{series("", 0, one), point("\x00\x00\x01\x6a\xb1\x38\x61"+one, "\x32\x00", "\x0c")}, "!OPENTSDB"},
		{"cells of others", []hbase.Row{series("", 0, one), point("\x00\x00\x01\x6a\xb1\x38\x60"+other, "temperature", "\x0c")}, "!OPENTSDB"},
		{"a byte that is no salt", []hbase.Row{series("\x01", 0, one), series("\x01", 1, one), series("\x01", 1, other)}, "!OPENTSDB"},
		{"a graph", letter("egis"), "ROW KEY (id AS BYTES)"},
		{"a graph", letter("egis"), "JanusGraph"},
		{"letters", letter("ega"), "!JanusGraph"},
		{"pages", crawl, "Nutch"},
		{"pages", crawl, "ROW KEY (REVERSE_DOMAIN(host) AS TEXT, ':', rest AS TEXT)"},
		{"pages", crawl, "fetch_time TIMESTAMP FROM f:ts AS INT64,\n    fetch_interval INT FROM f:fi AS INT32,\n    title STRING FROM p:t,\n    score FLOAT FROM s:s AS FLOAT32)"},
		{"pages of another", append([]hbase.Row{page("com.foo:http/", "x:y=1")}, crawl...), "!Nutch"},
		{"no pages", append([]hbase.Row{page("a1")}, crawl...), "!Nutch"},
	} {
		ps, err := infer.Propose("tsdb", c.rows, 3)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		want, not := strings.CutPrefix(c.want, "!")
		if strings.Contains(ps[0].String(), want) == not {
			t.Errorf("%s: %s", c.name, ps[0])
		}
		if !not && len(ps) > 1 {
			t.Errorf("%s: %d proposals", c.name, len(ps))
		}
	}
}
