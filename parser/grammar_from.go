package parser

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// maxJoins bounds the number of joins in one FROM item; each nests the previous ones to its left.
const maxJoins = 100

// fromNode is one item of FROM with its joins.
type fromNode struct {
	First factorNode
	Joins []*joinNode
}

func (n *fromNode) Parse(lex *lexer.PeekingLexer) error {
	if err := n.First.Parse(lex); err != nil {
		return err
	}
	for startsJoin(lex) {
		if len(n.Joins) == maxJoins {
			return Errorf(pos(lex.Peek()), "more than %d joins", maxJoins)
		}
		j, err := read(joinParser, lex, participle.AllowTrailing(true))
		if err != nil {
			return err
		}
		n.Joins = append(n.Joins, j)
	}
	return nil
}

// startsJoin reports whether a join comes next.
func startsJoin(lex *lexer.PeekingLexer) bool {
	switch lex.Peek().Value {
	case "JOIN", "INNER", "CROSS":
		return true
	case "LEFT", "RIGHT", "FULL":
		word := lex.Peek().Value
		return isNext(lex, word, "JOIN") || isNext(lex, word, "OUTER")
	case "NATURAL":
		return true
	}
	missed(lex, "JOIN")
	return false
}

// parenQuery is a query in parentheses where an expression or a join in parentheses could also be.
type parenQuery struct {
	*selectNode
}

func (n *parenQuery) Parse(lex *lexer.PeekingLexer) (err error) {
	if !isQuery(lex) {
		return participle.NextMatch
	}
	n.selectNode, err = read(selectParser, lex, participle.AllowTrailing(true))
	return err
}

// isQuery reports whether a query comes next. It does not move lex.
func isQuery(lex *lexer.PeekingLexer) bool {
	at := lex.MakeCheckpoint()
	defer lex.LoadCheckpoint(at)
	return startsQuery(lex)
}

// startsQuery reports whether a query comes next; it moves lex. After an opening parenthesis it looks behind the closing one:
// ((SELECT 1) UNION (SELECT 2)) is a query, ((SELECT 1) + 1) is not.
func startsQuery(lex *lexer.PeekingLexer) bool {
	depth := 0
	for accept(lex, "(") {
		depth++
	}
	switch lex.Peek().Value {
	case "SELECT", "VALUES", "WITH":
	case "TABLE": // TABLE t is a query; TABLE alone is the name of a table
		at := lex.MakeCheckpoint()
		lex.Next()
		named := isName(lex.Peek())
		lex.LoadCheckpoint(at)
		if !named {
			return false
		}
	default:
		return false
	}
	for level := depth; level > 0; {
		t := lex.Next()
		switch {
		case t.EOF():
			return false
		case t.Value == "(":
			level++
		case t.Value == ")":
			level--
			if level < depth { // one of the leading parentheses is closed
				depth = level
				switch lex.Peek().Value {
				case "UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT", "OFFSET", "FETCH", "ALLOW", ")":
				default:
					return false
				}
			}
		}
	}
	return true
}

// factorNode is an item of FROM without its joins: a table, a derived table or a join in parentheses. Tables are parsed by
// hand, for speed: every query has one.
type factorNode struct {
	Lateral bool
	Derived *derivedNode
	Table   tableName
	Alias   alias
	Time    *systemTimeNode
	Columns []*columnIdent
	Types   []string // of the columns, if a function's alias has them
	// Call is set for a function.
	Call *tableCall
}

// tableCall holds the arguments of a function in FROM.
type tableCall struct {
	args   []Expr
	height int

	ordinality bool // WITH ORDINALITY
}

func (n *factorNode) Parse(lex *lexer.PeekingLexer) (err error) {
	defer fail.Catch(&err)
	n.Lateral = lateral(lex)
	if lex.Peek().Value == "(" {
		n.Derived, err = read(derivedParser, lex, participle.AllowTrailing(true))
		return err
	}
	only(lex)
	if err := n.Table.Parse(lex); err != nil {
		return err
	}
	if accept(lex, "(") {
		n.call(lex)
		return nil
	}
	accept(lex, "*")
	n.systemTime(lex)
	n.columns(lex)
	n.systemTime(lex)
	return nil
}

// only accepts the word ONLY if the name of a table follows: no table has children.
func only(lex *lexer.PeekingLexer) {
	at := lex.MakeCheckpoint()
	if !accept(lex, "ONLY") || !isAlias(lex.Peek()) {
		lex.LoadCheckpoint(at)
	}
}

// targetName is [ONLY] name [*].
type targetName struct{ tableName }

func (n *targetName) Parse(lex *lexer.PeekingLexer) error {
	only(lex)
	err := n.tableName.Parse(lex)
	if err == nil {
		accept(lex, "*")
	}
	return err
}

// lateral accepts the word LATERAL if a query or a function follows; otherwise it is the name of a table.
func lateral(lex *lexer.PeekingLexer) bool {
	at := lex.MakeCheckpoint()
	if accept(lex, "LATERAL") {
		if lex.Peek().Value == "(" {
			return true
		}
		if _, word := keywordsByWord[lex.Peek().Value]; !word && isNext(lex, lex.Peek().Value, "(") {
			return true
		}
	}
	lex.LoadCheckpoint(at)
	return false
}

// call reads a function's arguments and column names, after the parenthesis.
func (n *factorNode) call(lex *lexer.PeekingLexer) {
	n.Call = &tableCall{}
	r := exprReader{lex: lex}
	if r.startsOperand() {
		n.Call.args = r.list(3)
	}
	n.Call.height = r.height
	need(lex, ")")
	n.Call.ordinality = accept(lex, "WITH", "ORDINALITY")
	n.columns(lex)
}

// columns reads [AS] alias [(columns)]; a function's columns may have types.
func (n *factorNode) columns(lex *lexer.PeekingLexer) {
	expected := wanted
	if n.Call == nil { // few tables have column names: errors do not offer them
		expected = accept
	}
	if err := n.Alias.Parse(lex); err == participle.NextMatch {
		return
	} else if fail.On(err); !expected(lex, "(") {
		return
	}
	r := exprReader{lex: lex}
	for {
		c := &columnIdent{}
		follow(lex, c)
		n.Columns = append(n.Columns, c)
		if next := lex.Peek().Value; n.Call != nil && next != "," && next != ")" && len(n.Types) == len(n.Columns)-1 {
			n.Types = append(n.Types, r.typeName())
		}
		if !wanted(lex, ",") {
			break
		}
	}
	need(lex, ")")
}

// systemTime reads FOR SYSTEM_TIME, which may come before or after the alias.
func (n *factorNode) systemTime(lex *lexer.PeekingLexer) {
	if lex.Peek().Value == "FOR" && n.Time == nil {
		n.Time = fail.Must(read(systemTimeParser, lex, participle.AllowTrailing(true)))
	}
}
