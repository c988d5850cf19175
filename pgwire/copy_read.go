package pgwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/pgcatalog"
)

// maxField is the greatest number of bytes in a line of text, or in a field of the binary format.
const maxField = 64 << 20

// lines reads rows as text or csv.
func (w *copyWriter) lines(in *bufio.Reader) error {
	r := copytext.Reader{In: in, Format: w.of.text, Max: maxField}
	for first := true; ; first = false {
		fields, err := r.Read()
		w.line = int64(r.Line)
		var wrong copytext.RecordError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &wrong):
			err = failure("22P04", "%v", err)
		case errors.Is(err, copytext.ErrTooLong):
			err = failure("54000", "%v", err)
		case err == nil && !(first && w.of.header):
			err = w.values(fields)
		case err == nil && w.of.match:
			err = w.matches(fields)
		}
		if err != nil {
			return err
		}
	}
}

// matches returns an error unless the fields of a header are the names of the columns.
func (w *copyWriter) matches(fields []copytext.Field) error {
	if len(fields) != len(w.columns) {
		return failure("22P04", "wrong number of fields in header line: got %d, expected %d", len(fields), len(w.columns))
	}
	for i, f := range fields {
		if name := w.columns[i].Name; f.Null || f.Text != name {
			return failure("22P04", "column name mismatch in header line field %d: got %q, expected %q", i+1, short(f.Text), name)
		}
	}
	return nil
}

// binary reads tuples.
func (w *copyWriter) binary(in *bufio.Reader) error {
	bad := func(what string) error { return failure("22P04", "COPY file: %s", what) }
	head := make([]byte, len(binaryMark)+8)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(binaryMark)]) != binaryMark {
		return orBad(err, bad("signature not recognized"))
	}
	be := binary.BigEndian
	if _, err := io.CopyN(io.Discard, in, int64(be.Uint32(head[len(binaryMark)+4:]))); err != nil {
		return orBad(err, bad("invalid header"))
	}
	oids := make([]uint32, len(w.columns))
	for i, col := range w.columns {
		oids[i] = pgcatalog.TypeOf(col.Type, col.Limit).OID
	}
	var size [4]byte
	for {
		if _, err := io.ReadFull(in, size[:2]); err == io.EOF {
			return nil // without a trailer, as pgx sends it
		} else if err != nil {
			return orBad(err, bad("unexpected end"))
		}
		n := int(int16(be.Uint16(size[:])))
		if n == -1 {
			return nil
		}
		if w.line++; n != len(w.columns) {
			return failure("22P04", "row field count is %d, expected %d", n, len(w.columns))
		}
		row := make([]any, n)
		for i := range row {
			if _, err := io.ReadFull(in, size[:]); err != nil {
				return orBad(err, bad("unexpected end"))
			}
			length := int32(be.Uint32(size[:]))
			var b []byte
			if length < -1 || length > maxField {
				return bad("invalid field size")
			}
			if length >= 0 {
				var text strings.Builder // grows with what arrives
				if _, err := io.CopyN(&text, in, int64(length)); err != nil {
					return orBad(err, bad("unexpected end"))
				}
				b = []byte(text.String())
			}
			v, err := parameter(oids[i], 1, b, w.loc)
			if err != nil {
				return err.detail("column %s", w.columns[i].Name)
			}
			row[i] = v
		}
		if err := w.add(row); err != nil {
			return err
		}
	}
}

// orBad returns bad if err is nil or says only that the data ended; otherwise it returns err.
func orBad(err, bad error) error {
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		return bad
	}
	return err
}
