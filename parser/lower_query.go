package parser

import (
	"slices"
	"strings"

	"github.com/hql-db/hql/internal/fail"
)

func (l *lowerer) query(n *selectNode) *Select {
	out := &Select{Pos: at(n.Pos), Cores: make([]*SelectCore, 1+len(n.Sets))}
	out.With = l.with(n.With, n.Rec != nil, false)
	out.Cores[0] = l.core(n.First)
	for i, s := range n.Sets {
		out.Sets = append(out.Sets, SetOp{Pos: at(s.Pos), Op: SetOpKind(s.Op), All: s.All})
		out.Cores[i+1] = l.core(s.Core)
	}
	for _, c := range out.Cores {
		if c.Query == nil {
			continue
		}
		if n.With == nil && n.Sets == nil && n.Order == nil && n.Tail == nil {
			return c.Query // parentheses around the whole query
		}
		out.AllowFullScan = out.AllowFullScan || c.Query.AllowFullScan
		c.Query.AllowFullScan = false
	}
	if n.Order != nil {
		out.OrderBy = n.Order.terms
		l.height = max(l.height, n.Order.height)
	}
	if n.Tail == nil {
		return out
	}
	for i := range n.Tail.clauses {
		l.tail(out, &n.Tail.clauses[i])
	}
	return out
}

// with lowers a list. Only one in front of the whole statement may write: top.
func (l *lowerer) with(list []*cteNode, recursive, top bool) (out []CTE) {
	for _, c := range list {
		cte := CTE{Pos: pos(c.Name.Tok), Name: name(c.Name.Tok), Columns: names(c.Columns), Recursive: recursive}
		if slices.ContainsFunc(out, func(o CTE) bool { return strings.EqualFold(o.Name, cte.Name) }) {
			panic(fail.With(Errorf(cte.Pos, "WITH query name %q specified more than once", cte.Name).
				WithHint("give one of the two another name")))
		}
		if c.writes() {
			write := &statementNode{explained: explained{Writing: c.Writing}}
			if c.Writer != nil {
				write = c.Writer.statement()
			}
			cte.Write = l.statement(write)
			if _, nested := cte.Write.(*Writing); nested || !top {
				panic(fail.With(nestedWriting(c)))
			}
		} else {
			cte.Query = l.query(c.Query)
		}
		out = append(out, cte)
	}
	return out
}

// tail adds a closing clause to the query. Each clause is allowed once.
func (l *lowerer) tail(out *Select, t *tailNode) {
	to := &out.Limit
	switch t.tok.Value {
	case "ALLOW":
		out.AllowFullScan = true
		return
	case "OFFSET":
		to = &out.Offset
	}
	if *to != nil {
		panic(fail.With(Errorf(pos(t.tok), "there are two %s clauses", t.tok.Value)))
	}
	out.Ties = out.Ties || t.ties
	*to = l.expr(&t.count) // nil for LIMIT ALL
}

func (l *lowerer) core(n *coreNode) *SelectCore {
	if n.Into != nil {
		panic(fail.With(Errorf(pos(n.Into.A), "INTO stands in the first SELECT of a statement").WithHint("CREATE TABLE table AS query keeps the rows of a query")))
	}
	out := &SelectCore{Pos: at(n.Pos), Distinct: n.Distinct}
	if n.Values != nil {
		out.Values = l.rows(n.Values)
		return out
	}
	if n.Table != nil { // TABLE t
		return AllOf(&TableName{Pos: pos(n.Table.A), Name: n.Table.name(), InSchema: n.Table.inSchema(), Alias: n.Table.alias(&alias{})}).Cores[0]
	}
	if n.Query != nil {
		out.Query = l.query(n.Query)
		return out
	}
	for _, h := range n.Hints {
		out.Hints = parseHints(out.Hints, h.Value, pos(&h))
	}
	if n.On != nil {
		out.Distinct, out.On = false, l.exprs(n.On)
	}
	if out.Items = n.Items.items; out.Items == nil && (n.Distinct || out.On != nil) {
		panic(fail.With(Errorf(out.Pos, "SELECT DISTINCT needs a column")))
	}
	l.height = max(l.height, n.Items.height)
	out.From = l.tables(n.From)
	out.Where, out.Having = l.expr(n.Where), l.expr(n.Having)
	if n.GroupBy != nil {
		out.GroupBy, out.GroupOnce = n.GroupBy.items, n.GroupBy.once
		l.height = max(l.height, n.GroupBy.height)
	}
	for _, w := range n.Windows {
		out.Windows = append(out.Windows, NamedWindow{Pos: pos(w.Name.Tok), Name: name(w.Name.Tok), Window: w.Spec.window})
		l.height = max(l.height, w.Spec.height)
	}
	return out
}

func (l *lowerer) from(n *fromNode) TableExpr {
	left := l.factor(&n.First)
	for _, j := range n.Joins {
		out := &Join{Pos: at(j.Pos), Left: left, Using: names(j.Using)}
		switch {
		case j.Cross:
			out.Kind = CrossJoin
		case j.Outer != "":
			out.Kind = map[string]JoinKind{"LEFT": LeftJoin, "RIGHT": RightJoin, "FULL": FullJoin}[j.Outer]
		}
		conditioned := j.On != nil || j.Using != nil
		if out.Natural = j.Natural; out.Natural && conditioned {
			panic(fail.With(Errorf(out.Pos, "NATURAL JOIN takes no condition").WithHint("JOIN ... ON does")))
		}
		if j.Cross && conditioned {
			panic(fail.With(Errorf(out.Pos, "CROSS JOIN takes no condition").WithHint("JOIN ... ON does")))
		}
		if !j.Cross && !j.Natural && !conditioned {
			panic(fail.With(Errorf(out.Pos, "JOIN needs ON condition or USING (columns)").WithHint("CROSS JOIN pairs every row with every other")))
		}
		out.Right = l.factor(j.Right)
		out.On, left = l.expr(j.On), out
	}
	return left
}

func (l *lowerer) factor(n *factorNode) TableExpr {
	if n.Derived != nil {
		t := l.derived(n.Derived)
		q, ok := t.(*Subquery)
		switch {
		case ok:
			q.Lateral = n.Lateral
		case n.Lateral:
			panic(fail.With(Errorf(t.Position(), "after LATERAL comes a query or a function")))
		}
		return t
	}
	if c := n.Call; c != nil {
		l.height = max(l.height, c.height)
		called := n.Table.name()
		if n.Table.dotted && catalogSchema(n.Table.A) {
			called = name(n.Table.B)
		}
		f := &TableFunction{Pos: pos(n.Table.A), Name: strings.ToUpper(called), Args: c.args, Ordinality: c.ordinality, Alias: name(n.Alias.Tok), Columns: names(n.Columns)}
		if n.Types != nil || jsonRecords[f.Name] {
			return fail.Must(f.Record(n.Types))
		}
		return f
	}
	t := &TableName{Pos: pos(n.Table.A), Name: n.Table.name(), InSchema: n.Table.inSchema(), Alias: n.Table.alias(&n.Alias), SystemTime: l.systemTime(n.Time)}
	if n.Columns == nil {
		return t
	}
	alias := t.Alias
	t.Alias = ""
	return &Subquery{Pos: t.Pos, Query: AllOf(t), Alias: alias, Columns: names(n.Columns)}
}

// jsonRecords are the functions whose alias defines the columns.
var jsonRecords = map[string]bool{"JSON_TO_RECORD": true, "JSONB_TO_RECORD": true, "JSON_TO_RECORDSET": true, "JSONB_TO_RECORDSET": true}

// Record returns the query for a function whose columns have types: (json ->> 'name')::type for each.
func (t *TableFunction) Record(types []string) (_ *Subquery, err error) {
	defer fail.Catch(&err)
	if !jsonRecords[t.Name] || len(t.Args) != 1 || t.Ordinality {
		panic(fail.With(Errorf(t.Pos, "only json_to_record(json) and json_to_recordset(json) have columns with types")))
	}
	if types == nil || len(types) != len(t.Columns) {
		panic(fail.With(Errorf(t.Pos, "%s needs its columns with their types: AS x (a int, b text)", t.Name)))
	}
	core, of := &SelectCore{Pos: t.Pos}, t.Args[0]
	if strings.HasPrefix(t.Name, "JSONB") {
		of = &Cast{Pos: t.Pos, X: of, Type: "JSONB"}
	}
	if strings.HasSuffix(t.Name, "SET") {
		kind, _, _ := strings.Cut(t.Name, "_")
		each := &TableFunction{Pos: t.Pos, Name: kind + "_ARRAY_ELEMENTS", Args: t.Args, Alias: t.Alias, Columns: []string{"element"}}
		core.From, of = []TableExpr{each}, &ColumnRef{Pos: t.Pos, Name: "element"}
	}
	for i, c := range t.Columns {
		member := &Binary{Pos: t.Pos, Op: "->>", X: of, Y: &Literal{Pos: t.Pos, Kind: StringLiteral, Text: c}}
		if types[i] == "JSON" || types[i] == "JSONB" || strings.HasSuffix(types[i], "]") {
			member.Op = "->"
		}
		core.Items = append(core.Items, SelectItem{Pos: t.Pos, Expr: &Cast{Pos: t.Pos, X: member, Type: types[i]}, Alias: c})
	}
	return &Subquery{Pos: t.Pos, Lateral: true, Query: &Select{Pos: t.Pos, Cores: []*SelectCore{core}}, Alias: t.Alias}, nil
}

func (l *lowerer) derived(n *derivedNode) TableExpr {
	out := &Subquery{Pos: at(n.Pos)}
	if n.Nested != nil {
		join := l.from(n.Nested)
		if n.Columns == nil {
			return join
		}
		out.Query = AllOf(join)
	} else {
		out.Query = l.query(n.Query.selectNode)
	}
	if n.Columns != nil {
		out.Alias, out.Columns = name(n.Columns.Alias.Tok), names(n.Columns.Columns)
	}
	return out
}

func (l *lowerer) systemTime(n *systemTimeNode) *SystemTime {
	if n == nil {
		return nil
	}
	from := n.AsOf
	if n.From != nil {
		from = &n.From.exprNode
	}
	return &SystemTime{Pos: at(n.Pos), All: n.All, From: l.expr(from), To: l.expr(n.To)}
}

// parseHints appends the hints of one comment: /*+ LAYOUT(by_seller) NO_PUSHDOWN */.
func parseHints(hints []Hint, comment string, start Pos) []Hint {
	body := comment[:len(comment)-len("*/")]
	for i := len("/*+"); ; {
		i = skipSpace(body, i)
		if i == len(body) {
			return hints
		}
		if body[i] == ',' {
			i++
			continue
		}
		end := wordEnd(body, i)
		if end == i {
			panic(fail.With(Errorf(start+Pos(i), "expected a hint such as LAYOUT(name)")))
		}
		h := Hint{Pos: start + Pos(i), Name: strings.ToUpper(body[i:end])}
		if i = skipSpace(body, end); i < len(body) && body[i] == '(' {
			length := strings.IndexByte(body[i:], ')')
			if length < 0 {
				panic(fail.With(Errorf(start+Pos(i), "this hint's ( is not closed")))
			}
			h.Args = strings.FieldsFunc(body[i+1:i+length], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
			i += length + 1
		}
		hints = append(hints, h)
	}
}
