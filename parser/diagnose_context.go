package parser

import "github.com/alecthomas/participle/v2/lexer"

// diagnosis is what is known of the place of the mistake: the parentheses that are open
// and the clause in each.
type diagnosis struct {
	tokens []lexer.Token
	src    string
	verb   string // the statement's first word
	frames []frame
}

// frame is the statement or one open parenthesis, bracket or CASE.
type frame struct {
	open    int    // the token that opened it, -1 for the statement
	purpose string // "" for the statement; what its items are: "a value"
	clause  string // the last word that started a clause
	clauseI int    // its token
}

func (d *diagnosis) value(i int) string {
	if i < 0 || i >= len(d.tokens) {
		return ""
	}
	return d.tokens[i].Value
}

// clauseWords start a clause of a statement.
var clauseWords = map[string]bool{
	"SELECT": true, "FROM": true, "WHERE": true, "GROUP": true, "HAVING": true, "ORDER": true, "LIMIT": true,
	"OFFSET": true, "VALUES": true, "INTO": true, "ON": true, "USING": true, "WITH": true, "UNION": true, "EXCEPT": true, "INTERSECT": true, "JOIN": true,
	"SET": true, "WHEN": true, "THEN": true, "ELSE": true, "TABLE": true, "KEY": true, "STORED": true, "FAMILY": true,
	"INDEX": true, "SPLIT": true, "AS": true,
}

// walk follows the tokens up to i.
func (d *diagnosis) walk(i int) {
	d.verb = d.value(0)
	d.frames = []frame{{open: -1}}
	for j := range i {
		top := &d.frames[len(d.frames)-1]
		switch v := d.value(j); v {
		case "(", "[", "CASE":
			d.frames = append(d.frames, frame{open: j, purpose: d.purpose(j, top)})
		case ")", "]", "END":
			if len(d.frames) > 1 {
				d.frames = d.frames[:len(d.frames)-1]
			}
		default:
			if clauseWords[v] && (v != "AS" || d.verb == "CREATE") {
				top.clause, top.clauseI = v, j
			}
		}
	}
}

// purpose says what stands in the parentheses that open at j.
func (d *diagnosis) purpose(j int, top *frame) string {
	before := d.value(j - 1)
	switch {
	case d.value(j) == "CASE":
		return "CASE"
	case d.value(j) == "[":
		return "a key part"
	case before == "IN" && d.value(j-2) != "STORED", top.clause == "VALUES":
		return "a value"
	case d.verb == "EXPLAIN" && j == 1:
		return "FORMAT or ANALYZE"
	case before == "USING", d.verb == "INSERT" || d.verb == "UPSERT" || d.verb == "COPY":
		if top.open < 0 || before == "USING" {
			return "a column name"
		}
	case d.verb == "CREATE" && top.open < 0:
		switch top.clause {
		case "TABLE":
			return "a column name"
		case "KEY", "INDEX", "STORED":
			return "a key part"
		case "SPLIT":
			return "a split key"
		}
		return "an option"
	}
	if j > 0 && isName(&d.tokens[j-1]) {
		return "an argument"
	}
	return "an expression"
}
