package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// completion collects the words that may replace the word before the cursor.
type completion struct {
	word  string // as far as it is typed
	found []string
}

// add offers a name, which keeps its spelling.
func (c *completion) add(names ...string) {
	for _, n := range names {
		if len(n) >= len(c.word) && strings.EqualFold(n[:len(c.word)], c.word) && !slices.Contains(c.found, n) {
			c.found = append(c.found, n)
		}
	}
}

// addWords offers keywords, in lower case if the user types lower case.
func (c *completion) addWords(words ...string) {
	lower := c.word != "" && c.word == strings.ToLower(c.word)
	for _, w := range words {
		if lower {
			w = strings.ToLower(w)
		}
		c.add(w)
	}
}

// complete offers the words that may follow line[:pos]. It looks at the catalog as it is in memory and at
// the local disk, never at the store.
func (s *session) complete(line string, pos int) ([]string, int) {
	before := line[:pos]
	if s.query == "" && strings.HasPrefix(strings.TrimLeft(before, " \t"), `\`) {
		return s.completeCommand(strings.TrimLeft(before, " \t"))
	}
	before = s.query + "\n" + before
	toks := parser.Tokens(before)
	if i := slices.IndexFunc(toks, func(t parser.Token) bool { return t.Kind == parser.InvalidToken && t.Text == `\` }); i >= 0 {
		return s.completeCommand(before[toks[i].Pos:])
	}
	toks = statementTokens(toks)
	c := &completion{}
	if n := len(toks); n > 0 {
		last := toks[n-1]
		end := int(last.Pos) + len(last.Text)
		switch {
		case last.Kind == parser.InvalidToken && strings.HasPrefix(last.Text, "'"): // in a text
			if words := upper(toks[:n-1]); words[0] == "COPY" && (ends(words, "FROM") || ends(words, "TO")) {
				return completeFile(last.Text[1:])
			}
			return nil, 0
		case last.Kind == parser.InvalidToken && strings.HasPrefix(last.Text, `"`),
			end == len(before) && (last.Kind == parser.NameToken || last.Kind == parser.KeywordToken):
			c.word, toks = last.Text, toks[:n-1]
		case end == len(before) && last.Kind != parser.OperatorToken, last.Kind == parser.CommentToken && strings.HasPrefix(last.Text, "--"):
			return nil, 0
		}
	}
	all := slices.DeleteFunc(append(slices.Clone(toks), parser.Tokens(line[pos:])...),
		func(t parser.Token) bool { return t.Kind == parser.CommentToken || t.Kind == parser.HintToken })
	s.offer(c, toks, all)
	return c.found, len([]rune(c.word))
}

// statementTokens returns the tokens after the last ';'.
func statementTokens(toks []parser.Token) []parser.Token {
	for i := len(toks) - 1; i >= 0; i-- {
		if toks[i].Kind == parser.OperatorToken && toks[i].Text == ";" {
			return toks[i+1:]
		}
	}
	return toks
}

// upper returns the texts of tokens in upper case. For no tokens it returns one empty text.
func upper(toks []parser.Token) []string {
	if len(toks) == 0 {
		return []string{""}
	}
	out := make([]string, len(toks))
	for i, t := range toks {
		out[i] = strings.ToUpper(t.Text)
	}
	return out
}

// ends reports whether words end with want.
func ends(words []string, want ...string) bool {
	return len(words) >= len(want) && slices.Equal(words[len(words)-len(want):], want)
}

// offerSetting adds the words that may follow words in a SET or SHOW statement; ok is false for other statements.
func (s *session) offerSetting(c *completion, words []string) (ok bool) {
	switch {
	case words[0] == "SET" && len(words) == 1:
		c.add(s.settings()...)
	case words[0] == "SET" && len(words) == 3:
		switch words[1] {
		case "FULL_SCAN":
			c.add("allow", "deny", "warn")
		case "TIMEZONE":
			c.add("'UTC'")
		case "MAX_SCAN_ROWS", "MAX_SCAN_BYTES":
			c.add("none")
		}
		c.addWords("DEFAULT")
	case words[0] == "SHOW" && len(words) == 1:
		c.addWords("TABLES", "CREATE TABLE", "SPLITS", "STATISTICS", "FUNCTIONS", "ALL")
		c.add(s.settings()...)
	default:
		return false
	}
	return true
}

// offer adds the words that may follow toks in a statement.
func (s *session) offer(c *completion, toks, all []parser.Token) {
	if rest := behindExplain(toks); len(rest) < len(toks) {
		if len(rest) == 0 {
			c.addWords(explained...)
			if len(toks) == 1 {
				c.addWords("ANALYZE")
			}
			return
		}
		toks = rest
	}
	words := upper(toks)
	last := words[len(words)-1]
	switch {
	case words[0] == "CREATE" && s.offerTypes(c, toks):
		return
	case last == "::" || last == "AS" && slices.Contains(words, "CAST"):
		c.addWords(typeNames()...)
		return
	case s.offerSetting(c, words):
		return
	case last == "." && len(toks) > 1:
		if t, ok := s.scope(all)[strings.ToLower(unquote(toks[len(toks)-2].Text))]; ok {
			c.addColumns(t)
		}
		return
	}
	if !s.offerTables(c, words, all) {
		s.offerExpression(c, words, toks, all)
	}
}

// offerTables adds the tables and views that may follow words; ok is false if no table or view may follow.
func (s *session) offerTables(c *completion, words []string, all []parser.Token) (ok bool) {
	last := words[len(words)-1]
	switch last {
	case "FROM", "JOIN", "VIEW":
		for _, v := range s.db.Views() {
			c.add(parser.QuoteName(v.Name))
		}
		if last == "VIEW" {
			return true
		}
	}
	switch last {
	case "FROM", "JOIN", "INTO", "UPDATE", "TABLE", "DESCRIBE", "DESC", "COPY", "SPLITS", "STATISTICS", "ANALYZE":
		if last != "DESC" || len(words) == 1 {
			for _, t := range s.db.Tables() {
				c.add(parser.QuoteName(t.Name))
			}
			if last == "FROM" || last == "JOIN" {
				for _, name := range withQueries(all) {
					c.add(parser.QuoteName(name))
				}
			}
			return true
		}
	}
	return false
}

// offerExpression adds the words that may occur in an expression, or begin a clause or a statement.
func (s *session) offerExpression(c *completion, words []string, toks, all []parser.Token) {
	scope := s.scope(all)
	for _, name := range slices.Sorted(maps.Keys(scope)) {
		c.addColumns(scope[name])
		if c.word != "" {
			c.add(parser.QuoteName(name))
		}
	}
	if len(toks) == 0 {
		c.addWords(statementWords...)
	}
	if len(toks) == 0 || c.word == "" { // a list of all words would fill the screen
		return
	}
	for _, w := range parser.Keywords() {
		if clause, ok := clauses[w]; ok && words[len(words)-1] != "WITHIN" {
			w = clause
		}
		c.addWords(w)
	}
	for _, f := range s.db.Catalog().Funcs().All() {
		if f.Group != "operator" && f.Group != "key" && f.Name[0] != '_' {
			c.addWords(f.Name)
		}
	}
	if len(scope) == 0 { // no FROM yet: a column of any table may be meant
		for _, t := range s.db.Tables() {
			c.add(parser.QuoteName(t.Name))
			if words[0] == "SELECT" {
				c.addColumns(t)
			}
		}
	}
}

// explained are the first words of statements that have a plan; statementWords are those of all statements.
var (
	explained      = []string{"SELECT", "WITH", "VALUES", "INSERT INTO", "UPSERT INTO", "UPDATE", "DELETE FROM", "MERGE INTO"}
	statementWords = append(slices.Clip(explained), "EXPLAIN", "CREATE TABLE", "CREATE EXTERNAL TABLE", "CREATE VIEW", "DROP TABLE", "DROP VIEW",
		"SHOW", "DESCRIBE", "SET", "COPY", "CHECK TABLE", "ANALYZE")
)

// clauses maps words to the clauses that they begin.
var clauses = map[string]string{"ALLOW": "ALLOW FULL SCAN", "GROUP": "GROUP BY", "ORDER": "ORDER BY", "PARTITION": "PARTITION BY", "STORED": "STORED IN",
	"MALFORMED": "MALFORMED KEY", "PRIMARY": "PRIMARY KEY"}

// typeNames are the types that SQL can name.
func typeNames() (names []string) {
	for t := types.Boolean; t <= types.LocalTimestamp; t++ {
		names = append(names, t.String())
	}
	return names
}

// behindExplain returns the tokens after EXPLAIN and its options.
func behindExplain(toks []parser.Token) []parser.Token {
	switch words := upper(toks); {
	case words[0] != "EXPLAIN":
		return toks
	case len(toks) > 1 && words[1] == "ANALYZE":
		return toks[2:]
	case len(toks) > 1 && words[1] == "(":
		end := closing(toks, 1)
		if end == len(toks) {
			return toks // FORMAT and the like are words of the notation
		}
		return toks[end+1:]
	}
	return toks[1:]
}

// offerTypes completes a CREATE TABLE: after AS it adds encodings, after a column's name it adds types. done is true right
// after AS, where only an encoding may follow.
func (s *session) offerTypes(c *completion, toks []parser.Token) (done bool) {
	words := upper(toks)
	if !slices.Contains(words, "TABLE") || !slices.Contains(words, "(") {
		return false
	}
	behind := len(words) - 1 // the words of an encoding, so far
	for toks[behind].Kind == parser.NameToken || toks[behind].Kind == parser.KeywordToken && words[behind] != "AS" {
		behind--
	}
	if words[behind] != "AS" {
		if c.word != "" && toks[len(toks)-1].Kind != parser.OperatorToken {
			c.addWords(typeNames()...)
		}
		return false
	}
	begun := strings.Join(words[behind+1:], " ")
	for _, e := range s.db.Catalog().Encodings() {
		if rest, ok := strings.CutPrefix(e.Name, begun); ok && (begun == "" || strings.HasPrefix(rest, " ")) {
			c.addWords(strings.TrimPrefix(rest, " "))
		}
	}
	return begun == ""
}

func (c *completion) addColumns(t *catalog.Table) {
	for _, name := range t.ColumnNames() {
		c.add(parser.QuoteName(name))
	}
	if c.word != "" {
		c.add(catalog.KeyColumn, catalog.TimestampColumn)
	}
}

func unquote(name string) string { return strings.ReplaceAll(strings.Trim(name, `"`), `""`, `"`) }

// settings returns the names of the settings that SET takes. It does not ask the store: SHOW ALL does not either.
func (s *session) settings() []string {
	rows, err := s.db.Query(context.Background(), "SHOW ALL")
	if err != nil {
		return nil
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		out = append(out, rows.Raw()[0].Text())
	}
	return out
}

// completeCommand completes a line that begins with a backslash.
func (s *session) completeCommand(text string) ([]string, int) {
	name, arg, hasArg := strings.Cut(text, " ")
	c := &completion{word: name}
	if !hasArg {
		for _, x := range commands() {
			if strings.HasPrefix(x.name, name) { // \g is not \G
				c.add(x.name)
			}
		}
		return c.found, len([]rune(c.word))
	}
	c.word = strings.TrimLeft(arg, " ")
	switch name {
	case `\i`, `\ir`, `\o`, `\g`, `\gx`, `\e`, `\cd`, `\w`, `\s`:
		if s.conf.Restricted {
			return nil, 0
		}
		return completeFile(c.word)
	case `\x`:
		c.add("on", "off", "auto")
	case `\d`, `\d+`, `\sample`, `\copy`:
		for _, t := range s.db.Tables() {
			c.add(t.Name)
		}
	case `\infer`:
		c.add(s.unnamed...)
	case `\df`:
		for _, f := range s.db.Catalog().Funcs().All() {
			c.addWords(f.Name)
		}
	case `\h`:
		for _, t := range topics {
			c.addWords(t.name)
		}
	case `\format`:
		c.add(slices.Sorted(maps.Keys(formats))...)
	case `\pset`:
		c.add("border", "expanded", "fieldsep", "footer", "format", "linestyle ascii", "linestyle unicode", "null", "pager on", "pager off", "title", "tuples_only")
	case `\c`:
		c.add(slices.Sorted(maps.Keys(s.conf.file.Connections))...)
	case `\set`, `\unset`:
		c.add(slices.Sorted(maps.Keys(s.vars))...)
	}
	return c.found, len([]rune(c.word))
}

// completeFile offers the files that begin with name; directories end in a slash.
func completeFile(name string) ([]string, int) {
	dir, base := filepath.Split(name)
	read := home(dir)
	if read == "" {
		read = "."
	}
	entries, err := os.ReadDir(read)
	if err != nil {
		return nil, 0
	}
	var out []string
	for _, e := range entries {
		n := e.Name()
		if !strings.HasPrefix(n, base) || base == "" && strings.HasPrefix(n, ".") {
			continue
		}
		if e.IsDir() {
			n += "/"
		}
		out = append(out, n)
	}
	return out, len([]rune(base))
}
