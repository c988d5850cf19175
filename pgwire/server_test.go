package pgwire_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
	"github.com/hql-db/hql/pgwire"
)

// tables are those of the tests.
const tables = `
CREATE TABLE events (device STRING, ts TIMESTAMP, kind STRING, value DOUBLE) ROW KEY (device AS TEXT, X'00', ts AS INT64);
CREATE TABLE every (id INT, b BOOLEAN, t TINYINT, s SMALLINT, n BIGINT, f FLOAT, d DOUBLE, e DECIMAL, x STRING, y BYTES, day DATE, clock TIME,
  at TIMESTAMP, j JSON) ROW KEY (id AS INT32);
INSERT INTO events VALUES ('d1', TIMESTAMP '2024-05-01 10:00:00', 'temp', 20.5), ('d1', TIMESTAMP '2024-05-01 11:00:00', 'temp', 21),
  ('d2', TIMESTAMP '2024-05-02 00:00:00', 'hum', NULL);
INSERT INTO every VALUES (1, true, -5, 300, 9007199254740993, 1.5, -0.25, 12345.6789, 'Grüße', X'00ff5c', DATE '2024-02-29', TIME '23:59:58.5',
  TIMESTAMP '2024-05-01 10:00:00.123', CAST('{"a": [1, 2]}' AS JSON)), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
`

// openTables opens an embedded store with tables.
func openTables(t testing.TB, opts ...hql.Option) *hql.DB {
	t.Helper()
	db, err := hql.Open(context.Background(), "mem:", append([]hql.Option{hql.WithFullScan(hql.FullScanDeny), hql.WithoutFiles()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(context.Background(), tables); err != nil {
		t.Fatal(err)
	}
	return db
}

// serve serves db on loopback until the test ends, when no goroutine of it may be left.
func serve(t testing.TB, db *hql.DB, o pgwire.Options) (*pgwire.Server, string) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	srv, err := pgwire.NewServer(db, o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != pgwire.ErrServerClosed {
			t.Errorf("Serve ended with %v", err)
		}
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
		var metrics strings.Builder
		if err := srv.WriteMetrics(&metrics); err != nil {
			t.Error(err)
		}
		for _, none := range []string{"connections", "statements_running", "statements_waiting", "memory_bytes", "held_bytes"} {
			if !strings.Contains(metrics.String(), "\nhql_pg_"+none+" 0\n") {
				t.Errorf("after the end, %s is not 0:\n%s", none, metrics.String())
			}
		}
	})
	return srv, l.Addr().String()
}

// connect connects as pgx does; sslmode is part of the rest of the address.
func connect(t testing.TB, addr, rest string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, "postgres://me@"+addr+"/db?sslmode=disable"+rest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}
