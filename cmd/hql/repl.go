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

var newlines = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// oneLine joins a statement's lines for the history, leaving line comments out. Lines that quotes
// hold together are joined by a space as well.
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
		b.WriteString(newlines.Replace(t.Text))
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
	if !s.startup(ctx) {
		return exitOK
	}
	idle := make(chan os.Signal, 1) // ^C between two statements ends neither the session nor anything else
	signal.Notify(idle, os.Interrupt)
	defer signal.Stop(idle)
	var typed strings.Builder // since the last statement ended
	for {
		line, err := ed.Line(prompt(s.query))
		switch {
		case errors.Is(err, lineedit.ErrInterrupt):
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
		if s.query == "" || !strings.HasPrefix(s.query, before) {
			if l, kept := h.add(strings.TrimRight(typed.String(), "\n")); kept {
				ed.Remember(l)
			}
			typed.Reset()
			typed.WriteString(s.query)
		}
		if code == quit {
			return exitOK
		}
	}
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

// prompt tells how a statement stands: new, going on, or inside quotes.
func prompt(open string) string {
	switch {
	case strings.TrimSpace(open) == "":
		return "hql> "
	case strings.Count(open, "'")%2 == 1:
		return "  '> "
	}
	return "  -> "
}
