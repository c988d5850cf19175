package parser

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
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
func (r *exprReader) operand() (Expr, error) {
	x, err := r.unsubscripted()
	if err == nil && r.lex.Peek().Value == "[" {
		x, err = r.subscripts(x)
	}
	return x, err
}

// subscripts reads the brackets after x.
func (r *exprReader) subscripts(x Expr) (_ Expr, err error) {
	out := &Subscript{Pos: pos(r.lex.Peek()), X: x}
	for accept(r.lex, "[") {
		var at SubscriptItem
		if r.startsOperand() {
			if at.Lo, err = r.until(":"); err != nil {
				return nil, err
			}
		}
		if at.Slice = accept(r.lex, ":"); at.Slice && r.startsOperand() {
			if at.Hi, err = r.expr(); err != nil {
				return nil, err
			}
		}
		if !at.Slice && at.Lo == nil || !wanted(r.lex, "]") {
			return nil, unexpected(r.lex)
		}
		out.At = append(out.At, at)
	}
	r.height++
	return out, nil
}

func (r *exprReader) unsubscripted() (Expr, error) {
	t := r.lex.Peek()
	if !startsOperand(t) {
		missed(r.lex, "an expression")
		return nil, unexpected(r.lex)
	}
	r.lex.Next()
	switch t.Type {
	case tokNumber:
		return r.number(t), nil
	case tokString:
		return &Literal{Pos: pos(t), Kind: StringLiteral, Text: text(t)}, nil
	case tokBytes:
		return &Literal{Pos: pos(t), Kind: BytesLiteral, Text: text(t)}, nil
	case tokParam:
		return param(t), nil
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
func (r *exprReader) signed(t *lexer.Token) (Expr, error) {
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
		x, err := r.binary(bindOther + 1)
		return &Call{Pos: pos(t), Name: map[string]string{"@": "ABS", "|/": "SQRT", "||/": "CBRT"}[t.Value], Args: []Expr{x}}, err
	case "NULL":
		return &Literal{Pos: pos(t), Kind: NullLiteral}, nil
	case "TRUE", "FALSE":
		return &Literal{Pos: pos(t), Kind: BoolLiteral, Text: strings.ToLower(t.Value)}, nil
	case "CASE":
		return r.caseExpr(t)
	}
	out := &Call{Pos: pos(t), Name: t.Value} // CURRENT_DATE, CURRENT_TIMESTAMP ...
	if accept(r.lex, "(") {
		if r.lex.Peek().Type == tokNumber { // number of decimal places of the seconds
			r.lex.Next()
		}
		return r.close(out, nil)
	}
	return out, nil
}

func (r *exprReader) prefix(t *lexer.Token, binding int) (Expr, error) {
	if r.prefixes++; r.prefixes > maxPrefixes {
		return nil, Errorf(pos(t), "more than %d nested NOT and signs", maxPrefixes)
	}
	x, err := r.binary(binding)
	r.prefixes--
	return &Unary{Pos: pos(t), Op: t.Value, X: x}, err
}

// paren reads (SELECT ...), (a) or the row value (a, b), after its parenthesis t.
func (r *exprReader) paren(t *lexer.Token) (Expr, error) {
	if isQuery(r.lex) {
		q, err := r.query()
		return r.close(&SubqueryExpr{Pos: pos(t), Query: q}, err)
	}
	x, err := r.expr()
	if err != nil || !r.isNext(",") {
		return r.field(r.close(x, err))
	}
	r.lex.Next()
	rest, err := r.list(0)
	return r.close(&Tuple{Pos: pos(t), Items: append([]Expr{x}, rest...)}, err)
}

// field reads .name after (x): a column of the table x, or of the rows that a function returns.
func (r *exprReader) field(x Expr, err error) (Expr, error) {
	if err != nil || r.lex.Peek().Value != "." {
		return x, err
	}
	dot := r.lex.Next()
	if !isName(r.lex.Peek()) {
		missed(r.lex, "the name of a field")
		return nil, unexpected(r.lex)
	}
	name := name(r.lex.Next())
	return &Call{Pos: pos(dot), Name: "_PG_FIELD", Args: []Expr{x, &Literal{Pos: pos(dot), Kind: StringLiteral, Text: name}}}, nil
}

// caseExpr reads the rest of CASE after its word t.
func (r *exprReader) caseExpr(t *lexer.Token) (_ Expr, err error) {
	out := &Case{Pos: pos(t)}
	if r.startsOperand() {
		if out.X, err = r.expr(); err != nil {
			return nil, err
		}
	}
	for len(out.Whens) == 0 || r.isNext("WHEN") {
		var w When
		if w.Cond, err = r.after("WHEN"); err != nil {
			return nil, err
		}
		if w.Then, err = r.after("THEN"); err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, w)
	}
	if r.isNext("ELSE") {
		if out.Else, err = r.after("ELSE"); err != nil {
			return nil, err
		}
	}
	return ended[Expr](r.lex, "END", out, nil)
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
func (r *exprReader) after(word string) (Expr, error) {
	if !wanted(r.lex, word) {
		return nil, unexpected(r.lex)
	}
	return r.expr()
}

// named reads an operand that begins with the name t: a column, a call, or a literal after its type.
func (r *exprReader) named(t *lexer.Token) (Expr, error) {
	switch next := r.lex.Peek(); {
	case next.Value == "(":
		r.lex.Next()
		if t.Type == tokWord && strings.EqualFold(t.Value, "ARRAY") && isQuery(r.lex) {
			q, err := r.query()
			return r.close(&SubqueryExpr{Pos: pos(t), Array: true, Query: q}, err)
		}
		return r.call(t)
	case next.Value == "." || next.Value == ":" && r.stop != ":":
		return r.column(t)
	case next.Type == tokString && t.Type == tokWord && typedLiterals[strings.ToUpper(t.Value)] != 0:
		return r.typed(t, typedLiterals[strings.ToUpper(t.Value)]), nil
	case t.Type == tokWord && next.Value == "[" && strings.EqualFold(t.Value, "ARRAY"):
		return r.array(t)
	case t.Value == "SALT" && accept(r.lex, "HEX", "("):
		return r.plainCall(&Call{Pos: pos(t), Name: "SALT_HEX"})
	case next.Type == tokString || next.Type == tokWord || next.Value == "WITH":
		if x := r.typedConstant(t); x != nil {
			return x, nil
		}
	}
	return &ColumnRef{Pos: pos(t), Name: name(t), Quoted: t.Type == tokQuoted}, nil
}

// array reads [items] after ARRAY.
func (r *exprReader) array(t *lexer.Token) (_ Expr, err error) {
	if !wanted(r.lex, "[") {
		return nil, unexpected(r.lex)
	}
	out := &Array{Pos: pos(t)}
	switch {
	case r.lex.Peek().Value == "[":
		for len(out.Items) == 0 || wanted(r.lex, ",") {
			part, err := r.array(r.lex.Peek())
			if err != nil {
				return nil, err
			}
			out.Items = append(out.Items, part)
		}
		r.height++
	case r.startsOperand():
		if out.Items, err = r.list(0); err != nil {
			return nil, err
		}
	}
	return ended[Expr](r.lex, "]", out, nil)
}

// column reads table.column, family:qualifier or table.family:qualifier.
func (r *exprReader) column(first *lexer.Token) (Expr, error) {
	out, last := &ColumnRef{Pos: pos(first)}, first
	if accept(r.lex, ".") {
		if accept(r.lex, "*") { // the row of a table
			out.Name, out.Row, out.Star = name(first), true, true
			return out, nil
		}
		if !isName(r.lex.Peek()) {
			missed(r.lex, "a column name")
			return nil, unexpected(r.lex)
		}
		out.Table, last = name(first), r.lex.Next()
		if accept(r.lex, "(") { // a function of a schema
			return r.qualifiedCall(first, last)
		}
		if accept(r.lex, ".") { // schema.table.column
			if !isName(r.lex.Peek()) {
				missed(r.lex, "a column name")
				return nil, unexpected(r.lex)
			}
			out.Table, last = name(last), r.lex.Next()
		}
	}
	out.Name, out.Quoted = name(last), last.Type == tokQuoted
	if !accept(r.lex, ":") {
		return out, nil
	}
	if !isQualifier(r.lex.Peek()) {
		missed(r.lex, "a qualifier")
		return nil, unexpected(r.lex)
	}
	if out.Name == "" || strings.Contains(out.Name, ":") {
		return nil, Errorf(pos(last), "the family %q is empty or holds a colon", out.Name)
	}
	out.Name, out.Quoted = out.Name+":"+name(r.lex.Next()), false
	return out, nil
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
