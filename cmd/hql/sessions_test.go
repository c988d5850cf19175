package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/demo"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/race"
	"github.com/hql-db/hql/parser"
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
		t.Run(filepath.Base(file), func(t *testing.T) { runSessions(t, file, "", nil) })
	}
}

// demoOnCluster loads the tables of --demo into a real HBase, and names it "cluster" in a configuration of its own: commands of --demo
// then run there.
func demoOnCluster(t *testing.T) (address, configHome string) {
	t.Helper()
	address = "hbase://" + hbasetest.Quorum(t) + "/hbase"
	db, err := hql.Open(t.Context(), address, hql.WithWrites(true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := demo.Load(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropAll(t, address) })
	configHome = t.TempDir()
	if err := os.Mkdir(configHome+"/hql", 0o755); err != nil {
		t.Fatal(err)
	}
	conf := "connections: {cluster: {connect: " + strconv.Quote(address) + ", full_scan: warn, write: true}}\n"
	if err := os.WriteFile(configHome+"/hql/config.yaml", []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	return address, configHome
}

// dropAll drops the tables that hql_catalog defines, and the one that the tutorial leaves without a definition.
func dropAll(t *testing.T, address string) {
	ctx := context.Background()
	db, err := hql.Open(ctx, address, hql.WithWrites(true))
	if err != nil {
		t.Error(err)
		return
	}
	defer db.Close()
	for _, table := range db.Catalog().Tables() {
		if _, err := db.Exec(ctx, "DROP TABLE "+parser.QuoteName(table.Name)); err != nil && !errors.Is(err, hbase.ErrNoTable) {
			t.Error(err)
		}
	}
	if err := db.Client().DropTable(ctx, "prod_readings", nil); err != nil && !errors.Is(err, hbase.ErrNoTable) {
		t.Error(err)
	}
}

const onDemo, onCluster = "hql --demo", "hql --connect cluster"

// TestDocumentsHBase runs the commands of README and docs on a real HBase, and the scripts of the prompt, of EXPLAIN and of all formats.
func TestDocumentsHBase(t *testing.T) {
	race.Skip(t)
	address, configHome := demoOnCluster(t)
	for _, file := range []string{"README.md", "docs/explain.md", "docs/troubleshooting.md"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			runSessions(t, "../../"+file, configHome, strings.NewReplacer(onDemo, onCluster))
		})
	}
	t.Run("tutorial.md", func(t *testing.T) {
		runSessions(t, "../../docs/tutorial.md", configHome, strings.NewReplacer("dir:./cluster", address))
	})
	dir := t.TempDir()
	for _, name := range []string{"demo", "commands", "describe", "errors", "explain", "formats", "infer", "psql", "statements"} {
		text, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+name+".txt", []byte("env HQL_CONNECT=cluster\n"+strings.ReplaceAll(string(text), onDemo, onCluster)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runScripts(t, dir, configHome)
}

// runSessions runs the commands of a document, as onto rewrites them for another store; nil: as they are.
func runSessions(t *testing.T, file, configHome string, onto *strings.Replacer) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lines := strings.Split(string(text), "\n")
	for _, s := range slices.Backward(runAll(t, dir, lines, configHome, onto)) {
		lines = slices.Replace(lines, s.first, s.last, strings.Split(indent+strings.ReplaceAll(s.want, "\n", "\n"+indent), "\n")...)
	}
	if now := strings.Join(lines, "\n"); *update && now != string(text) {
		if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runAll gives the sessions that print something else than the document says.
func runAll(t *testing.T, dir string, lines []string, configHome string, onto *strings.Replacer) (changed []shown) {
	for _, s := range commandsOf(lines) {
		command := s.command
		if onto != nil {
			command = onto.Replace(command)
		}
		cmd := exec.Command("sh", "-c", "exec 2>&1\n"+command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+cmp.Or(configHome, dir), "XDG_CACHE_HOME="+dir, "NO_COLOR=1", "TZ=UTC")
		out, err := cmd.Output()
		got := strings.TrimRight(string(out), "\n")
		if got == "" && err != nil {
			t.Fatalf("$ %s\n%v", s.command, err)
		}
		if like(s.want).MatchString(got) {
			continue
		}
		if *update && onto == nil && !strings.Contains(s.want, "...") {
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
