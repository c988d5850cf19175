package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hql-db/hql/internal/race"
)

// interrupted runs hql and sends it SIGINT after a while, never with 0. status is -1 when the signal came before
// the statement and ended the process.
func interrupted(t *testing.T, after time.Duration, args ...string) (out, errs string, status int, took time.Duration) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"hql", "--format", "csv"}, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		signal := time.AfterFunc(after, func() { _ = cmd.Process.Signal(os.Interrupt) })
		defer signal.Stop()
	}
	hangs := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer hangs.Stop()
	_ = cmd.Wait()
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(begin)
}

// A statement of -c that is interrupted exits with 130, or with 0 and the whole answer.
func TestInterruptedCommand(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("id,n\n")
	for i := range 8000 {
		fmt.Fprintf(&rows, "%d,%d\n", i, i%100)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	store := "dir:" + filepath.Join(dir, "store")
	_, errs, status, _ := interrupted(t, 0, "--connect", store, "-c", fmt.Sprintf(`CREATE TABLE t (id INT, n INT) ROW KEY (id %% 8 AS UINT8, id AS INT32)
		SPLIT AT (X'01', X'02', X'03', X'04', X'05', X'06', X'07'); COPY t FROM '%s/rows.csv'`, dir))
	if status != 0 {
		t.Fatal(errs)
	}
	query := []string{"--connect", store, "--full-scan", "allow", "-c", "SELECT max(id), count(*), count(DISTINCT n), sum(n) FROM t"}
	want, errs, status, took := interrupted(t, 0, query...)
	if status != 0 || !strings.Contains(want, "7999,8000,100,396000") {
		t.Fatalf("exit %d\n%s%s", status, want, errs)
	}
	header, _, _ := strings.Cut(want, "7999")
	ends := map[int]int{}
	for range race.Fewer(30) {
		after := 1 + time.Duration(rand.Int64N(int64(took)))
		out, errs, status, _ := interrupted(t, after, query...)
		ends[status]++
		switch {
		case status == exitOK && out == want:
		case status == exitInterrupted && (out == "" || out == header) && strings.Contains(errs, "interrupted"):
		case status == -1 && (out == "" || out == want): // before hql listens to signals, or when all is done
		default:
			t.Errorf("interrupted after %v: exit %d\n%s%s", after, status, out, errs)
		}
	}
	t.Logf("exit statuses: %v", ends)
}

// What is computed in one place ends, too.
func TestInterruptedExpression(t *testing.T) {
	const long = "SELECT regexp_count(repeat('ab', 300000), '(a|b)*?c|a')" // minutes
	if _, errs, status, took := interrupted(t, 2*time.Second, "-c", long); status != exitInterrupted || took > 20*time.Second {
		t.Errorf("exit %d after %v: %s", status, took, errs)
	}
	if _, errs, status, took := interrupted(t, 0, "--timeout", "1s", "-c", long); status != exitFailed || took > 20*time.Second {
		t.Errorf("exit %d after %v: %s", status, took, errs)
	}
}

// A query whose result nobody reads any more ends, though it has nothing to write for long.
func TestUnreadResult(t *testing.T) {
	store := "dir:" + t.TempDir()
	hql := func(out *os.File, args ...string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Args = append([]string{"hql"}, args...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		if out != nil {
			cmd.Stdout = out
		}
		return cmd
	}
	if err := hql(nil, "--connect", store, "-c", "CREATE TABLE t (k INT PRIMARY KEY, s STRING); INSERT INTO t VALUES (1, 'x')").Run(); err != nil {
		t.Fatal(err)
	}
	const long = "SELECT k FROM t WHERE regexp_count(repeat('ab', 300000) || s, '(a|b)*?c|a') < 0" // minutes
	line, err := hql(nil, "pieces", "--connect", store, "--full-scan", "allow", "-c", long).Output()
	if err != nil {
		t.Fatal(err)
	}
	var cut struct{ Piece string }
	if err := json.Unmarshal(line, &cut); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--full-scan", "allow", "--connect", store, "-c", long}, {"piece", "--connect", store, cut.Piece}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := hql(w, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		r.Close()
		hangs := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", args[0], err)
		}
		hangs.Stop()
	}
}

// Nothing stops the search of one regular expression; a second signal ends the program. A signal before the search begins ends the
// statement, and the next try leaves it more time.
func TestInterruptedTwice(t *testing.T) {
	for wait := time.Second; wait < 30*time.Second; wait *= 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Args = []string{"hql", "-c", "SELECT repeat('ab', 10000000) ~ '(a|b){900}c'"}
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		tooLong := time.After(time.Minute)
		for running := true; running; {
			select {
			case <-ended:
				running = false
			case <-tooLong:
				_ = cmd.Process.Kill()
				<-ended
				t.Fatal("it goes on after many signals")
			case <-time.After(wait):
				_ = cmd.Process.Signal(os.Interrupt)
			}
		}
		switch s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); {
		case ok && s.Signaled() && s.Signal() == syscall.SIGINT:
			return
		case cmd.ProcessState.ExitCode() != exitInterrupted:
			t.Fatalf("it ended with %v", cmd.ProcessState)
		}
	}
	t.Error("the first signal ended each search")
}
