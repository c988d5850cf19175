package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hql-db/hql/cmd/hql/lineedit"
	"github.com/hql-db/hql/parser"
)

// oneLine joins a statement's lines for the history, leaving line comments out.
func oneLine(s string) string {
	var b strings.Builder
	for i, l := range strings.Split(strings.TrimSpace(s), "\n") {
		if i > 0 {
			b.WriteByte(' ')
		}
		if n := strings.Index(l, "--"); n >= 0 && strings.Count(l[:n], "'")%2 == 0 {
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
	var buf strings.Builder
	for {
		line, err := ed.Line(prompt(buf.String()))
		switch {
		case errors.Is(err, lineedit.ErrInterrupt):
			buf.Reset()
			continue
		case err == io.EOF:
			fmt.Fprintln(s.stdout)
			return exitOK
		case err != nil:
			fmt.Fprintf(s.stderr, "error: %v\n", err)
			return exitFailed
		}
		if buf.Len() == 0 {
			if done, quit := s.command(ctx, line); quit {
				return exitOK
			} else if done {
				ed.Remember(strings.TrimSpace(line))
				continue
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
		}
		buf.WriteString(line)
		buf.WriteByte('\n')
		text, vertical := cutVertical(buf.String())
		pieces, rest := parser.Split(text)
		if len(pieces) == 0 {
			continue
		}
		if l, kept := h.add(strings.TrimRight(text, "\n")); kept {
			ed.Remember(l)
		}
		saved := s.format
		if vertical {
			s.format = "vertical"
		}
		for _, p := range pieces {
			if s.statement(ctx, p.Text, p.Text, 0) != exitOK {
				break
			}
		}
		s.format = saved
		buf.Reset()
		if strings.TrimSpace(rest) != "" {
			buf.WriteString(rest)
		}
	}
}

// cutVertical turns a final \G or \gx into ';'.
func cutVertical(text string) (string, bool) {
	t := strings.TrimSpace(text)
	for _, end := range []string{`\G`, `\gx`} {
		if cut, ok := strings.CutSuffix(t, end); ok {
			return cut + ";", true
		}
	}
	return text, false
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

// complete offers keywords, tables, columns and functions for the word before the cursor.
func (s *session) complete(line string, _ int) ([]string, int) {
	start := strings.LastIndexAny(line, " \t(,;=<>.") + 1
	word := line[start:]
	if word == "" {
		return nil, 0
	}
	seen := map[string]bool{}
	var out []string
	add := func(w string) {
		if len(w) > len(word) && strings.EqualFold(w[:len(word)], word) && !seen[w] {
			seen[w] = true
			out = append(out, word+w[len(word):])
		}
	}
	for _, t := range s.db.Tables() {
		add(t.Name)
		if strings.Contains(strings.ToLower(line), strings.ToLower(t.Name)) {
			for _, c := range t.Columns {
				add(c.Name)
			}
		}
	}
	for _, k := range parser.Keywords() {
		add(k)
	}
	for _, f := range s.db.Catalog().Funcs().All() {
		if f.Group != "operator" && f.Group != "key" {
			add(f.Name)
		}
	}
	return out, len([]rune(word))
}

// readFile is for \i.
func readFile(name string) (string, error) {
	b, err := os.ReadFile(name)
	return string(b), err
}
