package pgwire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxField is the greatest number of bytes in a line of text, or in a field of the binary format.
const maxField = 64 << 20

// copyField is a field of a line.
type copyField struct {
	text   string
	quoted bool
	null   bool // in text format
}

// readLine returns the next line with its line end, which the last line may lack. At the end of the data it returns io.EOF.
func (w *copyWriter) readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxField {
			return "", failure("54000", "a line has more than %d MB", maxField>>20)
		}
		switch {
		case err == nil:
			return string(line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(line) > 0:
			return string(line), nil
		default:
			return "", err
		}
	}
}

func withoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// text reads lines of fields in which a backslash escapes.
func (w *copyWriter) text(in *bufio.Reader) error {
	var fields []copyField
	for {
		line, err := w.readLine(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w.line++
		line = withoutEnd(line)
		if w.line == 1 && w.of.header {
			continue
		}
		if line == `\.` {
			return nil
		}
		fields = fields[:0]
		from := 0
		add := func(to int) {
			raw := line[from:to]
			fields = append(fields, copyField{text: unescape(raw), null: raw == w.of.null})
			from = to + 1
		}
		for i := 0; i < len(line); i++ {
			if line[i] == '\\' {
				i++
			} else if line[i] == w.of.delimiter {
				add(i)
			}
		}
		add(len(line))
		if err := w.values(fields); err != nil {
			return err
		}
	}
}

// unescape reads a field of the text format.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte("bfnrtv", s[i]); at >= 0 {
			b.WriteByte("\b\f\n\r\t\v"[at])
			continue
		}
		base, digits, most, valid := 8, i, 3, "01234567"
		if s[i] == 'x' {
			base, digits, most, valid = 16, i+1, 2, "0123456789abcdefABCDEF"
		}
		end := digits
		for end < len(s) && end < digits+most && strings.IndexByte(valid, s[end]) >= 0 {
			end++
		}
		if end == digits {
			b.WriteByte(s[i])
			continue
		}
		n, _ := strconv.ParseUint(s[digits:end], base, 16)
		b.WriteByte(byte(n))
		i = end - 1
	}
	return b.String()
}

// csv reads records, which may have line breaks in quotes.
func (w *copyWriter) csv(in *bufio.Reader) error {
	var fields []copyField
	for first := true; ; first = false {
		line, err := w.readLine(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w.line++
		if withoutEnd(line) == `\.` {
			return nil
		}
		if fields, err = w.record(in, line, fields[:0]); err != nil {
			return err
		}
		if first && w.of.header {
			continue
		}
		if err := w.values(fields); err != nil {
			return err
		}
	}
}

// record splits a line into fields. If a quote is open at the end of the line, it reads further lines.
func (w *copyWriter) record(in *bufio.Reader, line string, fields []copyField) ([]copyField, error) {
	var b strings.Builder
	quoted, open := false, false
	add := func() {
		fields = append(fields, copyField{text: b.String(), quoted: quoted})
		b.Reset()
		quoted = false
	}
	for i := 0; ; i++ {
		if i >= len(line) {
			if !open {
				add()
				return fields, nil
			}
			next, err := w.readLine(in)
			if err == io.EOF {
				return nil, failure("22P04", "unterminated CSV quoted field")
			}
			if err != nil {
				return nil, err
			}
			if w.line++; b.Len() > maxField {
				return nil, failure("54000", "a field has more than %d MB", maxField>>20)
			}
			line, i = next, -1
			continue
		}
		ch := line[i]
		switch {
		case open && ch == w.of.escape && i+1 < len(line) && (line[i+1] == w.of.quote || line[i+1] == w.of.escape):
			i++
			b.WriteByte(line[i])
		case ch == w.of.quote:
			open, quoted = !open, true
		case open:
			b.WriteByte(ch)
		case ch == w.of.delimiter:
			add()
		case ch == '\n' || ch == '\r' && withoutEnd(line[i:]) == "":
		default:
			b.WriteByte(ch)
		}
	}
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
		row, bytes := make([]any, n), 0
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
			v, err := parameter(typeOf(w.columns[i].Type).oid, 1, b, w.loc)
			if err != nil {
				return err.detail("column %s", w.columns[i].Name)
			}
			row[i] = v
			bytes += len(b) + 32
		}
		if err := w.add(row, bytes); err != nil {
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
