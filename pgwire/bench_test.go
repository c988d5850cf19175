package pgwire_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/pgwire"
)

// benchTables is a store with so many rows.
func benchTables(b *testing.B, n int) *hql.DB {
	db := openTables(b)
	ctx := context.Background()
	if _, err := db.Exec(ctx, "CREATE TABLE many (id BIGINT, a BIGINT, x STRING, d DOUBLE) ROW KEY (id AS INT64)"); err != nil {
		b.Fatal(err)
	}
	for at := 0; at < n; at += 1000 {
		var rows []string
		for id := at; id < at+1000; id++ {
			rows = append(rows, fmt.Sprintf("(%d, %d, 'text %d', %d.5)", id, id*7, id, id))
		}
		if _, err := db.Exec(ctx, "INSERT INTO many VALUES "+strings.Join(rows, ", ")); err != nil {
			b.Fatal(err)
		}
	}
	return db
}

// One row by its key, by the Go API and by pgx through the server; both ends of the connection are in the time.
func BenchmarkOneRow(b *testing.B) {
	db := benchTables(b, 10_000)
	const query = "SELECT a, x, d FROM many WHERE id = $1"
	ctx := context.Background()
	b.Run("api", func(b *testing.B) {
		s, err := db.Prepare(ctx, query)
		if err != nil {
			b.Fatal(err)
		}
		for i := range b.N {
			var a int64
			var x string
			var d float64
			if err := s.QueryRow(ctx, i%10_000).Scan(&a, &x, &d); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pgx", func(b *testing.B) {
		_, addr := serve(b, db, pgwire.Options{})
		c, err := pgx.Connect(ctx, "postgres://me@"+addr+"/db?sslmode=disable")
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close(ctx)
		for i := range b.N {
			var a int64
			var x string
			var d float64
			if err := c.QueryRow(ctx, query, i%10_000).Scan(&a, &x, &d); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// All rows, by the Go API and by COPY in binary and text form.
func BenchmarkAllRows(b *testing.B) {
	const n = 200_000
	db := benchTables(b, n)
	ctx := context.Background()
	const query = "SELECT * FROM many ALLOW FULL SCAN"
	b.Run("api", func(b *testing.B) {
		for range b.N {
			rows, err := db.Query(ctx, query)
			if err != nil {
				b.Fatal(err)
			}
			got := 0
			for rows.Next() {
				got += len(rows.Raw()) / 4
			}
			if got != n || rows.Err() != nil {
				b.Fatal(got, rows.Err())
			}
		}
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	for _, format := range []string{"binary", "text"} {
		b.Run(format, func(b *testing.B) {
			_, addr := serve(b, db, pgwire.Options{})
			c, err := pgx.Connect(ctx, "postgres://me@"+addr+"/db?sslmode=disable")
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close(ctx)
			for range b.N {
				tag, err := c.PgConn().CopyTo(ctx, io.Discard, "COPY ("+query+") TO STDOUT (FORMAT "+format+")")
				if err != nil || tag.RowsAffected() != n {
					b.Fatal(tag, err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
