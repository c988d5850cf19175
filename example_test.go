package hql_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/hql-db/hql"
)

func Example() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(ctx, `
		CREATE TABLE user_ops (uid STRING, ts TIMESTAMP, op STRING)
		  ROW KEY (uid AS TEXT(8), 9223372036854775807 - ts AS INT64);
		INSERT INTO user_ops VALUES
		  ('u0000001', TIMESTAMP '2026-01-01 10:00:00', 'login'),
		  ('u0000001', TIMESTAMP '2026-01-02 11:30:00', 'search'),
		  ('u0000002', TIMESTAMP '2026-01-01 12:00:00', 'login')`)
	if err != nil {
		log.Fatal(err)
	}
	type op struct {
		TS time.Time
		Op string
	}
	rows, err := db.Query(ctx, "SELECT ts, op FROM user_ops WHERE uid = ? ORDER BY ts DESC LIMIT 10", "u0000001")
	if err != nil {
		log.Fatal(err)
	}
	ops, err := hql.Collect[op](rows)
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range ops {
		fmt.Println(o.TS.Format(time.DateTime), o.Op)
	}
	// Output:
	// 2026-01-02 11:30:00 search
	// 2026-01-01 10:00:00 login
}

func ExampleDB_Explain() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithCatalog(`CREATE TABLE sites (domain STRING, title STRING) ROW KEY (REVERSE(domain) AS TEXT)`))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, where := range []string{"domain LIKE '%.example.com'", "domain LIKE 'www.%'"} {
		plan, err := db.Explain(ctx, "SELECT * FROM sites WHERE "+where)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(plan.Access, plan.HitsPrefix())
	}
	// Output:
	// scan true
	// full scan false
}

func ExampleRows_All() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithFullScan(hql.Allow))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE t (id INT PRIMARY KEY, name STRING); INSERT INTO t VALUES (2, 'two'), (1, 'one')"); err != nil {
		log.Fatal(err)
	}
	rows, err := db.Query(ctx, "SELECT id, name FROM t ORDER BY id")
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range rows.All() {
		if err != nil {
			log.Fatal(err)
		}
		var id int
		var name string
		if err := row.Scan(&id, &name); err != nil {
			log.Fatal(err)
		}
		fmt.Println(id, name)
	}
	// Output:
	// 1 one
	// 2 two
}
