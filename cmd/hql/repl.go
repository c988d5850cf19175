package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"

	"github.com/hql-db/hql/cmd/hql/lineedit"
	"github.com/hql-db/hql/parser"
)

// What becomes of line breaks: in comments, where backslashes escape, and where they do not.
var (
	newlines   = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")
	lineBreaks = strings.NewReplacer("\n", `\n`, "\r", `\r`)
	escaped    = strings.NewReplacer("\n", `\n`, "\r", `\r`, `\`, `\\`)
)

// oneLine joins a statement's lines for the history, leaving line comments out. A text that has line breaks is
// written with escapes; "" where the statement cannot stand on a line as it is.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	var b strings.Builder
	end := 0 // of what is written
	for _, t := range parser.Tokens(s) {
		if strings.HasPrefix(t.Text, "--") && strings.Contains(s[t.Pos:], "\n") {
			continue
		}
		if space := s[end:t.Pos]; strings.ContainsAny(space, "\r\n") {
			b.WriteByte(' ')
		} else {
			b.WriteString(space)
		}
		text := t.Text
		if strings.ContainsAny(text, "\r\n") {
			switch {
			case t.Kind == parser.StringToken && text[0] == '\'':
				if text = "E" + escaped.Replace(text); end == int(t.Pos) {
					text = " " + text // LIKE'...' may stand without one
				}
			case t.Kind == parser.StringToken || t.Kind == parser.BytesToken && (text[0] == 'b' || text[0] == 'B'):
				if strings.Contains(text, "\\\n") || strings.Contains(text, "\\\r") {
					return "" // a line break that is escaped itself
				}
				text = lineBreaks.Replace(text)
			case t.Kind == parser.CommentToken, t.Kind == parser.HintToken:
				text = newlines.Replace(text)
			default:
				return ""
			}
		}
		b.WriteString(text)
		end = int(t.Pos) + len(t.Text)
	}
	return strings.TrimSpace(b.String())
}

// repl reads statements at a prompt until ^D or \q.
func (s *session) repl(ctx context.Context) int {
	ed, err := lineedit.New(s.complete)
	if err != nil {
		fmt.Fprintf(s.stderr, "error: %v\n", err)
		return exitFailed
	}
	defer ed.Close()
	h := openHistory()
	for _, l := range h.load() {
		ed.Remember(l)
	}
	s.footer = true
	fmt.Fprintf(s.stdout, "hql %s. Type \\? for help, \\q to quit.\n", version())
	s.greet(ctx)
	if !s.startup(ctx) {
		return exitOK
	}
	idle := make(chan os.Signal, 1) // ^C between two statements ends neither the session nor anything else
	signal.Notify(idle, os.Interrupt)
	defer signal.Stop(idle)
	var typed strings.Builder // since the last statement ended
	leaving := false          // ^C has just been typed where there was nothing to end
	for {
		line, err := ed.Line(prompt(s.query))
		wanted := leaving
		leaving = false
		switch {
		case errors.Is(err, lineedit.ErrInterrupt):
			if s.query == "" && line == "" {
				if wanted {
					return exitOK
				}
				leaving = true
				fmt.Fprintln(s.stdout, `(^C again, ^D or \q leave)`)
			}
			s.query = ""
			typed.Reset()
			continue
		case err == io.EOF:
			fmt.Fprintln(s.stdout)
			return exitOK
		case err != nil:
			fmt.Fprintf(s.stderr, "error: %v\n", err)
			return exitFailed
		}
		if s.query == "" {
			typed.Reset()
			line = bare(line)
		}
		typed.WriteString(line + "\n")
		before := s.query
		if before != "" {
			before += "\n"
		}
		s.query = before
		code := s.feed(ctx, line, false)
		if code != exitOK {
			s.query = "" // the rest of the line is not run either
		}
		if s.query != before+line { // a statement ended, or a command stood in one, of which it is no part
			done, open := s.ended(typed.String(), before, line)
			if l, kept := h.add(strings.TrimRight(done, "\n")); kept {
				ed.Remember(l)
			}
			typed.Reset()
			typed.WriteString(open)
		}
		if code == quit {
			return exitOK
		}
	}
}

// ended cuts what was typed, after line ended a statement, into what goes to the history and what is open still. What begins with a space is
// not kept, nor is what follows it. before is the statement without line.
func (s *session) ended(typed, before, line string) (done, open string) {
	done, open = typed, strings.TrimLeft(s.query, " ")
	hidden := strings.HasPrefix(done, " ")
	if open == "" {
		return done, ""
	}
	if hidden {
		return done, " " + open + "\n"
	}
	if strings.HasPrefix(s.query, before) {
		done = line
	}
	return done, open + "\n"
}

// startup runs ~/.hqlrc, or the file that HQL_RC names. Its mistakes do not keep anybody out; false: it quits.
func (s *session) startup(ctx context.Context) bool {
	name, named := os.LookupEnv("HQL_RC")
	if !named {
		name = home("~/.hqlrc")
	}
	if name == "" {
		return true
	}
	err := s.include(ctx, name)
	var st stopped
	switch {
	case err == nil, !named && errors.Is(err, fs.ErrNotExist):
	case errors.As(err, &st):
		return st.code != quit
	default:
		s.report(err)
	}
	return true
}

// prompt says how a statement stands: new, going on, or inside quotes.
func prompt(open string) string {
	switch {
	case strings.TrimSpace(open) == "":
		return "hql> "
	case strings.Count(open, "'")%2 == 1:
		return "  '> "
	}
	return "  -> "
}
