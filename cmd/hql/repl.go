package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/hql-db/hql/cmd/hql/lineedit"
	"github.com/hql-db/hql/parser"
)

// repl reads statements at a prompt until ^D or \q.
func (s *session) repl(ctx context.Context) int {
	ed, err := lineedit.New(s.complete)
	if err != nil {
		fmt.Fprintf(s.stderr, "error: %v\n", err)
		return exitFailed
	}
	defer ed.Close()
	h := openHistory()
	s.history = h
	s.ask = ed.Line
	for _, statement := range h.load() {
		ed.Remember(statement)
	}
	s.footer = true
	if !s.quiet {
		fmt.Fprintf(s.stdout, "hql %s. Type \\? for help, \\q to quit.\n", version())
		s.greet(ctx)
	}
	if !s.startup(ctx) {
		return exitOK
	}
	idle := make(chan os.Signal, 1) // ^C between two statements ends neither the session nor anything else
	signal.Notify(idle, os.Interrupt)
	defer signal.Stop(idle)
	var typed strings.Builder // since the last statement ended
	leaving := false          // ^C was the last input, and no statement was open
	for {
		line, err := ed.Line(s.prompt())
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
		if s.entered(ctx, line, &typed, func(statement string) {
			if kept, ok := h.add(statement); ok {
				ed.Remember(kept)
			}
		}) == quit {
			return exitOK
		}
	}
}

// entered handles a line at the prompt: it runs the statements that the line completes, and passes them to remember for the
// history. typed is the text since the last complete statement.
func (s *session) entered(ctx context.Context, line string, typed *strings.Builder, remember func(statement string)) (code int) {
	first := s.query == ""
	if first {
		if strings.TrimSpace(typed.String()) == "" || strings.HasPrefix(line, " ") {
			typed.Reset()
		}
		line = bare(line)
	}
	typed.WriteString(line + "\n")
	if first && comment(line) {
		return exitOK // the history stores the comment with the next statement
	}
	before := s.query
	if before != "" {
		before += "\n"
	}
	s.query = before
	code = s.feed(ctx, line, false)
	if code != exitOK {
		s.query = "" // the rest of the line is not run either
	}
	if s.query != before+line { // a statement ended, or a command was run inside a statement
		done, open := s.ended(typed.String(), before, line)
		remember(done)
		typed.Reset()
		typed.WriteString(open)
	}
	return code
}

// ended splits the typed text, after line completed a statement, into the part for the history and the text of the next,
// unfinished statement. If done begins with a space, open does too: the history keeps neither. before is the statement without
// line.
func (s *session) ended(typed, before, line string) (done, open string) {
	done, open = typed, strings.TrimLeft(s.query, " ")
	hidden := strings.HasPrefix(done, " ")
	if open == "" {
		return done, ""
	}
	open = strings.TrimSuffix(open, "\n") + "\n"
	if hidden {
		return done, " " + open
	}
	if strings.HasPrefix(s.query, before) {
		done = line
	}
	return done, open
}

// startup runs ~/.hqlrc, or the file that HQL_RC names. It reports errors in the file and continues. It returns false
// if the file quits hql.
func (s *session) startup(ctx context.Context) bool {
	if s.noRC {
		return true
	}
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

// comment reports whether a line is comments and nothing else.
func comment(line string) bool {
	tokens := parser.Tokens(line)
	return len(tokens) > 0 && !slices.ContainsFunc(tokens, func(t parser.Token) bool { return t.Kind != parser.CommentToken && t.Kind != parser.HintToken })
}

// prompt shows the state of a statement: new, continued, or inside quotes. The variables PROMPT1 and PROMPT2 replace it.
func (s *session) prompt() string {
	state := promptState(s.query)
	name, usual := "PROMPT2", lineedit.Continued
	switch state {
	case "=":
		name, usual = "PROMPT1", "hql> "
	case "'":
		usual = "  '> "
	}
	if p, ok := s.vars[name]; ok {
		return s.promptText(p, state)
	}
	return usual
}

// promptState returns "=" for a new statement, "'" inside a text, and "-" elsewhere in a statement.
func promptState(open string) string {
	switch {
	case strings.TrimSpace(open) == "":
		return "="
	case strings.Count(open, "'")%2 == 1: // nearly always inside a text
		tokens := parser.Tokens(open)
		last := tokens[len(tokens)-1]
		if last.Kind == parser.InvalidToken && strings.Contains(last.Text[:min(2, len(last.Text))], "'") { // in E'a the quote follows a letter
			return "'"
		}
	}
	return "-"
}
