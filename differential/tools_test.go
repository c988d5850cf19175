package differential

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/pgwire"
)

// toolsTables are the tables of testdata/tools on both sides. PostgreSQL has the comments that hql makes of the rowkeys.
const toolsTables = `
CREATE TABLE events (device TEXT NOT NULL, ts TIMESTAMPTZ NOT NULL, kind TEXT, value DOUBLE PRECISION, PRIMARY KEY (device, ts));
CREATE TABLE every (id INT PRIMARY KEY, b BOOLEAN, s SMALLINT, n BIGINT, f REAL, d DOUBLE PRECISION, e NUMERIC, x TEXT, y BYTEA, day DATE, clock TIME,
  at TIMESTAMPTZ, j JSON, u UUID, a INT[], xs TEXT[]);
CREATE VIEW hot AS SELECT device, ts, value FROM events WHERE kind = 'temp';
INSERT INTO events VALUES ('d1', '2024-05-01 10:00:00+00', 'temp', 20.5), ('d1', '2024-05-01 11:00:00+00', 'temp', 21), ('d2', '2024-05-02 00:00:00+00', 'hum', NULL);
INSERT INTO every VALUES (1, true, 300, 9007199254740993, 1.5, -0.25, 12345.6789, 'Grüße', '\x00ff5c', DATE '2024-02-29', TIME '23:59:58.5',
  '2024-05-01 10:00:00.123+00', '{"a": [1, 2]}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{1,NULL,3}', '{a,"b c"}'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);`

const (
	onHQL        = "CREATE INDEX events_kind ON events (kind);"
	onPostgreSQL = `CREATE INDEX events_kind ON events (kind);
COMMENT ON TABLE events IS 'rowkey (device AS TEXT, X''00'', ts AS ORDERED INT64), stored in events';
COMMENT ON TABLE every IS 'rowkey (id AS ORDERED INT32), stored in every';
COMMENT ON COLUMN events.device IS 'part of the rowkey: device AS TEXT';
COMMENT ON COLUMN events.ts IS 'part of the rowkey: ts AS ORDERED INT64';
COMMENT ON COLUMN every.id IS 'part of the rowkey: id AS ORDERED INT32';`
)

// TestTools sends the statements of tools, as they were captured or stand in the sources of the tools, to PostgreSQL and
// to hql's server. It compares the row descriptions and the rows; {name} in a statement is the oid of a relation. The
// output is the number of rows, or the lines that differ.
func TestTools(t *testing.T) {
	pg := connect(t)
	if v := pg.ParameterStatus("server_version"); !strings.HasPrefix(v, "15.") {
		t.Skipf("the catalog is that of PostgreSQL 15, and this one is %s", v)
	}
	db, err := hql.Open(context.Background(), "mem:", hql.WithoutFiles())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(context.Background(), toolsTables+onHQL); err != nil {
		t.Fatal(err)
	}
	if err := pg.Exec(context.Background(), "CREATE DATABASE tools").Close(); err != nil {
		t.Fatal(err)
	}
	srv, err := pgwire.NewServer(db, pgwire.Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	s, _ := postgres() // connect has started it
	one := newTool(t, "host="+s.dir+" user=hql dbname=tools sslmode=disable")
	if err := one.c.Exec(context.Background(), toolsTables+onPostgreSQL).Close(); err != nil {
		t.Fatal(err)
	}
	other := newTool(t, "postgres://hql@"+l.Addr().String()+"/tools?sslmode=disable")
	one.learn(t)
	other.learn(t)
	datadriven.Walk(t, "testdata/tools", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return unlike(one.ask(d.Input), other.ask(d.Input))
		})
	})
}

// sizes are sizes on disk, which two stores do not share.
var sizes = regexp.MustCompile(`^\d+ (bytes|kB|MB)$`)

// system finds rows about the system's own objects.
var system = regexp.MustCompile(`pg_catalog|information_schema|pg_toast|<_?_?pg_|_recv|_send`)

// tool is a session of a tool, and the names of the objects by their oids.
type tool struct {
	c     *pgconn.PgConn
	names map[string]string
	oids  *strings.Replacer
}

func newTool(t *testing.T, address string) *tool {
	t.Helper()
	c, err := pgconn.Connect(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return &tool{c: c}
}

// learn reads the oids of all objects.
func (o *tool) learn(t *testing.T) {
	t.Helper()
	r := o.c.ExecParams(context.Background(), `SELECT oid::text, relname::text FROM pg_class WHERE relnamespace <> 99 UNION ALL SELECT oid::text, conname::text FROM pg_constraint
		UNION ALL SELECT oid::text, typname::text FROM pg_type WHERE typnamespace = 2200 UNION ALL SELECT oid::text, datname::text FROM pg_database
		UNION ALL SELECT oid::text, nspname::text FROM pg_namespace`, nil, nil, nil, nil).Read()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	o.names = map[string]string{}
	var pairs []string
	for _, row := range r.Rows {
		o.names[string(row[0])] = "<" + string(row[1]) + ">"
		pairs = append(pairs, "{"+string(row[1])+"}", string(row[0]))
	}
	o.oids = strings.NewReplacer(pairs...)
}

// ask runs statements, and returns what they give line by line. Rows that no ORDER BY sorts are sorted as texts.
func (o *tool) ask(sql string) (out []string) {
	results := o.c.Exec(context.Background(), o.oids.Replace(sql))
	for results.NextResult() {
		r := results.ResultReader().Read()
		var names, rows []string
		for _, f := range r.FieldDescriptions {
			name := fmt.Sprintf("%s %d", f.Name, f.DataTypeOID)
			if f.TableOID != 0 {
				name += fmt.Sprintf(" of %s.%d", o.names[fmt.Sprint(f.TableOID)], f.TableAttributeNumber)
			}
			names = append(names, name)
		}
		for _, row := range r.Rows {
			var cells []string
			for i, v := range row {
				cell := sizes.ReplaceAllString(strings.ReplaceAll(string(v), "\n", `\n`), "SIZE")
				if v == nil {
					cell = "NULL"
				}
				switch r.FieldDescriptions[i].DataTypeOID {
				case 28:
					cell = "XID"
				case 25, 26:
					if name := o.names[cell]; name != "" {
						cell = name
					} else if oid, err := strconv.ParseUint(cell, 10, 32); err == nil && oid >= 16384 {
						cell = "<oid>"
					}
				}
				cells = append(cells, cell)
			}
			rows = append(rows, strings.Join(cells, " | "))
		}
		if !strings.Contains(strings.ToUpper(sql), "ORDER BY") {
			slices.Sort(rows)
		}
		if names != nil {
			out = append(out, strings.Join(names, ", "))
		}
		tag := r.CommandTag.String()
		if len(rows) > 100 { // the objects of the system, which the two do not share
			rows, tag = slices.DeleteFunc(rows, func(r string) bool { return system.MatchString(r) }), "SELECT of many"
		}
		out = append(append(out, rows...), tag)
	}
	if err := results.Close(); err != nil {
		if o.c.TxStatus() == 'E' {
			_ = o.c.Exec(context.Background(), "ROLLBACK").Close()
		}
		var e *pgconn.PgError
		if errors.As(err, &e) {
			text := fmt.Sprintf("ERROR %s: %s", e.Code, e.Message)
			if e.ConstraintName != "" {
				text += fmt.Sprintf(" (%s.%s.%s; %s)", e.SchemaName, e.TableName, e.ConstraintName, e.Detail)
			}
			return append(out, text)
		}
		return append(out, err.Error())
	}
	return out
}

// unlike has the lines that only one of them has.
func unlike(pg, ours []string) string {
	if slices.Equal(pg, ours) {
		return "same: " + ours[len(ours)-1] + "\n"
	}
	var b strings.Builder
	side := func(name string, lines, others []string) {
		more := 0
		for _, l := range lines {
			if slices.Contains(others, l) {
				continue
			}
			if more++; more <= 8 {
				fmt.Fprintf(&b, "%s: %s\n", name, l)
			}
		}
		if more > 8 {
			fmt.Fprintf(&b, "%s: ... %d lines in all\n", name, more)
		}
	}
	side("PostgreSQL", pg, ours)
	side("hql       ", ours, pg)
	if b.Len() == 0 {
		return "the same lines in another order\n"
	}
	return b.String()
}
