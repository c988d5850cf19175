package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
}

func openTerminal(t *testing.T, history string, env ...string) *terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Args = []string{"hql", "--demo"} // the test's binary is hql under this name
	cmd.Env = append(os.Environ(), "HQL_HISTORY="+history, "TERM=xterm")
	cmd.Env = append(cmd.Env, env...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, f: f}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(term, f) // ends with an error when the program does
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
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
	x.see("14       6      file_id AS TEXT(6)")
	x.enter("describe 'files'\r")
	x.see("create_time AS TEXT('yyyyMMdd')")
	x.enter("\\nope\r")
	x.see("unknown command")
	x.enter("SELECT 1 AS one \\G\r")
	x.see("one | 1")
	x.enter(" SELECT 'kept out of the history';\r")
	x.see("?column?")
	x.enter("exit\r")
	for range 100 {
		if b, err := os.ReadFile(history); err == nil && strings.Contains(string(b), "\\G") {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	b, err := os.ReadFile(history)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "SELECT user_id, count(*) FROM files WHERE user_id = 2 GROUP BY user_id;\n") || strings.Contains(string(b), "kept out") {
		t.Errorf("history:\n%s", b)
	}
	if st, err := os.Stat(history); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("history file: %v %v", st.Mode(), err)
	}
}
