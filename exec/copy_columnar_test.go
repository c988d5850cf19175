package exec

import (
	"bytes"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hql-db/hql/columnar"
	"github.com/hql-db/hql/internal/python"
	. "github.com/hql-db/hql/internal/scripttest"
)

// everyType has a column of each type; columnarRows are their ends, what could be taken for something else, and NULL.
const everyType = `(k INT PRIMARY KEY, b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, n DECIMAL, s STRING, y BYTES, d DATE, h TIME, ts TIMESTAMP, j JSON)`

var columnarRows = []string{
	`(1, TRUE, -128, -32768, -2147483648, -9223372036854775808, -0.5, 5e-324, -12345678901234567890.123456789, '', X'00FF', DATE '0001-01-01', TIME '00:00:00', TIMESTAMP '1969-12-31 23:59:59.999Z', '{"a": [1, null]}')`,
	`(2, FALSE, 127, 32767, 2147483647, 9223372036854775807, 3.4028234663852886e38, -1.7976931348623157e308, 1.5, 'é😀', X'', DATE '9999-12-31', TIME '23:59:59.999', TIMESTAMP '9999-12-31 23:59:59.999Z', '"x"')`,
	`(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
	`(4, TRUE, 0, 0, 0, 0, CAST('-0' AS FLOAT), CAST('-0' AS DOUBLE), 0, ' a,"b' || CHR(10), X'610A', DATE '1970-01-01', TIME '00:00:00.001', TIMESTAMP '0001-01-01 00:00:00Z', 'null')`,
	`(5, TRUE, 1, 1, 1, 1, CAST('NaN' AS FLOAT), CAST('NaN' AS DOUBLE), 0.001, 'NULL', X'4E554C4C', DATE '1969-12-31', TIME '12:00:00', TIMESTAMP '1582-10-10 00:00:00.5Z', '1')`,
	`(6, TRUE, 1, 1, 1, 1, CAST('Infinity' AS FLOAT), CAST('-Infinity' AS DOUBLE), 100000, '\N', X'5C4E', DATE '2026-02-28', TIME '12:00:00', TIMESTAMP '2026-03-29 02:30:00Z', '[]')`,
}

// COPY FROM restores the rows that COPY TO writes as Arrow and as Parquet, cell by cell, also an empty table, from a
// file and from a pipe.
func TestCopyColumnar(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE a " + everyType + "; CREATE TABLE b " + everyType)
	dir := t.TempDir()
	for _, rows := range []string{"", "INSERT INTO a VALUES " + strings.Join(columnarRows, ", ")} {
		w.Do(rows)
		want := cells(t, c, "a")
		for _, format := range []string{"arrow", "parquet"} {
			file := filepath.Join(dir, "f."+format)
			w.Do("COPY a TO '" + file + "'")
			_, warnings, err := w.Try("DELETE FROM b; SET timezone = 'Asia/Tokyo'; COPY b FROM '" + file + "'")
			if got := cells(t, c, "b"); err != nil || got != want || len(warnings) > 1 { // of the full scan
				t.Fatalf("%s: %v %q\n got %s\nwant %s", format, err, warnings, got, want)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w.Do("DELETE FROM b")
			err = fromPipe(t, w, b, "COPY b FROM '%s' WITH (FORMAT = '"+format+"')")
			if format == "parquet" {
				if err == nil || !strings.Contains(err.Error(), "a Parquet file is read from its end, which is not possible in a pipe") {
					t.Errorf("Parquet from a pipe: %v", err)
				}
			} else if got := cells(t, c, "b"); err != nil || got != want {
				t.Errorf("from a pipe: %v\n got %s\nwant %s", err, got, want)
			}
		}
	}
}

// fromPipe runs a statement with the name of a pipe that brings b.
func fromPipe(t *testing.T, w *world, b []byte, sql string) error {
	t.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		_, _ = wr.Write(b)
		wr.Close()
	}()
	_, _, err = w.Try(fmt.Sprintf(sql, fmt.Sprintf("/dev/fd/%d", r.Fd())))
	return err
}

// A file that is damaged or cut short anywhere is an error and never fewer rows.
func TestCopyColumnarCutShort(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE a " + everyType + "; CREATE TABLE b " + everyType + "; INSERT INTO a VALUES " + strings.Join(columnarRows, ", "))
	dir := t.TempDir()
	var stream bytes.Buffer
	columns, rows, err := w.values(MustParse(t, "SELECT * FROM a"))
	if err != nil {
		t.Fatal(err)
	}
	s := columnar.NewStream(&stream, columns, false)
	for _, row := range rows {
		if err := s.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := map[string][]byte{"stream": stream.Bytes()}
	for _, format := range []string{"arrow", "parquet"} {
		file := filepath.Join(dir, "f."+format)
		w.Do("COPY a TO '" + file + "'")
		if whole[format], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range whole {
		format := strings.Replace(name, "stream", "arrow", 1)
		file := filepath.Join(dir, "g."+format)
		for n := 0; n < len(b); n += 1 + len(b)/60 {
			if err := os.WriteFile(file, b[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := w.Try("COPY b FROM '" + file + "'"); err == nil || strings.Contains(err.Error(), "internal error") {
				t.Errorf("%d of %d bytes of a %s: %v", n, len(b), name, err)
			}
		}
	}
}

// Values that other programs write are converted to the column's type, as by INSERT; the error for a value that does
// not fit names its row.
func TestCopyColumnarOfOthers(t *testing.T) {
	py := python.With(t, "pyarrow")
	dir := t.TempDir()
	pyRun(t, py, dir, `
import pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as fe, decimal, datetime as dt
utc = dt.timezone.utc
t = pa.table({
  'k': pa.array([1, 2, 3, 4], pa.uint64()),
  's': pa.array(['x', 'y', None, 'x']).dictionary_encode(),
  'ls': pa.array(['a', None, 'c', 'é'], pa.large_string()),
  'n': pa.array([decimal.Decimal('1.50'), None, decimal.Decimal('-0.01'), decimal.Decimal('100')], pa.decimal256(60, 2)),
  'f': pa.array([1, 2, None, 4], pa.float32()),
  'us': pa.array([1, -1, None, 1500], pa.timestamp('us', 'Europe/Berlin')),
  'ns': pa.array([1_999_999, -1, None, 0], pa.timestamp('ns', 'UTC')),
  'naive': pa.array([0, 1, None, 2], pa.timestamp('s')),
  'h': pa.array([1_000, 86_399_999_000, None, 0], pa.time64('us')),
  'd': pa.array([0, 86_400_000, None, -86_400_000], pa.date64()),
  'y': pa.array([b'ab', b'\x00\xff', None, b'cd'], pa.binary(2)),
  'b': pa.array([True, False, None, True]),
  'small': pa.array([1, 300, None, -128], pa.int64()),
})
pq.write_table(t, 'o.parquet'); fe.write_feather(t.drop_columns(['n']).append_column('n', t['n'].cast(pa.decimal128(38, 2))), 'o.arrow', compression='zstd')
with pa.ipc.new_stream('s.arrow', t.schema) as w: w.write_table(t, max_chunksize=2)
pq.write_table(pa.table({'k': [1], 'l': [[1, 2]]}), 'list.parquet')
j = pa.table({'k': [1, 2], 'j': pa.ExtensionArray.from_storage(pa.json_(), pa.array(['[1]', '{no JSON'])), 'id': pa.array([bytes(range(16)), None], pa.uuid())})
pq.write_table(j, 'j.parquet')
with pa.ipc.new_stream('j.arrow', j.schema) as w: w.write_table(j)
two = open('j.arrow', 'rb').read() * 2
open('two.arrow', 'wb').write(two)
`)
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do(`CREATE TABLE o (k INT PRIMARY KEY, s STRING, ls STRING, n DECIMAL, f DOUBLE, us TIMESTAMP, ns TIMESTAMP, naive TIMESTAMP, h TIME, d DATE, y BYTES, b BOOLEAN, small TINYINT)`)
	const want = `1|x|a|1.5|1|1970-01-01T00:00:00.000Z|1970-01-01T00:00:00.002Z|1969-12-31T15:00:00.000Z|00:00:00.001|1970-01-01|ab|true|1
3|NULL|c|-0.01|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL
4|x|é|100|4|1970-01-01T00:00:00.002Z|1970-01-01T00:00:00.000Z|1969-12-31T15:00:02.000Z|00:00:00|1969-12-31|cd|true|-128`
	for _, file := range []string{"o.parquet", "o.arrow", "s.arrow"} {
		_, warnings, err := w.Try("SET timezone = 'Asia/Tokyo'; DELETE FROM o; COPY o FROM '" + filepath.Join(dir, file) + "'")
		if err != nil || len(warnings) < 2 || warnings[len(warnings)-2] != "HQL-W005: row 2: column small: TINYINT out of range: 300" || warnings[len(warnings)-1] != "HQL-W005: 1 row not copied" {
			t.Errorf("%s: %v %q", file, err, warnings)
		}
		w.Expect(want, "SELECT * FROM o ORDER BY k")
	}
	w.Do("CREATE TABLE l (k INT PRIMARY KEY, l JSON)")
	if _, warnings, err := w.Try("COPY l FROM '" + filepath.Join(dir, "list.parquet") + "'"); err != nil || len(warnings) != 2 || !strings.Contains(warnings[0], "row 1: column l: there is no type for list") {
		t.Errorf("lists: %v %q", err, warnings)
	}
	w.Do("COPY l (k) FROM '" + filepath.Join(dir, "list.parquet") + "'")
	w.Expect("1|NULL", "SELECT * FROM l")
	w.Do("CREATE TABLE j (k INT PRIMARY KEY, j JSON, id STRING)")
	for _, file := range []string{"j.parquet", "j.arrow"} {
		_, warnings, err := w.Try("DELETE FROM j; COPY j FROM '" + filepath.Join(dir, file) + "'")
		if err != nil || len(warnings) < 2 || !strings.Contains(warnings[len(warnings)-2], `row 2: column j: invalid JSON "{no JSON"`) {
			t.Errorf("%s: %v %q", file, err, warnings)
		}
		w.Expect("1|[1]|00010203-0405-0607-0809-0a0b0c0d0e0f", "SELECT * FROM j")
	}
	w.Do("CREATE TABLE doubles (k INT, f DOUBLE FROM c:f) STORED IN 'doubles' ROW KEY (k AS INT32)")
	w.Do("INSERT INTO doubles VALUES (1, 0.1)")
	w.Do("CREATE EXTERNAL TABLE wide (k INT, f FLOAT FROM c:f AS FLOAT64) STORED IN 'doubles' ROW KEY (k AS INT32)")
	for sql, want := range map[string]string{
		"COPY j FROM 'two.arrow'":                                         "data follows the Arrow stream: the rows of a second stream would be lost",
		"COPY l (k, l) FROM 'o.parquet'":                                  `the file has no column "l"`,
		"COPY l FROM 'o.parquet'":                                         `"s"`,
		"COPY l FROM 's.arrow' WITH (FORMAT = 'parquet')":                 "this is not readable as Parquet",
		"COPY l FROM 'o.parquet' WITH (FORMAT = 'arrow')":                 "this is not readable as Arrow",
		"COPY (SELECT k, l AS k FROM l) TO 'i.parquet'":                   "several columns have the name k",
		"COPY (SELECT k, l AS k FROM l) TO 'i.arrow'":                     "several columns have the name k",
		"COPY (SELECT INTERVAL '1 day' AS i FROM l) TO 'i.parquet'":       "column i: Parquet has no type for INTERVAL that other programs read: CAST it to STRING",
		"COPY (SELECT f FROM wide) TO 'i.arrow'":                          "column f: 0.1 needs more than 32 bits: CAST it to DOUBLE",
		"COPY (SELECT CAST(X'FF' AS STRING) AS s FROM l) TO 'i.parquet'":  `column s: \xFF is no UTF-8`,
		"COPY (SELECT CAST('1e-39' AS DECIMAL) AS n FROM l) TO 'i.arrow'": "more than the column's 38 decimals",
	} {
		sql = strings.NewReplacer("FROM '", "FROM '"+dir+"/", "TO '", "TO '"+dir+"/").Replace(sql)
		if _, _, err := w.Try(sql); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "i.*")); len(left) > 0 {
		t.Errorf("files left: %q", left)
	}
}

// pyarrow, DuckDB and Polars read the values that were written, of every type, and what each of them writes of these comes back.
func TestCopyColumnarReadBack(t *testing.T) {
	py := python.With(t, "pyarrow", "duckdb", "polars")
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE a " + everyType + "; CREATE TABLE b " + everyType + "; INSERT INTO a VALUES " + strings.Join(columnarRows, ", "))
	dir := t.TempDir()
	for _, format := range []string{"arrow", "parquet"} {
		w.Do("COPY a TO '" + filepath.Join(dir, "f."+format) + "'")
	}
	columns, rows, err := w.values(MustParse(t, "SELECT * FROM a"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "f.arrows")) // as --format arrow writes it
	if err != nil {
		t.Fatal(err)
	}
	s := columnar.NewStream(f, columns, false)
	for _, row := range rows {
		if err := s.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	pyRun(t, py, dir, `
import pyarrow as pa, pyarrow.parquet as pq, duckdb, polars as pl, struct, math, decimal
D = 719163  # the day 1970-01-01 of Python
want = [
  (1, True, -128, -32768, -2147483648, -9223372036854775808, -0.5, 5e-324, '-12345678901234567890.123456789', '', b'\x00\xff', 1 - D, 0, -1, '{"a": [1, null]}'),
  (2, False, 127, 32767, 2147483647, 9223372036854775807, 3.4028234663852886e38, -1.7976931348623157e308, '1.5', 'é😀', b'', 3652059 - D, 86399999, 253402300799999, '"x"'),
  (3,) + (None,) * 14,
  (4, True, 0, 0, 0, 0, -0.0, -0.0, '0', ' a,"b\n', b'a\n', 0, 1, -62135596800000, 'null'),
  (5, True, 1, 1, 1, 1, math.nan, math.nan, '0.001', 'NULL', b'NULL', -1, 43200000, -12219724799500, '1'),
  (6, True, 1, 1, 1, 1, math.inf, -math.inf, '100000', '\\N', b'\\N', 20512, 43200000, 1774751400000, '[]'),
]
def bits(v, n): return None if v is None else struct.pack('<f' if n == 'f4' else '<d', v)
def plain(t):
    """Rows of a table of Arrow, every value exactly."""
    t = t.sort_by('k')
    cols = []
    for name in ['k','b','i1','i2','i4','i8','f4','f8','n','s','y','d','h','ts','j']:
        c = t[name]
        if isinstance(c.type, pa.BaseExtensionType): c = pa.chunked_array([x.storage for x in c.chunks], c.type.storage_type)
        if pa.types.is_dictionary(c.type): c = c.cast(c.type.value_type)
        if name == 'd': c = c.cast(pa.date32()).cast(pa.int32())
        if name == 'h': c = c.cast(pa.time64('us')).cast(pa.int64())
        if name == 'ts':
            assert c.type.tz is not None, c.type
            c = c.cast(pa.timestamp('us', 'UTC')).cast(pa.int64())
        v = c.to_pylist()
        if name in ('f4', 'f8'): v = [bits(x, name) if x is None or x == x else 'nan' for x in v]
        if name == 'n': v = [None if x is None else format(x.normalize(decimal.Context(prec=60)), 'f') if x else '0' for x in v]
        if name == 'y': v = [None if x is None else bytes(x) for x in v]
        cols.append(v)
    return [tuple(r) for r in zip(*cols)]
def expected(r):
    r = list(r)
    for i, n in ((6, 'f4'), (7, 'f8')): r[i] = 'nan' if r[i] is not None and r[i] != r[i] else bits(r[i], n)
    if r[12] is not None: r[12] *= 1000
    if r[13] is not None: r[13] *= 1000
    return tuple(r)
want = [expected(r) for r in want]
con = duckdb.connect()
con.execute("SET TimeZone = 'UTC'")
def duck(rel): 
    t = rel.to_arrow_table() if hasattr(rel, 'to_arrow_table') else rel.arrow()
    return t if isinstance(t, pa.Table) else t.read_all()
stream = pa.ipc.open_stream('f.arrows').read_all()
file = pa.ipc.open_file('f.arrow').read_all()
for t in (stream, file): t.validate(full=True)
got = {
  'pyarrow, stream': stream, 'pyarrow, file': file, 'pyarrow, Parquet': pq.read_table('f.parquet'),
  'DuckDB, stream': duck(con.from_arrow(stream)), 'DuckDB, Parquet': duck(con.read_parquet('f.parquet')),
  'Polars, stream': pl.read_ipc_stream('f.arrows').to_arrow(), 'Polars, file': pl.read_ipc('f.arrow').to_arrow(), 'Polars, Parquet': pl.read_parquet('f.parquet').to_arrow(),
}
bad = 0
for name, t in got.items():
    for g, x in zip(plain(t), want, strict=True):
        for c, (a, b) in enumerate(zip(g, x, strict=True)):
            if a != b or type(a) is not type(b):
                bad += 1
                print(name, 'row', x[0], 'column', t.schema.names[c], 'got', repr(a), 'want', repr(b))
assert not bad
pq.write_table(got['pyarrow, file'], 'pyarrow.parquet')
con.execute("COPY (SELECT * FROM 'f.parquet') TO 'duckdb.parquet' (FORMAT parquet)")
pl.read_ipc('f.arrow').write_parquet('polars.parquet')
pl.read_ipc('f.arrow').write_ipc('polars.arrow')
`)
	want := cells(t, c, "a")
	for _, file := range []string{"pyarrow.parquet", "duckdb.parquet", "polars.parquet", "polars.arrow"} {
		_, warnings, err := w.Try("DELETE FROM b; COPY b FROM '" + filepath.Join(dir, file) + "'")
		if got := cells(t, c, "b"); err != nil || got != want || len(warnings) > 1 {
			t.Errorf("%s: %v %q\n got %s\nwant %s", file, err, warnings, got, want)
		}
	}
}

func pyRun(t *testing.T, py, dir, script string) {
	t.Helper()
	cmd := osexec.CommandContext(context.Background(), py, "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
