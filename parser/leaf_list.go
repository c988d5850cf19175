package parser

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// selectList is the items between SELECT and FROM.
type selectList struct {
	items []selectItem
}

// Parse implements participle.Parseable.
func (l *selectList) Parse(lex *lexer.PeekingLexer) error {
	for {
		var it selectItem
		if err := it.Parse(lex); err != nil {
			if err == participle.NextMatch && len(l.items) > 0 {
				err = unexpected(lex)
			}
			return err
		}
		l.items = append(l.items, it)
		if !accept(lex, ",") {
			return nil
		}
	}
}

// selectItem is *, name.* or an expression with an alias.
type selectItem struct {
	Start *lexer.Token
	Star  bool
	Table *lexer.Token
	Expr  exprNode
	Alias alias
}

// Parse implements participle.Parseable.
func (n *selectItem) Parse(lex *lexer.PeekingLexer) error {
	n.Start = lex.Peek()
	if accept(lex, "*") {
		n.Star = true
		return nil
	}
	if isName(n.Start) {
		at := lex.MakeCheckpoint()
		lex.Next()
		if accept(lex, ".", "*") {
			n.Star, n.Table = true, n.Start
			return nil
		}
		lex.LoadCheckpoint(at)
	}
	if err := n.Expr.Parse(lex); err != nil {
		return err
	}
	if err := n.Alias.Parse(lex); err != nil && err != participle.NextMatch {
		return err
	}
	return nil
}

// orderList is the terms behind ORDER BY.
type orderList struct {
	terms []orderNode
}

// orderNode is expression [ASC | DESC] [NULLS FIRST | LAST].
type orderNode struct {
	expr  exprNode
	desc  bool
	nulls string // "FIRST", "LAST" or ""
}

// Parse implements participle.Parseable.
func (l *orderList) Parse(lex *lexer.PeekingLexer) error {
	for {
		var n orderNode
		if err := n.expr.Parse(lex); err != nil {
			if err == participle.NextMatch && len(l.terms) > 0 {
				err = unexpected(lex)
			}
			return err
		}
		if n.desc = accept(lex, "DESC"); !n.desc {
			accept(lex, "ASC")
		}
		if accept(lex, "NULLS") {
			n.nulls = lex.Peek().Value
			if !accept(lex, "FIRST") && !accept(lex, "LAST") {
				return unexpected(lex)
			}
		}
		l.terms = append(l.terms, n)
		if !accept(lex, ",") {
			return nil
		}
	}
}

// tailList is the clauses that end a query, in any order.
type tailList struct {
	clauses []tailNode
}

// tailNode is LIMIT n, LIMIT ALL, FETCH FIRST n ROWS ONLY, OFFSET n or ALLOW FULL SCAN.
type tailNode struct {
	tok   *lexer.Token // its first word
	count exprNode     // of no items for LIMIT ALL and ALLOW
}

// Parse implements participle.Parseable.
func (l *tailList) Parse(lex *lexer.PeekingLexer) error {
	for {
		n := tailNode{tok: lex.Peek()}
		var err error
		switch {
		case accept(lex, "LIMIT", "ALL"), accept(lex, "ALLOW", "FULL", "SCAN"):
		case accept(lex, "LIMIT"):
			err = n.count.Parse(lex)
		case accept(lex, "OFFSET"):
			if err = n.count.Parse(lex); err == nil && !accept(lex, "ROWS") {
				accept(lex, "ROW")
			}
		case accept(lex, "FETCH", "FIRST"), accept(lex, "FETCH", "NEXT"):
			err = n.fetch(lex)
		case len(l.clauses) == 0:
			return participle.NextMatch
		default:
			return nil
		}
		if err == participle.NextMatch {
			err = unexpected(lex)
		}
		if err != nil {
			return err
		}
		l.clauses = append(l.clauses, n)
	}
}

// fetch reads what follows FETCH FIRST.
func (n *tailNode) fetch(lex *lexer.PeekingLexer) error {
	if err := n.count.Parse(lex); err != nil {
		return err
	}
	if !accept(lex, "ROWS", "ONLY") && !accept(lex, "ROW", "ONLY") {
		return unexpected(lex)
	}
	return nil
}
