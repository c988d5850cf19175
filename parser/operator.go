package parser

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// opCode is an operator of an expression.
type opCode uint8

const (
	opNone opCode = iota
	opNot
	opMinus
	opPlus
	opOr
	opAnd
	opIs       // IS [NOT] NULL and the like; the item's node is the last word
	opDistinct // IS [NOT] DISTINCT FROM
	opCompare
	opBetween
	opIn
	opLike
	opEscape
	opOther // || -> ->> ~ and the like
	opAdd
	opMul
	opZone // AT TIME ZONE
	opCast // ::type
)

// isPostfix tells whether op stands behind its operand and takes no other.
func (o opCode) isPostfix() bool { return o == opIs || o == opCast }

// infixOps are the operators that one token makes. IN, LIKE, IS and the like need more
// and are in readOperator.
var infixOps = map[string]opCode{
	"OR": opOr, "AND": opAnd,
	"=": opCompare, "<>": opCompare, "<": opCompare, "<=": opCompare, ">": opCompare, ">=": opCompare,
	"||": opOther, "->": opOther, "->>": opOther, "~": opOther, "~*": opOther, "!~": opOther, "!~*": opOther,
	"+": opAdd, "-": opAdd, "*": opMul, "/": opMul, "%": opMul,
}

func prefixOp(t *lexer.Token) opCode {
	switch t.Value {
	case "NOT":
		return opNot
	case "-":
		return opMinus
	case "+":
		return opPlus
	}
	return opNone
}

// readOperator reads the operator that comes next; opNone says there is none.
func readOperator(lex *lexer.PeekingLexer, stop stopAt, open int) (chainItem, error) {
	t := lex.Peek()
	switch t.Type {
	case tokOp:
		if t.Value == "::" {
			return readCast(lex)
		}
		if op, ok := infixOps[t.Value]; ok {
			return chainItem{tok: lex.Next(), op: op}, nil
		}
		return chainItem{}, nil
	case tokReserved, tokGuarded:
		if t.Value == "AND" && stop == stopAtAnd && open == 0 || t.Value == "IN" && stop == stopAtIn {
			return chainItem{}, nil
		}
		return readWordOperator(lex, t)
	}
	return chainItem{}, nil
}

func readWordOperator(lex *lexer.PeekingLexer, t *lexer.Token) (chainItem, error) {
	switch t.Value {
	case "AND":
		return chainItem{tok: lex.Next(), op: opAnd}, nil
	case "OR":
		return chainItem{tok: lex.Next(), op: opOr}, nil
	case "IS":
		return readIs(lex)
	case "ISNULL", "NOTNULL":
		return chainItem{tok: lex.Next(), op: opIs, not: t.Value == "NOTNULL", node: isWord("NULL")}, nil
	case "ESCAPE":
		return chainItem{tok: lex.Next(), op: opEscape}, nil
	case "AT":
		if !accept(lex, "AT", "TIME", "ZONE") {
			return chainItem{}, nil
		}
		return chainItem{tok: t, op: opZone}, nil
	}
	item := chainItem{tok: t}
	at := lex.MakeCheckpoint()
	item.not = accept(lex, "NOT")
	word := lex.Peek()
	switch word.Value {
	case "IN":
		lex.Next()
		if lex.Peek().Value != "(" {
			return item, unexpected(lex)
		}
		item.op = opIn
	case "BETWEEN":
		lex.Next()
		item.op = opBetween
	case "LIKE", "ILIKE":
		item.tok, item.op = lex.Next(), opLike
	case "SIMILAR":
		if !accept(lex, "SIMILAR", "TO") {
			break
		}
		item.tok, item.op = word, opLike
	}
	if item.op != opNone {
		return item, nil
	}
	if item.not {
		return item, unexpected(lex)
	}
	lex.LoadCheckpoint(at)
	return chainItem{}, nil
}

// isWord is the last word of IS [NOT] NULL.
type isWord string

func (w isWord) lower(*lowerer) (Expr, error) { return nil, nil }

// castType is the type behind ::.
type castType struct{ typeName }

func (c *castType) lower(*lowerer) (Expr, error) { return nil, nil }

// readIs reads IS [NOT] NULL | TRUE | FALSE | UNKNOWN | DISTINCT FROM.
func readIs(lex *lexer.PeekingLexer) (chainItem, error) {
	is := lex.Next()
	not := accept(lex, "NOT")
	switch word := lex.Peek(); word.Value {
	case "NULL", "TRUE", "FALSE", "UNKNOWN":
		lex.Next()
		return chainItem{tok: is, op: opIs, not: not, node: isWord(word.Value)}, nil
	case "DISTINCT":
		lex.Next()
		if accept(lex, "FROM") {
			return chainItem{tok: is, op: opDistinct, not: not}, nil
		}
	}
	return chainItem{}, unexpected(lex)
}

func readCast(lex *lexer.PeekingLexer) (chainItem, error) {
	item := chainItem{tok: lex.Next(), op: opCast}
	typ := &castType{}
	if err := typ.Parse(lex); err != nil {
		if err == participle.NextMatch {
			err = unexpected(lex)
		}
		return item, err
	}
	item.node = typ
	return item, nil
}
