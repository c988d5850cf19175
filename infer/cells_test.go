package infer

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/types"
)

// Cells of known truth: the encoding that wrote them is found from their bytes, or it is said that nothing is.
func TestCellTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	now := int64(1_767_225_600_000)
	ints := func(f func(i int) int64) func(int) types.Value {
		return func(i int) types.Value { return types.NewInt(f(i)) }
	}
	floats := func(f func(i int) float64) func(int) types.Value {
		return func(i int) types.Value { return types.NewDouble(f(i)) }
	}
	price := floats(func(int) float64 { return float64(r.IntN(100_000)) / 100 })
	signed := floats(func(int) float64 { return float64(r.IntN(100_000))/100 - 300 })
	reals := floats(func(int) float64 { return r.NormFloat64()*4 + 21 })
	small := ints(func(int) int64 { return int64(r.IntN(1000)) })
	either := ints(func(int) int64 { return int64(r.IntN(2001)) - 1000 })
	moment := ints(func(int) int64 { return now - r.Int64N(40*86_400_000) })
	amount := ints(func(int) int64 { return (1000 + r.Int64N(300)) * 1_000_000_000 })
	wide := ints(func(int) int64 { return 1_000_000_000_000 + r.Int64N(1_000_000_000_000) })
	for _, c := range []struct {
		truth, want string // TYPE AS encoding, want "" for the same
		value       func(i int) types.Value
	}{
		{"SMALLINT AS INT16", "", either}, {"SMALLINT AS ORDERED INT16", "", either}, {"SMALLINT AS LITTLE INT16", "", small},
		{"INT AS INT32", "", small}, {"INT AS INT32", "", either}, {"INT AS LITTLE INT32", "", small}, {"INT AS ORDERED INT32", "", either},
		{"INT AS ORDERED INT32", "", small}, {"INT AS INT32", "", ints(func(i int) int64 { return 1_000_000_000 + int64(i) })},
		{"INT AS INT32", "", ints(func(int) int64 { return r.Int64N(1_000_000_000) })},
		{"BIGINT AS INT64", "", either}, {"BIGINT AS LITTLE INT64", "", either}, {"BIGINT AS ORDERED INT64", "", either},
		{"BIGINT AS INT64", "", ints(func(int) int64 { return 1_500_000_000_000_000_000 + r.Int64N(1<<50) })},
		{"FLOAT AS FLOAT32", "", floats(func(int) float64 { return float64(float32(r.IntN(1000)) / 8) })},
		{"FLOAT AS FLOAT32", "", floats(func(int) float64 { return float64(float32(r.NormFloat64()*4 + 21)) })},
		{"FLOAT AS PHOENIX FLOAT", "", floats(func(int) float64 { return float64(float32(r.IntN(1000)) / 8) })},
		{"DOUBLE AS FLOAT64", "", price}, {"DOUBLE AS FLOAT64", "", reals}, {"DOUBLE AS PHOENIX DOUBLE", "", price}, {"DOUBLE AS ORDERED FLOAT64", "", signed},
		{"DOUBLE AS FLOAT64", "", floats(func(i int) float64 { return -0.1 * float64(i) })}, {"DOUBLE AS FLOAT64", "", floats(func(i int) float64 { return float64(i % 3) })},
		{"TIMESTAMP AS INT64", "", moment}, {"TIMESTAMP AS ORDERED INT64", "", moment}, {"TIMESTAMP AS LITTLE INT64", "", moment},
		{"BIGINT AS INT64", "", amount}, {"BIGINT AS INT64", "", wide},
		{"BIGINT AS INT64", "BYTES", ints(func(int) int64 { return int64(r.Uint64()) })}, // opaque
		{"INT AS INT32", "BYTES", ints(func(int) int64 { return int64(int32(r.Uint32())) })},
		{"SMALLINT AS INT16", "BYTES", ints(func(int) int64 { return int64(int16(r.Uint32())) })},
	} {
		typ, as, _ := strings.Cut(c.truth, " AS ")
		defs := given.Tables(t, fmt.Sprintf("CREATE EXTERNAL TABLE t (k STRING, v %s FROM f:v AS %s) ROW KEY (k AS TEXT)", typ, as))
		col, _ := defs.Tables()[0].Column("v")
		var values [][]byte
		for i := range 120 {
			v := c.value(i)
			if v.Type() != types.Double {
				v = types.NewIntOf(col.Type, v.Int())
			}
			b, err := col.AppendCell(nil, v)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, b)
		}
		gotTyp, gotAs, why := cellType(values, now, false)
		want := c.want
		if want == "" {
			want = c.truth
		}
		wantTyp, wantAs, _ := strings.Cut(want, " AS ")
		same := gotAs == wantAs || gotAs == "" && !strings.Contains(wantAs, " ")
		if gotTyp != wantTyp || !same {
			t.Errorf("%s read as %s AS %s: %s", c.truth, gotTyp, gotAs, why)
		}
		t.Logf("%-28s %s", c.truth, why)
	}
}

// Counters near 0 are not numbers near the least BIGINT, which differ by less than a DOUBLE tells apart.
func TestCellCounters(t *testing.T) {
	var values [][]byte
	for n := range 90 {
		values = append(values, binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	if typ, as, why := cellType(values, 1_767_225_600_000, false); typ != "BIGINT" || as != "" || !strings.Contains(why, "0 to 89") {
		t.Errorf("%s AS %s: %s", typ, as, why)
	}
}

// One value is no evidence, and its reading is not called clear where another is as good.
func TestCellDoubt(t *testing.T) {
	const now = 1_767_225_600_000
	for _, c := range []struct{ bytes, want, says string }{
		{"\x00\x00\x00\x05", "INT", "clear"},
		{"\xd3\x9a\x11\x7f", "BYTES", "nothing else is plausible"},
		{string(binary.BigEndian.AppendUint64(nil, math.Float64bits(1.5))), "DOUBLE", "doubtful"},
		{string(binary.BigEndian.AppendUint64(nil, now+123)), "TIMESTAMP", "clear"},
		{string(binary.BigEndian.AppendUint64(nil, 1_000_000_079_190)), "TIMESTAMP", "doubtful, because they were written years later"}, // an amount as well
		{string(binary.BigEndian.AppendUint64(nil, math.Float64bits(-1.5))), "DOUBLE", "doubtful"},                                      // or 1.5 AS ORDERED FLOAT64
	} {
		typ, _, why := cellType([][]byte{[]byte(c.bytes)}, now, false)
		if typ != c.want || !strings.Contains(why, c.says) {
			t.Errorf("%q: %s: %s", c.bytes, typ, why)
		}
	}
}

// Rows of Phoenix are known by the cell that it gives each of them.
func TestPhoenixCells(t *testing.T) {
	row := func(marker string, cells ...hbase.Cell) hbase.Row {
		return hbase.Row{Key: []byte("k"), Cells: append([]hbase.Cell{{Family: []byte("0"), Qualifier: []byte(marker), Value: []byte("x")}}, cells...)}
	}
	cell := func(qualifier, value string) hbase.Cell {
		return hbase.Cell{Family: []byte("0"), Qualifier: []byte(qualifier), Value: []byte(value)}
	}
	for _, c := range []struct {
		rows       []hbase.Row
		want, note string
	}{
		{[]hbase.Row{row("_0", cell("N", "\x80\x00\x00\x05")), row("_0", cell("N", "\x7f\xff\xff\xfb"))}, `n INT FROM "0":N AS ORDERED INT32`, "_0"},
		{[]hbase.Row{row("\x00\x00\x00\x00", cell("\x80\x0b", "\x80\x00\x00\x05")), row("\x00\x00\x00\x00", cell("\x80\x0b", "\x7f\xff\xff\xfb"))}, `q800b INT FROM "0":X'800B' AS ORDERED INT32`, "hql import phoenix --connect URL"},
		{[]hbase.Row{row("\x00\x00\x00\x00", cell("1", "x\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x03"))}, "", "all columns of an immutable table"},
		{[]hbase.Row{row("_0", cell("N", "a")), {Key: []byte("l"), Cells: []hbase.Cell{cell("N", "b")}}}, `n STRING FROM "0":N, _0 STRING FROM "0":_0`, ""},
	} {
		cols, notes := cellColumns(c.rows)
		var got []string
		for _, col := range cols {
			got = append(got, col.name+" "+col.def)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("columns %s, want %s", s, c.want)
		}
		if s := strings.Join(notes, "; "); !strings.Contains(s, c.note) {
			t.Errorf("notes %q, want %q", s, c.note)
		}
	}
}

// Cells of text are read by the column that is proposed for them, as the values that they say.
func TestTextCellsAreRead(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	digits := func(most int) string { return fmt.Sprint(r.Int64N(int64(math.Pow10(1 + r.IntN(most))))) }
	sign := func() string { return []string{"", "-"}[r.IntN(2)] }
	for _, kind := range []func() string{
		func() string { return []string{"true", "FALSE", "True", "false"}[r.IntN(4)] },
		func() string { return sign() + digits(18) },
		func() string { return sign() + digits(18) + fmt.Sprintf(".%02d", r.IntN(100)) },
		func() string { return sign() + digits(18) + fmt.Sprintf(".%0*d", 40, r.IntN(100)) },
		func() string { return strings.Repeat("9", 18) + "." + strings.Repeat("7", 300) + digits(1)[:1] },
		func() string { return fmt.Sprint(r.NormFloat64() * math.Pow10(r.IntN(300)-150)) },
		func() string { return fmt.Sprintf("%d.%dE%s%d", 1+r.IntN(9), 1+r.IntN(9), sign(), 1+r.IntN(307)) },
		func() string { return fmt.Sprintf("%04d-%02d-%02d", r.IntN(10000), 1+r.IntN(12), 1+r.IntN(31)) },
		func() string { return fmt.Sprintf("0000-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)) },
		func() string {
			return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", r.IntN(10000), 1+r.IntN(12), 1+r.IntN(28), r.IntN(25), r.IntN(60), r.IntN(61))
		},
		func() string { return fmt.Sprintf("2026-02-%02d 10:00:00.%d", 1+r.IntN(28), r.IntN(1000)) },
		func() string { return fmt.Sprintf(`{"n": %s}`, digits(5)) },
		func() string { return "[" + strings.Repeat("[", r.IntN(200)) },
		func() string { return strings.Repeat("[", 20000) + strings.Repeat("]", 20000) },
	} {
		for range 40 {
			var values [][]byte
			for range 1 + r.IntN(4) {
				values = append(values, []byte(kind()))
			}
			typ, as, why := cellType(values, 1_780_000_000_000, false)
			if as != "" {
				as = " AS " + as
			}
			defs := given.Tables(t, fmt.Sprintf("CREATE EXTERNAL TABLE t (k STRING, v %s FROM f:v%s) ROW KEY (k AS TEXT)", typ, as))
			col, _ := defs.Tables()[0].Column("v")
			for _, b := range values {
				v, err := col.DecodeCell(b)
				if err != nil {
					t.Fatalf("%.200q as %s%s: %v; %s", b, typ, as, err, why)
				}
				if typ == "DOUBLE" {
					if f, err := strconv.ParseFloat(string(b), 64); err != nil || f != v.Double() {
						t.Fatalf("%q as %s%s is %s", b, typ, as, v)
					}
				} else if s := v.String(); typ != "JSON" && typ != "TIMESTAMP" && !strings.EqualFold(s, string(b)) && s != strings.TrimPrefix(string(b), "-") {
					t.Fatalf("%q as %s%s is %s", b, typ, as, s)
				}
			}
		}
	}
}
