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
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
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

// Phoenix's definition of phoenix_events gives the columns and the key that layouts.sql has for it.
func TestPhoenixLayout(t *testing.T) {
	out, err := importer.Import("phoenix", `CREATE TABLE EVENTS (HOST VARCHAR NOT NULL, TS BIGINT NOT NULL, LEVEL VARCHAR, MSG VARCHAR, VAL DOUBLE, CNT BIGINT
		CONSTRAINT pk PRIMARY KEY (HOST, TS)) SALT_BUCKETS = 8, COLUMN_ENCODED_BYTES = NONE`)
	if err != nil {
		t.Fatal(err)
	}
	stmts, err := parser.Parse(testdata.Layouts)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stmts {
		def := s.(*parser.CreateTable)
		if def.Name != "phoenix_events" {
			continue
		}
		def.Name = "events"
		if got, want := strings.TrimSpace(out), def.String()+";"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		return
	}
	t.Fatal("layouts.sql has no phoenix_events")
}

func FuzzImport(f *testing.F) {
	f.Add("CREATE TABLE t (a VARCHAR PRIMARY KEY DESC, b CHAR(3)) SALT_BUCKETS=3")
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
