//go:build !unix

package main

import "io"

// unread reports what is not known here.
func unread(io.Writer, <-chan struct{}) bool { return false }
