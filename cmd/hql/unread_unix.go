//go:build unix

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// unread returns when nobody will read any more what is written to w, a pipe, or when done is closed. It reports which. A query that finds
// nothing for long would not be told by its writes.
func unread(w io.Writer, done <-chan struct{}) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	if st, err := f.Stat(); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}} // errors are told without being asked for
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
