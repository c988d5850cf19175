package main

import (
	"cmp"
	"os"
	"strings"

	"github.com/hql-db/hql/explain"
)

// colour reports whether to colour results. It returns false if \o sends them to a file, unless the setting is "always".
func (s *session) colour() bool {
	switch s.conf.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return s.terminal() != nil && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// look is how results are shown now.
func (s *session) look() look {
	l := look{tty: s.colour(), screen: s.terminal() != nil, null: s.null, given: s.given, tuples: s.tuples, border: s.border, separator: s.separator, record: s.record, title: s.title, comma: cmp.Or(s.comma, ",")}
	if s.auto && s.terminal() != nil {
		l.fit = s.width()
	}
	if s.cut && s.terminal() != nil {
		l.cut = s.width()
	}
	return l
}

// escapes are the terminal's codes for the styles of EXPLAIN's text. They use the sixteen colours of every terminal's
// own palette, so that they suit a light or a dark background.
var escapes = map[explain.Style]string{
	explain.Dim:        "2",
	explain.Hit:        "1;32",
	explain.Miss:       "1;31",
	explain.Bound:      "32",
	explain.Ranged:     "33",
	explain.Enumerated: "36",
	explain.Literal:    "34",
}

// paint returns a line of EXPLAIN as text for a terminal. It escapes control characters in the line's data.
func paint(l explain.Line, colour bool) string {
	var b strings.Builder
	for _, p := range l {
		text := printable(p.Text)
		if code := escapes[p.Style]; colour && code != "" && strings.TrimSpace(text) != "" {
			text = "\x1b[" + code + "m" + text + "\x1b[0m"
		}
		b.WriteString(text)
	}
	return b.String()
}
