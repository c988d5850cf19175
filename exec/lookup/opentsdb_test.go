package lookup_test

import (
	"context"
	"encoding/hex"
	"strings"
	"testing"

	. "github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/exectest"
	. "github.com/hql-db/hql/internal/scripttest"
)

// openTSDB are OpenTSDB's tables in HBase.
var openTSDB = map[string][]hbase.Family{"tsdb": {{Name: "t"}}, "tsdb-uid": {{Name: "id"}, {Name: "name"}}}

func TestOpenTSDB(t *testing.T) {
	_, c := NewStore(t)
	checkOpenTSDB(t, c)
}

// checkOpenTSDB reads cells as OpenTSDB writes them, byte by byte, and changes them. The hour
// is 2013-01-01 00:00 UTC, 0x50e22700.
func checkOpenTSDB(t *testing.T, c hbase.Client) {
	ctx := context.Background()
	for table, families := range openTSDB {
		if err := c.CreateTable(ctx, table, families, nil); err != nil {
			t.Fatal(err)
		}
	}
	bytes := func(s string) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	put := func(table string, key []byte, ts int64, family, qualifier, value string) {
		t.Helper()
		err := c.Mutate(ctx, table, []hbase.Mutation{{Key: key, Timestamp: ts, Cells: []hbase.Cell{{Family: []byte(family), Qualifier: bytes(qualifier), Value: bytes(value)}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	metrics := hex.EncodeToString([]byte("metrics"))
	for id, name := range map[string]string{"000001": "sys.cpu", "000002": "sys.mem", "00000a": "gr\xf6\xdfe"} {
		put(expr.UIDTable, []byte(name), 1, "id", metrics, id)
		put(expr.UIDTable, bytes(id), 1, "name", metrics, hex.EncodeToString([]byte(name)))
	}
	put(expr.UIDTable, []byte{0}, 1, "id", metrics, "000000000000000a")

	cpu, mem := bytes("000001 50e22700 000001000001"), bytes("000002 50e22700 000001000001")
	// A cell a point: seconds 0 to 5 as integers of 1, 2, 4 and 8 bytes and floats of 4 and 8, then milliseconds.
	put("tsdb", cpu, 10, "t", "0000", "fe")
	put("tsdb", cpu, 10, "t", "0011", "ff38")
	put("tsdb", cpu, 10, "t", "0023", "00011170")
	put("tsdb", cpu, 10, "t", "0037", "ffffff0000000000")
	put("tsdb", cpu, 10, "t", "004b", "3fc00000")
	put("tsdb", cpu, 10, "t", "005f", "bff4000000000000")
	put("tsdb", cpu, 10, "t", "006b", "000000003fc00000") // early versions: four bytes in eight
	put("tsdb", cpu, 10, "t", "f0075300", "07")           // 7500 ms
	put("tsdb", cpu, 10, "t", "010000", hex.EncodeToString([]byte(`{"description":"an annotation"}`)))
	// The next hour: seconds 1, 2 and 3599 and 2.5 s compacted, 1 s also by itself and newer, 10 and 11 s appended.
	put("tsdb", bytes("000001 50e23510 000001000001"), 10, "t", "0010 0021 f0027101 e0fb", "01 0102 0203 3f000000 01")
	put("tsdb", bytes("000001 50e23510 000001000001"), 11, "t", "0010", "09")
	put("tsdb", bytes("000001 50e23510 000001000001"), 10, "t", "050000", "00a0 0a 00b1 0b0b")
	put("tsdb", mem, 10, "t", "0010 0020", "05 06 00")
	put("tsdb", bytes("00000a 50e22700 000001000001"), 10, "t", "0010 0021", "05 06 00") // a byte is missing
	put("tsdb", bytes("00000a 50e23510 000001000001"), 10, "t", "0010 0020", "05 06 02") // no byte tells that some are of milliseconds
	put("tsdb", bytes("00000a 50e24320 000001000001"), 10, "t", "0010 0020", "")
	put("tsdb", bytes("000003 50e22700 000001000001"), 10, "t", "0010", "05") // no metric has the id

	w := NewWorld(t, c, Config{FullScan: AllowFullScan})
	for _, def := range Layouts(t) {
		if def.Name == "tsdb" {
			if _, err := w.Run(ctx, def, Args{}); err != nil {
				t.Fatal(err)
			}
			defer w.Do("DROP TABLE tsdb") // its HBase tables are foreign and stay
		}
	}
	hour := func(q string) string {
		return "SELECT ts, value FROM tsdb WHERE metric = 'sys.cpu' AND " + q + " ORDER BY ts"
	}
	w.Expect("2013-01-01T00:00:00.000Z|-2\n2013-01-01T00:00:01.000Z|-200\n2013-01-01T00:00:02.000Z|70000\n2013-01-01T00:00:03.000Z|-1099511627776\n"+
		"2013-01-01T00:00:04.000Z|1.5\n2013-01-01T00:00:05.000Z|-1.25\n2013-01-01T00:00:06.000Z|1.5\n2013-01-01T00:00:07.500Z|7", hour("ts < TIMESTAMP '2013-01-01 01:00:00'"))
	second := "2013-01-01T01:00:01.000Z|9\n2013-01-01T01:00:02.000Z|258\n2013-01-01T01:00:02.500Z|515\n2013-01-01T01:00:10.000Z|10\n2013-01-01T01:00:11.000Z|2827\n2013-01-01T01:59:59.000Z|0.5"
	w.Expect(second, hour("ts >= TIMESTAMP '2013-01-01 01:00:00'"))
	w.Expect("-1.25\n1.5\n7\n9\n258", "SELECT value FROM tsdb WHERE metric = 'sys.cpu' AND ts BETWEEN TIMESTAMP '2013-01-01 00:00:05' AND TIMESTAMP '2013-01-01 01:00:02' ORDER BY ts")
	w.Expect("515", "SELECT value FROM tsdb WHERE metric = 'sys.cpu' AND ts = TIMESTAMP '2013-01-01 01:00:02.500'")
	w.Expect("", "SELECT value FROM tsdb WHERE metric = 'sys.disk'")
	w.Expect("0", "SELECT COUNT(*) FROM tsdb WHERE metric = '日本'")
	out, warnings, err := w.Try("SELECT metric, COUNT(*), MAX(value) FROM tsdb GROUP BY metric ORDER BY metric")
	if err != nil || out != "sys.cpu|14|70000\nsys.mem|2|6" || len(warnings) != 2 || !strings.Contains(warnings[0], "has no name") ||
		!strings.Contains(warnings[1], "3 values of column value of tsdb undecodable") {
		t.Errorf("%v %q %q", err, out, warnings)
	}
	w.Expect("sys.mem", "SELECT DISTINCT metric FROM tsdb WHERE metric LIKE '%mem'")

	// Changes leave one value a time: an integer's cell goes, a compacted cell is made anew without the point.
	w.Do("UPDATE tsdb SET value = 0.25 WHERE metric = 'sys.cpu' AND ts = TIMESTAMP '2013-01-01 00:00:00'")
	w.Do("DELETE FROM tsdb WHERE metric = 'sys.cpu' AND ts IN (TIMESTAMP '2013-01-01 00:00:01', TIMESTAMP '2013-01-01 01:00:02.500', TIMESTAMP '2013-01-01 01:00:10')")
	w.Expect("0.25", hourValue("2013-01-01 00:00:00"))
	w.Expect("", hourValue("2013-01-01 00:00:01"))
	w.Expect("2013-01-01T01:00:01.000Z|9\n2013-01-01T01:00:02.000Z|258\n2013-01-01T01:00:11.000Z|2827\n2013-01-01T01:59:59.000Z|0.5", hour("ts >= TIMESTAMP '2013-01-01 01:00:00'"))
	cells := func(key []byte) string {
		rows, err := c.Get(ctx, "tsdb", [][]byte{key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, cell := range rows[0].Cells {
			out = append(out, hex.EncodeToString(cell.Qualifier)+"="+hex.EncodeToString(cell.Value))
		}
		return strings.Join(out, " ")
	}
	if got, want := cells(bytes("000001 50e23510 000001000001")), "0010=09 002100b1e0fb=01020b0b3f00000000"; got != want {
		t.Errorf("cells after DELETE %s, want %s", got, want)
	}
	// A new metric gets the next id, in OpenTSDB's table both ways; points go under OpenTSDB's qualifiers.
	w.Do("INSERT INTO tsdb VALUES ('sys.net', TIMESTAMP '2013-01-01 00:00:01', X'000001000001', 2), ('sys.net', TIMESTAMP '2013-01-01 00:00:01.001', X'000001000001', -1)")
	w.Expect("sys.net|2\nsys.net|-1", "SELECT metric, value FROM tsdb WHERE metric = 'sys.net' ORDER BY ts")
	if got, want := cells(bytes("00000b 50e22700 000001000001")), "001f=4000000000000000 f000fa4f=bff0000000000000"; got != want {
		t.Errorf("cells after INSERT %s, want %s", got, want)
	}
	other := NewWorld(t, c, Config{FullScan: AllowFullScan})
	other.Expect("sys.net", "SELECT DISTINCT metric FROM tsdb WHERE value = -1")
	w.Refused("is not a valid name in OpenTSDB", "INSERT INTO tsdb VALUES ('no spaces', TIMESTAMP '2013-01-01 00:00:01', X'', 2)")
	w.Refused("is not a valid name in OpenTSDB", "INSERT INTO tsdb VALUES ('Ā', TIMESTAMP '2013-01-01 00:00:01', X'', 2)") // the first letter that is not of Latin-1
	w.Refused("OPENTSDB_VALUE", "CREATE TABLE bad (a INT, v DOUBLE AS OPENTSDB_VALUE) ROW KEY (a AS INT32)")
}

func hourValue(ts string) string {
	return "SELECT value FROM tsdb WHERE metric = 'sys.cpu' AND ts = TIMESTAMP '" + ts + "'"
}

// Names that cannot be read are an error, and ids without a name are looked for once.
func TestNamesOfIDs(t *testing.T) {
	_, c := NewStore(t)
	for table, families := range openTSDB {
		if err := c.CreateTable(t.Context(), table, families, nil); err != nil {
			t.Fatal(err)
		}
	}
	var points []hbase.Mutation
	for i := range 200 {
		key := []byte{'a' + byte(i/4), 0, 0, byte(i % 4), 0x50, 0xe2, 0x27, 0}
		points = append(points, hbase.Mutation{Kind: hbase.Put, Key: key, Timestamp: 1, Cells: []hbase.Cell{{Family: []byte("t"), Qualifier: []byte{0, 0}, Value: []byte{1}}}})
	}
	if err := c.Mutate(t.Context(), "tsdb", points); err != nil {
		t.Fatal(err)
	}
	cc := &Counted{Client: c, Table: expr.UIDTable}
	w := NewWorld(t, cc, Config{FullScan: AllowFullScan})
	w.Do("CREATE EXTERNAL TABLE tsdb (host STRING, metric STRING, ts TIMESTAMP, value DOUBLE FROM t:[OPENTSDB_QUALIFIER(ts)] AS OPENTSDB_VALUE) STORED IN 'tsdb' " +
		"ROW KEY (host AS BYTES(1), OPENTSDB_UID('metrics', metric) AS BYTES(3), DATE_BIN('1 hour', ts) AS EPOCH32)")
	const query = "SELECT metric, value FROM tsdb"
	if out, warnings, err := w.Try(query); out != "" || err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "200 rows") {
		t.Errorf("%q %v %q", out, err, warnings)
	}
	if n := cc.Gets.Load(); n > 4 {
		t.Errorf("4 ids were looked for %d times", n)
	}
	at := "get " + expr.UIDTable
	broken := Of(t, New(UnansweredAt(c, &at), w.Catalog(), Config{FullScan: AllowFullScan}))
	broken.Refused("no answer", query)
}

// A point is not written if other points of its row cannot be read: one with the same time could remain.
func TestPointBesideUnreadableRow(t *testing.T) {
	_, c := NewStore(t)
	const table = "CREATE EXTERNAL TABLE tsdb (metric STRING, ts TIMESTAMP, tags BYTES, value DOUBLE FROM t:[OPENTSDB_QUALIFIER(ts)] AS OPENTSDB_VALUE) STORED IN 'points' " +
		"ROW KEY (metric AS TEXT(3), DATE_BIN('1 hour', ts) AS EPOCH32, tags AS BYTES)"
	if err := c.CreateTable(t.Context(), "points", []hbase.Family{{Name: "t"}}, nil); err != nil {
		t.Fatal(err)
	}
	w := NewWorld(t, c, Config{})
	w.Do(table)
	w.Do("INSERT INTO tsdb VALUES ('cpu', TIMESTAMP '2026-01-01 00:00:01', X'', 1)")
	at := "get points"
	broken := NewWorld(t, UnansweredAt(c, &at), Config{})
	if _, _, err := broken.Try("INSERT INTO tsdb VALUES ('cpu', TIMESTAMP '2026-01-01 00:00:01', X'', 2)"); err == nil {
		t.Error("written")
	}
	w.Expect("1", "SELECT value FROM tsdb WHERE metric = 'cpu' AND ts = TIMESTAMP '2026-01-01 00:00:01' AND tags = X''")
}
