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
)

// oneLine joins a statement's lines for the history, leaving line comments out.
func oneLine(s string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		if i > 0 {
			b.WriteByte(' ')
		}
		if n := strings.Index(l, "--"); i+1 < len(lines) && n >= 0 && strings.Count(l[:n], "'")%2 == 0 {
			l = l[:n]
		}
		b.WriteString(strings.TrimSpace(l))
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
