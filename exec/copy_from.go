package exec

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec/warning"
	"github.com/hql-db/hql/exec/write"
	"github.com/hql-db/hql/internal/copytext"
	"github.com/hql-db/hql/internal/registry"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// copyFrom writes the rows of a file. It skips lines that do not fit, counts them, and warns of the first few with the
// reasons.
func (r *run) copyFrom(ctx context.Context, s *parser.Copy, format string, text copytext.Format, header bool) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err != nil {
		return nil, err
	}
	if _, err := r.makeMissing(ctx, t.Name, nil); err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancel(ctx) // ends when a batch cannot be written
	defer cancel()
	f := r.args.Options.Stdin
	if s.File != "" {
		file, err := os.Open(s.File)
		if err != nil {
			return nil, fmt.Errorf("COPY: %w", err)
		}
		defer file.Close()
		stop := context.AfterFunc(reading, func() { file.Close() }) // reading from a pipe could block for a long time
		defer stop()
		f = file
	}
	in := &copier{run: r, table: t, named: s.Columns, pos: s.Pos, headless: !header, failed: cancel}
	from := endingReader{reading, f, &r.rec.work.at}
	file, regular := f.(*os.File)
	if regular {
		st, err := file.Stat()
		if regular = err == nil && st.Mode().IsRegular(); regular {
			r.rec.work.counts(st.Size())
		}
	}
	switch format {
	case "jsonl":
		err = in.lines(ctx, from)
	case "arrow", "parquet":
		var whole io.Reader = from
		if regular {
			whole = f
		}
		err = in.batches(reading, whole, format)
	default:
		err = in.records(ctx, from, text)
	}
	return in.end(ctx, err)
}

// end waits for the copier's writes and returns the result; err is the error that ended the reading.
func (c *copier) end(ctx context.Context, err error) (*Rows, error) {
	r := c.run
	if c.bulk != nil {
		err = c.bulk.end(ctx, err)
	}
	if err != nil {
		return r.partly(nil, err)
	}
	if c.rejected > 0 {
		r.Warn.Add(warning.Line, fmt.Sprintf("%s not copied", words.Count(c.rejected, c.unit())))
	}
	return r.done(r.rec.written.Load()), nil
}

// copyRows writes the rows that a Go program gives. A row that does not fit is an error.
func (r *run) copyRows(ctx context.Context, s *parser.Copy) (*Rows, error) {
	t, err := r.tableNamed(s.Table, s.TablePos)
	if err == nil {
		_, err = r.makeMissing(ctx, t.Name, nil)
	}
	if err != nil {
		return nil, err
	}
	c := &copier{run: r, table: t, named: s.Columns, pos: s.Pos, binary: true, strict: true}
	if err := c.into(s.Columns); err != nil {
		return nil, err
	}
	for values, failed := range r.args.Source {
		c.line++
		if err = failed; err == nil {
			err = c.given(ctx, values)
		}
		if err != nil {
			break
		}
	}
	return c.end(ctx, err)
}

// given adds a row with values for the columns of the statement.
func (c *copier) given(ctx context.Context, values []types.Value) error {
	if len(values) != len(c.in.cols) {
		return c.reject(fmt.Errorf("%s for %s", words.Count(len(values), "value"), words.Count(len(c.in.cols), "column")))
	}
	row, err := c.in.newRow()
	if err != nil {
		return err
	}
	for i, col := range c.in.cols {
		v, err := c.run.assign(values[i], col, parser.NoPos)
		if err != nil {
			return c.reject(err)
		}
		row[col.Index] = v
	}
	return c.add(ctx, write.Row{Values: row, Drawn: len(c.in.drawn) > 0})
}

// endingReader reads until ctx ends; then it returns an error other than io.EOF. It adds the number of bytes read to at.
type endingReader struct {
	ctx context.Context
	io.Reader
	at *atomic.Int64
}

func (e endingReader) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	e.at.Add(int64(n))
	if ended := e.ctx.Err(); ended != nil {
		return 0, ended
	}
	return n, err
}

// copier turns the lines of a file into rows.
type copier struct {
	run      *run
	table    *catalog.Table
	named    []parser.Name
	headless bool // the file has no header: its first line is a row
	pos      parser.Pos
	in       *inserter
	bulk     *bulk         // writes batches of rows while later rows are read
	checker  *write.Writer // checks rows while others are written
	strict   bool          // a row that does not fit is an error
	failed   func()        // called when a batch could not be written; may be nil
	line     int           // or row, for a file without lines
	binary   bool          // the file has no lines
	rejected int64
	take     func(key []byte) // if set, rows are not written: take receives their keys under layout
	layout   *catalog.Layout
}

const maxReasons = 10

// reject counts and skips the row being read, or returns the error in strict mode.
func (c *copier) reject(err error) error {
	if c.strict {
		return fmt.Errorf("COPY: %s %d: %w", c.unit(), c.line, c.checker.Refuse(err, parser.NoPos))
	}
	c.rejected++
	if c.rejected <= maxReasons {
		c.run.Warn.Add(warning.Line, fmt.Sprintf("%s %d: %v", c.unit(), c.line, err))
	}
	return nil
}

// unit names the records of the file's format.
func (c *copier) unit() string {
	if c.binary {
		return "row"
	}
	return "line"
}

// into prepares the copier for lines that hold the named columns.
func (c *copier) into(names []parser.Name) error {
	cols, err := targetColumns(c.table, names, c.pos)
	if err != nil {
		return err
	}
	return c.begin(cols)
}

// begin prepares for rows with columns cols; nil: each row names its columns.
func (c *copier) begin(cols []*catalog.Column) (err error) {
	if c.in, err = c.run.newInserter(c.table, cols); err != nil {
		return err
	}
	c.bulk, c.run.drawn.grows = newBulk(c.in), true
	c.bulk.failed = c.failed
	c.checker = c.run.newWriter(c.table)
	return nil
}

// add adds one row if it can be stored. p.Set marks the columns that its line names; nil means the columns of the file.
func (c *copier) add(ctx context.Context, p write.Row) error {
	if c.take != nil {
		key, err := c.checker.Key(c.layout, p.Values)
		if err != nil {
			return c.reject(err)
		}
		if key != nil {
			c.take(key)
		}
		return nil
	}
	p.Pos = c.pos
	if err := c.checker.Check(p.Values, c.in.Named(p), true); err != nil {
		return c.reject(err)
	}
	if err := c.checker.Allocate(ctx, []write.Row{p}); err != nil {
		if refused, ok := errors.AsType[*parser.Error](err); ok { // a name that a look-up table cannot hold
			return c.reject(refused)
		}
		return err
	}
	if err := c.bulk.add(ctx, p); err != nil || c.bulk.most > 1 {
		return err
	}
	return c.bulk.settled() // the next row may need numbers that this one draws
}

// copyInput returns a reader of f after the byte order mark that some programs write before UTF-8.
func copyInput(f io.Reader) *bufio.Reader {
	const mark = "\ufeff"
	br := bufio.NewReaderSize(f, 1<<16)
	if b, err := br.Peek(len(mark)); err == nil && string(b) == mark {
		_, _ = br.Discard(len(mark))
	}
	return br
}

// records reads csv or tsv. The header names the columns unless the statement does.
func (c *copier) records(ctx context.Context, f io.Reader, text copytext.Format) error {
	in := copytext.Reader{In: copyInput(f), Format: text, Strict: true}
	names := c.named
	if !c.headless {
		header, err := in.Read()
		for err == nil && len(header) == 1 && header[0].Text == "" {
			header, err = in.Read()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("COPY: %w", err)
		}
		found, known := c.header(header)
		if len(names) == 0 {
			names = found
		} else if known == 0 {
			c.run.Warn.Add(warning.Line, fmt.Sprintf("line %d names no column, is taken for a header and not copied: WITH (HEADER = FALSE) where it is a row", in.Line))
		}
	}
	if err := c.into(names); err != nil {
		return err
	}
	for {
		c.line = in.Line + 1
		rec, err := in.Read()
		var wrong copytext.RecordError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &wrong):
			_ = c.reject(err)
			continue
		case err != nil:
			return fmt.Errorf("COPY: %w", err)
		case len(rec) == 1 && rec[0].Text == "" && len(c.in.cols) > 1: // skip an empty line
			continue
		case len(rec) != len(c.in.cols):
			_ = c.reject(fmt.Errorf("%d fields for %d columns", len(rec), len(c.in.cols)))
			continue
		}
		row, err := c.in.newRow()
		if err != nil {
			return err
		}
		if err = c.fields(row, rec); err != nil {
			_ = c.reject(err)
			continue
		}
		if err := c.add(ctx, write.Row{Values: row, Drawn: len(c.in.drawn) > 0}); err != nil {
			return err
		}
	}
}

// header returns the names in the first line, and how many of them are names of columns.
func (c *copier) header(line []copytext.Field) (names []parser.Name, known int) {
	for _, f := range line {
		name := f.Text
		_, ok := c.table.Column(name)
		if !ok {
			name = strings.TrimSpace(name)
			_, ok = c.table.Column(name)
		}
		if ok {
			known++
		}
		names = append(names, parser.Name{Pos: c.pos, Name: name})
	}
	return names, known
}

// fields converts the fields of a line. A quoted empty field, "" in csv, is the empty text if the column can hold one.
// An unquoted empty field is NULL, except in a key that cannot be NULL, where it is the empty text.
func (c *copier) fields(row []types.Value, rec []copytext.Field) error {
	for i, col := range c.in.cols {
		f := rec[i]
		switch {
		case f.Null && !(f.Text == "" && col.KeyPart && !col.NullKey && col.Type == types.String):
			continue
		case f.Text == "" && col.Type != types.String && col.Type != types.Bytes:
			continue
		}
		v, err := fromText(f.Text, col.Type, c.run.Opt.Now, c.run.settings.loc)
		if col.Type == types.Bytes {
			if b, bad := types.Cast(types.NewString(f.Text), types.Bytes, nil); bad == nil { // PostgreSQL's notation
				v, err = b, nil
			}
		}
		if err == nil {
			v, err = col.Limit.Store(v)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", col.Name, err)
		}
		row[col.Index] = v
	}
	return nil
}

// lines reads jsonl. Each object names its columns; other columns stay unchanged.
func (c *copier) lines(ctx context.Context, f io.Reader) error {
	if _, err := targetColumns(c.table, c.named, c.pos); err != nil {
		return err
	}
	if err := c.begin(nil); err != nil {
		return err
	}
	sets := map[string]*objectColumns{}
	br := copyInput(f)
	for {
		text, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("COPY: %w", err) // do not take a part of a line for the whole
		}
		c.line++
		if len(bytes.TrimSpace(text)) > 0 {
			if err := c.object(ctx, text, sets); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// objectColumns caches the columns of JSON objects with the same member names. err is the reason why such an object is
// not a row, or nil.
type objectColumns struct {
	set   []bool
	drawn bool // see write.Row
	err   error
}

func (c *copier) object(ctx context.Context, text []byte, sets map[string]*objectColumns) error {
	var obj map[string]json.RawMessage
	if !utf8.Valid(text) {
		return c.reject(errors.New("the line is not UTF-8"))
	}
	if err := json.Unmarshal(text, &obj); err != nil {
		return c.reject(err)
	}
	row, err := c.in.newRow()
	if err != nil {
		return err
	}
	named := make([]byte, len(c.table.Columns))
	for name, raw := range obj {
		col, ok := c.table.Column(name)
		if !ok {
			return c.reject(fmt.Errorf("unknown column %q", name))
		}
		if len(c.named) > 0 && !slices.ContainsFunc(c.named, func(n parser.Name) bool { return strings.EqualFold(n.Name, col.Name) }) {
			continue // the statement does not name it
		}
		if named[col.Index] != 0 {
			return c.reject(fmt.Errorf("column %q is named twice", col.Name))
		}
		named[col.Index] = 1
		var err error
		if row[col.Index], err = jsonValue(string(raw), col.Type, c.run.Opt.Now, c.run.settings.loc); err == nil {
			row[col.Index], err = col.Limit.Store(row[col.Index])
		}
		if err != nil {
			return c.reject(fmt.Errorf("column %s: %w", col.Name, err))
		}
	}
	cols, ok := sets[string(named)]
	if !ok {
		cols = &objectColumns{set: make([]bool, len(named))}
		names := []parser.Name{}
		for i, n := range named {
			if cols.set[i] = n != 0 || c.in.Set[i]; n != 0 {
				names = append(names, parser.Name{Pos: c.pos, Name: c.table.Columns[i].Name})
			}
		}
		cols.drawn = slices.ContainsFunc(c.in.drawn, func(i int) bool { return named[i] == 0 })
		if len(names) == 0 {
			cols.err = errors.New("no column is named")
		} else {
			_, cols.err = targetColumns(c.table, names, c.pos)
		}
		sets[string(named)] = cols
	}
	if cols.err != nil {
		return c.reject(cols.err)
	}
	return c.add(ctx, write.Row{Values: row, Set: cols.set, Drawn: cols.drawn})
}

// batches reads Arrow or Parquet. If the statement names columns, the other columns of the file are ignored.
func (c *copier) batches(ctx context.Context, f io.Reader, format string) error {
	in, err := registry.Columnar.Open(ctx, f, format)
	if err != nil {
		return fmt.Errorf("COPY: %w", err)
	}
	defer in.Close()
	c.binary = true
	columns, names := in.Columns(), c.named
	if len(names) == 0 {
		for _, name := range columns {
			names = append(names, parser.Name{Pos: c.pos, Name: name})
		}
	}
	if err := c.into(names); err != nil {
		return err
	}
	at := make([]int, len(names))
	for i, n := range names {
		same := func(name string) bool { return strings.EqualFold(name, n.Name) }
		if at[i] = slices.IndexFunc(columns, same); at[i] < 0 {
			return parser.Errorf(n.Pos, "the file has no column %q: %s", n.Name, strings.Join(columns, ", "))
		}
	}
	for {
		batch, err := in.Next()
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("COPY: %w", err)
		}
		for i := range int(batch.NumRows()) {
			c.line++
			row, err := c.in.newRow()
			if err != nil {
				return err
			}
			if err := c.values(row, batch, at, i); err != nil {
				_ = c.reject(err)
				continue
			}
			if err := c.add(ctx, write.Row{Values: row, Drawn: len(c.in.drawn) > 0}); err != nil {
				return err
			}
		}
	}
}

// values converts row i of a batch, as INSERT converts its values.
func (c *copier) values(row []types.Value, batch registry.Batch, at []int, i int) error {
	for k, col := range c.in.cols {
		v, err := batch.Value(at[k], i, c.run.settings.loc)
		if err == nil {
			if v.Type() == types.Bytes && col.Type != types.Bytes { // JSON and enumerations of Parquet
				v = types.NewString(batch.Text(at[k], i))
			}
			v, err = types.Read(v, col.Type, c.run.Opt.Now, c.run.settings.loc)
		}
		if err == nil {
			v, err = col.Limit.Store(v)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", col.Name, err)
		}
		row[col.Index] = v.Clone()
	}
	return nil
}
