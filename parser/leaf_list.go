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
