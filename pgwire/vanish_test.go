package pgwire_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql/pgwire"
)

// A client that vanishes in the middle of COPY, in or out, ends its statement, and others are served.
func TestVanishInCopy(t *testing.T) {
	srv, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	for _, sql := range []string{"COPY events FROM STDIN", "COPY (SELECT REPEAT('x', 1000) FROM generate_series(1, 100000000) AS s (n)) TO STDOUT"} {
		c := dial(t, addr, "me")
		c.Send(&pgproto3.Query{String: sql})
		c.flush(t)
		if strings.Contains(sql, "STDIN") {
			c.until(t, "CopyInResponse")
			c.Send(&pgproto3.CopyData{Data: []byte("d9\t2024-05-01 10:00:00\tte")})
			c.flush(t)
		} else {
			c.until(t, "CopyData")
		}
		c.nc.Close()
		await(t, "the end of "+sql, func() bool { return len(srv.Sessions()) == 0 })
	}
	if got := connect(t, addr, ""); got.Ping(context.Background()) != nil {
		t.Error("nobody is served afterwards")
	}
}

// Wrong passwords leave nothing behind, and lock nobody out.
func TestWrongPasswords(t *testing.T) {
	srv, addr := serve(t, openTables(t), pgwire.Options{Users: users(t)})
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	try := func(n int) {
		for range n {
			if _, err := as(addr, "alice", "wrong", "sslmode=disable"); stateOf(err) != "28P01" {
				t.Fatal(err)
			}
		}
		await(t, "the end of all connections", func() bool { return len(srv.Sessions()) == 0 })
	}
	try(5)
	before := heap()
	try(100)
	if after := heap(); after > before+4<<20 {
		t.Errorf("%d bytes are held after 100 wrong passwords", after-before)
	}
	c, err := as(addr, "alice", "ecila", "sslmode=disable")
	if err != nil {
		t.Fatalf("alice is locked out: %v", err)
	}
	c.Close(context.Background())
}

// A statement of megabytes is answered, and one beyond the limit of a message ends its connection alone.
func TestLongStatements(t *testing.T) {
	srv, addr := serve(t, openTables(t), pgwire.Options{})
	c := connect(t, addr, "")
	var n int
	if err := c.QueryRow(context.Background(), "SELECT length('"+strings.Repeat("x", 5<<20)+"')").Scan(&n); err != nil || n != 5<<20 {
		t.Errorf("a statement of 5 MB: %d, %v", n, err)
	}
	raw := dial(t, addr, "me")
	raw.Send(&pgproto3.Query{String: "SELECT '" + strings.Repeat("x", 21<<20) + "'"})
	_ = raw.Flush()
	await(t, "the end of the connection", func() bool { return len(srv.Sessions()) == 1 })
	if err := c.Ping(context.Background()); err != nil {
		t.Error(err)
	}
}
