package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/hql-db/hql/catalog"
)

// describe lists the tables, or draws a table's rowkey byte by byte and lists its columns.
func (s *session) describe(ctx context.Context, name string) error {
	if name == "" {
		return s.execute(ctx, "SHOW TABLES")
	}
	name = strings.Trim(name, `'"`)
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
