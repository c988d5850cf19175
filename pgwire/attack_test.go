package pgwire_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql/pgwire"
)

// endless runs until it is ended.
const endless = "SELECT COUNT(*) FROM generate_series(1, 1000000000000) AS s (n)"

// await waits until ok.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no sign of %s", what)
		}
	}
}

// running reports whether a statement runs.
func running(srv *pgwire.Server) bool {
	for _, s := range srv.Sessions() {
		if s.State == "active" {
			return true
		}
	}
	return false
}

// A statement ends with a request to cancel, its timeout, its client and the server.
func TestStatementsEnd(t *testing.T) {
	db := openTables(t)
	srv, addr := serve(t, db, pgwire.Options{})
	code := func(err error) string {
		var e *pgconn.PgError
		if errors.As(err, &e) {
			return e.Code
		}
		return fmt.Sprint(err)
	}
	t.Run("cancel", func(t *testing.T) {
		c := connect(t, addr, "")
		ended := make(chan error, 1)
		go func() {
			_, err := c.Exec(context.Background(), endless)
			ended <- err
		}()
		await(t, "the statement", func() bool { return running(srv) })
		if err := c.PgConn().CancelRequest(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; code(err) != "57014" {
			t.Errorf("it ended with %v", err)
		}
		if _, err := c.Exec(context.Background(), "SELECT 1"); err != nil {
			t.Errorf("a statement afterwards: %v", err)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		c := connect(t, addr, "&options=-c%20statement_timeout%3D50ms")
		if _, err := c.Exec(context.Background(), endless); code(err) != "57014" {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("client", func(t *testing.T) {
		for _, polite := range []bool{true, false} {
			raw := dial(t, addr, "me")
			raw.Send(&pgproto3.Query{String: endless})
			if polite {
				raw.Send(&pgproto3.Terminate{})
			}
			raw.flush(t)
			await(t, "the statement", func() bool { return running(srv) })
			raw.nc.Close()
			await(t, "its end", func() bool { return !running(srv) && len(srv.Sessions()) == 0 })
		}
	})
	t.Run("shutdown", func(t *testing.T) {
		other, addr := serve(t, db, pgwire.Options{})
		idle, busy := connect(t, addr, ""), connect(t, addr, "")
		ended := make(chan error, 1)
		go func() {
			_, err := busy.Exec(context.Background(), endless)
			ended <- err
		}()
		await(t, "the statement", func() bool { return running(other) })
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := other.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-ended; code(err) != "57P01" {
			t.Errorf("the statement ended with %v", err)
		}
		if _, err := idle.Exec(context.Background(), "SELECT 1"); err == nil {
			t.Error("an idle connection is left")
		}
	})
}

// rawConn speaks the protocol message by message.
type rawConn struct {
	*pgproto3.Frontend
	nc net.Conn
}

func dial(t testing.TB, addr, user string) *rawConn {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(30 * time.Second))
	c := &rawConn{pgproto3.NewFrontend(nc, nc), nc}
	c.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": user}})
	c.flush(t)
	c.until(t, "*pgproto3.ReadyForQuery")
	return c
}

func (c *rawConn) flush(t testing.TB) {
	t.Helper()
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

// until receives messages up to one of a type, and names them.
func (c *rawConn) until(t testing.TB, last string) (out []string) {
	t.Helper()
	for {
		m, err := c.Receive()
		if err != nil {
			t.Fatalf("%v after %v", err, out)
		}
		name := fmt.Sprintf("%T", m)
		if e, ok := m.(*pgproto3.ErrorResponse); ok {
			name = e.Severity + " " + e.Code
		}
		if out = append(out, strings.TrimPrefix(name, "*pgproto3.")); strings.HasSuffix(name, last) || strings.HasPrefix(name, "FATAL") {
			return out
		}
	}
}

// Messages that lie, or come where they may not, end the connection with an error, and nothing else.
func TestBadMessages(t *testing.T) {
	startup := func(version uint32, rest string) string {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(rest)+8))
		return string(binary.BigEndian.AppendUint32(b, version)) + rest
	}
	good := startup(3<<16, "user\x00me\x00\x00")
	db := openTables(t)
	srv, addr := serve(t, db, pgwire.Options{AuthTimeout: time.Second})
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for name, sent := range map[string]string{
		"HTTP":                              "GET / HTTP/1.1\r\n\r\n",
		"a long startup":                    "\x7f\xff\xff\xff",
		"a short startup":                   "\x00\x00\x00\x04",
		"a startup without its end":         startup(3<<16, "user\x00me"),
		"a startup without a user":          startup(3<<16, "\x00"),
		"protocol 2":                        startup(2<<16, "user\x00me\x00\x00"),
		"TLS twice":                         startup(80877103, "") + startup(80877103, ""),
		"a cancel without a key":            startup(80877102, ""),
		"a cancel with a wrong key":         startup(80877102, "\x00\x00\x00\x01abcd"),
		"half a startup":                    "\x00\x00",
		"replication":                       startup(3<<16, "user\x00me\x00replication\x00database\x00\x00"),
		"a message of 2 GB":                 good + "Q\x7f\xff\xff\xff",
		"a message of 4 GB":                 good + "Q\xff\xff\xff\xffSELECT",
		"a message of no bytes":             good + "Q\x00\x00\x00\x00",
		"an unknown message":                good + "\x01\x00\x00\x00\x04",
		"a text without its end":            good + "Q\x00\x00\x00\x06ab",
		"a text with a zero":                good + "Q\x00\x00\x00\x08a\x00b\x00",
		"Parse that lies":                   good + "P\x00\x00\x00\x0cx\x00y\x00\x7f\xff",
		"Bind that lies":                    good + "B\x00\x00\x00\x10\x00\x00\x7f\xff\x00\x01\x00\x01\x00\x00",
		"Describe of nothing":               good + "D\x00\x00\x00\x04",
		"Execute without a number":          good + "E\x00\x00\x00\x05\x00",
		"a password out of its turn":        good + "p\x00\x00\x00\x08abc\x00",
		"half a message":                    good + "Q\x00\x00\x01\x00SELECT",
		"a name of a text that is no UTF-8": good + "Q\x00\x00\x00\x0fSELECT \xff\xfe'\x00",
	} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = io.WriteString(nc, sent)
		_ = nc.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, nc); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: the connection stays open: %v", name, err)
		}
		nc.Close()
	}
	await(t, "the end of all connections", func() bool { return len(srv.Sessions()) == 0 })
	runtime.GC()
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+64<<20 {
		t.Errorf("%d MB are held", (after.HeapAlloc-before.HeapAlloc)>>20)
	}
	if c := connect(t, addr, ""); c.Ping(context.Background()) != nil {
		t.Error("nobody is served afterwards")
	}
}

// A client that connects and says nothing, or takes nothing, loses its connection.
func TestIdleClients(t *testing.T) {
	srv, addr := serve(t, openTables(t), pgwire.Options{AuthTimeout: 50 * time.Millisecond, WriteTimeout: 100 * time.Millisecond})
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_ = silent.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.Copy(io.Discard, silent); err != nil {
		t.Errorf("a silent client: %v", err)
	}
	slow := dial(t, addr, "me")
	slow.Send(&pgproto3.Query{String: "SELECT REPEAT('x', 1000) FROM generate_series(1, 10000000) AS s (n)"})
	slow.flush(t)
	await(t, "the statement", func() bool { return running(srv) })
	await(t, "the end of the slow reader", func() bool { return len(srv.Sessions()) == 0 })
}

// After an error of the extended protocol, messages up to Sync are passed over.
func TestPipelines(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{})
	c := dial(t, addr, "me")
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Parse{Name: "a", Query: "SELECT n FROM generate_series(1, 5) AS s (n)"}, &pgproto3.Bind{PreparedStatement: "a", DestinationPortal: "p"},
		&pgproto3.Describe{ObjectType: 'P', Name: "p"}, &pgproto3.Execute{Portal: "p", MaxRows: 2}, &pgproto3.Execute{Portal: "p", MaxRows: 2},
		&pgproto3.Execute{Portal: "p"}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Close{ObjectType: 'P', Name: "p"}, &pgproto3.Execute{Portal: "p"},
		&pgproto3.Parse{Query: "SELECT 1"}, &pgproto3.Sync{}, &pgproto3.Parse{}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Describe{ObjectType: 'S', Name: "a"},
		&pgproto3.Close{ObjectType: 'S', Name: "a"}, &pgproto3.Close{ObjectType: 'S', Name: "a"}, &pgproto3.Bind{PreparedStatement: "a"}, &pgproto3.Sync{},
	} {
		c.Send(m)
	}
	c.flush(t)
	got := strings.Join(append(c.until(t, "ReadyForQuery"), c.until(t, "ReadyForQuery")...), " ")
	want := "ParseComplete BindComplete RowDescription DataRow DataRow PortalSuspended DataRow DataRow PortalSuspended DataRow CommandComplete CommandComplete " +
		"CloseComplete ERROR 34000 ReadyForQuery ParseComplete BindComplete EmptyQueryResponse ParameterDescription RowDescription CloseComplete CloseComplete " +
		"ERROR 26000 ReadyForQuery"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// pgjdbc describes the first portal of a statement, and expects the same columns of the next one.
func TestColumnsOfPortals(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	c := dial(t, addr, "me")
	bind, describe, execute := &pgproto3.Bind{PreparedStatement: "a", ResultFormatCodes: []int16{0, 0}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Query{String: "CREATE TABLE p (id INT PRIMARY KEY, a INT); INSERT INTO p VALUES (1, 2)"},
		&pgproto3.Parse{Name: "a", Query: "SELECT * FROM p WHERE id = 1"}, bind, describe, execute, bind, execute, &pgproto3.Sync{},
		&pgproto3.Query{String: "ALTER TABLE p DROP COLUMN a; ALTER TABLE p ADD COLUMN b DATE"},
		bind, execute, &pgproto3.Sync{}, bind, describe, execute, bind, execute, &pgproto3.Sync{},
	} {
		c.Send(m)
	}
	c.flush(t)
	c.until(t, "ReadyForQuery")
	got := c.until(t, "ReadyForQuery")
	c.until(t, "ReadyForQuery")
	got = append(append(got, c.until(t, "ReadyForQuery")...), c.until(t, "ReadyForQuery")...)
	want := "ParseComplete BindComplete RowDescription DataRow CommandComplete BindComplete DataRow CommandComplete ReadyForQuery BindComplete ERROR 0A000 ReadyForQuery " +
		"BindComplete RowDescription DataRow CommandComplete BindComplete DataRow CommandComplete ReadyForQuery"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// A failure is sent at once: a client may wait for it with Flush in the place of Sync.
func TestFlush(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{})
	c := dial(t, addr, "me")
	c.Send(&pgproto3.Parse{Query: "SELEC 1"})
	c.Send(&pgproto3.Flush{})
	c.flush(t)
	if got := c.until(t, "42601"); len(got) != 1 {
		t.Error(got)
	}
}

// Statements wait for memory, and are refused when too many wait.
func TestQueue(t *testing.T) {
	srv, addr := serve(t, openTables(t), pgwire.Options{MaxStatements: 1, Memory: 32 << 20, MaxQueue: 1, QueueTimeout: 50 * time.Millisecond})
	busy := dial(t, addr, "me")
	busy.Send(&pgproto3.Query{String: endless})
	busy.flush(t)
	await(t, "the statement", func() bool { return running(srv) })
	c := connect(t, addr, "")
	_, err := c.Exec(context.Background(), "SELECT 1")
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "53200" {
		t.Errorf("a statement that waits too long: %v", err)
	}
	if _, err := c.Exec(context.Background(), "SHOW server_version"); err != nil {
		t.Errorf("a setting while the server is full: %v", err)
	}
	busy.nc.Close()
	await(t, "the end of the statement", func() bool { return len(srv.Sessions()) == 1 })
	if _, err := c.Exec(context.Background(), "SELECT 1"); err != nil {
		t.Errorf("a statement afterwards: %v", err)
	}
}

// FuzzMessages sends bytes behind a good startup: the server survives, and answers or ends the connection.
func FuzzMessages(f *testing.F) {
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Query{String: "SELECT 1; COPY events TO STDOUT"}, &pgproto3.Query{String: "COPY events FROM STDIN"}, &pgproto3.CopyData{Data: []byte("a\tb\n")},
		&pgproto3.CopyDone{}, &pgproto3.Parse{Query: "SELECT $1::int", ParameterOIDs: []uint32{23}}, &pgproto3.Bind{Parameters: [][]byte{{0, 0, 0, 1}}, ParameterFormatCodes: []int16{1}},
		&pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{MaxRows: 1}, &pgproto3.Close{ObjectType: 'P'}, &pgproto3.Sync{},
		&pgproto3.Query{String: "BEGIN; DECLARE c CURSOR FOR SELECT 1; FETCH c; SET LOCAL x.y = 1; PREPARE a (int) AS SELECT $1; EXECUTE a (1)"},
	} {
		b, err := m.Encode(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	panicked := make(chan string, 1)
	log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		if strings.Contains(string(b), "panic") {
			select {
			case panicked <- string(b):
			default:
			}
		}
		return len(b), nil
	}), nil))
	_, addr := serve(f, openTables(f), pgwire.Options{Write: true, Logger: log, StatementTimeout: 200 * time.Millisecond})
	f.Fuzz(func(t *testing.T, sent []byte) {
		c := dial(t, addr, "me")
		go func() {
			_, _ = c.nc.Write(sent)
			_ = c.nc.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(io.Discard, c.nc)
		c.nc.Close()
		select {
		case p := <-panicked:
			t.Error(p)
		default:
		}
	})
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A thousand idle connections take less than 100 MB.
func TestManyConnections(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	_, addr := serve(t, openTables(t), pgwire.Options{MaxConnections: n})
	memory := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := memory()
	for range n {
		dial(t, addr, "me")
	}
	if each := (memory() - before) / uint64(n); each > 100_000 { // the clients' own memory is in it
		t.Errorf("a connection takes %d bytes", each)
	}
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	front := &rawConn{pgproto3.NewFrontend(nc, nc), nc}
	front.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "me"}})
	front.flush(t)
	if got := front.until(t, "ReadyForQuery"); got[0] != "FATAL 53300" {
		t.Errorf("one connection more: %v", got)
	}
}

// A session that idles longer than its limits allow ends, with PostgreSQL's reason.
func TestIdleTimeouts(t *testing.T) {
	srv, addr := serve(t, openTables(t), pgwire.Options{})
	for begin, want := range map[string]string{
		"SET idle_in_transaction_session_timeout = 20; BEGIN": "FATAL 25P03",
		"SET idle_session_timeout = 20":                       "FATAL 57P05",
	} {
		c := dial(t, addr, "me")
		c.Send(&pgproto3.Query{String: begin})
		c.flush(t)
		c.until(t, "ReadyForQuery")
		if got := c.until(t, "ReadyForQuery"); got[len(got)-1] != want {
			t.Errorf("%s: %v", begin, got)
		}
	}
	await(t, "the end of the sessions", func() bool { return len(srv.Sessions()) == 0 })
	c := connect(t, addr, "")
	for _, sql := range []string{"SET idle_in_transaction_session_timeout = 20", "SELECT pg_backend_pid()"} { // outside of a block it does not count
		if _, err := c.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Millisecond)
	}
}
