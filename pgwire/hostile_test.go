package pgwire_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql/pgwire"
)

// otherAddress is an address of this host that is not a loopback one.
func otherAddress(t *testing.T) string {
	t.Helper()
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Skip(err)
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	t.Skip("this host has only a loopback address")
	return ""
}

// From another host nothing is asked or answered in clear text, whatever the client or somebody between says.
func TestDowngrade(t *testing.T) {
	host := otherAddress(t)
	cfg, _ := certificate(t)
	srv, err := pgwire.NewServer(openTables(t), pgwire.Options{Users: users(t), TLS: cfg})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	addr := net.JoinHostPort(host, port)
	if _, err := as(addr, "alice", "ecila", "sslmode=disable"); stateOf(err) != "28000" {
		t.Errorf("without TLS: %v", err)
	}
	c, err := as(addr, "alice", "ecila", "sslmode=require")
	if err != nil {
		t.Fatalf("with TLS: %v", err)
	}
	c.Close(context.Background())
	startup, _ := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "alice"}}).Encode(nil)
	request, _ := (&pgproto3.SSLRequest{}).Encode(nil)
	nc := hostile(t, addr, append(request, startup...)) // in one packet: the startup would be read as if TLS had brought it
	answer, _ := io.ReadAll(nc)
	if len(answer) > 0 && answer[0] != 'E' {
		t.Errorf("a startup behind the request for TLS got %q", answer)
	}
	nc = hostile(t, addr, request)
	one := make([]byte, 1)
	if _, err := io.ReadFull(nc, one); err != nil || one[0] != 'S' {
		t.Fatalf("%q %v", one, err)
	}
	if err := tls.Client(nc, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}).Handshake(); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
}

// hostile sends bytes over a new connection.
func hostile(t *testing.T, addr string, sent []byte) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := nc.Write(sent); err != nil {
		t.Fatal(err)
	}
	return nc
}

// A client process that is killed in the middle of COPY, in or out, leaves nothing behind.
func TestKilledClient(t *testing.T) {
	name, err := osexec.LookPath("psql")
	if err != nil {
		t.Skip("psql is not installed")
	}
	srv, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	host, port, _ := net.SplitHostPort(addr)
	for _, sql := range []string{"COPY (SELECT REPEAT('x', 1000) FROM generate_series(1, 100000000) AS s (n)) TO STDOUT", "COPY events FROM STDIN"} {
		cmd := osexec.CommandContext(t.Context(), name, "-X", "-h", host, "-p", port, "-U", "me", "db", "-c", sql)
		cmd.Env = append(os.Environ(), "PGSSLMODE=disable")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if sql == "COPY events FROM STDIN" {
			_, err = fmt.Fprint(in, "killed\t2024-05-01 10:00:00\tk\t1\nkilled\t2024-05-01 11:0")
		} else {
			_, err = io.ReadFull(out, make([]byte, 1<<20))
		}
		if err != nil {
			t.Fatal(err)
		}
		await(t, "the statement "+sql, func() bool { return running(srv) })
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		await(t, "the end of "+sql, func() bool { return len(srv.Sessions()) == 0 })
	}
	if err := connect(t, addr, "").Ping(context.Background()); err != nil {
		t.Errorf("nobody is served afterwards: %v", err)
	}
}

// Sessions with the same names for their statements, portals, cursors and settings see their own, and some of them vanish.
func TestSessionsApart(t *testing.T) {
	srv, addr := serve(t, openTables(t), pgwire.Options{})
	const sessions, rounds = 24, 10
	var all sync.WaitGroup
	for me := range sessions {
		all.Go(func() {
			ctx := context.Background()
			c, err := pgx.Connect(ctx, "postgres://me@"+addr+"/db?sslmode=disable")
			if err != nil {
				t.Error(err)
				return
			}
			fail := func(what string, got any, err error) {
				if err != nil || fmt.Sprint(got) != fmt.Sprint(me) {
					t.Errorf("session %d: %s is %v: %v", me, what, got, err)
				}
			}
			if _, err := c.Exec(ctx, fmt.Sprintf("SET my.own = %d; PREPARE mine AS SELECT %d; BEGIN; DECLARE cur CURSOR WITH HOLD FOR SELECT %d FROM generate_series(1, 1000); COMMIT", me, me, me),
				pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Error(err)
			}
			for range rounds {
				for _, sql := range []string{"SHOW my.own", "EXECUTE mine", "FETCH cur", fmt.Sprintf("SELECT current_setting('my.own')::int + %d * 0", me)} {
					var got string
					r := c.PgConn().ExecParams(ctx, sql, nil, nil, nil, nil).Read()
					if r.Err == nil && len(r.Rows) == 1 {
						got = string(r.Rows[0][0])
					}
					fail(sql, got, r.Err)
				}
			}
			if me%3 == 0 { // vanishes
				c.PgConn().Conn().Close()
				return
			}
			c.Close(ctx)
		})
	}
	all.Wait()
	await(t, "the end of all sessions", func() bool { return len(srv.Sessions()) == 0 })
	c := dial(t, addr, "me")
	for _, m := range []pgproto3.FrontendMessage{&pgproto3.Execute{Portal: "cur"}, &pgproto3.Sync{}, &pgproto3.Bind{PreparedStatement: "mine"}, &pgproto3.Sync{}} {
		c.Send(m)
	}
	c.flush(t)
	if got := fmt.Sprint(c.until(t, "ReadyForQuery"), c.until(t, "ReadyForQuery")); got != "[ERROR 34000 ReadyForQuery] [ERROR 26000 ReadyForQuery]" {
		t.Errorf("names of other sessions: %s", got)
	}
}

// TestWordsOfStatements: a text of two bytes a word takes far more memory as a tree. The server counts it for all sessions.
func TestWordsOfStatements(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{Memory: 8 << 20})
	ctx := context.Background()
	a, b := connect(t, addr, ""), connect(t, addr, "")
	list := func(words int) string { return "SELECT 7 IN (" + strings.Repeat("1,", words/2) + "7)" }
	ask := func(c *pgx.Conn, sql, code string) {
		t.Helper()
		var is bool
		err := c.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&is)
		var pg *pgconn.PgError
		switch {
		case code == "" && (err != nil || !is):
			t.Errorf("%v, %v", is, err)
		case code != "" && (!errors.As(err, &pg) || pg.Code != code):
			t.Errorf("%v, where %s was expected", err, code)
		}
	}
	ask(a, list(30_000), "54000")
	ask(a, list(12_000), "")
	if _, err := a.Prepare(ctx, "large", list(12_000)); err != nil {
		t.Fatal(err)
	}
	ask(b, list(12_000), "53200")
	ask(b, "SELECT '"+strings.Repeat("x", 100_000)+"' <> ''", "")
	for range 2 { // a statement of PREPARE takes memory until DEALLOCATE
		if err := a.Deallocate(ctx, "large"); err != nil {
			t.Fatal(err)
		}
		ask(b, list(12_000), "")
		if _, err := a.Exec(ctx, "PREPARE large AS "+list(10_000)); err != nil {
			t.Fatal(err)
		}
		ask(b, list(12_000), "53200")
		if _, err := a.Exec(ctx, "DEALLOCATE large"); err != nil {
			t.Fatal(err)
		}
		ask(b, list(12_000), "")
		if _, err := a.Prepare(ctx, "large", list(12_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Deallocate(ctx, "large"); err != nil {
		t.Fatal(err)
	}
	ask(b, list(12_000), "")
}
