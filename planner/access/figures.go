package access

import (
	"fmt"
	"math"
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// clearly is a fraction of the cost of the access that the rules chose: another access is chosen if it costs less than
// this fraction. It is less than 1 because estimates are inexact.
const clearly = 0.9

// byFigures chooses the cheapest candidate or variant of one by statistics: with or without hops, with one range
// instead of many keys, with whole rows instead of the wanted columns. usual is the choice of the rules, and the result
// if its cost is unknown. All choices return the same rows. byFigures calls finish for each of them.
func (e *Env) byFigures(req *Request, terms []term, boxes []box, all []*candidate, usual *candidate, s *stats.Table) *candidate {
	var ways []*candidate
	for _, c := range all {
		for _, w := range append([]*candidate{c}, e.otherWays(c, req, terms, boxes)...) {
			w.finish(req)
			ways = append(ways, w)
			if whole := w.ofWholeRows(); whole != nil {
				ways = append(ways, whole)
			}
		}
	}
	best := usual
	known := ways[:0]
	for _, w := range ways {
		asRead := *w.scan
		if asRead.Access == plan.FullScan { // it would try hops; if they are worth it, it is a skip scan
			asRead.Hop = nil
		}
		est, ok := estimate.Scan(&asRead, s)
		if !ok {
			continue
		}
		est.At = s.At
		if len(req.OrderBy) > 0 && w.scan.Order == plan.NoOrder {
			est.Cost += estimate.Sorting(est.Rows)
		} else if n := req.first(); n >= 0 && n < est.Rows && !asRead.Limit.Set {
			est.Cost *= n / est.Rows
		}
		if w.scan.Access == plan.HopScan && e.knownFew(w.scan, w.scan.Hop.Parts) {
			w.scan.Access = plan.SkipScan
		}
		w.scan.Estimate = &est
		if known = append(known, w); est.Cost < best.estimated() && !e.forbidden(w, usual) {
			best = w
		}
	}
	if usual.scan.Estimate == nil {
		return usual
	}
	if best.estimated() > clearly*usual.estimated() {
		best = usual
	}
	best.askFirst()
	best.scan.Cuts = estimate.Cuts(best.scan, s, best.estimated())
	best.scan.Cheaper = best.scan.Access == plan.FullScan && usual.scan.Access != plan.FullScan
	for _, w := range known {
		if w == best {
			continue
		}
		a := plan.Alternative{Layout: w.scan.Layout.Name, Access: w.scan.Access, How: w.how, Estimate: *w.scan.Estimate}
		if a.Why = "costs about the same"; e.forbidden(w, usual) {
			a.Why = "nobody has allowed to read the whole table"
		} else if w.estimated() > 1.05*best.estimated() {
			a.Why = fmt.Sprintf("costs %.3g times as much", w.estimated()/max(best.estimated(), 1))
		} else if w.estimated() < best.estimated() {
			a.Why = "costs hardly less than what is usual"
		}
		if w == usual {
			a.Why += ": it is what is done without statistics"
		}
		best.scan.Alternatives = append(best.scan.Alternatives, a)
	}
	return best
}

// askFirst sets the number of rows to read first under a limit, if the client drops rows.
func (c *candidate) askFirst() {
	const spare = 1.25 // more rows than the average may be dropped
	if s := c.scan; s.Limit.Set && s.Residual != nil && s.Hop == nil && s.DistinctPrefix == 0 {
		if rows := math.Ceil(spare * s.Estimate.Rows); rows > float64(s.Limit.Rows) && rows < 1e6 {
			s.First = int64(rows)
		}
	}
}

// forbidden reports whether w would read a whole table without permission, while usual does not.
func (e *Env) forbidden(w, usual *candidate) bool {
	return w.scan.Access == plan.FullScan && usual.scan.Access != plan.FullScan && e.MayReadAll != nil && !e.MayReadAll(w.scan)
}

// estimated returns the estimated cost of c; an unknown cost is higher than any other.
func (c *candidate) estimated() float64 {
	if c.scan.Estimate == nil {
		return math.Inf(1)
	}
	return c.scan.Estimate.Cost
}

// WorthOneRange is the least number of keys or ranges for which the planner also considers a single range over all of
// them.
const WorthOneRange = 16

// otherWays returns variants of c that the rules do not consider.
func (e *Env) otherWays(c *candidate, req *Request, terms []term, boxes []box) (out []*candidate) {
	if c.scan.Access == plan.Empty {
		return nil
	}
	another := func(how string) *candidate {
		c.shared = true
		d, s := *c, *c.scan
		d.scan, d.how, d.fates = &s, how, slices.Clone(c.fates)
		out = append(out, &d)
		return &d
	}
	if c.scan.Hop != nil && c.scan.Access != plan.FullScan {
		d := another("without hops")
		if d.scan.Hop, d.hopped = nil, nil; d.scan.Access.Hops() {
			d.scan.Access = plan.FullScan
		}
	} else if hop, hopped := c.hop(); hop != nil && c.scan.Access != plan.Get {
		d := another("with hops")
		if d.scan.Hop, d.hopped = hop, hopped; d.scan.Access == plan.FullScan {
			d.scan.Access = hopsOver(d.scan, hop.Parts)
		}
	}
	if c.scan.Reversed { // servers seek each row that they read backwards
		unordered := *req
		unordered.OrderBy = nil
		d := e.candidate(c.scan.Layout, &unordered, terms, boxes, narrow)
		c.how, d.how = "backwards", "forwards, then sorted"
		out = append(out, d)
	}
	if len(c.scan.Spans) >= WorthOneRange && !req.Table.MalformedKeyError && !c.scan.ListTables {
		if d := e.candidate(c.scan.Layout, req, terms, boxes, inOneRange); len(req.OrderBy) == 0 || d.scan.Order != plan.NoOrder || c.scan.Order == plan.NoOrder {
			d.how = "one range over all keys"
			out = append(out, d)
		}
	}
	return out
}

// ofWholeRows returns a variant of c, which is finished, that reads all cells of the rows instead of only the wanted
// columns. Sending a few more bytes can cost less than the filter of columns. It returns nil if c has no such filter.
func (c *candidate) ofWholeRows() *candidate {
	if c.scan.Fetch != plan.FetchFirst || c.scan.Entries || c.scan.Access == plan.Empty {
		return nil
	}
	d, s := *c, *c.scan
	s.Fetch = plan.FetchAll
	d.scan, d.how = &s, "of whole rows"
	if c.how != "" {
		d.how = c.how + ", of whole rows"
	}
	return &d
}

// oneRange returns one span for each HBase table that covers all of its spans. The span proves no predicate, so each row
// is checked.
func oneRange(spans []keySpan) []keySpan {
	merged, _ := mergeSpans(spans, true)
	var out []keySpan
	for _, s := range merged {
		stop := s.Stop
		if s.Key {
			stop = append(slices.Clone(s.Start), 0)
		}
		if n := len(out); n > 0 && out[n-1].Table == s.Table {
			out[n-1].Stop = stop
			continue
		}
		out = append(out, keySpan{Span: plan.Span{Table: s.Table, Start: s.Start, Stop: stop}, bound: 1})
	}
	return out
}

// coveredUses describes how one range over many keys uses the parts of l.
func coveredUses(l *catalog.Layout) []plan.PartUse {
	uses := partUses(l)
	if i := slices.IndexFunc(uses, func(u plan.PartUse) bool { return u.Use != plan.Literal }); i >= 0 {
		uses[i].Use = plan.Ranged
	}
	return uses
}
