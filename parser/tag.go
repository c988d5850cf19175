package parser

import "strings"

// CommandTag returns the first words of PostgreSQL's command tag for a statement, and whether a number of rows follows
// them.
func CommandTag(s Statement) (words string, counted bool) {
	verb := s.Command()
	switch s := s.(type) {
	case *Delete:
		return verb, !s.Truncate
	case *Select, *Update, *Merge, *Copy:
		return verb, true
	case *Writing:
		return CommandTag(s.written())
	case *Insert:
		return "INSERT 0", true
	case *CreateTable:
		switch {
		case s.NoData && s.Materialized:
			return verb, false
		case s.NoData:
			return "CREATE TABLE AS", false
		}
		if s.Query != nil {
			return "SELECT", true
		}
	case *Transaction:
		return s.Verb, false
	case *Set:
		if s.Verb == "DISCARD" {
			return "DISCARD " + strings.ToUpper(s.Name), false
		}
	case *Deallocate:
		if s.Name == "" {
			return "DEALLOCATE ALL", false
		}
	}
	return verb, false
}

// Written returns the table whose rows s writes or deletes; "" for other statements.
func Written(s Statement) string {
	if w, ok := s.(*Writing); ok {
		s = w.Statement
	}
	if table, _, _, _ := Target(s); table != nil {
		return *table
	}
	return ""
}

// Target returns the table that s, an INSERT, UPDATE, DELETE or MERGE, writes, and its RETURNING; nil for other statements.
func Target(s Statement) (table, alias *string, returning *[]SelectItem, at Pos) {
	switch s := s.(type) {
	case *Insert:
		return &s.Table, &s.Alias, &s.Returning, s.TablePos
	case *Update:
		return &s.Table, &s.Alias, &s.Returning, s.TablePos
	case *Delete:
		return &s.Table, &s.Alias, &s.Returning, s.TablePos
	case *Merge:
		return &s.Table, &s.Alias, nil, s.TablePos
	}
	return nil, nil, nil, NoPos
}
