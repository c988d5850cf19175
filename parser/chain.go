package parser

import (
	"slices"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

const (
	// maxOperators bounds the operators of one expression: a left-deep tree of that
	// height is still safe to walk recursively.
	maxOperators = 20000
	// maxPrefixes bounds NOT NOT NOT ... and - - - ..., which nest to the right.
	maxPrefixes = 256
)

// exprNode is an expression as it stands in the text: operands and operators in a row.
// The order in which they bind is settled when it is lowered (precedence.go).
//
//	NOT a + 1 = b AND c IS NULL -> NOT, a, +, 1, =, b, AND, c, IS NULL
type exprNode struct {
	head chainItem
	tail []chainItem
}

// chainItem is an operand (op opNone) or an operator. node is an operand that needs more than
// its token, or what belongs to a postfix operator: the type of ::, the word of IS.
type chainItem struct {
	tok  *lexer.Token
	op   opCode
	not  bool // NOT IN, NOT LIKE, NOT BETWEEN, IS NOT
	node operandNode
}

// operandNode is an operand of several tokens.
type operandNode interface {
	lower(l *lowerer) (Expr, error)
}

// stopAt keeps an operator that the grammar wants for itself out of a chain.
type stopAt uint8

const (
	stopNowhere stopAt = iota
	stopAtAnd          // FOR SYSTEM_TIME BETWEEN a AND b
	stopAtIn           // POSITION(a IN b)
)

// Parse implements participle.Parseable.
func (e *exprNode) Parse(lex *lexer.PeekingLexer) error { return e.parse(lex, stopNowhere) }

// lowBound is an expression in front of an AND that does not belong to it.
type lowBound struct{ exprNode }

// Parse implements participle.Parseable.
func (e *lowBound) Parse(lex *lexer.PeekingLexer) error { return e.parse(lex, stopAtAnd) }

// needle is an expression in front of an IN that does not belong to it.
type needle struct{ exprNode }

// Parse implements participle.Parseable.
func (e *needle) Parse(lex *lexer.PeekingLexer) error { return e.parse(lex, stopAtIn) }

func (e *exprNode) add(item chainItem) error {
	if e.head.tok == nil {
		e.head = item
		return nil
	}
	if len(e.tail) >= 2*maxOperators {
		return Errorf(Pos(item.tok.Pos.Offset), "more than %d operators in one expression", maxOperators).
			WithHint("a long list of alternatives is shorter as x IN (...)")
	}
	e.tail = append(e.tail, item)
	return nil
}

func (e *exprNode) parse(lex *lexer.PeekingLexer, stop stopAt) error {
	if !startsOperand(lex.Peek()) {
		return participle.NextMatch
	}
	open := 0 // BETWEENs that wait for their AND
	for {
		if err := e.operand(lex); err != nil {
			return err
		}
		for {
			op, err := readOperator(lex, stop, open)
			if err != nil {
				return err
			}
			if op.op == opNone {
				return nil
			}
			switch op.op {
			case opBetween:
				open++
			case opAnd:
				open = max(open-1, 0)
			}
			if err := e.add(op); err != nil {
				return err
			}
			if !op.op.isPostfix() {
				break
			}
		}
	}
}

// operand reads prefix operators and one operand.
func (e *exprNode) operand(lex *lexer.PeekingLexer) error {
	for n := 0; ; n++ {
		t := lex.Peek()
		op := prefixOp(t)
		if op == opNone {
			break
		}
		if n == maxPrefixes {
			return Errorf(Pos(t.Pos.Offset), "more than %d %s in a row", maxPrefixes, t.Value)
		}
		if err := e.add(chainItem{tok: lex.Next(), op: op}); err != nil {
			return err
		}
	}
	item, err := readOperand(lex)
	if err != nil {
		return err
	}
	return e.add(item)
}

// exprList is expressions between commas. It is one node, not a grammar repetition: IN
// and VALUES lists are long.
type exprList struct {
	items []exprNode
}

// Parse implements participle.Parseable.
func (l *exprList) Parse(lex *lexer.PeekingLexer) error {
	for {
		if n := len(l.items); n == cap(l.items) && n >= 256 {
			l.items = slices.Grow(l.items, 3*n) // long lists are long: copy them less often
		}
		var e exprNode
		if err := e.Parse(lex); err != nil {
			if err == participle.NextMatch && len(l.items) > 0 {
				err = unexpected(lex)
			}
			return err
		}
		l.items = append(l.items, e)
		if !accept(lex, ",") {
			return nil
		}
	}
}

// rowList is the rows of VALUES: (a, b), (c, d).
type rowList struct {
	rows []valuesRow
}

type valuesRow struct {
	exprs exprList
}

// Parse implements participle.Parseable.
func (l *rowList) Parse(lex *lexer.PeekingLexer) error {
	for {
		if !accept(lex, "(") {
			if len(l.rows) > 0 {
				return unexpected(lex)
			}
			return participle.NextMatch
		}
		var row valuesRow
		if n := len(l.rows); n > 0 {
			row.exprs.items = make([]exprNode, 0, len(l.rows[n-1].exprs.items))
		}
		if err := row.exprs.Parse(lex); err != nil {
			if err == participle.NextMatch {
				err = unexpected(lex)
			}
			return err
		}
		if !accept(lex, ")") {
			return unexpected(lex)
		}
		l.rows = append(l.rows, row)
		if !accept(lex, ",") {
			return nil
		}
	}
}
