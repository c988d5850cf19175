package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
	"go.uber.org/goleak"

	"github.com/hql-db/hql/internal/poison"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(poison.Tests(m)) }

func openDir(t *testing.T, dir string) *world {
	t.Helper()
	s, err := Open(Options{Dir: dir, Now: (&testClock{time.UnixMilli(1_000_000)}).now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &world{Store: s, t: t}
}

// A directory keeps tables, regions and acknowledged cells; also of a store that was
// never closed, as after a kill: the copy is what such a process leaves behind.
func TestReopen(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed=%v", killed), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			w := openDir(t, dir)
			w.create("t", map[string]map[string]string{"f": {"VERSIONS": "2", "COMPRESSION": "GZ"}, "g": nil}, "m")
			w.put("a", 1, "f:x=1", "g:y=1")
			w.put("a", 2, "f:x=2")
			w.put("z", 1, "f:x=z")
			w.del("z", []string{"f:x"})
			if err := w.Split("t", []byte("p")); err != nil {
				t.Fatal(err)
			}
			want := w.scan("", "", hrpc.MaxVersions(9))
			if killed {
				dir = copyOf(t, dir)
			} else {
				w.Close()
				if _, err := w.Store.Get(must(hrpc.NewGetStr(context.Background(), "t", "a"))); err != gohbase.ErrClientClosed {
					t.Errorf("after Close: %v", err)
				}
			}
			w = openDir(t, dir)
			w.want("rows", w.scan("", "", hrpc.MaxVersions(9)), want)
			tbl, _ := w.catalog.lookup("t")
			if len(tbl.regions) != 3 || len(tbl.family([]byte("f")).attributes) != 11 {
				t.Errorf("%d regions, attributes %v", len(tbl.regions), tbl.families[0].attributes)
			}
			w.create("t2", map[string]map[string]string{"f": nil})
			if t2, _ := w.catalog.lookup("t2"); t2.id == tbl.id {
				t.Error("a table id was used twice")
			}
		})
	}
}

func copyOf(t *testing.T, dir string) string {
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(to, "LOCK"))
	return to
}

func TestDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	openDir(t, dir)
	if s, err := Open(Options{Dir: dir}); err == nil {
		s.Close()
		t.Error("opened twice")
	}
	if _, err := Open(Options{Dir: "/dev/null/x"}); err == nil {
		t.Error("opened below a file")
	}
}

// slowDisk is a file system where no log of writes reaches the disk while it is held.
type slowDisk struct {
	vfs.FS
	held sync.RWMutex
}

func (d *slowDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err != nil || !strings.HasSuffix(name, ".log") {
		return f, err
	}
	return &fileOnSlowDisk{f, d}, nil
}

// Unwrap is what this file system stands on.
func (d *slowDisk) Unwrap() vfs.FS { return d.FS }

type fileOnSlowDisk struct {
	vfs.File
	disk *slowDisk
}

func (f *fileOnSlowDisk) Sync() error {
	f.disk.held.RLock()
	defer f.disk.held.RUnlock()
	return f.File.Sync()
}

func (f *fileOnSlowDisk) SyncData() error {
	f.disk.held.RLock()
	defer f.disk.held.RUnlock()
	return f.File.SyncData()
}

// A table that hbase:meta shows is one that can be written, also while whoever makes it still waits for the disk.
func TestWrittenWhileMade(t *testing.T) {
	disk := &slowDisk{FS: vfs.Default}
	s, err := Open(Options{Dir: filepath.Join(t.TempDir(), "data"), fs: disk})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := &world{Store: s, t: t}
	disk.held.Lock()
	made, written := make(chan error, 1), make(chan error, 1)
	go func() {
		made <- s.Admin().CreateTable(hrpc.NewCreateTable(context.Background(), []byte("t"), map[string]map[string]string{"f": nil}))
	}()
	for len(w.results(must(hrpc.NewScanStr(context.Background(), "hbase:meta")))) == 0 {
		time.Sleep(time.Millisecond)
	}
	go func() {
		_, err := s.Put(must(hrpc.NewPutStr(context.Background(), "t", "a", map[string]map[string][]byte{"f": {"x": []byte("1")}})))
		written <- err
	}()
	select {
	case err := <-written:
		t.Errorf("written before the table was made: %v", err)
		written <- err
	case <-time.After(50 * time.Millisecond):
	}
	disk.held.Unlock()
	for _, done := range []chan error{made, written} {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A caller that finds no table while it is being created gets an error when the store fails, because the table will not
// be created.
func TestMissingWhileMade(t *testing.T) {
	disk := &slowDisk{FS: vfs.Default}
	s, err := Open(Options{Dir: filepath.Join(t.TempDir(), "data"), fs: disk})
	if err != nil {
		t.Fatal(err)
	}
	disk.held.Lock()
	made, read := make(chan error, 1), make(chan error, 1)
	go func() {
		made <- s.Admin().CreateTable(hrpc.NewCreateTable(context.Background(), []byte("t"), map[string]map[string]string{"f": nil}))
	}()
	for s.catalog.ddl.TryLock() { // till it holds that
		s.catalog.ddl.Unlock()
		time.Sleep(time.Millisecond)
	}
	go func() {
		_, err := s.Get(must(hrpc.NewGetStr(context.Background(), "u", "a")))
		read <- err
	}()
	s.failure.fail(io.ErrUnexpectedEOF)
	for _, done := range []chan error{made, read} {
		if err := <-done; !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	}
	disk.held.Unlock()
	s.catalog.ddl.Lock() // the table is made after all
	defer s.catalog.ddl.Unlock()
	if err := s.db.Close(); err != nil {
		t.Error(err)
	}
}

// Writers, readers, splits and moves at once: every row that is read is whole.
func TestConcurrent(t *testing.T) {
	s, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	fam := map[string]map[string]string{"f": nil, "g": nil}
	if err := s.Admin().CreateTable(hrpc.NewCreateTable(ctx, []byte("t"), fam)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range 100 {
				v := fmt.Appendf(nil, "%d-%d", n, i)
				p := must(hrpc.NewPutStr(ctx, "t", fmt.Sprintf("r%02d", i%20), map[string]map[string][]byte{"f": {"x": v}, "g": {"x": v}}))
				if _, err := s.Put(p); err != nil {
					t.Error(err)
				}
				inc := must(hrpc.NewIncStrSingle(ctx, "t", "counter", "f", "n", 1))
				if _, err := s.Increment(inc); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 10 {
			if err := s.Split("t", fmt.Appendf(nil, "r%02d", i*2+1)); err != nil {
				t.Error(err)
			}
			if err := s.Move("t", nil); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		wg.Go(func() {
			for range 50 {
				sc := s.Scan(must(hrpc.NewScanStr(ctx, "t", hrpc.Families(map[string][]string{"f": {"x"}, "g": {"x"}}))))
				for {
					r, err := sc.Next()
					if err != nil {
						if err != io.EOF && !isClass(err, classUnknownScanner) {
							t.Error(err)
						}
						break
					}
					if len(r.Cells) != 2 || string(r.Cells[0].Value) != string(r.Cells[1].Value) {
						t.Errorf("torn row: %s", format(r))
					}
				}
				sc.Close()
			}
		})
	}
	wg.Wait()
	if n := must(s.Increment(must(hrpc.NewIncStrSingle(ctx, "t", "counter", "f", "n", 0)))); n != 400 {
		t.Errorf("counter %d", n)
	}
}
