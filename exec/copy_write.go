package exec

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/internal/registry"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Copied returns the query whose rows COPY TO writes.
func Copied(s *parser.Copy) *parser.Select {
	if s.Query != nil {
		return s.Query
	}
	q := &parser.Select{Pos: s.Pos, AllowFullScan: s.AllowFullScan, Cores: []*parser.SelectCore{{Pos: s.Pos, From: []parser.TableExpr{&parser.TableName{Pos: s.TablePos, Name: s.Table}}}}}
	for _, c := range s.Columns {
		q.Cores[0].Items = append(q.Cores[0].Items, parser.SelectItem{Pos: c.Pos, Expr: &parser.ColumnRef{Pos: c.Pos, Name: c.Name, Quoted: true}})
	}
	if len(s.Columns) == 0 {
		q.Cores[0].Items = []parser.SelectItem{{Pos: s.Pos, Star: true}}
	}
	return q
}

// copyTo writes the rows of a query to a file. The file gets its name when it is complete.
func (r *run) copyTo(ctx context.Context, s *parser.Copy, format string, text copytext.Format, header, overwrite bool) (_ *Rows, err error) {
	p, err := r.planSelect(ctx, Copied(s))
	if err != nil {
		return nil, err
	}
	f, to := &copyFile{shared: true}, r.args.Options.Stdout
	if s.File != "" || to == nil {
		if f, err = createCopy(cmp.Or(s.File, "/dev/stdout"), overwrite); err != nil {
			return nil, fmt.Errorf("COPY: %w", err)
		}
		to = f
	}
	defer f.drop()
	buf := bufio.NewWriterSize(to, 1<<16)
	var out registry.RowWriter
	if format == "arrow" || format == "parquet" {
		out, err = registry.Columnar.Create(buf, p.Columns, format)
	} else {
		out = newRowWriter(buf, p.Columns, format, text, header)
	}
	if err != nil {
		return nil, fmt.Errorf("COPY: %w", err)
	}
	n := int64(0)
	err = r.eachRow(ctx, p, asRead, func(rows [][]types.Value) error {
		n += int64(len(rows))
		r.rec.written.Store(n)
		for _, row := range rows {
			if err := out.Append(row); err != nil {
				return fmt.Errorf("COPY: %w", err)
			}
		}
		return nil
	})
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.done()
	}
	if err != nil {
		return nil, err
	}
	return r.done(n), nil
}

type rowWriter struct {
	w       io.Writer
	format  string
	text    copytext.Format // of csv and tsv
	columns []plan.OutputColumn
	line    []byte
	err     error
}

func newRowWriter(w io.Writer, columns []plan.OutputColumn, format string, text copytext.Format, header bool) *rowWriter {
	o := &rowWriter{w: w, format: format, text: text, columns: columns}
	if header && format != "jsonl" {
		names := make([]types.Value, len(columns))
		for i, c := range columns {
			names[i] = types.NewString(c.Name)
		}
		o.end(o.text.AppendLine(nil, names))
	}
	return o
}

// Close returns the error of a failed write.
func (o *rowWriter) Close() error { return o.err }

// Append writes a row.
func (o *rowWriter) Append(row []types.Value) error {
	b := o.line[:0]
	if o.format != "jsonl" {
		o.end(o.text.AppendLine(b, row))
		return o.err
	}
	b = append(b, '{')
	for i, v := range row {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(types.NewString(o.columns[i].Name).AppendJSON(b), ':')
		switch {
		case v.Type() == types.Decimal:
			b = append(b, copytext.Value(v)...)
		case !v.Type().IsJSON():
			b = v.AppendJSON(b)
		case standsInLine(v.Text()):
			b = append(b, v.Text()...)
		default:
			b = append(types.NewString(v.Text()).AppendJSON(append(b, jsonText...)), '}')
		}
	}
	o.end(append(b, "}\n"...))
	return o.err
}

// jsonText begins the object that replaces JSON that jsonl cannot contain unchanged: its member is the JSON text.
const jsonText = `{"$json":`

// standsInLine reports whether a line of jsonl can contain the JSON text unchanged. The text must have no line breaks
// or surrounding white space, must not begin like jsonText, and must not be null, which a reader takes for SQL's NULL.
func standsInLine(text string) bool {
	return text != "null" && text == strings.TrimSpace(text) && !strings.ContainsAny(text, "\r\n") && !strings.HasPrefix(text, jsonText) &&
		utf8.ValidString(text) && json.Valid([]byte(text))
}

func (o *rowWriter) end(b []byte) {
	o.line = b
	if o.err == nil {
		_, o.err = o.w.Write(o.line)
	}
}
