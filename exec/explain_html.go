package exec

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
)

//go:embed explain.html
var explainHTML string

var explainPage = template.Must(template.New("explain").Funcs(template.FuncMap{"ms": ms, "class": styleClass}).Parse(explainHTML))

// styleClass is the page's class for a style.
func styleClass(s planner.Style) string {
	return [...]string{"plain", "unused", "hit", "miss", "bound", "range", "enumerated", "literal"}[s]
}

// page is what EXPLAIN (FORMAT HTML) shows.
type page struct {
	Query, Verdict string
	Hit            bool
	Tables         []pageTable
	Steps          []pageStep
	Analyzed       bool
	Summary        string
	MaxListed      int // spans written out under each picture
}

// pageTable is one table access.
type pageTable struct {
	*planner.Scan
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

// pagePart is a part of the key; Grow is its share of the picture's width.
type pagePart struct {
	planner.RulerPart
	Grow int
}

// pageStep is a step of the plan. Bars are per cent of the longest.
type pageStep struct {
	StepStats
	SelfBar, WaitBar float64
}

// pageRegion is a region with its share of the time.
type pageRegion struct {
	RegionStats
	Name string
	Bar  float64
}

// pageLane is a region's calls over time.
type pageLane struct {
	Name  string
	Calls []pageCall
}

// pageCall is one RPC, in per cent of the time shown.
type pageCall struct {
	X, W   float64
	Title  string
	Failed bool
}

// Limits of what a page draws.
const (
	maxDrawnTables = 8
	maxLanes       = 24
	regionsTimeout = 3 * time.Second
)

// page draws a plan, and what was measured of it, as a self-contained HTML page. The regions are
// read from the store; where they cannot be, the page says so.
func (r *run) page(ctx context.Context, s *parser.Explain, p *planner.Plan, an *analysis) (string, error) {
	d := page{Query: s.Statement.String(), Verdict: p.Verdict().String(), Hit: p.HitsPrefix(), Analyzed: an != nil, MaxListed: maxListedSpans}
	steps := (&meter{}).stats(p.Root, 0)
	if an != nil {
		d.Summary, steps = an.summary(), an.steps
	}
	for _, st := range steps {
		longest := float64(max(1, steps[0].Total))
		d.Steps = append(d.Steps, pageStep{st, 100 * float64(st.Self) / longest, 100 * float64(st.Total-st.Self) / longest})
	}
	for _, scan := range planner.Scans(p.Root) {
		t := pageTable{Scan: scan, Title: planner.Title(scan), Hit: scan.Access != planner.FullScan}
		for _, part := range scan.Ruler() {
			if scan.Access == planner.Empty {
				break // nothing is read by it
			}
			grow := min(part.Width, 24)
			if part.Width < 0 {
				grow = 12
			}
			t.Key = append(t.Key, pagePart{part, grow})
		}
		r.drawKeyspaces(ctx, &t)
		if an != nil {
			for i := range an.Tables {
				if an.Tables[i].scan == scan {
					t.Took = an.took(&an.Tables[i])
					t.measured(&an.Tables[i], an.begin)
				}
			}
		}
		d.Tables = append(d.Tables, t)
	}
	var b strings.Builder
	if err := explainPage.Execute(&b, d); err != nil {
		return "", fmt.Errorf("EXPLAIN (FORMAT HTML): %w", err)
	}
	return readable(b.String()), nil
}

// readable escapes what a terminal would obey or what turns the direction of text.
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

// drawKeyspaces draws the physical tables of t.
func (r *run) drawKeyspaces(ctx context.Context, t *pageTable) {
	spans := t.Spans
	if r.client == nil || len(spans) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, regionsTimeout)
	defer cancel()
	if t.ListTables {
		var err error
		if spans, err = r.listTables(ctx, t.Scan); err != nil {
			t.MoreNote = "The tables cannot be listed now: " + err.Error()
			return
		}
	}
	for len(spans) > 0 {
		n := 1
		for n < len(spans) && spans[n].Table == spans[0].Table {
			n++
		}
		if len(t.Keyspaces) == maxDrawnTables {
			t.MoreNote = "More tables are read than are drawn here."
			return
		}
		regions, err := r.client.Regions(ctx, spans[0].Table)
		if err != nil {
			regions = []hbase.Region{{}}
		}
		k := drawKeyspace(spans[0].Table, regions, spans[:n])
		if err != nil {
			k.Note = "The regions cannot be read now: " + err.Error()
		}
		t.Keyspaces = append(t.Keyspaces, k)
		spans = spans[n:]
	}
}

// measured adds what EXPLAIN ANALYZE found of the access.
func (t *pageTable) measured(s *TableStats, begin time.Time) {
	longest := time.Duration(1)
	for _, g := range s.Regions {
		longest = max(longest, g.Time)
	}
	for _, g := range s.Regions {
		t.Regions = append(t.Regions, pageRegion{g, g.name(), 100 * float64(g.Time) / float64(longest)})
		t.Servers = t.Servers || g.Region.Server != ""
	}
	t.Cut = int64(len(s.calls)) < s.RPCs
	if len(s.calls) == 0 {
		return
	}
	first, last := s.calls[0].Begin, begin
	for _, c := range s.calls {
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
		for _, c := range s.calls {
			if c.Table != g.Table || c.Region.Name != g.Region.Name {
				continue
			}
			title := fmt.Sprintf("%s after %s: %s, %s, %s", c.Method, ms(c.Begin.Sub(first)), ms(c.Took), counted(c.Rows, "row"), counted(c.Bytes, "byte"))
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
