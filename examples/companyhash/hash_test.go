package companyhash_test

import (
	"context"
	"fmt"
	"log"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/examples/companyhash"
)

func Example() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithTables(companyhash.Register))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec(ctx, companyhash.Tables+`
		INSERT INTO readings VALUES ('boiler', TIMESTAMP '2026-01-01 10:00:00', 71.5), ('boiler', TIMESTAMP '2026-01-01 11:00:00', 72), ('pump', TIMESTAMP '2026-01-01 10:00:00', 3)`)
	if err != nil {
		log.Fatal(err)
	}
	const sql = "SELECT value FROM readings WHERE device = ? AND ts >= ?"
	plan, err := db.Explain(ctx, sql, "boiler", "2026-01-01 10:30:00")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Access, plan.Ranges())
	var value float64
	if err := db.QueryRow(ctx, sql, "boiler", "2026-01-01 10:30:00").Scan(&value); err != nil {
		log.Fatal(err)
	}
	fmt.Println(value)
	var hash int
	if err := db.QueryRow(ctx, "SELECT SQUARES('boiler')").Scan(&hash); err != nil {
		log.Fatal(err)
	}
	fmt.Println(hash)
	// Output:
	// scan 1
	// 72
	// 2275
}
