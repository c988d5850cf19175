package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/race"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/internal/seeds"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// cells lists what a physical table holds.
func cells(t testing.TB, c hbase.Client, table string) string {
	t.Helper()
	var b strings.Builder
	for r, err := range hbase.Rows(context.Background(), c, hbase.ScanRange{Table: table}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Cells {
			fmt.Fprintf(&b, "%q %s:%q %q\n", r.Key, x.Family, x.Qualifier, x.Value)
		}
	}
	return b.String()
}

// copyPieces are what formats of lines stumble over.
var copyPieces = []string{"a", "null", "NULL", `\N`, `\.`, `\`, `"`, `""`, "'", ",", "\t", "\n", "\r", "\r\n", " ", "\ufeff", "\u0085", "\u2028", "\ufffd", "😀",
	"\xff", "\xed\xa0\x80", "\xc3", `\udc80`, `\ud83d`, "{", "}", "[1, 2]", `{"$json":"x"}`, "\x00", "\x1b", "\x7f", "0", "é"}

var copyJSON = []string{`null`, `"null"`, `"null\n"`, `1`, `-0`, `1.50`, `"a"`, `{"a": 1,  "b" :[ ]}`, "{\n  \"a\": 1\n}", " [1]", "[1] ", "\"\xff\"", `{"$json":"[1]"}`,
	`{"$json": 1}`, `{"$json":1}`, `"\ud83d"`, `true`, `{"a":1,"a":2}`, `""`, `"\udcff"`}

// COPY FROM restores the rows that COPY TO writes, cell by cell, in every format and of every type.
func TestCopyKeepsCells(t *testing.T) {
	t.Parallel()
	seeds.Each(t, race.Fewer(60), func(t *testing.T, seed uint64, fig seeds.Figures) {
		random := rand.New(rand.NewPCG(seed, 1))
		_, c := NewStore(t)
		w := newWorld(t, c, Config{FullScan: AllowFullScan})
		text := func() string {
			var b strings.Builder
			for range random.IntN(4) {
				b.WriteString(copyPieces[random.IntN(len(copyPieces))])
			}
			return b.String()
		}
		number := func() int64 {
			return []int64{0, 1, -1, random.Int64N(1000), math.MaxInt64, math.MinInt64, int64(random.Uint64()), -random.Int64N(1 << 50)}[random.IntN(8)]
		}
		float := func() float64 {
			return []float64{0, 1, -1.5, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), float64(number()), random.NormFloat64()}[random.IntN(10)]
		}
		kinds := []struct {
			sql   string
			value func() types.Value
		}{
			{"STRING", func() types.Value { return types.NewString(text()) }},
			{"BYTES", func() types.Value { return types.NewBytes(text()) }},
			{"JSON", func() types.Value { return types.NewJSON(copyJSON[random.IntN(len(copyJSON))]) }},
			{"BOOLEAN", func() types.Value { return types.NewBool(random.IntN(2) == 0) }},
			{"TINYINT", func() types.Value { return types.NewIntOf(types.TinyInt, int64(int8(number()))) }},
			{"SMALLINT", func() types.Value { return types.NewIntOf(types.SmallInt, int64(int16(number()))) }},
			{"INT", func() types.Value { return types.NewIntOf(types.Int, int64(int32(number()))) }},
			{"BIGINT", func() types.Value { return types.NewInt(number()) }},
			{"FLOAT", func() types.Value { return types.NewFloatOf(types.Float, float64(float32(float()))) }},
			{"DOUBLE", func() types.Value { return types.NewDouble(float()) }},
			{"DECIMAL", func() types.Value {
				v, err := types.ParseDecimal(fmt.Sprintf("%dE%d", number(), random.IntN(60)-30))
				if err != nil {
					t.Fatal(err)
				}
				return v
			}},
			{"DATE", func() types.Value { return types.NewDate(random.Int64N(3_652_059) - 719_528) }}, // of the years 0000 to 9999
			{"DATE AS INT32", func() types.Value { return types.NewDate(int64(int32(number()))) }},
			{"TIME", func() types.Value { return types.NewIntOf(types.Time, random.Int64N(types.MillisPerDay)) }},
			{"TIMESTAMP", func() types.Value { return types.NewTimestamp(number()) }},
		}
		random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		kinds = kinds[:1+random.IntN(len(kinds))]
		var cols, raw, marks []string
		for i, k := range kinds {
			cols = append(cols, fmt.Sprintf("c%d %s", i, k.sql))
			raw = append(raw, cols[i])
			if k.sql == "STRING" || k.sql == "JSON" { // other programs write any bytes
				raw[i] = fmt.Sprintf("c%d BYTES", i)
			}
			marks = append(marks, "?")
		}
		key := []string{"k BIGINT PRIMARY KEY", "k STRING PRIMARY KEY", "k BYTES PRIMARY KEY"}[random.IntN(3)]
		for _, name := range []string{"a", "b"} {
			w.Do("CREATE TABLE " + name + " (" + key + ", " + strings.Join(cols, ", ") + ")")
		}
		w.Do("CREATE EXTERNAL TABLE other (" + key + ", " + strings.Join(raw, ", ") + ") STORED IN 'a'")
		for i := range random.IntN(12) {
			args := []types.Value{types.NewInt(int64(i))}
			if !strings.Contains(key, "BIGINT") {
				args[0] = types.NewString(text() + fmt.Sprint(i))
				if strings.Contains(key, "BYTES") {
					args[0] = types.NewBytes(args[0].Text())
				}
			}
			for _, k := range kinds {
				v := types.Value{}
				if random.IntN(4) > 0 {
					v = k.value()
				}
				if !v.IsNull() && (k.sql == "STRING" || k.sql == "JSON") {
					v = types.NewBytes(v.Text())
				}
				args = append(args, v)
			}
			w.Do("INSERT INTO other VALUES (?, "+strings.Join(marks, ", ")+")", args...)
			fig["rows"]++
		}
		want := cells(t, c, "a")
		for _, format := range []string{"csv", "tsv", "jsonl"} {
			file := filepath.Join(t.TempDir(), "f."+format)
			w.Do("COPY a TO '" + file + "'")
			_, warnings, err := w.Try("DELETE FROM b; COPY b FROM '" + file + "'")
			if got := cells(t, c, "b"); err != nil || got != want || len(warnings) > 1 { // of the full scan
				b, _ := os.ReadFile(file)
				t.Fatalf("%s, %s: %v %q\n got %s\nwant %s\nfile %s", format, strings.Join(cols, ", "), err, warnings, got, want, b)
			}
		}
	})
}

// Rows of one column that is NULL are rows.
func TestCopyLoneNull(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE a (s STRING); CREATE TABLE b (s STRING); INSERT INTO a VALUES (NULL), (''), ('x'), (NULL)")
	for _, format := range []string{"csv", "tsv"} {
		file := filepath.Join(t.TempDir(), "f."+format)
		w.Do("COPY a TO '" + file + "'; DELETE FROM b; COPY b FROM '" + file + "'")
		w.Expect("NULL|2\n|1\nx|1", "SELECT s, COUNT(*) FROM b GROUP BY s ORDER BY s NULLS FIRST")
	}
}

// COPY TO writes the columns that are named, one or several, and a query that is wrong makes no file.
func TestCopyColumns(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY, a STRING, b STRING); INSERT INTO t VALUES (1, 'x', 'y')")
	for columns, want := range map[string]string{"": "id,a,b\n1,x,y\n", "(b)": "b\ny\n", "(b, id)": "b,id\ny,1\n"} {
		file := filepath.Join(t.TempDir(), "f.csv")
		w.Do("COPY t " + columns + " TO '" + file + "'")
		if b, err := os.ReadFile(file); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v; want %q", columns, b, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "f.csv")
	w.Refused("nosuch", "COPY (SELECT nosuch FROM t) TO '"+file+"'")
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was made")
	}
}

// Columns that an object does not name stay unchanged, also within one file, and in every layout.
func TestCopyObjects(t *testing.T) {
	for _, more := range []string{"", " INDEX i (a AS TEXT(4), id AS INT32)"} {
		_, c := NewStore(t)
		w := newWorld(t, c, Config{FullScan: AllowFullScan})
		file := filepath.Join(t.TempDir(), "f.jsonl")
		w.Do("CREATE TABLE t (id INT, a STRING, b STRING, n INT) ROW KEY (id AS INT32)" + more)
		copies := func(lines string, statement string) []string {
			t.Helper()
			if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
			w.Do("DELETE FROM t; INSERT INTO t VALUES (1, 'a1', 'b1', 1), (2, 'a2', 'b2', 2)")
			_, warnings, err := w.Try("COPY t " + statement + " FROM '" + file + "'")
			if err != nil {
				t.Fatal(err)
			}
			return warnings
		}
		expect := func(want string) {
			t.Helper()
			w.Expect(want, "SELECT * FROM t ORDER BY id")
			w.Expect(strings.ReplaceAll(want, "\n", "; "), "SELECT STRING_AGG(id || '|' || a || '|' || COALESCE(b, 'NULL') || '|' || COALESCE(n::text, 'NULL'), '; ' ORDER BY id) FROM t WHERE a IN ('a1', 'a2', 'new', 'a3')")
		}
		copies(`{"id":1,"a":"new"}`, "")
		expect("1|new|b1|1\n2|a2|b2|2")
		copies(`{"b":null,"ID":2}`+"\n"+`{"id":1,"n":7}`, "")
		expect("1|a1|b1|7\n2|a2|NULL|2")
		copies(`{"id":3,"a":"x","b":"b3"}`+"\n"+`{"id":1,"n":null}`+"\n"+`{"id":3,"a":"a3"}`+"\n"+`{"id":3,"n":9}`, "")
		expect("1|a1|b1|NULL\n2|a2|b2|2\n3|a3|b3|9")
		copies(`{"id":1,"a":"no","b":"yes"}`, "(b, id)")
		expect("1|a1|yes|1\n2|a2|b2|2")
		warnings := copies(`{"a":"x"}`+"\n"+`{"id":1,"ID":1}`+"\n"+`{}`+"\n"+`{"id":1,"z":1}`+"\n{\"id\":1,\"b\":\"\xff\"}", "")
		expect("1|a1|b1|1\n2|a2|b2|2")
		for i, want := range []string{`"id" is part of the rowkey`, `"id" is named twice`, "no column is named", `unknown column "z"`, "not UTF-8", "5 lines not copied"} {
			line := fmt.Sprintf("line %d: ", i+1)
			if i == 5 {
				line = ""
			}
			if i >= len(warnings) || !strings.Contains(warnings[i], want) || !strings.Contains(warnings[i], line) {
				t.Errorf("warnings %q, want %q in %s", warnings, want, line)
				break
			}
		}
	}
}

// A list of columns that the table does not have, or has twice, is refused whatever the file's form, and nothing is copied.
func TestCopyWrongColumns(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY, a STRING)")
	for name, text := range map[string]string{"f.csv": "1,x\n", "f.tsv": "1\tx\n", "f.jsonl": `{"id":1,"a":"x"}` + "\n"} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w.Refused(`unknown column "z" of table t`, "COPY t (id, z) FROM '"+file+"'")
		w.Refused("named twice", "COPY t (id, id) FROM '"+file+"'")
	}
	w.Expect("0", "SELECT count(*) FROM t")
}

// COPY reports the numbers of lines whose values cannot be stored, and copies the others.
func TestCopyRefusesLines(t *testing.T) {
	for name, c := range map[string]struct{ tables, lines, want, copied string }{
		"a name that its look-up table cannot hold": {
			"CREATE TABLE names (name STRING, id BIGINT) ROW KEY (name AS TEXT(2)); CREATE TABLE t (host STRING, v INT) ROW KEY (LOOKUP(names.id, host) AS INT64)",
			`{"host":"ab","v":1}` + "\n" + `{"host":"abc","v":2}` + "\n" + `{"host":"cd","v":3}`, "line 2: ", "ab|1\ncd|3"},
		"JSON that stands as its text, which is none": {
			"CREATE TABLE t (id INT, j JSON) ROW KEY (id AS INT32)",
			`{"id":1,"j":{"$json":5}}` + "\n" + `{"id":2,"j":{"$json":" 5"}}`, "line 1: ", "2| 5"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := NewStore(t)
			w := newWorld(t, client, Config{FullScan: AllowFullScan})
			w.Do(c.tables)
			file := filepath.Join(t.TempDir(), "f.jsonl")
			if err := os.WriteFile(file, []byte(c.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			_, warnings, err := w.Try("COPY t FROM '" + file + "'")
			if err != nil {
				t.Fatal(err)
			}
			if len(warnings) == 0 || !strings.Contains(warnings[0], c.want) {
				t.Errorf("warnings %q, want %q", warnings, c.want)
			}
			w.Expect(c.copied, "SELECT * FROM t ORDER BY 1")
		})
	}
}

// CSV files of other programs.
func TestCopyCSV(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id STRING, n INT, s STRING) ROW KEY ('k', id AS TEXT)")
	file := filepath.Join(t.TempDir(), "f.csv")
	csv := "\ufeff\"id\", n ,s\r\n" + `a,1,x` + "\r\n\r\n" + `"b","2","say ""hi"", ok"` + "\r\n" + "\"c\",\"\",\"two\r\nlines\"\r\n" + `d,3,a"b` + "\n" + `e,"4"x,y` + "\n" + ",5,\ng,7\nf,6,\"not closed\n"
	if err := os.WriteFile(file, []byte(csv), 0o600); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := w.Try("COPY t FROM '" + file + "'")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`line 7: a quote in a field that does not begin with one`, `line 8: text behind a closing quote`, `line 10: 2 fields for 3 columns`, `line 11: the quote that opens in line 11 is not closed`}
	for i, x := range want {
		if i >= len(warnings) || !strings.HasSuffix(warnings[i], x) {
			t.Errorf("warnings %q, want %q", warnings, want)
			break
		}
	}
	w.Expect("|5|NULL\na|1|x\nb|2|say \"hi\", ok\nc|NULL|two\r\nlines", "SELECT * FROM t ORDER BY id")
}

// COPY TO replaces regular files whole, keeps their mode, and does so only where that is allowed.
func TestCopyFiles(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f.csv"), filepath.Join(dir, "link.csv")
	content := func() string {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		st, _ := os.Stat(file)
		return fmt.Sprintf("%s%o", b, st.Mode().Perm())
	}
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Chmod(file, 0o666), os.Symlink("f.csv", link)); err != nil {
		t.Fatal(err)
	}
	read := worldOf(t, New(ReadOnly(c), w.Catalog(), Config{FullScan: AllowFullScan}))
	read.Refused("is already there: WITH (OVERWRITE = TRUE) replaces it", "COPY t TO '"+file+"'")
	read.Refused("is already there", "COPY t TO '"+link+"'")
	w.Refused("is already there", "COPY t TO '"+link+"' WITH (OVERWRITE = FALSE)")
	w.Refused("OVERWRITE is TRUE or FALSE", "COPY t TO '"+link+"' WITH (OVERWRITE = 3)")
	w.Refused("unknown option OVERWRITE", "COPY t FROM '"+link+"' WITH (OVERWRITE = TRUE)")
	nowhere := filepath.Join(dir, "nowhere", "f.csv")
	w.Refused("open "+nowhere+": no such file or directory", "COPY t TO '"+nowhere+"'")
	w.Refused("division by zero", "COPY (SELECT 1 / (id - 1) FROM t) TO '"+link+"'")
	if got := content(); got != "old666" {
		t.Error(got)
	}
	read.Do("COPY t TO '" + link + "' WITH (OVERWRITE = TRUE)")
	w.Do("COPY t TO '" + link + "'")
	if got := content(); got != "id\n1\n666" {
		t.Error(got)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode().IsRegular() {
		t.Error("the link was replaced", err)
	}
	fresh := filepath.Join(dir, "fresh.csv")
	read.Do("COPY t TO '" + fresh + "'")
	plain, err := os.Create(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	plain.Close()
	a, _ := os.Stat(fresh)
	b, _ := os.Stat(plain.Name())
	if a.Mode() != b.Mode() {
		t.Errorf("a new file has mode %v, not %v", a.Mode(), b.Mode())
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 4 {
		t.Errorf("%v %v: temporary files are left", names, err)
	}
}

// copyFromPipe runs COPY t FROM a pipe that gives text and then nothing more, and gives the error with which it ends.
func copyFromPipe(ctx context.Context, t *testing.T, w *world, text string) error {
	t.Helper()
	w.Do("CREATE TABLE t (id INT PRIMARY KEY)")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer in.Close()
	file := fmt.Sprintf("/dev/fd/%d", out.Fd())
	if _, err := os.Stat(file); err != nil {
		t.Skip(err)
	}
	if _, err := in.WriteString(text); err != nil {
		t.Fatal(err)
	}
	stmt, err := parser.ParseStatement("COPY t FROM '" + file + "' WITH (FORMAT = csv)")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := w.Run(ctx, stmt, Args{})
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the pipe")
		return nil
	}
}

// COPY FROM a pipe that gives nothing more ends with its statement.
func TestCopyFromPipe(t *testing.T) {
	_, c := NewStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := copyFromPipe(ctx, t, newWorld(t, c, Config{FullScan: AllowFullScan}), "id\n1\n")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// fullDisk is a client that writes nothing.
type fullDisk struct {
	hbase.Client
	err error
}

func (f *fullDisk) Mutate(context.Context, string, []hbase.Mutation) error { return f.err }

// COPY FROM a pipe that gives nothing more ends when what it gave cannot be written, although it is written while the pipe is read.
func TestCopyFailsBeforeItsEnd(t *testing.T) {
	_, c := NewStore(t)
	broken := &fullDisk{c, errors.New("the disk is full")}
	text := "id\n"
	for i := range write.Batch {
		text += fmt.Sprintf("%d\n", i)
	}
	err := copyFromPipe(t.Context(), t, newWorld(t, broken, Config{FullScan: AllowFullScan}), text)
	if !errors.Is(err, broken.err) {
		t.Error(err)
	}
}

// The last of several lines with one key counts, however far apart they are. Lines that do not fit are reported by
// their numbers while the lines before them are written.
func TestCopyInBatches(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE t (id INT, n INT) ROW KEY (id AS INT32) INDEX by_n (n AS INT32, id AS INT32)")
	var b strings.Builder
	b.WriteString("id,n\n")
	lines := 3*write.Batch + 7
	for i := range lines {
		if i%write.Batch == write.Batch/2 {
			fmt.Fprintf(&b, "%d,x\n", i)
			continue
		}
		fmt.Fprintf(&b, "%d,%d\n", i%10, i)
	}
	file := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, warnings, err := w.Try("COPY t FROM '" + file + "'")
	if err != nil {
		t.Fatal(rows, err)
	}
	for i, line := range []int{502, 1502, 2502} {
		if want := fmt.Sprintf("line %d: ", line); i >= len(warnings) || !strings.Contains(warnings[i], want) {
			t.Errorf("no warning %q in %q", want, warnings)
		}
	}
	for id := range 10 {
		last := lines - 1
		for last%10 != id {
			last--
		}
		if got := w.Do(fmt.Sprintf("SELECT n FROM t WHERE id = %d", id)); got != fmt.Sprint(last) {
			t.Errorf("id %d: %s, not %d", id, got, last)
		}
	}
	if got := w.Do("CHECK TABLE t"); got != "by_n|rows without an entry|0\nby_n|entries without their row|0" {
		t.Errorf("the index does not fit: %s", got)
	}
}

// Without files nothing names one.
func TestNoFiles(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan, NoFiles: true})
	w.Do("CREATE TABLE t (id INT PRIMARY KEY)")
	file := filepath.Join(t.TempDir(), "f.csv")
	for _, sql := range []string{"COPY t TO '" + file + "'", "COPY t FROM '" + file + "'", "COPY (SELECT 1) TO '/dev/stdout' WITH (FORMAT = csv)",
		"CREATE TABLE s (id INT PRIMARY KEY) SPLIT FROM FILE '" + file + "'", "CREATE TABLE s (id INT PRIMARY KEY) SPLIT INTO 4 BY SAMPLE OF FILE '" + file + "'"} {
		if _, _, err := w.Try(sql); !errors.Is(err, ErrNoFiles) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if slices.Contains(strings.Split(w.Do("SHOW TABLES"), "\n"), "s") {
		t.Error("the table was made")
	}
}
