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

// failure is what ended a store on disk: a full disk under the log of writes, a file that is gone. Pebble ends
// the process then, since it cannot go on. A store is part of a process that can: its calls fail from then on, those
// that wait inside Pebble return, and what was acknowledged is there when the directory is opened again.
type failure struct {
	once   sync.Once
	failed chan struct{} // closed when err is set
	err    error
}

func newFailure() *failure { return &failure{failed: make(chan struct{})} }

// fail ends the store. The first cause counts.
func (f *failure) fail(err error) {
	f.once.Do(func() {
		f.err = fmt.Errorf("the store has failed and has to be opened again: %w", err)
		close(f.failed)
	})
}

// happened gives the error of calls on a store that has failed; nil before.
func (f *failure) happened() error {
	select {
	case <-f.failed:
		return f.err
	default:
		return nil
	}
}

// do runs g, which calls Pebble, in a goroutine of its own: Fatalf may end it, and a store that fails may leave it
// waiting for ever.
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

// Infof drops Pebble's news.
func (f *failure) Infof(string, ...any) {}

// Errorf drops Pebble's errors: those of calls are returned as well.
func (f *failure) Errorf(string, ...any) {}

// Fatalf is called by Pebble where it must not return.
func (f *failure) Fatalf(format string, args ...any) {
	f.fail(fmt.Errorf(format, args...))
	runtime.Goexit()
}

// nothingToFlush is what Pebble calls the error of a flush in which all that was written had been deleted again.
const nothingToFlush = "pebble: empty table"

// listener keeps Pebble from ending the process because of a damaged block, which the call that reads it reports, and
// ends the store when rows cannot be moved from memory to disk: writes would wait for that for ever.
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

// checkWhole refuses a directory that holds a part of a store, as a partial copy does: data without the file that says which
// of it counts, which Pebble would take for a new store and remove, or no log of the last writes, which it would not miss.
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
		if opened && !slices.ContainsFunc(names, func(s string) bool { return strings.HasSuffix(s, ".log") }) {
			return errors.New("it has no .log file, which holds the last writes: an incomplete copy? If nothing is missing, it opens with an empty file 000001.log")
		}
		return nil
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") && !strings.HasSuffix(name, ".log") {
			continue
		}
		// A store that could not be made leaves empty files.
		if info, err := fs.Stat(fs.PathJoin(dir, name)); err != nil || info.Size() > 0 {
			return errors.New("it holds files of a store (" + name + ") but no marker.manifest file that names its tables: an incomplete copy?")
		}
	}
	return nil
}

// keptLogs is the file system of a store that is being opened. Pebble moves what it finds in logs of writes into tables and
// removes those logs before it makes the next one: a process that ends in between would leave a directory that checkWhole
// takes for a copy without its last writes. Hence no log is removed before the store is open.
type keptLogs struct {
	vfs.FS

	mu       sync.Mutex
	open     bool
	obsolete []string
}

// Unwrap gives the file system below.
func (k *keptLogs) Unwrap() vfs.FS { return k.FS }

// Remove removes a file, a log only once the store is open.
func (k *keptLogs) Remove(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.open && strings.HasSuffix(name, ".log") {
		k.obsolete = append(k.obsolete, name)
		return nil
	}
	return k.FS.Remove(name)
}

// opened removes the logs that were kept. One that cannot be removed is obsolete when the store is opened again as well.
func (k *keptLogs) opened() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = true
	for _, name := range k.obsolete {
		_ = k.FS.Remove(name)
	}
	k.obsolete = nil
}
