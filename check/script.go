package check

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
)

// Source is a text of statements.
type Source struct {
	Text string
	// At returns the position of an offset in Text.
	At func(offset int) Place
	// Place is the position of a text that is concatenated from several texts. It is nil for other texts, whose
	// positions At returns.
	Place *Place
	// Allowed is set if the code around the text excuses its statements.
	Allowed bool
	Origin  Origin
}

// Origin is the kind of database that a text is for. A text that may be for another database than hql is judged only if
// it names a table of the catalog.
type Origin uint8

// The origins.
const (
	Own   Origin = iota // hql
	Other               // any database: the text is passed to database/sql
	Guess               // perhaps no database: the text is passed to a method of an unknown type
)

// Place is a position in a file.
type Place struct {
	File         string
	Line, Column int
}

// File returns the source for an SQL file.
func File(name, text string) Source {
	text = strings.TrimPrefix(text, "\uFEFF")
	return Source{Text: text, At: func(offset int) Place {
		line, col := (&parser.Error{Pos: parser.Pos(offset), Source: text}).LineCol()
		return Place{name, line, col}
	}}
}

// piece is one statement of a source.
type piece struct {
	start   int // offset in the source's text
	text    string
	excused bool
}

// Excuse matches a comment that excuses a statement: it begins with these words.
var Excuse = regexp.MustCompile(`(?i)^(?:--|//|/\*)?\s*hql:\s*allow[ -]full[ -]scan\b`)

// copied matches COPY ... FROM stdin with the data after it, up to \.
var copied = regexp.MustCompile(`(?is)(?:^|\n)[ \t]*copy\b[^;]*\bfrom\s+stdin\b[^;\n]*;[^\n]*\n(.*?)(?:(?m:^)\\\.|$)`)

// pieces splits a script at its semicolons. A comment belongs to the statement that follows it, or that ends on its line.
// A psql command, from a backslash to the end of its line, also ends a statement. \copy is a statement, and \; is a
// semicolon.
func pieces(src string) []piece {
	for _, m := range copied.FindAllStringSubmatchIndex(src, -1) { // data are not tokens
		src = src[:m[2]] + strings.Repeat(" ", m[1]-m[2]) + src[m[1]:]
	}
	var out []piece
	begun, excused := -1, false
	passed, ended := 0, 0 // offset up to which tokens are skipped; offset after the last semicolon
	end := func(at int) {
		if begun >= 0 {
			out = append(out, piece{begun, src[begun:at], excused})
			excused = false
		}
		begun, ended = -1, at+1
	}
	for _, t := range parser.Tokens(src) {
		at := int(t.Pos)
		switch {
		case at < passed:
		case t.Kind == parser.CommentToken:
			if !Excuse.MatchString(t.Text) {
				break
			}
			if begun < 0 && len(out) > 0 && ended <= at && !strings.Contains(src[ended:at], "\n") {
				out[len(out)-1].excused = true
			} else {
				excused = true
			}
		case t.Text == ";" && t.Kind == parser.OperatorToken:
			end(at)
		case t.Kind == parser.InvalidToken && strings.HasPrefix(t.Text, `\`): // also \gset instead of a semicolon
			end(at)
			line, _, _ := strings.Cut(src[at:], "\n")
			switch passed = at + len(line); {
			case strings.HasPrefix(line, `\;`):
				passed = at + 2
			case strings.HasPrefix(strings.ToLower(line), `\copy `):
				begun = at + 1
				end(passed)
			}
		case begun < 0:
			begun = at
		}
	}
	end(len(src))
	return out
}

// argument matches a parameter as sqlc writes it.
var argument = regexp.MustCompile(`\bsqlc\.(?:n?arg|slice)\(\s*'?(\w+)'?\s*\)`)

// parsed parses a statement in which :name, :'name' and sqlc.arg(name) may be parameters, as in other tools.
func parsed(text string) (parser.Statement, error) {
	text = argument.ReplaceAllStringFunc(text, func(s string) string {
		return fmt.Sprintf("%-*s", len(s), "@"+argument.FindStringSubmatch(s)[1]) // padded to the same length
	})
	s, err := parser.ParseStatement(text)
	if err == nil || !strings.Contains(text, ":") {
		return s, err
	}
	b := []byte(text)
	toks := parser.Tokens(text)
	for i := 0; i+1 < len(toks); i++ {
		t, name := toks[i], toks[i+1]
		if t.Text != ":" || name.Pos != t.Pos+1 {
			continue
		}
		if i > 0 { // not in family:qualifier and a[1:n]
			before := toks[i-1]
			operand := before.Kind != parser.OperatorToken || before.Text == ")" || before.Text == "]"
			if operand && int(before.Pos)+len(before.Text) == int(t.Pos) {
				continue
			}
		}
		switch name.Kind {
		case parser.NameToken, parser.KeywordToken, parser.StringToken:
			word := "@" + strings.Trim(name.Text, "'")
			copy(b[t.Pos:], word+strings.Repeat(" ", 1+len(name.Text)-len(word))) // padded to the same length
		}
	}
	if s, again := parser.ParseStatement(string(b)); again == nil {
		return s, nil
	}
	return nil, err
}

// Define adds to the catalog the tables and views that a source defines and that the catalog lacks.
func (c *Checker) Define(src Source) {
	for _, p := range pieces(src.Text) {
		if s, err := parsed(p.text); err == nil && !c.defined(s) {
			_ = c.catalog.Load(p.text) // Source reports the error
		}
	}
}

// defined reports whether the catalog already has the table or view that s defines.
func (c *Checker) defined(s parser.Statement) bool {
	name := ""
	switch s := s.(type) {
	case *parser.CreateTable:
		if s.Query != nil {
			return true
		}
		name = s.Name
	case *parser.CreateView:
		name = s.Name
	default:
		return true
	}
	return c.has(name)
}

// has reports whether the catalog has a table or view of this name.
func (c *Checker) has(name string) bool {
	_, table := c.catalog.Table(name)
	_, view := c.catalog.View(name)
	return table || view
}

// Source judges the statements of a source.
func (c *Checker) Source(ctx context.Context, src Source) []Result {
	var out []Result
	for _, p := range pieces(src.Text) {
		at := src.At(p.start)
		if src.Place != nil {
			at = *src.Place
		}
		r := Result{File: at.File, Line: at.Line, Column: at.Column, SQL: oneLine(p.text)}
		s, err := parsed(p.text)
		if err == nil && !c.defined(s) {
			err = c.catalog.Load(p.text) // it was not added: report why
		}
		if src.Origin != Own && (s == nil && src.Origin == Guess || !c.known(s, p.text)) {
			if src.Origin == Other {
				r.Verdict, r.Text = Unchecked, "it names no table of the catalog, and may be for another database"
				out = append(out, r)
			}
			continue
		}
		if err == nil {
			err = c.judge(ctx, s, &r)
		}
		if err != nil {
			r.fail(err)
			if e, ok := errors.AsType[*parser.Error](err); ok && e.Pos >= 0 {
				at := src.At(p.start + int(e.Pos))
				r.File, r.Line, r.Column = at.File, at.Line, at.Column
			}
		}
		r.Excused = r.Verdict.Bad() && (p.excused || src.Allowed)
		out = append(out, r)
	}
	return out
}

// known reports whether a statement names a table or view of the catalog. In a text that cannot be parsed, the name
// must follow FROM, JOIN, INTO or UPDATE.
func (c *Checker) known(s parser.Statement, text string) bool {
	if s == nil {
		before := ""
		return slices.ContainsFunc(parser.Tokens(text), func(t parser.Token) bool {
			follows := slices.Contains([]string{"FROM", "JOIN", "INTO", "UPDATE"}, before)
			before = strings.ToUpper(t.Text)
			return follows && c.has(t.Text)
		})
	}
	return c.has(parser.Written(s)) || slices.ContainsFunc(tablesOf(s), c.has)
}

func tablesOf(s parser.Statement) (names []string) {
	parser.Inspect(s, func(n parser.Node) bool {
		if t, ok := n.(*parser.TableName); ok {
			names = append(names, t.Name)
		}
		return true
	})
	return names
}
