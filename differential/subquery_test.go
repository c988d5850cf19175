package differential

import "slices"

// inner draws FROM and WHERE of a sub-query inside s, and returns its scope.
func (g *gen) inner(s *scope, depth int) (string, *scope) {
	in := &scope{outer: s}
	from := g.item(in, 0)
	where := ""
	if g.IntN(4) > 0 {
		k := g.comparable()
		x, ok1 := g.column(&scope{sources: in.sources}, k)
		y, ok2 := g.column(s, g.near(k))
		if ok1 && ok2 && g.IntN(3) > 0 {
			where = x + g.pick(" = ", " = ", " = ", " < ", " >= ") + y
			if g.odds(2) {
				where += " AND " + g.condition(in, depth)
			}
		} else {
			where = g.condition(in, depth)
		}
		where = " WHERE " + where
	}
	return " FROM " + from + where, in
}

// near returns k or, for numbers, another kind that can be compared with it.
func (g *gen) near(k kind) kind {
	numbers := []kind{kInt, kDec, kDbl}
	if slices.Contains(numbers, k) && g.odds(3) {
		return numbers[g.IntN(3)]
	}
	return k
}

// scalar draws a query as a value: it has one row, or none.
func (g *gen) scalar(s *scope, k kind, depth int) string {
	rest, in := g.inner(s, min(depth, 1))
	own := &scope{sources: in.sources}
	x := g.expr(own, k, min(depth, 1))
	if _, ok := g.column(own, k); ok && g.odds(2) {
		x, _ = g.column(own, k)
	}
	switch {
	case k == kInt && g.odds(2):
		return "(SELECT COUNT(*)" + rest + ")"
	case k == kBool:
		return "(SELECT BOOL_OR(" + x + ")" + rest + ")"
	case k == kBytes || k == kTime && false:
		x, _ := g.column(own, k)
		if x == "" {
			x = g.constant(k)
		}
		return "(SELECT DISTINCT " + x + rest + " ORDER BY 1 LIMIT 1)"
	case g.odds(4):
		return "(SELECT " + x + rest + " ORDER BY 1" + g.pick("", " DESC", " NULLS FIRST") + " LIMIT 1" + g.pick("", " OFFSET 1") + ")"
	}
	return "(SELECT " + g.pick("MAX", "MIN") + "(" + x + ")" + rest + ")"
}

func (g *gen) quantified() string {
	return g.pick(" = ", " = ", " <> ", " < ", " <= ", " > ", " >= ") + g.pick("ANY ", "SOME ", "ALL ")
}

// existential draws EXISTS, IN, ANY or ALL of a query.
func (g *gen) existential(s *scope, x string, k kind, depth int) string {
	rest, in := g.inner(s, min(depth, 1))
	if g.odds(2) {
		return g.pick("", "", "NOT ") + "EXISTS (SELECT " + g.pick("1", "*", "NULL") + rest + ")"
	}
	own := &scope{sources: in.sources}
	y, ok := g.column(own, g.near(k))
	if !ok || g.odds(4) {
		y = g.expr(own, k, 1)
	}
	if l := g.comparable(); g.odds(3) { // of rows
		x, y = "("+x+", "+g.leaf(s, l)+")", y+", "+g.leaf(own, l)
	}
	op := g.pick(" IN ", " IN ", " NOT IN ")
	if g.odds(2) {
		op = g.quantified()
	}
	return x + op + "(SELECT " + y + rest + ")"
}
