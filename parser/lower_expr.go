package parser

import (
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// exprs lowers a list, never to nil. The numbers of a long IN list share one allocation.
func (l *lowerer) exprs(n *exprList) ([]Expr, error) {
	out := make([]Expr, len(n.items))
	var numbers []Literal
	for i := range n.items {
		if e := &n.items[i]; e.tail == nil && e.head.tok.Type == tokNumber {
			if len(numbers) == 0 {
				numbers = make([]Literal, min(len(n.items)-i, 256))
			}
			numbers[0] = Literal{Pos: pos(e.head.tok), Kind: NumberLiteral, Text: e.head.tok.Value}
			out[i], numbers = &numbers[0], numbers[1:]
			continue
		}
		x, err := l.expr(&n.items[i])
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

func (l *lowerer) rows(n *rowList) ([][]Expr, error) {
	out := make([][]Expr, len(n.rows))
	for i := range n.rows {
		row, err := l.exprs(&n.rows[i].exprs)
		if err != nil {
			return nil, err
		}
		out[i] = row
	}
	return out, nil
}

// operand lowers one operand of a chain.
func (l *lowerer) operand(it chainItem) (Expr, error) {
	if it.node != nil {
		if typed, ok := it.node.(*typedNode); ok {
			return typed.literal(it.tok)
		}
		return it.node.lower(l)
	}
	t, at := it.tok, pos(it.tok)
	switch t.Type {
	case tokNumber:
		return &Literal{Pos: at, Kind: NumberLiteral, Text: t.Value}, nil
	case tokString:
		s, err := text(t)
		return literal(at, StringLiteral, s, err)
	case tokBytes:
		s, err := bytesText(t)
		return literal(at, BytesLiteral, s, err)
	case tokParam:
		return param(t), nil
	case tokReserved:
		switch t.Value {
		case "NULL":
			return &Literal{Pos: at, Kind: NullLiteral}, nil
		case "TRUE", "FALSE":
			return &Literal{Pos: at, Kind: BoolLiteral, Text: strings.ToLower(t.Value)}, nil
		}
		return &Call{Pos: at, Name: t.Value}, nil // CURRENT_DATE and its like
	}
	return &ColumnRef{Pos: at, Name: l.name(t), Quoted: t.Type == tokQuoted}, nil
}

func literal(at Pos, kind LiteralKind, s string, err error) (Expr, error) {
	if err != nil {
		return nil, err
	}
	return &Literal{Pos: at, Kind: kind, Text: s}, nil
}

// param lowers ?, $n and @name; the lexer has counted the ? and checked the n.
func param(t *lexer.Token) Expr {
	p := &Param{Pos: pos(t)}
	switch t.Value[0] {
	case '?':
		p.Index = t.Pos.Line
	case '$':
		p.Index, _ = strconv.Atoi(t.Value[1:])
	default:
		p.Name = t.Value[1:]
	}
	return p
}

// literal is the typed literal that starts at the token of its type.
func (n *typedNode) literal(start *lexer.Token) (Expr, error) {
	s, err := text(n.text)
	if n.unit != "" {
		s += " " + n.unit
	}
	return literal(pos(start), n.kind, s, err)
}

func (n *typedNode) lower(*lowerer) (Expr, error) { return n.literal(n.text) }

func (n *columnNode) lower(l *lowerer) (Expr, error) {
	first := n.table
	if first == nil {
		first = n.family
	}
	out := &ColumnRef{Pos: pos(first), Table: l.name(n.table), Name: l.name(n.name)}
	if n.family == nil {
		out.Quoted = n.name.Type == tokQuoted
		return out, nil
	}
	family := l.name(n.family)
	if family == "" || strings.Contains(family, ":") {
		return nil, Errorf(pos(n.family), "the family %q is empty or holds a colon", family)
	}
	out.Name = family + ":" + out.Name
	return out, nil
}

func (n *parenNode) lower(l *lowerer) (Expr, error) {
	if n.Query != nil {
		q, err := l.query(n.Query.selectNode)
		if err != nil {
			return nil, err
		}
		return &SubqueryExpr{Pos: at(n.Pos), Query: q}, nil
	}
	if len(n.List.items) == 1 {
		return l.expr(&n.List.items[0])
	}
	items, err := l.exprs(&n.List)
	return &Tuple{Pos: at(n.Pos), Items: items}, err
}

func (n *rowNode) lower(l *lowerer) (Expr, error) {
	items, err := l.exprs(&n.List)
	return &Tuple{Pos: at(n.Pos), Items: items}, err
}

func (n *caseNode) lower(l *lowerer) (Expr, error) {
	x, err := l.expr(n.X)
	if err != nil {
		return nil, err
	}
	out := &Case{Pos: at(n.Pos), X: x, Whens: make([]When, len(n.Whens))}
	for i, w := range n.Whens {
		if out.Whens[i].Cond, err = l.expr(&w.Cond); err != nil {
			return nil, err
		}
		if out.Whens[i].Then, err = l.expr(&w.Then); err != nil {
			return nil, err
		}
	}
	out.Else, err = l.expr(n.Else)
	return out, err
}

func (n *castNode) lower(l *lowerer) (Expr, error) {
	x, err := l.expr(&n.X)
	if err != nil {
		return nil, err
	}
	enc, err := l.encoding(n.Encoding)
	return &Cast{Pos: at(n.Pos), X: x, Type: n.Type.Text, Encoding: enc}, err
}

func (n *existsNode) lower(l *lowerer) (Expr, error) {
	q, err := l.query(n.Query)
	if err != nil {
		return nil, err
	}
	return &SubqueryExpr{Pos: at(n.Pos), Exists: true, Query: q}, nil
}
