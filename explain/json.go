package explain

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/planner/plan"
)

type jsonSpan struct {
	Table string `json:"table"`
	Start string `json:"start"`
	Stop  string `json:"stop"`
}

type jsonPart struct {
	Part   string `json:"part"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// jsonPlan is the contract of EXPLAIN (FORMAT JSON).
type jsonPlan struct {
	Table        string        `json:"table"`
	Layout       string        `json:"layout"`
	HBaseTables  []string      `json:"hbase_tables"`
	Access       string        `json:"access"`
	HitsPrefix   bool          `json:"hits_prefix"`
	ReadsAtMost  *int64        `json:"reads_at_most,omitempty"` // greatest number of rows by the LIMIT; nil: unknown
	Parts        []jsonPart    `json:"parts"`
	Gets         int           `json:"gets"`
	Scans        int           `json:"scans"`
	Ranges       int           `json:"ranges"`
	Spans        []jsonSpan    `json:"spans"`
	ServerFilter string        `json:"server_filter"`
	ClientFilter string        `json:"client_filter"`
	Columns      []string      `json:"columns"`
	Bloom        string        `json:"bloom,omitempty"`
	Order        string        `json:"order"`
	Limit        *int64        `json:"limit"`
	Pieces       int           `json:"pieces,omitempty"`  // read concurrently, if statistics show that regions are large
	Deletes      string        `json:"deletes,omitempty"` // of each row, by a DELETE
	MadeUp       []string      `json:"made_up_arguments,omitempty"`
	Advice       string        `json:"advice,omitempty"`
	Warnings     []string      `json:"warnings"`
	Inputs       []*jsonPlan   `json:"inputs,omitempty"`
	Subqueries   []jsonSub     `json:"subqueries,omitempty"`
	Estimate     *jsonEstimate `json:"estimate,omitempty"` // of a plan, not of each of its inputs
	Analyze      *jsonFigures  `json:"analyze,omitempty"`
	// Alternatives are the other ways to read the table that the planner compared by cost; empty without statistics.
	Alternatives []jsonAlternative `json:"alternatives,omitempty"`
}

type jsonAlternative struct {
	Layout string  `json:"layout"`
	Access string  `json:"access"`
	How    string  `json:"how,omitempty"`
	Rows   float64 `json:"rows"`
	Bytes  float64 `json:"bytes"`
	RPCs   float64 `json:"rpcs"`
	Cost   float64 `json:"cost"`
	Why    string  `json:"why"`
}

// jsonEstimate is the estimate for a plan, with null for unknown figures.
type jsonEstimate struct {
	Rows  *float64 `json:"rows"`
	Bytes *float64 `json:"bytes"`
	RPCs  *float64 `json:"rpcs"`
	Cost  *float64 `json:"cost,omitempty"`
	Basis string   `json:"basis"`
}

func estimateJSON(e *plan.Estimate) *jsonEstimate {
	if e == nil {
		return &jsonEstimate{Basis: "none"}
	}
	rows, bytes, rpcs, cost := math.Round(e.Rows), math.Round(e.Bytes), math.Round(e.RPCs), math.Round(e.Cost)
	return &jsonEstimate{Rows: &rows, Bytes: &bytes, RPCs: &rpcs, Cost: &cost, Basis: "statistics of " + e.At.UTC().Format(time.RFC3339)}
}

// jsonSub is a query inside an expression. Closed: the sub-query runs once, before the query around it is planned.
type jsonSub struct {
	Query  string    `json:"query"`
	Closed bool      `json:"closed"`
	Plan   *jsonPlan `json:"plan"`
}

// JSON returns the object that EXPLAIN (FORMAT JSON) prints. Its fields are a contract. A query over several tables has
// the fields of the first one, and those of every table under "inputs". Figures, if any, are under "analyze".
func JSON(p *plan.Plan, f *Figures) ([]byte, error) {
	out := planJSON(p, map[*plan.Subplan]bool{})
	if f != nil {
		out.Analyze = f.json()
		if q, ok := qError(p.Estimate, f); ok {
			out.Analyze.QError = &q
		}
	}
	return json.Marshal(out)
}

// planJSON returns p and its sub-queries, without the sub-queries in seen.
func planJSON(p *plan.Plan, seen map[*plan.Subplan]bool) *jsonPlan {
	scans := p.Reads()
	var out *jsonPlan
	switch len(scans) {
	case 0:
		out = &jsonPlan{HBaseTables: []string{}, Access: plan.Empty.String(), HitsPrefix: true, Parts: []jsonPart{}, Spans: []jsonSpan{},
			Columns: []string{}, Order: plan.NoOrder.String(), Warnings: []string{}}
	default:
		out = scanJSON(scans[0])
		if len(scans) > 1 {
			for _, s := range scans {
				out.Inputs = append(out.Inputs, scanJSON(s))
			}
		}
	}
	out.HitsPrefix, out.Estimate = p.HitsPrefix(), estimateJSON(p.Estimate)
	for _, s := range p.Asked(seen) {
		out.Subqueries = append(out.Subqueries, jsonSub{s.Text, s.Closed, planJSON(s.Sample, seen)})
	}
	if k, ok := sortKind(p.Root); ok {
		out.Order = k.String()
	}
	out.Limit, out.Deletes, out.MadeUp = limitOf(p.Root), p.Deletes, p.MadeUp
	return out
}

func scanJSON(s *plan.Scan) *jsonPlan {
	const most = 100
	gets, scans := s.Counts()
	out := &jsonPlan{Table: s.Table.Name, Layout: s.Layout.Name, HBaseTables: s.Stored(), Access: s.Access.String(),
		HitsPrefix: s.Access.HitsPrefix(), Gets: gets, Scans: scans, Ranges: len(s.Spans), Spans: []jsonSpan{}, Parts: []jsonPart{},
		Columns: []string{}, Order: s.Order.String(), Warnings: append([]string{}, s.Warnings...)}
	if most := s.Reads(); most.Set {
		out.ReadsAtMost = &most.Rows
	}
	if !s.Access.HitsPrefix() {
		out.Advice = s.Advice()
	}
	for _, p := range s.Key {
		out.Parts = append(out.Parts, jsonPart{p.Part.Source, p.Use.String(), p.Detail()})
	}
	for i, sp := range s.Spans {
		if i == most {
			break
		}
		stop := sp.Stop
		if sp.Key {
			stop = append(slices.Clone(sp.Start), 0)
		}
		out.Spans = append(out.Spans, jsonSpan{sp.Table, plan.Escape(sp.Start), plan.Escape(stop)})
	}
	if s.Filter != nil {
		out.ServerFilter = s.Filter.String()
	}
	if s.Residual != nil {
		out.ClientFilter = s.Residual.String()
	}
	if out.Bloom, _ = bloom(s); len(s.Cuts) > 0 {
		out.Pieces = len(s.Cuts) + 1
	}
	for _, a := range s.Alternatives {
		out.Alternatives = append(out.Alternatives, jsonAlternative{a.Layout, a.Access.String(), a.How, math.Round(a.Estimate.Rows), math.Round(a.Estimate.Bytes),
			math.Round(a.Estimate.RPCs), math.Round(a.Estimate.Cost), a.Why})
	}
	for _, c := range s.Columns {
		out.Columns = append(out.Columns, c.Family+":"+plan.Escape([]byte(c.Qualifier)))
	}
	return out
}

// sortKind returns how a node above the tables orders the rows; ok is false if no node above them sorts.
func sortKind(n plan.Node) (plan.OrderKind, bool) {
	for {
		switch x := n.(type) {
		case *plan.Sort:
			if x.Limit.Set {
				return plan.TopNOrder, true
			}
			return plan.SortOrder, true
		case *plan.Project, *plan.Limit, *plan.Distinct, *plan.Filter:
			n = x.Inputs()[0]
		default:
			return plan.NoOrder, false
		}
	}
}

// countOf returns nil if all rows are wanted.
func countOf(l plan.RowLimit) *int64 {
	if !l.Set {
		return nil
	}
	return &l.Rows
}

func limitOf(n plan.Node) *int64 {
	for {
		switch x := n.(type) {
		case *plan.Limit:
			return countOf(x.Count)
		case *plan.Project, *plan.Sort:
			n = x.Inputs()[0]
		case *plan.Scan:
			return countOf(x.Limit)
		default:
			return nil
		}
	}
}

// jsonFigures is the object under "analyze" of EXPLAIN (ANALYZE, FORMAT JSON). Times are in milliseconds.
type jsonFigures struct {
	RowsReturned int64 `json:"rows_returned"`
	RowsRead     int64 `json:"rows_read"`
	Gets         int64 `json:"gets"`
	Scans        int64 `json:"scans"`
	RPCs         int64 `json:"rpcs"`
	Bytes        int64 `json:"bytes"`
	Retries      int64 `json:"retries"`
	jsonScanned
	QError     *float64    `json:"q_error"` // how many times too many or too few rows or bytes were estimated; null: none were
	MS         float64     `json:"ms"`
	PlanningMS float64     `json:"planning_ms"`
	Steps      []jsonStep  `json:"steps"`
	Tables     []jsonTable `json:"tables"`
}

// jsonScanned is the servers' counts of scanned rows, null if they reported none.
type jsonScanned struct {
	RowsScanned  *int64 `json:"rows_scanned"`
	RowsFiltered *int64 `json:"rows_filtered"`
}

func scannedJSON(s *hbase.Scanned) jsonScanned {
	if s == nil {
		return jsonScanned{}
	}
	return jsonScanned{&s.Rows, &s.Filtered}
}

type jsonStep struct {
	Step   string  `json:"step"`
	Depth  int     `json:"depth"`
	Rows   int64   `json:"rows"`
	MS     float64 `json:"ms"`
	SelfMS float64 `json:"self_ms"`
}

type jsonTable struct {
	Table    string `json:"table"`
	Layout   string `json:"layout"`
	Gets     int64  `json:"gets"`
	Scans    int64  `json:"scans"`
	RowsRead int64  `json:"rows_read"`
	Rows     int64  `json:"rows"`
	RPCs     int64  `json:"rpcs"`
	Bytes    int64  `json:"bytes"`
	jsonScanned
	MS      float64      `json:"ms"`
	Regions []jsonRegion `json:"regions"`
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

func (f *Figures) json() *jsonFigures {
	out := &jsonFigures{RowsReturned: f.RowsReturned, RowsRead: f.RowsRead, Gets: f.Gets, Scans: f.Scans, RPCs: f.RPCs, Bytes: f.Bytes,
		Retries: f.Retries, jsonScanned: scannedJSON(f.scanned()), MS: millis(f.Elapsed), PlanningMS: millis(f.Planning), Steps: []jsonStep{}, Tables: []jsonTable{}}
	for _, s := range f.Steps {
		out.Steps = append(out.Steps, jsonStep{s.Title(), s.Depth, s.Rows, millis(s.Total), millis(s.Self)})
	}
	for _, t := range f.Tables {
		x := jsonTable{Table: t.Scan.Table.Name, Layout: t.Scan.Layout.Name, Gets: t.Gets, Scans: t.Scans, RowsRead: t.RowsRead, Rows: t.Rows,
			RPCs: t.RPCs, Bytes: t.Bytes, jsonScanned: scannedJSON(t.Scanned), MS: millis(t.Elapsed), Regions: []jsonRegion{}}
		for _, r := range t.Regions {
			x.Regions = append(x.Regions, jsonRegion{r.Table, plan.Escape([]byte(r.Region.Name)), plan.Escape(r.Region.Start), plan.Escape(r.Region.Stop),
				r.Region.Server, r.RPCs, r.Rows, r.Bytes, millis(r.Time)})
		}
		out.Tables = append(out.Tables, x)
	}
	return out
}
