package exec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hql-db/hql/types"
)

// recordReader reads lines of fields. The fields are valid until the next call.
type recordReader struct {
	r         *bufio.Reader
	line      int // number of the last line read
	delimiter string
	fields    []field
}

// field is a field of a line.
type field struct {
	text string
	null bool // the line has csv's or tsv's notation for NULL
}

// errRecord marks, for errors.Is, a record that cannot be read although the next one may be.
var errRecord = errors.New("not a record")

type recordError string

func (e recordError) Error() string { return string(e) }
func (recordError) Unwrap() error   { return errRecord }

func (r *recordReader) next() (string, error) {
	text, err := r.r.ReadString('\n')
	if text == "" || err != nil && err != io.EOF {
		return "", err // do not take a part of a line for the whole
	}
	r.line++
	return text, nil
}

func withoutEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }

// tsv reads a line of fields in which a backslash escapes; \N is NULL.
func (r *recordReader) tsv() ([]field, error) {
	line, err := r.next()
	if err != nil {
		return nil, err
	}
	r.fields = r.fields[:0]
	escaped := ""
	for text := range strings.SplitSeq(withoutEnd(line), r.delimiter) {
		text = escaped + text
		if escaped = ""; r.delimiter != "\t" && (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1 { // it escapes the delimiter
			escaped = text[:len(text)-1] + r.delimiter
			continue
		}
		r.fields = append(r.fields, field{types.UnescapeTSV(text), text == `\N`})
	}
	if escaped != "" { // the line ends with the backslash, which escapes nothing
		r.fields = append(r.fields, field{text: types.UnescapeTSV(strings.TrimSuffix(escaped, r.delimiter) + `\`)})
	}
	return r.fields, nil
}

// csv reads fields separated by delimiters (RFC 4180). An empty field is NULL, "" is the empty text, and quoted text is
// unchanged, line breaks included. encoding/csv does not make these distinctions.
func (r *recordReader) csv() ([]field, error) {
	rest, err := r.next()
	if err != nil {
		return nil, err
	}
	r.fields = r.fields[:0]
	for {
		quoted := strings.HasPrefix(rest, `"`)
		var text string
		if quoted {
			if text, rest, err = r.quoted(rest[1:]); err != nil {
				return nil, err
			}
			if end := withoutEnd(rest); end != "" && end[:1] != r.delimiter {
				return nil, recordError("text behind a closing quote")
			}
		}
		plain, behind, more := strings.Cut(rest, r.delimiter)
		if !quoted {
			text = plain
			if !more {
				text = withoutEnd(plain)
			}
			if strings.Contains(text, `"`) {
				return nil, recordError(`a quote in a field that does not begin with one`)
			}
		}
		r.fields = append(r.fields, field{text, text == "" && !quoted})
		if !more {
			return r.fields, nil
		}
		rest = behind
	}
}

// quoted reads a field after its opening quote, and returns the text after the closing one.
func (r *recordReader) quoted(line string) (text, rest string, err error) {
	var b strings.Builder
	first := r.line
	for {
		i := strings.IndexByte(line, '"')
		switch {
		case i < 0:
			b.WriteString(line)
			if line, err = r.next(); err == io.EOF {
				return "", "", recordError(fmt.Sprintf("the quote that opens in line %d is not closed", first))
			}
			if err != nil {
				return "", "", err
			}
		case strings.HasPrefix(line[i:], `""`):
			b.WriteString(line[:i+1])
			line = line[i+2:]
		case b.Len() == 0:
			return line[:i], line[i+1:], nil
		default:
			b.WriteString(line[:i])
			return b.String(), line[i+1:], nil
		}
	}
}
