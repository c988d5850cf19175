package columnar

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/hql-db/hql/internal/python"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

func columns(list ...string) (out []plan.OutputColumn) {
	for _, c := range list {
		name, typ, _ := strings.Cut(c, " ")
		for t := types.Null; t <= types.Duration; t++ {
			if t.String() == typ {
				out = append(out, plan.OutputColumn{Name: name, Type: t})
			}
		}
	}
	return out
}

func dec(t testing.TB, s string) types.Value {
	t.Helper()
	v, err := types.ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func stream(t testing.TB, cols []plan.OutputColumn, fixed bool, rows ...[]types.Value) []byte {
	t.Helper()
	var b bytes.Buffer
	s := NewStream(&b, cols, fixed)
	for _, r := range rows {
		if err := s.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// every is a row of each type's least, greatest and odd values, and NULLs.
func every(t testing.TB) ([]plan.OutputColumn, [][]types.Value) {
	cols := columns("b BOOLEAN", "i1 TINYINT", "i2 SMALLINT", "i4 INT", "i8 BIGINT", "f4 FLOAT", "f8 DOUBLE", "n DECIMAL", "s STRING", "y BYTES", "d DATE", "h TIME", "ts TIMESTAMP", "j JSON", "z NULL", "v INTERVAL")
	row := func(b bool, i1, i2, i4, i8 int64, f4, f8 float64, n, s, y string, d, h, ts int64, j string, months, span int64) []types.Value {
		v, ok := types.NewDuration(months, span/types.MillisPerDay, span%types.MillisPerDay)
		if !ok {
			t.Fatal("no such INTERVAL")
		}
		return []types.Value{types.NewBool(b), types.NewIntOf(types.TinyInt, i1), types.NewIntOf(types.SmallInt, i2), types.NewIntOf(types.Int, i4), types.NewInt(i8),
			types.NewFloatOf(types.Float, f4), types.NewDouble(f8), dec(t, n), types.NewString(s), types.NewBytes(y), types.NewDate(d), types.NewIntOf(types.Time, h),
			types.NewTimestamp(ts), types.NewJSON(j), {}, v}
	}
	return cols, [][]types.Value{
		row(true, -128, -32768, -1<<31, -1<<63, -0.5, 5e-324, "-12345678901234567890.123456789", "", "\x00\xff", -719162, 0, -1, `{"a":[1,null]}`, -types.MaxMonths, types.MaxSpan),
		row(false, 127, 32767, 1<<31-1, 1<<63-1, 3.4028234663852886e38, -1.7976931348623157e308, "1.50", "é\x00x", "", 2932896, 86399999, 1767225600123, `"x"`, 14, -2*types.MillisPerDay-1),
		make([]types.Value, len(cols)),
		row(true, 0, 0, 0, 0, 0, 0.1, "1E+5", "日本", "abc", 0, 1, 0, `1`, 0, 0),
	}
}

// What pyarrow, another implementation of the format, reads are the values that were written.
func TestPyarrow(t *testing.T) {
	py := python.With(t, "pyarrow")
	cols, rows := every(t)
	for _, fixed := range []bool{false, true} {
		some := rows
		if fixed {
			some = [][]types.Value{rows[1], rows[2], rows[3]}
		}
		got := read(t, py, stream(t, cols, fixed, some...))
		n := map[bool]string{false: "decimal128(38, 13)", true: "decimal128(38, 18)"}[fixed]
		scale := strings.Repeat("0", map[bool]int{false: 13, true: 18}[fixed])
		want := strings.ReplaceAll(strings.ReplaceAll(`b bool: True|False|None|True
i1 int8: -128|127|None|0
i2 int16: -32768|32767|None|0
i4 int32: -2147483648|2147483647|None|0
i8 int64: -9223372036854775808|9223372036854775807|None|0
f4 float: -0.5|3.4028234663852886e+38|None|0.0
f8 double: 5e-324|-1.7976931348623157e+308|None|0.1
n `+n+`: -12345678901234567890.1234567890000|1.5ZEROS|None|100000.SCALE
s string: ''|'é\x00x'|None|'日本'
y binary: b'\x00\xff'|b''|None|b'abc'
d date32[day]: 0001-01-01|9999-12-31|None|1970-01-01
h time32[ms]: 00:00:00|23:59:59.999000|None|00:00:00.001000
ts timestamp[ms, tz=UTC]: 1969-12-31 23:59:59.999000+00:00|2026-01-01 00:00:00.123000+00:00|None|1970-01-01 00:00:00+00:00
j extension<arrow.json>: '{"a":[1,null]}'|'"x"'|None|'1'
z null: None|None|None|None
v month_day_nano_interval: MonthDayNano(months=-2147483647, days=1667999861, nanoseconds=85455872000000)|MonthDayNano(months=14, days=-2, nanoseconds=-1000000)|None|MonthDayNano(months=0, days=0, nanoseconds=0)
`, "ZEROS", scale[1:]), "SCALE", scale)
		if fixed { // without the first row
			var lines []string
			for line := range strings.Lines(want) {
				name, values, _ := strings.Cut(line, ": ")
				_, values, _ = strings.Cut(values, "|")
				lines = append(lines, name+": "+values)
			}
			want = strings.Join(lines, "")
		}
		if got != want {
			t.Errorf("fixed %v: got\n%s\nwant\n%s", fixed, got, want)
		}
	}
}

// read gives a line for each column, as pyarrow reads it.
func read(t *testing.T, py string, b []byte) string {
	t.Helper()
	cmd := exec.Command(py, "-c", `
import sys, pyarrow as pa
table = pa.ipc.open_stream(sys.stdin.buffer).read_all()
table.validate(full=True)
for f, c in zip(table.schema, table.columns):
    show = (lambda v: 'None' if v is None else repr(v) if isinstance(v, (str, bytes)) else str(v))
    t = str(f.type)
    if isinstance(f.type, pa.BaseExtensionType):
        t = 'extension<' + f.type.extension_name + '>'
    print(f.name, t + ': ' + '|'.join(show(v) for v in c.to_pylist()))
`)
	cmd.Stdin = bytes.NewReader(b)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	return string(out)
}

// Texts that repeat are a dictionary, a batch is bounded, and every batch can be read.
func TestBatches(t *testing.T) {
	cols := columns("host STRING", "id STRING", "v INT")
	var rows [][]types.Value
	const n = 3*batchRows/2 + 7
	for i := range n {
		host := types.NewString(fmt.Sprint("host-", (i*i)%13))
		if i%11 == 0 {
			host = types.Value{}
		}
		rows = append(rows, []types.Value{host, types.NewString(fmt.Sprint(i)), types.NewIntOf(types.Int, int64(i))})
	}
	b := stream(t, cols, false, rows...)
	r, err := ipc.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if ids := r.Schema().Field(0).Type.ID(); ids != arrow.DICTIONARY {
		t.Errorf("hosts are %v", ids)
	}
	if ids := r.Schema().Field(1).Type.ID(); ids != arrow.STRING {
		t.Errorf("ids are %v", ids)
	}
	at := 0
	var sizes []int64
	for r.Next() {
		rec := r.RecordBatch()
		sizes = append(sizes, rec.NumRows())
		for i := range int(rec.NumRows()) {
			for c, v := range rows[at] {
				want := v.String()
				if v.IsNull() {
					want = "(null)"
				}
				if got := rec.Column(c).ValueStr(i); got != want {
					t.Fatalf("row %d, column %d: %q, want %q", at, c, got, want)
				}
			}
			at++
		}
	}
	if err := r.Err(); err != nil || at != n || len(sizes) != 2 || sizes[0] != batchRows {
		t.Errorf("%d rows in batches of %v, %v", at, sizes, err)
	}
	long := types.NewString(strings.Repeat("x", batchBytes/4))
	r, err = ipc.NewReader(bytes.NewReader(stream(t, columns("s STRING"), false, []types.Value{long}, []types.Value{long}, []types.Value{long}, []types.Value{long}, []types.Value{long})))
	if err != nil {
		t.Fatal(err)
	}
	batches := 0
	for r.Next() {
		batches++
	}
	if batches != 2 {
		t.Errorf("long texts come in %d batches, want 2", batches)
	}
	short := types.NewString("x") // the long one is not counted before it is in the batch
	r, err = ipc.NewReader(bytes.NewReader(stream(t, columns("s STRING"), false, []types.Value{short}, []types.Value{short}, []types.Value{types.NewString(strings.Repeat("x", batchBytes))}, []types.Value{short})))
	if err != nil {
		t.Fatal(err)
	}
	var counts []int64
	for r.Next() {
		counts = append(counts, r.RecordBatch().NumRows())
	}
	if !slices.Equal(counts, []int64{3, 1}) {
		t.Errorf("batches of %v rows, want 3 and 1", counts)
	}
	wide := make([]types.Value, 1000)
	for i := range wide {
		wide[i] = types.NewInt(int64(i))
	}
	r, err = ipc.NewReader(bytes.NewReader(stream(t, columns(strings.Split(strings.Repeat("i BIGINT,", len(wide)-1)+"i BIGINT", ",")...), true, slices.Repeat([][]types.Value{wide}, 3000)...)))
	if err != nil {
		t.Fatal(err)
	}
	at = 0
	for r.Next() {
		if at += int(r.RecordBatch().NumRows()); r.RecordBatch().NumRows() > batchBytes/8000+1 {
			t.Errorf("%d rows of 8 kB in a batch", r.RecordBatch().NumRows())
		}
	}
	if at != 3000 {
		t.Errorf("%d rows, want 3000", at)
	}
}

// What Arrow has no counterpart of is an error that says which column it is and what to do.
func TestNoCounterpart(t *testing.T) {
	for _, x := range []struct {
		col   string
		v     types.Value
		fixed bool
		want  string
	}{
		{"s STRING", types.NewString("a\xff"), false, `column s: a\xFF is not UTF-8, as Arrow's texts must be: CAST it to BYTES`},
		{"n DECIMAL", dec(t, "0.0000000000000000001"), true, "column n: 0.0000000000000000001 has more than the column's 18 decimals"},
		{"n DECIMAL", dec(t, "123456789012345678901"), true, "column n: 123456789012345678901 has more than the column's 20 digits before the point"},
		{"n DECIMAL", dec(t, "1e39"), false, "has more than the column's 38 digits before the point"},
		{"n DECIMAL", dec(t, "1e-39"), false, "has more than the column's 38 decimals"},
		{"n DECIMAL", dec(t, "1e900"), true, "digits before the point"},
		{"n DECIMAL", dec(t, "1e-900"), true, "18 decimals"},
		{"d DATE", types.NewDate(1 << 31), false, "column d: the dates of Arrow cannot hold"},
	} {
		var b bytes.Buffer
		s := NewStream(&b, columns(x.col), x.fixed)
		err := s.Append([]types.Value{x.v})
		if err == nil {
			err = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %s: %v, want %q", x.col, x.v, err, x.want)
		}
	}
	pages, err := syscall.Mmap(-1, 0, 1<<31, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE) // which nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(pages) }()
	for _, x := range []struct {
		col string
		v   types.Value
	}{{"y BYTES", types.NewBytes(unsafe.String(&pages[0], len(pages)))}, {"s STRING", types.NewString(unsafe.String(&pages[0], len(pages)))}} {
		s := NewStream(io.Discard, columns(x.col), true)
		if err := s.Append([]types.Value{x.v}); err == nil || !strings.Contains(err.Error(), ": a value of 2147483648 bytes exceeds Arrow's limit of ") {
			t.Errorf("%s: %v", x.col, err)
		}
	}
	for _, ok := range []string{"99999999999999999999.999999999999999999", "0", "0E-30", "-1.000000000000000000000000"} {
		stream(t, columns("n DECIMAL"), true, []types.Value{dec(t, ok)})
	}
}
