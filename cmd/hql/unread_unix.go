//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// unread waits until the process that reads the pipe w has closed it, and returns true; it returns false if done is closed
// first or w is no pipe. A query that finds no rows writes nothing, so it would not notice the closed pipe by itself.
func unread(w io.Writer, done <-chan struct{}) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}} // poll reports errors without a request
	for {
		select {
		case <-done:
			return false
		default:
		}
		const wait = 500 // ms
		if n, err := unix.Poll(fds, wait); n > 0 {
			return true
		} else if err != nil && err != unix.EINTR {
			return false
		}
	}
}
