package infer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/infer"
	"github.com/hql-db/hql/internal/poison"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
	"github.com/hql-db/hql/types"
)

func TestMain(m *testing.M) { os.Exit(poison.Tests(m).Run()) }

// The keys that infer finds again in the tables of layouts.sql, loaded with 300 rows.
// Names are its own, and so is what bytes alone cannot tell: TEXT(8) or two parts of it.
var found = map[string]string{
	"contacts":           `n AS TEXT(6), '|', n2 AS TEXT(11), '|', 'name', n3 AS TEXT(4)`,
	"foo_salted":         `SALT('a', 'b', 'c', 'd'), '-', 'id', n AS TEXT(4)`,
	"foo_hashed":         `LEFT(MD5(id), 6), id AS TEXT`,
	"sites":              `REVERSE(domain) AS TEXT`,
	"trades":             `'order', n AS TEXT(4)`,
	"trades_salted":      `SALT(0 TO 7) AS UINT8, 'U', n AS TEXT(7), ts AS INT64, 'order', n2 AS TEXT(4)`,
	"profiles":           `LEFT(MD5(id), 5), id AS TEXT`,
	"car_events":         `id AS TEXT(17), ts AS INT64`,
	"car_events_hashed":  `LEFT(MD5(id), 5), id AS TEXT(17), ts AS INT64`,
	"user_ops":           `'U', n AS TEXT(7), 9223372036854775807 - ts AS INT64`,
	"log_bucketed":       `ts % 100 AS UINT8, ts AS INT64, id AS TEXT, X'00', id2 AS TEXT`,
	"log_data":           `id AS TEXT, X'00', id2 AS TEXT, X'00', ts AS INT64`,
	"log_recent":         `id AS TEXT, X'00', id2 AS TEXT, X'00', 9223372036854775807 - ts AS INT64`,
	"log_hashed":         `UNHEX(MD5(host)), UNHEX(MD5(event)), ts AS INT64`,
	"log_numbered":       `n AS INT64, n2 AS INT64, ts AS INT64`,
	"phoenix_events":     `PHOENIX_SALT(8) AS UINT8, id AS TEXT, X'00', ts AS ORDERED INT64`,
	"log_packed":         `id AS TEXT, X'00', id2 AS TEXT, X'00', ts AS INT64`,
	"orders_raw":         `'C', n AS TEXT(9), 'A-', n2 AS TEXT`,
	"orders_hashed":      `UNHEX(MD5(customer)), UNHEX(MD5(order_no))`,
	"o_order":            `'C', n AS TEXT(9), 'A-', id AS TEXT(10), 'O'`,
	"shipping_locations": `'C', n AS TEXT(9), 'A-', id AS TEXT(10), n2 AS UINT16`,
	"line_items":         `'C', n AS TEXT(9), 'A-', id AS TEXT(10), n2 AS UINT16, n3 AS UINT16`,
	"lists_tall":         `id AS TEXT(16), n AS TEXT(10)`,
	"lists_paged":        `id AS TEXT(16), n AS INT32`,
	"prices":             `'sku', n AS TEXT(4)`,
	"messages_by_time":   `ts AS TEXT('yyMMdd:HHmmss'), ':', h AS TEXT(32)`,
	"messages_by_id":     `id AS TEXT, ':', ts AS TEXT('yyMMdd:HHmmss')`,
	"messages_md5":       `UPPER(MD5(id)), ':', ts AS TEXT('yyMMdd:HHmmss'), ':', id AS TEXT`,
	"messages_random":    `SALT('0001' TO '0010'), ts AS TEXT(13), h AS TEXT(32)`,
	"messages_ring":      `RING(id, '0001' TO '0010', 100), ts AS TEXT(13), id AS TEXT`,
	"phone_calls":        `CRC32(n) % 300 AS TEXT(3), '_', n AS TEXT(11), '_', ts AS TEXT(13)`,
	"hash_split":         `id AS TEXT(8), n AS INT64`,
	"user_ops_reversed":  `id AS TEXT(8), 9223372036854775807 - ts AS INT64`,
	"general":            `n AS INT32, 'x', n2 AS TEXT`,
	"files":              `n AS TEXT(6), day AS TEXT('yyyyMMdd'), n2 AS TEXT(6)`,
}

// values makes a column's values: as people fill such columns, from a fixed seed.
func value(r *rand.Rand, name, typ string) types.Value {
	hosts := []string{"web01", "web02", "db1", "cache-7", "gateway"}
	switch {
	case name == "uid" && typ == "INT":
		return types.NewIntOf(types.Int, int64(r.IntN(900)))
	}
	switch name {
	case "ts", "sent":
		ms := int64(1_767_225_600_000 + r.IntN(40*86_400_000))
		if name == "sent" {
			ms -= ms % 1000
		}
		return types.NewTimestamp(ms)
	case "sold", "create_time":
		return types.NewDate(int64(20_454 + r.IntN(90)))
	case "host":
		return types.NewString(hosts[r.IntN(5)])
	case "event":
		return types.NewString([]string{"login", "logout", "error"}[r.IntN(3)])
	case "domain":
		return types.NewString([]string{"www", "mail", "shop", "api"}[r.IntN(4)] + fmt.Sprintf(".site%d", r.IntN(200)) + []string{".com", ".org", ".net"}[r.IntN(3)])
	case "phone", "tel":
		return types.NewString(fmt.Sprintf("13%09d", r.IntN(1e9)))
	case "user":
		return types.NewString([]string{"alice", "bob", "carol", "dave"}[r.IntN(4)])
	case "seller_id", "buyer_id", "uid", "device":
		return types.NewString(fmt.Sprintf("U%07d", r.IntN(100)))
	case "car_id":
		return types.NewString(fmt.Sprintf("LSVAA4182E2%06d", r.IntN(30)))
	case "customer":
		return types.NewString(fmt.Sprintf("C%09d", r.IntN(50)))
	case "message_id":
		return types.NewString(fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()))
	case "order_no":
		return types.NewString(fmt.Sprintf("A-%d", r.IntN(100000)))
	case "user_id":
		return types.NewIntOf(types.Int, int64(r.IntN(500)))
	case "loc_no", "item_no", "page":
		return types.NewIntOf(types.Int, int64(r.IntN(12)))
	case "kind":
		return types.NewString([]string{"h", "e"}[r.IntN(2)])
	case "profile", "doc":
		return types.NewJSON(`{"n": 1}`)
	case "ext":
		return types.NewBytes(fmt.Sprintf("x%d", r.IntN(1000)))
	}
	switch t, _ := types.ParseType(typ); t {
	case types.String:
		return types.NewString(fmt.Sprintf("%s%04d", strings.TrimSuffix(name, "_id"), r.IntN(10000)))
	case types.Double:
		return types.NewDouble(float64(r.IntN(10000)) / 4)
	default:
		return types.NewIntOf(t, int64(r.IntN(100000)))
	}
}

// load creates a table of layouts.sql, and those it needs, with n rows.
func load(t *testing.T, db *hql.DB, def *parser.CreateTable, n int) {
	t.Helper()
	ctx := context.Background()
	if _, err := db.Exec(ctx, def.String()); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	fmt.Fprintf(&b, "UPSERT INTO %s VALUES ", def.Name)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(")
		for j, c := range def.Columns {
			if j > 0 {
				b.WriteString(", ")
			}
			x := value(r, c.Name, c.Type).SQL()
			if c.Type == "BIGINT" { // a moment is in milliseconds
				x = "CAST(" + x + " AS BIGINT)"
			}
			b.WriteString(x)
		}
		b.WriteString(")")
	}
	if _, err := db.Exec(ctx, b.String()); err != nil {
		t.Fatal(err)
	}
}

// Each table of layouts.sql, loaded with 300 rows: the definition found is another
// way to read the very keys.
func TestLayouts(t *testing.T) {
	stmts, err := parser.Parse(testdata.Layouts)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stmts {
		def := s.(*parser.CreateTable)
		want, ok := found[def.Name]
		if !ok {
			continue
		}
		delete(found, def.Name)
		t.Run(def.Name, func(t *testing.T) {
			ctx := context.Background()
			db, err := hql.Open(ctx, "mem:")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if def.Name == "log_numbered" {
				if _, err := db.Exec(ctx, "CREATE TABLE log_types (kind STRING, name STRING, id BIGINT) ROW KEY (kind AS TEXT(1), name AS TEXT)"); err != nil {
					t.Fatal(err)
				}
			}
			if def.External {
				if err := db.Client().CreateTable(ctx, "EVENTS", []hbase.Family{{Name: "0"}}, nil); err != nil {
					t.Fatal(err)
				}
			}
			load(t, db, def, 300)
			table, _ := db.Catalog().Table(def.Name)
			name := string(table.Layouts[0].Stored.Parts[0].Literal)
			rows, err := infer.Sample(ctx, db.Client(), name, 1000, nil)
			if err != nil {
				t.Fatal(err)
			}
			ps, err := infer.Propose(name, rows, 3)
			if err != nil {
				t.Fatal(err)
			}
			var parts []string
			for _, p := range ps[0].Table.Layouts[0].Key.Parts {
				parts = append(parts, p.Source)
			}
			if got := strings.Join(parts, ", "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if ps[0].Fit != ps[0].Sampled {
				t.Errorf("%d of %d keys fit", ps[0].Fit, ps[0].Sampled)
			}
			check(t, db, table, ps)
		})
	}
	if len(found) > 0 {
		t.Errorf("no such tables: %v", found)
	}
}

// check creates what was proposed, as printed, in a catalog with the table itself,
// and counts the rows with both.
func check(t *testing.T, db *hql.DB, table *catalog.Table, ps []*infer.Proposal) {
	t.Helper()
	ctx := context.Background()
	count := func(name string) (n int64) {
		rows, err := db.Query(ctx, "SELECT COUNT(*) FROM "+parser.QuoteName(name)+" ALLOW FULL SCAN")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		if err := rows.Err(); err != nil || !rows.Next() {
			t.Fatal(err)
		}
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		if w := rows.Warnings(); len(w) > 0 {
			t.Logf("%s: %s", name, w)
		}
		return n
	}
	want := count(table.Name)
	for i, p := range ps {
		sql := p.String()
		stmts, err := parser.Parse(sql)
		if err != nil || len(stmts) != 1 {
			t.Fatalf("%v: %s", err, sql)
		}
		def := *stmts[0].(*parser.CreateTable)
		def.Name = fmt.Sprintf("proposed_%d", i)
		if _, err := db.Exec(ctx, def.String()); err != nil {
			t.Fatalf("%v: %s", err, sql)
		}
		if got := count(def.Name); got != want && p.Fit == p.Sampled && table.Columns[len(table.Columns)-1].Packed == nil {
			t.Errorf("%d rows, want %d: %s", got, want, sql)
		}
	}
}

// A table a day: the day comes from the name, the time of day from the key.
func TestTableADay(t *testing.T) {
	for _, c := range []struct{ table, physical, values, want string }{
		{"tx", "tx_20260105", "('d%[1]d', TIMESTAMP '2026-01-05' + INTERVAL '%[2]d seconds', 'x%[1]d', 1)",
			"STORED IN ('tx_', DATE(ts) AS TEXT('yyyyMMdd'))\n  ROW KEY (CRC32(device) % 65536 AS UINT16, MILLIS_OF_DAY(ts) AS INT32, 'x', n AS TEXT)"},
		{"stats", "stats_20260105", "(%[1]d, DATE_BIN('1 minute', TIMESTAMP '2026-01-05' + INTERVAL '%[2]d seconds'), 1)",
			"STORED IN ('stats_', DATE(ts) AS TEXT('yyyyMMdd'))\n  ROW KEY (n AS INT32, MINUTE_OF_DAY(ts) AS UINT16)"},
	} {
		ctx := context.Background()
		db, err := hql.Open(ctx, "mem:")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		stmts, err := parser.Parse(testdata.Layouts)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stmts {
			if def := s.(*parser.CreateTable); def.Name == c.table {
				if _, err := db.Exec(ctx, def.String()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i := range 100 {
			if _, err := db.Exec(ctx, "UPSERT INTO "+c.table+" VALUES "+fmt.Sprintf(c.values, i*37%101, i*859)); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := infer.Sample(ctx, db.Client(), c.physical, 1000, nil)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := infer.Propose(c.physical, rows, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(ps[0].Table.SQL(), c.want) || ps[0].Table.Name != c.table {
			t.Errorf("%s", ps[0])
		}
	}
}

// Samples that say little, and keys made to be hard, give an answer soon.
func TestSamples(t *testing.T) {
	race.Skip(t)
	keys := func(n int, f func(i int) string) (rows []hbase.Row) {
		for i := range n {
			rows = append(rows, hbase.Row{Key: []byte(f(i))})
		}
		return rows
	}
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int, alphabet string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	for _, c := range []struct {
		name, want string // the key of the first proposal; "" for any
		rows       []hbase.Row
	}{
		{"one key", "id AS TEXT", keys(1, func(int) string { return "abc" })},
		{"one byte", "", keys(200, func(i int) string { return string([]byte{byte(i)}) })},
		{"delimiters only", "", keys(60, func(i int) string { return strings.Repeat("|", i+1) })},
		{"bytes", "id AS BYTES", keys(200, func(i int) string { return random(1+r.IntN(60), "\x00\x01\x80\xff\xfe") })},
		{"long and delimited", "", keys(200, func(i int) string { return random(3000, "a1|:_-\x00") })},
		{"forty parts", "", keys(50, func(i int) (key string) {
			for range 40 {
				key += random(1+r.IntN(3), "ab") + "|"
			}
			return key
		})},
		{"seconds", "'d', n AS TEXT(2), '|', ts / 1000 AS TEXT(10)", keys(100, func(i int) string { return fmt.Sprintf("d%02d|%d", i%30, 1767225600+i*997) })},
		{"microseconds", "ts_us AS INT64, 'x', n AS TEXT", keys(100, func(i int) string {
			return string(binary.BigEndian.AppendUint64(nil, uint64(1767225600123456+i*1234567891))) + "x" + strconv.Itoa(i*i)
		})},
		{"epoch in four bytes", "n AS INT32, ts AS EPOCH32", keys(100, func(i int) string {
			return string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(i/20)), uint32(1767225600+i*99991)))
		})},
		{"days", "'m:', id AS TEXT, ':', day AS TEXT('yyyy-MM-dd')", keys(100, func(i int) string {
			return fmt.Sprintf("m:%s:%s", random(1+i%5, "abcdef"), time.Unix(1767225600+int64(i)*86400, 0).UTC().Format(time.DateOnly))
		})},
		{"one bad key in fifty", "id AS BYTES", keys(100, func(i int) string {
			if i%50 == 7 {
				return "meta"
			}
			return random(2+i%3, "xyz") + "|" + string(binary.BigEndian.AppendUint64(nil, uint64(1767225600123+i*98765432)))
		})},
	} {
		start := time.Now()
		ps, err := infer.Propose("ns:t", &infer.Sampled{Rows: c.rows}, 3)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
		if sql := ps[0].Table.SQL(); c.want != "" && !strings.HasSuffix(sql, "ROW KEY ("+c.want+")") {
			t.Errorf("%s: %s", c.name, ps[0])
		}
		for i, p := range ps {
			if _, err := parser.Parse(p.String()); err != nil || 2*p.Fit < p.Sampled {
				t.Errorf("%s: proposal %d: %v: %s", c.name, i, err, p)
			}
		}
	}
	if _, err := infer.Propose("t", &infer.Sampled{}, 3); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("an empty sample: %v", err)
	}
}

// Whatever the keys, proposals parse and fit what they say.
func FuzzPropose(f *testing.F) {
	f.Add([]byte("a|1\na|2\nb|3\nb|4\nc|5\nc|6\nd|7\nd|8"), "t")
	f.Add([]byte("0001\n0102\n0203\n0304\n0105"), "log_20260101")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		var rows []hbase.Row
		for _, k := range bytes.Split(b, []byte("\n")) {
			rows = append(rows, hbase.Row{Key: k, Cells: []hbase.Cell{{Family: []byte("f"), Qualifier: k[:len(k)/2], Value: k[len(k)/2:]}}})
		}
		ps, err := infer.Propose("t"+strings.Trim(name, ":/ "), &infer.Sampled{Rows: rows}, 2)
		if err != nil {
			return
		}
		for _, p := range ps {
			if err := catalog.New().Load(p.String()); err != nil || 2*p.Fit < p.Sampled {
				t.Errorf("%q: %v: %s", b, err, p)
			}
		}
	})
}
