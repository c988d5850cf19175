package main

// This file finds the tables and queries that an unfinished statement may name. It looks at words, because an unfinished
// statement cannot be parsed.

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
)

// scope returns the tables that a statement names. Its keys are their names or aliases, in lower case.
func (s *session) scope(toks []parser.Token) map[string]*catalog.Table {
	out := map[string]*catalog.Table{}
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
		name := unquote(toks[i+1].Text)
		t, ok := s.db.Catalog().Table(name)
		if !ok {
			continue
		}
		out[strings.ToLower(name)] = t
		next := i + 2
		if next < len(words) && words[next] == "AS" {
			next++
		}
		if next < len(toks) && toks[next].Kind == parser.NameToken {
			out[strings.ToLower(unquote(toks[next].Text))] = t
		}
	}
	return out
}

// withQueries returns the names of the queries that WITH defines.
func withQueries(toks []parser.Token) (names []string) {
	words := upper(toks)
	for i := slices.Index(words, "WITH"); i >= 0 && i+2 < len(toks); i++ {
		if toks[i].Kind == parser.NameToken && words[i+1] == "AS" && words[i+2] == "(" {
			names = append(names, unquote(toks[i].Text))
		}
	}
	return names
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
