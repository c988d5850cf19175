package infer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/infer"
	"github.com/hql-db/hql/types"
)

// givenColumn is a column of a table that another system writes: its name and type there and where it is stored, its values as texts that are given
// to that system and expected back, and what must be proposed for it, several columns for a struct or a map, whose values ',' separates.
type givenColumn struct {
	name, typ, at string
	value         func(i int) string
	proposed      []string // "NAME TYPE FROM CELL"; of a key the name alone
}

func (c givenColumn) values(i int) []string {
	if len(c.proposed) == 1 {
		return []string{c.value(i)}
	}
	values := strings.Split(c.value(i), ",")
	for j, v := range values {
		values[j] = v[strings.Index(v, ":")+1:]
	}
	return values
}

// null is the text of NULL.
const null = `\N`

// each gives one of texts, in turn.
func each(texts ...string) func(i int) string {
	return func(i int) string { return texts[i%len(texts)] }
}

// number gives integers of both signs with this greatest amount, the extremes first.
func number(most int64) func(i int) string {
	return func(i int) string {
		switch i {
		case 0:
			return fmt.Sprint(most)
		case 1:
			return fmt.Sprint(-most - 1)
		}
		if i%7 == 5 {
			return null
		}
		return fmt.Sprint((int64(i*i*i) - 40_000) * 97 % (most>>2 + 1))
	}
}

// double gives numbers with few digits and with all, some of them as Java prints with an exponent.
func double(i int) string {
	if i%9 == 4 {
		return null
	}
	f := []float64{float64(i) / 8, -float64(i) / 7, math.Sqrt(float64(i)), float64(i) * 1e7, -float64(i) / 1e5}[i%5]
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func note(i int) string {
	return []string{fmt.Sprint("note ", i), "", null, "naïve ☕", "a longer text: with, signs"}[i%5]
}

func moment(i int) string {
	if i%8 == 3 {
		return null
	}
	return time.UnixMilli(1_767_225_600_000 + int64(i)*86_399_500 - int64(i%3)*1_000_000_000_000).UTC().Format("2006-01-02 15:04:05.999")
}

// recent gives moments of a few months.
func recent(i int) string {
	return time.UnixMilli(1_767_225_600_000 + int64(i)*86_399_123).UTC().Format("2006-01-02 15:04:05.999")
}

func day(i int) string { return time.Unix(int64(i*97-3000)*86_400, 0).UTC().Format(time.DateOnly) }

func price(i int) string { return fmt.Sprintf("%d.%02d", i*13-900, i%100) }

func col(name, typ, at string, value func(i int) string, proposed ...string) givenColumn {
	return givenColumn{name, typ, at, value, proposed}
}

// numbers are columns in binary cells of the family f; at tells where a connector is told to have them.
func numbers(at func(name string) string) []givenColumn {
	return []givenColumn{
		col("tiny", "tinyint", at("tiny"), number(math.MaxInt8), "tiny TINYINT FROM f:tiny"),
		col("small", "smallint", at("small"), number(1<<10), "small SMALLINT FROM f:small"),
		col("whole", "int", at("whole"), number(1<<20), "whole INT FROM f:whole"),
		col("big", "bigint", at("big"), number(1<<40), "big BIGINT FROM f:big"),
		col("real", "float", at("real"), each("0.1", "-2.5", "3", "12345678", "0.75", "12.5", null), "real FLOAT FROM f:real"),
	}
}

// Tables as Hive's storage handler writes them: in text, with a struct as key and a map whose keys are qualifiers; and in binary.
func TestHive(t *testing.T) {
	city := each("Oslo", "Rome", "Lima", "Quito")
	text := []givenColumn{
		col("tiny", "tinyint", "f:tiny", number(math.MaxInt8), "tiny BIGINT FROM f:tiny AS TEXT"),
		col("small", "smallint", "f:small", number(math.MaxInt16), "small BIGINT FROM f:small AS TEXT"),
		col("whole", "int", "f:whole", number(math.MaxInt32), "whole BIGINT FROM f:whole AS TEXT"),
		col("big", "bigint", "f:big", number(math.MaxInt64), "big BIGINT FROM f:big AS TEXT"),
		col("real", "float", "f:real", each("0.1", "-2.5", "3.0", "12345678", null), "real DOUBLE FROM f:real AS TEXT"),
		col("amount", "double", "f:amount", double, "amount DOUBLE FROM f:amount AS TEXT"),
		col("ok", "boolean", "f:ok", each("true", "false", null, "false"), "ok BOOLEAN FROM f:ok AS TEXT"),
		col("note", "string", "f:note", note, "note STRING FROM f:note"),
		col("seen", "timestamp", "f:seen", moment, "seen TIMESTAMP FROM f:seen AS TEXT"),
		col("born", "date", "f:born", day, "born DATE FROM f:born AS TEXT"),
		col("price", "decimal(10,2)", "f:price", price, "price DECIMAL FROM f:price AS TEXT"),
		col("code", "char(4)", "f:code", each("abcd", "x   "), "code STRING FROM f:code"),
		col("word", "varchar(99)", "f:word", note, "word STRING FROM f:word"),
	}
	binary := append(numbers(func(name string) string { return "f:" + name + "#b" }),
		col("amount", "double", "f:amount#b", double, "amount DOUBLE FROM f:amount"),
		col("ok", "boolean", "f:ok#b", each("true", "false", null, "false"), "ok TINYINT FROM f:ok"), // 1 and 0
		col("note", "string", "f:note#b", note, "note STRING FROM f:note"),
	)
	for _, c := range []struct {
		name, key string
		own       []givenColumn
		cells     []givenColumn
	}{
		{"text", "id AS TEXT", []givenColumn{col("k", "string", ":key", func(i int) string { return string(rune('a'+i%23)) + fmt.Sprintf("%x", i*i*7919+i) }, "id")}, text},
		{"struct", "id AS TEXT, X'02', n AS TEXT", []givenColumn{
			col("k", "struct<city:string,n:int>", ":key", func(i int) string { return fmt.Sprintf("%s,%d", city(i), i*31-500) }, "id", "n"),
			col("tags", "map<string,int>", "g:", func(i int) string { return fmt.Sprintf("red:%d,blue:%d", i, -i) }, "red BIGINT FROM g:red AS TEXT", "blue BIGINT FROM g:blue AS TEXT"),
		}, text},
		{"int", "n AS INT32", []givenColumn{col("k", "int", ":key#b", func(i int) string { return fmt.Sprint(i*37 - 2000) }, "n")}, binary},
		{"bigint", "n AS INT64", []givenColumn{col("k", "bigint", ":key#b", func(i int) string { return fmt.Sprint(i*37 - 2000) }, "n")}, binary},
	} {
		t.Run(c.name, func(t *testing.T) {
			columns := slices.Concat(c.own, c.cells)
			var names, typs, at []string
			for _, c := range columns {
				names, typs, at = append(names, c.name), append(typs, c.typ), append(at, c.at)
			}
			checkWritten(t, hive(t, strings.Join(names, ","), strings.Join(typs, ":"), strings.Join(at, ","), lines(columns)), c.key, columns)
		})
	}
}

// Tables as HBase's connector for Spark writes them: keys of one column, and of several one behind the other.
func TestSparkConnector(t *testing.T) {
	cells := append(numbers(func(string) string { return "f" }),
		col("amount", "double", "g", double, "amount DOUBLE FROM g:amount"),
		col("ok", "boolean", "g", each("true", "false", null, "false"), "ok BOOLEAN FROM g:ok"),
		col("note", "string", "g", note, "note STRING FROM g:note"),
		col("seen", "timestamp", "g", func(i int) string { return recent(2*i + 1) }, "seen TIMESTAMP FROM g:seen"),
		col("born", "date", "g", func(i int) string { return recent(i)[:len(time.DateOnly)] }, "born TIMESTAMP FROM g:born"), // its first millisecond
	)
	for _, c := range []struct {
		name, key string
		own       []givenColumn
	}{
		{"string", "id AS TEXT", []givenColumn{col("k", "string", "rowkey", func(i int) string { return string(rune('a'+i%23)) + fmt.Sprintf("%x", i*i*7919+i) }, "id")}},
		{"int", "n AS INT32", []givenColumn{col("k", "int", "rowkey", func(i int) string { return fmt.Sprint(i*37 - 2000) }, "n")}},
		{"composite", "n AS UINT32, id AS TEXT(4), ts AS INT64", []givenColumn{
			col("site", "int", "rowkey", func(i int) string { return fmt.Sprint(i % 7) }, "n"),
			col("kind", "string", "rowkey", each("temp", "wind", "rain"), "id"),
			col("at", "timestamp", "rowkey", recent, "ts"),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			columns := slices.Concat(c.own, cells)
			defined := map[string]map[string]string{}
			var keys, ddl []string
			for _, c := range columns {
				defined[c.name] = map[string]string{"cf": c.at, "col": c.name, "type": c.typ}
				ddl = append(ddl, c.name+" "+c.typ)
				if c.at == "rowkey" {
					keys = append(keys, c.name)
				}
				if c.name == "kind" {
					defined[c.name]["length"] = "4"
				}
			}
			table := "infer_" + c.name
			catalog, err := json.Marshal(map[string]any{"table": map[string]string{"namespace": "default", "name": table}, "rowkey": strings.Join(keys, ":"), "columns": defined})
			if err != nil {
				t.Fatal(err)
			}
			checkWritten(t, spark(t, table, string(catalog), strings.Join(ddl, ", "), lines(columns)), c.key, columns)
		})
	}
}

// lines are the rows of these columns, with tabs between the values.
func lines(columns []givenColumn) (rows []string) {
	for i := range givenRows {
		var row []string
		for _, c := range columns {
			row = append(row, c.value(i))
		}
		rows = append(rows, strings.Join(row, "\t"))
	}
	return rows
}

// givenRows is how many rows another system writes.
const givenRows = 200

// checkWritten holds the proposal for a table of these cells, and the rows that are read by it, against the columns that they were written from, those
// of the key first.
func checkWritten(t *testing.T, cells []cell, key string, columns []givenColumn) {
	t.Helper()
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithFullScan(hql.FullScanAllow))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var families []hbase.Family
	var puts []hbase.Mutation
	for _, c := range cells {
		name := string(c.Family)
		if !slices.ContainsFunc(families, func(f hbase.Family) bool { return f.Name == name }) {
			families = append(families, hbase.Family{Name: name})
		}
		puts = append(puts, hbase.Mutation{Key: c.Key, Timestamp: 1_780_000_000_000, Cells: []hbase.Cell{{Family: c.Family, Qualifier: c.Qualifier, Value: c.Value}}})
	}
	if err := errors.Join(db.Client().CreateTable(ctx, "t", families, nil), db.Client().Mutate(ctx, "t", puts)); err != nil {
		t.Fatal(err)
	}
	sample, err := infer.Sample(ctx, db.Client(), "t", 1000, nil)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := infer.Propose("t", sample, 3)
	if err != nil {
		t.Fatal(err)
	}
	got := ps[0].String()
	definition := strings.Replace(got, ")\n  STORED", ",\n  STORED", 1)
	want := []string{"ROW KEY (" + key + ")"}
	var names []string
	keys := 0
	for _, c := range columns {
		for _, p := range c.proposed {
			name, _, cell := strings.Cut(p, " ")
			names = append(names, name)
			if !cell {
				keys++
			} else {
				want = append(want, "    "+p+",\n")
			}
		}
	}
	for _, w := range want {
		if !strings.Contains(definition, w) {
			t.Errorf("no %s", w)
		}
	}
	if t.Failed() {
		t.Fatal(got)
	}
	if _, err := db.Exec(ctx, got); err != nil {
		t.Fatal(err)
	}
	var given [][]string
	for i := range givenRows {
		var row []string
		for _, c := range columns {
			row = append(row, c.values(i)...)
		}
		given = append(given, row)
	}
	rows, err := db.Query(ctx, "SELECT "+strings.Join(names, ", ")+" FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		read := rows.Raw()
		at := slices.IndexFunc(given, func(row []string) bool { return slices.EqualFunc(read[:keys], row[:keys], same) })
		if at < 0 {
			t.Fatalf("a row %s that was not given", read)
		}
		for i, v := range read {
			if !same(v, given[at][i]) {
				t.Errorf("row %q: %s is %s", given[at], names[i], v)
			}
		}
		given = slices.Delete(given, at, at+1)
	}
	if err := rows.Err(); err != nil || len(given) > 0 {
		t.Errorf("not read: %q, %v", given, err)
	}
}

// same reports whether v is the value that the text was given for.
func same(v types.Value, given string) bool {
	if v.IsNull() || given == null {
		return v.IsNull() && given == null
	}
	switch typ := v.Type(); typ {
	case types.Float, types.Double:
		bits := 64
		if typ == types.Float {
			bits = 32
		}
		f, err := strconv.ParseFloat(given, bits)
		return err == nil && v.Double() == f
	case types.Timestamp:
		if len(given) == len(time.DateOnly) {
			given += " 00:00:00"
		}
		at, err := time.Parse(time.DateTime, given)
		return err == nil && v.Int() == at.UnixMilli()
	case types.TinyInt:
		given = strings.NewReplacer("true", "1", "false", "0").Replace(given)
	}
	return v.String() == given
}
