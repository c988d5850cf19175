package advise

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// String is the report for a person.
func (r *Report) String() string {
	var b strings.Builder
	serving := map[int][]string{}
	for _, l := range r.Layouts {
		for _, s := range l.Serves {
			serving[s.N] = append(serving[s.N], fmt.Sprintf("%s with %s", readWith(s), firstWords(l.Def)))
		}
	}
	for _, s := range r.Statements {
		fmt.Fprintf(&b, "%d. %s\n", s.N, s.Text)
		switch {
		case s.Err != nil:
			fmt.Fprintf(&b, "   cannot be planned: %v\n", s.Err)
			continue
		case s.Puts > 0:
			fmt.Fprintf(&b, "   now     writes %s for each row\n", words.Count(s.Puts, "Put"))
		case len(s.Reads) == 0:
			b.WriteString("   reads no table\n")
		}
		for _, read := range s.Reads {
			read.write(&b)
		}
		for _, with := range serving[s.N] {
			fmt.Fprintf(&b, "   better  %s\n", with)
		}
	}
	if len(r.Layouts) == 0 {
		b.WriteString("\nno further layout would bind more of a key\n")
		return b.String()
	}
	for _, l := range r.Layouts {
		fmt.Fprintf(&b, "\nto table %s add\n  %s\n", l.Table, l.Def)
		var ns []string
		for _, s := range l.Serves {
			ns = append(ns, fmt.Sprint(s.N))
		}
		statements := "statements"
		if len(ns) == 1 {
			statements = "statement"
		}
		fmt.Fprintf(&b, "    serves  %s %s\n", statements, strings.Join(ns, ", "))
		for _, s := range l.Serves {
			if s.Was != nil {
				fmt.Fprintf(&b, "    saves   %s of %s that statement %d takes, by statistics of %s\n",
					work(s.Was.Cost-s.Now.Cost), work(s.Was.Cost), s.N, s.Was.At.UTC().Format(time.RFC3339))
			}
		}
		fmt.Fprintf(&b, "    writes  one more Put for each row, of about %d bytes; reads: a Get for each row found\n", l.EntryBytes)
		if l.Entries >= 0 {
			fmt.Fprintf(&b, "    keeps   %s, of about %s in all, by statistics\n", fmt.Sprintf("%d %s", l.Entries, words.Plural(l.Entries, "entry", "entries")), size(float64(l.Entries)*float64(l.EntryBytes)))
		}
		if len(l.Moves) > 0 {
			fmt.Fprintf(&b, "            an UPDATE of %s deletes the entry and writes another\n", strings.Join(l.Moves, ", "))
		}
		fmt.Fprintf(&b, "    or      %s\n            a copy of the rows: about %d bytes for each, and no Get after\n", l.Copy, l.CopyBytes)
		fmt.Fprintf(&b, "    then    CHECK TABLE %s REPAIR fills it with the rows that are there\n", parser.QuoteName(l.Table))
		for _, n := range l.Notes {
			fmt.Fprintf(&b, "    note    %s\n", n)
		}
	}
	return b.String()
}

// work prints microseconds that servers and client work.
func work(us float64) string {
	return (time.Duration(min(us, 1e15)) * time.Microsecond).Round(100 * time.Microsecond).String()
}

// size prints bytes in the unit that fits.
func size(n float64) string {
	for _, unit := range []string{"bytes", "KB", "MB"} {
		if n < 1000 {
			return strconv.FormatFloat(n, 'g', 3, 64) + " " + unit
		}
		n /= 1000
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " GB"
}

// firstWords is "INDEX name" of a definition.
func firstWords(def string) string {
	head, _, _ := strings.Cut(def, " (")
	return head
}

func readWith(s Served) string {
	out := s.Access.String() + ", " + amount(s.Gets, s.Ranges)
	if len(s.Bound) > 0 {
		out += ", by " + strings.Join(s.Bound, ", ")
	}
	return out
}

func amount(gets, ranges int) string {
	var parts []string
	if gets > 0 {
		parts = append(parts, words.Count(gets, "key"))
	}
	if ranges > 0 || gets == 0 {
		parts = append(parts, words.Count(ranges, "range"))
	}
	return strings.Join(parts, " and ")
}

// write says how one table is read.
func (r Read) write(b *strings.Builder) {
	fmt.Fprintf(b, "   now     %s of %s", r.Access, r.Table)
	if r.Layout != "primary" {
		fmt.Fprintf(b, " by layout %s", r.Layout)
	}
	if r.Access != plan.Empty && r.Access.HitsPrefix() {
		fmt.Fprintf(b, ", %s", amount(r.Gets, r.Ranges))
	}
	var bound []string
	for _, p := range r.Parts {
		if p.Use == plan.Bound || p.Use == plan.Ranged {
			bound = append(bound, p.Part.Source)
		}
	}
	if len(bound) > 0 {
		fmt.Fprintf(b, ", by %s", strings.Join(bound, ", "))
	}
	b.WriteString("\n")
	for _, f := range []struct {
		where string
		preds []string
	}{{"servers filter", r.Server}, {"client filters", r.Client}} {
		if len(f.preds) > 0 {
			fmt.Fprintf(b, "           the %s %s\n", f.where, strings.Join(f.preds, ", "))
		}
	}
	if r.Why != "" {
		fmt.Fprintf(b, "           or %s\n", r.Why)
	}
}
