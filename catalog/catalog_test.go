package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
	"github.com/hql-db/hql/types"
)

func layouts(tb testing.TB) *Catalog {
	tb.Helper()
	c := New()
	if err := c.Load(testdata.Layouts); err != nil {
		tb.Fatal(err)
	}
	return c
}

// rowOf makes a row from "column=literal" pairs.
func rowOf(tb testing.TB, t *Table, fields ...string) []types.Value {
	tb.Helper()
	row := make([]types.Value, len(t.Columns)+2)
	for _, f := range fields {
		name, lit, _ := strings.Cut(f, "=")
		col, ok := t.Column(name)
		if !ok {
			tb.Fatalf("no column %s", name)
		}
		tree, err := parser.ParseExpr(lit)
		if err != nil {
			tb.Fatal(err)
		}
		e, err := expr.Compile(tree, &expr.Scope{Funcs: functions.Builtins()})
		if err != nil {
			tb.Fatal(err)
		}
		v, err := types.Cast(e.(*expr.Const).Val, col.Type, nil)
		if err != nil {
			tb.Fatal(err)
		}
		row[col.Index] = v
	}
	return row
}

// Keys published with the layouts (testdata/layouts.sql and its notes), or
// written out by hand from the formats' definitions.
func TestPublishedKeys(t *testing.T) {
	c := layouts(t)
	for _, k := range []struct {
		table, layout string
		row           []string
		stored, key   string
	}{
		{"contacts", "primary", []string{"uid=111", "phone='123'", "name='iteblog'"}, "contacts", "000111|123|iteblog"},
		{"foo_hashed", "primary", []string{"id='foo0001'"}, "foo_hashed", "95f18cfoo0001"},
		{"foo_hashed", "primary", []string{"id='foo0002'"}, "foo_hashed", "6ccc20foo0002"},
		{"foo_hashed", "primary", []string{"id='foo0003'"}, "foo_hashed", "b61d00foo0003"},
		{"foo_hashed", "primary", []string{"id='foo0004'"}, "foo_hashed", "1a7475foo0004"},
		{"sites", "primary", []string{"domain='flink.iteblog.com'"}, "sites", "moc.golbeti.knilf"},
		{"sites", "primary", []string{"domain='www.iteblog.com'"}, "sites", "moc.golbeti.www"},
		{"messages_md5", "primary", []string{"sent=TIMESTAMP '2023-06-11 06:30:31'", "message_id='1231231'"}, "messages_md5", "8D4646EB2D7067126EB08ADB0672F7BB:230611:063031:1231231"},
		{"files", "primary", []string{"user_id=1", "create_time=DATE '2012-09-02'", "file_id=1"}, "files", "00000120120902000001"},
		{"user_ops", "primary", []string{"uid='u0000001'", "ts=TIMESTAMP '1970-01-01 00:00:00.001'"}, "user_ops", "u0000001\x7f\xff\xff\xff\xff\xff\xff\xfe"},
		{"log_bucketed", "primary", []string{"ts=TIMESTAMP '1970-01-01 00:00:00.142'", "host='a'", "event='e'"}, "log_bucketed", "\x2a\x00\x00\x00\x00\x00\x00\x00\x8ea\x00e"},
		{"tx", "primary", []string{"device='d1'", "ts=TIMESTAMP '2012-09-01 00:00:01'", "ext='x'"}, "tx_20120901", "\xd8\x7d\x00\x00\x03\xe8x"},
		{"stats", "primary", []string{"series=7", "ts=TIMESTAMP '2012-09-01 12:59:00'"}, "stats_20120901", "\x00\x00\x00\x07\x03\x0b"},
		{"log_packed", "primary", []string{"host='h'", "event='e'", "ts=TIMESTAMP '1970-01-01 00:06:00'"}, "log_packed", "h\x00e\x00\x00\x00\x00\x00\x00\x04\x93\xe0"},
	} {
		tab, ok := c.Table(k.table)
		if !ok {
			t.Fatalf("no table %s", k.table)
		}
		for _, l := range tab.Layouts {
			if l.Name != k.layout {
				continue
			}
			row := rowOf(t, tab, k.row...)
			stored, key, qual, err := l.EncodeRow(row, &expr.Env{})
			if err != nil {
				t.Errorf("%s: %v", k.table, err)
				continue
			}
			if k.table == "tx" { // the CRC is checked by the hash's own tests
				key[0], key[1] = k.key[0], k.key[1]
				stored2, key2, _, _ := l.EncodeRow(row, &expr.Env{})
				if stored2 != stored || !bytes.Equal(key2[2:], key[2:]) {
					t.Error("not the same key twice")
				}
			}
			if stored != k.stored || string(key) != k.key {
				t.Errorf("%s: %s %q, want %s %q", k.table, stored, key, k.stored, k.key)
			}
			if k.table == "log_packed" && string(qual) != "\x00\x00\xea\x60" {
				t.Errorf("qualifier %q", qual)
			}
		}
	}
}

// Phoenix's salt is computed from the bytes after it.
func TestPhoenixSalt(t *testing.T) {
	tab, _ := layouts(t).Table("phoenix_events")
	l := tab.Layouts[0]
	_, key, _, err := l.EncodeRow(rowOf(t, tab, "host='h'", "ts=1"), &expr.Env{})
	if err != nil {
		t.Fatal(err)
	}
	h := int32(1)
	for _, b := range key[1:] {
		h = 31*h + int32(int8(b))
	}
	if want := max(h%8, -(h % 8)); int32(key[0]) != want {
		t.Errorf("salt %d, want %d", key[0], want)
	}
	key[0] ^= 1
	if err := l.DecodeRow("EVENTS", key, nil, make([]types.Value, len(tab.Columns)+2)); err == nil {
		t.Error("a wrong salt was accepted")
	}
}

func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		c := New()
		var tab *Table
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "create":
				st, err := parser.ParseStatement(d.Input)
				if err == nil {
					tab, err = c.Build(st.(*parser.CreateTable))
				}
				if err != nil {
					if pe, ok := err.(*parser.Error); ok {
						err = pe.In(d.Input)
						if pe.Hint != "" {
							return err.Error() + "\nhint: " + pe.Hint + "\n"
						}
					}
					return err.Error() + "\n"
				}
				return describeTable(tab)
			case "encode":
				table, key, qual, err := tab.Layouts[0].EncodeRow(rowOf(t, tab, strings.Split(d.Input, "\n")...), &expr.Env{Rand: func() uint64 { return 1 }})
				if err != nil {
					return err.Error() + "\n"
				}
				return strings.TrimSpace(table+" "+types.EscapeBytes(string(key))+" "+types.EscapeBytes(string(qual))) + "\n"
			case "decode":
				row := make([]types.Value, len(tab.Columns)+2)
				tree, err := parser.ParseExpr(d.Input)
				if err != nil {
					t.Fatal(err)
				}
				if err := tab.Layouts[0].DecodeRow(tab.Name, []byte(tree.(*parser.Literal).Text), nil, row); err != nil {
					return err.Error() + "\n"
				}
				var b strings.Builder
				for _, col := range tab.Columns {
					if col.KeyPart {
						fmt.Fprintf(&b, "%s=%s\n", col.Name, row[col.Index].SQL())
					}
				}
				return b.String()
			case "cell": // of the columns that are in none but cells
				tree, err := parser.ParseExpr(d.Input)
				if err != nil {
					t.Fatal(err)
				}
				var b strings.Builder
				for _, col := range tab.Columns {
					if col.KeyPart {
						continue
					}
					if v, err := col.DecodeCell([]byte(tree.(*parser.Literal).Text)); err != nil {
						fmt.Fprintf(&b, "%s: %v\n", col.Name, err)
					} else {
						fmt.Fprintf(&b, "%s=%s\n", col.Name, v.SQL())
					}
				}
				return b.String()
			case "splits":
				keys, err := tab.Layouts[0].SplitKeys(nil, nil)
				if err != nil {
					return err.Error() + "\n"
				}
				return string(bytes.Join(keys, []byte("\n"))) + "\n"
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func describeTable(t *Table) string {
	var b strings.Builder
	for _, l := range t.Layouts {
		fmt.Fprintf(&b, "%s:", l.Name)
		for _, p := range l.Key.Parts {
			fmt.Fprintf(&b, " %s", p.Source)
		}
		b.WriteByte('\n')
	}
	for _, c := range t.Columns {
		if c.KeyPart {
			fmt.Fprintf(&b, "%s %s key\n", c.Name, c.Type)
		} else {
			fmt.Fprintf(&b, "%s %s %s:%s %s\n", c.Name, c.Type, c.Family, c.Qualifier, c.Encoding)
		}
	}
	return b.String()
}

func TestFields(t *testing.T) {
	tab, _ := layouts(t).Table("log_data")
	key := tab.Layouts[0].Key
	src := []byte("web\x00login\x00\x00\x00\x00\x00\x00\x00\x00\x07")
	fields, err := key.Fields(src)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&got, "%d %q %s\n", f.Offset, f.Bytes, f.Value)
	}
	if want := "0 \"web\" web\n3 \"\\x00\" NULL\n4 \"login\" login\n9 \"\\x00\" NULL\n10 \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\a\" 1970-01-01T00:00:00.007Z\n"; got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	for _, c := range []struct {
		cut   int
		parts int
	}{{2, 0}, {9, 2}, {12, 4}} { // bytes that are too few give the parts before
		if fields, err := key.Fields(src[:c.cut]); err == nil || len(fields) != c.parts {
			t.Errorf("%q: %d parts, %v", src[:c.cut], len(fields), err)
		}
	}
	if fields, err := key.Fields(append(src, 1)); err == nil || len(fields) != 5 {
		t.Errorf("a byte too many: %d parts, %v", len(fields), err)
	}
}

// As text a date has a year of four digits: another is neither written nor read.
func TestYearOfText(t *testing.T) {
	const last = 253_402_300_799_999
	for _, v := range []types.Value{types.NewTimestamp(last + 1), types.NewTimestamp(-62_167_219_200_001), types.NewDate(last/types.MillisPerDay + 1), types.NewDate(math.MinInt64)} {
		if b, err := newText(v.Type()).Append(nil, v); err != errYear {
			t.Errorf("%s is written as %q: %v", v, b, err)
		}
	}
	for _, s := range []string{"253402300800000", "0000-01-01 00:00:00+00:01", "9999-12-31 23:59:59-00:01"} {
		if v, err := newText(types.Timestamp).Decode([]byte(s)); err != errYear {
			t.Errorf("%s is read as %s: %v", s, v, err)
		}
	}
	for _, v := range []types.Value{types.NewTimestamp(last), types.NewTimestamp(-62_167_219_200_000), types.NewDate(last / types.MillisPerDay)} {
		b, err := newText(v.Type()).Append(nil, v)
		if back, err2 := newText(v.Type()).Decode(b); err != nil || err2 != nil || back != v {
			t.Errorf("%s is written as %q (%v) and read as %s (%v)", v, b, err, back, err2)
		}
	}
}

// Where a table is split by its key: over the values of its first part, however it is written.
func TestSplitKeys(t *testing.T) {
	hundred := func(file string) ([][]byte, error) {
		var keys [][]byte
		if file == "empty" {
			return nil, nil
		}
		for i := range 100 {
			keys = append(keys, fmt.Appendf(nil, "%02d", i))
		}
		return keys, nil
	}
	files := func(file string) ([]byte, error) {
		return []byte(map[string]string{"numbers": "1000\r\n\n100000\n\\x00\\x80\\x00a\n", "texts": "1\nabc\n"}[file]), nil
	}
	for _, test := range []struct{ key, split, want string }{
		{"MD5(id)", "SPLIT INTO 4 BY KEY", `"40000000" "80000000" "c0000000"`},
		{"MD5(id) AS TEXT(32)", "SPLIT INTO 4 BY KEY", `"40000000" "80000000" "c0000000"`},
		{"MD5(id) AS TEXT", "SPLIT INTO 2 BY KEY", `"80000000"`},
		{"LEFT(MD5(id), 8)", "SPLIT INTO 4 BY KEY", `"40000000" "80000000" "c0000000"`},
		{"LEFT(MD5(id), 9)", "SPLIT INTO 4 BY KEY", `"40000000" "80000000" "c0000000"`},
		{"LEFT(MD5(id), 1)", "SPLIT INTO 17 BY KEY", "error: SPLIT BY KEY: LEFT(MD5(id), 1) has only 16 values"},
		{"LOWER(UPPER(LEFT(MD5(id), 1)))", "SPLIT INTO 4 BY KEY", `"4" "8" "c"`},
		{"UPPER(MD5(id))", "SPLIT INTO 3 BY KEY", `"55555555" "AAAAAAAA"`},
		{"SUBSTRING(MD5(id), 1, 5)", "SPLIT INTO 4 BY KEY", `"40000" "80000" "c0000"`},
		{"SUBSTRING(MD5(id), 30)", "SPLIT INTO 2 BY KEY", `"800"`},
		{"RIGHT(MD5(id), 2)", "SPLIT INTO 2 BY KEY", `"80"`},
		{"REVERSE(MD5(id)) AS TEXT(32)", "SPLIT INTO 2 BY KEY", `"80000000"`},
		{"REVERSE(LEFT(id, 4)) AS TEXT", "SPLIT INTO 2 BY KEY", "error: SPLIT BY KEY: the possible values of REVERSE(LEFT(id, 4)) AS TEXT are unknown"},
		{"UNHEX(MD5(id))", "SPLIT INTO 4 BY KEY", `"@\x00\x00\x00" "\x80\x00\x00\x00" "\xc0\x00\x00\x00"`},
		{"UNHEX(MD5(id)) AS INVERTED BYTES(16)", "SPLIT INTO 2 BY KEY", `"\x80\x00\x00\x00"`},
		{"LEFT(MD5(id), 4) AS INVERTED TEXT(4)", "SPLIT INTO 2 BY KEY", `"ș\x99\x99"`},
		{"REVERSE(n::text) AS TEXT", "SPLIT INTO 4 BY KEY", `"25" "5" "75"`},
		{"REVERSE(LPAD(n::text, 10, '0')) AS TEXT(10)", "SPLIT INTO 20 BY KEY", "19 keys"},
		{"n AS REVERSED TEXT(8)", "SPLIT INTO 4 BY KEY", `"25000000" "50000000" "75000000"`},
		{"n AS LITTLE INT16", "SPLIT INTO 4 BY KEY", `"@\x00" "\x80\x00" "\xc0\x00"`},
		{"id AS TEXT(4)", "SPLIT INTO 4 BY KEY", "error: SPLIT BY KEY: the possible values of id AS TEXT(4) are unknown"},
		{"'x', id AS TEXT", "SPLIT INTO 4 BY KEY", "error: SPLIT BY KEY: the possible values of id AS TEXT are unknown"},
		{"'x', X'00', n AS UINT8, id AS TEXT", "SPLIT INTO 2 BY KEY", `"x\x00\x80"`},
		{"n AS UINT16", "SPLIT INTO 4 BY KEY", `"@\x00" "\x80\x00" "\xc0\x00"`},
		{"n AS INT8", "SPLIT INTO 4 BY KEY", `"@" "\x80" "\xc0"`},
		{"n AS INT16", "SPLIT INTO 3 BY KEY", `"UU" "\xaa\xaa"`},
		{"n AS INT64", "SPLIT INTO 4 BY KEY", `"@\x00\x00\x00\x00\x00\x00\x00" "\x80\x00\x00\x00\x00\x00\x00\x00" "\xc0\x00\x00\x00\x00\x00\x00\x00"`},
		{"n AS INVERTED INT8", "SPLIT INTO 4 BY KEY", `"@" "\x80" "\xc0"`},
		{"n AS INVERTED UINT8", "SPLIT INTO 4 BY KEY", `"@" "\x80" "\xc0"`},
		{"n % 100000 AS INT32", "SPLIT INTO 4 BY KEY", `"\x00\x00\xc3O" "\x00\x01\x86\x9f" "\xff\xff<\xb0"`},
		{"CRC32(id) AS INT64", "SPLIT INTO 2 BY KEY", `"\x00\x00\x00\x00\x80\x00\x00\x00"`},
		{"n AS ORDERED INT32", "SPLIT INTO 2 BY KEY", `"\x80\x00\x00\x00"`},
		{"n AS ORDERED INT64", "SPLIT INTO 4 BY KEY", `"@\x00\x00\x00\x00\x00\x00\x00" "\x80\x00\x00\x00\x00\x00\x00\x00" "\xc0\x00\x00\x00\x00\x00\x00\x00"`},
		{"FLOORMOD(n, 4) AS UINT8", "SPLIT INTO 4 BY KEY", `"\x01" "\x02" "\x03"`},
		{"FLOORMOD(n, 4) AS UINT8", "SPLIT INTO 5 BY KEY", "error: SPLIT BY KEY: FLOORMOD(n, 4) AS UINT8 has only 4 values"},
		{"UPPER(MD5(id))", "SPLIT INTO 3 BY HEX", `"55555555" "AAAAAAAA"`},
		{"n AS UPPER HEX(8)", "SPLIT INTO 3 BY HEX", `"55555555" "AAAAAAAA"`},
		{"n AS INT64", "SPLIT INTO 3 BY HEX", "error: SPLIT BY HEX would leave regions empty: n AS INT64 does not begin with hexadecimal digits"},
		{"n AS REVERSED TEXT(8)", "SPLIT INTO 3 BY HEX", "error: SPLIT BY HEX would leave regions empty: n AS REVERSED TEXT(8) does not begin with hexadecimal digits"},
		{"UNHEX(MD5(id))", "SPLIT INTO 2 BY HEX", "error: SPLIT BY HEX would leave regions empty: UNHEX(MD5(id)) does not begin with hexadecimal digits"},
		{"MD5(id)", "SPLIT INTO 2 BY UNIFORM", `error: SPLIT BY UNIFORM would leave regions empty: MD5(id) begins with one of "0123456789abcdef"`},
		{"UNHEX(MD5(id))", "SPLIT INTO 2 BY UNIFORM", `"\x80\x00\x00\x00\x00\x00\x00\x00"`},
		{"n AS INT32", "SPLIT AT (2000, '6000', X'0f', -1, 7000.0)", `"\x00\x00\a\xd0" "\x00\x00\x17p" "\x00\x00\x1bX" "\x0f" "\xff\xff\xff\xff"`},
		{"n AS INT32", "SPLIT AT (TRUE)", "error: TRUE cannot be a split key: the keys begin with n AS INT32: it is not a valid BIGINT"},
		{"n AS INT32", "SPLIT AT (1.5)", "error: 1.5 cannot be a split key: the keys begin with n AS INT32: it is not a valid BIGINT"},
		{"n AS INT8", "SPLIT AT (2000)", "error: 2000 cannot be a split key: the keys begin with n AS INT8: 2000 does not fit INT8 (-128 to 127)"},
		{"n AS INT32", "SPLIT AT (NULL)", "error: a split key is a constant that is not NULL and not empty"},
		{"n AS INT32", "SPLIT AT (DATE '2024-01-01')", "error: DATE '2024-01-01' cannot be a split key: the keys begin with n AS INT32: DATE cannot be cast to BIGINT"},
		{"9223372036854775807 - ts AS INT64", "SPLIT AT (TIMESTAMP '2024-01-01')", "error: TIMESTAMP '2024-01-01 00:00:00' cannot be a split key: the keys begin with 9223372036854775807 - ts AS INT64: it is not a valid BIGINT"},
		{"ts AS INT64", "SPLIT AT ('1970-01-01 00:00:01', TIMESTAMP '1970-01-01 00:00:02')", `"\x00\x00\x00\x00\x00\x00\x03\xe8" "\x00\x00\x00\x00\x00\x00\a\xd0"`},
		{"DATE(ts) AS TEXT('yyyyMMdd'), ts AS INT64", "SPLIT AT ('2024-05-01', DATE '2024-06-01', '202407', '2025')", `"20240501" "20240601" "202407" "2025"`},
		{"n AS TEXT(8)", "SPLIT AT (2000, '5')", `"00002000" "5"`},
		{"n AS INVERTED UINT8", "SPLIT AT (1, 2)", `"\xfd" "\xfe"`},
		{"id AS TEXT", "SPLIT AT ('b', 5, X'61ff')", `"5" "a\xff" "b"`},
		{"'x', n AS INT8", "SPLIT AT ('x1', 7)", `"x\a" "x1"`},
		{"id AS UUID", "SPLIT AT ('abc')", `error: 'abc' cannot be a split key: the keys begin with id AS UUID: "abc" is not a UUID in lower case`},
		{"n AS INT32", "SPLIT AT (n)", "error: a column is not allowed here"},
		{"n AS INT32", "SPLIT FROM FILE 'numbers'", `"\x00\x00\x03\xe8" "\x00\x01\x86\xa0" "\x00\x80\x00a"`},
		{"n AS INT32", "SPLIT FROM FILE 'texts'", "error: split file: line 2: 'abc' cannot be a split key: the keys begin with n AS INT32: invalid number \"abc\""},
		{"id AS TEXT", "SPLIT FROM FILE 'texts'", `"1" "abc"`},
		{"id AS TEXT", "SPLIT INTO 3 BY HEX", `"55555555" "aaaaaaaa"`},
		{"id AS TEXT", "SPLIT INTO 3 BY UNIFORM", `"UUUUUUUU" "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"`},
		{"id AS TEXT", "SPLIT INTO 1 BY HEX", "error: a table can be split into 2 to 10000 regions"},
		{"id AS TEXT", "SPLIT INTO 10001 BY HEX", "error: a table can be split into 2 to 10000 regions"},
		{"id AS TEXT", "SPLIT INTO 10000 BY HEX", "9999 keys"},
		{"id AS TEXT(2)", "SPLIT INTO 100 BY SAMPLE OF FILE 'x'", "99 keys"},
		{"id AS TEXT(2)", "SPLIT INTO 101 BY SAMPLE OF FILE 'x'", "error: sample file: its rows have 100 different keys, too few for 101 regions"},
		{"id AS TEXT(2)", "SPLIT INTO 2 BY SAMPLE OF FILE 'empty'", "error: sample file: its rows have 0 different keys, too few for 2 regions"},
	} {
		c := New()
		if err := c.Load("CREATE TABLE t (id STRING FROM f:id, n BIGINT FROM f:n, ts TIMESTAMP FROM f:ts) ROW KEY (" + test.key + ") " + test.split); err != nil {
			t.Errorf("%s: %v", test.key, err)
			continue
		}
		table, _ := c.Table("t")
		keys, err := table.Layouts[0].SplitKeys(files, hundred)
		got := strings.Trim(fmt.Sprintf("%q", keys), "[]")
		if err != nil {
			got = "error: " + err.Error()
		} else if len(keys) > 10 {
			got = fmt.Sprint(len(keys), " keys")
		}
		if got != test.want {
			t.Errorf("%s %s: %s, want %s", test.key, test.split, got, test.want)
		}
	}
}

// refusing does not store one of the values that its Clip leaves.
type refusing struct {
	*integer
	value int64
}

func (e refusing) Append(dst []byte, v types.Value) ([]byte, error) {
	if v.Int() == e.value {
		return dst, errors.New("refused")
	}
	return e.integer.Append(dst, v)
}

// An encoding that refuses a bound tells nothing of the bytes between: no range is left out.
func TestRefusedBounds(t *testing.T) {
	for _, kind := range []integerKind{ordered, signed} {
		for _, bound := range []int64{-5, 5} {
			enc := refusing{newInteger("INT64", types.BigInt, 8, kind), bound}
			if got, _, ok := appendRanges(nil, enc, types.Interval{Lo: types.NewInt(-5), Hi: types.NewInt(5)}, follow{}); ok {
				t.Errorf("%s without %d: %v", enc, bound, got)
			}
		}
	}
}
