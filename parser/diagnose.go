package parser

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// diagnose returns the error for token i, which the grammar does not allow there:
//
//	expected a table name after FROM, found "WHERE"
func diagnose(r reading, src string, i int) *Error {
	d := diagnosis{reading: r, src: src}
	d.wanted = r.lookedFor(i)
	// The grammar reports some mistakes at the start of a clause: at NOT if NULL is missing after it. If the grammar expects
	// token i itself, the mistake is in a later token.
	for i > 0 && i < len(d.tokens)-1 && d.wants(i) {
		i++
		d.wanted = r.lookedFor(i)
	}
	d.walk(i)
	e := Errorf(pos(&d.tokens[i]), "unexpected %s", d.found(i))
	if expected := d.expected(i); expected != "" {
		e.Msg = "expected " + expected + ", found " + d.found(i)
	}
	if e.Hint = d.unsupported(i); e.Hint != "" {
		e.Kind = ErrUnsupported
		if what, why, ok := strings.Cut(e.Hint, isUnsupported+": "); ok {
			e.Msg, e.Hint = what+isUnsupported, why
		}
	} else {
		e.Hint = d.hint(i)
	}
	if k := d.constraint(i); k > 0 {
		e.Pos, e.Msg, e.Kind = pos(&d.tokens[k]), map[string]string{"ALTER": "ALTER TABLE ... ADD ", "CREATE": "CREATE TABLE ... "}[d.verb]+
			strings.TrimSuffix(strings.ToUpper(d.value(k)+" "+d.value(k+1)), " (")+isUnsupported, ErrUnsupported
	}
	return e
}

const isUnsupported = " is not supported"

// constraint returns the token at or before i that names the kind of a constraint that a table cannot have, or not get; 0 if there
// is none.
func (d *diagnosis) constraint(i int) int {
	upper := func(i int) string { return strings.ToUpper(d.value(i)) }
	for k := i; k > max(2, i-4) && (d.verb == "ALTER" || d.verb == "CREATE"); k-- {
		w, before, key := upper(k), upper(k-1), upper(k+1) == "KEY"
		begins := before == "ADD" || before == "," || before == "(" || upper(k-2) == "CONSTRAINT"
		if begins && Elsewhere("constraint", w) != "" && (key && w == "FOREIGN" || key && d.verb == "ALTER" || k >= i-1 && !key) {
			return k
		}
	}
	return 0
}

// wants reports whether token i is a word or comma that the grammar expects there.
func (d *diagnosis) wants(i int) bool {
	t := &d.tokens[i]
	return (t.Pos.Filename != "" || t.Value == ",") && slices.ContainsFunc(d.wanted, func(w string) bool {
		first, _, _ := strings.Cut(w, " ")
		return first == t.Value
	})
}

// expected describes what the grammar expects at token i.
func (d *diagnosis) expected(i int) string {
	if i == 0 {
		return "a statement (SELECT, INSERT, UPDATE, DELETE, CREATE TABLE, SHOW, DESCRIBE, EXPLAIN ...)"
	}
	const most = 6 // do not print longer lists
	list, after := slices.DeleteFunc(d.phrases(i), func(w string) bool { return w == d.value(i) }), d.after(i)
	last := len(list) - 1
	switch end := d.canEnd(i); {
	case len(list) > most:
		list, last = append(list[:most-1], "another clause"), most-1
	case end:
		list, last, after = append(list, "the end of the statement"), last+1, ""
	}
	switch last {
	case -1:
		return ""
	case 0:
		return list[0] + after
	}
	return strings.Join(list[:last], ", ") + " or " + list[last] + after
}

// phrases lists what the grammar expects at token i: first kinds such as "a name", then signs, then words.
func (d *diagnosis) phrases(i int) []string {
	var kinds, signs, words []string
	for _, w := range asQueries(d.wanted) {
		switch {
		case w == ",":
			kinds = append(kinds, "a comma")
		case strings.HasPrefix(w, "a ") || strings.HasPrefix(w, "an "):
			kinds = append(kinds, w)
		case isWordStart(w, 0):
			words = append(words, w)
		default:
			signs = append(signs, w)
		}
	}
	out := slices.Concat(kinds, signs, words)
	for j, w := range out[:min(len(out), 8)] {
		if j >= len(kinds) {
			out[j] = d.completed(i, w)
		}
	}
	return out
}

// completed adds the words that must follow word at token i: ORDER BY, IF NOT EXISTS, AS and a type.
func (d *diagnosis) completed(i int, word string) string {
	words := strings.Fields(word)
	for i < maxCompleted && len(words) < 3 && !strings.Contains(word, " and ") {
		next := asQueries(d.lookedFor(i, words...))
		switch {
		case len(next) == 1 && isWordStart(next[0], 0) && strings.ToUpper(next[0]) == next[0]:
			words = append(words, strings.Fields(next[0])...)
			continue
		case word == "(" || word == "AS":
			for _, w := range next {
				if strings.HasPrefix(w, "a ") || strings.HasPrefix(w, "an ") {
					return strings.Join(words, " ") + " and " + w
				}
			}
		}
		break
	}
	return strings.Join(words, " ")
}

// asQueries replaces the words that begin a query or a statement by "a query" or "a statement".
func asQueries(wanted []string) []string {
	if !slices.Contains(wanted, "SELECT") {
		return wanted
	}
	all := "a query"
	if slices.Contains(wanted, "DELETE") {
		all = "a statement"
	}
	out := []string{all}
	for _, w := range wanted {
		explained := w == "ANALYZE" && !slices.Contains(wanted, "CHECK") // in EXPLAIN ANALYZE, ANALYZE does not begin a statement
		if w != "(" && !slices.Contains(statementWords, w) || w == "VALUES" && all == "a query" || explained {
			out = append(out, w)
		}
	}
	return out
}

// after returns " after " and the token before i, if that token requires the missing thing; otherwise "".
func (d *diagnosis) after(i int) string {
	t := &d.tokens[i-1]
	for _, w := range []string{"an operator", ",", "JOIN"} {
		if slices.Contains(d.wanted, w) {
			return ""
		}
	}
	switch {
	case t.Value == ",":
		return " after the comma"
	case t.Value == ".":
		return " after the dot"
	case t.Value == ":":
		return " after the colon"
	case t.Value == "BY" && d.tokens[max(i-2, 0)].Pos.Filename != "":
		return " after " + d.value(i-2) + " BY"
	case t.Type == tokOp && t.Value != "(" && t.Value != ")" && t.Value != "[" && t.Value != "]", t.Type != tokOp && t.Pos.Filename != "":
		return " after " + t.Value
	}
	return ""
}

// endsOperand reports whether token i can be the last one of an expression or a name.
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

// found describes token i, for an error's text.
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
