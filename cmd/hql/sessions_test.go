package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
)

// A line of README or docs that begins with "    $ " is a command, lines behind it with "    > " go on with it, and what
// follows up to the next command or the end of the block is what the command prints. A line "..." stands for any
// lines, "..." within a line for any text. The commands of a document run in one folder, one after the other; -update
// writes what they print, but for what has "...".

// shown is one command of a document.
type shown struct {
	first, last   int // lines of the document, last excluded, of what is printed
	command, want string
}

const indent = "    "

func commandsOf(lines []string) (out []shown) {
	for i := 0; i < len(lines); i++ {
		command, ok := strings.CutPrefix(lines[i], indent+"$ ")
		if !ok {
			continue
		}
		for i++; i < len(lines); i++ {
			more, ok := strings.CutPrefix(lines[i], indent+"> ")
			if !ok {
				break
			}
			command += "\n" + more
		}
		s := shown{first: i, command: command}
		var printed []string
		for ; i < len(lines) && strings.HasPrefix(lines[i], indent) && !strings.HasPrefix(lines[i], indent+"$ "); i++ {
			printed = append(printed, lines[i][len(indent):])
		}
		s.last, s.want = i, strings.Join(printed, "\n")
		out = append(out, s)
		i--
	}
	return out
}

// TestSessions runs the commands of README and docs.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../README.md") {
		t.Run(filepath.Base(file), func(t *testing.T) { runSessions(t, file, "", "") })
	}
}

// TestTutorialHBase follows the tutorial on a real HBase.
func TestTutorialHBase(t *testing.T) {
	address := "hbase://" + hbasetest.Quorum(t) + "/hbase"
	db, err := hql.Open(context.Background(), address, hql.WithWrites(true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	drop := func() {
		if err := db.Client().DropTable(context.Background(), "prod_readings", nil); err != nil && !errors.Is(err, hbase.ErrNoTable) {
			t.Error(err)
		}
	}
	drop()
	defer drop()
	runSessions(t, "../../docs/tutorial.md", "dir:./cluster", address)
}

// runSessions runs the commands of a document with the address in the place of another one.
func runSessions(t *testing.T, file, old, address string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lines := strings.Split(string(text), "\n")
	for _, s := range slices.Backward(runAll(t, dir, lines, old, address)) {
		lines = slices.Replace(lines, s.first, s.last, strings.Split(indent+strings.ReplaceAll(s.want, "\n", "\n"+indent), "\n")...)
	}
	if now := strings.Join(lines, "\n"); *update && now != string(text) {
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runAll gives the sessions that print something else than the document says.
func runAll(t *testing.T, dir string, lines []string, old, address string) (changed []shown) {
	for _, s := range commandsOf(lines) {
		command := s.command
		if old != "" {
			command = strings.ReplaceAll(command, old, address)
		}
		cmd := exec.Command("sh", "-c", "exec 2>&1\n"+command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "NO_COLOR=1", "TZ=UTC")
		out, err := cmd.Output()
		got := strings.TrimRight(string(out), "\n")
		if got == "" && err != nil {
			t.Fatalf("$ %s\n%v", s.command, err)
		}
		if like(s.want).MatchString(got) {
			continue
		}
		if *update && old == "" && !strings.Contains(s.want, "...") {
			s.want = got
			changed = append(changed, s)
			continue
		}
		t.Errorf("$ %s\n%s\nwanted\n%s", s.command, got, s.want)
	}
	return changed
}

// like is the pattern of what a document says is printed.
func like(want string) *regexp.Regexp {
	var b strings.Builder
	between := `\A`
	for _, line := range strings.Split(want, "\n") {
		if strings.TrimSpace(line) == "..." {
			b.WriteString(`(?s:.*)`)
			between = `\n?` // there may be none
			continue
		}
		b.WriteString(between + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), `\.\.\.`, ".*") + " *")
		between = `\n`
	}
	return regexp.MustCompile(b.String() + `\z`)
}
