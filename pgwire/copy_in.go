package pgwire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/types"
)

// copyIn writes the rows that the client sends. If a row fails, rows before it may be written, and stay.
func (c *conn) copyIn(p *prepared) (int64, error) {
	if err := c.mayWriteNow(); err != nil {
		return 0, err
	}
	in, err := c.newCopyWriter(p)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	in.ctx = ctx
	leave, err := c.srv.admission.enter(ctx, c.db.Settings().Memory()+c.srv.readMemory(), c.srv.opts.QueueTimeout)
	if err != nil {
		return 0, err
	}
	defer leave()
	format, formats := p.copies.formats(len(in.columns))
	if err := c.send(&pgproto3.CopyInResponse{OverallFormat: format, ColumnFormatCodes: formats}); err != nil {
		return 0, err
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	stop := func(why error) {
		cancel(why)
		_ = c.net.SetReadDeadline(time.Unix(1, 0))
	}
	err = c.stoppable(stop, func() error { return in.all(bufio.NewReaderSize(&copyReader{c: c}, 32<<10)) })
	_ = c.net.SetReadDeadline(time.Time{})
	c.tx.wrote = c.tx.wrote || c.tx.state != outside && in.written > 0
	return in.written, in.failed(err)
}

// failed says how many rows are written.
func (w *copyWriter) failed(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[goneError](err); ok {
		return err
	}
	var own *Error
	if cause := context.Cause(w.ctx); errors.As(cause, &own) {
		err = cause
	}
	e := *asError(err, "", 0)
	e.Position = 0
	where := fmt.Sprintf("COPY %s, line %d", w.of.Table, w.line)
	if w.written > 0 {
		where += fmt.Sprintf("; %d rows before are written and stay", w.written)
	}
	if e.Detail != "" {
		where = e.Detail + "; " + where
	}
	e.Detail = where
	return &e
}

// copyReader reads the data in the client's CopyData messages.
type copyReader struct {
	c    *conn
	rest []byte
	end  error
}

func (r *copyReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.end != nil {
			return 0, r.end
		}
		kind, body, err := r.c.message(maxMessage)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			r.end = errCanceled
		case err != nil:
			r.end = goneError{err}
		case kind == 'd':
			r.rest = body
		case kind == 'c':
			r.end = io.EOF
		case kind == 'f':
			r.end = failure("57014", "COPY from stdin failed: %s", strings.TrimRight(string(body), "\x00"))
		case kind == 'X':
			r.end = goneError{io.EOF}
		case kind == 'H' || kind == 'S':
		default:
			r.end = fatal("08P01", "unexpected message type %q during COPY from stdin", kind)
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// copyWriter reads rows for a table.
type copyWriter struct {
	c       *conn
	ctx     context.Context
	of      *copyCommand
	columns []hql.ColumnType
	loc     *time.Location // of the session
	yield   func(row []any, err error) bool
	written int64
	line    int64
}

// errTaken ends the reading of rows, because one of them could not be written.
var errTaken = errors.New("no more rows are taken")

func (c *conn) newCopyWriter(p *prepared) (*copyWriter, error) {
	w := &copyWriter{c: c, of: p.copies, loc: c.db.Settings().Location()}
	d, err := p.copies.rows.Describe(c.ctx, nil)
	if err != nil {
		return nil, asError(err, p.whole, p.offset)
	}
	w.columns = d.Columns
	return w, nil
}

// all reads rows to the end, and writes them.
func (w *copyWriter) all(in *bufio.Reader) error {
	read := w.lines
	if w.of.format == "binary" {
		read = w.binary
	}
	names := make([]string, len(w.columns))
	for i, col := range w.columns {
		names[i] = col.Name
	}
	var failed error
	done, err := w.c.db.CopyFrom(w.ctx, w.of.Table, names, func(yield func([]any, error) bool) {
		w.yield = yield
		if failed = read(in); failed == nil {
			_, failed = io.Copy(io.Discard, in) // what is behind the end's mark
		}
		if failed != nil && failed != errTaken {
			yield(nil, failed)
		}
	})
	w.written = done.RowsAffected
	if partial := new(hql.PartialError); errors.As(err, &partial) {
		w.written = partial.Written
	}
	if failed != nil && failed != errTaken {
		return failed
	}
	return err
}

// add adds a row.
func (w *copyWriter) add(row []any) error {
	if !w.yield(row, nil) {
		return errTaken
	}
	return nil
}

// values adds the row of these fields.
func (w *copyWriter) values(fields []copytext.Field) error {
	if len(fields) != len(w.columns) {
		if len(fields) < len(w.columns) {
			return failure("22P04", "missing data for column %q", w.columns[len(fields)].Name)
		}
		return failure("22P04", "extra data after last expected column")
	}
	row := make([]any, len(fields))
	for i, f := range fields {
		col := w.columns[i]
		if f.Null && !w.of.forceText[col.Name] || f.Quoted && f.Text == w.of.text.Null && w.of.forceNull[col.Name] {
			row[i] = types.Value{}
			continue
		}
		v, err := textValue(col.Type, f.Text, w.loc)
		if err != nil {
			return err.detail("column %s: %q", col.Name, short(f.Text))
		}
		row[i] = v
	}
	return w.add(row)
}
