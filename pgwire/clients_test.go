package pgwire_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/hql-db/hql/pgwire"
)

// Every type goes to pgx and back in each of its modes, in binary form where that is the mode's.
func TestTypes(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			c := connect(t, addr, "")
			row, err := collect(c, "SELECT b, t, s, n, f, d, e::text AS e, x, y, day, clock::text AS clock, at, j::text AS j FROM every WHERE id = $1", mode, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Exec(context.Background(), "INSERT INTO every VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)", mode, 7,
				row["b"], row["t"], row["s"], row["n"], row["f"], row["d"], row["e"], row["x"], row["y"], row["day"], row["clock"], row["at"], row["j"]); err != nil {
				t.Fatal(err)
			}
			text := func(id int) string {
				out, err := collect(c, "SELECT b::text || t::text || s::text || n::text || f::text || d::text || e::text || x || encode(y, 'hex') || day::text || clock::text || "+
					"at::text || j::text AS whole FROM every WHERE id = $1", mode, id)
				if err != nil {
					t.Fatal(err)
				}
				return strings.ReplaceAll(out["whole"].(string), " ", "")
			}
			if a, b := text(1), text(7); a != b {
				t.Errorf("sent and taken:\n%s\n%s", a, b)
			}
			var n int64
			var e string
			var at time.Time
			err = c.QueryRow(context.Background(), "SELECT n, e, at FROM every WHERE id = ANY ($1) AND at >= $2 ORDER BY id LIMIT $3", mode, []int32{1, 5}, row["at"], 1).Scan(&n, &e, &at)
			if err != nil || n != 9007199254740993 || e != "12345.6789" || at.UTC().Format(time.RFC3339Nano) != "2024-05-01T10:00:00.123Z" {
				t.Errorf("%d %s %v %v", n, e, at, err)
			}
		})
	}
}

// A JSONB comes from Go's maps, structs and texts, and goes into them.
func TestJSONB(t *testing.T) {
	type page struct {
		B  int   `json:"b"`
		Aa []int `json:"aa"`
	}
	_, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	c, ctx := connect(t, addr, ""), context.Background()
	if _, err := c.Exec(ctx, "CREATE TABLE pages (id INT PRIMARY KEY, j JSONB, a JSONB[])"); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeSimpleProtocol} {
		args := []any{map[string]any{"b": 1, "aa": []int{2}}, page{1, []int{2}}, []byte(`{"b":1,"aa":[2]}`), `{"aa":[2],  "b":1}`}
		for _, arg := range args[3*(mode/pgx.QueryExecModeSimpleProtocol):] {
			var m map[string]any
			var p page
			var b []byte
			var s string
			var list []string
			if _, err := c.Exec(ctx, "INSERT INTO pages VALUES (1, $1, ARRAY[$1::JSONB])", mode, arg); err != nil {
				t.Fatalf("%v %T: %v", mode, arg, err)
			}
			err := c.QueryRow(ctx, "SELECT j, j, j, j, a FROM pages WHERE id = 1 AND j = $1", mode, arg).Scan(&m, &p, &b, &s, &list)
			want := `{"b": 1, "aa": [2]}`
			if err != nil || len(m) != 2 || p.B != 1 || len(p.Aa) != 1 || string(b) != want || s != want || len(list) != 1 || list[0] != want {
				t.Errorf("%v %T: %v %v %s %s %q %v", mode, arg, m, p, b, s, list, err)
			}
		}
	}
	var oid uint32
	if err := c.QueryRow(ctx, "SELECT atttypid FROM pg_attribute WHERE attrelid = 'pages'::regclass AND attname = 'j'").Scan(&oid); err != nil || oid != 3802 {
		t.Error(oid, err)
	}
}

// collect reads one row.
func collect(c *pgx.Conn, sql string, mode pgx.QueryExecMode, arg any) (map[string]any, error) {
	rows, err := c.Query(context.Background(), sql, mode, arg)
	if err != nil {
		return nil, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToMap)
}

// COPY in binary form gives what it takes.
func TestCopyBinary(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	c := connect(t, addr, "")
	ctx := context.Background()
	var first, second bytes.Buffer
	if _, err := c.PgConn().CopyTo(ctx, &first, "COPY (SELECT * FROM every WHERE id = 1) TO STDOUT (FORMAT binary)"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "DELETE FROM every WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PgConn().CopyFrom(ctx, bytes.NewReader(first.Bytes()), "COPY every FROM STDIN (FORMAT binary)"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PgConn().CopyTo(ctx, &second, "COPY (SELECT * FROM every WHERE id = 1) TO STDOUT BINARY"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) || first.Len() < 100 {
		t.Errorf("%x\n%x", first.Bytes(), second.Bytes())
	}
	var rows [][]any
	for i := range 1200 {
		rows = append(rows, []any{"copied", time.UnixMilli(int64(i)).UTC(), "k", float64(i)})
	}
	if n, err := c.CopyFrom(ctx, pgx.Identifier{"events"}, []string{"device", "ts", "kind", "value"}, pgx.CopyFromRows(rows)); err != nil || n != 1200 {
		t.Errorf("%d rows: %v", n, err)
	}
	var n, sum float64
	if err := c.QueryRow(ctx, "SELECT COUNT(*)::double precision, SUM(value) FROM events WHERE device = 'copied'").Scan(&n, &sum); err != nil || n != 1200 || sum != 719400 {
		t.Errorf("%v rows, sum %v: %v", n, sum, err)
	}
}

// A row that does not fit ends COPY. The rows of whole batches before it may be written, and the error says how many are; no row
// behind it is.
func TestCopyEnds(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	c := connect(t, addr, "")
	ctx := context.Background()
	for _, wrong := range []string{"2024-05-01 10:00:00\tk\tmany", "2024-05-01 10:00:00\t\\N\t1\tmore"} {
		var rows strings.Builder
		for i := range 5000 {
			if i == 3500 {
				rows.WriteString("ends\t" + wrong + "\n")
				continue
			}
			fmt.Fprintf(&rows, "ends\t%s\tk\t%d\n", time.UnixMilli(int64(i)).UTC().Format("2006-01-02 15:04:05.999"), i)
		}
		var failed *pgconn.PgError
		if _, err := c.PgConn().CopyFrom(ctx, strings.NewReader(rows.String()), "COPY events FROM STDIN"); !errors.As(err, &failed) || !strings.Contains(failed.Detail, "COPY events, line 3501") {
			t.Fatalf("%v %+v", err, failed)
		}
		var n, last int64
		if err := c.QueryRow(ctx, "SELECT COUNT(*), COALESCE(MAX(value), 0)::bigint FROM events WHERE device = 'ends'").Scan(&n, &last); err != nil || last >= 3500 {
			t.Errorf("%d rows up to %d: %v", n, last, err)
		}
		if said := fmt.Sprintf("line 3501; %d rows before are written and stay", n); n == 0 || !strings.HasSuffix(failed.Detail, said) {
			t.Errorf("%q, not %q", failed.Detail, said)
		}
		if _, err := c.Exec(ctx, "DELETE FROM events WHERE device = 'ends'"); err != nil {
			t.Fatal(err)
		}
	}
}

// database/sql by pgx: prepared statements, blocks that read, a pool.
func TestDatabaseSQL(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{})
	cfg, err := pgx.ParseConfig("postgres://me@" + addr + "/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var kind string
	if err := tx.QueryRow("SELECT kind FROM events WHERE device = $1 AND ts = $2", "d1", time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)).Scan(&kind); err != nil || kind != "temp" {
		t.Errorf("%q %v", kind, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// script runs another program against a server.
func script(t *testing.T, addr, stdin string, name string, args ...string) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(addr)
	cmd := osexec.CommandContext(t.Context(), name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "PGHOST="+host, "PGPORT="+port, "PGUSER=me", "PGDATABASE=db", "PGSSLMODE=disable", "PGCLIENTENCODING=UTF8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return string(out)
}

func TestPsql(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{Write: true})
	psql(t, addr)
}

func psql(t *testing.T, addr string) {
	t.Helper()
	name, err := osexec.LookPath("psql")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
		if len(found) == 0 {
			t.Skip("psql is not installed")
		}
		name = found[len(found)-1]
	}
	got := script(t, addr, `SELECT kind, value FROM events WHERE device = 'd1';
\copy (SELECT * FROM events WHERE device = 'd1') TO STDOUT CSV
\copy events FROM STDIN
d8	2024-05-01 10:00:00	x	1
\.
SELECT nope FROM events;
SELECT 1 AS a \gdesc
SELECT $1::int AS a \bind 7 \g
DELETE FROM events WHERE device = 'd8';
`, name, "-X", "-A", "-t")
	for _, want := range []string{"temp|20.5\n", "d1,2024-05-01 10:00:00+00,temp,20.5\n", "COPY 1\n", "LINE 1: SELECT nope FROM events;"} {
		if !strings.Contains(got, want) {
			t.Errorf("psql printed no %q:\n%s", want, got)
		}
	}
}

// pgjdbc runs testdata/Client.java in each of its modes.
func TestJDBC(t *testing.T) {
	_, addr := serve(t, openTables(t), pgwire.Options{})
	jdbc(t, addr)
}

func jdbc(t *testing.T, addr string) {
	t.Helper()
	home, _ := os.UserHomeDir()
	jars, _ := filepath.Glob(home + "/.m2/repository/org/postgresql/postgresql/*/postgresql-*.jar")
	if len(jars) == 0 {
		_ = osexec.CommandContext(t.Context(), "mvn", "-q", "-B", "dependency:get", "-Dartifact=org.postgresql:postgresql:42.7.4", "-Dtransitive=false").Run()
		jars, _ = filepath.Glob(home + "/.m2/repository/org/postgresql/postgresql/*/postgresql-*.jar")
	}
	if _, err := osexec.LookPath("java"); err != nil || len(jars) == 0 {
		t.Skip("there is no Java, or no pgjdbc: mvn dependency:get -Dartifact=org.postgresql:postgresql:42.7.4")
	}
	for _, mode := range []string{"", "&binaryTransfer=true&prepareThreshold=1", "&preferQueryMode=simple"} {
		out, err := osexec.CommandContext(t.Context(), "java", "-cp", jars[len(jars)-1], "testdata/Client.java", "jdbc:postgresql://"+addr+"/db?user=me&sslmode=disable"+mode).CombinedOutput()
		want := "15.10\n2024-05-01T10:00:00Z 20.5\n2024-05-01T11:00:00Z 21.0\n95\n5 x 3.75\n1\n57014\n42703\ntrue\n"
		if err != nil || string(out) != want {
			t.Errorf("pgjdbc%s: %v, printed\n%s\nnot\n%s", mode, err, out, want)
		}
	}
}
