package design

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hql-db/hql/internal/words"
)

// String is the report for a person.
func (r *Report) String() string {
	var b strings.Builder
	for i := range r.Tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		r.Tables[i].write(&b, r.Statements)
	}
	for _, s := range r.Statements {
		if s.Error != "" {
			fmt.Fprintf(&b, "statement %d cannot be planned: %s\n", s.N, s.Error)
		}
	}
	if len(r.Tables) == 0 {
		b.WriteString("the statements read and write no table\n")
	}
	return b.String()
}

func (t *Table) write(b *strings.Builder, stmts []Statement) {
	fmt.Fprintf(b, "design for %s: %s", t.Name, t.Verdict())
	if t.Sample > 0 {
		fmt.Fprintf(b, "; by a sample of %s", words.Count(t.Sample, "row"))
		if t.Order != "" {
			fmt.Fprintf(b, " in the order of %s", t.Order)
		}
	}
	b.WriteByte('\n')
	today := t.today()
	for i := range t.Proposals {
		t.Proposals[i].write(b, t, i+1, today)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(b, "  note    %s\n", n)
	}
	for i := range t.Proposals {
		if p := &t.Proposals[i]; p.Create != "" {
			fmt.Fprintf(b, "\nto have %d:\n  %s\n  %s\n", i+1, p.Create, p.Copy)
		}
		for n, text := range t.Proposals[i].Plans {
			if text != "" {
				fmt.Fprintf(b, "\nstatement %d under %s: %s\n  %s\n", n+1, mark(&t.Proposals[i], i+1), stmts[n].Text, strings.ReplaceAll(text, "\n", "\n  "))
			}
		}
	}
}

// Verdict is the outcome for the table in a line.
func (t *Table) Verdict() string {
	switch {
	case len(t.Proposals) == 0:
		return "nothing was tried"
	case t.Fine:
		return fmt.Sprintf("the key is fine, none of %s is clearly better", words.Count(t.Tried, "other layout"))
	}
	return fmt.Sprintf("%d of %s, for %s", len(t.Proposals)-1, words.Count(t.Tried, "layout"), words.Count(t.Proposals[0].Of, "reading statement"))
}

func mark(p *Proposal, n int) string {
	if p.Today {
		return "today"
	}
	return strconv.Itoa(n)
}

// write writes a proposal, with today's figure after each of its figures.
func (p *Proposal) write(b *strings.Builder, t *Table, n int, today *Proposal) {
	fmt.Fprintf(b, "  %-7s %s\n", mark(p, n), p.Key)
	for _, l := range p.lines(t, today) {
		fmt.Fprintf(b, "    %-7s %s\n", l[0], l[1])
	}
}

// today returns the proposal with today's key; nil if nothing was tried.
func (t *Table) today() *Proposal {
	for i := range t.Proposals {
		if t.Proposals[i].Today {
			return &t.Proposals[i]
		}
	}
	return nil
}

// lines returns the description of a proposal as pairs of a heading and a text.
func (p *Proposal) lines(t *Table, today *Proposal) (out [][2]string) {
	add := func(head, format string, args ...any) {
		out = append(out, [2]string{head, fmt.Sprintf(format, args...)})
	}
	was := func(text string) string {
		if p.Today {
			return ""
		}
		return ", today " + text
	}
	for _, x := range p.Indexes {
		add("and", "%s", x)
	}
	if p.Of > 0 {
		text := fmt.Sprintf("%d of %s hit the prefix", p.Hits, words.Count(p.Of, "statement"))
		if p.Rows >= 0 {
			text += fmt.Sprintf("; a weighted statement takes %s ms, reads %s in %s", figure(p.Micros/1000), counted(p.Rows, "row"), counted(p.Calls, "call"))
			if today.Rows >= 0 {
				text += was(figure(today.Micros/1000) + " ms, " + figure(today.Rows) + " in " + figure(today.Calls))
			}
		} else {
			text += was(strconv.Itoa(today.Hits))
		}
		add("reads", "%s", text)
	}
	if p.Share >= 0 {
		text := fmt.Sprintf("the busiest of %d regions takes %s of the rows (even: %s)%s", t.Regions, percent(p.Share), percent(t.Even), was(percent(today.Share)))
		if p.Puts > 1 {
			text += fmt.Sprintf("; %d Puts a row", p.Puts)
		}
		if p.IndexShare > p.Share+0.05 {
			text += fmt.Sprintf("; the busiest region of an INDEX takes %s", percent(p.IndexShare))
		}
		add("writes", "%s", text)
	}
	add("key", "%s bytes%s", figure(p.Bytes), was(figure(today.Bytes)))
	if p.Why != "" {
		add("why", "%s", p.Why)
	}
	for _, m := range p.Misses {
		add("misses", "%s", m)
	}
	for _, m := range p.Notes {
		add("note", "%s", m)
	}
	return out
}

// counted is a figure with its unit.
func counted(f float64, unit string) string {
	return figure(f) + " " + words.Plural(int64(math.Round(f*10)-9), unit, unit+"s")
}

// figure returns a number as text: with one decimal below 10, and with commas and no decimals above.
func figure(f float64) string {
	switch {
	case f > 0 && f < 0.05:
		return "under 0.1"
	case f < 10:
		return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
	case f < 1e15:
		text := strconv.FormatFloat(f, 'f', 0, 64)
		for i := len(text) - 3; i > 0; i -= 3 {
			text = text[:i] + "," + text[i:]
		}
		return text
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

func percent(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(100*f, 'f', 1, 64), ".0") + " %"
}
