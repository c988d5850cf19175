package design

import (
	"fmt"

	"github.com/hql-db/hql/internal/page"
)

// HTML is the report as a page of its own.
func (r *Report) HTML() string {
	w := &page.Writer{}
	w.Begin("hql design")
	for i := range r.Tables {
		t := &r.Tables[i]
		w.Put("<h1>%s</h1>\n<p>%s</p>\n", "design for "+t.Name, t.Verdict())
		for _, n := range t.Notes {
			w.Put("<p class=\"soft\">%s</p>\n", n)
		}
		today := t.today()
		for j := range t.Proposals {
			p := &t.Proposals[j]
			w.Put("<section>\n<h2>%s</h2>\n<pre>%s</pre>\n", mark(p, j+1), p.Key)
			if p.Share >= 0 {
				w.Put("<div class=\"bar\"><i style=\"width:%.1f%%\"></i></div>\n<p class=\"soft\">the busiest region's share of the writes</p>\n", 100*p.Share)
			}
			w.Put("<table>\n")
			for _, l := range p.lines(t, today) {
				w.Put("<tr><td class=\"soft\">%s</td><td>%s</td></tr>\n", l[0], l[1])
			}
			w.Put("</table>\n")
			if p.Create != "" {
				w.Put("<pre>%s\n%s</pre>\n", p.Create, p.Copy)
			}
			for n, text := range p.Plans {
				if text != "" {
					w.Put("<details><summary>%s</summary><pre>%s</pre></details>\n", fmt.Sprintf("statement %d: %s", n+1, r.Statements[n].Text), text)
				}
			}
			w.Put("</section>\n")
		}
	}
	for _, s := range r.Statements {
		if s.Error != "" {
			w.Put("<p class=\"miss\">%s</p>\n", fmt.Sprintf("statement %d cannot be planned: %s", s.N, s.Error))
		}
	}
	return w.End()
}
