package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hql-db/hql/planner/plan"
)

// fileLimitEnv marks a process of its own in which files cannot grow: see TestSpillFails.
const fileLimitEnv = "HQL_TEST_FILE_LIMIT"

// Files that cannot be written or are cut are an error, not fewer rows.
func TestSpillFails(t *testing.T) {
	const rows = 12_000
	dir := t.TempDir()
	run := func(n plan.Node, broken func()) (count int, err error) {
		src := func(context.Context, *plan.Scan) (Operator, error) {
			return &rowSource{n: rows, pad: strings.Repeat("x", 200)}, nil
		}
		op, err := New(t.Context(), n, src, Options{MemoryLimit: 300_000, SpillDir: dir})
		if err != nil {
			return 0, err
		}
		for {
			batch, err := op.Next(t.Context())
			if count == 0 {
				broken()
			}
			if err == io.EOF {
				return count, op.Close()
			}
			if err != nil {
				op.Close()
				return count, err
			}
			count += len(batch)
		}
	}
	limited := os.Getenv(fileLimitEnv) != ""
	if !limited {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestSpillFails$")
		cmd.Env = append(os.Environ(), fileLimitEnv+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	for name, n := range spillingNodes(rows) {
		whole, err := run(n, func() {})
		if err != nil || whole == 0 {
			t.Fatal(name, whole, err)
		}
		if limited {
			for _, size := range []uint64{10_000, 100_000} {
				restore := limitFiles(t, size)
				count, err := run(n, func() {})
				restore()
				if small := strings.HasPrefix(name, "one") && size == 100_000; !errors.Is(err, syscall.EFBIG) && !small {
					t.Errorf("%s: files end at %d bytes: %d rows of %d, %v", name, size, count, whole, err)
				}
			}
			continue
		}
		for part := range int64(4) {
			if !strings.HasPrefix(name, "sort") && !strings.HasSuffix(name, "join") {
				break // some files are still written when it gives the first rows
			}
			count, err := run(n, func() { cutSpillFiles(t, dir, part) })
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && (err != nil || count != whole || part < 2) {
				t.Errorf("%s: files are cut to %d fourths: %d rows of %d, %v", name, part, count, whole, err)
			}
		}
	}
	if left, _ := filepath.Glob("/proc/self/fd/*"); len(spillFiles(left, dir)) > 0 {
		t.Errorf("files are open: %v", spillFiles(left, dir))
	}
}

// An operator that is closed before its end has closed its files.
func TestSpillFilesClosed(t *testing.T) {
	const rows = 3000
	dir := t.TempDir()
	for name, n := range spillingNodes(rows) {
		open := 0
		for batches := range 4 {
			src := func(context.Context, *plan.Scan) (Operator, error) {
				return &rowSource{n: rows, pad: strings.Repeat("x", 200)}, nil
			}
			op, err := New(t.Context(), n, src, Options{MemoryLimit: 100_000, SpillDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			for range batches + 1 {
				if _, err := op.Next(t.Context()); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(name, err)
				}
			}
			all, err := filepath.Glob("/proc/self/fd/*")
			if err != nil {
				t.Fatal(err)
			}
			open += len(spillFiles(all, dir))
			op.Close()
			if left := spillFiles(all, dir); len(left) > 0 {
				t.Errorf("%s: %d files are open after %d batches", name, len(left), batches+1)
			}
		}
		if open == 0 && !strings.HasPrefix(name, "one") { // those files end with the only row
			t.Errorf("%s: no files were open", name)
		}
	}
}

// Kept rows that are not read to their end leave no file open.
func TestKeptFileClosed(t *testing.T) {
	dir := t.TempDir()
	b := NewKept(Options{MemoryLimit: 1000, SpillDir: dir}, "rows", false)
	if err := Drain(t.Context(), &rowSource{n: 300, pad: "x"}, b.Add); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(spillFiles(all, dir)) == 0 {
		t.Fatal("no file is open", err)
	}
	rows := b.Reader()
	if _, err := rows.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows.Close()
	if left := spillFiles(all, dir); len(left) > 0 {
		t.Errorf("%d files are open", len(left))
	}
}

// limitFiles lets no file of the process grow beyond size bytes until restore is called.
func limitFiles(t *testing.T, size uint64) (restore func()) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Skip(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: old.Max}); err != nil {
		t.Skip(err)
	}
	return func() {
		syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)
		signal.Reset(syscall.SIGXFSZ)
	}
}

// spillFiles gives those of the descriptors that are files in dir, which have no name there.
func spillFiles(descriptors []string, dir string) (out []string) {
	for _, d := range descriptors {
		if to, err := os.Readlink(d); err == nil && strings.HasPrefix(to, dir) {
			out = append(out, d)
		}
	}
	return out
}

// cutSpillFiles leaves so many fourths of the spill files.
func cutSpillFiles(t *testing.T, dir string, fourths int64) {
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range spillFiles(all, dir) {
		st, err := os.Stat(f)
		if err == nil {
			err = os.Truncate(f, st.Size()*fourths/4)
		}
		if err != nil {
			t.Fatal(fmt.Errorf("cut %s: %w", f, err))
		}
	}
}
