package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal is hql --demo in a pseudo-terminal.
type terminal struct {
	t  *testing.T
	f  *os.File
	mu sync.Mutex
	b  strings.Builder
	at int // what was waited for lies before

	done chan struct{} // closed at the end of the program
	err  error         // its exit status
}

// wait waits for the program's end.
func (x *terminal) wait() error {
	select {
	case <-x.done:
		return x.err
	case <-time.After(10 * time.Second):
		return errors.New("the session does not end")
	}
}

func openTerminal(t *testing.T, history string, args ...string) *terminal {
	t.Helper()
	return openTerminalWith(t, history, nil, args...)
}

// openTerminalWith is openTerminal with more of an environment.
func openTerminalWith(t *testing.T, history string, env []string, args ...string) *terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"hql", "--demo"}, args...) // the test's binary is hql under this name
	cmd.Env = append(os.Environ(), "HQL_HISTORY="+history, "TERM=xterm", "HOME="+filepath.Dir(history))
	cmd.Env = append(cmd.Env, env...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, f: f, done: make(chan struct{})}
	go func() {
		defer close(term.done)
		term.err = cmd.Wait()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(term, f) // ends with an error when the program does
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-term.done
		f.Close()
		<-read
	})
	return term
}

func (x *terminal) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(p)
}

// see waits until text is printed after what was seen before.
func (x *terminal) see(text string) {
	x.t.Helper()
	for range 400 {
		x.mu.Lock()
		i := strings.Index(x.b.String()[x.at:], text)
		if i >= 0 {
			x.at += i + len(text)
		}
		x.mu.Unlock()
		if i >= 0 {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	x.t.Fatalf("never saw %q in %q", text, x.b.String()[x.at:])
}

func (x *terminal) enter(keys string) {
	x.t.Helper()
	if _, err := x.f.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

func TestREPL(t *testing.T) {
	history := filepath.Join(t.TempDir(), "state", "history")
	x := openTerminal(t, history)
	x.see("hql> ")
	for line := range strings.Lines(greeting) { // what it proposes to try has an answer
		if sql := strings.TrimSpace(line); strings.HasSuffix(sql, ";") {
			x.paste(sql)
			x.see("rows, ")
		}
	}
	x.enter("SELECT user_id, count(*)\r")
	x.see("  -> ")
	x.enter("FROM files WHERE user_id = 2 GROUP BY user_id;\r")
	x.see("       2 |     2")
	x.see("(1 row, ")
	x.see("hql> ")
	x.enter("\x1b[3~") // Delete on an empty line does not end the session
	x.enter("SELECT '中国'\x1b[D\x1b[Dx")
	x.see("SELECT '中x国'")
	x.enter("\x03") // ^C empties the line and the statement
	x.see("hql> ")
	x.enter("SELECT 'a\r")
	x.see("  '> ")
	x.enter("\x03")
	x.see("hql> ")
	x.enter("\x1b[200~SELECT\t7 AS pasted;\r\x1b[201~")
	x.see(" pasted")
	x.see("      7")
	x.enter("SELECT nothing;\r")
	x.see("unknown column")
	x.enter("\\d files\r")
	x.see("14      6      file_id      TEXT(6)           000001    1\r\n")
	x.enter("describe 'files'\r")
	x.see("create_time  TEXT('yyyyMMdd')")
	x.enter("\\nope\r")
	x.see("unknown command")
	x.enter("SELECT 1 AS one \\G\r")
	x.see("one | 1")
	x.enter(" SELECT 'kept out of the history';\r")
	x.see("?column?")
	x.enter("SELECT 'two\r")
	x.see("  '> ")
	x.enter("lines' AS\r")
	x.see("  -> ")
	x.enter("\\timing\r")
	x.see("timing is off")
	x.enter("t;\r")
	x.see("two\\nlines")
	x.enter("exit\r")
	for range 100 {
		if b, err := os.ReadFile(history); err == nil && strings.Contains(string(b), "\\timing") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	b, err := os.ReadFile(history)
	if err != nil {
		t.Fatal(err)
	}
	if want := "\\timing\nSELECT 'two\x01lines' AS\x01t;\n"; !strings.Contains(string(b), want) {
		t.Errorf("history:\n%s", b)
	}
	if !strings.Contains(string(b), "SELECT user_id, count(*)\x01FROM files WHERE user_id = 2 GROUP BY user_id;\n") || strings.Contains(string(b), "kept out") {
		t.Errorf("history:\n%s", b)
	}
	if st, err := os.Stat(history); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("history file: %v %v", st.Mode(), err)
	}
}

// A statement of several lines comes back as it was typed, comments and texts included, and is edited there.
func TestREPLRecall(t *testing.T) {
	history := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(history, []byte("SELECT 'from an earlier version' AS v;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const up, altEnter = "\x1b[A", "\x1b\r"
	x := openTerminal(t, history)
	x.see("hql> ")
	x.enter("-- which one\rSELECT 10 AS n, -- the first\r  'two\r lines; -- '' ␤' AS t;\r")
	x.see("10 | two\\n lines; -- ' ␤")
	x.see("hql> ")
	x.enter(up)
	x.see("-- which one\r\n  -> SELECT 10 AS n, -- the first\r\n  ->   'two\r\n  ->  lines; -- '' ␤' AS t;")
	x.enter("\x7f, 12 AS m;" + altEnter)
	x.see("10 | two\\n lines; -- ' ␤ | 12")
	x.see("hql> ")
	x.enter("\x10\x10\x10") // ^P goes from statement to statement
	x.see("earlier version' AS v;")
	x.enter("\r")
	x.see(" from an earlier version\r\n")
	x.see("hql> ")
	x.enter("SELECT 7,\r")
	x.see("  -> ")
	x.enter("\x10\x01/* \x05 */ 8;\r") // the last statement as a comment of another
	x.see("7 |        8")
	x.see("hql> ")
	x.enter("\x10") // the whole of it is the last now
	x.see("SELECT 7,\r\n  -> /* SELECT 'from an earlier version' AS v; */ 8;")
	x.enter("\r")
	x.see("7 |        8")
	x.see("hql> ")
	x.enter("\x12which\r") // found with ^R
	x.see("10 | two\\n lines; -- ' ␤ | 12")
	x.enter("\\q\r")
	if err := x.wait(); err != nil {
		t.Error(err)
	}
	first := "-- which one\nSELECT 10 AS n, -- the first\n  'two\n lines; -- '' ␤' AS t;"
	second := strings.TrimSuffix(first, ";") + ", 12 AS m;"
	want := []string{
		"SELECT 'from an earlier version' AS v;", first, second, "SELECT 'from an earlier version' AS v;",
		"SELECT 7,\n/* SELECT 'from an earlier version' AS v; */ 8;", second, `\q`,
	}
	if got := readHistory(history); !slices.Equal(got, want) {
		t.Errorf("history: %q, want %q", got, want)
	}
}

// Keys that readline does not expect where they are typed.
func TestREPLKeys(t *testing.T) {
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	x.enter("\x12nothing\x07\x12\x03") // ^R where there is no history, left by ^G and by ^C
	x.see("hql> ")
	x.enter("SELECT 'it' ||\x00 '''s' AS none_lost -- it's a comment\r") // ^@ is no end
	x.see("\r  -> ")
	x.enter(", E'a\\'\r")
	x.see("\r  '> ")
	x.enter("' AS b;\r")
	x.see("it's      | a'\\n")
	x.see("hql> ")
	x.enter("SELECT 2 AS two;\r")
	x.see("  2\r\n")
	x.see("hql> ")
	x.enter("SELECT 3\x12\x1b[3~\x1b[200~none_l\x1b[201~\r") // what is pasted is searched for, Delete is nothing there
	x.see("it's      | a'\\n")
	x.see("hql> ")
	x.enter("SELECT 45\x12\x1b[200~2 AS\x1b[201~\x07\x1b[D\x1b[3~ AS four;\r") // it leaves the line as it was
	x.see("    4\r\n")
}

func TestREPLCommands(t *testing.T) {
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i s/41/42/ \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("EDITOR", editor)
	t.Setenv("VISUAL", "")
	x := openTerminal(t, filepath.Join(dir, "history"))
	x.see("hql> ")
	x.enter("SELECT 41 AS edited\r")
	x.see("  -> ")
	x.enter("\\e\r")
	x.see("SELECT 42 AS edited\r\n")
	x.see("  -> ")
	x.enter("\\g\r")
	x.see(" edited\r\n")
	x.see("     42")
	x.see("hql> ")
	x.enter("\\e\r") // the last statement, which runs at once
	x.see("     42")
	x.see("hql> ")
	x.enter("SELECT 5 AS again \\watch 0.1\r")
	x.see("(every 0.1 s)")
	x.see("    5")
	x.see("(every 0.1 s)")
	x.see("    5")
	x.enter("\x03")
	x.see("hql> ")
	x.enter("SELECT\r")
	x.see("  -> ")
	x.enter("\\set n 6\r") // a command inside a statement leaves it as it is
	x.see("  -> ")
	x.enter(":n AS six;\r")
	x.see("  6")
	x.enter("\\! cat\r") // the terminal is the command's
	x.see("cat\r\n")
	time.Sleep(100 * time.Millisecond)
	x.enter("for the shell\r\x04")
	x.see("for the shell\r\nfor the shell")
	x.see("hql> ")
	x.enter("SELECT 'a' \\g |grep b\r")
	x.see("hql> ")
	x.enter("\\pset pager off\r")
	x.enter("list\r")
	x.see("| (LEFT(MD5(uid), 5), uid AS TEXT) (LEFT(MD5(idcard…\r\n") // cut at the screen's edge
	x.see("user_ops_reversed")
	x.enter("\\dt FOO_?al*\r")
	x.see("| row key\r\n")
	x.see("+-")
	x.see("\r\n foo_salted | table |") // the first, and the last
	x.see("id AS TEXT)\r\n\x1b")
	x.enter("\\d nothing*\r")
	x.see("| row key\r\n")
	x.enter("help show\r")
	x.see("SHOW TABLES |")
	x.enter("\\q\r")
	if err := x.wait(); err != nil {
		t.Error(err)
	}
}

func readHistory(path string) []string { return (&history{path: path}).load() }

// product reads the 34 messages n times over: 34^n rows.
func product(n int) string {
	from := "messages_random m0"
	for i := 1; i < n; i++ {
		from += fmt.Sprintf(" CROSS JOIN messages_random m%d", i)
	}
	return from
}

func (x *terminal) paste(text string) {
	x.t.Helper()
	x.enter("\x1b[200~" + text + "\x1b[201~\r")
}

func TestREPLInterrupt(t *testing.T) {
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	for _, sql := range []string{
		"SELECT count(*) FROM " + product(6) + " ALLOW FULL SCAN;",
		"SELECT m0.message_id FROM " + product(6) + " WHERE m0.age + m5.age < 0 ALLOW FULL SCAN;",
		"SELECT m0.message_id, count(*) FROM " + product(6) + " GROUP BY m0.message_id ORDER BY 2 ALLOW FULL SCAN;",
		"SELECT m0.message_id FROM " + product(6) + " ORDER BY m5.message_id || m0.message_id ALLOW FULL SCAN;",
	} {
		x.paste(sql)
		x.see("rows read, ") // the line of progress
		start := time.Now()
		x.enter("\x03")
		x.see("\r\x1b[Kerror: interrupted\r\n") // the line is gone
		took := time.Since(start)
		t.Logf("%v", took)
		if took > 10*time.Second { // they take hours
			t.Errorf("%s: ended %v after ^C", sql, took)
		}
		x.see("hql> ")
	}
	x.enter("SELECT 7 AS alive;\r")
	x.see("    7")
	x.enter("\x03") // it ends nothing
	x.see("(^C again, ^D or \\q leave)")
	x.enter("SELECT\r")
	x.see("  -> ")
	x.enter("\x03") // it ends the statement: nothing is asked
	x.see("hql> ")
	x.enter("word\x03")
	x.see("hql> ")
	x.enter("\x03")
	x.see("(^C again, ^D or \\q leave)")
	x.enter("\x03")
	if err := x.wait(); err != nil {
		t.Error(err)
	}
}

func TestREPLPager(t *testing.T) {
	t.Setenv("PAGER", "sed s/^/P:/")
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	x.enter("SELECT message_id FROM messages_random LIMIT 20;\r") // 22 of 24 lines
	x.see("\r\n message_id")
	x.see("(20 rows, ")
	x.enter("SELECT message_id FROM messages_random LIMIT 21;\r")
	x.see("P: message_id")
	x.see("\r\nP: ")
	x.see("(21 rows, ")
	x.enter("\\pset pager off\r")
	x.see("pager is off")
	x.enter("SELECT message_id FROM messages_random LIMIT 21;\r")
	x.see("\r\n message_id")
	x.see("(21 rows, ")
	x.enter("\\pset pager on\r")
	x.see("pager is on")
	x.enter("SELECT 1 AS one \\g |cat\r") // is no screen
	x.see("\r\n one")
	x.enter("\\! true\r")
	x.see("hql> ")
	x.enter("SELECT count(*) FROM foo_salted ALLOW FULL SCAN;\r")
	x.see("; 4 scans, 4 regions, 5 rows read)")
	x.enter("SELECT name FROM files WHERE user_id = 1 AND create_time = DATE '2012-09-02' AND file_id = 1;\r")
	x.see("; 1 get, 1 region, 1 row read)")
}

// A pager that is left early ends the query, which is no error.
func TestREPLPagerLeft(t *testing.T) {
	t.Setenv("PAGER", "head -2")
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	x.paste("SELECT m0.message_id FROM " + product(6) + " ALLOW FULL SCAN;")
	x.see("\r\n message_id")
	x.see("rows, ")
	x.see("hql> ")
}

func TestREPLCompletion(t *testing.T) {
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	x.enter("sel\tcount(*) from fil\twhere user\t= 2;\r")
	x.see("select count(*) from files where user_id = 2;\r\n")
	x.see("     2\r\n")
	x.see("hql> ")
	x.enter("select  from sites limit 1;")
	x.enter("\x01\x1b[1;5C\x1b[Ddom\t") // in the middle of the line
	x.see("select domain from sites limit 1;")
	x.enter("\r")
	x.see(" domain")
	x.see("hql> ")
}

func TestREPLStartup(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".hqlrc"), []byte("\\set u 2\n\\pset null '-'\n\\timing\nSELECT 'from the file' AS hello;\nSELECT nothing;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := openTerminal(t, filepath.Join(dir, "history"))
	x.see(" from the file")
	x.see("unknown column") // keeps nobody out
	x.see("hql> ")
	x.enter("SELECT count(*) AS n, NULL AS none FROM files WHERE user_id = :u;\r")
	x.see(" 2 | ")
	x.see("-")
	x.see("hql> ")
	x.enter("\\q\r")
	if err := x.wait(); err != nil {
		t.Error(err)
	}
}

// \x auto turns only tables that are wider than the screen.
func TestREPLAuto(t *testing.T) {
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	x.enter("\\x auto\r")
	x.see("format is table, or vertical where that is too wide")
	x.enter("SELECT 1 AS narrow, NULL AS none;\r")
	x.see(" narrow | none\r\n")
	x.paste("SELECT repeat('中', 25) AS a, repeat('x', 44) AS b;") // 2 + 3 + 50 + 44: as wide as the screen
	x.see("| xxxx")
	x.enter("\\pset border 2 \\\\ SELECT repeat('中', 25) AS a, repeat('x', 44) AS b;\r") // two more
	x.see("-[ row 1 ]-\r\na | 中")
	x.enter("\\pset border 1\r")
	x.paste("SELECT repeat('中', 26) AS a, NULL AS b, repeat('x', 50) AS c;")
	x.see("-[ row 1 ]-\r\na | 中")
	x.see("b | \x1b[2mNULL\x1b[0m\r\n")
	x.enter("\\x off\r")
	x.see("format is table\r\n")
	x.enter("\\x\r")
	x.see("format is vertical\r\n")
	x.enter("\\x maybe\r")
	x.see("\\x is on, off or auto, not maybe")
}

// Nothing in the data drives the terminal, whatever the format.
func TestREPLControlCharacters(t *testing.T) {
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	for _, format := range []string{"table", "csv", "tsv", "json", "jsonl"} {
		x.enter("\\format " + format + "\r")
		x.enter("SELECT 'a' || chr(155) || '31mb' AS driven;\r") // the C1 control that begins a sequence
		if strings.HasPrefix(format, "json") {
			x.see(`a\u009b31mb`)
		} else {
			x.see(`a\x9B31mb`)
		}
		x.see("hql> ")
	}
}

// What commands print goes to the pager, too.
func TestREPLPagedCommands(t *testing.T) {
	t.Setenv("PAGER", "sed s/^/P:/")
	x := openTerminal(t, filepath.Join(t.TempDir(), "history"))
	x.see("hql> ")
	x.enter("\\df\r")
	x.see("P:hash ")
	x.see("hql> ")
	x.enter("\\df md5\r")
	x.see("\r\nhash ")
	x.enter("\\?\r")
	x.see("P:  \\g ")
	x.see("hql> ")
	x.enter("\\d sites\r")
	x.see("\r\nrow key, stored in 'sites'")
	x.enter("CREATE VIEW pages AS SELECT domain FROM sites;\r")
	x.see("hql> ")
	x.enter("\\d pages\r\\x off\r")
	x.see("CREATE VIEW pages AS SELECT domain FROM sites;\r\n\x1b") // nothing of rows behind it, or before
	x.enter("\\d\r")
	x.see("P:")
	x.see(" user_ops_reversed")
	x.see("(23 rows, ") // behind the list
}

// A statement that writes tells how far it is, and ends at ^C.
func TestREPLCopyProgress(t *testing.T) {
	dir := t.TempDir()
	b := []byte("sku\n")
	for i := range 2_000_000 {
		b = append(strconv.AppendInt(append(b, 's'), int64(i), 10), '\n')
	}
	file := filepath.Join(dir, "prices.csv")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	x := openTerminal(t, filepath.Join(dir, "history"))
	x.see("hql> ")
	x.enter("COPY prices FROM '" + file + "';\r")
	x.see(" rows written, ")
	x.see(" rows/s, ")
	x.enter("\x03")
	x.see(" rows written before stay\r\n")
}
