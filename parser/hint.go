package parser

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// hint says how the mistake at token i is usually put right; "" where that is not known.
func (d *diagnosis) hint(i int) string {
	t := &d.tokens[i]
	before, word := d.value(i-1), t.Value
	switch {
	case before == "=" && word == "=":
		return "equality is a single ="
	case strings.EqualFold(before, "OVER") && word == "(":
		return "window functions are not supported"
	case word == "OUTER" && d.value(i+1) == "JOIN":
		return "LEFT, RIGHT or FULL OUTER JOIN says whose rows stay"
	case before == "OF" && d.value(i-2) == "AS":
		return "versions are read with FOR SYSTEM_TIME AS OF time"
	case word == ")" && d.frames[len(d.frames)-1].open < 0:
		return "there is no ( for this )"
	case (word == "SELECT" || word == "CREATE") && i > 0 && d.endsOperand(i-1) && len(d.frames) == 1:
		return "a ; separates statements"
	case t.Type == tokReserved && d.wantsName(i):
		text := d.src[t.Pos.Offset : t.Pos.Offset+len(word)]
		return fmt.Sprintf("%s is a reserved word: in double quotes, %s, it is a name", strings.ToUpper(text), quoteAlways(text))
	}
	if s := d.typo(i); s != "" {
		return s
	}
	if top := d.frames[len(d.frames)-1]; top.open >= 0 && (t.Type == lexer.EOF || clauseWords[word]) {
		return d.notClosed(top)
	}
	return ""
}

// wantsName tells whether only a name could stand at token i.
func (d *diagnosis) wantsName(i int) bool {
	switch e := d.expected(i); {
	case strings.HasPrefix(e, "a table name"), strings.HasPrefix(e, "a column"), strings.HasPrefix(e, "a name"):
		return d.tokens[i].Value != "SELECT" && !followsClause(d.value(i+1), d.tokens[i].Value)
	}
	return false
}

// followsClause tells whether word and the next token look like a clause rather than a
// name that happens to be reserved: FROM WHERE x is a forgotten table.
func followsClause(next, word string) bool {
	switch word {
	case "WHERE", "HAVING", "LIMIT", "ON", "JOIN", "FROM", "VALUES":
		return next != "" && next != "," && next != ")" && !clauseWords[next]
	case "ORDER", "GROUP":
		return next == "BY"
	}
	return false
}

func (d *diagnosis) notClosed(top frame) string {
	open := &d.tokens[top.open]
	line, col := (&Error{Pos: pos(open), Source: d.src}).LineCol()
	return fmt.Sprintf("the %s at %d:%d is not closed", open.Value, line, col)
}

// typo finds the keyword that token i, or the word before it that was taken for an
// alias, may have been meant to be.
func (d *diagnosis) typo(i int) string {
	for _, j := range []int{i, i - 1} {
		if j < 0 || d.tokens[j].Type != tokWord || j < i && d.verb == "CREATE" {
			continue // in CREATE TABLE, the word before is a type or a name, never an alias
		}
		word := d.tokens[j].Value
		if _, known := keywordOf(word); known {
			continue
		}
		if k := nearestKeyword(strings.ToUpper(word), j == 0); k != "" {
			return "did you mean " + k + "?"
		}
	}
	return ""
}

// statementWords start a statement.
var statementWords = []string{
	"SELECT", "INSERT", "UPSERT", "UPDATE", "DELETE", "CREATE", "DROP", "SHOW", "DESCRIBE", "EXPLAIN", "SET", "COPY", "CHECK", "WITH", "VALUES",
}

func nearestKeyword(word string, first bool) string {
	if len(word) < 3 || len(word) > longestKeyword+1 {
		return ""
	}
	if first {
		for _, k := range statementWords {
			if isNear(word, k) {
				return k
			}
		}
		return ""
	}
	near := ""
	for _, k := range keywordList {
		if len(k.word) < 3 || k.class == free && !clauseWords[k.word] || !isNear(word, k.word) {
			continue
		}
		if len(k.word) == len(word) {
			return k.word // FORM: FROM rather than FOR
		}
		near = k.word
	}
	return near
}

// isNear tells whether a becomes b by one letter more, less or other, or by swapping two neighbours.
func isNear(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) {
		return true
	}
	swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return swapped || a[i+1:] == b[i+1:]
}
