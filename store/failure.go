package store

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// failure is the fault that ended a store on disk, such as a full disk or a missing file. Pebble would end the process.
// Instead all later calls of the store fail, and calls that wait inside Pebble return. Acknowledged writes are there
// when the directory is opened again.
type failure struct {
	once   sync.Once
	failed chan struct{} // closed when err is set
	err    error
}

func newFailure() *failure { return &failure{failed: make(chan struct{})} }

// fail ends the store. The first cause is kept.
func (f *failure) fail(err error) {
	f.once.Do(func() {
		f.err = fmt.Errorf("the store has failed; open it again: %w", err)
		close(f.failed)
	})
}

// happened returns the error of calls on a store that has failed; nil before.
func (f *failure) happened() error {
	select {
	case <-f.failed:
		return f.err
	default:
		return nil
	}
}

// do runs g, which calls Pebble, in another goroutine, because Fatalf may end that goroutine and a failed store may
// block it for ever.
func (f *failure) do(g func() error) error {
	if err := f.happened(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- g() }()
	select {
	case err := <-done:
		return err
	case <-f.failed:
		return f.err
	}
}

// Infof drops Pebble's messages.
func (f *failure) Infof(string, ...any) {}

// Errorf drops Pebble's messages about errors, because the calls that fail return them, too.
func (f *failure) Errorf(string, ...any) {}

// Fatalf is called by Pebble where it must not return.
func (f *failure) Fatalf(format string, args ...any) {
	f.fail(fmt.Errorf(format, args...))
	runtime.Goexit()
}

// nothingToFlush is Pebble's error for a flush whose writes had all been deleted again.
const nothingToFlush = "pebble: empty table"

// listener keeps Pebble from ending the process because of a damaged block, which the reading call reports. It ends the
// store if rows cannot be flushed from memory to disk: writes would wait for that for ever.
func (f *failure) listener() *pebble.EventListener {
	return &pebble.EventListener{
		DataCorruption: func(pebble.DataCorruptionInfo) {},
		FlushEnd: func(i pebble.FlushInfo) {
			if i.Err != nil && i.Err.Error() != nothingToFlush {
				f.fail(i.Err)
			}
		},
	}
}

// checkWhole refuses a directory that holds a part of a store, such as an incomplete copy, or a damaged log. Without the file that names
// the current data, Pebble would take the directory for a new store and remove the data; a missing write-ahead log it
// would not notice.
func checkWhole(fs vfs.FS, dir string) error {
	desc, err := pebble.Peek(dir, fs)
	if err != nil {
		return err
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	if desc.Exists {
		opened := slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, "OPTIONS-") }) // written when there is a log
		names = slices.DeleteFunc(names, func(s string) bool { return !strings.HasSuffix(s, ".log") })
		if opened && len(names) == 0 {
			return errors.New("it has no .log file, which holds the last writes: an incomplete copy? If nothing is missing, it opens with an empty file 000001.log")
		}
		for _, name := range names {
			if err := checkLog(fs, dir, name); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".log") {
			continue
		}
		// A store whose creation failed leaves empty files.
		if info, err := fs.Stat(fs.PathJoin(dir, name)); err != nil || info.Size() > 0 {
			return errors.New("it holds files of a store (" + name + ") but no marker.manifest file that names its tables: an incomplete copy?")
		}
	}
	return nil
}

// keptLogs is the file system of a store that is being opened. Pebble moves the contents of old logs into tables and
// removes these logs before it makes the next one. A process that ends in between would leave a directory without logs,
// which checkWhole refuses. Hence no log is removed before the store is open.
type keptLogs struct {
	vfs.FS

	mu       sync.Mutex
	open     bool
	obsolete []string
}

// Unwrap returns the file system below.
func (k *keptLogs) Unwrap() vfs.FS { return k.FS }

// Remove removes a file; it removes a log only once the store is open.
func (k *keptLogs) Remove(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.open && strings.HasSuffix(name, ".log") {
		k.obsolete = append(k.obsolete, name)
		return nil
	}
	return k.FS.Remove(name)
}

// opened removes the logs that were kept. Errors do not matter: Pebble removes a log that is left at the next opening.
func (k *keptLogs) opened() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = true
	for _, name := range k.obsolete {
		_ = k.FS.Remove(name)
	}
	k.obsolete = nil
}
