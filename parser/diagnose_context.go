package parser

// diagnosis describes the context of a mistake: the open parentheses, and the current clause in each.
type diagnosis struct {
	reading
	src    string
	verb   string   // the statement's first word
	wanted []string // what the grammar expects at the mistake
	frames []frame
}

// frame is the statement, or an open parenthesis, bracket or CASE.
type frame struct {
	open   int    // the index of the token that opened it; -1 for the statement
	clause string // the last word that started a clause
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

// walk collects the frames that are open at token i.
func (d *diagnosis) walk(i int) {
	d.verb = d.value(0)
	d.frames = []frame{{open: -1}}
	for j := range i {
		top := &d.frames[len(d.frames)-1]
		switch v := d.value(j); v {
		case "(", "[", "CASE":
			d.frames = append(d.frames, frame{open: j})
		case ")", "]", "END":
			if len(d.frames) > 1 {
				d.frames = d.frames[:len(d.frames)-1]
			}
		default:
			if clauseWords[v] && (v != "AS" || d.verb == "CREATE") {
				top.clause = v
			}
		}
	}
}
