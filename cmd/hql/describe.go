package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// exampleTimeout bounds how long \d waits for an example from the store.
const exampleTimeout = 5 * time.Second

// describe runs \d: it lists the tables, or draws the keys of one table byte by byte and lists its columns.
func (s *session) describe(ctx context.Context, arg string) error { return s.draw(ctx, arg, false) }

// describeMore runs \d+: it also shows families, regions, statistics, and the qualifiers in a sample of rows.
func (s *session) describeMore(ctx context.Context, arg string) error { return s.draw(ctx, arg, true) }

func (s *session) draw(ctx context.Context, arg string, more bool) error {
	args, err := words(arg)
	if err != nil {
		return err
	}
	if len(args) == 0 || strings.ContainsAny(args[0], "*?") {
		return s.tables(ctx, arg)
	}
	return paged(func(s *session, ctx context.Context, name string) error { return s.drawTable(ctx, name, more) })(s, ctx, inPublic(args[0]))
}

// drawTable draws a table, or describes a view.
func (s *session) drawTable(ctx context.Context, name string, more bool) error {
	if v, ok := s.db.Catalog().View(name); ok {
		defer func(footer bool) { s.footer = footer }(s.footer)
		s.footer = false // it would come before the text that the page holds
		if err := s.execute(ctx, "DESCRIBE "+parser.QuoteName(v.Name)); err != nil {
			return err
		}
		fmt.Fprintln(s.stdout, printable(v.Def.String())+";")
		return nil
	}
	t, err := s.table(ctx, name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(s.stdout)
	defer w.Flush()
	if more && t.Comment != "" {
		fmt.Fprintln(w, printable(t.Comment))
	}
	for _, l := range t.Layouts {
		s.drawKey(ctx, w, t, l)
	}
	s.drawNotes(ctx, w, t)
	fmt.Fprintln(w, "columns")
	rows := [][]string{}
	for _, c := range t.Columns {
		where := "in the key"
		switch {
		case c.Packed != nil:
			where = fmt.Sprintf("%s:[%s] AS %s", c.Family, c.Packed.Source(), c.Encoding)
		case !c.KeyPart:
			where = fmt.Sprintf("%s:%s AS %s", c.Family, c.Qualifier, c.Encoding)
		}
		if c.Default != nil {
			where += " DEFAULT " + c.Default.String()
		}
		row := []string{c.Name, c.Type.String(), where}
		if more && c.Comment != "" {
			row = append(row, c.Comment)
		}
		rows = append(rows, row)
	}
	align(w, rows)
	for _, c := range t.Checks {
		fmt.Fprintf(w, "  constraint %s: %s\n", printable(c.Name), printable(c.Condition()))
	}
	if !more {
		return nil
	}
	for _, l := range t.Layouts {
		if err := s.drawStored(ctx, w, t, l); err != nil {
			return err
		}
	}
	return s.drawStatistics(ctx, w, t)
}

// drawNotes prints the notes about the keys of t that CREATE TABLE prints. For an external table it ignores the regions: the
// HBase table may hold rows with other keys.
func (s *session) drawNotes(ctx context.Context, w io.Writer, t *catalog.Table) {
	var starts [][]byte
	if names, err := s.physical(ctx, t.Layouts[0]); err == nil && !t.External {
		regions, _ := s.db.Client().Regions(ctx, names[len(names)-1])
		for _, g := range regions {
			starts = append(starts, g.Start)
		}
	}
	for _, n := range t.KeyNotes(starts) {
		fmt.Fprintf(w, "  note: %s\n", printable(n.Text))
	}
}

// drawStatistics prints the statistics of t.
func (s *session) drawStatistics(ctx context.Context, w io.Writer, t *catalog.Table) error {
	rows, err := s.db.Query(ctx, "SHOW STATISTICS "+parser.QuoteName(t.Name))
	if err != nil {
		return err
	}
	defer rows.Close()
	lines := [][]string{{"of", "name", "rows", "distinct", "NULL", "bytes", ""}}
	for rows.Next() {
		var line []string
		for _, v := range rows.Raw() {
			text := ""
			if !v.IsNull() {
				text = v.String()
			}
			line = append(line, text)
		}
		lines = append(lines, line)
	}
	if len(lines) > 1 {
		fmt.Fprintln(w, "statistics")
		align(w, lines)
	}
	return rows.Err()
}

// table finds a table by its name, which may be in double quotes.
func (s *session) table(ctx context.Context, name string) (*catalog.Table, error) {
	name = strings.Trim(name, `"`)
	t, err := s.db.Catalog().TableAt(name, parser.NoPos)
	if err != nil {
		return nil, s.withHint(ctx, err)
	}
	return t, nil
}

// align prints rows as columns.
func align(w io.Writer, rows [][]string) {
	var widths []int
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(printable(c)))
		}
	}
	for _, r := range rows {
		line := " "
		for i, c := range r {
			line += " " + runewidth.FillRight(printable(c), widths[i]) + " "
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func layoutTitle(l *catalog.Layout) string {
	kind := [...]string{"row key", "copy", "index"}[l.Kind]
	if l.Name != "primary" {
		kind += " " + l.Name
	}
	if l.Building {
		kind += ", not filled yet"
	}
	return fmt.Sprintf("%s, stored in %s", kind, l.Stored.Source())
}

// drawKey prints the positions of a key's parts, an example key from the store, and the parts of this example.
func (s *session) drawKey(ctx context.Context, w io.Writer, t *catalog.Table, l *catalog.Layout) {
	fmt.Fprintln(w, layoutTitle(l))
	ctx, cancel := context.WithTimeout(ctx, exampleTimeout)
	defer cancel()
	var fields []catalog.Field
	var note string
	table, rows, err := s.sample(ctx, l, 1, true)
	switch {
	case err != nil:
		note = "no example: " + err.Error()
	case len(rows) == 0:
		note = "no example: the table is empty"
	default:
		fields, _ = l.Key.Fields(rows[0].Key)
		note = "example  " + keyText(rows[0].Key)
		if read, err := readKey(t, l, table, rows[0]); err != nil {
			note += "  does not fit: " + err.Error()
		} else {
			note += "  reads as  " + read
		}
	}
	cells := [][]string{{"offset", "bytes", "part", "encoding", "example", "value"}}
	offset := 0 // -1: known from here on only in a key
	for i, p := range l.Key.Parts {
		at, width, source, encoding := "?", "varies", p.Source, ""
		if offset >= 0 {
			at = strconv.Itoa(offset)
		}
		n := p.Width()
		if p.Literal == nil {
			source, encoding = p.Def.Expr.String(), p.Encoding.String()
		}
		if n == catalog.Variable {
			offset = -1
		} else {
			width = strconv.Itoa(n)
			if offset >= 0 {
				offset += n
			}
		}
		row := []string{at, width, source, encoding}
		if i < len(fields) {
			row = append(row, clip(keyText(fields[i].Bytes)), fieldValue(fields[i]))
		}
		cells = append(cells, row)
	}
	if len(fields) == 0 {
		cells[0] = cells[0][:4]
	}
	align(w, cells)
	fmt.Fprintln(w, " ", printable(note))
}

// clip shortens a text that would push everything else off the screen.
func clip(text string) string { return runewidth.Truncate(text, 40, "...") }

func fieldValue(f catalog.Field) string {
	if f.Part.Literal != nil {
		return ""
	}
	return clip(printable(f.Value.String()))
}

// keyText returns stored bytes as text, with \xNN for bytes that are not printable ASCII.
func keyText(b []byte) string { return types.NewBytes(string(b)).String() }

// sampledRows is how many rows \d+ looks at for qualifiers.
const sampledRows = 100

// shownRegions is how many regions and qualifiers \d+ lists.
const shownRegions = 20

// drawStored prints what the store says about the newest HBase table of a layout.
func (s *session) drawStored(ctx context.Context, w io.Writer, t *catalog.Table, l *catalog.Layout) error {
	names, err := s.physical(ctx, l)
	if err != nil {
		return err
	}
	table := names[len(names)-1]
	fmt.Fprintf(w, "HBase table %s", printable(table))
	if len(names) > 1 {
		fmt.Fprintf(w, ", the last of %d", len(names))
	}
	fmt.Fprintln(w)
	families, err := s.db.Client().Families(ctx, table)
	if errors.Is(err, hbase.ErrDenied) { // a user who may read a table may not describe it
		fmt.Fprintf(w, "  %v\n", err)
		err = nil
	}
	if err != nil {
		return err
	}
	for _, f := range families {
		line := "  family " + printable(f.Name)
		for _, k := range slices.Sorted(maps.Keys(f.Attributes)) {
			if k == exec.MadeFor {
				continue
			}
			line += fmt.Sprintf("  %s=%s", printable(k), printable(f.Attributes[k]))
		}
		fmt.Fprintln(w, line)
	}
	regions, err := s.db.Client().Regions(ctx, table)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "  %s\n", count(len(regions), "region"))
	var rows [][]string
	for _, r := range regions[:min(len(regions), shownRegions)] {
		rows = append(rows, []string{"", "[" + clip(keyText(r.Start)) + ", " + clip(keyText(r.Stop)) + ")", r.Server})
	}
	align(w, rows)
	if n := len(regions) - shownRegions; n > 0 {
		fmt.Fprintf(w, "    and %d more\n", n)
	}
	return s.drawQualifiers(ctx, w, t, l)
}

func (s *session) drawQualifiers(ctx context.Context, w io.Writer, t *catalog.Table, l *catalog.Layout) error {
	_, sampled, err := s.sample(ctx, l, sampledRows, false)
	if err != nil {
		return err
	}
	type qualifier struct{ family, name string }
	seen := map[qualifier]int{}
	for _, r := range sampled {
		last := qualifier{}
		for i, c := range r.Cells {
			q := qualifier{string(c.Family), string(c.Qualifier)}
			if i == 0 || q != last {
				seen[q]++
			}
			last = q
		}
	}
	fmt.Fprintf(w, "  qualifiers in %s\n", count(len(sampled), "sampled row"))
	list := slices.SortedFunc(maps.Keys(seen), func(a, b qualifier) int {
		if n := seen[b] - seen[a]; n != 0 {
			return n
		}
		return strings.Compare(a.family+":"+a.name, b.family+":"+b.name)
	})
	var rows [][]string
	for _, q := range list[:min(len(list), shownRegions)] {
		column := "(not in the catalog)"
		for _, c := range t.Columns {
			if c.Family != q.family {
				continue
			}
			if c.Packed != nil {
				if _, err := c.Packed.Fields([]byte(q.name)); err == nil {
					column = c.Name
				}
			} else if c.InCell() && c.Qualifier == q.name {
				column = c.Name
			}
		}
		if l.Kind == catalog.Index {
			column = "(a mark: an index has no columns of its own)"
		}
		rows = append(rows, []string{"", q.family + ":" + keyText([]byte(q.name)), count(seen[q], "row"), column})
	}
	align(w, rows)
	if n := len(list) - shownRegions; n > 0 {
		fmt.Fprintf(w, "    and %d more\n", n)
	}
	return nil
}

// grid prints rows that are already there.
func (s *session) grid(cols []string, ts []types.Type, rows [][]types.Value) error {
	w := formats[s.format](bufio.NewWriter(s.stdout), s.look())
	if err := w.begin(cols, ts); err != nil {
		return err
	}
	for _, r := range rows {
		if err := w.row(r); err != nil {
			return err
		}
	}
	return w.end()
}

func (s *session) functions(_ context.Context, name string) error {
	for _, f := range s.db.Catalog().Funcs().All() {
		if name == "" || strings.Contains(strings.ToLower(f.Name), strings.ToLower(name)) || matches(name, f.Name) {
			fmt.Fprintf(s.stdout, "%-8s  %-52s %s\n", f.Group, f.Signature, f.Doc)
		}
	}
	return nil
}
