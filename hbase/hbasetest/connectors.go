package hbasetest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Writer returns the command of testdata/DIR/Written.java with the jars of that version of the product in DIR.
func Writer(tb testing.TB, dir, version string, args ...string) *exec.Cmd {
	tb.Helper()
	jars, err := classPath(product{dir: dir, version: version})
	check(tb, err)
	const options = opens + " --add-exports java.base/sun.util.calendar=ALL-UNNAMED -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Duser.timezone=UTC"
	return exec.CommandContext(tb.Context(), "java", slices.Concat(strings.Fields(options), []string{"-cp", jars, filepath.Join(testdata(dir), "Written.java")}, args)...)
}
