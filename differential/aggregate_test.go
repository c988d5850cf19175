package differential

import (
	"fmt"
	"regexp"
	"strings"
)

// namesColumn finds a column under an alias.
var namesColumn = regexp.MustCompile(`\bt\d+\.`)

// onlyColumn matches an expression that is only a column.
var onlyColumn = regexp.MustCompile(`^\(?t\d+\."?\w+"?\)?$`)

// aggregate draws an aggregate over s and returns its kind.
func (g *gen) aggregate(s *scope) (string, kind) {
	k := g.comparable()
	x := g.expr(s, k, 1)
	filter := ""
	if g.odds(4) {
		filter = " FILTER (WHERE " + g.condition(s, 1) + ")"
	}
	distinct := g.pick("", "", "DISTINCT ")
	switch g.IntN(15) {
	case 12: // PostgreSQL has none of these
		c := someValue(g.Rand, g.kindOf(kInt, kText, kDate))
		return dialect("ANY_VALUE", "MAX") + "(" + c.literal() + ")" + filter, c.kind
	case 13:
		g.approx = true
		p, y := g.pick("0", "0.3", "0.5", "1"), g.bounded(s, 1)
		of := "PERCENTILE_CONT(" + p + ") WITHIN GROUP (ORDER BY " + y + ")" + filter
		if p == "0.5" {
			of = dialect("MEDIAN("+y+")"+filter, of)
		}
		return of, kDbl
	case 14:
		y := "COALESCE(" + g.expr(s, kInt, 1) + ", 0)"
		own := "CASE WHEN " + y + " > 2 THEN 'more' ELSE " + quote(g.pick("", "a")) + " END" // the same of all rows with one y
		by, desc := "MAX_BY", " DESC"
		if g.odds(2) {
			by, desc = "MIN_BY", ""
		}
		return dialect(by+"("+own+", "+y+")", "(ARRAY_AGG("+own+" ORDER BY "+y+desc+")") + filter + dialect("", ")[1]"), kText
	case 9:
		// Rounded, because the digits of a root depend on those of the values, and hql's quotients have no trailing zeros.
		return "ROUND(" + g.pick("STDDEV", "STDDEV_POP", "VARIANCE", "VAR_POP") + "(" + distinct + g.sized(s, 1) + ")" + filter + ", 4)", kDec
	case 10:
		f := g.pick("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_R2", "REGR_SXX", "REGR_SXY", "REGR_SYY", "REGR_AVGX", "REGR_AVGY", "REGR_INTERCEPT", "REGR_COUNT")
		// Of small numbers: the last digits of a large DOUBLE, which differ, would be before the point or close after it.
		return "CAST(" + f + "(" + g.bounded(s, 1) + " % 1000, " + g.bounded(s, 1) + " % 1000)" + filter + " AS DECIMAL(20, 4))", kDec
	case 11:
		n := g.expr(s, kInt, 1)
		switch g.IntN(3) {
		case 0:
			return g.pick("BIT_AND", "BIT_OR", "BIT_XOR") + "(" + n + ")" + filter, kInt
		case 1:
			return "PERCENTILE_DISC(" + g.pick("0", "0.25", "0.5", "1") + ") WITHIN GROUP (ORDER BY " + n + ")" + filter, kInt
		}
		return "MODE() WITHIN GROUP (ORDER BY " + n + g.pick("", " DESC") + ")" + filter, kInt
	case 0:
		return "COUNT(*)" + filter, kInt
	case 1, 2:
		return "COUNT(" + distinct + x + ")" + filter, kInt
	case 3, 4:
		if k != kBool && k != kBytes {
			return g.pick("MIN", "MAX") + "(" + x + ")" + filter, k
		}
		return g.pick("BOOL_AND", "BOOL_OR", "EVERY") + "(" + g.condition(s, 1) + ")" + filter, kBool
	case 5:
		return "SUM(" + distinct + "CAST(" + g.bounded(s, 1) + " AS BIGINT))" + filter, kDec
	case 6:
		return g.pick("SUM(", "AVG(") + distinct + g.sized(s, 1) + ")" + filter, kDec
	case 7:
		t := g.expr(s, kText, 1)
		return "STRING_AGG(" + t + ", ',' ORDER BY " + t + g.pick("", " DESC") + ")" + filter, kText
	}
	return "AVG(" + distinct + g.bounded(s, 1) + ")" + filter, kDec
}

// elements draws an aggregate that collects values in order in a JSON array.
func (g *gen) elements(s *scope, of []kind) string {
	x := g.expr(s, g.kindOf(of...), 1)
	filter := ""
	if g.odds(4) {
		filter = " FILTER (WHERE " + g.condition(s, 1) + ")"
	}
	name := g.pick("JSON_AGG", "JSONB_AGG", "ARRAY_AGG")
	all := name + "(" + g.pick("", "DISTINCT ") + x + " ORDER BY " + x + g.pick("", "", " DESC", " NULLS FIRST") + ")" + filter
	if name == "ARRAY_AGG" {
		return "TO_JSON(" + all + ")"
	}
	return all
}

// everyColumn names the columns of s's own sources; nil if one of them has no order.
func everyColumn(s *scope) []string {
	var out []string
	for _, src := range s.sources {
		for _, c := range src.columns {
			if c.kind == kJSON {
				return nil
			}
			out = append(out, src.alias+"."+c.name)
		}
	}
	return out
}

// window draws a window function over s and returns its kind. If rows may be equal in the order, the function gives the
// same value for all of them.
func (g *gen) window(s *scope) (string, kind) {
	own := &scope{sources: s.sources}
	var partition, order []string
	for range g.IntN(3) {
		partition = append(partition, g.expr(own, g.comparable(), 1))
	}
	for range g.IntN(3) {
		order = append(order, g.expr(own, g.comparable(), 1)+g.pick("", "", " DESC", " NULLS FIRST", " DESC NULLS LAST"))
	}
	all := everyColumn(s)
	total := all != nil && g.odds(2)
	if total {
		order = append(order, strings.Join(all, ", "))
	}
	number := g.bounded(own, 1)
	frames := []string{""}
	if len(order) > 0 {
		frames = append(frames, "", " GROUPS BETWEEN 1 PRECEDING AND 2 FOLLOWING", " GROUPS BETWEEN 2 FOLLOWING AND 3 FOLLOWING", " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")
	}
	if total {
		frames = append(frames, " ROWS 2 PRECEDING", " ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING")
	}
	frame := g.pick(frames...)
	if g.odds(6) {
		order, total = []string{number + g.pick("", " DESC")}, false
		frame = fmt.Sprintf(" RANGE BETWEEN %d PRECEDING AND %d FOLLOWING", g.IntN(9), g.IntN(9))
	}
	over := " OVER ("
	if partition != nil {
		over += "PARTITION BY " + strings.Join(partition, ", ")
	}
	if order != nil {
		over += " ORDER BY " + strings.Join(order, ", ")
	}
	over += frame + ")"
	if g.odds(4) {
		name := fmt.Sprintf("win%d", len(g.windows))
		g.windows = append(g.windows, name+" AS ("+strings.TrimPrefix(over, " OVER ("))
		over = " OVER " + name
	}
	k := g.comparable()
	x := g.expr(own, k, 1)
	if total {
		switch g.IntN(4) {
		case 0:
			return g.pick("ROW_NUMBER()", "NTILE(3)") + over, kInt
		case 1:
			return g.pick("LAG(", "LEAD(") + x + g.pick("", ", 2", ", 0") + ")" + over, k
		case 2:
			return g.pick("FIRST_VALUE("+x+")", "LAST_VALUE("+x+")", "NTH_VALUE("+x+", 2)") + over, k
		}
	}
	switch g.IntN(5) {
	case 4:
		return g.pick("CUME_DIST()", "PERCENT_RANK()") + over, kDbl
	case 0:
		return g.pick("RANK()", "DENSE_RANK()") + over, kInt
	case 1:
		return g.pick("COUNT(*)", "COUNT("+x+")") + over, kInt
	case 2:
		if k != kBool && k != kBytes {
			return g.pick("MIN", "MAX") + "(" + x + ")" + over, k
		}
	}
	return "SUM(CAST(" + number + " AS BIGINT))" + over, kDec
}

// overGroups draws an expression with a window function over groups.
func (g *gen) overGroups(s *scope, groups []string) string {
	by := []string{"COUNT(*)"}
	if len(groups) > 0 {
		by = append(by, groups...)
	}
	x := g.pick("SUM(COUNT(*))", "MAX(COUNT(*))", "RANK()", "DENSE_RANK()") + " OVER (" + g.pick("", "PARTITION BY "+g.pick(by...)+" ") + "ORDER BY " + strings.Join(by, ", ") + ")"
	return "CAST(" + g.pick("1 + ", "- ", "COUNT(*) - ", "2 * ") + x + " AS BIGINT)"
}

// groupingSets draws a GROUP BY of sets that contain each of these expressions.
func (g *gen) groupingSets(groups []string) string {
	set := func() string {
		var out []string
		for _, x := range groups {
			if g.odds(2) {
				out = append(out, x)
			}
		}
		return "(" + strings.Join(out, ", ") + ")"
	}
	all := strings.Join(groups, ", ")
	switch g.IntN(6) {
	case 0:
		return "ROLLUP (" + all + ")"
	case 1:
		return "CUBE (" + all + ")"
	case 2:
		return g.pick("", "DISTINCT ") + "ROLLUP (" + all + "), CUBE (" + g.pick(groups...) + ")"
	case 3:
		return groups[0] + ", ROLLUP (" + all + ")"
	case 4:
		return "GROUPING SETS (" + set() + ", ROLLUP (" + all + "), " + set() + ")"
	}
	return "GROUPING SETS (" + set() + ", (" + all + "), " + set() + ")"
}
