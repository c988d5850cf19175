// Package copytext reads and writes the formats text and csv of PostgreSQL's COPY.
package copytext

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hql-db/hql/types"
)

// Format is how a row is written on a line.
type Format struct {
	CSV           bool   // otherwise text, in which a backslash escapes
	Delimiter     byte   // between the fields
	Quote, Escape byte   // of csv: around a field, and before a quote in it
	Null          string // a field of NULL
}

// CSV and Text are the formats without options.
var (
	CSV  = Format{CSV: true, Delimiter: ',', Quote: '"', Escape: '"'}
	Text = Format{Delimiter: '\t', Null: `\N`}
)

// Errors of Complete.
var (
	ErrOnlyCSV = errors.New("COPY quote and escape are available only in CSV mode")
	ErrSame    = errors.New("the delimiter, quote and null string of COPY must differ, and have no line breaks")
)

// Complete sets the options that are not given: bytes that are 0, and Null unless null has it.
func (f *Format) Complete(null *string) error {
	defaults := Text
	if f.CSV {
		defaults = CSV
		f.Quote = cmp.Or(f.Quote, CSV.Quote)
		f.Escape = cmp.Or(f.Escape, f.Quote)
	} else if f.Quote != 0 || f.Escape != 0 {
		return ErrOnlyCSV
	}
	f.Delimiter, f.Null = cmp.Or(f.Delimiter, defaults.Delimiter), defaults.Null
	if null != nil {
		f.Null = *null
	}
	if strings.IndexByte(f.Null, f.Delimiter) >= 0 || strings.ContainsAny(f.Null, "\r\n") || f.Delimiter == '\n' || f.Delimiter == '\r' || f.Delimiter == f.Quote ||
		f.CSV && strings.IndexByte(f.Null, f.Quote) >= 0 {
		return ErrSame
	}
	return nil
}

// Append appends a field with the text s, so that a Reader returns s. In csv, force quotes also a field that needs none.
func (f *Format) Append(dst []byte, s string, force bool) []byte {
	if !f.CSV {
		from := 0
		for i := range len(s) {
			ch := s[i]
			if at := control(ch); at >= 0 {
				ch = letters[at]
			} else if ch != '\\' && ch != f.Delimiter {
				continue
			}
			dst = append(append(dst, s[from:i]...), '\\', ch)
			from = i + 1
		}
		return append(dst, s[from:]...)
	}
	if !force && s != f.Null && s != `\.` && !strings.ContainsAny(s, string([]byte{f.Delimiter, f.Quote, f.Escape, '\n', '\r'})) {
		return append(dst, s...)
	}
	dst = append(dst, f.Quote)
	for i := range len(s) {
		if s[i] == f.Quote || s[i] == f.Escape {
			dst = append(dst, f.Escape)
		}
		dst = append(dst, s[i])
	}
	return append(dst, f.Quote)
}

// The text format writes these bytes as a backslash and a letter.
const controls, letters = "\b\f\n\r\t\v", "bfnrtv"

// control returns the index of ch in controls, or -1.
func control(ch byte) int {
	if ch > '\r' { // most bytes of a text
		return -1
	}
	return strings.IndexByte(controls, ch)
}

// Field is a field of a row.
type Field struct {
	Text   string
	Quoted bool // in csv
	Null   bool // the field is the format's Null
}

// RecordError is the reason why a row cannot be read although the next one may be.
type RecordError string

func (e RecordError) Error() string { return string(e) }

// ErrTooLong means that a line, or a field in quotes, has more bytes than Reader.Max.
var ErrTooLong = errors.New("too long")

// Reader reads rows.
type Reader struct {
	Format
	In     *bufio.Reader
	Max    int  // the greatest number of bytes in a line or in a field; 0: any
	Strict bool // in csv, a quote may only begin and end a field; otherwise it may stand anywhere, as in PostgreSQL
	Line   int  // the number of the last line read

	fields []Field
}

// next returns the next line with its line end, which the last line may lack.
func (r *Reader) next() (string, error) {
	var line []byte
	for {
		part, err := r.In.ReadSlice('\n')
		if line = append(line, part...); r.Max > 0 && len(line) > r.Max {
			return "", fmt.Errorf("a line has more than %d MB: %w", r.Max>>20, ErrTooLong)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, err == io.EOF && len(line) > 0:
			r.Line++
			return string(line), nil
		default: // do not take a part of a line for the whole
			return "", err
		}
	}
}

func withoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// Read returns the fields of the next row, which are valid until the next call, or io.EOF at the end of the data or at
// a line with \. .
func (r *Reader) Read() ([]Field, error) {
	line, err := r.next()
	if err != nil {
		return nil, err
	}
	end := withoutEnd(line)
	if end == `\.` {
		return nil, io.EOF
	}
	r.fields = r.fields[:0]
	if r.CSV {
		return r.csv(line)
	}
	from := 0
	for i := 0; i <= len(end); i++ {
		switch {
		case i == len(end) || end[i] == r.Delimiter:
			raw := end[from:i]
			r.fields = append(r.fields, Field{Text: unescape(raw), Null: raw == r.Null})
			from = i + 1
		case end[i] == '\\' && i+1 < len(end):
			i++
		}
	}
	return r.fields, nil
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
		if at := strings.IndexByte(letters, s[i]); at >= 0 {
			b.WriteByte(controls[at])
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

// csv splits a line into fields. While a quote is open it reads further lines.
func (r *Reader) csv(line string) ([]Field, error) {
	for more := true; more; {
		var plain, rest string
		if plain, rest, more = strings.Cut(line, string(r.Delimiter)); !more {
			plain = withoutEnd(plain)
		}
		f := Field{Text: plain, Null: plain == r.Null}
		if strings.IndexByte(plain, r.Quote) >= 0 {
			var err error
			f = Field{Quoted: true}
			if f.Text, rest, more, err = r.quoted(line); err != nil {
				return nil, err
			}
		}
		r.fields = append(r.fields, f)
		line = rest
	}
	return r.fields, nil
}

// quoted reads a field that has a quote, and returns the text behind it.
func (r *Reader) quoted(line string) (text, rest string, more bool, err error) {
	var b strings.Builder
	open, closed, first := false, false, r.Line
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case open && ch == r.Escape && i+1 < len(line) && (line[i+1] == r.Quote || line[i+1] == r.Escape):
			i++
			b.WriteByte(line[i])
		case ch == r.Quote && r.Strict && !open && !closed && b.Len() > 0:
			return "", "", false, RecordError("a quote in a field that does not begin with one")
		case ch == r.Quote && !(r.Strict && closed):
			open, closed, first = !open, open, r.Line
		case open:
			b.WriteByte(ch)
		case ch == r.Delimiter:
			return b.String(), line[i+1:], true, nil
		case withoutEnd(line[i:]) == "":
			return b.String(), "", false, nil
		case r.Strict && closed:
			return "", "", false, RecordError("text behind a closing quote")
		default:
			b.WriteByte(ch)
		}
		if !open || i+1 < len(line) {
			continue
		}
		if line, err = r.next(); err == io.EOF {
			err = RecordError(fmt.Sprintf("the quote that opens in line %d is not closed", first))
		}
		if r.Max > 0 && b.Len() > r.Max {
			err = fmt.Errorf("a field has more than %d MB: %w", r.Max>>20, ErrTooLong)
		}
		if err != nil {
			return "", "", false, err
		}
		i = -1
	}
	return b.String(), "", false, nil
}

// Value returns the text of v, which PostgreSQL and COPY FROM read as the same value.
func Value(v types.Value) string {
	switch {
	case v.Type() == types.Decimal && v.Decimal().Exponent > 0:
		return v.Decimal().Text('E') // 1E+3 is stored differently from 1000
	case v.Type() == types.Bytes && v.String() != v.Text():
		return fmt.Sprintf(`\x%x`, v.Text())
	}
	return v.String()
}

// AppendLine appends a line with values as fields.
func (f *Format) AppendLine(dst []byte, row []types.Value) []byte {
	for i, v := range row {
		if i > 0 {
			dst = append(dst, f.Delimiter)
		}
		if v.IsNull() {
			dst = append(dst, f.Null...)
		} else {
			dst = f.Append(dst, Value(v), false)
		}
	}
	return append(dst, '\n')
}
