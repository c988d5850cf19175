package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/planner/plan"
)

// partUses returns the uses of l's key parts before any condition is known.
func partUses(l *catalog.Layout) []plan.PartUse {
	out := make([]plan.PartUse, len(l.Key.Parts))
	for i, p := range l.Key.Parts {
		if out[i].Part = p; p.Literal != nil {
			out[i].Use = plan.Literal
		}
	}
	return out
}

// partUses describes how the chosen access of c uses the key's parts.
func (c *candidate) partUses() []plan.PartUse {
	w := c.builder
	uses := w.uses
	if c.shared {
		uses = slices.Clone(uses)
	}
	for i := range uses {
		switch u := &uses[i]; {
		case u.Use != plan.Unused:
		case i == w.stopPart:
			u.Why = w.stopWhy
		case i > 0 && uses[i-1].Use == plan.Ranged, i > 1 && uses[i-1].Use == plan.Literal && uses[i-2].Use == plan.Ranged:
			u.Why = "the prefix ends with the range before it"
		}
	}
	if !c.scan.Access.Wide() {
		if h := c.scan.Hop; h != nil {
			for i := range uses {
				if i < h.Parts && uses[i].Use == plan.Unused {
					skipped(uses[i : i+1])
				} else if i >= h.Parts && c.hopped[i].Use != plan.Unused {
					uses[i] = c.hopped[i]
				}
			}
		}
		return uses
	}
	for i, u := range uses { // the walk's result does not restrict the keys
		if u.Use != plan.Literal {
			uses[i] = plan.PartUse{Part: u.Part, Why: u.Why}
		}
	}
	if c.scan.Access.Hops() {
		n := c.scan.Hop.Parts
		skipped(uses[:n])
		for i := n; i < len(uses); i++ {
			if h := c.hopped[i]; h.Use != plan.Unused {
				uses[i] = h
			}
		}
	}
	return uses
}

// skipped marks the parts over whose values a scan hops.
func skipped(parts []plan.PartUse) {
	for i := range parts {
		if parts[i].Use != plan.Literal {
			parts[i].Use, parts[i].Why = plan.Skipped, ""
		}
	}
}

// why explains why the walk ends before p.
func (w *spanBuilder) why(p *catalog.Part, br *path) string {
	t := func(col int) string { return w.table.Columns[col].Name }
	if len(p.Columns) == 0 {
		if w.enumerable(p) {
			return "nothing binds the parts behind it"
		}
		return "its values cannot be computed or listed"
	}
	var free []string
	for _, col := range p.Columns {
		if br.sets.setOf(col).IsAll() {
			free = append(free, t(col))
		}
	}
	switch {
	case len(free) > 0:
		return "nothing binds " + strings.Join(free, ", ")
	case p.ManyScales():
		return "equal numbers of other scales have other bytes"
	case p.Order() == catalog.Unordered:
		return "its bytes are not in the order of " + t(p.Columns[0])
	case p.Monotone() != 0:
		return "the condition on " + t(p.Columns[0]) + " gives no range of its values"
	}
	several := p.Columns[0]
	for _, col := range p.Columns {
		if s := br.sets.setOf(col); len(s) != 1 || !s[0].IsPoint() {
			several = col
			break
		}
	}
	return "a range of " + t(several) + " is not a range of this part"
}

// whyNotKey explains why the key does not decide predicate e; is is the Constraint of e.
func (w *spanBuilder) whyNotKey(e expr.Expr, is *solve.Constraint, t *catalog.Table) string {
	cols := expr.Columns(e)
	for _, col := range cols {
		if col >= len(t.Columns) {
			return ""
		}
		if !t.Columns[col].KeyPart {
			if !slices.Contains(w.layout.KeyColumns(), col) {
				return fmt.Sprintf("%s is not in the key", t.Columns[col].Name)
			}
			if !w.layout.Holds(col) {
				return fmt.Sprintf("the key does not hold the value of %s", t.Columns[col].Name)
			}
		}
	}
	if len(cols) > 1 {
		if in, ok := e.(*expr.In); ok && !in.Not && len(in.List) > 0 {
			one := &expr.In{Pos: in.Pos, X: in.X, List: in.List[:1]}
			if is.Kind == solve.Unknown && w.columns.solver().Solve(one).Kind != solve.Unknown {
				return "its list is too long to be compared column by column; a shorter one can"
			}
		}
		return "it is about several columns at once"
	}
	if len(cols) == 0 {
		return w.whyNoRange(e)
	}
	if set, null, exact := is.Column(cols[0]); (null || set.IsAll() && !exact) && !is.IsEverywhere() && !w.couldBind(is, cols[0]) {
		return w.whyNoRange(e)
	}
	narrowed, behind := false, false
	for i, p := range w.layout.Key.Parts {
		if !slices.Contains(p.Columns, cols[0]) {
			continue
		}
		use := w.uses[i].Use
		if i < w.stopPart && use == plan.Unused {
			return "the key's prefix ends with the range before it"
		}
		narrowed = narrowed || i < w.stopPart && use == plan.Bound
		behind = behind || i >= w.stopPart
	}
	has := func(p *catalog.Part) bool { return slices.Contains(p.Columns, cols[0]) }
	if of := w.layout.Packed; of != nil && slices.ContainsFunc(of.Parts, has) && !slices.ContainsFunc(w.layout.Key.Parts, has) {
		return fmt.Sprintf("%s is in the qualifier, not in the key", t.Columns[cols[0]].Name)
	}
	if w.stopPart < len(w.layout.Key.Parts) && (behind || !narrowed) {
		return fmt.Sprintf("the key is used up to %s", w.layout.Key.Parts[w.stopPart].Source)
	}
	return "the key narrows it, but not to exactly these rows"
}

// enumerable reports whether p has few possible values, independently of its columns.
func (w *spanBuilder) enumerable(p *catalog.Part) bool {
	dom, ok := p.Domain()
	if ok {
		_, ok = dom.Values(w.opt.MaxEnumerate)
	}
	return ok
}
