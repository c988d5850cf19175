package explain

import (
	_ "embed"
	"fmt"
	"html"
	"strings"

	"github.com/hql-db/hql/internal/words"
)

// This file writes the page of EXPLAIN (FORMAT HTML). It does without html/template: a program that links a template engine
// keeps every exported method of every type, which made the command a sixth larger.

//go:embed explain.css
var explainCSS string

// pageWriter writes HTML. Its zero value is empty.
type pageWriter struct{ strings.Builder }

// put writes format with args as fmt.Fprintf does. It escapes texts among args, so that they fit between tags and in quoted attributes.
func (w *pageWriter) put(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = html.EscapeString(a)
		case fmt.Stringer:
			args[i] = html.EscapeString(a.String())
		}
	}
	fmt.Fprintf(w, format, args...)
}

// some writes format with the text s unless that is empty.
func (w *pageWriter) some(format, s string) {
	if s != "" {
		w.put(format, s)
	}
}

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
func (d *page) render() string {
	w := &pageWriter{}
	w.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>%s</title>
<style>
`, d.Verdict)
	w.WriteString(explainCSS)
	w.put(`</style>
</head>
<body>
<main>
<h1 class="%s" id="verdict">%s</h1>
<pre id="query">%s</pre>
`, hitClass(d.Hit), d.Verdict, d.Query)
	w.some("<p id=\"estimate\">%s</p>\n", d.Estimate)
	if d.Analyzed || len(d.Steps) > 2 {
		d.renderSteps(w)
	}
	for i := range d.Tables {
		d.Tables[i].render(w, d.MaxListed)
	}
	w.put("</main>\n</body>\n</html>\n")
	return w.String()
}

func (d *page) renderSteps(w *pageWriter) {
	w.put("<section id=\"steps\">\n<h2>Steps</h2>\n")
	if d.Analyzed {
		w.put("<p id=\"summary\">%s</p>\n", d.Summary)
	}
	w.put("<div class=\"scroll\"><table>\n<tr><th>from the last to the first</th>")
	if d.Analyzed {
		w.put(`<th class="n">rows</th><th class="n">time</th><th class="n">of it here</th><th><span class="swatch" style="background:var(--bar)"></span>here <span class="swatch" style="background:var(--wait)"></span>waiting for the steps below</th>`)
	}
	w.put("</tr>\n")
	for _, s := range d.Steps {
		w.put(`<tr class="step"><td class="name" style="padding-left:%d.2em">%s</td>`, s.Depth, s.Title())
		if d.Analyzed {
			w.put(`<td class="n">%d</td><td class="n">%s</td><td class="n">%s</td><td><div class="bar"><i style="width:%.2f%%"></i><i class="wait" style="width:%.2f%%"></i></div></td>`,
				s.Rows, ms(s.Total), ms(s.Self), s.SelfBar, s.WaitBar)
		}
		w.put("</tr>\n")
	}
	w.put("</table></div>\n</section>\n")
}

// render writes the section of a table access. Each picture of a key space lists at most so many spans.
func (t *pageTable) render(w *pageWriter, maxListed int) {
	w.put("<section class=\"table\">\n<h2>%s</h2>\n", t.Title)
	w.some("<p class=\"soft\">%s</p>\n", t.Of)
	w.put("<p class=\"%s\">%s</p>\n", hitClass(t.Hit), t.Verdict())
	w.some("<p><b>To hit the prefix:</b> %s</p>\n", t.Advice)
	for _, x := range t.Warnings {
		w.put("<p class=\"miss\">%s</p>\n", x)
	}
	t.renderKey(w)
	for _, k := range t.Keyspaces {
		k.render(w, maxListed)
	}
	w.some("<p class=\"soft\">%s</p>\n", t.MoreNote)
	t.renderConditions(w)
	t.renderChoice(w)
	t.renderFigures(w)
	w.put("</section>\n")
}

func (t *pageTable) renderKey(w *pageWriter) {
	if len(t.Key) == 0 {
		return
	}
	w.put("<h3>The key, byte by byte</h3>\n<div class=\"scroll\"><div class=\"key\">\n")
	for _, k := range t.Key {
		at := "behind a varying part"
		if k.Offset >= 0 {
			at = "byte " + k.Bytes()
		}
		w.put(`<div class="part %s" style="flex-grow:%d" title="%s"><div class="at">%s</div><div class="as">%s</div><div class="is">%s</div></div>`+"\n",
			styleClass(k.Style()), k.Grow, k.Detail()+k.Why, at, k.Part.Source, k.Use)
	}
	w.put("</div></div>\n<div class=\"scroll\"><table class=\"parts\">\n")
	for _, k := range t.Key {
		if k.Detail() != "" || k.Why != "" {
			w.put(`<tr><td class="name"><span class="swatch %s"></span>%s</td><td>%s</td><td><code>%s</code>%s</td></tr>`+"\n",
				styleClass(k.Style()), k.Part.Source, k.Use, k.Detail(), k.Why)
		}
	}
	w.put("</table></div>\n")
}

// render draws the regions of an HBase table and the spans that are read of them.
func (k *keyspace) render(w *pageWriter, maxListed int) {
	w.put("<h3>Regions of %s and what is read of them</h3>\n<p class=\"soft\">", k.Table)
	if k.Note != "" {
		w.put("%s", k.Note)
	} else {
		w.put("%d of %s read.", k.Read, words.Count(int64(k.Total), "region"))
	}
	w.put(" Keys grow from left to right, in order, not to scale.")
	if k.More > 0 {
		w.put(" The first %d spans are drawn, %d are not.", len(k.Spans), k.More)
	}
	w.put("</p>\n<svg class=\"keyspace\" height=\"66\" role=\"img\" aria-label=\"spans over the regions of %s\">\n", k.Table)
	for _, r := range k.Regions {
		class := "region"
		if r.Read {
			class = "region read"
		}
		w.put(`<rect class="%s" x="%.3f%%" y="30" width="%.3f%%" height="34"><title>%s</title></rect><svg x="%.3f%%" y="30" width="%.3f%%" height="34"><text x="5" y="21">%s</text></svg>`+"\n",
			class, r.X, r.W, r.Title, r.X, r.W, r.Label)
	}
	for _, s := range k.Spans {
		class := "span"
		if s.Key {
			class = "get"
		}
		w.put(`<rect class="%s" x="%.3f%%" y="6" width="%.3f%%" height="18" rx="3"><title>%s</title></rect>`+"\n", class, s.X, s.W, s.Title)
	}
	w.put("</svg>\n<div class=\"scroll\"><table class=\"spans\">\n")
	for _, s := range k.Spans[:min(maxListed, len(k.Spans))] {
		verb := "scan"
		if s.Key {
			verb = "get"
		}
		w.put("<tr><td class=\"name\">%s %s</td></tr>\n", verb, s.Title)
	}
	if n := k.Unlisted(); n > 0 {
		w.put("<tr><td class=\"soft\">... and %d more</td></tr>\n", n)
	}
	w.put("</table></div>\n")
}

func (t *pageTable) renderConditions(w *pageWriter) {
	if len(t.Fates) > 0 {
		w.put("<h3>Where each condition is checked</h3>\n<div class=\"scroll\"><table class=\"fates\">\n")
		for _, f := range t.Fates {
			w.put("<tr><td class=\"name\">%s</td><td>%s</td><td class=\"soft\">%s</td></tr>\n", fmt.Sprint(f.Expr), placeOf(f), f.Why)
		}
		w.put("</table></div>\n")
	}
	if t.Filter != nil {
		w.put("<p>The region servers filter by <code>%s</code></p>\n", fmt.Sprint(t.Filter))
	}
	if len(t.Key) > 0 {
		w.put("<h3>What is read of each row</h3>\n<p><code>%s</code></p>\n", t.ColumnsText())
	}
	w.some("<p>In the order: <code>%s</code></p>\n", t.OrderText())
}

// renderChoice writes the layouts and the ways to read them that the plan was chosen from.
func (t *pageTable) renderChoice(w *pageWriter) {
	if len(t.Candidates) > 1 {
		w.put("<h3>Layouts looked at</h3>\n<div class=\"scroll\"><table class=\"layouts\">\n")
		for _, c := range t.Candidates {
			w.put("<tr><td class=\"name\">%s</td><td>%s</td><td class=\"n\">%s</td><td class=\"n\">cost %.0f</td><td>%s</td></tr>\n",
				c.Layout, c.Access, words.Count(int64(c.Spans), "range"), c.Cost, c.Why)
		}
		w.put("</table></div>\n")
	}
	if others := t.NotTaken(); len(others) > 0 {
		w.put("<p>Not taken, by statistics:</p><ul>")
		for _, x := range others {
			w.put("<li>%s</li>", x)
		}
		w.put("</ul>\n")
	}
}

// renderFigures writes what EXPLAIN ANALYZE measured.
func (t *pageTable) renderFigures(w *pageWriter) {
	w.some("<h3>What it took</h3>\n<p class=\"took\">%s</p>\n", t.Took)
	if len(t.Regions) > 0 {
		w.put("<div class=\"scroll\"><table class=\"regions\">\n<tr><th>region</th>")
		if t.Servers {
			w.put("<th>server</th>")
		}
		w.put(`<th class="n">RPCs</th><th class="n">rows</th><th class="n">bytes</th><th class="n">time of RPCs</th><th></th></tr>` + "\n")
		for _, r := range t.Regions {
			w.put(`<tr><td class="name">%s</td>`, r.Name)
			if t.Servers {
				w.put("<td>%s</td>", r.Server)
			}
			w.put(`<td class="n">%d</td><td class="n">%d</td><td class="n">%d</td><td class="n">%s</td><td><div class="bar"><i style="width:%.2f%%"></i></div></td></tr>`+"\n",
				r.RPCs, r.Rows, r.Bytes, ms(r.Time), r.Bar)
		}
		w.put("</table></div>\n")
	}
	if len(t.Lanes) == 0 {
		return
	}
	w.put("<h3>Each RPC over %s, a line a region</h3>\n<div class=\"scroll\"><table class=\"lanes\">\n", ms(t.Span))
	for _, l := range t.Lanes {
		w.put(`<tr><td class="name">%s</td><td><svg class="timeline" height="18" role="img" aria-label="RPCs of %s"><rect class="lane" x="0" y="2" width="100%%" height="13"/>`, l.Name, l.Name)
		for _, c := range l.Calls {
			class := "call"
			if c.Failed {
				class = "call failed"
			}
			w.put(`<rect class="%s" x="%.3f%%" y="2" width="%.3f%%" height="13"><title>%s</title></rect>`, class, c.X, c.W, c.Title)
		}
		w.put("</svg></td></tr>\n")
	}
	w.put("</table></div>\n")
	if t.Cut {
		w.put("<p class=\"soft\">There were more than are drawn.</p>\n")
	}
}
