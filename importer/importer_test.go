package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/importer"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
)

// testdata/*.txt: catalogs of other tools and what becomes of them.
func TestImport(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
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
			if err := catalog.New().Load(out); err != nil && !strings.Contains(err.Error(), "exists already") {
				t.Errorf("%s of %q: %v\n%s", format, src, err, out)
			}
		}
	})
}
