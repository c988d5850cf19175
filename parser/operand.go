package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// startsOperand tells whether an expression can start with t.
func startsOperand(t *lexer.Token) bool {
	switch t.Type {
	case tokWord, tokGuarded, tokQuoted, tokNumber, tokString, tokBytes, tokParam:
		return true
	case tokOp:
		return t.Value == "(" || t.Value == "-" || t.Value == "+"
	case tokReserved:
		switch t.Value {
		case "NULL", "TRUE", "FALSE", "NOT", "CASE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP":
			return true
		}
	}
	return false
}

// readOperand reads one operand. Single tokens stay tokens; the rest goes to its
// production, chosen by its first word so that nothing is tried in vain.
func readOperand(lex *lexer.PeekingLexer) (chainItem, error) {
	t := lex.Peek()
	if !startsOperand(t) {
		return chainItem{}, unexpected(lex)
	}
	item := chainItem{tok: t}
	var err error
	switch {
	case t.Value == "(":
		item.node, err = read(parenParser, lex)
	case t.Value == "CASE":
		item.node, err = read(caseParser, lex)
	case isName(t):
		item.node, err = readNamed(lex)
	case t.Value == "CURRENT_DATE" || t.Value == "CURRENT_TIME" || t.Value == "CURRENT_TIMESTAMP":
		lex.Next()
		if accept(lex, "(") && !accept(lex, ")") {
			err = unexpected(lex)
		}
	default:
		lex.Next()
	}
	return item, err
}

// readNamed reads what starts with a name: a column, a call, a literal led by its type. A nil
// node is a column of one word.
func readNamed(lex *lexer.PeekingLexer) (operandNode, error) {
	at := lex.MakeCheckpoint()
	t := lex.Next()
	switch next := lex.Peek(); {
	case next.Value == "(":
		lex.LoadCheckpoint(at)
		return readCall(lex, t)
	case next.Value == "." || next.Value == ":":
		return readColumn(lex, t)
	case next.Type == tokString:
		if kind, ok := typedLiterals[strings.ToUpper(t.Value)]; ok && t.Type == tokWord {
			return readTyped(lex, kind)
		}
	case t.Value == "SALT" && next.Value == "HEX":
		if isNext(lex, "HEX", "(") {
			lex.LoadCheckpoint(at)
			return read(callParser, lex)
		}
	}
	return nil, nil
}

// readCall chooses the production of a call by the function's name.
func readCall(lex *lexer.PeekingLexer, name *lexer.Token) (operandNode, error) {
	switch name.Value {
	case "CAST":
		return read(castParser, lex)
	case "EXISTS":
		return read(existsParser, lex)
	case "EXTRACT":
		return read(extractParser, lex)
	case "POSITION":
		return read(positionParser, lex)
	case "SUBSTRING", "SUBSTR":
		return read(substringParser, lex)
	case "TRIM":
		return read(trimParser, lex)
	case "ROW":
		return read(rowParser, lex)
	}
	return read(callParser, lex)
}

// read runs one production where the lexer stands. The detour keeps a failed node from
// becoming a non-nil interface.
func read[N any, P interface {
	*N
	operandNode
}](p *participle.Parser[N], lex *lexer.PeekingLexer) (operandNode, error) {
	n, err := p.ParseFromLexer(lex, participle.AllowTrailing(true))
	if err != nil {
		return nil, err
	}
	return P(n), nil
}

// columnNode is table.column, family:qualifier or table.family:qualifier.
type columnNode struct {
	table, family, name *lexer.Token // table and family may be nil
}

func readColumn(lex *lexer.PeekingLexer, first *lexer.Token) (operandNode, error) {
	n := &columnNode{name: first}
	if accept(lex, ".") {
		if !isName(lex.Peek()) {
			return nil, unexpected(lex)
		}
		n.table, n.name = first, lex.Next()
	}
	if accept(lex, ":") {
		if !isQualifier(lex.Peek()) {
			return nil, unexpected(lex)
		}
		n.family, n.name = n.name, lex.Next()
	}
	return n, nil
}

var typedLiterals = map[string]LiteralKind{
	"DATE": DateLiteral, "TIME": TimeLiteral, "TIMESTAMP": TimestampLiteral, "TIMESTAMPTZ": TimestampLiteral, "INTERVAL": IntervalLiteral,
}

// intervalUnits may follow INTERVAL '5'.
var intervalUnits = map[string]bool{
	"YEAR": true, "MONTH": true, "WEEK": true, "DAY": true, "HOUR": true, "MINUTE": true, "SECOND": true, "MILLISECOND": true,
	"YEARS": true, "MONTHS": true, "WEEKS": true, "DAYS": true, "HOURS": true, "MINUTES": true, "SECONDS": true, "MILLISECONDS": true,
}

// typedNode is DATE '..', TIME '..', TIMESTAMP '..' or INTERVAL '..' [unit].
type typedNode struct {
	kind LiteralKind
	text *lexer.Token
	unit string
}

func readTyped(lex *lexer.PeekingLexer, kind LiteralKind) (operandNode, error) {
	n := &typedNode{kind: kind, text: lex.Next()}
	if t := lex.Peek(); kind == IntervalLiteral && t.Type == tokWord && intervalUnits[strings.ToUpper(t.Value)] {
		n.unit = strings.ToLower(lex.Next().Value)
	}
	return n, nil
}
