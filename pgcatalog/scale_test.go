package pgcatalog_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/hql-db/hql"
	_ "github.com/hql-db/hql/embedded"
)

// cpu is the time that the process has used, in nanoseconds: with other programs at work, the clock says little.
func cpu() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkTables asks for what psql's \d asks, with 5,000 tables of ten columns.
func BenchmarkTables(b *testing.B) {
	var sql strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&sql, "CREATE TABLE t%d (id INT, a STRING, b DOUBLE, c BIGINT, d DATE, e TIMESTAMP, f STRING, g INT, h BOOLEAN, i STRING) ROW KEY (id AS INT32) STORED IN 'x%d';\n", i, i)
	}
	db, err := hql.Open(context.Background(), "mem:", hql.WithCatalog(sql.String()))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for _, q := range []struct {
		name, sql string
		rows      int
	}{
		{"list", `SELECT n.nspname, c.relname, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END, pg_get_userbyid(c.relowner) FROM pg_class c
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am am ON am.oid = c.relam WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', '') AND n.nspname <> 'pg_catalog'
AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema' AND pg_table_is_visible(c.oid) ORDER BY 1, 2`, 5000},
		{"find", `SELECT c.oid, n.nspname, c.relname FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname OPERATOR(pg_catalog.~) '^(t4711)$'
COLLATE pg_catalog.default AND pg_table_is_visible(c.oid) ORDER BY 2, 3`, 1},
		{"columns", `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't4711'::regclass AND attnum > 0 ORDER BY attnum`, 10},
		{"join", `SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid WHERE c.relname = 't4711'`, 10},
		{"all", `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'`, 50000},
	} {
		b.Run(q.name, func(b *testing.B) {
			before := cpu()
			defer func() { b.ReportMetric(float64(cpu()-before)/float64(b.N)/1e6, "cpu-ms/op") }()
			for b.Loop() {
				rows, err := db.Query(context.Background(), q.sql)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for rows.Next() {
					n++
				}
				if err := rows.Err(); err != nil || n != q.rows {
					b.Fatalf("%d rows: %v", n, err)
				}
			}
		})
	}
}
