package pgwire

import (
	"bytes"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
)

// prepared is a statement that was read.
type prepared struct {
	whole   string // the text of the message
	offset  int    // where the statement begins in it
	sql     string
	stmt    *hql.Stmt // nil: a command, a COPY, or no statement
	command command
	copies  *copyCommand // nil: the statement is no COPY

	params    []uint32 // oids
	columns   []hql.ColumnType
	described bool
	held      int64 // bytes
}

// empty reports whether there is no statement.
func (p *prepared) empty() bool { return p.stmt == nil && p.command == nil && p.copies == nil }

// endsBlock reports whether the statement ends a transaction block, so that it may run after another statement failed.
func (p *prepared) endsBlock() bool {
	t, ok := p.command.(*transactionCommand)
	return ok && t.ends()
}

// simpleQuery runs the statements of a Query message.
func (c *conn) simpleQuery(body []byte) error {
	sql, ok := bytes.CutSuffix(body, []byte{0})
	if !ok || bytes.IndexByte(sql, 0) >= 0 {
		return fatal("08P01", "invalid string in message")
	}
	c.closePortals(c.portals)
	err := c.script(string(sql))
	if err != nil {
		if err = c.report(err); err != nil {
			return err
		}
	}
	c.endImplicit()
	return c.ready()
}

// script runs statements one after the other. It stops at the first one that fails.
func (c *conn) script(whole string) error {
	pieces := split(whole)
	if len(pieces) == 0 {
		return c.send(&pgproto3.EmptyQueryResponse{})
	}
	for _, p := range pieces {
		one, err := c.prepare(whole, p.text, p.offset)
		if err == nil {
			err = c.runSimple(one)
			c.srv.held.give(one.held)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runSimple runs one statement to its end.
func (c *conn) runSimple(one *prepared) error {
	if one.copies != nil {
		return c.copy(one)
	}
	p := c.newPortal(one)
	defer p.close(c)
	end := c.note(one)
	err := p.why(c.working(p.cancel, func() error {
		if err := p.begin(c); err != nil {
			return err
		}
		if p.answer.columns != nil {
			if err := c.describe(p.answer.columns, func(int) int16 { return 0 }); err != nil {
				return err
			}
		}
		return p.fetch(c, 0)
	}))
	end(p.sent, err)
	return err
}

// treeSize estimates the bytes of memory that parsing a statement takes. The parsed statement takes less.
func treeSize(sql string) int64 {
	const ofWord = 96
	words, quoted, before := 0, false, false // before: the last byte was one of a word
	for i := range len(sql) {
		b := sql[i]
		word := b == '_' || b == '.' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
		if b == '\'' {
			quoted = !quoted
		}
		if !quoted && b > ' ' && !(word && before) {
			words++
		}
		before = word
	}
	return int64(words)*ofWord + int64(len(sql))*2 + 4096
}

// hold takes the memory of a statement.
func (c *conn) hold(sql string) (int64, error) {
	held := treeSize(sql)
	if held > c.srv.held.most {
		return 0, failure("54000", "the statement has too many words for the memory of the server").hint("several statements, or COPY, take less at a time; --memory is the limit")
	}
	if !c.srv.held.take(held) {
		return 0, busy("53200", "the server has no memory to keep another statement of %d bytes", len(sql))
	}
	return held, nil
}

// prepare parses the statement sql, which begins at offset in whole. It takes memory from the budget, which the caller gives
// back when the statement is no longer used.
func (c *conn) prepare(whole, sql string, offset int) (*prepared, error) {
	held, err := c.hold(sql)
	if err != nil {
		return nil, err
	}
	p, err := c.parsed(whole, sql, offset)
	if err != nil {
		c.srv.held.give(held)
		return nil, err
	}
	p.held = held
	return p, nil
}

// parsed works like prepare, but takes no memory from the budget.
func (c *conn) parsed(whole, sql string, offset int) (*prepared, error) {
	word, written := firstWord(sql), sql
	switch word {
	case "SELECT", "WITH", "VALUES", "TABLE", "COPY", "INSERT", "UPDATE", "DELETE", "MERGE", "PREPARE", "EXECUTE", "(":
		sql = foldNames(sql, c.database, true)
	default:
		sql = foldNames(sql, c.database, false)
	}
	out := &prepared{whole: whole, sql: sql, offset: offset}
	if word == "" {
		return out, nil
	}
	if make := commands[word]; make != nil {
		cmd, err := make(newWords(sql))
		if err != nil {
			return nil, asError(err, whole, offset)
		}
		if cmd != nil {
			out.command = cmd
			return out, nil
		}
	}
	stmt, err := c.db.Parse(sql)
	if err != nil {
		_, err = c.db.Parse(written) // for its words
		return nil, asError(err, whole, offset)
	}
	switch s := stmt.Statement().(type) {
	case *parser.Copy:
		if out.copies, err = newCopy(stmt); err != nil {
			return nil, asError(err, whole, offset)
		}
	case *parser.Set:
		out.command = &setCommand{set: s}
	case *parser.Deallocate:
		out.command = &deallocateCommand{of: stmt}
	default:
		out.stmt = stmt
	}
	return out, nil
}

// foldNames replaces the database in database.schema.table by spaces. If lower is set, it turns names without quotes into lower
// case, as PostgreSQL does, because clients look for columns by these names; hql ignores the case.
func foldNames(sql, database string, lower bool) string {
	qualified := strings.Count(sql, ".") > 1
	if !qualified && !(lower && strings.ContainsFunc(sql, func(r rune) bool { return r >= 'A' && r <= 'Z' })) {
		return sql
	}
	out := []byte(sql)
	tokens := parser.Tokens(sql)
	named := func(i int) bool {
		return i < len(tokens) && (tokens[i].Kind == parser.NameToken || tokens[i].Kind == parser.KeywordToken)
	}
	dotted := func(i int) bool { return i+1 < len(tokens) && tokens[i].Text == "." && named(i+1) }
	for i, t := range tokens {
		if !named(i) {
			continue
		}
		if qualified && (t.Text == parser.QuoteName(database) || t.Text == `"`+database+`"`) && dotted(i+1) && dotted(i+3) && (i == 0 || tokens[i-1].Text != ".") {
			for k := int(t.Pos); k < int(tokens[i+2].Pos); k++ {
				out[k] = ' '
			}
			continue
		}
		for k := int(t.Pos); lower && t.Text[0] != '"' && k < int(t.Pos)+len(t.Text); k++ {
			if out[k] >= 'A' && out[k] <= 'Z' {
				out[k] += 'a' - 'A'
			}
		}
	}
	return string(out)
}

// piece is a statement in a text of several.
type piece struct {
	text   string
	offset int
}

// split cuts a text into its statements. It leaves out empty ones.
func split(text string) (out []piece) {
	add := func(from, to int) {
		if part := text[from:to]; firstWord(part) != "" {
			out = append(out, piece{part, from})
		}
	}
	if i := strings.IndexByte(text, ';'); i < 0 || strings.TrimSpace(text[i:]) == ";" {
		if i < 0 {
			i = len(text)
		}
		add(0, i)
		return out
	}
	from := 0
	for _, t := range parser.Tokens(text) {
		if t.Kind == parser.OperatorToken && t.Text == ";" {
			add(from, int(t.Pos))
			from = int(t.Pos) + 1
		}
	}
	add(from, len(text))
	return out
}

// firstWord returns a statement's first word in upper case. If it begins with another token, it returns that; "" if it is
// empty.
func firstWord(sql string) string {
	head := sql
	for len(head) > 0 && (head[0] == ' ' || head[0] == '\n' || head[0] == '\t' || head[0] == '\r') {
		head = head[1:]
	}
	n := 0
	for n < len(head) && (head[n]|0x20 >= 'a' && head[n]|0x20 <= 'z') {
		n++
	}
	if n > 0 {
		return strings.ToUpper(head[:n])
	}
	if head == "" {
		return ""
	}
	for _, t := range parser.Tokens(head) {
		if t.Kind != parser.CommentToken && t.Kind != parser.HintToken {
			return strings.ToUpper(t.Text)
		}
	}
	return ""
}
