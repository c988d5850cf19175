package exec

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// copy runs COPY: rows from a file into a table, or of a table or query into a file.
// The file's ending tells the format: .csv and .tsv with a header line, .jsonl with an
// object a line. WITH (FORMAT = 'csv') overrides it.
func (r *run) copy(ctx context.Context, s *parser.Copy) (*Rows, error) {
	if s.File == "" {
		return nil, parser.Errorf(s.Pos, "COPY needs the name of a file")
	}
	format := fileFormat(s.File)
	for _, o := range s.Options {
		if o.Key != "FORMAT" {
			return nil, parser.Errorf(o.Pos, "unknown option %s of COPY", o.Key)
		}
		switch v := o.Value.(type) {
		case *parser.Literal:
			format = strings.ToLower(v.Text)
		case *parser.ColumnRef:
			format = strings.ToLower(v.Name)
		}
	}
	switch format {
	case "csv", "tsv", "jsonl":
	default:
		return nil, parser.Errorf(s.Pos, "COPY reads and writes csv, tsv and jsonl, not %q", format)
	}
	if s.To {
		return r.copyTo(ctx, s, format)
	}
	return r.copyFrom(ctx, s, format)
}

// fileFormat is what the ending of a file's name tells of its format.
func fileFormat(name string) string {
	return strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
}

// maxSample bounds the keys that regions are drawn from; of more, a random choice is kept.
const maxSample = 100_000

// sampleKeys gives the keys that the rows of a file would have under t's primary layout.
func (r *run) sampleKeys(ctx context.Context, t *catalog.Table, file string) ([][]byte, error) {
	b, err := r.engine.cfg.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	seen, random := 0, rand.New(rand.NewPCG(1, 2)) // the same file, the same regions
	c := &copier{run: r, table: t, pos: t.Split.Pos, take: func(at place) {
		if seen++; len(keys) < maxSample {
			keys = append(keys, at.key)
		} else if i := random.IntN(seen); i < maxSample {
			keys[i] = at.key
		}
	}}
	switch format := fileFormat(file); format {
	case "csv", "tsv":
		err = c.records(ctx, bytes.NewReader(b), format)
	case "jsonl":
		err = c.lines(ctx, bytes.NewReader(b))
	default:
		err = fmt.Errorf("its rows must be csv, tsv or jsonl, not %q", format)
	}
	return keys, err
}

// copyTo writes the rows of a query. The file appears under its name when it is whole.
func (r *run) copyTo(ctx context.Context, s *parser.Copy, format string) (_ *Rows, err error) {
	q := s.Query
	if q == nil {
		q = &parser.Select{Pos: s.Pos, AllowFullScan: true, Cores: []*parser.SelectCore{{Pos: s.Pos, From: []parser.TableExpr{&parser.TableName{Pos: s.Pos, Name: s.Table}}}}}
		for _, c := range s.Columns {
			q.Cores[0].Items = append(q.Cores[0].Items, parser.SelectItem{Pos: c.Pos, Expr: &parser.ColumnRef{Pos: c.Pos, Name: c.Name, Quoted: true}})
		}
		if len(s.Columns) == 0 {
			q.Cores[0].Items = []parser.SelectItem{{Pos: s.Pos, Star: true}}
		}
	}
	p, err := r.planSelect(ctx, q)
	if err != nil {
		return nil, err
	}
	f, err := createCopy(s.File)
	if err != nil {
		return nil, fmt.Errorf("COPY: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			if f.Name() != s.File {
				os.Remove(f.Name())
			}
		}
	}()
	buf := bufio.NewWriterSize(f, 1<<16)
	out := rowWriter{w: buf, format: format, columns: p.Columns}
	out.header()
	n := int64(0)
	err = r.eachRow(ctx, p, false, func(rows [][]types.Value) error {
		n += int64(len(rows))
		r.rec.written.Store(n)
		for _, row := range rows {
			out.row(row)
		}
		return out.err
	})
	if err == nil {
		err = errors.Join(out.err, buf.Flush(), f.Close())
	}
	if err == nil && f.Name() != s.File {
		err = os.Rename(f.Name(), s.File)
	}
	if err != nil {
		return nil, err
	}
	return r.done(n), nil
}

// createCopy opens what is to become the file called name: a file beside it, or
// itself where it is a link, a pipe or a device.
func createCopy(name string) (*os.File, error) {
	if st, err := os.Lstat(name); err == nil && !st.Mode().IsRegular() {
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		pe.Path = name // not one that nobody asked for
	}
	return f, err
}

// rowWriter writes rows as text.
type rowWriter struct {
	w       io.Writer
	format  string
	columns []planner.OutputColumn
	line    []byte
	err     error
}

func (o *rowWriter) header() {
	if o.format == "jsonl" {
		return
	}
	names := make([]string, len(o.columns))
	for i, c := range o.columns {
		names[i] = c.Name
	}
	o.fields(names)
}

func (o *rowWriter) fields(fields []string) {
	if o.err != nil {
		return
	}
	if o.format == "tsv" {
		for i, f := range fields {
			fields[i] = types.EscapeTSV(f)
		}
		o.end(append(o.line[:0], strings.Join(fields, "\t")...))
		return
	}
	cw := csv.NewWriter(o.w)
	o.err = cw.Write(fields)
	cw.Flush()
}

func (o *rowWriter) row(row []types.Value) {
	if o.format == "tsv" {
		b := o.line[:0]
		for i, v := range row {
			if i > 0 {
				b = append(b, '\t')
			}
			if v.IsNull() {
				b = append(b, `\N`...)
			} else {
				b = append(b, types.EscapeTSV(v.String())...)
			}
		}
		o.end(b)
		return
	}
	if o.format != "jsonl" {
		fields := make([]string, len(row))
		for i, v := range row {
			if !v.IsNull() {
				fields[i] = v.String()
			}
		}
		o.fields(fields)
		return
	}
	b := append(o.line[:0], '{')
	for i, v := range row {
		if i > 0 {
			b = append(b, ',')
		}
		b = types.NewString(o.columns[i].Name).AppendJSON(b)
		b = v.AppendJSON(append(b, ':'))
	}
	o.end(append(b, '}'))
}

// end writes a line.
func (o *rowWriter) end(b []byte) {
	o.line = append(b, '\n')
	if o.err == nil {
		_, o.err = o.w.Write(o.line)
	}
}

// copyFrom writes the rows of a file. A line that does not fit is counted with its
// reason and passed over; the first few reasons are warnings.
func (r *run) copyFrom(ctx context.Context, s *parser.Copy, format string) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.Pos)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(s.File)
	if err != nil {
		return nil, fmt.Errorf("COPY: %w", err)
	}
	defer f.Close()
	in := &copier{run: r, table: t, named: s.Columns, pos: s.Pos}
	if format == "jsonl" {
		err = in.lines(ctx, f)
	} else {
		err = in.records(ctx, f, format)
	}
	if err == nil {
		err = in.flush(ctx)
	}
	if err != nil {
		return nil, err
	}
	if in.rejected > 0 {
		r.warn.add(warnLine, fmt.Sprintf("%s not copied", counted(in.rejected, "line")))
	}
	return r.done(in.n), nil
}

// copier turns the lines of a file into rows.
type copier struct {
	run      *run
	table    *catalog.Table
	named    []parser.Name
	pos      parser.Pos
	in       *inserter
	line     int
	n        int64
	rejected int64
	take     func(place) // where set, rows are not written but their place in the primary layout is given to it
}

const maxReasons = 10

func (c *copier) reject(err error) {
	c.rejected++
	if c.rejected <= maxReasons {
		c.run.warn.add(warnLine, fmt.Sprintf("line %d: %v", c.line, err))
	}
}

// into prepares for rows with the given columns.
func (c *copier) into(names []parser.Name) error {
	cols, err := targetColumns(c.table, names, c.pos)
	if err != nil {
		return err
	}
	c.in = &inserter{run: c.run, w: c.run.newWriter(c.table), cols: cols, set: make([]bool, len(c.table.Columns))}
	for _, col := range cols {
		c.in.set[col.Index] = true
	}
	return nil
}

// add takes one row, if it can be stored.
func (c *copier) add(ctx context.Context, row []types.Value) error {
	if c.take != nil {
		at, err := c.in.w.place(c.table.Layouts[0], row)
		if err != nil {
			c.reject(err)
			return nil
		}
		c.take(at)
		return nil
	}
	for _, l := range c.table.Layouts {
		if c.table.HiddenKey {
			break
		}
		if _, err := c.in.w.fits(l, row); err != nil {
			c.reject(err)
			return nil
		}
	}
	for _, col := range c.table.Columns {
		if v := row[col.Index]; !v.IsNull() && (!col.KeyPart || col.HasCell) {
			if _, err := col.AppendCell(nil, v); err != nil {
				c.reject(fmt.Errorf("column %s: %w", col.Name, err))
				return nil
			}
		} else if v.IsNull() && (col.NotNull || col.Packed != nil) && col.Name != catalog.HiddenColumn {
			c.reject(fmt.Errorf("column %s must not be NULL", col.Name))
			return nil
		}
	}
	if err := c.run.allocate(ctx, c.in.w, []pendingRow{{row, c.pos}}); err != nil {
		var refused *parser.Error // a name that its look-up table cannot hold
		if errors.As(err, &refused) {
			c.reject(refused)
			return nil
		}
		return err
	}
	c.in.rows = append(c.in.rows, pendingRow{row, c.pos})
	if len(c.in.rows) >= writeBatch {
		return c.flush(ctx)
	}
	return nil
}

func (c *copier) flush(ctx context.Context) error {
	if c.in == nil {
		return nil
	}
	err := c.in.flush(ctx)
	c.n = c.in.n
	return err
}

// records reads csv or tsv. The header names the columns unless the statement does.
func (c *copier) records(ctx context.Context, f io.Reader, format string) error {
	var cr recordReader
	br := bufio.NewReaderSize(f, 1<<16)
	if format == "tsv" {
		cr = &tsvReader{r: br}
	} else {
		r := csv.NewReader(br)
		r.ReuseRecord, r.FieldsPerRecord = true, -1
		cr = csvReader{r}
	}
	header, _, err := cr.record()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return fmt.Errorf("COPY: %w", err)
	}
	names := c.named
	if len(names) == 0 {
		for i, h := range header {
			if i == 0 {
				h = strings.TrimPrefix(h, "\ufeff")
			}
			names = append(names, parser.Name{Pos: c.pos, Name: strings.Clone(strings.TrimSpace(h))})
		}
	}
	if err := c.into(names); err != nil {
		return err
	}
	for {
		rec, line, err := cr.record()
		c.line = line
		var bad *csv.ParseError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &bad):
			c.line = bad.Line
			c.reject(bad.Err)
			continue
		case err != nil:
			return fmt.Errorf("COPY: %w", err)
		case format == "tsv" && len(rec) == 1 && rec[0] == "" && len(c.in.cols) > 1: // as csv, an empty line says nothing
			continue
		case len(rec) != len(c.in.cols):
			c.reject(fmt.Errorf("%d fields for %d columns", len(rec), len(c.in.cols)))
			continue
		}
		row := make([]types.Value, len(c.table.Columns)+2)
		if err = c.fields(row, rec, format == "tsv"); err != nil {
			c.reject(err)
			continue
		}
		if err := c.add(ctx, row); err != nil {
			return err
		}
	}
}

// recordReader reads a line's fields, and the line's number. The fields hold until the next call.
type recordReader interface {
	record() (fields []string, line int, err error)
}

type csvReader struct{ *csv.Reader }

func (c csvReader) record() ([]string, int, error) {
	rec, err := c.Read()
	if err != nil {
		return nil, 0, err
	}
	line, _ := c.FieldPos(0)
	return rec, line, nil
}

// tsvReader reads lines of fields between tabs, which are still escaped: \N is NULL.
type tsvReader struct {
	r    *bufio.Reader
	line int
}

func (t *tsvReader) record() ([]string, int, error) {
	text, err := t.r.ReadString('\n')
	if err != nil && text == "" {
		return nil, 0, err
	}
	t.line++
	return strings.Split(strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), "\t"), t.line, nil
}

// fields converts the fields of a line. \N in tsv is NULL, and an empty field, which is the empty text only for a
// column of text or bytes in tsv and one of text in the key in csv.
func (c *copier) fields(row []types.Value, rec []string, tsv bool) error {
	for i, col := range c.in.cols {
		text := strings.Clone(rec[i])
		var empty bool // may be a value
		if tsv {
			if text == `\N` {
				continue
			}
			text, empty = types.UnescapeTSV(text), col.Type == types.String || col.Type == types.Bytes
		} else {
			empty = col.KeyPart && col.Type == types.String
		}
		if text == "" && !empty {
			continue
		}
		v, err := fromText(text, col.Type, c.run.settings.loc)
		if err != nil {
			return fmt.Errorf("column %s: %w", col.Name, err)
		}
		row[col.Index] = v
	}
	return nil
}

// lines reads jsonl. Each object names its columns; those of the first decide which are written.
func (c *copier) lines(ctx context.Context, f io.Reader) error {
	br := bufio.NewReaderSize(f, 1<<16)
	for {
		text, err := br.ReadBytes('\n')
		c.line++
		if len(bytes.TrimSpace(text)) > 0 {
			if err := c.object(ctx, text); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("COPY: %w", err)
		}
	}
}

func (c *copier) object(ctx context.Context, text []byte) error {
	var obj map[string]json.RawMessage
	if err := json.Unmarshal(text, &obj); err != nil {
		c.reject(err)
		return nil
	}
	if c.in == nil {
		if err := c.into(c.named); err != nil {
			return err
		}
	}
	row := make([]types.Value, len(c.table.Columns)+2)
	for name, raw := range obj {
		col, ok := c.table.Column(name)
		if !ok {
			c.reject(fmt.Errorf("unknown column %q", name))
			return nil
		}
		var err error
		row[col.Index], err = jsonValue(raw, col.Type, c.run.settings.loc)
		if err != nil {
			c.reject(fmt.Errorf("column %s: %w", col.Name, err))
			return nil
		}
	}
	return c.add(ctx, row)
}

// jsonValue reads a JSON value for a column of type t: a string is its text, the rest stands for itself.
func jsonValue(raw json.RawMessage, t types.Type, loc *time.Location) (types.Value, error) {
	text := strings.TrimSpace(string(raw))
	switch {
	case text == "null":
		return types.Value{}, nil
	case t == types.JSON:
		return types.NewJSON(text), nil
	case text[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return types.Value{}, err
		}
		return fromText(s, t, loc)
	}
	return fromText(text, t, loc)
}

// fromText reads a value of type t as results print it.
func fromText(text string, t types.Type, loc *time.Location) (types.Value, error) {
	if t == types.Bytes {
		b, err := types.UnescapeBytes(text)
		return types.NewBytes(b), err
	}
	return types.Cast(types.NewString(text), t, loc)
}
