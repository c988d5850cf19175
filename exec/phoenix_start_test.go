package exec

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase/hbasetest"
)

// phoenixEnv enables the tests that run Phoenix: it takes a minute and 250 MB of jars.
const phoenixEnv = "HQL_TEST_PHOENIX"

var phoenix = hbasetest.Product{
	Dir: "phoenix", Version: "5.2.1",
	// The client contains HBase's classes; with the jars of HBase itself they would be there twice.
	Keep: regexp.MustCompile(`/(phoenix-client|slf4j-|reload4j|javax\.servlet-api|audience-annotations|htrace-|opentelemetry-|jersey-|jsr311|javax\.ws\.rs|javax\.activation|commons-io-)[^/]*$`),
	Props: [][2]string{{"hbase.regionserver.wal.codec", "org.apache.hadoop.hbase.regionserver.wal.IndexedWALEditCodec"},
		{"zookeeper.session.timeout.localHBaseCluster", "600000"}, {"hbase.zookeeper.property.maxSessionTimeout", "600000"}, {"hbase.rpc.timeout", "300000"},
		{"hbase.hregion.memstore.mslab.enabled", "false"}}, // otherwise each family takes 2 MB
	Heap: "-Xmx3g", // many hundreds of tables
}

// startPhoenix starts an HBase with Phoenix in it. It returns the ZooKeeper quorum and a function that runs one statement
// through JDBC and returns the rows, one a line with '|' between the values. It skips unless HQL_TEST_PHOENIX is set;
// both processes end with the test. props are settings of both.
func startPhoenix(tb testing.TB, props ...[2]string) (quorum string, query func(sql string) (string, error)) {
	tb.Helper()
	if os.Getenv(phoenixEnv) == "" {
		tb.Skipf("set %s=1 to check against Phoenix", phoenixEnv)
	}
	cp, own := hbasetest.ClassPath(tb, phoenix), phoenix
	own.Props = slices.Concat(phoenix.Props, props)
	quorum, dir := hbasetest.Start(tb, own, false)
	args := append(strings.Fields(hbasetest.Opens), "-Xmx512m", "-XX:+UseSerialGC", "-Duser.timezone=UTC", "-cp", filepath.Join(dir, "conf")+":"+cp, filepath.Join(hbasetest.Testdata("phoenix"), "Sql.java"), "jdbc:phoenix:"+quorum+":/hbase")
	cmd := osexec.Command("java", args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill() // it holds no data to keep
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(out)
	answer := func() (string, error) {
		var rows []string
		for {
			line, err := lines.ReadString('\n')
			line = strings.TrimSuffix(line, "\n")
			switch {
			case err != nil:
				_ = cmd.Process.Kill()
				return "", fmt.Errorf("the JDBC client ended: %w\n%s", err, tail(log.String()))
			case line == ".":
				return strings.Join(rows, "\n"), nil
			case strings.HasPrefix(line, "! "):
				return "", errors.New(line[2:])
			}
			rows = append(rows, line)
		}
	}
	if _, err := answer(); err != nil { // connected
		tb.Fatal(err)
	}
	return quorum, func(sql string) (string, error) {
		if _, err := io.WriteString(in, strings.ReplaceAll(sql, "\n", " ")+"\n"); err != nil {
			return "", err
		}
		return answer()
	}
}

func tail(s string) string { return s[max(0, len(s)-3000):] }
