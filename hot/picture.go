package hot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/internal/page"
)

// Limits of the picture in a terminal.
const (
	mostLines   = 48
	mostColumns = 60
)

// heat has the characters of the map, from no requests to the most.
const heat = " .:-=+*#%@"

// String returns the report for a terminal: regions as lines, time as columns, and the regions with the most requests.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "requests by region in %.0f s, from %s\n", r.took(), r.Began.UTC().Format("15:04:05"))
	lines := r.lines()
	most, width := int64(1), 0
	for _, l := range lines {
		most, width = max(most, slices.Max(l.all)), max(width, len([]rune(l.name)))
	}
	stored := ""
	for _, l := range lines {
		if l.stored != stored {
			stored = l.stored
			fmt.Fprintf(&b, "\n%s\n", stored)
		}
		fmt.Fprintf(&b, "  %s%s |", l.name, strings.Repeat(" ", width-len([]rune(l.name))))
		for _, n := range l.all {
			b.WriteByte(mark(n, most))
		}
		fmt.Fprintf(&b, "| %d reads, %d writes\n", l.reads, l.writes)
	}
	if ranked := r.ranked(); len(ranked) > 0 {
		b.WriteString("\nmost requests\n")
		for i, g := range ranked {
			fmt.Fprintf(&b, "  %d  %s from %s on %s: %d reads, %d writes\n", i+1, g.Stored, short(g.Begins), g.Server, g.Reads.Sum(), g.Writes.Sum())
		}
	}
	b.WriteByte('\n')
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s\n", f)
	}
	if len(r.Findings) == 0 {
		b.WriteString("nothing is uneven\n")
	}
	return b.String()
}

func (r *Report) took() float64 { return r.Seconds[len(r.Seconds)-1] }

// mark returns the mark for n, if most is the highest count in the map. A single request is visible.
func mark(n, most int64) byte {
	if n <= 0 {
		return heat[0]
	}
	return heat[1+(n-1)*int64(len(heat)-2)/max(1, most-1)]
}

// line is a line of the map: one region, or several neighbours.
type line struct {
	stored, name  string
	all           []int64 // by column of the map
	reads, writes int64
}

// lines returns the lines of the map. Neighbouring regions share a line if there are too many.
func (r *Report) lines() (out []line) {
	per := (len(r.Regions) + mostLines - 1) / mostLines
	columns := min(len(r.Seconds), mostColumns)
	for i, inLine := 0, 0; i < len(r.Regions); i++ {
		g := &r.Regions[i]
		if inLine == 0 || inLine == per || out[len(out)-1].stored != g.Stored {
			out, inLine = append(out, line{stored: g.Stored, name: short(g.Begins), all: make([]int64, columns)}), 0
		}
		inLine++
		l := &out[len(out)-1]
		for t := range r.Seconds {
			l.all[t*columns/len(r.Seconds)] += g.Reads[t] + g.Writes[t]
		}
		l.reads, l.writes = l.reads+g.Reads.Sum(), l.writes+g.Writes.Sum()
	}
	return out
}

// ranked returns the regions with the most requests.
func (r *Report) ranked() (out []*Region) {
	for i := range r.Regions {
		if r.Regions[i].total() > 0 {
			out = append(out, &r.Regions[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *Region) int { return int(min(1, max(-1, b.total()-a.total()))) })
	return out[:min(len(out), 5)]
}

func (g *Region) total() int64 { return g.Reads.Sum() + g.Writes.Sum() }

// short shortens a long text.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:39]) + "…"
	}
	return s
}

// HTML returns the report as a page, which shows the figures of the place under the cursor.
func (r *Report) HTML() string {
	w := &page.Writer{}
	w.Begin("hql hot")
	w.Put("<h1>%s</h1>\n<section>\n", fmt.Sprintf("requests by region in %.0f s, from %s", r.took(), r.Began.UTC().Format("2006-01-02 15:04:05")))
	for _, f := range r.Findings {
		w.Put("<p>%s</p>\n", f)
	}
	most := int64(1)
	for _, g := range r.Regions {
		for t := range r.Seconds {
			most = max(most, g.Reads[t]+g.Writes[t])
		}
	}
	const cell, height = 12, 14
	w.Put("</section>\n<section class=\"scroll\">\n<table class=\"spans\">\n<tr><th>table</th><th>begins with</th><th>requests over time</th><th class=\"n\">reads</th><th class=\"n\">writes</th><th>server</th></tr>\n")
	for _, g := range r.Regions {
		w.Put("<tr><td class=\"name\">%s</td><td class=\"name\">%s</td><td><svg viewBox=\"0 0 %d %d\" style=\"width:%dpx\">", g.Stored, g.Begins, cell*len(r.Seconds), height, cell*len(r.Seconds))
		for t, at := range r.Seconds {
			w.Put("<rect class=\"failed\" x=\"%d\" y=\"0\" width=\"%d\" height=\"%d\" fill-opacity=\"%.3f\"><title>%s</title></rect>", cell*t, cell, height, float64(g.Reads[t]+g.Writes[t])/float64(most),
				fmt.Sprintf("%s from %s, %.0f s: %d reads, %d writes, %d rows filtered away", g.Stored, g.Begins, at, g.Reads[t], g.Writes[t], g.Filtered[t]))
		}
		w.Put("</svg></td><td class=\"n\">%d</td><td class=\"n\">%d</td><td>%s</td></tr>\n", g.Reads.Sum(), g.Writes.Sum(), g.Server)
	}
	w.Put("</table>\n</section>\n")
	return w.End()
}
