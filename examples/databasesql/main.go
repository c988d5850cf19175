// Databasesql reads HBase through database/sql, for code that takes a *sql.DB.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/sqldriver" // registers "hql"
)

func main() {
	// hbase://zk1,zk2:2181/hbase?catalog=tables.sql is a cluster's address.
	db, err := sql.Open("hql", "mem:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := run(context.Background(), db); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, "CREATE TABLE sites (domain STRING, title STRING, visits BIGINT) ROW KEY (REVERSE(domain) AS TEXT)"); err != nil {
		return err
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO sites VALUES (?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	for domain, visits := range map[string]int{"www.example.com": 7, "mail.example.com": 2, "example.org": 1} {
		if _, err := insert.ExecContext(ctx, domain, sql.NullString{}, visits); err != nil {
			return err
		}
	}
	rows, err := db.QueryContext(ctx, "SELECT domain, title, visits FROM sites WHERE domain LIKE '%.example.com' AND visits > @least ORDER BY visits DESC",
		sql.Named("least", 1))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var domain string
		var title sql.NullString
		var visits int
		if err := rows.Scan(&domain, &title, &visits); err != nil {
			return err
		}
		fmt.Println(domain, title.Valid, visits)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = db.BeginTx(ctx, nil)
	fmt.Println("transactions:", !errors.Is(err, sqldriver.ErrTransactions))
	return nil
}
