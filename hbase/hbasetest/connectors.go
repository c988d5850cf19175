package hbasetest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Writer returns a command that runs testdata/DIR/Written.java with args. Its class path has the jars of the product under
// test in DIR, such as Phoenix, in the given version.
func Writer(tb testing.TB, dir, version string, args ...string) *exec.Cmd {
	tb.Helper()
	jars, err := classPath(product{dir: dir, version: version})
	check(tb, err)
	const options = opens + " --add-exports java.base/sun.util.calendar=ALL-UNNAMED -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.timezone=UTC"
	return exec.CommandContext(tb.Context(), "java", slices.Concat(strings.Fields(options), []string{"-cp", jars, filepath.Join(testdata(dir), "Written.java")}, args)...)
}
