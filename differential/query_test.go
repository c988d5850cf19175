package differential

import (
	"fmt"
	"slices"
	"strings"
)

func (g *gen) newAlias() string {
	g.alias++
	return fmt.Sprintf("t%d", g.alias)
}

// hint returns a hint to put after SELECT, which only hql reads.
func (g *gen) hint(tables ...*table) string {
	if len(tables) == 1 && len(tables[0].hints) > 1 && g.odds(2) {
		return dialect("/*+ "+g.pick(tables[0].hints...)+" */ ", "")
	}
	if g.odds(20) {
		return dialect("/*+ NO_PUSHDOWN */ ", "")
	}
	return ""
}

// item draws a table of FROM and adds it to the scope.
func (g *gen) item(s *scope, depth int) string {
	alias := g.newAlias()
	switch n := g.IntN(12); {
	case n == 0 && depth > 0:
		q, cols := g.subquery(nil, depth-1)
		s.sources = append(s.sources, source{alias: alias, columns: cols})
		return "(" + q + ") AS " + alias + " (" + strings.Join(names(cols), ", ") + ")"
	case n == 1 && len(g.ctes) > 0:
		c := g.ctes[g.IntN(len(g.ctes))]
		s.sources = append(s.sources, source{alias: alias, columns: c.columns})
		return c.alias + " AS " + alias
	case n == 2 && depth > 0:
		q, cols := g.values(nil, nil)
		list := ""
		if g.odds(2) {
			for i := range cols {
				cols[i].name = fmt.Sprintf("v%d", i)
			}
			list = " (" + strings.Join(names(cols), ", ") + ")"
		}
		s.sources = append(s.sources, source{alias: alias, columns: cols})
		return "(" + q + ") AS " + alias + list
	case n == 3 && depth > 0:
		k := g.comparable()
		of := g.unnest(k, func() string { return g.constant(k) })
		if g.odds(3) {
			of, k = g.series()
		}
		s.sources = append(s.sources, source{alias: alias, columns: []column{{name: "v1", kind: k}}})
		return of + " AS " + alias + " (v1)"
	}
	if len(g.views) > 0 && g.odds(8) {
		v := g.views[g.IntN(len(g.views))]
		g.approx = g.approx || v.approx
		s.sources = append(s.sources, source{alias: alias, columns: v.columns})
		return v.name + " " + g.pick("", "AS ") + alias
	}
	t := g.tables[g.IntN(len(g.tables))]
	if depth > 0 && t.past == "" && g.odds(4) {
		return g.picked(s, t, alias)
	}
	s.sources = append(s.sources, source{alias, t.columns, t})
	if t.past != "" {
		return dialect(fmt.Sprintf(t.past, alias), pastName(t)+" AS "+alias)
	}
	return g.pick("", "", "public.") + t.Name + " " + g.pick("", "AS ") + alias
}

// values draws a VALUES list, of the kinds in as if there are some.
func (g *gen) values(outer *scope, as []kind) (string, []column) {
	g.term = nil
	if as == nil {
		for range 1 + g.IntN(3) {
			as = append(as, g.comparable())
		}
	}
	var cols []column
	for i, k := range as {
		cols = append(cols, column{name: fmt.Sprintf("column%d", i+1), kind: k})
	}
	var rows []string
	for range 1 + g.IntN(4) {
		var vs []string
		for _, k := range as {
			x := someValue(g.Rand, k).literal()
			if g.odds(4) {
				x = g.expr(&scope{outer: outer}, k, 1)
			}
			vs = append(vs, x)
		}
		rows = append(rows, "("+strings.Join(vs, ", ")+")")
	}
	return "VALUES " + strings.Join(rows, ", "), cols
}

// unnest draws an UNNEST of some elements, which are sometimes an argument.
func (g *gen) unnest(k kind, element func() string) string {
	if g.params && g.odds(3) {
		list := value{kind: k, list: []value{}}
		for range g.IntN(4) {
			list.list = append(list.list, someValue(g.Rand, k))
		}
		g.args = append(g.args, list)
		arg := fmt.Sprintf("\x15%d\x13", len(g.args)-1)
		return dialect("UNNEST(CAST("+arg+" AS "+hqlType[k]+"[]))", "("+arg+")")
	}
	var list []string
	for range g.IntN(4) {
		list = append(list, element())
	}
	typed := "::" + hqlType[k] + "[]"
	if len(list) > 0 {
		typed = g.pick("", typed)
	}
	return "UNNEST(ARRAY[" + strings.Join(list, ", ") + "]" + dialect(typed, "::"+pgType[k]+"[]") + ")"
}

// series draws a GENERATE_SERIES of a few rows. It has no intervals of days, because PostgreSQL's days are those of the
// session's zone.
func (g *gen) series() (string, kind) {
	from, step := g.IntN(9)-4, g.pick("1", "2", "-1", "3")
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("GENERATE_SERIES(%s, %s, %s)", integer(int64(from)).literal(), integer(int64(g.IntN(9)-4)).literal(), step), kInt
	case 1:
		return fmt.Sprintf("GENERATE_SERIES(%d.5, %d.0, %s.25)", from, g.IntN(9)-4, step), kDec
	}
	at := someDays[g.IntN(len(someDays))] * dayMillis
	return "GENERATE_SERIES(" + moment(at).literal() + ", " + moment(at+dayMillis).literal() + ", INTERVAL '" + g.pick("5 hours", "90 minutes", "1 hour") + "')", kTs
}

// view is a view in both databases.
type view struct {
	name    string
	columns []column
	define  string
	approx  bool
}

// view draws a view: over one table with chosen, computed and filtered columns, or over any query.
func (g *gen) view(name string) *view {
	g.start()
	g.params = false
	s := &scope{}
	q, columns := "", []column(nil)
	if g.IntN(3) > 0 {
		q = "SELECT * FROM " + g.picked(s, g.tables[g.IntN(len(g.tables))], g.newAlias())
		if columns = s.sources[0].columns; g.odds(2) {
			q += " WHERE " + g.condition(s, 1)
		}
	} else {
		q, columns = g.subquery(nil, 1)
	}
	columns = slices.Clone(columns)
	list := ""
	if g.odds(3) {
		for i := range columns {
			columns[i].name = fmt.Sprintf("y%d", i)
		}
		list = " (" + strings.Join(names(columns), ", ") + ")"
	}
	create := g.pick("CREATE VIEW ", "CREATE OR REPLACE VIEW ", "CREATE VIEW "+dialect("IF NOT EXISTS ", ""))
	return &view{name, columns, create + name + list + " AS " + q, g.approx}
}

// picked draws a query with chosen, computed and filtered columns of t, sometimes two nested ones.
func (g *gen) picked(s *scope, t *table, alias string) string {
	plain := g.plain
	g.plain = true
	defer func() { g.plain = plain }()
	from, inner := t.Name, source{g.newAlias(), t.columns, t}
	for range 1 + g.IntN(2) {
		own := &scope{sources: []source{inner}}
		var items []string
		var cols []column
		for i, c := range inner.columns {
			if g.odds(4) {
				continue
			}
			name := c.name
			if g.odds(3) {
				name = fmt.Sprintf("p%d", i)
			}
			items, cols = append(items, inner.alias+"."+c.name+" AS "+name), append(cols, column{name: name, kind: c.kind, key: c.key})
		}
		for i := range g.IntN(3) {
			k := g.comparable()
			x := g.expr(own, k, 2)
			items, cols = append(items, x+fmt.Sprintf(" AS e%d", i)), append(cols, column{name: fmt.Sprintf("e%d", i), kind: k})
		}
		if items == nil {
			break
		}
		seen := map[string]bool{}
		for i, c := range cols { // the outer query may have computed an e0 of its own
			if seen[c.name] {
				cols[i].name = fmt.Sprintf("u%d", i)
				items[i] = strings.TrimSuffix(items[i], c.name) + cols[i].name
			}
			seen[cols[i].name] = true
		}
		where := ""
		if g.odds(2) {
			where = " WHERE " + g.condition(own, 1)
		}
		from = "(SELECT " + strings.Join(items, ", ") + " FROM " + from + " AS " + inner.alias + where + ")"
		inner = source{g.newAlias(), cols, nil}
	}
	inner.alias = alias
	s.sources = append(s.sources, inner)
	return from + " AS " + alias
}

// on draws the condition of a join, usually of columns of both sides.
func (g *gen) on(left, right *scope) string {
	both := &scope{sources: append(slices.Clone(left.sources), right.sources...)}
	for range 10 {
		k := g.comparable()
		x, ok1 := g.column(left, k)
		y, ok2 := g.column(right, g.near(k))
		if ok1 && ok2 {
			on := x + g.pick(" = ", " = ", " = ", " = ", " < ") + y
			if z, ok := g.column(right, g.near(k)); ok && g.odds(6) {
				on = g.pick(x+" BETWEEN "+y+" AND "+z, x+" IN ("+y+", "+z+")", x+" >= "+y+" AND "+x+" < "+z)
			}
			if g.odds(3) {
				on += " AND " + g.condition(both, 1)
			}
			return on
		}
	}
	return g.condition(both, 1)
}

// fromClause draws FROM with joins, and fills s.
func (g *gen) fromClause(s *scope, depth int) string {
	from := g.item(s, depth)
	comma := 0 // what stands before a comma no ON can name
	for range []int{0, 0, 0, 0, 1, 1, 1, 2, 2}[g.IntN(9)] {
		right := &scope{outer: s.outer}
		left := &scope{sources: s.sources[comma:], outer: s.outer}
		if depth > 0 && g.odds(6) {
			from += g.lateral(left, right, depth-1)
			s.sources = append(s.sources, right.sources...)
			continue
		}
		item := g.item(right, depth)
		switch g.IntN(10) {
		case 0:
			from += " CROSS JOIN " + item
		case 1:
			if !strings.Contains(from, "JOIN") {
				from += ", " + item
				comma = len(s.sources)
				break
			}
			fallthrough
		case 2:
			other := g.item(right, 0)
			n := len(right.sources) - 1
			a, b := &scope{sources: right.sources[:n]}, &scope{sources: right.sources[n:]}
			from += g.pick(" JOIN (", " LEFT JOIN (") + item + g.pick(" JOIN ", " LEFT JOIN ") + other + " ON " + g.on(a, b) + ") ON " + g.on(left, right)
		default:
			join := g.pick(" JOIN ", " JOIN ", " INNER JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ")
			on := g.on(left, right)
			if join == " FULL JOIN " { // PostgreSQL does these with equalities only
				on = g.equality(left, right)
			}
			if natural(left, right) && g.odds(2) {
				from += " NATURAL" + join + item
				break
			}
			if shared := g.shared(left, right); shared != "" && g.odds(4) {
				from += join + item + " USING (" + shared + ")"
				break
			}
			from += join + item + " ON " + on
		}
		s.sources = append(s.sources, right.sources...)
	}
	return from
}

// lateral draws a join with a query that may refer to the tables before it.
func (g *gen) lateral(left, right *scope, depth int) string {
	item := ""
	if g.odds(3) {
		k := g.comparable()
		of := g.unnest(k, func() string { return g.expr(left, k, 1) })
		right.sources = append(right.sources, source{alias: g.newAlias(), columns: []column{{name: "v1", kind: k}}})
		item = of + " AS " + right.sources[0].alias + " (v1)"
	} else {
		q, cols := g.subquery(left, depth)
		right.sources = append(right.sources, source{alias: g.newAlias(), columns: cols})
		item = "LATERAL (" + q + ") AS " + right.sources[0].alias
	}
	switch g.IntN(3) {
	case 0:
		return " CROSS JOIN " + item
	case 1:
		return " JOIN " + item + " ON " + g.on(left, right)
	}
	return " LEFT JOIN " + item + " ON " + g.pick("TRUE", g.on(left, right))
}

// shared lists columns of the same name and kind in the one table of each side; "" for none.
func (g *gen) shared(left, right *scope) string {
	if len(left.sources) != 1 || len(right.sources) != 1 {
		return ""
	}
	var out []string
	for _, a := range left.sources[0].columns {
		for _, b := range right.sources[0].columns {
			if a.name == b.name && a.kind == b.kind && a.kind != kJSON && (len(out) == 0 || g.odds(3)) {
				out = append(out, a.name)
			}
		}
	}
	return strings.Join(out, ", ")
}

// natural reports whether all columns of both sides with equal names can be compared, and there is at least one.
func natural(left, right *scope) bool {
	if len(left.sources) != 1 || len(right.sources) != 1 {
		return false
	}
	pairs := 0
	for _, a := range left.sources[0].columns {
		for _, b := range right.sources[0].columns {
			if a.name == b.name && (a.kind != b.kind || a.kind == kJSON) {
				return false
			}
			if a.name == b.name {
				pairs++
			}
		}
	}
	return pairs > 0
}

func (g *gen) equality(left, right *scope) string {
	for range 20 {
		k := g.comparable()
		x, ok1 := g.column(left, k)
		y, ok2 := g.column(right, g.near(k))
		if ok1 && ok2 {
			return x + " = " + y
		}
	}
	return "TRUE"
}

// where draws a condition, which sometimes matches an existing row.
func (g *gen) where(s *scope) string {
	if g.odds(2) {
		src := s.sources[g.IntN(len(s.sources))]
		if src.table != nil && len(src.table.rows) > 0 {
			return g.found(src)
		}
	}
	out := g.condition(s, 2)
	for g.odds(4) {
		out += " AND " + g.condition(s, 1)
	}
	return out
}

// found draws a condition that binds columns, usually key columns, to the values of a row.
func (g *gen) found(src source) string {
	var out []string
	row, other := src.table.rows[g.IntN(len(src.table.rows))], src.table.rows[g.IntN(len(src.table.rows))]
	for i, c := range src.columns {
		if c.kind == kJSON || !c.key && !g.odds(6) || c.key && g.odds(6) {
			continue
		}
		x, v, w := src.alias+"."+c.name, g.given(row[i]), g.given(other[i])
		switch g.IntN(8) {
		case 0:
			out = append(out, g.piece(x+" IN ("+v+", "+w+")", "TRUE"))
		case 1:
			out = append(out, g.piece(x+g.pick(" >= ", " <= ", " > ", " < ")+v, "TRUE"))
		case 2:
			out = append(out, g.piece(x+" BETWEEN "+v+" AND "+w, "TRUE"))
		case 3:
			if g.params {
				g.args = append(g.args, value{kind: c.kind, list: []value{row[i], other[i], someValue(g.Rand, c.kind)}})
				op := " IN "
				if g.odds(2) {
					op = g.quantified()
				}
				out = append(out, g.piece(fmt.Sprintf("%s%s(\x15%d\x13)", x, op, len(g.args)-1), "TRUE"))
			}
		default:
			out = append(out, g.piece(x+" = "+v, "TRUE"))
		}
	}
	if out == nil {
		return "TRUE"
	}
	return strings.Join(out, " AND ")
}

// core draws a SELECT without ORDER BY. With as, its columns have those kinds. It sets g.term.
func (g *gen) core(outer *scope, as []kind, depth int) (string, []column) {
	s := &scope{outer: outer}
	from := g.fromClause(s, depth)
	where := ""
	if g.IntN(3) > 0 {
		where = " WHERE " + g.where(s)
	}
	var cols []column
	var items []string
	add := func(x string, k kind) {
		cols = append(cols, column{name: fmt.Sprintf("o%d", len(cols)), kind: k})
		items = append(items, x+" AS "+cols[len(cols)-1].name)
	}
	n := 1 + g.IntN(4)
	if as != nil {
		n = len(as)
	}
	want := func(i int) kind {
		if as != nil {
			return as[i]
		}
		if g.odds(16) {
			return kJSON
		}
		return g.comparable()
	}
	if g.odds(4) { // groups
		var groups []string
		var groupKinds []kind
		for i := range g.IntN(3) {
			k := want(min(i, n-1))
			if k == kJSON {
				continue
			}
			x := g.expr(s, k, 1)
			if _, ok := g.column(&scope{sources: s.sources}, k); ok && g.odds(2) {
				x, _ = g.column(&scope{sources: s.sources}, k)
			}
			if !namesColumn.MatchString(x) { // hql refuses a constant: GROUP BY 1 is the first column
				continue
			}
			groups, groupKinds = append(groups, x), append(groupKinds, k)
		}
		var sets string
		// PostgreSQL up to 17 also fills an expression whose value it can compute, such as COALESCE('a', x), in grouping sets
		// without that expression.
		if len(groups) > 0 && g.odds(2) && !slices.ContainsFunc(groups, func(x string) bool { return !onlyColumn.MatchString(x) }) {
			sets = g.groupingSets(groups)
			if where != "" { // else PostgreSQL up to 17 takes a column for the constant that it is compared with, in sets without it as well
				where = dialect(where, " WHERE ("+strings.TrimPrefix(where, " WHERE ")+") IS TRUE")
			}
		}
		used := map[int]bool{}
		for i := range n {
			k := want(i)
			if sets != "" && k == kInt && g.odds(2) {
				add("GROUPING("+strings.Join(groups[g.IntN(len(groups)):], ", ")+")", kInt)
				continue
			}
			if j := slices.Index(groupKinds, k); j >= 0 && (!used[j] || as != nil) {
				used[j] = true
				add(groups[j], k)
				continue
			}
			if as == nil && g.odds(4) {
				add(g.overGroups(s, groups), kInt)
				continue
			}
			if k == kJSON {
				add(g.elements(s, textual), kJSON)
				continue
			}
			x, got := g.aggregate(s)
			for tries := 0; as != nil && got != k && tries < 20; tries++ {
				x, got = g.aggregate(s)
			}
			if as != nil && got != k {
				x, got = g.constant(k), k
			}
			add(x, got)
		}
		tail := ""
		if sets != "" {
			tail = " GROUP BY " + sets
		} else if len(groups) > 0 {
			tail = " GROUP BY " + strings.Join(groups, ", ")
		}
		if g.odds(3) {
			x, k := g.aggregate(s)
			tail += " HAVING " + x + g.pick(" > ", " = ", " <= ", " IS NOT NULL OR TRUE OR NULL = ") + g.constant(k)
		}
		g.term = func() string {
			x, _ := g.aggregate(s)
			return x
		}
		return "SELECT " + strings.Join(items, ", ") + " FROM " + from + where + tail, cols
	}
	windows := false
	around := g.windows
	g.windows = []string{}
	defer func() { g.windows = around }()
	// Any of the rows that are equal in every column may be the first, and a window may give them different values.
	unequal := !slices.ContainsFunc(s.sources, func(src source) bool { return src.table == nil })
	for i := range n {
		k := want(i)
		x := g.expr(s, k, 2)
		if as == nil && g.odds(2) {
			x, k = g.anyColumn(s)
		}
		if as == nil && g.odds(6) && (!windows || unequal) {
			x, k = g.window(s)
			add(x, k)
			windows = true
			continue
		}
		add(g.piece(x, g.leaf(s, k)), k)
	}
	if len(g.windows) > 0 {
		where += " WINDOW " + strings.Join(g.windows, ", ")
	}
	if all := everyColumn(s); as == nil && all != nil && g.odds(8) && (!windows || unequal) {
		by := g.pick(all...)
		g.term = nil
		return "SELECT * FROM (SELECT DISTINCT ON (" + by + ") " + strings.Join(items, ", ") + " FROM " + from + where +
			" ORDER BY " + by + g.pick("", " DESC") + ", " + strings.Join(all, g.pick(", ", " DESC, ")) + ") AS d", cols
	}
	hint := ""
	if len(s.sources) == 1 {
		for _, t := range g.tables {
			if strings.HasPrefix(from, t.Name+" ") {
				hint = g.hint(t)
			}
		}
	}
	distinct := g.pick("", "", "", "DISTINCT ")
	if !sorted(cols) {
		distinct = ""
	}
	g.term = nil
	if distinct == "" {
		g.term = func() string {
			if k := g.comparable(); !g.plain && g.odds(2) {
				return g.scalar(s, k, 1)
			}
			return g.expr(s, g.comparable(), 1)
		}
	}
	return "SELECT " + hint + distinct + strings.Join(items, ", ") + " FROM " + from + where, cols
}

// operand draws one query of a set operation: a SELECT, VALUES or any query in parentheses. A query in parentheses that
// is the whole operand has no WITH or ORDER BY, which PostgreSQL would apply to the whole.
func (g *gen) operand(outer *scope, as []kind, depth int, alone bool) (string, []column) {
	if g.odds(12) {
		return g.values(outer, as)
	}
	if !g.odds(6) {
		return g.core(outer, as, depth)
	}
	ctes := g.ctes
	defer func() { g.ctes = ctes }()
	with, by := "", ""
	if !alone && depth > 0 && g.odds(4) {
		with = g.with(1)
	}
	q, cols := g.united(outer, as, max(depth-1, 0), 2)
	if !alone && g.odds(2) {
		by = g.order(cols)
	}
	g.term = nil
	return "(" + with + q + by + ")", cols
}

// united draws one operand or several with operators between them; it adds another with a probability of 1/n.
func (g *gen) united(outer *scope, as []kind, depth, n int) (string, []column) {
	more := 0
	for depth > 0 && g.odds(n) {
		more++
	}
	q, cols := g.operand(outer, as, depth, more == 0)
	for range more {
		if !sorted(cols) {
			break
		}
		r, _ := g.operand(outer, kindsOf(cols), depth-1, false)
		q += g.pick(setOperators...) + r
		g.term = nil
	}
	return q, cols
}

// subquery draws a SELECT, a set operation or VALUES, with a total order if it has a LIMIT.
func (g *gen) subquery(outer *scope, depth int) (string, []column) {
	ctes := g.ctes
	defer func() { g.ctes = ctes }()
	with := ""
	if depth > 0 && g.odds(12) {
		with = g.with(1)
	}
	q, cols := g.united(outer, nil, depth, 6)
	if g.odds(3) {
		q += g.order(cols)
	}
	return with + q, cols
}

// with draws n queries of a WITH clause, which the text after it can name.
func (g *gen) with(n int) string {
	var list []string
	for range n {
		name := "w" + g.newAlias()
		q, cols := g.subquery(nil, 1)
		if g.odds(4) {
			q, cols = g.recursive(name)
		}
		list = append(list, name+" ("+strings.Join(names(cols), ", ")+") AS ("+q+")")
		g.ctes = append(slices.Clip(g.ctes), source{alias: name, columns: cols})
	}
	if list == nil {
		return ""
	}
	return "WITH RECURSIVE " + strings.Join(list, ", ") + " "
}

// sorted reports whether each column has an order.
func sorted(cols []column) bool {
	return !slices.ContainsFunc(cols, func(c column) bool { return c.kind == kJSON })
}

// order draws an ORDER BY of all columns, sometimes after another term and with a LIMIT; "" if a column has no order.
func (g *gen) order(cols []column) string {
	if !sorted(cols) {
		return ""
	}
	var by []string
	if g.term != nil && g.odds(3) {
		approx := g.approx
		g.approx = false
		if x := g.term(); !g.approx && namesColumn.MatchString(x) { // a constant is refused, a number names a column
			by = append(by, x+g.pick("", " DESC", " NULLS FIRST"))
		}
		g.approx = g.approx || approx
	}
	for _, i := range g.Perm(len(cols)) {
		by = append(by, g.pick(fmt.Sprint(i+1), cols[i].name)+g.pick("", "", " DESC", " ASC", " NULLS FIRST", " DESC NULLS LAST"))
	}
	out := " ORDER BY " + strings.Join(by, ", ")
	switch g.IntN(4) {
	case 0, 1:
		out += g.piece(fmt.Sprintf(" LIMIT %d", g.IntN(8)), "")
	case 2:
		out += g.piece(fmt.Sprintf(" OFFSET %d FETCH FIRST %d ROWS ONLY", g.IntN(4), 1+g.IntN(8)), "")
	}
	return out
}

// recursive draws a query that refers to itself by name and ends: its rows count the steps.
func (g *gen) recursive(name string) (string, []column) {
	types := map[kind]string{kInt: "BIGINT", kText: dialect("STRING", "text")}
	kinds := [][]kind{{kInt}, {kText}, {kInt, kText}}[g.IntN(3)]
	q, from := g.core(nil, kinds, 1)
	first, next, cols := "SELECT CAST(0 AS BIGINT)", "", []column{{name: "n", kind: kInt}}
	for i, k := range kinds {
		first += ", CAST(" + from[i].name + " AS " + types[k] + ")"
		cols = append(cols, column{name: fmt.Sprintf("c%d", i), kind: k})
	}
	first += " FROM (" + q + ") AS b"
	alias := g.newAlias()
	self, right := &scope{sources: []source{{alias: alias, columns: cols}}}, &scope{}
	tables := name + " AS " + alias
	if g.IntN(4) > 0 {
		item := g.item(right, 0)
		on := " ON " + g.on(self, right)
		if g.odds(2) {
			tables, item = item, tables
		}
		tables += " JOIN " + item + on
	}
	s := &scope{sources: append(slices.Clone(self.sources), right.sources...)}
	for _, k := range kinds {
		next += ", CAST(" + g.expr(s, k, 1) + " AS " + types[k] + ")"
	}
	next = "SELECT " + alias + ".n + 1" + next + " FROM " + tables + " WHERE " + alias + ".n < 2"
	if g.odds(2) {
		next += " AND " + g.condition(s, 1)
	}
	return first + g.pick(" UNION ", " UNION ALL ") + next, cols
}

// query draws a whole query.
func (g *gen) query() *call {
	g.start()
	g.risky = g.odds(8)
	c := &call{}
	with := g.with([]int{0, 0, 0, 0, 1, 2}[g.IntN(6)])
	if g.odds(10) {
		s := &scope{}
		c.text = with + "SELECT * FROM " + g.fromClause(s, 1) + " WHERE " + g.where(s)
	} else if g.odds(30) { // numbers with a point as well: no text is made of this JSON
		s, of := &scope{}, append(slices.Clone(textual), kDec, kDbl)
		from := g.fromClause(s, 1)
		c.text = with + "SELECT " + g.elements(s, of) + ", " + g.elements(s, of) + " FROM " + from + " WHERE " + g.where(s)
		if g.odds(2) {
			c.text = with + "SELECT " + g.json(s, of, 1) + ", " + g.json(s, of, 2) + " FROM " + from + " WHERE " + g.where(s)
		}
	} else {
		q, cols := g.united(nil, nil, 2, 8)
		if g.odds(2) {
			by := g.order(cols) // no piece: without it the rows may come in any order
			q, c.ordered = q+by, by != ""
		}
		c.text = with + q
	}
	if g.odds(10) {
		c.text += dialect(" ALLOW FULL SCAN", "")
	}
	if g.odds(6) {
		c.memory = int64(2000 + g.IntN(100_000))
	}
	c.args, c.approx, c.risky, c.named, c.pieces = g.args, g.approx, g.risky, g.odds(4), g.pieces
	return c
}

var setOperators = []string{" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ", " EXCEPT ALL ", " INTERSECT ALL "}

// start begins a new statement.
func (g *gen) start() {
	g.args, g.ctes, g.pieces, g.alias, g.approx, g.risky = nil, nil, 0, 0, false, false
	g.params, g.plain = g.odds(3), g.odds(3)
}
