package explain

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hql-db/hql/internal/page"
	"github.com/hql-db/hql/planner/plan"
)

// HTML returns a self-contained page with the text of the plan of query, and with its measurements if f is not nil. Colours
// show the styles.
func HTML(query string, p *plan.Plan, f *Figures) string {
	var w page.Writer
	verdict := planVerdict(p)
	w.Begin(verdict.String())
	w.Put("<h1 class=\"%s\">%s</h1>\n<pre id=\"query\">%s</pre>\n<pre id=\"plan\">", styleClass(verdict[0].Style), verdict, query)
	for _, l := range Text(p, f) {
		for _, x := range l {
			w.Put("<span class=\"%s\">%s</span>", styleClass(x.Style), x.Text)
		}
		w.WriteByte('\n')
	}
	w.WriteString("</pre>\n")
	return readable(w.End())
}

// styleClass is the page's class for a style.
func styleClass(s Style) string {
	return [...]string{"plain", "soft", "hit", "miss", "bound", "range", "enumerated", "literal"}[s]
}

// readable escapes control characters, which a terminal would obey, and characters that change the direction of text.
func readable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			fmt.Fprintf(&b, `\u%04X`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
