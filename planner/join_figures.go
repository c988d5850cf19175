package planner

import (
	"fmt"
	"slices"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/estimate"
	"github.com/hql-db/hql/planner/plan"
)

// clearly is a fraction of the cost of the join that the rules chose: another join is chosen if it costs less than this
// fraction. It is less than 1 because estimates are inexact.
const clearly = 0.9

// figured reports whether statistics may choose the join of f: all of its tables have statistics, and all rows are wanted.
// If only a few rows are wanted, the rules know better which join returns the first ones early.
func (q *query) figured(f *from) bool {
	return !slices.ContainsFunc(f.srcs, func(s *source) bool { return !q.known(s) })
}

// known reports whether statistics may decide how s is joined: s has statistics, and all rows of the result are wanted.
func (q *query) known(s *source) bool {
	return q.env.Statistics != nil && !q.few && q.outer == nil && s.table != nil && q.env.Statistics(s.table) != nil
}

// estimator returns the estimator of the steps of q's plan.
func (q *query) estimator() *estimate.Estimator {
	if q.estimates == nil {
		q.estimates = estimate.New(q.env.Statistics)
	}
	return q.estimates
}

// byFigures chooses between look-ups by key, of which sample is one, and reading the right side once (whole). usual reports
// whether the rules chose the look-ups. It returns false if the statistics do not determine both costs.
func (q *query) byFigures(j *plan.Join, sample, whole *plan.Scan, lookup *plan.Lookup, usual bool) bool {
	byKey := *j
	byKey.Right, byKey.Lookup = sample, lookup
	once, each := q.estimator().Node(j), q.estimator().Node(&byKey)
	if once == nil || each == nil {
		return false
	}
	looks := usual
	switch {
	case usual && once.Cost < clearly*each.Cost && q.mayRead(whole):
		looks = false
	case !usual && each.Cost < clearly*once.Cost:
		looks = true
	}
	left := q.estimator().Node(j.Left)
	const hashed, looked = "read once and hashed", "by key for the rows on its left"
	scan, other, how := *whole, sample, looked
	mine, not := once, each
	if looks {
		scan, other, how = *sample, whole, hashed
		mine, not = each, once
	}
	own := without(*mine, left)
	scan.Estimate = &own
	a := plan.Alternative{Layout: other.Layout.Name, Access: other.Access, How: how, Estimate: without(*not, left), Why: dearer(not.Cost, mine.Cost)}
	if looks == usual && not.Cost < mine.Cost {
		a.Why = "costs hardly less than what is usual"
		if not.Cost < clearly*mine.Cost {
			a.Why = "nobody has allowed to read the whole table"
		}
	}
	if looks != usual {
		a.Why += ": it is what is done without statistics"
		scan.Cheaper = scan.Access == plan.FullScan
	}
	scan.Alternatives = append(slices.Clip(scan.Alternatives), a)
	if j.Right = &scan; looks {
		j.Lookup = lookup
	}
	return true
}

// mayRead reports whether the policy allows choosing s instead of the access that the rules chose.
func (q *query) mayRead(s *plan.Scan) bool {
	return s.Access != plan.FullScan || q.env.MayReadAll == nil || q.env.MayReadAll(s)
}

// without returns a without the reads of b.
func without(a plan.Estimate, b *plan.Estimate) plan.Estimate {
	if b != nil {
		a.Rows, a.Bytes, a.RPCs, a.Cost = max(0, a.Rows-b.Rows), max(0, a.Bytes-b.Bytes), max(0, a.RPCs-b.RPCs), max(0, a.Cost-b.Cost)
	}
	return a
}

func dearer(cost, than float64) string {
	if cost > 1.05*than {
		return fmt.Sprintf("costs %.3g times as much", cost/max(than, 1))
	}
	return "costs about the same"
}

// cheapest returns the plan of inner joins with the lowest estimated cost: usual, or one that begins with another source.
func (q *query) cheapest(usual plan.Node, f *from, conds []expr.Expr, used []bool, h hints) (plan.Node, error) {
	known := q.estimator().Node(usual)
	if known == nil || slices.Contains(f.outer, true) {
		return usual, nil
	}
	whole := map[string]bool{} // tables that usual reads completely
	for _, s := range plan.Scans(usual) {
		whole[s.Table.Name] = whole[s.Table.Name] || s.Access == plan.FullScan
	}
	best, cost := usual, clearly*known.Cost
	reach := q.reach(f, conds, h)
	bound := func(i int, given []int) bool { return !reach(i, given).Wide() }
	for i := range f.srcs {
		n, _, err := q.inOrder(f, orderFrom(i, len(f.srcs), bound), conds, used, accessOrder{}, h)
		if err != nil {
			return nil, err
		}
		e := q.estimator().Node(n)
		if e == nil || e.Cost >= cost || slices.ContainsFunc(plan.Scans(n), func(s *plan.Scan) bool { return !whole[s.Table.Name] && !q.mayRead(s) }) {
			continue
		}
		best, cost = n, e.Cost
	}
	if best == usual {
		return best, nil
	}
	scans := plan.Scans(best)
	for _, s := range scans {
		s.Cheaper = s.Cheaper || s.Access == plan.FullScan && !whole[s.Table.Name]
	}
	first := plan.Scans(usual)[0]
	if scans[0].Estimate != nil {
		scans[0].Alternatives = append(scans[0].Alternatives, plan.Alternative{Layout: first.Layout.Name, Access: first.Access,
			How: "of " + first.Table.Name + " first, joined with the others", Estimate: *known, Why: dearer(known.Cost, cost) + ": it is what is done without statistics"})
	}
	return best, nil
}
