package main

import (
	"os"
	"strings"

	"github.com/hql-db/hql/planner"
)

// colour reports whether results are coloured now: \o may have turned them to a file.
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
	l := look{tty: s.colour(), screen: s.terminal() != nil, null: s.null}
	if s.auto && s.terminal() != nil {
		l.fit = s.width()
	}
	return l
}

// escapes are the terminal's codes of the styles that EXPLAIN's text has: of the sixteen
// colours that every terminal shows in its own palette, light or dark.
var escapes = map[planner.Style]string{
	planner.Dim:        "2",
	planner.Hit:        "1;32",
	planner.Miss:       "1;31",
	planner.Bound:      "32",
	planner.Ranged:     "33",
	planner.Enumerated: "36",
	planner.Literal:    "34",
}

// paint prints a line of EXPLAIN; nothing in the data may act on a terminal.
func paint(l planner.Line, colour bool) string {
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
