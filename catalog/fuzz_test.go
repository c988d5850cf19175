package catalog

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Any bytes are a key that encodes again to the same bytes, or malformed; never a panic.
func FuzzDecodeKey(f *testing.F) {
	c := layouts(f)
	tables := c.Tables()
	for i := range tables {
		f.Add(uint8(i), []byte("000111|123|iteblog"))
		f.Add(uint8(i), []byte("a-foo0003"))
		f.Add(uint8(i), []byte("u0000001\x7f\xff\xff\xff\xff\xff\xff\xfe"))
	}
	f.Fuzz(func(t *testing.T, n uint8, key []byte) {
		tab := tables[int(n)%len(tables)]
		l := tab.Layouts[0]
		row := make([]types.Value, len(tab.Columns)+2)
		table := tab.Name
		if !l.Stored.IsLiteral() {
			table = "tx_20120901"
			if tab.Name == "stats" {
				table = "stats_20120901"
			}
		}
		if l.DecodeRow(table, key, nil, row) != nil || l.Packed != nil {
			return
		}
		for _, p := range l.Key.Parts {
			if p.draw != nil || p.Literal == nil && !known(tab, p) {
				return // not all of the key follows from the columns
			}
		}
		back, err := l.Key.Append(nil, row, &expr.Env{})
		if err != nil || !bytes.Equal(back, key) {
			t.Fatalf("%s: %q decodes to %v, which encodes to %q (%v)", tab.Name, key, row, back, err)
		}
	})
}

func known(t *Table, p *Part) bool {
	for _, col := range p.Columns {
		if !t.Columns[col].KeyPart {
			return false
		}
	}
	if c, ok := p.Expr.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.Lookup != expr.NoDictionary {
		return false
	}
	return true
}

// Any text is a catalog or an error with a place.
func FuzzLoad(f *testing.F) {
	f.Add("CREATE TABLE t (a INT, b STRING) ROW KEY (a AS TEXT(3), '|', b AS TEXT)")
	f.Add("CREATE TABLE t (ts TIMESTAMP FROM f:[x AS UINT32]) ROW KEY (SALT HEX(8), DATE(ts) AS TEXT('yyyyMMdd'))")
	f.Fuzz(func(t *testing.T, src string) {
		err := New().Load(src)
		if err == nil {
			return
		}
		if _, ok := err.(*parser.Error); !ok {
			t.Fatalf("%T: %v", err, err)
		}
	})
}

// cellEncodings are all encodings of cells, with arguments of each kind, but those that are registered.
func cellEncodings(tb testing.TB) []Encoding {
	tb.Helper()
	all := []types.Type{types.Boolean, types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Float, types.Double,
		types.Decimal, types.String, types.Bytes, types.Date, types.Time, types.Timestamp, types.JSON}
	names := []string{"TEXT", "TEXT(1)", "TEXT(4)", "TEXT(19)", "TEXT(25)", "NUL TEXT(4)", "COUNT8 TEXT", "COUNT16 TEXT", "COUNT32 TEXT", "VINT TEXT", "VINT", "BIGDECIMAL", "UUID", "REVERSED TEXT(5)", "HEX(4)", "UPPER HEX(16)", "BASE36(13)", "CROCKFORD(10)", "TEXT('yyyyMMdd')", "TEXT('yyMM')", "TEXT('HH:mm:ss')",
		"TEXT('ss.SSS, mmHH')", "TEXT('yyyy-MM-dd''T''HH:mm:ss.SSS')", "BYTES", "BYTES(3)", "EPOCH32", "FLOAT32", "FLOAT64", "ORDERED FLOAT32",
		"ORDERED FLOAT64", "PHOENIX DOUBLE", "PHOENIX FLOAT", "BOOLEAN", "PHOENIX BOOLEAN"}
	for _, e := range builtins {
		if e.Args == NoArgs && !slices.Contains(names, e.Name) {
			names = append(names, e.Name)
		}
	}
	var out []Encoding
	for _, t := range all {
		out = append(out, cellEncoding(t))
		for _, name := range names {
			c := New()
			if c.Load(fmt.Sprintf("CREATE TABLE t (k STRING, v %s FROM f:v AS %s) ROW KEY (k AS TEXT)", t, name)) == nil {
				table, _ := c.Table("t")
				out = append(out, table.Columns[1].Encoding)
			}
		}
	}
	return out
}

// canonical reports whether each value of e has one form: neither text that several spellings have, nor the
// bytes of zeros, NaNs and truths.
func canonical(e Encoding, v types.Value) bool {
	switch e := e.(type) {
	case text:
		return e.t.IsText() || e.t == types.Bytes || e.t.IsInteger()
	case float:
		return v.Double() != 0 && !math.IsNaN(v.Double())
	case boolean:
		return false
	}
	return true
}

// Any bytes are a value, which encodes to bytes that mean the same (to the same, where there is one form), or an error.
func FuzzDecodeCell(f *testing.F) {
	encodings := cellEncodings(f)
	for i, e := range encodings {
		n := uint8(i)
		f.Add(n, make([]byte, max(e.Width(), 0)))
		f.Add(n, []byte(strings.Repeat("1", max(e.Width(), 1))))
		f.Add(n, []byte(strings.Repeat("\xff", max(e.Width(), 8))))
		for _, s := range []string{"", " -1.50 ", "true", "NaN", "1e9999", "20261121", "2026-11-21", "23:59:59", "2026-11-21T23:59:59.999+25:00", `{"a":[1]}`} {
			f.Add(n, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, b []byte) {
		e := encodings[int(n)%len(encodings)]
		v, err := e.Decode(b)
		if err != nil {
			return
		}
		if v.IsNull() || v.Type() != e.Type() {
			t.Fatalf("%s AS %s: %q decodes to %v, a %s", e.Type(), e, b, v, v.Type())
		}
		if e.Width() != Variable && len(b) != e.Width() {
			t.Fatalf("%s AS %s: %d bytes decode to %v", e.Type(), e, len(b), v)
		}
		again, err := e.Append(nil, v)
		if err != nil {
			t.Fatalf("%s AS %s: %q decodes to %v, which does not encode: %v", e.Type(), e, b, v, err)
		}
		if canonical(e, v) && !bytes.Equal(again, b) {
			t.Fatalf("%s AS %s: %q decodes to %v, which encodes to %q", e.Type(), e, b, v, again)
		}
		w, err := e.Decode(again)
		if err != nil {
			t.Fatalf("%s AS %s: %q decodes to %v, which encodes to %q: %v", e.Type(), e, b, v, again, err)
		}
		if c, err := types.Compare(v, w); err != nil || c != 0 {
			t.Fatalf("%s AS %s: %q decodes to %v, which encodes to %q, which decodes to %v (%v)", e.Type(), e, b, v, again, w, err)
		}
	})
}

// Any cell of an OpenTSDB row is points, which make a cell of the same points again, or malformed.
func FuzzPoints(f *testing.F) {
	table, ok := layouts(f).Table("tsdb")
	if !ok {
		f.Fatal("layouts.sql has no tsdb")
	}
	column, ok := table.Column("value")
	if !ok || !column.HoldsPoints() {
		f.Fatal("tsdb.value holds no points")
	}
	f.Add([]byte("\x00\x10"), []byte("\x07"))
	f.Add([]byte("\x00\x1b"), []byte("\x00\x00\x00\x00\x40\x49\x0f\xdb"))
	f.Add([]byte("\xf0\x00\x01\x0f"), []byte("\x40\x09\x21\xfb\x54\x44\x2d\x18"))
	f.Add([]byte("\x00\x10\x00\x21"), []byte("\x07\x01\x00\x00"))
	f.Add([]byte("\x00\x10\xf0\x00\x01\x00"), []byte("\x07\x08\x01"))
	f.Add([]byte(tsdbAppend), []byte("\x00\x10\x07\xf0\x00\x01\x00\x08"))
	f.Add([]byte("\x01\x00\x00"), []byte(`{"annotation":1}`))
	f.Fuzz(func(t *testing.T, qualifier, value []byte) {
		points, err := column.Points(nil, qualifier, value)
		if err != nil || len(points) == 0 {
			return
		}
		if 2*len(points) > len(qualifier)+len(value) {
			t.Fatalf("%d points out of %q %q", len(points), qualifier, value)
		}
		for _, p := range points {
			if v, err := column.DecodePacked(p.Qualifier, p.Value); err == nil && v.Type() != types.Double {
				t.Fatalf("%q %q is %v, a %s", p.Qualifier, p.Value, v, v.Type())
			}
		}
		q, v := Compact(points)
		again, err := column.Points(nil, q, v)
		if err != nil || !reflect.DeepEqual(again, points) {
			t.Fatalf("%q %q is %v, which makes %q %q, which is %v (%v)", qualifier, value, points, q, v, again, err)
		}
	})
}
