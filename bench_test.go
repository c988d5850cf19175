package hql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/sqldriver"
)

// benchDB has the rows of 20 hosts under eight salts, in the embedded store.
func benchDB(b *testing.B) *hql.DB {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithCatalog(`CREATE TABLE events (host STRING, ts BIGINT, level STRING, msg STRING, val DOUBLE NOT NULL, cnt BIGINT)
		ROW KEY (PHOENIX_SALT(8) AS UINT8, host AS TEXT, X'00', ts AS ORDERED INT64)`))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	for h := range 20 {
		if _, err := db.Exec(ctx, "INSERT INTO events SELECT ?, g, 'INFO', 'a message of about sixty bytes, to be read back', g * 0.5, g FROM generate_series(0, 199) AS s(g)",
			fmt.Sprintf("host%04d", h)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	return db
}

const benchColumns = "host, ts, level, msg, val, cnt"

// benchQuery runs one prepared query again and again.
func benchQuery(b *testing.B, want int, query string, args func(i int) []any) {
	db, ctx := benchDB(b), context.Background()
	s, err := db.Prepare(ctx, query)
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		rows, err := s.Query(ctx, args(i)...)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if rows.Err() != nil || n != want {
			b.Fatal(n, rows.Err())
		}
	}
}

func BenchmarkPoint(b *testing.B) {
	benchQuery(b, 1, "SELECT "+benchColumns+" FROM events WHERE host = ? AND ts = ?", func(i int) []any { return []any{"host0003", i % 200} })
}

func BenchmarkWindow(b *testing.B) {
	benchQuery(b, 100, "SELECT "+benchColumns+" FROM events WHERE host = ? AND ts >= ? AND ts < ?", func(i int) []any { return []any{"host0003", i % 100, i%100 + 100} })
}

// The text of each query is another one.
func BenchmarkPointText(b *testing.B) {
	db, ctx := benchDB(b), context.Background()
	for i := 0; b.Loop(); i++ {
		var cnt int64
		if err := db.QueryRow(ctx, fmt.Sprintf("SELECT cnt FROM events WHERE host = 'host0003' AND ts = %d AND %d > 0", i%200, i+1)).Scan(&cnt); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPointSQL(b *testing.B) {
	db, ctx := benchDB(b), context.Background()
	pool := sql.OpenDB(sqldriver.NewConnector(db))
	defer pool.Close()
	s, err := pool.PrepareContext(ctx, "SELECT "+benchColumns+" FROM events WHERE host = ? AND ts = ?")
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		var host, level, msg string
		var ts, cnt int64
		var val float64
		if err := s.QueryRowContext(ctx, "host0003", i%200).Scan(&host, &ts, &level, &msg, &val, &cnt); err != nil {
			b.Fatal(err)
		}
	}
}

// Ten rows of each of twenty hosts: twenty ranges under each of eight salts.
func BenchmarkWindows(b *testing.B) {
	benchQuery(b, 200, "SELECT "+benchColumns+" FROM events WHERE host IN ("+strings.TrimSuffix(strings.Repeat("?, ", 20), ", ")+") AND ts >= ? AND ts < ?", func(i int) []any {
		var args []any
		for h := range 20 {
			args = append(args, fmt.Sprintf("host%04d", h))
		}
		return append(args, i%100, i%100+10)
	})
}
