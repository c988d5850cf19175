package parser

import (
	"slices"
	"strings"
)

// Qualify replaces the names of tables and views in s, a statement with the text src, by what in returns. defines says whether
// s creates the name; otherwise the name must exist. Names with a schema or namespace other than pg_temp, and the queries of WITH,
// keep their names.
func Qualify(s Statement, src string, in func(name string, defines bool) string) {
	if e, ok := s.(*Explain); ok {
		Qualify(e.Statement, src, in)
		return
	}
	tokens, column := Tokens(src), 0
	bare := func(at Pos) bool { // no schema precedes the name at this position
		i, ok := slices.BinarySearchFunc(tokens, at, func(t Token, at Pos) int { return int(t.Pos - at) })
		i += 1 + column
		return ok && (i >= len(tokens) || tokens[i].Text != "." && tokens[i].Text != ":")
	}
	name := func(name *string, at Pos) {
		if bare(at) || strings.HasPrefix(*name, "pg_temp:") {
			*name = in(*name, false)
		}
	}
	aliased := func(of, alias *string, at Pos) { // columns are qualified by the name as it is written
		was := *of
		if name(of, at); *of != was && *alias == "" {
			*alias = was
		}
	}
	for _, t := range Tables(s) {
		aliased(&t.Name, &t.Alias, t.Pos)
	}
	targets := []Statement{s}
	if w, ok := s.(*Writing); ok {
		targets[0] = w.Statement
		for _, c := range w.With {
			targets = append(targets, c.Write)
		}
	}
	for _, s := range targets {
		if table, alias, _, at := Target(s); table != nil {
			aliased(table, alias, at)
		}
	}
	switch s := s.(type) {
	case *Copy:
		name(&s.Table, s.TablePos)
	case *CreateTable:
		for i := range s.Columns {
			if c := &s.Columns[i]; c.Like != nil {
				name(&c.Name, c.Pos)
			}
		}
		if bare(s.NamePos) && !s.Temporary {
			s.Name = in(s.Name, true)
		}
	case *CreateView:
		if bare(s.NamePos) && !s.Temporary {
			s.Name = in(s.Name, true)
		}
	case *Drop:
		for _, d := range append(s.More, s) {
			name(&d.Name, d.NamePos)
		}
	case *Alter:
		if len(s.Changes) == 1 && s.Changes[0].Kind == CommentColumn {
			column = 2 // of COMMENT ON COLUMN table.column
		}
		name(&s.Name, s.NamePos)
	case *CheckTable:
		name(&s.Name, s.NamePos)
	case *Analyze:
		name(&s.Name, s.NamePos)
	case *Show:
		if s.Kind != ShowSettings {
			name(&s.Name, s.NamePos)
		}
	}
}
