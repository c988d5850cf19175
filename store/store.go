package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/tsuna/gohbase"
)

// Options say where a Store keeps its cells and how it measures time. The zero value is a store in memory.
type Options struct {
	// Dir is the directory of a persistent store; it is created if missing and locked while open. "" keeps everything
	// in memory.
	Dir string
	// Now is the server's clock: timestamps, times to live and leases; nil is time.Now.
	Now func() time.Time
	// ScannerLease is how long a scanner lives between two calls; 0 is 60 seconds.
	ScannerLease time.Duration
	// NoSync acknowledges writes to a directory before they are on disk.
	NoSync bool
	// CacheBytes is the memory for reading again, in bytes: half of it for blocks of files, half for cells of whole regions.
	// 0 is 64 MiB.
	CacheBytes int64
	// Servers is how many region servers hbase:meta names; 0 is 1. Regions are assigned to them as tables are created.
	// All of them are this store: the option is for clients that divide work by server.
	Servers int

	fs vfs.FS // the file system of Dir; nil is the system's, without Pebble's watch for slow disks
}

func (o *Options) ensureDefaults() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.ScannerLease <= 0 {
		o.ScannerLease = time.Minute
	}
	if o.Servers <= 0 {
		o.Servers = 1
	}
	if o.fs == nil {
		o.fs = vfs.Default
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 64 << 20
	}
}

// Store is an embedded HBase. It is safe for concurrent use.
type Store struct {
	opts    Options
	db      *pebble.DB
	write   *pebble.WriteOptions
	failure *failure

	// life is read-locked by every running call, so that Close can wait.
	life   sync.RWMutex
	closed atomic.Bool

	catalog  catalog
	cells    cellCache
	scanners scanners
	locks    rowLocks
	faults   faults
}

var _ gohbase.RPCClient = (*Store)(nil)

// Open opens a store, creating it if it does not exist. A directory that another Store has open is an error, and so is
// one that holds only a part of a store.
func Open(o Options) (*Store, error) {
	o.ensureDefaults()
	cache := pebble.NewCache(o.CacheBytes / 2)
	defer cache.Unref()
	f := newFailure()
	logs := &keptLogs{FS: o.fs}
	po := &pebble.Options{
		FS:                 logs,
		Cache:              cache,
		Logger:             f,
		EventListener:      f.listener(),
		FormatMajorVersion: pebble.FormatNewest,
		MemTableSize:       16 << 20,
	}
	write := pebble.Sync
	if o.Dir == "" {
		logs.FS = vfs.NewMem()
		po.DisableWAL = true
		write = pebble.NoSync
	} else {
		if err := os.Mkdir(o.Dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			if parent := filepath.Dir(filepath.Clean(o.Dir)); errors.Is(err, fs.ErrNotExist) { // a mistyped name must not create directories
				return nil, fmt.Errorf("open store %q: the parent directory %q does not exist", o.Dir, parent)
			}
			return nil, fmt.Errorf("open store: %w", err)
		}
		if err := checkWhole(o.fs, o.Dir); err != nil {
			return nil, fmt.Errorf("open store %q: %w", o.Dir, err)
		}
		if o.NoSync {
			write = pebble.NoSync
		}
	}
	s := &Store{opts: o, write: write, failure: f}
	s.scanners.init()
	s.cells.limit, s.cells.entries = o.CacheBytes-o.CacheBytes/2, map[cacheKey]*cacheEntry{}
	err := f.do(func() (err error) {
		if s.db, err = pebble.Open(o.Dir, po); err != nil {
			return err
		}
		if err = s.loadCatalog(); err != nil {
			s.db.Close()
			return err
		}
		logs.opened()
		return nil
	})
	if errors.Is(err, syscall.EAGAIN) {
		return nil, fmt.Errorf("open store %q: another process, or another connection of this one, has it open; close that first", o.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", o.Dir, err)
	}
	return s, nil
}

// Close ends all scanners and closes the store. Later calls return gohbase.ErrClientClosed. Close may be called twice.
func (s *Store) Close() {
	if s.closed.Swap(true) {
		return
	}
	s.catalog.wake()
	if s.failure.happened() != nil {
		return // the rest of Pebble's resources ends with the process
	}
	s.life.Lock()
	defer s.life.Unlock()
	s.scanners.closeAll()
	// A failed close loses no acknowledged write: they are synced before.
	_ = s.failure.do(s.db.Close)
}

// OpenScanners counts the scanners that are open on the store's regions, without those whose lease has expired.
func (s *Store) OpenScanners() int {
	s.scanners.expire(s.opts.Now())
	return s.scanners.count()
}

// now returns the server's time in milliseconds.
func (s *Store) now() int64 { return s.opts.Now().UnixMilli() }
