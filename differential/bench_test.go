package differential

import (
	"context"
	"slices"
	"testing"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
)

// BenchmarkSemiJoin runs a semi-join of 8,000 with 15,000 rows that no key binds, on the embedded store and in PostgreSQL: docs/speed.md.
func BenchmarkSemiJoin(b *testing.B) {
	setup := []string{
		"CREATE TABLE orders (id INT PRIMARY KEY, customer INT, total INT)",
		"CREATE TABLE item (id INT PRIMARY KEY, ref INT, qty INT)",
		"INSERT INTO orders SELECT i, i % 100, i * 7 % 1000 FROM generate_series(1, 8000) i",
		"INSERT INTO item SELECT i, i * 3 % 16000, i % 9 FROM generate_series(1, 15000) i",
	}
	const query = "SELECT count(*), sum(total) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.ref = o.id AND i.qty > 1)"
	analyze := []string{"ANALYZE orders", "ANALYZE item"}
	ctx := context.Background()
	inHQL := func(b *testing.B, setup []string) {
		db, err := hql.Open(ctx, "mem:")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		for _, s := range setup {
			if _, err := db.Exec(ctx, s); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			rows, err := db.Query(ctx, query)
			if err != nil {
				b.Fatal(err)
			}
			for rows.Next() {
			}
			if err := rows.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("hql", func(b *testing.B) { inHQL(b, setup) })
	b.Run("hql_analyzed", func(b *testing.B) { inHQL(b, slices.Concat(setup, analyze)) })
	b.Run("postgres", func(b *testing.B) {
		s, err := postgres()
		if err != nil {
			b.Skip(err)
		}
		pg, err := s.connect()
		if err != nil {
			b.Fatal(err)
		}
		defer pg.Close(ctx)
		for _, s := range slices.Concat([]string{"DROP TABLE IF EXISTS orders, item"}, setup, analyze) {
			if _, err := pg.Exec(ctx, s).ReadAll(); err != nil {
				b.Fatal(err)
			}
		}
		for b.Loop() {
			if _, err := pg.Exec(ctx, query).ReadAll(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
