package demo

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/testdata"
	"github.com/hql-db/hql/types"
)

// tables are the sample tables, as testdata's layouts define them.
func tables() []string {
	return []string{"contacts", "foo_salted", "foo_hashed", "sites", "trades", "profiles", "car_events", "user_ops", "log_bucketed", "log_data",
		"log_recent", "orders_raw", "lists_tall", "lists_paged", "messages_by_time", "messages_by_id", "messages_md5", "messages_random",
		"messages_ring", "user_ops_reversed", "prices", "files"}
}

// Catalog is the CREATE TABLE statements of the sample tables.
func Catalog() (string, error) {
	stmts, err := parser.Parse(testdata.Layouts)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range stmts {
		if t, ok := s.(*parser.CreateTable); ok && slices.Contains(tables(), t.Name) {
			b.WriteString(t.String())
			b.WriteString(";\n")
		}
	}
	return b.String(), nil
}

// Open is an embedded store in memory with the sample tables and rows. Close it as any DB.
func Open(ctx context.Context, opts ...hql.Option) (*hql.DB, error) {
	db, err := hql.Open(ctx, "mem:", opts...)
	if err != nil {
		return nil, err
	}
	if err := Load(ctx, db); err != nil {
		db.Close()
		return nil, fmt.Errorf("load the sample tables: %w", err)
	}
	return db, nil
}

// Load creates the sample tables in db, which must not have them, and fills them.
func Load(ctx context.Context, db *hql.DB) error {
	sql, err := Catalog()
	if err != nil {
		return err
	}
	if _, err := db.Exec(ctx, sql); err != nil {
		return err
	}
	if _, err := db.Exec(ctx, rows); err != nil {
		return err
	}
	for _, load := range []func(context.Context, *hql.DB) error{loadSalted, loadMessages, loadFiles, loadLogs} {
		if err := load(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// rows are the sample rows that SQL can say.
const rows = `
INSERT INTO contacts VALUES (111, '123', 'iteblog', 'the first'), (111, '123', 'carbondata', NULL), (111, '124', 'iteblog', NULL), (111, '1299', 'spark', NULL),
  (112, '123', 'iteblog', 'another uid'), (112, '98', 'a', NULL), (7, '123', 'b', 'a short uid is padded with zeros');
INSERT INTO foo_hashed VALUES ('foo0001', 'one'), ('foo0002', 'two'), ('foo0003', 'three'), ('foo0004', 'four');
INSERT INTO sites VALUES ('www.iteblog.com', 'Iteblog', 1200), ('flink.iteblog.com', 'Flink', 310), ('carbondata.iteblog.com', 'CarbonData', 45), ('def.iteblog.com', NULL, 7), ('example.org', 'Example', 3);
INSERT INTO trades VALUES
  ('S0000001', 'B0000009', TIMESTAMP '2026-01-05 10:00:00', 'o-77', 12.5), ('S0000001', 'B0000004', TIMESTAMP '2026-01-20 11:30:00', 'o-78', 80),
  ('S0000001', 'B0000009', TIMESTAMP '2026-02-03 09:15:00', 'o-80', 41.25), ('S0000002', 'B0000009', TIMESTAMP '2026-01-21 16:45:00', 'o-79', 7);
INSERT INTO profiles VALUES ('u-1', '110101199003077', '13800000000', '{"name": "Ada", "score": 710}'), ('u-2', '110101198805161', '13900000001', '{"name": "Bo", "score": 655}'),
  ('u-3', '310101197702024', '13800000000', '{"name": "Cy", "score": 590}');
INSERT INTO car_events VALUES ('LSVAA4182E2184847', TIMESTAMP '2026-01-01 08:00:00', 41.5), ('LSVAA4182E2184847', TIMESTAMP '2026-01-01 08:00:10', 43), ('LSVAA4182E2184848', TIMESTAMP '2026-01-01 08:00:05', 0);
INSERT INTO user_ops VALUES ('u0000001', TIMESTAMP '2026-01-01 00:00:01', 'login'), ('u0000001', TIMESTAMP '2026-01-01 10:30:00', 'search'), ('u0000001', TIMESTAMP '2026-01-02 09:00:00', 'buy'), ('u0000002', TIMESTAMP '2026-01-01 12:00:00', 'login');
INSERT INTO user_ops_reversed SELECT * FROM user_ops ALLOW FULL SCAN;
INSERT INTO orders_raw VALUES ('C000000001', 'A-1', DATE '2026-01-03', 99.5), ('C000000001', 'A-2', DATE '2026-02-11', 12), ('C000000002', 'A-1', DATE '2026-01-09', 230);
INSERT INTO lists_tall VALUES ('alice', 7), ('alice', 1001), ('alice', 1002), ('alice', 23456), ('bob', 1);
INSERT INTO lists_paged VALUES ('alice', 0, 1, '7,1001,1002'), ('alice', 1, NULL, '23456'), ('bob', 0, NULL, '1');
INSERT INTO messages_by_time VALUES (TIMESTAMP '2023-06-11 06:30:31', '1231231', 'hello'), (TIMESTAMP '2023-06-11 06:31:00', '1231232', 'how are you'), (TIMESTAMP '2023-06-12 00:00:00', '1231240', 'next day');
INSERT INTO messages_by_id SELECT * FROM messages_by_time ALLOW FULL SCAN;
INSERT INTO messages_md5 SELECT * FROM messages_by_time ALLOW FULL SCAN;
INSERT INTO prices VALUES ('sku-1', 9.99); INSERT INTO prices VALUES ('sku-1', 8.49), ('sku-2', 120); INSERT INTO prices VALUES ('sku-1', 7.99);
`

// put writes a row under a given key, after checking that the table's layout reads it as row.
func put(ctx context.Context, db *hql.DB, t *catalog.Table, key []byte, row []types.Value) error {
	l := t.Layouts[0]
	name, _ := l.Stored.Prefix()
	back := make([]types.Value, len(row))
	if err := l.DecodeRow(name, key, nil, back); err != nil {
		return fmt.Errorf("key %q of %s: %w", key, t.Name, err)
	}
	m := hbase.Mutation{Kind: hbase.Put, Key: key, Timestamp: time.Now().UnixMilli()}
	for i, c := range t.Columns {
		if c.KeyPart {
			if n, err := types.Compare(back[i], row[i]); err != nil || n != 0 {
				return fmt.Errorf("key %q of %s: column %s reads as %s, not %s", key, t.Name, c.Name, back[i], row[i])
			}
			continue
		}
		value, err := c.AppendCell(nil, row[i])
		if err != nil {
			return fmt.Errorf("%s: column %s: %w", t.Name, c.Name, err)
		}
		m.Cells = append(m.Cells, hbase.Cell{Family: []byte(c.Family), Qualifier: []byte(c.Qualifier), Value: value})
	}
	return db.Client().Mutate(ctx, name, []hbase.Mutation{m})
}

// loadSalted writes the published keys of foo_salted: foo0003 has rows under two salts.
func loadSalted(ctx context.Context, db *hql.DB) error {
	t, _ := db.Catalog().Table("foo_salted")
	for _, key := range []string{"a-foo0003", "b-foo0001", "c-foo0003", "c-foo0004", "d-foo0002"} {
		row := make([]types.Value, len(t.Columns)+2)
		row[0], row[1] = types.NewString(key[2:]), types.NewString("under "+key[:1])
		if err := put(ctx, db, t, []byte(key), row); err != nil {
			return err
		}
	}
	return nil
}

// loadMessages writes the messages under the keys that they were published with,
// and again under the region number that a ring computes.
func loadMessages(ctx context.Context, db *hql.DB) error {
	t, _ := db.Catalog().Table("messages_random")
	ring, err := db.Prepare(ctx, "INSERT INTO messages_ring VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	for line := range strings.Lines(testdata.Messages) {
		var m struct {
			Name, MessageID, RowKey string
			Age                     int64
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return err
		}
		sent, err := types.Cast(types.NewString(m.RowKey[4:17]), types.BigInt, nil)
		if err != nil {
			return err
		}
		row := make([]types.Value, len(t.Columns)+2)
		row[0], row[1], row[2] = types.NewTimestamp(sent.Int()), types.NewString(m.MessageID), types.NewString(m.Name)
		row[3] = types.NewIntOf(types.Int, m.Age)
		if err := put(ctx, db, t, []byte(m.RowKey), row); err != nil {
			return err
		}
		if _, err := ring.Exec(ctx, row[0], row[1], row[2], row[3]); err != nil {
			return err
		}
	}
	return nil
}

func loadFiles(ctx context.Context, db *hql.DB) error {
	lines, err := csv.NewReader(strings.NewReader(testdata.Files)).ReadAll()
	if err != nil {
		return err
	}
	stmt, err := db.Prepare(ctx, "INSERT INTO files ("+strings.Join(lines[0], ", ")+") VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	for _, f := range lines[1:] {
		if _, err := stmt.Exec(ctx, f[0], f[1], f[2], f[3], f[4]); err != nil {
			return err
		}
	}
	return nil
}

// loadLogs writes the same two hundred events into the three tables for logs.
func loadLogs(ctx context.Context, db *hql.DB) error {
	var b strings.Builder
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 200 {
		at := start.Add(time.Duration(i) * 1009 * time.Second)
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(TIMESTAMP '%s', '%s', 'e%d', 'message %d')", at.Format("2006-01-02 15:04:05"), string(rune('a'+i%5)), i%3, i)
	}
	for _, t := range []string{"log_bucketed", "log_data", "log_recent"} {
		if _, err := db.Exec(ctx, "INSERT INTO "+t+" (ts, host, event, message) VALUES "+b.String()); err != nil {
			return err
		}
	}
	return nil
}
