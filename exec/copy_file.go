package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNoFiles marks, for errors.Is, the refusal of a statement that names a file on a connection without files.
var ErrNoFiles = errors.New("this connection reads and writes no files (--restricted, hql.WithoutFiles)")

// copyFile is the output of COPY TO: a temporary file that is renamed when it is complete, or directly a pipe or a
// device.
type copyFile struct {
	*os.File
	becomes string // the final name; "" if File is not temporary
	shared  bool   // it is the process's stdout or stderr and stays open
}

// createCopy opens the output file for the file called name.
func createCopy(name string, overwrite bool) (*copyFile, error) {
	st, err := os.Stat(name)
	for _, f := range []*os.File{os.Stdout, os.Stderr} { // opening it again would write from the beginning of the redirected file
		if own, serr := f.Stat(); err == nil && serr == nil && os.SameFile(st, own) {
			return &copyFile{File: f, shared: true}, nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/"):
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		return &copyFile{File: f}, err
	case !overwrite:
		return nil, fmt.Errorf("%s is already there: WITH (OVERWRITE = TRUE) replaces it", name)
	}
	target := name
	mode := fs.FileMode(0o666)
	if st != nil {
		if target, err = filepath.EvalSymlinks(name); err != nil {
			return nil, err
		}
		w, err := os.OpenFile(target, os.O_WRONLY, 0) // renaming must not replace a file that may not be written
		if err != nil {
			return nil, err
		}
		w.Close()
		mode = st.Mode().Perm()
	}
	f, err := os.OpenFile(target+"."+strconv.FormatUint(rand.Uint64(), 36), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			pe.Path = name // report the name that the user gave, not the temporary one
		}
		return nil, err
	}
	c := &copyFile{File: f, becomes: target}
	if st != nil {
		if err := f.Chmod(mode); err != nil { // the process's umask must not change it
			c.drop()
			return nil, err
		}
	}
	return c, nil
}

// done completes the file and renames it to its final name.
func (c *copyFile) done() error {
	if c.shared {
		return nil
	}
	if err := c.Close(); err != nil || c.becomes == "" {
		return err
	}
	if err := os.Rename(c.Name(), c.becomes); err != nil {
		return err
	}
	c.becomes = ""
	return nil
}

// drop removes the file, unless done has completed it.
func (c *copyFile) drop() {
	if c.shared {
		return
	}
	c.Close() // an error means that it is already closed
	if c.becomes != "" {
		os.Remove(c.Name())
	}
}
