package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
	"github.com/hql-db/hql/types"
)

// explain runs EXPLAIN: one column "plan", a row a line; JSON and HTML in one row.
func (r *run) explain(ctx context.Context, s *parser.Explain) (*Rows, error) {
	p, err := r.plan(ctx, s.Statement)
	if err != nil {
		return nil, err
	}
	var an *analysis
	if s.Analyze {
		if an, err = r.analyze(ctx, s, p); err != nil {
			return nil, err
		}
	}
	switch s.Format {
	case "", "TEXT":
		drawn := p.Draw(nil)
		if an != nil {
			drawn = append(p.Draw(an.notes), planner.Line{{Text: an.summary()}})
		}
		var lines [][]string
		for _, l := range drawn {
			lines = append(lines, []string{l.String()})
		}
		rows := r.table(textColumns("plan"), textRows(lines...))
		rows.Drawn = drawn
		return rows, nil
	case "JSON":
		b, err := p.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if an != nil {
			more, err := json.Marshal(an.json())
			if err != nil {
				return nil, err
			}
			b = append(append(b[:len(b)-1], `,"analyze":`...), append(more, '}')...)
		}
		rows := r.table([]planner.OutputColumn{{Name: "plan", Type: types.JSON}}, [][]types.Value{{types.NewJSON(string(b))}})
		rows.Drawn = []planner.Line{{{Text: string(b)}}}
		return rows, nil
	case "HTML":
		page, err := r.page(ctx, s, p, an)
		if err != nil {
			return nil, err
		}
		rows := r.table(textColumns("plan"), textRows([]string{page}))
		rows.Document = true
		return rows, nil
	}
	return nil, parser.Errorf(s.Pos, "EXPLAIN gives TEXT, JSON or HTML, not %s", s.Format)
}

// analysis is what EXPLAIN ANALYZE found.
type analysis struct {
	Stats
	planning time.Duration
	begin    time.Time
	steps    []StepStats
}

// analyze runs the query of p and measures it.
func (r *run) analyze(ctx context.Context, s *parser.Explain, p *planner.Plan) (*analysis, error) {
	if _, ok := s.Statement.(*parser.Select); !ok {
		return nil, parser.Errorf(s.Pos, "EXPLAIN ANALYZE runs queries only")
	}
	out := &analysis{planning: time.Since(r.rec.start)}
	m := &meter{steps: map[planner.Node]*meteredOp{}}
	r.opt.Wrap = m.wrap
	r.rec = newRecorder(r.client)
	r.rec.tracing = true
	out.begin = r.rec.start
	err := r.eachRow(ctx, p, asRead, func(rows [][]types.Value) error {
		r.rec.returned.Add(int64(len(rows)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Stats = r.rec.stats(r.client)
	out.steps = m.stats(p.Root, 0)
	return out, nil
}

// summary is the last line of EXPLAIN ANALYZE.
func (a *analysis) summary() string {
	return fmt.Sprintf("returned %s in %s after %s of planning: %s read, %s, %s, %s", counted(a.RowsReturned, "row"), ms(a.Elapsed), ms(a.planning),
		counted(a.RowsRead, "row"), counted(a.RPCs, "RPC"), counted(a.Bytes, "byte"), tries(a.Retries))
}

func tries(n int64) string { return fmt.Sprintf("%d %s", n, plural(n, "retry", "retries")) }

// notes gives what was measured of a step.
func (a *analysis) notes(n planner.Node) []string {
	var out []string
	for _, s := range a.steps {
		if s.node != n {
			continue
		}
		if _, ok := n.(*planner.Scan); !ok {
			return []string{fmt.Sprintf("%s, %s, of it here %s", counted(s.Rows, "row"), ms(s.Total), ms(s.Self))}
		}
		for _, t := range a.Tables {
			if t.scan == n {
				out = append(out, a.took(&t))
				out = append(out, regionLines(t.Regions)...)
			}
		}
	}
	return out
}

// took tells in a line what a table access took.
func (a *analysis) took(t *TableStats) string {
	var total time.Duration
	for _, s := range a.steps {
		if s.node == planner.Node(t.scan) {
			total = s.Total
		}
	}
	return fmt.Sprintf("%s: %s read, %s kept; %s, %s, %s, %s", ms(total), counted(t.RowsRead, "row"), counted(t.Rows, "row"),
		counted(t.Gets, "get"), counted(t.Scans, "scan"), counted(t.RPCs, "RPC"), counted(t.Bytes, "byte"))
}

// maxRegions bounds the regions listed of one table access.
const maxRegions = 20

// regionLines is a small table of regions with a bar for the time of each.
func regionLines(regions []RegionStats) []string {
	cells := [][]string{{"region", "RPCs", "rows", "bytes", "time", ""}}
	longest := time.Duration(1)
	for _, r := range regions {
		longest = max(longest, r.Time)
	}
	for _, r := range regions[:min(len(regions), maxRegions)] {
		bar := strings.Repeat("#", int((10*r.Time+longest-1)/longest))
		cells = append(cells, []string{r.name(), fmt.Sprint(r.RPCs), fmt.Sprint(r.Rows), fmt.Sprint(r.Bytes), ms(r.Time), bar})
	}
	width := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			width[i] = max(width[i], runewidth.StringWidth(c))
		}
	}
	var out []string
	for _, row := range cells {
		line := runewidth.FillRight(row[0], width[0])
		for i, c := range row[1:5] {
			line += fmt.Sprintf("  %*s", width[i+1], c)
		}
		out = append(out, strings.TrimRight(line+"  "+row[5], " "))
	}
	if n := len(regions) - maxRegions; n > 0 {
		out = append(out, fmt.Sprintf("... and %d more regions", n))
	}
	if len(regions) == 0 {
		return nil
	}
	return out
}

// name tells a region by its table and keys.
func (r RegionStats) name() string {
	if r.Region.Name == "" {
		return r.Table + " (failed and repeated)"
	}
	return fmt.Sprintf("%s [%s, %s)", r.Table, openKey(r.Region.Start), openKey(r.Region.Stop))
}

func openKey(b []byte) string {
	if len(b) == 0 {
		return "open"
	}
	return planner.Escape(b)
}

// jsonAnalysis is what EXPLAIN (ANALYZE, FORMAT JSON) adds under "analyze". Times are in milliseconds.
type jsonAnalysis struct {
	RowsReturned int64       `json:"rows_returned"`
	RowsRead     int64       `json:"rows_read"`
	Gets         int64       `json:"gets"`
	Scans        int64       `json:"scans"`
	RPCs         int64       `json:"rpcs"`
	Bytes        int64       `json:"bytes"`
	Retries      int64       `json:"retries"`
	MS           float64     `json:"ms"`
	PlanningMS   float64     `json:"planning_ms"`
	Steps        []jsonStep  `json:"steps"`
	Tables       []jsonTable `json:"tables"`
}

type jsonStep struct {
	Step   string  `json:"step"`
	Depth  int     `json:"depth"`
	Rows   int64   `json:"rows"`
	MS     float64 `json:"ms"`
	SelfMS float64 `json:"self_ms"`
}

type jsonTable struct {
	Table    string       `json:"table"`
	Layout   string       `json:"layout"`
	Gets     int64        `json:"gets"`
	Scans    int64        `json:"scans"`
	RowsRead int64        `json:"rows_read"`
	Rows     int64        `json:"rows"`
	RPCs     int64        `json:"rpcs"`
	Bytes    int64        `json:"bytes"`
	MS       float64      `json:"ms"`
	Regions  []jsonRegion `json:"regions"`
}

type jsonRegion struct {
	Table  string  `json:"table"`
	Region string  `json:"region"` // "" for calls that failed and were repeated
	Start  string  `json:"start"`
	Stop   string  `json:"stop"`
	Server string  `json:"server"`
	RPCs   int64   `json:"rpcs"`
	Rows   int64   `json:"rows"`
	Bytes  int64   `json:"bytes"`
	MS     float64 `json:"ms"`
}

func (a *analysis) json() jsonAnalysis {
	out := jsonAnalysis{RowsReturned: a.RowsReturned, RowsRead: a.RowsRead, Gets: a.Gets, Scans: a.Scans, RPCs: a.RPCs, Bytes: a.Bytes,
		Retries: a.Retries, MS: millis(a.Elapsed), PlanningMS: millis(a.planning), Steps: []jsonStep{}, Tables: []jsonTable{}}
	for _, s := range a.steps {
		out.Steps = append(out.Steps, jsonStep{s.Title, s.Depth, s.Rows, millis(s.Total), millis(s.Self)})
	}
	for _, t := range a.Tables {
		x := jsonTable{Table: t.Table, Layout: t.Layout, Gets: t.Gets, Scans: t.Scans, RowsRead: t.RowsRead, Rows: t.Rows,
			RPCs: t.RPCs, Bytes: t.Bytes, MS: millis(t.Elapsed), Regions: []jsonRegion{}}
		for _, r := range t.Regions {
			x.Regions = append(x.Regions, jsonRegion{r.Table, planner.Escape([]byte(r.Region.Name)), planner.Escape(r.Region.Start), planner.Escape(r.Region.Stop),
				r.Region.Server, r.RPCs, r.Rows, r.Bytes, millis(r.Time)})
		}
		out.Tables = append(out.Tables, x)
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// ms prints d in milliseconds, to three figures or so.
func ms(d time.Duration) string {
	digits := 0
	switch {
	case d < time.Millisecond:
		digits = 3
	case d < 100*time.Millisecond:
		digits = 1
	}
	return fmt.Sprintf("%.*f ms", digits, float64(d)/float64(time.Millisecond))
}
