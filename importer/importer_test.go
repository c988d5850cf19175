package importer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/importer"
)

// testdata/*.txt: catalogs of other tools and what becomes of them.
func TestImport(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") || strings.Contains(path, "phoenix_catalog") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := importer.Import(d.CmdArgs[0].Key, d.Input)
			if err != nil {
				return fmt.Sprintf("error: %v\n", err)
			}
			if err := catalog.New().Load(out); err != nil {
				t.Errorf("%s: the result is no catalog: %v\n%s", d.Pos, err, out)
			}
			return out
		})
	})
}

// systemTables are tables that can only be scanned, by name.
type systemTables struct {
	hbase.Client
	rows map[string][]hbase.Row
}

func (s systemTables) Scan(_ context.Context, r hbase.ScanRange, _ *hbase.ReadOptions) (hbase.Scanner, error) {
	rows, ok := s.rows[r.Table]
	if !ok {
		return nil, hbase.ErrNoTable
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row hbase.Row) bool {
		return bytes.Compare(row.Key, r.Start) < 0 || len(r.Stop) > 0 && bytes.Compare(row.Key, r.Stop) >= 0
	})
	return &systemScanner{rows}, nil
}

// Families gives cells of B_TTL an end.
func (s systemTables) Families(_ context.Context, table string) ([]hbase.Family, error) {
	ttl := "2147483647"
	if table == "B_TTL" {
		ttl = "86400"
	}
	return []hbase.Family{{Name: "0", Attributes: map[string]string{"TTL": ttl}}}, nil
}

type systemScanner struct{ rows []hbase.Row }

func (s *systemScanner) Next(context.Context) ([]hbase.Row, error) {
	if s.rows == nil {
		return nil, io.EOF
	}
	rows := s.rows
	s.rows = nil
	return rows, nil
}

func (s *systemScanner) Close() error { return nil }

// testdata/phoenix_catalog: rows of SYSTEM.CATALOG, a key a line with its cells behind it, bytes as \xNN, and what they describe.
func TestPhoenixCatalog(t *testing.T) {
	datadriven.RunTest(t, "testdata/phoenix_catalog", func(t *testing.T, d *datadriven.TestData) string {
		var rows []hbase.Row
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSuffix(line, "\n")
			cell, ok := strings.CutPrefix(line, "  ")
			if !ok {
				rows = append(rows, hbase.Row{Key: bytesOf(t, line)})
				continue
			}
			name, value, _ := strings.Cut(cell, " ")
			r := &rows[len(rows)-1]
			r.Cells = append(r.Cells, hbase.Cell{Family: []byte("0"), Qualifier: []byte(name), Value: bytesOf(t, value)})
		}
		c := systemTables{rows: map[string][]hbase.Row{"SYSTEM.CATALOG": rows, "SYSTEM.SEQUENCE": {{Key: []byte("\x00S\x00Q")}, {Key: []byte("\x07t\x00\x00P")}}}}
		out, err := importer.PhoenixCatalog(context.Background(), c)
		if err != nil {
			return fmt.Sprintf("error: %v\n", err)
		}
		if err := catalog.New().Load(out); err != nil {
			t.Errorf("the result is no catalog: %v", err)
		}
		return out
	})
	if _, err := importer.PhoenixCatalog(context.Background(), systemTables{}); err == nil || !strings.Contains(err.Error(), "SYSTEM.CATALOG") {
		t.Errorf("without Phoenix: %v", err)
	}
}

// Who reads a table sees the columns, views and indexes that its definition was made of change, and those of no other; who writes it, the views
// and indexes that are kept with its rows besides, also new ones.
func TestPhoenixSame(t *testing.T) {
	row := func(key string, cells ...string) hbase.Row {
		r := hbase.Row{Key: []byte(key)}
		for i := 0; i < len(cells); i += 2 {
			r.Cells = append(r.Cells, hbase.Cell{Family: []byte("0"), Qualifier: []byte(cells[i]), Value: []byte(cells[i+1])})
		}
		return r
	}
	header := func(name, kind string) hbase.Row {
		return row("\x00\x00"+name, "TABLE_TYPE", kind, "INDEX_TYPE", "\x01", "INDEX_STATE", "a")
	}
	key := func(name string) hbase.Row {
		return row("\x00\x00"+name+"\x00ID", "DATA_TYPE", "\x80\x00\x00\x0C", "KEY_SEQ", "\x80\x01", "NULLABLE", "\x80\x00\x00\x00", "ORDINAL_POSITION", "\x80\x00\x00\x01")
	}
	link := func(name, kind, to string) hbase.Row { return row("\x00\x00"+name+"\x00\x00"+to, "LINK_TYPE", kind) }
	// T has the index X and the view V, which has a view W; T2 is another table.
	was := []hbase.Row{header("T", "u"), link("T", "\x01", "X"), key("T"), header("T2", "u"), key("T2"),
		header("V", "v"), link("V", "\x02", "T"), header("W", "v"), link("W", "\x03", "V"), header("X", "i"), link("X", "\x02", "T"), key("X")}
	links := []hbase.Row{link("T", "\x04", "V"), link("V", "\x04", "W")}
	c := systemTables{rows: map[string][]hbase.Row{"SYSTEM.CATALOG": was, "SYSTEM.CHILD_LINK": links}}
	p, err := importer.ReadPhoenix(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) hbase.Row {
		return row("\x00\x00"+name+"\x00NEW\x000", "DATA_TYPE", "\x80\x00\x00\x0C")
	}
	for _, tt := range []struct {
		name           string
		catalog, links []hbase.Row
		without        string // the key of a row that goes
		read, written  string // the tables that are not the same
	}{
		{name: "nothing"},
		{name: "a column of T", catalog: []hbase.Row{column("T")}, read: "t v w", written: "t v w"},
		{name: "a column of T2", catalog: []hbase.Row{column("T2")}, read: "t2", written: "t2"},
		{name: "a column of V", catalog: []hbase.Row{column("V")}, read: "v w", written: "t v w"},
		{name: "a column of W", catalog: []hbase.Row{column("W")}, read: "w", written: "t v w"},
		{name: "a column of X", catalog: []hbase.Row{column("X")}, read: "t v w", written: "t v w"},
		{name: "an index of W", catalog: []hbase.Row{link("W", "\x01", "Y")}, read: "w", written: "t v w"},
		{name: "a view of W", links: []hbase.Row{link("W", "\x04", "Z")}, written: "t v w"},
		{name: "a view of T2", links: []hbase.Row{link("T2", "\x04", "Z")}, written: "t2"},
		{name: "without T2", without: "\x00\x00T2", read: "t2", written: "t2"},
		{name: "without X's key", without: "\x00\x00X\x00ID", read: "t v w", written: "t v w"},
	} {
		now := systemTables{rows: map[string][]hbase.Row{}}
		for table, rows := range map[string][]hbase.Row{"SYSTEM.CATALOG": slices.Concat(was, tt.catalog), "SYSTEM.CHILD_LINK": slices.Concat(links, tt.links)} {
			slices.SortFunc(rows, func(a, b hbase.Row) int { return bytes.Compare(a.Key, b.Key) })
			now.rows[table] = slices.DeleteFunc(rows, func(r hbase.Row) bool { return string(r.Key) == tt.without })
		}
		for written, want := range map[bool]string{false: tt.read, true: tt.written} {
			var got []string
			for _, table := range []string{"t", "t2", "v", "w"} {
				same, err := p.Same(t.Context(), now, table, written)
				if err != nil {
					t.Fatal(err)
				}
				if !same {
					got = append(got, table)
				}
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("%s: written %t: %q are not the same, want %q\n%s", tt.name, written, got, want, p.SQL())
			}
		}
	}
}

// bytesOf reads bytes as HBase's shell prints them.
func bytesOf(t *testing.T, s string) []byte {
	var b []byte
	for len(s) > 0 {
		if !strings.HasPrefix(s, `\x`) {
			b, s = append(b, s[0]), s[1:]
			continue
		}
		n, err := strconv.ParseUint(s[2:4], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		b, s = append(b, byte(n)), s[4:]
	}
	return b
}

func FuzzImport(f *testing.F) {
	f.Add(`CREATE TABLE a (k struct<x:string,y:int>, v int) WITH SERDEPROPERTIES ("hbase.columns.mapping" = ":key,f:v")`)
	f.Add(`{"table":{"name":"t"}, "rowkey":"a", "columns":{"a":{"cf":"rowkey", "col":"a", "type":"int"}}}`)
	f.Fuzz(func(t *testing.T, src string) {
		for _, format := range importer.Formats() {
			out, err := importer.Import(format, src)
			if err != nil {
				continue
			}
			if err := catalog.New().Load(out); err != nil && !strings.Contains(err.Error(), "already exists") {
				t.Errorf("%s of %q: %v\n%s", format, src, err, out)
			}
		}
	})
}
