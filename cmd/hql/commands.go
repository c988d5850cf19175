package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hql-db/hql/catalog"
)

// command is a backslash command of the prompt: what runs, what \? prints.
type command struct {
	name, args, help string
	run              func(s *session, ctx context.Context, arg string) error
}

func commands() []command {
	return []command{
		{`\d`, "[TABLE]", "tables, or a table's key and columns", (*session).describe},
		{`\dt`, "", "tables", func(s *session, ctx context.Context, _ string) error { return s.describe(ctx, "") }},
		{`\df`, "[NAME]", "functions", (*session).functions},
		{`\x`, "", "one column a line, on or off", func(s *session, _ context.Context, _ string) error {
			if s.format == "vertical" {
				s.format = "table"
			} else {
				s.format = "vertical"
			}
			fmt.Fprintf(s.stderr, "format is %s\n", s.format)
			return nil
		}},
		{`\format`, "FORMAT", "table, vertical, csv, tsv, json, jsonl or markdown", func(s *session, _ context.Context, arg string) error {
			if _, ok := formats[arg]; !ok {
				return fmt.Errorf("unknown format %q", arg)
			}
			s.format = arg
			return nil
		}},
		{`\timing`, "", "the line with rows and time under results, on or off", func(s *session, _ context.Context, _ string) error {
			s.footer = !s.footer
			return nil
		}},
		{`\i`, "FILE", "run the statements of a file", func(s *session, ctx context.Context, arg string) error {
			text, err := readFile(arg)
			if err != nil {
				return err
			}
			s.script(ctx, text)
			return nil
		}},
		{`\o`, "[FILE]", "write results to a file, or to the screen again", (*session).redirect},
		{`\conninfo`, "", "the store in use", func(s *session, _ context.Context, _ string) error {
			where := s.conf.connect
			if where == "" {
				where = "mem:"
			}
			mode := "read-only"
			if s.db.Writable() {
				mode = "writable"
			}
			fmt.Fprintf(s.stdout, "%s, %s\n", where, mode)
			return nil
		}},
	}
}

// command runs a line that is a command of the prompt. done: it was one.
func (s *session) command(ctx context.Context, line string) (done, quit bool) {
	text := strings.TrimSuffix(strings.TrimSpace(line), ";")
	name, arg, _ := strings.Cut(text, " ")
	arg = strings.TrimSpace(arg)
	switch strings.ToLower(name) {
	case `\q`, "exit", "quit":
		return true, true
	case `\?`, `\h`, "help":
		s.help()
		return true, false
	case "list":
		name, arg = `\d`, ""
	case "describe", "desc":
		if !strings.HasPrefix(arg, "'") {
			return false, false // the SQL statement
		}
		name, arg = `\d`, strings.Trim(arg, "'")
	}
	if !strings.HasPrefix(name, `\`) {
		return false, false
	}
	for _, c := range commands() {
		if c.name == strings.TrimSuffix(name, "+") {
			if err := c.run(s, ctx, strings.Trim(arg, "'\"")); err != nil {
				fmt.Fprintf(s.stderr, "error: %v\n", err)
			}
			return true, false
		}
	}
	fmt.Fprintf(s.stderr, "error: unknown command %s (\\? lists them)\n", name)
	return true, false
}

func (s *session) help() {
	fmt.Fprintln(s.stdout, `Statements end with ';' (or \G for one column a line). EXPLAIN shows how a query uses the rowkey.`)
	for _, c := range commands() {
		fmt.Fprintf(s.stdout, "  %-10s %-10s %s\n", c.name, c.args, c.help)
	}
	fmt.Fprintf(s.stdout, "  %-10s %-10s %s\n", `\q`, "", "quit (also ^D, exit)")
}

func (s *session) redirect(_ context.Context, file string) error {
	if f, ok := s.stdout.(*os.File); ok && f != os.Stdout {
		if err := f.Close(); err != nil {
			return err
		}
	}
	s.stdout = os.Stdout
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	s.stdout = f
	return nil
}

// describe lists the tables, or draws a table's rowkey byte by byte and lists its columns.
func (s *session) describe(ctx context.Context, name string) error {
	if name == "" {
		return s.execute(ctx, "SHOW TABLES")
	}
	t, ok := s.db.Catalog().Table(name)
	if !ok {
		return fmt.Errorf("unknown table %q", name)
	}
	for _, l := range t.Layouts {
		fmt.Fprintf(s.stdout, "%s %s, stored in %s\n", [...]string{"row key", "row key", "index"}[l.Kind], l.Name, patternText(l.Stored))
		fmt.Fprintf(s.stdout, "  %-8s %-6s %s\n", "offset", "bytes", "part")
		offset, known := 0, true
		for _, p := range l.Key.Parts {
			at, width := "?", "varies"
			if known {
				at = fmt.Sprint(offset)
			}
			w := len(p.Literal)
			if p.Literal == nil {
				w = p.Encoding.Width()
			}
			if w == catalog.Variable {
				known = false
			} else {
				width = fmt.Sprint(w)
				offset += w
			}
			fmt.Fprintf(s.stdout, "  %-8s %-6s %s\n", at, width, p.Source)
		}
	}
	fmt.Fprintf(s.stdout, "columns\n")
	for _, c := range t.Columns {
		where := "in the key"
		switch {
		case c.Packed != nil:
			where = fmt.Sprintf("%s:[%s] AS %s", c.Family, patternText(c.Packed), c.Encoding)
		case !c.KeyPart:
			where = fmt.Sprintf("%s:%s AS %s", c.Family, c.Qualifier, c.Encoding)
		}
		fmt.Fprintf(s.stdout, "  %-20s %-10s %s\n", c.Name, c.Type, printable(where))
	}
	return nil
}

func patternText(p *catalog.Pattern) string {
	parts := make([]string, len(p.Parts))
	for i, x := range p.Parts {
		parts[i] = x.Source
	}
	return strings.Join(parts, ", ")
}

func (s *session) functions(_ context.Context, name string) error {
	for _, f := range s.db.Catalog().Funcs().All() {
		if name == "" || strings.Contains(strings.ToLower(f.Name), strings.ToLower(name)) {
			fmt.Fprintf(s.stdout, "%-8s  %-52s %s\n", f.Group, f.Signature, f.Doc)
		}
	}
	return nil
}
