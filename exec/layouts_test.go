package exec

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/types"
)

// layoutWorld has all tables of layouts.sql.
func layoutWorld(t testing.TB, client hbase.Client, cfg Config) *world {
	t.Helper()
	cfg.FullScan = AllowFullScan
	w := newWorld(t, client, cfg)
	for _, def := range Layouts(t) {
		if _, err := w.Run(context.Background(), def, Args{}); err != nil {
			t.Fatalf("%s: %v", def.Name, err)
		}
	}
	return w
}

func keysOf(f *fakeClient, table string) []string {
	var out []string
	for _, c := range f.tables[table].cells {
		if n := len(out); n == 0 || out[n-1] != string(c.key) {
			out = append(out, string(c.key))
		}
	}
	return out
}

// Several layouts of one table are kept in step.
func TestDerivedLayouts(t *testing.T) {
	f := newFakeClient()
	w := layoutWorld(t, f, noPushdown())
	w.Do(`INSERT INTO trades VALUES ('S0000001', 'B0000009', TIMESTAMP '2026-01-05 10:00:00', 'o-77', 12.5),
		('S0000001', 'B0000004', TIMESTAMP '2026-01-20 11:30:00', 'o-78', 80), ('S0000002', 'B0000009', TIMESTAMP '2026-01-21 16:45:00', 'o-79', 7)`)
	w.Expect("o-79\no-77", "SELECT order_id FROM trades WHERE buyer_id = 'B0000009' ORDER BY ts DESC LIMIT 10")
	w.Expect("o-77|12.5\no-78|80", "SELECT order_id, amount FROM trades WHERE seller_id = 'S0000001' ORDER BY ts")
	w.Do("UPDATE trades SET buyer_id = 'B0000005', amount = 13 WHERE order_id = 'o-77'")
	w.Expect("o-79", "SELECT order_id FROM trades WHERE buyer_id = 'B0000009'")
	w.Expect("o-77|13|S0000001", "SELECT order_id, amount, seller_id FROM trades WHERE buyer_id = 'B0000005'")
	w.Do("UPSERT INTO trades VALUES ('S0000009', 'B0000005', TIMESTAMP '2026-01-05 10:00:00', 'o-77', 14)")
	w.Expect("o-77|14|S0000009", "SELECT order_id, amount, seller_id FROM trades WHERE buyer_id = 'B0000005'")
	w.Expect("o-78", "SELECT order_id FROM trades WHERE seller_id = 'S0000001'")
	w.Do("DELETE FROM trades WHERE order_id IN ('o-77', 'o-78')")
	for _, table := range []string{"trades", "trades_by_seller", "trades_by_buyer"} {
		if keys := keysOf(f, table); len(keys) != 1 {
			t.Errorf("%s holds %q", table, keys)
		}
	}
	w.Refused("seller_id", "INSERT INTO trades (buyer_id, ts, order_id) VALUES ('B1', NOW(), 'o-1')")

	w.Do(`INSERT INTO profiles VALUES ('u-1', 'id1', '138', '{"n": 1}'), ('u-2', 'id2', '139', '{"n": 2}'), ('u-3', NULL, '138', '{"n": 3}')`)
	w.Expect("u-1|{\"n\": 1}\nu-3|{\"n\": 3}", "SELECT uid, profile FROM profiles WHERE tel = '138' ORDER BY uid")
	w.Expect("2", "SELECT profile->'n' FROM profiles WHERE idcard = 'id2'")
	if keys := keysOf(f, "profiles_by_idcard"); len(keys) != 2 {
		t.Errorf("a NULL has an index entry: %q", keys)
	}
	w.Do("UPDATE profiles SET tel = '140' WHERE uid = 'u-1'")
	w.Expect("u-3", "SELECT uid FROM profiles WHERE tel = '138'")
	w.Expect("u-1", "SELECT uid FROM profiles WHERE tel = '140'")
	// An entry without its row, and a row without its entry.
	ctx := context.Background()
	stale := keysOf(f, "profiles_by_tel")[0]
	f.Mutate(ctx, "profiles_by_tel", []hbase.Mutation{{Key: []byte(strings.Replace(stale, "u-", "u-9", 1)), Timestamp: 1, Cells: []hbase.Cell{{Family: []byte("f")}}}})
	f.Mutate(ctx, "profiles_by_idcard", []hbase.Mutation{{Kind: hbase.DeleteRow, Key: []byte(keysOf(f, "profiles_by_idcard")[0]), Timestamp: 1 << 50}})
	want := "by_idcard|rows without an entry|1\nby_idcard|entries without their row|0\nby_tel|rows without an entry|0\nby_tel|entries without their row|1"
	w.Expect(want, "CHECK TABLE profiles")
	w.Expect(want, "CHECK TABLE profiles REPAIR")
	w.Expect(strings.ReplaceAll(want, "|1", "|0"), "CHECK TABLE profiles")
}

func TestPackedColumns(t *testing.T) {
	w := layoutWorld(t, newFakeClient(), noPushdown())
	w.Do(`INSERT INTO log_packed VALUES ('a', 'e', TIMESTAMP '2026-01-01 00:04:59.999', 'm1'), ('a', 'e', TIMESTAMP '2026-01-01 00:05:00', 'm2'),
		('a', 'e', TIMESTAMP '2026-01-01 00:05:00.001', 'm3'), ('b', 'e', TIMESTAMP '2026-01-01 00:05:00', 'm4')`)
	w.Expect("m2\nm3", "SELECT message FROM log_packed WHERE host = 'a' AND event = 'e' AND ts BETWEEN TIMESTAMP '2026-01-01 00:05:00' AND TIMESTAMP '2026-01-01 00:06:00' ORDER BY ts")
	w.Expect("4", "SELECT COUNT(*) FROM log_packed")
	w.Do("DELETE FROM log_packed WHERE ts = TIMESTAMP '2026-01-01 00:05:00.001'; UPDATE log_packed SET message = 'x' WHERE host = 'b'")
	w.Expect("m1\nm2\nx", "SELECT message FROM log_packed ORDER BY host, ts")
	w.Refused("message", "INSERT INTO log_packed VALUES ('a', 'e', NOW(), NULL)")
	w.Do("INSERT INTO lists_wide VALUES ('alice', 7, 'x'), ('alice', 8, 'y'), ('bob', 7, 'z')")
	w.Expect("8|y", "SELECT value_id, value FROM lists_wide WHERE user = 'alice' AND value_id > 7")
}

func TestRecordTypes(t *testing.T) {
	w := layoutWorld(t, newFakeClient(), noPushdown())
	w.Do(`INSERT INTO pp_customers VALUES ('C1', 'Ada', 'Bern', NULL); INSERT INTO pp_orders VALUES ('C1', 'A-1', DATE '2026-01-03', 9.5), ('C1', 'A-2', NULL, NULL)`)
	for _, c := range [][2]string{
		{"C1|Ada|Bern|NULL", "SELECT * FROM pp_customers"},
		{"A-1|2026-01-03|9.5\nA-2|NULL|NULL", "SELECT order_no, sold, total FROM pp_orders WHERE customer = 'C1' ORDER BY order_no"},
		{"1||Ada\n2|A-1|NULL\n2|A-2|NULL", "SELECT kind, rest, name FROM pp_all ORDER BY kind, rest"},
	} {
		out, warnings, err := w.Try(c[1])
		if err != nil || out != c[0] || len(warnings) > 0 {
			t.Errorf("%s: %v %q %q", c[1], err, out, warnings)
		}
	}
}

func TestLookupTables(t *testing.T) {
	f := newFakeClient()
	w := layoutWorld(t, f, noPushdown())
	w.Do("INSERT INTO log_types VALUES ('h', 'old', 41)")
	w.Do(`INSERT INTO log_numbered VALUES ('old', 'login', TIMESTAMP '2026-01-01', 'm1'), ('new', 'login', TIMESTAMP '2026-01-02', 'm2'), ('new', 'logout', TIMESTAMP '2026-01-03', 'm3')`)
	w.Expect("m2\nm3", "SELECT message FROM log_numbered WHERE host = 'new' AND event IN ('login', 'logout') ORDER BY ts")
	w.Expect("", "SELECT message FROM log_numbered WHERE host = 'nobody'")
	w.Expect("new|login|m2\nnew|logout|m3\nold|login|m1", "SELECT host, event, message FROM log_numbered ORDER BY host, event")
	w.Expect("new\nold", "SELECT name FROM log_types WHERE kind = 'h' ORDER BY name")
	w.Expect("m2", "SELECT message FROM log_numbered WHERE host LIKE 'n%' AND event = 'login'")
	w.Expect("1", "SELECT COUNT(*) FROM log_types WHERE kind = 'h' AND id = 41")
	other := worldOf(t, New(f, w.catalog, noPushdown()))
	other.Do("INSERT INTO log_numbered VALUES ('newer', 'login', TIMESTAMP '2026-01-04', 'm4')")
	w.Expect("3", "SELECT COUNT(*) FROM log_types WHERE kind = 'h'")
	w.Expect("newer|m4", "SELECT host, message FROM log_numbered WHERE ts = TIMESTAMP '2026-01-04'")
}

func TestTableADay(t *testing.T) {
	f := newFakeClient()
	w := layoutWorld(t, f, noPushdown())
	f.CreateTable(context.Background(), "tx_archive", nil, nil)
	w.Do(`INSERT INTO tx VALUES ('d1', TIMESTAMP '2012-09-01 23:59:59.999', 'a', 1), ('d1', TIMESTAMP '2012-09-02 00:00:00', 'b', 2), ('d2', TIMESTAMP '2012-09-03 12:00:00', 'c', 3)`)
	names, _ := f.Tables(context.Background(), "tx_")
	if !slices.Equal(names, []string{"tx_20120901", "tx_20120902", "tx_20120903", "tx_archive"}) {
		t.Errorf("tables %q", names)
	}
	w.Expect("1\n2", "SELECT amount FROM tx WHERE device = 'd1' AND ts BETWEEN TIMESTAMP '2012-09-01 22:00:00' AND TIMESTAMP '2012-09-05' ORDER BY ts")
	w.Expect("3", "SELECT COUNT(*) FROM tx")
	w.Expect("d2|2012-09-03T12:00:00.000Z", "SELECT device, ts FROM tx WHERE ext = 'c'")
	w.Do("DELETE FROM tx WHERE device = 'd1'; DROP TABLE tx")
	names, _ = f.Tables(context.Background(), "tx_")
	if !slices.Equal(names, []string{"tx_archive"}) {
		t.Errorf("tables after DROP: %q", names)
	}
}

func TestVersions(t *testing.T) {
	w := layoutWorld(t, newFakeClient(), noPushdown())
	w.Do("INSERT INTO prices VALUES ('s', 1); INSERT INTO prices VALUES ('s', 2), ('t', 9); INSERT INTO prices VALUES ('s', 3)")
	w.Expect("3", "SELECT price FROM prices WHERE sku = 's'")
	w.Expect("1\n2\n3", "SELECT price FROM prices FOR SYSTEM_TIME ALL WHERE sku = 's' ORDER BY _ts")
	at := w.Do("SELECT _ts FROM prices FOR SYSTEM_TIME ALL WHERE sku = 's' AND price = 2")
	w.Expect("2", "SELECT price FROM prices FOR SYSTEM_TIME AS OF TIMESTAMP '"+at+"' WHERE sku = 's'")
}

func TestSaltedWrites(t *testing.T) {
	f := newFakeClient()
	w := layoutWorld(t, f, noPushdown())
	for _, key := range []string{"a-foo0003", "b-foo0001", "c-foo0003", "c-foo0004", "d-foo0002"} {
		f.Mutate(context.Background(), "foo_salted", []hbase.Mutation{{Key: []byte(key), Timestamp: 1, Cells: []hbase.Cell{{Family: []byte("f"), Qualifier: []byte("v"), Value: []byte(key[:1])}}}})
	}
	w.Expect("a\nc", "SELECT v FROM foo_salted WHERE id = 'foo0003' ORDER BY v")
	for range 5 {
		w.Do("UPSERT INTO foo_salted VALUES ('foo0004', 'x') IF NOT EXISTS")
	}
	w.Expect("c-foo0004|c", "SELECT _key, v FROM foo_salted WHERE id = 'foo0004'")
	w.Do("UPDATE foo_salted SET v = 'y' WHERE id = 'foo0003'; DELETE FROM foo_salted WHERE id = 'foo0001'")
	w.Expect("a-foo0003|y\nc-foo0003|y\nc-foo0004|c\nd-foo0002|d", "SELECT _key, v FROM foo_salted ORDER BY _key")
}

func TestMalformed(t *testing.T) {
	f := newFakeClient()
	w := newWorld(t, f, noPushdown())
	w.Do(`CREATE TABLE t (a INT, v INT) ROW KEY ('k', a AS TEXT(3)); CREATE EXTERNAL TABLE strict (a INT, v INT) ROW KEY ('k', a AS TEXT(3)) STORED IN 't' ON MALFORMED KEY ERROR`)
	w.Do("INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
	put := func(key, value string) {
		f.Mutate(context.Background(), "t", []hbase.Mutation{{Key: []byte(key), Timestamp: 1 << 45, Cells: []hbase.Cell{{Family: []byte("f"), Qualifier: []byte("v"), Value: []byte(value)}}}})
	}
	put("k0x1", "\x00\x00\x00\x01")
	put("k01", "\x00\x00\x00\x01")
	put("other type", "\x00\x00\x00\x01")
	put("k002", "bad")
	out, warnings, err := w.Try("SELECT * FROM t ORDER BY a")
	if err != nil || out != "1|10\n2|NULL\n3|30" {
		t.Errorf("%v %q", err, out)
	}
	if len(warnings) != 3 || !strings.HasPrefix(warnings[2], "HQL-W001: 2 rows of t not read: their keys do not fit layout primary, first x'6b3031'") ||
		!strings.HasPrefix(warnings[1], "HQL-W002: 1 value of column v of t undecodable and read as NULL, first at key x'6b303032'") {
		t.Errorf("warnings %q", warnings)
	}
	w.Expect("1\n2\n3", "SELECT a FROM t ORDER BY a LIMIT 3") // malformed rows do not use the limit up
	w.Refused("does not fit layout", "SELECT * FROM strict")
}

func TestShow(t *testing.T) {
	w := layoutWorld(t, newFakeClient(), noPushdown())
	w.Expect("user_id|INT|no|key: user_id AS TEXT(6)|\ncreate_time|DATE|no|key: create_time AS TEXT('yyyyMMdd')|\nfile_id|BIGINT|no|key: file_id AS TEXT(6)|\nname|STRING|yes|f:name|TEXT\ncategory|STRING|yes|f:category|TEXT", "DESCRIBE files")
	if out := w.Do("DESCRIBE tsdb"); !strings.Contains(out, "|t:[OPENTSDB_QUALIFIER(ts)]|") {
		t.Errorf("DESCRIBE tsdb: %s", out)
	}
	if out := w.Do("SHOW TABLES"); !strings.Contains(out, "phoenix_events|external|EVENTS|(PHOENIX_SALT(8) AS UINT8") || !strings.Contains(out, "tx|table|('tx_', DATE(ts)") {
		t.Errorf("SHOW TABLES: %s", out)
	}
	if out := w.Do("SHOW SPLITS staff2"); strings.Count(out, "\n") != 14 || !strings.HasPrefix(out, "staff2||11111111|\nstaff2|11111111|22222222|") {
		t.Errorf("SHOW SPLITS: %s", out)
	}
	if out := w.Do("SHOW FUNCTIONS"); !strings.Contains(out, "MD5|hash|") {
		t.Errorf("SHOW FUNCTIONS: %s", out)
	}
	if out := w.Do("EXPLAIN SELECT * FROM files WHERE user_id = 1"); !strings.Contains(out, "user_id AS TEXT(6)") || strings.Count(out, "\n") < 3 {
		t.Errorf("EXPLAIN: %s", out)
	}
	if out := w.Do("EXPLAIN (FORMAT JSON) DELETE FROM files WHERE user_id = 1"); !strings.Contains(out, `"access":"scan"`) {
		t.Errorf("EXPLAIN JSON: %s", out)
	}
	if out := w.Do("EXPLAIN ANALYZE SELECT * FROM files WHERE user_id = 1"); !strings.Contains(out, "returned 0 rows") || !strings.Contains(out, "1 scan") {
		t.Errorf("EXPLAIN ANALYZE: %s", out)
	}
	w.Refused("unknown setting", "SET nonsense = 1")
	w.Do("SET timezone = 'Asia/Shanghai'")
	w.Expect("Asia/Shanghai", "SHOW timezone")
}

func TestCopy(t *testing.T) {
	w := layoutWorld(t, newFakeClient(), noPushdown())
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	os.WriteFile(in, []byte("user_id,create_time,file_id,name\n1,2012-09-02,1,\"a, b\"\nx,2012-09-02,2,bad\n12345678,2012-09-02,3,too wide\n2,2012-09-03,4,\n"), 0o600)
	out, warnings, err := w.Try("COPY files FROM '" + in + "'")
	if err != nil || out != "" || len(warnings) != 3 || !strings.HasPrefix(warnings[0], "HQL-W005: line 3: column user_id") || !strings.HasPrefix(warnings[1], "HQL-W005: line 4:") || warnings[2] != "HQL-W005: 2 lines not copied" {
		t.Errorf("%v %q %q", err, out, warnings)
	}
	w.Expect("1|2012-09-02|1|a, b|NULL\n2|2012-09-03|4|NULL|NULL", "SELECT * FROM files ORDER BY user_id")
	for _, ext := range []string{"csv", "tsv", "jsonl"} {
		file := filepath.Join(dir, "out."+ext)
		w.Do("COPY (SELECT * FROM files ORDER BY user_id) TO '" + file + "'")
		w.Do("DELETE FROM files")
		w.Expect("0", "SELECT COUNT(*) FROM files")
		w.Do("COPY files FROM '" + file + "'")
		w.Expect("1|2012-09-02|1|a, b|NULL\n2|2012-09-03|4|NULL|NULL", "SELECT * FROM files ORDER BY user_id")
	}
	// Lines of all sorts: what is wrong with each is told, and the others are copied.
	for file, text := range map[string]string{
		"bad.csv":   "user_id,create_time,file_id,name\n\"7,2012-09-02,1,never closed\"x\n8,2012-09-02\n9,2012-09-02,1,ok,more\n7,2012-09-02,1,\"two\nlines\"\n,2012-09-02,1,a\n\"",
		"bad.jsonl": `{"user_id":7,"create_time":"2012-09-02","file_id":1,"name":"two\nlines"}` + "\n{bad\n[1]\n\n{\"user_id\":8}\n{\"user_id\":1,\"nope\":1}\n",
	} {
		w.Do("DELETE FROM files")
		os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600)
		_, warnings, err := w.Try("COPY files FROM '" + filepath.Join(dir, file) + "'")
		if err != nil || len(warnings) < 4 || !strings.HasSuffix(warnings[len(warnings)-1], "lines not copied") {
			t.Errorf("%s: %v %q", file, err, warnings)
		}
		w.Expect("7|two\nlines", "SELECT user_id, name FROM files")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.*.*")); len(left) > 0 {
		t.Errorf("temporary files left: %q", left)
	}
}

// A statement that is given up ends its readers.
func TestCancel(t *testing.T) {
	w := layoutWorld(t, newFakeClient(), noPushdown())
	var values []string
	for i := range 3000 {
		values = append(values, "(TIMESTAMP '2026-01-01' , 'h"+string(rune('a'+i%26))+types.NewInt(int64(i)).String()+"', 'e', 'm')")
	}
	w.Do("INSERT INTO log_bucketed VALUES " + strings.Join(values, ","))
	for _, sql := range []string{"SELECT * FROM log_bucketed", "SELECT * FROM log_bucketed ORDER BY ts, host", "SELECT * FROM log_bucketed WHERE ts >= TIMESTAMP '2025-01-01' ORDER BY ts"} {
		s := MustParse(t, sql)
		ctx, cancel := context.WithCancel(context.Background())
		rows, err := w.Run(ctx, s, Args{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rows.Next(); err != nil {
			t.Fatal(err)
		}
		cancel()
		for err == nil {
			_, err = rows.Next()
		}
		rows.Close()
		rows.Close()
		rows, err = w.Run(context.Background(), s, Args{})
		if err != nil {
			t.Fatal(err)
		}
		rows.Close() // without reading
	}
	w.Expect("3000", "SELECT COUNT(*) FROM log_bucketed")
}

func TestHiddenKey(t *testing.T) {
	w := newWorld(t, newFakeClient(), noPushdown())
	w.Do("CREATE TABLE plain (a INT, b STRING); INSERT INTO plain VALUES (1, 'x'), (1, 'x'), (NULL, NULL)")
	w.Expect("3", "SELECT COUNT(*) FROM plain")
	w.Expect("1|x\n1|x\nNULL|NULL", "SELECT a, b FROM plain ORDER BY a")
	w.Do("UPDATE plain SET b = 'y' WHERE a IS NULL; DELETE FROM plain WHERE a = 1")
	w.Expect("y", "SELECT b FROM plain")
	if c, _ := w.catalog.Table("plain"); c.Columns[2].Name != catalog.HiddenColumn {
		t.Error("the hidden column is not last")
	}
}

// Bytes, tabs and texts that look like NULL come back from a file as they were.
func TestCopyRoundTrip(t *testing.T) {
	w := layoutWorld(t, newFakeClient(), noPushdown())
	w.Do("CREATE TABLE rt (id INT PRIMARY KEY, s STRING, b BYTES)")
	w.Do("INSERT INTO rt VALUES (1, '\\N', X'00FF5C41'), (2, '', X''), (3, NULL, NULL), (4, 'tab\t\n\r\\t \"q\"', X'0A')")
	want := w.Do("SELECT * FROM rt ORDER BY id")
	for _, ext := range []string{"csv", "tsv", "jsonl"} {
		file := filepath.Join(t.TempDir(), "rt."+ext)
		w.Do("COPY rt TO '" + file + "'")
		w.Do("DELETE FROM rt")
		w.Do("COPY rt FROM '" + file + "'")
		w.Expect(want, "SELECT * FROM rt ORDER BY id")
	}
}

// If several rows of a statement have one key, the last one counts as a whole.
func TestOneKeyTwice(t *testing.T) {
	_, c := NewStore(t)
	w := layoutWorld(t, c, Config{})
	w.Do("CREATE TABLE twice (a INT, v INT, w STRING) ROW KEY (a AS INT32)")
	w.Do("UPSERT INTO twice VALUES (1, NULL, 'a'), (2, 2, 'b'), (1, 5, NULL)")
	w.Expect("1|5|NULL\n2|2|b", "SELECT * FROM twice ORDER BY a")
	w.Do("INSERT INTO profiles VALUES ('u', 'id1', '138', NULL), ('u', 'id2', NULL, '{}')")
	w.Expect("u|id2|NULL|{}", "SELECT * FROM profiles")
	w.Expect("", "SELECT uid FROM profiles WHERE idcard = 'id1' OR tel = '138' ALLOW FULL SCAN")
	w.Expect("by_idcard|rows without an entry|0\nby_idcard|entries without their row|0\nby_tel|rows without an entry|0\nby_tel|entries without their row|0", "CHECK TABLE profiles")
	for range 20 {
		w.Do("UPSERT INTO foo_salted VALUES ('one', NULL), ('one', 'v')")
	}
	w.Expect("v", "SELECT DISTINCT v FROM foo_salted")
	// Also when the rows are sent in several batches.
	lines := "a,v\n7,\n"
	for i := range 2 * write.Batch {
		lines += types.NewInt(int64(i+10)).String() + ",1\n"
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	os.WriteFile(file, []byte(lines+"7,3\n"), 0o600)
	w.Do("COPY twice FROM '" + file + "'")
	w.Expect("3", "SELECT v FROM twice WHERE a = 7")
}

// Any byte but 0 is TRUE, as Bytes.toBoolean reads it, with and without a server filter. In a key,
// where a value has one form only, other bytes are malformed.
func TestForeignBooleans(t *testing.T) {
	_, c := NewStore(t)
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	w.Do("CREATE TABLE flags (a INT, v BOOLEAN, w BOOLEAN AS PHOENIX BOOLEAN) ROW KEY (a AS INT8); CREATE TABLE keyed (k BOOLEAN, v INT) ROW KEY (k AS BOOLEAN)")
	w.Do("INSERT INTO flags VALUES (1, TRUE, TRUE), (2, FALSE, FALSE), (3, NULL, NULL); INSERT INTO keyed VALUES (TRUE, 1)")
	put := func(table, key, qualifier, value string) {
		err := c.Mutate(context.Background(), table, []hbase.Mutation{{Key: []byte(key), Timestamp: 1, Cells: []hbase.Cell{{Family: []byte("f"), Qualifier: []byte(qualifier), Value: []byte(value)}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("flags", "\x04", "v", "\x01")
	put("flags", "\x05", "w", "\x7f")
	put("flags", "\x06", "v", "\x00")
	put("keyed", "\x01", "v", "\x00\x00\x00\x02")
	w.Expect("1\n4", "SELECT a FROM flags WHERE v = TRUE ORDER BY a")
	w.Expect("1\n4", "SELECT a FROM flags WHERE v ORDER BY a")
	w.Expect("2\n6", "SELECT a FROM flags WHERE NOT v ORDER BY a")
	w.Expect("2\n6", "SELECT a FROM flags WHERE v <> TRUE ORDER BY a")
	w.Expect("1\n5", "SELECT a FROM flags WHERE w = TRUE ORDER BY a")
	w.Expect("1", "SELECT v FROM keyed WHERE k = TRUE")
	out, warnings, err := w.Try("SELECT k, v FROM keyed")
	if err != nil || out != "true|1" || len(warnings) == 0 {
		t.Errorf("%v %q %q", err, out, warnings)
	}
}

// Writers that meet give each name one number and each number one name.
func TestLookupWriters(t *testing.T) {
	_, c := NewStore(t)
	w := layoutWorld(t, c, Config{})
	w.Do("INSERT INTO log_types VALUES ('h', 'old', 7)")
	var wg sync.WaitGroup
	for i := range 4 {
		e := New(c, w.catalog, Config{}) // as another process
		wg.Go(func() {
			for n := range 20 {
				sql := fmt.Sprintf("INSERT INTO log_numbered VALUES ('h%d', 'e', TIMESTAMP '2026-01-01', 'm%d'); INSERT INTO log_types VALUES ('x', 'x%d%d', %d)", n, i, i, n, 3*n)
				if _, _, err := (worldOf(t, e)).Try(sql); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
			}
		})
	}
	wg.Wait()
	w.Expect("22|22", "SELECT COUNT(*), COUNT(DISTINCT id) FROM log_types WHERE kind IN ('h', 'e')")
	w.Expect("20", "SELECT COUNT(DISTINCT host) FROM log_numbered")
}

// denying is a client of a user who may not read one table.
type denying struct {
	hbase.Client
	table string
}

func (c denying) MayRead(ctx context.Context, table string, families []string) error {
	if table == c.table {
		return fmt.Errorf("%w: %s", hbase.ErrDenied, table)
	}
	return c.Client.MayRead(ctx, table, families)
}

func (c denying) Scan(ctx context.Context, r hbase.ScanRange, o *hbase.ReadOptions) (hbase.Scanner, error) {
	if r.Table == c.table {
		return nil, fmt.Errorf("%w: %s", hbase.ErrDenied, r.Table)
	}
	return c.Client.Scan(ctx, r, o)
}

// A table is read without an INDEX or a copy that the user may not read, unless a hint names it.
func TestDeniedLayout(t *testing.T) {
	_, c := NewStore(t)
	newWorld(t, c, Config{}).Do("CREATE TABLE d (id INT, g INT, h INT) ROW KEY (id AS INT32) INDEX byg (g AS ORDERED INT32, id AS INT32)" +
		" ROW KEY byh (h AS ORDERED INT32, id AS INT32); INSERT INTO d VALUES (1, 7, 8), (2, 7, 9)")
	for of, where := range map[string]string{"byg": "g = 7", "byh": "h = 8"} {
		w := newWorld(t, denying{c, "d_" + of}, Config{FullScan: AllowFullScan})
		w.Expect("1\n2", "SELECT id FROM d WHERE g = 7 ORDER BY id")
		w.Expect("2", "SELECT id FROM d WHERE h = 9")
		w.Expect("2", "SELECT id FROM (VALUES (9)) AS v (h) JOIN d USING (h)")
		w.Expect("1", "SELECT count(*) FROM d AS a WHERE g = 7 AND EXISTS (SELECT 1 FROM d AS b WHERE b.h = 9 AND b.g = a.g AND b.id > a.id)")
		w.Refused("not permitted", "SELECT /*+ LAYOUT("+of+") */ id FROM d WHERE g = 7 AND h = 8")
		if got := w.Do("EXPLAIN SELECT id FROM d WHERE " + where); !strings.Contains(got, of+": no, the user may not read it") {
			t.Error(got)
		}
	}
}
