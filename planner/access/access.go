package access

import (
	"slices"
	"sync"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
)

// Scan returns the best way to read req.Table (see the package comment). If its Order is not NoOrder, it returns rows in
// the order req.OrderBy; otherwise the caller must sort. It applies req.Limit only if it returns the rows in the wanted
// order, or if no order is wanted.
func (e *Env) Scan(req *Request) (_ *plan.Scan, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, ok := p.(stopped)
			if !ok {
				panic(p)
			}
			err = s.why
		}
	}()
	e.tick()
	req.columns = columns{table: req.Table, parts: partsNamed(req.Table, req.Conjuncts)}
	if e.Stop != nil {
		req.columns.tick = e.tick
	}
	x := boxMaker{env: e, columns: &req.columns}
	terms := termsOf(req.Conjuncts, &req.columns)
	boxes, capped := x.conjunction(terms)
	if e.Options.NoKey && len(boxes) > 0 {
		boxes = []box{x.all()}
	}
	all, left, err := e.candidates(req, terms, boxes)
	if err != nil {
		return nil, err
	}
	best := all[0]
	for _, c := range all {
		c.scan.CapHit = c.scan.CapHit || capped
		if c.cost < best.cost {
			best = c
		}
	}
	var known *stats.Table
	if e.Statistics != nil {
		known = e.Statistics(req.Table)
	}
	if known != nil {
		best = e.byFigures(req, terms, boxes, all, best, known)
	} else {
		best.finish(req)
	}
	if !best.scan.Access.HitsPrefix() {
		asked := *e
		best.scan.Advise = sync.OnceValue(func() string {
			asked.Stop, req.columns.tick = nil, nil // the statement may have ended when somebody asks
			return asked.advice(req, terms, boxes)
		})
	}
	best.chosen(all, left)
	if req.Repeated {
		best.scan.Repeated = e.repeated(req)
	}
	return best.scan, nil
}

// candidates returns a candidate for each layout that can answer req, at least one. left are the layouts that are left
// out because they lack rows of the answer.
func (e *Env) candidates(req *Request, terms []term, boxes []box) (all []*candidate, left []plan.Candidate, err error) {
	for _, l := range req.Table.Layouts {
		if !eligible(l, req) {
			continue
		}
		if e.denies(l, req) {
			left = append(left, plan.Candidate{Layout: l.Name, Why: "the user may not read it", Denied: true})
			continue
		}
		if out := req.outside(l, boxes); len(out) > 0 {
			if l.Name == req.Layout {
				return nil, nil, parser.Errorf(parser.NoPos, "INDEX %s cannot answer this: it has the rows with %s alone", l.Name, out[0]).WithHint("add %s", out[0])
			}
			left = append(left, plan.Candidate{Layout: l.Name, Lost: out[0] + " is not true"})
			continue
		}
		if lost := req.lost(l); len(lost) > 0 {
			if l.Name == req.Layout {
				return nil, nil, parser.Errorf(parser.NoPos, "INDEX %s cannot answer this: rows in which %s is NULL are not in it", l.Name, lost[0]).
					WithHint("add %s IS NOT NULL", lost[0])
			}
			left = append(left, plan.Candidate{Layout: l.Name, Lost: lost[0] + " is NULL"})
			continue
		}
		c := e.candidate(l, req, terms, boxes, narrow)
		if len(req.OrderBy) > 0 && !req.Unmerged && c.scan.Order == plan.NoOrder && c.scan.Access != plan.Empty && !e.Options.NoOrder {
			for how := inOrder; how == inOrder || how == inSteps && c.scan.Order == plan.NoOrder && req.first() >= 0; how++ {
				if m := e.candidate(l, req, terms, boxes, how); m.scan.Order != plan.NoOrder && len(m.scan.Spans) <= maxMerged {
					c = m
				}
			}
		}
		if len(boxes) > 1 && c.scan.Access == plan.FullScan && c.scan.Hop == nil { // (k = 5 OR v > 3) AND b = 3: a filter for b
			if m := e.candidate(l, req, terms, []box{hull(boxes)}, narrow); m.scan.Order == c.scan.Order && (m.hasPatterns() || m.scan.Hop != nil && !e.Options.NoPushdown && !req.NoPushdown) {
				c = m
			}
		}
		all = append(all, c)
	}
	switch {
	case len(all) > 0:
		return all, left, nil
	case req.past() && slices.ContainsFunc(req.Table.Layouts, func(l *catalog.Layout) bool { return l.Name == req.Layout }):
		return nil, nil, parser.Errorf(parser.NoPos, "FOR SYSTEM_TIME cannot use layout %q of table %q: it holds rows only under their current keys", req.Layout, req.Table.Name)
	}
	return nil, nil, parser.Errorf(parser.NoPos, "table %q has no layout %q", req.Table.Name, req.Layout).
		WithHint("layouts: %s", layoutNames(req.Table))
}

// chosen records in c's scan the candidates that were considered, c first, with the reasons why the others were not
// chosen.
func (c *candidate) chosen(all []*candidate, left []plan.Candidate) {
	s := c.scan
	c.considered.Why = "chosen"
	s.Candidates = append(s.Candidates, c.considered)
	for _, o := range all {
		if o.scan.Layout == s.Layout {
			continue
		}
		if o.considered.Why = "costs more"; o.cost == c.cost {
			o.considered.Why = "costs the same"
		}
		s.Candidates = append(s.Candidates, o.considered)
	}
	s.Candidates = append(s.Candidates, left...)
}

func layoutNames(t *catalog.Table) string {
	return words.Join(t.Layouts, ", ", func(l *catalog.Layout) string { return l.Name })
}
