package infer_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// cell is a cell that another system wrote.
type cell struct{ Key, Family, Qualifier, Value []byte }

// hive returns the cells that Hive's storage handler writes for rows of text, with tabs between the columns, ',' in
// collections, ':' behind keys of maps and \N for NULL. Columns, types and mapping have the form of a table's
// properties columns, columns.types and hbase.columns.mapping.
func hive(t *testing.T, columns, types, mapping string, rows []string) []cell {
	t.Helper()
	wanted(t)
	return cellsOf(t, writer(t, "hive", "3.1.3", columns, types, mapping), rows)
}

// spark returns the cells of a table that HBase's connector for Spark writes. catalog is a catalog of the connector,
// columns are columns with their types in Spark's DDL. Rows have the form that hive takes, without collections.
func spark(t *testing.T, table, catalog, columns string, rows []string) []cell {
	t.Helper()
	wanted(t)
	return cellsOf(t, writer(t, "sparkconnector", "1.0.1", hbasetest.Quorum(t), table, catalog, columns), rows)
}

// writer returns a command that runs testdata/DIR/Written.java with args. Its class path has the jars of the product in DIR.
func writer(t *testing.T, dir, version string, args ...string) *exec.Cmd {
	t.Helper()
	jars, path := hbasetest.Jars(t, dir, version)
	const options = hbasetest.Opens + " --add-exports java.base/sun.util.calendar=ALL-UNNAMED -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.timezone=UTC"
	return exec.CommandContext(t.Context(), "java", slices.Concat(strings.Fields(options), []string{"-cp", jars, filepath.Join(path, "Written.java")}, args)...)
}

// wanted skips the test unless HQL_TEST_CONNECTORS is set: the writers of other systems need hundreds of MB of jars.
func wanted(t *testing.T) {
	t.Helper()
	if os.Getenv("HQL_TEST_CONNECTORS") == "" {
		t.Skip("set HQL_TEST_CONNECTORS=1 to check against the tables of other systems")
	}
}

// cellsOf runs a writer on rows and reads the cells that it prints, four fields of hexadecimal digits on each line.
func cellsOf(t *testing.T, java *exec.Cmd, rows []string) (cells []cell) {
	t.Helper()
	java.Stdin = strings.NewReader(strings.Join(rows, "\n"))
	var log bytes.Buffer
	java.Stderr = &log
	out, err := java.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	for line := range strings.Lines(string(out)) {
		var fields [4][]byte
		texts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(texts) != len(fields) {
			t.Fatalf("the writer printed %q", line)
		}
		for i, text := range texts {
			if fields[i], err = hex.DecodeString(text); err != nil {
				t.Fatalf("the writer printed %q: %v", line, err)
			}
		}
		cells = append(cells, cell{fields[0], fields[1], fields[2], fields[3]})
	}
	return cells
}
