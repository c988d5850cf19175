package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	maxStartup    = 10_000   // bytes of a message before the client has proved who it is, as in PostgreSQL
	maxMessage    = 20 << 20 // bytes of one later on: hql reads statements of 16 MB
	bodyStep      = 64 << 10 // memory for a long message is taken as it arrives, in steps of this
	flushAt       = 64 << 10
	keptBuffer    = 16 << 10 // that an idle connection keeps
	smallestFrame = 4
)

// errTooLong is the error for a message above the length limit.
var errTooLong = errors.New("the message is longer than a message may be")

// message reads the next message: its type and its body, which is valid until the next call. most limits the length of the
// body.
func (c *conn) message(most int) (kind byte, body []byte, err error) {
	head, err := c.in.Peek(5)
	if err != nil {
		if len(head) > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	kind = head[0]
	n := int64(binary.BigEndian.Uint32(head[1:]))
	if _, err := c.in.Discard(5); err != nil {
		return 0, nil, err
	}
	body, err = c.read(n, most)
	return kind, body, err
}

// read reads the body of a message whose length field says n.
func (c *conn) read(n int64, most int) ([]byte, error) {
	if n < smallestFrame {
		return nil, fatal("08P01", "invalid message length %d", n)
	}
	if n -= smallestFrame; n > int64(most) {
		return nil, fatal("08P01", "%v: %d bytes, at most %d", errTooLong, n, most)
	}
	c.shrinkBody()
	for at := 0; at < int(n); {
		step := min(int(n)-at, bodyStep)
		if at+step > cap(c.body) {
			grown := max(at+step, min(2*cap(c.body), int(n)))
			if !c.srv.held.take(int64(grown - cap(c.body))) {
				return nil, fatal("53200", "the server has no memory for a message of %d bytes", n)
			}
			next := make([]byte, at, grown)
			copy(next, c.body[:at])
			c.body = next
		}
		if _, err := io.ReadFull(c.in, c.body[at:at+step]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		at += step
	}
	return c.body[:n], nil
}

// shrinkBody frees the buffer after a long message.
func (c *conn) shrinkBody() {
	if cap(c.body) > keptBuffer {
		c.srv.held.give(int64(cap(c.body)))
		c.body = nil
	}
}

// send adds a message to the output.
func (c *conn) send(m pgproto3.BackendMessage) error {
	out, err := m.Encode(c.out)
	if err != nil {
		return err
	}
	c.out = out
	return c.flushFull()
}

// flushFull sends the output if it is large.
func (c *conn) flushFull() error {
	if len(c.out) < flushAt {
		return nil
	}
	return c.flush()
}

// flush sends the output. It ends the connection if the client does not read the output within WriteTimeout.
func (c *conn) flush() error {
	if len(c.out) == 0 || c.broken != nil {
		return c.broken
	}
	_ = c.net.SetWriteDeadline(time.Now().Add(c.srv.opts.WriteTimeout))
	n, err := c.net.Write(c.out)
	c.srv.counts.bytesSent.Add(int64(n))
	if c.out = c.out[:0]; cap(c.out) > flushAt+keptBuffer {
		c.out = nil
	}
	if err != nil {
		c.broken = goneError{err}
	}
	return c.broken
}

// row adds a DataRow to the output; each appends the length and the bytes of field i to dst.
func (c *conn) row(fields int, each func(dst []byte, i int) ([]byte, error)) error {
	begin := len(c.out)
	c.out = append(c.out, 'D', 0, 0, 0, 0, byte(fields>>8), byte(fields))
	for i := range fields {
		at := len(c.out)
		c.out = append(c.out, 0, 0, 0, 0)
		out, err := each(c.out, i)
		switch {
		case err != nil:
			c.out = c.out[:begin]
			return err
		case out == nil: // NULL
			binary.BigEndian.PutUint32(c.out[at:], 1<<32-1)
			continue
		}
		c.out = out
		binary.BigEndian.PutUint32(c.out[at:], uint32(len(out)-at-4))
	}
	if len(c.out)-begin > 1<<30 {
		c.out = c.out[:begin]
		return failure("54000", "a row of more than 1 GB cannot be sent")
	}
	binary.BigEndian.PutUint32(c.out[begin+1:], uint32(len(c.out)-begin-1))
	return c.flushFull()
}

// goneError is the error of a connection whose client can no longer receive errors.
type goneError struct{ error }

func (e goneError) Unwrap() error { return e.error }
