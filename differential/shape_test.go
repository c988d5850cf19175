package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/explain"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner"
)

// A shape is a query for which the planner has a rule: see planner/rules.go. One is drawn over tables t and u with the aliases x and y.
// a and b are columns of t, c and d of u; a and c can be compared, and usually a begins the key of t. all lists the columns of x.
type shape struct {
	name, text string
	ordered    bool // the order is that of all columns
}

var shapes = []shape{
	{"ORDER BY over FROM", "SELECT * FROM (SELECT {a} AS p, {b} AS q FROM {t} AS x WHERE {x}) AS s ORDER BY p{desc}, q{desc} LIMIT {n}", true},
	{"ORDER BY over UNION", "SELECT * FROM (SELECT {a} AS p FROM {t} AS x UNION ALL SELECT {c} FROM {u} AS y WHERE {y}) AS s ORDER BY p{desc} LIMIT {n}", true},
	{"min over FROM", "SELECT MIN(p), MAX(p) FROM (SELECT {a} AS p FROM {t} AS x WHERE {x} UNION ALL SELECT {c} FROM {u} AS y) AS s", false},
	{"condition over groups", "SELECT * FROM (SELECT {a} AS p, COUNT(*) AS n, MAX({b}) AS m FROM {t} AS x GROUP BY {a}) AS s WHERE p = {ka}", false},
	{"values into groups", "SELECT s.* FROM {u} AS y {left}JOIN (SELECT {a} AS p, COUNT(*) AS n, MAX({b}) AS m FROM {t} AS x GROUP BY {a}) AS s ON s.p = {c} WHERE {d} = {kd}", false},
	{"latest by sub-query", "SELECT {all} FROM {t} AS x WHERE {b} = (SELECT {max}({z.b}) FROM {t} AS z WHERE {z.a} = {a}) AND {x}", false},
	{"window with LIMIT", "SELECT {all}, ROW_NUMBER() OVER (ORDER BY {all}) AS r, LAG({a}) OVER (ORDER BY {all}) AS l FROM {t} AS x WHERE {x} ORDER BY {all} LIMIT {n}", true},
	{"ends of groups", "SELECT {a}, MIN({b}), MAX({b}), {maxby} FROM {t} AS x WHERE {x} GROUP BY {a}", false},
	{"first of an array", "SELECT {a}, (ARRAY_AGG({b} ORDER BY {b}{desc}))[1] FROM {t} AS x GROUP BY {a}", false},
	{"groups with LIMIT", "SELECT {a}, COUNT(*) FROM {t} AS x WHERE {x} GROUP BY {a} ORDER BY {a}{desc} LIMIT {n}", true},
	{"DISTINCT with LIMIT", "SELECT DISTINCT {a} FROM {t} AS x ORDER BY 1{desc} LIMIT {n}", true},
	{"DISTINCT ON", "SELECT DISTINCT ON ({a}) {all} FROM {t} AS x ORDER BY {a}{desc}, {b} DESC, {all}", false},
	{"NULLs at an end", "SELECT {all} FROM {t} AS x WHERE {k} ORDER BY {b}{desc}{nulls}, {all} LIMIT {n}", true},
	{"row_number", "SELECT * FROM (SELECT {all}, ROW_NUMBER() OVER (PARTITION BY {a} ORDER BY {b} DESC, {all}) AS r FROM {t} AS x) AS s WHERE r <= 2", false},
	{"semi-join", "SELECT {all} FROM {t} AS x WHERE {not}EXISTS (SELECT 1 FROM {u} AS y WHERE {c} = {a} AND {y})", false},
	{"semi-join, few", "SELECT {all} FROM {t} AS x WHERE {a} {not}IN (SELECT {c} FROM {u} AS y WHERE {d} = {kd})", false},
	{"semi-join with a range", "SELECT {all} FROM {u} AS y JOIN {t} AS x ON {a} = {c} WHERE {not}EXISTS (SELECT 1 FROM {t} AS z WHERE {z.a} = {c} AND {z.b} {cmp} {b})", false},
	{"sub-query by groups", "SELECT {c}, (SELECT COUNT(*) FROM {t} AS x WHERE {b} = {d'}) FROM {u} AS y", false},
	{"list of few values", "SELECT {all}, {d} FROM {t} AS x JOIN {u} AS y ON {a} = {c} WHERE {d} = {kd}", false},
	{"OR over layouts", "SELECT {all} FROM {t} AS x WHERE {a} = {ka} OR {b} = {kb}", false},
	{"LEFT JOIN reduced", "SELECT {all}, {c} FROM {u} AS y LEFT JOIN {t} AS x ON {a} = {c} WHERE {a} = {ka}", false},
	{"FULL JOIN reduced", "SELECT {all}, {c} FROM {u} AS y FULL JOIN {t} AS x ON {a} = {c} WHERE {a} = {ka} AND {y}", false},
	{"FULL JOIN USING", "SELECT p, q, r FROM (SELECT {a} AS p, {b} AS q FROM {t} AS x) AS l FULL JOIN (SELECT {c} AS p, {d} AS r FROM {u} AS y) AS m USING (p) WHERE p = {ka}", false},
	{"FULL JOIN USING, first", "SELECT p FROM (SELECT {a} AS p FROM {t} AS x) AS l FULL JOIN (SELECT {c} AS p FROM {u} AS y) AS m USING (p) ORDER BY p{desc} LIMIT {n}", true},
	{"equalities", "SELECT {all}, {c} FROM {u} AS y JOIN {t} AS x ON {a} = {c} WHERE {c} = {ka}", false},
	{"LATERAL", "SELECT {c}, l.* FROM {u} AS y {left}JOIN LATERAL (SELECT {all} FROM {t} AS x WHERE {a} = {c} AND {x}) AS l ON TRUE", false},
	{"LATERAL with aggregates", "SELECT {c}, l.* FROM {u} AS y {left}JOIN LATERAL (SELECT COUNT(*) AS n, MAX({b}) AS m, COUNT({b}) * 2 + 1 AS k FROM {t} AS x WHERE {a} = {c} AND {x}) AS l ON {on} WHERE {y}", false},
	{"LATERAL with groups", "SELECT {c}, l.* FROM {u} AS y {left}JOIN LATERAL (SELECT {b} AS b, COUNT(*) AS n FROM {t} AS x WHERE {c} = {a} GROUP BY {b}) AS l ON {on}", false},
	{"LATERAL with LIMIT", "SELECT {c}, l.* FROM {u} AS y {left}JOIN LATERAL (SELECT {all} FROM {t} AS x WHERE {a} = {c} AND {x} ORDER BY {b}{desc}, {all} LIMIT {n}{skip}) AS l ON {y}", false},
	{"join in order", "SELECT {c}, {a}, {b} FROM {u} AS y JOIN {t} AS x ON {a} = {c} WHERE {d} {cmp} {kd} ORDER BY {a}{desc}, {c}, {b} LIMIT {n}", true},
	{"look-up in a union", "SELECT {c}, s.* FROM {u} AS y {left}JOIN (SELECT {a} AS p, {b} AS q FROM {t} AS x WHERE {x} UNION ALL SELECT {a}, {b} FROM {t} AS x) AS s ON s.p = {c} WHERE {y}", false},
	{"ends of groups of a union", "SELECT p, MIN(q), MAX(q) FROM (SELECT {a} AS p, {b} AS q FROM {t} AS x WHERE {x} UNION ALL SELECT {a}, {b} FROM {t} AS x) AS s GROUP BY p", false},
	{"DISTINCT of a union", "SELECT DISTINCT p FROM (SELECT {a} AS p FROM {t} AS x WHERE {x} UNION ALL SELECT {c} FROM {u} AS y WHERE {y}) AS s", false},
	{"row_number of a union", "SELECT * FROM (SELECT s.*, ROW_NUMBER() OVER (PARTITION BY p ORDER BY q{desc}) AS r FROM (SELECT {a} AS p, {b} AS q FROM {t} AS x UNION ALL SELECT {a}, {b} FROM {t} AS x WHERE {x}) AS s) AS o WHERE r <= 2", false},
	{"named query for each row", "WITH w AS (SELECT {a} AS p, {b} AS q FROM {t} AS x WHERE {x} UNION ALL SELECT {a}, {b} FROM {t} AS x) SELECT {c}, (SELECT {max}(q) FROM w WHERE p = {c}) FROM {u} AS y", false},
	{"named query twice", "WITH w AS (SELECT {a} AS p, COUNT(*) AS n, MAX({b}) AS m FROM {t} AS x WHERE {x} GROUP BY {a}) SELECT v.*, w.n FROM w AS v {left}JOIN w ON w.p = v.p AND w.n {cmp} 2 WHERE v.p = {ka}", false},
	{"semi-join with a union", "SELECT {c} FROM {u} AS y WHERE {not}EXISTS (SELECT 1 FROM (SELECT {a} AS p, {b} AS q FROM {t} AS x WHERE {x} UNION ALL SELECT {a}, {b} FROM {t} AS x) AS s WHERE p = {c})", false},
	{"look-up in groups", "SELECT {c}, s.* FROM {u} AS y {left}JOIN (SELECT {a} AS p, COUNT(*) AS n, MIN({b}) AS m FROM {t} AS x WHERE {x} GROUP BY {a}) AS s ON s.p = {c} AND n {cmp} 2", false},
	{"range of a join", "SELECT {all}, {c} FROM {u} AS y {left}JOIN {t} AS x ON {a} >= {c} AND {a} < {z.c}", false},
}

// shape draws a query of a shape; nil if the drawn tables have no columns for it.
func (g *gen) shape() (of shape, c *call) {
	g.start()
	g.params, g.plain = false, true
	of = shapes[g.IntN(len(shapes))]
	t, u := g.tables[g.IntN(len(g.tables))], g.tables[g.IntN(len(g.tables))]
	if t.past != "" || u.past != "" {
		return of, nil
	}
	ordered := func(c column) bool { return c.kind != kJSON && c.kind != kBool && c.kind != kBytes }
	a := slices.IndexFunc(t.columns, func(c column) bool { return ordered(c) && (c.key || g.odds(8)) })
	if a < 0 || slices.ContainsFunc(t.columns, func(c column) bool { return !ordered(c) && c.kind != kBool && c.kind != kBytes }) {
		return of, nil
	}
	b := g.IntN(len(t.columns))
	for i, c := range t.columns {
		if i > a && c.key && ordered(c) && g.IntN(3) > 0 {
			b = i
			break
		}
	}
	others := g.Perm(len(u.columns))
	same := slices.IndexFunc(others, func(i int) bool { return u.columns[i].kind == t.columns[a].kind })
	if same < 0 || !ordered(t.columns[b]) {
		return of, nil
	}
	cc, d := u.columns[others[same]], u.columns[g.IntN(len(u.columns))]
	if !ordered(d) {
		return of, nil
	}
	beside := slices.IndexFunc(u.columns, func(c column) bool { return c.kind == t.columns[b].kind })
	if strings.Contains(of.text, "{d'}") && beside < 0 {
		return of, nil
	}
	value := func(t *table, i int) string {
		if len(t.rows) > 0 && g.IntN(4) > 0 {
			return t.rows[g.IntN(len(t.rows))][i].literal()
		}
		return someValue(g.Rand, t.columns[i].kind).literal()
	}
	var all []string
	for _, c := range t.columns {
		all = append(all, "x."+c.name)
	}
	condition := func(alias string, t *table) string {
		if g.odds(2) {
			return "TRUE"
		}
		return g.condition(&scope{sources: []source{{alias, t.columns, t}}}, 1)
	}
	x, y := t.columns[a].name, t.columns[b].name
	with := []string{"{t}", t.Name, "{u}", u.Name, "{a}", "x." + x, "{b}", "x." + y, "{c}", "y." + cc.name, "{d}", "y." + d.name, "{z.a}", "z." + x, "{z.b}", "z." + y,
		"{z.c}", "y." + cc.name, "{all}", strings.Join(all, ", "), "{ka}", value(t, a), "{kb}", value(t, b), "{kd}", value(u, slices.IndexFunc(u.columns, func(c column) bool { return c.name == d.name })),
		"{desc}", g.pick("", " DESC"), "{nulls}", g.pick("", " NULLS FIRST", " NULLS LAST"), "{k}", g.pick("TRUE", "x."+x+" = "+value(t, a)), "{left}", g.pick("", "LEFT "), "{not}", g.pick("", "NOT "), "{max}", g.pick("MAX", "MIN"), "{cmp}", g.pick("<", ">", ">=", "<="), "{n}", fmt.Sprint(1 + g.IntN(5)),
		"{maxby}", dialect("MAX_BY(x."+y+", x."+y+")", "MAX(x."+y+")"), "{x}", condition("x", t), "{y}", condition("y", u), "{on}", g.pick("TRUE", "TRUE", "n > 1", "n < 2"), "{skip}", g.pick("", " OFFSET 1")}
	if beside >= 0 {
		with = append(with, "{d'}", "y."+u.columns[beside].name)
	}
	return of, &call{text: strings.NewReplacer(with...).Replace(of.text), ordered: of.ordered, risky: true, pieces: g.pieces, approx: g.approx}
}

// shaped compares a query of a shape, and counts whether a rule has changed its plan.
func (w *world) shaped(g *gen) {
	w.t.Helper()
	of, c := g.shape()
	if c == nil {
		return
	}
	w.compare(w.dbs[g.IntN(len(w.dbs))], c, nil)
	sql, _ := c.forHQL()
	cat := catalog.New()
	for _, t := range w.tables {
		if cat.Load(strings.Join(t.Create, ";\n")) != nil {
			return
		}
	}
	plan := func(o planner.Options) string {
		s, err := parser.ParseStatement(sql)
		if err != nil {
			return ""
		}
		p, err := (&planner.Env{Catalog: cat, Options: o}).Select(s.(*parser.Select))
		if err != nil {
			return ""
		}
		return explain.String(p)
	}
	if w.fig["shapes"]++; plan(planner.Options{}) != plan(planner.Options{NoRules: true, NoSkip: true}) {
		w.fig["rules for "+of.name]++
	}
}
