package parser

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// diagnose says in the user's words why token i cannot stand where it stands: what is
// expected there follows from the tokens before it, not from the grammar's rules.
//
//	expected a table name after FROM, found "WHERE"
func diagnose(tokens []lexer.Token, src string, i int) *Error {
	d := diagnosis{tokens: tokens, src: src}
	d.walk(i)
	// The grammar gives up on a clause as a whole: on ORDER where BY is missing. Where the
	// token found is one that was expected, the mistake stands behind it.
	for i < len(tokens)-1 && (d.isLonePair(i) || mentions(d.expected(i), d.value(i))) {
		i++
		d.walk(i)
	}
	e := Errorf(pos(&tokens[i]), "expected %s, found %s", d.expected(i), d.found(i))
	e.Hint = d.hint(i)
	return e
}

// pairs are the words that a word must be followed by.
var pairs = map[string]string{
	"ORDER": "BY", "GROUP": "BY", "INSERT": "INTO", "UPSERT": "INTO", "DELETE": "FROM",
	"CREATE": "TABLE", "DROP": "TABLE", "CHECK": "TABLE", "CROSS": "JOIN", "INNER": "JOIN", "ALLOW": "FULL SCAN",
	"STORED": "IN", "MALFORMED": "KEY", "PRIMARY": "KEY", "NULLS": "FIRST or LAST",
	"SPLIT": "AT, FROM FILE or INTO", "FAMILY": "a family's name", "INDEX": "an index name",
	"FULL": "SCAN", "SYSTEM_TIME": "ALL, AS OF or BETWEEN", "FOR": "SYSTEM_TIME", "COPY": "a table name or ( and a query",
	"SHOW": "TABLES, CREATE TABLE, SPLITS, FUNCTIONS, ALL or a setting", "SET": "a setting's name",
	"EXPLAIN": "a statement, ANALYZE or ( and options", "IF": "NOT EXISTS", "ROW": "KEY",
}

// isLonePair reports whether token i starts a clause of two words whose second is missing.
func (d *diagnosis) isLonePair(i int) bool {
	switch word := d.value(i); word {
	case "ORDER", "GROUP", "CROSS", "INNER", "FOR", "ALLOW":
		return i > 0 && d.endsOperand(i-1) && !strings.HasPrefix(pairs[word], d.value(i+1))
	}
	return false
}

// endsOperand reports whether an expression or a name could end with token i.
func (d *diagnosis) endsOperand(i int) bool {
	t := &d.tokens[i]
	switch t.Type {
	case tokOp:
		return t.Value == ")" || t.Value == "]" || t.Value == "*"
	case tokReserved:
		return t.Value == "NULL" || t.Value == "TRUE" || t.Value == "FALSE" || t.Value == "END" || t.Value == "DESC" || t.Value == "ASC"
	}
	return true
}

// mentions reports whether word is one of the things that expected lists.
func mentions(expected, word string) bool {
	expected, _, _ = strings.Cut(expected, " after ")
	if word == "," {
		return strings.HasPrefix(expected, "a comma")
	}
	for _, w := range strings.FieldsFunc(expected, func(r rune) bool { return r == ' ' || r == ',' }) {
		if w == word {
			return true
		}
	}
	return false
}

// found describes token i.
func (d *diagnosis) found(i int) string {
	t := d.tokens[i]
	if t.Type != lexer.EOF {
		return quoteFound(d.src[t.Pos.Offset:min(t.Pos.Offset+len(t.Value), len(d.src))])
	}
	return "the end of the statement"
}

func quoteFound(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if s = clip(s); strings.ContainsAny(s, `"`) {
		return s
	}
	return `"` + s + `"`
}

// expected says what could stand at token i.
func (d *diagnosis) expected(i int) string {
	before := d.value(i - 1)
	top := &d.frames[len(d.frames)-1]
	if i == 0 {
		return "a statement (SELECT, INSERT, UPDATE, DELETE, CREATE TABLE, SHOW, DESCRIBE, EXPLAIN ...)"
	}
	if d.tokens[i-1].Type == tokOp {
		return d.afterOperator(before, top)
	}
	if s := d.afterWord(i, before, top); s != "" {
		return s
	}
	if top.purpose != "" {
		return d.inParentheses(i, top)
	}
	return d.nextClause(i, top)
}

// afterOperator says what follows a comma, a parenthesis or an operator.
func (d *diagnosis) afterOperator(before string, top *frame) string {
	switch before {
	case "(", "[":
		return top.purpose
	case ",":
		return d.afterComma(top)
	case ")", "]":
		if top.purpose != "" {
			return d.inParentheses(len(d.tokens), top)
		}
		return d.nextClause(-1, top)
	case ".":
		return "a column name after the dot"
	case ":":
		return "a qualifier after the colon"
	case "::":
		return "a type after ::"
	case "*":
		if top.clause == "SELECT" {
			return d.nextClause(-1, top)
		}
	}
	return "a value after " + before
}

func (d *diagnosis) afterComma(top *frame) string {
	switch {
	case top.clause == "FROM" || top.clause == "JOIN":
		return "a table name after the comma"
	case top.clause == "VALUES":
		return "( and the next row after the comma"
	case top.clause == "SET":
		return "a column name after the comma"
	case top.purpose != "" && top.clause == "":
		return top.purpose + " after the comma"
	}
	return "an expression after the comma"
}

// afterWord says what a keyword must be followed by, "" where token i-1 is no such word.
func (d *diagnosis) afterWord(i int, before string, top *frame) string {
	t := &d.tokens[i-1]
	ddl := d.verb == "CREATE" && top.clause != "SELECT"
	switch before {
	case "SELECT", "DISTINCT":
		return "a column, an expression or * after " + before
	case "FROM":
		switch {
		case ddl:
			return "family:qualifier after FROM"
		case d.verb == "COPY" && top.open < 0:
			return "a file name in quotes or STDIN after FROM"
		case top.purpose == "an argument":
			return "an expression after FROM"
		}
		return "a table name after FROM"
	case "JOIN", "INTO", "DESCRIBE", "UPDATE", "TABLE":
		return "a table name after " + before
	case "EXISTS":
		if d.verb == "CREATE" || d.verb == "DROP" {
			return "a table name after EXISTS"
		}
		return "( and a query after EXISTS"
	case "WHERE", "HAVING", "WHEN":
		return "a condition after " + before
	case "ON":
		if ddl {
			return "MALFORMED KEY after ON"
		}
		return "a condition after ON"
	case "NOT":
		if ddl {
			return "NULL after NOT"
		}
		return "an expression after NOT"
	case "AND", "OR", "THEN", "ELSE":
		return "an expression after " + before
	case "BY":
		if ddl {
			return "HEX, UNIFORM, KEY or SAMPLE OF FILE after BY"
		}
		return "an expression after " + d.value(i-2) + " BY"
	case "LIMIT", "OFFSET":
		return "a number or a parameter after " + before
	case "AS":
		return d.afterAs(ddl, top)
	case "LIKE", "ILIKE":
		return "a pattern after " + before
	case "IN":
		if d.value(i-2) == "STORED" {
			return "a table name in quotes or ( and its parts after STORED IN"
		}
		return "( and a list or a query after IN"
	case "BETWEEN":
		return "a value after BETWEEN"
	case "IS":
		return "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM after IS"
	case "CASE":
		return "WHEN after CASE"
	case "USING":
		return "( and column names after USING"
	case "VALUES":
		return "( and a row after VALUES"
	case "WITH":
		if ddl {
			return "( and options after WITH"
		}
		return "a name after WITH"
	}
	switch next, ok := pairs[before]; {
	case before == "SET" && i > 1:
		return "a column name after SET"
	case before == "FORMAT" && d.verb == "EXPLAIN":
		return "JSON, TEXT or HTML after FORMAT"
	case !ok:
	case t.Type != tokWord, i == 1, d.value(i-2) == "FOR", ddl && top.open < 0 && before != "INDEX":
		return next + " after " + before
	}
	return ""
}

func (d *diagnosis) afterAs(ddl bool, top *frame) string {
	switch {
	case ddl:
		return "an encoding after AS"
	case top.open > 0 && d.value(top.open-1) == "CAST":
		return "a type after AS"
	}
	return "a name after AS"
}

// inParentheses says what follows a finished item in parentheses.
func (d *diagnosis) inParentheses(i int, top *frame) string {
	if top.purpose == "CASE" {
		switch top.clause {
		case "WHEN":
			return "THEN"
		case "ELSE":
			return "END"
		case "THEN":
			return "WHEN, ELSE or END"
		}
		return "WHEN"
	}
	if i < len(d.tokens) && d.verb == "CREATE" && top.purpose == "a column name" {
		switch last := d.value(i - 2); {
		case last == "," || i-2 == top.open:
			return "a type after the column's name"
		case last == "AS" || top.clause == "AS":
			return "a comma, NOT NULL, PRIMARY KEY or )"
		}
		return "a comma, FROM, AS, NOT NULL, PRIMARY KEY or )"
	}
	switch {
	case top.open > 0 && d.value(top.open-1) == "CAST" && top.clause == "":
		return "AS and a type"
	case d.value(top.open) == "[":
		return "AS and an encoding, a comma or ]"
	case top.purpose == "a key part" && top.clause != "AS":
		return "AS and an encoding, a comma or )"
	}
	return "a comma or )"
}

// nextClause says what follows a finished clause of the statement.
func (d *diagnosis) nextClause(i int, top *frame) string {
	switch top.clause {
	case "SELECT":
		return "a comma, FROM or the end of the statement"
	case "FROM", "JOIN", "USING":
		if d.verb == "DELETE" {
			return "WHERE or the end of the statement"
		}
		return "a comma, JOIN, WHERE or another clause"
	case "WHERE", "HAVING":
		return "AND, OR or the next clause"
	case "GROUP":
		return "a comma, HAVING, ORDER BY or LIMIT"
	case "ORDER":
		return "a comma, ASC, DESC, LIMIT or the end of the statement"
	case "LIMIT", "OFFSET":
		return "OFFSET, LIMIT or the end of the statement"
	case "INTO":
		return "VALUES, SELECT or ( and column names"
	case "VALUES":
		return "a comma and another row or the end of the statement"
	case "SET":
		if i >= 0 && i-1 == top.clauseI+1 {
			return "= after the name"
		}
		return "a comma, WHERE or the end of the statement"
	}
	switch d.verb {
	case "UPDATE":
		return "SET after the table's name"
	case "CREATE":
		if s := d.afterTableClause(i, top); s != "" {
			return s
		}
		return "ROW KEY, INDEX, STORED IN, FAMILY, SPLIT, ON MALFORMED KEY, WITH or the end of the statement"
	case "WITH":
		return "AS and a query"
	case "COPY":
		return "FROM or TO"
	}
	return "the end of the statement"
}

// afterTableClause says what follows the name in CREATE TABLE name, ROW KEY name and INDEX name.
func (d *diagnosis) afterTableClause(i int, top *frame) string {
	if i <= top.clauseI {
		return ""
	}
	for _, t := range d.tokens[top.clauseI:i] {
		if t.Value == ")" {
			return ""
		}
	}
	switch top.clause {
	case "TABLE":
		return "( and the columns"
	case "KEY", "INDEX":
		return "( and the parts of the key"
	}
	return ""
}
