package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest line that a client may send.
const maxLine = 1 << 20

// Lines returns a transport that reads and writes one message a line. It answers a line that is not a message with an error,
// where the SDK would end the session.
func Lines(in io.Reader, out io.Writer) mcp.Transport {
	w := &writer{out: out}
	return &mcp.IOTransport{Reader: io.NopCloser(&lines{in: bufio.NewReader(in), out: w}), Writer: w}
}

// writer lets several goroutines write messages, one after the other. Its Close does nothing: the caller of Lines closes out.
type writer struct {
	mu  sync.Mutex
	out io.Writer
}

func (w *writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(b)
}

func (*writer) Close() error { return nil }

// lines reads messages from in, one a line. It answers a line that is no message with an error and skips that line.
type lines struct {
	in   *bufio.Reader
	out  io.Writer
	rest []byte // of a message
}

func (l *lines) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		line, long, err := l.line()
		if err != nil {
			return 0, err
		}
		if len(line) == 0 && !long {
			continue
		}
		_, bad := jsonrpc.DecodeMessage(line)
		switch {
		case long:
			err = l.refuse(jsonrpc.CodeInvalidRequest, "the line has more than 1 MB")
		case bad == nil:
			l.rest = append(line, '\n')
		case !json.Valid(line):
			err = l.refuse(jsonrpc.CodeParseError, "the line is not JSON: a message is one line")
		default:
			err = l.refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC message")
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line reads a line; the last one may lack its line feed. If the line is too long, line skips it and sets long.
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && (long || len(line) > 0):
			return line, long, nil
		case err != nil:
			return nil, false, err
		}
		return bytes.TrimRight(line, "\n\r "), long, nil
	}
}

// refuse answers a line that is not a message.
func (l *lines) refuse(code int, text string) error {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": text}})
	if err == nil {
		_, err = l.out.Write(append(b, '\n'))
	}
	return err
}
