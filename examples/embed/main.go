// Embed reads a user's last operations, like a service that links hql in.
//
// The store is in memory. To use a cluster, replace "mem:" by "hbase://zk1,zk2:2181/hbase" and
// leave out the statements that create the table; nothing else changes.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
)

// op is a row of the query below: each column is read into the field with its name or db tag.
type op struct {
	At   time.Time `db:"ts"`
	Op   string
	Item *string // nil for NULL
}

func main() {
	ctx := context.Background()
	db, err := hql.Open(ctx, "mem:", hql.WithFullScan(hql.FullScanDeny))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := run(ctx, db); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, db *hql.DB) error {
	_, err := db.Exec(ctx, `
		CREATE TABLE user_ops (uid STRING, ts TIMESTAMP, op STRING, item STRING)
		  ROW KEY (LEFT(MD5(uid), 4), uid AS TEXT, X'00', 9223372036854775807 - ts AS INT64);
		INSERT INTO user_ops VALUES
		  ('ann', TIMESTAMP '2026-01-01 10:00:00', 'login', NULL),
		  ('ann', TIMESTAMP '2026-01-02 11:30:00', 'buy', 'lamp'),
		  ('bob', TIMESTAMP '2026-01-01 12:00:00', 'login', NULL)`)
	if err != nil {
		return err
	}

	// Many rows, as structs. The key runs backwards in time: the newest come first without a sort.
	rows, err := db.Query(ctx, "SELECT ts, op, item FROM user_ops WHERE uid = ? AND ts >= ? ORDER BY ts DESC LIMIT 10",
		"ann", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		return err
	}
	ops, err := hql.Collect[op](rows)
	if err != nil {
		return err
	}
	for _, o := range ops {
		item := "-"
		if o.Item != nil {
			item = *o.Item
		}
		fmt.Println(o.At.Format(time.DateTime), o.Op, item)
	}

	// One row.
	var n int
	if err := db.QueryRow(ctx, "SELECT COUNT(*) FROM user_ops WHERE uid IN (?)", []string{"ann", "bob"}).Scan(&n); err != nil {
		return err
	}
	fmt.Println(n, "operations")

	// hql refuses a statement that would read the whole table.
	_, err = db.Query(ctx, "SELECT uid FROM user_ops WHERE item = 'lamp'")
	fmt.Println("refused:", errors.Is(err, hql.ErrFullScan))

	// A mistake knows its place.
	_, err = db.Query(ctx, "SELECT uid FROM user_opps WHERE uid = 'ann'")
	if mistake, ok := errors.AsType[*hql.Error](err); ok {
		fmt.Println(mistake.Format())
	}
	return nil
}
