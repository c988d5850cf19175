package parser

import (
	"cmp"
	"strconv"
	"strings"
)

// printer writes SQL. Every node's text parses to an equal node, except for positions.
type printer struct {
	strings.Builder
}

func (p *printer) put(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// list writes n items with commas.
func (p *printer) list(n int, item func(int)) {
	for i := range n {
		if i > 0 {
			p.put(", ")
		}
		item(i)
	}
}

func (p *printer) exprs(list []Expr) {
	p.list(len(list), func(i int) { p.expr(list[i], bindNone) })
}

func (p *printer) names(list []string) {
	p.list(len(list), func(i int) { p.put(QuoteName(list[i])) })
}

func (p *printer) columns(list []Name) {
	if list != nil {
		p.put(" (")
		p.list(len(list), func(i int) { p.put(QuoteName(list[i].Name)) })
		p.put(")")
	}
}

// clause writes a keyword and an expression, or nothing for nil.
func (p *printer) clause(word string, e Expr) {
	if e != nil {
		p.put(word)
		p.expr(e, bindNone)
	}
}

func (s *Select) String() string {
	var p printer
	p.query(s)
	return p.Builder.String()
}

func (p *printer) with(list []CTE) {
	if list == nil {
		return
	}
	p.put("WITH ")
	if list[0].Recursive {
		p.put("RECURSIVE ")
	}
	p.list(len(list), func(i int) {
		c := list[i]
		p.put(QuoteName(c.Name))
		p.nameList(c.Columns)
		p.put(" AS (")
		if c.Write != nil {
			p.put(c.Write.String())
		} else {
			p.query(c.Query)
		}
		p.put(")")
	})
	p.put(" ")
}

func (p *printer) query(s *Select) {
	p.with(s.With)
	for i, c := range s.Cores {
		if i > 0 {
			p.put(" ", string(s.Sets[i-1].Op), " ")
			if s.Sets[i-1].All {
				p.put("ALL ")
			}
		}
		p.core(c)
	}
	p.order(" ORDER BY ", s.OrderBy)
	if s.Ties {
		p.clause(" OFFSET ", s.Offset)
		p.put(" FETCH FIRST (", s.Limit.String(), ") ROWS WITH TIES")
	} else {
		p.clause(" LIMIT ", s.Limit)
		p.clause(" OFFSET ", s.Offset)
	}
	p.allow(s.AllowFullScan)
}

func (p *printer) allow(fullScan bool) {
	if fullScan {
		p.put(" ALLOW FULL SCAN")
	}
}

func (p *printer) order(word string, terms []OrderTerm) {
	if terms == nil {
		return
	}
	p.put(word)
	p.list(len(terms), func(i int) {
		t := terms[i]
		p.expr(t.Expr, bindNone)
		if t.Desc {
			p.put(" DESC")
		}
		if t.NullsFirst != nil && *t.NullsFirst {
			p.put(" NULLS FIRST")
		} else if t.NullsFirst != nil {
			p.put(" NULLS LAST")
		}
	})
}

func (p *printer) rows(rows [][]Expr) {
	p.put("VALUES ")
	p.list(len(rows), func(i int) {
		p.put("(")
		p.exprs(rows[i])
		p.put(")")
	})
}

func (p *printer) core(c *SelectCore) {
	if c.Values != nil {
		p.rows(c.Values)
		return
	}
	if c.Query != nil {
		p.put("(")
		p.query(c.Query)
		p.put(")")
		return
	}
	p.put("SELECT")
	p.hints(c.Hints)
	if c.Distinct {
		p.put(" DISTINCT")
	}
	if c.On != nil {
		p.put(" DISTINCT ON (")
		p.exprs(c.On)
		p.put(")")
	}
	if c.Items != nil {
		p.put(" ")
	}
	p.items(c.Items)
	p.tables(" FROM ", c.From)
	p.clause(" WHERE ", c.Where)
	if c.GroupBy != nil {
		p.put(" GROUP BY ")
		if c.GroupOnce {
			p.put("DISTINCT ")
		}
		p.groups(c.GroupBy)
	}
	p.clause(" HAVING ", c.Having)
	if c.Windows != nil {
		p.put(" WINDOW ")
		p.list(len(c.Windows), func(i int) {
			p.put(QuoteName(c.Windows[i].Name), " AS ")
			p.window(c.Windows[i].Window)
		})
	}
}

func (p *printer) items(items []SelectItem) {
	p.list(len(items), func(i int) {
		it := items[i]
		switch {
		case it.Star && it.Table != "":
			p.put(QuoteName(it.Table), ".*")
		case it.Star:
			p.put("*")
		default:
			p.expr(it.Expr, bindNone)
			p.alias(it.Alias)
		}
	})
}

func (p *printer) returning(items []SelectItem) {
	if items != nil {
		p.put(" RETURNING ")
		p.items(items)
	}
}

func (p *printer) hints(hints []Hint) {
	if hints == nil {
		return
	}
	p.put(" /*+")
	for _, h := range hints {
		p.put(" ", h.Name)
		if h.Args != nil {
			p.put("(", strings.Join(h.Args, ", "), ")")
		}
	}
	p.put(" */")
}

func (p *printer) alias(name string) {
	if name != "" {
		p.put(" AS ", QuoteName(name))
	}
}

func (t *TableName) String() string     { return printTable(t) }
func (t *TableFunction) String() string { return printTable(t) }
func (t *Subquery) String() string      { return printTable(t) }
func (t *Join) String() string          { return printTable(t) }

func printTable(t TableExpr) string {
	var p printer
	p.table(t)
	return p.Builder.String()
}

func (p *printer) table(t TableExpr) {
	switch t := t.(type) {
	case *TableName:
		if t.InSchema {
			p.put("public.")
		}
		p.put(QuoteName(t.Name))
		p.systemTime(t.SystemTime)
		p.alias(t.Alias)
	case *Subquery:
		if t.Lateral {
			p.put("LATERAL ")
		}
		p.put("(")
		p.query(t.Query)
		p.put(")")
		p.derivedAlias(t.Alias, t.Columns)
	case *TableFunction:
		p.put(quoteFunction(t.Name), "(")
		p.exprs(t.Args)
		p.put(")")
		if t.Ordinality {
			p.put(" WITH ORDINALITY")
		}
		p.derivedAlias(t.Alias, t.Columns)
	case *Join:
		p.join(t)
	default:
		panic("parser: unknown table expression")
	}
}

func (p *printer) derivedAlias(alias string, columns []string) {
	p.alias(alias)
	p.nameList(columns)
}

// nameList writes names in parentheses, or nothing for nil.
func (p *printer) nameList(names []string) {
	if names != nil {
		p.put(" (")
		p.names(names)
		p.put(")")
	}
}

func (p *printer) join(j *Join) {
	p.table(j.Left)
	if j.Natural {
		p.put(" NATURAL")
	}
	p.put([...]string{InnerJoin: " JOIN ", LeftJoin: " LEFT JOIN ", CrossJoin: " CROSS JOIN ", RightJoin: " RIGHT JOIN ", FullJoin: " FULL JOIN "}[j.Kind])
	if _, nested := j.Right.(*Join); nested {
		p.put("(")
		p.table(j.Right)
		p.put(")")
	} else {
		p.table(j.Right)
	}
	p.clause(" ON ", j.On)
	if j.Using != nil {
		p.put(" USING")
		p.nameList(j.Using)
	}
}

func (p *printer) systemTime(t *SystemTime) {
	switch {
	case t == nil:
	case t.All:
		p.put(" FOR SYSTEM_TIME ALL")
	case t.To != nil:
		p.put(" FOR SYSTEM_TIME BETWEEN ")
		p.expr(t.From, bindRange+1)
		p.clause(" AND ", t.To)
	default:
		p.clause(" FOR SYSTEM_TIME AS OF ", t.From)
	}
}

func (s *Writing) String() string {
	var p printer
	p.with(s.With)
	p.put(s.Statement.String())
	return p.Builder.String()
}

func (s *Insert) String() string {
	var p printer
	verb := "INSERT"
	if s.Upsert {
		verb = "UPSERT"
	}
	p.put(verb, " INTO ", QuoteName(s.Table))
	if s.Alias != "" {
		p.put(" AS ", QuoteName(s.Alias))
	}
	p.columns(s.Columns)
	p.put(" ")
	if s.Query != nil {
		p.query(s.Query)
	} else {
		p.rows(s.Rows)
	}
	switch {
	case s.Conflict == nil && s.Constraint.Name == "" && s.IfNotExists:
		p.put(" IF NOT EXISTS")
	case s.IfNotExists:
		p.conflict(s)
		p.put(" DO NOTHING")
	case s.Set != nil:
		p.conflict(s)
		p.put(" DO UPDATE")
		p.set(s.Set)
		p.clause(" WHERE ", s.Where)
	}
	p.returning(s.Returning)
	return p.Builder.String()
}

func (p *printer) conflict(s *Insert) {
	p.put(" ON CONFLICT")
	p.columns(s.Conflict)
	if s.Constraint.Name != "" {
		p.put(" ON CONSTRAINT ", QuoteName(s.Constraint.Name))
	}
}

func (s *Update) String() string {
	var p printer
	p.with(s.With)
	p.put("UPDATE ", QuoteName(s.Table))
	p.alias(s.Alias)
	p.set(s.Set)
	p.tables(" FROM ", s.From)
	p.clause(" WHERE ", s.Where)
	p.allow(s.AllowFullScan)
	p.returning(s.Returning)
	return p.Builder.String()
}

func (p *printer) set(list []Assignment) {
	p.put(" SET ")
	for i, a := range list {
		s, ok := a.Expr.(*SubqueryExpr)
		several := ok && s.Columns > 1
		if i > 0 {
			p.put(", ")
		}
		if several && s.Column == 0 {
			p.put("(")
		}
		p.put(QuoteName(a.Column.Name))
		if several && s.Column+1 < s.Columns {
			continue
		}
		if several {
			p.put(")")
		}
		p.put(" = ")
		p.expr(a.Expr, bindNone)
	}
}

// tables writes the items of FROM or USING, if there are any.
func (p *printer) tables(word string, list []TableExpr) {
	if list != nil {
		p.put(word)
		p.list(len(list), func(i int) { p.table(list[i]) })
	}
}

func (s *Delete) String() string {
	var p printer
	if s.Truncate {
		text := "TRUNCATE TABLE " + QuoteName(s.Table)
		for next := s.Next; next != nil; next = next.Next {
			text += ", " + QuoteName(next.Table)
		}
		return text
	}
	p.with(s.With)
	p.put("DELETE FROM ", QuoteName(s.Table))
	p.alias(s.Alias)
	p.tables(" USING ", s.Using)
	p.clause(" WHERE ", s.Where)
	p.allow(s.AllowFullScan)
	p.returning(s.Returning)
	return p.Builder.String()
}

func (s *Merge) String() string {
	var p printer
	p.with(s.With)
	p.put("MERGE INTO ", QuoteName(s.Table))
	p.alias(s.Alias)
	p.put(" USING ")
	p.table(s.Source)
	p.clause(" ON ", s.On)
	for _, a := range s.Actions {
		p.put(" WHEN ")
		if !a.Matched {
			p.put("NOT ")
		}
		p.put("MATCHED")
		p.clause(" AND ", a.Cond)
		p.put(" THEN ")
		switch {
		case a.Delete:
			p.put("DELETE")
		case a.Set != nil:
			p.put("UPDATE")
			p.set(a.Set)
		case a.Insert != nil:
			p.put("INSERT")
			p.columns(a.Insert.Columns)
			p.put(" ")
			p.rows(a.Insert.Rows)
		default:
			p.put("DO NOTHING")
		}
	}
	p.allow(s.AllowFullScan)
	return p.Builder.String()
}

func (s *Explain) String() string {
	var p printer
	p.put("EXPLAIN ")
	if s.Format != "TEXT" && s.Format != "" {
		p.put("(FORMAT ", s.Format, ") ")
	}
	if s.Analyze {
		p.put("ANALYZE ")
	}
	p.put(s.Statement.String())
	return p.Builder.String()
}

func (s *Show) String() string {
	name := QuoteName(s.Name)
	switch s.Kind {
	case ShowTables:
		return "SHOW TABLES"
	case ShowCreateTable:
		return "SHOW CREATE TABLE " + name
	case ShowSplits:
		return "SHOW SPLITS " + name
	case ShowStatistics:
		return "SHOW STATISTICS " + name
	case ShowFunctions:
		return "SHOW FUNCTIONS"
	case ShowColumns:
		return "DESCRIBE " + name
	}
	if s.Name == "" {
		return "SHOW ALL"
	}
	return "SHOW " + quoteDotted(s.Name)
}

// quoteDotted quotes the words of a setting's name between its dots. A quoted "a.b" is written a.b, which names the same
// setting.
func quoteDotted(name string) string {
	words := strings.Split(name, ".")
	for i, w := range words {
		words[i] = QuoteName(w)
	}
	return strings.Join(words, ".")
}

func (s *Set) String() string {
	name := s.Name
	if s.Value == nil && strings.EqualFold(name, "ALL") {
		return s.Verb + " ALL"
	}
	var p printer
	p.put(s.Verb, " ")
	if s.Local {
		p.put("LOCAL ")
	}
	p.put(quoteDotted(name))
	p.clause(" = ", s.Value)
	return p.Builder.String()
}

func (s *Prepare) String() string {
	text := "PREPARE " + QuoteName(s.Name)
	if s.Types != nil {
		text += " (" + strings.Join(s.Types, ", ") + ")"
	}
	return text + " AS " + s.Statement.String()
}

func (s *Execute) String() string {
	var p printer
	p.put("EXECUTE ", QuoteName(s.Name))
	if s.Args != nil {
		p.put("(")
		p.exprs(s.Args)
		p.put(")")
	}
	return p.Builder.String()
}

func (s *Deallocate) String() string {
	if s.Name == "" {
		return "DEALLOCATE ALL"
	}
	return "DEALLOCATE " + QuoteName(s.Name)
}

func (s *Copy) String() string {
	var p printer
	p.put("COPY ")
	if s.Query != nil {
		p.put("(")
		p.query(s.Query)
		p.put(")")
	} else {
		p.put(QuoteName(s.Table))
		p.columns(s.Columns)
	}
	file := quoteText(s.File)
	switch {
	case s.To && s.File == "":
		file = "STDOUT"
	case s.File == "":
		file = "STDIN"
	}
	if s.To {
		p.put(" TO ", file)
	} else {
		p.put(" FROM ", file)
	}
	if s.Options != nil {
		p.put(" WITH (")
		p.options(s.Options)
		p.put(")")
	}
	p.allow(s.AllowFullScan)
	return p.Builder.String()
}

func (s *CheckTable) String() string {
	if s.Repair {
		return "CHECK TABLE " + QuoteName(s.Name) + " REPAIR"
	}
	return "CHECK TABLE " + QuoteName(s.Name)
}

func (s *Analyze) String() string {
	if s.Name == "" {
		return "ANALYZE"
	}
	return "ANALYZE " + QuoteName(s.Name)
}

func (s *Transaction) String() string { return cmp.Or(s.Text, s.Verb) }

func (s *Drop) String() string {
	var p printer
	p.put(s.Command(), " ")
	if s.IfExists {
		p.put("IF EXISTS ")
	}
	p.put(QuoteName(s.Name))
	for _, m := range s.More {
		p.put(", ", QuoteName(m.Name))
	}
	if s.Cascade {
		p.put(" CASCADE")
	}
	return p.Builder.String()
}

func (p *printer) options(list []Option) {
	p.list(len(list), func(i int) {
		key := list[i].Key
		if strings.ToUpper(key) != key || !isPlainName(key) {
			key = quoteAlways(key)
		}
		p.put(key)
		p.clause(" = ", list[i].Value)
	})
}

func itoa(n int) string { return strconv.Itoa(n) }
