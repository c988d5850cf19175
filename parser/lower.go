package parser

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// lowerer converts grammar nodes to the AST.
type lowerer struct {
	height int // of the highest expression so far
}

// expr returns the expression of a node; it returns nil if n is nil.
func (l *lowerer) expr(n *exprNode) Expr {
	if n == nil {
		return nil
	}
	l.height = max(l.height, n.height)
	return n.X
}

func (l *lowerer) exprs(n *exprList) []Expr {
	l.height = max(l.height, n.height)
	return n.items
}

func (l *lowerer) rows(n *rowList) [][]Expr {
	l.height = max(l.height, n.height)
	return n.rows
}

func pos(t *lexer.Token) Pos { return Pos(t.Pos.Offset) }

// name returns a word as it was spelled, or the text in a name's double quotes.
func name(t *lexer.Token) string {
	switch {
	case t == nil:
		return ""
	case t.Type == tokQuoted:
		return unquote(t.Value)
	case t.Pos.Filename != "": // a keyword
		return t.Pos.Filename
	}
	return t.Value
}

func (n *alias) name() string {
	if n == nil {
		return ""
	}
	return name(n.Tok)
}

func names(in []*columnIdent) []string {
	if in == nil {
		return nil
	}
	out := make([]string, len(in))
	for i, n := range in {
		out[i] = name(n.Tok)
	}
	return out
}

func placed(n *qname) Name { return Name{Pos: pos(n.A), Name: n.name()} }

func placedAll(in []*columnName) []Name {
	if in == nil {
		return nil
	}
	out := make([]Name, len(in))
	for i, n := range in {
		out[i] = placed(&n.qname)
	}
	return out
}

// name returns name or name:name.
func (n *qname) name() string {
	if n.B == nil {
		return name(n.A)
	}
	return name(n.A) + ":" + name(n.B)
}

func (l *lowerer) statement(n *statementNode) Statement {
	if q := n.Select; q != nil && slices.ContainsFunc(q.With, (*cteNode).writes) {
		rest := *q
		rest.With = nil
		return l.behind(&withList{q.Rec, q.With}, &statementNode{explained: explained{Select: &rest}})
	}
	if w := n.Writing; w != nil {
		return l.behind(w.withList, w.statement())
	}
	switch {
	case n.Select != nil && n.Select.First.Into != nil: // SELECT INTO, which is CREATE TABLE AS
		into := n.Select.First.Into
		n.Select.First.Into = nil
		return &CreateTable{Pos: at(n.Select.Pos), Name: into.name(), NamePos: pos(into.A), Query: l.query(n.Select)}
	case n.Select != nil:
		return l.query(n.Select)
	case n.Insert != nil:
		return returned(l.insert(n.Insert))
	case n.Update != nil:
		return returned(l.update(n.Update))
	case n.Delete != nil:
		return returned(l.delete(n.Delete))
	case n.Merge != nil:
		return l.merge(n.Merge)
	case n.Explain != nil:
		return l.explain(n.Explain)
	case n.Other != nil:
		fail.On(n.Other.err)
		return n.Other.out
	case n.View != nil:
		return l.view(n.View)
	case n.Sequence != nil:
		return n.Sequence.out
	case n.Alter != nil:
		return l.alter(n.Alter)
	case n.Create != nil:
		return l.create(n.Create)
	case n.Drop != nil:
		d := n.Drop
		out := &Drop{Pos: at(d.Pos), View: d.View || d.Sequence, Sequence: d.Sequence, Materialized: d.Rows, IfExists: d.IfExists, Cascade: d.Cascade, Name: d.Table.name(), NamePos: pos(d.Table.A)}
		for _, t := range d.More {
			more := *out
			more.Name, more.NamePos, more.More = t.name(), pos(t.A), nil
			out.More = append(out.More, &more)
		}
		return out
	case n.Show != nil:
		return l.show(n.Show)
	case n.Describe != nil:
		d := n.Describe
		return &Show{Pos: at(d.Pos), Kind: ShowColumns, Name: d.Table.name(), NamePos: pos(d.Table.A)}
	case n.Set != nil:
		return l.set(n.Set)
	case n.Copy != nil:
		return l.copy(n.Copy)
	case n.Analyze != nil:
		if !n.Analyze.analyzes() {
			return &Transaction{Pos: at(n.Analyze.Pos), Verb: "VACUUM"}
		}
		out := &Analyze{Pos: at(n.Analyze.Pos), NamePos: NoPos}
		if t := n.Analyze.Table; t != nil {
			out.Name, out.NamePos = t.name(), pos(t.A)
		}
		return out
	case n.Transaction != nil:
		return transaction(n.Transaction)
	case n.Prepare != nil:
		return l.prepare(n.Prepare)
	case n.Execute != nil:
		out := &Execute{Pos: at(n.Execute.Pos), Name: name(n.Execute.Name.Tok)}
		if n.Execute.Args != nil {
			out.Args = l.exprs(n.Execute.Args)
		}
		return out
	case n.Deallocate != nil:
		out := &Deallocate{Pos: at(n.Deallocate.Pos)}
		if !n.Deallocate.All {
			out.Name = name(n.Deallocate.Name.Tok)
		}
		return out
	default:
		c := n.Check
		return &CheckTable{Pos: at(c.Pos), Name: c.Table.name(), NamePos: pos(c.Table.A), Repair: c.Repair}
	}
}

// statement returns w as a statement.
func (w *writer) statement() *statementNode {
	return &statementNode{explained: explained{writer: *w}}
}

// returned returns s, a statement that writes. Sub-queries in its RETURNING become those of a query that reads the rows of s.
func returned(s Statement) Statement {
	joins, ok := s.(interface{ Joins() bool })
	if ok && joins.Joins() {
		return s
	}
	table, alias, items, at := Target(s)
	if !slices.ContainsFunc(*items, func(it SelectItem) bool { return it.Expr != nil && Some(it.Expr, IsQuery) }) {
		return s
	}
	rows := &TableName{Pos: at, Name: "the " + s.Command(), Alias: cmp.Or(*alias, *table)}
	query := &Select{Pos: at, Cores: []*SelectCore{{Pos: at, Items: *items, From: []TableExpr{rows}}}}
	*items = []SelectItem{{Pos: at, Star: true}}
	return &Writing{With: []CTE{{Pos: at, Name: rows.Name, Write: s}}, Statement: query, Returned: true}
}

// behind lowers n, a statement behind a list.
func (l *lowerer) behind(list *withList, n *statementNode) Statement {
	with := l.with(list.List, list.Rec != nil, true)
	s := l.statement(n)
	if w, ok := s.(*Writing); ok { // of a RETURNING with sub-queries
		w.With = append(with, w.With...)
		return w
	}
	i := slices.IndexFunc(list.List, (*cteNode).writes)
	if i < 0 {
		return Behind(with, s)
	}
	if _, into := s.(*CreateTable); into {
		panic(fail.With(nestedWriting(list.List[i])))
	}
	return &Writing{With: with, Statement: s}
}

func nestedWriting(c *cteNode) error {
	return Errorf(pos(c.Name.Tok), "WITH clause containing a data-modifying statement must be at the top level").
		WithHint("write it before the whole statement")
}

func transaction(n *transactionNode) *Transaction {
	out := &Transaction{Pos: at(n.Pos), Verb: "BEGIN"}
	switch {
	case n.Commit:
		out.Verb = "COMMIT"
	case n.Rollback:
		out.Verb = "ROLLBACK"
	}
	return out
}

func at(p lexer.Position) Pos { return Pos(p.Offset) }

func (l *lowerer) insert(n *insertNode) *Insert {
	out := &Insert{
		Pos: at(n.Pos), Upsert: n.Verb == "UPSERT", IfNotExists: n.IfBefore || n.IfBehind,
		Table: n.Table.name(), TablePos: pos(n.Table.A), Alias: n.Table.alias((*alias)(n.Alias)), Columns: placedAll(n.Columns),
	}
	if n.Override != nil {
		out.Overriding = n.Override.whose
	}
	query := &Select{Cores: []*SelectCore{{}}}
	if n.Defaults != nil { // INSERT adds the other columns' DEFAULTs
		query.Cores[0].Values = [][]Expr{{&ColumnRef{Pos: at(n.Defaults.Pos), Name: "DEFAULT"}}}
	} else {
		query = l.query(n.Query)
	}
	if out.Rows = query.values(); out.Rows == nil {
		out.Query = query
	}
	if c := n.Conflict; c != nil {
		if c.Name != nil {
			out.Constraint = Name{Pos: pos(c.Name.Tok), Name: name(c.Name.Tok)}
		}
		out.Conflict, out.IfNotExists = placedAll(c.Columns), out.IfNotExists || c.Nothing
		out.Set = l.assignments(c.Set, cmp.Or(out.Alias, out.Table))
		out.Where = l.expr(c.Where)
	}
	out.Returning = l.returning(n.returningNode)
	return out
}

// values returns the rows of a query that consists only of VALUES, or nil for other queries.
func (s *Select) values() [][]Expr {
	if s.With != nil || s.Sets != nil || s.OrderBy != nil || s.Limit != nil || s.Offset != nil || s.AllowFullScan {
		return nil
	}
	return s.Cores[0].Values
}

func (l *lowerer) returning(n returningNode) []SelectItem {
	if n.Returning == nil {
		return nil
	}
	l.height = max(l.height, n.Returning.height)
	return n.Returning.items
}

func (l *lowerer) update(n *updateNode) *Update {
	out := &Update{Pos: at(n.Pos), Table: n.Table.name(), TablePos: pos(n.Table.A), Alias: n.Table.alias(n.Alias), AllowFullScan: n.Allow || n.AllowBehind}
	out.Set = l.assignments(n.Set, cmp.Or(out.Alias, out.Table))
	out.From = l.tables(n.From)
	out.Where, out.Returning = l.expr(n.Where), l.returning(n.returningNode)
	return out
}

// assignments lowers a = 1, a[1] = 2, (a, b) = (1, 2) and (a, b) = (SELECT ...) of a statement that calls its table of.
func (l *lowerer) assignments(list []*assignNode, of string) (out []Assignment) {
	for _, a := range list {
		if len(a.At) > 0 { // several elements of a column are set one after the other
			column := placed(&a.Column.qname)
			set := &Call{Pos: column.Pos, Name: "SET_ELEMENT", Args: []Expr{&ColumnRef{Pos: column.Pos, Table: of, Name: column.Name}, l.expr(&a.Expr)}}
			for _, at := range a.At {
				set.Args = append(set.Args, l.expr(at))
			}
			if i := slices.IndexFunc(out, func(o Assignment) bool { return strings.EqualFold(o.Column.Name, column.Name) }); i >= 0 {
				set.Args[0] = out[i].Expr
				out = slices.Delete(out, i, i+1)
			}
			out = append(out, Assignment{Column: column, Expr: set})
			continue
		}
		if a.Column != nil {
			out = append(out, Assignment{Column: placed(&a.Column.qname), Expr: l.expr(&a.Expr)})
			continue
		}
		values := []Expr{l.expr(&a.Expr)}
		if row, ok := values[0].(*Tuple); ok {
			values = row.Items
		} else if s, ok := values[0].(*SubqueryExpr); ok && !s.Exists && !s.Array && len(a.Columns) > 1 {
			values = nil
			for i := range a.Columns {
				values = append(values, &SubqueryExpr{Pos: s.Pos, Query: s.Query, Columns: len(a.Columns), Column: i})
			}
		}
		if len(values) != len(a.Columns) {
			panic(fail.With(Errorf(values[0].Position(), "%d columns cannot be set to %d values", len(a.Columns), len(values)).
				WithHint("(a, b) = (SELECT x, y ...) takes the values of another table's row")))
		}
		for i, c := range a.Columns {
			out = append(out, Assignment{Column: placed(&c.qname), Expr: values[i]})
		}
	}
	return out
}

func (l *lowerer) delete(n *deleteNode) *Delete {
	return &Delete{Pos: at(n.Pos), Table: n.Table.name(), TablePos: pos(n.Table.A), Alias: n.Table.alias(n.Alias), Using: l.tables(n.Using), Where: l.expr(n.Where),
		AllowFullScan: n.Allow || n.AllowBehind, Returning: l.returning(n.returningNode)}
}

func (l *lowerer) merge(n *mergeNode) *Merge {
	out := &Merge{Pos: at(n.Pos), Table: n.Table.name(), TablePos: pos(n.Table.A), Alias: n.Table.alias(n.Alias), On: l.expr(n.On), AllowFullScan: n.Allow}
	out.Source = l.from(n.Source)
	always := map[bool]bool{} // by MATCHED: an action without a condition came
	for _, w := range n.When {
		if always[!w.Not] {
			panic(fail.With(Errorf(at(w.Pos), "unreachable WHEN clause specified after unconditional WHEN clause").WithHint("give it before the WHEN without AND")))
		}
		always[!w.Not] = w.Cond == nil
		a := MergeAction{Pos: at(w.Pos), Matched: !w.Not, Cond: l.expr(w.Cond), Delete: w.Delete}
		a.Set = l.assignments(w.Set, cmp.Or(out.Alias, out.Table))
		if w.Defaults != nil || w.Values != nil {
			a.Insert = &Insert{Pos: at(w.Pos), Table: out.Table, TablePos: out.TablePos, Columns: placedAll(w.Columns)}
			if w.Defaults != nil {
				a.Insert.Rows = [][]Expr{{&ColumnRef{Pos: at(w.Defaults.Pos), Name: "DEFAULT"}}}
			} else if a.Insert.Rows = l.rows(w.Values); len(a.Insert.Rows) > 1 {
				panic(fail.With(Errorf(a.Insert.Rows[1][0].Position(), "INSERT of MERGE takes one row of VALUES")))
			}
		}
		if (a.Insert != nil) == a.Matched && !w.Nothing {
			panic(fail.With(Errorf(a.Pos, "WHEN MATCHED takes UPDATE, DELETE or DO NOTHING, and WHEN NOT MATCHED takes INSERT or DO NOTHING")))
		}
		out.Actions = append(out.Actions, a)
	}
	return out
}

// tables lowers the items of FROM or USING.
func (l *lowerer) tables(list []*fromNode) []TableExpr {
	var out []TableExpr
	for _, n := range list {
		t := l.from(n)
		out = append(out, t)
	}
	return out
}

// postgresOptions are options of PostgreSQL's EXPLAIN that have no effect: EXPLAIN always prints the complete plan.
var postgresOptions = []string{"VERBOSE", "COSTS", "BUFFERS", "TIMING", "SUMMARY", "SETTINGS", "WAL", "GENERIC_PLAN"}

func (l *lowerer) explain(n *explainNode) *Explain {
	out := &Explain{Pos: at(n.Pos), Analyze: n.Analyze, Format: "TEXT"}
	for _, o := range n.Options {
		switch {
		case o.Format != "":
			out.Format = o.Format
		case o.Analyze != "":
			out.Analyze = !o.Off
		case !slices.Contains(postgresOptions, strings.ToUpper(name(o.Other.Tok))):
			panic(fail.With(Errorf(pos(o.Other.Tok), "unknown option %s of EXPLAIN: ANALYZE and FORMAT TEXT, JSON or HTML are known", name(o.Other.Tok))))
		}
	}
	out.Statement = l.explained(n.Statement)
	return out
}

func (l *lowerer) explained(s *explained) Statement {
	if s.Select != nil && s.Select.First.Into != nil {
		return l.query(s.Select) // which refuses INTO
	}
	return l.statement(&statementNode{explained: *s})
}

func (l *lowerer) prepare(n *prepareNode) *Prepare {
	out := &Prepare{Pos: at(n.Pos), Name: name(n.Name.Tok)}
	for _, t := range n.Types {
		out.Types = append(out.Types, t.Text)
	}
	if n.Statement.Copy != nil || n.Statement.Execute != nil {
		panic(fail.With(Errorf(out.Pos, "PREPARE takes SELECT, INSERT, UPDATE or DELETE")))
	}
	out.Statement = l.explained(n.Statement)
	return out
}

func (l *lowerer) show(n *showNode) *Show {
	out := &Show{Pos: at(n.Pos), Kind: ShowSettings, NamePos: NoPos}
	table := n.Create
	switch {
	case n.Tables:
		out.Kind = ShowTables
	case n.Create != nil:
		out.Kind = ShowCreateTable
	case n.Splits != nil:
		out.Kind, table = ShowSplits, n.Splits
	case n.Stats != nil:
		out.Kind, table = ShowStatistics, n.Stats
	case n.Functions:
		out.Kind = ShowFunctions
	case n.Setting != nil:
		out.Name, out.NamePos = n.Setting.name(), pos(n.Setting.First.Tok)
		for _, w := range n.More {
			out.Name += " " + name(w.Tok)
		}
	}
	if table != nil {
		out.Name, out.NamePos = table.name(), pos(table.A)
	}
	return out
}

func (n *dotted) name() string {
	s := name(n.First.Tok)
	for _, r := range n.Rest {
		s += "." + name(r.Tok)
	}
	return s
}

func (l *lowerer) set(n *setNode) *Set {
	out := &Set{Pos: at(n.Pos), Verb: cmp.Or(n.Verb, "SET"), Local: n.Local, Name: "timezone"}
	switch {
	case n.All:
		out.Name = "ALL"
	case n.Of != nil:
		out.Name = n.Of.name()
	case n.Names:
		out.Name = "client_encoding"
	case n.Schema:
		out.Name = "search_path"
	case n.Name != nil:
		out.Name = n.Name.name()
	}
	if n.Value != nil {
		n.Values = []*valueNode{n.Value}
	}
	var texts []string
	for _, v := range n.Values {
		out.Value = l.expr(&v.exprNode)
		if x, ok := out.Value.(*Unary); ok && x.Op == "-" {
			if n, ok := x.X.(*Literal); ok && n.Kind == NumberLiteral {
				out.Value = &Literal{Pos: x.Pos, Kind: NumberLiteral, Text: "-" + n.Text}
			}
		}
		if x, ok := out.Value.(*Literal); ok {
			texts = append(texts, x.Text)
		}
	}
	if c, ok := out.Value.(*Call); ok && n.Zone && len(c.Args) == 2 { // INTERVAL '+02:00' HOUR TO MINUTE, ahead of UTC
		if x, ok := c.Args[1].(*Literal); ok && x.Kind == IntervalLiteral && x.Text != "" {
			sign := map[byte]string{'-': "+"}[x.Text[0]]
			out.Value = &Literal{Pos: x.Pos, Kind: StringLiteral, Text: "<" + x.Text + ">" + cmp.Or(sign, "-") + strings.TrimLeft(x.Text, "+-")}
		}
	}
	switch {
	case n.Zone && len(texts) == 1 && strings.EqualFold(texts[0], "LOCAL"):
		out.Value = &Literal{Pos: out.Value.Position(), Kind: StringLiteral, Text: "DEFAULT"}
	case len(n.Values) > 1 && len(texts) == len(n.Values):
		out.Value = &Literal{Pos: n.Values[0].X.Position(), Kind: StringLiteral, Text: strings.Join(texts, ", ")}
	}
	return out
}

func (l *lowerer) options(in []*optionNode) []Option {
	var out []Option
	for _, n := range in {
		o := Option{Pos: at(n.Pos)}
		if n.Text == nil {
			o.Key = optionKey(n.Name.Tok)
		} else if o.Key = n.Text.value(); o.Key == "" || !utf8.ValidString(o.Key) || strings.ContainsRune(o.Key, 0) {
			panic(fail.With(Errorf(o.Pos, "%q is not an option's name", o.Key)))
		}
		if n.Value != nil {
			o.Value = l.expr(&n.Value.exprNode)
		}
		out = append(out, o)
	}
	return out
}

func (n *textNode) value() string { return text(&n.Text) }

func (l *lowerer) copy(n *copyNode) *Copy {
	out := &Copy{Pos: at(n.Pos), To: n.Dir == "TO", AllowFullScan: n.Allow || n.Before}
	if out.AllowFullScan && !out.To {
		panic(fail.With(Errorf(out.Pos, "COPY FROM reads no table: ALLOW FULL SCAN has no meaning here")))
	}
	if n.Query != nil {
		if !out.To {
			panic(fail.With(Errorf(at(n.Query.Pos), "a query can be copied TO a file, not FROM one")))
		}
		out.Query = l.query(n.Query)
		out.Query.AllowFullScan, out.AllowFullScan = out.Query.AllowFullScan || out.AllowFullScan, false
	} else {
		out.Table, out.TablePos, out.Columns = n.Table.name(), pos(n.Table.A), placedAll(n.Columns)
	}
	if n.File != nil {
		out.File = n.File.value()
	}
	if n.Binary != nil {
		out.Options = []Option{{Pos: out.Pos, Key: "FORMAT", Value: &Literal{Pos: out.Pos, Kind: StringLiteral, Text: "binary"}}}
	}
	options := l.options(n.Options)
	if n.Words != nil {
		for _, key := range []string{"FORMAT", "HEADER", "DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING", "FORCE_QUOTE", "FORCE_NULL", "FORCE_NOT_NULL"} {
			if x := n.Words.given[key]; x != nil {
				options = append(options, Option{Pos: x.Position(), Key: key, Value: x})
			}
		}
	}
	for i, o := range options {
		if c, ok := o.Value.(*ColumnRef); ok { // FORCE_QUOTE (a)
			options[i].Value = &Tuple{Pos: c.Pos, Items: []Expr{c}}
		}
	}
	out.Options = append(out.Options, options...)
	return out
}
