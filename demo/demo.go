package demo

import (
	"context"
	_ "embed"
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

// tables returns the names of the sample tables, which testdata.Layouts defines.
func tables() []string {
	return []string{"contacts", "foo_salted", "foo_hashed", "sites", "trades", "profiles", "car_events", "user_ops", "log_bucketed", "log_data",
		"log_recent", "orders_raw", "lists_tall", "lists_paged", "messages_by_time", "messages_by_id", "messages_md5", "messages_random",
		"messages_ring", "user_ops_reversed", "prices", "files"}
}

// Catalog returns the CREATE TABLE statements of the sample tables.
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

// Open returns an embedded store in memory with the sample tables and rows. The caller closes it like any DB.
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
//
//go:embed rows.sql
var rows string

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
