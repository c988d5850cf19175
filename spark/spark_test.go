// Package spark has the tests of the Python package beside it.
package spark

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/python"
)

// TestSpark runs tests/test_hql_spark.py on an HBase with a table of four regions, with the package as pip installs it from this folder.
func TestSpark(t *testing.T) {
	py := python.With(t, "pyspark", "pyarrow")
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("there is no java for Spark")
	}
	ctx := context.Background()
	connect := "hbase://" + hbasetest.Quorum(t) + "/hbase"
	dir := t.TempDir()
	binary := filepath.Join(dir, "hql")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/hql").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(py, "-m", "pip", "install", "-q", "--no-deps", "--target", filepath.Join(dir, "site"), copied(t)).CombinedOutput(); err != nil {
		t.Fatalf("pip install: %v\n%s", err, out)
	}
	db, err := hql.Open(ctx, connect, hql.WithWrites(true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `DROP TABLE IF EXISTS spark_events; CREATE TABLE spark_events (host STRING, ts TIMESTAMP, n INT, v DOUBLE, x DECIMAL, ok BOOLEAN, d DATE, h TIME, raw BYTES, doc JSON, small TINYINT, big BIGINT)
		ROW KEY (host AS TEXT, '|', n AS ORDERED INT32) SPLIT AT ('h1', 'h2', 'm')`); err != nil {
		t.Fatal(err)
	}
	defer db.Exec(ctx, "DROP TABLE spark_events")
	if _, err := db.Exec(ctx, rows()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(py, "-m", "unittest", "-v", "test_hql_spark")
	cmd.Dir = "tests"
	cmd.Env = append(os.Environ(), "HQL_CONNECT="+connect, "HQL_BINARY="+binary, "PYTHONPATH="+filepath.Join(dir, "site"), "PYSPARK_PYTHON="+py)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// copied is this package without what pip leaves behind in the folder that it installs from.
func copied(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "spark")
	if err := os.CopyFS(filepath.Join(dir, "hql_spark"), os.DirFS("hql_spark")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pyproject.toml", "README.md"} {
		b, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// rows inserts some 450 rows: the values at the ends of their types, those that Spark and hql could take for others, and NULLs.
func rows() string {
	var b strings.Builder
	b.WriteString("INSERT INTO spark_events (host, ts, n, v, x, ok, d, h, raw, doc, small, big) VALUES ")
	pick := func(i int, xs ...string) string { return xs[i%len(xs)] }
	for h, host := range []string{"", "h", "h1", "h2", "h10", "H1", "é", "z", `\`} {
		for n := range 50 {
			i := n*11 + h
			if h+n > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "('%s', %s, %d, %s, %s, %s, %s, %s, %s, %s, %s, %s)", host,
				pick(n, "TIMESTAMP '2026-01-01 00:00:00'", "TIMESTAMP '2026-01-03 05:00:00.001'", "NULL", "TIMESTAMP '2026-01-03 05:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999'"), n,
				pick(i, "0.1", "NULL", "1.5", "0", "-2.75", "1e300", "CAST('-0' AS DOUBLE)", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"), pick(i, "1.5", "1.50", "NULL", "2.25", "-3.125", "0", "12345678901234567890.125"),
				pick(i, "TRUE", "FALSE", "NULL"), pick(n, "DATE '2026-01-01'", "DATE '2026-01-05'", "NULL", "DATE '9999-12-31'", "DATE '1969-12-31'"),
				pick(n, "TIME '00:00:00'", "TIME '23:59:59.999'", "NULL"), pick(n, "X'00FF'", "X''", "X'00'", "X'FF'", "NULL"), pick(n, `'{"a": 1}'`, "NULL"),
				pick(i, "0", "3", "127", "-128", "NULL"), pick(i, "0", "1", "9223372036854775807", "-9223372036854775807", "NULL"))
		}
	}
	return b.String()
}
