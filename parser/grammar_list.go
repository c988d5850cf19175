package parser

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// selectList is the list between SELECT and FROM.
type selectList struct {
	items  []SelectItem
	height int
}

func (l *selectList) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	r := exprReader{lex: lex}
	if !r.startsOperand() && !r.isNext("*") {
		return participle.NextMatch
	}
	for {
		it := r.selectItem()
		if l.items = append(l.items, it); !wanted(lex, ",") {
			l.height = r.height
			return nil
		}
	}
}

// outputList is the items of a query, which may have none: EXISTS (SELECT FROM t).
type outputList struct{ selectList }

func (l *outputList) Parse(lex *lexer.PeekingLexer) error {
	err := l.selectList.Parse(lex)
	if err != participle.NextMatch {
		return err
	}
	t := lex.Peek()
	switch t.Value {
	case "FROM", "WHERE", "UNION", "EXCEPT", "INTERSECT", ")":
		return nil
	}
	if t.EOF() {
		return nil
	}
	return err
}

// selectItem reads *, name.*, (name).* or an expression with an alias.
func (r *exprReader) selectItem() (out SelectItem) {
	t := r.lex.Peek()
	out.Pos = pos(t)
	if out.Star = wanted(r.lex, "*"); out.Star {
		return out
	}
	at := r.lex.MakeCheckpoint()
	paren := accept(r.lex, "(")
	if of := r.lex.Peek(); isName(of) { // t.* or (t).*
		r.lex.Next()
		if out.Star = (!paren || accept(r.lex, ")")) && accept(r.lex, ".", "*"); out.Star {
			out.Table = name(of)
			return out
		}
	}
	r.lex.LoadCheckpoint(at)
	out.Expr = r.expr()
	if next := r.lex.Peek(); next.Value == "AS" && next.Type == tokReserved { // after AS, any word is a name
		at := r.lex.MakeCheckpoint()
		r.lex.Next()
		if word := r.lex.Peek(); word.Type == tokReserved && word.Value != "FROM" {
			out.Alias = name(r.lex.Next())
			return out
		}
		r.lex.LoadCheckpoint(at)
	}
	var a alias
	if err := a.Parse(r.lex); err != participle.NextMatch {
		fail.On(err)
	}
	if out.Alias = a.name(); out.Alias == "" && t.Value == "POSITION" {
		if c, ok := out.Expr.(*Call); ok && c.Name == "STRPOS" { // POSITION(a IN b) is read as STRPOS
			out.Alias = "position"
		}
	}
	return out
}

// groupList is the list of terms after GROUP BY.
type groupList struct {
	items  []Expr
	once   bool
	height int
}

func (l *groupList) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	r := exprReader{lex: lex}
	if l.once = accept(lex, "DISTINCT"); !l.once && !accept(lex, "ALL") && !r.startsOperand() {
		return participle.NextMatch
	}
	l.items = r.groups()
	l.height = r.height
	return nil
}

// groups reads a list of GROUP BY terms.
func (r *exprReader) groups() (out []Expr) {
	for {
		var x Expr
		switch {
		case isNext(r.lex, "ROLLUP", "("), isNext(r.lex, "CUBE", "("):
			x = r.groupingSets(r.lex.Peek().Value, (*exprReader).list)
		case isNext(r.lex, "GROUPING", "SETS", "("):
			x = r.groupingSets("GROUPING SETS", func(r *exprReader, _ int) []Expr { return r.groups() })
		case isNext(r.lex, "(", ")"):
			x = &Tuple{Pos: pos(r.lex.Peek()), Items: []Expr{}}
			accept(r.lex, "(", ")")
		default:
			missed(r.lex, "ROLLUP")
			missed(r.lex, "CUBE")
			missed(r.lex, "GROUPING SETS")
			x = r.expr()
		}
		if out = append(out, x); !wanted(r.lex, ",") {
			return out
		}
	}
}

// groupingSets reads ROLLUP, CUBE or GROUPING SETS, as kind says, and its items in parentheses, which list parses.
func (r *exprReader) groupingSets(kind string, list func(*exprReader, int) []Expr) Expr {
	out := &GroupingSets{Pos: pos(r.lex.Peek()), Kind: kind}
	for r.lex.Next().Value != "(" {
	}
	out.Items = list(r, 0)
	r.height++
	return r.close(out)
}

// orderList is the list of terms after ORDER BY.
type orderList struct {
	terms  []OrderTerm
	height int
}

func (l *orderList) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	r := exprReader{lex: lex}
	if !r.startsOperand() {
		return participle.NextMatch
	}
	l.terms = r.order()
	l.height = r.height
	return nil
}

// tailList is the list of clauses at a query's end, in any order.
type tailList struct {
	clauses []tailNode
}

// tailNode is LIMIT n, LIMIT ALL, FETCH FIRST [n] ROWS ONLY or WITH TIES, OFFSET n or ALLOW FULL SCAN.
type tailNode struct {
	tok   *lexer.Token // its first word
	count exprNode     // empty for LIMIT ALL and ALLOW
	ties  bool         // FETCH ... WITH TIES
}

func (l *tailList) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	for {
		n := tailNode{tok: lex.Peek()}
		switch {
		case accept(lex, "LIMIT", "ALL"):
		case wanted(lex, "LIMIT"):
			follow(lex, &n.count)
		case wanted(lex, "OFFSET"):
			if follow(lex, &n.count); !accept(lex, "ROWS") {
				accept(lex, "ROW")
			}
		case accept(lex, "FETCH", "FIRST"), accept(lex, "FETCH", "NEXT"):
			n.fetch(lex)
		case wanted(lex, "ALLOW"):
			need(lex, "FULL", "SCAN")
		case len(l.clauses) == 0:
			return participle.NextMatch
		default:
			return nil
		}
		l.clauses = append(l.clauses, n)
	}
}

// fetch reads the rest of FETCH FIRST.
func (n *tailNode) fetch(lex *lexer.PeekingLexer) {
	at := pos(lex.Peek())
	if accept(lex, "ROWS") || accept(lex, "ROW") {
		n.count.X = &Literal{Pos: at, Kind: NumberLiteral, Text: "1"}
	} else if follow(lex, &n.count); !accept(lex, "ROWS") {
		need(lex, "ROW")
	}
	if n.ties = accept(lex, "WITH", "TIES"); !n.ties {
		need(lex, "ONLY")
	}
}

// valueNode is the value of a setting or option; a bare word is read as text.
type valueNode struct{ exprNode }

func (n *valueNode) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if word := t.Value == "ON" || t.Value == "ALL" || t.Value == "*"; word || isName(t) {
		at := lex.MakeCheckpoint()
		lex.Next()
		next := lex.Peek()
		if word || next.Type != tokString && next.Value != "(" && next.Value != "." && next.Value != ":" {
			n.X = &Literal{Pos: pos(t), Kind: StringLiteral, Text: name(t)}
			return nil
		}
		lex.LoadCheckpoint(at)
	}
	return n.exprNode.Parse(lex)
}
