package pgwire_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hql-db/hql/pgwire"
)

// Of two sessions that wait for locks of each other, one gets an error, and the other its lock once that session ends.
func TestDeadlock(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{})
	ctx := context.Background()
	a, b := connect(t, addr, ""), connect(t, addr, "")
	for i, c := range []*pgx.Conn{a, b} {
		if _, err := c.Exec(ctx, "SET hql.local_locks = on"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1)", i); err != nil {
			t.Fatal(err)
		}
	}
	type end struct {
		c   *pgx.Conn
		err error
	}
	ends := make(chan end, 2)
	for i, c := range []*pgx.Conn{b, a} {
		go func() { _, err := c.Exec(ctx, "SELECT pg_advisory_lock($1)", i); ends <- end{c, err} }()
	}
	var refused *pgconn.PgError
	first := <-ends
	if !errors.As(first.err, &refused) || refused.Code != "40P01" {
		t.Fatalf("the first to end: %v", first.err)
	}
	if _, err := first.c.Exec(ctx, "SELECT pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	if second := <-ends; second.err != nil {
		t.Error(second.err)
	}
}
