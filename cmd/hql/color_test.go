package main

import (
	"path/filepath"
	"testing"
)

// A terminal gets EXPLAIN in colours, unless the user's environment says no.
func TestExplainColours(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want string
	}{
		{[]string{"NO_COLOR="}, "\x1b[1;31mMISSES the rowkey prefix\x1b[0m\r\n"},
		{[]string{"NO_COLOR=1"}, "full scan files: MISSES the rowkey prefix\r\n"},
		{[]string{"NO_COLOR=", "TERM=dumb"}, "full scan files: MISSES the rowkey prefix\r\n"},
	} {
		x := openTerminalWith(t, filepath.Join(t.TempDir(), "history"), c.env)
		x.see("hql> ")
		x.enter("EXPLAIN SELECT * FROM files WHERE name = 'x';\r")
		x.see(c.want)
	}
}
