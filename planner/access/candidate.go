package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
)

// candidate is a way to answer a request by one layout.
type candidate struct {
	scan       *plan.Scan
	spans      []keySpan // not merged yet
	builder    *spanBuilder
	boxes      []box
	residual   []expr.Expr
	solved     []*solve.Constraint // the Constraints of the residual
	fates      []plan.Fate
	hopped     []plan.PartUse // the uses of the parts after those that are hopped over
	cost       float64
	considered plan.Candidate
	packed     *candidate // see qualifiers
	ordered    int        // of packed: the number of terms of which byQualifier has found the order
	shared     bool       // other candidates have the same builder
	how        string     // the difference from the usual way to read the layout; "" if there is none
}

// reading selects the spans to read for a request.
type reading uint8

const (
	narrow     reading = iota // the smallest spans
	inOrder                   // spans whose rows can be merged into the wanted order
	inSteps                   // as inOrder, with a span for each value of a range of few values: g IN (3, 4) ORDER BY z LIMIT 3
	inOneRange                // one span per HBase table
)

// maxMerged bounds the number of spans that are read concurrently only to merge them into an order.
const maxMerged = 256

// candidate plans the reading of one layout.
func (e *Env) candidate(l *catalog.Layout, req *Request, terms []term, boxes []box, how reading) *candidate {
	w := newSpanBuilder(l, e, req)
	w.stepping = how == inSteps
	if w.merging = how == inOrder || w.stepping; w.merging {
		w.opt.MaxSpans = min(w.opt.MaxSpans, maxMerged*len(boxes)+1) // the boxes may have equal spans
	}
	w.walkAll(boxes)
	if w.listTables && slices.ContainsFunc(w.spans, func(s keySpan) bool { return s.Table != "" }) {
		w = newSpanBuilder(l, e, req) // one box requires listing the tables, so all spans are read in all of them
		w.listTables = true
		w.walkAll(boxes)
	}
	c := &candidate{builder: w, boxes: boxes, spans: w.spans}
	c.spans = slices.DeleteFunc(c.spans, keySpan.isNoKey)
	w.shareHop(c.spans)
	if how == inOneRange {
		c.spans, w.uses = oneRange(c.spans), coveredUses(l)
	}
	c.scan = &plan.Scan{Table: req.Table, Layout: l, Alias: req.Alias, CapHit: w.capped,
		Entries: l.Kind != catalog.Primary, ListTables: w.listTables, TablePrefix: w.tablePrefix, Lookups: w.lookups,
		MinTime: req.MinTime, MaxTime: req.MaxTime, AllVersions: req.AllVersions}
	if w.listTables && !w.anyName {
		c.scan.TableNames, _ = mergeSpans(w.tableNames, true)
	}
	c.prove(terms)
	c.order(req, e.Options.NoOrder)
	if c.scan.Order != plan.MergeOrder {
		c.closeGaps()
	}
	var mixedSplits bool
	c.scan.Spans, mixedSplits = mergeSpans(c.spans, c.scan.Order != plan.MergeOrder)
	if mixedSplits || len(c.scan.Spans) < len(c.spans) && slices.ContainsFunc(l.Key.Parts, func(p *catalog.Part) bool { return p.FixedTail() > 0 }) {
		c.unordered()
		c.scan.Spans, _ = mergeSpans(c.spans, true)
	}
	c.scan.Access = c.accessKind()
	switch {
	case c.scan.Access == plan.RangeScan && c.hopsInRange():
		c.scan.Hop, c.hopped = c.hop()
	case c.scan.Access == plan.FullScan:
		if c.scan.Hop, c.hopped = c.hop(); c.scan.Hop != nil && slices.ContainsFunc(c.scan.Hop.Tails, func(t plan.Span) bool { return !t.Key }) {
			c.scan.Access = hopsOver(c.scan, c.scan.Hop.Parts) // the values have about one row each, or it is unknown that they are few
		}
	}
	c.byTime(req)
	c.cost = c.price(req)
	c.considered = plan.Candidate{Layout: l.Name, Access: c.scan.Access, Spans: len(c.scan.Spans), Cost: c.cost}
	return c
}

func (c *candidate) accessKind() plan.Access {
	switch {
	case len(c.scan.Spans) == 0:
		return plan.Empty
	case !slices.ContainsFunc(c.scan.Spans, func(s plan.Span) bool { return !s.Key }):
		return plan.Get
	}
	tableBound := !c.scan.ListTables && !c.scan.Layout.Stored.IsLiteral()
	for _, s := range c.spans {
		if s.bound == 0 && !s.Key && !tableBound {
			return plan.FullScan
		}
	}
	if len(c.scan.Spans) == 1 && len(c.scan.Spans[0].Start) == 0 && len(c.scan.Spans[0].Stop) == 0 && !tableBound {
		return plan.FullScan // the ranges cover all keys
	}
	return plan.RangeScan
}

// price estimates the cost of reading, in rows. Bound leading parts reduce the rows that are read; each span costs a round
// trip.
func (c *candidate) price(req *Request) float64 {
	// The size of the table is unknown: the figures only rank the layouts. Each bound part divides the number of rows
	// by narrowed; a range with one open end divides it by open. A full scan is more expensive than any range.
	const tableRows, narrowed, open, trip, full = 1e6, 30, 3, 2, 1e9
	cost := 0.0
	rows := 0.0
	switch c.scan.Access {
	case plan.Empty:
		return 0
	case plan.Get:
		rows = float64(len(c.scan.Spans))
	case plan.SkipScan, plan.HopScan:
		rows = tableRows / narrowed
		cost = full / 10
	case plan.FullScan:
		rows = tableRows
		cost = full
	default:
		for _, s := range c.spans {
			r := tableRows
			for i, p := range c.scan.Layout.Key.Parts[:s.bound] {
				switch {
				case p.Literal != nil:
				case i+1 == s.bound && s.openAtAnEnd(p):
					r /= open
				default:
					r /= narrowed
				}
			}
			if s.Key {
				r = 1
			}
			rows += max(r, 1)
		}
	}
	if n := req.first(); n >= 0 && len(req.OrderBy) > 0 && c.scan.Order != plan.NoOrder && len(c.residual) == 0 && n < rows {
		cost, rows = 0, n // only the first rows are read
	}
	cost += rows + trip*float64(len(c.scan.Spans))
	if c.scan.Entries {
		cost += 3 * rows // each row is looked up in the primary layout
	}
	if len(req.OrderBy) > 0 && c.scan.Order == plan.NoOrder {
		cost += rows / 2
	}
	return cost
}
