package hbase

import (
	"bytes"
	"errors"
	"time"
)

// writeTimeout bounds one write to a server. Without it gohbase blocks for ever when the server stops reading. It is
// longer than an attempt.
const writeTimeout = 30 * time.Second

// maxQueued is the number of bytes in the queue of calls, which are sent after the current write, from which on Write
// waits. Up to keptQueue bytes of memory are kept for the next queue.
const (
	maxQueued = 1 << 20
	keptQueue = 1 << 16
)

// lastWords is how long a failed write waits until Read has read the last bytes that the server sent.
const lastWords = 500 * time.Millisecond

// Write sends a call. While another goroutine writes, Write only adds the call to the queue, which is sent in one write
// afterwards. If that write fails, the connection is closed, which gohbase notices.
func (c *regionConn) Write(b []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for len(c.queue) >= maxQueued {
		c.room.Wait()
	}
	if c.failed != nil {
		return 0, c.failed
	}
	skipped := 0
	if c.greeted {
		if !bytes.HasPrefix(b, []byte(simplePreamble)) {
			return 0, errors.New("the connection header does not come with the preamble")
		}
		skipped, c.greeted = len(simplePreamble), false
	}
	frame := withoutTimeRange(b)[skipped:]
	if c.sending {
		c.queue = append(c.queue, frame...)
		return len(b), nil
	}
	c.sending = true
	n, err := c.send(frame)
	if len(c.queue) > 0 {
		go c.sendQueue()
	} else {
		c.sending = false
	}
	if n == len(frame) { // the written part may be a complete shorter frame
		n = len(b) - skipped
	}
	return n + skipped, err
}

// sendQueue sends the queue until it is empty.
func (c *regionConn) sendQueue() {
	c.writing.Lock()
	defer c.writing.Unlock()
	var spare []byte
	for len(c.queue) > 0 {
		frames := c.queue
		c.queue = spare[:0]
		c.room.Broadcast()
		if _, err := c.send(frames); err != nil {
			c.Conn.Close()
		}
		if spare = frames; cap(spare) > keptQueue {
			spare = nil
		}
	}
	c.sending = false
}

// send writes frame in one piece. The caller holds c.writing, which send releases during the write. After a failure
// nothing more is sent.
func (c *regionConn) send(frame []byte) (n int, err error) {
	c.writing.Unlock()
	if err = c.SetWriteDeadline(time.Now().Add(writeTimeout)); err == nil {
		if n, err = c.Conn.Write(frame); err != nil {
			// On this error gohbase closes the connection. Read must first see the server's last bytes, which may give the
			// reason.
			select {
			case <-c.ended:
			case <-time.After(lastWords):
			}
		}
		_ = c.SetWriteDeadline(time.Time{}) // the deadline would end a later write of TLS itself; if resetting fails, so will the writes
	}
	c.writing.Lock()
	if err != nil {
		c.failed, c.queue = err, nil
		c.room.Broadcast()
	}
	return n, err
}
