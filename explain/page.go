package explain

import (
	"fmt"

	"github.com/hql-db/hql/internal/page"
	"github.com/hql-db/hql/internal/words"
)

// This file writes the page of EXPLAIN (FORMAT HTML).

// styleClass is the page's class for a style.
func styleClass(s Style) string {
	return [...]string{"plain", "unused", "hit", "miss", "bound", "range", "enumerated", "literal"}[s]
}

func hitClass(hit bool) string {
	if hit {
		return styleClass(Hit)
	}
	return styleClass(Miss)
}

// render returns the page.
func (d *planPage) render() string {
	w := &page.Writer{}
	w.Begin(d.Verdict)
	w.Put(`<h1 class="%s" id="verdict">%s</h1>
<pre id="query">%s</pre>
`, hitClass(d.Hit), d.Verdict, d.Query)
	w.Some("<p id=\"estimate\">%s</p>\n", d.Estimate)
	if d.Analyzed || len(d.Steps) > 2 {
		d.renderSteps(w)
	}
	for i := range d.Tables {
		d.Tables[i].render(w, d.MaxListed)
	}
	return w.End()
}

func (d *planPage) renderSteps(w *page.Writer) {
	w.Put("<section id=\"steps\">\n<h2>Steps</h2>\n")
	if d.Analyzed {
		w.Put("<p id=\"summary\">%s</p>\n", d.Summary)
	}
	w.Put("<div class=\"scroll\"><table>\n<tr><th>from the last to the first</th>")
	if d.Analyzed {
		w.Put(`<th class="n">rows</th><th class="n">time</th><th class="n">of it here</th><th><span class="swatch" style="background:var(--bar)"></span>here <span class="swatch" style="background:var(--wait)"></span>waiting for the steps below</th>`)
	}
	w.Put("</tr>\n")
	for _, s := range d.Steps {
		w.Put(`<tr class="step"><td class="name" style="padding-left:%d.2em">%s</td>`, s.Depth, s.Title())
		if d.Analyzed {
			w.Put(`<td class="n">%d</td><td class="n">%s</td><td class="n">%s</td><td><div class="bar"><i style="width:%.2f%%"></i><i class="wait" style="width:%.2f%%"></i></div></td>`,
				s.Rows, ms(s.Total), ms(s.Self), s.SelfBar, s.WaitBar)
		}
		w.Put("</tr>\n")
	}
	w.Put("</table></div>\n</section>\n")
}

// render writes the section of a table access. It lists at most maxListed spans under each picture.
func (t *pageTable) render(w *page.Writer, maxListed int) {
	w.Put("<section class=\"table\">\n<h2>%s</h2>\n", t.Title)
	w.Some("<p class=\"soft\">%s</p>\n", t.Of)
	w.Put("<p class=\"%s\">%s</p>\n", hitClass(t.Hit), t.Verdict())
	w.Some("<p><b>To hit the prefix:</b> %s</p>\n", t.Advice())
	for _, x := range t.Warnings {
		w.Put("<p class=\"miss\">%s</p>\n", x)
	}
	t.renderKey(w)
	for _, k := range t.Keyspaces {
		k.render(w, maxListed)
	}
	w.Some("<p class=\"soft\">%s</p>\n", t.MoreNote)
	t.renderConditions(w)
	t.renderChoice(w)
	t.renderFigures(w)
	w.Put("</section>\n")
}

func (t *pageTable) renderKey(w *page.Writer) {
	if len(t.Key) == 0 {
		return
	}
	w.Put("<h3>The key, byte by byte</h3>\n<div class=\"scroll\"><div class=\"key\">\n")
	for _, k := range t.Key {
		at := "behind a varying part"
		if k.Offset >= 0 {
			at = "byte " + k.Bytes()
		}
		w.Put(`<div class="part %s" style="flex-grow:%d" title="%s"><div class="at">%s</div><div class="as">%s</div><div class="is">%s</div></div>`+"\n",
			styleClass(k.Style()), k.Grow, k.Detail()+k.Why, at, k.Part.Source, k.Use)
	}
	w.Put("</div></div>\n<div class=\"scroll\"><table class=\"parts\">\n")
	for _, k := range t.Key {
		if k.Detail() != "" || k.Why != "" {
			w.Put(`<tr><td class="name"><span class="swatch %s"></span>%s</td><td>%s</td><td><code>%s</code>%s</td></tr>`+"\n",
				styleClass(k.Style()), k.Part.Source, k.Use, k.Detail(), k.Why)
		}
	}
	w.Put("</table></div>\n")
}

// render draws the regions of an HBase table and the spans of keys that the plan reads.
func (k *keyspace) render(w *page.Writer, maxListed int) {
	w.Put("<h3>Regions of %s and what is read of them</h3>\n<p class=\"soft\">", k.Table)
	if k.Note != "" {
		w.Put("%s", k.Note)
	} else {
		w.Put("%d of %s read.", k.Read, words.Count(int64(k.Total), "region"))
	}
	w.Put(" Keys grow from left to right, in order, not to scale.")
	if k.More > 0 {
		w.Put(" The first %d spans are drawn, %d are not.", len(k.Spans), k.More)
	}
	w.Put("</p>\n<svg class=\"keyspace\" height=\"66\" role=\"img\" aria-label=\"spans over the regions of %s\">\n", k.Table)
	for _, r := range k.Regions {
		class := "region"
		if r.Read {
			class = "region read"
		}
		w.Put(`<rect class="%s" x="%.3f%%" y="30" width="%.3f%%" height="34"><title>%s</title></rect><svg x="%.3f%%" y="30" width="%.3f%%" height="34"><text x="5" y="21">%s</text></svg>`+"\n",
			class, r.X, r.W, r.Title, r.X, r.W, r.Label)
	}
	for _, s := range k.Spans {
		class := "span"
		if s.Key {
			class = "get"
		}
		w.Put(`<rect class="%s" x="%.3f%%" y="6" width="%.3f%%" height="18" rx="3"><title>%s</title></rect>`+"\n", class, s.X, s.W, s.Title)
	}
	w.Put("</svg>\n<div class=\"scroll\"><table class=\"spans\">\n")
	for _, s := range k.Spans[:min(maxListed, len(k.Spans))] {
		verb := "scan"
		if s.Key {
			verb = "get"
		}
		w.Put("<tr><td class=\"name\">%s %s</td></tr>\n", verb, s.Title)
	}
	if n := k.Unlisted(); n > 0 {
		w.Put("<tr><td class=\"soft\">... and %d more</td></tr>\n", n)
	}
	w.Put("</table></div>\n")
}

func (t *pageTable) renderConditions(w *page.Writer) {
	if len(t.Fates) > 0 {
		w.Put("<h3>Where each condition is checked</h3>\n<div class=\"scroll\"><table class=\"fates\">\n")
		for _, f := range t.Fates {
			w.Put("<tr><td class=\"name\">%s</td><td>%s</td><td class=\"soft\">%s</td></tr>\n", fmt.Sprint(f.Expr), placeOf(f), f.Why)
		}
		w.Put("</table></div>\n")
	}
	if t.Filter != nil {
		w.Put("<p>The region servers filter by <code>%s</code></p>\n", fmt.Sprint(t.Filter))
	}
	if len(t.Key) > 0 {
		w.Put("<h3>What is read of each row</h3>\n<p><code>%s</code></p>\n", t.ColumnsText())
	}
	w.Some("<p>In the order: <code>%s</code></p>\n", t.OrderText())
}

// renderChoice writes the layouts and the ways of reading among which the planner chose.
func (t *pageTable) renderChoice(w *page.Writer) {
	if len(t.Candidates) > 1 {
		w.Put("<h3>Layouts looked at</h3>\n<div class=\"scroll\"><table class=\"layouts\">\n")
		for _, c := range t.Candidates {
			w.Put("<tr><td class=\"name\">%s</td><td>%s</td><td class=\"n\">%s</td><td class=\"n\">cost %.0f</td><td>%s</td></tr>\n",
				c.Layout, c.Access, words.Count(int64(c.Spans), "range"), c.Cost, c.Why)
		}
		w.Put("</table></div>\n")
	}
	if others := t.NotTaken(); len(others) > 0 {
		w.Put("<p>Not taken, by statistics:</p><ul>")
		for _, x := range others {
			w.Put("<li>%s</li>", x)
		}
		w.Put("</ul>\n")
	}
}

// renderFigures writes EXPLAIN ANALYZE's measurements.
func (t *pageTable) renderFigures(w *page.Writer) {
	w.Some("<h3>What it took</h3>\n<p class=\"took\">%s</p>\n", t.Took)
	if len(t.Regions) > 0 {
		w.Put("<div class=\"scroll\"><table class=\"regions\">\n<tr><th>region</th>")
		if t.Servers {
			w.Put("<th>server</th>")
		}
		w.Put(`<th class="n">RPCs</th><th class="n">rows</th><th class="n">bytes</th><th class="n">time of RPCs</th><th></th></tr>` + "\n")
		for _, r := range t.Regions {
			w.Put(`<tr><td class="name">%s</td>`, r.Name)
			if t.Servers {
				w.Put("<td>%s</td>", r.Server)
			}
			w.Put(`<td class="n">%d</td><td class="n">%d</td><td class="n">%d</td><td class="n">%s</td><td><div class="bar"><i style="width:%.2f%%"></i></div></td></tr>`+"\n",
				r.RPCs, r.Rows, r.Bytes, ms(r.Time), r.Bar)
		}
		w.Put("</table></div>\n")
	}
	if len(t.Lanes) == 0 {
		return
	}
	w.Put("<h3>Each RPC over %s, a line a region</h3>\n<div class=\"scroll\"><table class=\"lanes\">\n", ms(t.Span))
	for _, l := range t.Lanes {
		w.Put(`<tr><td class="name">%s</td><td><svg class="timeline" height="18" role="img" aria-label="RPCs of %s"><rect class="lane" x="0" y="2" width="100%%" height="13"/>`, l.Name, l.Name)
		for _, c := range l.Calls {
			class := "call"
			if c.Failed {
				class = "call failed"
			}
			w.Put(`<rect class="%s" x="%.3f%%" y="2" width="%.3f%%" height="13"><title>%s</title></rect>`, class, c.X, c.W, c.Title)
		}
		w.Put("</svg></td></tr>\n")
	}
	w.Put("</table></div>\n")
	if t.Cut {
		w.Put("<p class=\"soft\">There were more than are drawn.</p>\n")
	}
}
