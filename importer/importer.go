package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Formats are the names that Import takes.
func Formats() []string { return []string{"shc", "hive", "phoenix"} }

// Import translates src, a catalog in one of the Formats. The result is a catalog file: it parses and builds.
func Import(format, src string) (string, error) {
	var ts []*table
	var err error
	switch format {
	case "shc":
		ts, err = shc(src)
	case "hive":
		ts, err = hive(src)
	case "phoenix":
		ts, err = phoenix(src)
	default:
		return "", fmt.Errorf("unknown catalog format %q (%s)", format, strings.Join(Formats(), ", "))
	}
	if err != nil {
		return "", fmt.Errorf("%s catalog: %w", format, err)
	}
	var b strings.Builder
	for i, t := range ts {
		if i > 0 {
			b.WriteString("\n")
		}
		sql, err := t.sql()
		if err != nil {
			return "", fmt.Errorf("%s catalog: table %s: %w", format, t.name, err)
		}
		b.WriteString(sql)
	}
	return b.String(), nil
}

// table is an unfinished definition.
type table struct {
	name, stored string
	columns      []string // name TYPE [FROM f:q] [AS encoding]
	later        []string // columns that the user has to complete
	families     []string // families without a named column
	parts        []string
	indexes      []string // INDEX ... STORED IN ...
	with         []string // options after WITH
	todo         []string
	used         map[string]bool // column names in lower case
}

// note adds a comment about work that is left to the user.
func (t *table) note(format string, args ...any) {
	t.todo = append(t.todo, fmt.Sprintf(format, args...))
}

// unique returns a column name that is still free.
func (t *table) unique(name string) string {
	if t.used == nil {
		t.used = map[string]bool{}
	}
	out := name
	for n := 2; t.used[strings.ToLower(out)]; n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	t.used[strings.ToLower(out)] = true
	return out
}

// family adds a family to the definition: a row exists if it has a cell in one of the definition's families.
func (t *table) family(name string) {
	if !slices.Contains(t.families, name) {
		t.families = append(t.families, name)
	}
}

// column adds a column with a type and, for a cell, its place and encoding.
func (t *table) column(name, typ, from, encoding string) {
	t.columns = append(t.columns, columnDef(name, typ, from, encoding))
}

// unknown adds a column whose qualifier is unknown, for the user to complete.
func (t *table) unknown(name, typ, family, qualifier, encoding string) {
	t.family(family)
	t.later = append(t.later, columnDef(name, typ, parser.QuoteName(family)+":"+qualifier, encoding))
}

func columnDef(name, typ, from, encoding string) string {
	def := parser.QuoteName(name) + " " + typ
	if from != "" {
		def += " FROM " + from
	}
	if encoding != "" {
		def += " AS " + encoding
	}
	return def
}

// cell returns family:qualifier in SQL.
func cell(family, qualifier string) string {
	return parser.QuoteName(family) + ":" + parser.QuoteQualifier(qualifier)
}

// text returns a string literal, or a bytes literal if s is not UTF-8.
func text(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return types.NewBytes(s).SQL()
	}
	return types.NewString(s).SQL()
}

// statement returns the definition before hql formats it.
func (t *table) statement() string {
	families := ""
	for _, f := range t.families {
		families += "FAMILY " + parser.QuoteName(f) + " () "
	}
	src := fmt.Sprintf("CREATE EXTERNAL TABLE %s (%s) %sSTORED IN %s ROW KEY (%s) %s",
		parser.QuoteName(t.name), strings.Join(t.columns, ", "), families, text(t.stored), strings.Join(t.parts, ", "), strings.Join(t.indexes, " "))
	if t.with != nil {
		src += " WITH (" + strings.Join(t.with, ", ") + ")"
	}
	return src
}

// index adds an index with these parts. If the definition does not build with the index, index leaves it out and
// returns the error.
func (t *table) index(name, stored string, parts []string) error {
	t.indexes = append(t.indexes, fmt.Sprintf("INDEX %s (%s) STORED IN %s", parser.QuoteName(name), strings.Join(parts, ", "), text(stored)))
	err := catalog.New().Load(t.statement())
	if err != nil {
		t.indexes = t.indexes[:len(t.indexes)-1]
	}
	return err
}

// sql returns the definition after checking that it builds.
func (t *table) sql() (string, error) {
	c := catalog.New()
	if err := c.Load(t.statement()); err != nil {
		return "", err
	}
	var b strings.Builder
	for _, todo := range t.todo {
		fmt.Fprintf(&b, "-- TODO %s\n", strings.Join(strings.Fields(todo), " "))
	}
	for _, def := range t.later {
		fmt.Fprintf(&b, "-- TODO   %s\n", strings.Join(strings.Fields(def), " "))
	}
	b.WriteString(c.Tables()[0].SQL())
	b.WriteString(";\n")
	return b.String(), nil
}

// ---- what Hive's and Phoenix's statements are made of

type tokenKind uint8

const (
	word   tokenKind = iota
	quoted           // in "" or ``: a name in Phoenix, also a string in Hive
	str              // in ''
	punct
)

type token struct {
	kind tokenKind
	text string // unquoted
	pos  int
}

// is reports whether t is the word s, in any case, or the punctuation mark s.
func (t token) is(s string) bool {
	return (t.kind == word || t.kind == punct) && strings.EqualFold(t.text, s)
}

// tokens splits src into tokens, without comments.
func tokens(src string) ([]token, error) {
	var out []token
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case strings.HasPrefix(src[i:], "--") || strings.HasPrefix(src[i:], "//"):
			end := strings.IndexByte(src[i:], '\n')
			if end < 0 {
				return out, nil
			}
			i += end
		case strings.HasPrefix(src[i:], "/*"):
			end := strings.Index(src[i:], "*/")
			if end < 0 {
				return nil, at(src, i, "the end of a comment is missing")
			}
			i += end + 2
		case c == '\'' || c == '"' || c == '`':
			text, next, ok := unquote(src, i)
			if !ok {
				return nil, at(src, i, "the end of a quote is missing")
			}
			kind := quoted
			if c == '\'' {
				kind = str
			}
			out = append(out, token{kind, text, i})
			i = next
		case isWord(c):
			j := i
			for j < len(src) && isWord(src[j]) {
				j++
			}
			out = append(out, token{word, src[i:j], i})
			i = j
		default:
			out = append(out, token{punct, src[i : i+1], i})
			i++
		}
	}
	return out, nil
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// unquote reads the quoted text at i, whose quotes are doubled or escaped with backslashes, and returns the offset of
// its end.
func unquote(src string, i int) (text string, next int, ok bool) {
	var b strings.Builder
	q := src[i]
	for i++; i < len(src); i++ {
		switch {
		case src[i] == '\\' && q != '`' && i+1 < len(src):
			n := 0
			for n < 3 && i+1+n < len(src) && src[i+1+n] >= '0' && src[i+1+n] <= '7' {
				n++
			}
			if n == 3 { // an octal byte: '\001'
				b.WriteByte((src[i+1]-'0')<<6 | (src[i+2]-'0')<<3 | src[i+3] - '0')
				i += 3
				continue
			}
			i++
			if k := strings.IndexByte("tnr0", src[i]); k >= 0 {
				b.WriteByte("\t\n\r\x00"[k])
			} else {
				b.WriteByte(src[i])
			}
		case src[i] == q && i+1 < len(src) && src[i+1] == q:
			b.WriteByte(q)
			i++
		case src[i] == q:
			return b.String(), i + 1, true
		default:
			b.WriteByte(src[i])
		}
	}
	return "", 0, false
}

// at returns an error with its line in src.
func at(src string, pos int, format string, args ...any) error {
	pos = min(pos, len(src))
	line := 1 + strings.Count(src[:pos], "\n")
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

// reader reads the tokens of one statement.
type reader struct {
	src  string
	toks []token
}

func (r *reader) peek() token {
	if len(r.toks) == 0 {
		return token{punct, "", len(r.src)}
	}
	return r.toks[0]
}

func (r *reader) next() token {
	t := r.peek()
	if len(r.toks) > 0 {
		r.toks = r.toks[1:]
	}
	return t
}

// accept takes the words or marks if all of them come next.
func (r *reader) accept(texts ...string) bool {
	if len(r.toks) < len(texts) {
		return false
	}
	for i, s := range texts {
		if !r.toks[i].is(s) {
			return false
		}
	}
	r.toks = r.toks[len(texts):]
	return true
}

func (r *reader) expect(s string) error {
	if !r.accept(s) {
		return r.errorf("expected %s, found %q", s, r.peek().text)
	}
	return nil
}

func (r *reader) errorf(format string, args ...any) error {
	return at(r.src, r.peek().pos, format, args...)
}

// find reads up to and including the given words or marks; if they do not occur it returns false and reads nothing.
func (r *reader) find(texts ...string) bool {
	for i := range r.toks {
		try := reader{r.src, r.toks[i:]}
		if try.accept(texts...) {
			r.toks = try.toks
			return true
		}
	}
	return false
}

// inParens reads a parenthesised list and returns the tokens of its items; commas inside () and <> do not separate
// items.
func (r *reader) inParens() ([][]token, error) {
	open := r.peek()
	if err := r.expect("("); err != nil {
		return nil, err
	}
	var items [][]token
	var item []token
	depth := 0
	for {
		if len(r.toks) == 0 {
			return nil, at(r.src, open.pos, "the end of this parenthesis is missing")
		}
		t := r.next()
		if t.kind == punct {
			switch t.text {
			case "(", "<":
				depth++
			case ">":
				depth--
			case ")":
				if depth == 0 {
					if item != nil {
						items = append(items, item)
					}
					return items, nil
				}
				depth--
			case ",":
				if depth == 0 {
					items, item = append(items, item), nil
					continue
				}
			}
		}
		item = append(item, t)
	}
}

// tablesOf parses each statement of src with read.
func tablesOf(src string, read func(*reader) (*table, error)) ([]*table, error) {
	stmts, err := statements(src)
	if err != nil {
		return nil, err
	}
	var out []*table
	for _, r := range stmts {
		t, err := read(r)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// statements splits src at semicolons.
func statements(src string) ([]*reader, error) {
	toks, err := tokens(src)
	if err != nil {
		return nil, err
	}
	var out []*reader
	for len(toks) > 0 {
		end := slices.IndexFunc(toks, func(t token) bool { return t.is(";") })
		if end < 0 {
			end = len(toks)
		}
		if end > 0 {
			out = append(out, &reader{src, toks[:end]})
		}
		toks = toks[min(end+1, len(toks)):]
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is no statement")
	}
	return out, nil
}
