package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
)

// planPage is the page of EXPLAIN (FORMAT HTML).
type planPage struct {
	Query, Verdict string
	Hit            bool
	Tables         []pageTable
	Steps          []pageStep
	Analyzed       bool
	Summary        string
	Estimate       string // "" where nothing is known
	MaxListed      int    // spans written out under each picture
	asked          map[*plan.Subplan]bool
}

// pageTable is one table access.
type pageTable struct {
	*plan.Scan
	Of        string // the sub-query that reads it; "" for none
	Title     string
	Hit       bool
	Key       []pagePart
	Keyspaces []keyspace
	MoreNote  string
	Took      string // "" without ANALYZE
	Regions   []pageRegion
	Servers   bool // the regions' servers are known
	Lanes     []pageLane
	Span      time.Duration // that the lanes show
	Cut       bool          // there were more calls than are drawn
}

// These methods return the page's texts about a table access.
func (t pageTable) Verdict() string     { return verdictOf(t.Scan) }
func (t pageTable) ColumnsText() string { return columnsText(t.Scan) }
func (t pageTable) OrderText() string   { return orderOf(t.Scan) }
func (t pageTable) NotTaken() (texts []string) {
	for i := range t.Alternatives {
		texts = append(texts, alternativeText(&t.Alternatives[i]))
	}
	return texts
}

// pagePart is a part of the key. Grow is the share of the picture's width that the part takes.
type pagePart struct {
	rulerPart
	Grow int
}

// pageStep is a step of the plan, with bars for its times in per cent of the longest time.
type pageStep struct {
	Step
	SelfBar, WaitBar float64
}

// pageRegion is a region with its share of the time.
type pageRegion struct {
	Region
	Name, Server string
	Bar          float64
}

// pageLane is a region's calls over time.
type pageLane struct {
	Name  string
	Calls []pageCall
}

// pageCall is one RPC. Its position and length are in per cent of the time that the picture shows.
type pageCall struct {
	X, W   float64
	Title  string
	Failed bool
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
	d := planPage{Query: query, Verdict: planVerdict(p).String(), Hit: p.HitsPrefix(), Estimate: estimateText(p.Estimate, f), Analyzed: f != nil, MaxListed: maxListedSpans, asked: map[*plan.Subplan]bool{}}
	if p.MadeUp != nil {
		d.Verdict += ", " + madeUp(p)
	}
	steps := Steps(p.Root, nil)
	if f != nil {
		d.Summary, steps = f.summary(), f.Steps
	}
	for _, st := range steps {
		longest := float64(max(1, steps[0].Total))
		d.Steps = append(d.Steps, pageStep{st, 100 * float64(st.Self) / longest, 100 * float64(st.Total-st.Self) / longest})
	}
	d.add(p, "", f, stored)
	return readable(d.render())
}

// add draws the table accesses of p and of its sub-queries. of names the sub-query that p plans; "" for the whole query.
func (d *planPage) add(p *plan.Plan, of string, f *Figures, stored func(s *plan.Scan, most int) (tables []Stored, note string)) {
	for _, scan := range p.Reads() {
		t := pageTable{Of: of, Scan: scan, Title: titleOf(scan), Hit: scan.Access.HitsPrefix()}
		for _, part := range ruler(scan) {
			if scan.Access == plan.Empty {
				break // an empty access reads nothing
			}
			grow := min(part.Width, 24)
			if part.Width < 0 {
				grow = 12
			}
			t.Key = append(t.Key, pagePart{part, grow})
		}
		tables, note := stored(scan, maxDrawnTables)
		t.MoreNote = note
		for _, x := range tables {
			t.Keyspaces = append(t.Keyspaces, drawStored(x))
		}
		if f != nil {
			for i := range f.Tables {
				if f.Tables[i].Scan == scan {
					t.Took = f.took(&f.Tables[i])
					t.measured(&f.Tables[i], f.Begin)
				}
			}
		}
		d.Tables = append(d.Tables, t)
	}
	for _, s := range p.Asked(d.asked) {
		d.add(s.Sample, fmt.Sprintf("of the sub-query (%s), which runs %s", s.Text, when(s)), nil, stored)
	}
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

// measured adds EXPLAIN ANALYZE's measurements of the access.
func (t *pageTable) measured(s *Table, begin time.Time) {
	longest := time.Duration(1)
	for _, g := range s.Regions {
		longest = max(longest, g.Time)
	}
	for _, g := range s.Regions {
		t.Regions = append(t.Regions, pageRegion{g, g.name(), g.Region.Server, 100 * float64(g.Time) / float64(longest)})
		t.Servers = t.Servers || g.Region.Server != ""
	}
	t.Cut = int64(len(s.Calls)) < s.RPCs
	if len(s.Calls) == 0 {
		return
	}
	first, last := s.Calls[0].Begin, begin
	for _, c := range s.Calls {
		if c.Begin.Before(first) {
			first = c.Begin
		}
		if e := c.Begin.Add(c.Took); e.After(last) {
			last = e
		}
	}
	t.Span = max(1, last.Sub(first))
	for _, g := range s.Regions {
		if len(t.Lanes) == maxLanes {
			t.Cut = true
			break
		}
		lane := pageLane{Name: g.name()}
		for _, c := range s.Calls {
			if c.Table != g.Table || c.Region.Name != g.Region.Name {
				continue
			}
			title := fmt.Sprintf("%s after %s: %s, %s, %s", c.Method, ms(c.Begin.Sub(first)), ms(c.Took), words.Count(c.Rows, "row"), words.Count(c.Bytes, "byte"))
			if c.Err != nil {
				title += ": " + c.Err.Error()
			}
			x := 100 * float64(c.Begin.Sub(first)) / float64(t.Span)
			lane.Calls = append(lane.Calls, pageCall{min(x, 99.5), max(0.5, 100*float64(c.Took)/float64(t.Span)), title, c.Err != nil})
		}
		slices.SortFunc(lane.Calls, func(a, b pageCall) int { return int(a.X*1000) - int(b.X*1000) })
		t.Lanes = append(t.Lanes, lane)
	}
}
