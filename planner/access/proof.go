package access

import (
	"slices"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// prove separates the conjuncts that every span implies from the residual.
func (c *candidate) prove(terms []term) {
	implies := func(p proof) bool {
		for i := range c.spans {
			if !p.holds(&c.spans[i]) {
				return false
			}
		}
		return true
	}
	// together is true for a column if a single check of the spans proves all terms that are exact for this column. To
	// prove many terms one by one is slow.
	var together map[int]bool
	if len(terms) > 8 {
		together = map[int]bool{}
		sets := map[int][]types.Set{}
		for _, t := range terms {
			if t.exact() {
				sets[t.is.Col] = append(sets[t.is.Col], t.is.Set)
			}
		}
		for col, s := range sets {
			together[col] = implies(proof{col: col, set: types.IntersectAll(s), sarg: true})
		}
	}
	c.fates = make([]plan.Fate, 0, len(terms))
	for i := range terms {
		t := &terms[i]
		c.builder.env.tick()
		if t.exact() && together[t.is.Col] || c.given(&t.is) || implies(newProof(&t.is, c.builder.columns)) {
			c.fates = append(c.fates, plan.Fate{Expr: t.Expr, By: plan.ByKey})
			continue
		}
		c.residual, c.solved = append(c.residual, t.Expr), append(c.solved, &t.is)
		c.fates = append(c.fates, plan.Fate{Expr: t.Expr})
	}
}

// given reports whether all rows of c's layout satisfy the Constraint (of): it only excludes the NULLs of a column, and
// the layout is an INDEX without rows in which this column is NULL.
func (c *candidate) given(of *solve.Constraint) bool {
	return of.Kind == solve.One && of.Exact && of.Set.IsAll() &&
		slices.ContainsFunc(c.scan.Layout.Sparse, func(x *catalog.Column) bool { return x.Index == of.Col })
}

// proof is a predicate, prepared to be proved for many spans.
type proof struct {
	col int
	set types.Set // the predicate is true exactly for these values of col; nil for other predicates
	all []proof   // AND
	any []proof   // OR
	// likely is the index of the term of any, or of the interval of set, to try first. It is the one that proved the
	// previous span: spans are sorted, so neighbours usually have the same proof.
	likely int
	sarg   bool
	truth  bool
}

func newProof(of *solve.Constraint, c *columns) proof {
	var p proof
	each := make([]proof, len(of.Of))
	for i := range of.Of {
		each[i] = newProof(&of.Of[i], c)
	}
	switch of.Kind {
	case solve.All:
		p.all, p.truth = each, len(each) == 0
	case solve.Any, solve.Either:
		p.any = each
	case solve.One:
		p.col, p.set, p.sarg = of.Col, of.Set, of.Exact
		p.truth = of.Exact && of.Set.IsAll() && (of.Null || c.NotNull(of.Col))
	}
	return p
}

// holds reports whether the predicate is true in every row of s.
func (p *proof) holds(s *keySpan) bool {
	if p.truth {
		return true
	}
	if p.sarg {
		if known := s.proven.of(p.col); known != nil {
			for k := range min(2, len(p.set)) { // the interval of the previous span, which is the same with another salt, or the next interval
				if n := (p.likely + k) % len(p.set); known.SubsetOf(p.set[n : n+1]) {
					p.likely = n
					return true
				}
			}
			if known.SubsetOf(p.set) {
				return true
			}
		}
	}
	for k := range p.any {
		i := (p.likely + k) % len(p.any)
		if p.any[i].holds(s) {
			p.likely = i // several consecutive spans may come from one term
			return true
		}
	}
	if len(p.all) == 0 {
		return false
	}
	for i := range p.all {
		if !p.all[i].holds(s) {
			return false
		}
	}
	return true
}
