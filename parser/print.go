package parser

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// printer writes SQL. Every node's text parses to an equal node, except for positions.
type printer struct {
	strings.Builder
}

// piece is a part of the tree that writes itself.
type piece interface{ print(p *printer) }

// put writes texts and parts of the tree one after the other, and nothing for nil.
func (p *printer) put(parts ...any) {
	for _, x := range parts {
		switch x := x.(type) {
		case nil:
		case string:
			p.WriteString(x)
		case Expr:
			p.expr(x, bindNone)
		case piece:
			x.print(p)
		case Statement:
			p.WriteString(x.String())
		default:
			panic(fmt.Sprintf("parser: %T cannot be printed", x))
		}
	}
}

// sql returns what put writes.
func sql(parts ...any) string {
	var p printer
	p.put(parts...)
	return p.Builder.String()
}

// when returns word if is is true, else "".
func when(is bool, word string) string {
	if is {
		return word
	}
	return ""
}

// operand is an expression that is put in parentheses if it binds less tightly than least.
type operand struct {
	x     Expr
	least int
}

func (o operand) print(p *printer) {
	if o.x != nil {
		p.expr(o.x, o.least)
	}
}

// bounded returns e as it is written next to the AND of BETWEEN.
func bounded(e Expr) operand { return operand{e, bindRange + 1} }

// clause is a word and an expression, or nothing for nil.
type clause struct {
	word string
	x    Expr
}

func (c clause) print(p *printer) {
	if c.x != nil {
		p.put(c.word, c.x)
	}
}

// listed is a list with commas between its items, and with words around it.
type listed[T any] struct {
	before string
	items  []T
	after  string
}

func (l listed[T]) print(p *printer) {
	p.put(l.before)
	for i := range l.items {
		p.put(when(i > 0, ", "), l.items[i])
	}
	p.put(l.after)
}

// commas returns a list with commas.
func commas[T any](items []T) any { return listed[T]{items: items} }

// some returns a list with the words before and after it, or nil for a list that is nil.
func some[T any](before string, items []T, after string) any {
	if items == nil {
		return nil
	}
	return listed[T]{before, items, after}
}

// nameList is names in parentheses, or nothing for nil.
type nameList []string

func (names nameList) print(p *printer) {
	if names == nil {
		return
	}
	for i, name := range names {
		p.put(when(i == 0, " ("), when(i > 0, ", "), QuoteName(name))
	}
	p.put(")")
}

func (n Name) print(p *printer) { p.put(QuoteName(n.Name)) }

func as(alias string) string {
	if alias == "" {
		return ""
	}
	return " AS " + QuoteName(alias)
}

func allow(fullScan bool) string { return when(fullScan, " ALLOW FULL SCAN") }

// cteList is WITH and its list, or nothing if there is none.
type cteList []CTE

func (list cteList) print(p *printer) {
	if len(list) > 0 {
		p.put("WITH ", when(list[0].Recursive, "RECURSIVE "), commas(list), " ")
	}
}

func (c CTE) print(p *printer) {
	query := c.Write
	if query == nil {
		query = c.Query
	}
	p.put(QuoteName(c.Name), nameList(c.Columns), " AS (", query, ")")
}

func (s *Select) String() string { return sql(s) }

func (s *Select) print(p *printer) {
	p.put(cteList(s.With))
	for i, c := range s.Cores {
		if i > 0 {
			p.put(" ", string(s.Sets[i-1].Op), when(s.Sets[i-1].All, " ALL"), " ")
		}
		p.put(c)
	}
	p.put(some(" ORDER BY ", s.OrderBy, ""))
	if s.Ties {
		p.put(clause{" OFFSET ", s.Offset}, " FETCH FIRST (", s.Limit, ") ROWS WITH TIES")
	} else {
		p.put(clause{" LIMIT ", s.Limit}, clause{" OFFSET ", s.Offset})
	}
	p.put(allow(s.AllowFullScan))
}

func (t OrderTerm) print(p *printer) {
	p.put(t.Expr, when(t.Desc, " DESC"))
	if t.NullsFirst != nil {
		p.put(" NULLS ", when(*t.NullsFirst, "FIRST"), when(!*t.NullsFirst, "LAST"))
	}
}

// row is a row of VALUES.
type row []Expr

func (r row) print(p *printer) { p.put("(", commas(r), ")") }

// rows is VALUES and its rows.
type rows [][]Expr

func (rows rows) print(p *printer) {
	p.put("VALUES ")
	for i, r := range rows {
		p.put(when(i > 0, ", "), row(r))
	}
}

func (c *SelectCore) print(p *printer) {
	if c.Values != nil {
		p.put(rows(c.Values))
		return
	}
	if c.Query != nil {
		p.put("(", c.Query, ")")
		return
	}
	p.put("SELECT")
	for i, h := range c.Hints {
		p.put(when(i == 0, " /*+"), h, when(i+1 == len(c.Hints), " */"))
	}
	p.put(when(c.Distinct, " DISTINCT"), some(" DISTINCT ON (", c.On, ")"), some(" ", c.Items, ""), some(" FROM ", c.From, ""), clause{" WHERE ", c.Where})
	if c.GroupBy != nil {
		p.put(" GROUP BY ", when(c.GroupOnce, "DISTINCT "), groupTerms(c.GroupBy))
	}
	p.put(clause{" HAVING ", c.Having}, some(" WINDOW ", c.Windows, ""))
}

func (h Hint) print(p *printer) {
	p.put(" ", h.Name)
	if h.Args != nil {
		p.put("(", strings.Join(h.Args, ", "), ")")
	}
}

func (w NamedWindow) print(p *printer) { p.put(QuoteName(w.Name), " AS ", w.Window) }

func (it SelectItem) print(p *printer) {
	switch {
	case it.Star && it.Table != "":
		p.put(QuoteName(it.Table), ".*")
	case it.Star:
		p.put("*")
	default:
		p.put(it.Expr, as(it.Alias))
	}
}

func returning(items []SelectItem) any { return some(" RETURNING ", items, "") }

func (t *TableName) String() string     { return sql(t) }
func (t *TableFunction) String() string { return sql(t) }
func (t *Subquery) String() string      { return sql(t) }
func (t *Join) String() string          { return sql(t) }

func (t *TableName) print(p *printer) {
	p.put(when(t.InSchema, "public."), QuoteName(t.Name), t.SystemTime, as(t.Alias))
}

func (t *Subquery) print(p *printer) {
	p.put(when(t.Lateral, "LATERAL "), "(", t.Query, ")", as(t.Alias), nameList(t.Columns))
}

func (t *TableFunction) print(p *printer) {
	p.put(quoteFunction(t.Name), "(", commas(t.Args), ")", when(t.Ordinality, " WITH ORDINALITY"), as(t.Alias), nameList(t.Columns))
}

func (t *Join) print(p *printer) {
	p.put(t.Left, when(t.Natural, " NATURAL"),
		[...]string{InnerJoin: " JOIN ", LeftJoin: " LEFT JOIN ", CrossJoin: " CROSS JOIN ", RightJoin: " RIGHT JOIN ", FullJoin: " FULL JOIN "}[t.Kind])
	_, nested := t.Right.(*Join)
	p.put(when(nested, "("), t.Right, when(nested, ")"), clause{" ON ", t.On}, when(t.Using != nil, " USING"), nameList(t.Using))
}

func (t *SystemTime) print(p *printer) {
	switch {
	case t == nil:
	case t.All:
		p.put(" FOR SYSTEM_TIME ALL")
	case t.To != nil:
		p.put(" FOR SYSTEM_TIME BETWEEN ", bounded(t.From), " AND ", t.To)
	default:
		p.put(" FOR SYSTEM_TIME AS OF ", t.From)
	}
}

func (s *Writing) String() string {
	if !s.Returned {
		return sql(cteList(s.With), s.Statement)
	}
	as := CopyOf(s.written())
	_, _, items, _ := Target(as)
	*items = s.Statement.(*Select).Cores[0].Items
	return sql(cteList(s.With[:len(s.With)-1]), as)
}

func (s *Insert) String() string {
	var p printer
	verb := "INSERT"
	if s.Upsert {
		verb = "UPSERT"
	}
	p.put(verb, " INTO ", QuoteName(s.Table), as(s.Alias), some(" (", s.Columns, ")"), " ")
	if s.Overriding != "" {
		p.put("OVERRIDING ", s.Overriding, " VALUE ")
	}
	if s.Query != nil {
		p.put(s.Query)
	} else {
		p.put(rows(s.Rows))
	}
	conflict := sql(" ON CONFLICT", some(" (", s.Conflict, ")"))
	if s.Constraint.Name != "" {
		conflict += " ON CONSTRAINT " + QuoteName(s.Constraint.Name)
	}
	switch {
	case s.Conflict == nil && s.Constraint.Name == "" && s.IfNotExists:
		p.put(" IF NOT EXISTS")
	case s.IfNotExists:
		p.put(conflict, " DO NOTHING")
	case s.Set != nil:
		p.put(conflict, " DO UPDATE", assignments(s.Set), clause{" WHERE ", s.Where})
	}
	p.put(returning(s.Returning))
	return p.Builder.String()
}

func (s *Update) String() string {
	return sql(cteList(s.With), "UPDATE ", QuoteName(s.Table), as(s.Alias), assignments(s.Set), some(" FROM ", s.From, ""), clause{" WHERE ", s.Where},
		allow(s.AllowFullScan), returning(s.Returning))
}

// assignments is SET and its list.
type assignments []Assignment

func (list assignments) print(p *printer) {
	p.put(" SET ")
	for i, a := range list {
		s, ok := a.Expr.(*SubqueryExpr)
		several := ok && s.Columns > 1
		p.put(when(i > 0, ", "), when(several && s.Column == 0, "("), a.Column)
		if several && s.Column+1 < s.Columns {
			continue
		}
		p.put(when(several, ")"), " = ", a.Expr)
	}
}

func (s *Delete) String() string {
	if s.Truncate {
		text := "TRUNCATE TABLE " + QuoteName(s.Table)
		for next := s.Next; next != nil; next = next.Next {
			text += ", " + QuoteName(next.Table)
		}
		return text + when(s.Restart, " RESTART IDENTITY")
	}
	return sql(cteList(s.With), "DELETE FROM ", QuoteName(s.Table), as(s.Alias), some(" USING ", s.Using, ""), clause{" WHERE ", s.Where},
		allow(s.AllowFullScan), returning(s.Returning))
}

func (s *Merge) String() string {
	var p printer
	p.put(cteList(s.With), "MERGE INTO ", QuoteName(s.Table), as(s.Alias), " USING ", s.Source, clause{" ON ", s.On})
	for _, a := range s.Actions {
		p.put(" WHEN ", when(!a.Matched, "NOT "), "MATCHED", clause{" AND ", a.Cond}, " THEN ")
		switch {
		case a.Delete:
			p.put("DELETE")
		case a.Set != nil:
			p.put("UPDATE", assignments(a.Set))
		case a.Insert != nil:
			p.put("INSERT", some(" (", a.Insert.Columns, ")"), " ", rows(a.Insert.Rows))
		default:
			p.put("DO NOTHING")
		}
	}
	p.put(allow(s.AllowFullScan))
	return p.Builder.String()
}

func (s *Explain) String() string {
	format := ""
	if s.Format != "TEXT" && s.Format != "" {
		format = "(FORMAT " + s.Format + ") "
	}
	return sql("EXPLAIN ", format, when(s.Analyze, "ANALYZE "), s.Statement)
}

// showWords begin the statements about tables and functions.
var showWords = [...]string{ShowTables: "SHOW TABLES", ShowCreateTable: "SHOW CREATE TABLE", ShowSplits: "SHOW SPLITS", ShowStatistics: "SHOW STATISTICS",
	ShowFunctions: "SHOW FUNCTIONS", ShowColumns: "DESCRIBE"}

func (s *Show) String() string {
	switch {
	case s.Kind == ShowSettings && s.Name == "":
		return "SHOW ALL"
	case s.Kind == ShowSettings:
		return "SHOW " + quoteDotted(s.Name)
	case s.Name == "":
		return showWords[s.Kind]
	}
	return showWords[s.Kind] + " " + QuoteName(s.Name)
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
	if s.Value == nil && strings.EqualFold(s.Name, "ALL") {
		return s.Verb + " ALL"
	}
	return sql(s.Verb, " ", when(s.Local, "LOCAL "), quoteDotted(s.Name), clause{" = ", s.Value})
}

func (s *Prepare) String() string {
	text := "PREPARE " + QuoteName(s.Name)
	if s.Types != nil {
		text += " (" + strings.Join(s.Types, ", ") + ")"
	}
	return text + " AS " + s.Statement.String()
}

func (s *Execute) String() string { return sql("EXECUTE ", QuoteName(s.Name), some("(", s.Args, ")")) }

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
		p.put("(", s.Query, ")")
	} else {
		p.put(QuoteName(s.Table), some(" (", s.Columns, ")"))
	}
	direction, file := " FROM ", "STDIN"
	if s.To {
		direction, file = " TO ", "STDOUT"
	}
	if s.File != "" {
		file = quoteText(s.File)
	}
	p.put(direction, file, some(" WITH (", s.Options, ")"), allow(s.AllowFullScan))
	return p.Builder.String()
}

func (s *CheckTable) String() string {
	return "CHECK TABLE " + QuoteName(s.Name) + when(s.Repair, " REPAIR")
}

func (s *Analyze) String() string {
	if s.Name == "" {
		return "ANALYZE"
	}
	return "ANALYZE " + QuoteName(s.Name)
}

func (s *Transaction) String() string { return cmp.Or(s.Text, s.Verb) }

func (s *Drop) String() string {
	text := s.Command() + " " + when(s.IfExists, "IF EXISTS ") + QuoteName(s.Name)
	for _, m := range s.More {
		text += ", " + QuoteName(m.Name)
	}
	return text + when(s.Cascade, " CASCADE")
}

func (o Option) print(p *printer) {
	key := o.Key
	if strings.ToUpper(key) != key || !isPlainName(key) {
		key = quoteAlways(key)
	}
	p.put(key, clause{" = ", o.Value})
}

func itoa(n int) string { return strconv.Itoa(n) }
