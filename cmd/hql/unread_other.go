//go:build !unix

package main

import "io"

// unread cannot watch a pipe on this system.
func unread(io.Writer, <-chan struct{}) bool { return false }
