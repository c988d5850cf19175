package hbasetest

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// connectorsEnv enables the tests that run the writers of other systems: they need hundreds of MB of jars.
const connectorsEnv = "HQL_TEST_CONNECTORS"

// Cell is a cell that another system wrote.
type Cell struct{ Key, Family, Qualifier, Value []byte }

// Hive returns the cells that Hive's storage handler writes for rows of text, with tabs between the columns, ',' in
// collections, ':' behind keys of maps and \N for NULL. Columns, types and mapping have the form of a table's
// properties columns, columns.types and hbase.columns.mapping. The test is skipped unless HQL_TEST_CONNECTORS is set,
// and when Quorum skips.
func Hive(tb testing.TB, columns, types, mapping string, rows []string) []Cell {
	tb.Helper()
	wanted(tb)
	return written(tb, product{dir: "hive", version: "3.1.3"}, rows, columns, types, mapping)
}

// Spark returns the cells of a table that HBase's connector for Spark writes to the HBase that Quorum starts. catalog
// is a catalog of the connector, columns are columns with their types in Spark's DDL. Rows have the form that Hive
// takes, without collections; the test is skipped in the same cases.
func Spark(tb testing.TB, table, catalog, columns string, rows []string) []Cell {
	tb.Helper()
	wanted(tb)
	return written(tb, product{dir: "sparkconnector", version: "1.0.1"}, rows, Quorum(tb), table, catalog, columns)
}

func wanted(tb testing.TB) {
	tb.Helper()
	if os.Getenv(connectorsEnv) == "" {
		tb.Skipf("set %s=1 to check against the tables of other systems", connectorsEnv)
	}
}

// written runs the program Written of a product on rows, and reads the cells that it prints: four fields of hexadecimal
// digits a line.
func written(tb testing.TB, p product, rows []string, args ...string) (cells []Cell) {
	tb.Helper()
	jars, err := classPath(p)
	check(tb, err)
	const options = opens + " --add-exports java.base/sun.util.calendar=ALL-UNNAMED -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.timezone=UTC"
	program := []string{"-cp", jars, filepath.Join(testdata(p.dir), "Written.java")}
	java := exec.CommandContext(tb.Context(), "java", slices.Concat(strings.Fields(options), program, args)...)
	java.Stdin = strings.NewReader(strings.Join(rows, "\n"))
	var log bytes.Buffer
	java.Stderr = &log
	out, err := java.Output()
	if err != nil {
		tb.Fatalf("%s: %v\n%s", p.dir, err, tail(log.String()))
	}
	for line := range strings.Lines(string(out)) {
		var fields [4][]byte
		texts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(texts) != len(fields) {
			tb.Fatalf("%s printed %q", p.dir, line)
		}
		for i, text := range texts {
			if fields[i], err = hex.DecodeString(text); err != nil {
				tb.Fatalf("%s printed %q: %v", p.dir, line, err)
			}
		}
		cells = append(cells, Cell{fields[0], fields[1], fields[2], fields[3]})
	}
	return cells
}
