package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/columnar"
	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// writer prints the rows of one result.
type writer interface {
	begin(cols []string, ts []types.Type) error
	row(vals []types.Value) error
	end() error
}

// formats makes the writer of each output format.
var formats = map[string]func(w *bufio.Writer, l look) writer{
	"table": func(w *bufio.Writer, l look) writer { return &tableWriter{w: w, look: l} },
	"markdown": func(w *bufio.Writer, l look) writer {
		return &tableWriter{w: w, look: look{null: l.null, tuples: l.tuples, border: border{width: 1}}, markdown: true}
	},
	"vertical": func(w *bufio.Writer, l look) writer { return &verticalWriter{w: w, look: l} },
	"unaligned": func(w *bufio.Writer, l look) writer {
		return &separatedWriter{w: w, look: l}
	},
	"html": func(w *bufio.Writer, l look) writer { return &htmlWriter{w: w, look: l} },
	"csv": func(w *bufio.Writer, l look) writer {
		format := copytext.CSV
		format.Delimiter = l.comma[0]
		return &copyWriter{w: w, look: l, format: format}
	},
	"tsv":   func(w *bufio.Writer, l look) writer { return &copyWriter{w: w, look: l, format: copytext.Text} },
	"json":  func(w *bufio.Writer, l look) writer { return &jsonWriter{w: w, look: l, array: true} },
	"jsonl": func(w *bufio.Writer, l look) writer { return &jsonWriter{w: w, look: l} },
	"arrow": func(w *bufio.Writer, l look) writer { return &arrowWriter{w: w, look: l} },
}

// formatNames lists the formats for messages.
const formatNames = "table, vertical, unaligned, csv, tsv, json, jsonl, markdown, html or arrow"

// look is how results for people are shown.
type look struct {
	tty    bool   // in colours
	screen bool   // on a terminal
	null   string // for NULL
	given  string // for NULL in the formats that leave it empty
	tuples bool   // rows only
	border border

	title     string // above results
	separator string // of unaligned values
	record    string // behind each row of them
	comma     string // between the values of csv
	fit       int    // columns that a table may take before it is shown one column a line; 0: any
	cut       int    // columns that a table may take before its last one is cut; 0: any
}

// display returns a value as the text of a table's cell, with control characters escaped.
func (l look) display(v types.Value) string {
	if v.IsNull() {
		return l.null
	}
	return printable(v.String())
}

// dim is how NULL differs from a text on a terminal.
func (l look) dim(s string) string {
	if !l.tty {
		return s
	}
	return "\x1b[2m" + s + "\x1b[0m"
}

// caption writes the title above a result that is so many columns wide.
func (l look) caption(w *bufio.Writer, width int) {
	if l.title != "" && !l.tuples {
		fmt.Fprintf(w, "%*s%s\n", max(0, (width-runewidth.StringWidth(l.title))/2), "", l.title)
	}
}

// line returns a line of csv or tsv for output. On a terminal it escapes control characters.
func (l look) line(b []byte) []byte {
	if !l.screen {
		return b
	}
	return []byte(printableLines(string(b)))
}

// jsonLine returns a line of JSON for output. On a terminal it escapes control characters as \uNNNN.
func (l look) jsonLine(b []byte) []byte {
	if !l.screen || bytes.IndexFunc(b, unsafeInJSON) < 0 {
		return b
	}
	var out []byte
	for _, r := range string(b) {
		if !unsafeInJSON(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, u := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, u)
		}
	}
	return out
}

// unsafeInJSON reports whether a character could act on a terminal. Line feeds occur only between values.
func unsafeInJSON(r rune) bool { return r != '\n' && unsafe(r) }

// printableLines works like printable for a text of several lines.
func printableLines(s string) string {
	if !strings.ContainsFunc(s, unsafe) {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		fields := strings.Split(l, "\t")
		for k, f := range fields {
			fields[k] = printable(f)
		}
		lines[i] = strings.Join(fields, "\t")
	}
	return strings.Join(lines, "\n")
}

// printable escapes control characters, which a terminal would obey, and characters
// that change the direction of text.
func printable(s string) string {
	clean := true
	for _, r := range s {
		if unsafe(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\uFFFD' && s[i] != 0xef: // a byte that is no UTF-8
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case unsafe(r):
			if r < 0x100 {
				fmt.Fprintf(&b, `\x%02X`, r)
			} else {
				fmt.Fprintf(&b, `\u%04X`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unsafe(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == '\uFFFD'
}

// copyWriter writes csv and tsv as COPY does. In csv NULL is an empty field, and an empty text is an empty field in quotes.
type copyWriter struct {
	w *bufio.Writer
	look
	format copytext.Format
	buf    []byte
}

func (c *copyWriter) begin(cols []string, _ []types.Type) error {
	if c.tuples {
		return nil
	}
	names := make([]types.Value, len(cols))
	for i, n := range cols {
		names[i] = types.NewString(n)
	}
	return c.row(names)
}

func (c *copyWriter) row(vals []types.Value) error {
	c.buf = c.format.AppendLine(c.buf[:0], vals)
	_, err := c.w.Write(c.line(c.buf))
	return err
}

func (c *copyWriter) end() error { return c.w.Flush() }

// separatedWriter writes values as they are, with a separator between them.
type separatedWriter struct {
	w *bufio.Writer
	look
}

func (s *separatedWriter) begin(cols []string, _ []types.Type) error {
	if s.tuples {
		return nil
	}
	s.caption(s.w, 0)
	return s.write(cols)
}

func (s *separatedWriter) write(fields []string) error {
	_, err := s.w.Write(s.line([]byte(strings.Join(fields, s.separator) + s.record)))
	return err
}

func (s *separatedWriter) row(vals []types.Value) error {
	out := make([]string, len(vals))
	for i, v := range vals {
		out[i] = s.given
		if !v.IsNull() {
			out[i] = v.String()
		}
	}
	return s.write(out)
}

func (s *separatedWriter) end() error { return s.w.Flush() }

// jsonWriter writes each row as a JSON object: one object a line, or all of them in an array.
type jsonWriter struct {
	w *bufio.Writer
	look
	array bool
	keys  [][]byte
	n     int
	buf   []byte
}

func (j *jsonWriter) begin(cols []string, _ []types.Type) error {
	for _, c := range cols {
		j.keys = append(j.keys, append(types.NewString(c).AppendJSON(nil), ':'))
	}
	return nil
}

func (j *jsonWriter) row(vals []types.Value) error {
	b := j.buf[:0]
	switch {
	case j.array && j.n == 0:
		b = append(b, "[\n"...)
	case j.array:
		b = append(b, ",\n"...)
	}
	j.n++
	b = append(b, '{')
	for i, v := range vals {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, j.keys[i]...)
		b = v.AppendJSON(b)
	}
	b = append(b, '}')
	if !j.array {
		b = append(b, '\n')
	}
	j.buf = b
	_, err := j.w.Write(j.jsonLine(b))
	return err
}

func (j *jsonWriter) end() error {
	if j.array {
		if j.n == 0 {
			j.w.WriteString("[")
		}
		j.w.WriteString("\n]\n")
	}
	return j.w.Flush()
}

type arrowWriter struct {
	w *bufio.Writer
	look
	columns []hql.ColumnType // nil: as begin says
	fixed   bool             // the schema depends on the columns alone
	out     *columnar.Stream
}

func (a *arrowWriter) begin(cols []string, ts []types.Type) error {
	if a.screen {
		return errors.New("arrow is for programs: send it to a file or a pipe")
	}
	if a.columns == nil {
		for i, c := range cols {
			a.columns = append(a.columns, hql.ColumnType{Name: c, Type: ts[i]})
		}
	}
	columns := make([]plan.OutputColumn, len(a.columns))
	for i, c := range a.columns {
		columns[i] = plan.OutputColumn{Name: c.Name, Type: c.Type, Partial: c.Partial}
	}
	a.out = columnar.NewStream(a.w, columns, a.fixed)
	return nil
}

func (a *arrowWriter) row(vals []types.Value) error { return a.out.Append(vals) }

func (a *arrowWriter) end() error {
	if err := a.out.Close(); err != nil {
		return err
	}
	return a.w.Flush()
}
