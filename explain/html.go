package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/page"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
)

// htmlPage is the unfinished page of EXPLAIN (FORMAT HTML).
type htmlPage struct {
	page.Writer
	stored func(s *plan.Scan, most int) (tables []Stored, note string)
	asked  map[*plan.Subplan]bool
}

// Limits of a page's drawings.
const (
	maxDrawnTables = 8
	maxLanes       = 24
)

// Stored is an HBase table that a plan reads.
type Stored struct {
	Name    string
	Spans   []plan.Span // that are read of it
	Regions []hbase.Region
	Err     error // why the regions are not known; nil: they are
}

// HTML returns a self-contained page that shows the plan of query, and its measurements if f is not nil. stored returns the
// HBase tables that s reads, up to the number most, and a note if there are more.
func HTML(query string, p *plan.Plan, f *Figures, stored func(s *plan.Scan, most int) (tables []Stored, note string)) string {
	w := htmlPage{stored: stored, asked: map[*plan.Subplan]bool{}}
	verdict := planVerdict(p).String()
	if p.MadeUp != nil {
		verdict += ", " + madeUp(p)
	}
	w.Begin(verdict)
	w.Put(`<h1 class="%s" id="verdict">%s</h1>
<pre id="query">%s</pre>
`, hitClass(p.HitsPrefix()), verdict, query)
	w.Some("<p id=\"estimate\">%s</p>\n", estimateText(p.Estimate, f))
	w.steps(p, f)
	w.tables(p, "", f)
	return readable(w.End())
}

// steps writes the plan's steps, with bars for their times.
func (w *htmlPage) steps(p *plan.Plan, f *Figures) {
	steps := Steps(p.Root, nil)
	switch {
	case f != nil:
		steps = f.Steps
	case len(steps) <= 2:
		return
	}
	w.Put("<section id=\"steps\">\n<h2>Steps</h2>\n")
	if f != nil {
		w.Put("<p id=\"summary\">%s</p>\n", f.summary())
	}
	w.Put("<div class=\"scroll\"><table>\n<tr><th>from the last to the first</th>")
	if f != nil {
		w.Put(`<th class="n">rows</th><th class="n">time</th><th class="n">of it here</th><th><span class="swatch" style="background:var(--bar)"></span>here <span class="swatch" style="background:var(--wait)"></span>waiting for the steps below</th>`)
	}
	w.Put("</tr>\n")
	for _, s := range steps {
		w.Put(`<tr class="step"><td class="name" style="padding-left:%d.2em">%s</td>`, s.Depth, s.Title())
		if f != nil {
			w.Put(`<td class="n">%d</td><td class="n">%s</td><td class="n">%s</td><td><div class="bar"><i style="width:%.2f%%"></i><i class="wait" style="width:%.2f%%"></i></div></td>`,
				s.Rows, ms(s.Total), ms(s.Self), percent(s.Self, steps[0].Total), percent(s.Total-s.Self, steps[0].Total))
		}
		w.Put("</tr>\n")
	}
	w.Put("</table></div>\n</section>\n")
}

func percent(d, of time.Duration) float64 { return 100 * float64(d) / float64(max(1, of)) }

// tables writes the table accesses of p and of its sub-queries. of names the sub-query that p plans; "" for the whole query.
func (w *htmlPage) tables(p *plan.Plan, of string, f *Figures) {
	for _, s := range p.Reads() {
		w.scan(s, of)
		if f != nil {
			for i := range f.Tables {
				if t := &f.Tables[i]; t.Scan == s {
					w.Some("<h3>What it took</h3>\n<p class=\"took\">%s</p>\n", f.took(t))
					w.regions(t.Regions)
					w.lanes(t, f.Begin)
				}
			}
		}
		w.Put("</section>\n")
	}
	for _, s := range p.Asked(w.asked) {
		w.tables(s.Sample, fmt.Sprintf("of the sub-query (%s), which runs %s", s.Text, when(s)), nil)
	}
}

// scan writes a table access.
func (w *htmlPage) scan(s *plan.Scan, of string) {
	w.Put("<section class=\"table\">\n<h2>%s</h2>\n", titleOf(s))
	w.Some("<p class=\"soft\">%s</p>\n", of)
	w.Put("<p class=\"%s\">%s</p>\n", hitClass(s.Access.HitsPrefix()), verdictOf(s))
	w.Some("<p><b>To hit the prefix:</b> %s</p>\n", s.Advice())
	for _, x := range s.Warnings {
		w.Put("<p class=\"miss\">%s</p>\n", x)
	}
	w.key(s)
	tables, note := w.stored(s, maxDrawnTables)
	for _, x := range tables {
		w.keyspace(drawStored(x))
	}
	w.Some("<p class=\"soft\">%s</p>\n", note)
	w.conditions(s)
	w.choice(s)
}

func (w *htmlPage) key(s *plan.Scan) {
	parts := ruler(s)
	if len(parts) == 0 || s.Access == plan.Empty { // an empty access reads nothing
		return
	}
	w.Put("<h3>The key, byte by byte</h3>\n<div class=\"scroll\"><div class=\"key\">\n")
	for _, k := range parts {
		at, grow := "behind a varying part", min(k.Width, 24) // the share of the picture's width
		if k.Offset >= 0 {
			at = "byte " + k.Bytes()
		}
		if k.Width < 0 {
			grow = 12
		}
		w.Put(`<div class="part %s" style="flex-grow:%d" title="%s"><div class="at">%s</div><div class="as">%s</div><div class="is">%s</div></div>`+"\n",
			styleClass(k.Style()), grow, k.Detail()+k.Why, at, k.Part.Source, k.Use)
	}
	w.Put("</div></div>\n<div class=\"scroll\"><table class=\"parts\">\n")
	for _, k := range parts {
		if k.Detail() != "" || k.Why != "" {
			w.Put(`<tr><td class="name"><span class="swatch %s"></span>%s</td><td>%s</td><td><code>%s</code>%s</td></tr>`+"\n",
				styleClass(k.Style()), k.Part.Source, k.Use, k.Detail(), k.Why)
		}
	}
	w.Put("</table></div>\n")
}

// keyspace draws the regions of an HBase table and the spans of keys that the plan reads.
func (w *htmlPage) keyspace(k keyspace) {
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
	for _, s := range k.Spans[:min(maxListedSpans, len(k.Spans))] {
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

func (w *htmlPage) conditions(s *plan.Scan) {
	if len(s.Fates) > 0 {
		w.Put("<h3>Where each condition is checked</h3>\n<div class=\"scroll\"><table class=\"fates\">\n")
		for _, f := range s.Fates {
			w.Put("<tr><td class=\"name\">%s</td><td>%s</td><td class=\"soft\">%s</td></tr>\n", fmt.Sprint(f.Expr), placeOf(f), f.Why)
		}
		w.Put("</table></div>\n")
	}
	if s.Filter != nil {
		w.Put("<p>The region servers filter by <code>%s</code></p>\n", fmt.Sprint(s.Filter))
	}
	if len(s.Key) > 0 && s.Access != plan.Empty {
		w.Put("<h3>What is read of each row</h3>\n<p><code>%s</code></p>\n", columnsText(s))
	}
	w.Some("<p>In the order: <code>%s</code></p>\n", orderOf(s))
}

// choice writes the layouts and the ways of reading among which the planner chose.
func (w *htmlPage) choice(s *plan.Scan) {
	if len(s.Candidates) > 1 {
		w.Put("<h3>Layouts looked at</h3>\n<div class=\"scroll\"><table class=\"layouts\">\n")
		for _, c := range s.Candidates {
			w.Put("<tr><td class=\"name\">%s</td><td>%s</td><td class=\"n\">%s</td><td class=\"n\">cost %.0f</td><td>%s</td></tr>\n",
				c.Layout, c.Access, words.Count(int64(c.Spans), "range"), c.Cost, c.Why)
		}
		w.Put("</table></div>\n")
	}
	if len(s.Alternatives) > 0 {
		w.Put("<p>Not taken, by statistics:</p><ul>")
		for i := range s.Alternatives {
			w.Put("<li>%s</li>", alternativeText(&s.Alternatives[i]))
		}
		w.Put("</ul>\n")
	}
}

// regions writes EXPLAIN ANALYZE's measurements of a table's regions.
func (w *htmlPage) regions(list []Region) {
	if len(list) == 0 {
		return
	}
	servers, longest := false, time.Duration(0)
	for _, r := range list {
		servers, longest = servers || r.Region.Server != "", max(longest, r.Time)
	}
	w.Put("<div class=\"scroll\"><table class=\"regions\">\n<tr><th>region</th>")
	if servers {
		w.Put("<th>server</th>")
	}
	w.Put(`<th class="n">RPCs</th><th class="n">rows</th><th class="n">bytes</th><th class="n">time of RPCs</th><th></th></tr>` + "\n")
	for _, r := range list {
		w.Put(`<tr><td class="name">%s</td>`, r.name())
		if servers {
			w.Put("<td>%s</td>", r.Region.Server)
		}
		w.Put(`<td class="n">%d</td><td class="n">%d</td><td class="n">%d</td><td class="n">%s</td><td><div class="bar"><i style="width:%.2f%%"></i></div></td></tr>`+"\n",
			r.RPCs, r.Rows, r.Bytes, ms(r.Time), percent(r.Time, longest))
	}
	w.Put("</table></div>\n")
}

// lanes draws the calls of a table access over time, a line for each region.
func (w *htmlPage) lanes(t *Table, begin time.Time) {
	if len(t.Calls) == 0 {
		return
	}
	first, last := t.Calls[0].Begin, begin
	for _, c := range t.Calls {
		if c.Begin.Before(first) {
			first = c.Begin
		}
		if e := c.Begin.Add(c.Took); e.After(last) {
			last = e
		}
	}
	span := last.Sub(first)
	calls := slices.SortedStableFunc(slices.Values(t.Calls), func(a, b hbase.RPCEnd) int { return a.Begin.Compare(b.Begin) })
	w.Put("<h3>Each RPC over %s, a line a region</h3>\n<div class=\"scroll\"><table class=\"lanes\">\n", ms(max(1, span)))
	for _, g := range t.Regions[:min(len(t.Regions), maxLanes)] {
		w.Put(`<tr><td class="name">%s</td><td><svg class="timeline" height="18" role="img" aria-label="RPCs of %s"><rect class="lane" x="0" y="2" width="100%%" height="13"/>`, g.name(), g.name())
		for _, c := range calls {
			if c.Table != g.Table || c.Region.Name != g.Region.Name {
				continue
			}
			class := "call"
			title := fmt.Sprintf("%s after %s: %s, %s, %s", c.Method, ms(c.Begin.Sub(first)), ms(c.Took), words.Count(c.Rows, "row"), words.Count(c.Bytes, "byte"))
			if c.Err != nil {
				class, title = "call failed", title+": "+c.Err.Error()
			}
			w.Put(`<rect class="%s" x="%.3f%%" y="2" width="%.3f%%" height="13"><title>%s</title></rect>`, class, min(percent(c.Begin.Sub(first), span), 99.5), max(0.5, percent(c.Took, span)), title)
		}
		w.Put("</svg></td></tr>\n")
	}
	w.Put("</table></div>\n")
	if int64(len(t.Calls)) < t.RPCs || len(t.Regions) > maxLanes {
		w.Put("<p class=\"soft\">There were more than are drawn.</p>\n")
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

// drawStored draws the key space of an HBase table; if the regions are not known, it draws them as one.
func drawStored(x Stored) keyspace {
	if x.Err != nil {
		k := drawKeyspace(x.Name, []hbase.Region{{}}, x.Spans)
		k.Note = "The regions cannot be read now: " + x.Err.Error()
		return k
	}
	return drawKeyspace(x.Name, x.Regions, x.Spans)
}
