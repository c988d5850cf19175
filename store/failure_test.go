package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	hfilter "github.com/tsuna/gohbase/filter"
	"github.com/tsuna/gohbase/hrpc"
	"github.com/tsuna/gohbase/pb"
)

// smallDisk is a file system that is full after some bytes of the files whose names end in only.
type smallDisk struct {
	vfs.FS
	only string
	left atomic.Int64
}

func (d *smallDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	return d.file(f, name), err
}

func (d *smallDisk) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, c)
	return d.file(f, to), err
}

func (d *smallDisk) file(f vfs.File, name string) vfs.File {
	if f == nil || !strings.HasSuffix(name, d.only) {
		return f
	}
	return &fileOnSmallDisk{f, d}
}

// Unwrap is what this file system stands on.
func (d *smallDisk) Unwrap() vfs.FS { return d.FS }

type fileOnSmallDisk struct {
	vfs.File
	disk *smallDisk
}

func (f *fileOnSmallDisk) Write(b []byte) (int, error) {
	if f.disk.left.Add(-int64(len(b))) < 0 {
		return 0, fmt.Errorf("write: %w", syscall.ENOSPC)
	}
	return f.File.Write(b)
}

// fullDiskEnv names a directory that a process of its own fills: see TestFullDisk.
const fullDiskEnv = "HQL_TEST_FILL"

// A full disk is an error of calls, not the end of the process: later calls and opening the store again fail at once,
// and when there is room again all that was acknowledged is there. A store that failed keeps goroutines, so that
// all this is done in a process of its own.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(fullDiskEnv); dir != "" {
		fillDisk(dir)
		return
	}
	const onlyTables = -1 // there is room for the log, and none for what it is kept in later
	for _, bytes := range []int64{onlyTables, 0, 100, 300, 700, 2_000, 5_000, 20_000, 1_000_000, 18_000_000, 40_000_000} {
		dir := filepath.Join(t.TempDir(), "data")
		cmd := exec.Command(os.Args[0], "-test.run", "^TestFullDisk$")
		cmd.Env = append(os.Environ(), fullDiskEnv+"="+dir, fmt.Sprintf("%s_BYTES=%d", fullDiskEnv, bytes))
		kill := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		kill.Stop()
		var acknowledged int
		if _, scanErr := fmt.Sscanf(string(out), "acknowledged %d", &acknowledged); err != nil || scanErr != nil {
			t.Fatalf("%d bytes: %v\n%s", bytes, err, out)
		}
		s, err := Open(Options{Dir: dir})
		if err != nil {
			t.Errorf("%d bytes: with room again: %v", bytes, err)
			continue
		}
		w := &world{Store: s, t: t}
		for i := range acknowledged {
			if r, err := s.Get(must(hrpc.NewGetStr(context.Background(), "t", fmt.Sprint(i)))); err != nil || len(r.Cells) != 1 {
				t.Errorf("%d bytes: row %d of %d acknowledged ones: %v, %v", bytes, i, acknowledged, r, err)
				break
			}
		}
		w.Close()
		t.Logf("%d bytes: %d rows acknowledged", bytes, acknowledged)
	}
}

// fillDisk writes rows into a store until it fails, and tells how many were acknowledged.
func fillDisk(dir string) {
	disk := &smallDisk{FS: vfs.Default}
	var bytes int64
	fmt.Sscan(os.Getenv(fullDiskEnv+"_BYTES"), &bytes)
	if bytes < 0 {
		disk.only = ".sst"
	}
	disk.left.Store(max(bytes, 0))
	check := func(what string, f func() error) error {
		done := make(chan error, 1)
		go func() { done <- f() }()
		select {
		case err := <-done:
			return err
		case <-time.After(time.Minute): // thousands of writes, each synced, on a disk that others use
			fmt.Println(what, "does not return")
			os.Exit(1)
			return nil
		}
	}
	acknowledged := 0
	err := check("filling", func() error {
		s, err := Open(Options{Dir: dir, fs: disk})
		if err != nil {
			return err
		}
		value := []byte(strings.Repeat("v", 10_000))
		err = s.Admin().CreateTable(hrpc.NewCreateTable(context.Background(), []byte("t"), map[string]map[string]string{"f": nil}))
		for ; err == nil; acknowledged++ {
			_, err = s.Put(must(hrpc.NewPutStr(context.Background(), "t", fmt.Sprint(acknowledged), map[string]map[string][]byte{"f": {"q": value}})))
		}
		acknowledged = max(0, acknowledged-1)
		if _, err := s.Get(must(hrpc.NewGetStr(context.Background(), "t", "0"))); err == nil {
			return errors.New("a store that has failed still answers")
		}
		s.Close()
		if _, again := Open(Options{Dir: dir, fs: disk}); again == nil {
			return errors.New("opened on a full disk")
		}
		return err
	})
	if !errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), syscall.ENOSPC.Error()) {
		fmt.Println("the error does not name the cause:", err)
		os.Exit(1)
	}
	fmt.Println("acknowledged", acknowledged)
	os.Exit(0) // what Pebble still holds is not waited for
}

// A damaged block is an error of the call that reads it: no rows are left out, and the process goes on.
func TestDamagedBlock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := openDir(t, dir)
	w.create("t", map[string]map[string]string{"f": nil})
	for i := range 2000 {
		w.put(fmt.Sprintf("%05d", i), 1, fmt.Sprintf("f:x=%d", i*7919))
	}
	want := w.scan("", "")
	if err := w.db.Flush(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal("no tables on disk", err)
	}
	damaged := 0
	for _, name := range tables {
		size := int64(len(must(os.ReadFile(name))))
		for at := int64(100); at < size; at += max(1, size/20) {
			copied := copyOf(t, dir)
			damage(t, filepath.Join(copied, filepath.Base(name)), at)
			s, err := Open(Options{Dir: copied, Now: (&testClock{time.UnixMilli(1_000_000)}).now})
			if err != nil {
				damaged++
				continue
			}
			got, err := allRows(s, "t")
			switch {
			case isClass(err, classScannerReset):
				t.Errorf("byte %d of %s is to be read again: %v", at, name, err)
			case err != nil:
				damaged++
			case got != len(strings.Split(strings.TrimSpace(want), "\n")):
				t.Errorf("byte %d of %s: %d rows without an error", at, name, got)
			}
			s.Close()
		}
	}
	if damaged == 0 {
		t.Error("no damage was noticed")
	}
}

// A damaged byte of the log loses no acknowledged write without an error. One in the last record of a log that was not
// closed looks like a record that was never acknowledged.
func TestDamagedLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := openDir(t, dir)
	w.create("t", map[string]map[string]string{"f": nil})
	const rows = 8
	for i := range rows {
		w.put(fmt.Sprint(i), 1, "f:x="+strings.Repeat(fmt.Sprint(i), 40))
	}
	w.put("large", 1, "f:x="+strings.Repeat("l", 70<<10)) // in three blocks
	w.put("last", 1, "f:x=1")
	killed := copyOf(t, dir)
	w.Close()
	for dir, least := range map[string]int{dir: rows + 2, killed: rows + 1} {
		logs := must(filepath.Glob(filepath.Join(dir, "*.log")))
		if len(logs) != 1 {
			t.Fatal(logs)
		}
		refused, size := 0, int64(len(must(os.ReadFile(logs[0]))))
		for at := int64(0); at < size; at += 61 + at/5 {
			copied := copyOf(t, dir)
			damage(t, filepath.Join(copied, filepath.Base(logs[0])), at)
			s, err := Open(Options{Dir: copied, Now: (&testClock{time.UnixMilli(1_000_000)}).now})
			if err != nil {
				refused++
				continue
			}
			if got, err := allRows(s, "t"); err != nil || got < least {
				t.Errorf("byte %d of %d of %s: %d rows, want %d: %v", at, size, logs[0], got, least, err)
			}
			s.Close()
		}
		if refused == 0 {
			t.Errorf("%s: no damage was noticed", dir)
		}
	}
}

func damage(t *testing.T, name string, at int64) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 0x55
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func allRows(s *Store, table string) (int, error) {
	sc := s.Scan(must(hrpc.NewScanStr(context.Background(), table)))
	defer sc.Close()
	for n := 0; ; n++ {
		if _, err := sc.Next(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// unreadable is a file system of which one read fails.
type unreadable struct {
	vfs.FS
	left atomic.Int64 // reads before it
}

func (d *unreadable) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.Open(name, o...)
	if err != nil {
		return nil, err
	}
	return &unreadableFile{f, d}, nil
}

// Unwrap is what this file system stands on.
func (d *unreadable) Unwrap() vfs.FS { return d.FS }

type unreadableFile struct {
	vfs.File
	disk *unreadable
}

func (f *unreadableFile) ReadAt(b []byte, at int64) (int, error) {
	if f.disk.left.Add(-1) == -1 {
		return 0, fmt.Errorf("read: %w", syscall.EIO)
	}
	return f.File.ReadAt(b, at)
}

// callsThatRead are calls that read cells of the table of TestReadFails, each in its own way. They give what was read, or what
// the call has left.
var callsThatRead = map[string]func(s *Store) (string, error){
	"scan":                 func(s *Store) (string, error) { return cellsRead(s) },
	"scan of all versions": func(s *Store) (string, error) { return cellsRead(s, hrpc.MaxVersions(5)) },
	"scan backwards":       func(s *Store) (string, error) { return cellsRead(s, hrpc.Reversed()) },
	"scan of columns":      func(s *Store) (string, error) { return cellsRead(s, families("f:b g:c")) },
	"scan of rows by their values": func(s *Store) (string, error) {
		return cellsRead(s, hrpc.Filters(scvf("f:b", hfilter.Equal, bin("7"), true, true)))
	},
	"scan of columns by the values of their rows, backwards": func(s *Store) (string, error) {
		return cellsRead(s, hrpc.Reversed(), families("f:b f:x"), hrpc.Filters(scvf("f:b", hfilter.Equal, bin("7"), true, true)))
	},
	"scan of rows by all their cells": func(s *Store) (string, error) {
		return cellsRead(s, hrpc.Filters(hfilter.NewSkipFilter(hfilter.NewQualifierFilter(cmp(hfilter.NotEqual, bin("x"))))))
	},
	"scan of rows by their keys": func(s *Store) (string, error) { return cellsRead(s, hrpc.Filters(fuzzy("????7"))) },
	"scan of ranges": func(s *Store) (string, error) {
		return cellsRead(s, hrpc.Filters(ranges("[00010,00020)", "[00100,00110]")))
	},
	"scan of ranges of columns": func(s *Store) (string, error) {
		return cellsRead(s, hrpc.Filters(hfilter.NewColumnRangeFilter([]byte("b"), []byte("x"), true, false)))
	},
	"get": func(s *Store) (string, error) { return rowRead(s, "00123", hrpc.MaxVersions(5)) },
	"gets": func(s *Store) (string, error) {
		var batch []hrpc.Call
		for _, row := range []string{"00001", "00070", "00149", "no row"} {
			batch = append(batch, must(hrpc.NewGetStr(context.Background(), "t", row)))
		}
		var b strings.Builder
		res, _ := s.SendBatch(context.Background(), batch)
		for _, r := range res {
			if r.Error != nil {
				return "", r.Error
			}
			b.WriteString(format(hrpc.ToLocalResult(r.Msg.(*pb.GetResponse).Result)) + "; ")
		}
		return b.String(), nil
	},
	"increment": func(s *Store) (string, error) {
		if _, err := s.Increment(must(hrpc.NewIncStrSingle(context.Background(), "t", "00123", "g", "n", 5))); err != nil {
			return "", err
		}
		return rowRead(s, "00123")
	},
	"check and put": func(s *Store) (string, error) {
		put := must(hrpc.NewPutStr(context.Background(), "t", "00123", map[string]map[string][]byte{"f": {"new": []byte("v")}}))
		done, err := s.CheckAndPut(put, "f", "b", []byte("3"))
		if err != nil {
			return "", err
		}
		row, err := rowRead(s, "00123")
		return fmt.Sprint(done, row), err
	},
	"split": func(s *Store) (string, error) {
		if err := s.Split("t", []byte("00070")); err != nil {
			return "", err
		}
		return cellsRead(s)
	},
}

// cellsRead gives how many rows and cells a scan gives, and the last row.
func cellsRead(s *Store, o ...func(hrpc.Call) error) (string, error) {
	sc := s.Scan(must(hrpc.NewScanStr(context.Background(), "t", o...)))
	defer sc.Close()
	cells, last := 0, ""
	for n := 0; ; n++ {
		r, err := sc.Next()
		if err == io.EOF {
			return fmt.Sprintf("%d rows, %d cells, %.200s", n, cells, last), nil
		}
		if err != nil {
			return "", err
		}
		cells += len(r.Cells)
		last = format(r)
	}
}

func rowRead(s *Store, row string, o ...func(hrpc.Call) error) (string, error) {
	r, err := s.Get(must(hrpc.NewGetStr(context.Background(), "t", row, o...)))
	if err != nil {
		return "", err
	}
	return format(r), nil
}

// A key that ends within its row or soon behind it is an error of the scan that comes upon it.
func TestMalformedKey(t *testing.T) {
	for _, end := range []string{"row", "row\x00", "row\x00\x01", "row\x00\x01q"} {
		w := newWorld(t)
		w.put("a", 1, "f:q=")
		tbl, _ := w.catalog.lookup("t")
		key := append(appendPrefix(nil, tbl.id, tbl.families[0].id), end...)
		if err := w.db.Set(key, []byte{valuePrefix}, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
		if n, err := allRows(w.Store, "t"); err == nil || !strings.Contains(err.Error(), "malformed key") {
			t.Errorf("%q: %d rows, %v", end, n, err)
		}
	}
}

// A read that fails is an error of the call that needs it, whichever of all reads it is: nothing is left out or made up.
func TestReadFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := openDir(t, dir)
	w.create("t", map[string]map[string]string{"f": {"VERSIONS": "5"}, "g": nil})
	for i := range 150 {
		row := fmt.Sprintf("%05d", i)
		w.put(row, 1, "f:x="+strings.Repeat("x", 500), fmt.Sprintf("f:b=%d", i%10), "g:c=c", "g:n=\x00\x00\x00\x00\x00\x00\x00\x01")
		w.put(row, 2, "f:x=2")
	}
	if err := w.db.Flush(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	files := vfs.NewMem()
	if _, err := vfs.Clone(vfs.Default, files, dir, dir); err != nil {
		t.Fatal(err)
	}
	// run makes the read behind so many fail: of those of the opening and the call, or of the call alone.
	run := func(call func(s *Store) (string, error), opening bool, at int64) (got string, reads int64, err error) {
		disk := &unreadable{FS: vfs.NewMem()}
		disk.left.Store(math.MaxInt64)
		if opening {
			disk.left.Store(at)
		}
		if _, err := vfs.Clone(files, disk.FS, dir, dir); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Dir: dir, Now: (&testClock{time.UnixMilli(1_000_000)}).now, fs: disk})
		if err == nil {
			if !opening {
				for !s.db.Metrics().Table.InitialStatsCollectionComplete { // it reads, too
					time.Sleep(100 * time.Microsecond)
				}
				disk.left.Store(at)
			}
			got, err = call(s)
			s.Close()
		}
		return got, at - disk.left.Load(), err
	}
	for name, call := range callsThatRead {
		opening := name == "scan"
		want, _, err := run(call, opening, math.MaxInt32)
		if err != nil {
			t.Fatal(name, err)
		}
		failed := int64(0)
		for ; ; failed++ {
			got, reads, err := run(call, opening, failed)
			if reads <= failed {
				break
			}
			if err == nil && got != want || err != nil && !strings.Contains(err.Error(), syscall.EIO.Error()) {
				t.Errorf("%s: read %d fails: %q, %v; want %q", name, failed, got, err, want)
			}
		}
		t.Logf("%s: %d reads failed, %.60q", name, failed, want)
		if failed == 0 {
			t.Errorf("%s: no read failed", name)
		}
	}
}

// noLogs makes no log of writes.
type noLogs struct{ vfs.FS }

func (n noLogs) Unwrap() vfs.FS { return n.FS }

func (n noLogs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasSuffix(name, ".log") {
		return nil, syscall.ENOSPC
	}
	return n.FS.Create(name, c)
}

// noLogsEnv names a directory that a process of its own opens without room for a log: see TestOpeningEndsBeforeItsLog.
const noLogsEnv = "HQL_TEST_NO_LOGS"

// A store whose opening ends between the last process's log, which is in tables by then, and the next one opens again, and
// has one log. Pebble keeps a goroutine when it cannot open a store, so that this is done in a process of its own.
func TestOpeningEndsBeforeItsLog(t *testing.T) {
	if dir := os.Getenv(noLogsEnv); dir != "" {
		_, err := Open(Options{Dir: dir, fs: noLogs{vfs.Default}})
		fmt.Println(err)
		os.Exit(0)
	}
	dir := filepath.Join(t.TempDir(), "data")
	w := openDir(t, dir)
	w.create("t", map[string]map[string]string{"f": nil})
	w.put("a", 1, "f:x=1")
	want := w.scan("", "")
	w.Close()
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestOpeningEndsBeforeItsLog$")
		cmd.Env = append(os.Environ(), noLogsEnv+"="+dir)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), syscall.ENOSPC.Error()) {
			t.Fatalf("%v: %s", err, out)
		}
		w = openDir(t, dir)
		w.want("rows", w.scan("", ""), want)
		w.Close()
		if logs := must(filepath.Glob(filepath.Join(dir, "*.log"))); len(logs) != 1 {
			t.Errorf("logs %q", logs)
		}
	}
}

// A directory with a store's files but without the one that names them, or those of the last writes, is refused, and stays as it is.
func TestIncompleteCopy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := openDir(t, dir)
	w.create("t", map[string]map[string]string{"f": nil})
	w.put("a", 1, "f:x=1")
	want := w.scan("", "")
	w.Close()
	whole := copyOf(t, dir)
	for _, names := range []string{"marker.manifest*", "*.log"} {
		missing, err := filepath.Glob(filepath.Join(dir, names))
		if err != nil || len(missing) == 0 {
			t.Fatal(missing, err)
		}
		for _, name := range missing {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "incomplete copy") {
			t.Errorf("opened without %s: %v", names, err)
		}
		for _, name := range missing {
			if err := os.WriteFile(name, must(os.ReadFile(filepath.Join(whole, filepath.Base(name)))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	w = openDir(t, dir)
	w.want("rows with all files back", w.scan("", ""), want)
	w.Close()
	for _, name := range must(filepath.Glob(filepath.Join(dir, "*.log"))) {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "000001.log"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w = openDir(t, dir)
	w.want("rows that were moved out of the log", w.scan("", ""), want)
}
