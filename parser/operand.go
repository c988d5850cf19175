package parser

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/hql-db/hql/internal/fail"
)

// startsOperand reports whether t can be the first token of an expression.
func startsOperand(t *lexer.Token) bool {
	switch t.Type {
	case tokWord, tokGuarded, tokQuoted, tokNumber, tokString, tokBytes, tokParam:
		return true
	case tokOp:
		return t.Value == "(" || t.Value == "-" || t.Value == "+" || t.Value == "~" || t.Value == "@" || t.Value == "|/" || t.Value == "||/"
	case tokReserved:
		switch t.Value {
		case "NULL", "TRUE", "FALSE", "NOT", "CASE", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP":
			return true
		}
	}
	return false
}

// operand reads an operand with its prefix operators and subscripts.
func (r *exprReader) operand() Expr {
	x := r.unsubscripted()
	if r.lex.Peek().Value == "[" {
		x = r.subscripts(x)
	}
	return x
}

// subscripts reads the brackets after x.
func (r *exprReader) subscripts(x Expr) Expr {
	out := &Subscript{Pos: pos(r.lex.Peek()), X: x}
	for accept(r.lex, "[") {
		var at SubscriptItem
		if r.startsOperand() {
			at.Lo = r.until(":")
		}
		if at.Slice = accept(r.lex, ":"); at.Slice && r.startsOperand() {
			at.Hi = r.expr()
		}
		if !at.Slice && at.Lo == nil || !wanted(r.lex, "]") {
			panic(fail.With(unexpected(r.lex)))
		}
		out.At = append(out.At, at)
	}
	r.height++
	return out
}

func (r *exprReader) unsubscripted() Expr {
	t := r.lex.Peek()
	if !startsOperand(t) {
		panic(absent(r.lex, "an expression"))
	}
	r.lex.Next()
	switch t.Type {
	case tokNumber:
		return r.number(t)
	case tokString:
		return &Literal{Pos: pos(t), Kind: StringLiteral, Text: text(t)}
	case tokBytes:
		return &Literal{Pos: pos(t), Kind: BytesLiteral, Text: text(t)}
	case tokParam:
		return param(t)
	case tokOp, tokReserved:
		return r.signed(t)
	}
	return r.named(t)
}

func (r *exprReader) number(t *lexer.Token) Expr {
	if len(r.numbers) == 0 {
		return &Literal{Pos: pos(t), Kind: NumberLiteral, Text: t.Value}
	}
	out := &r.numbers[0]
	r.numbers = r.numbers[1:]
	*out = Literal{Pos: pos(t), Kind: NumberLiteral, Text: t.Value}
	return out
}

// param returns the parameter for ?, $n or @name; the lexer has numbered ? and checked n.
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

// signed reads the operand that begins with t, which is a sign or a reserved word.
func (r *exprReader) signed(t *lexer.Token) Expr {
	switch t.Value {
	case "(":
		return r.paren(t)
	case "NOT":
		return r.prefix(t, bindNot)
	case "-", "+":
		return r.prefix(t, bindSign)
	case "~":
		return r.prefix(t, bindOther+1)
	case "@", "|/", "||/":
		x := r.binary(bindOther + 1)
		return &Call{Pos: pos(t), Name: map[string]string{"@": "ABS", "|/": "SQRT", "||/": "CBRT"}[t.Value], Args: []Expr{x}}
	case "NULL":
		return &Literal{Pos: pos(t), Kind: NullLiteral}
	case "TRUE", "FALSE":
		return &Literal{Pos: pos(t), Kind: BoolLiteral, Text: strings.ToLower(t.Value)}
	case "CASE":
		return r.caseExpr(t)
	}
	out := &Call{Pos: pos(t), Name: t.Value} // CURRENT_DATE, CURRENT_TIMESTAMP ...
	if accept(r.lex, "(") {
		if r.lex.Peek().Type == tokNumber { // number of decimal places of the seconds
			r.lex.Next()
		}
		return r.close(out)
	}
	return out
}

func (r *exprReader) prefix(t *lexer.Token, binding int) Expr {
	if r.prefixes++; r.prefixes > maxPrefixes {
		panic(fail.With(Errorf(pos(t), "more than %d nested NOT and signs", maxPrefixes)))
	}
	x := r.binary(binding)
	r.prefixes--
	return &Unary{Pos: pos(t), Op: t.Value, X: x}
}

// paren reads (SELECT ...), (a) or the row value (a, b), after its parenthesis t.
func (r *exprReader) paren(t *lexer.Token) Expr {
	if isQuery(r.lex) {
		return r.close(&SubqueryExpr{Pos: pos(t), Query: r.query()})
	}
	x := r.expr()
	if !r.isNext(",") {
		return r.field(r.close(x))
	}
	r.lex.Next()
	return r.close(&Tuple{Pos: pos(t), Items: append([]Expr{x}, r.list(0)...)})
}

// field reads .name after (x): a column of the table x, or of the rows that a function returns.
func (r *exprReader) field(x Expr) Expr {
	if r.lex.Peek().Value != "." {
		return x
	}
	dot := r.lex.Next()
	if !isName(r.lex.Peek()) {
		panic(absent(r.lex, "the name of a field"))
	}
	name := name(r.lex.Next())
	return &Call{Pos: pos(dot), Name: "_PG_FIELD", Args: []Expr{x, &Literal{Pos: pos(dot), Kind: StringLiteral, Text: name}}}
}

// caseExpr reads the rest of CASE after its word t.
func (r *exprReader) caseExpr(t *lexer.Token) Expr {
	out := &Case{Pos: pos(t)}
	if r.startsOperand() {
		out.X = r.expr()
	}
	for len(out.Whens) == 0 || r.isNext("WHEN") {
		var w When
		w.Cond = r.after("WHEN")
		w.Then = r.after("THEN")
		out.Whens = append(out.Whens, w)
	}
	if r.isNext("ELSE") {
		out.Else = r.after("ELSE")
	}
	need(r.lex, "END")
	return out
}

// isNext reports whether word comes next. It adds a note to a marked token.
func (r *exprReader) isNext(word string) bool {
	missed(r.lex, word)
	return r.lex.Peek().Value == word
}

// startsOperand reports whether an expression comes next.
func (r *exprReader) startsOperand() bool {
	missed(r.lex, "an expression")
	return startsOperand(r.lex.Peek())
}

// after reads word and the expression that follows it.
func (r *exprReader) after(word string) Expr {
	need(r.lex, word)
	return r.expr()
}

// named reads an operand that begins with the name t: a column, a call, or a literal after its type.
func (r *exprReader) named(t *lexer.Token) Expr {
	switch next := r.lex.Peek(); {
	case next.Value == "(":
		r.lex.Next()
		if t.Type == tokWord && strings.EqualFold(t.Value, "ARRAY") && isQuery(r.lex) {
			return r.close(&SubqueryExpr{Pos: pos(t), Array: true, Query: r.query()})
		}
		return r.call(t)
	case next.Value == "." || next.Value == ":" && r.stop != ":":
		return r.column(t)
	case next.Type == tokString && t.Type == tokWord && typedLiterals[strings.ToUpper(t.Value)] != 0:
		return r.typed(t, typedLiterals[strings.ToUpper(t.Value)])
	case t.Type == tokWord && next.Value == "[" && strings.EqualFold(t.Value, "ARRAY"):
		return r.array(t)
	case t.Value == "SALT" && accept(r.lex, "HEX", "("):
		return r.plainCall(&Call{Pos: pos(t), Name: "SALT_HEX"})
	case next.Type == tokString || next.Type == tokWord || next.Value == "WITH":
		if x := r.typedConstant(t); x != nil {
			return x
		}
	}
	return &ColumnRef{Pos: pos(t), Name: name(t), Quoted: t.Type == tokQuoted}
}

// array reads [items] after ARRAY.
func (r *exprReader) array(t *lexer.Token) Expr {
	need(r.lex, "[")
	out := &Array{Pos: pos(t)}
	switch {
	case r.lex.Peek().Value == "[":
		for len(out.Items) == 0 || wanted(r.lex, ",") {
			part := r.array(r.lex.Peek())
			out.Items = append(out.Items, part)
		}
		r.height++
	case r.startsOperand():
		out.Items = r.list(0)
	}
	need(r.lex, "]")
	return out
}

// column reads table.column, family:qualifier or table.family:qualifier.
func (r *exprReader) column(first *lexer.Token) Expr {
	out, last := &ColumnRef{Pos: pos(first)}, first
	if accept(r.lex, ".") {
		if accept(r.lex, "*") { // the row of a table
			out.Name, out.Row, out.Star = name(first), true, true
			return out
		}
		if !isName(r.lex.Peek()) {
			panic(absent(r.lex, "a column name"))
		}
		out.Table, last = name(first), r.lex.Next()
		if accept(r.lex, "(") { // a function of a schema
			return r.qualifiedCall(first, last)
		}
		if accept(r.lex, ".") { // schema.table.column
			if !isName(r.lex.Peek()) {
				panic(absent(r.lex, "a column name"))
			}
			out.Table, last = name(last), r.lex.Next()
		}
	}
	out.Name, out.Quoted = name(last), last.Type == tokQuoted
	if !accept(r.lex, ":") {
		return out
	}
	if !isQualifier(r.lex.Peek()) {
		panic(absent(r.lex, "a qualifier"))
	}
	if out.Name == "" || strings.Contains(out.Name, ":") {
		panic(fail.With(Errorf(pos(last), "the family %q is empty or holds a colon", out.Name)))
	}
	out.Name, out.Quoted = out.Name+":"+name(r.lex.Next()), false
	return out
}

var typedLiterals = map[string]LiteralKind{
	"DATE": DateLiteral, "TIME": TimeLiteral, "TIMESTAMP": TimestampLiteral, "TIMESTAMPTZ": TimestampLiteral, "INTERVAL": IntervalLiteral,
}

// intervalUnits may follow INTERVAL '5'.
var intervalUnits = map[string]bool{
	"YEAR": true, "MONTH": true, "WEEK": true, "DAY": true, "HOUR": true, "MINUTE": true, "SECOND": true, "MILLISECOND": true,
	"YEARS": true, "MONTHS": true, "WEEKS": true, "DAYS": true, "HOURS": true, "MINUTES": true, "SECONDS": true, "MILLISECONDS": true,
}

// bareNumber matches a number without a unit.
var bareNumber = regexp.MustCompile(`^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$`)

// typed reads the constant, and an INTERVAL's unit, after DATE, TIME, TIMESTAMP or INTERVAL.
func (r *exprReader) typed(first *lexer.Token, kind LiteralKind) Expr {
	out := &Literal{Pos: pos(first), Kind: kind, Text: text(r.lex.Next())}
	if kind != IntervalLiteral {
		return out
	}
	return r.interval(out)
}

// interval reads the fields behind the INTERVAL out. It returns the INTERVAL that they make of its text.
func (r *exprReader) interval(out *Literal) Expr {
	s := out.Text
	from, unit := r.fields()
	switch f := strings.Fields(s); {
	case from == "":
		return out
	case bareNumber.MatchString(s):
		out.Text += " " + unit
	case from == "day" && unit == "hour" && len(f) == 2 && bareNumber.MatchString(f[1]):
		out.Text = f[0] + " day " + f[1] + " hour"
	case from == "minute" && strings.Count(s, ":") == 1: // minutes and seconds
		at := strings.LastIndexAny(s[:strings.Index(s, ":")], " +-") + 1
		out.Text = s[:at] + "00:" + s[at:]
	}
	if bareNumber.MatchString(s) && !strings.Contains(s, ".") {
		return out // the text has no smaller fields
	}
	return keepFields(out, unit)
}

// fields reads the fields of an INTERVAL, such as HOUR or DAY TO HOUR. It returns the greatest and the least; "" if none
// follow.
func (r *exprReader) fields() (from, to string) {
	if t := r.lex.Peek(); t.Type == tokWord && intervalUnits[strings.ToUpper(t.Value)] {
		from = strings.ToLower(r.lex.Next().Value)
		to = from
		at := r.lex.MakeCheckpoint()
		if accept(r.lex, "TO") && intervalUnits[strings.ToUpper(r.lex.Peek().Value)] {
			to = strings.ToLower(r.lex.Next().Value)
		} else {
			r.lex.LoadCheckpoint(at) // the caller finds TO in place of what follows a type
		}
	}
	return from, to
}

// keepFields cuts the INTERVAL x to the field unit. It returns x unchanged if unit is not year, month, day, hour or minute.
func keepFields(x Expr, unit string) Expr {
	switch unit {
	case "year", "month", "day", "hour", "minute":
		at := x.Position()
		return &Call{Pos: at, Name: "DATE_TRUNC", Args: []Expr{&Literal{Pos: at, Kind: StringLiteral, Text: unit}, x}}
	}
	return x
}
