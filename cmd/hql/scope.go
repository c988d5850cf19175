package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
)

// This file finds the tables and columns that an unfinished statement may name. It looks at words, because an unfinished
// statement cannot be parsed.

// relation is an item of a FROM.
type relation struct {
	columns []string
	stored  bool // a table, which has _key and _ts too
}

// scope returns the relations that a statement reads. Its keys are their names or aliases, in lower case.
func (s *session) scope(toks []parser.Token) map[string]relation {
	return s.scopeUnder(toks, nil)
}

// scopeUnder works like scope for a query inside another query; outer are the queries that the outer WITH defines.
func (s *session) scopeUnder(toks []parser.Token, outer map[string]relation) map[string]relation {
	out := map[string]relation{}
	named := s.withQueries(toks, outer)
	words := upper(toks)
	list := false // in a FROM, where a comma is followed by another table
	for i, w := range words {
		switch w {
		case "WHERE", "GROUP", "ORDER", "SET", "ON", ")", "(", "HAVING", "LIMIT":
			list = false
		}
		introduces := w == "FROM" || w == "JOIN" || w == "INTO" || w == "UPDATE" || w == "," && list
		if !introduces || i+1 == len(toks) {
			continue
		}
		list = w == "FROM" || list
		var r relation
		next := i + 2
		if words[i+1] == "(" {
			next = closing(toks, i+1)
			r.columns = s.outputs(toks[i+2:next], named)
			next++
		} else {
			name := unquote(toks[i+1].Text)
			query, ok := named[strings.ToLower(name)]
			t, stored := s.db.Catalog().Table(name)
			switch {
			case ok:
				r = query
			case stored:
				r = relation{t.ColumnNames(), true}
			default:
				continue
			}
			out[strings.ToLower(name)] = r
		}
		if next < len(words) && words[next] == "AS" {
			next++
		}
		if next < len(toks) && toks[next].Kind == parser.NameToken {
			out[strings.ToLower(unquote(toks[next].Text))] = r
		}
	}
	return out
}

// closing returns the index of the parenthesis that closes the one at toks[i], or len(toks) if there is none.
func closing(toks []parser.Token, i int) int {
	depth := 0
	for ; i < len(toks); i++ {
		switch toks[i].Text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// withQueries returns the queries that WITH defines, and those of outer.
func (s *session) withQueries(toks []parser.Token, outer map[string]relation) map[string]relation {
	out := maps.Clone(outer)
	if out == nil {
		out = map[string]relation{}
	}
	words := upper(toks)
	if i := slices.Index(words, "WITH"); words[0] == "EXPLAIN" && i > 0 {
		words, toks = words[i:], toks[i:]
	}
	if words[0] != "WITH" {
		return out
	}
	first := 1
	if len(words) > 2 && words[1] == "RECURSIVE" && words[2] != "AS" && words[2] != "(" {
		first++
	}
	for i := first; i < len(toks) && toks[i].Kind == parser.NameToken; i++ {
		name := strings.ToLower(unquote(toks[i].Text))
		var r relation
		if i++; i < len(words) && words[i] == "(" {
			end := closing(toks, i)
			for _, t := range toks[i+1 : end] {
				if t.Kind == parser.NameToken {
					r.columns = append(r.columns, unquote(t.Text))
				}
			}
			i = end + 1
		}
		for i < len(words) && slices.Contains([]string{"AS", "NOT", "MATERIALIZED"}, words[i]) {
			i++
		}
		if i >= len(words) || words[i] != "(" {
			break
		}
		end := closing(toks, i)
		if r.columns == nil {
			r.columns = s.outputs(toks[i+1:end], out)
		}
		out[name] = r
		if i = end + 1; i >= len(words) || words[i] != "," {
			break
		}
	}
	return out
}

// outputs returns the names of a query's columns, without the columns whose names its words do not show.
func (s *session) outputs(toks []parser.Token, outer map[string]relation) (names []string) {
	words := upper(toks)
	depth, begin := 0, -1 // begin: of an expression behind SELECT
	for i := 0; i <= len(toks); i++ {
		w := ""
		if i < len(toks) {
			w = words[i]
		}
		switch {
		case w == "(":
			depth++
		case w == ")":
			depth--
		case depth > 0:
		case begin < 0 && w == "SELECT":
			begin = i + 1
		case begin >= 0 && (w == "," || w == "FROM" || i == len(toks)):
			names = append(names, s.outputNames(toks, begin, i, outer)...)
			if w != "," {
				return names
			}
			begin = i + 1
		}
	}
	return names
}

// outputNames returns the names of the columns of the SELECT in toks[begin:end].
func (s *session) outputNames(toks []parser.Token, begin, end int, outer map[string]relation) (names []string) {
	if begin == end {
		return nil
	}
	switch last := toks[end-1]; {
	case last.Kind == parser.NameToken:
		return []string{unquote(last.Text)}
	case last.Text != "*":
		return nil
	case begin == end-1:
		scope := s.scopeUnder(toks, outer)
		for _, name := range slices.Sorted(maps.Keys(scope)) {
			names = append(names, scope[name].columns...)
		}
		return names
	case toks[end-2].Text == "." && begin == end-3:
		return s.scopeUnder(toks, outer)[strings.ToLower(unquote(toks[begin].Text))].columns
	}
	return nil
}
