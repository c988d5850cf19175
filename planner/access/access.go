package access

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
)

// Scan finds the best way to read req.Table: see the package comment. It provides req.OrderBy if its Order is not NoOrder; otherwise
// the caller sorts. It applies req.Limit only where the order, if any, is provided.
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
	req.columns = columns{req.Table, partsNamed(req.Table, req.Conjuncts)}
	x := boxMaker{env: e, columns: req.columns}
	terms := meanings(req.Conjuncts, req.columns)
	boxes, capped := x.conjunction(terms)
	if e.Options.NoKey && len(boxes) > 0 {
		boxes = []box{x.all()}
	}
	var best *candidate
	var all []*candidate
	var left []plan.Candidate
	for _, l := range req.Table.Layouts {
		if !eligible(l, req) {
			continue
		}
		if lost := req.lost(l); len(lost) > 0 {
			if l.Name == req.Layout {
				return nil, parser.Errorf(parser.NoPos, "INDEX %s cannot answer this: rows in which %s is NULL are not in it", l.Name, lost[0]).
					WithHint("add %s IS NOT NULL", lost[0])
			}
			left = append(left, plan.Candidate{Layout: l.Name, Lost: lost[0]})
			continue
		}
		c := e.candidate(l, req, terms, boxes, narrow)
		if len(req.OrderBy) > 0 && !req.Unmerged && c.scan.Order == plan.NoOrder && c.scan.Access != plan.Empty && !e.Options.NoOrder {
			if m := e.candidate(l, req, terms, boxes, inOrder); m.scan.Order != plan.NoOrder && len(m.scan.Spans) <= maxMerged {
				c = m
			}
		}
		c.scan.CapHit = c.scan.CapHit || capped
		all = append(all, c)
		if best == nil || c.cost < best.cost {
			best = c
		}
	}
	if best == nil && req.past() && slices.ContainsFunc(req.Table.Layouts, func(l *catalog.Layout) bool { return l.Name == req.Layout }) {
		return nil, parser.Errorf(parser.NoPos, "FOR SYSTEM_TIME cannot use layout %q of table %q: it holds rows only where they stand now", req.Layout, req.Table.Name)
	}
	if best == nil {
		return nil, parser.Errorf(parser.NoPos, "table %q has no layout %q", req.Table.Name, req.Layout).
			WithHint("layouts: %s", layoutNames(req.Table))
	}
	figured := false
	if e.Statistics != nil {
		if known := e.Statistics(req.Table); known != nil {
			if by := e.byFigures(req, terms, boxes, all, best, known); by != nil {
				best, figured = by, true
			}
		}
	}
	s := best.scan
	best.considered.Why = "chosen"
	s.Candidates = append(s.Candidates, best.considered)
	for _, c := range all {
		if c.scan.Layout == s.Layout {
			continue
		}
		if c.considered.Why = "costs more"; c.cost == best.cost {
			c.considered.Why = "costs the same"
		}
		s.Candidates = append(s.Candidates, c.considered)
	}
	s.Candidates = append(s.Candidates, left...)
	if !figured {
		best.finish(req)
	}
	return s, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func layoutNames(t *catalog.Table) string {
	var names []string
	for _, l := range t.Layouts {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}
